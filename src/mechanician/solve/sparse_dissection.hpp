// Nested dissection: a graph is cut in two by a separator, which comes last; then the parts in the same way.
//
// METIS where the library was built with it. Otherwise separators are level sets of a breadth-first search from a node at
// the rim (George, Liu), thinned to what touches both sides; parts of fewer than 64 nodes are left as they are met.
// On k×k nets that makes O(k³) products and O(k² log k) entries.
#pragma once

#include <vector>

#include "mechanician/solve/sparse_pattern.hpp"

namespace mechanician {

/// Neighbours both ways, no loops. Every node once.
std::vector<int> dissect(const SparseLists& neighbours);

}  // namespace mechanician
