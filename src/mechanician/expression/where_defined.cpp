#include "mechanician/expression/where_defined.hpp"

#include <utility>

#include "mechanician/expression/node.hpp"

namespace mechanician {

namespace {

bool is(const Expr& e, double value) { return e.is_constant() && e.value() == value; }

/// Exactly one of both holds.
bool are_opposite(const Expr& a, const Expr& b) {
  if (a.op() == Op::logical_not && same(a.arg(0), b)) return true;
  if (b.op() == Op::logical_not && same(b.arg(0), a)) return true;
  const auto pair = std::pair(a.op(), b.op());
  const bool opposite = pair == std::pair(Op::lt, Op::ge) || pair == std::pair(Op::ge, Op::lt) ||
                        pair == std::pair(Op::le, Op::gt) || pair == std::pair(Op::gt, Op::le);
  return opposite && same(a.arg(0), b.arg(0)) && same(a.arg(1), b.arg(1));
}

Expr decided(Op op, std::span<const Expr> args) {
  switch (op) {
    case Op::eq:
    case Op::le:
    case Op::ge:
      if (same(args[0], args[1])) return Expr(1);
      break;
    case Op::lt:
    case Op::gt:
      if (same(args[0], args[1])) return Expr(0);
      break;
    case Op::logical_not:
      if (args[0].is_constant()) return Expr(args[0].value() == 0.0 ? 1 : 0);
      break;
    case Op::logical_and:
    case Op::logical_or: {
      const double settles = op == Op::logical_or ? 1.0 : 0.0;
      if (is(args[0], settles) || is(args[1], settles) || are_opposite(args[0], args[1])) return Expr(settles);
      if (is(args[0], 1.0 - settles)) return args[1];
      if (is(args[1], 1.0 - settles)) return args[0];
      break;
    }
    case Op::select:
      if (args[0].is_constant()) return args[0].value() != 0.0 ? args[1] : args[2];
      if (args[2].op() == Op::select && are_opposite(args[0], args[2].arg(0)))
        return make_raw(op, std::vector<Expr>{args[0], args[1], args[2].arg(1)});
      break;
    default:
      break;
  }
  return make_raw(op, args);
}

}  // namespace

std::vector<Expr> where_defined(std::span<const Expr> expressions) {
  const PostOrder order = post_order(expressions);
  std::vector<Expr> made;
  made.reserve(order.nodes.size());
  for (const ExprNode* n : order.nodes) {
    std::vector<Expr> args;
    for (const ExprNode* a : n->arguments()) args.push_back(made[static_cast<std::size_t>(order.index.at(a))]);
    made.push_back(args.empty() ? Expr::of(n) : decided(n->op, args));
  }
  std::vector<Expr> result;
  for (const Expr& e : expressions) result.push_back(made[static_cast<std::size_t>(order.index.at(e.node()))]);
  return result;
}

}  // namespace mechanician
