// A smooth motion handed to somebody else, and taken back; and one whose parameters have been changed.

#include <fmt/format.h>

#include <algorithm>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/instant/accelerate.hpp"
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

std::optional<Stop> find_wrong_parameters(const System& system, const State& state) {
  const std::string when = fmt::format("at t = {}", short_number(state.t));
  const Evaluation now = system.evaluate(state);
  if (now.not_finite)
    return Stop{StopReason::not_finite, fmt::format("{}: {}", when, now.not_finite->message()), now.not_finite->place};
  for (const RowResidual& r : calc_residuals(system, state, now))
    if (r.scaled > start_tolerance)
      return Stop{StopReason::contradiction,
                  fmt::format("{} an input was changed, and constraint `{}` does not hold any more: it is off by {}",
                              when, system.row_name(r.row), number_text(r.value)),
                  system.row(r.row).place};
  return {};
}

void SmoothMotion::take_parameters() {
  if (over) return;
  std::vector<double>& y = step_.rk.y_new;
  dynamics_.take_parameters();
  State state = end_state();
  system->set_state_rates(state);
  const int n = dynamics_.n();
  for (int i = 0; i < n; ++i) y[n + i] = state.qd(i);
  if (auto wrong = find_wrong_parameters(*system, state)) return finish(wrong->reason, wrong->message, wrong->place);
  // Sides, rates and the first step are found as at a start.
  switches_.forget_next_sides();
  dynamics_.set_surfaces({});
  if (auto wrong = switches_.set_first_sides()) return finish(wrong->reason, wrong->message, wrong->place);
  if (!dynamics_.set_state_rates(t, y.data()) || !dynamics_.choose_rows(t, y.data()) ||
      !dynamics_.project(t, y.data()).ok || !dynamics_.rhs(t, y.data(), step_.rk.k[12].data()))
    return finish(StopReason::not_finite,
                  fmt::format("at t = {} an input was changed, and nothing can be evaluated", short_number(t)));
  go_on_from_here();
  // A mass that has changed has been given its energy.
  y[2 * n] += dynamics_.last_kinetic(y.data()) - ledger_.kinetic();
  events_inside_.begin(), guards_.begin();
  h_ = choose_first_step();
  stiff_hits_ = not_stiff_hits_ = 0;
  if (implicit_) restart_implicit();
}

}  // namespace mechanician
