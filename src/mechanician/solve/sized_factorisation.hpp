#pragma once

// Factorisations of a choice of rows, where all rows say how large coordinates are that mass says nothing of. See factorisation.hpp.

#include "mechanician/solve/factorisation.hpp"

namespace mechanician {

/// `all`: the rows of which `values` has a choice.
Factorisation factor(const InstantValues& values, const SparseRows& all);
Factorisation factor_dense(const InstantValues& values, const SparseRows& all);

}  // namespace mechanician
