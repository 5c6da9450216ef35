#pragma once

/// Whether a motion gets anywhere: steps that become ever shorter can go on for as long as anybody waits.

#include <algorithm>
#include <cstdint>

namespace mechanician {

struct Progress {
  static constexpr std::int64_t steps = 20000;  ///< after so many it is looked at
  /// Less than this part of the best so far: there is a singularity ahead that will not be reached.
  static constexpr double least_of_best = 1e-4;
  /// Less than this part of what is left: some 10¹³ steps, which nobody waits for.
  static constexpr double least_of_rest = 1e-9;

  double mark = 0.0,
         best = 0.0;  ///< where the motion was when it was looked at last; the most that it has moved since then

  /// After each step. False where the motion is to be given up; `moved` is then what the last steps have moved the time by.
  bool goes_on(std::int64_t step, double t, double to, double& moved) {
    if (step % steps != 0) return true;
    moved = t - mark;
    best = std::max(best, moved);
    mark = t;
    return t >= to || (moved >= least_of_best * best && moved >= least_of_rest * (to - t));
  }
};

}  // namespace mechanician
