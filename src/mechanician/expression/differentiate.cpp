#include "mechanician/expression/differentiate.hpp"

#include <optional>
#include <utility>

#include "mechanician/expression/node.hpp"
#include "mechanician/expression/simplify.hpp"

namespace mechanician {

namespace {

Expr times(const Expr& a, const Expr& b) {
  // A derivative that is structurally zero stays zero, whatever it multiplies.
  if (a.is_zero() || b.is_zero()) return 0;
  return make_simplified(Op::mul, {a, b});
}

/// rate · ∂f/∂argument, with the forms that read better than a product: f'/x instead of f'·(1/x).
Expr chain(const Expr& self, std::span<const Expr> args, int which, const Expr& rate) {
  const OperatorRow& row = row_of(self.op());
  if (row.partial == nullptr || rate.is_zero()) return 0;
  const auto selected = [&](const Expr& if_true, const Expr& if_false) {
    return make_simplified(Op::select, {args[0], if_true, if_false});
  };
  if (row.op == Op::select && which > 0) return which == 1 ? selected(rate, 0) : selected(0, rate);
  if (row.op == Op::div && which == 0) return make_simplified(Op::div, {rate, args[1]});
  return times(rate, row.partial(self, args, which));
}

void accumulate(std::optional<Expr>& sum, const Expr& term) {
  if (term.is_zero()) return;
  sum = sum ? make_simplified(Op::add, {*sum, term}) : term;
}

std::vector<Expr> arguments_of(const ExprNode* n) {
  std::vector<Expr> args;
  for (const ExprNode* a : n->arguments()) args.push_back(Expr::of(a));
  return args;
}

}  // namespace

namespace {

/// Backwards, an adjoint meets the derivative of a branch that is not taken as 0·∂g, and ∂g may have no value there
/// (√x for x < 0). Forwards, the derivative of a branch is complete before the condition chooses.
std::vector<Expr> gradient_forwards(const Expr& f, std::span<const Expr> symbols) {
  std::vector<Expr> result;
  for (const Expr& s : symbols) {
    const Tangent along{s, 1};
    result.push_back(directional(f, std::span(&along, 1)));
  }
  return result;
}

}  // namespace

std::vector<Expr> gradient(const Expr& f, std::span<const Expr> symbols) {
  const PostOrder order = post_order(std::span(&f, 1));
  for (const ExprNode* n : order.nodes)
    if (n->op == Op::select) return gradient_forwards(f, symbols);
  std::vector<Expr> result(symbols.size(), Expr(0));
  NodeIndex wanted;
  for (std::size_t i = 0; i < symbols.size(); ++i) wanted.emplace(symbols[i].node(), static_cast<int>(i));

  // Only nodes that lead to a wanted symbol carry an adjoint.
  std::vector<char> active(order.nodes.size(), 0);
  for (std::size_t i = 0; i < order.nodes.size(); ++i) {
    const ExprNode* n = order.nodes[i];
    active[i] = wanted.contains(n);
    if (n->symbol)
      for (const Expr& d : n->symbol->depends) active[i] |= wanted.contains(d.node());
    for (const ExprNode* a : n->arguments()) active[i] |= active[static_cast<std::size_t>(order.index.at(a))];
  }

  std::vector<std::optional<Expr>> adjoint(order.nodes.size());
  adjoint.back() = Expr(1);
  std::vector<std::optional<Expr>> sums(symbols.size());
  for (std::size_t i = order.nodes.size(); i-- > 0;) {
    const ExprNode* n = order.nodes[i];
    if (!adjoint[i] || !active[i]) continue;
    const Expr bar = *std::exchange(adjoint[i], std::nullopt);
    if (n->op == Op::symbol) {
      if (const auto found = wanted.find(n); found != wanted.end())
        accumulate(sums[static_cast<std::size_t>(found->second)], bar);
      for (const Expr& d : n->symbol->depends)
        if (const auto found = wanted.find(d.node()); found != wanted.end())
          accumulate(sums[static_cast<std::size_t>(found->second)], times(bar, unknown_derivative(Expr::of(n), d)));
      continue;
    }
    const Expr self = Expr::of(n);
    const std::vector<Expr> args = arguments_of(n);
    for (int k = 0; k < n->num_args; ++k) {
      const auto a = static_cast<std::size_t>(order.index.at(n->args[static_cast<std::size_t>(k)]));
      if (active[a]) accumulate(adjoint[a], chain(self, args, k, bar));
    }
  }
  for (std::size_t i = 0; i < symbols.size(); ++i)
    if (sums[i]) result[i] = *sums[i];
  return result;
}

Expr derivative(const Expr& f, const Expr& symbol) { return gradient(f, std::span(&symbol, 1)).front(); }

std::vector<Expr> directional(std::span<const Expr> fs, std::span<const Tangent> direction) {
  const PostOrder order = post_order(fs);
  NodeIndex given;
  for (std::size_t i = 0; i < direction.size(); ++i) given.emplace(direction[i].symbol.node(), static_cast<int>(i));
  const auto rate_of = [&](const ExprNode* n) -> Expr {
    const auto found = given.find(n);
    return found == given.end() ? Expr(0) : direction[static_cast<std::size_t>(found->second)].rate;
  };

  std::vector<Expr> rate(order.nodes.size(), Expr(0));
  for (std::size_t i = 0; i < order.nodes.size(); ++i) {
    const ExprNode* n = order.nodes[i];
    if (n->op == Op::symbol) {
      std::optional<Expr> sum;
      accumulate(sum, rate_of(n));
      for (const Expr& d : n->symbol->depends)
        accumulate(sum, times(unknown_derivative(Expr::of(n), d), rate_of(d.node())));
      if (sum) rate[i] = *sum;
      continue;
    }
    bool moves = false;
    for (const ExprNode* a : n->arguments()) moves |= !rate[static_cast<std::size_t>(order.index.at(a))].is_zero();
    if (!moves) continue;
    const Expr self = Expr::of(n);
    const std::vector<Expr> args = arguments_of(n);
    std::optional<Expr> sum;
    for (int k = 0; k < n->num_args; ++k)
      accumulate(sum, chain(self, args, k,
                            rate[static_cast<std::size_t>(order.index.at(n->args[static_cast<std::size_t>(k)]))]));
    if (sum) rate[i] = *sum;
  }
  std::vector<Expr> result;
  result.reserve(fs.size());
  for (const Expr& f : fs) result.push_back(rate[static_cast<std::size_t>(order.index.at(f.node()))]);
  return result;
}

Expr directional(const Expr& f, std::span<const Tangent> direction) {
  return directional(std::span(&f, 1), direction).front();
}

}  // namespace mechanician
