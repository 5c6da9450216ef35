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

void ZeroRanges::set_state(State& state, double time) {
  state.t = time;
  // Dense output writes all of the state, works included.
  state.y.resize(step_.rk.y.size());
  if (question_->with_rates) state.rate.resize(step_.rk.y.size());
  step_.state_at(time, state.y.data(), question_->with_rates ? state.rate.data() : nullptr);
}

/// Between three samples a number leaves their range by less than what they bend, and a part of what they change.
void ZeroRanges::set_box(const State& a, const State& m, const State& b) {
  const auto count = static_cast<std::size_t>(n_);
  box_.resize(3 * count);
  const auto between = [this](double x, double y, double z, double size) {
    const double margin = std::abs(x - 2.0 * y + z) + 0.125 * std::abs(z - x) + question_->slack * size;
    return Interval(std::min({x, y, z}) - margin, std::max({x, y, z}) + margin);
  };
  const auto largest = [](double x, double y, double z) { return std::max({std::abs(x), std::abs(y), std::abs(z)}); };
  for (std::size_t i = 0; i < 2 * count; ++i) {
    const double size = largest(a.y[i], m.y[i], b.y[i]);
    box_[i] = between(a.y[i], m.y[i], b.y[i], question_->sizes ? question_->sizes->of(i, size) : size);
  }
  if (question_->with_rates)
    for (std::size_t i = 0; i < count; ++i)
      box_[2 * count + i] = between(a.rate[count + i], m.rate[count + i], b.rate[count + i],
                                    largest(a.rate[count + i], m.rate[count + i], b.rate[count + i]));
}

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

void ZeroRanges::look(const State& a, const State& b, int depth) {
  const auto place = static_cast<std::size_t>(depth) + 2;
  if (states_.size() <= place) states_.resize(deepest + 3);
  const double middle = 0.5 * (a.t + b.t);
  if (!(middle > a.t && middle < b.t) || pieces_ >= most_pieces_of(bounds_.size())) return add(a.t, b.t);
  ++pieces_;
  State& m = states_[place];
  set_state(m, middle);
  set_box(a, m, b);
  const auto count = static_cast<std::size_t>(n_);
  const StateBox box{
      {a.t, b.t}, box_.data(), box_.data() + count, question_->with_rates ? box_.data() + 2 * count : nullptr};
  if (!(*bound_)(box, bounds_)) return add(a.t, b.t);
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
  set_state(states_[0], question.from), set_state(states_[1], question.to);
  look(states_[0], states_[1], 0);
  // Samples are taken of each: of many they cost more than of the whole.
  if (found_.size() > most_ranges) found_ = {{found_.front().from, found_.back().to}};
  return found_;
}

}  // namespace mechanician
