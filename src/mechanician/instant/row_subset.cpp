#include "mechanician/instant/row_subset.hpp"

#include <algorithm>

namespace mechanician {

namespace {
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

void restore(std::vector<Index>& indices, const std::vector<Index>& rows) {
  for (Index& i : indices) i = rows[static_cast<std::size_t>(i)];
}
}  // namespace

InstantValues take_rows(const InstantValues& values, const std::vector<Index>& rows) {
  InstantValues part = values;
  const Index first_control = values.A.rows() - values.num_control;
  part.A = values.A(rows, Eigen::all);
  part.b = values.b(rows);
  if (values.A_noise.size()) part.A_noise = values.A_noise(rows, Eigen::all);
  if (values.b_noise.size()) part.b_noise = values.b_noise(rows);
  if (values.b_size.size()) part.b_size = values.b_size(rows);
  part.num_control = std::count_if(rows.begin(), rows.end(), [&](Index i) { return i >= first_control; });
  for (Index& i : part.measured) i = std::lower_bound(rows.begin(), rows.end(), i) - rows.begin();
  return part;
}

VectorXd spread_rows(const VectorXd& x, const std::vector<Index>& rows, Index count) {
  VectorXd whole = VectorXd::Zero(count);
  for (Index k = 0; k < x.size(); ++k) whole(rows[static_cast<std::size_t>(k)]) = x(k);
  return whole;
}

void restore_rows(Solution& s, const std::vector<Index>& rows, const InstantValues& whole) {
  const Index m = whole.A.rows(), constraints = m - whole.num_control;
  if (s.has_acceleration()) {
    s.multipliers = spread_rows(s.multipliers, rows, constraints);
    if (s.b_used.size()) s.b_used = spread_rows(s.b_used, rows, m);
  }
  if (s.residual.size()) s.residual = spread_rows(s.residual, rows, m);
  if (s.least_squares) {
    s.least_squares->b = spread_rows(s.least_squares->b, rows, m);
    s.least_squares->residual = spread_rows(s.least_squares->residual, rows, m);
  }
  restore(s.multipliers_undetermined, rows);
}

void restore_rows(Diagnosis& d, const std::vector<Index>& rows) {
  restore(d.zero_rows, rows), restore(d.redundant, rows), restore(d.multipliers_undetermined, rows);
  for (Dependence& dependence : d.depends) {
    dependence.row = rows[static_cast<std::size_t>(dependence.row)];
    restore(dependence.on, rows);
  }
  for (Conflict& conflict : d.conflicts) restore(conflict.rows, rows);
}

}  // namespace mechanician
