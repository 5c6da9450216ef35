#pragma once

/// When the stages of a step are held on the constraints.
///
/// Steps that shrink towards a singular state, or from one, do so because stages leave the constraints, where the
/// acceleration is singular though the motion is not. A step with stages that are held costs as much as three others:
/// where it is not much more exact, it is as well to make shorter ones, for a while.

#include <algorithm>
#include <limits>

namespace mechanician {

struct StageHold {
  double until = -std::numeric_limits<double>::infinity();
  /// It was in vain lately, with steps of this size.
  double in_vain_until = -std::numeric_limits<double>::infinity(), in_vain_step = 0.0, pause = 0.0;

  bool may_help(double t, double h) const { return !(t < in_vain_until && h > 0.5 * in_vain_step); }
  /// After a step with stages that are held; error_before: of the attempt without, 0 where there was none.
  void learn(double t, double h, double error_before, double error) {
    constexpr double much = 0.1, first_pause = 4.0, longest_pause = 256.0;
    if (error_before == 0.0) return;
    if (!(error > much * error_before)) {
      pause = 0.0;
      return;
    }
    pause = std::clamp(4.0 * pause, first_pause, longest_pause);
    in_vain_until = t + pause * h, in_vain_step = h;
    until = -std::numeric_limits<double>::infinity();
  }
  template <class Do>
  void each_number(Do&& number) {
    number(until), number(in_vain_until), number(in_vain_step), number(pause);
  }
};

}  // namespace mechanician
