#include "mechanician/expression/rational.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "mechanician/base/deep_for_test.hpp"
#include "mechanician/base/trials_for_test.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/expression/random_expression_for_test.hpp"
#include "mechanician/expression/tape.hpp"

namespace mechanician {
namespace {

const Expr x = coordinate("x"), y = coordinate("y"), z = coordinate("z"), t = time_symbol();
const Expr m = parameter("m"), g = parameter("g"), k = parameter("k");
const Expr xd = derivative_symbol(x), yd = derivative_symbol(y), zd = derivative_symbol(z);
const std::vector<Expr> symbols{x, y, z, m};

std::string shown(const Expr& f) {
  const auto r = rational_expr(f, {.short_decimals = true, .order = {m, g, k}});
  return r ? to_text(*r) : "(none)";
}
std::string kept(const Expr& f) {
  const auto r = rational_expr(f, {.singularities = Singularities::keep});
  return r ? to_text(*r) : "(none)";
}

TEST(RationalForm, ReadsLikeWrittenByHand) {
  EXPECT_EQ(shown(-z * xd * zd / (1 + z * z)), "-z*x'*z'/(1 + z^2)");
  EXPECT_EQ(shown(m * x + k * y + m * z - m * 3), "m*(x + z - 3) + k*y");
  EXPECT_EQ(shown(g * x + g * y + k * x + k * y), "(g + k)*(x + y)");
  EXPECT_EQ(shown(m * x * x / 3 + m * x * x / 4), "7*m*x^2/12");
  EXPECT_EQ(shown(x * x + x * y + y * y), "x^2 + x*y + y^2");
  EXPECT_EQ(shown(-(x - y)), "y - x");
  EXPECT_EQ(shown(-(x * x + y * y)), "-(x^2 + y^2)");
  EXPECT_EQ(shown(1 / (1 / x + 1 / y)), "x*y/(x + y)");
  EXPECT_EQ(shown(x * (27 * pow(xd, 4) + 27 * pow(xd * yd, 2)) + y), "27*x*x'^2*(x'^2 + y'^2) + y");
  EXPECT_EQ(shown(x / (-1 - y * y)), "-x/(1 + y^2)");
  EXPECT_EQ(shown(0.5 * x), "x/2");
  EXPECT_EQ(shown(-x / 3), "-x/3");
  EXPECT_EQ(shown(x / pow(x * x + y * y, 1.5)), "x/(x^2 + y^2)^(3/2)");
}

TEST(RationalForm, DecimalsStayDecimals) {
  EXPECT_EQ(shown(0.1 * x + 0.2 * x), "x*(0.1 + 0.2)");
  EXPECT_EQ(shown(9.81 * x / 9.81), "x");
  EXPECT_EQ(shown(x * -0.1), "-0.1*x");
  EXPECT_EQ(shown(9 * x * pow(Expr(0.2), 2) + y), "0.36*x + y");
  EXPECT_EQ(shown(x / (3 * Expr(0.7) * y)), "x/(2.1*y)");
  EXPECT_EQ(shown(pow(Expr(9.81), 2) * Expr(1.7000000001) * x), "9.81^2*1.7000000001*x")
      << "too long to be multiplied out";
}

TEST(RationalForm, CancelsCommonPolynomials) {
  EXPECT_EQ(shown((x * x - y * y) / (x - y)), "x + y");
  EXPECT_EQ(shown((x * x - y * y) / (x * x + 2 * x * y + y * y)), "(x - y)/(x + y)");
  EXPECT_EQ(shown((m + m * z * z) / (m * m * (1 + z * z))), "1/m");
}

TEST(RationalForm, UsesSineAndCosine) {
  EXPECT_EQ(shown(pow(sin(x), 2) + pow(cos(x), 2)), "1");
  EXPECT_EQ(shown(m + k - k * pow(cos(x), 2)), "m + k*sin(x)^2");
  EXPECT_EQ(shown((1 - pow(sin(x), 2)) / cos(x)), "cos(x)");
  EXPECT_EQ(shown(cos(x) / (1 - pow(sin(x), 2))), "1/cos(x)");
  EXPECT_EQ(shown(sin(y - x) + sin(x - y)), "0");
}

TEST(RationalForm, UsesRoots) {
  EXPECT_EQ(shown(sqrt(x * x + y * y) * hypot(x, y)), "x^2 + y^2");
  EXPECT_EQ(shown((x * x + y * y) / sqrt(x * x + y * y)), "sqrt(x^2 + y^2)");
  EXPECT_EQ(shown(sqrt(4 * x * x + 4 * y * y)), "2*sqrt(x^2 + y^2)");
  EXPECT_EQ(shown(abs(-x) * abs(x)), "x^2");
}

TEST(RationalForm, KeepsSingularitiesWhereAsked) {
  EXPECT_EQ(kept(x / x), "x/x");
  EXPECT_EQ(kept(0 * (1 / x)), "0/x");
  EXPECT_EQ(kept(sqrt(x) * sqrt(x)), "sqrt(x)^2");
  EXPECT_EQ(kept(log(x) - log(x)), "(none)");
  EXPECT_EQ(kept(pow(1 / x, 0)), "(none)");
  EXPECT_EQ(kept(1 / (1 / x)), "(none)");
  EXPECT_EQ(kept(x * (x + y) - x * y), "x^2");
  EXPECT_EQ(kept((x + 1) * (x - 1) / (y * (x + 1))), "(x^2 - 1)/(y*(1 + x))");
}

TEST(ProvesZero, ProvesIdentities) {
  for (const Expr& f : {
           pow(x + y, 3) - (pow(x, 3) + 3 * pow(x, 2) * y + 3 * x * pow(y, 2) + pow(y, 3)),
           x / 3 + x / 3 + x / 3 - x,
           sin(x + y) - sin(x) * cos(y) - cos(x) * sin(y),
           cos(3 * x) - 4 * pow(cos(x), 3) + 3 * cos(x),
           1 + pow(tan(x), 2) - 1 / pow(cos(x), 2),
           pow(cosh(x), 2) - pow(sinh(x), 2) - 1,
           exp(x + y) / exp(y) - exp(x),
           pow(x * x + y * y, 1.5) - hypot(x, y) * (x * x + y * y),
           sqrt(x / y) * sqrt(x / y) * y - x,
           x / x - 1,
           log(x) - log(x),
           sin((x * x - y * y) / (x - y)) - sin(x + y),
           select(x > 0, sin(x - y), y) - select(x > 0, -sin(y - x), y),
           sqrt(2) * sqrt(2) - 2,
       })
    EXPECT_TRUE(proves_zero(f)) << to_text(f);
}

TEST(ProvesZero, IsNotFooled) {
  for (const Expr& f : {
           sqrt(x * x) - x,
           abs(x) - x,
           asin(sin(x)) - x,
           x * 1e-30,
           0.1 * x + 0.2 * x - 0.3 * x,  // 0.1 + 0.2 is not 0.3
           sin(x) - x,
           pow(x, m) * pow(x, m) - pow(x, 2 * m) + 1,
           sign(x) * sign(x) - 1,
           select(x > 0, x, y) - x,
           1 / (x - x),
       })
    EXPECT_FALSE(proves_zero(f)) << to_text(f);
}

TEST(RationalForm, HasTheValueOfTheExpressionWhereverThatIsDefined) {
  int compared = 0;
  for (unsigned seed = 0; seed < num_trials(3000); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const Expr f = random_expression(random, symbols, {.num_operations = 8});
    for (const Purpose purpose : {Purpose::display, Purpose::proof})
      for (const Singularities s : {Singularities::cancel, Singularities::keep}) {
        const auto r = rational_expr(f, {.purpose = purpose, .singularities = s});
        if (!r) continue;
        const Expr both[] = {f, *r};
        const Tape tape(both, symbols);
        for (int i = 0; i < 4; ++i) {
          std::vector<double> at(4), values(2), bounds(2);
          for (double& a : at) a = std::uniform_real_distribution<double>(-2, 2)(random);
          tape.evaluate_with_bounds(at, values, bounds);
          if (!std::isfinite(values[0]) || !std::isfinite(bounds[0])) continue;
          // Where a comparison or a root is decided by rounding, the bound says nothing.
          if (!std::isfinite(bounds[1]) || bounds[0] > 1e-6 * (1 + std::abs(values[0]))) continue;
          if (has_infinite_part(f, symbols, at)) continue;
          EXPECT_NEAR(values[0], values[1], 1e3 * (bounds[0] + bounds[1])) << to_text(f) << "\n" << to_text(*r);
          ++compared;
        }
      }
  }
  EXPECT_GT(compared, static_cast<int>(num_trials(10000)));
}

TEST(RationalForm, GivesUpCleanlyOnWhatIsTooLarge) {
  Expr sum = x;
  for (const char* name : {"a", "b", "c", "d", "e", "f", "h", "i", "j"}) sum = sum + parameter(name);
  EXPECT_FALSE(rational_expr(pow(sum, 12)));
  EXPECT_FALSE(proves_zero(pow(sum, 12) - pow(sum, 11) * sum));
  Expr deep = x;
  for (int i = 0; i < deep_nesting; ++i) deep = sin(deep) + y;
  EXPECT_FALSE(rational_expr(deep));
  Expr squares = x + y;
  for (int i = 0; i < 60; ++i) squares = squares * squares + 1;
  EXPECT_FALSE(rational_expr(squares));
}

}  // namespace
}  // namespace mechanician
