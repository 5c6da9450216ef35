#pragma once

/// One step of the classical Runge–Kutta method by the robust path: orthogonal factorisations at every stage, rows and
/// sides of switches chosen there. For steps that compiled code does not vouch for.

#include <memory>
#include <vector>

#include "mechanician/instant/system.hpp"
#include "mechanician/motion/dynamics.hpp"

namespace mechanician {

class RobustStep {
 public:
  /// `parameters`: of this motion.
  RobustStep(const System& system, std::vector<double> parameters);

  /// x = [q | q̇] at t becomes that at t + h. False where a stage has no value: then x stays.
  bool advance(double t, double h, double* x);

 private:
  bool accelerate(double t, const double* x, double* dx);

  System system_;
  Dynamics dynamics_;
  std::vector<double> y_, dy_, g_;
};

}  // namespace mechanician
