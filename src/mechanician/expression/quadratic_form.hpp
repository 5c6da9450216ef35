#pragma once

/// Second derivatives of what is of degree two in some symbols, by elimination of what lies between.
///
/// f is a quadratic form of intermediate linear quantities z; each of them, from the outermost inwards, is replaced by what it is made of: z = Σ c y turns a coefficient of z·w
/// into c times as much of y·w. Of the kinetic energy of a tree of bodies, that adds up the inertias of what hangs behind a joint before going on inwards, as composite bodies do,
/// where the gradient of each momentum goes through all of them again: n·depth coefficients instead of products along all branches.

#include <optional>
#include <span>
#include <vector>

#include "mechanician/expression/expression.hpp"

namespace mechanician {

struct QuadraticTerm {
  int row = 0, col = 0;  ///< symbols, row ≤ col
  Expr value;            ///< ∂²f/∂row∂col
};

/// By row and column, those that are not zero. None where f is not seen to be of degree two at most: sums, products, quotients by what is free of the symbols, squares.
/// `symbols` are all of one kind that there are in f.
std::optional<std::vector<QuadraticTerm>> quadratic_terms(const Expr& f, std::span<const Expr> symbols);

}  // namespace mechanician
