#pragma once

/// The expression language: text to Expr.
///
/// Operator precedence with explicit stacks, so that nesting is limited by memory only. Nothing is simplified. Unknown
/// names are all reported; a syntax error ends the text it is in. Offsets are bytes into the text.
///
///     or < and < not < comparisons < + − < * / < unary − < ^ (right associative)

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mechanician/expression/expression.hpp"

namespace mechanician {

/// Largest integer that may stand as an exponent.
inline constexpr double largest_power = 1e6;

struct ParseProblem {
  std::size_t offset = 0;
  std::size_t length = 1;
  std::string message;
  std::string hint;
};

/// What a name stands for, asked by the parser.
struct NameScope {
  /// name with `primes` primes behind it; nothing if there is none.
  std::function<std::optional<Expr>(std::string_view name, int primes)> find;
  /// Why there is none, if find found nothing.
  std::function<ParseProblem(std::string_view name, int primes)> explain;
  /// ideal(x) and multiplier(rod); null where they may not be used.
  std::function<std::optional<Expr>(std::string_view function, std::string_view name)> reaction = nullptr;
  std::function<ParseProblem(std::string_view function, std::string_view name)> explain_reaction = nullptr;
};

struct ParsedExpression {
  std::optional<Expr> value;  ///< nothing if there is a problem
  std::vector<ParseProblem> problems;
};
ParsedExpression parse_expression(std::string_view text, const NameScope& scope);

enum class Relation { equal, at_least, at_most };

/// left = right, left >= right or left <= right
struct ParsedEquation {
  std::optional<Expr> left, right;
  Relation relation = Relation::equal;
  std::vector<ParseProblem> problems;
};
ParsedEquation parse_equation(std::string_view text, const NameScope& scope);

}  // namespace mechanician
