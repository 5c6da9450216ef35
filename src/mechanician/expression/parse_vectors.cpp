// Vectors of the plane and of space.

#include <fmt/format.h>

#include "mechanician/expression/parser_internal.hpp"

namespace mechanician::parsing {

const OperatorRow dot_row{Op::mul, "dot", 2,      Notation::function, precedence_atom, Domain::everywhere, false, false,
                          "",      "",    nullptr},
    cross_row{Op::mul, "cross", 2,      Notation::function, precedence_atom, Domain::everywhere, false, false,
              "",      "",      nullptr},
    norm_row{Op::sqrt, "norm", 1,      Notation::function, precedence_atom, Domain::everywhere, false, false,
             "",       "",     nullptr};

bool Parser::component() {
  Operand& last = operands_.back();
  lexer_.seek(token_.offset + 1);
  advance();
  const char name = token_.kind == TokenKind::name && token_.text.size() == 1 ? token_.text.front() : '\0';
  const auto number = static_cast<std::size_t>(name - 'x');
  if (name < 'x' || number >= last.parts.size())
    return fail_at_token(
        fmt::format("the components of this vector are x{}", last.parts.size() == 2 ? " and y" : ", y and z"));
  if (token_.primes > 0)
    return fail_at_token("a prime stands behind a name", "give the vector a name in [vectors]: r.x'");
  last.value = last.parts[number], last.parts.clear();
  last.end = token_.offset + token_.length();
  advance();
  return true;
}

bool Parser::refuse_vector(const Operand& operand) {
  return fail(operand.begin, operand.end - operand.begin, "a vector stands where a number is expected", of_a_vector);
}

Expr Parser::times(const Expr& a, const Expr& b) {
  return same(a, b) ? make_raw(Op::pow, {a, Expr(2.0)}) : make_raw(Op::mul, {a, b});
}

Expr Parser::calc_dot(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  Expr sum = times(a[0], b[0]);
  for (std::size_t i = 1; i < a.size(); ++i) sum = make_raw(Op::add, {sum, times(a[i], b[i])});
  return sum;
}

bool Parser::vector_call(const Pending& open, std::size_t end) {
  const OperatorRow& row = *open.row;
  for (std::size_t k = open.first_operand; k < operands_.size(); ++k)
    if (!operands_[k].is_vector())
      return fail(operands_[k].begin, operands_[k].end - operands_[k].begin,
                  fmt::format("`{}` is of vectors, and this is none", row.name),
                  "vectors stand in [vectors]: r = [\"x\", \"y\"]");
  const Operand a = operands_[open.first_operand], b = operands_.back();
  if (a.parts.size() != b.parts.size())
    return fail(open.offset, end - open.offset,
                fmt::format("the vectors have {} and {} components", a.parts.size(), b.parts.size()),
                "both are of the plane, or of space");
  operands_.resize(open.first_operand, {Expr(0.0), 0, 0});
  const Measure both = product(a.measure, b.measure, 1.0);
  if (&row == &norm_row) {
    push_operand(make_raw(Op::sqrt, {calc_dot(a.parts, a.parts)}), open.offset, end, a.measure);
  } else if (&row == &dot_row) {
    push_operand(calc_dot(a.parts, b.parts), open.offset, end, both);
  } else {
    const auto part = [&](std::size_t i, std::size_t j) {
      return make_raw(Op::sub,
                      {make_raw(Op::mul, {a.parts[i], b.parts[j]}), make_raw(Op::mul, {a.parts[j], b.parts[i]})});
    };
    if (a.parts.size() == 2)
      push_operand(part(0, 1), open.offset, end, both);
    else
      push_vector({part(1, 2), part(2, 0), part(0, 1)}, open.offset, end, both);
  }
  return true;
}

bool Parser::combine_vectors(const Pending& top, Operand& left, const Operand& right) {
  const Op op = top.row->op;
  const auto wrong = [&](const char* message, const char* hint) {
    return fail(left.begin, right.end - left.begin, message, hint);
  };
  if (op == Op::add || op == Op::sub) {
    if (!left.is_vector() || !right.is_vector()) return wrong("a vector and a number cannot be added", of_a_vector);
    if (left.parts.size() != right.parts.size())
      return wrong("one of these vectors is of the plane, the other of space", "both have two components, or three");
    for (std::size_t i = 0; i < left.parts.size(); ++i) left.parts[i] = make_raw(op, {left.parts[i], right.parts[i]});
  } else if (op == Op::mul) {
    if (left.is_vector() && right.is_vector())
      return wrong("the product of two vectors is a dot() or a cross()", "write dot(r, s) or cross(r, s)");
    if (left.is_vector()) {
      for (Expr& part : left.parts) part = make_raw(op, {part, right.value});
    } else {
      left.parts = right.parts;
      for (Expr& part : left.parts) part = make_raw(op, {left.value, part});
      left.value = Expr(0.0);
    }
  } else if (op == Op::div && left.is_vector() && !right.is_vector()) {
    for (Expr& part : left.parts) part = make_raw(op, {part, right.value});
  } else {
    return refuse_vector(left.is_vector() && !(op == Op::div) ? left : right.is_vector() ? right : left);
  }
  left.end = right.end;
  return true;
}

}  // namespace mechanician::parsing
