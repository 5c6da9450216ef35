#pragma once

/// Where the certificate of a motion draws lines, of single motions and of lanes; those about energies are in
/// energy_ledger. Distances to constraints are over the extent or the speed (sizes.hpp).

#include <algorithm>

namespace mechanician::certificate_limits {

/// A state this far off the constraints is on them: a start is given with some eight digits.
inline constexpr double on_constraints = 1e-8;
/// Projections end within rounding of the constraints, some digits of which their condition may cost.
inline constexpr double held = 1e-10;
/// Of the tolerance, where the samples of a loose one are off by more than that.
inline constexpr double held_of_tolerance = 1e-2;
/// A crossing is only as good as rounding lets it be: this much of the scale of the energy.
inline constexpr double crossing_noise = 1e-9;
/// The implicit method has no way across singular configurations: rows whose condition comes up to this are too near.
inline constexpr double implicit_condition = 1e7;

inline bool are_held(double distance, double tolerance) {  // not where it is not a number
  return distance <= std::max(held, held_of_tolerance * tolerance);
}

}  // namespace mechanician::certificate_limits
