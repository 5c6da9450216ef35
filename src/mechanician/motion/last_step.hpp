#pragma once

/// The last step of a smooth motion, by whichever method, and the states inside it.

#include <memory>
#include <vector>

#include "mechanician/motion/bdf.hpp"
#include "mechanician/motion/dop853.hpp"
#include "mechanician/motion/dynamics.hpp"

namespace mechanician {

class LastStep {
 public:
  LastStep(Dynamics& dynamics, double tolerance)
      : rk(dynamics.size()), dynamics_(dynamics), stage_error_(1e-4 * tolerance) {}

  Dop853 rk;                 ///< of the explicit method; y_new and k[12]: the end of the step, of either method
  std::unique_ptr<Bdf> bdf;  ///< of the implicit one
  double t = 0.0, h = 0.0;   ///< begin and length as computed: the end of the run may lie inside
  bool crossing = false;     ///< across a singular configuration
  bool held = false;         ///< with stages on the constraints
  bool robust = false;       ///< and by the robust path
  bool implicit = false;
  /// Positions whose rates the implicit method has no components for: states of first order.
  std::vector<int> by_rates = {};

  struct Kind {
    bool crossing = false, held = false, robust = false, implicit = false;
  };
  void set(double begin, double length, const Kind& kind);
  /// No step yet: at a time, with the state and the rate that are there.
  void clear(double time) { set(time, 0.0, {}); }
  double end() const { return t + h; }

  /// Dense output of the explicit method. False where it cannot be evaluated.
  bool make_dense();
  /// The state at a time, unprojected; rate: dy/dt, or null.
  void state_at(double time, double* y, double* rate);
  /// A cubic through both ends, without any evaluation: positions and velocities. θ in parts of the step.
  void rough_state(double theta, double* y);

  /// Stages of a step; with `held` each is projected first: near a singular state, and only there, the acceleration is
  /// only as good as the state is on the constraints.
  bool calc_stage(bool hold, double time, double* y, double* dy) {
    return hold ? dynamics_.rhs_held(time, y, dy, {.most_iterations = 4, .enough = stage_error_})
                : dynamics_.rhs(time, y, dy);
  }

 private:
  Dynamics& dynamics_;
  double stage_error_;
  bool dense_made_ = false;
  std::vector<double> slope_;
};

}  // namespace mechanician
