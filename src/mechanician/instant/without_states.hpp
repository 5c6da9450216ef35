#pragma once

/// What is only there for M > 0, beside states of first order.
///
/// A state is a coordinate without mass, and M as a whole is singular. Where no other row mentions a state (RowTraits::unfelt) nothing
/// feels it, and the problem without its coordinate and its row has the same accelerations and forces: where M is positive definite there,
/// the unconstrained acceleration, Gauss's function, the parts and forms F1 to F3 are those of that problem. What a state would do then
/// follows from its rate: z̈ = b_z − A_z q̈.

#include "mechanician/instant/accelerate.hpp"

namespace mechanician {

/// Puts in what the problem without such states says, at an instant that was solved with all of them. Nothing where there are none, or
/// where M is singular without them too.
void add_without_states(const System& system, const AccelerateOptions& options, Instant& instant);

/// Forms F1 to F3.
bool needs_definite_mass(Form form);

/// Whether there is a state that nothing feels.
bool has_unfelt_states(const System& system);

}  // namespace mechanician
