#pragma once

/// What exported C shows of a model: its header, names, and the functions around programs and steps. @ stands for the prefix.

#include "mechanician/exports/c_facts.hpp"

namespace mechanician {

std::string c_header(const CFacts& facts, const std::string& name, bool has_tangents);
/// What the source begins with.
std::string c_preamble(const CFacts& facts, const std::string& name);
/// Names as constant arrays.
std::string c_names(const CFacts& facts);
/// Forces at a state, also those that outputs use.
std::string c_forces(const CFacts& facts);
/// Everything that is known at a state: NAME_look.
std::string c_instant(const CFacts& facts);
/// Guards and events at a state.
std::string c_watch(const CFacts& facts);
/// What events change.
std::string c_changes(const CFacts& facts);
/// Parameters, start, accelerations and functions of the state.
std::string c_functions(const CFacts& facts);
/// Which sides of switches a motion is on, and where it comes to others.
std::string c_sides(const CFacts& facts);

}  // namespace mechanician
