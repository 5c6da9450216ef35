#pragma once

/// Programs to object files, by LLVM.
///
/// A program is cut into parts of a fixed number of steps, one function and one object each: the time of code
/// generation grows faster than linearly within a function and linearly with their number. Values that a later part
/// needs go through scratch memory.
///
/// Same bits as the interpreter: no fast-math flag is set, products are fused where the program says so and nowhere
/// else, functions are called through the table of machine_code.hpp.
///
/// With lanes = W every number is a vector of W: input i of lane k is inputs[i·W + k], outputs and scratch alike.
/// Sines and cosines are computed for all lanes at once, other functions lane by lane.
///
/// A program that is a step of something can be made into a loop over steps, in which what one step leaves for the next
/// stays in registers (step_function.hpp):
///
///     inputs [t₀ | h | x | …] → outputs [x | vouch];   further inputs of the loop: [first k | number of steps, an
///     integer] for k = first, first + 1, …:  x, v = program(t₀ + k·h, h, x, …),  vouch = vouch and v

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "mechanician/compile/program.hpp"

namespace mechanician {

enum class CodeLevel : std::uint8_t { quick, optimised };

struct ObjectOptions {
  CodeLevel level = CodeLevel::optimised;
  int lanes = 1;
  int steps_per_part = 0;  ///< 0: what was measured to be good for the level
  int carried = 0;         ///< > 0: a loop in one part, with so many numbers x
};

/// Whether there is LLVM to compile with. Opens it (some 30 ms the first time).
bool can_compile_objects();
/// Of the LLVM this was built for, "" without; does not open it.
std::string_view compiler_version();

/// One object per part; nothing where there is no LLVM, it fails, or `abandon` (asked before each part) says so.
std::optional<std::vector<std::string>> compile_objects(const Program& program, const ObjectOptions& options = {},
                                                        const std::function<bool()>& abandon = {});

/// Places of scratch that the parts use; at most scratch_bound of machine_code.hpp.
std::size_t scratch_size(const Program& program, const ObjectOptions& options);

/// The code of the first part as LLVM's assembly language: for people.
std::string listing(const Program& program, const ObjectOptions& options = {});

}  // namespace mechanician
