#include "mechanician/expression/tape.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "mechanician/expression/definite_conditions.hpp"
#include "mechanician/expression/node.hpp"
#include "mechanician/expression/rounding_error.hpp"

namespace mechanician {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

bool is_commutative(Op op) {
  return op == Op::add || op == Op::mul || op == Op::hypot || op == Op::eq || op == Op::logical_and ||
         op == Op::logical_or;
}

struct InstructionHash {
  std::size_t operator()(const Instruction& i) const {
    std::size_t h = static_cast<std::size_t>(i.op);
    for (const std::int32_t x : {i.a, i.b, i.c})
      h = (h ^ static_cast<std::size_t>(x)) * 0x9e3779b97f4a7c15ull, h ^= h >> 29;
    return h;
  }
};
struct InstructionEqual {
  bool operator()(const Instruction& x, const Instruction& y) const {
    return x.op == y.op && x.a == y.a && x.b == y.b && x.c == y.c;
  }
};

}  // namespace

Tape::Tape(std::span<const Expr> given, std::span<const Expr> inputs) : num_inputs_(static_cast<int>(inputs.size())) {
  const std::vector<Expr> outputs = with_definite_conditions(given);
  const PostOrder order = post_order(outputs);
  NodeIndex input_of;
  for (std::size_t i = 0; i < inputs.size(); ++i) input_of.emplace(inputs[i].node(), static_cast<int>(i));

  // Constant subexpressions (1/3, 2·π) are computed here and never again.
  std::vector<char> constant(order.nodes.size(), 0);
  std::vector<double> folded(order.nodes.size(), 0.0);
  const auto at = [&](const ExprNode* n) { return static_cast<std::size_t>(order.index.at(n)); };
  for (std::size_t i = 0; i < order.nodes.size(); ++i) {
    const ExprNode* n = order.nodes[i];
    if (n->op == Op::symbol) continue;
    constant[i] = 1;
    double x[3] = {n->value, 0.0, 0.0};
    for (int k = 0; k < n->num_args; ++k) {
      const std::size_t a = at(n->args[static_cast<std::size_t>(k)]);
      constant[i] = constant[i] && constant[a];
      x[k] = folded[a];
    }
    if (constant[i]) folded[i] = evaluate_operator<double>(n->op, x[0], x[1], x[2]);
    // A constant that is not finite stays in the program, so that its culprit can be found; so does one that is rounding, as sin(π) is,
    // so that bounds show it.
    const bool cancels = n->op == Op::sin || n->op == Op::cos || n->op == Op::add || n->op == Op::sub;
    const double terms = std::abs(x[0]) + std::abs(x[1]);
    if (n->num_args > 0 &&
        (!std::isfinite(folded[i]) || (cancels && folded[i] != 0.0 && std::abs(folded[i]) <= eps * terms)))
      constant[i] = 0;
  }

  std::vector<char> used(order.nodes.size(), 0);
  for (const Expr& f : outputs) used[at(f.node())] = 1;
  for (std::size_t i = order.nodes.size(); i-- > 0;) {
    if (constant[i]) continue;
    for (const ExprNode* a : order.nodes[i]->arguments()) used[at(a)] = 1;
  }

  std::vector<std::int32_t> place(order.nodes.size(), -1);
  for (std::size_t i = 0; i < order.nodes.size(); ++i) {
    if (!constant[i] || !used[i]) continue;
    place[i] = static_cast<std::int32_t>(inputs.size() + constants_.size());
    constants_.push_back(folded[i]);
  }
  const std::size_t first = inputs.size() + constants_.size();
  std::unordered_map<Instruction, std::int32_t, InstructionHash, InstructionEqual> known;
  for (std::size_t i = 0; i < order.nodes.size(); ++i) {
    const ExprNode* n = order.nodes[i];
    if (constant[i]) continue;
    if (n->op == Op::symbol) {
      assert(input_of.contains(n));
      place[i] = input_of.at(n);
      continue;
    }
    Instruction ins{n->op, place[at(n->args[0])], 0, 0};
    ins.b = n->num_args > 1 ? place[at(n->args[1])] : ins.a;
    ins.c = n->num_args > 2 ? place[at(n->args[2])] : ins.a;
    if (is_commutative(ins.op) && ins.b < ins.a) {
      std::swap(ins.a, ins.b);
      ins.c = ins.a;
    }
    const auto [found, fresh] = known.emplace(ins, static_cast<std::int32_t>(first + code_.size()));
    if (fresh) {
      code_.push_back(ins);
      sources_.push_back(Expr::of(n));
    }
    place[i] = found->second;
  }
  for (const Expr& f : outputs) outputs_.push_back(place[at(f.node())]);
}

void Tape::evaluate_with_bounds(std::span<const double> inputs, std::span<double> values,
                                std::span<double> bounds) const {
  const auto size = static_cast<std::size_t>(num_registers());
  std::vector<double> r(size), e(size);
  run<double>(inputs, r);
  const std::size_t first = inputs.size() + constants_.size();
  for (std::size_t i = 0; i < inputs.size(); ++i) e[i] = RoundingError<double>::of_input(r[i]);
  for (std::size_t i = inputs.size(); i < first; ++i) e[i] = RoundingError<double>::of_constant(r[i]);
  for (std::size_t i = 0; i < code_.size(); ++i) {
    const Instruction& ins = code_[i];
    const auto a = static_cast<std::size_t>(ins.a), b = static_cast<std::size_t>(ins.b),
               c = static_cast<std::size_t>(ins.c);
    e[first + i] = RoundingError<double>::of_operator(ins.op, r[first + i], r[a], r[b], r[c], e[a], e[b], e[c]);
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    values[i] = r[static_cast<std::size_t>(outputs_[i])];
    bounds[i] = e[static_cast<std::size_t>(outputs_[i])];
  }
}

std::optional<Tape::Culprit> Tape::find_culprit(int output, std::span<const double> inputs) const {
  std::vector<double> r(static_cast<std::size_t>(num_registers()));
  run<double>(inputs, r);
  auto at = static_cast<std::size_t>(outputs_[static_cast<std::size_t>(output)]);
  if (std::isfinite(r[at])) return std::nullopt;
  const std::size_t first = inputs.size() + constants_.size();
  while (at >= first) {
    const Instruction& ins = code_[at - first];
    const int num_args = sources_[at - first].num_args();
    const std::size_t operand[3] = {static_cast<std::size_t>(ins.a), static_cast<std::size_t>(ins.b),
                                    static_cast<std::size_t>(ins.c)};
    // Only the branch that is taken counts.
    if (ins.op == Op::select && std::isfinite(r[operand[0]])) {
      at = r[operand[0]] != 0.0 ? operand[1] : operand[2];
      continue;
    }
    bool deeper = false;
    for (int k = 0; k < num_args && !deeper; ++k) {
      if (std::isfinite(r[operand[k]])) continue;
      at = operand[k];
      deeper = true;
    }
    if (deeper) continue;
    Culprit culprit{sources_[at - first], {}, r[at]};
    for (int k = 0; k < num_args; ++k) culprit.operands.push_back(r[operand[k]]);
    return culprit;
  }
  return std::nullopt;  // an input was not finite; the caller checks those
}

}  // namespace mechanician
