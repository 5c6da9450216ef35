#pragma once

/// What is to be shown: columns, groups of columns, patterns, formulas.
///
/// An item is, in this order of trust: the name of a column; a group (`forces`); a pattern with * and ? that some
/// column fits (`Qc(*)`); a formula of columns (`sqrt(x^2 + y^2)`). Items are joined by commas outside parentheses. A
/// name in quotation marks is a name and nothing else.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mechanician/expression/tape.hpp"

namespace mechanician {

/// One curve: what it is made of.
struct Shown {
  std::string label;
  std::vector<std::size_t> columns;  ///< of the result
  std::optional<Tape> formula;       ///< of these columns, in this order; none: the column itself
};

/// Throws std::invalid_argument with what is wrong, the nearest names and the columns that there are.
std::vector<Shown> select_shown(std::string_view text, std::span<const std::string> columns);
/// The same where only one can be meant.
Shown select_one(std::string_view text, std::span<const std::string> columns);

/// Where nothing is asked for: time, or the first column.
Shown default_abscissa(std::span<const std::string> columns);
/// Where nothing is asked for: all coordinates; without any, all columns but the abscissa.
std::vector<Shown> default_shown(std::span<const std::string> columns, const Shown& abscissa);

}  // namespace mechanician
