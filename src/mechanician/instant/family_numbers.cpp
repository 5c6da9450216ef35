#include "mechanician/instant/family_numbers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanician/model/validate.hpp"
#include "mechanician/solve/instant_pattern.hpp"

namespace mechanician {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

/// Entries row by row, by increasing column, and where each comes from.
SparseRows sort_entries(const std::vector<SparseEntry>& entries, int rows, int cols, bool mirror,
                        std::vector<int>& slots) {
  std::vector<int> begin(static_cast<std::size_t>(rows) + 1, 0);
  const auto each = [&](auto&& visit) {
    for (std::size_t k = 0; k < entries.size(); ++k) {
      visit(entries[k].row, entries[k].col, static_cast<int>(k));
      if (mirror && entries[k].row != entries[k].col) visit(entries[k].col, entries[k].row, static_cast<int>(k));
    }
  };
  each([&](int row, int, int) { ++begin[static_cast<std::size_t>(row) + 1]; });
  for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
  struct Place {
    int col, slot;
  };
  std::vector<Place> places(static_cast<std::size_t>(begin.back()));
  std::vector<int> next(begin.begin(), begin.end() - 1);
  each([&](int row, int col, int slot) {
    places[static_cast<std::size_t>(next[static_cast<std::size_t>(row)]++)] = {col, slot};
  });
  SparseRows result(0, cols);
  slots.clear(), slots.reserve(places.size());
  for (std::size_t i = 0; i + 1 < begin.size(); ++i) {
    std::sort(places.begin() + begin[i], places.begin() + begin[i + 1],
              [](const Place& a, const Place& b) { return a.col < b.col; });
    for (int k = begin[i]; k < begin[i + 1]; ++k) {
      const Place& place = places[static_cast<std::size_t>(k)];
      result.add(place.col, 0.0), slots.push_back(place.slot);
    }
    result.end_row();
  }
  return result;
}

SparseRows fill(const SparseRows& pattern, const std::vector<int>& slots, const LargeVector& values) {
  SparseRows result = pattern;
  const std::span<SparseRows::Entry> entries = result.entries();
  for (std::size_t k = 0; k < entries.size(); ++k) entries[k].value = values[static_cast<std::size_t>(slots[k])];
  return result;
}

template <class Numbers>
Eigen::VectorXd vector_of(const Numbers& x) {
  return Eigen::Map<const Eigen::VectorXd>(x.data(), static_cast<Eigen::Index>(x.size()));
}

}  // namespace

bool is_stated_in_families(const FamilyModel& model) {
  constexpr long least_members = 4;
  return model.num_coordinates() >= least_members * static_cast<long>(model.coordinates.size());
}

bool stays_in_families(const System& system) {
  return system.kernels() && (system.n() > most_coordinates || is_stated_in_families(system.kernels()->model()));
}

FamilyNumbers::FamilyNumbers(FamilyModel stated, std::shared_ptr<LargeSystem> kernels)
    : stated_(std::move(stated)), kernels_(std::move(kernels)) {
  const SparsePattern& p = kernels_->pattern();
  M_ = sort_entries(p.M, p.n, p.n, true, M_slot_);
  A_ = sort_entries(p.A, p.m, p.n, false, A_slot_);
  pattern_ = std::make_shared<const InstantPattern>(M_, A_);
}

Evaluation FamilyNumbers::evaluate(const State& state) const {
  const auto n = static_cast<std::size_t>(kernels_->n());
  const std::span<const double> q(state.q.data(), n), qd(state.qd.data(), n);
  const std::vector<double> sides = kernels_->sides_at(state.t, q, qd);
  const LargeSystem::At at{state.t, q, qd, sides};
  LargeSystem::Bounded now;
  kernels_->evaluate_with_bounds(at, now);
  Evaluation result;
  InstantValues& v = result.values;
  v.M = fill(M_, M_slot_, now.values.M), v.M_noise = fill(M_, M_slot_, now.bounds.M);
  v.A = fill(A_, A_slot_, now.values.A), v.A_noise = fill(A_, A_slot_, now.bounds.A);
  v.Q = vector_of(now.values.Q), v.Q_noise = vector_of(now.bounds.Q);
  v.b = vector_of(now.values.b), v.b_noise = vector_of(now.bounds.b);
  v.b_size = v.b.cwiseAbs().cwiseMax(v.b_noise / eps);
  v.pattern = pattern_;
  result.residual = vector_of(now.residual), result.residual_noise = vector_of(now.residual_bound);
  result.rate = vector_of(now.rate), result.rate_noise = vector_of(now.rate_bound);
  const bool finite = v.M.all_finite() && v.Q.allFinite() && v.A.all_finite() && v.b.allFinite() &&
                      result.residual.allFinite() && result.rate.allFinite();
  if (!finite) result.not_finite = kernels_->explain_not_finite(at);
  for (int j = 0; j < kernels_->m(); ++j)
    if (kernels_->row(j).level != Level::position) result.rate(j) = result.rate_noise(j) = 0.0;
  return result;
}

}  // namespace mechanician
