#include "mechanician/motion/energy_ledger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace mechanician {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
/// Of the energy in play; the error of the energy, up to ten times as much, is to stay below a hundredth.
constexpr double part_of_energy = 1e-3;
/// And no more than so many roots of the tolerance: on an oscillation an error of the amplitude is 2.3 times the balance over the energy,
/// and a good verdict promises the root of the tolerance (docs/verdicts.md).
constexpr double roots_of_tolerance = 0.4;
/// Fewer steps are no average; then the sum of their estimated errors may be so much.
constexpr long few_steps = 12;
constexpr double part_of_few = 0.01;
/// Local errors add up to so many times the tolerance in every component at every step.
constexpr double local_errors = 5.0;
/// Speeds of 1e-10 of those that there could be are the rounding of something that rests.
constexpr double rest = 1e-20;
/// What rests exchanges rounding, and nothing else: so much of what the tolerance explains.
constexpr double part_at_rest = 2e-3;

}  // namespace

void EnergyLedger::add(const Step& step) {
  kinetic_ = step.kinetic, scale_ = step.scale;
  part_ = std::min(part_of_energy, roots_of_tolerance * std::sqrt(step.tolerance));
  double work = 0.0, sizes = std::abs(kinetic_) + std::abs(kinetic_start_);
  most_kinetic_ = std::max(most_kinetic_, kinetic_);
  in_play_ = std::max({in_play_, std::abs(kinetic_), std::abs(kinetic_start_)});
  for (std::size_t i = 0; i < 4; ++i) {
    work += step.works[i], sizes += std::abs(step.works[i]);
    in_play_ = std::max(in_play_, std::abs(step.works[i]));
    rounding_ += 8.0 * eps * step.h * std::abs(step.powers[i]);
  }
  in_play_ = std::max(in_play_, dissipated_ += step.dissipated);
  balance_ = kinetic_ - kinetic_start_ - work;
  // Not a number: it never holds again.
  largest_ = largest_ >= std::abs(balance_) ? largest_ : std::abs(balance_);
  explained_ += local_errors * step.tolerance * scale_ + 3.0 * step.h * step.power_error;
  estimated_ += step.error * step.tolerance * scale_, ++steps_;
  rounding_ += 4.0 * local_errors * eps * scale_ + 2.0 * eps * sizes + step.rounding;
}

void EnergyLedger::add_phase(const EnergyLedger& phase) {
  kinetic_ = phase.kinetic_, scale_ = phase.scale_, part_ = std::max(part_, phase.part_);
  dissipated_ += phase.dissipated_;
  most_kinetic_ = std::max(most_kinetic_, phase.most_kinetic_),
  in_play_ = std::max({in_play_, phase.in_play_, dissipated_});
  largest_ = std::max(largest_, std::abs(balance_) + phase.largest_);
  balance_ += phase.balance_, explained_ += phase.explained_, rounding_ += phase.rounding_;
  estimated_ += phase.estimated_, steps_ += phase.steps_;
}

bool EnergyLedger::is_at_rest() const { return most_kinetic_ <= rest * scale_; }

double EnergyLedger::allowed() const {
  return rounding_ + std::min(explained_, is_at_rest() ? part_at_rest * explained_ : part_ * in_play_);
}

bool EnergyLedger::is_doubtful() const { return largest_ > rounding_ + 0.5 * part_ * in_play_ && !is_at_rest(); }

bool EnergyLedger::is_coarse() const {
  return steps_ < few_steps && !is_at_rest() && estimated_ > part_of_few * in_play_;
}

std::string EnergyLedger::reason() const {
  if (largest_ <= allowed())
    return fmt::format(
        "errors of the few steps may change the energy by {:.1e}, too large a part of the energies in play, which are "
        "up "
        "to {:.1e}: ask for a smaller tolerance",
        estimated_, in_play_);
  if (!(largest_ <= rounding_ + explained_))
    return fmt::format("energy and work differ by up to {:.1e}, where the tolerance explains {:.1e}", largest_,
                       rounding_ + explained_);
  return fmt::format(
      "energy and work differ by up to {:.1e}, too large a part of the energies in play, which are up to {:.1e}: ask "
      "for a smaller tolerance",
      largest_, in_play_);
}

}  // namespace mechanician
