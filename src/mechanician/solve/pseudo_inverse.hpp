// Moore–Penrose inverses and matrix square roots, as the forms of the papers need them. By singular value decomposition
// with the rank given: the rank is decided once, from the scaled rows (rank.hpp), not again by every formula.
#pragma once

#include "mechanician/solve/eigen_kernels.hpp"

namespace mechanician {

/// X⁺ of the matrix of that rank nearest to X. Cost about 20 m n min(m,n).
Eigen::MatrixXd pseudo_inverse(const Eigen::MatrixXd& X, Eigen::Index rank);

/// Orthonormal basis of the null space of X of that rank: n×(n−rank).
Eigen::MatrixXd null_space_basis(const Eigen::MatrixXd& X, Eigen::Index rank);

struct MassRoots {
  Eigen::MatrixXd root;      // M^(1/2)
  Eigen::MatrixXd inv_root;  // M^(−1/2)
};

/// M symmetric positive definite.
MassRoots calc_mass_roots(const Eigen::MatrixXd& M);

}  // namespace mechanician
