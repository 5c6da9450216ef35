#pragma once

/// Definitions that are made of multipliers, as reactions of joints are, at one instant.

#include <string>
#include <vector>

#include "mechanician/instant/accelerate.hpp"
#include "mechanician/instant/system.hpp"

namespace mechanician {

struct Reactions {
  std::vector<std::string> names;
  std::vector<double> values;
  std::vector<std::string>
      undetermined;  ///< names of those that the equations leave open; their values are the least ones
};

/// Empty where the system has none, or is evaluated by kernels.
Reactions calc_reactions(const System& system, const Instant& instant);

}  // namespace mechanician
