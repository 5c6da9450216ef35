#pragma once

/// K x = κ M x with K and M symmetric and M definite, and bounds of what is wrong with each κ.
///
/// There are two routes, and each mode is taken from the one that knows it better. By a factor of K + σM, with σ = 0 where K is definite and
/// as small as makes it so elsewhere, 1/(κ + σ) are the eigenvalues: the lowest κ have all digits, however badly M is conditioned
/// (relative angles of long chains). By a factor of M the highest ones have them.
///
/// The bound of a mode is its residual in the norm of the factor, next to which there is an eigenvalue whatever the method has lost, and to
/// first order what is wrong with the entries of K and M.

#include <Eigen/Core>
#include <optional>

namespace mechanician {

struct Pencil {
  Eigen::MatrixXd K, M;
  Eigen::MatrixXd K_noise, M_noise;  ///< bounds of entries
};

struct PencilModes {
  Eigen::VectorXd kappa;  ///< increasing
  Eigen::VectorXd bound;  ///< of what is wrong with it
  Eigen::MatrixXd shapes;
};

/// Nothing: M is not definite, as far as digits tell.
std::optional<PencilModes> solve_pencil(const Pencil& pencil);

}  // namespace mechanician
