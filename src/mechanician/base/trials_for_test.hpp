#pragma once

namespace mechanician {

/// Random trials of a test. The sanitizers, which make everything slower, look for other mistakes than wrong numbers: a
/// fifth of them is enough there.
constexpr unsigned num_trials(unsigned ordinary) {
#ifdef MECHANICIAN_SANITIZED
  return ordinary / 5;
#else
  return ordinary;
#endif
}

}  // namespace mechanician
