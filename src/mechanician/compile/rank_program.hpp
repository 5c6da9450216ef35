#pragma once

/// How far rows are from being dependent, as a straight-line program: for every kept row the pivot that the elimination
/// gives it and its size before earlier rows took their part,
///
///     inputs   [t | q | q̇ | parameters, unless built in | sides of switches]
///     outputs  [1/s (one for each kept row) | P (one for each)]
///
/// s/P is the squared sine of the angle between a row and the rows eliminated before it, in the mass metric
/// (elimination.hpp): one of them vanishes where, and only where, the rank drops.

#include "mechanician/compile/acceleration_program.hpp"

namespace mechanician {

struct RankProgram {
  Program program;
  std::vector<int> rows;  ///< kept rows of the equations, in the order of the outputs
};

struct RankProgramResult {
  std::optional<RankProgram> made;
  std::string reason;
};

RankProgramResult make_rank_program(const Equations& eqs, const ProgramOptions& options);

}  // namespace mechanician
