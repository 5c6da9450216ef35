// Lagrange multipliers Aᵀλ = Qᶜᵢ (K93 eq. 34, 35): unique where the rows are independent, else those of least
// Euclidean norm for the rows as given,
//
//   λ = λ_basic − N Nᵀ λ_basic,   N an orthonormal basis of the left null space of A (not of the scaled rows).
//
// λ_basic lives on independent rows. They are chosen large (exchanging while a dropped row would contribute more), so
// that λ_basic is near the least norm and the subtraction loses nothing, however differently the rows are scaled.
// Cost about 2 n k² + m d², d = m − k.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "mechanician/solve/rank.hpp"

namespace mechanician {

struct LeastNormMultipliers {
  std::vector<Eigen::Index> basis;  // k independent rows
  Eigen::MatrixXd V;                // n×k, orthonormal, V R = the scaled basis rows
  Eigen::MatrixXd R;                // k×k, upper triangular
  Eigen::MatrixXd N;                // m×d, orthonormal left null basis of the rows as given
  std::vector<bool> undetermined;   // m, row j lies in the span of the others: λ_j is not unique

  /// λ for the force whose image in the metric is u (u = T Qᶜᵢ, in the span of the rows).
  Eigen::VectorXd calc_lambda(const RowFactor& rows, const Eigen::VectorXd& u) const;

  /// The m columns (Aᵀ)⁺-wise: X with X e = least-norm y, T-metric, of A T ᵀy = AA⁺e; the gain is K = T⁻¹ X (U05 25).
  Eigen::MatrixXd calc_gain(const RowFactor& rows) const;
};

LeastNormMultipliers prepare_multipliers(const RowFactor& rows);

}  // namespace mechanician
