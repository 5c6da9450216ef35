#pragma once

/// Whether a periodic motion is stable: Floquet's multipliers.
///
/// Small deviations δx of a motion with period T, in independent coordinates and velocities (tangent.hpp), come back after T as X(T) δx.
/// The eigenvalues of the monodromy matrix X(T) are the multipliers: deviations die away where all are inside the unit circle. X is found
/// by integrating the derivatives of the motion along it,
///
///     δq̇ = δv,   δv̇ = ∂q̈/∂q δq + ∂q̈/∂q̇ δv,
///
/// in all coordinates, from a basis of the tangent space: they stay tangent, and no choice of states has to last through the period.
/// Derivatives are exact (motion/acceleration_derivatives.hpp), steps those of DOP853 along the steps of the motion.
///
/// Entries of X are as exact as the steps have made them while they were at their largest, which is more than what is left of
/// some of them at the end: by that much multipliers are uncertain, to first order by their condition (eigenvalues.hpp) and by changes of X
/// of that size that are tried, for first order is not enough where multipliers meet.
///
/// What must come back is not the state but everything that the motion depends on: A and ẋ. An angle may have gone round.

#include "mechanician/analysis/eigenvalues.hpp"
#include "mechanician/motion/integrator.hpp"

namespace mechanician {

struct FloquetOptions {
  double period = 0.0;
  double tolerance = 1e-10;
  Method method = Method::automatic;
  std::vector<double> scale = {};
};

struct Floquet {
  std::string refusal = {};  ///< why there is none
  Place place = {};
  bool stopped = false;  ///< the motion came to no end
  Linearisation begin = {};
  double period = 0.0;
  Eigen::MatrixXd monodromy = {};
  Spectrum multipliers = {};  ///< values of `eigenvalues` are multipliers, by size

  /// By multiplier: it meets another one, as far as digits tell. Rounding δ moves such multipliers by √δ or more, and `uncertainty` is that
  /// large: the two multipliers 1 of every motion that keeps its energy are such ones.
  std::vector<char> meets = {};

  double largest() const;
  /// stable: no multiplier is larger than 1; unstable: one is, by more than it is uncertain; undecided: of those that meet some may be.
  enum class Verdict { stable, unstable, undecided };
  Verdict verdict() const;
};

Floquet find_multipliers(Lineariser& lineariser, const State& start, const FloquetOptions& options);

}  // namespace mechanician
