#pragma once

/// Machine code for x86-64 (AVX and FMA) at once: in one pass over the program, without a compiler.
///
/// Straight-line code needs little of what a compiler does. Registers are given out by Belady's rule: when all are
/// taken, the number whose next use is furthest away goes to memory; on straight-line code that is as good as it gets.
/// What LLVM does better is the order of the instructions. Cost: some 50 ns per step; the code runs at nearly the speed
/// of LLVM's best, and some ten times that of the interpreter.

#include <memory>

#include "mechanician/compile/machine_code.hpp"

namespace mechanician {

/// Null where the processor is another one. `scratch` of the code: at most one place per step.
/// lanes: 1, or 4 for four instances side by side (CompileOptions::lanes); null for others.
std::shared_ptr<const MachineCode> make_x86_code(const Program& program, int lanes = 1);

}  // namespace mechanician
