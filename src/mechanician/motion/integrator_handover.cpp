// A smooth motion handed to somebody else, and taken back.

#include <algorithm>
#include <limits>

#include "mechanician/motion/integrator_impl.hpp"

namespace mechanician {

bool SmoothMotion::can_hand_over() const {
  constexpr double far = 4.0, well_conditioned = 50.0;
  if (over || implicit_ || start_singular_ || !phase_.sliding.empty()) return false;
  if (dynamics_.condition() > well_conditioned || t - last_crossing_ < far * h_) return false;
  return roots_ahead_.empty() || step_t_ + roots_ahead_.front().tau - t > far * h_;
}

HandedMotion SmoothMotion::hand_over() const {
  const auto known = rk_.y_new.begin() + 2 * dynamics_.n() + 4;
  return {.t = t,
          .h = h_,
          .y = {rk_.y_new.begin(), known},
          .sides = next_sides_.empty() ? dynamics_.sides() : next_sides_,
          .events = event_sign_,
          .divisors = divisor_largest_,
          .kinetic_start = kinetic_start_,
          .kinetic = kinetic_,
          .energy_exchanged = energy_exchanged_,
          .balance_largest = balance_largest_,
          .balance_allowed = balance_allowed_,
          .violation = std::max(violation_.position, violation_.velocity),
          .distance = violation_.scaled,
          .acceleration_integral = acceleration_integral_,
          .steps = statistics_.steps,
          .progress_mark = progress_mark_,
          .most_progress = most_progress_};
}

void SmoothMotion::take_back(const HandedMotion& from) {
  t = from.t, h_ = from.h;
  std::copy(from.y.begin(), from.y.end(), rk_.y_new.begin());
  dynamics_.sides() = from.sides;
  next_sides_.clear();
  event_sign_ = from.events, divisor_largest_ = from.divisors;
  kinetic_start_ = from.kinetic_start, kinetic_ = from.kinetic, energy_exchanged_ = from.energy_exchanged;
  balance_largest_ = from.balance_largest, balance_allowed_ = from.balance_allowed;
  // Which of the two it was is not known where it has grown.
  if (from.violation > std::max(violation_.position, violation_.velocity))
    violation_.position = violation_.velocity = from.violation;
  violation_.scaled = from.distance;
  acceleration_integral_ = from.acceleration_integral;
  statistics_.steps = from.steps, progress_mark_ = from.progress_mark, most_progress_ = from.most_progress;
  // What was near is past: the other makes steps only where nothing is.
  std::fill(landing_floor_.begin(), landing_floor_.end(), 0.0);
  std::fill(guard_floor_.begin(), guard_floor_.end(), 0.0);
  stiff_hits_ = not_stiff_hits_ = sigma_guard_ = 0;
  roots_ahead_.clear();
  predictor_.forget();
  step_begin = step_t_ = t, step_h_ = 0.0;
  last_was_crossing_ = last_held_ = last_implicit_ = dense_made_ = false;
  const long evaluations = dynamics_.evaluations, projections = dynamics_.projections,
             robust = dynamics_.robust_evaluations;
  dynamics_.choose_rows(t, rk_.y_new.data());
  dynamics_.rhs(t, rk_.y_new.data(), rk_.k[12].data());
  energy_scale_ = dynamics_.last_energy_scale(rk_.y_new.data());
  dynamics_.calc_turn(t, rk_.y_new.data());
  condition_begin_ = 1.0 / dynamics_.condition();
  dynamics_.evaluations = evaluations, dynamics_.projections = projections, dynamics_.robust_evaluations = robust;
  if (t >= options.to && !over) finish(StopReason::reached_end);
}

}  // namespace mechanician
