#include "mechanician/solve/sparse_diagnosis.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "mechanician/solve/conflicts.hpp"
#include "mechanician/solve/eigen_sparse.hpp"

namespace mechanician {

namespace {

/// A vector of the left null space, rows increasing.
struct NullVector {
  std::vector<int> rows;
  std::vector<double> values;

  int last() const { return rows.empty() ? -1 : rows.back(); }
  double at(int row) const {
    const auto found = std::lower_bound(rows.begin(), rows.end(), row);
    return found != rows.end() && *found == row ? values[static_cast<std::size_t>(found - rows.begin())] : 0.0;
  }
};

/// Sizes of rows make entries comparable: value × size.
class Reduction {
 public:
  Reduction(std::vector<double> size, const SparseDiagnosisOptions& options)
      : size_(std::move(size)), options_(options) {}

  /// v − factor·w without row `gone` and without what is rounding.
  NullVector subtract(const NullVector& v, double factor, const NullVector& w, int gone) const {
    NullVector result;
    result.rows.reserve(v.rows.size() + w.rows.size());
    result.values.reserve(v.rows.size() + w.rows.size());
    double largest = 0;
    for (std::size_t i = 0, j = 0; i < v.rows.size() || j < w.rows.size();) {
      const bool from_v = j == w.rows.size() || (i < v.rows.size() && v.rows[i] <= w.rows[j]);
      const bool from_w = i == v.rows.size() || (j < w.rows.size() && w.rows[j] <= v.rows[i]);
      const int row = from_v ? v.rows[i] : w.rows[j];
      const double value = (from_v ? v.values[i] : 0.0) - (from_w ? factor * w.values[j] : 0.0);
      const double terms = from_v && from_w ? std::abs(v.values[i]) : 0.0;
      i += from_v, j += from_w;
      if (row == gone || std::abs(value) <= options_.negligible * terms) continue;
      result.rows.push_back(row), result.values.push_back(value);
      largest = std::max(largest, std::abs(value) * size_[row]);
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < result.rows.size(); ++i) {
      if (!(std::abs(result.values[i]) * size_[result.rows[i]] > options_.negligible * largest)) continue;
      result.rows[kept] = result.rows[i], result.values[kept] = result.values[i], ++kept;
    }
    result.rows.resize(kept), result.values.resize(kept);
    return result;
  }

  /// Each vector ends at a row of its own, with entry 1, and has no entry at the ends of others; by increasing end. False
  /// where that would take too many entries.
  bool reduce(std::vector<NullVector>& vectors) const {
    if (vectors.empty()) return true;
    // From the last row upwards.
    int most = 0;
    for (const NullVector& v : vectors) most = std::max(most, v.last());
    std::vector<std::vector<int>> ending(static_cast<std::size_t>(most) + 1);
    double entries = 0;
    for (std::size_t k = 0; k < vectors.size(); ++k) {
      if (vectors[k].last() >= 0) ending[static_cast<std::size_t>(vectors[k].last())].push_back(static_cast<int>(k));
      entries += static_cast<double>(vectors[k].rows.size());
    }
    std::vector<int> order;
    for (int row = most; row >= 0; --row) {
      const std::vector<int>& here = ending[static_cast<std::size_t>(row)];
      if (here.empty()) continue;
      // The largest share at its end; of equals the shortest.
      int pivot = here.front();
      double best = -1;
      for (const int k : here) {
        const double share = share_of_end(vectors[static_cast<std::size_t>(k)]);
        const bool shorter =
            vectors[static_cast<std::size_t>(k)].rows.size() < vectors[static_cast<std::size_t>(pivot)].rows.size();
        if (share > 1.5 * best || (share > 0.5 * best && shorter)) best = std::max(share, best), pivot = k;
      }
      const NullVector& p = vectors[static_cast<std::size_t>(pivot)];
      for (const int k : here) {
        if (k == pivot) continue;
        NullVector& v = vectors[static_cast<std::size_t>(k)];
        entries -= static_cast<double>(v.rows.size());
        v = subtract(v, v.values.back() / p.values.back(), p, row);
        entries += static_cast<double>(v.rows.size());
        if (v.last() >= 0) ending[static_cast<std::size_t>(v.last())].push_back(k);
      }
      order.push_back(pivot);
      if (entries > options_.most_entries) return false;
    }
    if (order.size() != vectors.size()) return false;  // one vanished: they were not independent
    std::reverse(order.begin(), order.end());
    // From the first downwards: ends of earlier vectors leave the later ones.
    std::vector<int> ends_at(static_cast<std::size_t>(most) + 1, -1);
    std::vector<NullVector> reduced;
    for (const int k : order) {
      NullVector v = std::move(vectors[static_cast<std::size_t>(k)]);
      entries -= static_cast<double>(v.rows.size());
      const double scale = 1 / v.values.back();
      for (double& value : v.values) value *= scale;
      v.values.back() = 1.0;
      std::vector<int> gone;
      for (const int row : v.rows)
        if (ends_at[static_cast<std::size_t>(row)] >= 0) gone.push_back(row);
      for (const int row : gone) {
        const NullVector& w = reduced[static_cast<std::size_t>(ends_at[static_cast<std::size_t>(row)])];
        if (const double value = v.at(row); value != 0) v = subtract(v, value, w, row);
      }
      ends_at[static_cast<std::size_t>(v.last())] = static_cast<int>(reduced.size());
      entries += static_cast<double>(v.rows.size());
      reduced.push_back(std::move(v));
      if (entries > options_.most_entries) return false;
    }
    vectors = std::move(reduced);
    return true;
  }

 private:
  double share_of_end(const NullVector& v) const {
    double largest = 0;
    for (std::size_t i = 0; i < v.rows.size(); ++i)
      largest = std::max(largest, std::abs(v.values[i]) * size_[v.rows[i]]);
    return largest > 0 ? std::abs(v.values.back()) * size_[v.rows.back()] / largest : 1;
  }

  std::vector<double> size_;
  SparseDiagnosisOptions options_;
};

NullVector vector_of(const SparseDependence& d) {
  NullVector v;
  std::vector<std::pair<int, double>> entries;
  for (std::size_t k = 0; k < d.rows.size(); ++k) entries.emplace_back(d.rows[k], -d.coefficients[k]);
  entries.emplace_back(d.row, 1.0);
  std::sort(entries.begin(), entries.end());
  for (const auto& [row, value] : entries) v.rows.push_back(row), v.values.push_back(value);
  return v;
}

/// Rows of each set of dependences that are linked by common rows.
std::vector<std::vector<int>> link(const std::vector<SparseDependence>& depends, int m) {
  std::vector<int> parent(static_cast<std::size_t>(m));
  std::iota(parent.begin(), parent.end(), 0);
  const auto root_of = [&](int i) {
    while (parent[static_cast<std::size_t>(i)] != i)
      i = parent[static_cast<std::size_t>(i)] = parent[static_cast<std::size_t>(parent[static_cast<std::size_t>(i)])];
    return i;
  };
  for (const SparseDependence& d : depends)
    for (const int r : d.rows) parent[static_cast<std::size_t>(root_of(r))] = root_of(d.row);
  std::vector<std::vector<int>> sets(static_cast<std::size_t>(m));
  for (std::size_t k = 0; k < depends.size(); ++k)
    sets[static_cast<std::size_t>(root_of(depends[k].row))].push_back(static_cast<int>(k));
  std::erase_if(sets, [](const std::vector<int>& set) { return set.empty(); });
  return sets;
}

class Conflicts {
 public:
  Conflicts(const SparsePattern& pattern, std::span<const double> M, std::span<const double> A,
            std::span<const double> g, const std::vector<double>& row_size, const Reduction& reduction,
            const SparseDiagnosisOptions& options)
      : pattern_(pattern),
        A_(A),
        g_(g),
        row_size_(row_size),
        reduction_(reduction),
        options_(options),
        weight_(static_cast<std::size_t>(pattern.n), 0.0) {
    double heaviest = 0;
    for (std::size_t k = 0; k < M.size(); ++k)
      if (pattern.M[k].row == pattern.M[k].col)
        weight_[static_cast<std::size_t>(pattern.M[k].row)] = M[k], heaviest = std::max(heaviest, M[k]);
    for (double& w : weight_) w = 1 / std::sqrt(w > 0 ? w : heaviest > 0 ? heaviest : 1);
    std::vector<int> count(static_cast<std::size_t>(pattern.m) + 1, 0);
    for (const SparseEntry& e : pattern.A) ++count[static_cast<std::size_t>(e.row) + 1];
    slots_.begin.assign(count.begin(), count.end());
    std::partial_sum(slots_.begin.begin(), slots_.begin.end(), slots_.begin.begin());
    slots_.items.resize(pattern.A.size());
    std::vector<int> next(slots_.begin.begin(), slots_.begin.end() - 1);
    for (std::size_t s = 0; s < pattern.A.size(); ++s)
      slots_.items[static_cast<std::size_t>(next[static_cast<std::size_t>(pattern.A[s].row)]++)] = static_cast<int>(s);
  }

  /// Of dependences that are linked, one of which contradicts.
  void find(const std::vector<const SparseDependence*>& linked, std::vector<NullVector>& conflicts) const {
    std::vector<int> rows;
    for (const SparseDependence* d : linked)
      rows.push_back(d->row), rows.insert(rows.end(), d->rows.begin(), d->rows.end());
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    if (static_cast<int>(rows.size()) <= options_.dense_conflicts && find_dense(rows, linked.size(), conflicts)) return;
    cover(linked, rows, conflicts);
  }

 private:
  /// False where the dense decision about the rank is another one.
  bool find_dense(const std::vector<int>& rows, std::size_t num_dependent, std::vector<NullVector>& conflicts) const {
    std::vector<int> cols;
    for (const int r : rows)
      for (const int* s = slots_.first(r); s != slots_.last(r); ++s)
        cols.push_back(pattern_.A[static_cast<std::size_t>(*s)].col);
    std::sort(cols.begin(), cols.end());
    cols.erase(std::unique(cols.begin(), cols.end()), cols.end());
    const auto count = static_cast<Eigen::Index>(rows.size());
    Eigen::MatrixXd Z = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(cols.size()), count);
    Eigen::VectorXd b(count), tolerance(count);
    for (Eigen::Index j = 0; j < count; ++j) {
      const int r = rows[static_cast<std::size_t>(j)];
      b(j) = g_[static_cast<std::size_t>(r)];
      tolerance(j) = options_.contradiction * row_size_[static_cast<std::size_t>(r)];
      for (const int* s = slots_.first(r); s != slots_.last(r); ++s) {
        const int col = pattern_.A[static_cast<std::size_t>(*s)].col;
        Z(std::lower_bound(cols.begin(), cols.end(), col) - cols.begin(), j) =
            A_[static_cast<std::size_t>(*s)] * weight_[static_cast<std::size_t>(col)];
      }
    }
    const RowFactor factor = factor_rows(Z);
    if (factor.num_dropped() != static_cast<Eigen::Index>(num_dependent)) return false;
    for (const Conflict& conflict : find_conflicts(factor, b, tolerance)) {
      conflicts.emplace_back();
      for (const Eigen::Index j : conflict.rows) conflicts.back().rows.push_back(rows[static_cast<std::size_t>(j)]);
      conflicts.back().values.assign(conflict.coefficients.begin(), conflict.coefficients.end());
    }
    return true;
  }

  void cover(const std::vector<const SparseDependence*>& linked, const std::vector<int>& rows,
             std::vector<NullVector>& conflicts) const {
    // Those that contradict by themselves; then, from neighbour to neighbour, those that hold.
    const auto index_of = [&](int row) {
      return static_cast<std::size_t>(std::lower_bound(rows.begin(), rows.end(), row) - rows.begin());
    };
    std::vector<int> conflict_with(rows.size(), -1);
    std::vector<NullVector> found;
    const auto add = [&](NullVector v) {
      for (const int row : v.rows)
        if (int& known = conflict_with[index_of(row)]; known < 0) known = static_cast<int>(found.size());
      conflicts.push_back(v);
      found.push_back(std::move(v));
    };
    std::vector<const SparseDependence*> waiting;
    for (const SparseDependence* d : linked)
      if (d->contradicts)
        add(vector_of(*d));
      else
        waiting.push_back(d);
    for (bool more = true; more && !waiting.empty();) {
      more = false;
      std::vector<const SparseDependence*> later;
      const std::size_t known = found.size();
      for (const SparseDependence* d : waiting) {
        const NullVector v = vector_of(*d);
        int common = -1, with = -1;
        double largest = 0;
        for (std::size_t i = 0; i < v.rows.size(); ++i) {
          const int other = conflict_with[index_of(v.rows[i])];
          if (other < 0 || other >= static_cast<int>(known) || !(std::abs(v.values[i]) > largest)) continue;
          largest = std::abs(v.values[i]), common = v.rows[i], with = other;
        }
        if (common < 0) {
          later.push_back(d);
          continue;
        }
        more = true;
        if (std::all_of(v.rows.begin(), v.rows.end(), [&](int row) { return conflict_with[index_of(row)] >= 0; }))
          continue;
        const NullVector& w = found[static_cast<std::size_t>(with)];
        add(reduction_.subtract(w, w.at(common) / v.at(common), v, common));
      }
      waiting = std::move(later);
    }
  }

  const SparsePattern& pattern_;
  std::span<const double> A_, g_;
  const std::vector<double>& row_size_;
  const Reduction& reduction_;
  SparseDiagnosisOptions options_;
  std::vector<double> weight_;
  SparseLists slots_;
};

}  // namespace

SparseDiagnosis diagnose_sparse(const SparsePattern& pattern, std::span<const double> M, std::span<const double> A,
                                std::span<const double> g, const SparseRobustSolution& solution,
                                const SparseDiagnosisOptions& options) {
  SparseDiagnosis d;
  d.rank = solution.rank;
  d.decided = !solution.near_decision;
  d.explained = solution.explained;
  d.basis = solution.dependences;
  d.consistent = solution.status != SparseStatus::contradiction;
  std::vector<double> size(static_cast<std::size_t>(pattern.m), 0.0);
  for (std::size_t s = 0; s < A.size(); ++s) size[static_cast<std::size_t>(pattern.A[s].row)] += A[s] * A[s];
  for (double& value : size) value = std::sqrt(value);
  const Reduction reduction(size, options);

  std::vector<NullVector> vectors;
  for (const SparseDependence& dependence : solution.dependences) vectors.push_back(vector_of(dependence));
  if (!d.explained || !reduction.reduce(vectors)) {
    d.explained = false;
    d.redundant = solution.dependent;
    d.depends = solution.dependences;
  } else {
    for (const NullVector& v : vectors) {
      SparseDependence dependence;
      dependence.row = v.last();
      dependence.rows.assign(v.rows.begin(), v.rows.end() - 1);
      for (std::size_t k = 0; k + 1 < v.values.size(); ++k) dependence.coefficients.push_back(-v.values[k]);
      d.redundant.push_back(dependence.row);
      d.depends.push_back(std::move(dependence));
    }
  }
  std::vector<char> undetermined(static_cast<std::size_t>(pattern.m), 0);
  for (SparseDependence& dependence : d.depends) {
    long double mismatch = g[static_cast<std::size_t>(dependence.row)];
    double terms = solution.row_size[static_cast<std::size_t>(dependence.row)];
    for (std::size_t k = 0; k < dependence.rows.size(); ++k) {
      const auto row = static_cast<std::size_t>(dependence.rows[k]);
      mismatch -= static_cast<long double>(dependence.coefficients[k]) * g[row];
      terms += std::abs(dependence.coefficients[k]) * solution.row_size[row];
      undetermined[row] = 1;
    }
    dependence.mismatch = static_cast<double>(mismatch);
    dependence.relative_mismatch = terms > 0 ? std::abs(dependence.mismatch) / terms : 0;
    dependence.contradicts = dependence.relative_mismatch > options.contradiction;
    if (dependence.contradicts) d.consistent = false;
  }
  for (const int row : d.redundant) undetermined[static_cast<std::size_t>(row)] = 1;
  for (int r = 0; r < pattern.m; ++r)
    if (undetermined[static_cast<std::size_t>(r)]) d.multipliers_undetermined.push_back(r);
  if (d.consistent) return d;

  const Conflicts conflicts(pattern, M, A, g, solution.row_size, reduction, options);
  std::vector<NullVector> found;
  for (const std::vector<int>& set : link(d.depends, pattern.m)) {
    std::vector<const SparseDependence*> linked;
    bool contradicts = false;
    for (const int k : set)
      linked.push_back(&d.depends[static_cast<std::size_t>(k)]), contradicts |= linked.back()->contradicts;
    if (contradicts) conflicts.find(linked, found);
  }
  std::sort(found.begin(), found.end(), [](const NullVector& x, const NullVector& y) {
    return x.rows.size() != y.rows.size() ? x.rows.size() < y.rows.size() : x.rows < y.rows;
  });
  found.erase(std::unique(found.begin(), found.end(),
                          [](const NullVector& x, const NullVector& y) { return x.rows == y.rows; }),
              found.end());
  for (NullVector& v : found) {
    d.conflicts.push_back(std::move(v.rows));
    d.conflict_coefficients.push_back(std::move(v.values));
  }
  return d;
}

std::vector<double> calc_least_norm_multipliers(std::span<const double> lambda,
                                                const std::vector<SparseDependence>& basis) {
  std::vector<double> result(lambda.begin(), lambda.end());
  if (basis.empty()) return result;
  std::vector<Eigen::Triplet<double>> entries;
  for (std::size_t k = 0; k < basis.size(); ++k) {
    const NullVector v = vector_of(basis[k]);
    double square = 0;
    for (const double value : v.values) square += value * value;
    for (std::size_t i = 0; i < v.rows.size(); ++i)
      entries.emplace_back(v.rows[i], static_cast<int>(k), v.values[i] / std::sqrt(square));
  }
  Eigen::SparseMatrix<double> N(static_cast<Eigen::Index>(lambda.size()), static_cast<Eigen::Index>(basis.size()));
  N.setFromTriplets(entries.begin(), entries.end());
  const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> ldlt(Eigen::SparseMatrix<double>(N.transpose() * N));
  Eigen::Map<Eigen::VectorXd> x(result.data(), static_cast<Eigen::Index>(result.size()));
  for (int step = 0; step < 3; ++step) x -= N * ldlt.solve(N.transpose() * x);
  return result;
}

}  // namespace mechanician
