#pragma once

/// The motion of a large system as an Integrator drives it: samples, certificate, checkpoints.
///
///     Integrator integrator(make_large_steps(system, start, {.to = 10}));
///
/// The same words as for ordinary motions, so that results, resumed runs and second runs are one program for both.

#include <memory>

#include "mechanician/large/large_motion.hpp"
#include "mechanician/motion/motion_steps.hpp"

namespace mechanician {

/// What is wanted of a large motion; what is not is not computed, and left empty in its samples.
struct LargeWants {
  bool rates = true;   ///< q̈, forces, multipliers, powers
  bool works = false;  ///< by constraint
  bool outputs = true;
  bool states = true;  ///< positions and velocities at events
};

/// Names of the outputs of a large system, those of families member by member. Throws ModelError as LargeQuantities does.
std::vector<std::string> output_names(const FamilyModel& model);

/// The system must outlive it, and serves no other thread meanwhile; several motions may take turns. Throws ModelError where the
/// start is off the constraints, std::invalid_argument for options that make no sense.
std::unique_ptr<MotionSteps> make_large_steps(LargeSystem& system, const State& start, const MotionOptions& options,
                                              const LargeWants& wants = {});

}  // namespace mechanician
