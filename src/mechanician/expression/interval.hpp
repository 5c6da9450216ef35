#pragma once

/// What an expression can be where its symbols lie between bounds: evaluate_operator for intervals, so that a Tape runs on
/// them.
///
///     tape.evaluate<Interval>(inputs, registers, values);
///
/// An enclosure, up to rounding, and wider than the range itself where a symbol occurs more than once. What may be undefined or
/// infinite between the bounds is the whole line. Truth values lie between 0 and 1.

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanician/expression/evaluate_operator.hpp"

namespace mechanician {

struct Interval {
  double low = 0.0, high = 0.0;

  Interval() = default;
  explicit Interval(double x) : Interval(x, x) {}
  Interval(double a, double b) : low(a), high(b) {}
  static Interval everything() {
    return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  }
  static Interval hull(const Interval& a, const Interval& b) {
    return {std::min(a.low, b.low), std::max(a.high, b.high)};
  }
  bool contains(double x) const { return low <= x && x <= high; }
  bool is_point() const { return low == high; }
};

template <>
Interval evaluate_operator<Interval>(Op op, const Interval& a, const Interval& b, const Interval& c);

}  // namespace mechanician
