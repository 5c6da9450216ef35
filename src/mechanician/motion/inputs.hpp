#pragma once

/// Inputs of a model that are set from outside while a motion goes on.

#include <span>
#include <string_view>
#include <vector>

#include "mechanician/instant/system.hpp"

namespace mechanician {

/// Whether motions of the system can take other values: kernels have their numbers in them, and need what they are made for written out
/// before one can change; what events change cannot begin again in the middle.
bool has_open_inputs(const System& system);

/// Which parameter an input is. Throws std::invalid_argument where there is none of this name.
std::size_t find_input(const System& system, std::string_view name);

/// All parameters, with another value of an input. Throws std::invalid_argument for a value that is not finite, and where a parameter is
/// made of the input: it would have to change with it.
std::vector<double> with_input(const System& system, std::string_view name, double value);

}  // namespace mechanician
