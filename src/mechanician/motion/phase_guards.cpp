#include "mechanician/motion/phase_guards.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanician/motion/roots.hpp"

namespace mechanician {

void PhaseGuards::begin() {
  Dynamics& d = view_.dynamics;
  const auto count = static_cast<std::size_t>(d.num_guards());
  for (auto* x : {&begin_, &floor_, &noise_, &clear_, &now_}) x->assign(count, 0.0);
  y_.assign(static_cast<std::size_t>(d.size()), 0.0);
  if (count == 0) return;
  const long evaluations = d.evaluations, projections = d.projections;
  d.calc_guards(view_.motion.t, view_.step.rk.y_new.data(), begin_, {});
  for (std::size_t i = 0; i < count; ++i)
    if (begin_[i] < 0.0) floor_[i] = 4.0 * std::abs(begin_[i]);
  d.evaluations = evaluations, d.projections = projections;
}

void PhaseGuards::set_clear() {
  std::fill(floor_.begin(), floor_.end(), 0.0);
  std::fill(clear_.begin(), clear_.end(), 1.0);
}

void PhaseGuards::make_state(double time) {
  view_.step.state_at(time, y_.data(), nullptr);
  if (!view_.step.held && time != view_.step.end()) view_.dynamics.project(time, y_.data(), {.most_iterations = 3});
}

void PhaseGuards::evaluate(double time, std::span<double> g) {
  make_state(time);
  if (!view_.dynamics.calc_guards(time, y_.data(), g, {}))
    std::fill(g.begin(), g.end(), std::numeric_limits<double>::quiet_NaN());
}

std::optional<PhaseGuards::End> PhaseGuards::find() {
  const std::optional<End> negative = begin_.empty() ? std::nullopt : find_negative(view_.motion.t);
  const std::optional<End> forbidden =
      may_go_on_ ? find_forbidden(negative ? negative->t : view_.motion.t) : std::nullopt;
  return forbidden ? forbidden : negative;
}

/// Where one begins at zero its sign is rounding for a while: the search begins where it has one, at the time returned.
double PhaseGuards::leave_zero(double end) {
  const double begin = view_.motion.step_begin,
               least = 4.0 * std::numeric_limits<double>::epsilon() * std::max(std::abs(end), end - begin);
  const std::size_t count = begin_.size();
  std::vector<bool> unsigned_yet(count);
  for (std::size_t i = 0; i < count; ++i) unsigned_yet[i] = std::abs(begin_[i]) <= noise_[i];
  const auto any_unsigned = [&] {
    return std::find(unsigned_yet.begin(), unsigned_yet.end(), true) != unsigned_yet.end();
  };
  const std::vector<double> at_begin = begin_;
  double from = begin;
  for (double tau = std::max(1e-12 * (end - begin), least); tau < end - begin && any_unsigned(); tau *= 2.0) {
    evaluate(begin + tau, now_);
    bool any_down = false, again = false;
    for (std::size_t i = 0; i < count; ++i)
      if (now_[i] < -noise_[i]) any_down = true, again |= clear_[i] != 0.0;
    // One that comes down to zero where the step before has ended does so there, not where that begins to show.
    if (again) from = begin, begin_ = at_begin;
    if (any_down) break;  // between the last time and this one
    for (std::size_t i = 0; i < count; ++i) unsigned_yet[i] = unsigned_yet[i] && !(now_[i] > noise_[i]);
    from = begin + tau;
    begin_ = now_;
  }
  return from;
}

std::optional<PhaseGuards::End> PhaseGuards::find_negative(double end) {
  const double begin = view_.motion.step_begin;
  const std::size_t count = begin_.size();
  make_state(begin);
  view_.dynamics.calc_guards(begin, y_.data(), begin_, noise_);
  std::vector<double> low = begin_, high = begin_;
  for (const double part : {0.31, 0.65, 1.0}) {
    evaluate(part == 1.0 ? end : begin + part * (end - begin), now_);
    for (std::size_t i = 0; i < count; ++i) low[i] = std::min(low[i], now_[i]), high[i] = std::max(high[i], now_[i]);
  }
  // Far from zero for the little that they change: most steps end here.
  bool far = true;
  for (std::size_t i = 0; i < count; ++i) far &= low[i] > 3.0 * (high[i] - low[i]) && low[i] > noise_[i];
  if (far) {
    std::fill(clear_.begin(), clear_.end(), 1.0);
    return {};
  }
  for (std::size_t i = 0; i < count; ++i) noise_[i] = std::max(noise_[i], floor_[i]);
  const double from_time = leave_zero(end);
  for (double& g : begin_) g = std::max(std::abs(g), std::numeric_limits<double>::min());
  RootFinder finder(static_cast<int>(count));
  std::optional<Root> first;
  double until = end;
  const auto calc = [this](double time, std::span<double> g) { evaluate(time, g); };
  // Once over the whole step, then in pieces: a guard that dips below zero and returns must not be lost.
  for (const int pieces : {1, 3}) {
    std::vector<double> side = begin_;
    for (int k = 0; k < pieces; ++k) {
      const double from = from_time + (until - from_time) * k / pieces;
      const double to = k + 1 == pieces ? until : from_time + (until - from_time) * (k + 1) / pieces;
      if (!(to > from)) continue;
      const std::vector<double> at_begin = side;
      const auto root = finder.find_first({.t0 = from, .t1 = to, .begin = at_begin, .floor = noise_}, calc);
      if (root && root->direction < 0) {
        first = root;
        until = root->t;
        break;
      }
      side.assign(finder.end().begin(), finder.end().end());
    }
  }
  if (first) return End{first->t, first->function};
  evaluate(end, now_);
  for (std::size_t i = 0; i < count; ++i) {
    if (now_[i] > floor_[i]) floor_[i] = 0.0;
    if (high[i] > noise_[i]) clear_[i] = 1.0;
  }
  return {};
}

std::optional<PhaseGuards::End> PhaseGuards::find_forbidden(double end) {
  const int n = view_.dynamics.n();
  const double begin = view_.motion.step_begin;
  const auto goes_on = [&](double time) {
    make_state(time);
    return may_go_on_(
        {time, Eigen::Map<const Eigen::VectorXd>(y_.data(), n), Eigen::Map<const Eigen::VectorXd>(y_.data() + n, n)});
  };
  for (const double part : {0.5, 1.0}) {
    double high = begin + part * (end - begin);
    if (goes_on(high)) continue;
    double low = part == 1.0 ? 0.5 * (begin + end) : begin;
    while (high - low > 1e-12 * std::max(std::abs(high), end - begin)) {
      const double middle = 0.5 * (low + high);
      if (middle <= low || middle >= high) break;
      (goes_on(middle) ? low : high) = middle;
    }
    return End{high, -1};
  }
  return {};
}

}  // namespace mechanician
