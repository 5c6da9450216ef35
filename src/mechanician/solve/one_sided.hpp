// Gauss's principle with inequalities (K93, conclusion 8): at each instant
//
//   minimise ½ q̈ᵀM q̈ − q̈ᵀ(Q + C)  over  A q̈ = b  and, for one-sided rows,  A_j q̈ ≥ b_j,
//   that is  M q̈ = Q + C + Aᵀλ̃,  λ̃_j ≥ 0,  A_j q̈ − b_j ≥ 0,  λ̃_j (A_j q̈ − b_j) = 0 on one-sided rows.
//
// Method: the answer is that of the equalities and the rows that hold, so only the set of holding rows is searched, and
// all numbers come from the two-sided solution with that set: the same rank decisions, the same refinement, the same
// accuracy. First the guess that all rows hold (or those of the warm start) is checked; contacts at rest need no more.
// Otherwise a dual active-set method finds the set (least_distance.hpp says why that one) in the metric of the masses,
// where units do not matter. Singular M: proximal steps, each of them strictly convex, until the set is found.
// Rows whose slack is zero all hold, also those that carry nothing. Where holding rows depend on others, the multipliers
// are those of least norm among the non-negative ones.
//
// Unique for M > 0. For M ≥ 0 unique iff no v ≠ 0 has M v = 0, A v = 0 on equalities and on rows with λ̃ > 0, and
// A v ≥ 0 on the other holding rows.
// Cost: one or two solutions of the two-sided problem, and O(n m) for every change of the set.
#pragma once

#include <vector>

#include "mechanician/solve/eigen_kernels.hpp"
#include "mechanician/solve/instant_values.hpp"
#include "mechanician/solve/solution.hpp"

namespace mechanician {

/// How well the conditions of optimality are met, as fractions of the sizes of accelerations and forces in the metric.
struct Optimality {
  double stationarity = 0;     // M q̈ − Q − C − Aᵀλ̃
  double primal = 0;           // rows missed: equalities either way, one-sided rows below
  double dual = 0;             // negative multipliers of one-sided rows
  double complementarity = 0;  // the lesser of multiplier and slack

  double largest() const;
};

struct OneSidedOptions {
  std::vector<Eigen::Index> warm_start = {};  // one-sided rows expected to hold; empty: all of them
  bool guess_none = false;                    // the guess is that no row holds, whatever `warm_start` says
};

struct OneSidedSolution {
  // As if holding rows were equalities and open ones were not there; rows numbered as given, `multipliers` (0 on open
  // rows), `b_used` and `residual` have an entry for every row. `multipliers` are those of C = 0 with the same rows
  // holding, hence ≥ 0 on one-sided rows where C = 0.
  // inconsistent: the equalities contradict each other, or `conflict` says what does.
  Solution solution;
  Eigen::VectorXd multipliers_joint;  // λ̃ of the constraint rows, with C; ≥ 0 on one-sided rows
  std::vector<Eigen::Index> holding;  // one-sided rows with slack 0, increasing
  Eigen::VectorXd slack;              // A_j q̈ − b_j by position in `one_sided`; ≥ 0, exactly 0 where holding
  Optimality optimality;
  int iterations = 0;  // changes of the set

  // Where equalities and one-sided rows contradict: rows of which none can be left out, increasing, and
  // Σ y_j A_j = 0, y_j ≥ 0 on one-sided rows, Σ y_j b_j > 0, the largest |y_j| = 1.
  std::vector<Eigen::Index> conflict;
  Eigen::VectorXd conflict_coefficients;
};

/// `one_sided`: constraint rows of `values`, none measured, any order. Throws std::invalid_argument where they are not.
OneSidedSolution solve_one_sided(const InstantValues& values, const std::vector<Eigen::Index>& one_sided,
                                 const OneSidedOptions& options = {});

}  // namespace mechanician
