#include "mechanician/motion/event_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/print.hpp"

namespace mechanician {

EventSearch::EventSearch(const MotionView& view) : view_(view) {
  sign.assign(view.dynamics.facts().events.size(), 0.0), noted_ = noise_ = sign;
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

/// Kinks in the events cut the step: its begin, both sides of each, its end.
std::vector<double> EventSearch::find_kinks() {
  const double begin = view_.motion.step_begin, end = view_.motion.t;
  std::vector<double> cuts{begin};
  if (const int kinks = view_.dynamics.num_event_switches(); kinks > 0) {
    RootFinder finder(kinks, 16);
    std::vector<double> at_begin(static_cast<std::size_t>(kinks));
    const auto calc = [&](double time, std::span<double> g) {
      view_.step.state_at(time, y_.data(), nullptr);
      view_.dynamics.calc_event_switches(time, y_.data(), g);
    };
    calc(begin, at_begin);
    for (const Root& root : finder.find_all({.t0 = begin, .t1 = end, .begin = at_begin}, calc))
      for (const double time : {std::nextafter(root.t, begin), root.t})
        if (time > cuts.back() && time < end) cuts.push_back(time);
  }
  cuts.push_back(end);
  return cuts;
}

/// From zero, for the little that they change: most steps end here.
bool EventSearch::all_are_far() {
  const double begin = view_.motion.step_begin, end = view_.motion.t;
  std::vector<double> low = sign, high = sign, now(sign.size());
  for (const double part : {0.31, 0.65, 1.0}) {
    evaluate(part == 1.0 ? end : begin + part * (end - begin), now);
    for (std::size_t i = 0; i < now.size(); ++i) low[i] = std::min(low[i], now[i]), high[i] = std::max(high[i], now[i]);
  }
  bool far = true;
  for (std::size_t i = 0; i < now.size(); ++i)
    far &= std::min(std::abs(low[i]), std::abs(high[i])) > 3.0 * (high[i] - low[i]) && low[i] * high[i] > 0.0;
  if (far) sign = now;
  return far;
}

/// A step may be long for the event though it is short for the motion: it is cut until nothing more is found.
std::vector<Root> EventSearch::find_roots(const std::vector<double>& cuts) {
  const double length = view_.motion.t - view_.motion.step_begin;
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
  remove_infinite(roots);
  sign = side;
  return roots;
}

/// A change of sign through infinity is no zero.
void EventSearch::remove_infinite(std::vector<Root>& roots) {
  const double begin = view_.motion.step_begin, end = view_.motion.t, tau = 1e-7 * (end - begin);
  std::vector<double> before(sign.size()), after(sign.size());
  std::erase_if(roots, [&](const Root& root) {
    evaluate(std::max(begin, root.t - tau), before);
    evaluate(std::min(end, root.t), after);
    const double far = std::abs(before[root.function]), near = std::abs(after[root.function]);
    return near > 1e3 * far && near > 1e6 * noise_[root.function];
  });
}

bool EventSearch::report(const Root& root) {
  const EventFacts& e = view_.dynamics.facts().events[root.function];
  if ((e.direction == EventDirection::up && root.direction < 0) ||
      (e.direction == EventDirection::down && root.direction > 0))
    return true;
  view_.step.state_at(root.t, y_.data(), nullptr);
  const std::vector<double> kept = y_;
  if (!view_.step.crossing && !view_.dynamics.project(root.t, y_.data()).ok) y_ = kept;
  const int n = view_.dynamics.n();
  MotionEvent event;
  event.time = root.t;
  event.kind = EventKind::user;
  event.name = e.name;
  event.q = Eigen::Map<const Eigen::VectorXd>(y_.data(), n);
  event.qd_before = event.qd_after = Eigen::Map<const Eigen::VectorXd>(y_.data() + n, n);
  view_.motion.events.push_back(std::move(event));
  if (e.action != EventAction::stop) return true;
  view_.motion.t = root.t;
  view_.motion.finish(StopReason::event, fmt::format("event `{}` at t = {}", e.name, number_text(root.t)));
  return false;
}

void EventSearch::find() {
  const std::vector<double> cuts = find_kinks();
  std::fill(noise_.begin(), noise_.end(), 0.0);
  view_.step.state_at(view_.motion.step_begin, y_.data(), nullptr);
  view_.dynamics.calc_event_noise(view_.motion.step_begin, y_.data(), noise_);
  if (cuts.size() == 2 && all_are_far()) return;
  for (const Root& root : find_roots(cuts))
    if (!report(root)) return;
}

}  // namespace mechanician
