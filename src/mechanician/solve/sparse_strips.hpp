// Rows and coordinates whose entries lie at equal distances, as the members of a family do: loops without lists.
#pragma once

#include <vector>

#include "mechanician/solve/sparse_plan.hpp"

namespace mechanician {

/// Fills strips, the strips of each run and loose_rows; which positions of runs lie in strips.
std::vector<char> find_strips(SparsePlan& plan);

/// Fills bands and loose_coordinates.
void find_bands(SparsePlan& plan);

}  // namespace mechanician
