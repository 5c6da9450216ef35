#pragma once

/// The operators of the expression language: one table row each.
///
/// Everything that is particular to an operator stands here or is reached from its row: how it is written (text, LaTeX,
/// C), how it binds, where it is defined, and its partial derivatives. Parser, printers, differentiation and
/// simplification read the table; the interpreter's arithmetic is in evaluate_operator.hpp.

#include <cstdint>
#include <span>
#include <string_view>

namespace mechanician {

class Expr;

enum class Op : std::uint8_t {
  constant,
  symbol,
  table,  // the leaf that a lookup has last
  // arithmetic
  add,
  sub,
  mul,
  div,
  pow,
  neg,
  // functions
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  atan2,
  sinh,
  cosh,
  tanh,
  asinh,
  acosh,
  atanh,
  exp,
  log,
  sqrt,
  abs,
  sign,
  min,
  max,
  hypot,
  mod,
  select,  // if(condition, then, else)
  lookup,  // of a table, at x and y (table.hpp)
  // conditions
  lt,
  le,
  gt,
  ge,
  eq,
  logical_and,
  logical_or,
  logical_not,
};

inline constexpr int num_operators = static_cast<int>(Op::logical_not) + 1;

enum class Notation : std::uint8_t { leaf, infix, prefix, function, by_table };

/// Where an operator with finite arguments is finite.
enum class Domain : std::uint8_t {
  everywhere,      ///< total: never a singularity (overflow apart)
  somewhere,       ///< has poles or a limited domain
  by_denominator,  ///< division: total where the denominator is a non-zero constant
  by_exponent,     ///< power: total where the exponent is a constant integer ≥ 0
  by_table,        ///< of tables that hold outside their points
};

/// ∂f/∂argument[which], as an expression; `self` is the node f itself, so that e.g. exp can be its own derivative.
using Partial = Expr (*)(const Expr& self, std::span<const Expr> args, int which);

struct OperatorRow {
  Op op;
  std::string_view name;  ///< in the model language; for infix operators the sign
  int arity;              ///< least number of arguments (min and max take more and are folded)
  Notation notation;
  int precedence;  ///< of infix and prefix operators; larger binds tighter
  Domain domain;
  bool condition;          ///< yields a truth value
  bool takes_conditions;   ///< its arguments are truth values (for select: the first)
  std::string_view latex;  ///< function name or sign
  std::string_view c;      ///< function name or sign
  Partial partial;         ///< null where the derivative is zero everywhere (sign, conditions)
};

/// Binding strengths, in the order of the grammar.
inline constexpr int precedence_or = 1, precedence_and = 2, precedence_not = 3, precedence_compare = 4,
                     precedence_sum = 5, precedence_product = 6, precedence_negation = 7, precedence_power = 8,
                     precedence_atom = 9;

const OperatorRow& row_of(Op op);

/// The row of a function by its name in the model language ("sin", "if"), or null.
const OperatorRow* find_function(std::string_view name);

std::span<const OperatorRow> operator_table();

}  // namespace mechanician
