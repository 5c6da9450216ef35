// What happens inside a step: switches and user events.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/motion/integrator_impl.hpp"

namespace mechanician {

namespace {
constexpr long many_switches = 200;
}

int SmoothMotion::find_switch(double h, double& when) {
  if (!last_implicit_ && !make_dense()) return -1;
  const auto& sides = dynamics_.sides();
  state_at(step_t_, y_sample_.data(), nullptr);
  dynamics_.calc_switch_noise(step_t_, y_sample_.data(), g_noise_);
  // The side that is held is the side that the function is on, whatever rounding says at the begin.
  dynamics_.calc_switches(step_t_, y_sample_.data(), g_begin_);
  for (std::size_t i = 0; i < sides.size(); ++i)
    g_begin_[i] = std::copysign(std::max(std::abs(g_begin_[i]), std::numeric_limits<double>::min()), sides[i]);
  for (std::size_t i = 0; i < sides.size(); ++i) g_noise_[i] = std::max(g_noise_[i], landing_floor_[i]);
  RootFinder finder(static_cast<int>(sides.size()));
  const auto evaluate = [&](double time, std::span<double> g) {
    state_at(time, y_sample_.data(), nullptr);
    dynamics_.calc_switches(time, y_sample_.data(), g);
  };
  // Once over the whole step, then in pieces: a pair of switches close together must not be lost.
  std::optional<Root> first;
  for (const int pieces : {1, 5}) {
    std::vector<double> side = g_begin_;
    double end = step_t_ + h;
    if (first) end = first->t;
    for (int k = 0; k < pieces; ++k) {
      const double from = step_t_ + (end - step_t_) * k / pieces,
                   to = k + 1 == pieces ? end : step_t_ + (end - step_t_) * (k + 1) / pieces;
      if (!(to > from)) continue;
      const std::vector<double> begin = side;
      const auto root =
          finder.find_first({.t0 = from, .t1 = to, .begin = begin, .floor = g_noise_, .time_tolerance = 0.0}, evaluate);
      if (root) {
        first = root;
        break;
      }
      side.assign(finder.end().begin(), finder.end().end());
    }
  }
  if (!first) {
    // Well on its new side: from now on a return counts.
    dynamics_.calc_switches(step_t_ + h, rk_.y_new.data(), g_begin_);
    for (std::size_t i = 0; i < sides.size(); ++i)
      if (sides[i] * g_begin_[i] > landing_floor_[i]) landing_floor_[i] = 0.0;
    return -1;
  }
  when = first->t;
  return first->function;
}

/// The sign of dg/dt of a switching function at the end of the step, with the sides as they are now; 0: within rounding.
double SmoothMotion::calc_switch_direction(int which) {
  if (const auto rate = dynamics_.calc_switch_rate(which, t, rk_.y_new.data(), rk_.k[12].data()))
    return std::abs(rate->value) <= rate->noise ? 0.0 : rate->value;
  // By differences over ever longer times, until rounding no longer decides.
  std::vector<double> g0(g_begin_.size()), g1(g_begin_.size());
  if (!dynamics_.calc_switches(t, rk_.y_new.data(), g0)) return 0.0;
  const double longest = 1e-3 * std::max(step_h_, std::min(h_, 1e-3 * (options.to - start.t)));
  for (double tau = 1e-9 * longest; tau <= longest; tau *= 10.0) {
    for (std::size_t j = 0; j < y_sample_.size(); ++j) y_sample_[j] = rk_.y_new[j] + tau * rk_.k[12][j];
    if (!dynamics_.calc_switches(t + tau, y_sample_.data(), g1)) return 0.0;
    if (std::abs(g1[which] - g0[which]) > 100.0 * g_noise_[which]) return g1[which] - g0[which];
  }
  return 0.0;
}

/// Others that pass zero at the same time, as far as the landing tells, turn together: a member of a family seldom comes alone.
void SmoothMotion::turn_others(int which) {
  const std::size_t count = g_begin_.size();
  std::vector<double> g(count), rates(count), noise(count);
  if (count < 2 || !dynamics_.calc_switch_rates(t, rk_.y_new.data(), rk_.k[12].data(), rates, noise) ||
      !dynamics_.calc_switches(t, rk_.y_new.data(), g) || rates[which] == 0.0)
    return;
  const double soon =
      4.0 * std::abs(g[which] / rates[which]) + 8.0 * std::numeric_limits<double>::epsilon() * std::abs(t);
  for (std::size_t j = 0; j < count; ++j) {
    double& side = dynamics_.sides()[j];
    if (static_cast<int>(j) == which || std::abs(rates[j]) <= noise[j] || side * rates[j] > 0.0 ||
        std::abs(g[j]) > soon * std::abs(rates[j]) || landing_floor_[j] > 0.0)
      continue;
    side = -side;
    landing_floor_[j] = 4.0 * std::abs(g[j]);
    ++statistics_.switches;
  }
}

bool SmoothMotion::turn_side(int which) {
  ++statistics_.switches;
  const std::size_t i = static_cast<std::size_t>(which);
  const SwitchFacts& s = dynamics_.switches()[i];
  double& side = dynamics_.sides()[i];
  if (over) return true;
  if (!last_implicit_) make_dense();  // while the sides are those of the step
  const std::vector<double> of_step = dynamics_.sides();
  turn_others(which);
  side = -side;
  // Switches around this one may have jumped across their own zeros.
  for (std::size_t round = 0; round <= g_begin_.size(); ++round) {
    if (!dynamics_.calc_switches(t, rk_.y_new.data(), g_begin_)) break;
    for (std::size_t j = 0; j < g_begin_.size(); ++j)
      if (j <= i || std::abs(g_begin_[j]) <= g_noise_[j]) g_begin_[j] = 0.0;
    if (!update_sides(g_begin_, dynamics_.sides())) break;
  }
  if (!dynamics_.choose_rows(t, rk_.y_new.data()) || !dynamics_.rhs(t, rk_.y_new.data(), rk_.k[12].data())) {
    fail_not_finite(t, rk_.y_new.data(),
                    fmt::format("beyond the point where `{}` switches nothing can be evaluated", s.text));
    return false;
  }
  // Constraints that switch must fit together where they do: the state must not have to jump.
  y_sample_ = rk_.y_new;
  const auto jump = dynamics_.project(t, y_sample_.data(), {.most_iterations = 20});
  // The landing misses the switch by a little, and what jumps with it does so by as much.
  double missed = 0.0, speed = 1.0;
  if (dynamics_.calc_switches(t, rk_.y_new.data(), g_begin_)) missed = std::abs(g_begin_[i]);
  for (int k = 0; k < dynamics_.n(); ++k) speed = std::max(speed, std::abs(rk_.y_new[dynamics_.n() + k]));
  const double most = 1e-9 + options.tolerance + 10.0 * missed * speed;
  if (!jump.ok || jump.moved_q > most || jump.moved_qd > most) {
    fail(StopReason::contradiction,
         fmt::format("at t = {} the constraints jump where `{}` switches: {} would have to change at once",
                     short_number(t), s.text, jump.moved_q > most ? "positions" : "velocities"));
    return false;
  }
  rk_.y_new = y_sample_;
  if (!dynamics_.rhs(t, rk_.y_new.data(), rk_.k[12].data())) return false;
  if (dynamics_.condition() > 1e4)
    doubts.push_back(
        fmt::format("`{}` switches at t = {}, on or near a singular configuration: which branch follows is not sure",
                    s.text, short_number(t)));
  // Driven back at once: the motion would slide along the surface.
  if (s.is_discontinuous && side * calc_switch_direction(which) < 0.0) {
    fail(StopReason::sliding,
         fmt::format(
             "from t = {} on the motion slides along the surface where `{}` switches: on either side it is driven "
             "back to it. A constraint can say what holds there",
             short_number(t), s.text));
    return false;
  }
  // The landing is as exact as the motion is: what is left of g there is no return to the side just left.
  if (dynamics_.calc_switches(t, rk_.y_new.data(), g_begin_)) landing_floor_[i] = 4.0 * std::abs(g_begin_[i]);
  if (statistics_.switches % many_switches == 0) {
    if (t - switches_since_ < 1e-5 * (options.to - start.t)) {
      fail(StopReason::sliding, fmt::format("near t = {} `{}` switches ever more often: {} times since t = {}",
                                            short_number(t), s.text, many_switches, short_number(switches_since_)));
      return false;
    }
    switches_since_ = t;
  }
  next_sides_ = dynamics_.sides();
  dynamics_.sides() = of_step;
  dynamics_.choose_rows(t, rk_.y_new.data());
  return true;
}

void SmoothMotion::take_next_sides() {
  if (next_sides_.empty()) return;
  dynamics_.sides() = next_sides_;
  next_sides_.clear();
  const long evaluations = dynamics_.evaluations, projections = dynamics_.projections;
  dynamics_.choose_rows(t, rk_.y_new.data());
  dynamics_.rhs(t, rk_.y_new.data(), rk_.k[12].data());
  dynamics_.evaluations = evaluations, dynamics_.projections = projections;
}

void SmoothMotion::find_user_events() {
  const std::vector<EventFacts>& model_events = dynamics_.facts().events;
  const auto count = model_events.size();
  RootFinder finder(static_cast<int>(count));
  const int n = dynamics_.n();
  const auto evaluate = [&](double time, std::span<double> when) {
    state_at(time, y_sample_.data(), nullptr);
    // Dense output is off the constraints by about the tolerance, and an event may be about just that.
    if (!last_held_) dynamics_.project(time, y_sample_.data(), {.most_iterations = 3});
    if (dynamics_.calc_events(time, y_sample_.data(), when)) return;
    for (std::size_t i = 0; i < count; ++i)
      if (!std::isfinite(when[i]) && event_noted_[i] == 0.0) {
        event_noted_[i] = 1.0;
        notes.push_back(fmt::format("event `{}` has no value at t = {} and is not looked for there",
                                    model_events[i].name, short_number(time)));
      }
  };
  // Kinks in the events cut the step.
  std::vector<double> cuts{step_begin};
  if (const int kinks = dynamics_.num_event_switches(); kinks > 0) {
    RootFinder kink_finder(kinks, 16);
    std::vector<double> at_begin(static_cast<std::size_t>(kinks));
    const auto calc = [&](double time, std::span<double> g) {
      state_at(time, y_sample_.data(), nullptr);
      dynamics_.calc_event_switches(time, y_sample_.data(), g);
    };
    calc(step_begin, at_begin);
    for (const Root& root : kink_finder.find_all({.t0 = step_begin, .t1 = t, .begin = at_begin}, calc))
      for (const double time : {std::nextafter(root.t, step_begin), root.t})
        if (time > cuts.back() && time < t) cuts.push_back(time);
  }
  cuts.push_back(t);
  std::vector<double> noise(count, 0.0);
  state_at(step_begin, y_sample_.data(), nullptr);
  dynamics_.calc_event_noise(step_begin, y_sample_.data(), noise);
  // Far from zero for the little that they change: most steps end here.
  if (cuts.size() == 2) {
    std::vector<double> low = event_sign_, high = event_sign_, now(count);
    for (const double part : {0.31, 0.65, 1.0}) {
      evaluate(part == 1.0 ? t : step_begin + part * (t - step_begin), now);
      for (std::size_t i = 0; i < count; ++i) low[i] = std::min(low[i], now[i]), high[i] = std::max(high[i], now[i]);
    }
    bool far = true;
    for (std::size_t i = 0; i < count; ++i)
      far &= std::min(std::abs(low[i]), std::abs(high[i])) > 3.0 * (high[i] - low[i]) && low[i] * high[i] > 0.0;
    if (far) {
      event_sign_ = now;
      return;
    }
  }
  // A step may be long for the event though it is short for the motion: cut it until nothing more is found.
  std::vector<Root> roots;
  std::vector<double> side;
  for (int pieces = 1, last = -1, agreed = 0; pieces <= 729; pieces *= 3) {
    roots.clear();
    side = event_sign_;
    for (std::size_t c = 0; c + 1 < cuts.size(); ++c) {
      const double whole = cuts[c + 1] - cuts[c];
      const int here = whole < 1e-3 * (t - step_begin) ? 1 : pieces;
      for (int k = 0; k < here; ++k) {
        const double from = cuts[c] + whole * k / here,
                     to = k + 1 == here ? cuts[c + 1] : cuts[c] + whole * (k + 1) / here;
        if (!(to > from)) continue;
        const std::vector<double> begin = side;
        const auto found =
            finder.find_all({.t0 = from, .t1 = to, .begin = begin, .floor = noise, .time_tolerance = 0.0}, evaluate);
        roots.insert(roots.end(), found.begin(), found.end());
        side.assign(finder.end().begin(), finder.end().end());
      }
    }
    agreed = static_cast<int>(roots.size()) == last ? agreed + 1 : 0;
    if (agreed > 0 && (pieces >= 9 || roots.empty())) break;
    last = static_cast<int>(roots.size());
  }
  // A change of sign through infinity is no zero.
  std::vector<double> before(count), after(count);
  std::erase_if(roots, [&](const Root& root) {
    const double tau = 1e-7 * (t - step_begin);
    evaluate(std::max(step_begin, root.t - tau), before);
    evaluate(std::min(t, root.t), after);
    const double far = std::abs(before[root.function]), near = std::abs(after[root.function]);
    return near > 1e3 * far && near > 1e6 * noise[root.function];
  });
  event_sign_ = side;
  for (const Root& root : roots) {
    const EventFacts& e = model_events[root.function];
    if ((e.direction == EventDirection::up && root.direction < 0) ||
        (e.direction == EventDirection::down && root.direction > 0))
      continue;
    state_at(root.t, y_sample_.data(), nullptr);
    std::vector<double> kept = y_sample_;
    if (!last_was_crossing_ && !dynamics_.project(root.t, y_sample_.data()).ok) y_sample_ = kept;
    MotionEvent event;
    event.time = root.t;
    event.kind = EventKind::user;
    event.name = e.name;
    event.q = Eigen::Map<const Eigen::VectorXd>(y_sample_.data(), n);
    event.qd_before = event.qd_after = Eigen::Map<const Eigen::VectorXd>(y_sample_.data() + n, n);
    events.push_back(std::move(event));
    if (e.action == EventAction::stop) {
      t = root.t;
      finish(StopReason::event, fmt::format("event `{}` at t = {}", e.name, number_text(root.t)));
      return;
    }
  }
}

}  // namespace mechanician
