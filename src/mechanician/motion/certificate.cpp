// How far a motion can be trusted, and what is needed to take it up again.
//
// Balance: ½ q̇ᵀM q̇ − its value at the start = ∫ q̇ᵀ(Q + Qᶜ + Q_control) + ½ q̇ᵀṀ q̇ dt (theory of U05, U23), both sides from
// the same steps: it measures the errors that were made, not those of the model. The works are integrated by the same
// formula as the motion.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "mechanician/base/text.hpp"
#include "mechanician/motion/checkpoint_numbers.hpp"
#include "mechanician/motion/integrator_impl.hpp"
#include "mechanician/motion/rank_limits.hpp"

namespace mechanician {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
/// A crossing is only as good as rounding lets it be: this much of the scale of the energy.
constexpr double crossing_noise = 1e-9;
/// Distances to the constraints up to this are held well enough, relative to max(1, |value|).
constexpr double held = 1e-10;
using rank_limits::lost_in_rounding;
constexpr double checkpoint_version = 2.0;

}  // namespace

void SmoothMotion::watch() {
  const double* y = rk_.y_new.data();
  const int n = dynamics_.n();
  // rhs() was called last for this state.
  kinetic_ = dynamics_.last_kinetic(y);
  const double work = y[2 * n] + y[2 * n + 1] + y[2 * n + 2] + y[2 * n + 3];
  const double sizes = std::abs(kinetic_) + std::abs(kinetic_start_) + std::abs(y[2 * n]) + std::abs(y[2 * n + 1]) +
                       std::abs(y[2 * n + 2]) + std::abs(y[2 * n + 3]);
  double acceleration = 0.0;
  for (int i = n; i < 2 * n; ++i) acceleration = std::max(acceleration, std::abs(rk_.k[12][i]));
  acceleration_integral_ += step_h_ * acceleration;
  energy_exchanged_ = std::max(energy_exchanged_, sizes);
  balance_largest_ = std::max(balance_largest_, std::abs(kinetic_ - kinetic_start_ - work));
  // Local errors of the size of the tolerance in every component at every step explain this much.
  const double energy_scale = energy_scale_ = dynamics_.last_energy_scale(y);
  balance_allowed_ +=
      5.0 * (options.tolerance + 4.0 * eps + (last_was_crossing_ ? crossing_noise : 0.0)) * energy_scale +
      2.0 * eps * sizes;
  for (int i = 2 * n; i < dynamics_.size(); ++i) balance_allowed_ += 8.0 * eps * step_h_ * std::abs(rk_.k[12][i]);
  balance_allowed_ += step_h_ * (clock_power_ + clock_noise_ * energy_scale);
  if (last_implicit_) {
    // Where forces are stiff, errors of the size of the tolerance change the power by more than its size tells: tried out.
    if (steps_since_restart_ % 8 == 1) {
      const double power = rk_.k[12][2 * n];
      power_error_ = 0.0;
      for (const double sign : {1.0, -1.0}) {
        y_sample_ = rk_.y_new;
        for (int i = 0; i < 2 * n; ++i) {
          const int at = i;
          y_sample_[at] += (i % 2 == 0 ? 1.0 : sign) * options.tolerance * std::max(1.0, std::abs(y_sample_[at]));
        }
        if (dynamics_.rhs(t, y_sample_.data(), rate_sample_.data()))
          power_error_ = std::max(power_error_, std::abs(rate_sample_[2 * n] - power));
      }
    }
    balance_allowed_ += 3.0 * step_h_ * power_error_;
  }
  const double weakest = dynamics_.last_weakest();
  const Dynamics::Violation now = dynamics_.calc_violation(t, y);
  if (now.inert > std::max(1e-8, 10.0 * options.tolerance) && !over) {
    for (int j = 0; j < dynamics_.facts().m; ++j)
      if (dynamics_.inert[j] && std::abs(dynamics_.residual_of(j)) == now.inert)
        fail(StopReason::projection,
             fmt::format(
                 "at t = {}: the motion has left constraint `{}`, which cannot act: its coefficients vanish where it "
                 "holds. Write it without a power or product that makes them vanish",
                 short_number(t), dynamics_.values().row_name(j)),
             dynamics_.facts().rows[j].place);
  }
  if (last_implicit_) condition_largest_ = std::max(condition_largest_, 1e3 / std::max(weakest, 1e-300));
  if (!last_implicit_ && !last_was_crossing_ && statistics_.steps > 1 && !passed_noted_ &&
      (weakest < std::clamp(10.0 * options.tolerance, lost_in_rounding, 1e-3) ||
       dynamics_.condition() * lost_in_rounding > 1.0)) {
    passed_noted_ = true;
    doubts.push_back(fmt::format(
        "the motion comes within rounding of a singular configuration at t = {} and does not pass it smoothly",
        short_number(t)));
  }
  violation_.position = std::max(violation_.position, now.position);
  violation_.velocity = std::max(violation_.velocity, now.velocity);
  violation_.measured = std::max(violation_.measured, now.measured);
  violation_.scaled = std::max(violation_.scaled, now.scaled);
  if (last_implicit_ && !dynamics_.all.kept.empty()) {
    // The implicit method has no way across singular configurations.
    condition_largest_ = std::max(condition_largest_, dynamics_.condition());
  }
}

/// Rows that depend on others are held by them, unless they contradict. Needs rhs() at this state.
std::optional<Stop> SmoothMotion::find_contradiction(double time, const double* y) {
  if (dynamics_.rows_of_sines().size() == dynamics_.all.candidates.size() || dynamics_.is_weighed()) return {};
  if (dynamics_.last_mismatch() < 1e-6 && dynamics_.calc_violation(time, y).scaled < 1e-8) return {};
  const int n = dynamics_.n();
  const State state{time, Eigen::Map<const Eigen::VectorXd>(y, n), Eigen::Map<const Eigen::VectorXd>(y + n, n)};
  EquationValues::Verdict verdict = dynamics_.values().judge(state, true);
  auto& off = verdict.off;
  std::erase_if(off, [&](const auto& r) { return dynamics_.inert[r.row]; });
  if (verdict.consistent && off.empty()) return {};
  std::vector<std::string> names;
  for (const int j : verdict.conflict) names.push_back(dynamics_.values().row_name(j));
  if (names.empty())
    for (const auto& r : off) names.push_back(dynamics_.values().row_name(r.row));
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return Stop{
      StopReason::contradiction,
      fmt::format(
          "from t = {} on {} cannot be satisfied together with the others: the constraints contradict each other",
          short_number(time), quote_list(names)),
      off.empty() ? Place{} : dynamics_.facts().rows[off.front().row].place};
}

const Statistics& SmoothMotion::statistics() {
  statistics_.evaluations = dynamics_.evaluations;
  statistics_.projections = dynamics_.projections;
  statistics_.robust = dynamics_.has_quick_way() ? dynamics_.robust_evaluations : dynamics_.evaluations;
  return statistics_;
}

Certificate SmoothMotion::certificate() const {
  Certificate c;
  c.position_violation = violation_.position;
  c.velocity_violation = violation_.velocity;
  c.measured_residual = violation_.measured;
  c.kinetic_start = kinetic_start_, c.kinetic_end = kinetic_;
  const int n = dynamics_.n();
  const double* w = rk_.y_new.data() + 2 * n;
  c.works = {w[0], w[1], w[2], w[3], Eigen::Map<const Eigen::VectorXd>(w + 4, dynamics_.num_constraints())};
  c.balance = kinetic_ - kinetic_start_ - (w[0] + w[1] + w[2] + w[3]);
  c.balance_largest = balance_largest_;
  c.balance_allowed = balance_allowed_;
  c.notes = notes;
  c.path = dynamics_.path();
  const auto doubt = [&](std::string reason) {
    c.holds = false;
    c.reasons.push_back(std::move(reason));
  };
  // What rests exchanges rounding, and nothing else.
  const double energy_scale = std::max(1.0, energy_scale_);
  const bool at_rest = std::max(kinetic_start_, kinetic_) <= 1e-20 * energy_scale;
  if (!(violation_.scaled <= std::max(held, 10.0 * options.tolerance * 1e-3)))
    doubt(fmt::format("the constraints are violated by up to {:.1e} of max(1, |value|)", violation_.scaled));
  if (!(c.balance_largest <= c.balance_allowed))
    doubt(fmt::format("energy and work differ by up to {:.1e}, where the tolerance explains {:.1e}", c.balance_largest,
                      c.balance_allowed));
  else if (phase_.largest_step == 0.0 &&  // one phase of many may exchange next to nothing
           c.balance_largest > std::max(0.05, 300.0 * options.tolerance) * energy_exchanged_ &&
           c.balance_largest > (at_rest ? 2e-3 * c.balance_allowed : 1e-12))
    doubt(fmt::format("energy and work differ by up to {:.1e}, a large part of the energies exchanged, {:.1e}",
                      c.balance_largest, energy_exchanged_));
  for (const std::string& reason : doubts) doubt(reason);
  if (condition_largest_ > 1e7)
    doubt("the implicit method came near a singular configuration of the constraints, which it cannot cross");
  if (noise_limited_ > 0)
    c.notes.push_back(fmt::format("{} accepted at the level of rounding: ask for a larger tolerance there",
                                  count_noun(static_cast<std::size_t>(noise_limited_), "crossing")));
  return c;
}

// Everything that the rest of the motion depends on, in one order for both ways.
template <class Do>
void SmoothMotion::each_number(Do&& number) {
  number(t), number(h_), number(last_crossing_), number(hold_until_), number(in_vain_until_), number(in_vain_step_),
      number(in_vain_pause_), number(no_crossing_before_), number(progress_.mark), number(progress_.best),
      number(energy_exchanged_), number(clock_noted_), number(passed_noted_), number(condition_begin_);
  for (double& x : rk_.y_new) number(x);
  for (RowSet* set : {&dynamics_.all, &dynamics_.velocities, &dynamics_.positions}) number(set->rank);
  number(dynamics_.factors().singular_mass);
  for (double& x : next_sides_.empty() ? dynamics_.sides() : next_sides_) number(x);
  for (double& x : landing_floor_) number(x);
  for (double& x : dynamics_.row_sizes()) number(x);
  predictor_.each_number(number);
  for (double& x : divisor_largest_) number(x);
  number(acceleration_integral_);
  for (double& x : event_sign_) number(x);
  for (double& x : event_noted_) number(x);
  for (double& x : guard_floor_) number(x);
  for (double& x : guard_clear_) number(x);
  for (Dynamics::Sliding& s : dynamics_.sliding()) number(s.sign), number(s.direction[0]), number(s.direction[1]);
  number(implicit_), number(on_trial_), number(restart_pending_), number(start_singular_), number(stiffness_noted_);
  number(stiff_hits_), number(not_stiff_hits_), number(stiff_since_), number(stiff_pause_until_), number(stiff_steps_);
  number(explicit_rate_), number(explicit_step_), number(sigma_guard_);
  number(switches_since_);
  number(kinetic_start_), number(kinetic_), number(balance_largest_), number(balance_allowed_),
      number(condition_largest_);
  number(violation_.position), number(violation_.velocity), number(violation_.measured), number(violation_.scaled);
  number(noise_limited_), number(power_error_);
  number(dynamics_.evaluations), number(dynamics_.projections), number(dynamics_.robust_evaluations);
  number(statistics_.steps), number(statistics_.rejected), number(statistics_.jacobians), number(statistics_.crossings);
  number(statistics_.switches), number(statistics_.restarts);
}

std::vector<double> SmoothMotion::checkpoint() const {
  return write_checkpoint({checkpoint_version, static_cast<double>(dynamics_.size())},
                          [this](auto&& visit) { const_cast<SmoothMotion*>(this)->each_number(visit); });
}

void SmoothMotion::restore(std::span<const double> from) {
  read_checkpoint({checkpoint_version, static_cast<double>(dynamics_.size())}, from,
                  [this](auto&& visit) { each_number(visit); });
  over = false, stop = {}, refusal.reset();
  next_sides_.clear();
  step_begin = step_t_ = t, step_h_ = 0.0;
  last_was_crossing_ = last_held_ = last_implicit_ = false, dense_made_ = false;
  const long evaluations = dynamics_.evaluations, projections = dynamics_.projections,
             robust = dynamics_.robust_evaluations;
  dynamics_.choose_rows(t, rk_.y_new.data());
  dynamics_.rhs(t, rk_.y_new.data(), rk_.k[12].data());
  energy_scale_ = dynamics_.last_energy_scale(rk_.y_new.data());
  dynamics_.calc_turn(t, rk_.y_new.data());
  dynamics_.evaluations = evaluations, dynamics_.projections = projections, dynamics_.robust_evaluations = robust;
  if (t >= options.to) finish(StopReason::reached_end);
}

}  // namespace mechanician
