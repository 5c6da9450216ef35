#pragma once

/// How far a state is off the constraints, as a program.
///
///     inputs   [t | q | q̇ | parameters, unless built in]
///     outputs  [largest of |φ|, |φ̇| and |ψ|]
///
/// Control requirements, measured and acceleration-level rows take no part.

#include "mechanician/compile/acceleration_program.hpp"

namespace mechanician {

/// `parameters`: values that are built in.
Program make_violation_program(const Equations& eqs, const std::optional<std::vector<double>>& parameters = std::nullopt);

}  // namespace mechanician
