// A smooth motion handed to somebody else, and taken back.

#include <algorithm>

#include "mechanician/motion/integrator_impl.hpp"

namespace mechanician {

State SmoothMotion::end_state() const {
  const int n = dynamics_.n();
  const double* const y = step_.rk.y_new.data();
  return {t, Eigen::Map<const Eigen::VectorXd>(y, n), Eigen::Map<const Eigen::VectorXd>(y + n, n)};
}

bool SmoothMotion::can_hand_over() const {
  constexpr double well_conditioned = 50.0;
  if (over || implicit_ || switches_.slides() || start_singular_ || !phase_.sliding.empty() || ledger_.is_doubtful())
    return false;
  return dynamics_.condition() <= well_conditioned && crossings_.is_clear(h_);
}

HandedMotion SmoothMotion::hand_over() const {
  const auto known = step_.rk.y_new.begin() + 2 * dynamics_.n() + 4;
  return {.t = t,
          .h = h_,
          .y = {step_.rk.y_new.begin(), known},
          .sizes = dynamics_.sizes,
          .sides = switches_.sides(),
          .events = events_inside_.sign,
          .divisors = poles_.largest,
          .ledger = ledger_,
          .violation = std::max(violation_.position, violation_.velocity),
          .distance = violation_.scaled,
          .acceleration_integral = poles_.acceleration_integral,
          .steps = statistics_.steps,
          .progress = progress_};
}

void SmoothMotion::take_back(const HandedMotion& from) {
  t = from.t, h_ = from.h;
  std::copy(from.y.begin(), from.y.end(), step_.rk.y_new.begin());
  dynamics_.sizes = from.sizes;
  switches_.forget_next_sides();
  dynamics_.sides() = from.sides;
  events_inside_.sign = from.events, poles_.largest = from.divisors;
  ledger_ = from.ledger;
  // Which of the two it was is not known where it has grown.
  if (from.violation > std::max(violation_.position, violation_.velocity))
    violation_.position = violation_.velocity = from.violation;
  violation_.scaled = from.distance;
  poles_.acceleration_integral = from.acceleration_integral;
  statistics_.steps = from.steps, progress_ = from.progress;
  // What was near is past: the other makes steps only where nothing is.
  switches_.set_clear(), guards_.set_clear(), crossings_.forget();
  stiff_hits_ = not_stiff_hits_ = sigma_guard_ = points_left_ = 0, patience_ = 4;
  go_on_from_here();
  condition_begin_ = 1.0 / dynamics_.condition();
}

}  // namespace mechanician
