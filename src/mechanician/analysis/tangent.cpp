#include "mechanician/analysis/tangent.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mechanician {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
/// A pivot among rows of unit size, below which a choice is not taken as long as there are others: digits are lost by its inverse.
constexpr double weak_pivot = 1e-3;

/// Matrices with bounds of rounding.
struct Bounded {
  Eigen::MatrixXd value, noise;
  Bounded(Eigen::Index rows, Eigen::Index cols)
      : value(Eigen::MatrixXd::Zero(rows, cols)), noise(Eigen::MatrixXd::Zero(rows, cols)) {}
};

/// Columns that are solved for, one for each row of A (rows of full rank): groups of columns are asked one after the other, as many are
/// taken of each as have good pivots; what is missing in the end is taken of all that are left.
std::vector<int> choose_dependent(const Eigen::MatrixXd& A, std::span<const double> units,
                                  const std::vector<std::vector<int>>& groups) {
  const Eigen::Index m = A.rows();
  Eigen::MatrixXd left = A;  // in units, rows of unit size, without what was chosen
  for (Eigen::Index i = 0; i < A.cols(); ++i) left.col(i) *= units[static_cast<std::size_t>(i)];
  for (Eigen::Index j = 0; j < m; ++j) left.row(j) /= std::max(left.row(j).norm(), 1e-300);
  std::vector<int> chosen;
  std::vector<char> is_chosen(static_cast<std::size_t>(A.cols()), 0);
  const auto take_from = [&](const std::vector<int>& columns, double least) {
    std::vector<int> free;
    for (const int i : columns)
      if (!is_chosen[static_cast<std::size_t>(i)]) free.push_back(i);
    const Eigen::Index missing = m - static_cast<Eigen::Index>(chosen.size());
    if (free.empty() || missing == 0) return;
    Eigen::MatrixXd some(m, static_cast<Eigen::Index>(free.size()));
    for (std::size_t k = 0; k < free.size(); ++k) some.col(static_cast<Eigen::Index>(k)) = left.col(free[k]);
    const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(some);
    const Eigen::Index most = std::min<Eigen::Index>(missing, some.cols());
    Eigen::Index count = 0;
    for (; count < most && std::abs(qr.matrixQR()(count, count)) > least; ++count) {
      chosen.push_back(free[static_cast<std::size_t>(qr.colsPermutation().indices()(count))]);
      is_chosen[static_cast<std::size_t>(chosen.back())] = 1;
    }
    // What rows say beyond what was chosen.
    for (Eigen::Index k = 0; k < count; ++k) {
      Eigen::VectorXd direction = Eigen::VectorXd::Unit(m, k);
      direction.applyOnTheLeft(qr.householderQ());
      for (Eigen::Index i = 0; i < left.cols(); ++i) left.col(i) -= direction * direction.dot(left.col(i));
    }
  };
  std::vector<int> all;
  for (const auto& group : groups) {
    take_from(group, weak_pivot);
    all.insert(all.end(), group.begin(), group.end());
    // Before the last group, which is to stay independent, what is left of the others is taken down to rounding.
    if (&group + 2 == groups.data() + groups.size() && !groups.back().empty()) take_from(all, 1e-8);
  }
  take_from(all, 0.0);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

/// X of A_D X = R, with bounds.
void solve(const Eigen::MatrixXd& A_D, const Eigen::MatrixXd& A_noise, const Bounded& right, Bounded& X) {
  if (right.value.size() == 0) return;  // nothing can move: nothing is asked for
  const Eigen::PartialPivLU<Eigen::MatrixXd> lu(A_D);
  X.value = lu.solve(right.value);
  const Eigen::MatrixXd inverse = lu.inverse().cwiseAbs();
  const Eigen::MatrixXd wrong =
      right.noise + (A_noise + eps * A_D.cwiseAbs()) * X.value.cwiseAbs() + eps * right.value.cwiseAbs();
  X.noise = inverse * wrong;
}

}  // namespace

TangentSpace find_tangent_space(const ImplicitEquations& eqs, const TangentRows& rows) {
  const int n = eqs.n();
  std::vector<int> place(static_cast<std::size_t>(eqs.m()), -1);
  const auto number = [&](std::span<const int> list) {
    std::fill(place.begin(), place.end(), -1);
    for (std::size_t k = 0; k < list.size(); ++k) place[static_cast<std::size_t>(list[k])] = static_cast<int>(k);
  };
  const auto fill = [&](const BoundedEntries& entries, Bounded& to, int shift) {
    for (const BoundedEntry& e : entries)
      if (const int j = place[static_cast<std::size_t>(e.row)]; j >= 0)
        to.value(j, shift + e.col) += e.value, to.noise(j, shift + e.col) += e.noise;
  };
  // Groups of columns in the order in which they may depend. What is wanted is the last: others may have weaker pivots then.
  const auto groups_of = [&](const std::vector<int>& columns, std::span<const int> wanted, bool of_velocities) {
    std::vector<std::vector<int>> groups(5);
    for (const int i : columns) {
      const bool is_wanted = std::find(wanted.begin(), wanted.end(), i) != wanted.end();
      const int idle = of_velocities ? rows.idle[static_cast<std::size_t>(i)] : 0;
      groups[is_wanted ? 4 : !rows.has_mass[static_cast<std::size_t>(i)] ? 0 : 3 - idle].push_back(i);
    }
    if (wanted.empty()) return groups;
    std::vector<std::vector<int>> two(2);
    for (std::size_t k = 0; k < 4; ++k) two[0].insert(two[0].end(), groups[k].begin(), groups[k].end());
    two[1] = groups[4];
    return two;
  };
  const auto find_dependent = [](std::span<const int> wanted, const std::vector<int>& dependent) {
    for (const int i : wanted)
      if (std::binary_search(dependent.begin(), dependent.end(), i)) return i;
    return -1;
  };
  TangentSpace space;
  std::vector<int> everything;
  for (int i = 0; i < n; ++i) everything.push_back(i);

  // δq_D = −A_D⁻¹A_I δq_I
  const auto h = static_cast<Eigen::Index>(rows.positions.size());
  number(rows.positions);
  Bounded A(h, n);
  fill(eqs.rate(ImplicitEquations::by_qd), A, 0);
  const std::vector<int> dependent = choose_dependent(A.value, rows.units, groups_of(everything, rows.wanted, false));
  for (const int i : everything)
    if (!std::binary_search(dependent.begin(), dependent.end(), i)) space.positions.push_back(i);
  space.not_independent = find_dependent(rows.wanted, dependent);
  const auto p = static_cast<Eigen::Index>(space.positions.size());

  const auto split = [&](const Bounded& from, const std::vector<int>& columns) {
    Bounded part(from.value.rows(), static_cast<Eigen::Index>(columns.size()));
    for (std::size_t c = 0; c < columns.size(); ++c) {
      part.value.col(static_cast<Eigen::Index>(c)) = from.value.col(columns[c]);
      part.noise.col(static_cast<Eigen::Index>(c)) = from.noise.col(columns[c]);
    }
    return part;
  };
  Bounded T(n, p);  // δq of unit δq_I
  for (Eigen::Index c = 0; c < p; ++c) T.value(space.positions[static_cast<std::size_t>(c)], c) = 1.0;
  if (h > 0) {
    const Bounded A_D = split(A, dependent), A_I = split(A, space.positions);
    Bounded X(h, p), right = A_I;
    right.value = -right.value;
    solve(A_D.value, A_D.noise, right, X);
    T.value(dependent, Eigen::all) = X.value, T.noise(dependent, Eigen::all) = X.noise;
  }

  // Of nonholonomic rows as many as say something beyond the others.
  std::vector<int> kept(rows.positions.begin(), rows.positions.end());
  Eigen::MatrixXd reduced(0, p);
  std::vector<double> units;
  for (const int i : space.positions) units.push_back(rows.units[static_cast<std::size_t>(i)]);
  if (const Eigen::Index more = rows.rank - h; more > 0) {
    number(rows.nonholonomic);
    Bounded W(static_cast<Eigen::Index>(rows.nonholonomic.size()), n);
    fill(eqs.rate(ImplicitEquations::by_qd), W, 0);
    const Eigen::MatrixXd WT = W.value * T.value;
    Eigen::MatrixXd sized = WT;
    for (Eigen::Index c = 0; c < p; ++c) sized.col(c) *= units[static_cast<std::size_t>(c)];
    for (Eigen::Index j = 0; j < sized.rows(); ++j) sized.row(j) /= std::max(sized.row(j).norm(), 1e-300);
    const Eigen::MatrixXd transposed = sized.transpose();
    const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(transposed);
    std::vector<int> chosen;
    for (Eigen::Index j = 0; j < more; ++j) chosen.push_back(static_cast<int>(qr.colsPermutation().indices()(j)));
    std::sort(chosen.begin(), chosen.end());
    reduced.resize(more, p);
    for (Eigen::Index j = 0; j < more; ++j) {
      reduced.row(j) = WT.row(chosen[static_cast<std::size_t>(j)]);
      kept.push_back(rows.nonholonomic[static_cast<std::size_t>(chosen[static_cast<std::size_t>(j)])]);
    }
  }

  // Velocities that depend: those of coordinates that do, and of the others as many as there are such rows.
  std::vector<int> dependent_v = dependent;
  if (reduced.rows() > 0) {
    std::vector<std::vector<int>> groups = groups_of(space.positions, rows.wanted_v, true);
    for (auto& group : groups)
      for (int& i : group)
        i = static_cast<int>(std::lower_bound(space.positions.begin(), space.positions.end(), i) -
                             space.positions.begin());
    for (const int c : choose_dependent(reduced, units, groups))
      dependent_v.push_back(space.positions[static_cast<std::size_t>(c)]);
    std::sort(dependent_v.begin(), dependent_v.end());
  }
  for (const int i : everything)
    if (!std::binary_search(dependent_v.begin(), dependent_v.end(), i)) space.velocities.push_back(i);

  if (const int i = find_dependent(rows.wanted_v, dependent_v); space.not_independent < 0 && i >= 0)
    space.not_independent = i, space.not_independent_v = true;

  // All of (1) for δq̇: right-hand sides for δq_I, δq̇_J and δu.
  const auto k = static_cast<Eigen::Index>(kept.size());
  number(kept);
  Bounded V(k, n), by_q(k, n), by_u(k, rows.num_inputs);
  fill(eqs.rate(ImplicitEquations::by_qd), V, 0);
  fill(eqs.rate(ImplicitEquations::by_q), by_q, 0);
  fill(eqs.rate(ImplicitEquations::by_inputs), by_u, 0);
  const auto v = static_cast<Eigen::Index>(space.velocities.size()), all = p + v + rows.num_inputs;
  space.q = space.q_noise = space.qd = space.qd_noise = Eigen::MatrixXd::Zero(n, all);
  space.q.leftCols(p) = T.value, space.q_noise.leftCols(p) = T.noise;
  for (Eigen::Index c = 0; c < v; ++c) space.qd(space.velocities[static_cast<std::size_t>(c)], p + c) = 1.0;
  // Constraints that an input moves take coordinates along.
  if (h > 0 && rows.num_inputs > 0) {
    number(rows.positions);
    Bounded right(h, rows.num_inputs), X(h, rows.num_inputs);
    fill(eqs.residual(ImplicitEquations::by_inputs), right, 0);
    right.value = -right.value;
    const Bounded A_D = split(A, dependent);
    solve(A_D.value, A_D.noise, right, X);
    for (Eigen::Index j = 0; j < h; ++j)
      space.q.row(dependent[static_cast<std::size_t>(j)]).tail(rows.num_inputs) = X.value.row(j);
  }
  if (k > 0) {
    const Bounded V_D = split(V, dependent_v), V_J = split(V, space.velocities);
    Bounded right(k, all), X(k, all);
    right.value.leftCols(p) = -by_q.value * T.value;
    right.noise.leftCols(p) =
        by_q.noise * T.value.cwiseAbs() + by_q.value.cwiseAbs() * (T.noise + eps * T.value.cwiseAbs());
    right.value.middleCols(p, v) = -V_J.value, right.noise.middleCols(p, v) = V_J.noise;
    right.value.rightCols(rows.num_inputs) = -by_u.value - by_q.value * space.q.rightCols(rows.num_inputs);
    right.noise.rightCols(rows.num_inputs) = by_u.noise;
    solve(V_D.value, V_D.noise, right, X);
    space.qd(dependent_v, Eigen::all) = X.value, space.qd_noise(dependent_v, Eigen::all) = X.noise;
  }
  return space;
}

}  // namespace mechanician
