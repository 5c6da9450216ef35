#pragma once

/// The order in which coordinates and rows are eliminated, chosen once for a pattern.
///
/// The nodes of the graph are the unknowns of  [M Aᵀ; A 0] : coordinates 0 … n−1, then rows. Eliminating a node joins
/// its neighbours to each other; what that costs grows with the square of their number. A row is eliminated only after
/// all coordinates it touches: then its pivot is −a M⁻¹aᵀ of what earlier rows leave of it, which is negative whatever
/// the numbers are, and entries never grow (elimination.hpp). Within this rule: greedy, least fill or least degree,
/// whichever comes out cheaper. Chains of bodies get linear cost that way, because rows are interleaved with coordinates.
///
/// Cost: about (number of nodes) × (largest degree)².

#include <optional>
#include <utility>
#include <vector>

namespace mechanician {

struct EliminationGraph {
  int num_coordinates = 0, num_rows = 0;
  std::vector<std::pair<int, int>> edges;  ///< of nodes, each pair once, no loops
};

struct EliminationOrder {
  std::vector<int> nodes;  ///< every node once
  long num_products = 0;   ///< of the factorisation and one solution
};

/// Nothing where more than `most_products` are needed.
std::optional<EliminationOrder> find_elimination_order(const EliminationGraph& graph, long most_products);

}  // namespace mechanician
