// Nested dissection: a graph is cut in two by a separator, which comes last; then the parts in the same way.
//
// By METIS where that is installed; it is opened when it is needed. Otherwise separators are level sets of a
// breadth-first search from a node at the rim (George, Liu), thinned to what touches both sides; parts of fewer than 64
// nodes are left as they are met. On k×k nets that makes O(k³) products and O(k² log k) entries.
#pragma once

#include <vector>

#include "mechanician/solve/sparse_pattern.hpp"

namespace mechanician {

/// Neighbours both ways, no loops. Every node once.
std::vector<int> dissect(const SparseLists& neighbours);

/// A thin set of nodes whose removal leaves two parts of about the same size; empty where the graph is not connected,
/// not long, or more than `most` nodes are needed.
std::vector<int> find_middle(const SparseLists& neighbours, int most);

/// The same as dissect() without METIS.
std::vector<int> dissect_by_levels(const SparseLists& neighbours);

}  // namespace mechanician
