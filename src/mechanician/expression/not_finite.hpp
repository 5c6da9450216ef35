#pragma once

/// A number that has no value: which, and what it comes from.

#include <span>
#include <string>

#include "mechanician/base/diagnostic.hpp"
#include "mechanician/expression/tape.hpp"

namespace mechanician {

/// A number that is infinite, undefined or out of its range: which, where it comes from, and at which state.
struct NotFinite {
  std::string quantity;      ///< "b of constraint `rod`"
  std::string expression;    ///< the innermost subexpression that fails
  std::string operands;      ///< "sqrt of -1"
  Place place;               ///< in the model file
  std::string problem = {};  ///< in the place of all that where the number is finite and may not be what it is
  std::string message() const;
};

/// Follows output `output` of the tape down to what has no value.
NotFinite explain_not_finite(const Tape& tape, int output, std::span<const double> inputs, std::string quantity,
                             Place place);

}  // namespace mechanician
