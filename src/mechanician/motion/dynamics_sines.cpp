// How far rows are from depending on each other.

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanician/motion/dynamics.hpp"
#include "mechanician/motion/kernels.hpp"

namespace mechanician {

namespace {

/// The rate of a state that no other row mentions (find_typical_weights).
bool is_unfelt(const EquationFacts& facts, const std::vector<double>& start_size, int row) {
  const auto j = static_cast<std::size_t>(row);
  return facts.rows[j].is_rate && j < start_size.size() && start_size[j] == 0.0;
}

}  // namespace

bool Dynamics::calc_pivots(double t, const double* y, std::span<double> inverse_pivots, std::span<double> squares) {
  const std::size_t r = sine_rows_.size();
  if (fast_ && fast_->rank) {
    fast_->set_inputs(t, y, n_, sides());
    fast_->rank(fast_->inputs.data(), fast_->pivots.data());
    std::copy_n(fast_->pivots.begin(), r, inverse_pivots.begin());
    std::copy_n(fast_->pivots.begin() + static_cast<std::ptrdiff_t>(r), r, squares.begin());
    return true;
  }
  const long before = projections;  // what is kept from one call to the next must not show in counts
  const bool ok = evaluate_rows(t, y, y + n_) && factors_->calc_pivots(matrices(), sine_rows_, inverse_pivots, squares);
  projections = before;
  return ok;
}

std::span<const double> Dynamics::calc_sines(double t, const double* y) {
  const std::size_t r = sine_rows_.size();
  if (sines_.size() == r && r > 0 && t == sines_t_ && std::equal(y, y + 2 * n_, sines_y_.begin()) &&
      std::equal(sides().begin(), sides().end(), sines_y_.begin() + 2 * n_))
    return sines_;
  sines_.resize(r), inverse_pivots_.resize(r), pivot_sizes_.resize(r);
  sines_y_.assign(y, y + 2 * n_);
  sines_y_.insert(sines_y_.end(), sides().begin(), sides().end());
  sines_t_ = t;
  if (!calc_pivots(t, y, inverse_pivots_, pivot_sizes_)) {
    sines_t_ = std::numeric_limits<double>::quiet_NaN();
    return {};
  }
  std::copy(row_size_.begin(), row_size_.end(), sines_.begin());
  kernels::calc_sines(std::ssize(sines_), inverse_pivots_.data(), pivot_sizes_.data(), sines_.data());
  for (std::size_t k = 0; k < r && !facts().states.empty(); ++k)
    if (is_unfelt(facts(), start_size_, sine_rows_[k])) sines_[k] = 1.0;
  return sines_;
}

bool Dynamics::calc_sines_of(std::span<const double> times, const double* states, double* sines) {
  const std::size_t r = sine_rows_.size(), width = 2 * static_cast<std::size_t>(n_);
  const bool together = fast_ && fast_->rank_of_four && fast_->rank_of_four.tier() != Tier::interpreter;
  std::size_t k = 0;
  for (; together && k + 1 < times.size(); k += 4) {
    double* const x = fast_->inputs_of_four.data();
    const double* y[4];
    for (std::size_t lane = 0; lane < 4; ++lane) {
      const std::size_t which = std::min(k + lane, times.size() - 1);  // the last once more where there are fewer
      y[lane] = states + which * width;
      x[lane] = times[which];
    }
    for (std::size_t i = 0; i < width; ++i)
      for (std::size_t lane = 0; lane < 4; ++lane) x[4 * (1 + i) + lane] = y[lane][i];
    const std::size_t at_sides = static_cast<std::size_t>(fast_->at_sides);
    for (std::size_t i = 1 + width; i < at_sides; ++i) std::fill_n(x + 4 * i, 4, fast_->inputs[i]);
    for (std::size_t i = 0; i < num_expression_switches(); ++i) std::fill_n(x + 4 * (at_sides + i), 4, sides()[i]);
    const double* const p = fast_->pivots_of_four.data();
    fast_->rank_of_four(x, fast_->pivots_of_four.data());
    std::vector<double>& side_by_side = fast_->sines_of_four;
    for (std::size_t j = 0; j < r; ++j)
      std::fill_n(side_by_side.begin() + static_cast<std::ptrdiff_t>(4 * j), 4, row_size_[j]);
    kernels::calc_sines(static_cast<std::ptrdiff_t>(4 * r), p, p + 4 * r, side_by_side.data());
    // Where there are fewer, the last is written more than once.
    double* to[4];
    for (std::size_t lane = 0; lane < 4; ++lane) to[lane] = sines + std::min(k + lane, times.size() - 1) * r;
    for (std::size_t j = 0; j < r; ++j) {
      const bool unfelt = is_unfelt(facts(), start_size_, sine_rows_[j]);
      for (std::size_t lane = 0; lane < 4; ++lane) to[lane][j] = unfelt ? 1.0 : side_by_side[4 * j + lane];
    }
  }
  for (; k < times.size(); ++k) {
    const auto found = calc_sines(times[k], states + k * width);
    if (found.empty()) return false;
    std::copy(found.begin(), found.end(), sines + k * r);
  }
  return true;
}

void Dynamics::set_row_sizes(double t, const double* y) {
  const std::size_t r = sine_rows_.size();
  inverse_pivots_.resize(r), pivot_sizes_.resize(r);
  const bool first = row_size_.size() != r;
  if (first) row_size_.assign(r, 0.0), row_grows_.assign(r, false);
  if (r == 0 || !calc_pivots(t, y, inverse_pivots_, pivot_sizes_)) return;
  for (std::size_t k = 0; k < r; ++k) {
    if (first) row_grows_[k] = zero_row_[sine_rows_[k]] || !(pivot_sizes_[k] > 0.0);
    if ((first || row_grows_[k]) && pivot_sizes_[k] > row_size_[k]) row_size_[k] = pivot_sizes_[k];
  }
  sines_t_ = std::numeric_limits<double>::quiet_NaN();
}

double Dynamics::calc_weakest_of_all(double t, const double* y) {
  const long before = projections;
  const bool ok = evaluate_rows(t, y, y + n_);
  projections = before;
  if (!ok || sine_rows_.empty()) return 0.0;
  // A row which has shrunk since the start stays small.
  std::vector<double> shrunk;
  std::vector<int> rows;
  std::size_t count = sine_rows_.size();
  for (const int j : all.candidates) {
    if (is_unfelt(facts(), start_size_, j)) {
      count -= std::binary_search(sine_rows_.begin(), sine_rows_.end(), j) ? 1 : 0;
      continue;
    }
    rows.push_back(j);
    shrunk.push_back(start_size_[j] > 0.0 ? std::min(1.0, calc_row_norm(j, last_.A) / start_size_[j]) : 1.0);
  }
  return count == 0 ? 1.0 : factors_->calc_weakest(matrices(), rows, shrunk, count);
}

double Dynamics::calc_turn(double t, const double* y) {
  if (!evaluate_rows(t, y, y + n_)) return 1.0;
  const EquationFacts& f = facts();
  const std::size_t entries = f.pattern.A.size();
  const bool first = turned_from_.size() != entries;
  turned_from_.resize(entries);
  double turned = 0.0;
  for (const int j : sine_rows_) {
    double change = 0.0, now = 0.0, before = 0.0;
    for (const int* s = f.row_slots.first(j); s != f.row_slots.last(j); ++s) {
      const double a = last_.A[*s], b = turned_from_[static_cast<std::size_t>(*s)];
      change += (a - b) * (a - b), now += a * a, before += b * b;
    }
    const double size = std::max(now, before);
    if (size > 0.0 && change > turned * size) turned = change / size;
  }
  std::copy_n(last_.A, entries, turned_from_.begin());
  return first ? 1.0 : std::sqrt(turned);
}

}  // namespace mechanician
