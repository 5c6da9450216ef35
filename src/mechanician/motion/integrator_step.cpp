// One accepted step of the explicit method: plan, try, accept or reject.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanician/base/text.hpp"
#include "mechanician/motion/integrator_impl.hpp"
#include "mechanician/motion/step_control.hpp"

namespace mechanician {

namespace {

using step_control::eps;

/// Steps that end at the next point of a record each, before one over several is tried again.
constexpr int least_patience = 4, most_patience = 64;
/// The estimate of the error is made for smooth forces: where a third derivative jumps it has been seen to be too small by hundreds.
constexpr double doubt_over_points = 200.0;

}  // namespace

/// The motion ends where it is: the state is that of the last accepted step again, not of an attempt.
void SmoothMotion::stay() {
  step_.rk.y_new = step_.rk.y, step_.rk.k[12] = step_.rk.k[0];
  step_begin = t, step_.clear(t);
}

void SmoothMotion::fail_not_finite(double time, const double* y, const std::string& otherwise) {
  const int n = dynamics_.n();
  // A stage near by that had no value says more than the last state that had one.
  if (bad_.is_near(time, std::max(std::abs(time), options.to - start.t))) time = bad_.t, y = bad_.y.data();
  std::string at;
  for (int i = 0; i < std::min(n, 6); ++i)
    at += fmt::format(", {} = {}", dynamics_.values().coordinate_name(i), short_number(y[i]));
  if (n > 6) at += ", …";
  const State state{time, Eigen::Map<const Eigen::VectorXd>(y, n), Eigen::Map<const Eigen::VectorXd>(y + n, n)};
  const EquationValues::Verdict now = dynamics_.values().judge(state, false);
  if (!now.not_finite.empty())
    return finish(StopReason::not_finite, fmt::format("at t = {}{}: {}", short_number(time), at, now.not_finite),
                  now.place);
  const auto unmet = [&](const EquationValues::Verdict& v, double when) {
    if (v.status != SolveStatus::requirements_not_met) return false;
    finish(StopReason::contradiction, fmt::format("at t = {}{}: {}", short_number(when), at, v.why));
    return true;
  };
  if (unmet(now, time)) return;
  if (const SolveStatus status = now.status; status == SolveStatus::mass_indefinite ||
                                             status == SolveStatus::mass_not_symmetric ||
                                             status == SolveStatus::not_unique)
    return finish(StopReason::not_unique, fmt::format("at t = {}{}: {}", short_number(time), at, describe(status)));
  // Just beyond there may be the reason.
  const std::vector<double>& rate = step_.implicit ? step_.rk.k[12] : step_.rk.k[0];
  for (double tau = eps * std::max(std::abs(t), h_); tau < 1e-9 * std::max(std::abs(t), options.to - start.t);
       tau *= 4.0) {
    State later{t + tau, state.q, state.qd};
    for (int i = 0; i < n; ++i) later.q(i) += tau * rate[i], later.qd(i) += tau * rate[n + i];
    const EquationValues::Verdict there = dynamics_.values().judge(later, false);
    if (unmet(there, later.t)) return;
    if (!there.not_finite.empty())
      return finish(StopReason::not_finite, fmt::format("at t = {}{}: {}", short_number(later.t), at, there.not_finite),
                    there.place);
  }
  if (!poles_.divisor().empty() && bad_.is_near(t, std::max(std::abs(t), options.to - start.t)))
    return finish(StopReason::not_finite,
                  fmt::format("at t = {}{}: the acceleration grows without bound: the divisor `{}` goes to zero",
                              short_number(bad_.t), at, poles_.divisor()));
  finish(StopReason::step_too_small, fmt::format("at t = {}{}: {}", short_number(time), at, otherwise));
}

SmoothMotion::Attempt SmoothMotion::try_step(double h, const StepPlan& plan) {
  Attempt attempt;
  const int n = dynamics_.n(), count = 2 * n;
  const auto f = [&](double time, double* y, double* dy) {
    if (step_.calc_stage(plan.crossing || plan.hold_stages, time, y, dy)) return true;
    bad_.note(time, y, n);
    return false;
  };
  const bool preferred = dynamics_.prefer_robust;
  // The nearest stage is so near the singular state; where what elimination loses would be more than a thousandth of the
  // tolerance, it does not serve.
  const double nearest_sine = 0.2857 * crossings_.predictor.smallest();
  dynamics_.prefer_robust |=
      (plan.crossing || plan.hold_stages) && eps > 1e-3 * options.tolerance * nearest_sine * nearest_sine;
  attempt.robust = dynamics_.prefer_robust;
  const bool made = step_.rk.make_stages(f, t, h);
  dynamics_.prefer_robust = preferred;
  if (!made) return attempt;
  attempt.finite = true;
  step_.rk.calc_errors(h, count, e5_.data(), e3_.data());

  // What rounding alone puts into the estimate: of the state, and of the acceleration, magnified by its condition.
  const double tolerance = plan.crossing || plan.hold_stages ? std::max(options.tolerance, 1e-13) : options.tolerance;
  const Sizes& sizes = dynamics_.sizes;
  const double rate_q = sizes.in_units(step_.rk.k[0].data()), rate_qd = sizes.in_units(step_.rk.k[0].data() + n);
  const double speed = std::max(sizes.reach.speed, h * rate_qd), swift = sizes.reach.swiftness(h, rate_qd);
  const double rounding = step_control::velocity_noise(
      h, std::max(rate_qd, step_control::forces_round * sizes.reach.force), dynamics_.condition());
  // What has been at rest has only the speed that it gains in this step.
  const double gained = std::max(speed, sizes.in_units(step_.rk.y_new.data() + n));
  const double clock = std::min(h * clock_.calc(view_, h, rate_sample_), 1e3 * tolerance * gained);
  const double noise_q = step_control::position_noise(h, rate_q, plan.crossing ? 0.0 : rounding) + h * clock,
               noise_qd = (plan.crossing ? 0.0 : rounding) + clock;
  for (int i = 0; i < count; ++i) {
    const int at = i;
    const double size = std::max(std::abs(step_.rk.y[at]), std::abs(step_.rk.y_new[at]));
    if (i < n)
      step_control::make_scale(tolerance, sizes.of_q(i, size, h, speed), size,
                               sizes.is_state(i) ? 0.0 : noise_q * sizes.unit(i), scale_[at]);
    else
      step_control::make_scale(tolerance, sizes.of_qd(i - n, size, swift), size,
                               sizes.is_state(i - n) ? 0.0 : noise_qd * sizes.unit(i - n), scale_[at]);
  }
  const auto norm = [&](const std::vector<double>& five, const std::vector<double>& three) {
    double s5 = 0.0, s3 = 0.0;
    for (int i = 0; i < count; ++i) {
      const int at = i;
      s5 = std::max(s5, std::abs(five[at]) / scale_[at]);
      s3 = std::max(s3, std::abs(three[at]) / scale_[at]);
    }
    return step_control::error_norm(s5, s3);
  };
  attempt.error = norm(e5_, e3_);
  if (!std::isfinite(attempt.error)) attempt.finite = false;
  if (plan.hold_stages && !plan.crossing && attempt.finite && attempt.error > 1.0) {
    // What is normal to the constraints is removed by the projection that follows.
    y_sample_ = step_.rk.y_new;
    if (!dynamics_.project(t + h, y_sample_.data(), {.most_iterations = 4}).ok) return attempt;
    const double raw = attempt.error;
    for (std::vector<double>* e : {&e5_, &e3_})
      for (const int part : {0, n})
        if (!dynamics_.project_tangent(t + h, y_sample_.data(), e->data() + part)) return attempt;
    attempt.error = std::max(norm(e5_, e3_), 0.3 * raw);
  }
  if (!plan.crossing || !attempt.finite) return attempt;

  // A crossing: the end is brought onto the constraints first; a jump there means that the branch was lost.
  std::vector<double>& y = y_sample_;
  y = step_.rk.y_new;
  const auto moved = dynamics_.project(t + h, y.data(), {.most_iterations = 12});
  const double fast = std::max(sizes.in_units(step_.rk.y.data() + n), sizes.in_units(y.data() + n));
  double jump_q = 0.0, jump_qd = 0.0;
  for (int i = 0; i < n; ++i) {
    if (sizes.is_state(i)) continue;
    jump_q = std::max(jump_q, std::abs(y[i] - step_.rk.y_new[i]) / sizes.unit(i));
    jump_qd = std::max(jump_qd, std::abs(y[n + i] - step_.rk.y_new[n + i]) / sizes.unit(i));
  }
  attempt.branch_lost = !moved.ok || (!plan.turning && (jump_qd > 0.05 * fast || jump_q > 0.1 * h * fast));
  if (attempt.branch_lost) return attempt;
  // The part of the error that the projection does not remove.
  const double raw = attempt.error;
  for (std::vector<double>* e : {&e5_, &e3_})
    for (const int part : {0, n})
      if (!dynamics_.project_tangent(t + h, y.data(), e->data() + part)) return attempt;
  const double sigma = crossings_.predictor.smallest(), rate = sigma / std::max(plan.at, eps * h),
               nearest = 0.2857 * sigma, noise = eps * h * rate * rate / (nearest * nearest * nearest) / tolerance;
  attempt.error = std::max(norm(e5_, e3_), raw > noise ? 0.3 * raw : 0.0);
  if (attempt.error >= 1.0 && attempt.error < noise && jump_qd < 1e-3 * fast) {
    attempt.error = 0.99;
    attempt.noise_limited = true;
  }
  return attempt;
}

bool SmoothMotion::finish_step(double h) {
  if (!dynamics_.project(t + h, step_.rk.y_new.data()).ok) return false;
  if (!dynamics_.choose_rows(t + h, step_.rk.y_new.data())) return false;
  if (!dynamics_.hold_on_surfaces(t + h, step_.rk.y_new.data())) return false;
  const bool ok = dynamics_.rhs(t + h, step_.rk.y_new.data(), step_.rk.k[12].data());
  end_call_ = dynamics_.calls;
  return ok;
}

double SmoothMotion::next_sample() const {
  const std::optional<double> every = dynamics_.control_every();
  if (!every) return std::numeric_limits<double>::infinity();
  return samples_from_ + (std::floor((t - samples_from_) / *every + 1e-6) + 1.0) * *every;
}

bool SmoothMotion::is_sample_due() const {
  const std::optional<double> every = dynamics_.control_every();
  if (!every) return false;
  const double passed = (t - samples_from_) / *every;
  return dynamics_.held_control.front() == 0.0 || std::abs(passed - std::round(passed)) <= 1e-7;
}

HeldControl SmoothMotion::held_control() const {
  HeldControl held{samples_from_, {}};
  if (dynamics_.control_every() && !is_sample_due())
    held.efforts.assign(dynamics_.held_control.begin() + 1, dynamics_.held_control.end());
  return held;
}

bool SmoothMotion::misses_requirement(const State& state) {
  std::vector<double> y(static_cast<std::size_t>(dynamics_.size()), 0.0), rate(y.size());
  std::copy(state.q.begin(), state.q.end(), y.begin());
  std::copy(state.qd.begin(), state.qd.end(), y.begin() + dynamics_.n());
  const long evaluations = dynamics_.evaluations, robust = dynamics_.robust_evaluations;
  const bool known = dynamics_.rhs_by_factors(state.t, y.data(), rate.data());
  dynamics_.evaluations = evaluations, dynamics_.robust_evaluations = robust;
  return !known || dynamics_.misses_requirement();
}

bool SmoothMotion::advance() {
  if (over) return false;
  if (!stop_requested.empty()) {
    finish(StopReason::callback, stop_requested);
    return false;
  }
  if (t >= options.to) {
    finish(StopReason::reached_end);
    return false;
  }
  if (events_inside_.has_pending() && !events_inside_.report_pending()) return false;
  switches_.take_next_sides();
  if (is_sample_due()) {
    bool known = false;
    if (phase_.take_sample) {
      const std::optional<std::vector<double>> efforts = phase_.take_sample(end_state());
      if (!efforts) {
        may_not_go_on = true;
        finish(StopReason::reached_end);
        return false;
      }
      dynamics_.hold_control(*efforts);
      known = true;
    } else {
      known = dynamics_.sample_control(t, step_.rk.y_new.data());
    }
    if (!known || !dynamics_.rhs(t, step_.rk.y_new.data(), step_.rk.k[12].data())) {
      fail_not_finite(t, step_.rk.y_new.data(), "control has no force at this sample");
      return false;
    }
  }
  if (implicit_) return advance_implicit();
  return advance_explicit();
}

bool SmoothMotion::advance_explicit() {
  if (start_singular_) {
    start_singular_ = false;
    return start_on_singular();
  }
  step_.rk.y = step_.rk.y_new;
  step_.rk.k[0] = step_.rk.k[12];
  // What depends on the time may happen while nothing else does, and events are looked for on samples of a step.
  double largest = (options.to - start.t) / step_control::least_steps_anyway;
  if (phase_.largest_step > 0.0) largest = std::max(largest, phase_.largest_step);
  if (options.largest_step > 0.0) largest = std::min(largest, options.largest_step);
  if (dynamics_.facts().depends_on_time || guards_.any() || events_inside_.any())
    largest = std::min(
        largest, phase_.largest_step > 0.0 ? phase_.largest_step : (options.to - start.t) / step_control::least_steps);
  h_ = std::min(h_, largest / 1.02);  // a crossing step may be 2 % longer
  bool rejected = false;
  double landing = 0.0;   // a step of this length ends where a switch turns
  double not_held = 0.0;  // error of the attempt before, whose stages were not held where those of this one are
  double narrow_step = 0.0, narrow_from = 0.0;
  int turning_switch = -1;
  for (int tries = 0; tries < 500; ++tries) {
    const double remaining = std::min(options.to, next_sample()) - t;
    // The step planned: not beyond the end, but across a singular state.
    // Where it is known when something switches, the step ends there.
    const SwitchWatch::Clock clock = landing > 0.0 ? SwitchWatch::Clock() : switches_.find_clock(1.02 * h_);
    double reach = clock.which >= 0 ? clock.when - t : h_;
    // Over points of a spline its third derivative jumps: from one to the next, where steps over them have failed.
    const double to_point = landing > 0.0 ? std::numeric_limits<double>::infinity() : switches_.find_point() - t;
    const bool to_next = points_left_ > 0 && to_point < reach;
    if (to_next) reach = to_point;
    StepPlan plan{.h = std::min(reach, remaining)};
    if (landing > 0.0) {
      plan.h = landing;
    } else if (!dynamics_.rows_of_sines().empty()) {
      plan = crossings_.plan(reach, remaining);
    }
    const bool by_clock = clock.which >= 0 && !to_next && plan.h == reach && !plan.crossing;
    const bool over_points = plan.h > to_point * (1.0 + 1e-9) && !plan.crossing;
    const bool near = crossings_.is_near(h_);
    plan.hold_stages = near && t < hold_.until;
    const double h = (t + plan.h) - t;  // exactly representable: stages and end agree on the time
    if (!(h > 0.0) || (landing == 0.0 && h < remaining && step_control::is_nothing(h, t, options.to - start.t))) {
      if (tries <= 400 && switches_.pass_end_of_branch(bad_)) {
        h_ = choose_first_step();
        continue;
      }
      stay();
      fail_not_finite(t, step_.rk.y.data(),
                      dynamics_.condition() > 1e6
                          ? "the step size has come down to nothing near a singular configuration of the constraints: "
                            "there may be no motion beyond"
                          : "the step size has come down to nothing: the motion has a singularity there, or the "
                            "tolerance cannot be met");
      return false;
    }
    Attempt attempt = try_step(h, plan);
    if (over_points) attempt.error *= doubt_over_points;
    const bool good = attempt.finite && !attempt.branch_lost && attempt.error <= 1.0;
    if (!good || !finish_step(h)) {
      ++statistics_.rejected;
      rejected = true;
      landing = 0.0, turning_switch = -1;
      dynamics_.choose_rows(t, step_.rk.y.data());
      // Again with stages held on the constraints.
      if (attempt.finite && !plan.crossing && near && !plan.hold_stages && hold_.may_help(t, h)) {
        hold_.until = t + 12.0 * h_ + (std::isfinite(crossings_.to_next()) ? 2.0 * crossings_.to_next() : 0.0);
        not_held = attempt.error;
        continue;
      }
      if (plan.hold_stages && attempt.finite) hold_.learn(t, h, not_held, attempt.error);
      not_held = 0.0;
      const double factor = !attempt.finite || attempt.branch_lost ? step_control::without_value
                            : good                                 ? step_control::without_end
                                                                   : step_control::shrinkage(attempt.error);
      h_ = h * factor;
      if (good || (plan.crossing && !attempt.branch_lost)) h_ = std::min(h_, 0.5 * h);
      // Two points are not worth it.
      if (over_points && h_ < 3.0 * to_point) points_left_ = patience_ = std::min(2 * patience_, most_patience);
      continue;
    }
    // A singular value that fell steeply without having been foreseen: look again with a shorter step.
    if (!plan.crossing && landing == 0.0 && dynamics_.rows_of_sines().size() > 1 && tries < 20 &&
        1.0 / dynamics_.condition() < 0.02 * std::min(condition_begin_, 1.0) && sigma_guard_ < 6) {
      ++sigma_guard_;
      ++statistics_.rejected;
      h_ = 0.6 * h, rejected = true;
      dynamics_.choose_rows(t, step_.rk.y.data());
      continue;
    }
    // Dropped rows do not steer the step size: where they begin to contradict is found by halving.
    if (const auto contradiction = find_contradiction(t + h, step_.rk.y_new.data())) {
      if (h < 1e-6 * (options.to - start.t)) {
        stay();
        finish(contradiction->reason, contradiction->message, contradiction->place);
        return false;
      }
      h_ = 0.5 * h, rejected = true, landing = 0.0, turning_switch = -1;
      ++statistics_.rejected;
      dynamics_.choose_rows(t, step_.rk.y.data());
      continue;
    }
    const bool held = plan.crossing || plan.hold_stages;
    step_.set(t, h, {.crossing = plan.crossing, .held = held, .robust = attempt.robust});
    // A step must not leap over a place where the acceleration is infinite.
    if (!plan.crossing && poles_.find(bad_)) {
      rejected = true;
      ++statistics_.rejected;
      h_ = 0.25 * h, landing = 0.0, turning_switch = -1;
      dynamics_.choose_rows(t, step_.rk.y.data());
      continue;
    }
    // Branches that only come near each other, or a gap without a motion: not to be leapt over.
    if (plan.crossing && !plan.turning && !crossings_.is_true(plan)) {
      crossings_.note_near_miss(plan);
      rejected = true;
      ++statistics_.rejected;
      h_ = 0.25 * plan.at;
      dynamics_.choose_rows(t, step_.rk.y.data());
      continue;
    }
    // Where an expression switches inside the step, the step is made again to end there.
    if (switches_.any() && turning_switch < 0) {
      double when = 0.0;
      const int which = switches_.find(when);
      const bool at_end = by_clock && which == clock.which && t + h - when < 1e-9 * h;
      if (which >= 0 && when - t < h && !at_end) {
        landing = std::max(when, std::nextafter(t, options.to)) - t, turning_switch = which;
        dynamics_.choose_rows(t, step_.rk.y.data());
        continue;
      }
      if (which >= 0 || by_clock) turning_switch = which >= 0 ? which : clock.which;
    }
    // What is narrow is not to be leapt over: a step to where it begins, then others that it takes.
    if (!plan.crossing) {
      if (const auto place = narrow_.find()) {
        rejected = true;
        ++statistics_.rejected;
        narrow_step = 4.0 * place->length, narrow_from = place->from;
        h_ = std::min(std::max(place->from - t, narrow_step), 0.9 * h), landing = 0.0, turning_switch = -1;
        dynamics_.choose_rows(t, step_.rk.y.data());
        continue;
      }
    }
    const double grown = step_control::grown(h, h_, attempt.error, rejected);
    if (over_points)
      patience_ = least_patience;
    else if (to_next)
      --points_left_;
    h_ = landing > 0.0 || by_clock || to_next
             ? std::max({grown, std::min(std::max(h_, grown), 100.0 * h), 1e-4 * std::max(h_, grown)})
             : step_control::next_step(h, h_, grown);
    if (to_next && points_left_ == 0) h_ = std::min(h_, 4.0 * h);  // over a few again
    if (narrow_step > 0.0 && t + h >= narrow_from) h_ = std::min(h_, narrow_step);
    sigma_guard_ = 0;
    if (plan.hold_stages) hold_.learn(t, h, not_held, attempt.error);
    accept(h, plan, attempt);
    if (turning_switch >= 0) turn_side(turning_switch);
    return true;
  }
  stay();
  finish(StopReason::step_too_small, fmt::format("at t = {}: no step was accepted in 500 attempts", short_number(t)));
  return false;
}

void SmoothMotion::watch_progress() {
  double moved = 0.0;
  if (progress_.goes_on(statistics_.steps, t, options.to, moved)) return;
  finish(StopReason::step_too_small,
         fmt::format("at t = {}: {} steps have moved the time by {} only: the motion has a singularity there, or "
                     "accelerations are rounding",
                     short_number(t), Progress::steps, short_number(moved)));
}

void SmoothMotion::accept(double h, const StepPlan& plan, const Attempt& attempt) {
  error_ = attempt.error;
  ++statistics_.steps;
  dynamics_.sizes.see(h, step_.rk.y_new.data());
  step_begin = t;
  t = step_control::end_of(step_.t + h, h, options.to);
  condition_begin_ = 1.0 / dynamics_.condition();
  watch_progress();
  if (plan.crossing) crossings_.report(plan, attempt.noise_limited);
  look_inside();
  dynamics_.hold_slip_directions(t, step_.rk.y_new.data());
  watch();
  if (t >= options.to && !over) finish(StopReason::reached_end);
  if (!over) watch_stiffness(h);
}

/// What happens inside the step, which may end the motion there.
void SmoothMotion::look_inside() {
  crossings_.find_passed();
  if (const auto tip = crossings_.find_tip()) {
    t = tip->time;
    std::erase_if(events, [&](const MotionEvent& e) { return e.time > t; });
    finish(
        StopReason::not_unique,
        fmt::format("at t = {} the velocities that constraint `{}` is about come to rest, where its gradient vanishes: "
                    "the motion can go on in more than one way",
                    short_number(t), dynamics_.values().row_name(tip->row)),
        dynamics_.facts().rows[static_cast<std::size_t>(tip->row)].place);
  }
  if (!step_.implicit && dynamics_.has_growing_rows()) {
    dynamics_.set_row_sizes(t, step_.rk.y_new.data());
    dynamics_.choose_rows(t, step_.rk.y_new.data());
  }
  if (guards_.any())
    if (const auto end = guards_.find()) {
      t = end->t, guard = end->guard, may_not_go_on = end->guard < 0;
      std::erase_if(events, [&](const MotionEvent& e) { return e.time > t; });
      finish(StopReason::callback);
    }
  if (events_inside_.any()) events_inside_.find();
  settle_end();
}

bool SmoothMotion::turn_side(int which) {
  if (over) return ++statistics_.switches, true;
  const auto trouble = switches_.turn(which, h_);
  if (!trouble && switches_.ends_phase()) {
    switches_.forget_next_sides();
    beyond = switches_.beyond();
    finish(StopReason::callback);
    return false;
  }
  if (!trouble) return true;
  // Contacts can begin or end where surfaces break.
  if (trouble->reason == StopReason::contradiction && guards_.any()) {
    broken = true, beyond = switches_.beyond();
    finish(StopReason::callback, trouble->message);
    return false;
  }
  if (trouble->reason == StopReason::not_finite)
    fail_not_finite(t, step_.rk.y_new.data(), trouble->message);
  else
    finish(trouble->reason, trouble->message);
  return false;
}

/// The state at t, where the motion ends inside the step; and the numbers of the last rhs() are those of t again, where
/// looking for events has used it.
void SmoothMotion::settle_end() {
  const bool inside = t < step_.end();
  if (!inside && dynamics_.calls == end_call_) return;
  const long evaluations = dynamics_.evaluations;
  if (inside) {
    step_.state_at(t, y_sample_.data(), nullptr);
    std::vector<double> kept = y_sample_;
    if (!dynamics_.project(t, y_sample_.data()).ok) y_sample_ = kept;
    step_.rk.y_new = y_sample_;
  }
  dynamics_.rhs(t, step_.rk.y_new.data(), step_.rk.k[12].data());
  dynamics_.evaluations = evaluations, ++dynamics_.projections;
}

/// The state at a time inside the last step, on the constraints, in y_sample_. True: near a singular one, where its rate is that of the
/// step, in rate_sample_.
bool SmoothMotion::place(double time) {
  std::vector<double>& y = y_sample_;
  if (statistics_.steps == 0) {
    y = step_.rk.y_new;
    return false;
  }
  const bool near_singular = !step_.implicit && crossings_.is_near_last(time);
  step_.state_at(time, y.data(), near_singular ? rate_sample_.data() : nullptr);
  if (!crossings_.is_on_last(time) && (step_.implicit || time != step_.end())) {
    placed_before_ = y;
    if (!dynamics_.project(time, y.data()).ok) y = placed_before_;
  }
  return near_singular;
}

const double* SmoothMotion::state_at(double time) {
  place(std::clamp(time, step_begin, t));
  return y_sample_.data();
}

Sample SmoothMotion::sample(double time) {
  const int n = dynamics_.n();
  time = std::clamp(time, step_begin, t);
  std::vector<double>& y = y_sample_;
  const bool near_singular = place(time);
  const auto full = dynamics_.calc_sample(time, y.data(), near_singular ? rate_sample_.data() + n : nullptr);
  if (full) return *full;
  // A row without numbers is said, once.
  const std::string_view unknown_row = "accelerations and forces could not be found at";
  if (!refusal && std::none_of(doubts.begin(), doubts.end(), [&](const auto& x) { return x.starts_with(unknown_row); }))
    doubts.push_back(fmt::format("{} t = {}", unknown_row, short_number(time)));
  return without_forces(time, y.data());
}

std::span<const double> SmoothMotion::sample_later(double time) {
  time = std::clamp(time, step_begin, t);
  if (!dynamics_.has_plain_samples()) return {};
  const long projections = dynamics_.projections;
  if (!place(time) && dynamics_.finds_sample_later(time, y_sample_.data())) return y_sample_;
  dynamics_.projections = projections;  // sample() counts its own
  return {};
}

Sample SmoothMotion::complete_sample(double time, std::span<const double> y) {
  const std::optional<Sample> full = dynamics_.complete_sample(time, y.data());
  return full ? *full : without_forces(time, y.data());
}

Sample SmoothMotion::without_forces(double time, const double* y) const {
  const int n = dynamics_.n();
  Sample bare;
  bare.t = time;
  bare.q = Eigen::Map<const Eigen::VectorXd>(y, n), bare.qd = Eigen::Map<const Eigen::VectorXd>(y + n, n);
  const auto unknown = [](Eigen::Index size) {
    return Eigen::VectorXd::Constant(size, std::numeric_limits<double>::quiet_NaN());
  };
  bare.qdd = bare.Qc = bare.Qc_i = bare.Qc_ni = bare.Q_control = unknown(n);
  bare.lambda = bare.multipliers = bare.power = unknown(dynamics_.num_constraints());
  bare.tau = unknown(dynamics_.num_actuators());
  bare.error = unknown(dynamics_.facts().m - dynamics_.num_constraints());
  bare.outputs = unknown(dynamics_.facts().num_outputs);
  bare.works.constraints = unknown(dynamics_.num_constraints());
  bare.works.actuators = unknown(dynamics_.num_actuators());
  return bare;
}

}  // namespace mechanician
