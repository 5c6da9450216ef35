// The elimination tree of a core cut into parts for threads.
//
// A part is a subtree without the parts below it. What it leaves for columns after it goes to a front of its own: the
// square of the rows of its last column. When the last of its children is done, a part begins: it takes their fronts,
// in order, and goes on. So every sum has its order, whatever the threads do.
//
// Cost of a front: its square, twice; small beside the products of the part.
#pragma once

#include <vector>

#include "mechanician/solve/sparse_structure.hpp"

namespace mechanician {

struct SparseParts {
  struct Part {
    int root = -1;    // its last node, −1 where it is the rest of everything
    int parent = -1;  // part
    int end = 0;      // columns from here on are in the front
    std::vector<int> nodes, children;
  };
  std::vector<Part> parts;  // children first; the last one is the rest
};

/// least_products: of a factorisation, from which on there are parts at all.
SparseParts find_parts(const SparseStructure& structure, double least_products);

}  // namespace mechanician
