#pragma once

/// How far a state is off the constraints, as a program. Control requirements, measured and acceleration-level rows take no
/// part.
///
///     inputs   [t | q | q̇ | parameters that are not built in]

#include "mechanician/compile/acceleration_program.hpp"

namespace mechanician {

/// outputs  [largest of |φ|, |φ̇| and |ψ|]
///
/// Of the options, those of parameters count.
Program make_violation_program(const Equations& eqs, const ProgramOptions& options = {});

/// Whether it is on them as far as rounding can tell:
///
///     outputs  [positions | velocities | one-sided]
///
/// the least of 4·noise − |r| over φ, over φ̇ and ψ, and of 4·noise + r over rows that are one-sided: none is below zero
/// where the state meets them. What has no value meets nothing.
Program make_meeting_program(const Equations& eqs, const ProgramOptions& options = {});

}  // namespace mechanician
