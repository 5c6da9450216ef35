#include "mechanician/expression/print.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <random>

#include "mechanician/expression/parse.hpp"
#include "mechanician/expression/random_expression_for_test.hpp"
#include "mechanician/expression/tape.hpp"

namespace mechanician {
namespace {

const Expr a = parameter("a"), b = parameter("b"), c = parameter("c"), x = coordinate("x");
const Expr xd = derivative_symbol(x);
const std::vector<Expr> symbols{a, b, c, x, xd};

/// Names of the symbols above.
NameScope scope() {
  NameScope s;
  s.find = [](std::string_view name, int primes) -> std::optional<Expr> {
    if (name == "x" && primes <= 1) return primes == 0 ? x : xd;
    for (const Expr& p : {a, b, c})
      if (primes == 0 && p.symbol().name == name) return p;
    return std::nullopt;
  };
  s.explain = [](std::string_view, int) { return ParseProblem{}; };
  return s;
}

Expr parsed(const std::string& text) {
  const ParsedExpression result = parse_expression(text, scope());
  EXPECT_TRUE(result.value) << text << (result.problems.empty() ? "" : ": " + result.problems.front().message);
  return result.value.value_or(Expr(0));
}

TEST(Print, PutsParenthesesWhereTheyAreNeededAndNowhereElse) {
  EXPECT_EQ(to_text(-pow(x, 2)), "-x^2");
  EXPECT_EQ(to_text(pow(-x, 2)), "(-x)^2");
  EXPECT_EQ(to_text(a - (b - c)), "a - (b - c)");
  EXPECT_EQ(to_text(a - b - c), "a - b - c");
  EXPECT_EQ(to_text(a - (b + c)), "a - (b + c)");
  EXPECT_EQ(to_text(a / (b * c)), "a/(b*c)");
  EXPECT_EQ(to_text(a / b / c), "a/b/c");
  EXPECT_EQ(to_text(a / (b / c)), "a/(b/c)");
  EXPECT_EQ(to_text(a * (b / c)), "a*(b/c)");
  EXPECT_EQ(to_text(a * (b + c)), "a*(b + c)");
  EXPECT_EQ(to_text(pow(Expr(2), -1)), "2^(-1)");
  EXPECT_EQ(to_text(pow(pow(a, b), c)), "(a^b)^c");
  EXPECT_EQ(to_text(pow(a, pow(b, c))), "a^b^c");
  EXPECT_EQ(to_text(pow(a + b, 2)), "(a + b)^2");
  EXPECT_EQ(to_text(-(a + b)), "-(a + b)");
  EXPECT_EQ(to_text(-(-a)), "-(-a)");
  EXPECT_EQ(to_text(a + Expr(-3)), "a + (-3)");
  EXPECT_EQ(to_text(pow(Expr(-2), 2)), "(-2)^2");
  EXPECT_EQ(to_text(Expr(-2) * a + b), "-2*a + b");
  EXPECT_EQ(to_text(b + Expr(-2) * a), "b + (-2)*a");
  EXPECT_EQ(to_text(-(a / b)), "-a/b");
  EXPECT_EQ(to_text(c / -(a * b)), "c/(-a*b)");
  EXPECT_EQ(to_text(a * -b), "a*(-b)");
  EXPECT_EQ(to_text(a - -b), "a - (-b)");
  EXPECT_EQ(to_text(pow(a, -b)), "a^(-b)");
  EXPECT_EQ(to_text(-Expr(-2)), "-(-2)");
  EXPECT_EQ(to_text(select(a < -b, Expr(-1), -a * b)), "if(a < -b, -1, -a*b)");
  EXPECT_EQ(to_text(select(!(a < b) && (a > 1 || b > 1), a, b)), "if(not a < b and (a > 1 or b > 1), a, b)");
  EXPECT_EQ(to_text(select(!(a < b && b < c), a, b)), "if(not (a < b and b < c), a, b)");
}

TEST(Print, NumbersReadBackExactly) {
  EXPECT_EQ(to_text(Expr(0.1)), "0.1");
  EXPECT_EQ(to_text(Expr(1e-30)), "1e-30");
  EXPECT_EQ(to_text(Expr(std::numbers::pi)), "pi");
  for (const double value : {0.1, 1.0 / 3.0, 1e300, 5e-324, 123456789.123456789})
    EXPECT_EQ(parsed(to_text(Expr(value))).value(), value);
}

TEST(Print, WrittenTextParsesBackToTheSameValue) {
  int compared = 0;
  for (unsigned seed = 0; seed < 1500; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const Expr f = random_expression(random, symbols);
    const std::string text = to_text(f);
    if (text.size() >= 20000) continue;
    const Expr both[] = {f, parsed(text)};
    const Tape tape(both, symbols);
    for (int trial = 0; trial < 3; ++trial) {
      std::vector<double> at(symbols.size()), values(2), bounds(2);
      for (double& v : at) v = std::uniform_real_distribution<double>(-2, 2)(random);
      tape.evaluate_with_bounds(at, values, bounds);
      if (!std::isfinite(values[0]) || !std::isfinite(bounds[0]) || bounds[0] > 1e-6 * (1 + std::abs(values[0])))
        continue;
      // a + (b + c) is written without parentheses: a rounding error's difference.
      EXPECT_NEAR(values[0], values[1], 10 * (bounds[0] + bounds[1])) << text;
      ++compared;
    }
  }
  EXPECT_GT(compared, 1000);
}

TEST(Print, LongTextIsCutAtACharacter) {
  Expr f = coordinate("θ");
  for (int i = 0; i < 100; ++i) f = f * f;
  for (std::size_t length = 20; length < 26; ++length) {
    const std::string text = print(f, {.max_length = length});
    EXPECT_LE(text.size(), length + 3);
    EXPECT_EQ(text.substr(text.size() - 3), "…");
    const std::string kept = text.substr(0, text.size() - 3);
    EXPECT_TRUE(kept.ends_with("*") || kept.ends_with("θ")) << kept;
  }
}

TEST(Print, TreeSizeCountsSharedPartsEachTime) {
  EXPECT_EQ(tree_size(x), 1);
  EXPECT_EQ(tree_size(x * x), 3);
  Expr f = x;
  for (int i = 0; i < 100; ++i) f = f * f;
  EXPECT_EQ(tree_size(f), std::pow(2.0, 101) - 1);
}

TEST(PrintLatex, OfRepresentativeExpressions) {
  EXPECT_EQ(to_latex(a / (b + c)), "\\frac{a}{b + c}");
  EXPECT_EQ(to_latex(pow(a + b, 2)), "{\\left(a + b\\right)}^{2}");
  EXPECT_EQ(to_latex(pow(a / b, 2)), "{\\left(\\frac{a}{b}\\right)}^{2}");
  EXPECT_EQ(to_latex(a * (b / c)), "a\\,\\frac{b}{c}");
  EXPECT_EQ(to_latex(pow(a, -b)), "{a}^{-b}");
  EXPECT_EQ(to_latex(sqrt(x)), "\\sqrt{x}");
  EXPECT_EQ(to_latex(abs(x)), "\\left|x\\right|");
  EXPECT_EQ(to_latex(xd * sin(x)), "\\dot{x}\\,\\sin\\left(x\\right)");
  EXPECT_EQ(to_latex(derivative_symbol(xd)), "\\ddot{x}");
  EXPECT_EQ(to_latex(coordinate("theta_1")), "\\theta_{1}");
  EXPECT_EQ(to_latex(parameter("mass")), "\\mathrm{mass}");
  // Fonts of mathematics have letters beyond ASCII by name only.
  EXPECT_EQ(to_latex(coordinate("φ")), "\\varphi");
  EXPECT_EQ(to_latex(derivative_symbol(coordinate("ω_max"))), "\\dot{\\omega_{\\mathrm{max}}}");
  EXPECT_EQ(to_latex(coordinate("Δx2")), "\\Delta x_{2}");
  EXPECT_EQ(to_latex(coordinate("αβ")), "\\alpha\\beta");
  EXPECT_EQ(to_latex(coordinate("Α")), "\\mathrm{A}");
  EXPECT_EQ(to_latex(parameter("größe_ü")), "\\text{größe}_{\\text{ü}}");
  EXPECT_EQ(to_latex(parameter("x_α1")), "x_{\\alpha1}");
  EXPECT_EQ(to_latex(Expr(1e-30)), "1\\cdot 10^{-30}");
  EXPECT_EQ(to_latex(select(a < b, x, Expr(0))), "\\begin{cases}x & a < b \\\\ 0 & \\text{else}\\end{cases}");
  EXPECT_EQ(to_latex(unknown_derivative(unknown_function("alpha", {time_symbol()}), time_symbol())), "\\dot{\\alpha}");
}

TEST(PrintLatex, DoesNotRunNumbersTogether) {
  EXPECT_EQ(to_latex(Expr(0.1) * Expr(3)), "0.1\\cdot 3");
  EXPECT_EQ(to_latex(a * Expr(3)), "a\\cdot 3");
  EXPECT_EQ(to_latex(a * pow(Expr(2), b)), "a\\cdot {2}^{b}");
  EXPECT_EQ(to_latex(3 * a), "3\\,a");
}

TEST(PrintC, OfRepresentativeExpressions) {
  EXPECT_EQ(to_c(x / 3), "x/3.0");
  EXPECT_EQ(to_c(pow(x, 2)), "(x*x)");
  EXPECT_EQ(to_c(pow(x + a, 2)), "pow(x + a, 2.0)");
  EXPECT_EQ(to_c(xd * abs(x)), "x_d*fabs(x)");
  EXPECT_EQ(to_c(select(!(a < b), a, b)), "((!(a < b)) ? (a) : (b))");
  EXPECT_EQ(to_c(coordinate("θ")), "u03B8");
}

TEST(PrintC, CompiledBySystemCompilerHasTheValuesOfTheTape) {
  if (std::system("cc --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no C compiler";
  std::mt19937_64 random(11);
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("mechanician_print_" + std::to_string(std::random_device{}()));
  std::filesystem::create_directory(folder);
  struct Expected {
    std::string text;
    double value, tolerance;
  };
  std::vector<Expected> expected;
  {
    std::ofstream program(folder / "values.c");
    program << "#define _GNU_SOURCE\n#include <math.h>\n#include <stdio.h>\n";
    std::string calls;
    for (int i = 0; i < 300; ++i) {
      const Expr f = random_expression(random, symbols);
      std::vector<double> at(symbols.size()), values(1), bounds(1);
      for (double& v : at) v = std::uniform_real_distribution<double>(-2, 2)(random);
      Tape(std::span(&f, 1), symbols).evaluate_with_bounds(at, values, bounds);
      const std::string text = to_c(f);
      if (!std::isfinite(values[0]) || !std::isfinite(bounds[0]) || bounds[0] > 1e-6 * (1 + std::abs(values[0])) ||
          text.size() > 2000)
        continue;
      const std::string name = "f" + std::to_string(expected.size());
      program << "static double " << name << "(double a, double b, double c, double x, double x_d) {\n"
              << "  (void)a, (void)b, (void)c, (void)x, (void)x_d;\n  return " << text << ";\n}\n";
      calls += "  printf(\"%.17g\\n\", " + name + "(";
      for (std::size_t k = 0; k < at.size(); ++k) calls += (k ? ", " : "") + number_text(at[k]);
      calls += "));\n";
      expected.push_back({text, values[0], 10 * bounds[0]});
    }
    program << "int main(void) {\n" << calls << "  return 0;\n}\n";
  }
  const std::string binary = (folder / "values").string(), source = (folder / "values.c").string(),
                    out = (folder / "values.txt").string();
  ASSERT_EQ(
      std::system(("cc -std=gnu11 -O0 -Wno-parentheses -o " + binary + " " + source + " -lm && " + binary + " > " + out)
                      .c_str()),
      0);
  std::ifstream results(out);
  for (const Expected& e : expected) {
    double value = 0;
    ASSERT_TRUE(results >> value);
    EXPECT_NEAR(value, e.value, e.tolerance) << e.text;
  }
  EXPECT_GT(expected.size(), 100u);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace mechanician
