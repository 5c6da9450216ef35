#include "mechanician/compile/projection_program.hpp"

#include <algorithm>

#include "mechanician/compile/kkt_draft.hpp"

namespace mechanician {

ProjectionProgramResult make_projection_program(const Equations& eqs, ProjectionOf what,
                                                const ProgramOptions& options) {
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  ProjectionProgram made;
  for (int j = 0; j < eqs.m(); ++j) {
    const Row& row = eqs.rows[at(j)];
    if (row.kind == RowKind::control || row.measured || row.level == Level::acceleration) continue;
    if (what == ProjectionOf::positions && row.level != Level::position) continue;
    made.rows.push_back(j);
  }
  if (made.rows.empty()) return {std::nullopt, "nothing to project onto"};
  KktDraft draft(eqs, options, made.rows, true);
  if (!draft.problem.empty()) return {std::nullopt, draft.problem};

  const auto residual = [&](int j) {
    const Row& row = eqs.rows[at(j)];
    return what == ProjectionOf::velocities && row.level == Level::position ? row.rate : row.residual;
  };
  std::vector<Number> f(at(eqs.n()), constant_number(0.0)), g;
  for (const auto& row : draft.kept) g.push_back(-draft.scaled_rhs(row, residual(row.row)));
  std::vector<Expr> residuals;
  for (const int j : made.rows) residuals.push_back(residual(j));
  std::vector<Number> outputs = draft.solve(f, g).x;
  const Number vouch = draft.calc_vouch(outputs);

  made.n = eqs.n();
  made.path = draft.path;
  made.at_residuals = static_cast<int>(outputs.size());
  const std::vector<Number> r = draft.evaluate(residuals);
  outputs.insert(outputs.end(), r.begin(), r.end());
  made.at_vouch = static_cast<int>(outputs.size());
  outputs.push_back(vouch);
  std::vector<ProgramBuilder::Value> values;
  for (const Number& x : outputs) values.push_back(draft.numbers.value_of(x));
  made.program = draft.builder.finish(values);
  if (static_cast<long>(made.program.steps.size()) > options.most_steps) return {std::nullopt, "too large"};
  return {std::move(made), {}};
}

}  // namespace mechanician
