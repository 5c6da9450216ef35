#include "mechanician/motion/event_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/print.hpp"

namespace mechanician {

namespace {
constexpr double eps = std::numeric_limits<double>::epsilon();

/// Whether an event looks for what passes zero in this direction.
bool counts(const EventFacts& event, double direction) {
  return event.direction == EventDirection::both || (event.direction == EventDirection::up) == (direction > 0.0);
}

}  // namespace

EventSearch::EventSearch(const MotionView& view) : view_(view), ranges_(view.step, view.dynamics.n()) {
  sign.assign(view.dynamics.facts().events.size(), 0.0), noted_ = noise_ = pending_ = sign;
  y_.assign(static_cast<std::size_t>(view.dynamics.size()), 0.0);
}

void EventSearch::evaluate(double time, std::span<double> when) {
  view_.step.state_at(time, y_.data(), nullptr);
  // Dense output is off the constraints by about the tolerance, and an event may be about just that.
  if (!view_.step.held) view_.dynamics.project(time, y_.data(), {.most_iterations = 3});
  if (view_.dynamics.calc_events(time, y_.data(), when)) return;
  for (std::size_t i = 0; i < sign.size(); ++i)
    if (!std::isfinite(when[i]) && noted_[i] == 0.0) {
      noted_[i] = 1.0;
      view_.motion.notes.push_back(fmt::format("event `{}` has no value at t = {} and is not looked for there",
                                               view_.dynamics.facts().events[i].name, short_number(time)));
    }
}

/// What is not known of the events at a state: where it is known up to the tolerance, and its numbers up to rounding.
void EventSearch::find_noise(double time, const double* y) {
  std::fill(noise_.begin(), noise_.end(), 0.0);
  view_.dynamics.calc_event_noise(time, y, view_.motion.options.tolerance, noise_);
}

/// A start on a zero is on no side yet.
void EventSearch::begin(std::span<const double> before, std::span<const double> pending, int fired) {
  if (!any()) return;
  const double* const y = view_.step.rk.y_new.data();
  view_.dynamics.calc_events(view_.motion.t, y, sign);
  find_noise(view_.motion.t, y);
  for (std::size_t i = 0; i < sign.size(); ++i) {
    const double was = before.empty() ? 0.0 : before[i];
    if (std::abs(sign[i]) <= noise_[i])
      sign[i] = was == 0.0 ? 0.0 : std::copysign(std::numeric_limits<double>::min(), was);
    else if (was * sign[i] < 0.0 && static_cast<int>(i) != fired && counts(view_.dynamics.facts().events[i], sign[i]))
      pending_[i] = sign[i] > 0.0 ? 1.0 : -1.0;
    if (!pending.empty() && pending[i] != 0.0) pending_[i] = pending[i];
  }
}

bool EventSearch::has_pending() const {
  return std::any_of(pending_.begin(), pending_.end(), [](double x) { return x != 0.0; });
}

bool EventSearch::report_pending() {
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    if (pending_[i] == 0.0) continue;
    const Root root{view_.motion.t, static_cast<int>(i), pending_[i] > 0.0 ? 1 : -1};
    pending_[i] = 0.0;
    if (!report(root, view_.step.rk.y_new.data())) return false;
  }
  return true;
}

/// Kinks in the events cut a part of the step: its begin, both sides of each, its end.
std::vector<double> EventSearch::find_kinks(double begin, double end) {
  std::vector<double> cuts{begin};
  if (const int kinks = view_.dynamics.num_event_switches(); kinks > 0) {
    RootFinder finder(kinks, 16);
    std::vector<double> at_begin(static_cast<std::size_t>(kinks));
    const auto calc = [&](double time, std::span<double> g) {
      view_.step.state_at(time, y_.data(), nullptr);
      view_.dynamics.calc_event_switches(time, y_.data(), g);
    };
    calc(begin, at_begin);
    for (const Root& root : finder.find_all({.t0 = begin, .t1 = end, .begin = at_begin}, calc)) {
      for (const int event : view_.dynamics.facts().event_jumps[static_cast<std::size_t>(root.function)])
        jumps_.push_back({root.t, event, root.direction});
      for (const double time : {std::nextafter(root.t, begin), root.t})
        if (time > cuts.back() && time < end) cuts.push_back(time);
    }
  }
  cuts.push_back(end);
  return cuts;
}

/// A part of a step may be long for the event though it is short for the motion: it is cut until nothing more is found.
std::vector<Root> EventSearch::find_roots(const std::vector<double>& cuts) {
  const double length = cuts.back() - cuts.front();
  RootFinder finder(static_cast<int>(sign.size()));
  const auto calc = [this](double time, std::span<double> when) { evaluate(time, when); };
  std::vector<Root> roots;
  std::vector<double> side;
  for (int pieces = 1, last = -1, agreed = 0; pieces <= 729; pieces *= 3) {
    roots.clear();
    side = sign;
    for (std::size_t c = 0; c + 1 < cuts.size(); ++c) {
      const double whole = cuts[c + 1] - cuts[c];
      const int here = whole < 1e-3 * length ? 1 : pieces;
      for (int k = 0; k < here; ++k) {
        const double from = cuts[c] + whole * k / here,
                     to = k + 1 == here ? cuts[c + 1] : cuts[c] + whole * (k + 1) / here;
        if (!(to > from)) continue;
        const std::vector<double> begin = side;
        const auto found =
            finder.find_all({.t0 = from, .t1 = to, .begin = begin, .floor = noise_, .time_tolerance = 0.0}, calc);
        roots.insert(roots.end(), found.begin(), found.end());
        side.assign(finder.end().begin(), finder.end().end());
      }
    }
    agreed = static_cast<int>(roots.size()) == last ? agreed + 1 : 0;
    if (agreed > 0 && (pieces >= 9 || roots.empty())) break;
    last = static_cast<int>(roots.size());
  }
  remove_jumps(roots);
  sign = side;
  return roots;
}

/// A change of sign through infinity, or where an angle is cut, is no zero. A jump that is written as one is.
void EventSearch::remove_jumps(std::vector<Root>& roots) {
  const double begin = view_.motion.step_begin, end = view_.motion.t, tick = 8.0 * eps * std::abs(end);
  std::vector<double> earlier(sign.size()), before(sign.size()), after(sign.size());
  std::erase_if(roots, [&](const Root& root) {
    const double tau = std::min(1e-7 * (end - begin), 0.4 * (root.t - begin));
    if (!(tau > tick) || std::any_of(jumps_.begin(), jumps_.end(), [&](const Root& jump) {
          return jump.function == root.function && std::abs(jump.t - root.t) <= tick;
        }))
      return false;
    evaluate(root.t - 2.0 * tau, earlier), evaluate(root.t - tau, before), evaluate(root.t, after);
    const int i = root.function;
    return is_jump(earlier[i], before[i], after[i], noise_[i]);
  });
}

bool EventSearch::report(const Root& root) {
  view_.step.state_at(root.t, y_.data(), nullptr);
  const std::vector<double> kept = y_;
  if (!view_.step.crossing && !view_.dynamics.project(root.t, y_.data()).ok) y_ = kept;
  return report(root, y_.data());
}

bool EventSearch::report(const Root& root, const double* y) {
  const EventFacts& e = view_.dynamics.facts().events[root.function];
  if (!counts(e, root.direction)) return true;
  const int n = view_.dynamics.n();
  MotionEvent event;
  event.time = root.t;
  event.kind = EventKind::user;
  event.name = e.name;
  event.q = Eigen::Map<const Eigen::VectorXd>(y, n);
  event.qd_before = event.qd_after = Eigen::Map<const Eigen::VectorXd>(y + n, n);
  view_.motion.events.push_back(std::move(event));
  if (e.action != EventAction::stop && !e.changes) return true;
  view_.motion.t = root.t, view_.motion.stopped_by = root.function;
  view_.motion.finish(StopReason::event, fmt::format("event `{}` at t = {}", e.name, number_text(root.t)));
  return false;
}

void EventSearch::find() {
  const double begin = view_.motion.step_begin, end = view_.motion.t;
  view_.step.state_at(begin, y_.data(), nullptr);
  find_noise(begin, y_.data());
  const std::vector<double> at_begin = noise_;
  find_noise(end, view_.step.rk.y_new.data());
  for (std::size_t i = 0; i < noise_.size(); ++i) noise_[i] = std::max(noise_[i], at_begin[i]);
  std::vector<double> rounding(noise_.size(), 0.0);
  view_.dynamics.calc_event_noise(end, view_.step.rk.y_new.data(), 0.0, rounding);
  const bool off = !view_.step.held && !view_.dynamics.facts().rows.empty();
  const auto ranges = ranges_.find(
      {.from = begin,
       .to = end,
       .sides = sign,
       .floor = rounding,
       .rest = noise_,
       .slack = off ? view_.motion.options.tolerance : 0.0,
       .sizes = &view_.dynamics.sizes,
       .with_rates = view_.dynamics.facts().events_use_acceleration},
      [this](const StateBox& box, std::span<Interval> when) { return view_.dynamics.bound_events(box, when); });
  jumps_.clear();
  std::vector<double> now(sign.size());
  const auto hold = [&](double time) {
    evaluate(time, now);
    for (std::size_t i = 0; i < now.size(); ++i)
      if (const double size = std::max(std::abs(now[i]), std::numeric_limits<double>::min()); sign[i] != 0.0)
        sign[i] = std::copysign(std::isnan(size) ? std::numeric_limits<double>::min() : size, sign[i]);
      else if (std::abs(now[i]) > noise_[i])
        sign[i] = now[i];
  };
  double done = begin;
  for (ZeroRanges::Range range : ranges) {
    range.from = std::max(range.from, done);
    if (!(range.to > range.from)) continue;
    if (range.from > begin) hold(range.from);
    const double middle = 0.5 * (range.from + range.to);
    view_.step.state_at(middle, y_.data(), nullptr);
    const std::vector<double> state = y_;
    find_noise(middle, state.data());
    // Up to where every value is clear of what is not known of it: before that no change of sign counts.
    const auto is_near = [&](double time) {
      evaluate(time, now);
      for (std::size_t i = 0; i < now.size(); ++i)
        if (std::abs(now[i]) <= noise_[i]) return true;
      return false;
    };
    for (double width = range.to - range.from; range.to < end && is_near(range.to); width *= 2.0)
      range.to = std::min(end, range.to + width);
    done = range.to;
    std::vector<double> side = sign;
    bool stopped = false;
    for (const Root& root : find_roots(find_kinks(range.from, range.to))) {
      if (stopped && root.t > view_.motion.t) break;
      side[root.function] = root.direction * std::numeric_limits<double>::min();
      // What happens at the same instant comes after what the first one changes.
      if (!stopped)
        stopped = !report(root);
      else if (counts(view_.dynamics.facts().events[root.function], root.direction))
        pending_[root.function] = root.direction;
    }
    if (stopped) {
      sign = side;
      return;
    }
  }
  hold(end);
}

}  // namespace mechanician
