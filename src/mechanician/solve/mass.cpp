#include "mechanician/solve/mass.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanician/solve/clear_mass.hpp"
#include "mechanician/solve/dense.hpp"

namespace mechanician {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double eps = std::numeric_limits<double>::epsilon();

double noise_at(const MatrixXd& noise, Index i, Index j) { return noise.size() == 0 ? 0.0 : std::abs(noise(i, j)); }

bool find_asymmetry(const MatrixXd& M, const MatrixXd& noise, MassCheck& check) {
  double worst = 1.0;
  for (Index i = 0; i < M.rows(); ++i) {
    for (Index j = 0; j < i; ++j) {
      const double size =
          std::max({std::sqrt(std::abs(M(i, i))) * std::sqrt(std::abs(M(j, j))), std::abs(M(i, j)), std::abs(M(j, i))});
      const double allowed = asymmetry_tolerance * size + noise_at(noise, i, j) + noise_at(noise, j, i);
      const double difference = std::abs(M(i, j) - M(j, i));
      if (difference > worst * allowed) {
        worst = allowed > 0 ? difference / allowed : std::numeric_limits<double>::infinity();
        check.asymmetric_row = i;
        check.asymmetric_column = j;
      }
    }
  }
  return check.asymmetric_row >= 0;
}

/// The most negative eigenvalue of M. Where units differ so much that the eigenvalues of M drown in rounding, the
/// direction that the scaled matrix found stands in for the eigenvector.
void set_indefinite(const MatrixXd& M, const VectorXd& fallback_direction, MassCheck& check) {
  check.kind = MassKind::indefinite;
  const auto [values, vectors] = calc_symmetric_eigen(M);
  check.negative_eigenvalue = values(0);
  check.negative_direction = vectors.col(0);
  const double size = values.cwiseAbs().maxCoeff();
  const bool drowned = !(check.negative_eigenvalue < -64.0 * static_cast<double>(M.rows()) * eps * size);
  if (drowned && fallback_direction.size() > 0) {
    check.negative_direction = fallback_direction.normalized();
    check.negative_eigenvalue = check.negative_direction.dot(M * check.negative_direction);
  }
}

}  // namespace

MassCheck check_mass(const MatrixXd& M_given, const MatrixXd& noise) {
  const Index n = M_given.rows();
  MassCheck check;
  check.scale = VectorXd::Zero(n);
  if (find_asymmetry(M_given, noise, check)) {
    check.kind = MassKind::not_symmetric;
    return check;
  }
  const MatrixXd M = 0.5 * (M_given + M_given.transpose());

  for (Index i = 0; i < n; ++i) {
    if (std::abs(M(i, i)) <= noise_at(noise, i, i)) continue;
    if (M(i, i) < 0) {
      set_indefinite(M, VectorXd::Unit(n, i), check);
      return check;
    }
    check.scale(i) = 1.0 / std::sqrt(M(i, i));
  }
  // A zero on the diagonal of a semidefinite matrix has zeros beside it, |M_ij|² ≤ M_ii M_jj.
  for (Index i = 0; i < n; ++i) {
    if (check.scale(i) > 0) continue;
    for (Index j = 0; j < n; ++j) {
      const double ii = noise_at(noise, i, i) + std::abs(M(i, i));
      const double jj = noise_at(noise, j, j) + std::abs(M(j, j));
      if (i == j || std::abs(M(i, j)) <= noise_at(noise, i, j) + 2.0 * std::sqrt(ii * jj)) continue;
      // v = e_i·t + e_j with t large enough makes vᵀMv negative.
      VectorXd v = VectorXd::Unit(n, j);
      v(i) = -(std::abs(M(j, j)) + 1.0) / M(i, j);
      set_indefinite(M, v, check);
      return check;
    }
  }

  const MatrixXd scaled = check.scale.asDiagonal() * M * check.scale.asDiagonal();
  double scaled_noise = 0;
  if (noise.size() != 0) scaled_noise = (check.scale.asDiagonal() * noise * check.scale.asDiagonal()).norm();
  const double rounding = 32.0 * static_cast<double>(n) * eps + scaled_noise;
  check.tolerance = std::max(1e-13 * static_cast<double>(n), rounding);
  if (n == 0 || is_clearly_definite(M, noise)) return check;

  const SymmetricEigen eigen = calc_symmetric_eigen(scaled);
  const double smallest = eigen.values(0);
  if (smallest < -rounding) {
    set_indefinite(M, check.scale.asDiagonal() * eigen.vectors.col(0), check);
  } else if (smallest <= check.tolerance) {
    check.kind = MassKind::semidefinite;
  }
  return check;
}

MatrixXd calc_mass_root(const MatrixXd& M_scaled, double tolerance) {
  const Index n = M_scaled.rows();
  const auto [lambda, vectors] = calc_symmetric_eigen(M_scaled);
  Index rank = n;
  while (rank > 0 && lambda(n - rank) <= tolerance) --rank;
  return lambda.tail(rank).cwiseSqrt().asDiagonal() * vectors.rightCols(rank).transpose();
}

}  // namespace mechanician
