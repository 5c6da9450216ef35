// The parts that the papers use to explain constrained motion, at an instant that was solved. All rows count, control
// requirements included, and b is the one that was used (b_used: measured rows replaced by what they attain).
//
//   e = b − A a, K = M^(1/2)B⁺ = Aᵀ(A M⁻¹Aᵀ)⁺ for the rows as given, K e the ideal force        (U02 13, U05 25)
//   q̈ − a = M⁻¹K e + M⁻¹(c_acting), two M-orthogonal parts                                      (U02 15, U05 10)
//   C = c_acting + c_absorbed, c_absorbed in R(Aᵀ) does nothing; z = M^(−1/2)C                  (U02 9, 31)
//   q̈ = (I − A⁺A)q̈ + A⁺b, the first part the least-norm solution of M_s q̈_A = Δ               (U23 29, 30, 46, 47)
//   Qᶜ = (I − A⁺A)C + the rest on N(A)^⊥                                                        (U23 33, 34)
//   K e = −M^(1/2)B⁺B M^(−1/2)Q + M^(1/2)B⁺b: reactions to forces and to prescribed motion      (K93 33, 42)
#pragma once

#include <optional>

#include "mechanician/solve/eigen_kernels.hpp"
#include "mechanician/solve/factorisation.hpp"
#include "mechanician/solve/instant_values.hpp"
#include "mechanician/solve/solution.hpp"

namespace mechanician {

struct AuxiliarySystem {
  Eigen::MatrixXd Ms;     // n×n, (I − A⁺A) M (I − A⁺A); empty where that is too large
  Eigen::VectorXd Delta;  // n, Q + C − M A⁺b
  Eigen::VectorXd qdd_A;  // n, M_s⁺ Δ
};

struct PowerParts {
  double ideal = 0;        // q̇ᵀQᶜᵢ
  double nonideal = 0;     // q̇ᵀQᶜₙᵢ
  double control = 0;      // q̇ᵀQ_control
  Eigen::VectorXd by_row;  // constraint rows, λ_j (A q̇)_j
};

struct Parts {
  // Only for M > 0.
  std::optional<Eigen::VectorXd> error_signal;        // m
  std::optional<Eigen::MatrixXd> gain;                // n×m
  std::optional<Eigen::VectorXd> deviation;           // n
  std::optional<Eigen::VectorXd> deviation_ideal;     // n
  std::optional<Eigen::VectorXd> deviation_nonideal;  // n
  std::optional<Eigen::VectorXd> z;                   // n
  std::optional<Eigen::VectorXd> reaction_to_forces;  // n
  std::optional<Eigen::VectorXd> reaction_to_motion;  // n

  Eigen::VectorXd c_acting, c_absorbed;                   // n
  Eigen::VectorXd acceleration_null, acceleration_range;  // n, on N(A) and on N(A)^⊥
  Eigen::VectorXd force_null, force_range;                // n, Qᶜ on N(A) and on N(A)^⊥
  AuxiliarySystem auxiliary;
  std::optional<PowerParts> power;  // only with velocities
};

/// Gain and auxiliary system are matrices of all coordinates by all rows or coordinates: on the sparse path they are left out
/// beyond so many entries.
inline constexpr Eigen::Index largest_part_matrix = 1'000'000;

/// Power, where there are velocities.
void add_power(const InstantValues& values, const Solution& solution, const Eigen::VectorXd& qd, Parts& parts);

/// The solution must have an acceleration. qd: n, or empty for no power.
Parts calc_parts(const Factorisation& f, const InstantValues& values, const Solution& solution,
                 const Eigen::VectorXd& qd = {});

}  // namespace mechanician
