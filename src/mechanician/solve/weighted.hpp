// Measured rows that may contradict (U97 eq. 37, 38): minimise (A_w q̈ − b_w)ᵀ W (A_w q̈ − b_w) over the accelerations
// that meet the rows without a weight exactly; Gauss decides what is left.
//
// A_w q̈ is the same for all minimisers, so it is enough to find one, q̈*, and to solve with A_w q̈* in place of b_w,
// which is consistent. Null-space method: exact rows eliminated by their own factorisation, then a column-pivoted QR of
// the weighted rest, rows sorted by size because weights may differ by many powers of ten.
#pragma once

#include <vector>

#include "mechanician/solve/eigen_kernels.hpp"
#include "mechanician/solve/rank.hpp"

namespace mechanician {

struct WeightedRows {
  std::vector<Eigen::Index> measured;  // rows with a weight
  std::vector<Eigen::Index> exact;     // the others, in order
  RowFactor exact_rows;                // factorisation of the exact rows alone
  Eigen::MatrixXd V2;                  // n×(n−k_exact), orthonormal, accelerations that the exact rows leave free
  Eigen::MatrixXd W;                   ///< symmetric
  Eigen::Index rank = 0;               // of the measured rows on that space
  bool weights_definite = true;
};

/// Z_given and noise as for factor_rows, of all rows; rank_all is the rank of all rows together.
WeightedRows prepare_weighted(const Eigen::MatrixXd& Z_given, const Eigen::MatrixXd& noise,
                              const std::vector<Eigen::Index>& measured, const Eigen::MatrixXd& W,
                              Eigen::Index rank_all);

/// A_w q̈* for the measured rows (in their order): what the right-hand side is to be replaced by.
/// y_exact: any solution of the exact rows, in the metric.
Eigen::VectorXd calc_weighted_b(const WeightedRows& weighted, const RowFactor& all_rows, const Eigen::VectorXd& b,
                                const Eigen::VectorXd& y_exact);

}  // namespace mechanician
