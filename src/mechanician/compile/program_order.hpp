#pragma once

/// The order of the steps of a program, for the good of the machine code.

#include <vector>

#include "mechanician/compile/program.hpp"

namespace mechanician {

/// Calls of functions, and what they need, come first: a call leaves no vector register as it was, and at the beginning
/// few numbers are in registers. Sines and cosines that do not need each other stand together, so that they become one
/// call. The same numbers, bit for bit.
Program with_calls_first(const Program& program);

/// Long chains, like those of an elimination, started early: where a program is limited by the time that its longest
/// chain takes and not by the number of its steps, that gains a tenth; elsewhere the order stays as it is, as this
/// needs more registers. Calls, and what is before the last of them, stay where they are. The same numbers, bit for
/// bit.
Program with_long_chains_first(const Program& program);

/// Steps [begin, end) that are sines and cosines of numbers known before them.
struct SineBatch {
  int begin, end;
  std::vector<int> arguments;  ///< registers, each once
  std::vector<int> which;      ///< by step − begin: its argument
};

/// The batches among steps [begin, end) with at least so many arguments, in their order.
std::vector<SineBatch> sine_batches(const Program& program, int begin, int end, int least_arguments);

}  // namespace mechanician
