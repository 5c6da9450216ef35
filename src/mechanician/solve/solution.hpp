// The answer at one instant. M q̈ = Q + Qᶜ + Q_control, Qᶜ = Qᶜᵢ + Qᶜₙᵢ, Qᶜᵢ = Aᵀλ.
#pragma once

#include <optional>
#include <vector>

#include "mechanician/solve/eigen_kernels.hpp"
#include "mechanician/solve/mass.hpp"

namespace mechanician {

/// Why there is or is not an acceleration. What comes first in this list is reported first.
enum class SolveStatus {
  solved,
  not_finite,            // a given number is infinite or not a number
  mass_not_symmetric,    // see Solution::mass
  mass_indefinite,       // M has a negative eigenvalue, see Solution::mass
  weights_not_definite,  // W is not symmetric positive definite
  inconsistent,          // rows contradict each other and carry no weights
  unsolvable,            // no acceleration exists: a force acts where there is neither mass nor constraint
  not_unique,            // M and A do not determine the acceleration
  form_not_applicable,   // forms F1 to F3 need M > 0
  requirements_not_met,  // of control: nothing influences one, or they contradict each other
};

/// One line in words.
const char* describe(SolveStatus status);

/// Where rows contradict each other: minimise ‖A q̈ − b‖, rows as given and all equally trusted; Gauss decides the rest.
struct LeastSquaresMotion {
  Eigen::VectorXd b;         // m, A A⁺ b, Euclidean
  Eigen::VectorXd residual;  // m, b − A A⁺ b
  Eigen::VectorXd qdd;       // n; empty where it is not unique
};

struct Solution {
  SolveStatus status = SolveStatus::solved;
  bool has_acceleration() const { return status == SolveStatus::solved; }

  // With an acceleration. Where it is not unique: after add_determined() what is determined of q̈, NaN for the rest, and the
  // forces, which are. Empty otherwise.
  Eigen::VectorXd qdd;              // n
  Eigen::VectorXd Qc, Qc_i, Qc_ni;  // n, force of the constraints and its ideal and non-ideal part
  Eigen::VectorXd Q_control;        // n, control force, which is not found here (control.hpp): zero
  Eigen::VectorXd multipliers;      // m, λ of the ideal problem (C = 0), least norm where not unique
  Eigen::VectorXd b_used;           // m, b with the measured rows replaced by what they can attain
  std::optional<double> gaussian;   // (M q̈ − Q)ᵀ M⁻¹ (M q̈ − Q), M > 0 only

  // Whenever the numbers are finite and M is a mass matrix.
  std::optional<Eigen::VectorXd> a;  // unconstrained acceleration, M > 0 only
  MassCheck mass;
  Eigen::Index rank = 0;
  Eigen::Index num_rows = 0;
  double rank_gap = 0;  // see RowFactor
  bool rank_doubtful = false;
  bool consistent = true;  // of b as given, weights or not
  bool unique = true;      // rank[M; A] = n
  bool solvable = true;    // true where unique
  bool multipliers_unique = true;
  std::vector<Eigen::Index> multipliers_undetermined;  // rows in the span of other rows
  std::vector<Eigen::Index> undetermined;              // coordinates that take part in undetermined directions
  Eigen::MatrixXd undetermined_directions;             // n×p, M v = 0 and A v = 0, largest entry of each column 1
  Eigen::VectorXd residual;                         // m, part of b that contradicts, in scaled rows (see Consistency)
  std::optional<LeastSquaresMotion> least_squares;  // only where inconsistent and not weighted
};

}  // namespace mechanician
