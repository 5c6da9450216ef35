// What kind of mass matrix this is. The papers need M > 0 (U02, K93) or M ≥ 0 (U23); anything else is no mass matrix.
//
// Decided in Jacobi-scaled form, S M S with S = diag(M)^(−1/2), so that units do not matter: a Cholesky factorisation
// settles the usual case, a symmetric eigendecomposition the doubtful one. Cost n³/3 or about 9 n³.
#pragma once

#include "mechanician/solve/eigen_kernels.hpp"
#include "mechanician/solve/sparse_rows.hpp"

namespace mechanician {

enum class MassKind { definite, semidefinite, indefinite, not_symmetric };

struct MassCheck {
  MassKind kind = MassKind::definite;
  Eigen::VectorXd scale;  // n, 1/sqrt(M_ii); 0 where M_ii counts as zero
  double tolerance = 0;   // eigenvalues of the scaled matrix up to this count as zero

  // Where indefinite: the most negative eigenvalue of M itself and its unit eigenvector.
  double negative_eigenvalue = 0;
  Eigen::VectorXd negative_direction;

  // Where not symmetric: the worst pair of entries.
  Eigen::Index asymmetric_row = -1;
  Eigen::Index asymmetric_column = -1;
};

/// Entries M_ij and M_ji may differ by this much of sqrt(M_ii M_jj): people fill matrices with rounded numbers.
inline constexpr double asymmetry_tolerance = 1e-10;

/// M square and finite; M_noise empty or of the same size.
MassCheck check_mass(const Eigen::MatrixXd& M, const Eigen::MatrixXd& M_noise = {});

/// F with FᵀF = M_scaled, one row for each eigenvalue above `tolerance`.
Eigen::MatrixXd calc_mass_root(const Eigen::MatrixXd& M_scaled, double tolerance);

}  // namespace mechanician
