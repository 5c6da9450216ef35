#include "mechanician/solve/sparse_lu.hpp"

#include <klu.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <new>

namespace mechanician {

namespace {
/// Pivots are taken from the diagonal where they are at least this part of the largest in their column.
constexpr double threshold = 0.1;
/// Growth of entries, against that with pivots chosen for them, from which pivots are chosen anew.
constexpr double most_growth = 1e4;
}  // namespace

struct SparseLu::Impl {
  int size = 0;
  std::vector<int> columns, rows, places;  ///< by column, rows in order
  std::vector<double> values;
  klu_common common{};
  klu_symbolic* symbolic = nullptr;
  klu_numeric* numeric = nullptr;
  double growth = 0.0;  ///< reciprocal, of the factor that chose the pivots
  bool chosen = false;

  ~Impl() {
    klu_free_numeric(&numeric, &common);
    klu_free_symbolic(&symbolic, &common);
  }

  void plan(std::span<const SparseEntry> entries) {
    std::vector<std::int64_t> keys;
    keys.reserve(entries.size());
    const auto key = [](const SparseEntry& e) { return static_cast<std::int64_t>(e.col) << 32 | e.row; };
    for (const SparseEntry& e : entries) keys.push_back(key(e));
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    columns.assign(static_cast<std::size_t>(size) + 1, 0);
    for (const std::int64_t k : keys) {
      rows.push_back(static_cast<int>(k & 0xffffffff));
      ++columns[static_cast<std::size_t>(k >> 32) + 1];
    }
    for (std::size_t j = 1; j < columns.size(); ++j) columns[j] += columns[j - 1];
    for (const SparseEntry& e : entries)
      places.push_back(static_cast<int>(std::lower_bound(keys.begin(), keys.end(), key(e)) - keys.begin()));
    values.assign(keys.size(), 0.0);
    symbolic = klu_analyze(size, columns.data(), rows.data(), &common);
    if (!symbolic && common.status == KLU_OUT_OF_MEMORY) throw std::bad_alloc();
  }

  bool factor() {
    if (!symbolic || !std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); }))
      return false;
    if (chosen && klu_refactor(columns.data(), rows.data(), values.data(), symbolic, numeric, &common) &&
        common.status == KLU_OK &&
        klu_rgrowth(columns.data(), rows.data(), values.data(), symbolic, numeric, &common) &&
        common.rgrowth * most_growth > growth)
      return std::isfinite(common.rgrowth);
    klu_free_numeric(&numeric, &common);
    numeric = klu_factor(columns.data(), rows.data(), values.data(), symbolic, &common);
    if (common.status == KLU_OUT_OF_MEMORY) throw std::bad_alloc();
    chosen = numeric && common.status == KLU_OK &&
             klu_rgrowth(columns.data(), rows.data(), values.data(), symbolic, numeric, &common) &&
             std::isfinite(common.rgrowth);
    growth = common.rgrowth;
    return chosen;
  }
};

SparseLu::SparseLu(int size, std::span<const SparseEntry> entries, Kind kind) : impl_(std::make_unique<Impl>()) {
  impl_->size = size;
  klu_defaults(&impl_->common);
  impl_->common.ordering = kind == Kind::diagonal ? 0 : 1;  // AMD of K + Kᵀ, COLAMD
  impl_->common.tol = threshold;
  impl_->plan(entries);
}
SparseLu::~SparseLu() = default;
SparseLu::SparseLu(SparseLu&&) noexcept = default;
SparseLu& SparseLu::operator=(SparseLu&&) noexcept = default;

std::span<const int> SparseLu::places() const { return impl_->places; }
std::span<double> SparseLu::values() { return impl_->values; }
bool SparseLu::factor() { return impl_->factor(); }
void SparseLu::forget() { impl_->chosen = false; }
void SparseLu::solve(double* r) { klu_solve(impl_->symbolic, impl_->numeric, impl_->size, 1, r, &impl_->common); }

}  // namespace mechanician
