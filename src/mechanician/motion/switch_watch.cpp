#include "mechanician/motion/switch_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mechanician/base/text.hpp"
#include "mechanician/equations/switches.hpp"
#include "mechanician/motion/roots.hpp"

namespace mechanician {

namespace {
constexpr long many_switches = 200;
}

SwitchWatch::SwitchWatch(const MotionView& view) : view_(view), many_since_(view.motion.start.t) {
  for (auto* x : {&g_begin_, &g_noise_, &landing_floor_}) x->assign(view.dynamics.switches().size(), 0.0);
  y_.assign(static_cast<std::size_t>(view.dynamics.size()), 0.0);
}

/// The side that the motion comes to from a start on switch i with a side of it; 0: none.
double SwitchWatch::calc_ahead(std::size_t i, double side) {
  Dynamics& d = view_.dynamics;
  const double t = view_.motion.t;
  const std::vector<double>& y = view_.step.rk.y_new;
  std::vector<double>& rate = view_.step.rk.k[0];
  const int n = d.n();
  d.sides()[i] = side;
  if (!d.choose_rows(t, y.data()) || !d.rhs(t, y.data(), rate.data())) return 0.0;
  std::vector<double> g(g_begin_.size()), there(y);
  for (double tau = 1e-9; tau < 1e-2; tau *= 10.0) {
    for (int j = 0; j < n; ++j) {
      there[j] = y[j] + tau * y[n + j] + 0.5 * tau * tau * rate[n + j];
      there[n + j] = y[n + j] + tau * rate[n + j];
    }
    if (!d.calc_switches(t + tau, there.data(), g)) return 0.0;
    if (std::abs(g[i]) > 16.0 * g_noise_[i]) return g[i] > 0.0 ? 1.0 : -1.0;
  }
  return 0.0;
}

std::optional<Stop> SwitchWatch::set_first_sides() {
  Dynamics& d = view_.dynamics;
  auto& all = d.sides();
  if (all.empty()) return {};
  const double t = view_.motion.t;
  const double* const y = view_.step.rk.y_new.data();
  // Inner switches come first, so a few rounds settle all that are away from zero.
  for (std::size_t round = 0; round <= all.size(); ++round) {
    // On a wrong side there may be no mass, or no value: what switches tells without.
    d.choose_rows(t, y);
    d.calc_switches(t, y, g_begin_);
    if (!update_sides(g_begin_, all)) break;
  }
  d.calc_switch_noise(t, y, g_noise_);
  // On a switching surface the motion itself decides: look a little ahead on either side.
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (std::abs(g_begin_[i]) > g_noise_[i]) continue;
    const double up = calc_ahead(i, 1.0), down = calc_ahead(i, -1.0);
    all[i] = up >= 0.0 ? 1.0 : -1.0;
    if (up < 0.0 && down > 0.0 && d.switches()[i].is_discontinuous)
      return Stop{StopReason::sliding,
                  fmt::format("the start lies where `{}` switches, and the motion would slide along there: on either "
                              "side it is driven back. A constraint can say what holds there",
                              d.switches()[i].text),
                  {}};
  }
  return {};
}

int SwitchWatch::find(double& when) {
  LastStep& step = view_.step;
  Dynamics& d = view_.dynamics;
  if (!step.make_dense()) return -1;
  const auto& held = d.sides();
  step.state_at(step.t, y_.data(), nullptr);
  d.calc_switch_noise(step.t, y_.data(), g_noise_);
  // The side that is held is the side that the function is on, whatever rounding says at the begin.
  d.calc_switches(step.t, y_.data(), g_begin_);
  for (std::size_t i = 0; i < held.size(); ++i) {
    g_begin_[i] = std::copysign(std::max(std::abs(g_begin_[i]), std::numeric_limits<double>::min()), held[i]);
    g_noise_[i] = std::max(g_noise_[i], landing_floor_[i]);
  }
  RootFinder finder(static_cast<int>(held.size()));
  const auto evaluate = [&](double time, std::span<double> g) {
    step.state_at(time, y_.data(), nullptr);
    d.calc_switches(time, y_.data(), g);
  };
  // Once over the whole step, then in pieces: a pair of switches close together must not be lost.
  std::optional<Root> first;
  for (const int pieces : {1, 5}) {
    std::vector<double> side = g_begin_;
    const double end = first ? first->t : step.end();
    for (int k = 0; k < pieces; ++k) {
      const double from = step.t + (end - step.t) * k / pieces,
                   to = k + 1 == pieces ? end : step.t + (end - step.t) * (k + 1) / pieces;
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
  if (first) {
    when = first->t;
    return first->function;
  }
  // Well on its new side: from now on a return counts.
  d.calc_switches(step.end(), step.rk.y_new.data(), g_begin_);
  for (std::size_t i = 0; i < held.size(); ++i)
    if (held[i] * g_begin_[i] > landing_floor_[i]) landing_floor_[i] = 0.0;
  return -1;
}

/// The sign of dg/dt of a switching function at the end of the step, with the sides as they are now; 0: within rounding.
double SwitchWatch::calc_direction(int which, double next_step) {
  Dynamics& d = view_.dynamics;
  const MotionSteps& motion = view_.motion;
  const std::vector<double>&y = view_.step.rk.y_new, &rate = view_.step.rk.k[12];
  if (const auto exact = d.calc_switch_rate(which, motion.t, y.data(), rate.data()))
    return std::abs(exact->value) <= exact->noise ? 0.0 : exact->value;
  // By differences over ever longer times, until rounding no longer decides.
  std::vector<double> g0(g_begin_.size()), g1(g_begin_.size());
  if (!d.calc_switches(motion.t, y.data(), g0)) return 0.0;
  const double longest =
      1e-3 * std::max(view_.step.h, std::min(next_step, 1e-3 * (motion.options.to - motion.start.t)));
  for (double tau = 1e-9 * longest; tau <= longest; tau *= 10.0) {
    for (std::size_t j = 0; j < y_.size(); ++j) y_[j] = y[j] + tau * rate[j];
    if (!d.calc_switches(motion.t + tau, y_.data(), g1)) return 0.0;
    if (std::abs(g1[which] - g0[which]) > 100.0 * g_noise_[which]) return g1[which] - g0[which];
  }
  return 0.0;
}

/// Others that pass zero at the same time, as far as the landing tells, turn together: a member of a family seldom comes alone.
void SwitchWatch::turn_others(int which) {
  Dynamics& d = view_.dynamics;
  const double t = view_.motion.t;
  const double *const y = view_.step.rk.y_new.data(), *const rate = view_.step.rk.k[12].data();
  const std::size_t count = g_begin_.size();
  std::vector<double> g(count), rates(count), noise(count);
  if (count < 2 || !d.calc_switch_rates(t, y, rate, rates, noise) || !d.calc_switches(t, y, g) || rates[which] == 0.0)
    return;
  const double soon =
      4.0 * std::abs(g[which] / rates[which]) + 8.0 * std::numeric_limits<double>::epsilon() * std::abs(t);
  for (std::size_t j = 0; j < count; ++j) {
    double& side = d.sides()[j];
    if (static_cast<int>(j) == which || std::abs(rates[j]) <= noise[j] || side * rates[j] > 0.0 ||
        std::abs(g[j]) > soon * std::abs(rates[j]) || landing_floor_[j] > 0.0)
      continue;
    side = -side;
    landing_floor_[j] = 4.0 * std::abs(g[j]);
    ++view_.statistics.switches;
  }
}

/// Switches around one that has turned may have jumped across their own zeros.
void SwitchWatch::settle_outer(std::size_t inner) {
  Dynamics& d = view_.dynamics;
  for (std::size_t round = 0; round <= g_begin_.size(); ++round) {
    if (!d.calc_switches(view_.motion.t, view_.step.rk.y_new.data(), g_begin_)) return;
    for (std::size_t j = 0; j < g_begin_.size(); ++j)
      if (j <= inner || std::abs(g_begin_[j]) <= g_noise_[j]) g_begin_[j] = 0.0;
    if (!update_sides(g_begin_, d.sides())) return;
  }
}

/// Constraints that switch must fit together where they do: the state must not have to jump.
std::optional<Stop> SwitchWatch::meet_constraints(int which) {
  Dynamics& d = view_.dynamics;
  Dop853& rk = view_.step.rk;
  const double t = view_.motion.t;
  y_ = rk.y_new;
  const auto jump = d.project(t, y_.data(), {.most_iterations = 20});
  // The landing misses the switch by a little, and what jumps with it does so by as much.
  double missed = 0.0, speed = 1.0;
  if (d.calc_switches(t, rk.y_new.data(), g_begin_)) missed = std::abs(g_begin_[which]);
  for (int k = 0; k < d.n(); ++k) speed = std::max(speed, std::abs(rk.y_new[d.n() + k]));
  const double most = 1e-9 + view_.motion.options.tolerance + 10.0 * missed * speed;
  const std::string& text = d.switches()[which].text;
  if (!jump.ok || jump.moved_q > most || jump.moved_qd > most)
    return Stop{StopReason::contradiction,
                fmt::format("at t = {} the constraints jump where `{}` switches: {} would have to change at once",
                            short_number(t), text, jump.moved_q > most ? "positions" : "velocities"),
                {}};
  rk.y_new = y_;
  if (!d.rhs(t, rk.y_new.data(), rk.k[12].data()))
    return Stop{StopReason::not_finite, fmt::format("where `{}` switches nothing can be evaluated", text), {}};
  if (d.condition() > 1e4)
    view_.doubts.push_back(
        fmt::format("`{}` switches at t = {}, on or near a singular configuration: which branch follows is not sure",
                    text, short_number(t)));
  return {};
}

std::optional<Stop> SwitchWatch::refuse_many(int which) {
  if (view_.statistics.switches % many_switches != 0) return {};
  const MotionSteps& motion = view_.motion;
  if (motion.t - many_since_ < 1e-5 * (motion.options.to - motion.start.t))
    return Stop{StopReason::sliding,
                fmt::format("near t = {} `{}` switches ever more often: {} times since t = {}", short_number(motion.t),
                            view_.dynamics.switches()[which].text, many_switches, short_number(many_since_)),
                {}};
  many_since_ = motion.t;
  return {};
}

std::optional<Stop> SwitchWatch::turn(int which, double next_step) {
  Dynamics& d = view_.dynamics;
  Dop853& rk = view_.step.rk;
  const double t = view_.motion.t;
  const auto i = static_cast<std::size_t>(which);
  const SwitchFacts& s = d.switches()[i];
  ++view_.statistics.switches;
  view_.step.make_dense();  // while the sides are those of the step
  const std::vector<double> of_step = d.sides();
  turn_others(which);
  double& side = d.sides()[i];
  side = -side;
  settle_outer(i);
  if (!d.choose_rows(t, rk.y_new.data()) || !d.rhs(t, rk.y_new.data(), rk.k[12].data()))
    return Stop{StopReason::not_finite,
                fmt::format("beyond the point where `{}` switches nothing can be evaluated", s.text),
                {}};
  if (auto stop = meet_constraints(which)) return stop;
  // Driven back at once: the motion would slide along the surface.
  if (s.is_discontinuous && side * calc_direction(which, next_step) < 0.0)
    return Stop{StopReason::sliding,
                fmt::format("from t = {} on the motion slides along the surface where `{}` switches: on either side it "
                            "is driven back to it. A constraint can say what holds there",
                            short_number(t), s.text),
                {}};
  if (d.calc_switches(t, rk.y_new.data(), g_begin_)) landing_floor_[i] = 4.0 * std::abs(g_begin_[i]);
  if (auto stop = refuse_many(which)) return stop;
  next_sides_ = d.sides();
  d.sides() = of_step;
  d.choose_rows(t, rk.y_new.data());
  return {};
}

void SwitchWatch::take_next_sides() {
  if (next_sides_.empty()) return;
  Dynamics& d = view_.dynamics;
  Dop853& rk = view_.step.rk;
  d.sides() = next_sides_;
  next_sides_.clear();
  const long evaluations = d.evaluations, projections = d.projections;
  d.choose_rows(view_.motion.t, rk.y_new.data());
  d.rhs(view_.motion.t, rk.y_new.data(), rk.k[12].data());
  d.evaluations = evaluations, d.projections = projections;
}

bool SwitchWatch::pass_end_of_branch(const BadState& bad) {
  Dynamics& d = view_.dynamics;
  Dop853& rk = view_.step.rk;
  const MotionSteps& motion = view_.motion;
  if (!any() || passed_t_ == motion.t || !bad.is_near(motion.t, motion.options.to - motion.start.t)) return false;
  passed_t_ = motion.t;
  std::vector<double> here(g_begin_.size()), there(g_begin_.size());
  y_ = rk.y;
  std::copy(bad.y.begin(), bad.y.end(), y_.begin());
  d.calc_switch_noise(motion.t, rk.y.data(), g_noise_);
  d.calc_switches(motion.t, rk.y.data(), here);
  d.calc_switches(bad.t, y_.data(), there);
  bool turned = false;
  for (std::size_t i = 0; i < here.size(); ++i) {
    double& side = d.sides()[i];
    if (!(std::abs(here[i]) <= 1e4 * g_noise_[i]) || side * there[i] > 0.0) continue;
    side = -side, turned = true;
    ++view_.statistics.switches;
  }
  if (!turned || !d.choose_rows(motion.t, rk.y.data()) || !d.rhs(motion.t, rk.y.data(), rk.k[0].data())) return false;
  rk.y_new = rk.y, rk.k[12] = rk.k[0];
  return true;
}

}  // namespace mechanician
