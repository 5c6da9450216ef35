// Which of all control forces that meet the requirements: the one of least cost (theory: Control; U05 (14)–(16), (24)).
//
// A force f beside the given ones accelerates by N f under the constraints that act. The forces there are span columns F: u = F τ
// with actuators, whose cost is τᵀR τ; without, F = A₂ᵀ and the cost is Gauss's, Δq̈ᵀM Δq̈ = τᵀ(A₂ N A₂ᵀ)τ. In y, whose length is the
// cost, τ = T y, Δq̈ = D y, and
//
//     minimise ‖y‖²   over   G y = r,  G_j y ≥ r_j (one-sided),  low ≤ T y ≤ high          G = A₂ D,  r = b₂ − A₂ q̈₁
//
// What cannot all be met is met by priority: 1 before 2, and within a priority rows without weight before weighted ones; at each
// stage Σ w_j (G_j y − r_j)² is made as small as what came before allows, and cost decides what is left. Limits are never passed.
//
// Everything is dense and small: as many unknowns as actuators or requirements. The set of limits and one-sided rows that act is
// found by a primal active-set method, starting from a point within the limits; each stage starts where the one before ended.
#pragma once

#include <vector>

#include "mechanician/solve/eigen_kernels.hpp"

namespace mechanician {

struct ControlProgramme {
  struct Row {
    int priority = 1;
    bool one_sided = false;
    double weight = 0.0;  // 0: none is given
  };
  std::vector<Row> rows;      // p
  Eigen::MatrixXd G;          // p×k
  Eigen::VectorXd r;          // p
  Eigen::VectorXd size;       // p: what rows of G would be if nothing cancelled
  Eigen::VectorXd r_size;     // p: sizes of the terms of r
  Eigen::MatrixXd T;          // a×k
  Eigen::VectorXd low, high;  // a, may be infinite; empty: no limits
};

/// What acts: by actuator −1 at its lower limit, +1 at its upper one, 0 in between; one-sided rows that are held.
struct ControlMode {
  std::vector<int> at_limit;
  std::vector<char> held;
  bool operator==(const ControlMode&) const = default;
};

struct ControlAnswer {
  Eigen::VectorXd y;        // k
  Eigen::VectorXd missing;  // p: r − G y, of one-sided rows what is above zero of it
  std::vector<char> met;    // p
  ControlMode mode;
  /// Rows without weight that no y meets, limits or not: those that nothing influences, and sets that contradict each other.
  struct Refusal {
    std::vector<Eigen::Index> rows;
    double missing = 0.0;  // of the combination of unit length of them that nothing influences
  };
  std::vector<Refusal> refused;
};

/// The directions of N F in which force is felt, with cost as length.
struct ControlSpace {
  Eigen::MatrixXd D;  // n×k
  Eigen::MatrixXd T;  // columns of F × k
};
/// X = N F, cost matrix R of the columns (positive semidefinite: what costs nothing must do nothing). `scale`: of columns, √ of what
/// the entries of R would be if nothing cancelled; `zero`: the share of them that is rounding.
ControlSpace make_control_space(const Eigen::MatrixXd& X, const Eigen::MatrixXd& R, const Eigen::VectorXd& scale,
                                double zero);

ControlAnswer solve_control(const ControlProgramme& programme);
/// Rank of G, and rows of it that are there.
Eigen::Index find_control_rank(const ControlProgramme& programme, std::vector<char>& influenced);
/// With what acts as it is: no search. For the stages of a step.
Eigen::VectorXd solve_control_mode(const ControlProgramme& programme, const ControlMode& mode);

}  // namespace mechanician
