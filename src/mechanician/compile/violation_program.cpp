#include "mechanician/compile/violation_program.hpp"

#include <limits>

#include "mechanician/compile/bounded_values.hpp"
#include "mechanician/compile/program_inputs.hpp"

namespace mechanician {

namespace {

using Value = ProgramBuilder::Value;

bool takes_part(const Row& row) {
  return row.kind != RowKind::control && !row.measured && row.level != Level::acceleration;
}

}  // namespace

Program make_violation_program(const Equations& eqs, const ProgramOptions& options) {
  const ProgramInputs inputs(eqs, options);
  ProgramBuilder builder(inputs.count());
  std::vector<Expr> residuals;
  for (const Row& row : eqs.rows) {
    if (!takes_part(row)) continue;
    residuals.push_back(row.residual);
    if (row.level == Level::position) residuals.push_back(row.rate);
  }
  Value largest = builder.constant(0.0);
  for (const Value r : builder.append(Tape(residuals, inputs.symbols()), inputs.values_in(builder)))
    largest = builder.apply(Op::max, largest, builder.apply(Op::abs, r));
  return builder.finish(std::vector{largest});
}

Program make_meeting_program(const Equations& eqs, const ProgramOptions& options) {
  enum What : std::size_t { positions, velocities, one_sided };
  const ProgramInputs inputs(eqs, options);
  ProgramBuilder builder(inputs.count());
  std::vector<Expr> residuals;
  std::vector<What> what;
  for (const Row& row : eqs.rows) {
    if (!takes_part(row)) continue;
    residuals.push_back(row.residual);
    what.push_back(row.one_sided ? one_sided : row.level == Level::position ? positions : velocities);
    // A rate below zero at a one-sided constraint is an impact.
    if (row.level == Level::position && !row.one_sided) residuals.push_back(row.rate), what.push_back(velocities);
  }
  const BoundedValues r = append_with_bounds(builder, Tape(residuals, inputs.symbols()), inputs.values_in(builder));
  std::vector<Value> least(3, builder.constant(std::numeric_limits<double>::max()));
  for (std::size_t i = 0; i < what.size(); ++i) {
    const Value allowed = builder.mul(builder.constant(4.0), r.bounds[i]);
    const Value margin = what[i] == one_sided ? builder.add(allowed, r.values[i])
                                              : builder.sub(allowed, builder.apply(Op::abs, r.values[i]));
    least[what[i]] = builder.apply(Op::min, least[what[i]], margin);
  }
  return builder.finish(least);
}

}  // namespace mechanician
