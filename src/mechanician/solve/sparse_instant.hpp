// One instant of a sparse system, in the terms of factorisation.hpp, diagnosis.hpp and parts.hpp: masses by blocks
// (sparse_mass.hpp), rows by elimination (row_solver.hpp), what depends on what by sparse_robust.hpp and
// sparse_diagnosis.hpp, what is left open by sparse_free_directions.hpp.
//
// Measured rows (U97 eq. 37, 38): minimise (A_w q̈ − b_w)ᵀ W (A_w q̈ − b_w) over the accelerations that meet the others. With
// what they miss as coordinates r of mass W, A_w q̈ − r = b_w are rows like any other, and
//
//   minimise ½ rᵀW r + ½ δ (q̈ − q̈_k)ᵀD(q̈ − q̈_k)        q̈_{k+1}: the minimiser, D a scale of the coordinates, δ small
//
// is an instant with definite masses; a few steps k from any start end at a minimiser.
// Cost: in proportion to the entries of the factor, but for what robust methods need where rows depend on each other.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <optional>
#include <vector>

#include "mechanician/solve/diagnosis.hpp"
#include "mechanician/solve/parts.hpp"
#include "mechanician/solve/row_solver.hpp"
#include "mechanician/solve/sparse_free_directions.hpp"
#include "mechanician/solve/sparse_mass.hpp"

namespace mechanician {

class SparseInstant {
 public:
  /// M, A, W and `measured` are those of all that is asked later. Everything finite, sizes checked.
  explicit SparseInstant(const InstantValues& values);

  /// False: elimination has no answer here, nor has what is behind it.
  bool trustworthy() const { return trustworthy_; }
  SolveStatus status() const { return status_; }  ///< solved, or what is wrong with M, A or W
  const SparseMass& mass() const { return mass_; }
  bool unique() const { return unique_; }
  const std::vector<Eigen::Index>& undetermined() const { return undetermined_; }
  const RowSolver& rows() const { return *solver_; }
  const std::vector<char>& zero_rows() const { return zero_row_; }
  const Eigen::VectorXd& row_scale() const { return D_; }  ///< 1/norm in the metric, 1 for rows that count as zero

  Solution solve(const InstantValues& values);
  Diagnosis diagnose(const InstantValues& values);
  Parts calc_parts(const InstantValues& values, const Solution& solution, const Eigen::VectorXd& qd);

  /// The right-hand side that the rows can attain which is nearest to b, in scaled rows.
  Eigen::VectorXd project_consistent(const Eigen::VectorXd& b);
  /// M x = f + Aᵀλ, A x = g, λ of least norm where it is not unique; only where the acceleration is.
  RowSolver::Answer respond(const Eigen::VectorXd& f, const Eigen::VectorXd& g);

 private:
  struct RowCheck {
    bool consistent = true;
    Eigen::VectorXd b, residual, tolerance;  // m
  };
  void find_free_space();
  RowCheck check_rows(const InstantValues& values);
  bool is_solvable(const InstantValues& values) const;
  Eigen::VectorXd spread(const Eigen::VectorXd& lambda) const;
  void describe(Solution& solution) const;
  std::optional<Eigen::VectorXd> attain(const InstantValues& values, const std::vector<Eigen::Index>& exact,
                                        const std::vector<Eigen::Index>& measured, const Eigen::MatrixXd& W) const;
  Eigen::VectorXd replace_measured(const InstantValues& values, SolveStatus& status);
  MotionForces calc_motion(const Eigen::VectorXd& Q, const Eigen::VectorXd& b, const Eigen::VectorXd& C);
  LeastSquaresMotion calc_least_squares(const InstantValues& values);

  SparseRows M_, A_;  // rows that count as zero are zero
  SparseMass mass_;
  SolveStatus status_ = SolveStatus::solved;
  std::vector<char> zero_row_;
  Eigen::VectorXd D_;
  std::unique_ptr<RowSolver> solver_;
  bool unique_ = true, trustworthy_ = true;
  std::vector<Eigen::Index> undetermined_;
  Eigen::MatrixXd free_;  // n×p, unit in the scaled coordinates
  std::unique_ptr<SparseFreeSpace> space_;
  std::vector<Eigen::Index> measured_;
  Eigen::MatrixXd W_;
};

}  // namespace mechanician
