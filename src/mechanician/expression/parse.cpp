#include "mechanician/expression/parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/force_names.hpp"
#include "mechanician/expression/parser_internal.hpp"

namespace mechanician {

namespace parsing {

const OperatorRow wrap_row{
    Op::mod, "wrap", 1, Notation::function, precedence_atom, Domain::everywhere, false, false, "", "", nullptr};

namespace {

const OperatorRow* find_vector_function(std::string_view name) {
  for (const OperatorRow* row : {&dot_row, &cross_row, &norm_row})
    if (row->name == name) return row;
  return nullptr;
}

const OperatorRow* find_infix(std::string_view sign) {
  for (const OperatorRow& row : operator_table())
    if (row.notation == Notation::infix && row.name == sign) return &row;
  return nullptr;
}

bool is_relation(std::string_view sign) { return sign == "=" || sign == "<=" || sign == ">="; }

}  // namespace

void Parser::parse() {
  token_ = lexer_.next();
  bool going = true;
  while (going && !failed_) going = expect_operand_ ? operand() : after_operand();
}

bool Parser::operand() {
  switch (token_.kind) {
    case TokenKind::error:
      return lexical_error();
    case TokenKind::number:
      push_operand(token_.number, token_.offset, token_.offset + token_.length(), measure_of_number(token_.number));
      advance();
      return true;
    case TokenKind::name:
      return name();
    case TokenKind::end:
      return missing_operand();
    case TokenKind::sign:
      break;
  }
  if (token_.text == "-" || token_.text == "+") {
    if (token_.text == "-")
      pending_.push_back({Pending::Kind::prefix, &row_of(Op::neg), precedence_negation, token_.offset, 0});
    advance();
    return true;
  }
  if (token_.text == "(") {
    pending_.push_back({Pending::Kind::group, nullptr, 0, token_.offset, 0});
    ++depth_;
    advance();
    return true;
  }
  return missing_operand();
}

bool Parser::missing_operand() {
  const bool at_end = token_.kind == TokenKind::end;
  if (at_end && operands_.empty() && pending_.empty() && sides.empty())
    return fail(0, std::max<std::size_t>(text_.size(), 1), "the expression is empty");
  if (at_end && !pending_.empty() && pending_.back().kind == Pending::Kind::group)
    return fail(pending_.back().offset, 1, "this parenthesis is never closed");
  if (at_end)
    return fail(text_.empty() ? 0 : text_.size() - 1, 1, "the expression ends where a number or name is expected");
  if (token_.text == ")" && !pending_.empty() && pending_.back().kind == Pending::Kind::group)
    return fail_at_token("there is nothing between the parentheses");
  if (token_.text == ")" && !pending_.empty() && pending_.back().kind == Pending::Kind::call)
    return fail_at_token(fmt::format(
        "`{}` is given {} but needs {}", pending_.back().row->name,
        operands_.size() == pending_.back().first_operand ? "no argument" : "one argument less than its commas say",
        pending_.back().row->arity));
  return fail_at_token(fmt::format("`{}` stands where a number or name is expected", token_.text));
}

bool Parser::name() {
  Token name = token_;
  // leg[2].knee is a name where there is one; else r[2] is a member, and .x a component of it.
  if (const std::size_t bracket = name.text.rfind('['); bracket != std::string_view::npos &&
                                                        !is_called_or_indexed(name) && !find_name(name) &&
                                                        !(scope_.vector && scope_.vector(name.text, name.primes))) {
    lexer_.seek(name.offset + bracket);
    name.text = name.text.substr(0, bracket), name.primes = 0;
  }
  advance();
  const bool call = token_.kind == TokenKind::sign && token_.text == "(";
  if (name.primes == 0 && name.text == "not") {
    pending_.push_back({Pending::Kind::prefix, &row_of(Op::logical_not), precedence_not, name.offset, 0});
    return true;
  }
  if (name.primes == 0 && (name.text == "and" || name.text == "or"))
    return fail(name.offset, name.length(), fmt::format("`{}` stands where a number or name is expected", name.text));
  if (name.primes == 0 && call && find_force(name.text) && !(scope_.function && scope_.function(name.text, 0)))
    return reaction(name);
  if (name.primes == 0 && call && name.text == "sum") return sum(name);
  if (token_.kind == TokenKind::sign && token_.text == "[") return indexed(name);
  const OperatorRow* function = name.primes == 0 ? name.text == "wrap" ? &wrap_row : find_function(name.text) : nullptr;
  if (call && !function && name.primes == 0) function = find_vector_function(name.text);
  if (call && function) {
    pending_.push_back({Pending::Kind::call, function, 0, name.offset, operands_.size()});
    ++depth_;
    advance();
    return true;
  }
  if (call && scope_.function)
    if (auto named = scope_.function(name.text, name.primes)) {
      const int arity = named->num_arguments;
      called_.push_back({std::move(*named),
                         {Op::lookup, name.text, arity, Notation::by_table, precedence_atom, Domain::by_table, false,
                          false, "", "", nullptr}});
      pending_.push_back({Pending::Kind::call, &called_.back().row, 0, name.offset, operands_.size()});
      ++depth_;
      advance();
      return true;
    }
  const std::size_t end = name.offset + name.length();
  if (auto vector = scope_.vector ? scope_.vector(name.text, name.primes) : std::nullopt) {
    push_vector(*std::move(vector), name.offset, end, measure_of(name.text, name.primes));
    return true;
  }
  if (const auto found = find_name(name)) {
    push_operand(*found, name.offset, end,
                 name.text == "pi" ? measure_of_number(std::numbers::pi) : measure_of(name.text, name.primes));
    if (call)
      return fail(name.offset, name.length(), fmt::format("`{}` is not a function", name.text),
                  fmt::format("for a product write {}*(...)", name.text));
    return true;
  }
  if (function)
    return fail(name.offset, name.length(),
                fmt::format("the function `{}` needs its arguments in parentheses", name.text),
                fmt::format("write {}(...)", name.text));
  if (call) {
    const auto why = scope_.explain_function ? scope_.explain_function(name.text, name.primes) : std::nullopt;
    return why ? fail(name.offset, name.length(), why->message, why->hint) : unknown_function(name);
  }
  ParseProblem p = scope_.explain ? scope_.explain(name.text, name.primes)
                                  : ParseProblem{0, 1, fmt::format("unknown name `{}`", name.text), {}};
  complain(name.offset, name.length(), std::move(p.message), std::move(p.hint));
  push_operand(0.0, name.offset, end);
  return true;
}

bool Parser::is_called_or_indexed(const Token& name) const {
  const std::size_t next = text_.find_first_not_of(" \t\n\r", name.offset + name.length());
  return next != std::string_view::npos && (text_[next] == '(' || text_[next] == '[');
}

std::optional<Expr> Parser::find_name(const Token& name) const {
  if (name.text == "pi" && name.primes == 0) return Expr(std::numbers::pi);
  return scope_.find ? scope_.find(name.text, name.primes) : std::nullopt;
}

bool Parser::unknown_function(const Token& name) {
  std::vector<std::string> known{"ideal", "multiplier", "wrap", "dot", "cross", "norm"};
  for (const OperatorRow& row : operator_table())
    if (row.notation == Notation::function) known.emplace_back(row.name);
  const std::string near = nearest(name.text, known);
  return fail(name.offset, name.length(), fmt::format("unknown function `{}`", name.text),
              near.empty() ? "" : fmt::format("did you mean `{}`?", near));
}

bool Parser::reaction(const Token& function) {
  advance();
  const Token name = token_;
  if (name.kind == TokenKind::error) return lexical_error();
  if (name.kind != TokenKind::name || name.primes > 0)
    return fail(name.offset, name.length(),
                fmt::format("`{}` takes the name of {} {}", function.text,
                            find_force(function.text)->of() == ForceName::Of::actuator ? "an" : "a",
                            in_words(find_force(function.text)->of())));
  advance();
  std::string whole(name.text);
  bool known = true;
  if (token_.kind == TokenKind::sign && token_.text == "[") {
    const auto member = this->member(name);
    if (failed_) return false;
    advance();
    known = member.has_value();
    whole = member.value_or(whole);
  }
  if (token_.kind != TokenKind::sign || token_.text != ")")
    return fail(name.offset, name.length(),
                fmt::format("`{}` takes one name and a closing parenthesis", function.text));
  const std::size_t end = token_.offset + 1;
  advance();
  if (!scope_.reaction)
    complain(function.offset, end - function.offset,
             fmt::format("`{}` can be used in {}[outputs], [events], [view] and [define] only", function.text,
                         is_reaction(find_force(function.text)->kind) ? "[nonideal], " : ""));
  else if (const auto found = known ? scope_.reaction(function.text, whole) : std::optional<Expr>(0.0)) {
    push_operand(*found, function.offset, end);
    return true;
  } else {
    ParseProblem p = scope_.explain_reaction ? scope_.explain_reaction(function.text, whole)
                                             : ParseProblem{0, 1, fmt::format("unknown name `{}`", name.text), {}};
    complain(name.offset, name.length(), std::move(p.message), std::move(p.hint));
  }
  push_operand(0.0, function.offset, end);
  return true;
}

bool Parser::after_operand() {
  if (token_.kind == TokenKind::error && token_.text == "." && operands_.back().is_vector()) return component();
  if (token_.kind == TokenKind::error) return lexical_error();
  if (token_.kind == TokenKind::end) return finish();
  if (token_.kind == TokenKind::number) return fail_at_token("an operator is missing before this number");
  if (token_.kind == TokenKind::name) {
    const OperatorRow* row = token_.primes == 0 ? find_infix(token_.text) : nullptr;
    if (row) return infix(row);
    const bool number_before = operands_.back().value.is_constant();
    return fail_at_token(fmt::format("an operator is missing before `{}`", token_.text),
                         number_before ? "products are written with *, as in 2*x" : "");
  }
  if (token_.text == ")") return close();
  if (token_.text == ",") return comma();
  if (token_.text == "(")
    return fail_at_token("an operator is missing before this parenthesis", "products are written with *");
  if (token_.text == "[") return fail_at_token("an index stands behind a name", "for example x[i + 1]");
  if (token_.text == "]") return fail_at_token("this bracket was never opened");
  if (token_.text == "..")
    return fail_at_token("`..` stands between the bounds of an index only", "for example sum(i = 1..N, x[i])");
  if (equation_ && depth_ == 0 &&
      (is_relation(token_.text) || token_.text == "==" || token_.text == "<" || token_.text == ">"))
    return relation_sign();
  if (token_.text == "=")
    return fail_at_token(depth_ > 0 ? "`=` inside parentheses" : "`=` does not belong here",
                         depth_ > 0 ? "a comparison is written ==" : "this is an expression, not an equation");
  return infix(find_infix(token_.text));
}

bool Parser::infix(const OperatorRow* row) {
  const bool right_associative = row->op == Op::pow;
  if (row->precedence == precedence_compare && !pending_.empty() && pending_.back().precedence == precedence_compare)
    return fail_at_token("comparisons cannot be chained", "write a < b and b < c");
  if (!reduce(right_associative ? row->precedence + 1 : row->precedence)) return false;
  if (row->precedence == precedence_compare && !pending_.empty() && pending_.back().precedence == precedence_compare)
    return fail_at_token("comparisons cannot be chained", "write a < b and b < c");
  pending_.push_back({Pending::Kind::binary, row, row->precedence, token_.offset, 0});
  advance();
  expect_operand_ = true;
  return true;
}

bool Parser::relation_sign() {
  if (token_.text == "==") return fail_at_token("an equation is written with a single =");
  if (token_.text == "<" || token_.text == ">")
    return fail_at_token(fmt::format("a strict `{}` is no constraint", token_.text),
                         fmt::format("write {}=", token_.text));
  if (token_.text == "=" && token_.offset + 1 < text_.size()) {
    const char next = text_[token_.offset + 1];
    if (next == '>' || next == '<')
      return fail(token_.offset, 2, fmt::format("`={}` is no sign", next), fmt::format("write {}=", next));
  }
  if (!sides.empty())
    return fail_at_token("an equation has one sign =, <= or >=", "write two constraints, one for each sign");
  if (!reduce(0) || !finish_side()) return false;
  relation = token_.text == "=" ? Relation::equal : token_.text == ">=" ? Relation::at_least : Relation::at_most;
  advance();
  expect_operand_ = true;
  return true;
}

bool Parser::comma() {
  if (!reduce(0)) return false;
  if (pending_.empty() || pending_.back().kind != Pending::Kind::call)
    return fail_at_token("unexpected `,`", "decimals are written with a point, as in 1.5");
  advance();
  expect_operand_ = true;
  return true;
}

bool Parser::close() {
  if (!reduce(0)) return false;
  if (pending_.empty()) return fail_at_token("this parenthesis was never opened");
  const Pending open = pending_.back();
  pending_.pop_back();
  --depth_;
  const std::size_t end = token_.offset + 1;
  advance();
  if (open.kind == Pending::Kind::group) {
    operands_.back().begin = open.offset, operands_.back().end = end;
    return true;
  }
  return call(open, end);
}

bool Parser::call(const Pending& open, std::size_t end) {
  const OperatorRow& row = *open.row;
  const std::size_t count = operands_.size() - open.first_operand;
  const bool variadic = row.op == Op::min || row.op == Op::max;
  const auto arity = static_cast<std::size_t>(row.arity);
  if (count < arity || (count > arity && !variadic))
    return fail(open.offset, end - open.offset,
                fmt::format("`{}` takes {}{}, not {}", row.name, variadic ? "at least " : "",
                            count_noun(arity, "argument"), count));
  if (&row == &dot_row || &row == &cross_row || &row == &norm_row) return vector_call(open, end);
  for (std::size_t k = 0; k < count; ++k) {
    const bool wants_condition = row.op == Op::select && k == 0;
    if (!check_truth(operands_[open.first_operand + k], wants_condition)) return false;
  }
  const auto measure = measure_of_call(open, count);
  if (!measure) return false;
  const auto arg = [&](std::size_t k) { return operands_[open.first_operand + k].value; };
  std::vector<Expr> arguments;
  for (std::size_t k = 0; k < count; ++k) arguments.push_back(arg(k));
  Expr value = row.op == Op::lookup   ? function_of(row).make(arguments)
               : &row == &wrap_row    ? mod(arg(0) + std::numbers::pi, 2.0 * std::numbers::pi) - std::numbers::pi
               : row.op == Op::select ? make_raw(row.op, {arg(0), arg(1), arg(2)})
               : arity == 1           ? make_raw(row.op, {arg(0)})
                                      : make_raw(row.op, {arg(0), arg(1)});
  for (std::size_t k = 2; variadic && k < count; ++k) value = make_raw(row.op, {value, arg(k)});
  operands_.resize(open.first_operand, {Expr(0.0), 0, 0});
  push_operand(std::move(value), open.offset, end, *measure);
  return true;
}

const NamedFunction& Parser::function_of(const OperatorRow& row) const {
  return std::find_if(called_.begin(), called_.end(), [&](const Called& c) { return &c.row == &row; })->function;
}

bool Parser::check_truth(const Operand& operand, bool wants_condition) {
  if (operand.is_vector() && wants_condition) return refuse_vector(operand);
  if (operand.value.is_condition() == wants_condition) return true;
  return fail(operand.begin, operand.end - operand.begin,
              wants_condition ? "a condition is expected here" : "a condition stands where a number is expected",
              wants_condition ? "conditions are comparisons such as x > 0" : "use if(condition, then, else)");
}

bool Parser::reduce(int precedence) {
  while (!pending_.empty() && pending_.back().precedence > 0 && pending_.back().precedence >= precedence) {
    const Pending top = pending_.back();
    pending_.pop_back();
    const bool takes = top.row->takes_conditions;
    Operand& last = operands_.back();
    if (!check_truth(last, takes)) return false;
    if (top.kind == Pending::Kind::prefix) {
      for (Expr& part : last.parts) part = make_raw(top.row->op, {part});
      if (!last.is_vector()) last.value = make_raw(top.row->op, {last.value});
      last.begin = top.offset;
      continue;
    }
    Operand& left = operands_[operands_.size() - 2];
    if (!check_truth(left, takes)) return false;
    if (top.row->op == Op::pow && !check_power(last)) return false;
    const Measure measure = measure_of_infix(left, top.row->op, last);
    if (left.is_vector() || last.is_vector()) {
      if (!combine_vectors(top, left, last)) return false;
    } else {
      left.value = make_raw(top.row->op, {left.value, last.value}), left.end = last.end;
    }
    left.measure = measure;
    operands_.pop_back();
  }
  return true;
}

bool Parser::check_power(const Operand& exponent) {
  const Expr& e = exponent.value;
  const double value = e.is_constant()                               ? e.value()
                       : e.op() == Op::neg && e.arg(0).is_constant() ? -e.arg(0).value()
                                                                     : 0.0;
  if (std::abs(value) <= largest_power) return true;
  return fail(exponent.begin, exponent.end - exponent.begin, "this power is too large",
              fmt::format("exponents are limited to {:g}", largest_power));
}

bool Parser::finish_side() {
  if (!pending_.empty()) return fail(pending_.back().offset, 1, "this parenthesis is never closed");
  Operand& side = operands_.back();
  if (!check_truth(side, false)) return false;
  if (side.is_vector() && !may_be_vector)
    return equation_ ? fail(side.begin, side.end - side.begin, "an equation is between numbers, and this is a vector",
                            "write one for each component, or norm(...) = 0")
                     : refuse_vector(side);
  components = side.parts;
  if (!sides.empty()) {  // as the terms of a sum
    Operand left{sides.front(), first_side_.begin, first_side_.end, first_side_.measure};
    side.measure = in_common(left, side);
  }
  first_side_ = side;
  of_sides = side.measure;
  sides.push_back(side.value);
  operands_.clear();
  return true;
}

bool Parser::finish() {
  if (!reduce(0) || !finish_side()) return false;
  if (equation_ && sides.size() == 1) fail(0, text_.size(), "this is no equation", "write left = right");
  return false;
}

}  // namespace parsing

using parsing::Parser;

ParsedExpression parse_expression(std::string_view text, const NameScope& scope) {
  Parser parser(text, scope, false);
  parser.parse();
  ParsedExpression result{std::nullopt, std::move(parser.problems), parser.of_sides};
  if (result.problems.empty()) result.value = parser.sides.front();
  return result;
}

ParsedVector parse_vector(std::string_view text, const NameScope& scope) {
  Parser parser(text, scope, false);
  parser.may_be_vector = true;
  parser.parse();
  ParsedVector result{{}, std::move(parser.problems), parser.of_sides};
  if (result.problems.empty())
    result.components = parser.components.empty() ? std::vector<Expr>{parser.sides.front()} : parser.components;
  return result;
}

ParsedEquation parse_equation(std::string_view text, const NameScope& scope) {
  Parser parser(text, scope, true);
  parser.parse();
  ParsedEquation result{std::nullopt, std::nullopt, parser.relation, std::move(parser.problems), parser.of_sides};
  if (result.problems.empty()) {
    result.left = parser.sides[0];
    result.right = parser.sides[1];
  }
  return result;
}

}  // namespace mechanician
