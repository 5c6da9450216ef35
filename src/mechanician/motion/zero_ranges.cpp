#include "mechanician/motion/zero_ranges.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mechanician {

namespace {
constexpr int deepest = 14;
constexpr std::size_t most_ranges = 6;

/// Of thousands of functions some are always near zero, and each piece costs an evaluation of all.
int most_pieces_of(std::size_t functions) {
  return static_cast<int>(std::clamp<std::size_t>(100'000 / std::max<std::size_t>(functions, 1), 10, 200));
}
}  // namespace

bool ZeroRanges::may_vanish(bool whole) {
  bool may = false;
  for (std::size_t i = 0; i < bounds_.size(); ++i) {
    const auto [low, high] = bounds_[i];
    const double floor = whole && !question_->rest.empty() ? question_->rest[i] : question_->floor[i];
    if (low >= -floor && high <= floor) continue;
    const double sign = low > floor ? 1.0 : high < -floor ? -1.0 : 0.0;
    may |= sign == 0.0 || expected_[i] * sign < 0.0;
    expected_[i] = expected_[i] * sign < 0.0 ? 0.0 : sign;
  }
  return may;
}

void ZeroRanges::add(double from, double to) {
  if (!found_.empty() && found_.back().to == from)
    found_.back().to = to;
  else
    found_.push_back({from, to});
}

void ZeroRanges::look(const StateInStep& a, const StateInStep& b, int depth) {
  const auto place = static_cast<std::size_t>(depth) + 2;
  if (states_.size() <= place) states_.resize(deepest + 3);
  const double middle = 0.5 * (a.t + b.t);
  if (!(middle > a.t && middle < b.t) || pieces_ >= most_pieces_of(bounds_.size())) return add(a.t, b.t);
  ++pieces_;
  StateInStep& m = states_[place];
  m.set(step_, middle, question_->with_rates);
  if (!(*bound_)(box_.make(a, m, b, question_->with_rates, question_->slack, question_->sizes), bounds_))
    return add(a.t, b.t);
  const std::vector<double> expected = expected_;
  if (!may_vanish(depth == 0)) return;
  if (depth == deepest || b.t - a.t < 1e3 * std::numeric_limits<double>::epsilon() * std::abs(b.t))
    return add(a.t, b.t);
  expected_ = expected;
  look(a, m, depth + 1);
  look(m, b, depth + 1);
}

std::span<const ZeroRanges::Range> ZeroRanges::find(const Question& question, const Bound& bound) {
  question_ = &question, bound_ = &bound, pieces_ = 0;
  found_.clear();
  bounds_.assign(question.floor.size(), {});
  expected_.assign(question.sides.begin(), question.sides.end());
  states_.resize(deepest + 3);
  states_[0].set(step_, question.from, question.with_rates), states_[1].set(step_, question.to, question.with_rates);
  look(states_[0], states_[1], 0);
  // Samples are taken of each: of many they cost more than of the whole. The first ones stay, since what comes first is there.
  if (found_.size() > most_ranges) {
    found_[most_ranges - 1].to = found_.back().to;
    found_.resize(most_ranges);
  }
  return found_;
}

}  // namespace mechanician
