#pragma once

/// A program as PTX, the assembly text of NVIDIA's GPUs: one instance in each thread, double precision.
///
///     const std::string text = make_ptx_step(step, n);      // a whole motion of fixed steps
///     const std::string text = make_ptx_map(program);       // outputs of many inputs
///
/// The text is written here, without LLVM: a program is straight-line arithmetic without common subexpressions, and registers
/// and schedule are the business of the driver, which compiles the text for the GPU it finds. Products and sums round as
/// on the processor, fused where the program says so; sin and cos give the same bits, other functions differ in the last
/// place (device_functions.hpp). Tables are data of the text (ptx_tables.hpp says which cannot be).

#include <string>

#include "mechanician/compile/program.hpp"

namespace mechanician {

inline constexpr const char* ptx_step_entry = "mechanician_step";
inline constexpr const char* ptx_map_entry = "mechanician_map";

/// `step`: inputs [t | h | q | q̇ | parameters], outputs [q | q̇ | vouch], n coordinates. Kernel parameters:
///
///     u64 rows        doubles [t | q | q̇ | parameters] for each instance; t, q and q̇ are changed
///     u64 done        u32, steps done by each instance so far, changed
///     u64 count       instances
///     f64 t, f64 h, u32 origin   size of steps, and the time of step number `origin`
///     u32 first, u32 steps
///
/// An instance takes steps first … first + steps − 1, if it has done all before. Where vouch is not positive it stops before
/// that step: its state and its number of steps are those of the last good one, and the processor goes on from there.
std::string make_ptx_step(const Program& step, int n);

/// Kernel parameters: u64 inputs (num_inputs doubles for each instance), u64 outputs, u64 count.
std::string make_ptx_map(const Program& program);

}  // namespace mechanician
