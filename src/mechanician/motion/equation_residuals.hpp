#pragma once

/// What vanishes where the equations of motion hold, as expressions: for derivatives of the acceleration.

#include <span>
#include <vector>

#include "mechanician/equations/equations.hpp"

namespace mechanician {

/// Which products with entries of M and A: all, or those that depend on the state, where derivatives by it are all that is asked for.
enum class ResidualTerms { all, of_the_state };

/// G = Q + C − M q̈ + Aᵀλ (n), then H = b − A q̈ (m), with symbols of the caller for λ. C may be empty.
std::vector<Expr> make_residuals(const Equations& eqs, const std::vector<Expr>& lambda, std::span<const Expr> C,
                                 ResidualTerms which);

}  // namespace mechanician
