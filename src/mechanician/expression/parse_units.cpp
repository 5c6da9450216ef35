// Units of what operators and functions make.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mechanician/expression/parser_internal.hpp"

namespace mechanician::parsing {

bool Parser::refuse_units(std::size_t begin, std::size_t end, const Measure& a, const Measure& b) {
  MeasureProblem p = explain_mismatch(a, b);
  complain(begin, end - begin, std::move(p.message), std::move(p.hint));
  return true;
}

Measure Parser::as_term(const Operand& operand) {
  return operand.value.is_constant() && operand.value.value() == 0.0 && !operand.is_vector() ? Measure{}
                                                                                             : operand.measure;
}

Measure Parser::in_common(const Operand& a, const Operand& b) {
  if (!scope_.measure) return {};
  const Measure x = as_term(a), y = as_term(b);
  const auto both = common(x, y);
  if (!both) refuse_units(a.begin, b.end, x, y);
  return both.value_or(Measure{});
}

Measure Parser::measure_of_infix(const Operand& left, Op op, const Operand& right) {
  if (!scope_.measure) return {};
  switch (op) {
    case Op::mul:
      return product(left.measure, right.measure, 1.0);
    case Op::div:
      return product(left.measure, right.measure, -1.0);
    case Op::pow: {
      if (!may_be_plain(right.measure))
        complain(right.begin, right.end - right.begin,
                 fmt::format("an exponent has no unit, and this is in {}", text_of(right.measure.dimension)));
      const Expr& e = right.value;
      std::optional<double> exponent;
      if (e.is_constant()) exponent = e.value();
      if (e.op() == Op::neg && e.arg(0).is_constant()) exponent = -e.arg(0).value();
      if (e.op() == Op::div && e.arg(0).is_constant() && e.arg(1).is_constant())
        exponent = e.arg(0).value() / e.arg(1).value();
      return power(left.measure, exponent);
    }
    default:
      break;
  }
  const bool number = op == Op::add || op == Op::sub;
  const bool compared = !number && !right.value.is_condition();
  if (!number && !compared) return {};
  const Measure both = in_common(left, right);
  return number ? both : Measure{};
}

std::optional<Measure> Parser::measure_of_call(const Pending& open, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k)
    if (operands_[open.first_operand + k].is_vector()) {
      refuse_vector(operands_[open.first_operand + k]);
      return std::nullopt;
    }
  if (!scope_.measure) return Measure{};
  const auto arg = [&](std::size_t k) -> const Operand& { return operands_[open.first_operand + k]; };
  const Measure plain{Measure::Kind::known};
  switch (open.row->op) {
    case Op::sqrt:
      return power(arg(0).measure, 0.5);
    case Op::abs:
      return arg(0).measure;
    case Op::sign:
      return plain;
    case Op::select:
      return in_common(arg(1), arg(2));
    case Op::min:
    case Op::max:
    case Op::hypot: {
      Measure all = arg(0).measure;
      for (std::size_t k = 1; k < count; ++k) {
        Operand so_far = arg(0);
        so_far.measure = all, so_far.value = k > 1 ? Expr(1.0) : so_far.value;
        all = in_common(so_far, arg(k));
      }
      return all;
    }
    case Op::atan2:
      in_common(arg(0), arg(1));
      return plain;
    case Op::lookup: {
      const NamedFunction& table = function_of(*open.row);
      for (std::size_t k = 0; k < std::min(count, table.arguments.size()); ++k)
        if (!common(table.arguments[k], as_term(arg(k))))
          complain(arg(k).begin, arg(k).end - arg(k).begin,
                   fmt::format("`{}` is of {}, and this is in {}", open.row->name,
                               text_of(table.arguments[k].dimension), text_of(arg(k).measure.dimension)),
                   "what a table is of stands in its `units`");
      return table.value;
    }
    case Op::mod:
      if (open.row != &wrap_row) return in_common(arg(0), arg(1));
      break;
    default:
      break;
  }
  if (!may_be_plain(arg(0).measure))
    complain(arg(0).begin, arg(0).end - arg(0).begin,
             fmt::format("`{}` is of a plain number or an angle, and this is in {}", open.row->name,
                         text_of(arg(0).measure.dimension)));
  return plain;
}

}  // namespace mechanician::parsing
