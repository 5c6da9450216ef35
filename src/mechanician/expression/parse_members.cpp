// Members of families, and sums over them.

#include <fmt/format.h>

#include <utility>

#include "mechanician/expression/parser_internal.hpp"

namespace mechanician::parsing {

std::optional<std::vector<Parser::Piece>> Parser::pieces(std::size_t open) {
  std::vector<Piece> found{{open + 1, open + 1}};
  int depth = 0;
  for (std::size_t at = open; at < text_.size(); ++at) {
    const char c = text_[at];
    if (c == '(' || c == '[') ++depth;
    if ((c == ')' || c == ']') && --depth == 0) {
      found.back().end = at;
      lexer_.seek(at);
      advance();
      return found;
    }
    if (c == ',' && depth == 1) found.back().end = at, found.push_back({at + 1, at + 1});
  }
  fail(open, 1, text_[open] == '[' ? "this bracket is never closed" : "this parenthesis is never closed");
  return std::nullopt;
}

std::optional<Expr> Parser::inner(const Piece& piece) {
  constexpr int deepest = 40;
  if (nested_ >= deepest) {
    fail(piece.begin, 1, "indices are nested too deeply");
    return std::nullopt;
  }
  Parser parser(text_.substr(piece.begin, piece.end - piece.begin), scope_, false);
  parser.nested_ = nested_ + 1;
  parser.base_ = base_ + piece.begin;
  parser.parse();
  for (ParseProblem& p : parser.problems) p.offset += piece.begin, problems.push_back(std::move(p));
  failed_ |= parser.failed_;
  return parser.problems.empty() ? std::optional(parser.sides.front()) : std::nullopt;
}

std::optional<std::string> Parser::member(const Token& name) {
  const auto found = pieces(token_.offset);
  if (!found) return std::nullopt;
  if (token_.text != "]") {
    fail(token_.offset, 1, "an index ends with ]");
    return std::nullopt;
  }
  std::vector<Expr> indices;
  for (const Piece& piece : *found) {
    const auto index = inner(piece);
    if (!index) return std::nullopt;
    indices.push_back(*index);
  }
  const std::size_t length = token_.offset + 1 - name.offset;
  MemberName member =
      scope_.member ? scope_.member(name.text, indices, base_ + name.offset, length)
                    : MemberName{std::nullopt, {0, 1, fmt::format("`{}`: no index can stand here", name.text), {}}};
  if (!member.name) complain(name.offset, length, std::move(member.problem.message), std::move(member.problem.hint));
  return std::move(member.name);
}

bool Parser::indexed(const Token& name) {
  if (name.primes > 0)
    return fail(name.offset, name.length(), "the prime stands behind the index",
                fmt::format("write {}[...]'", name.text));
  const auto whole = member(name);
  if (failed_) return false;
  std::size_t length = token_.offset + token_.length() - name.offset;
  int primes = token_.primes;
  auto whole_name = whole;
  // r[i].x: a component of a member.
  if (const std::size_t dot = token_.offset + token_.length();
      primes == 0 && dot + 1 < text_.size() && text_[dot] == '.' && text_[dot + 1] != '.') {
    lexer_.seek(dot + 1);
    advance();
    if (token_.kind != TokenKind::name) return fail(dot, 1, "the name of a component stands behind the dot");
    if (whole) whole_name = fmt::format("{}.{}", *whole, token_.text);
    primes = token_.primes, length = token_.offset + token_.length() - name.offset;
  }
  advance();
  return indexed_value(name, whole_name, primes, length);
}

bool Parser::indexed_value(const Token& name, const std::optional<std::string>& whole, int primes, std::size_t length) {
  Expr value = 0.0;
  Measure measure;
  if (whole) {
    if (auto vector = scope_.vector ? scope_.vector(*whole, primes) : std::nullopt) {
      push_vector(*std::move(vector), name.offset, name.offset + length, measure_of(*whole, primes));
      return true;
    }
    measure = measure_of(*whole, primes);
    if (const auto found = scope_.find ? scope_.find(*whole, primes) : std::nullopt) {
      value = *found;
    } else {
      ParseProblem p = scope_.explain ? scope_.explain(*whole, primes)
                                      : ParseProblem{0, 1, fmt::format("unknown name `{}`", *whole), {}};
      complain(name.offset, length, std::move(p.message), std::move(p.hint));
    }
  }
  push_operand(std::move(value), name.offset, name.offset + length, measure);
  return true;
}

bool Parser::sum(const Token& name) {
  const auto found = pieces(token_.offset);
  if (!found) return false;
  const std::size_t end = token_.offset + 1;
  constexpr const char* example = "for example sum(i = 1..N, m*x[i]^2)";
  if (token_.text != ")") return fail(token_.offset, 1, "a sum ends with )");
  if (found->size() < 2)
    return fail(name.offset, end - name.offset, "a sum has an index with its bounds, and what is summed", example);
  const Piece body = found->back();
  const std::size_t begin = found->front().begin;
  ParsedRanges header = parse_ranges(text_.substr(begin, body.begin - 1 - begin));
  for (ParseProblem& p : header.problems) return fail(p.offset + begin, p.length, std::move(p.message), example);
  for (IndexRange& range : header.ranges) range.offset += begin, range.from_offset += begin, range.to_offset += begin;
  advance();
  Expr value = 0.0;
  Measure measure;
  if (!scope_.sum) {
    complain(name.offset, end - name.offset, "no sum can stand here");
  } else {
    ParsedExpression parsed = scope_.sum(header.ranges, text_.substr(body.begin, body.end - body.begin), body.begin);
    for (ParseProblem& p : parsed.problems) problems.push_back(std::move(p));
    if (parsed.value) value = *parsed.value;
    measure = parsed.measure;
  }
  push_operand(std::move(value), name.offset, end, measure);
  return true;
}

}  // namespace mechanician::parsing
