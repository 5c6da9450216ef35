#include "mechanician/motion/phase_guards.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "mechanician/motion/looked.hpp"
#include "mechanician/motion/roots.hpp"

namespace mechanician {

namespace {

/// Where a step is looked at first, beside its begin.
constexpr std::array looked_at{0.31, 0.65, 1.0};

/// Guards on one step, those of them that come near zero there; by position in `near`.
struct NearGuards {
  double from, to;
  std::vector<double> begin = {}, floor = {};
  std::vector<bool> clear = {};  ///< has been clearly positive in this phase
};

/// Where one begins at zero its sign is rounding for a while: the search begins where it has one.
void find_signs(NearGuards& near, RootFunctions evaluate) {
  const std::size_t count = near.begin.size();
  std::vector<bool> unsigned_yet(count);
  for (std::size_t i = 0; i < count; ++i) unsigned_yet[i] = std::abs(near.begin[i]) <= near.floor[i];
  const auto any_unsigned = [&] {
    return std::find(unsigned_yet.begin(), unsigned_yet.end(), true) != unsigned_yet.end();
  };
  if (!any_unsigned()) return;
  const double begin = near.from;
  const std::vector<double> at_begin = near.begin;
  const double least = 4.0 * std::numeric_limits<double>::epsilon() * std::max(std::abs(near.to), near.to - begin);
  std::vector<double> now(count);
  for (double tau = std::max(1e-12 * (near.to - begin), least); tau < near.to - begin && any_unsigned(); tau *= 4.0) {
    evaluate(begin + tau, now);
    bool any_down = false, again = false;
    for (std::size_t i = 0; i < count; ++i)
      if (now[i] < -near.floor[i]) any_down = true, again = again || near.clear[i];
    // One that comes down to zero where the step before has ended does so there, not where that begins to show.
    if (again) near.from = begin, near.begin = at_begin;
    if (any_down) break;  // between the last time and this one
    for (std::size_t i = 0; i < count; ++i) unsigned_yet[i] = unsigned_yet[i] && !(now[i] > near.floor[i]);
    near.from = begin + tau;
    near.begin = now;
  }
}

/// The first that turns negative.
std::optional<Root> find_end(NearGuards& near, std::initializer_list<int> all_pieces, RootFunctions evaluate) {
  find_signs(near, evaluate);
  for (double& g : near.begin) g = std::max(std::abs(g), std::numeric_limits<double>::min());
  RootFinder finder(static_cast<int>(near.begin.size()));
  std::optional<Root> first;
  double until = near.to;
  for (const int pieces : all_pieces) {
    std::vector<double> side = near.begin;
    for (int k = 0; k < pieces; ++k) {
      const double from = near.from + (until - near.from) * k / pieces;
      const double to = k + 1 == pieces ? until : near.from + (until - near.from) * (k + 1) / pieces;
      if (!(to > from)) continue;
      const std::vector<double> begin = side;
      const auto root = finder.find_first({.t0 = from, .t1 = to, .begin = begin, .floor = near.floor}, evaluate);
      if (root && root->direction < 0) {
        first = root;
        until = root->t;
        break;
      }
      side.assign(finder.end().begin(), finder.end().end());
    }
  }
  return first;
}

/// Moves a zero of functions that were known roughly to where it is, by secants, the first of them a rough one. False: it is not
/// near.
bool polish(Root& root, const NearGuards& near, RootFunctions roughly, RootFunctions exactly) {
  const double step = near.to - near.from, tick = 2.0 * std::numeric_limits<double>::epsilon() * std::abs(root.t);
  std::vector<double> values(near.begin.size());
  const auto at = [&](RootFunctions& evaluate, double time) {
    evaluate(time, values);
    return values[static_cast<std::size_t>(root.function)];
  };
  double before = std::max(near.from, root.t - 1e-4 * step), now = root.t;
  if (!(now - before > 1e3 * tick)) return false;
  double slope = (at(roughly, now) - at(roughly, before)) / (now - before);
  double g_now = at(exactly, now), last = std::numeric_limits<double>::infinity();
  for (int k = 0; k < 8; ++k) {
    if (!(slope < 0.0)) return false;
    const double next = now - g_now / slope, change = std::abs(next - now);
    if (!(std::abs(next - root.t) < 1e-2 * step) || !(next > near.from && next <= near.to)) return false;
    // Corrections that do not shrink are rounding.
    if (change <= tick || (change < 1e-9 * step && change > 0.5 * last)) {
      root.t = change <= tick ? next : now;
      return true;
    }
    const double g_before = g_now;
    before = now, now = next, last = change;
    g_now = at(exactly, now);
    slope = (g_now - g_before) / (now - before);
  }
  return false;
}

}  // namespace

void PhaseGuards::begin() {
  Dynamics& d = view_.dynamics;
  const auto count = static_cast<std::size_t>(d.num_guards());
  for (auto* x : {&begin_, &floor_, &noise_, &clear_, &now_}) x->assign(count, 0.0);
  y_.assign(static_cast<std::size_t>(d.size()), 0.0);
  if (count == 0) return;
  const std::vector<RowFacts>& rows = d.facts().rows;
  gaps_move_ = std::any_of(rows.begin(), rows.end(), [](const RowFacts& row) { return row.level == Level::velocity; });
  const long evaluations = d.evaluations, projections = d.projections;
  constexpr double clearly = 1e6;
  begin_negative_ = false;
  const bool known = d.calc_guards(view_.motion.t, view_.step.rk.y_new.data(), begin_, noise_);
  for (std::size_t i = 0; i < count; ++i) {
    if (begin_[i] < 0.0) floor_[i] = 4.0 * std::abs(begin_[i]);
    begin_negative_ |= known && i >= d.num_gaps() && begin_[i] < -clearly * noise_[i] && noise_[i] > 0.0;
  }
  d.evaluations = evaluations, d.projections = projections;
}

void PhaseGuards::set_clear() {
  std::fill(floor_.begin(), floor_.end(), 0.0);
  std::fill(clear_.begin(), clear_.end(), 1.0);
}

void PhaseGuards::make_state(double time, bool held, bool velocities) {
  const LastStep& step = view_.step;
  view_.step.state_at(time, y_.data(), nullptr);
  if (held && !step.held && time != step.t && time != step.end())
    view_.dynamics.project(time, y_.data(), {.most_iterations = 3, .velocities = velocities});
}

/// Until a guard has been clear of zero its sign counts beyond what errors of the state do to it; tried out. The first steps of the implicit
/// method are of low order, with errors of the size of the tolerance, while what opens slowly has opened by far less. Gaps that others keep
/// closed are off by what rounding does to the largest coordinates.
void PhaseGuards::add_errors() {
  if (std::find(clear_.begin(), clear_.end(), 0.0) == clear_.end()) return;
  constexpr double rounding = 8.0 * std::numeric_limits<double>::epsilon();
  const int n = view_.dynamics.n();
  const bool implicit = view_.step.implicit;
  const double part = implicit ? view_.motion.options.tolerance : rounding, begin = view_.motion.step_begin;
  const std::size_t count = implicit ? begin_.size() : grazes_ ? view_.dynamics.num_gaps() : 0;
  if (count == 0) return;
  std::vector<double> moved(y_), changed(count, 0.0);
  now_.assign(count, 0.0);
  for (const double sign : {1.0, -1.0}) {
    for (int i = 0; i < 2 * n; ++i)
      moved[i] = y_[i] + (i % 2 == 0 ? 1.0 : sign) * part * view_.dynamics.sizes.of(i, y_[i]);
    if (!view_.dynamics.calc_guards(begin, moved.data(), now_, {})) continue;
    for (std::size_t i = 0; i < count; ++i) changed[i] = std::max(changed[i], std::abs(now_[i] - begin_[i]));
  }
  for (std::size_t i = 0; i < count; ++i)
    if (clear_[i] == 0.0) noise_[i] += changed[i];
}

std::optional<PhaseGuards::End> PhaseGuards::find() {
  std::optional<End> first;
  if (!begin_.empty()) {
    const double begin = view_.motion.step_begin;
    make_state(begin, true);
    view_.dynamics.calc_guards(begin, y_.data(), begin_, noise_);
    add_errors();
    // Gaps are functions of positions alone and need no forces. These are looked at for as long as no gap closes.
    const std::size_t gaps = view_.dynamics.num_gaps();
    double end = view_.motion.t;
    // What has no value guards nothing: the motion ends there, unless it does before.
    const std::optional<double> lost = find_lost(end);
    if (lost) first = End{*lost, -1}, end = std::max(begin, std::nextafter(*lost, begin));
    for (const auto& [from, to] : {std::pair(std::size_t{0}, gaps), std::pair(gaps, begin_.size())}) {
      const std::optional<End> found = find_negative(from, to, end);
      if (found) first = found, end = found->t;
    }
  }
  const std::optional<End> forbidden = may_go_on_ ? find_forbidden(first ? first->t : view_.motion.t) : std::nullopt;
  return forbidden ? forbidden : first;
}

/// From where on a gap has no value.
std::optional<double> PhaseGuards::find_lost(double end) {
  const std::size_t gaps = view_.dynamics.num_gaps();
  if (gaps == 0) return {};
  const auto known = [&](double time) {
    make_state(time, false, gaps_move_);
    now_.assign(gaps, 0.0);
    return view_.dynamics.calc_guards(time, y_.data(), now_, {});
  };
  double low = view_.motion.step_begin;
  for (const double part : looked_at) {
    double high = part == 1.0 ? end : view_.motion.step_begin + part * (end - view_.motion.step_begin);
    if (known(high)) {
      low = high;
      continue;
    }
    for (double middle = 0.5 * (low + high); middle > low && middle < high; middle = 0.5 * (low + high))
      (known(middle) ? low : high) = middle;
    return high;
  }
  return {};
}

/// Of those from one number on up to another: all gaps, or all others.
std::optional<PhaseGuards::End> PhaseGuards::find_negative(std::size_t from, std::size_t to, double end) {
  if (from == to) return {};
  const bool of_gaps = from < view_.dynamics.num_gaps();
  const double begin = view_.motion.step_begin;
  std::vector<Looked> looked(begin_.begin() + static_cast<std::ptrdiff_t>(from),
                             begin_.begin() + static_cast<std::ptrdiff_t>(to));
  now_.assign(of_gaps ? to : begin_.size(), 0.0);
  const auto evaluate = [&](double time, bool held) {
    make_state(time, held, !of_gaps || gaps_move_);
    return view_.dynamics.calc_guards(time, y_.data(), now_, {});
  };
  bool known = true;
  std::array<std::vector<double>, looked_at.size()> at;
  for (std::size_t k = 0; k < at.size(); ++k) {
    known = evaluate(looked_at[k] == 1.0 ? end : begin + looked_at[k] * (end - begin), false) && known;
    at[k] = now_;
    for (std::size_t i = from; i < to; ++i) looked[i - from].take(now_[i]);
  }
  const std::vector<double>& at_end = at.back();
  for (std::size_t k = 0; k < at.size(); ++k)
    for (std::size_t i = from; i < to; ++i) looked[i - from].take_bend(looked_at[k], at[k][i], at_end[i]);
  NearGuards near{.from = begin, .to = end};
  std::vector<std::size_t> which;
  for (std::size_t i = from; i < to; ++i) {
    if (known && looked[i - from].is_far() && looked[i - from].low > noise_[i]) {
      clear_[i] = 1.0;
      continue;
    }
    which.push_back(i);
    near.begin.push_back(begin_[i]), near.floor.push_back(std::max(noise_[i], floor_[i]));
    near.clear.push_back(clear_[i] != 0.0);
  }
  if (which.empty()) return {};
  const auto fill = [&](double time, bool held, std::span<double> g) {
    const bool finite = evaluate(time, held);
    for (std::size_t k = 0; k < g.size(); ++k)
      g[k] = finite ? now_[which[k]] : std::numeric_limits<double>::quiet_NaN();
  };
  const auto roughly = [&](double time, std::span<double> g) { fill(time, false, g); };
  const auto exactly = [&](double time, std::span<double> g) { fill(time, true, g); };
  // Dense output is good enough to find the zero of a gap with; then it is moved to where that of the state on the
  // constraints is. Others are looked for once over the whole step, then in pieces: a guard that dips below zero and
  // returns must not be lost.
  std::optional<Root> first;
  if (NearGuards rough = near; of_gaps) first = find_end(rough, {1}, roughly);
  if (!of_gaps || (first && !polish(*first, near, roughly, exactly))) first = find_end(near, {1, 3}, exactly);
  if (first) return End{first->t, static_cast<int>(which[static_cast<std::size_t>(first->function)])};
  for (const std::size_t i : which) {
    if (end == view_.motion.t && at_end[i] > floor_[i]) floor_[i] = 0.0;
    if (looked[i - from].high > noise_[i]) clear_[i] = 1.0;
  }
  return {};
}

std::optional<PhaseGuards::End> PhaseGuards::find_forbidden(double end) {
  const int n = view_.dynamics.n();
  const double begin = view_.motion.step_begin;
  const auto goes_on = [&](double time) {
    make_state(time, true);
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
