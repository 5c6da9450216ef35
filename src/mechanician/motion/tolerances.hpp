#pragma once

#include <algorithm>

namespace mechanician {

/// Of the local error, relative to typical sizes. Below the least there is nothing but rounding.
inline constexpr double smallest_tolerance = 1e-15, largest_tolerance = 0.1;

/// Steps are made at no looser one than this. Beyond, they are so long, two radians of an oscillation and more, that the
/// estimates of a method of order 8 mean little: at 1e-3 motions of some ten periods were off by a quarter, and of those that were right one
/// in ten was called suspect (docs/verdicts.md). It costs at most a third more steps than at 1e-3.
inline constexpr double loosest_steps = 1e-4;
inline double tolerance_of_steps(double tolerance) { return std::min(tolerance, loosest_steps); }

}  // namespace mechanician
