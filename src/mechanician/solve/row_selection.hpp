// The problem with some of its rows, and its answer in the numbering of all rows.
#pragma once

#include <vector>

#include "mechanician/solve/eigen_kernels.hpp"
#include "mechanician/solve/instant_values.hpp"
#include "mechanician/solve/solution.hpp"

namespace mechanician {

/// `rows` increasing; control rows and measured rows among them all or none.
InstantValues select_rows(const InstantValues& values, const std::vector<Eigen::Index>& rows);

/// A solution of select_rows(…, rows) with rows numbered as in the whole: zero multipliers and zero residual elsewhere.
Solution number_as_given(Solution solution, const std::vector<Eigen::Index>& rows, Eigen::Index num_rows,
                         Eigen::Index num_constraint);

}  // namespace mechanician
