#pragma once

/// Puts relocatable object files (ELF, x86-64) into memory, ready to run: what a linker would do, for the little that
/// our code generator emits. So code from the disk runs without the compiler being loaded.
///
/// Nothing about the bytes is taken for granted: sizes, offsets and indices are checked, and an object with anything
/// in it that we do not know (a symbol from outside, another kind of relocation) is refused.

#include <memory>
#include <span>
#include <string>

#include "mechanician/compile/machine_code.hpp"

namespace mechanician {

/// The name of the function in each object.
inline constexpr const char* entry_symbol = "part";

/// The objects' functions, called in this order. Null where an object is refused or the machine is another one.
std::shared_ptr<const MachineCode> load_objects(std::span<const std::string> objects);

}  // namespace mechanician
