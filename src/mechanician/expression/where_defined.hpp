#pragma once

/// Expressions as they are where everything in them has a value, for bounds of them (variation.hpp): what only asks for that
/// (definite_conditions.hpp) is decided, and what holds otherwise is left out. Not for values.

#include <span>
#include <vector>

#include "mechanician/expression/expression.hpp"

namespace mechanician {

std::vector<Expr> where_defined(std::span<const Expr> expressions);

}  // namespace mechanician
