#pragma once

/// The state on the constraints that is nearest to a given one.
///
///     minimise (q − q₀)ᵀM(q − q₀)  over φ(q, t) = 0,       then
///     minimise (v − v₀)ᵀM(v − v₀)  over φ_q v + φ_t = 0 and ψ(q, v, t) = 0,
///
/// with M at the given state for positions and at the new position for velocities. Where M leaves directions free, the
/// Euclidean norm decides there. The way there is that of nearest_search.hpp: the result is the nearest point (or a
/// stationary one) and not just a point. Redundant constraints are fine. Control requirements, measured and
/// acceleration-level rows are not projected onto. What is held does not move: the minimum is taken over the rest.

#include <optional>
#include <string>
#include <vector>

#include "mechanician/instant/system.hpp"

namespace mechanician {

struct Projection {
  State state;
  bool converged = false;
  double moved = 0.0;        ///< largest change of a coordinate or velocity
  std::vector<int> unmet;    ///< rows that could not be met
  std::vector<double> off;   ///< by how much: what is left of left − right, or of its rate
  bool unmet_rates = false;  ///< positions were found, and no velocities
  std::optional<NotFinite> not_finite;
};

enum class ProjectionGoal {
  nearest,  ///< the nearest state
  any,      ///< some state near by: much cheaper far from the constraints
};

/// What stays as it is given, by number.
struct Held {
  std::vector<int> positions = {}, velocities = {};
  bool empty() const { return positions.empty() && velocities.empty(); }
};
Held held_by(const StartRules& rules);

Projection project(const System& system, const State& given, ProjectionGoal goal = ProjectionGoal::nearest,
                   const Held& held = {});
/// As the model asks for: with what its [start] holds.
Projection project_start(const System& system, const State& given);

/// Where a projection of a start ended for want of a state: what is held in its way, as it is named in [start].
struct InTheWay {
  std::vector<std::string> names;
  bool each_is_enough =
      false;  ///< letting go of one of them is enough; else they are all that the unmet rows depend on
};
InTheWay find_in_the_way(const System& system, const State& given, const Projection& ended);

/// Onto these rows alone (one flag for each), all as equations: those of a phase of a motion.
Projection project_onto(const System& system, const State& given, const std::vector<char>& rows, ProjectionGoal goal);

}  // namespace mechanician
