#pragma once

/// The part of exported C that is the same for every model: steps, projection, what to do where pivots are not to be trusted. @ stands for
/// the prefix.

#include <string_view>

namespace mechanician {

/// Solves for accelerations where straight-line code does not vouch for its answer: Gauss with complete pivoting.
std::string_view c_general_solver();
/// Runge and Kutta's step where the step program of the engine is too long to be written out.
std::string_view c_classical_step();
/// Dormand and Prince's steps of order 8 with projection and dense output.
std::string_view c_adaptive_step();

}  // namespace mechanician
