#include "mechanician/compile/rank_program.hpp"

#include <numeric>

#include "mechanician/compile/kkt_draft.hpp"

namespace mechanician {

RankProgramResult make_rank_program(const Equations& eqs, const ProgramOptions& options) {
  std::vector<int> rows(static_cast<std::size_t>(eqs.num_constraints()));
  std::iota(rows.begin(), rows.end(), 0);
  KktDraft draft(eqs, options, rows, false);
  if (!draft.problem.empty()) return {std::nullopt, draft.problem};
  RankProgram made;
  for (const auto& row : draft.kept) made.rows.push_back(row.row);
  std::vector<ProgramBuilder::Value> outputs;
  for (const Number& x : draft.elimination->inverse_pivots()) outputs.push_back(draft.numbers.value_of(x));
  for (const Number& x : draft.elimination->row_sizes()) outputs.push_back(draft.numbers.value_of(x));
  made.program = draft.builder.finish(outputs);
  if (static_cast<long>(made.program.steps.size()) > options.most_steps) return {std::nullopt, "too large"};
  return {std::move(made), {}};
}

}  // namespace mechanician
