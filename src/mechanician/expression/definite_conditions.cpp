#include "mechanician/expression/definite_conditions.hpp"

#include <algorithm>
#include <optional>

#include "mechanician/expression/node.hpp"

namespace mechanician {

namespace {

Truth truth_of_comparison(Op op, const Expr& a, const Expr& b) {
  const Expr unsure = a + b;
  switch (op) {
    case Op::lt:
      return {a < b, a >= b, unsure};
    case Op::le:
      return {a <= b, a > b, unsure};
    case Op::gt:
      return {a > b, a <= b, unsure};
    case Op::ge:
      return {a >= b, a < b, unsure};
    default:
      return {equal_to(a, b), a < b || a > b, unsure};
  }
}

class Rewriting {
 public:
  explicit Rewriting(const PostOrder& order) : order_(order) {
    for (const ExprNode* n : order.nodes) add(n);
  }
  const Expr& operator()(const ExprNode* n) const { return written_[at(n)]; }
  Truth truth(const ExprNode* n) const {
    if (const auto& known = truths_[at(n)]) return *known;
    return {written_[at(n)], !written_[at(n)], 0};
  }

 private:
  std::size_t at(const ExprNode* n) const { return static_cast<std::size_t>(order_.index.at(n)); }

  void add(const ExprNode* n) {
    std::vector<Expr> args;
    bool changed = false;
    for (const ExprNode* a : n->arguments()) {
      args.push_back(written_[at(a)]);
      changed = changed || args.back().node() != a;
    }
    Expr written = changed ? make_raw(n->op, args) : Expr::of(n);
    std::optional<Truth> truth_here;
    if (row_of(n->op).condition && !n->total) {
      const auto& x = n->args;
      if (n->op == Op::logical_not) {
        const Truth a = truth(x[0]);
        truth_here = Truth{a.no, a.yes, a.unsure};
      } else if (n->op == Op::logical_and || n->op == Op::logical_or) {
        const Truth a = truth(x[0]), b = truth(x[1]);
        const Expr unsure = a.unsure.is_zero() ? b.unsure : b.unsure.is_zero() ? a.unsure : a.unsure + b.unsure;
        truth_here = n->op == Op::logical_and ? Truth{a.yes && b.yes, a.no || b.no, unsure}
                                              : Truth{a.yes || b.yes, a.no && b.no, unsure};
      } else {
        truth_here = truth_of_comparison(n->op, args[0], args[1]);
      }
    } else if (n->op == Op::select && !n->args[0]->total) {
      const Truth c = truth(n->args[0]);
      written = select(c.yes, args[1], select(c.no, args[2], c.unsure));
    }
    written_.push_back(written);
    truths_.push_back(std::move(truth_here));
  }

  const PostOrder& order_;
  std::vector<Expr> written_;
  std::vector<std::optional<Truth>> truths_;
};

}  // namespace

Truth truth_of(const Expr& condition) {
  const PostOrder order = post_order(std::span(&condition, 1));
  return Rewriting(order).truth(condition.node());
}

std::vector<Expr> with_definite_conditions(std::span<const Expr> expressions) {
  std::vector<Expr> result(expressions.begin(), expressions.end());
  const PostOrder order = post_order(expressions);
  const bool any = std::any_of(order.nodes.begin(), order.nodes.end(),
                               [](const ExprNode* n) { return n->op == Op::select && !n->args[0]->total; });
  if (!any) return result;
  const Rewriting rewriting(order);
  for (Expr& f : result) f = rewriting(f.node());
  return result;
}

}  // namespace mechanician
