#pragma once

/// The degree of an expression as a polynomial in the symbols of one kind, the coefficients being anything that is free
/// of that kind: T = ½ m(q) x'² is of degree 2 in the velocities, whatever m(q) is.
///
/// `degree_bound` looks at each node once and forgets cancellations: (x' + 1)² − x'² has bound 2. The exact answers
/// expand the expression (rational.hpp) only where the bound is not good enough, and give up on what is too large to
/// expand.

#include <functional>
#include <optional>

#include "mechanician/expression/expression.hpp"

namespace mechanician {

/// An upper bound of the degree, from the structure alone; nothing where the structure does not show a polynomial.
/// Linear in the number of nodes.
std::optional<int> degree_bound(const Expr& f, SymbolKind kind);

/// True only if f is proved to be a polynomial of degree ≤ degree in the symbols of the kind.
bool has_degree_at_most(const Expr& f, SymbolKind kind, int degree);

/// The same with the proof: f itself where its structure shows the degree, else with those addends expanded that do not
/// (m/2·√(x'² + y'²)² → m/2·(x'² + y'²)), which then shows it; nothing where it is not proved. Expanding never hides a
/// singularity in the symbols of the kind: x'³/x' is no polynomial.
std::optional<Expr> as_polynomial(const Expr& f, SymbolKind kind, int degree);

/// The degree after expansion (0 for the zero polynomial), which is exact unless a coefficient vanishes by a relation
/// that rational.hpp does not know; nothing where f is no polynomial or it cannot be proved.
std::optional<int> degree_in(const Expr& f, SymbolKind kind);

/// f = Σ (factor × symbol) + rest, as it is written, for symbols that `chosen` names: none within a function, a power, a
/// condition or a denominator. Their derivatives do not tell: that of sign(s) is 0.
bool is_linear_in(const Expr& f, const std::function<bool(const Expr& symbol)>& chosen);

}  // namespace mechanician
