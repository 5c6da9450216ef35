// Contacts with Coulomb friction, at the level of accelerations and, with the same equations, of impacts (M v⁻ for Q,
// the required rates after the impact for b, v⁺ for q̈):
//
//   M q̈ = Q + C + Aᵀλ + Σ T_cᵀf_c,   A q̈ = b on two-sided rows,   0 ≤ λ_j ⟂ A_j q̈ − b_j ≥ 0 on one-sided rows,
//   ‖f_c‖ ≤ μ_c N_c,  N_c = λ_row, or |λ_row| where the row is two-sided,  s_c = T_c q̈ − slip_b,c:
//     slides already, direction d:   f_c = −μ_c N_c d
//     no slip so far:                s_c = 0 (sticks), or f_c = −μ_c N_c s_c/‖s_c‖ (starts to slide)
//
// N is the actual normal force, friction included, so sliding makes the matrix unsymmetric, and there may be no answer
// or several (Painlevé). That is found out, not guessed: the equalities are eliminated, contacts that do not feel each
// other are told apart, and in each group all modes (open, sticking, sliding either way; sign of λ) are tried, each of
// them one small linear system and signs to check. One contact that starts to slide in a plane has a direction to be
// found: the roots of a trigonometric polynomial of degree 2, all of them. Several such contacts at once: Newton's
// method from many starts, which proves nothing about further answers. Groups with more than `most_modes` modes:
// a complementarity problem whose pivots lead to one mode, or relaxation over the contacts; then the mode's own equations
// decide.
//
// Modes with dependent rows (two feet that stick): a mode is accepted if some distribution of the forces meets all signs and
// cones, and of these the one of least norm is given. Where distributions differ in the acceleration and all keep the same
// contacts closed (a crate that spins on its corners), that one stands for them: `shared`. Modes with the same
// acceleration are one answer. Dependent two-sided rows with friction: N is that of the least-norm multipliers.
// Signs are decided with a tolerance of 10⁻¹¹ of the sizes in the metric, answers told apart by 10⁻⁷.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mechanician/solve/eigen_kernels.hpp"
#include "mechanician/solve/instant_values.hpp"
#include "mechanician/solve/solution.hpp"

namespace mechanician {

struct FrictionContact {
  Eigen::Index row = 0;       // constraint row of A; one-sided or two-sided; −1: none, λ = 0
  double mu = 0;              // coefficient of friction
  SparseRows T;               // k×n, k = 1 or 2
  Eigen::VectorXd slip_b;     // k
  Eigen::VectorXd direction;  // k, unit direction of the slip velocity; empty where that is zero
  double limit = 0;           // largest friction besides μ N: ‖f‖ ≤ μ N + limit
};

enum class ContactState { open, sticking, sliding };

struct CoulombMode {
  std::vector<ContactState> states;         // by contact
  std::vector<Eigen::VectorXd> directions;  // by contact, k, unit direction of the slip; empty unless sliding
  std::vector<Eigen::Index> holding;        // one-sided rows that hold, with friction or without, increasing
  std::vector<int> sign = {};               // by contact, of λ on two-sided rows; may be empty
};

struct CoulombAnswer {
  CoulombMode mode;
  Eigen::VectorXd qdd;                    // n
  Eigen::VectorXd multipliers;            // m: λ with C and friction
  std::vector<Eigen::VectorXd> friction;  // f by contact, k
  Eigen::VectorXd friction_force;         // n, Σ Tᵀf
  Eigen::VectorXd slack;                  // by position in `one_sided`; exactly 0 where holding
  double violation = 0;                   // how far signs and cones are missed, as a fraction; 0 where all is well
  bool determined = true;  // forces that can be shared in several ways lead to one acceleration, all of them
};

struct CoulombOptions {
  long most_modes = 100000;  // of one group of contacts that feel each other
};

struct CoulombSolution {
  enum class Count {
    none,     // no acceleration satisfies the law
    one,      // proved to be the only one
    shared,   // one of a continuum: contacts share what they carry in more than one way, and each way rubs differently
    several,  // `alternatives` holds what else was found
    unknown,  // an answer was found, or none, but not all modes could be looked at
  };
  SolveStatus status = SolveStatus::solved;  // of the rows without friction: inconsistent, not_finite, … as in solve()
  Count count = Count::none;
  std::optional<CoulombAnswer> answer;      // the first one found where there are several
  std::vector<CoulombAnswer> alternatives;  // other answers; where there is a continuum, examples of it
  long num_modes = 0;                       // that were looked at
  std::string description;                  // a sentence for a message

  // Status inconsistent, and not because of two-sided rows alone: rows that contradict each other, friction or not; see
  // OneSidedSolution.
  std::vector<Eigen::Index> conflict;
};

/// Throws std::invalid_argument for sizes and rows that do not fit; everything else is in the answer.
CoulombSolution solve_coulomb(const InstantValues& values, const std::vector<Eigen::Index>& one_sided,
                              const std::vector<FrictionContact>& contacts, const CoulombOptions& options = {});

/// The equations of one mode, signs looked at but not enforced (`violation`): what a motion needs between events.
/// Nothing where the mode's equations have no solution.
std::optional<CoulombAnswer> solve_coulomb_mode(const InstantValues& values, const std::vector<Eigen::Index>& one_sided,
                                                const std::vector<FrictionContact>& contacts, const CoulombMode& mode);

}  // namespace mechanician
