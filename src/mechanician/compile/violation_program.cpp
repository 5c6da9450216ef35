#include "mechanician/compile/violation_program.hpp"

namespace mechanician {

Program make_violation_program(const Equations& eqs, const std::optional<std::vector<double>>& parameters) {
  std::vector<Expr> symbols{eqs.t}, residuals;
  symbols.insert(symbols.end(), eqs.q.begin(), eqs.q.end());
  symbols.insert(symbols.end(), eqs.qd.begin(), eqs.qd.end());
  const auto num_state = static_cast<int>(symbols.size());
  symbols.insert(symbols.end(), eqs.parameters.begin(), eqs.parameters.end());
  for (const Row& row : eqs.rows) {
    if (row.kind == RowKind::control || row.measured || row.level == Level::acceleration) continue;
    residuals.push_back(row.residual);
    if (row.level == Level::position) residuals.push_back(row.rate);
  }

  ProgramBuilder builder(parameters ? num_state : static_cast<int>(symbols.size()));
  std::vector<ProgramBuilder::Value> inputs;
  for (int i = 0; i < static_cast<int>(symbols.size()); ++i)
    inputs.push_back(parameters && i >= num_state ? builder.constant((*parameters)[static_cast<std::size_t>(i - num_state)]) : builder.input(i));
  ProgramBuilder::Value largest = builder.constant(0.0);
  for (const ProgramBuilder::Value r : builder.append(Tape(residuals, symbols), inputs))
    largest = builder.apply(Op::max, largest, builder.apply(Op::abs, r));
  return builder.finish(std::vector{largest});
}

}  // namespace mechanician
