#include "mechanician/compile/violation_program.hpp"

#include <algorithm>

namespace mechanician {

Program make_violation_program(const Equations& eqs, const ProgramOptions& options) {
  std::vector<Expr> symbols{eqs.t}, residuals;
  symbols.insert(symbols.end(), eqs.q.begin(), eqs.q.end());
  symbols.insert(symbols.end(), eqs.qd.begin(), eqs.qd.end());
  if (options.parameters)
    for (const int i : options.varied) symbols.push_back(eqs.parameters[static_cast<std::size_t>(i)]);
  else
    symbols.insert(symbols.end(), eqs.parameters.begin(), eqs.parameters.end());
  ProgramBuilder builder(static_cast<int>(symbols.size()));
  std::vector<ProgramBuilder::Value> inputs;
  for (int i = 0; i < static_cast<int>(symbols.size()); ++i) inputs.push_back(builder.input(i));
  for (std::size_t i = 0; options.parameters && i < eqs.parameters.size(); ++i) {
    if (std::find(options.varied.begin(), options.varied.end(), static_cast<int>(i)) != options.varied.end()) continue;
    symbols.push_back(eqs.parameters[i]);
    inputs.push_back(builder.constant((*options.parameters)[i]));
  }

  for (const Row& row : eqs.rows) {
    if (row.kind == RowKind::control || row.measured || row.level == Level::acceleration) continue;
    residuals.push_back(row.residual);
    if (row.level == Level::position) residuals.push_back(row.rate);
  }
  ProgramBuilder::Value largest = builder.constant(0.0);
  for (const ProgramBuilder::Value r : builder.append(Tape(residuals, symbols), inputs))
    largest = builder.apply(Op::max, largest, builder.apply(Op::abs, r));
  return builder.finish(std::vector{largest});
}

}  // namespace mechanician
