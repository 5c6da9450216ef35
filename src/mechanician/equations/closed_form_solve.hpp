#pragma once

/// Exact solution of small sparse linear systems over rational forms. Internal to the closed forms.

#include <vector>

#include "mechanician/expression/rational.hpp"

namespace mechanician {

struct ExactSolution {
  RationalForm determinant;
  std::vector<std::vector<RationalForm>> x;  ///< one vector for each right-hand side; empty if the determinant is zero
};

/// K x = r for each r in right_sides, by Cramer's rule: determinants by expansion along the rows, each minor once. May
/// throw TooLarge. Sparse rows keep the number of minors small; a dense n×n block costs 2ⁿ.
ExactSolution solve_exactly(RationalField& field, const std::vector<std::vector<RationalForm>>& K,
                            const std::vector<std::vector<RationalForm>>& right_sides);

}  // namespace mechanician
