#pragma once

/// What the parts of a motion have come to, phase by phase and stage by stage.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "mechanician/motion/energy_ledger.hpp"
#include "mechanician/motion/motion_record.hpp"

namespace mechanician {

inline double total(const Works& works) { return works.given + works.ideal + works.nonideal + works.control; }

struct MotionSums {
  Works works;
  Statistics statistics;
  double position_violation = 0.0, velocity_violation = 0.0, measured_residual = 0.0;
  EnergyLedger ledger{};

  /// A part that has ended, or is to count as it is; `own`: its works by the rows of the whole.
  void add_part(const Certificate& part, const Works& own, const EnergyLedger& part_ledger) {
    add(works, own);
    position_violation = std::max(position_violation, part.position_violation);
    velocity_violation = std::max(velocity_violation, part.velocity_violation);
    measured_residual = std::max(measured_residual, part.measured_residual);
    ledger.add_phase(part_ledger);
  }

  /// What a certificate says of all parts together; `last`: that of the part that goes on.
  Certificate certificate(const Certificate& last) const {
    Certificate c;
    c.position_violation = position_violation, c.velocity_violation = velocity_violation;
    c.measured_residual = measured_residual;
    c.kinetic_start = ledger.kinetic_start(), c.kinetic_end = last.kinetic_end;
    c.works = works;
    c.balance = c.kinetic_end - c.kinetic_start - total(works);
    c.balance_largest = std::max(ledger.largest(), std::abs(c.balance));
    c.balance_allowed = ledger.allowed();
    c.path = last.path;
    return c;
  }

  /// Why the energy of all parts together, as `whole` has it, is in doubt.
  std::optional<std::string> find_imbalance(const Certificate& whole) const {
    if (!ledger.holds()) return ledger.reason();
    if (whole.balance_largest <= whole.balance_allowed) return {};
    return fmt::format("between phases of the motion {:.1e} of energy was gained or lost, where {:.1e} are allowed",
                       std::abs(whole.balance), whole.balance_allowed);
  }

  /// For checkpoints.
  template <class Do>
  void each_number(Do&& number) {
    number(works.given), number(works.ideal), number(works.nonideal), number(works.control);
    for (double& x : works.constraints) number(x);
    for (double& x : works.actuators) number(x);
    number(statistics.steps), number(statistics.rejected), number(statistics.evaluations), number(statistics.robust);
    number(statistics.projections), number(statistics.jacobians), number(statistics.crossings);
    number(statistics.switches), number(statistics.restarts);
    number(position_violation), number(velocity_violation), number(measured_residual);
    ledger.each_number(number);
  }
};

}  // namespace mechanician
