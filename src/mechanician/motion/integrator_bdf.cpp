// Stiff motions: when the explicit method is held back by stability and not by accuracy, CVODE's BDF takes over.
//
// Stiff means that what is fastest in the motion dies away and cannot be seen: a mode that oscillates is to be followed, or
// is damped by a method that was not asked to. So before the method changes, the eigenvalue of J that is largest is looked at.
//
// A multistep method remembers past steps, so it begins afresh every so many steps in every run: there the motion can be
// taken up again with the same bits.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mechanician/base/text.hpp"
#include "mechanician/motion/dominant_eigenvalue.hpp"
#include "mechanician/motion/integrator_impl.hpp"
#include "mechanician/motion/step_control.hpp"

namespace mechanician {

namespace {
/// Stiff: h·|λ| is beyond the region of stability of DOP853 (Hairer & Wanner IV.2), or steps are as short as 1/|λ| allows
/// while the motion itself varies far more slowly.
constexpr double stability_edge = 6.1, worth_a_look = 0.25, stiffness_ratio = 50.0;
constexpr int hits_for_stiff = 15, misses_for_not = 6;
constexpr int steps_between_restarts = 2000;
/// Steps after which the implicit method must have shown that it is the cheaper one.
constexpr int steps_on_trial = 100;
/// BDF estimates the error of one step; its sum over a motion is larger than with the explicit method.
constexpr double tolerance_factor = 0.1;
/// λ of an oscillation that is gone after a period or so, e^(2πλ/|Im λ|): Re λ < −|Im λ|/3.
constexpr double least_damping = 1.0 / 3.0;
constexpr int products_for_eigenvalue = 40;
}  // namespace

AccelerationDerivatives* SmoothMotion::find_derivatives() {
  if (!derivatives_ && AccelerationDerivatives::are_known(dynamics_))
    derivatives_ = std::make_shared<AccelerationDerivatives>(dynamics_);
  return derivatives_.get();
}

bool SmoothMotion::decays_fast(double scale) {
  const int n = dynamics_.n();
  const auto size = static_cast<std::size_t>(2 * n);
  AccelerationDerivatives* const exact = find_derivatives();
  std::vector<double> here(step_.rk.y_new), rates(here.size()), moved(here.size()), rates_there(here.size());
  if (exact) exact->forget();
  if (exact ? !exact->linearise(t, std::span(here).first(size), {}) || !exact->factor(0.0)
            : !dynamics_.rhs(t, here.data(), rates.data()))
    return false;
  const auto multiply = [&](const std::vector<double>& x, std::vector<double>& to) {
    std::copy_n(x.begin() + n, n, to.begin());
    if (exact) return exact->apply(x.data(), x.data() + n, to.data() + n), true;
    double length = 0.0, largest = 1.0;
    for (std::size_t i = 0; i < size; ++i)
      length = std::max(length, std::abs(x[i])), largest = std::max(largest, std::abs(here[i]));
    const double small = 1e-7 * largest / length;
    for (std::size_t i = 0; i < size; ++i) moved[i] = here[i] + small * x[i];
    if (!dynamics_.rhs(t, moved.data(), rates_there.data())) return false;
    for (int i = 0; i < n; ++i) to[n + i] = (rates_there[n + i] - rates[n + i]) / small;
    return true;
  };
  const auto eigenvalue = find_dominant_eigenvalue(n, scale, products_for_eigenvalue, multiply);
  // The numbers that the step left behind.
  if (!dynamics_.rhs(t, here.data(), rates.data())) return false;
  return eigenvalue && eigenvalue->real() < -least_damping * std::abs(eigenvalue->imag());
}

void SmoothMotion::watch_stiffness(double h) {
  if (dynamics_.control_every()) return;  // steps end at samples
  if (options.method == Method::bdf || implicit_ || step_.held || crossings_.predictor.smallest() < 0.02) return;
  // What rests is not stiff, whatever its rounding does.
  if (dynamics_.facts().states.empty() && ledger_.kinetic() <= 1e-24 * ledger_.scale()) return;
  if (stiff_hits_ == 0) stiff_since_ = t, stiff_steps_ = statistics_.steps + statistics_.rejected;
  // Coordinates in units of what they weigh; what joins positions and velocities is a part of the run, not a unit of time.
  const int n = dynamics_.n();
  const double per_time = step_control::times_of_stiffness / (options.to - start.t);
  const std::span<double> weights = std::span(scale_).first(static_cast<std::size_t>(2 * n));
  for (int i = 0; i < n; ++i) weights[n + i] = 1.0 / dynamics_.sizes.unit(i), weights[i] = weights[n + i] * per_time;
  // States weigh nothing: one of its own size counts as much as the fastest coordinate.
  const double speed = dynamics_.sizes.reach.speed > 0.0 ? dynamics_.sizes.reach.speed : 1.0;
  for (const StateRow& z : dynamics_.facts().states) {
    const double size = dynamics_.sizes.of(static_cast<std::size_t>(z.coordinate), 0.0);
    weights[z.coordinate] = size > Reach::tiny ? speed / size : 0.0,
    weights[n + z.coordinate] = weights[z.coordinate] / per_time;
  }
  const double fast = step_.rk.calc_stiffness(h, weights, dynamics_.sizes.reach.speed);
  if (fast > stability_edge || (fast > worth_a_look && fast > stiffness_ratio * step_.rk.calc_variation(h, weights))) {
    not_stiff_hits_ = 0;
    if (++stiff_hits_ < hits_for_stiff) return;
    stiff_hits_ = 0;
    if (stiffness_noted_ || static_cast<double>(statistics_.steps) < stiff_pause_until_) return;
    if (!decays_fast(fast / h)) {
      stiff_pause_until_ = static_cast<double>(statistics_.steps) * 1.5 + 1000.0;
      return;
    }
    if (options.method == Method::dop853) {
      notes.push_back(
          fmt::format("from t = {} on the motion is stiff: method \"bdf\" or \"auto\" may be faster", short_number(t)));
      stiffness_noted_ = true;
      return;
    }
    explicit_rate_ = (t - stiff_since_) /
                     static_cast<double>(12 * std::max(1L, statistics_.steps + statistics_.rejected - stiff_steps_));
    explicit_step_ = h_;
    notes.push_back(fmt::format("the motion is stiff at t = {}: method changed from dop853 to bdf", short_number(t)));
    begin_implicit();
    on_trial_ = true;
  } else if (stiff_hits_ > 0 && ++not_stiff_hits_ >= misses_for_not) {
    stiff_hits_ = not_stiff_hits_ = 0;
  }
}

void SmoothMotion::begin_implicit() {
  implicit_ = restart_pending_ = true;
  on_trial_ = false;
}

bool SmoothMotion::make_whole(double time, std::span<const double> y) {
  std::copy(y.begin(), y.end(), whole_.begin());
  return step_.by_rates.empty() || dynamics_.set_state_rates(time, whole_.data());
}

void SmoothMotion::leave_out_rates(std::span<double> y) const {
  for (const int i : step_.by_rates) y[dynamics_.n() + i] = 0.0;
}

void SmoothMotion::restart_implicit() {
  const auto n = static_cast<std::size_t>(dynamics_.n());
  if (!step_.bdf) {
    BdfProblem problem;
    problem.size = dynamics_.size();
    problem.num_dynamic = static_cast<int>(2 * n);
    problem.num_positions = static_cast<int>(n);
    problem.depends_on_time = dynamics_.facts().depends_on_time;
    // States of first order by their rates alone: a rate beside its state, as velocities are beside positions, would bring every
    // rounding of the state back times what the fastest of them has per step.
    if (AccelerationDerivatives::are_states_free(dynamics_.facts()))
      for (const StateRow& z : dynamics_.facts().states) step_.by_rates.push_back(z.coordinate);
    problem.by_rates = step_.by_rates;
    whole_.assign(static_cast<std::size_t>(dynamics_.size()), 0.0), whole_rate_ = whole_;
    problem.rhs = [this](double time, std::span<const double> y, std::span<double> dy) {
      if (!make_whole(time, y) || !dynamics_.rhs(time, whole_.data(), whole_rate_.data())) {
        bad_.note(time, whole_.data(), dynamics_.n());
        return false;
      }
      std::copy(whole_rate_.begin(), whole_rate_.end(), dy.begin());
      leave_out_rates(dy);
      return bdf_call_ = dynamics_.calls, true;
    };
    if (dynamics_.num_constraints() > static_cast<int>(step_.by_rates.size()))
      problem.project = [this](double time, std::span<double> y) {
        if (!make_whole(time, y) || !dynamics_.project(time, whole_.data()).ok) return false;
        std::copy_n(whole_.begin(), y.size(), y.begin());
        leave_out_rates(y);
        return true;
      };
    // Of the begin of a step, where much may still be at zero: what it may come to counts.
    problem.typical = [this](std::span<const double> y, std::span<double> typical) {
      const auto k = static_cast<std::size_t>(dynamics_.n());
      const Sizes& sizes = dynamics_.sizes;
      const double soon = std::max(h_, 0.01 * (t - start.t));
      const double pace =
          std::max(sizes.reach.speed,
                   statistics_.steps == 0 ? soon * sizes.in_units(step_.rk.k[12].data() + k) : 1e-3 * sizes.reach.free);
      for (std::size_t i = 0; i < 2 * k; ++i) {
        const double size = std::abs(y[i]);
        typical[i] = i < k ? sizes.of_q(i, size, soon, pace) : sizes.of_qd(i - k, size, pace);
        if (!(typical[i] > Reach::tiny)) typical[i] = 1.0;  // where nothing moves, and no force acts
      }
    };
    problem.noise = [this](double time, std::span<const double> y, std::span<double> noise) {
      if (!make_whole(time, y)) return;
      dynamics_.calc_projection_noise(time, whole_.data(), tolerance_factor * options.tolerance, noise);
      leave_out_rates(noise);
    };
    if (find_derivatives()) derivatives_->take_states_by_rates();
    problem.newton = derivatives_;
    step_.bdf = std::make_unique<Bdf>(std::move(problem),
                                      BdfOptions{.tolerance = std::max(tolerance_factor * options.tolerance, 1e-14),
                                                 .largest_step = options.largest_step});
  }
  dynamics_.choose_rows(t, step_.rk.y_new.data());
  // What is in play; from rest, what soon will be.
  const double pace = dynamics_.sizes.reach.pace(dynamics_.sizes.in_units(step_.rk.k[12].data() + n));
  double energy = std::max(ledger_.in_play(), ledger_.kinetic());
  if (!(energy > Reach::tiny)) energy = pace * pace;
  std::vector<double> begin = step_.rk.y_new;
  leave_out_rates(begin);
  step_.bdf->start(t, begin, energy > Reach::tiny ? energy : 1.0);
  restart_pending_ = false;
  steps_since_restart_ = 0;
  trial_since_ = t, trial_evaluations_ = step_.bdf->statistics().evaluations;
  ++statistics_.restarts;
}

/// The last step has leapt over something: the motion goes on from where that begins, by steps that it takes.
bool SmoothMotion::go_back_to(const NarrowWatch::Place& place) {
  ++statistics_.rejected;
  narrow_step_ = std::min(4.0 * place.length, 0.5 * step_.h);
  restart_pending_ = true;
  t = place.from;
  if (t > step_begin) {
    step_.state_at(t, step_.rk.y_new.data(), nullptr);
    look_inside();
    watch();
    return true;
  }
  --statistics_.steps;
  step_.state_at(t, step_.rk.y_new.data(), nullptr);
  step_.clear(t);
  return advance_implicit();
}

bool SmoothMotion::advance_implicit() {
  if (restart_pending_) restart_implicit();
  if (step_.bdf->step(narrow_step_ > 0.0 ? std::min(options.to, t + narrow_step_) : options.to) ==
      Bdf::Outcome::failed) {
    fail_not_finite(t, step_.rk.y_new.data(), step_.bdf->reason());
    return false;
  }
  const BdfStatistics now = step_.bdf->statistics();
  statistics_.rejected += now.error_failures + now.convergence_failures + now.projection_failures -
                          bdf_before_.error_failures - bdf_before_.convergence_failures -
                          bdf_before_.projection_failures;
  statistics_.jacobians += now.jacobians - bdf_before_.jacobians;
  bdf_before_ = now;
  ++statistics_.steps, ++steps_since_restart_;
  error_ = 1.0, step_begin = t, t = std::min(step_.bdf->t(), options.to);
  step_.set(step_begin, t - step_begin, {.implicit = true});
  if (!make_whole(t, step_.bdf->y())) {
    fail_not_finite(t, step_.rk.y_new.data(), "the state cannot be evaluated");
    return false;
  }
  step_.rk.y_new = whole_;
  if (const auto place = narrow_.find()) return go_back_to(*place);
  if (narrow_step_ > 0.0) narrow_step_ = 2.0 * narrow_step_ < options.to - t ? 2.0 * narrow_step_ : 0.0;
  dynamics_.sizes.see(t - step_begin, step_.rk.y_new.data());

  if (switches_.any()) {
    double when = 0.0;
    if (const int which = switches_.find(when); which >= 0) {
      t = std::min(when, t);
      step_.state_at(t, step_.rk.y_new.data(), nullptr);
      look_inside();
      watch();
      if (!over) turn_side(which);
      restart_pending_ = true;
      return true;
    }
  }
  if (const auto rates = step_.bdf->rates(); !rates.empty() && bdf_call_ == dynamics_.calls) {
    step_.rk.k[12] = whole_rate_;  // known from the step itself
  } else if (!dynamics_.rhs(t, step_.rk.y_new.data(), step_.rk.k[12].data())) {
    fail_not_finite(t, step_.rk.y_new.data(), "the state cannot be evaluated");
    return true;
  }
  end_call_ = dynamics_.calls;
  if (poles_.find(bad_)) {
    step_.state_at(step_begin, step_.rk.y_new.data(), nullptr);
    t = step_begin, step_.h = 0.0;
    finish(StopReason::not_finite,
           fmt::format("at t = {}: the acceleration grows without bound: the divisor `{}` goes to zero",
                       short_number(bad_.t), poles_.divisor()));
    return false;
  }
  if (const auto contradiction = find_contradiction(t, step_.rk.y_new.data())) {
    finish(contradiction->reason, contradiction->message, contradiction->place);
    return true;
  }
  look_inside();
  watch();
  watch_progress();
  if (t >= options.to && !over) finish(StopReason::reached_end);
  if (on_trial_ && steps_since_restart_ == steps_on_trial && !over) {
    on_trial_ = false;
    const double rate = (t - trial_since_) / static_cast<double>(std::max(1L, now.evaluations - trial_evaluations_));
    if (rate < explicit_rate_) {
      notes.push_back(fmt::format("bdf is not faster here: back to dop853 at t = {}", short_number(t)));
      implicit_ = false;
      h_ = explicit_step_;
      stiff_pause_until_ = static_cast<double>(statistics_.steps) * 1.5 + 1000.0;
      dynamics_.choose_rows(t, step_.rk.y_new.data());
      dynamics_.rhs(t, step_.rk.y_new.data(), step_.rk.k[12].data());
    }
  }
  if (implicit_ && steps_since_restart_ >= steps_between_restarts) restart_pending_ = true;
  return true;
}

}  // namespace mechanician
