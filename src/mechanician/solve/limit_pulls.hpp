#pragma once

/// Which way actuators at their limits are drawn: what tells how long they stay there.

#include "mechanician/solve/control.hpp"

namespace mechanician {

/// Where actuators at their limits would go if they could: per actuator, positive to greater efforts, zero for those at no limit. The
/// first stage that such an effort can change decides, by its pull q·ρ on what is missed there (q: what a unit of the effort does to the rows
/// of the stage, ρ: what they miss); the cost does where all stages are indifferent. Pulls pass zero without a pole where an effort comes
/// to change nothing, which the effort that an actuator would have if let go, ρ/q, does not.
struct LimitPulls {
  Eigen::VectorXd along;
  /// Rows that are missed are neither clearly felt by efforts at no limit nor not felt at all: what these are is decided by a threshold,
  /// and changes by leaps where it is passed.
  bool is_clear = true;
};
LimitPulls calc_limit_pulls(const ControlProgramme& programme, const ControlMode& mode);

}  // namespace mechanician
