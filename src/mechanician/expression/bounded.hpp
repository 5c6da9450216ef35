#pragma once

/// A number with a bound of its error: evaluate_operator for both at once (rounding_error.hpp), so that a Tape runs on them.

#include "mechanician/expression/evaluate_operator.hpp"
#include "mechanician/expression/rounding_error.hpp"

namespace mechanician {

struct Bounded {
  double value = 0.0, error = 0.0;

  Bounded() = default;
  /// A constant.
  explicit Bounded(double x) : value(x), error(RoundingError<double>::of_constant(x)) {}
  /// A number that was handed in and is known up to `known`.
  Bounded(double x, double known) : value(x), error(RoundingError<double>::of_input(x) + known) {}
};

template <>
inline Bounded evaluate_operator<Bounded>(Op op, const Bounded& a, const Bounded& b, const Bounded& c) {
  Bounded f;
  f.value = evaluate_operator<double>(op, a.value, b.value, c.value);
  f.error = RoundingError<double>::of_operator(op, f.value, a.value, b.value, c.value, a.error, b.error, c.error);
  return f;
}

}  // namespace mechanician
