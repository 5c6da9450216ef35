#include "mechanician/compile/program_inputs.hpp"

#include <algorithm>

namespace mechanician {

ProgramInputs::ProgramInputs(const Equations& eqs, const ProgramOptions& options) : symbols_{eqs.t} {
  symbols_.insert(symbols_.end(), eqs.q.begin(), eqs.q.end());
  symbols_.insert(symbols_.end(), eqs.qd.begin(), eqs.qd.end());
  if (!options.parameters) symbols_.insert(symbols_.end(), eqs.parameters.begin(), eqs.parameters.end());
  for (const int i : options.varied) symbols_.push_back(eqs.parameters[static_cast<std::size_t>(i)]);
  symbols_.insert(symbols_.end(), options.sides.begin(), options.sides.end());
  count_ = static_cast<int>(symbols_.size());
  for (std::size_t i = 0; options.parameters && i < eqs.parameters.size(); ++i) {
    if (std::find(options.varied.begin(), options.varied.end(), static_cast<int>(i)) != options.varied.end()) continue;
    symbols_.push_back(eqs.parameters[i]);
    built_in_.push_back((*options.parameters)[i]);
  }
}

std::vector<ProgramBuilder::Value> ProgramInputs::values_in(ProgramBuilder& builder) const {
  std::vector<ProgramBuilder::Value> values;
  for (int i = 0; i < count_; ++i) values.push_back(builder.input(i));
  for (const double x : built_in_) values.push_back(builder.constant(x));
  return values;
}

Program make_values_program(const Equations& eqs, const ProgramOptions& options, const std::vector<Expr>& functions) {
  const ProgramInputs inputs(eqs, options);
  ProgramBuilder builder(inputs.count());
  return builder.finish(builder.append(Tape(functions, inputs.symbols()), inputs.values_in(builder)));
}

}  // namespace mechanician
