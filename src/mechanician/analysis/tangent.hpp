#pragma once

/// Which coordinates and velocities are independent at a state on the constraints, and how all others go with them.
///
///     φ_q δq = 0,    φ̇_q δq + φ_q δq̇ = 0,    ψ_q δq + ψ_q̇ δq̇ + ψ_u δu = 0                                   (1)
///
/// The states x are independent coordinates, then independent velocities, which belong to some of them: n − h and n − h − s of them where
/// all rows are independent. They are coordinates of the motion itself, at all times, wherever the constraints move: q̇_I is
/// the rate of q_I and q̈_J that of q̇_J.
///
/// What depends is chosen by pivots, in units of what coordinates weigh, so that it is well determined by the rest; coordinates
/// without mass depend first, then velocities of coordinates that nothing depends on (where a wheel is), and what the caller wants for
/// states last.

#include <span>
#include <string>
#include <vector>

#include "mechanician/analysis/implicit_equations.hpp"
#include "mechanician/solve/eigen_decompositions.hpp"

namespace mechanician {

struct TangentSpace {
  std::vector<int> positions;   ///< I: independent coordinates, increasing
  std::vector<int> velocities;  ///< J: those with independent velocities, increasing, all of I
  /// δq and δq̇ of all coordinates for unit changes of the states, then of the inputs; with bounds of rounding.
  Eigen::MatrixXd q, qd, q_noise, qd_noise;
  /// A coordinate that was wanted and is not independent, with those wanted before it; −1: none.
  int not_independent = -1;
  bool not_independent_v = false;  ///< its velocity is

  int num_states() const { return static_cast<int>(positions.size() + velocities.size()); }
};

struct TangentRows {
  std::span<const int> positions;  ///< holonomic rows that are independent
  std::span<const int> nonholonomic;
  int rank = 0;                   ///< of all these together
  std::span<const double> units;  ///< of coordinates
  std::span<const char> has_mass;
  std::span<const char> idle;  ///< coordinates that nothing depends on: their velocities are the next to depend
  std::span<const int> wanted, wanted_v;  ///< coordinates, and those whose velocities are
  int num_inputs = 0;
};

/// Of equations that were evaluated at the state.
TangentSpace find_tangent_space(const ImplicitEquations& equations, const TangentRows& rows);

}  // namespace mechanician
