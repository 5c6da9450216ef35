// The point of a polyhedron that is nearest to a given one, by a dual active-set method (Goldfarb and Idnani 1983):
//
//   minimise ½‖y − g‖²  over  z_jᵀy = b_j (equalities)  and  z_jᵀy ≥ b_j (inequalities),  ‖z_j‖ = 1
//
// which is Gauss's principle with inequalities (K93, conclusion 8) in the metric of the masses, y = Lᵀq̈, g = L⁻¹(Q + C).
// Why this method: it starts from the solution of the equalities, keeps the multipliers ≥ 0 and adds the row that is
// violated most, so every row it works with is independent of the others in the set, redundant rows never enter
// together, every full step raises the least distance and nothing can cycle. A row that depends on the set and cannot
// be exchanged is a certificate that there is no answer (Farkas): the rows of the dependence contradict each other, and
// because all but one are independent, none of them can be left out.
//
// The set is kept as a thin QR factorisation, V R, updated by Gram–Schmidt (twice) and plane rotations: O(n q) a step,
// O(n r) for the choice of the row. The y found is good to eps·κ; solve_one_sided() uses the set only.
#pragma once

#include <vector>

#include "mechanician/solve/eigen_kernels.hpp"

namespace mechanician {

struct LeastDistanceProblem {
  Eigen::MatrixXd Z;                   // n×m, unit columns (zero columns are never violated nor active)
  Eigen::VectorXd b;                   // m
  Eigen::VectorXd g;                   // n
  std::vector<Eigen::Index> equality;  // columns; may be dependent, must be consistent
  std::vector<Eigen::Index> inequality;
  // A row is violated by more than tolerance + relative·‖y‖; rows that depend on others contradict them where they miss
  // by more than contradiction + relative_contradiction·‖y‖, summed over the rows of the dependence.
  Eigen::VectorXd tolerance;      // m
  Eigen::VectorXd contradiction;  // m, ≥ tolerance
  double relative = 1e-12;
  double relative_contradiction = 1e-9;
  double independent = 1e-12;  // sine of the angle below which a row counts as dependent on others
};

struct LeastDistance {
  enum class Outcome { found, infeasible, gave_up };
  Outcome outcome = Outcome::found;
  Eigen::VectorXd y;                 // n
  std::vector<Eigen::Index> active;  // inequalities of the set, independent of each other and of the equalities
  Eigen::VectorXd multipliers;       // of these, ≥ 0
  int iterations = 0;
  // Infeasible: Σ coefficients · z = 0, ≥ 0 on inequalities, Σ coefficients · b > 0.
  std::vector<Eigen::Index> conflict;  // irreducible
  Eigen::VectorXd coefficients;
};

LeastDistance find_least_distance(const LeastDistanceProblem& problem);

}  // namespace mechanician
