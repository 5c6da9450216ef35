// Rows seen through the masses, for many rows that touch few coordinates each: with M = L Lᵀ block by block,
//
//   z_j = D_j L⁻¹A_jᵀ (unit),  S = ZᵀZ = D A M⁻¹Aᵀ D,   S_W for a set W of rows factored as L_S Δ L_Sᵀ, sparse or dense.
//
// S squares the condition number: pivots below a threshold mean dependent rows, pivots in the grey zone above it that
// this is not the way to solve the problem (Gram::Factor::trustworthy). Used where the dense factorisations of
// factorisation.hpp would cost n³; what is computed with it is refined and verified.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "mechanician/solve/eigen_kernels.hpp"
#include "mechanician/solve/instant_values.hpp"
#include "mechanician/solve/mass.hpp"

namespace mechanician {

class Gram {
 public:
  /// Nothing where M is not clearly positive definite or not symmetric, or something is not finite.
  static std::optional<Gram> make(const InstantValues& values);

  struct Entry {
    Eigen::Index at = 0;
    double value = 0;
  };

  const MassCheck& mass() const { return mass_; }
  double D(Eigen::Index row) const { return D_[row]; }
  bool zero_row(Eigen::Index row) const { return Z_[row].empty(); }
  const std::vector<Entry>& row(Eigen::Index j) const { return A_[j]; }
  const std::vector<Entry>& mass_row(Eigen::Index i) const { return M_[i]; }

  /// L⁻¹f and L⁻ᵀu, M⁻¹f.
  Eigen::VectorXd to_metric(const Eigen::VectorXd& force) const;
  Eigen::VectorXd acceleration_of(const Eigen::VectorXd& u) const;
  Eigen::VectorXd apply_M_inv(const Eigen::VectorXd& force) const { return acceleration_of(to_metric(force)); }
  double dot(Eigen::Index row, const Eigen::VectorXd& qdd) const;  // A_row·q̈

  /// A set of rows: those that are independent, and what is needed to solve with them.
  struct Factor {
    std::vector<Eigen::Index> kept, dropped;  // rows
    double smallest_pivot = 1, largest_pivot = 1, largest_dropped = 0;
    bool trustworthy = true;
    /// S_kept x = r, refined.
    Eigen::VectorXd solve(const Eigen::VectorXd& r) const;
    struct Impl;
    std::shared_ptr<const Impl> impl;
  };
  Factor factor(const std::vector<Eigen::Index>& rows) const;
  /// (S + shift)⁻¹ on these rows, whatever their rank.
  Factor factor_shifted(const std::vector<Eigen::Index>& rows, double shift) const;

  /// S of these rows by those.
  Eigen::MatrixXd block(const std::vector<Eigen::Index>& rows, const std::vector<Eigen::Index>& columns) const;

  /// x in scaled rows: S x for all rows, x given on `rows`.
  Eigen::VectorXd apply_S(const std::vector<Eigen::Index>& rows, const Eigen::VectorXd& x) const;

 private:
  struct Block {
    std::vector<Eigen::Index> coordinates;
    Eigen::MatrixXd L;
  };
  Factor factor_with(const std::vector<Eigen::Index>& rows, double shift) const;

  MassCheck mass_;
  std::vector<Block> blocks_;
  std::vector<std::size_t> block_of_;
  std::vector<std::vector<Entry>> A_, M_, Z_;  // by row; Z_ by position in the metric
  std::vector<std::vector<Entry>> S_;          // by row, all entries
  std::vector<double> D_;
};

}  // namespace mechanician
