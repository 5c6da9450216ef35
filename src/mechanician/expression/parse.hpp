#pragma once

/// The expression language: text to Expr.
///
/// Operator precedence with explicit stacks, so that nesting is limited by memory only. Nothing is simplified. Unknown
/// names are all reported; a syntax error ends the text it is in. Offsets are bytes into the text.
///
///     or < and < not < comparisons < + − < * / < unary − < ^ (right associative)

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mechanician/expression/expression.hpp"
#include "mechanician/expression/units.hpp"

namespace mechanician {

/// Largest integer that may stand as an exponent.
inline constexpr double largest_power = 1e6;

struct ParseProblem {
  std::size_t offset = 0;
  std::size_t length = 1;
  std::string message;
  std::string hint;
};

/// i = from..to, as it stands in sum() and after `for`.
struct IndexRange {
  std::string name;
  std::size_t offset = 0, length = 0;  ///< of the name
  std::string_view from, to;           ///< text of the bounds
  std::size_t from_offset = 0, to_offset = 0;
};

struct ParsedExpression {
  std::optional<Expr> value;  ///< nothing if there is a problem
  std::vector<ParseProblem> problems;
  Measure measure = {};  ///< where NameScope::measure is given
};

/// The name of a member of a family, "x[3]" of x and 3; or what is wrong with it.
struct MemberName {
  std::optional<std::string> name;
  ParseProblem problem;
};

/// A function that has a name in the model: a table.
struct NamedFunction {
  int num_arguments = 1;
  std::function<Expr(std::span<const Expr> arguments)> make;
  std::vector<Measure> arguments = {};  ///< where units are given; none: of anything
  Measure value = {};
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
  /// x[i - 1], and where that stands in the text; null where names have no index.
  std::function<MemberName(std::string_view name, std::span<const Expr> indices, std::size_t offset,
                           std::size_t length)>
      member = nullptr;
  /// sum(i = 1..N, body): the parser leaves it to the scope to say what the index stands for. Offsets of problems are those
  /// of the whole text.
  std::function<ParsedExpression(std::span<const IndexRange> ranges, std::string_view body, std::size_t body_offset)>
      sum = nullptr;
  /// The components of a vector, two or three; nothing where the name is none. Null where there are no vectors.
  std::function<std::optional<std::vector<Expr>>(std::string_view name, int primes)> vector = nullptr;
  /// What is known of the dimension of a name; with it dimensions are checked. Null: no units.
  std::function<Measure(std::string_view name, int primes)> measure = nullptr;
  /// quake'(…): the function of a name with so many primes; nothing if there is none. Null where there are no such functions.
  std::function<std::optional<NamedFunction>(std::string_view name, int primes)> function = nullptr;
  /// Why there is none, where more can be said than that the name is unknown.
  std::function<std::optional<ParseProblem>(std::string_view name, int primes)> explain_function = nullptr;
};

/// A number. Vectors may stand in it where dot(), norm(), cross() of two in the plane or a component, r.x, makes one of them.
ParsedExpression parse_expression(std::string_view text, const NameScope& scope);

/// A number or a vector: sums, differences and multiples of vectors, cross() of two in space.
struct ParsedVector {
  std::vector<Expr> components;  ///< one of a number; none if there is a problem
  std::vector<ParseProblem> problems;
  Measure measure = {};
};
ParsedVector parse_vector(std::string_view text, const NameScope& scope);

enum class Relation { equal, at_least, at_most };

/// left = right, left >= right or left <= right
struct ParsedEquation {
  std::optional<Expr> left, right;
  Relation relation = Relation::equal;
  std::vector<ParseProblem> problems;
  Measure measure = {};  ///< of its sides
};
ParsedEquation parse_equation(std::string_view text, const NameScope& scope);

/// "i = 1..N, j = 1..i": bounds are not looked at.
struct ParsedRanges {
  std::vector<IndexRange> ranges;
  std::vector<ParseProblem> problems;
};
ParsedRanges parse_ranges(std::string_view text);

/// "x", "x[3]", "x[i, j + 1]", "x[1..N]": a name with what stands between its brackets.
struct ParsedName {
  std::string name;
  bool indexed = false;
  struct Piece {
    std::string_view text;
    std::size_t offset;
  };
  std::vector<Piece> indices;
  std::vector<ParseProblem> problems;
};
ParsedName parse_name(std::string_view text);
/// The places of a piece on either side of its `..`; nothing if there is none.
std::optional<std::pair<ParsedName::Piece, ParsedName::Piece>> split_range(const ParsedName::Piece& piece);

}  // namespace mechanician
