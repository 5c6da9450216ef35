#pragma once

/// One step of the classical Runge–Kutta method as one straight-line program: four accelerations with the elimination
/// of the constraints in each (acceleration_program.hpp), and nothing between them but sums.
///
///     k₁ = q̈(t, q, q̇)                              k₂ = q̈(t + h/2, q + h/2 q̇, q̇ + h/2 k₁)
///     k₃ = q̈(t + h/2, q + h/2 q̇ + h²/4 k₁, q̇ + h/2 k₂)   k₄ = q̈(t + h, q + h q̇ + h²/2 k₂, q̇ + h k₃)
///     q ← q + h q̇ + h²/6 (k₁ + k₂ + k₃)             q̇ ← q̇ + h/6 (k₁ + 2k₂ + 2k₃ + k₄)
///
///     inputs   [t | h | q | q̇ | parameters, unless built in]
///     outputs  [q | q̇ | vouch]
///
/// vouch is 1 where all four accelerations are vouched for, else 0 (that q and q̇ are finite is for the caller to see: a
/// coordinate that occurs nowhere may overflow). The pivots of every stage are watched: a motion may be next to a
/// singular state in the middle of a step and far from it at both ends. What else there is to watch (multipliers that
/// are large beside accelerations, each row of a pair that has shrunk, rows that were left out, numbers that are not
/// finite) is watched at the first stage, which is the end of the step before. As a truth value, and not the least of
/// many margins, that costs a comparison for each margin.
///
/// Steps: four times those of the acceleration, and 13 for each coordinate.

#include <optional>
#include <string>

#include "mechanician/compile/acceleration_program.hpp"

namespace mechanician {

struct StepProgram {
  Program program;
  std::string path;  ///< of the accelerations
  int n = 0;
  int num_parameters = 0;  ///< inputs after q̇
  int num_acceleration_steps = 0;
  AccelerationProgram first, later;  ///< of the first stage and of the others, by themselves
  int at_q() const { return 2; }
  int at_parameters() const { return 2 + 2 * n; }
  int at_vouch() const { return 2 * n; }
};

struct StepProgramResult {
  std::optional<StepProgram> made;
  std::string reason;  ///< why not, in words
};

/// options.reference: [t | q | q̇ | parameters], as for accelerations; options.most_steps is of one acceleration. No
/// program where there is none for accelerations.
StepProgramResult make_step_program(const Equations& eqs, const ProgramOptions& options);

}  // namespace mechanician
