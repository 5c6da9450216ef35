#pragma once

/// Everything that can be said about one instant of a large system, as instant/accelerate.hpp does of one that is written out:
/// acceleration, forces, and which rows depend on which, contradict, or leave something open.
///
///     LargeInstant instant = examine(system, t, q, qd);
///     if (instant.has_acceleration) …
///
/// Elimination first. Where it masks rows or cannot vouch, SparseRobust with explanations; where the rank is still too near
/// to tell, the caller's own finder, if there is one: with the same answer from both the rank counts as decided.
/// Cost: some solutions with the factors, and see sparse_robust.hpp and sparse_diagnosis.hpp.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mechanician/large/large_system.hpp"
#include "mechanician/solve/sparse_diagnosis.hpp"

namespace mechanician {

/// All dependent rows in terms of the others, for instance by SPQR (suitesparse/sparse_rank.hpp).
using SparseRankFinder = std::function<std::vector<SparseDependence>(const SparsePattern&, std::span<const double> M,
                                                                     std::span<const double> A)>;

struct LargeInstant {
  bool has_acceleration = false;
  std::string why;  ///< there is none; one sentence
  std::vector<double> qdd, constraint_force,
      multipliers;        ///< where there is one; multipliers of least norm where not unique
  std::vector<double> a;  ///< M⁻¹Q; empty where M is singular
  std::optional<double> gaussian;
  SparseDiagnosis rows;
  bool rank_by_finder = false;
  bool mass_is_indefinite = false, mass_is_definite = true;
  std::vector<int> negative;  ///< coordinates of a direction of negative mass
  bool unique = true, solvable = true;
  std::vector<int> undetermined;                    ///< coordinates
  double row_residual = 0.0, force_residual = 0.0;  ///< of A q̈ = b and M q̈ = Q + Aᵀλ, largest, against their terms
  double violation = 0.0;                           ///< of the constraints by the state, positions and velocities
  double distance = 0.0;                            ///< the same as RowDistance
  int worst_row = -1;                               ///< there
  double smallest_sine = 1.0;                       ///< of the angle between an independent row and the others
  bool by_robust_path = false;
};

LargeInstant examine(LargeSystem& system, double t, std::span<const double> q, std::span<const double> qd,
                     const SparseRankFinder& finder = {});

}  // namespace mechanician
