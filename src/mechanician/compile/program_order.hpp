#pragma once

/// The order of the steps of a program, for the good of the machine code.

#include <vector>

#include "mechanician/compile/program.hpp"

namespace mechanician {

/// Calls of functions, and what they need, come first: a call leaves no vector register as it was, and at the beginning
/// few numbers are in registers. Sines and cosines that do not need each other stand together, so that they become one
/// call. The same numbers, bit for bit.
Program with_calls_first(const Program& program);

/// Steps [begin, end) that are sines and cosines of numbers known before them.
struct SineBatch {
  int begin, end;
  std::vector<int> arguments;  ///< registers, each once
  std::vector<int> which;      ///< by step − begin: its argument
};

/// The batches among steps [begin, end) with at least so many arguments, in their order.
std::vector<SineBatch> sine_batches(const Program& program, int begin, int end, int least_arguments);

}  // namespace mechanician
