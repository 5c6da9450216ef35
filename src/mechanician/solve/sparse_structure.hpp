// The structure of the core's factor: supernodes (columns with the same neighbours), small pivots, and all lists for
// them.
//
// Columns are joined where they share their rows, and where joining adds few zeros (a share that shrinks with the
// width). Up to 12 rows in all, columns stay single: there a list of targets is faster than a dense block.
#pragma once

#include <vector>

#include "mechanician/solve/sparse_plan.hpp"

namespace mechanician {

struct SparseStructure {
  struct Node {
    int first = 0, width = 0;
    bool dense = false;
    std::vector<int> rows;  // positions in the core, increasing
  };
  std::vector<Node> nodes;
  std::vector<int> node_of;            // by column
  std::vector<sparse::Index> begin;    // of the values of each node, and the end of all
  std::vector<sparse::Index> origins;  // as in SparsePlan

  /// Place in `values`; row > column, both counted within the core.
  sparse::Index entry(int row, int column) const;
  /// Place of a row within a column of this node, to be added to the column's origin.
  int place(const Node& node, int row) const;
};

/// Fills tasks, parts, small, supernodes, pieces, rows, targets, relative, origins, work_size and num_values of the plan.
/// least_products: as in SparsePlanOptions.
SparseStructure find_structure(const SparseLists& neighbours, const SparseOrder& order, SparsePlan& plan,
                               double least_products);

}  // namespace mechanician
