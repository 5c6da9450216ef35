// Irreducible conflicting sets of rows: sets that contradict, no member of which can be dropped.
//
// Such a set is the support of a left null vector y of A of minimal support (a circuit of the rows) with yᵀb ≠ 0. In
// the matroid of the rows of [A b; 0 1] with the extra element e₀ = (0, …, 0, 1) they are the circuits through e₀; a
// row is in one iff it lies in the same connected component as e₀, which the fundamental circuits of any basis show.
//
// Up to `all_conflicts_up_to` rows in that component: all of them, by depth-first choice of the rows of a left null
// basis that are to vanish, each circuit met once (C(20,10) leaves at worst, well below a second). Beyond: deletion
// filtering, one circuit for every row not yet covered, O(p² d) each.
#pragma once

#include <vector>

#include "mechanician/solve/eigen_kernels.hpp"
#include "mechanician/solve/rank.hpp"

namespace mechanician {

inline constexpr Eigen::Index all_conflicts_up_to = 20;

struct Conflict {
  std::vector<Eigen::Index> rows;  // increasing
  Eigen::VectorXd coefficients;    // y for these rows as given, yᵀA = 0, largest entry in absolute value +1
  double residual = 0;             // yᵀb
  double relative_residual = 0;    // |yᵀb| over Σ|y_j|·tolerance_j·10⁹, that is over the size of the terms
};

/// b and what a residual of each row may be (of the rows as given; both m). Only for a b that is not consistent: there
/// is at least one conflict in the answer. Smallest sets first, then lexicographically.
std::vector<Conflict> find_conflicts(const RowFactor& rows, const Eigen::VectorXd& b, const Eigen::VectorXd& tolerance);

}  // namespace mechanician
