#pragma once

/// What a motion is watched by at the end of a step, as a program: energy, how far the state is off the constraints,
/// how the rows lie, and what stands below fraction lines.
///
///     inputs   [t | q | q̇ | parameters that are inputs | sides]
///     outputs  [½ q̇ᵀM q̇ | largest |φ|, |φ̇|, |ψ| | largest distance, of positions and of velocities | entries of A |
///               divisors | Σᵢ |q̇ᵢMᵢⱼ| | |Qⱼ|]
///
/// Distance: to a constraint, with coordinates in their units (motion/sizes.hpp); the last two make the scale of the energy. Both as
/// the certificate of a single run has them (motion/dynamics.hpp).

#include <vector>

#include "mechanician/compile/acceleration_program.hpp"

namespace mechanician {

struct WatchProgram {
  Program program;
  static constexpr int at_kinetic = 0, at_violation = 1, at_distance = 2, at_rate_distance = 3, at_rows = 4;
  std::vector<int> row_begin;  ///< of each of `rows` among the entries, and their end
  int at_divisors = 4, num_divisors = 0, at_momenta = 4;
};

/// options: parameters, varied and sides. `rows`: whose entries are wanted.
WatchProgram make_watch_program(const Equations& eqs, const ProgramOptions& options, const std::vector<int>& rows,
                                const std::vector<Expr>& divisors, const std::vector<double>& units);

}  // namespace mechanician
