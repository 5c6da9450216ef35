// solve_one_sided() on the sparse path: the set of holding rows by exchanges, each of them one elimination with the rows of
// the set as equalities (row_solver.hpp). Rows that pull leave, rows that are violated enter, all at once while that makes
// progress, else one by one (Murty's rule, which ends where rows are independent).
//
// Where exchanges do not end (rows that depend on each other): one solution with the equalities for each one-sided row, and
// the dual active-set method of least_distance.hpp on what these leave,
//
//   minimise ½ λᵀW λ + w₀ᵀλ over λ ≥ 0,   W = N X, w₀ = N q̈₀ − d        (N q̈ ≥ d the one-sided rows)
//
// which also says what contradicts. The answer is verified: signs, residuals and rank must all be beyond doubt, otherwise
// there is none and the dense way has to be gone. Masses that are singular: where the rows that carry something leave
// nothing open.
#pragma once

#include <optional>
#include <vector>

#include "mechanician/solve/one_sided.hpp"

namespace mechanician {

/// `guess`: rows that may hold, increasing; no row measured. `slack` of the answer has an entry for every row.
std::optional<OneSidedSolution> try_solve_sparse(const InstantValues& values, const std::vector<bool>& one_sided,
                                                 const std::vector<Eigen::Index>& guess);

}  // namespace mechanician
