// solve_one_sided() for many rows that touch few coordinates each, M > 0: the set of holding rows by block principal
// pivoting on  w = S λ + c ≥ 0, λ ≥ 0, wᵀλ = 0  (S = A M⁻¹Aᵀ with unit rows, slightly shifted; c: how far the free
// acceleration misses the rows), then the two-sided answer with that set by refinement on S without shift. Rows that
// change sides do so all at once while that makes progress, else one by one (Murty's rule, which ends for S > 0).
//
// The answer is verified: signs, residuals and pivots must all be beyond doubt, otherwise there is none and the dense way
// has to be gone. 200 contacts in a stack take well below a millisecond.
#pragma once

#include <optional>
#include <vector>

#include "mechanician/solve/one_sided.hpp"

namespace mechanician {

/// `guess`: rows that may hold, increasing. `slack` of the answer has an entry for every row.
std::optional<OneSidedSolution> try_solve_sparse(const InstantValues& values, const std::vector<bool>& one_sided,
                                                 const std::vector<Eigen::Index>& guess);

}  // namespace mechanician
