#include "mechanician/solve/row_selection.hpp"

#include <algorithm>
#include <utility>

namespace mechanician {

using Eigen::Index;
using Eigen::VectorXd;

InstantValues select_rows(const InstantValues& values, const std::vector<Index>& rows) {
  InstantValues v;
  v.M = values.M;
  v.Q = values.Q;
  v.C = values.C;
  v.A = values.A(rows, Eigen::all);
  v.b = values.b(rows);
  v.num_control = values.num_control;
  v.W = values.W;
  for (const Index row : values.measured) {
    v.measured.push_back(std::lower_bound(rows.begin(), rows.end(), row) - rows.begin());
  }
  v.M_noise = values.M_noise;
  v.Q_noise = values.Q_noise;
  if (values.A_noise.size() > 0) v.A_noise = values.A_noise(rows, Eigen::all);
  if (values.b_noise.size() > 0) v.b_noise = values.b_noise(rows);
  if (values.b_size.size() > 0) v.b_size = values.b_size(rows);
  return v;
}

Solution number_as_given(Solution s, const std::vector<Index>& rows, Index num_rows, Index num_constraint) {
  const auto spread = [&](VectorXd& x, Index size) {
    if (x.size() == 0 && size > 0 && !s.has_acceleration()) return;
    VectorXd all = VectorXd::Zero(size);
    for (Index j = 0; j < x.size(); ++j) all(rows[j]) = x(j);
    x = std::move(all);
  };
  spread(s.multipliers, num_constraint);
  if (s.b_used.size() > 0 || s.has_acceleration()) spread(s.b_used, num_rows);
  if (s.residual.size() > 0 || s.has_acceleration()) spread(s.residual, num_rows);
  for (Index& row : s.multipliers_undetermined) row = rows[row];
  if (s.least_squares) {
    spread(s.least_squares->b, num_rows);
    spread(s.least_squares->residual, num_rows);
  }
  s.num_rows = num_rows;
  return s;
}

}  // namespace mechanician
