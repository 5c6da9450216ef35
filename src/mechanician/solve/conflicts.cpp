#include "mechanician/solve/conflicts.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_set>

#include "mechanician/solve/consistency.hpp"
#include "mechanician/solve/dense.hpp"

namespace mechanician {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Fundamental circuits of a basis of the rows of [A b; 0 1], e₀ in the basis: dropped row j and the basis rows i with
/// T(i,j) ≠ 0, and e₀ where residual(j) ≠ 0.
struct CircuitTable {
  std::vector<Index> kept, dropped;  // labels
  MatrixXd T;                        // kept × dropped
  VectorXd residual;                 // dropped, scaled to largest entry 1

  /// Components reached from e₀: flags for kept and dropped.
  struct Reached {
    std::vector<bool> kept, dropped;
  };
  Reached reach() const {
    Reached reached{std::vector<bool>(kept.size(), false), std::vector<bool>(dropped.size(), false)};
    std::vector<Index> queue;
    for (Index j = 0; j < T.cols(); ++j) {
      if (residual(j) == 0) continue;
      reached.dropped[j] = true;
      queue.push_back(j);
    }
    while (!queue.empty()) {
      const Index j = queue.back();
      queue.pop_back();
      for (Index i = 0; i < T.rows(); ++i) {
        if (T(i, j) == 0 || reached.kept[i]) continue;
        reached.kept[i] = true;
        for (Index other = 0; other < T.cols(); ++other) {
          if (T(i, other) == 0 || reached.dropped[other]) continue;
          reached.dropped[other] = true;
          queue.push_back(other);
        }
      }
    }
    return reached;
  }

  bool reaches(Index label) const {
    const Reached reached = reach();
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (kept[i] == label) return reached.kept[i];
    }
    for (std::size_t j = 0; j < dropped.size(); ++j) {
      if (dropped[j] == label) return reached.dropped[j];
    }
    return false;
  }

  /// Keeps only what e₀ reaches.
  CircuitTable component() const {
    const Reached reached = reach();
    std::vector<Index> rows, columns;
    CircuitTable result;
    for (Index i = 0; i < T.rows(); ++i) {
      if (!reached.kept[i]) continue;
      rows.push_back(i);
      result.kept.push_back(kept[i]);
    }
    for (Index j = 0; j < T.cols(); ++j) {
      if (!reached.dropped[j]) continue;
      columns.push_back(j);
      result.dropped.push_back(dropped[j]);
    }
    result.T = T(rows, columns);
    result.residual = residual(columns);
    return result;
  }

  /// The table without this row.
  CircuitTable without(Index label) const {
    CircuitTable result = *this;
    auto column = std::find(result.dropped.begin(), result.dropped.end(), label) - result.dropped.begin();
    if (column == static_cast<Index>(dropped.size())) {
      const Index i = std::find(kept.begin(), kept.end(), label) - kept.begin();
      if (T.row(i).cwiseAbs().maxCoeff(&column) == 0) return result;  // in no circuit at all
      result.exchange(i, column);
    }
    std::vector<Index> columns;
    result.dropped.clear();
    for (Index j = 0; j < T.cols(); ++j) {
      if (j == column) continue;
      columns.push_back(j);
      result.dropped.push_back(dropped[j]);
    }
    result.T = MatrixXd(result.T(Eigen::all, columns));
    result.residual = VectorXd(result.residual(columns));
    return result.component();
  }

 private:
  /// Dropped row j enters the basis in place of kept row i.
  void exchange(Index i, Index j) {
    constexpr double rounding = 1e-11;
    const double pivot = T(i, j);
    const VectorXd column = T.col(j);
    const Eigen::RowVectorXd row = T.row(i) / pivot;
    T -= column * row;
    T.row(i) = row;
    T.col(j) = -column / pivot;
    T(i, j) = 1.0 / pivot;
    const double r = residual(j);
    residual -= r * row.transpose();
    residual(j) = -r / pivot;
    T = T.unaryExpr([](double x) { return std::abs(x) <= rounding ? 0.0 : x; });
    residual = residual.unaryExpr([](double x) { return std::abs(x) <= rounding ? 0.0 : x; });
    std::swap(kept[i], dropped[j]);
  }
};

/// All circuits of the rows of a left null basis, at most all_conflicts_up_to rows.
class CircuitSearch {
 public:
  using Basis = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, all_conflicts_up_to, all_conflicts_up_to>;
  using Circuit = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, all_conflicts_up_to, 1>;

  explicit CircuitSearch(double tolerance) : tolerance_(tolerance) {}

  std::vector<Circuit> run(const Basis& Y) {
    descend(Y, 0);
    return std::move(circuits_);
  }

 private:
  bool vanishes(const Basis& Y, Index i) const { return Y.row(i).norm() <= tolerance_; }

  // Y: p×c, orthonormal columns; the subspace of null vectors in which the rows chosen so far vanish. Rows before
  // `start` were decided. A set of vanishing rows is met by its lexicographically first basis only: if a row passed
  // over turns out to vanish as well, another branch has it.
  void descend(const Basis& Y, Index start) {
    const Index p = Y.rows();
    const Index c = Y.cols();
    if (c == 1) {
      add(Y.col(0));
      return;
    }
    for (Index i = start; p - i >= c - 1; ++i) {  // c − 1 rows are still to be chosen
      if (vanishes(Y, i)) continue;
      const Basis smaller = vanish(Y, i);
      bool elsewhere = false;
      for (Index r = 0; r < i && !elsewhere; ++r) elsewhere = vanishes(smaller, r) && !vanishes(Y, r);
      if (!elsewhere) descend(smaller, i + 1);
    }
  }

  /// The subspace in which row i is zero too: one reflection of the columns, so they stay orthonormal.
  static Basis vanish(const Basis& Y, Index i) {
    const Index c = Y.cols();
    Eigen::Matrix<double, 1, Eigen::Dynamic, Eigen::RowMajor, 1, all_conflicts_up_to> w = Y.row(i);
    w(0) += std::copysign(w.norm(), w(0));
    w.normalize();
    Basis reflected = Y;
    reflected.noalias() -= 2.0 * ((Y * w.transpose()).eval() * w);
    Basis result = reflected.rightCols(c - 1);
    result.row(i).setZero();
    return result;
  }

  void add(const Circuit& y) {
    std::uint32_t support = 0;
    for (Index i = 0; i < y.size(); ++i) {
      if (std::abs(y(i)) > tolerance_) support |= std::uint32_t{1} << i;
    }
    if (seen_.insert(support).second) circuits_.push_back(y);
  }

  double tolerance_;
  std::unordered_set<std::uint32_t> seen_;
  std::vector<Circuit> circuits_;
};

/// From a left null vector of the scaled rows with these labels.
Conflict make_conflict(const RowFactor& rows, const std::vector<Index>& labels, const VectorXd& eta, double zero,
                       const VectorXd& b, const VectorXd& tolerance) {
  std::vector<std::pair<Index, double>> entries;
  double largest = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const double value = eta(static_cast<Index>(i));
    if (std::abs(value) <= zero) continue;
    entries.emplace_back(labels[i], value * rows.D(labels[i]));
    if (std::abs(entries.back().second) > std::abs(largest)) largest = entries.back().second;
  }
  std::sort(entries.begin(), entries.end());
  Conflict conflict;
  conflict.coefficients.resize(static_cast<Index>(entries.size()));
  double allowed = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto [row, value] = entries[i];
    const double y = value / largest;
    conflict.rows.push_back(row);
    conflict.coefficients(static_cast<Index>(i)) = y;
    conflict.residual += y * b(row);
    allowed += std::abs(y) * tolerance(row);
  }
  conflict.relative_residual =
      conflict.residual == 0 ? 0.0 : consistency_tolerance * std::abs(conflict.residual) / allowed;
  return conflict;
}

bool contradicts(const Conflict& conflict) { return conflict.relative_residual > consistency_tolerance; }

/// All irreducible conflicts within the component of e₀.
std::vector<Conflict> enumerate(const RowFactor& rows, const CircuitTable& table, const VectorXd& b,
                                const VectorXd& tolerance) {
  std::vector<Index> labels = table.kept;
  labels.insert(labels.end(), table.dropped.begin(), table.dropped.end());
  const auto k = static_cast<Index>(table.kept.size());
  const auto d = static_cast<Index>(table.dropped.size());
  MatrixXd Y(k + d, d);
  Y.topRows(k) = -table.T;
  Y.bottomRows(d).setIdentity();
  // Rows in file order make the search, and so the result, independent of the pivoting.
  std::vector<Index> by_label(labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i) by_label[i] = static_cast<Index>(i);
  std::sort(by_label.begin(), by_label.end(), [&](Index i, Index j) { return labels[i] < labels[j]; });
  const MatrixXd sorted = Y(by_label, Eigen::all);
  std::sort(labels.begin(), labels.end());

  const double zero = 10.0 * rows.null_tolerance();
  std::vector<Conflict> all;
  for (const auto& circuit : CircuitSearch(zero).run(orthonormalised(sorted))) {
    all.push_back(make_conflict(rows, labels, circuit, zero, b, tolerance));
  }
  std::vector<Conflict> conflicts;
  std::copy_if(all.begin(), all.end(), std::back_inserter(conflicts), contradicts);
  if (conflicts.empty() && !all.empty()) {
    // At the edge of the tolerance the rows taken together contradict and no circuit quite does: name the worst.
    conflicts.push_back(*std::max_element(all.begin(), all.end(), [](const Conflict& x, const Conflict& y) {
      return x.relative_residual < y.relative_residual;
    }));
  }
  return conflicts;
}

/// A conflict that contains row `label`.
Conflict find_conflict_with(Index label, const RowFactor& rows, CircuitTable table, const VectorXd& b,
                            const VectorXd& tolerance) {
  // Rows late in the file are dropped first: the story is told by the rows a reader meets first.
  std::vector<Index> candidates = table.kept;
  candidates.insert(candidates.end(), table.dropped.begin(), table.dropped.end());
  std::sort(candidates.rbegin(), candidates.rend());
  for (const Index row : candidates) {
    if (row == label || table.dropped.size() == 1) continue;
    const bool present = std::find(table.kept.begin(), table.kept.end(), row) != table.kept.end() ||
                         std::find(table.dropped.begin(), table.dropped.end(), row) != table.dropped.end();
    if (!present) continue;
    CircuitTable smaller = table.without(row);
    if (smaller.reaches(label)) table = std::move(smaller);
  }
  std::vector<Index> labels = table.kept;
  labels.insert(labels.end(), table.dropped.begin(), table.dropped.end());
  std::sort(labels.begin(), labels.end());
  // The null vector anew from the rows themselves: exchanges in the table gather rounding.
  const auto size = static_cast<Index>(labels.size());
  const MatrixXd Z = rows.Z(Eigen::all, labels);
  VectorXd eta = VectorXd::Zero(size);
  const PivotedQr qr = calc_pivoted_qr(Z);
  const Index rank = std::min(size - 1, Z.rows());
  const VectorXd x = solve_upper(MatrixXd(qr.R.topLeftCorner(rank, rank)), VectorXd(qr.R.col(size - 1).head(rank)));
  for (Index i = 0; i < rank; ++i) eta(qr.order[i]) = -x(i);
  eta(qr.order[size - 1]) = 1.0;
  return make_conflict(rows, labels, eta, 0.0, b, tolerance);
}

std::vector<Conflict> cover(const RowFactor& rows, const CircuitTable& table, const VectorXd& b,
                            const VectorXd& tolerance) {
  std::vector<Index> involved = table.kept;
  involved.insert(involved.end(), table.dropped.begin(), table.dropped.end());
  std::sort(involved.begin(), involved.end());
  std::vector<bool> covered(static_cast<std::size_t>(rows.num_rows()), false);
  std::vector<Conflict> conflicts;
  for (const Index row : involved) {
    if (covered[row]) continue;
    Conflict conflict = find_conflict_with(row, rows, table, b, tolerance);
    for (const Index member : conflict.rows) covered[member] = true;
    const bool known = std::any_of(conflicts.begin(), conflicts.end(),
                                   [&](const Conflict& other) { return other.rows == conflict.rows; });
    if (!known) conflicts.push_back(std::move(conflict));
  }
  return conflicts;
}

}  // namespace

std::vector<Conflict> find_conflicts(const RowFactor& rows, const VectorXd& b, const VectorXd& tolerance) {
  const Index k = rows.rank;
  const Index d = rows.num_dropped();
  if (d == 0) return {};
  CircuitTable table;
  table.kept.assign(rows.order.begin(), rows.order.begin() + k);
  table.dropped.assign(rows.order.begin() + k, rows.order.end());
  table.T = rows.T;
  table.residual = VectorXd::Zero(d);
  Index worst = 0;
  double worst_ratio = -1;
  VectorXd residual(d);
  for (Index j = 0; j < d; ++j) {
    const Index row = table.dropped[j];
    residual(j) = rows.D(row) * b(row);
    double allowed = rows.D(row) * tolerance(row);
    for (Index i = 0; i < k; ++i) {
      const Index other = table.kept[i];
      residual(j) -= rows.T_computed(i, j) * rows.D(other) * b(other);
      allowed += std::abs(rows.T_computed(i, j)) * rows.D(other) * tolerance(other);
    }
    const double ratio = allowed > 0 ? std::abs(residual(j)) / allowed : (residual(j) == 0 ? 0.0 : 1e300);
    if (ratio > 1.0) table.residual(j) = residual(j);
    if (ratio > worst_ratio) {
      worst_ratio = ratio;
      worst = j;
    }
  }
  if (table.residual.cwiseAbs().maxCoeff() == 0) table.residual(worst) = residual(worst) == 0 ? 1.0 : residual(worst);
  table.residual /= table.residual.cwiseAbs().maxCoeff();

  const CircuitTable component = table.component();
  const auto num_involved = static_cast<Index>(component.kept.size() + component.dropped.size());
  std::vector<Conflict> conflicts = num_involved <= all_conflicts_up_to ? enumerate(rows, component, b, tolerance)
                                                                        : cover(rows, component, b, tolerance);
  std::sort(conflicts.begin(), conflicts.end(), [](const Conflict& x, const Conflict& y) {
    return x.rows.size() != y.rows.size() ? x.rows.size() < y.rows.size() : x.rows < y.rows;
  });
  return conflicts;
}

}  // namespace mechanician
