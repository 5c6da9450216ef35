#include "mechanician/solve/sparse_local_dependence.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "mechanician/solve/eigen_decompositions.hpp"

namespace mechanician {

namespace {

using Eigen::Index;

/// Slots of A by row or by column.
template <class Key>
SparseLists lists_by(const std::vector<SparseEntry>& entries, int count, Key&& key) {
  SparseLists lists;
  lists.begin.assign(static_cast<std::size_t>(count) + 1, 0);
  for (const SparseEntry& e : entries) ++lists.begin[static_cast<std::size_t>(key(e)) + 1];
  std::partial_sum(lists.begin.begin(), lists.begin.end(), lists.begin.begin());
  lists.items.resize(entries.size());
  std::vector<int> next(lists.begin.begin(), lists.begin.end() - 1);
  for (std::size_t s = 0; s < entries.size(); ++s)
    lists.items[static_cast<std::size_t>(next[static_cast<std::size_t>(key(entries[s]))]++)] = static_cast<int>(s);
  return lists;
}

class LocalSearch {
 public:
  LocalSearch(const SparsePattern& pattern, std::span<const double> A, std::span<const double> weight,
              const LocalDependenceOptions& options)
      : pattern_(pattern),
        A_(A),
        weight_(weight),
        options_(options),
        of_row_(lists_by(pattern.A, pattern.m, [](const SparseEntry& e) { return e.row; })),
        of_col_(lists_by(pattern.A, pattern.n, [](const SparseEntry& e) { return e.col; })),
        place_(static_cast<std::size_t>(pattern.n), -1),
        seen_(static_cast<std::size_t>(pattern.m), -1),
        size_(static_cast<std::size_t>(pattern.m), 0.0),
        touched_(static_cast<std::size_t>(pattern.n), 0) {
    for (std::size_t s = 0; s < A.size(); ++s)
      size_[static_cast<std::size_t>(pattern.A[s].row)] +=
          A[s] * A[s] * weight[static_cast<std::size_t>(pattern.A[s].col)];
    for (double& size : size_) size = std::sqrt(size);
  }

  std::vector<LocalDependence> run() {
    std::vector<LocalDependence> found;
    for (int row = 0; row < pattern_.m; ++row) {
      bool possible = true;  // coordinates that no row before it touches make it independent of them
      for (const int* s = of_row_.first(row); s != of_row_.last(row); ++s)
        possible &= A_[static_cast<std::size_t>(*s)] == 0 || touched_[col(*s)];
      if (possible) explain(row, found);
      for (const int* s = of_row_.first(row); s != of_row_.last(row); ++s)
        if (A_[static_cast<std::size_t>(*s)] != 0) touched_[col(*s)] = 1;
    }
    return found;
  }

 private:
  std::size_t col(int slot) const { return static_cast<std::size_t>(pattern_.A[static_cast<std::size_t>(slot)].col); }
  double unit(int slot) const {
    const auto s = static_cast<std::size_t>(slot);
    return A_[s] * std::sqrt(weight_[col(slot)]) / size_[static_cast<std::size_t>(pattern_.A[s].row)];
  }

  void explain(int row, std::vector<LocalDependence>& found) {
    if (!(size_[static_cast<std::size_t>(row)] > 0)) {
      found.push_back({row, {}, {}});
      return;
    }
    if (!gather(row)) return;
    const auto count = static_cast<Index>(rows_.size());
    Eigen::MatrixXd Z = Eigen::MatrixXd::Zero(static_cast<Index>(cols_.size()), count);
    Eigen::VectorXd a = Eigen::VectorXd::Zero(Z.rows());
    for (Index k = 0; k < count; ++k)
      for (const int* s = of_row_.first(rows_[static_cast<std::size_t>(k)]);
           s != of_row_.last(rows_[static_cast<std::size_t>(k)]); ++s)
        Z(place_[col(*s)], k) = unit(*s);
    for (const int* s = of_row_.first(row); s != of_row_.last(row); ++s) a(place_[col(*s)]) = unit(*s);
    for (const int c : cols_) place_[static_cast<std::size_t>(c)] = -1;
    Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr;
    qr.setThreshold(1e-7);  // coefficients stay small; what is nearer than that is not for here
    qr.compute(Z);
    const Index rank = qr.rank();
    const auto fit = [&](const Eigen::VectorXd& right) {  // by as many rows as are independent
      const Eigen::VectorXd turned = qr.householderQ().transpose() * right;
      Eigen::VectorXd x = Eigen::VectorXd::Zero(count);
      x.head(rank) = qr.matrixR().topLeftCorner(rank, rank).triangularView<Eigen::Upper>().solve(turned.head(rank));
      return Eigen::VectorXd(qr.colsPermutation() * x);
    };
    Eigen::VectorXd c = fit(a);
    c += fit(a - Z * c);
    if (!((a - Z * c).norm() <= options_.dependent)) return;
    LocalDependence dependence;
    dependence.row = row;
    for (Index k = 0; k < count; ++k) {
      if (!(std::abs(c(k)) > options_.negligible)) continue;
      const int other = rows_[static_cast<std::size_t>(k)];
      dependence.rows.push_back(other);
      dependence.coefficients.push_back(c(k) * size_[static_cast<std::size_t>(row)] /
                                        size_[static_cast<std::size_t>(other)]);
    }
    found.push_back(std::move(dependence));
  }

  /// rows_: before `row`, with all coordinates in cols_: those of `row` and of the rows it touches. False: none, or too many.
  bool gather(int row) {
    cols_.clear(), rows_.clear();
    const auto add_cols = [this](int r) {
      for (const int* s = of_row_.first(r); s != of_row_.last(r); ++s)
        if (place_[col(*s)] < 0)
          place_[col(*s)] = static_cast<int>(cols_.size()), cols_.push_back(static_cast<int>(col(*s)));
    };
    add_cols(row);
    bool good = true;
    const std::size_t own = cols_.size();
    for (std::size_t k = 0; good && k < own; ++k) {
      const int i = cols_[k];
      if (of_col_.count(i) > options_.most_rows) good = false;
      for (const int* s = of_col_.first(i); good && s != of_col_.last(i); ++s)
        if (const int other = pattern_.A[static_cast<std::size_t>(*s)].row; other < row) add_cols(other);
      if (static_cast<int>(cols_.size()) > 2 * options_.most_rows) good = false;
    }
    for (std::size_t k = 0; good && k < cols_.size(); ++k) {
      if (of_col_.count(cols_[k]) > options_.most_rows) good = false;
      for (const int* s = of_col_.first(cols_[k]); good && s != of_col_.last(cols_[k]); ++s) {
        const int other = pattern_.A[static_cast<std::size_t>(*s)].row;
        if (other >= row || seen_[static_cast<std::size_t>(other)] == row ||
            !(size_[static_cast<std::size_t>(other)] > 0))
          continue;
        seen_[static_cast<std::size_t>(other)] = row;
        bool inside = true;
        for (const int* e = of_row_.first(other); inside && e != of_row_.last(other); ++e)
          inside = place_[col(*e)] >= 0;
        if (inside) rows_.push_back(other);
      }
      if (static_cast<int>(rows_.size()) > options_.most_rows) good = false;
    }
    if (good && !rows_.empty()) {
      std::sort(rows_.begin(), rows_.end());
      return true;
    }
    for (const int c : cols_) place_[static_cast<std::size_t>(c)] = -1;
    return false;
  }

  const SparsePattern& pattern_;
  std::span<const double> A_, weight_;
  LocalDependenceOptions options_;
  SparseLists of_row_, of_col_;
  std::vector<int> place_, seen_;
  std::vector<double> size_;
  std::vector<char> touched_;
  std::vector<int> cols_, rows_;
};

}  // namespace

std::vector<LocalDependence> find_local_dependences(const SparsePattern& pattern, std::span<const double> A,
                                                    std::span<const double> weight,
                                                    const LocalDependenceOptions& options) {
  return LocalSearch(pattern, A, weight, options).run();
}

}  // namespace mechanician
