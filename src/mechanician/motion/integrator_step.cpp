// One accepted step of the explicit method: plan, try, accept or reject.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanician/base/text.hpp"
#include "mechanician/motion/integrator_impl.hpp"

namespace mechanician {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
/// A motion that makes less than this part of its best progress in so many steps will not get much further.
constexpr long steps_of_progress = 20000;
constexpr double least_progress = 1e-4;

constexpr double least_steps = 100.0;

constexpr double safety = 0.9, most_growth = 10.0, least_growth = 0.2;

}  // namespace

void SmoothMotion::finish(StopReason reason, std::string message) {
  over = true;
  stop = {reason, std::move(message), {}};
}

void SmoothMotion::fail(StopReason reason, std::string message, Place place) {
  over = true;
  stop = {reason, std::move(message), place};
}

/// The motion ends where it is: the state is that of the last accepted step again, not of an attempt.
void SmoothMotion::stay() {
  rk_.y_new = rk_.y, rk_.k[12] = rk_.k[0];
  step_begin = step_t_ = t, step_h_ = 0.0;
  dense_made_ = last_was_crossing_ = last_held_ = false;
}

void SmoothMotion::fail_not_finite(double time, const double* y, const std::string& otherwise) {
  const int n = dynamics_.n();
  // A stage near by that had no value says more than the last state that had one.
  if (std::abs(bad_t_ - time) <= 1e-6 * std::max(std::abs(time), options.to - start.t))
    time = bad_t_, y = bad_y_.data();
  std::string at;
  for (int i = 0; i < std::min(n, 6); ++i)
    at += fmt::format(", {} = {}", dynamics_.values().coordinate_name(i), short_number(y[i]));
  if (n > 6) at += ", …";
  const State state{time, Eigen::Map<const Eigen::VectorXd>(y, n), Eigen::Map<const Eigen::VectorXd>(y + n, n)};
  const EquationValues::Verdict now = dynamics_.values().judge(state, false);
  if (!now.not_finite.empty())
    return fail(StopReason::not_finite, fmt::format("at t = {}{}: {}", short_number(time), at, now.not_finite),
                now.place);
  if (const SolveStatus status = now.status; status == SolveStatus::mass_indefinite ||
                                             status == SolveStatus::mass_not_symmetric ||
                                             status == SolveStatus::not_unique)
    return fail(StopReason::not_unique, fmt::format("at t = {}{}: {}", short_number(time), at, describe(status)));
  // Just beyond there may be the reason.
  const std::vector<double>& rate = last_implicit_ ? rk_.k[12] : rk_.k[0];
  for (double tau = eps * std::max(std::abs(t), h_); tau < 1e-9 * std::max(std::abs(t), options.to - start.t);
       tau *= 4.0) {
    State beyond{t + tau, state.q, state.qd};
    for (int i = 0; i < n; ++i) beyond.q(i) += tau * rate[i], beyond.qd(i) += tau * rate[n + i];
    const EquationValues::Verdict there = dynamics_.values().judge(beyond, false);
    if (!there.not_finite.empty())
      return fail(StopReason::not_finite, fmt::format("at t = {}{}: {}", short_number(beyond.t), at, there.not_finite),
                  there.place);
  }
  if (!pole_.empty() && std::abs(bad_t_ - t) <= 1e-6 * std::max(std::abs(t), options.to - start.t))
    return fail(StopReason::not_finite,
                fmt::format("at t = {}{}: the acceleration grows without bound: the divisor `{}` goes to zero",
                            short_number(bad_t_), at, pole_));
  fail(StopReason::step_too_small, fmt::format("at t = {}{}: {}", short_number(time), at, otherwise));
}

/// Far from t = 0 the rounding of t itself is in the forces: by how much it changes an acceleration.
double SmoothMotion::calc_clock_noise(double h) {
  const double ulp = eps * std::abs(t);
  if (ulp < 1e-12 * h || clock_noise_t_ == t) return clock_noise_t_ == t ? clock_noise_ : 0.0;
  clock_noise_ = 0.0, clock_noise_t_ = t, clock_power_ = 0.0;
  const int n = dynamics_.n();
  if (!dynamics_.rhs(t + 64.0 * ulp, rk_.y.data(), rate_sample_.data())) return 0.0;
  for (int i = n; i < 2 * n; ++i) clock_noise_ = std::max(clock_noise_, std::abs(rate_sample_[i] - rk_.k[0][i]) / 32.0);
  for (int i = 2 * n; i < 2 * n + 4; ++i) clock_power_ += std::abs(rate_sample_[i] - rk_.k[0][i]) / 32.0;
  if (clock_noise_ * h > options.tolerance && !clock_noted_) {
    clock_noted_ = true;
    notes.push_back(
        fmt::format("t = {} is so far from zero that its rounding limits the accuracy: let the time begin near zero",
                    short_number(t)));
  }
  return clock_noise_;
}

SmoothMotion::Attempt SmoothMotion::try_step(double h, const StepPlan& plan) {
  Attempt attempt;
  const int n = dynamics_.n(), count = 2 * n;
  // Near a singular state the acceleration is only as good as the state is on the constraints: there, and only there,
  // every stage is projected first.
  const double stage_error = 1e-4 * options.tolerance;
  const auto f = [&](double time, double* y, double* dy) {
    if (plan.crossing || plan.hold_stages
            ? dynamics_.rhs_held(time, y, dy, {.most_iterations = 4, .enough = stage_error})
            : dynamics_.rhs(time, y, dy))
      return true;
    bad_t_ = time;
    bad_y_.assign(y, y + 2 * n);
    return false;
  };
  const bool preferred = dynamics_.prefer_robust;
  // The nearest stage is so near the singular state; where what elimination loses would be more than a thousandth of the
  // tolerance, it does not serve.
  const double nearest_sine = 0.2857 * predictor_.smallest();
  dynamics_.prefer_robust |=
      (plan.crossing || plan.hold_stages) && eps > 1e-3 * options.tolerance * nearest_sine * nearest_sine;
  attempt.robust = dynamics_.prefer_robust;
  const bool made = rk_.make_stages(f, t, h);
  dynamics_.prefer_robust = preferred;
  if (!made) return attempt;
  attempt.finite = true;
  rk_.calc_errors(h, count, e5_.data(), e3_.data());

  // What rounding alone puts into the estimate: of the state, and of the acceleration, magnified by its condition.
  const double tolerance = plan.crossing || plan.hold_stages ? std::max(options.tolerance, 1e-13) : options.tolerance;
  double rate_q = 0.0, rate_qd = 0.0;
  for (int i = 0; i < n; ++i) {
    rate_q = std::max(rate_q, std::abs(rk_.k[0][i]));
    rate_qd = std::max(rate_qd, std::abs(rk_.k[0][n + i]));
  }
  const double noise_qd = (plan.crossing ? 0.0 : 2.0 * eps * std::min(dynamics_.condition(), 1e10) * h * rate_qd) +
                          std::min(h * calc_clock_noise(h), 1e3 * tolerance);
  for (int i = 0; i < count; ++i) {
    const int at = i;
    const double size = std::max(std::abs(rk_.y[at]), std::abs(rk_.y_new[at]));
    scale_[at] = tolerance * std::max(1.0, size) + 2.0 * eps * size + (i < n ? eps * h * rate_q : noise_qd);
  }
  const auto norm = [&](const std::vector<double>& five, const std::vector<double>& three) {
    double s5 = 0.0, s3 = 0.0;
    for (int i = 0; i < count; ++i) {
      const int at = i;
      s5 = std::max(s5, std::abs(five[at]) / scale_[at]);
      s3 = std::max(s3, std::abs(three[at]) / scale_[at]);
    }
    if (s5 == 0.0) return 0.0;
    return s5 / std::sqrt(1.0 + 0.01 * (s3 / s5) * (s3 / s5));
  };
  attempt.error = norm(e5_, e3_);
  if (!std::isfinite(attempt.error)) attempt.finite = false;
  if (plan.hold_stages && !plan.crossing && attempt.finite && attempt.error > 1.0) {
    // What is normal to the constraints is removed by the projection that follows.
    y_sample_ = rk_.y_new;
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
  y = rk_.y_new;
  const auto moved = dynamics_.project(t + h, y.data(), {.most_iterations = 12});
  double speed = 0.0, jump_q = 0.0, jump_qd = 0.0;
  for (int i = 0; i < n; ++i) {
    const auto q = static_cast<std::size_t>(i), v = static_cast<std::size_t>(n + i);
    speed = std::max({speed, std::abs(rk_.y[v]), std::abs(y[v])});
    jump_q = std::max(jump_q, std::abs(y[q] - rk_.y_new[q]));
    jump_qd = std::max(jump_qd, std::abs(y[v] - rk_.y_new[v]));
  }
  attempt.branch_lost = !moved.ok || (!plan.turning && (jump_qd > 0.05 * speed || jump_q > 0.1 * h * speed));
  if (attempt.branch_lost) return attempt;
  // The part of the error that the projection does not remove.
  const double raw = attempt.error;
  for (std::vector<double>* e : {&e5_, &e3_})
    for (const int part : {0, n})
      if (!dynamics_.project_tangent(t + h, y.data(), e->data() + part)) return attempt;
  const double sigma = predictor_.smallest(), rate = sigma / std::max(plan.at, eps * h), nearest = 0.2857 * sigma,
               noise = eps * h * rate * rate / (nearest * nearest * nearest) / tolerance;
  attempt.error = std::max(norm(e5_, e3_), raw > noise ? 0.3 * raw : 0.0);
  if (attempt.error >= 1.0 && attempt.error < noise && jump_qd < 1e-3 * speed) {
    attempt.error = 0.99;
    attempt.noise_limited = true;
  }
  return attempt;
}

bool SmoothMotion::finish_step(double h) {
  if (!dynamics_.project(t + h, rk_.y_new.data()).ok) return false;
  if (!dynamics_.choose_rows(t + h, rk_.y_new.data())) return false;
  const bool ok = dynamics_.rhs(t + h, rk_.y_new.data(), rk_.k[12].data());
  end_call_ = dynamics_.calls;
  return ok;
}

bool SmoothMotion::make_dense() {
  if (dense_made_) return true;
  const bool hold = last_held_;
  const auto f = [&](double time, double* y, double* dy) {
    return hold ? dynamics_.rhs_held(time, y, dy, {.most_iterations = 4, .enough = 1e-4 * options.tolerance})
                : dynamics_.rhs(time, y, dy);
  };
  const bool preferred = dynamics_.prefer_robust;
  dynamics_.prefer_robust |= hold && last_robust_;
  const long robust = dynamics_.robust_evaluations;
  dense_made_ = rk_.make_dense(f, step_t_, step_h_);
  dynamics_.robust_evaluations = robust;  // whoever asks for samples
  dynamics_.prefer_robust = preferred;
  return dense_made_;
}

void SmoothMotion::rough_state(double theta, double* y) {
  if (last_implicit_) return state_at(step_t_ + theta * step_h_, y, nullptr);
  const double s = 1.0 - theta, h0 = (1.0 + 2.0 * theta) * s * s, h1 = theta * theta * (3.0 - 2.0 * theta),
               g0 = step_h_ * theta * s * s, g1 = -step_h_ * theta * theta * s;
  for (int i = 0; i < 2 * dynamics_.n(); ++i)
    y[i] = h0 * rk_.y[i] + h1 * rk_.y_new[i] + g0 * rk_.k[0][i] + g1 * rk_.k[12][i];
}

bool SmoothMotion::find_pole() {
  const std::size_t count = static_cast<std::size_t>(dynamics_.facts().num_divisors);
  if (count == 0 || !(step_h_ > 0.0)) return false;
  const int n = dynamics_.n();
  const auto state = [&](double theta) { rough_state(theta, y_sample_.data()); };
  const auto divisor = [&](std::size_t i, double theta) {
    state(theta);
    dynamics_.calc_divisors(step_t_ + theta * step_h_, y_sample_.data(), divisor_middle_);
    return divisor_middle_[i];
  };
  constexpr int pieces = 4;
  constexpr double small = 0.2, none = 1e-6, unbounded = 1e3;
  pole_values_.resize(count * (pieces + 1));
  for (int k = 0; k <= pieces; ++k) {
    state(static_cast<double>(k) / pieces);
    dynamics_.calc_divisors(step_t_ + step_h_ * k / pieces, y_sample_.data(), {pole_values_.data() + k * count, count});
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = [&](int k) { return pole_values_[k * count + i]; };
    double largest = 0.0;
    for (int k = 0; k <= pieces; ++k) largest = std::max(largest, std::abs(value(k)));
    divisor_largest_[i] = std::max(divisor_largest_[i], largest);
    for (int k = 0; k <= pieces; ++k) {
      double low = static_cast<double>(k) / pieces, high = static_cast<double>(k + 1) / pieces, place = 0.0;
      const double here = std::abs(value(k));
      if (k < pieces && value(k) * value(k + 1) < 0.0) {
        for (int round = 0; round < 60; ++round) {
          place = 0.5 * (low + high);
          (divisor(i, place) * value(k) > 0.0 ? low : high) = place;
        }
      } else if (here < small * largest &&
                 (k > 0 ? here < std::abs(value(k - 1)) : std::abs(divisor(i, 1e-3)) < here) &&
                 (k < pieces ? here < std::abs(value(k + 1)) : std::abs(divisor(i, 1.0 - 1e-3)) < here)) {
        // A minimum, inside or between the ends and the samples next to them.
        low = std::max(0.0, static_cast<double>(k - 1) / pieces), high = std::min(1.0, high);
        for (int round = 0; round < 60; ++round) {
          const double a = low + (high - low) / 3.0, b = high - (high - low) / 3.0;
          (std::abs(divisor(i, a)) < std::abs(divisor(i, b)) ? high : low) =
              std::abs(divisor(i, a)) < std::abs(divisor(i, b)) ? b : a;
        }
        place = 0.5 * (low + high);
        if (std::abs(divisor(i, place)) > none * largest) continue;
      } else {
        continue;
      }
      // sin(x)/x has a zero below the line and no pole: what counts is that the acceleration has no bound, beside the
      // zero or on the way to it.
      double at_end = 0.0, beside = std::numeric_limits<double>::infinity();
      for (int j = n; j < 2 * n; ++j)
        at_end = std::max({at_end, std::abs(rk_.k[12][j]), last_implicit_ ? 0.0 : std::abs(rk_.k[0][j])});
      for (const double away : {-1e-5, 1e-5}) {
        state(place + away);
        if (!dynamics_.rhs(step_t_ + (place + away) * step_h_, y_sample_.data(), rate_sample_.data())) continue;
        double size = 0.0;
        for (int j = n; j < 2 * n; ++j) size = std::max(size, std::abs(rate_sample_[j]));
        beside = std::min(beside, size);
      }
      const bool on_the_way = std::min(std::abs(value(0)), std::abs(value(pieces))) <= none * divisor_largest_[i] &&
                              at_end * (step_t_ - start.t) >= unbounded * acceleration_integral_;
      if (beside <= unbounded * at_end && !on_the_way) continue;
      state(place);
      bad_t_ = step_t_ + place * step_h_;
      bad_y_.assign(y_sample_.begin(), y_sample_.begin() + 2 * n);
      pole_ = dynamics_.values().divisor_text(static_cast<int>(i));
      return true;
    }
  }
  return false;
}

void SmoothMotion::state_at(double time, double* y, double* rate) {
  if (last_implicit_) {
    bdf_->interpolate(time, {y, static_cast<std::size_t>(dynamics_.size())});
    if (rate) bdf_->interpolate_rate(time, {rate, static_cast<std::size_t>(dynamics_.size())});
    return;
  }
  if (time == step_t_ + step_h_ && !rate) {
    std::copy(rk_.y_new.begin(), rk_.y_new.end(), y);
    return;
  }
  make_dense();
  rk_.sample((time - step_t_) / step_h_, y, rate);
  if (rate)
    for (int i = 0; i < dynamics_.size(); ++i) rate[i] /= step_h_;
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
  take_next_sides();
  if (implicit_) return advance_implicit();
  return advance_explicit();
}

bool SmoothMotion::advance_explicit() {
  const int n = dynamics_.n();
  if (start_singular_) {
    start_singular_ = false;
    return start_on_singular();
  }
  rk_.y = rk_.y_new;
  rk_.k[0] = rk_.k[12];
  // What depends on the time may happen while nothing else does, and events are looked for on samples of a step.
  double largest = options.largest_step > 0.0 ? options.largest_step : std::numeric_limits<double>::infinity();
  if (dynamics_.facts().depends_on_time || has_guards() || !dynamics_.facts().events.empty())
    largest = std::min(largest, phase_.largest_step > 0.0 ? phase_.largest_step : (options.to - start.t) / least_steps);
  h_ = std::min(h_, largest / 1.02);  // a crossing step may be 2 % longer
  bool rejected = false;
  double landing = 0.0;   // a step of this length ends where a switch turns
  double not_held = 0.0;  // error of the attempt before, whose stages were not held where those of this one are
  int turning_switch = -1;
  for (int tries = 0; tries < 500; ++tries) {
    const double remaining = options.to - t;
    // The step planned: not beyond the end, but across a singular state.
    StepPlan plan{.h = std::min(h_, remaining)};
    if (landing > 0.0) {
      plan.h = landing;
    } else if (!dynamics_.rows_of_sines().empty()) {
      roots_ahead_ = predictor_.predict(t, rk_.y.data(), rk_.k[0].data() + n, h_);
      std::erase_if(roots_ahead_, [&](const SingularRoot& root) { return t + root.tau < no_crossing_before_; });
      plan = plan_step(roots_ahead_, h_, remaining);
      if (!plan.crossing) plan.h = std::min(plan.h, remaining);
    }
    // A singular state within reach, ahead or behind: see the rejection below.
    const double to_singular =
        !roots_ahead_.empty() ? roots_ahead_.front().tau : std::numeric_limits<double>::infinity();
    const bool near = (to_singular < 12.0 * h_ && predictor_.smallest() < 0.35) || t - last_crossing_ < 12.0 * h_;
    plan.hold_stages = near && t < hold_until_;
    const double h = (t + plan.h) - t;  // exactly representable: stages and end agree on the time
    if (!(h > 0.0) ||
        (landing == 0.0 && h < remaining && h < 4.0 * eps * std::max(std::abs(t), (options.to - start.t) * 1e-6))) {
      if (pass_guard(tries)) continue;
      stay();
      fail_not_finite(t, rk_.y.data(),
                      dynamics_.condition() > 1e6
                          ? "the step size has come down to nothing near a singular configuration of the constraints: "
                            "there may be no motion beyond"
                          : "the step size has come down to nothing: the motion has a singularity there, or the "
                            "tolerance cannot be met");
      return false;
    }
    Attempt attempt = try_step(h, plan);
    const bool good = attempt.finite && !attempt.branch_lost && attempt.error <= 1.0;
    if (!good || !finish_step(h)) {
      ++statistics_.rejected;
      rejected = true;
      landing = 0.0, turning_switch = -1;
      dynamics_.choose_rows(t, rk_.y.data());
      // Steps that shrink towards a singular state (or from one) do so because stages leave the constraints, where the
      // acceleration is singular though the motion is not: try again with stages held on the constraints.
      if (attempt.finite && !plan.crossing && near && !plan.hold_stages &&
          !(t < in_vain_until_ && h > 0.5 * in_vain_step_)) {
        hold_until_ = t + 12.0 * h_ + (std::isfinite(to_singular) ? 2.0 * to_singular : 0.0);
        not_held = attempt.error;
        continue;
      }
      if (plan.hold_stages && attempt.finite) see_whether_holding_helps(h, not_held, attempt.error);
      not_held = 0.0;
      const double factor = !attempt.finite || attempt.branch_lost ? 0.25
                            : good                                 ? 0.5
                                   : std::max(least_growth, safety * std::pow(attempt.error, -1.0 / 8.0));
      h_ = h * factor;
      if (good || (plan.crossing && !attempt.branch_lost)) h_ = std::min(h_, 0.5 * h);
      continue;
    }
    // A singular value that fell steeply without having been foreseen: look again with a shorter step.
    if (!plan.crossing && landing == 0.0 && dynamics_.rows_of_sines().size() > 1 && tries < 20 &&
        1.0 / dynamics_.condition() < 0.02 * std::min(condition_begin_, 1.0) && sigma_guard_ < 6) {
      ++sigma_guard_;
      ++statistics_.rejected;
      h_ = 0.6 * h, rejected = true;
      dynamics_.choose_rows(t, rk_.y.data());
      continue;
    }
    // Dropped rows do not steer the step size: where they begin to contradict is found by halving.
    if (const auto contradiction = find_contradiction(t + h, rk_.y_new.data())) {
      if (h < 1e-6 * (options.to - start.t)) {
        stay();
        fail(contradiction->reason, contradiction->message, contradiction->place);
        return false;
      }
      h_ = 0.5 * h, rejected = true, landing = 0.0, turning_switch = -1;
      ++statistics_.rejected;
      dynamics_.choose_rows(t, rk_.y.data());
      continue;
    }
    step_t_ = t, step_h_ = h, dense_made_ = false, last_was_crossing_ = plan.crossing;
    last_held_ = plan.crossing || plan.hold_stages;
    last_robust_ = attempt.robust;
    last_implicit_ = false;
    // A step must not leap over a place where the acceleration is infinite.
    if (!plan.crossing && find_pole()) {
      rejected = true;
      ++statistics_.rejected;
      h_ = 0.25 * h, landing = 0.0, turning_switch = -1;
      dynamics_.choose_rows(t, rk_.y.data());
      continue;
    }
    // Branches that only come near each other, or a gap without a motion: not to be leapt over.
    if (plan.crossing && !plan.turning && !is_true_crossing(h, plan)) {
      no_crossing_before_ = t + 1.5 * plan.at;
      rejected = true;
      ++statistics_.rejected;
      h_ = 0.25 * plan.at;
      dynamics_.choose_rows(t, rk_.y.data());
      continue;
    }
    // Where an expression switches inside the step, the step is made again to end there.
    if (!dynamics_.switches().empty() && turning_switch < 0) {
      double when = 0.0;
      const int which = find_switch(h, when);
      if (which >= 0 && when - t < h) {
        landing = std::max(when, std::nextafter(t, options.to)) - t, turning_switch = which;
        dynamics_.choose_rows(t, rk_.y.data());
        continue;
      }
      if (which >= 0) turning_switch = which;
    }
    const double factor = attempt.error == 0.0
                              ? most_growth
                              : std::clamp(safety * std::pow(attempt.error, -1.0 / 8.0), least_growth, most_growth);
    // After a rejection the next step is not longer than this one was meant to be.
    const double grown = rejected ? std::min(std::max(h, h_), h * factor) : h * factor;
    // A step that was cut for a landing, a crossing or the end says little about the next one.
    h_ = landing > 0.0 || h < 0.5 * h_ ? std::max(h_, grown) : grown;
    if (landing > 0.0) h_ = std::max({grown, std::min(h_, 100.0 * h), 1e-4 * h_});
    sigma_guard_ = 0;
    if (plan.hold_stages) see_whether_holding_helps(h, not_held, attempt.error);
    accept(h, plan, attempt);
    if (turning_switch >= 0) return turn_side(turning_switch) || true;
    return true;
  }
  stay();
  fail(StopReason::step_too_small, fmt::format("at t = {}: no step was accepted in 500 attempts", short_number(t)));
  return false;
}

/// A step with stages that are held costs as much as three others: where it is not much more exact, it is as well to make
/// shorter ones.
void SmoothMotion::see_whether_holding_helps(double h, double error_before, double error) {
  constexpr double much = 0.1, first_pause = 4.0, longest_pause = 256.0;
  if (error_before == 0.0) return;
  if (!(error > much * error_before)) {
    in_vain_pause_ = 0.0;
    return;
  }
  in_vain_pause_ = std::clamp(4.0 * in_vain_pause_, first_pause, longest_pause);
  in_vain_until_ = t + in_vain_pause_ * h, in_vain_step_ = h;
  hold_until_ = -std::numeric_limits<double>::infinity();
}

/// A branch that ends where its guard switches, as in if(t < 1, sqrt(1 - t), 0): steps come ever nearer and find nothing
/// beyond. Within rounding of the switch its side is turned.
bool SmoothMotion::pass_guard(int tries) {
  if (dynamics_.switches().empty() || guard_passed_t_ == t || !(std::abs(bad_t_ - t) < 1e-6 * (options.to - start.t)) ||
      tries > 400)
    return false;
  guard_passed_t_ = t;
  const std::size_t count = dynamics_.switches().size();
  std::vector<double> here(count), there(count);
  y_sample_.assign(rk_.y.begin(), rk_.y.end());
  std::copy(bad_y_.begin(), bad_y_.end(), y_sample_.begin());
  dynamics_.calc_switch_noise(t, rk_.y.data(), g_noise_);
  dynamics_.calc_switches(t, rk_.y.data(), here);
  dynamics_.calc_switches(bad_t_, y_sample_.data(), there);
  bool turned = false;
  for (std::size_t i = 0; i < count; ++i) {
    double& side = dynamics_.sides()[i];
    if (!(std::abs(here[i]) <= 1e4 * g_noise_[i]) || side * there[i] > 0.0) continue;
    side = -side, turned = true;
    ++statistics_.switches;
  }
  if (!turned || !dynamics_.choose_rows(t, rk_.y.data()) || !dynamics_.rhs(t, rk_.y.data(), rk_.k[0].data()))
    return false;
  rk_.y_new = rk_.y, rk_.k[12] = rk_.k[0];
  h_ = choose_first_step();
  return true;
}

void SmoothMotion::accept(double h, const StepPlan& plan, const Attempt& attempt) {
  ++statistics_.steps;
  step_begin = t;
  last_implicit_ = false;
  const double end = step_t_ + h;
  t = end >= options.to ? options.to : end;
  if (std::abs(t - options.to) <= 4.0 * eps * std::max(std::abs(t), h)) t = options.to;
  condition_begin_ = 1.0 / dynamics_.condition();
  if (statistics_.steps % steps_of_progress == 0) {
    most_progress_ = std::max(most_progress_, t - progress_mark_);
    if (t - progress_mark_ < least_progress * most_progress_ && t < options.to)
      fail(StopReason::step_too_small,
           fmt::format("at t = {}: {} steps have moved the time by {} only: the motion has a singularity there",
                       short_number(t), steps_of_progress, short_number(t - progress_mark_)));
    progress_mark_ = t;
  }
  if (plan.crossing) last_crossing_ = step_t_ + plan.at;
  if (plan.crossing) report_crossings(h, plan, attempt.noise_limited);
  find_passed_crossings();
  if (dynamics_.has_growing_rows()) {
    dynamics_.set_row_sizes(t, rk_.y_new.data());
    dynamics_.choose_rows(t, rk_.y_new.data());
  }
  if (has_guards()) find_guard();
  if (!dynamics_.facts().events.empty()) find_user_events();
  settle_end();
  dynamics_.hold_slip_directions(t, rk_.y_new.data());
  watch();
  if (t >= options.to && !over) finish(StopReason::reached_end);
  if (!over) watch_stiffness(h);
}

/// The state at t, where the motion ends inside the step; and the numbers of the last rhs() are those of t again, where
/// looking for events has used it.
void SmoothMotion::settle_end() {
  const bool inside = t < step_t_ + step_h_;
  if (!inside && dynamics_.calls == end_call_) return;
  const long evaluations = dynamics_.evaluations;
  if (inside) {
    state_at(t, y_sample_.data(), nullptr);
    std::vector<double> kept = y_sample_;
    if (!dynamics_.project(t, y_sample_.data()).ok) y_sample_ = kept;
    rk_.y_new = y_sample_;
  }
  dynamics_.rhs(t, rk_.y_new.data(), rk_.k[12].data());
  dynamics_.evaluations = evaluations, ++dynamics_.projections;
}

Sample SmoothMotion::sample(double time) {
  const int n = dynamics_.n();
  time = std::clamp(time, step_begin, t);
  std::vector<double>& y = y_sample_;
  const bool multistep = last_implicit_, inside = !multistep && statistics_.steps > 0;
  bool near_singular = false;
  if (statistics_.steps == 0) {
    y = rk_.y_new;
  } else {
    near_singular = inside && last_was_crossing_ && std::abs(time - crossing_time_) < crossing_reach_;
    state_at(time, y.data(), near_singular ? rate_sample_.data() : nullptr);
    // On the singular state itself there is nothing to project with; dense output is as good as the step there.
    const bool on_it = near_singular && std::abs(time - crossing_time_) < 1e-3 * step_h_;
    if (!on_it && (multistep || time != step_t_ + step_h_)) {
      std::vector<double> kept = y;
      if (!dynamics_.project(time, y.data()).ok) y = kept;
    }
  }
  const auto full = dynamics_.calc_sample(time, y.data(), near_singular ? rate_sample_.data() + n : nullptr);
  if (full) return *full;
  Sample bare;
  bare.t = time;
  bare.q = Eigen::Map<const Eigen::VectorXd>(y.data(), n), bare.qd = Eigen::Map<const Eigen::VectorXd>(y.data() + n, n);
  const auto unknown = [](Eigen::Index size) {
    return Eigen::VectorXd::Constant(size, std::numeric_limits<double>::quiet_NaN());
  };
  bare.qdd = bare.Qc = bare.Qc_i = bare.Qc_ni = bare.Q_control = unknown(n);
  bare.lambda = bare.power = unknown(dynamics_.num_constraints());
  bare.outputs = unknown(dynamics_.facts().num_outputs);
  bare.works.constraints = unknown(dynamics_.num_constraints());
  return bare;
}

}  // namespace mechanician
