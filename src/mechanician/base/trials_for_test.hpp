#pragma once

namespace mechanician {

#ifdef MECHANICIAN_SANITIZED
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

/// Random trials of a test. The sanitizers, which make everything slower, look for other mistakes than wrong numbers: a
/// tenth of them is enough there.
constexpr unsigned num_trials(unsigned ordinary) { return sanitized ? (ordinary + 9) / 10 : ordinary; }

}  // namespace mechanician
