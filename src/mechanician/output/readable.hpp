#pragma once

#include "mechanician/expression/expression.hpp"

namespace mechanician {

/// The same function written shorter where that is possible without moving a singularity: 2·m/2 as m. For display.
Expr readable(const Expr& f);

}  // namespace mechanician
