#include "mechanician/expression/operators.hpp"

#include <array>
#include <cassert>

#include "mechanician/expression/simplify.hpp"
#include "mechanician/expression/table_lookup.hpp"

namespace mechanician {

namespace {

using Args = std::span<const Expr>;

// Shorthand for the simplifying constructors: derivatives are built simplified.
Expr add(const Expr& a, const Expr& b) { return make_simplified(Op::add, {a, b}); }
Expr sub(const Expr& a, const Expr& b) { return make_simplified(Op::sub, {a, b}); }
Expr mul(const Expr& a, const Expr& b) { return make_simplified(Op::mul, {a, b}); }
Expr div(const Expr& a, const Expr& b) { return make_simplified(Op::div, {a, b}); }
Expr pow_of(const Expr& a, const Expr& b) { return make_simplified(Op::pow, {a, b}); }
Expr neg(const Expr& a) { return make_simplified(Op::neg, {a}); }
Expr fn(Op op, const Expr& a) { return make_simplified(op, {a}); }
Expr square(const Expr& a) { return pow_of(a, 2); }

Expr d_pow(const Expr& self, Args x, int which) {
  if (which == 0) return mul(x[1], pow_of(x[0], sub(x[1], 1)));
  return mul(self, fn(Op::log, x[0]));
}
Expr d_div(const Expr&, Args x, int which) { return which == 0 ? div(1, x[1]) : neg(div(x[0], square(x[1]))); }
Expr d_atan2(const Expr&, Args x, int which) {
  const Expr r2 = add(square(x[0]), square(x[1]));
  return which == 0 ? div(x[1], r2) : neg(div(x[0], r2));
}
Expr d_min(const Expr&, Args x, int which) {
  return make_simplified(Op::select, {make_simplified(Op::le, {x[0], x[1]}), which == 0 ? 1 : 0, which == 0 ? 0 : 1});
}
Expr d_max(const Expr&, Args x, int which) {
  return make_simplified(Op::select, {make_simplified(Op::ge, {x[0], x[1]}), which == 0 ? 1 : 0, which == 0 ? 0 : 1});
}
/// mod(a, b) = a − b k, where k is a whole number.
Expr d_mod(const Expr& self, Args x, int which) { return which == 0 ? Expr(1) : div(sub(self, x[0]), x[1]); }
Expr d_select(const Expr&, Args x, int which) {
  if (which == 0) return 0;
  return make_simplified(Op::select, {x[0], which == 1 ? 1 : 0, which == 1 ? 0 : 1});
}

constexpr auto everywhere = Domain::everywhere;
constexpr auto somewhere = Domain::somewhere;
constexpr auto leaf = Notation::leaf;
constexpr auto infix = Notation::infix;
constexpr auto prefix = Notation::prefix;
constexpr auto function = Notation::function;
constexpr int atom = precedence_atom;

// clang-format off
const std::array<OperatorRow, num_operators> table{{
  //  op         name     arity notation  precedence           domain                   cond.  takes   LaTeX            C        derivative
  {Op::constant, "",         0, leaf,     atom,                everywhere,              false, false, "",              "",       nullptr},
  {Op::symbol,   "",         0, leaf,     atom,                everywhere,              false, false, "",              "",       nullptr},
  {Op::table,    "",         0, leaf,     atom,                everywhere,              false, false, "",              "",       nullptr},
  {Op::add,      "+",        2, infix,    precedence_sum,      everywhere,              false, false, "+",             "+",      [](const Expr&, Args, int) { return Expr(1); }},
  {Op::sub,      "-",        2, infix,    precedence_sum,      everywhere,              false, false, "-",             "-",      [](const Expr&, Args, int i) { return Expr(i == 0 ? 1 : -1); }},
  {Op::mul,      "*",        2, infix,    precedence_product,  everywhere,              false, false, "\\,",           "*",      [](const Expr&, Args x, int i) { return x[1 - i]; }},
  {Op::div,      "/",        2, infix,    precedence_product,  Domain::by_denominator,  false, false, "/",             "/",      d_div},
  {Op::pow,      "^",        2, infix,    precedence_power,    Domain::by_exponent,     false, false, "^",             "pow",    d_pow},
  {Op::neg,      "-",        1, prefix,   precedence_negation, everywhere,              false, false, "-",             "-",      [](const Expr&, Args, int) { return Expr(-1); }},
  {Op::sin,      "sin",      1, function, atom,                everywhere,              false, false, "\\sin",         "sin",    [](const Expr&, Args x, int) { return fn(Op::cos, x[0]); }},
  {Op::cos,      "cos",      1, function, atom,                everywhere,              false, false, "\\cos",         "cos",    [](const Expr&, Args x, int) { return neg(fn(Op::sin, x[0])); }},
  {Op::tan,      "tan",      1, function, atom,                somewhere,               false, false, "\\tan",         "tan",    [](const Expr& f, Args, int) { return add(1, square(f)); }},
  {Op::asin,     "asin",     1, function, atom,                somewhere,               false, false, "\\arcsin",      "asin",   [](const Expr&, Args x, int) { return div(1, fn(Op::sqrt, sub(1, square(x[0])))); }},
  {Op::acos,     "acos",     1, function, atom,                somewhere,               false, false, "\\arccos",      "acos",   [](const Expr&, Args x, int) { return neg(div(1, fn(Op::sqrt, sub(1, square(x[0]))))); }},
  {Op::atan,     "atan",     1, function, atom,                everywhere,              false, false, "\\arctan",      "atan",   [](const Expr&, Args x, int) { return div(1, add(1, square(x[0]))); }},
  {Op::atan2,    "atan2",    2, function, atom,                everywhere,              false, false, "\\operatorname{atan2}", "atan2", d_atan2},
  {Op::sinh,     "sinh",     1, function, atom,                everywhere,              false, false, "\\sinh",        "sinh",   [](const Expr&, Args x, int) { return fn(Op::cosh, x[0]); }},
  {Op::cosh,     "cosh",     1, function, atom,                everywhere,              false, false, "\\cosh",        "cosh",   [](const Expr&, Args x, int) { return fn(Op::sinh, x[0]); }},
  {Op::tanh,     "tanh",     1, function, atom,                everywhere,              false, false, "\\tanh",        "tanh",   [](const Expr& f, Args, int) { return sub(1, square(f)); }},
  {Op::asinh,    "asinh",    1, function, atom,                everywhere,              false, false, "\\operatorname{arsinh}", "asinh", [](const Expr&, Args x, int) { return div(1, fn(Op::sqrt, add(square(x[0]), 1))); }},
  {Op::acosh,    "acosh",    1, function, atom,                somewhere,               false, false, "\\operatorname{arcosh}", "acosh", [](const Expr&, Args x, int) { return div(1, mul(fn(Op::sqrt, sub(x[0], 1)), fn(Op::sqrt, add(x[0], 1)))); }},
  {Op::atanh,    "atanh",    1, function, atom,                somewhere,               false, false, "\\operatorname{artanh}", "atanh", [](const Expr&, Args x, int) { return div(1, sub(1, square(x[0]))); }},
  {Op::exp,      "exp",      1, function, atom,                everywhere,              false, false, "\\exp",         "exp",    [](const Expr& f, Args, int) { return f; }},
  {Op::log,      "log",      1, function, atom,                somewhere,               false, false, "\\ln",          "log",    [](const Expr&, Args x, int) { return div(1, x[0]); }},
  {Op::sqrt,     "sqrt",     1, function, atom,                somewhere,               false, false, "\\sqrt",        "sqrt",   [](const Expr& f, Args, int) { return div(1, mul(2, f)); }},
  {Op::abs,      "abs",      1, function, atom,                everywhere,              false, false, "\\left|",       "fabs",   [](const Expr&, Args x, int) { return fn(Op::sign, x[0]); }},
  {Op::sign,     "sign",     1, function, atom,                everywhere,              false, false, "\\operatorname{sgn}", "sign", nullptr},
  {Op::min,      "min",      2, function, atom,                everywhere,              false, false, "\\min",         "fmin",   d_min},
  {Op::max,      "max",      2, function, atom,                everywhere,              false, false, "\\max",         "fmax",   d_max},
  {Op::hypot,    "hypot",    2, function, atom,                everywhere,              false, false, "\\operatorname{hypot}", "hypot", [](const Expr& f, Args x, int i) { return div(x[i], f); }},
  {Op::mod,      "mod",      2, function, atom,                Domain::by_denominator,  false, false, "\\operatorname{mod}", "mod", d_mod},
  {Op::select,   "if",       3, function, atom,                everywhere,              false, true,  "\\operatorname{if}", "?:", d_select},
  {Op::lookup,   "table",    3, Notation::by_table, atom,      Domain::by_table,        false, false, "",              "",       [](const Expr& f, Args, int i) { return lookup_derivative(f, i); }},
  {Op::lt,       "<",        2, infix,    precedence_compare,  everywhere,              true,  false, "<",             "<",      nullptr},
  {Op::le,       "<=",       2, infix,    precedence_compare,  everywhere,              true,  false, "\\le ",         "<=",     nullptr},
  {Op::gt,       ">",        2, infix,    precedence_compare,  everywhere,              true,  false, ">",             ">",      nullptr},
  {Op::ge,       ">=",       2, infix,    precedence_compare,  everywhere,              true,  false, "\\ge ",         ">=",     nullptr},
  {Op::eq,       "==",       2, infix,    precedence_compare,  everywhere,              true,  false, "=",             "==",     nullptr},
  {Op::logical_and, "and",   2, infix,    precedence_and,      everywhere,              true,  true,  "\\wedge ",      "&&",     nullptr},
  {Op::logical_or,  "or",    2, infix,    precedence_or,       everywhere,              true,  true,  "\\vee ",        "||",     nullptr},
  {Op::logical_not, "not",   1, prefix,   precedence_not,      everywhere,              true,  true,  "\\neg ",        "!",      nullptr},
}};
// clang-format on

}  // namespace

const OperatorRow& row_of(Op op) {
  const OperatorRow& row = table[static_cast<std::size_t>(op)];
  assert(row.op == op);
  return row;
}

const OperatorRow* find_function(std::string_view name) {
  for (const OperatorRow& row : table)
    if (row.notation == Notation::function && row.name == name) return &row;
  return nullptr;
}

std::span<const OperatorRow> operator_table() { return table; }

}  // namespace mechanician
