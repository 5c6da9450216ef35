#pragma once

/// Safe simplification: the value, the domain and the singularities stay what they were.
///
///   0·f → 0 and f − f → 0 only where f is total (Expr::is_total); 0/f, f/f and √f² stay as they are.
///   Constants are folded only where the result is exact, so that 1/3 prints as 1/3 and 0.1 + 0.2 is not rounded twice.
///   No sum or product is reordered or distributed.
///
/// Cost: one look at a node and its arguments; `simplify` is linear in the number of nodes.

#include <initializer_list>
#include <span>
#include <vector>

#include "mechanician/expression/expression.hpp"

namespace mechanician {

/// The node op(args…), simplified, for arguments that are simplified already.
Expr make_simplified(Op op, std::span<const Expr> args);
inline Expr make_simplified(Op op, std::initializer_list<Expr> args) {
  return make_simplified(op, std::span(args.begin(), args.size()));
}

Expr simplify(const Expr& f);
std::vector<Expr> simplify(std::span<const Expr> fs);

/// What is put in the place of a symbol.
struct Replacement {
  Expr symbol;
  Expr by;
};

/// Every occurrence of the symbols replaced, the result simplified. Linear in the number of nodes.
Expr substitute(const Expr& f, std::span<const Replacement> replacements);
std::vector<Expr> substitute(std::span<const Expr> fs, std::span<const Replacement> replacements);

/// All symbols below the roots, in the order of first appearance.
std::vector<Expr> symbols_of(std::span<const Expr> fs);
/// Number of distinct nodes below the roots.
std::size_t count_nodes(std::span<const Expr> fs);

}  // namespace mechanician
