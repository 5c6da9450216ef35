#pragma once

namespace mechanician {

/// Nesting that no recursion survives. The sanitizers make frames larger and everything slower.
#ifdef MECHANICIAN_SANITIZED
inline constexpr int deep_nesting = 100'000;
#else
inline constexpr int deep_nesting = 1'000'000;
#endif

}  // namespace mechanician
