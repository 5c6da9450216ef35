#pragma once

/// Far from t = 0 the rounding of t itself is in the forces: by how much it changes accelerations and powers.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mechanician/base/text.hpp"
#include "mechanician/motion/motion_view.hpp"

namespace mechanician {

class ClockNoise {
 public:
  /// Of an acceleration in units (Sizes), at the begin of a step h that is to be made.
  double calc(const MotionView& view, double h, std::vector<double>& rate) {
    MotionSteps& motion = view.motion;
    const double ulp = std::numeric_limits<double>::epsilon() * std::abs(motion.t);
    if (t_ == motion.t) return acceleration_;
    if (ulp < 1e-12 * h) return 0.0;
    acceleration_ = power_ = 0.0, t_ = motion.t;
    const int n = view.dynamics.n();
    const Dop853& rk = view.step.rk;
    if (!view.dynamics.rhs(motion.t + 64.0 * ulp, rk.y.data(), rate.data())) return 0.0;
    const Sizes& sizes = view.dynamics.sizes;
    for (int i = 0; i < n; ++i)
      if (!sizes.is_state(i))
        acceleration_ = std::max(acceleration_, std::abs(rate[n + i] - rk.k[0][n + i]) / (32.0 * sizes.unit(i)));
    for (int i = 2 * n; i < 2 * n + 4; ++i) power_ += std::abs(rate[i] - rk.k[0][i]) / 32.0;
    if (acceleration_ * h > motion.options.tolerance * sizes.reach.pace() && !noted) {
      noted = true;
      motion.notes.push_back(
          fmt::format("t = {} is so far from zero that its rounding limits the accuracy: let the time begin near zero",
                      short_number(motion.t)));
    }
    return acceleration_;
  }
  /// What it puts into the energy of a step.
  double calc_energy(double h, double kinetic) const { return h * (power_ + acceleration_ * std::sqrt(2.0 * kinetic)); }

  bool noted = false;

 private:
  double acceleration_ = 0.0, power_ = 0.0, t_ = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace mechanician
