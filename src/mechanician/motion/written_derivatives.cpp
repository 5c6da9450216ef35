// Derivatives of written equations by the state, for what is implicit: rows of G and H differentiated one by one, each in
// what it mentions. Made once for all copies, when they are first asked for.

#include <unordered_map>

#include "mechanician/expression/differentiate.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/motion/equation_residuals.hpp"
#include "mechanician/motion/kernels.hpp"
#include "mechanician/motion/written_equations.hpp"

namespace mechanician {

namespace {

constexpr KindSet of_the_state = kind_bit(SymbolKind::coordinate) | kind_bit(SymbolKind::velocity);

bool varies(const Expr& e) { return (e.kinds() & of_the_state) != 0; }

void add(Expr& sum, const Expr& a, const Expr& b, Op op, ResidualTerms which) {
  if (which == ResidualTerms::all || varies(a)) sum = make_simplified(op, {sum, make_simplified(Op::mul, {a, b})});
}

}  // namespace

std::vector<Expr> make_residuals(const Equations& eqs, const std::vector<Expr>& lambda, std::span<const Expr> C,
                                 ResidualTerms which) {
  const auto n = static_cast<std::size_t>(eqs.n());
  std::vector<Expr> rows(eqs.Q);
  for (std::size_t i = 0; i < C.size(); ++i) rows[i] = make_simplified(Op::add, {rows[i], C[i]});
  rows.insert(rows.end(), eqs.b.begin(), eqs.b.end());
  for (const auto& e : eqs.M.entries) add(rows[e.row], e.value, eqs.qdd[e.col], Op::sub, which);
  for (const auto& e : eqs.A.entries) {
    add(rows[e.col], e.value, lambda[e.row], Op::add, which);
    add(rows[n + e.row], e.value, eqs.qdd[e.col], Op::sub, which);
  }
  return rows;
}

std::span<const SparseEntry> WrittenEquations::derivative_pattern() {
  auto& made = made_->derivatives;
  const Equations& frozen = made_->frozen;
  std::call_once(made.once, [&] {
    const int n = facts_.n;
    std::vector<Expr> lambda;
    for (int j = 0; j < facts_.m; ++j)
      lambda.push_back(make_symbol(SymbolKind::parameter, "multiplier " + std::to_string(j)));
    std::unordered_map<const ExprNode*, int> number;  // q, then q̇
    for (int i = 0; i < n; ++i) number.emplace(frozen.q[i].node(), i), number.emplace(frozen.qd[i].node(), n + i);
    const std::vector<Expr> rows = make_residuals(
        frozen, lambda,
        facts_.has_C && !facts_.needs_reactions ? std::span<const Expr>(frozen.C) : std::span<const Expr>(),
        ResidualTerms::of_the_state);
    std::vector<Expr> outputs;
    std::vector<int> entry_of(static_cast<std::size_t>(n), -1);  // of the row, by column
    for (std::size_t row = 0; row < rows.size(); ++row) {
      if (!varies(rows[row])) continue;
      std::vector<Expr> symbols = symbols_of(std::span(&rows[row], 1));
      std::erase_if(symbols, [&](const Expr& s) { return !number.contains(s.node()); });
      const std::vector<Expr> derivatives = gradient(rows[row], symbols);
      const std::size_t first = made.pattern.size();
      for (std::size_t k = 0; k < symbols.size(); ++k) {
        if (derivatives[k].is_zero()) continue;
        const int at = number.at(symbols[k].node()), col = at % n;
        if (entry_of[col] < 0) {
          entry_of[col] = static_cast<int>(made.pattern.size());
          made.pattern.push_back({static_cast<int>(row), col});
        }
        made.outputs.push_back({entry_of[col], at >= n});
        outputs.push_back(derivatives[k]);
      }
      for (std::size_t k = first; k < made.pattern.size(); ++k) entry_of[made.pattern[k].col] = -1;
    }
    std::vector<Expr> in = inputs();
    in.insert(in.end(), frozen.qdd.begin(), frozen.qdd.end());
    in.insert(in.end(), lambda.begin(), lambda.end());
    made.values = compiled(Tape(outputs, in));
  });
  if (!derivative_values_) {
    derivative_values_ = made.values;
    derivative_outputs_.resize(made.outputs.size());
  }
  return made.pattern;
}

bool WrittenEquations::calc_derivatives(const Point& point, std::span<double> by_q, std::span<double> by_qd) {
  set_inputs(point);
  derivative_values_(x_.data(), derivative_outputs_.data());
  std::fill(by_q.begin(), by_q.end(), 0.0), std::fill(by_qd.begin(), by_qd.end(), 0.0);
  const std::vector<DerivativeOutput>& outputs = made_->derivatives.outputs;
  for (std::size_t k = 0; k < outputs.size(); ++k)
    (outputs[k].by_velocity ? by_qd : by_q)[outputs[k].entry] = derivative_outputs_[k];
  return kernels::all_finite(std::ssize(derivative_outputs_), derivative_outputs_.data());
}

}  // namespace mechanician
