#pragma once

/// Which rows are independent at general states on the constraints.
///
/// Away from the constraints rows may be independent that depend on each other wherever the system can be (three equal
/// parallel rods that hold a platform), so the question is asked at states near the start that are projected onto the
/// constraints. With unknown functions there are no such states: they and the state take random values.

#include <vector>

#include "mechanician/equations/equations.hpp"
#include "mechanician/instant/system.hpp"

namespace mechanician {

struct GenericRows {
  std::vector<int> rows;  ///< that do not depend on rows before them, at the sampled state of highest rank
  bool doubtful = false;  ///< rounding decides about their number, wherever the system can be
};

/// Seeded: always the same answer. `absent`: rows that are not there, one flag for each; empty: all are.
GenericRows find_generic_rows(const System& system, const State& start, const std::vector<char>& absent = {});
std::vector<int> generic_rows_of_unknowns(const Equations& eqs);

}  // namespace mechanician
