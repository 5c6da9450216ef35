#pragma once

/// How the acceleration changes with the state: exactly, and without a matrix that is not sparse.
///
/// With a = q̈ and λ at a state G = Q + C − M a + Aᵀλ and H = b − A a vanish (A: the rows that are kept). So do their
/// changes with the state, where a and λ change along:
///
///     M δa − Aᵀδλ = G_q δq + G_v δv,   A δa = H_q δq + H_v δv                                             (1)
///
/// G_q, G_v, H_q, H_v being derivatives with a and λ held, v = q̇. Newton's system (I − γJ) δ = r of an implicit step is
/// δv = r_v + γδa, δq = r_q + γδv. Put into (1), with p = r_q + γr_v:
///
///     (M − γG_v − γ²G_q) δa − Aᵀδλ = G_q p + G_v r_v
///     (A − γH_v − γ²H_q) δa        = H_q p + H_v r_v                                                      (2)
///
/// n + m unknowns on a pattern that stays; rows that are not kept stand in it as δλ_j = 0. M may be singular: (2) has one
/// solution where (1) has. γ = 0 gives (1) itself, and so ∂q̈/∂q and ∂q̈/∂q̇ times any vector.
///
/// States of first order, z′ = r(q, q̇, z, t), that are stepped as such have no component for their rate: r_v = 0 there, δv = γδa by
/// definition, and their rows of A, (−r_q̇, 1), are those of δv = r_q δq + r_z δz + r_q̇ δq̇. With r_q, r_z from H_v, which is that
/// but for the rate of r_q̇, the row of (2) becomes
///
///     (A − γH_v) δa = (H_v p − A r_v)/γ                                                                   (3)
///
/// Derivatives come from EquationValues. Cost: an evaluation, a factor and a solution of sparse_lu.hpp; nothing is
/// allocated once pivots are chosen.

#include <memory>
#include <vector>

#include "mechanician/motion/dynamics.hpp"
#include "mechanician/motion/newton_system.hpp"
#include "mechanician/solve/sparse_lu.hpp"

namespace mechanician {

class AccelerationDerivatives final : public NewtonSystem {
 public:
  /// Whether they are of use. Friction of what slides, C of reactions and measured rows that depend on others are not in G: their
  /// derivatives are missing, which Newton's iteration can do without, but where differences of f are to be had they are better.
  static bool are_known(const Dynamics& dynamics);
  /// The dynamics must outlive it.
  explicit AccelerationDerivatives(Dynamics& dynamics);

  /// At y = (q, q̇), moved onto the constraints, with the rows that are kept now. False where there is no value.
  bool linearise(double t, std::span<const double> y, std::span<const double> dy) override;
  bool factor(double gamma) override;
  void solve(std::span<double> r) override;
  void forget() override { lu_.forget(); }
  /// Whether states can be stepped by their rates alone: no constraint holds one of them. What solve() does from then on, after factor(γ > 0).
  static bool are_states_free(const EquationFacts& facts);
  void take_states_by_rates() { by_rates_ = are_states_free(dynamics_.facts()); }
  /// δq̈ = ∂q̈/∂q δq + ∂q̈/∂q̇ δq̇, after factor(0).
  void apply(const double* dq, const double* dqd, double* dqdd);

 private:
  static SparseLu make_lu(Dynamics& dynamics);
  void solve_for_acceleration(const double* p, const double* r_v);
  bool is_by_rate(int row) const { return by_rates_ && gamma_ != 0.0 && row >= n_ && of_state_[row - n_]; }

  Dynamics& dynamics_;
  int n_, m_;
  std::vector<SparseEntry> entries_;  ///< of the derivatives
  SparseLu lu_;
  std::vector<char> kept_, of_state_;  ///< by row of constraints
  bool by_rates_ = false;
  double gamma_ = 0.0;
  std::vector<double> M_, A_, by_q_, by_qd_, rates_, x_, p_;
};

}  // namespace mechanician
