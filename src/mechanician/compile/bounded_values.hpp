#pragma once

/// Values with bounds of their rounding errors (expression/rounding_error.hpp), as steps of a program.

#include <span>
#include <vector>

#include "mechanician/compile/program.hpp"

namespace mechanician {

struct BoundedValues {
  std::vector<ProgramBuilder::Value> values, bounds;
};

/// What Tape::evaluate_with_bounds gives. Only where an operand is exact and the slope infinite is a bound not a number.
BoundedValues append_with_bounds(ProgramBuilder& builder, const Tape& tape,
                                 std::span<const ProgramBuilder::Value> inputs);

}  // namespace mechanician
