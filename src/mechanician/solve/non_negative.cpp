#include "mechanician/solve/non_negative.hpp"

#include <algorithm>
#include <cmath>

#include "mechanician/solve/dense.hpp"
#include "mechanician/solve/least_distance.hpp"

namespace mechanician {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

std::optional<VectorXd> choose_non_negative(const VectorXd& lambda, const DependentRows& rows,
                                            const std::vector<bool>& one_sided, const VectorXd& zero) {
  constexpr double determined = 1e-10;  // rows of N up to this belong to multipliers that are unique
  constexpr double smallest = 1e-3;     // and up to this tolerances are not magnified
  const Index m = lambda.size();
  const auto k = static_cast<Index>(rows.kept.size()), d = static_cast<Index>(rows.dropped.size());
  MatrixXd N = MatrixXd::Zero(m, d);
  for (Index j = 0; j < d; ++j) {
    for (Index i = 0; i < k; ++i) N(rows.kept[i], j) = -rows.T(i, j);
    N(rows.dropped[j], j) = 1.0;
  }
  N = orthonormalised(N);
  const VectorXd least = lambda - N * (N.transpose() * lambda);

  LeastDistanceProblem p;
  p.Z = MatrixXd::Zero(d, m);
  p.b = p.tolerance = p.contradiction = VectorXd::Zero(m);
  p.g = VectorXd::Zero(d);
  const double largest_zero = zero.maxCoeff();
  for (Index j = 0; j < m; ++j) {
    if (!one_sided[j]) continue;
    const double norm = N.row(j).norm();
    const double unit = largest_zero > 0 ? zero(j) / largest_zero : 1.0;  // rows differ in scale
    if (norm <= determined * unit) {
      if (least(j) < -zero(j)) return std::nullopt;
      continue;
    }
    p.Z.col(j) = N.row(j).transpose() / norm;
    p.b(j) = -least(j) / norm;
    p.tolerance(j) = p.contradiction(j) = 0.5 * zero(j) / std::max(norm, smallest * unit);
    p.inequality.push_back(j);
  }
  p.relative_contradiction = p.relative;
  const LeastDistance found = find_least_distance(p);
  if (found.outcome != LeastDistance::Outcome::found) return std::nullopt;
  VectorXd result = least + N * found.y;
  for (const Index j : found.active) result(j) = 0.0;

  // The dropped ones as they are, the kept ones such that the force is the given one to the last digit.
  for (const Index j : rows.dropped) {
    if (one_sided[j] && result(j) < 0) result(j) = 0.0;
  }
  for (Index i = 0; i < k; ++i) {
    double value = lambda(rows.kept[i]);
    for (Index j = 0; j < d; ++j) value += rows.T(i, j) * (lambda(rows.dropped[j]) - result(rows.dropped[j]));
    result(rows.kept[i]) = value;
    if (one_sided[rows.kept[i]] && value < 0 && value >= -zero(rows.kept[i])) result(rows.kept[i]) = 0.0;
  }
  return result;
}

}  // namespace mechanician
