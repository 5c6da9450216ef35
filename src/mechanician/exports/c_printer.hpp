#pragma once

/// What programs are written with in C99 and Python. One table says how each operator is written.

#include <string>
#include <string_view>

#include "mechanician/compile/program.hpp"

namespace mechanician {

/// How C writes an operator: {0}, {1}, {2} are its operands, @ the prefix.
std::string_view c_spelling(Action action);
/// That it is written with; a lookup has the table beside them.
int num_operands(Action action);

/// What `code` calls of these: sine and cosine with the bits of trigonometry.hpp, and operators that C has no function for.
std::string c_operators(std::string_view prefix, std::string_view code);

/// How Python writes an operator, from the same table: {0}, {1}, {2} are its operands, f a module with sin, cos and the like.
std::string_view python_spelling(Action action);

/// A number that reads back to the same bits.
std::string c_number(double x);

/// `text` with every @ replaced by the prefix.
std::string with_prefix(std::string_view text, std::string_view prefix);

}  // namespace mechanician
