#include "mechanician/solve/rank.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "mechanician/solve/dense.hpp"

namespace mechanician {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double eps = std::numeric_limits<double>::epsilon();
// A row's relative error bound raises the rank threshold, but no further than this.
constexpr double largest_noise_threshold = 1e-6;
constexpr double smallest_safe_gap = 1e3;
constexpr double safe_distance_to_threshold = 1e2;
constexpr double safe_multiple_of_rounding = 1e2;

}  // namespace

double rank_tolerance(Index m, Index n) {
  return std::clamp(3e3 * static_cast<double>(std::max(m, n)) * eps, 1e-12, 1e-10);
}

VectorXd RowFactor::calc_least_norm(const VectorXd& b_scaled) const {
  VectorXd kept(rank);
  for (Index i = 0; i < rank; ++i) kept(i) = b_scaled(order[i]);
  return V1 * solve_upper_transposed(R11, kept);
}

VectorXd RowFactor::project_consistent(const VectorXd& b_scaled) const {
  if (num_dropped() == 0) return b_scaled;
  return b_scaled - N * (N.transpose() * b_scaled);
}

double RowFactor::null_tolerance() const { return std::max(1e-10, 100.0 * eps * condition); }

Coefficients calc_coefficients(const MatrixXd& V, const MatrixXd& R, const MatrixXd& Z_dropped) {
  const Index k = R.rows();
  const Index d = Z_dropped.cols();
  Coefficients result{MatrixXd::Zero(k, d), MatrixXd::Zero(k, d)};
  if (k == 0 || d == 0) return result;
  const MatrixXd projected = V.transpose() * Z_dropped;
  result.computed = solve_upper(R, projected);
  result.cleaned = result.computed;
  // Componentwise bound of the rounding error: |R⁻¹| (|R||T| + |VᵀZ| + 1) eps. What is below is nothing.
  const MatrixXd R_inv = solve_upper(R, MatrixXd(MatrixXd::Identity(k, k)));
  const MatrixXd terms = R.cwiseAbs() * result.computed.cwiseAbs() + projected.cwiseAbs() + MatrixXd::Ones(k, d);
  const MatrixXd bound = (32.0 * eps) * (R_inv.cwiseAbs() * terms);
  for (Index j = 0; j < d; ++j) {
    for (Index i = 0; i < k; ++i) {
      if (std::abs(result.cleaned(i, j)) <= std::max(bound(i, j), 1e-13)) result.cleaned(i, j) = 0;
    }
  }
  return result;
}

RowFactor factor_rows(const MatrixXd& Z_given, const MatrixXd& noise) {
  const Index n = Z_given.rows();
  const Index m = Z_given.cols();
  RowFactor f;
  f.Z = MatrixXd::Zero(n, m);
  f.D = VectorXd::Ones(m);
  f.zero_row.assign(static_cast<std::size_t>(m), true);
  f.gap = std::numeric_limits<double>::infinity();

  VectorXd relative_noise = VectorXd::Zero(m);
  for (Index j = 0; j < m; ++j) {
    const double norm = Z_given.col(j).stableNorm();
    const double norm_noise = noise.size() == 0 ? 0.0 : noise.col(j).stableNorm();
    if (norm == 0 || norm <= zero_row_factor * norm_noise || !std::isfinite(1.0 / norm)) continue;
    f.zero_row[j] = false;
    f.D(j) = 1.0 / norm;
    f.Z.col(j) = Z_given.col(j) / norm;
    relative_noise(j) = std::min(norm_noise / norm, largest_noise_threshold);
  }

  PivotedQr qr = calc_pivoted_qr(f.Z);
  f.order = std::move(qr.order);
  if (n > 0 && m > 0) {
    const VectorXd diagonal = qr.R.diagonal().cwiseAbs();
    const double largest = diagonal(0);
    const double threshold = rank_tolerance(m, n) * largest;
    const Index num_steps = diagonal.size();
    while (f.rank < num_steps && diagonal(f.rank) > std::max(threshold, relative_noise(f.order[f.rank]))) ++f.rank;

    const Index k = f.rank;
    if (k > 0) {
      const double floor = static_cast<double>(std::max(m, n)) * eps * largest;
      const double dropped = std::max(k < num_steps ? diagonal(k) : 0.0, floor);
      f.condition = largest / diagonal(k - 1);
      f.gap = diagonal(k - 1) / dropped;
      f.doubtful = f.gap < smallest_safe_gap || diagonal(k - 1) < safe_distance_to_threshold * threshold;
      if (k < num_steps && diagonal(k) > safe_multiple_of_rounding * std::max(floor, relative_noise(f.order[k])))
        f.doubtful = true;
    }
  }

  const Index k = f.rank;
  f.V1 = qr.V.leftCols(k);
  f.R11 = qr.R.topLeftCorner(k, k);
  const Index d = m - k;
  MatrixXd Z_dropped(n, d);
  for (Index j = 0; j < d; ++j) Z_dropped.col(j) = f.Z.col(f.order[k + j]);
  auto coefficients = calc_coefficients(f.V1, f.R11, Z_dropped);
  f.T = std::move(coefficients.cleaned);
  f.T_computed = std::move(coefficients.computed);
  f.N = MatrixXd::Zero(m, d);
  for (Index j = 0; j < d; ++j) {
    for (Index i = 0; i < k; ++i) f.N(f.order[i], j) = -f.T_computed(i, j);
    f.N(f.order[k + j], j) = 1.0;
  }
  f.N = orthonormalised(f.N);
  return f;
}

}  // namespace mechanician
