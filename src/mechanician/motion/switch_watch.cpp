#include "mechanician/motion/switch_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "mechanician/base/text.hpp"
#include "mechanician/equations/switches.hpp"
#include "mechanician/expression/differentiate.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/expression/table_lookup.hpp"
#include "mechanician/expression/tape.hpp"
#include "mechanician/large/large_system.hpp"
#include "mechanician/motion/looked.hpp"
#include "mechanician/motion/roots.hpp"
#include "mechanician/motion/written_equations.hpp"

namespace mechanician {

namespace {

constexpr long many_switches = 200;
/// Beside the tolerance: so much constraints may jump where something switches, over what is near.
constexpr double jump_allowed = 1e-9;

/// Where a step has just ended for something, that is over.
double just_after(double t) { return t + 8.0 * std::numeric_limits<double>::epsilon() * std::abs(t); }

/// Whether only the time decides on switches, as with tables of it, and the last step ends before the next: nothing is to be looked for.
bool is_before_all(const MotionView& view) {
  const Dynamics& d = view.dynamics;
  if (!d.surfaces().empty() || d.sides().size() != d.num_expression_switches()) return false;
  const double passed = just_after(view.step.t), end = just_after(view.step.end());
  return std::all_of(d.switches().begin(), d.switches().end(),
                     [&](const SwitchFacts& s) { return s.clock != 0.0 && next_break(passed, s.clock) > end; });
}

}  // namespace

std::vector<PointsOfTime> points_of_time(const NarrowFunctions& functions, std::span<const Expr> parameters,
                                         std::span<const double> values) {
  constexpr KindSet known = kind_bit(SymbolKind::time) | kind_bit(SymbolKind::parameter);
  const Expr time = time_symbol();
  std::vector<Expr> inputs(parameters.begin(), parameters.end());
  std::vector<double> at(values.begin(), values.end());
  inputs.push_back(time), at.push_back(0.0);
  const auto is_input = [&](const Expr& s) {
    return std::any_of(inputs.begin(), inputs.end(), [&](const Expr& i) { return same(i, s); });
  };
  std::vector<PointsOfTime> all;
  // Arguments of a table come as x, y and the table itself.
  const std::vector<Expr>& arguments = functions.arguments();
  for (std::size_t k = 2; k < arguments.size(); ++k) {
    const Expr& x = arguments[k - 2];
    const Expr of_time = make_raw(Op::lookup, {time, 0, arguments[k]});
    if (!table_of(of_time) || !x.contains(SymbolKind::time) || (x.kinds() & ~known) != 0) continue;
    const std::vector<Expr> both{x, derivative(x, time)}, symbols = symbols_of(both);
    if (both[1].contains(SymbolKind::time) || !std::all_of(symbols.begin(), symbols.end(), is_input)) continue;
    const std::vector<double> line = Tape(both, inputs)(std::span<const double>(at));
    const PointsOfTime found{clock_of(guard_of(of_time, 0, Breaks::points)), line[1], line[0]};
    const bool is_new = std::none_of(all.begin(), all.end(), [&](const PointsOfTime& p) { return p == found; });
    if (is_new && found.slope > 0.0 && std::isfinite(found.slope) && std::isfinite(found.offset)) all.push_back(found);
  }
  return all;
}

SwitchWatch::SwitchWatch(const MotionView& view)
    : view_(view), ranges_(view.step, view.dynamics.n()), many_since_(view.motion.start.t) {
  for (auto* x : {&g_begin_, &g_noise_, &landing_floor_, &surface_of_}) x->assign(view.dynamics.switches().size(), 0.0);
  y_.assign(static_cast<std::size_t>(view.dynamics.size()), 0.0);
  if (const WrittenEquations* written = view.dynamics.written()) {
    points_ = points_of_time(written->narrow(), written->frozen().parameters, written->system().parameters());
  } else if (const auto& kernels = view.dynamics.values().system().kernels()) {
    std::vector<Expr> bodies;
    for (const Term& term : kernels->model().terms) {
      bodies.push_back(term.body);
      for (const QuantitySum& sum : term.sums)
        for (const Term& inner : sum.terms) bodies.push_back(inner.body);
    }
    points_ = points_of_time(NarrowFunctions(bodies), {}, {});
  }
}

/// What is not known of the functions, whose values are in g_begin_: rounding of their terms; and near zero what rounding makes of
/// coordinates, in the size that they have on the way: one that constraints hold at zero is 1e-17 or −1e-17 there.
void SwitchWatch::calc_noise(double t, const double* y) {
  Dynamics& d = view_.dynamics;
  d.calc_switch_noise(t, y, g_noise_);
  constexpr double near_zero = 1e-8, roundings = 16.0 * std::numeric_limits<double>::epsilon();
  // Across a jump both sides differ however near they are.
  const auto counts = [&](std::size_t i) {
    return std::abs(g_begin_[i]) < near_zero && i < d.num_expression_switches() && !d.switches()[i].is_discontinuous;
  };
  bool any = false;
  for (std::size_t i = 0; i < g_begin_.size() && !any; ++i) any = counts(i);
  if (!any) return;
  const auto n = static_cast<std::size_t>(d.n());
  std::vector<Interval> box(2 * n), g(g_begin_.size());
  for (std::size_t i = 0; i < 2 * n; ++i) {
    const double known = roundings * d.sizes.of_known(i, y[i]);
    box[i] = {y[i] - known, y[i] + known};
  }
  if (!d.bound_switches({Interval(t), box.data(), box.data() + n}, g)) return;
  for (std::size_t i = 0; i < g.size(); ++i)
    if (counts(i) && std::isfinite(g[i].high - g[i].low))
      g_noise_[i] = std::max(g_noise_[i], 0.5 * (g[i].high - g[i].low));
}

/// The side that the motion comes to from a start on switch i with a side of it; 0: none.
double SwitchWatch::calc_ahead(std::size_t i, double side) {
  Dynamics& d = view_.dynamics;
  const double t = view_.motion.t;
  const std::vector<double>& y = view_.step.rk.y_new;
  std::vector<double>& rate = view_.step.rk.k[0];
  const int n = d.n();
  d.sides()[i] = side;
  if (!d.set_state_rates(t, view_.step.rk.y_new.data())) return 0.0;
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
  if (d.num_control_switches() > 0) {
    d.settle_control(t, y);
    d.calc_switches(t, y, g_begin_);
  }
  calc_noise(t, y);
  // On a switching surface the motion itself decides: by its accelerations, or looked at a little ahead on either side.
  if (auto stop = settle_first_surfaces()) return stop;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (std::abs(g_begin_[i]) > g_noise_[i] || surface_of_[i] != 0.0) continue;
    const double up = calc_ahead(i, 1.0), down = calc_ahead(i, -1.0);
    all[i] = up >= 0.0 ? 1.0 : -1.0;
    if (up > 0.0 && down < 0.0 && d.switches()[i].is_discontinuous)
      return Stop{StopReason::not_unique,
                  fmt::format("the start lies where `{}` switches, and on either side the motion is driven away from "
                              "there: which way it goes is not determined. Start a little beside",
                              d.switches()[i].text),
                  {}};
    if (up < 0.0 && down > 0.0 && d.switches()[i].is_discontinuous)
      return Stop{StopReason::sliding,
                  fmt::format("the start lies where `{}` switches, and the motion would slide along there: on either "
                              "side it is driven back. A constraint can say what holds there",
                              d.switches()[i].text),
                  {}};
  }
  note_surfaces(d.surfaces());
  return {};
}

/// What acts of control has no bounds over a step: each value takes a whole acceleration. Functions that stay away from zero by several times of
/// what they change by, as some points of the step show, are not looked at further (as guards are, phase_guards.cpp).
std::vector<std::size_t> SwitchWatch::find_far_control() {
  LastStep& step = view_.step;
  Dynamics& d = view_.dynamics;
  const std::size_t first = d.num_expression_switches(), count = d.sides().size();
  std::vector<std::size_t> far;
  if (first == count) return far;
  constexpr std::array parts{0.25, 0.5, 0.75, 1.0};
  std::array<std::vector<double>, parts.size()> at;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    at[k].resize(count);
    const double time = k + 1 == parts.size() ? step.end() : step.t + parts[k] * step.h;
    step.state_at(time, y_.data(), nullptr);
    if (!d.calc_switches(time, y_.data(), at[k])) return far;
  }
  for (std::size_t i = first; i < count; ++i) {
    const double side = d.sides()[i];
    Looked looked(side * g_begin_[i]);
    for (std::size_t k = 0; k < parts.size(); ++k) {
      looked.take(side * at[k][i]);
      looked.take_bend(parts[k], side * at[k][i], side * at.back()[i]);
    }
    if (looked.is_far() && looked.low > g_noise_[i]) far.push_back(i);
  }
  return far;
}

/// Of the switches that the motion does not go along.
std::optional<Root> SwitchWatch::find_first() {
  LastStep& step = view_.step;
  Dynamics& d = view_.dynamics;
  const auto& held = d.sides();
  // Well on its new side: from now on a return counts.
  const auto note_end = [&] {
    d.calc_switches(step.end(), step.rk.y_new.data(), g_begin_);
    for (std::size_t i = 0; i < held.size(); ++i)
      if (held[i] * g_begin_[i] > landing_floor_[i]) landing_floor_[i] = 0.0;
    doubt_sides();
  };
  if (is_before_all(view_)) {
    note_end();
    return {};
  }
  step.state_at(step.t, y_.data(), nullptr);
  // The side that is held is the side that the function is on, whatever rounding says at the begin.
  d.calc_switches(step.t, y_.data(), g_begin_);
  calc_noise(step.t, y_.data());
  for (std::size_t i = 0; i < held.size(); ++i) {
    g_begin_[i] = std::copysign(std::max(std::abs(g_begin_[i]), std::numeric_limits<double>::min()), held[i]);
    g_noise_[i] = std::max(g_noise_[i], landing_floor_[i]);
  }
  const std::vector<std::size_t> far = find_far_control();
  const auto stay_on = [&](auto&& stay) {
    for (const Surface& s : d.surfaces())
      for (const int i : s.switches) stay(static_cast<std::size_t>(i));
    for (const std::size_t i : far) stay(i);
  };
  stay_on([&](std::size_t i) { g_begin_[i] = held[i]; });
  RootFinder finder(static_cast<int>(held.size()));
  const auto evaluate = [&](double time, std::span<double> g) {
    step.state_at(time, y_.data(), nullptr);
    d.calc_switches(time, y_.data(), g);
    if (time < control_since_)
      for (std::size_t i = d.num_expression_switches(); i < g.size(); ++i) g[i] = held[i];
    stay_on([&](std::size_t i) { g[i] = held[i]; });
  };
  const auto ranges = ranges_.find({.from = step.t, .to = step.end(), .sides = g_begin_, .floor = g_noise_},
                                   [&](const StateBox& box, std::span<Interval> g) {
                                     if (!d.bound_switches(box, g)) return false;
                                     stay_on([&](std::size_t i) { g[i] = Interval(held[i]); });
                                     return true;
                                   });
  std::optional<Root> first;
  std::vector<double> side = g_begin_;
  for (const ZeroRanges::Range& range : ranges) {
    if (range.from > step.t) {
      const std::vector<double> before = side;
      evaluate(range.from, side);
      for (std::size_t i = 0; i < side.size(); ++i)
        side[i] = std::copysign(std::max(std::abs(side[i]), std::numeric_limits<double>::min()), before[i]);
    }
    // Once over all of it, then in pieces: a pair of switches close together must not be lost.
    const std::vector<double> at_begin = side;
    for (const int pieces : {1, 5}) {
      if (pieces > 1 && range.to - range.from < 1e-2 * step.h) break;
      side = at_begin;
      const double end = first ? first->t : range.to;
      for (int k = 0; k < pieces; ++k) {
        const double from = range.from + (end - range.from) * k / pieces,
                     to = k + 1 == pieces ? end : range.from + (end - range.from) * (k + 1) / pieces;
        if (!(to > from)) continue;
        const std::vector<double> begin = side;
        const auto root = finder.find_first(
            {.t0 = from, .t1 = to, .begin = begin, .floor = g_noise_, .time_tolerance = 0.0}, evaluate);
        if (root) {
          first = root;
          break;
        }
        side.assign(finder.end().begin(), finder.end().end());
      }
    }
    if (first) break;
  }
  if (first) {
    first->function = choose_inner(*first, evaluate);
    return first;
  }
  note_end();
  return {};
}

/// At the end of a step in which nothing has switched every function is on the side that is held, or something was overlooked.
void SwitchWatch::doubt_sides() {
  constexpr double clearly = 1e6;
  const Dynamics& d = view_.dynamics;
  for (std::size_t i = 0; i < d.num_expression_switches() && !doubted_; ++i) {
    if (!(d.sides()[i] * g_begin_[i] < -clearly * std::max(g_noise_[i], landing_floor_[i])) || surface_of_[i] != 0.0)
      continue;
    doubted_ = true;
    view_.doubts.push_back(fmt::format("`{}` is beyond where it switches from t = {} on, and was not seen to switch",
                                       d.switches()[i].text, short_number(view_.motion.t)));
  }
}

double SwitchWatch::find_point() const {
  double next = std::numeric_limits<double>::infinity();
  for (const PointsOfTime& p : points_) {
    const double x = p.slope * view_.motion.t,
                 rounding = 16.0 * std::numeric_limits<double>::epsilon() * (std::abs(x) + std::abs(p.offset));
    next = std::min(next, (next_break(x + p.offset + rounding, p.key) - p.offset) / p.slope);
  }
  return next;
}

SwitchWatch::Clock SwitchWatch::find_clock(double reach) const {
  const double t = view_.motion.t, passed = just_after(t);
  Clock next;
  const auto& switches = view_.dynamics.switches();
  for (std::size_t i = 0; i < switches.size(); ++i) {
    if (switches[i].clock == 0.0) continue;
    const double when = next_break(passed, switches[i].clock);
    if (when - t <= reach && (next.which < 0 || when < next.when)) next = {static_cast<int>(i), when};
  }
  return next;
}

/// Where the share of a side comes to nothing, there the motion leaves the surface for the other one; or where both sides come to
/// drive away.
std::optional<Root> SwitchWatch::find_exit(double end) {
  LastStep& step = view_.step;
  Dynamics& d = view_.dynamics;
  const std::size_t count = d.surfaces().size();
  if (count == 0) return {};
  const long evaluations = d.evaluations, projections = d.projections;
  const auto evaluate = [&](double time, std::span<double> e) {
    step.state_at(time, y_.data(), nullptr);
    const bool known = d.calc_shares(time, y_.data());
    for (std::size_t i = 0; i < count; ++i) {
      const double share = d.surfaces()[i].share;
      e[i] = known ? share * (1.0 - share) : std::numeric_limits<double>::quiet_NaN();
      e[count + i] = known ? d.attraction(i) : std::numeric_limits<double>::quiet_NaN();
    }
  };
  std::vector<double> begin(2 * count);
  evaluate(step.t, begin);
  for (double& e : begin) e = std::max(e, std::numeric_limits<double>::min());
  RootFinder finder(static_cast<int>(2 * count));
  const auto root = finder.find_first({.t0 = step.t, .t1 = end, .begin = begin, .floor = {}}, evaluate);
  d.evaluations = evaluations, d.projections = projections;
  return root;
}

int SwitchWatch::find(double& when) {
  leaving_ = -1;
  if (!is_before_all(view_) && !view_.step.make_dense()) return -1;
  std::optional<Root> first = find_first();
  if (const auto exit = find_exit(first ? first->t : view_.step.end())) {
    const auto& along = view_.dynamics.surfaces();
    lost_ = exit->function >= static_cast<int>(along.size());
    leaving_ = exit->function % static_cast<int>(along.size()), jumps_ = false;
    first = Root{exit->t, along[static_cast<std::size_t>(leaving_)].switches.front(), 0};
  }
  if (!first) return -1;
  when = first->t;
  return first->function;
}

/// Of those that change their sign at one time, because they contain something that jumps there, the innermost: outer ones are
/// settled when it has turned.
template <class Evaluate>
int SwitchWatch::choose_inner(const Root& root, Evaluate&& evaluate) {
  const LastStep& step = view_.step;
  const auto& held = view_.dynamics.sides();
  const double tick = 8.0 * std::numeric_limits<double>::epsilon() * std::max(std::abs(step.t), std::abs(root.t)),
               tau = std::min(1e-7 * step.h, 0.4 * (root.t - step.t));
  jumps_ = false;
  if (!(tau > tick)) return root.function;
  std::vector<double> earlier(held.size()), before(held.size()), after(held.size());
  evaluate(root.t - 2.0 * tau, earlier), evaluate(root.t - tau, before), evaluate(root.t, after);
  const auto at = [&](int i) { return is_jump(earlier[i], before[i], after[i], g_noise_[i]); };
  jumps_ = at(root.function);
  for (int i = 0; i < root.function && jumps_; ++i)
    if (held[i] * before[i] > 0.0 && held[i] * after[i] < 0.0 && at(i)) return i;
  return root.function;
}

/// The sign of dg/dt of a switching function at the end of the step, with the field as it is now; 0: within rounding.
double SwitchWatch::calc_direction(int which, double next_step) {
  Dynamics& d = view_.dynamics;
  const MotionSteps& motion = view_.motion;
  const std::vector<double>&y = view_.step.rk.y_new, &rate = view_.step.rk.k[12];
  // Of the function whose zero this was: that of an angle depends on its own side.
  double& side = d.sides()[static_cast<std::size_t>(which)];
  side = -side;
  const auto exact = d.calc_switch_rate(which, motion.t, y.data(), rate.data());
  side = -side;
  if (exact) return std::abs(exact->value) <= exact->noise ? 0.0 : exact->value;
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
/// Flags of all that turn, itself among them.
std::vector<char> SwitchWatch::turn_others(int which) {
  Dynamics& d = view_.dynamics;
  std::vector<char> turned(g_begin_.size(), 0);
  turned[static_cast<std::size_t>(which)] = 1;
  const double t = view_.motion.t;
  const double *const y = view_.step.rk.y_new.data(), *const rate = view_.step.rk.k[12].data();
  const std::size_t count = g_begin_.size();
  std::vector<double> g(count), rates(count), noise(count);
  if (count < 2 || !d.calc_switch_rates(t, y, rate, rates, noise) || !d.calc_switches(t, y, g) ||
      !(std::abs(rates[which]) > 0.0))
    return turned;
  const double soon =
      4.0 * std::abs(g[which] / rates[which]) + 8.0 * std::numeric_limits<double>::epsilon() * std::abs(t);
  for (std::size_t j = 0; j < count; ++j) {
    double& side = d.sides()[j];
    if (static_cast<int>(j) == which || !(std::abs(rates[j]) > noise[j]) || side * rates[j] > 0.0 ||
        std::abs(g[j]) > soon * std::abs(rates[j]) || landing_floor_[j] > 0.0)
      continue;
    side = -side;
    turned[j] = 1;
    landing_floor_[j] = 4.0 * std::abs(g[j]);
    ++view_.statistics.switches;
  }
  return turned;
}

/// Switches around those that have turned may have jumped across their own zeros.
void SwitchWatch::settle_outer(const std::vector<char>& turned) {
  Dynamics& d = view_.dynamics;
  const auto inner = static_cast<std::size_t>(std::find(turned.begin(), turned.end(), 1) - turned.begin());
  for (std::size_t round = 0; round <= g_begin_.size(); ++round) {
    if (!d.calc_switches(view_.motion.t, view_.step.rk.y_new.data(), g_begin_)) return;
    for (std::size_t j = 0; j < g_begin_.size(); ++j)
      if (j <= inner || turned[j] || std::abs(g_begin_[j]) <= g_noise_[j]) g_begin_[j] = 0.0;
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
  const double most = jump_allowed + view_.motion.options.tolerance + 10.0 * missed * speed;
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

/// To the other side; where the motion is driven back from there at once, along the surface.
std::optional<Stop> SwitchWatch::cross(int which, double next_step) {
  Dynamics& d = view_.dynamics;
  Dop853& rk = view_.step.rk;
  const double t = view_.motion.t;
  const auto i = static_cast<std::size_t>(which);
  const SwitchFacts& s = d.switches()[i];
  const double left = d.calc_switches(t, rk.y_new.data(), g_begin_) && !jumps_ ? 4.0 * std::abs(g_begin_[i]) : 0.0;
  std::vector<Surface> active = d.surfaces();
  if (s.is_discontinuous && !jumps_) active.push_back({find_twins(which)});
  std::vector<char> turned = turn_others(which);
  double& side = d.sides()[i];
  side = -side;
  if (s.is_discontinuous && !jumps_) {
    align_twins(active.back());
    for (const int twin : active.back().switches) turned[static_cast<std::size_t>(twin)] = 1;
  }
  settle_outer(turned);
  landing_floor_[i] = left;
  settle_control_ahead(next_step);
  const bool known = d.set_state_rates(t, rk.y_new.data()) && d.choose_rows(t, rk.y_new.data()) &&
                     d.rhs(t, rk.y_new.data(), rk.k[12].data());
  if (!known && d.surfaces().empty())
    return Stop{StopReason::not_finite,
                fmt::format("beyond the point where `{}` switches nothing can be evaluated", s.text),
                {}};
  const bool along = known && keeps_surfaces();
  if (along)
    if (auto stop = meet_constraints(which)) return stop;
  if (along && (!s.is_discontinuous || jumps_ || !(side * calc_direction(which, next_step) < 0.0))) return {};
  return settle_modes(choose_modes(active), which);
}

/// How far switching functions may be from zero because the state at the end of the step is known up to the tolerance only.
std::vector<double> SwitchWatch::calc_band() {
  Dynamics& d = view_.dynamics;
  const std::vector<double>& y = view_.step.rk.y_new;
  const auto n = static_cast<std::size_t>(d.n());
  std::vector<Interval> box(2 * n), g(g_begin_.size());
  const double tolerance = view_.motion.options.tolerance;
  for (std::size_t i = 0; i < 2 * n; ++i) {
    const double known = tolerance * d.sizes.of_known(i, y[i]);
    box[i] = {y[i] - known, y[i] + known};
  }
  std::vector<double> band(g.size(), tolerance);
  if (d.bound_switches({Interval(view_.motion.t), box.data(), box.data() + n}, g))
    for (std::size_t i = 0; i < g.size(); ++i) band[i] = std::max(std::abs(g[i].low), std::abs(g[i].high));
  return band;
}

std::optional<Stop> SwitchWatch::leave() {
  Dynamics& d = view_.dynamics;
  Dop853& rk = view_.step.rk;
  const double t = view_.motion.t;
  if (lost_) return settle_modes(Modes::several, d.surfaces()[static_cast<std::size_t>(leaving_)].switches.front());
  d.calc_shares(t, rk.y_new.data());
  std::vector<Surface> rest = d.surfaces();
  const Surface left = rest[static_cast<std::size_t>(leaving_)];
  rest.erase(rest.begin() + leaving_);
  // It leaves with a rate of zero, and is not back for as long as the tolerance does not tell.
  const std::vector<double> band = calc_band();
  for (const int i : left.switches) {
    if (left.share > 0.5) d.sides()[static_cast<std::size_t>(i)] *= -1.0;
    landing_floor_[static_cast<std::size_t>(i)] = band[static_cast<std::size_t>(i)];
  }
  d.set_surfaces(rest);
  if (d.set_state_rates(t, rk.y_new.data()) && d.choose_rows(t, rk.y_new.data()) &&
      d.rhs(t, rk.y_new.data(), rk.k[12].data()) && keeps_surfaces())
    return {};
  return settle_modes(choose_modes(rest), left.switches.front());
}

std::optional<Stop> SwitchWatch::turn(int which, double next_step) {
  Dynamics& d = view_.dynamics;
  ++view_.statistics.switches;
  view_.step.make_dense();  // while the sides are those of the step
  const std::vector<double> of_step = d.sides();
  const std::vector<Surface> along = d.surfaces();
  if (auto stop = leaving_ >= 0 ? leave() : cross(which, next_step)) {
    if (stop->reason == StopReason::contradiction) {
      beyond_ = calc_beyond(of_step);
      d.sides() = of_step;
      d.set_surfaces(along);
      d.choose_rows(view_.motion.t, view_.step.rk.y_new.data());
    }
    return stop;
  }
  report_changes(along);
  report_control(of_step);
  if (auto stop = refuse_many(which)) return stop;
  ends_phase_ = turns_guards(of_step, along);
  next_sides_ = d.sides(), next_surfaces_ = d.surfaces();
  note_surfaces(next_surfaces_);
  d.sides() = of_step;
  d.set_surfaces(along);
  d.choose_rows(view_.motion.t, view_.step.rk.y_new.data());
  return {};
}

double SwitchWatch::find_start_beyond() {
  Dynamics& d = view_.dynamics;
  const std::vector<double>& y = view_.step.rk.y_new;
  if (!any() || !d.calc_switches(view_.motion.t, y.data(), g_begin_)) return 0.0;
  calc_noise(view_.motion.t, y.data());
  std::vector<double> before = d.sides();
  for (std::size_t i = 0; i < before.size(); ++i)
    if (std::abs(g_begin_[i]) <= g_noise_[i]) before[i] = -before[i];
  return before == d.sides() ? 0.0 : calc_beyond(before);
}

bool SwitchWatch::is_start_broken() {
  beyond_ = find_start_beyond();
  if (beyond_ == 0.0) return false;
  y_ = view_.step.rk.y_new;
  const auto moved = view_.dynamics.project(view_.motion.t, y_.data(), {.most_iterations = 20});
  const double most = jump_allowed + view_.motion.options.tolerance;
  return !moved.ok || moved.moved_q > most || moved.moved_qd > most;
}

/// Whether contacts that could go on before something has turned cannot after it: a load that jumps lifts what rests.
bool SwitchWatch::turns_guards(const std::vector<double>& before, const std::vector<Surface>& along) {
  Dynamics& d = view_.dynamics;
  const auto count = static_cast<std::size_t>(d.num_guards());
  if (count == 0) return false;
  const double t = view_.motion.t;
  const std::vector<double>& y = view_.step.rk.y_new;
  const auto n = static_cast<std::size_t>(d.n());
  beyond_ = calc_beyond(before);
  y_ = y;
  for (std::size_t j = 0; j < n; ++j) y_[j] += beyond_ * y[n + j];
  constexpr double clearly = 1e3;
  std::vector<double> now(count), noise(count), then(count), noise_then(count);
  if (!d.calc_guards(t + beyond_, y_.data(), now, noise)) return false;
  const auto is_negative = [&](double g, double rounding) { return g < -clearly * rounding; };
  bool any = false;
  for (std::size_t i = 0; i < count; ++i) any |= is_negative(now[i], noise[i]);
  if (!any) return false;
  const std::vector<double> sides = d.sides();
  const std::vector<Surface> surfaces = d.surfaces();
  d.sides() = before;
  d.set_surfaces(along);
  const bool known = d.choose_rows(t, y.data()) && d.calc_guards(t, y.data(), then, noise_then);
  d.sides() = sides;
  d.set_surfaces(surfaces);
  d.choose_rows(t, y.data());
  any = !known;
  for (std::size_t i = 0; i < count; ++i) any |= is_negative(now[i], noise[i]) && !is_negative(then[i], noise_then[i]);
  return any;
}

/// How much later all that has turned is on the side that it has turned to, as far as rounding tells.
double SwitchWatch::calc_beyond(const std::vector<double>& before) {
  Dynamics& d = view_.dynamics;
  const MotionSteps& motion = view_.motion;
  const double t = motion.t, h = std::max(view_.step.h, 1e-3 * (motion.options.to - motion.start.t));
  const std::vector<double>&y = view_.step.rk.y_new, sides = d.sides();
  std::vector<double> g(sides.size()), noise(sides.size());
  const auto n = static_cast<std::size_t>(d.n());
  double tau = 4.0 * std::numeric_limits<double>::epsilon() * std::max(std::abs(t), h);
  for (; tau < 1e-6 * h; tau *= 4.0) {
    y_ = y;
    for (std::size_t j = 0; j < n; ++j) y_[j] += tau * y[n + j];
    if (!d.calc_switches(t + tau, y_.data(), g)) break;
    d.calc_switch_noise(t + tau, y_.data(), noise);
    bool clear = true;
    for (std::size_t i = 0; i < sides.size(); ++i)
      if (sides[i] != before[i] && !(sides[i] * g[i] > noise[i])) clear = false;
    if (clear) break;
  }
  return tau;
}

/// Actuators that came to a limit or left it, requirements that began or ceased to act.
void SwitchWatch::report_control(const std::vector<double>& before) {
  Dynamics& d = view_.dynamics;
  const std::size_t first = d.num_expression_switches();
  for (std::size_t i = first; i < before.size(); ++i) {
    const double side = d.sides()[i];
    if (side == before[i]) continue;
    const EquationFacts::ControlSwitch& s = d.facts().control_switches[i - first];
    const int n = d.n();
    const double* const y = view_.step.rk.y_new.data();
    MotionEvent event;
    event.time = view_.motion.t;
    event.kind = s.actuator >= 0 ? (side < 0.0 ? EventKind::saturated : EventKind::released)
                                 : (side < 0.0 ? EventKind::acts : EventKind::rests);
    event.name = s.name;
    event.q = Eigen::Map<const Eigen::VectorXd>(y, n);
    event.qd_before = event.qd_after = Eigen::Map<const Eigen::VectorXd>(y + n, n);
    view_.motion.events.push_back(std::move(event));
  }
}

/// Where something turns, what acts of control from there on is what the programme says a little ahead: where two actuators share what is
/// asked for, both could leave their limits, and cost decides which does.
void SwitchWatch::settle_control_ahead(double next_step) {
  Dynamics& d = view_.dynamics;
  if (d.num_control_switches() == 0) return;
  const MotionSteps& motion = view_.motion;
  // Not by a step alone that is short because it ends here: for an instant efforts of several actuators may be as good as one.
  const double t = motion.t, h = std::max({view_.step.h, next_step, 1e-5 * (motion.options.to - motion.start.t)});
  const std::vector<double>& y = view_.step.rk.y_new;
  const std::vector<double> given = d.sides();
  const std::size_t first = d.num_expression_switches();
  const long evaluations = d.evaluations, projections = d.projections;
  // Along the motion as it came: what acts just here may be nothing that lasts, with accelerations without bound.
  const std::vector<double>& rate = view_.step.rk.k[12];
  std::vector<double> there(y), g(given.size()), noise(given.size());
  const auto n = static_cast<std::size_t>(d.n());
  // It has to stay so for a while: where efforts of actuators come to do the same, they have no share of their own for an instant. What
  // lasts longest, and of that the first: further ahead something else may act again.
  constexpr int decades = 3;
  std::vector<double> found, last;
  int lasted = 0, agreed = 0;
  double since = 0.0;
  if (d.choose_rows(t, y.data()))
    for (double tau = 1e-6 * h; tau < 0.2 * h && lasted < decades; tau *= 10.0) {
      for (std::size_t j = 0; j < n; ++j) {
        there[j] = y[j] + tau * y[n + j] + 0.5 * tau * tau * rate[n + j];
        there[n + j] = y[n + j] + tau * rate[n + j];
      }
      d.settle_control(t + tau, there.data());
      if (!d.calc_switches(t + tau, there.data(), g)) break;
      d.calc_switch_noise(t + tau, there.data(), noise);
      bool clear = d.control_is_clear();
      for (std::size_t k = first; k < g.size(); ++k) clear &= d.sides()[k] * g[k] > 16.0 * noise[k];
      agreed = !clear ? 0 : d.sides() == last ? agreed + 1 : 1;
      if (!clear && lasted < 2) lasted = 0;  // what is not clear yet was not clear before
      if (clear) last = d.sides();
      if (agreed == 1) since = t + tau;
      if (agreed > lasted) lasted = agreed, found = last, control_since_ = since;
    }
  if (found.empty()) control_since_ = t;
  d.sides() = found.empty() ? given : found;
  d.evaluations = evaluations, d.projections = projections;
  if (!d.choose_rows(t, y.data()) || !d.calc_switches(t, y.data(), g)) return;
  d.calc_switch_noise(t, y.data(), noise);
  // Those that are not at zero here turned because others did. Where all are on their sides from a time on, they count from then on.
  for (std::size_t k = first; k < g.size(); ++k)
    landing_floor_[k] = found.empty() && std::abs(g[k]) < 1e8 * noise[k] ? 4.0 * std::abs(g[k]) : 0.0;
}

/// What acts must be what the programme says where a step begins: where several limits are met at once, turning one after the other
/// need not lead there.
void SwitchWatch::settle_control() {
  Dynamics& d = view_.dynamics;
  const std::size_t first = d.num_expression_switches();
  if (d.num_control_switches() == 0 || view_.motion.t < control_since_) return;
  Dop853& rk = view_.step.rk;
  const double t = view_.motion.t;
  const long evaluations = d.evaluations, projections = d.projections;
  const std::vector<double> before = d.sides();
  std::vector<double> g(before.size()), noise(before.size());
  d.calc_switch_noise(t, rk.y_new.data(), noise);
  if (d.calc_switches(t, rk.y_new.data(), g)) {
    bool wrong = false;
    for (std::size_t i = first; i < g.size(); ++i) wrong |= before[i] * g[i] < -1e6 * noise[i];
    if (wrong) {
      d.settle_control(t, rk.y_new.data());
      if (d.sides() != before) {
        report_control(before);
        std::fill(landing_floor_.begin() + static_cast<std::ptrdiff_t>(first), landing_floor_.end(), 0.0);
        d.rhs(t, rk.y_new.data(), rk.k[12].data());
        if (view_.step.h > 0.0) ++view_.statistics.switches;
      }
    }
  }
  d.evaluations = evaluations, d.projections = projections;
}

void SwitchWatch::take_next_sides() {
  // Where something has just turned, what acts was found a little ahead: here functions are at zero, or jump.
  const bool turned = !next_sides_.empty();
  take_noted_sides();
  if (!turned) settle_control();
}

void SwitchWatch::take_noted_sides() {
  if (next_sides_.empty()) return;
  Dynamics& d = view_.dynamics;
  Dop853& rk = view_.step.rk;
  d.sides() = next_sides_;
  d.set_surfaces(next_surfaces_);
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
  if (!turned || !d.set_state_rates(motion.t, rk.y.data()) || !d.choose_rows(motion.t, rk.y.data()) ||
      !d.rhs(motion.t, rk.y.data(), rk.k[0].data()))
    return false;
  rk.y_new = rk.y, rk.k[12] = rk.k[0];
  return true;
}

}  // namespace mechanician
