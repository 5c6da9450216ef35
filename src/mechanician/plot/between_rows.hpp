#pragma once

/// What a motion does between its rows, where the result says how it goes on from them.
///
/// A position is drawn with its velocity, a velocity with its acceleration: between two rows as the cubic that has
/// their values and derivatives at both. A run without --every has few rows, a step each, and straight lines between
/// them look like a polygon; the cubic is off by h⁴/384 of the fourth derivative, which is not to be seen. It is drawn
/// only where the derivatives go with the values: where a force switches, the row holds the acceleration of one side,
/// and a cubic would make up a wiggle. There, and for all other columns, the line is straight.

#include <span>
#include <vector>

namespace mechanician {

/// A column and the column of its derivative by time.
struct DerivativePair {
  std::size_t value = 0, derivative = 0;
};

/// Rows between the rows, as many as the curves need, for all columns: cubics for pairs, straight lines for others.
/// `columns[time]` does not decrease; no row is added where `jump` says that the motion jumps. Returns for each row of
/// the new columns whether it was added; `jump` is brought in line.
std::vector<char> add_rows_between(std::vector<std::vector<double>>& columns, std::size_t time,
                                   std::span<const DerivativePair> pairs, std::vector<char>& jump);

}  // namespace mechanician
