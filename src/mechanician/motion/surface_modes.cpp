// On which side of each of several surfaces a motion goes on that is on all of them, or along which of them.
//
// A choice is consistent where the motion is driven away from the surfaces that it leaves, to the side that it is on, and the
// shares of both sides of the others lie between 0 and 1. One is found by exchanges; of few surfaces all are tried, and where
// there are several, none is determined.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mechanician/base/text.hpp"
#include "mechanician/motion/switch_watch.hpp"

namespace mechanician {

namespace {
constexpr std::size_t most_tried = 4;
constexpr double no_share = 1e-9;
}  // namespace

bool SwitchWatch::slides() const { return !(next_sides_.empty() ? view_.dynamics.surfaces() : next_surfaces_).empty(); }

void SwitchWatch::note_surfaces(const std::vector<Surface>& along) {
  std::fill(surface_of_.begin(), surface_of_.end(), 0.0);
  for (std::size_t s = 0; s < along.size(); ++s)
    for (const int i : along[s].switches) surface_of_[static_cast<std::size_t>(i)] = static_cast<double>(s + 1);
}

void SwitchWatch::take_surfaces() {
  std::vector<Surface> along;
  for (std::size_t i = 0; i < surface_of_.size(); ++i) {
    const auto number = static_cast<std::size_t>(surface_of_[i]);
    if (number == 0) continue;
    if (along.size() < number) along.resize(number);
    along[number - 1].switches.push_back(static_cast<int>(i));
  }
  view_.dynamics.set_surfaces(std::move(along));
}

/// Switches of several terms may have the same function, up to its sign.
std::vector<int> SwitchWatch::find_twins(int which) {
  Dynamics& d = view_.dynamics;
  const std::size_t count = g_begin_.size();
  std::vector<int> result{which};
  std::vector<double> g(count), rates(count), noise(count);
  const double t = view_.motion.t;
  const std::vector<double>& y = view_.step.rk.y_new;
  if (count < 2 || !d.calc_switches(t, y.data(), g) ||
      !d.calc_switch_rates(t, y.data(), view_.step.rk.k[12].data(), rates, noise))
    return result;
  for (std::size_t j = 0; j < count; ++j)
    if (static_cast<int>(j) != which && d.switches()[j].is_discontinuous && std::abs(g[j]) == std::abs(g[which]) &&
        std::abs(rates[j]) == std::abs(rates[which]))
      result.push_back(static_cast<int>(j));
  return result;
}

/// To the side that the first of them is on.
void SwitchWatch::align_twins(const Surface& surface) {
  Dynamics& d = view_.dynamics;
  std::vector<double> g(g_begin_.size()), rates(g.size()), noise(g.size());
  if (surface.switches.size() < 2 ||
      !d.calc_switch_rates(view_.motion.t, view_.step.rk.y_new.data(), view_.step.rk.k[12].data(), rates, noise))
    return;
  const int first = surface.switches.front();
  for (const int i : surface.switches) d.sides()[i] = d.sides()[first] * (rates[i] == rates[first] ? 1.0 : -1.0);
}

/// Of the last rhs().
bool SwitchWatch::keeps_surfaces() const {
  const auto& along = view_.dynamics.surfaces();
  for (std::size_t i = 0; i < along.size(); ++i)
    if (!(along[i].share > -1e-6 && along[i].share < 1.0 + 1e-6 && view_.dynamics.attraction(i) > 0.0)) return false;
  return true;
}

void SwitchWatch::set_modes(const std::vector<Surface>& active, const std::vector<int>& modes) {
  Dynamics& d = view_.dynamics;
  std::vector<Surface> along;
  for (std::size_t i = 0; i < active.size(); ++i) {
    if (modes[i] == 0) {
      along.push_back(active[i]);
      continue;
    }
    if (modes[i] * d.sides()[active[i].switches.front()] < 0.0)
      for (const int k : active[i].switches) d.sides()[k] *= -1.0;
  }
  d.set_surfaces(std::move(along));
}

bool SwitchWatch::is_consistent(const std::vector<Surface>& active, std::vector<int>& modes, bool exchange) {
  Dynamics& d = view_.dynamics;
  const double t = view_.motion.t;
  double* const y = view_.step.rk.y_new.data();
  std::vector<double>& rate = view_.step.rk.k[12];
  std::vector<double> rates(g_begin_.size()), noise(g_begin_.size());
  set_modes(active, modes);
  if (!d.set_state_rates(t, y) || !d.rhs(t, y, rate.data()) || !d.calc_switch_rates(t, y, rate.data(), rates, noise))
    return false;
  bool consistent = true;
  std::size_t along = 0;
  for (std::size_t i = 0; i < active.size(); ++i) {
    const int first = active[i].switches.front();
    if (modes[i] == 0) {
      const double attraction = d.attraction(along), share = d.surfaces()[along++].share;
      if (attraction > 0.0 && share > no_share && share < 1.0 - no_share) continue;
      consistent = false;
      if (exchange) modes[i] = (share >= 1.0 - no_share ? -1 : 1) * (d.sides()[first] > 0.0 ? 1 : -1);
    } else if (!(modes[i] * rates[first] > noise[first])) {
      consistent = false;
      if (exchange) modes[i] = 0;
    }
  }
  return consistent;
}

SwitchWatch::Modes SwitchWatch::choose_modes(const std::vector<Surface>& active) {
  Dynamics& d = view_.dynamics;
  const double t = view_.motion.t;
  std::vector<double>& y = view_.step.rk.y_new;
  std::vector<int> modes(active.size(), 0);
  bool found = false;
  if (active.size() <= most_tried) {
    std::vector<int> tried(active.size(), -1);
    int count = 0;
    for (bool more = true; more;) {
      if (is_consistent(active, tried, false)) modes = tried, ++count;
      more = false;
      for (std::size_t i = 0; i < tried.size() && !more; ++i) more = ++tried[i] <= 1, tried[i] = more ? tried[i] : -1;
    }
    if (count > 1) return Modes::several;
    found = count == 1;
  } else {
    for (std::size_t round = 0; round < 20 && !found; ++round) found = is_consistent(active, modes, true);
  }
  if (!found) return Modes::none;
  set_modes(active, modes);
  if (!d.set_state_rates(t, y.data()) || !d.choose_rows(t, y.data())) return Modes::none;
  if (!d.surfaces_add_up(t, y.data())) return Modes::several;
  if (!d.hold_on_surfaces(t, y.data()) || !d.rhs(t, y.data(), view_.step.rk.k[12].data())) return Modes::none;
  return Modes::one;
}

std::optional<Stop> SwitchWatch::settle_modes(Modes found, int which) {
  if (found == Modes::one) return {};
  const std::string& text = view_.dynamics.switches()[static_cast<std::size_t>(which)].text;
  if (found == Modes::several)
    return Stop{
        StopReason::not_unique,
        fmt::format("at t = {} the motion is on the surface where `{}` switches, and there is more than one way "
                    "to go on: which one is not determined",
                    short_number(view_.motion.t), text),
        {}};
  return Stop{
      StopReason::sliding,
      fmt::format("from t = {} on the motion slides along the surface where `{}` switches: on either side it is "
                  "driven back to it, and its accelerations there are not determined. A constraint can say what "
                  "holds there",
                  short_number(view_.motion.t), text),
      {}};
}

/// A start from which a surface is reached in a billionth of the run, and not left again, is on it.
std::optional<Stop> SwitchWatch::settle_first_surfaces() {
  Dynamics& d = view_.dynamics;
  const double t = view_.motion.t, soon = 1e-9 * (view_.motion.options.to - view_.motion.start.t);
  std::vector<double>& y = view_.step.rk.y_new;
  std::vector<double>& rate = view_.step.rk.k[12];
  const std::size_t count = g_begin_.size();
  std::vector<double> rates(count), noise(count), turned(count);
  d.set_surfaces({});
  if (!d.set_state_rates(t, y.data()) || !d.rhs(t, y.data(), rate.data()) ||
      !d.calc_switch_rates(t, y.data(), rate.data(), rates, noise))
    return {};
  std::vector<Surface> active;
  std::vector<char> seen(count, 0);
  for (std::size_t i = 0; i < count; ++i) {
    const bool on = std::abs(g_begin_[i]) <= g_noise_[i];
    if (seen[i] || !d.switches()[i].is_discontinuous ||
        !(on || (d.sides()[i] * rates[i] < 0.0 && std::abs(g_begin_[i]) <= soon * std::abs(rates[i]))))
      continue;
    const Surface surface{find_twins(static_cast<int>(i))};
    for (const int k : surface.switches) seen[static_cast<std::size_t>(k)] = 1;
    align_twins(surface);
    const std::vector<double> here = rates;
    for (const int k : surface.switches) d.sides()[k] *= -1.0;
    const bool known = d.set_state_rates(t, y.data()) && d.rhs(t, y.data(), rate.data()) &&
                       d.calc_switch_rates(t, y.data(), rate.data(), turned, noise);
    const double side = d.sides()[i];
    for (const int k : surface.switches) d.sides()[k] *= -1.0;
    d.set_state_rates(t, y.data()), d.rhs(t, y.data(), rate.data());
    // Beside the surface only where both sides drive to it.
    if (!known || !(std::abs(turned[i] - here[i]) > noise[i]) || (!on && !(side * turned[i] < 0.0))) continue;
    active.push_back(surface);
  }
  if (active.empty()) return {};
  auto stop = settle_modes(choose_modes(active), active.front().switches.front());
  for (const Surface& s : active)
    for (const int i : s.switches) surface_of_[static_cast<std::size_t>(i)] = 1.0;  // settled, whichever way
  report_changes({});
  return stop;
}

void SwitchWatch::report_changes(const std::vector<Surface>& before) {
  Dynamics& d = view_.dynamics;
  const auto report = [&](const std::vector<Surface>& some, const std::vector<Surface>& others, EventKind kind) {
    for (const Surface& s : some) {
      if (std::any_of(others.begin(), others.end(), [&](const Surface& o) { return o.switches == s.switches; }))
        continue;
      const int n = d.n();
      const double* const y = view_.step.rk.y_new.data();
      MotionEvent event;
      event.time = view_.motion.t, event.kind = kind;
      event.name = d.switches()[static_cast<std::size_t>(s.switches.front())].text;
      event.q = Eigen::Map<const Eigen::VectorXd>(y, n);
      event.qd_before = event.qd_after = Eigen::Map<const Eigen::VectorXd>(y + n, n);
      view_.motion.events.push_back(std::move(event));
    }
  };
  report(before, d.surfaces(), EventKind::sliding_ends);
  report(d.surfaces(), before, EventKind::sliding_begins);
}

}  // namespace mechanician
