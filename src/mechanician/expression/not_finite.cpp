#include "mechanician/expression/not_finite.hpp"

#include <fmt/format.h>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/print.hpp"

namespace mechanician {

std::string NotFinite::message() const {
  if (!problem.empty()) return problem;
  return fmt::format("{} is not a finite number: {}{}", quantity, expression,
                     operands.empty() ? "" : fmt::format(" ({})", operands));
}

NotFinite explain_not_finite(const Tape& tape, int output, std::span<const double> inputs, std::string quantity,
                             Place place) {
  NotFinite result{std::move(quantity), "an input is not finite", {}, place};
  const auto culprit = tape.find_culprit(output, inputs);
  if (!culprit) return result;
  result.expression = print(culprit->expression, {.format = PrintFormat::text, .max_length = 200});
  std::vector<std::string> operands;
  for (const double x : culprit->operands) operands.push_back(number_text(x));
  const OperatorRow& row = row_of(culprit->expression.op());
  if (row.op == Op::lookup)
    result.operands = explain_lookup(culprit->operands[0], culprit->operands[1], culprit->operands[2]);
  else if (row.op == Op::div && culprit->operands[1] == 0.0)
    result.operands = fmt::format("{} divided by zero", operands[0]);
  else
    result.operands = fmt::format("`{}` of {} is {}", row.name, join_and(operands), number_text(culprit->value));
  return result;
}

}  // namespace mechanician
