#include "mechanician/solve/row_selection.hpp"

#include <algorithm>
#include <utility>

namespace mechanician {

using Eigen::Index;
using Eigen::VectorXd;

namespace {

void restore(std::vector<Index>& indices, const std::vector<Index>& rows) {
  for (Index& i : indices) i = rows[static_cast<std::size_t>(i)];
}

}  // namespace

InstantValues take_rows(const InstantValues& values, const std::vector<Index>& rows) {
  InstantValues part = values;
  part.A = values.A.size() > 0 ? values.A.select(rows) : SparseRows(0, values.M.rows());
  part.b = values.b(rows);
  if (values.A_noise.size()) part.A_noise = values.A_noise.select(rows);
  if (values.b_noise.size()) part.b_noise = values.b_noise(rows);
  if (values.b_size.size()) part.b_size = values.b_size(rows);
  for (Index& i : part.measured) i = std::lower_bound(rows.begin(), rows.end(), i) - rows.begin();
  // Rows of a system on its pattern; none at all would read as all of them.
  part.pattern_rows = rows;
  if (!values.pattern_rows.empty()) restore(part.pattern_rows = rows, values.pattern_rows);
  if (rows.empty()) part.pattern = nullptr;
  return part;
}

VectorXd spread_rows(const VectorXd& x, const std::vector<Index>& rows, Index count) {
  VectorXd whole = VectorXd::Zero(count);
  for (Index k = 0; k < x.size(); ++k) whole(rows[static_cast<std::size_t>(k)]) = x(k);
  return whole;
}

void restore_rows(Solution& s, const std::vector<Index>& rows, const InstantValues& whole) {
  const Index m = whole.b.size();
  if (s.has_acceleration()) s.multipliers = spread_rows(s.multipliers, rows, m);
  if (s.b_used.size() || s.has_acceleration()) s.b_used = spread_rows(s.b_used, rows, m);
  if (s.residual.size() || s.has_acceleration()) s.residual = spread_rows(s.residual, rows, m);
  if (s.least_squares) {
    s.least_squares->b = spread_rows(s.least_squares->b, rows, m);
    s.least_squares->residual = spread_rows(s.least_squares->residual, rows, m);
  }
  restore(s.multipliers_undetermined, rows);
}

void restore_rows(Parts& parts, const std::vector<Index>& rows, const InstantValues& whole) {
  const Index m = whole.b.size();
  if (parts.error_signal) parts.error_signal = spread_rows(*parts.error_signal, rows, m);
  if (parts.power) parts.power->by_row = spread_rows(parts.power->by_row, rows, m);
  if (!parts.gain) return;
  Eigen::MatrixXd gain = Eigen::MatrixXd::Zero(parts.gain->rows(), m);
  for (Index k = 0; k < parts.gain->cols(); ++k) gain.col(rows[static_cast<std::size_t>(k)]) = parts.gain->col(k);
  parts.gain = std::move(gain);
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
