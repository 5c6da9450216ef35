#pragma once

/// Towards the point of the constraints that is nearest to a given one, as instant/project.hpp defines it: least in the mass
/// norm at the given state for positions, at the new position for velocities. One step as straight-line programs:
///
///     metric   inputs   [t | q | q̇ | parameters that are not built in]
///              outputs  [entries of M]
///     step     inputs   [t | q | q̇ | parameters that are not built in | x₀ (n) | what metric gave where M is taken]
///              outputs  [normal (n) | tangent (n) | far | vouch]
///
///     normal = −M⁻¹Aᵀ(A M⁻¹Aᵀ)⁻¹ r               onto the constraints: r = φ for positions, φ̇ and ψ for velocities
///     tangent = (1 − M⁻¹Aᵀ(A M⁻¹Aᵀ)⁻¹A)(x₀ − x)   along them, towards x₀
///     far = largest |r_j|/‖A_j‖                   zero where it is rounding
///
/// with A and r at x, for NearestSearch (instant/nearest_search.hpp). One-sided rows take no part, nor do those that
/// projection_program.hpp leaves out; vouch as there. What is held has no part in M and A: it does not move.

#include "mechanician/compile/projection_program.hpp"

namespace mechanician {

struct NearestProgram {
  Program metric, step;
  std::vector<std::pair<int, int>> entries;  ///< that metric gives, of the lower triangle
};

struct NearestProgramResult {
  std::optional<NearestProgram> made;
  std::string reason;
};

/// No program where no row takes part and beyond options.most_steps. options.sides has to be empty. `held`: coordinates, or
/// velocities, that stay; in order.
NearestProgramResult make_nearest_program(const Equations& eqs, ProjectionOf what, const ProgramOptions& options,
                                          const std::vector<int>& held = {});

}  // namespace mechanician
