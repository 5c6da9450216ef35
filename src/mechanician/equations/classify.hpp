#pragma once

/// What kind of constraint an equation is, read off the text as written.

#include <string>

#include "mechanician/equations/equations.hpp"

namespace mechanician {

/// A row with level, rheonomic, acatastatic, linear and integrable filled in; eqs gives the coordinates.
///
/// Integrable is claimed only where it is proved: ψ = Σ aᵢ q̇ᵢ + a₀ with ∂aᵢ/∂qⱼ = ∂aⱼ/∂qᵢ and ∂aᵢ/∂t = ∂a₀/∂qᵢ is the
/// rate of a function φ(q, t).
Row classify_row(const Expr& residual_as_written, const Equations& eqs);

/// "holonomic, scleronomic", "nonholonomic, rheonomic, acatastatic, linear in the velocities", …
std::string describe(const RowTraits& row);

}  // namespace mechanician
