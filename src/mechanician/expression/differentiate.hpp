#pragma once

/// Derivatives of expressions, as expressions.
///
/// `gradient` runs backwards through the graph: all first derivatives of one function for the price of a few times its
/// size. `directional` runs forwards: the derivative of many functions along one direction, Σ ∂f/∂s · ṡ. Both are
/// linear in the number of nodes and use an explicit order instead of recursion. Results are simplified. A gradient
/// through `if` is taken forwards, symbol by symbol, so that what the branch not taken would give never enters.

#include <span>
#include <vector>

#include "mechanician/expression/expression.hpp"

namespace mechanician {

/// ∂f/∂s for each of the symbols.
std::vector<Expr> gradient(const Expr& f, std::span<const Expr> symbols);
Expr derivative(const Expr& f, const Expr& symbol);

/// A symbol and the rate at which it changes.
struct Tangent {
  Expr symbol;
  Expr rate;
};

/// Σ ∂f/∂symbol · rate for each f.
std::vector<Expr> directional(std::span<const Expr> fs, std::span<const Tangent> direction);
Expr directional(const Expr& f, std::span<const Tangent> direction);

}  // namespace mechanician
