#include "mechanician/expression/shape.hpp"

#include <bit>
#include <cmath>
#include <unordered_map>

#include "mechanician/expression/node.hpp"

namespace mechanician {

namespace {

constexpr double most_part_of_shape = 4.0;

bool is_part_of_shape(double x) {
  return x == 0.0 || (std::abs(x) <= most_part_of_shape && 2.0 * x == std::round(2.0 * x));
}

bool takes_numbers(Op op) { return op == Op::add || op == Op::sub || op == Op::mul || op == Op::div || op == Op::neg; }

/// What is written the same way is one node as long as somebody has it.
std::uint64_t as_it_is(const ExprNode* n) { return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(n)); }

/// What is said of an argument beside the node that it is.
enum Mark : std::uint64_t { node_mark = 0, number_mark = 1, literal_mark = 2 };

struct Leaves {
  const PostOrder& order;
  std::vector<ShapeLeaf> of;  ///< by node

  Leaves(const PostOrder& nodes, const LeafOf& leaf_of) : order(nodes), of(nodes.nodes.size()) {
    for (std::size_t i = 0; i < of.size(); ++i) {
      const ExprNode* n = order.nodes[i];
      if (n->op == Op::symbol) of[i] = leaf_of(Expr::of(n));
      if (n->op == Op::constant && !is_part_of_shape(n->value)) of[i].number = n->value;
    }
  }
  bool is_number(const ExprNode* user, std::size_t argument) const {
    return of[argument].number && takes_numbers(user->op);
  }
};

}  // namespace

Shape shape_of(const Expr& f, const LeafOf& leaf_of) {
  const PostOrder order = post_order(std::span(&f, 1));
  const Leaves leaves(order, leaf_of);
  Shape shape;
  shape.num_nodes = order.nodes.size();
  shape.code.reserve(2 * order.nodes.size());
  // Numbers are nothing by themselves: of equal ones there is one node, and of others there are several.
  std::vector<std::uint64_t> number_of(order.nodes.size(), 0);
  std::uint64_t next = 0;
  std::unordered_map<long, std::size_t> place_of;
  for (std::size_t i = 0; i < order.nodes.size(); ++i) {
    const ExprNode* n = order.nodes[i];
    const ShapeLeaf& leaf = leaves.of[i];
    if (n->op == Op::constant || leaf.number) continue;
    number_of[i] = next++;
    shape.code.push_back(static_cast<std::uint64_t>(n->op));
    if (leaf.coordinate >= 0) {
      const auto [place, fresh] = place_of.emplace(leaf.coordinate, shape.coordinates.size());
      if (fresh) shape.coordinates.push_back(leaf.coordinate);
      shape.code.push_back(place->second), shape.code.push_back(static_cast<std::uint64_t>(n->symbol->kind));
    } else if (n->num_args == 0) {
      shape.code.push_back(as_it_is(n));
    }
    for (const ExprNode* a : n->arguments()) {
      const auto k = static_cast<std::size_t>(order.index.at(a));
      if (leaves.is_number(n, k)) {
        shape.code.push_back(number_mark);
        shape.numbers.push_back(*leaves.of[k].number);
      } else if (a->op == Op::constant) {
        shape.code.push_back(literal_mark), shape.code.push_back(std::bit_cast<std::uint64_t>(a->value));
      } else if (leaves.of[k].number) {  // a symbol, where it is an exponent or the like: as it is written
        shape.code.push_back(literal_mark), shape.code.push_back(as_it_is(a));
      } else {
        shape.code.push_back(node_mark), shape.code.push_back(number_of[k]);
      }
    }
  }
  // What is a leaf as a whole has no user.
  if (order.nodes.size() == 1 && (f.is_constant() || leaves.of[0].number)) shape.code.push_back(as_it_is(f.node()));
  std::uint64_t h = 0x9e3779b97f4a7c15u;
  for (const std::uint64_t c : shape.code) h = (h ^ c) * 0xff51afd7ed558ccdu, h ^= h >> 29;
  shape.hash = h;
  return shape;
}

Expr put_numbers(const Expr& f, const LeafOf& leaf_of, std::span<const Expr> numbers) {
  const PostOrder order = post_order(std::span(&f, 1));
  const Leaves leaves(order, leaf_of);
  std::vector<Expr> made;
  made.reserve(order.nodes.size());
  std::vector<Expr> args;
  std::size_t next = 0;
  for (const ExprNode* n : order.nodes) {
    if (n->num_args == 0) {
      made.push_back(Expr::of(n));
      continue;
    }
    args.clear();
    for (const ExprNode* a : n->arguments()) {
      const auto k = static_cast<std::size_t>(order.index.at(a));
      args.push_back(leaves.is_number(n, k) ? numbers[next++] : made[k]);
    }
    made.push_back(make_raw(n->op, args));
  }
  return made.back();
}

}  // namespace mechanician
