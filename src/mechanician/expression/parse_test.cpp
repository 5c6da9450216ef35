#include "mechanician/expression/parse.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "mechanician/base/deep_for_test.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/expression/tape.hpp"

namespace mechanician {
namespace {

/// x, y coordinates; a, b parameters.
NameScope scope() {
  NameScope s;
  s.find = [](std::string_view name, int primes) -> std::optional<Expr> {
    if ((name == "x" || name == "y" || name == "θ") && primes <= 2) {
      Expr e = coordinate(std::string(name));
      for (int k = 0; k < primes; ++k) e = derivative_symbol(e);
      return e;
    }
    if (primes == 0 && (name == "a" || name == "b")) return parameter(std::string(name));
    if (primes == 0 && name == "t") return time_symbol();
    return std::nullopt;
  };
  s.explain = [](std::string_view name, int) {
    return ParseProblem{0, 1, "unknown name `" + std::string(name) + "`", {}};
  };
  return s;
}

double value(const std::string& text, double x = 2.0, double y = 3.0) {
  const ParsedExpression parsed = parse_expression(text, scope());
  EXPECT_TRUE(parsed.value.has_value()) << text << ": " << (parsed.problems.empty() ? "" : parsed.problems[0].message);
  if (!parsed.value) return std::numeric_limits<double>::quiet_NaN();
  const std::vector<Expr> inputs{coordinate("x"), coordinate("y"), parameter("a"),
                                 parameter("b"),  time_symbol(),   derivative_symbol(coordinate("x"))};
  const std::vector<double> values{x, y, 0.5, -1.5, 0.25, 7.0};
  return Tape(std::span(&*parsed.value, 1), inputs)(std::span<const double>(values)).front();
}

struct Valued {
  const char* text;
  double value;
};

TEST(Parse, FollowsThePrecedenceOfMathematics) {
  const Valued cases[] = {{"-x^2", -4},
                          {"(-x)^2", 4},
                          {"2^-1", 0.5},
                          {"2^3^2", 512},
                          {"-2^2", -4},
                          {"8/4/2", 1},
                          {"8-4-2", 2},
                          {"2*3+4*5", 26},
                          {"2+3*4^2", 50},
                          {"-x*y", -6},
                          {"x*-y", -6},
                          {"x--y", 5},
                          {"--x", 2},
                          {"+x", 2},
                          {"2^-x^2", 0.0625},
                          {"(1+2)*3", 9},
                          {"x'", 7},
                          {".5", 0.5},
                          {"5.", 5},
                          {"1e-3", 1e-3},
                          {"1E+2", 100},
                          {"2.5e1", 25},
                          {"pi", 3.141592653589793},
                          {"1e-400", 0}};
  for (const Valued& c : cases) EXPECT_DOUBLE_EQ(value(c.text), c.value) << c.text;
}

TEST(Parse, NamesHaveDotsBetweenTheirParts) {
  NameScope s = scope();
  std::vector<std::string> asked;
  s.find = [&](std::string_view name, int primes) -> std::optional<Expr> {
    asked.push_back(std::string(name) + std::string(static_cast<std::size_t>(primes), '\''));
    return Expr(1.0);
  };
  EXPECT_TRUE(parse_expression("a.b.c + crank.x'' + θ.φ_1*k.x2", s).value.has_value());
  EXPECT_EQ(asked, (std::vector<std::string>{"a.b.c", "crank.x''", "θ.φ_1", "k.x2"}));
  for (const char* text : {"a.", "a.1", "a .b", "a. b", "a.b.", "a..b", ".a"})
    EXPECT_FALSE(parse_expression(text, s).problems.empty()) << text;
  // Ranges of indices keep their two dots.
  const ParsedRanges ranges = parse_ranges("i = a..N");
  ASSERT_TRUE(ranges.problems.empty());
  EXPECT_EQ(ranges.ranges[0].from, "a");
  EXPECT_EQ(ranges.ranges[0].to, "N");
}

TEST(Parse, KnowsEveryFunction) {
  const Valued cases[] = {{"sin(x)", std::sin(2.0)},
                          {"cos(x)", std::cos(2.0)},
                          {"tan(x)", std::tan(2.0)},
                          {"asin(a)", std::asin(0.5)},
                          {"acos(a)", std::acos(0.5)},
                          {"atan(x)", std::atan(2.0)},
                          {"atan2(x, y)", std::atan2(2.0, 3.0)},
                          {"sinh(x)", std::sinh(2.0)},
                          {"cosh(x)", std::cosh(2.0)},
                          {"tanh(x)", std::tanh(2.0)},
                          {"asinh(x)", std::asinh(2.0)},
                          {"acosh(x)", std::acosh(2.0)},
                          {"atanh(a)", std::atanh(0.5)},
                          {"exp(x)", std::exp(2.0)},
                          {"log(x)", std::log(2.0)},
                          {"sqrt(x)", std::sqrt(2.0)},
                          {"abs(b)", 1.5},
                          {"sign(b)", -1},
                          {"min(x, y)", 2},
                          {"max(x, y)", 3},
                          {"min(5, 4, 3, 6)", 3},
                          {"max(1, 2, 3)", 3},
                          {"hypot(3, 4)", 5},
                          {"mod(7, 3)", 1},
                          {"mod(-7, 3)", 2},
                          {"mod(7, -3)", -2},
                          {"mod(4, 4)", 0},
                          {"mod(y, x)", 1},
                          {"wrap(x + 4*pi)", 2.0},
                          {"wrap(-y - 2*pi)", -3.0},
                          {"if(x > y, 1, 2)", 2},
                          {"if(x < y and not y < x, 1, 2)", 1},
                          {"if(x == 2 or y == 7, 1, 2)", 1},
                          {"if(x <= 2, 1, 2)", 1},
                          {"if(x >= 3, 1, 2)", 2},
                          {"if(not x == 2 and y == 3 or t < 1, 1, 2)", 1}};
  for (const Valued& c : cases) EXPECT_DOUBLE_EQ(value(c.text), c.value) << c.text;
}

TEST(Parse, KeepsWhatIsWritten) {
  // The kind of a constraint is read off the text: 0*x' mentions a velocity.
  const auto parsed = parse_expression("0*x' + y", scope());
  ASSERT_TRUE(parsed.value);
  EXPECT_TRUE(parsed.value->contains(SymbolKind::velocity));
  const auto unicode = parse_expression("θ'' + θ", scope());
  ASSERT_TRUE(unicode.value);
  EXPECT_TRUE(unicode.value->contains(SymbolKind::acceleration));
}

TEST(Parse, EquationsHaveOneRelation) {
  const auto equal = parse_equation("x^2 + y^2 = a^2", scope());
  ASSERT_TRUE(equal.left && equal.right);
  EXPECT_EQ(equal.relation, Relation::equal);
  EXPECT_EQ(to_text(*equal.left), "x^2 + y^2");
  EXPECT_EQ(parse_equation("x >= 0", scope()).relation, Relation::at_least);
  EXPECT_EQ(parse_equation("x <= if(y <= 2, 1, 2)", scope()).relation, Relation::at_most);
}

struct Wrong {
  const char* text;
  std::size_t offset, length;
  const char* message;
  const char* hint;
};

void expect_problem(const Wrong& w, const std::vector<ParseProblem>& problems) {
  ASSERT_EQ(problems.size(), 1u) << w.text;
  EXPECT_EQ(problems[0].message, w.message) << w.text;
  EXPECT_EQ(problems[0].hint, w.hint) << w.text;
  EXPECT_EQ(problems[0].offset, w.offset) << w.text;
  EXPECT_EQ(problems[0].length, w.length) << w.text;
}

TEST(Parse, SaysWhatIsWrongAndWhere) {
  const Wrong cases[] = {
      {"", 0, 1, "the expression is empty", ""},
      {"x +", 2, 1, "the expression ends where a number or name is expected", ""},
      {"(x + y", 0, 1, "this parenthesis is never closed", ""},
      {"((x)", 0, 1, "this parenthesis is never closed", ""},
      {"(", 0, 1, "this parenthesis is never closed", ""},
      {"x)", 1, 1, "this parenthesis was never opened", ""},
      {"()", 1, 1, "there is nothing between the parentheses", ""},
      {"sin()", 4, 1, "`sin` is given no argument but needs 1", ""},
      {"atan2(x,)", 8, 1, "`atan2` is given one argument less than its commas say but needs 2", ""},
      {"x * / y", 4, 1, "`/` stands where a number or name is expected", ""},
      {"2 x", 2, 1, "an operator is missing before `x`", "products are written with *, as in 2*x"},
      {"x y", 2, 1, "an operator is missing before `y`", ""},
      {"x 2", 2, 1, "an operator is missing before this number", ""},
      {"2(x)", 1, 1, "an operator is missing before this parenthesis", "products are written with *"},
      {"x(y)", 0, 1, "`x` is not a function", "for a product write x*(...)"},
      {"sin x", 0, 3, "the function `sin` needs its arguments in parentheses", "write sin(...)"},
      {"sinn(x)", 0, 4, "unknown function `sinn`", "did you mean `sin`?"},
      {"zzzzzzzzz(x)", 0, 9, "unknown function `zzzzzzzzz`", ""},
      {"foo + 1", 0, 3, "unknown name `foo`", ""},
      {"x**2", 1, 2, "`**` is not an operator", "powers are written with ^, as in x^2"},
      {"1,5", 1, 1, "unexpected `,`", "decimals are written with a point, as in 1.5"},
      {"x != 2", 2, 2, "`!=` is not an operator", "write not (a == b)"},
      {"x && y", 2, 2, "`&&` is not an operator", "write `and`"},
      {"x | y", 2, 1, "`|` is not an operator", "write `or`"},
      {"!x", 0, 1, "`!` is not an operator", "write `not`"},
      {"{x}", 0, 1, "unexpected `{`", "group with parentheses ( )"},
      {"x[1]", 0, 4, "`x`: no index can stand here", ""},
      {"x'[1]", 0, 2, "the prime stands behind the index", "write x[...]'"},
      {"x[1", 1, 1, "this bracket is never closed", ""},
      {"x[1)", 3, 1, "an index ends with ]", ""},
      {"(x)[1]", 3, 1, "an index stands behind a name", "for example x[i + 1]"},
      {"x]", 1, 1, "this bracket was never opened", ""},
      {"1..3", 1, 2, "`..` stands between the bounds of an index only", "for example sum(i = 1..N, x[i])"},
      {"sum(i)", 0, 6, "a sum has an index with its bounds, and what is summed", "for example sum(i = 1..N, m*x[i]^2)"},
      {"sum(i = 1..2, x", 3, 1, "this parenthesis is never closed", ""},
      {"sum(i = 1..2, x)", 0, 16, "no sum can stand here", ""},
      {"2 'x", 2, 1, "a prime must follow the name of a coordinate directly", "x' is the velocity of x"},
      {"x ; y", 2, 1, "unexpected `;`", ""},
      {"x . y", 2, 1, "unexpected `.`", ""},
      {"x − y", 2, 3, "`−` is not part of the language", "write -"},
      {"x²", 1, 2, "`²` is not part of the language", "write ^2"},
      {"x ⊕ y", 2, 3, "unexpected character `⊕` (U+2295)", ""},
      {"1e999", 0, 5, "the number 1e999 is too large", "the largest is about 1.8e308"},
      {"x^1e7", 2, 3, "this power is too large", "exponents are limited to 1e+06"},
      {"x^-2000000", 2, 8, "this power is too large", "exponents are limited to 1e+06"},
      {"sin(x, y)", 0, 9, "`sin` takes 1 argument, not 2", ""},
      {"min(x)", 0, 6, "`min` takes at least 2 arguments, not 1", ""},
      {"if(x, 1, 2)", 3, 1, "a condition is expected here", "conditions are comparisons such as x > 0"},
      {"(x > 1) + 2", 0, 7, "a condition stands where a number is expected", "use if(condition, then, else)"},
      {"x < y", 0, 5, "a condition stands where a number is expected", "use if(condition, then, else)"},
      {"if(1 < x < 3, 1, 2)", 9, 1, "comparisons cannot be chained", "write a < b and b < c"},
      {"if(x and y > 1, 1, 2)", 3, 1, "a condition is expected here", "conditions are comparisons such as x > 0"},
      {"and x", 0, 3, "`and` stands where a number or name is expected", ""},
      {"x = 1", 2, 1, "`=` does not belong here", "this is an expression, not an equation"},
      {"if(x = 1, 1, 2)", 5, 1, "`=` inside parentheses", "a comparison is written =="},
      {"ideal(x)", 0, 8, "`ideal` can be used in [nonideal], [outputs], [events], [view] and [define] only", ""},
      {"ideal(2)", 6, 1, "`ideal` takes the name of a coordinate", ""},
      {"multiplier(x + 1)", 11, 1, "`multiplier` takes one name and a closing parenthesis", ""},
  };
  for (const Wrong& w : cases) expect_problem(w, parse_expression(w.text, scope()).problems);
}

TEST(Parse, SaysWhatIsWrongWithAnEquation) {
  const Wrong cases[] = {
      {"x + y", 0, 5, "this is no equation", "write left = right"},
      {"x == y", 2, 2, "an equation is written with a single =", ""},
      {"x < y", 2, 1, "a strict `<` is no constraint", "write <="},
      {"x > y", 2, 1, "a strict `>` is no constraint", "write >="},
      {"x = y = a", 6, 1, "an equation has one sign =, <= or >=", "write two constraints, one for each sign"},
      {"0 <= x <= a", 7, 2, "an equation has one sign =, <= or >=", "write two constraints, one for each sign"},
      {"x => y", 2, 2, "`=>` is no sign", "write >="},
      {"x =< y", 2, 2, "`=<` is no sign", "write <="},
      {"x =", 2, 1, "the expression ends where a number or name is expected", ""},
      {"(x = y)", 3, 1, "`=` inside parentheses", "a comparison is written =="},
  };
  for (const Wrong& w : cases) expect_problem(w, parse_equation(w.text, scope()).problems);
}

TEST(Parse, ReportsAllUnknownNamesOfAnExpression) {
  const auto parsed = parse_expression("foo + x*bar - baz''", scope());
  ASSERT_EQ(parsed.problems.size(), 3u);
  EXPECT_EQ(parsed.problems[1].offset, 8u);
  EXPECT_EQ(parsed.problems[2].length, 5u);
}

TEST(Parse, AMillionNestedParenthesesAreRead) {
  const auto depth = static_cast<std::size_t>(deep_nesting);
  const auto parsed = parse_expression(std::string(depth, '(') + "x" + std::string(depth, ')'), scope());
  ASSERT_TRUE(parsed.value);
  EXPECT_TRUE(same(*parsed.value, coordinate("x")));
  const auto open = parse_expression(std::string(depth, '(') + "x", scope());
  ASSERT_EQ(open.problems.size(), 1u);
  const auto minus = parse_expression(std::string(depth, '-') + "x", scope());
  ASSERT_TRUE(minus.value);
  const auto calls = parse_expression(
      [&] {
        std::string s;
        for (std::size_t i = 0; i < 200'000; ++i) s += "sin(";
        return s + "x" + std::string(200'000, ')');
      }(),
      scope());
  EXPECT_TRUE(calls.value);
}

}  // namespace
}  // namespace mechanician
