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

void SmoothMotion::find_guard() {
  const auto count = static_cast<std::size_t>(dynamics_.num_guards());
  const double end = t;
  const auto make_state = [&](double time) {
    state_at(time, y_sample_.data(), nullptr);
    if (!last_held_ && time != step_t_ + step_h_) dynamics_.project(time, y_sample_.data(), {.most_iterations = 3});
  };
  const auto evaluate = [&](double time, std::span<double> g) {
    make_state(time);
    if (!dynamics_.calc_guards(time, y_sample_.data(), g, {}))
      std::fill(g.begin(), g.end(), std::numeric_limits<double>::quiet_NaN());
  };
  if (count > 0) {
    make_state(step_begin);
    dynamics_.calc_guards(step_begin, y_sample_.data(), guard_begin_, guard_noise_);
    std::vector<double> low = guard_begin_, high = guard_begin_, now(count);
    for (const double part : {0.31, 0.65, 1.0}) {
      evaluate(part == 1.0 ? end : step_begin + part * (end - step_begin), now);
      for (std::size_t i = 0; i < count; ++i) low[i] = std::min(low[i], now[i]), high[i] = std::max(high[i], now[i]);
    }
    // Far from zero for the little that they change: most steps end here.
    bool far = true;
    for (std::size_t i = 0; i < count; ++i) far &= low[i] > 3.0 * (high[i] - low[i]) && low[i] > guard_noise_[i];
    if (far) {
      std::fill(guard_clear_.begin(), guard_clear_.end(), 1.0);
    } else {
      for (std::size_t i = 0; i < count; ++i) guard_noise_[i] = std::max(guard_noise_[i], guard_floor_[i]);
      // Where one begins at zero its sign is rounding for a while: the search begins where it has one.
      double from_time = step_begin;
      std::vector<bool> unsigned_yet(count);
      for (std::size_t i = 0; i < count; ++i) unsigned_yet[i] = std::abs(guard_begin_[i]) <= guard_noise_[i];
      const auto any_unsigned = [&] {
        return std::find(unsigned_yet.begin(), unsigned_yet.end(), true) != unsigned_yet.end();
      };
      if (any_unsigned()) {
        const std::vector<double> at_begin = guard_begin_;
        const double least = 4.0 * std::numeric_limits<double>::epsilon() * std::max(std::abs(end), end - step_begin);
        for (double tau = std::max(1e-12 * (end - step_begin), least); tau < end - step_begin && any_unsigned();
             tau *= 2.0) {
          evaluate(step_begin + tau, now);
          bool any_down = false, again = false;
          for (std::size_t i = 0; i < count; ++i)
            if (now[i] < -guard_noise_[i]) any_down = true, again |= guard_clear_[i] != 0.0;
          // One that comes down to zero where the step before has ended does so there, not where that begins to show.
          if (again) from_time = step_begin, guard_begin_ = at_begin;
          if (any_down) break;  // between the last time and this one
          for (std::size_t i = 0; i < count; ++i) unsigned_yet[i] = unsigned_yet[i] && !(now[i] > guard_noise_[i]);
          from_time = step_begin + tau;
          guard_begin_ = now;
        }
      }
      for (double& g : guard_begin_) g = std::max(std::abs(g), std::numeric_limits<double>::min());
      RootFinder finder(static_cast<int>(count));
      std::optional<Root> first;
      double until = end;
      // Once over the whole step, then in pieces: a guard that dips below zero and returns must not be lost.
      for (const int pieces : {1, 3}) {
        std::vector<double> side = guard_begin_;
        for (int k = 0; k < pieces; ++k) {
          const double from = from_time + (until - from_time) * k / pieces;
          const double to = k + 1 == pieces ? until : from_time + (until - from_time) * (k + 1) / pieces;
          if (!(to > from)) continue;
          const std::vector<double> begin = side;
          const auto root = finder.find_first({.t0 = from, .t1 = to, .begin = begin, .floor = guard_noise_}, evaluate);
          if (root && root->direction < 0) {
            first = root;
            until = root->t;
            break;
          }
          side.assign(finder.end().begin(), finder.end().end());
        }
      }
      if (first) {
        guard = first->function;
        t = first->t;
      } else {
        evaluate(end, now);
        for (std::size_t i = 0; i < count; ++i) {
          if (now[i] > guard_floor_[i]) guard_floor_[i] = 0.0;
          if (high[i] > guard_noise_[i]) guard_clear_[i] = 1.0;
        }
      }
    }
  }
  if (phase_.may_go_on) {
    const int n = dynamics_.n();
    const auto goes_on = [&](double time) {
      make_state(time);
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
