#pragma once

/// Impacts: the minimum principle on the jump of the velocities.
///
///     minimise ½ (v⁺ − v⁻)ᵀM(v⁺ − v⁻)  over  A Δv = 0 kept by all equalities,
///     γ_j⁺ ≥ −e_j γ_j⁻  for every touching constraint φ_j ≥ 0 with γ_j⁻ = φ̇_j ≤ 0,    ψ_j⁺ ≥ 0
///
/// All contacts that touch and do not separate take part at once (Newton's restitution, Moreau's law). With impulses
/// Λ ≥ 0 complementary to it the kinetic energy changes by ½ Σ Λ_j(1 − e_j)γ_j⁻ ≤ 0 where nothing moves by itself. A
/// contact that was separating and comes out closing begins another impact at the same time. Control forces are finite
/// and have no part in it: what they require is off afterwards, and is met again as they say.
///
/// Friction: impulses Tᵀf with ‖f‖ ≤ μΛ, against the slip after the impact, zero slip where that suffices. Newton's and
/// Coulomb's law together can add energy (slip that turns round): then the restitution of the whole impact is lowered
/// to the largest part of it that does not.

#include <string>
#include <vector>

#include "mechanician/instant/contacts.hpp"

namespace mechanician {

struct Impact {
  SolveStatus status = SolveStatus::solved;
  std::string trouble;            ///< why there is no answer; empty: there is
  Eigen::VectorXd qd_after;       ///< n
  Eigen::VectorXd impulses;       ///< m, by row
  std::vector<int> contacts;      ///< indices of the contacts with an impulse
  double energy_lost = 0.0;       ///< in the contacts, by restitution below 1
  double friction_lost = 0.0;     ///< by friction
  double surface_work = 0.0;      ///< done on the system by constraints that move
  double restitution_part = 1.0;  ///< below 1: lowered so that friction adds no energy
};

/// `contacts`: classified, those that take part with status impact or touching.
Impact calc_impact(const System& system, const State& state, const Evaluation& now,
                   const std::vector<Contact>& contacts);

}  // namespace mechanician
