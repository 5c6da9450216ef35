#pragma once

#include "mechanician/equations/equations.hpp"

namespace mechanician {

/// ½ q̇ᵀM q̇ differentiated along the motion with q̇ held: what M itself contributes to the balance of energy.
Expr mass_rate(const Equations& eqs);

}  // namespace mechanician
