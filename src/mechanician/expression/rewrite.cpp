#include "mechanician/expression/rewrite.hpp"

#include <algorithm>

#include "mechanician/expression/node.hpp"

namespace mechanician {

Rewriter::Rewriter(std::span<const Expr> fs, std::span<const Expr> symbols)
    : num_symbols_(symbols.size()), made_(symbols.begin(), symbols.end()) {
  const PostOrder order = post_order(fs);
  NodeIndex slots;
  for (std::size_t i = 0; i < symbols.size(); ++i) slots.emplace(symbols[i].node(), static_cast<int>(i));
  // What does not change is put in whole.
  std::vector<const ExprNode*> changing;
  for (const ExprNode* n : order.nodes)
    if (!slots.contains(n) && std::any_of(n->arguments().begin(), n->arguments().end(), [&](const ExprNode* a) {
          const auto slot = slots.find(a);
          return slot != slots.end();
        })) {
      slots.emplace(n, -1);
      changing.push_back(n);
    }
  const auto keep = [&](const ExprNode* n) {
    if (slots.emplace(n, static_cast<int>(made_.size()))) made_.push_back(Expr::of(n));
  };
  for (const ExprNode* n : changing)
    for (const ExprNode* a : n->arguments()) keep(a);
  for (const Expr& f : fs) keep(f.node());
  first_step_ = made_.size();
  for (const ExprNode* n : changing) {
    Step step{n->op, n->num_args, {}};
    for (std::size_t k = 0; k < n->num_args; ++k) step.args[k] = slots.at(n->args[k]);
    slots.renumber(n, static_cast<int>(first_step_ + steps_.size()));
    steps_.push_back(step);
  }
  made_.resize(first_step_ + steps_.size());
  for (const Expr& f : fs) outputs_.push_back(slots.at(f.node()));
  results_.resize(fs.size());
}

std::span<const Expr> Rewriter::operator()(std::span<const Expr> values) {
  std::copy(values.begin(), values.end(), made_.begin());
  std::array<Expr, 3> args;
  for (std::size_t k = 0; k < steps_.size(); ++k) {
    const Step& step = steps_[k];
    const auto count = static_cast<std::size_t>(step.num_args);
    for (std::size_t i = 0; i < count; ++i) args[i] = made_[static_cast<std::size_t>(step.args[i])];
    made_[first_step_ + k] = make_raw(step.op, std::span<const Expr>(args.data(), count));
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) results_[i] = made_[static_cast<std::size_t>(outputs_[i])];
  return results_;
}

}  // namespace mechanician
