#include "mechanician/solve/consistency.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mechanician {

using Eigen::Index;
using Eigen::VectorXd;

namespace {
constexpr double noise_factor = 8.0;
}

VectorXd calc_row_tolerances(const InstantValues& values, const std::vector<Index>& selection, const VectorXd& qdd_size,
                             const VectorXd& D, double condition) {
  const auto m = static_cast<Index>(selection.size());
  VectorXd tolerance(m);
  // Rounding of the other rows reaches a row whose own terms are all zero.
  double largest = 0;
  for (Index j = 0; j < m; ++j) largest = std::max(largest, std::abs(D(j) * values.b(selection[j])));
  const double rounding =
      largest * std::min(consistency_tolerance,
                         64.0 * static_cast<double>(m) * std::numeric_limits<double>::epsilon() * condition);
  // What the forces could do, whichever way they were turned: where constraints hold a system at rest, rows differ by
  // rounding of that, also across the forces.
  VectorXd free = VectorXd::Zero(values.M.rows());
  double force = 0;  // in the norm of the kinetic energy
  for (Index i = 0; i < free.size() && values.Q.size() == free.size(); ++i)
    if (const double mass = values.M(i, i); mass > 0.0) {
      force = std::hypot(force, values.Q(i) / std::sqrt(mass));
      free(i) = 1.0 / std::sqrt(mass);
    }
  free *= force;
  for (Index j = 0; j < m; ++j) {
    const Index row = selection[j];
    double size = values.A.abs_dot(row, qdd_size) + std::abs(values.b(row));
    if (values.b_size.size() > 0) size += std::max(0.0, values.b_size(row) - std::abs(values.b(row)));
    double noise = 0;
    if (values.b_noise.size() > 0) noise += values.b_noise(row);
    if (values.A_noise.size() > 0) noise += values.A_noise.dot(row, qdd_size);
    noise += std::numeric_limits<double>::epsilon() * values.A.abs_dot(row, free);
    tolerance(j) = consistency_tolerance * size + noise_factor * noise + rounding / D(j);
  }
  return tolerance;
}

Consistency check_consistency(const RowFactor& rows, const InstantValues& values, const std::vector<Index>& selection,
                              const AccelerationOf& to_qdd) {
  const Index m = rows.num_rows();
  VectorXd b_scaled(m);
  for (Index j = 0; j < m; ++j) b_scaled(j) = rows.D(j) * values.b(selection[j]);
  const VectorXd b_consistent = rows.project_consistent(b_scaled);

  Consistency result;
  result.b = b_consistent.cwiseQuotient(rows.D);
  result.residual = (b_scaled - b_consistent).cwiseQuotient(rows.D);
  result.y_ls = rows.calc_least_norm(b_consistent);
  result.tolerance = calc_row_tolerances(values, selection, to_qdd(result.y_ls).cwiseAbs(), rows.D, rows.condition);
  // Each dropped row with the kept rows that it depends on: what all of them allow together. (Row by row, a row of
  // zeros would have to bear the rounding of its partners.)
  const Index k = rows.rank;
  for (Index j = 0; j + k < m; ++j) {
    const Index dropped = rows.order[k + j];
    double miss = b_scaled(dropped), allowed = rows.D(dropped) * result.tolerance(dropped);
    for (Index i = 0; i < k; ++i) {
      const Index kept = rows.order[i];
      miss -= rows.T_computed(i, j) * b_scaled(kept);
      allowed += std::abs(rows.T_computed(i, j)) * rows.D(kept) * result.tolerance(kept);
    }
    if (std::abs(miss) > allowed) result.consistent = false;
  }
  return result;
}

}  // namespace mechanician
