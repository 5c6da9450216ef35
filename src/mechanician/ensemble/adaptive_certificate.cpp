// How far the motion of a lane can be trusted, and whether it has become stiff: as a single run has it.

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanician/ensemble/adaptive_pack.hpp"

namespace mechanician {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
/// Distances to the constraints up to this are held well enough (certificate.cpp).
constexpr double held = 1e-10;

}  // namespace

/// As certificate.cpp has it.
void AdaptivePack::watch(int l) {
  Lane& lane = lanes[static_cast<std::size_t>(l)];
  lane.kinetic = of(seen_, WatchProgram::at_kinetic, l), lane.scale = of(seen_, WatchProgram::at_scale, l);
  double work = 0.0, sizes = std::abs(lane.kinetic) + std::abs(lane.kinetic_start);
  for (int i = 0; i < 4; ++i) {
    const double w = of(y_new_, 2 * n_ + i, l);
    work += w, sizes += std::abs(w);
    lane.balance_allowed += 8.0 * eps * of(h_, 0, l) * std::abs(of(k_[12], 2 * n_ + i, l));
  }
  double acceleration = 0.0;
  for (int i = n_; i < 2 * n_; ++i) acceleration = std::max(acceleration, std::abs(of(k_[12], i, l)));
  lane.acceleration_integral += of(h_, 0, l) * acceleration;
  lane.exchanged = std::max(lane.exchanged, sizes);
  lane.balance_largest = std::max(lane.balance_largest, std::abs(lane.kinetic - lane.kinetic_start - work));
  lane.balance_allowed += 5.0 * (options_.tolerance + 4.0 * eps) * lane.scale + 2.0 * eps * sizes;
  const double violation = of(seen_, WatchProgram::at_violation, l), distance = of(seen_, WatchProgram::at_distance, l);
  lane.violation = std::max(lane.violation, violation), lane.distance = std::max(lane.distance, distance);
}

/// As integrator_bdf.cpp has it: where a single run would change the method.
bool AdaptivePack::is_stiff(int l) {
  constexpr double stability_edge = 6.1, worth_a_look = 0.25, stiffness_ratio = 50.0, rounding = 64.0 * eps;
  constexpr int hits_for_stiff = 15, misses_for_not = 6;
  Lane& lane = lanes[static_cast<std::size_t>(l)];
  if (options_.adaptive == Method::dop853 || lane.kinetic <= 1e-24 * std::max(1.0, lane.scale)) return false;
  double rates = 0.0, values = 0.0, size = 1.0, slow_rates = 0.0, slow_values = 0.0;
  for (int i = 0; i < 2 * n_; ++i) {
    const double dk = of(k_[12], i, l) - of(k_[11], i, l), dy = of(y_new_, i, l) - of(last_stage_, i, l);
    const double DK = of(k_[12], i, l) - of(k_[0], i, l), DY = of(y_new_, i, l) - of(y, i, l);
    rates += dk * dk, values += dy * dy, slow_rates += DK * DK, slow_values += DY * DY;
    size = std::max(size, std::abs(of(y_new_, i, l)));
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
  const bool at_rest = std::max(lane.kinetic_start, lane.kinetic) <= 1e-20 * std::max(1.0, lane.scale);
  if (!(lane.distance <= std::max(held, 10.0 * options_.tolerance * 1e-3)) ||
      !(lane.balance_largest <= lane.balance_allowed))
    return false;
  if (code_->num_gaps > 0) return true;  // one phase of many may exchange next to nothing
  return !(lane.balance_largest > std::max(0.05, 300.0 * options_.tolerance) * lane.exchanged &&
           lane.balance_largest > (at_rest ? 2e-3 * lane.balance_allowed : 1e-12));
}

}  // namespace mechanician
