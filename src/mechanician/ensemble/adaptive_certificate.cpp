// How far the motion of a lane can be trusted, and whether it has become stiff: as a single run has it.

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanician/ensemble/adaptive_pack.hpp"
#include "mechanician/motion/certificate_limits.hpp"
#include "mechanician/motion/step_control.hpp"

namespace mechanician {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

}  // namespace

void AdaptivePack::watch(int l) {
  Lane& lane = lanes[static_cast<std::size_t>(l)];
  EnergyLedger::Step step{.h = of(h_, 0, l),
                          .tolerance = options_.tolerance,
                          .kinetic = of(seen_, WatchProgram::at_kinetic, l),
                          .scale = energy_scale(y_new_, l),
                          .error = of(errors_, 0, l)};
  for (int i = 0; i < 4; ++i) {
    step.works[static_cast<std::size_t>(i)] = of(y_new_, 2 * n_ + i, l);
    step.powers[static_cast<std::size_t>(i)] = of(k_[12], 2 * n_ + i, l);
  }
  lane.ledger.add(step);
  see_forces(l);
  lane.reach.soon = of(h_, 0, l);
  double acceleration = 0.0;
  for (int i = n_; i < 2 * n_; ++i) acceleration = std::max(acceleration, std::abs(of(k_[12], i, l)));
  lane.acceleration_integral += of(h_, 0, l) * acceleration;
  lane.violation = std::max(lane.violation, of(seen_, WatchProgram::at_violation, l));
  lane.distance = std::max(lane.distance, distance(l));
}

/// As integrator_bdf.cpp has it: where a single run would change the method.
bool AdaptivePack::is_stiff(int l) {
  constexpr double stability_edge = 6.1, worth_a_look = 0.25, stiffness_ratio = 50.0, rounding = 64.0 * eps;
  constexpr int hits_for_stiff = 15, misses_for_not = 6;
  Lane& lane = lanes[static_cast<std::size_t>(l)];
  if (options_.adaptive == Method::dop853 || lane.ledger.kinetic() <= 1e-24 * lane.ledger.scale()) return false;
  double rates = 0.0, values = 0.0, size = lane.reach.speed, slow_rates = 0.0, slow_values = 0.0;
  const double per_time = step_control::times_of_stiffness / (options_.to - t0_);
  for (int i = 0; i < 2 * n_; ++i) {
    const double w = per_unit_[static_cast<std::size_t>(i % n_)] * (i < n_ ? per_time : 1.0);
    const double dk = w * (of(k_[12], i, l) - of(k_[11], i, l)), dy = w * (of(y_new_, i, l) - of(last_stage_, i, l));
    const double DK = w * (of(k_[12], i, l) - of(k_[0], i, l)), DY = w * (of(y_new_, i, l) - of(y, i, l));
    rates += dk * dk, values += dy * dy, slow_rates += DK * DK, slow_values += DY * DY;
    size = std::max(size, w * std::abs(of(y_new_, i, l)));
  }
  const double h = of(h_, 0, l),
               fast = values > rounding * rounding * size * size ? h * std::sqrt(rates / values) : 0.0,
               slow = slow_values > 0.0 ? h * std::sqrt(slow_rates / slow_values) : 0.0;
  if (fast > stability_edge || (fast > worth_a_look && fast > stiffness_ratio * slow)) {
    lane.not_stiff_hits = 0;
    return ++lane.stiff_hits >= hits_for_stiff;
  }
  if (lane.stiff_hits > 0 && ++lane.not_stiff_hits >= misses_for_not) lane.stiff_hits = lane.not_stiff_hits = 0;
  return false;
}

bool AdaptivePack::holds(int l) const {
  const Lane& lane = lanes[static_cast<std::size_t>(l)];
  return certificate_limits::are_held(lane.distance, options_.tolerance) && lane.ledger.holds();
}

}  // namespace mechanician
