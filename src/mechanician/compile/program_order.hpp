#pragma once

/// The order of the steps of a program, for the good of the machine code.

#include "mechanician/compile/program.hpp"

namespace mechanician {

/// Calls of functions, and what they need, come first: a call leaves no vector register as it was, and at the beginning
/// few numbers are in registers. The same numbers, bit for bit.
Program with_calls_first(const Program& program);

}  // namespace mechanician
