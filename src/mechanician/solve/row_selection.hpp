// The problem with some of its rows, and its answer in the numbering of all rows.
#pragma once

#include <vector>

#include "mechanician/solve/diagnosis.hpp"
#include "mechanician/solve/eigen_kernels.hpp"
#include "mechanician/solve/instant_values.hpp"
#include "mechanician/solve/parts.hpp"
#include "mechanician/solve/solution.hpp"

namespace mechanician {

/// `rows` increasing; all measured rows must be among them.
InstantValues take_rows(const InstantValues& values, const std::vector<Eigen::Index>& rows);

/// A vector by row of the subset as one by row of the whole, zero elsewhere; `count`: size of the result.
Eigen::VectorXd spread_rows(const Eigen::VectorXd& x, const std::vector<Eigen::Index>& rows, Eigen::Index count);

/// Row indices and vectors by row in terms of the whole: zero multipliers and zero residual elsewhere.
void restore_rows(Solution& solution, const std::vector<Eigen::Index>& rows, const InstantValues& whole);
void restore_rows(Diagnosis& diagnosis, const std::vector<Eigen::Index>& rows);
void restore_rows(Parts& parts, const std::vector<Eigen::Index>& rows, const InstantValues& whole);

}  // namespace mechanician
