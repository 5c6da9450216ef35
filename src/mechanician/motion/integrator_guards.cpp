// The end of a phase: the first time at which one of its guards turns negative.

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanician/motion/integrator_impl.hpp"

namespace mechanician {

State SmoothMotion::end_state() const {
  const int n = dynamics_.n();
  return {t, Eigen::Map<const Eigen::VectorXd>(rk_.y_new.data(), n),
          Eigen::Map<const Eigen::VectorXd>(rk_.y_new.data() + n, n)};
}

void SmoothMotion::begin_guards() {
  const auto count = static_cast<std::size_t>(dynamics_.num_guards());
  for (auto* x : {&guard_begin_, &guard_floor_, &guard_noise_, &guard_clear_}) x->assign(count, 0.0);
  if (count == 0) return;
  const long evaluations = dynamics_.evaluations, projections = dynamics_.projections;
  dynamics_.calc_guards(t, rk_.y_new.data(), guard_begin_, {});
  // A contact that has just opened, a multiplier that begins at zero: what rounding leaves below zero there is no end.
  for (std::size_t i = 0; i < count; ++i)
    if (guard_begin_[i] < 0.0) guard_floor_[i] = 4.0 * std::abs(guard_begin_[i]);
  dynamics_.evaluations = evaluations, dynamics_.projections = projections;
}

namespace {

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

/// Moves a zero of functions that were known roughly to where it is, by secants. False: it is not near.
bool polish(Root& root, const NearGuards& near, RootFunctions evaluate) {
  const double step = near.to - near.from, tick = 2.0 * std::numeric_limits<double>::epsilon() * std::abs(root.t);
  std::vector<double> values(near.begin.size());
  const auto at = [&](double time) {
    evaluate(time, values);
    return values[static_cast<std::size_t>(root.function)];
  };
  double before = std::max(near.from, root.t - 1e-4 * step), now = root.t;
  if (!(now - before > 1e3 * tick)) return false;
  double g_before = at(before), g_now = at(now), last = std::numeric_limits<double>::infinity();
  for (int k = 0; k < 8; ++k) {
    const double slope = (g_now - g_before) / (now - before);
    if (!(slope < 0.0)) return false;
    const double next = now - g_now / slope, change = std::abs(next - now);
    if (!(std::abs(next - root.t) < 1e-2 * step) || !(next > near.from && next <= near.to)) return false;
    // Corrections that do not shrink are rounding.
    if (change <= tick || (change < 1e-9 * step && change > 0.5 * last)) {
      root.t = change <= tick ? next : now;
      return true;
    }
    before = now, g_before = g_now, now = next, last = change;
    g_now = at(now);
  }
  return false;
}

}  // namespace

void SmoothMotion::find_guard() {
  const auto count = static_cast<std::size_t>(dynamics_.num_guards());
  const std::size_t gaps = phase_.guards.gaps.size();
  const double end = t;
  const auto make_state = [&](double time, bool held) {
    state_at(time, y_sample_.data(), nullptr);
    if (held && !last_held_ && time != step_t_ && time != step_t_ + step_h_)
      dynamics_.project(time, y_sample_.data(), {.most_iterations = 3});
  };
  if (count > 0) {
    make_state(step_begin, true);
    dynamics_.calc_guards(step_begin, y_sample_.data(), guard_begin_, guard_noise_);
    // Gaps are functions of positions alone and need no forces. These are looked at for as long as no gap closes.
    for (const auto& [from, to] : {std::pair(std::size_t{0}, gaps), std::pair(gaps, count)}) {
      const bool of_gaps = from < gaps;
      std::vector<double> now(of_gaps ? gaps : count), low = guard_begin_, high = guard_begin_;
      const auto evaluate = [&](double time, bool held) {
        make_state(time, held);
        return dynamics_.calc_guards(time, y_sample_.data(), now, {});
      };
      bool known = true;
      for (const double part : {0.31, 0.65, 1.0}) {
        if (from == to) break;
        known = evaluate(part == 1.0 ? t : step_begin + part * (t - step_begin), false) && known;
        for (std::size_t i = from; i < to; ++i) low[i] = std::min(low[i], now[i]), high[i] = std::max(high[i], now[i]);
      }
      const std::vector<double> at_end = now;
      // Far from zero for the little that they change: most are, in most steps.
      NearGuards near{.from = step_begin, .to = t};
      std::vector<std::size_t> which;
      for (std::size_t i = from; i < to; ++i) {
        if (known && low[i] > 3.0 * (high[i] - low[i]) && low[i] > guard_noise_[i]) {
          guard_clear_[i] = 1.0;
          continue;
        }
        which.push_back(i);
        near.begin.push_back(guard_begin_[i]), near.floor.push_back(std::max(guard_noise_[i], guard_floor_[i]));
        near.clear.push_back(guard_clear_[i] != 0.0);
      }
      if (which.empty()) continue;
      const auto fill = [&](double time, bool held, std::span<double> g) {
        const bool finite = evaluate(time, held);
        for (std::size_t k = 0; k < g.size(); ++k)
          g[k] = finite ? now[which[k]] : std::numeric_limits<double>::quiet_NaN();
      };
      const auto roughly = [&](double time, std::span<double> g) { fill(time, false, g); };
      const auto exactly = [&](double time, std::span<double> g) { fill(time, true, g); };
      // Dense output is good enough to find the zero of a gap with; then it is moved to where that of the state on the
      // constraints is. Others are looked for once over the whole step, then in pieces: a guard that dips below zero and
      // returns must not be lost.
      std::optional<Root> first;
      if (NearGuards rough = near; of_gaps) first = find_end(rough, {1}, roughly);
      if (!of_gaps || (first && !polish(*first, near, exactly))) first = find_end(near, {1, 3}, exactly);
      if (first) {
        guard = static_cast<int>(which[static_cast<std::size_t>(first->function)]);
        t = first->t;
        continue;
      }
      for (const std::size_t i : which) {
        if (t == end && at_end[i] > guard_floor_[i]) guard_floor_[i] = 0.0;
        if (high[i] > guard_noise_[i]) guard_clear_[i] = 1.0;
      }
    }
  }
  if (phase_.may_go_on) {
    const int n = dynamics_.n();
    const auto goes_on = [&](double time) {
      make_state(time, true);
      return phase_.may_go_on({time, Eigen::Map<const Eigen::VectorXd>(y_sample_.data(), n),
                               Eigen::Map<const Eigen::VectorXd>(y_sample_.data() + n, n)});
    };
    for (const double part : {0.5, 1.0}) {
      double high = step_begin + part * (t - step_begin);
      if (goes_on(high)) continue;
      double low = part == 1.0 ? 0.5 * (step_begin + t) : step_begin;
      while (high - low > 1e-12 * std::max(std::abs(high), t - step_begin)) {
        const double middle = 0.5 * (low + high);
        if (middle <= low || middle >= high) break;
        (goes_on(middle) ? low : high) = middle;
      }
      t = high, guard = -1, may_not_go_on = true;
      break;
    }
  }
  if (guard < 0 && !may_not_go_on) return;
  std::erase_if(events, [&](const MotionEvent& e) { return e.time > t; });
  finish(StopReason::callback);
}

}  // namespace mechanician
