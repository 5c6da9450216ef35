#pragma once

/// Programs as functions of C99. One table says how each operator is written.

#include <string>
#include <string_view>

#include "mechanician/compile/program.hpp"
#include "mechanician/exports/c_tables.hpp"

namespace mechanician {

/// static void NAME(const double *x, double *y): y = outputs of the inputs x. Long programs are cut into parts, whose common values
/// lie in an array on the stack. What is used once is written where it is used. Names of functions that it calls begin with `prefix`; tables
/// that it looks something up in are added to `tables`.
std::string c_function(const Program& program, std::string_view name, std::string_view prefix,
                       CTables* tables = nullptr);

/// What of these functions `code` calls: sine and cosine with the bits of trigonometry.hpp, and operators that C has no function for.
std::string c_operators(std::string_view prefix, std::string_view code);

/// How Python writes an operator, from the same table: {0}, {1}, {2} are its operands, f a module with sin, cos and the like.
std::string_view python_spelling(Action action);

/// A number that reads back to the same bits.
std::string c_number(double x);

/// `text` with every @ replaced by the prefix.
std::string with_prefix(std::string_view text, std::string_view prefix);

}  // namespace mechanician
