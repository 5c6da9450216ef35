#pragma once

/// A motion between two steps, as it is handed from one who makes steps to another: an Integrator can serve the steps that
/// lanes of an ensemble cannot make (events, impacts, singular configurations), and hand the motion back.

#include <vector>

#include "mechanician/motion/energy_ledger.hpp"
#include "mechanician/motion/progress.hpp"
#include "mechanician/motion/sizes.hpp"

namespace mechanician {

struct HandedMotion {
  double t = 0.0, h = 0.0;       ///< h: to be tried next
  std::vector<double> y;         ///< q, q̇, the four works of Works
  Sizes sizes{};                 ///< of the motion so far
  std::vector<double> sides;     ///< of the switches (Dynamics)
  std::vector<double> events;    ///< `when` of the events, with the signs of the sides that they are on
  std::vector<double> divisors;  ///< the largest that were seen

  // The certificate so far, of this phase.
  EnergyLedger ledger{};
  double violation = 0.0;  ///< largest |φ|, |φ̇|, |ψ|
  double distance = 0.0;   ///< to a constraint (Dynamics::Violation::scaled)

  double acceleration_integral = 0.0;
  long steps = 0;  ///< of this phase
  Progress progress{};
};

}  // namespace mechanician
