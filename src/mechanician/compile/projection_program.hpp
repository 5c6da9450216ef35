#pragma once

/// One Newton step onto the constraints, least in the mass norm, as a straight-line program:
///
///     δ = −M⁻¹Aᵀ(A M⁻¹Aᵀ)⁻¹ r        positions: r = φ;   velocities: r = φ̇ and ψ
///
///     inputs   [t | q | q̇ | parameters, unless built in | sides of switches]
///     outputs  [δ (n) | r (one for each row, dropped and inert ones too) | vouch]
///
/// Control requirements, measured and acceleration-level rows take no part. Directions that have neither mass nor a row
/// get a little mass, so that nothing moves along them. vouch > 0 as for accelerations (acceleration_program.hpp);
/// whether dropped rows are met afterwards is told by r of the next step.

#include "mechanician/compile/acceleration_program.hpp"

namespace mechanician {

enum class ProjectionOf { positions, velocities };

struct ProjectionProgram {
  Program program;
  std::string path;
  int n = 0;
  std::vector<int> rows;  ///< of the equations, in the order of r
  int at_residuals = 0, at_vouch = 0;
};

struct ProjectionProgramResult {
  std::optional<ProjectionProgram> made;
  std::string reason;
};

/// No program where no row takes part ("nothing to project onto") and beyond options.most_steps.
ProjectionProgramResult make_projection_program(const Equations& eqs, ProjectionOf what, const ProgramOptions& options);

}  // namespace mechanician
