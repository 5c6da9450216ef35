// Lagrange multipliers Aᵀλ = Qᶜᵢ (K93 eq. 34, 35): unique where the rows are independent, else those of least
// Euclidean norm for the rows as given,
//
//   λ_kept = (I + T Tᵀ)⁻¹ λ_basic,  λ_dropped = Tᵀ λ_kept,   dropped row j = Σ_i T_ij · kept row i.
//
// λ_basic lives on the kept rows, k independent ones. They are chosen large (exchanging while a dropped row would
// contribute more), so that T stays small and nothing cancels, however differently the rows are scaled.
// Cost about 2 n k² + k² d + k³/3, d = m − k.
#pragma once

#include <vector>

#include "mechanician/solve/eigen_kernels.hpp"
#include "mechanician/solve/rank.hpp"

namespace mechanician {

struct LeastNormMultipliers {
  std::vector<Eigen::Index> kept;     // k independent rows
  std::vector<Eigen::Index> dropped;  // d, the others
  Eigen::MatrixXd V;                  // n×k, orthonormal, V R = the kept rows in the metric, scaled
  Eigen::MatrixXd R;                  // k×k, upper triangular
  Eigen::MatrixXd T;                  // k×d, for the rows as given
  Eigen::MatrixXd gram_L;             // k×k, Cholesky factor of I + T Tᵀ; empty where d = 0
  std::vector<bool> undetermined;     // m, row j lies in the span of the others: λ_j is not unique

  /// λ for the force whose image in the metric is u (in the span of the rows).
  Eigen::VectorXd calc_lambda(const RowFactor& rows, const Eigen::VectorXd& u) const;

  /// λ of least norm with the force Aᵀ·given, from any multipliers of all rows.
  Eigen::VectorXd spread(const RowFactor& rows, const Eigen::VectorXd& given) const;

  /// n×m, in the metric: applied to e it gives the y of least norm that meets A A⁺e, rows as given. The gain is
  /// K = M^(1/2)B⁺ = L times this (U05 eq. 25).
  Eigen::MatrixXd calc_gain(const RowFactor& rows) const;

 private:
  void add_spread(const Eigen::VectorXd& basic, Eigen::VectorXd& lambda) const;
  Eigen::VectorXd calc_basic(const RowFactor& rows, const Eigen::VectorXd& u) const;
  Eigen::MatrixXd apply_gram_inverse(const Eigen::MatrixXd& x) const;
};

LeastNormMultipliers prepare_multipliers(const RowFactor& rows);

}  // namespace mechanician
