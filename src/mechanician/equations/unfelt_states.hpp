#pragma once

/// The equations of what has a mass, beside states of first order that act on it through expressions alone.

#include <vector>

#include "mechanician/equations/equations.hpp"

namespace mechanician {

/// Without the coordinates and rows of states that no other row mentions (RowTraits::unfelt): M, Q, A, b and C of the others are what
/// they were, with such states as symbols in them. `rows`: indices of rows, which are taken along.
Equations without_unfelt_states(const Equations& eqs, std::vector<int>& rows);

}  // namespace mechanician
