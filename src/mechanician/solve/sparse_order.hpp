// The order in which the unknowns of a large sparse system are eliminated, chosen once for a pattern.
//
// The nodes are rows and the coordinates whose masses are coupled. A row comes after its coordinates, so that pivots
// have their signs whatever the numbers are (as in compile/elimination_order.hpp). Three steps:
//
//   1. Trees. Rows that touch uncoupled coordinates only and have at most one neighbour left are taken away, again and
//      again, from all ends at the same pace. They cause no fill. What remains of a chain is nothing; its two halves
//      are two runs, which can be worked on side by side.
//   2. The core. Least degree (Amestoy, Davis, Duff, from Eigen) on the graph as it is, rows put off until after their
//      coordinates; the same on the graph in which rows join their coordinates, each row placed after its last
//      coordinate: there a row in waiting touches the boundary of what is eliminated, so that fill stays within a
//      constant of that of M + AᵀA; and nested dissection. The cheapest by count of products is taken. Where that is a
//      long narrow band, it is cut in the middle, so that pivots of both halves are under way at the same time.
//   3. Postorder of the elimination tree, for supernodes.
//
// Cost: O(entries of the factor) at worst, O(nodes) for trees.
#pragma once

#include <vector>

#include "mechanician/solve/sparse_pattern.hpp"

namespace mechanician {

/// Neighbours of each node, both ways, sorted, no loops.
struct SparseGraph {
  SparseLists neighbours;
  std::vector<char> is_row;  // by node

  int size() const { return neighbours.size(); }
};

enum class SparseOrdering { automatic, least_degree, joined_rows, dissection, halved };

/// Nodes that were taken away as trees, in runs: each node of a run is the only neighbour left of the one before.
struct SparseRuns {
  std::vector<int> nodes;        // run after run
  std::vector<int> begin = {0};  // of runs in `nodes`
  std::vector<int> parent;       // node that follows a run, −1 for none
  std::vector<int> level;        // a run of level k takes from runs of lower levels only; increasing
};

SparseRuns strip_trees(const SparseGraph& graph);

struct SparseOrder {
  std::vector<int> nodes;   // every node of the graph once
  std::vector<int> parent;  // elimination tree, by position; −1 for roots
  std::vector<int> count;   // entries below the diagonal, by position
  double num_products = 0;  // of a factorisation
  SparseOrdering chosen = SparseOrdering::least_degree;
};

/// Two parts of the elimination tree that do not touch, [first, last) each, to be worked on in turns; empty for none.
struct SparseHalves {
  int first[2] = {0, 0}, last[2] = {0, 0};
};
SparseHalves find_halves(const std::vector<int>& parent);

SparseOrder find_sparse_order(const SparseGraph& graph, SparseOrdering wanted);

}  // namespace mechanician
