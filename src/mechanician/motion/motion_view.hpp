#pragma once

/// What the parts of a smooth motion (SmoothMotion) see of it.

#include <limits>
#include <string>
#include <vector>

#include "mechanician/motion/last_step.hpp"
#include "mechanician/motion/motion_steps.hpp"

namespace mechanician {

struct MotionView {
  MotionSteps& motion;
  Dynamics& dynamics;
  LastStep& step;
  Statistics& statistics;
  std::vector<std::string>& doubts;  ///< why the certificate does not hold, apart from the numbers
};

/// Where something had no value last.
struct BadState {
  double t = -std::numeric_limits<double>::infinity();
  std::vector<double> y;  ///< q, q̇

  void note(double time, const double* state, int n) { t = time, y.assign(state, state + 2 * n); }
  bool is_near(double time, double span) const { return std::abs(t - time) <= 1e-6 * span; }
};

}  // namespace mechanician
