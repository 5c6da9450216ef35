#include "mechanician/solve/instant_pattern.hpp"

#include <algorithm>
#include <utility>

namespace mechanician {

using Eigen::Index;

/// Eliminations that nobody uses.
struct InstantPattern::Kept {
  static constexpr std::size_t most = 4;
  std::mutex mutex;
  std::vector<std::unique_ptr<SparseElimination>> free[2];  // by augment_all
};

InstantPattern::InstantPattern(const SparseRows& M, const SparseRows& A) : kept_(std::make_shared<Kept>()) {
  pattern_.n = static_cast<int>(M.rows()), pattern_.m = static_cast<int>(A.rows());
  mass_begin_.assign(static_cast<std::size_t>(pattern_.n) + 1, 0);
  std::vector<std::vector<int>> lower(static_cast<std::size_t>(pattern_.n));
  for (int i = 0; i < pattern_.n; ++i)
    for (const SparseRows::Entry& e : M.row(i))
      lower[static_cast<std::size_t>(std::max(i, e.col))].push_back(std::min(i, e.col));
  for (int i = 0; i < pattern_.n; ++i) {
    std::vector<int>& cols = lower[static_cast<std::size_t>(i)];
    std::sort(cols.begin(), cols.end());
    cols.erase(std::unique(cols.begin(), cols.end()), cols.end());
    for (const int col : cols) pattern_.M.push_back({i, col});
    mass_begin_[static_cast<std::size_t>(i) + 1] = static_cast<int>(pattern_.M.size());
  }
  begin_.push_back(0);
  for (int r = 0; r < pattern_.m; ++r) {
    for (const SparseRows::Entry& e : A.row(r)) pattern_.A.push_back({r, e.col});
    begin_.push_back(static_cast<int>(pattern_.A.size()));
  }
}

std::optional<std::vector<double>> InstantPattern::values_of_mass(const SparseRows& M) const {
  if (M.rows() != n()) return std::nullopt;
  std::vector<double> values(pattern_.M.size(), 0.0);
  for (int i = 0; i < n(); ++i) {
    for (const SparseRows::Entry& e : M.row(i)) {
      const int row = std::max(i, e.col), col = std::min(i, e.col);
      const auto first = pattern_.M.begin() + mass_begin_[static_cast<std::size_t>(row)],
                 last = pattern_.M.begin() + mass_begin_[static_cast<std::size_t>(row) + 1];
      const auto found =
          std::lower_bound(first, last, col, [](const SparseEntry& entry, int c) { return entry.col < c; });
      if (found == last || found->col != col) return std::nullopt;
      values[static_cast<std::size_t>(found - pattern_.M.begin())] += row == col ? e.value : 0.5 * e.value;
    }
  }
  return values;
}

std::optional<std::vector<double>> InstantPattern::values_of_rows(const SparseRows& A,
                                                                  const std::vector<Index>& rows) const {
  if (rows.empty() ? A.rows() != m() : A.rows() != static_cast<Index>(rows.size())) return std::nullopt;
  std::vector<double> values(pattern_.A.size(), 0.0);
  for (Index k = 0; k < A.rows(); ++k) {
    const int row = static_cast<int>(rows.empty() ? k : rows[static_cast<std::size_t>(k)]);
    const std::span<const SparseRows::Entry> line = A.row(k);
    if (row >= m() || static_cast<int>(line.size()) != first_slot(row + 1) - first_slot(row)) return std::nullopt;
    for (std::size_t e = 0; e < line.size(); ++e) {
      const std::size_t slot = static_cast<std::size_t>(first_slot(row)) + e;
      if (pattern_.A[slot].col != line[e].col) return std::nullopt;
      values[slot] = line[e].value;
    }
  }
  return values;
}

std::shared_ptr<SparseElimination> InstantPattern::elimination(bool augment_all) const {
  const std::shared_ptr<Kept> kept = kept_;
  const auto give_back = [kept, augment_all](SparseElimination* used) {
    std::unique_ptr<SparseElimination> owned(used);
    const std::lock_guard lock(kept->mutex);
    auto& free = kept->free[augment_all];
    if (free.size() < Kept::most) free.push_back(std::move(owned));
  };
  {
    const std::lock_guard lock(kept->mutex);
    auto& free = kept->free[augment_all];
    if (!free.empty()) {
      SparseElimination* taken = free.back().release();
      free.pop_back();
      return {taken, give_back};
    }
  }
  // Residuals are looked at where they are asked for, and room for them is made at once.
  auto made = std::make_unique<SparseElimination>(pattern_, SparseOptions{.augment_all = augment_all});
  made->set_check_residual(false);
  return {made.release(), give_back};
}

}  // namespace mechanician
