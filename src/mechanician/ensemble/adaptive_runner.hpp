#pragma once

/// Motions at a tolerance in vector lanes: DOP853 with a step size, an error test and a projection onto the constraints
/// for each lane, as a single run has them (motion/integrator.hpp). A lane whose motion is over takes the next one at
/// once.
///
/// What lanes cannot do is served by a single run, from the begin of the step in which it comes up, and the motion comes back
/// to a lane when it is past:
///   - an event that stops the motion, and any that may be there or not; contacts that close, until all are open again;
///     places where an expression switches;
///   - a start off the constraints, near a singular configuration, in contact or on an event;
///   - accelerations or projections that compiled code does not vouch for;
///   - rows that come within reach of being dependent: sines of their angles are sampled along every step on which the
///     rows turn by so much that they could be;
///   - a divisor that comes near zero; steps that come down to nothing; a motion that becomes stiff.
/// A motion that was served, or whose certificate does not hold, is judged by the certificate of the single run.
/// What becomes of a motion does not depend on the others, nor on the number of lanes: the same bits.
///
/// The steps are those of a single run to rounding where nothing of this happens. Cost of a step of all lanes: 12
/// evaluations of the acceleration, two or three of projections, one of the rank and up to three more where rows turn.

#include <memory>
#include <string>
#include <vector>

#include "mechanician/ensemble/lane_equations.hpp"
#include "mechanician/ensemble/lane_runner.hpp"
#include "mechanician/ensemble/motion_batch.hpp"

namespace mechanician {

/// For options.method == adaptive. None for models with measured constraints, a singular mass matrix, friction of two-sided
/// constraints or events that use accelerations, for method bdf, and where there is no compiled code that vouches for the
/// nominal start.
LaneRunnerResult make_adaptive_runner(const System& system, const State& nominal, const EnsembleOptions& options,
                                      const LaneOptions& lanes = {});

}  // namespace mechanician
