// The rank of A and what depends on what, from a column-pivoted Householder factorisation of Z = T Aᵀ D:
//
//   Z Π = V₁ [R₁₁ R₁₂],   k = rank: |R_ii| > τ |R_11|,   τ = clamp(3·10³ max(m,n) eps, 10⁻¹², 10⁻¹⁰)
//
// T = L⁻¹ (M = L Lᵀ) or a scaling of the coordinates, so that the columns of T Aᵀ are the rows of A in a metric where
// units do not matter; D scales them to unit norm. Rows that are zero or within their own rounding error count as zero.
// "Kept" rows are the first k of the pivot order, "dropped" rows the rest. Cost 2 m n min(m,n).
#pragma once

#include <vector>

#include "mechanician/solve/eigen_kernels.hpp"

namespace mechanician {

/// A row up to so many times its own error bound counts as zero: the bounds are of first order.
inline constexpr double zero_row_factor = 8.0;

/// τ of the rank decision for an m×n matrix.
double rank_tolerance(Eigen::Index m, Eigen::Index n);

struct RowFactor {
  Eigen::MatrixXd Z;                // n×m, unit columns; zero columns for rows that count as zero
  Eigen::VectorXd D;                // m, row scale: row j of A in the metric is Z.col(j)/D(j); 1 for zero rows
  std::vector<bool> zero_row;       // m
  std::vector<Eigen::Index> order;  // m, pivot order Π: kept rows first
  Eigen::Index rank = 0;            // k
  Eigen::MatrixXd V1;               // n×k, orthonormal basis of the span of the rows in the metric
  Eigen::MatrixXd R11;              // k×k, upper triangular
  Eigen::MatrixXd T;                // k×(m−k): scaled dropped row j = Σ_i T(i,j) · scaled kept row i; cleaned
  Eigen::MatrixXd T_computed;       // T as computed: for numbers, where T says what takes part
  Eigen::MatrixXd N;                // m×(m−k): orthonormal left null basis of the scaled rows, Z N = 0
  double condition = 1;             // |R_11| / |R_kk|
  // |R_kk| over the first dropped |R_ii|, this not less than max(m,n)·eps·|R_11|; infinite for rank 0.
  double gap = 0;
  // The rank hangs by a thread: gap < 10³, |R_kk| within a factor 100 of the threshold, or the first dropped |R_ii| more
  // than 100 times what rounding makes of zero.
  bool doubtful = false;

  Eigen::Index num_rows() const { return Z.cols(); }
  Eigen::Index num_dropped() const { return Z.cols() - rank; }

  /// y of least norm with Zᵀ y = b_scaled in the kept rows (hence in all rows if b_scaled is consistent).
  Eigen::VectorXd calc_least_norm(const Eigen::VectorXd& b_scaled) const;
  /// The consistent right-hand side nearest to b_scaled.
  Eigen::VectorXd project_consistent(const Eigen::VectorXd& b_scaled) const;
  /// Entries of a unit left null vector up to this count as zero.
  double null_tolerance() const;
};

/// Z_given: columns are the rows of A in the metric, as given; noise: of the same size, or empty.
RowFactor factor_rows(const Eigen::MatrixXd& Z_given, const Eigen::MatrixXd& noise = {});

/// Coefficients of the columns of Z_dropped in those of Z_kept = V R.
struct Coefficients {
  Eigen::MatrixXd computed;  // satisfies the equation to rounding
  Eigen::MatrixXd cleaned;   // entries within their rounding error set to zero: says what takes part
};
Coefficients calc_coefficients(const Eigen::MatrixXd& V, const Eigen::MatrixXd& R, const Eigen::MatrixXd& Z_dropped);

}  // namespace mechanician
