#pragma once

/// What motions of one system with different parameters share: equations that are derived once, and compiled code in which
/// the parameters that vary are inputs.
///
///     MotionFamily family(system, nominal, {0, 3});       // parameters 0 and 3 vary
///     family.set_parameters(values);
///     Integrator integrator(family, start, options);      // costs what its steps cost
///
/// A motion does not depend on those before it: code is made for the nominal state, whichever motion needs it first.
/// Integrators refer to their family, which must stay where it is; each goes on under the parameters that it began with, and
/// the family must have these while it does. One family per thread.

#include <memory>
#include <span>
#include <vector>

#include "mechanician/motion/phase_model.hpp"

namespace mechanician {

class StageSystems;

class MotionFamily {
 public:
  MotionFamily(const System& system, State nominal, std::vector<int> varied);
  ~MotionFamily();
  MotionFamily(const MotionFamily&) = delete;
  MotionFamily& operator=(const MotionFamily&) = delete;
  /// For another thread.
  std::unique_ptr<MotionFamily> clone() const;

  const System& system() const { return system_; }
  const std::vector<int>& varied() const { return nominal_.varied; }
  /// Values of all parameters. Those that do not vary must be what they were.
  void set_parameters(std::span<const double> values);

  /// To be copied for each motion (systems without contacts).
  const Dynamics& dynamics();
  PhaseSystems& phases() { return phases_; }
  /// Of a system that events change.
  StageSystems& stages();
  /// The system with what is engaged at the start of the model, with the parameters that it has now.
  const System& system_at_start();

 private:
  System system_;
  Dynamics::Nominal nominal_;
  std::unique_ptr<Dynamics> dynamics_;
  PhaseSystems phases_;
  std::unique_ptr<StageSystems> stages_;
};

}  // namespace mechanician
