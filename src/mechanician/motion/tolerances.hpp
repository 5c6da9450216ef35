#pragma once

namespace mechanician {

/// Of the local error, relative to typical sizes. Below the least there is nothing but rounding.
inline constexpr double smallest_tolerance = 1e-15, largest_tolerance = 0.1;

}  // namespace mechanician
