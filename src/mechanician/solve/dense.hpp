// The dense factorisations that this folder uses, each compiled once and each at home with empty matrices (Eigen's own
// are not always). Thin layer over Eigen; all results are plain matrices.
#pragma once

#include <vector>

#include "mechanician/solve/eigen_kernels.hpp"

namespace mechanician {

/// X = V R, V orthonormal columns, R upper triangular; X is p×q with p ≥ q. Householder, 2pq².
struct ThinQr {
  Eigen::MatrixXd V;  // p×q
  Eigen::MatrixXd R;  // q×q
};
ThinQr calc_thin_qr(const Eigen::MatrixXd& X);

/// X Π = V R with column pivoting, r = min(p, q): |R_ii| does not increase.
struct PivotedQr {
  Eigen::MatrixXd V;                // p×r
  Eigen::MatrixXd R;                // r×q, upper trapezoidal
  std::vector<Eigen::Index> order;  // column j of X Π is column order[j] of X
};
PivotedQr calc_pivoted_qr(const Eigen::MatrixXd& X);

/// X = L Lᵀ.
struct Cholesky {
  bool definite = false;  // it went through
  Eigen::MatrixXd L;
  double rcond = 0;  // estimate of the reciprocal condition number

  Eigen::VectorXd solve(const Eigen::VectorXd& x) const;
};
Cholesky calc_cholesky(const Eigen::MatrixXd& X);

/// X = U diag(σ) Vᵀ, σ decreasing; X is p×q with p ≥ q.
struct ThinSvd {
  Eigen::MatrixXd U;  // p×q
  Eigen::VectorXd sigma;
  Eigen::MatrixXd V;  // q×q
};
ThinSvd calc_thin_svd(const Eigen::MatrixXd& X);

struct SymmetricEigen {
  Eigen::VectorXd values;   // increasing
  Eigen::MatrixXd vectors;  // columns
};
SymmetricEigen calc_symmetric_eigen(const Eigen::MatrixXd& X);

/// L⁻¹x and L⁻ᵀx for lower triangular L; what is above the diagonal is not read.
Eigen::MatrixXd solve_lower(const Eigen::MatrixXd& L, const Eigen::MatrixXd& x);
Eigen::VectorXd solve_lower(const Eigen::MatrixXd& L, const Eigen::VectorXd& x);
Eigen::VectorXd solve_lower_transposed(const Eigen::MatrixXd& L, const Eigen::VectorXd& x);
Eigen::MatrixXd solve_lower_transposed(const Eigen::MatrixXd& L, const Eigen::MatrixXd& x);
/// R⁻¹x and R⁻ᵀx for upper triangular R; what is below the diagonal is not read.
Eigen::MatrixXd solve_upper(const Eigen::MatrixXd& R, const Eigen::MatrixXd& x);
Eigen::VectorXd solve_upper(const Eigen::MatrixXd& R, const Eigen::VectorXd& x);
Eigen::VectorXd solve_upper_transposed(const Eigen::MatrixXd& R, const Eigen::VectorXd& x);
Eigen::MatrixXd solve_upper_transposed(const Eigen::MatrixXd& R, const Eigen::MatrixXd& x);

/// Orthonormal basis of the complement of the columns of V (orthonormal, n×k): n×(n−k).
Eigen::MatrixXd calc_orthonormal_complement(const Eigen::MatrixXd& V);

/// Orthonormal basis of the span of the columns of X, which are independent.
Eigen::MatrixXd orthonormalised(const Eigen::MatrixXd& X);

}  // namespace mechanician
