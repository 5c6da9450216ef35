#pragma once

/// What expressions have in common that say the same of other things: 3·x² and 4·y² are of one shape.
///
///     shape_of(3·x²)    code: [a number times coordinate 0 squared]   coordinates: {x}   numbers: {3}
///
/// Expressions of the same code are each other with other coordinates and numbers put in. Numbers are only told apart from what is
/// written where sums, products and quotients are made of them: exponents are part of the shape, and so are ±1, 2 and the like,
/// which are seldom data. Codes can be compared as long as the expressions are there. Cost: linear in the nodes.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "mechanician/expression/expression.hpp"

namespace mechanician {

/// What a symbol stands for where it is not part of the shape itself.
struct ShapeLeaf {
  long coordinate = -1;          ///< one of them, or its velocity or acceleration
  std::optional<double> number;  ///< the value of a symbol that is a number
};

struct Shape {
  std::vector<std::uint64_t> code;
  std::vector<long> coordinates;  ///< in the order in which they appear first
  std::vector<double> numbers;    ///< one for each place where one stands
  std::uint64_t hash = 0;         ///< of the code
  std::size_t num_nodes = 0;
};

using LeafOf = std::function<ShapeLeaf(const Expr& symbol)>;

Shape shape_of(const Expr& f, const LeafOf& leaf_of);

/// The expression with these in the places of its numbers, in their order; nothing else is changed.
Expr put_numbers(const Expr& f, const LeafOf& leaf_of, std::span<const Expr> numbers);

}  // namespace mechanician
