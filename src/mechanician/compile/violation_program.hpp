#pragma once

/// How far a state is off the constraints, as a program.
///
///     inputs   [t | q | q̇ | parameters that are not built in]
///     outputs  [largest of |φ|, |φ̇| and |ψ|]
///
/// Control requirements, measured and acceleration-level rows take no part.

#include "mechanician/compile/acceleration_program.hpp"

namespace mechanician {

/// Of the options, those of parameters count.
Program make_violation_program(const Equations& eqs, const ProgramOptions& options = {});

}  // namespace mechanician
