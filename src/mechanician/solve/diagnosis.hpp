// What can be said about the constraints at one instant beyond the solution: which rows depend on which, which sets of
// rows contradict, what is left undetermined. Kept apart from solve(), which has no need of it in an inner loop.
//
// A row is redundant if it depends on rows before it. With the left null space of the scaled rows brought into
// bottom-up echelon form (reflections of the columns, so that every decision is one about an orthonormal basis) the
// redundant rows are those with a pivot; there are exactly m − rank of them. Cost m d² + n m k per redundant row, and
// see conflicts.hpp.
#pragma once

#include <vector>

#include "mechanician/solve/conflicts.hpp"
#include "mechanician/solve/eigen_kernels.hpp"
#include "mechanician/solve/factorisation.hpp"
#include "mechanician/solve/instant_values.hpp"

namespace mechanician {

/// A_row = Σ coefficients[i] · A_on[i], rows as given; `on` are rows before it that are not redundant, increasing.
struct Dependence {
  Eigen::Index row = 0;
  std::vector<Eigen::Index> on;  // empty for a row that counts as zero
  std::vector<double> coefficients;
};

struct Diagnosis {
  SolveStatus status = SolveStatus::solved;  // as Solution::status; rows are diagnosed even where M is refused
  Eigen::Index num_rows = 0;
  Eigen::Index rank = 0;
  double rank_gap = 0;
  bool rank_doubtful = false;
  std::vector<Eigen::Index> zero_rows;                 // rows that count as zero
  std::vector<Eigen::Index> redundant;                 // increasing
  std::vector<Dependence> depends;                     // one for each redundant row, in that order
  bool depends_complete = true;                        // false: too much work; some may be named in place of others
  std::vector<Eigen::Index> multipliers_undetermined;  // constraint rows
  std::vector<Eigen::Index> undetermined;              // coordinates
  bool consistent = true;
  bool unique = true;
  bool solvable = true;
  std::vector<Conflict> conflicts;  // empty where consistent
};

Diagnosis diagnose(const Factorisation& f, const InstantValues& values);
Diagnosis diagnose(const InstantValues& values);

}  // namespace mechanician
