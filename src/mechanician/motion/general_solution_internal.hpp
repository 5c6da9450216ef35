#pragma once

// The factors of the general solver at a state, and the rows that are there.

#include <algorithm>
#include <vector>

#include "mechanician/motion/dynamics.hpp"
#include "mechanician/solve/factorisation.hpp"

namespace mechanician {

struct Dynamics::General {
  Factorisation factors;
  InstantValues values;            ///< of the rows below, with C
  std::vector<Eigen::Index> rows;  ///< of the system

  /// By row of the system, zero elsewhere.
  void copy_multipliers(const Solution& solution, int m, double* lambda) const {
    std::fill(lambda, lambda + m, 0.0);
    for (std::size_t k = 0; k < rows.size(); ++k) lambda[rows[k]] = solution.multipliers(static_cast<Eigen::Index>(k));
  }
};

}  // namespace mechanician
