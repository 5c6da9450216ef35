#pragma once

/// The state on the constraints that is nearest to a given one.
///
///     minimise (q − q₀)ᵀM(q − q₀)  over φ(q, t) = 0,       then
///     minimise (v − v₀)ᵀM(v − v₀)  over φ_q v + φ_t = 0 and ψ(q, v, t) = 0,
///
/// with M at the given state for positions and at the new position for velocities. Where M leaves directions free, the
/// Euclidean norm decides there. The way there is that of nearest_search.hpp: the result is the nearest point (or a
/// stationary one) and not just a point. Redundant constraints are fine. Control requirements, measured and
/// acceleration-level rows are not projected onto.

#include <optional>
#include <string>
#include <vector>

#include "mechanician/instant/system.hpp"

namespace mechanician {

struct Projection {
  State state;
  bool converged = false;
  double moved = 0.0;      ///< largest change of a coordinate or velocity
  std::vector<int> unmet;  ///< rows that could not be met
  std::optional<NotFinite> not_finite;
};

enum class ProjectionGoal {
  nearest,  ///< the nearest state
  any,      ///< some state near by: much cheaper far from the constraints
};

Projection project(const System& system, const State& given, ProjectionGoal goal = ProjectionGoal::nearest);

/// Onto these rows alone (one flag for each), all as equations: those of a phase of a motion.
Projection project_onto(const System& system, const State& given, const std::vector<char>& rows, ProjectionGoal goal);

}  // namespace mechanician
