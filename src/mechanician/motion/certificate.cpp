// How far a motion can be trusted, and what is needed to take it up again.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "mechanician/base/text.hpp"
#include "mechanician/motion/certificate_limits.hpp"
#include "mechanician/motion/checkpoint_numbers.hpp"
#include "mechanician/motion/integrator_impl.hpp"
#include "mechanician/motion/rank_limits.hpp"

namespace mechanician {

namespace {

using rank_limits::lost_in_rounding;
constexpr double checkpoint_version = 7.0;

}  // namespace

/// The motion is at t with the state y_new: whatever led there is past.
void SmoothMotion::go_on_from_here() {
  step_begin = t, step_.clear(t);
  std::vector<double>& y = step_.rk.y_new;
  const long evaluations = dynamics_.evaluations, projections = dynamics_.projections,
             robust = dynamics_.robust_evaluations;
  dynamics_.choose_rows(t, y.data());
  dynamics_.rhs(t, y.data(), step_.rk.k[12].data());
  ledger_.set_scale(dynamics_.last_energy_scale(y.data()));
  dynamics_.calc_turn(t, y.data());
  dynamics_.evaluations = evaluations, dynamics_.projections = projections, dynamics_.robust_evaluations = robust;
  if (t >= options.to && !over) finish(StopReason::reached_end);
}

void SmoothMotion::watch() {
  const double* y = step_.rk.y_new.data();
  const int n = dynamics_.n();
  poles_.add_step();
  // rhs() was called last for this state.
  EnergyLedger::Step step{.h = step_.h,
                          .tolerance = options.tolerance,
                          .kinetic = dynamics_.last_kinetic(y),
                          .scale = dynamics_.last_energy_scale(y),
                          .error = error_,
                          .dissipated = step_.h * dissipation_};
  std::copy_n(y + 2 * n, 4, step.works.begin());
  std::copy_n(step_.rk.k[12].begin() + 2 * n, 4, step.powers.begin());
  step.rounding = clock_.calc_energy(step_.h, std::max(step.kinetic, 0.0));
  dynamics_.size_forces();
  // Of accelerations, which elimination magnifies by the square of their condition; and where what is in play is at zero.
  const Reach& reach = dynamics_.sizes.reach;
  const double condition = dynamics_.condition();
  step.rounding += 4.0 * std::numeric_limits<double>::epsilon() *
                   (std::min(condition * condition, 1e7) * step.scale + 16.0 * reach.force * reach.length());
  if (step_.crossing) step.rounding += certificate_limits::crossing_noise * step.scale;
  if (step_.implicit) {
    // Where forces are stiff, errors of the size of the tolerance change the power by more than its size tells: tried out.
    if (steps_since_restart_ % 8 == 1) {
      const double power = step_.rk.k[12][2 * n];
      power_error_ = 0.0;
      for (const double sign : {1.0, -1.0}) {
        y_sample_ = step_.rk.y_new;
        for (int i = 0; i < 2 * n; ++i) {
          const int at = i;
          y_sample_[at] += (i % 2 == 0 ? 1.0 : sign) * options.tolerance * dynamics_.sizes.of(i, y_sample_[at]);
        }
        if (dynamics_.rhs(t, y_sample_.data(), rate_sample_.data()))
          power_error_ = std::max(power_error_, std::abs(rate_sample_[2 * n] - power));
      }
    }
    step.power_error = power_error_;
  }
  ledger_.add(step);
  const double weakest = dynamics_.last_weakest();
  const Dynamics::Violation now = dynamics_.calc_violation(t, y);
  if (now.inert > std::max(1e-8, 10.0 * options.tolerance) && !over) {
    for (int j = 0; j < dynamics_.facts().m; ++j)
      if (dynamics_.inert[j] && std::abs(dynamics_.residual_of(j)) == now.inert)
        finish(StopReason::projection,
               fmt::format(
                   "at t = {}: the motion has left constraint `{}`, which cannot act: its coefficients vanish where it "
                   "holds. Write it without a power or product that makes them vanish",
                   short_number(t), dynamics_.values().row_name(j)),
               dynamics_.facts().rows[j].place);
  }
  if (step_.implicit) condition_largest_ = std::max(condition_largest_, 1e3 / std::max(weakest, 1e-300));
  if (!step_.implicit && !step_.crossing && statistics_.steps > 1 && !passed_noted_ &&
      (weakest < std::clamp(10.0 * options.tolerance, lost_in_rounding, 1e-3) ||
       dynamics_.condition() * lost_in_rounding > 1.0)) {
    passed_noted_ = true;
    doubts.push_back(fmt::format(
        "the motion comes within rounding of a singular configuration at t = {} and does not pass it smoothly",
        short_number(t)));
  }
  // Limits are never passed: where an effort was, what acts was not found.
  constexpr double of_limit = 1e-5;
  if (dynamics_.num_control_switches() > 0 && !limit_noted_)
    if (const auto passed = dynamics_.find_passed_limit(); passed.actuator >= 0 && passed.part > of_limit) {
      limit_noted_ = true;
      doubts.push_back(fmt::format("the effort of `{}` passes its limit at t = {}, by {:.1e} of it",
                                   dynamics_.facts().control.actuators[static_cast<std::size_t>(passed.actuator)].name,
                                   short_number(t), passed.part));
    }
  violation_.position = std::max(violation_.position, now.position);
  violation_.velocity = std::max(violation_.velocity, now.velocity);
  violation_.measured = std::max(violation_.measured, now.measured);
  violation_.scaled = std::max(violation_.scaled, now.scaled);
  if (step_.implicit && !dynamics_.all.kept.empty()) {
    // The implicit method has no way across singular configurations.
    condition_largest_ = std::max(condition_largest_, dynamics_.condition());
  }
  constexpr long seldom = 8;
  if (ledger_.is_doubtful() && (dissipation_ == 0.0 || statistics_.steps % seldom == 0)) calc_dissipation();
}

/// The power that given and non-ideal forces take out: what is linear in the speed with which the motion runs through its
/// path, as that of a potential is, takes none. With rhs() at the end of the step again.
void SmoothMotion::calc_dissipation() {
  constexpr double faster = 1e-3;
  const int n = dynamics_.n();
  const auto power = [n](const std::vector<double>& rate) { return rate[2 * n] + rate[2 * n + 2] + rate[2 * n + 3]; };
  const long evaluations = dynamics_.evaluations, robust = dynamics_.robust_evaluations;
  y_sample_ = step_.rk.y_new;
  for (int i = n; i < 2 * n; ++i) y_sample_[i] *= 1.0 + faster;
  const double now = power(step_.rk.k[12]);
  dissipation_ = dynamics_.rhs(t, y_sample_.data(), rate_sample_.data())
                     ? std::max(0.0, now - (power(rate_sample_) - now) / faster)
                     : 0.0;
  dynamics_.rhs(t, step_.rk.y_new.data(), rate_sample_.data());
  dynamics_.evaluations = evaluations, dynamics_.robust_evaluations = robust;
}

/// Rows that depend on others are held by them, unless they contradict. Needs rhs() at this state.
std::optional<Stop> SmoothMotion::find_contradiction(double time, const double* y) {
  if (dynamics_.rows_of_sines().size() == dynamics_.all.candidates.size() || dynamics_.is_weighed()) return {};
  if (dynamics_.last_mismatch() < 1e-6 && dynamics_.calc_violation(time, y).scaled < certificate_limits::on_constraints)
    return {};
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
  c.kinetic_start = ledger_.kinetic_start(), c.kinetic_end = ledger_.kinetic();
  const int n = dynamics_.n();
  const double* w = step_.rk.y_new.data() + 2 * n;
  c.works = {w[0],
             w[1],
             w[2],
             w[3],
             Eigen::Map<const Eigen::VectorXd>(w + 4, dynamics_.num_constraints()),
             Eigen::Map<const Eigen::VectorXd>(w + 4 + dynamics_.num_constraints(), dynamics_.num_actuators())};
  c.balance = ledger_.balance(), c.balance_largest = ledger_.largest(), c.balance_allowed = ledger_.allowed();
  c.notes = notes;
  c.path = dynamics_.path();
  const auto doubt = [&](std::string reason) {
    c.holds = false;
    c.reasons.push_back(std::move(reason));
  };
  if (!certificate_limits::are_held(violation_.scaled, options.tolerance))
    doubt(fmt::format("the constraints are violated by up to {:.1e} of what there is", violation_.scaled));
  if (!ledger_.holds()) doubt(ledger_.reason());
  for (const std::string& reason : doubts) doubt(reason);
  if (condition_largest_ > certificate_limits::implicit_condition)
    doubt("the implicit method came near a singular configuration of the constraints, which it cannot cross");
  if (crossings_.noise_limited > 0)
    c.notes.push_back(fmt::format("{} accepted at the level of rounding: ask for a larger tolerance there",
                                  count_noun(static_cast<std::size_t>(crossings_.noise_limited), "crossing")));
  return c;
}

// Everything that the rest of the motion depends on, in one order for both ways.
template <class Do>
void SmoothMotion::each_number(Do&& number) {
  number(t), number(h_), number(passed_noted_), number(limit_noted_), number(condition_begin_), number(clock_.noted);
  number(progress_.mark), number(progress_.best);
  for (double& x : step_.rk.y_new) number(x);
  for (RowSet* set : {&dynamics_.all, &dynamics_.velocities, &dynamics_.positions}) number(set->rank);
  number(dynamics_.factors().singular_mass);
  for (double& x : dynamics_.row_sizes()) number(x);
  for (Dynamics::Sliding& s : dynamics_.sliding())
    number(s.sign), number(s.direction[0]), number(s.direction[1]), number(s.begins);
  for (double& x : dynamics_.held_control) number(x);
  number(samples_from_);
  dynamics_.sizes.each_number(number);
  hold_.each_number(number), crossings_.each_number(number), switches_.each_number(number);
  events_inside_.each_number(number), guards_.each_number(number), poles_.each_number(number);
  ledger_.each_number(number);
  number(implicit_), number(on_trial_), number(restart_pending_), number(start_singular_), number(stiffness_noted_);
  number(stiff_hits_), number(not_stiff_hits_), number(stiff_since_), number(stiff_pause_until_), number(stiff_steps_);
  number(explicit_rate_), number(explicit_step_), number(sigma_guard_), number(narrow_step_);
  number(points_left_), number(patience_);
  number(condition_largest_), number(power_error_), number(dissipation_);
  number(violation_.position), number(violation_.velocity), number(violation_.measured), number(violation_.scaled);
  number(dynamics_.evaluations), number(dynamics_.projections), number(dynamics_.robust_evaluations);
  number(statistics_.steps), number(statistics_.rejected), number(statistics_.jacobians), number(statistics_.crossings);
  number(statistics_.switches), number(statistics_.restarts);
}

std::vector<double> SmoothMotion::checkpoint() const {
  return write_checkpoint({checkpoint_version, static_cast<double>(dynamics_.size())},
                          [this](auto&& visit) { const_cast<SmoothMotion*>(this)->each_number(visit); });
}

void SmoothMotion::restore(std::span<const double> from) {
  switches_.forget_next_sides();
  read_checkpoint({checkpoint_version, static_cast<double>(dynamics_.size())}, from,
                  [this](auto&& visit) { each_number(visit); });
  switches_.take_surfaces();
  over = false, stop = {}, refusal.reset();
  go_on_from_here();
}

}  // namespace mechanician
