#include "mechanician/expression/simplify.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "mechanician/base/trials_for_test.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/expression/random_expression_for_test.hpp"
#include "mechanician/expression/tape.hpp"

namespace mechanician {
namespace {

const Expr x = coordinate("x"), y = coordinate("y"), z = coordinate("z");
const std::vector<Expr> symbols{x, y, z};
std::string simplified(const Expr& f) { return to_text(simplify(f)); }

TEST(Simplify, KeepsThePoleOfZeroTimesAReciprocal) { EXPECT_EQ(simplified(0 * (1 / x)), "0/x"); }
TEST(Simplify, KeepsThePoleOfAQuotientOfEquals) { EXPECT_EQ(simplified(x / x), "x/x"); }
TEST(Simplify, KeepsThePoleOfZeroOverSomething) { EXPECT_EQ(simplified(0 / x), "0/x"); }
TEST(Simplify, KeepsTheDomainOfASquaredRoot) { EXPECT_EQ(simplified(pow(sqrt(x), 2)), "sqrt(x)^2"); }
TEST(Simplify, KeepsTheDomainOfADifferenceOfEqualLogarithms) {
  EXPECT_EQ(simplified(log(x) - log(x)), "log(x) - log(x)");
}
TEST(Simplify, KeepsTheDomainOfAZerothPower) { EXPECT_EQ(simplified(pow(1 / x, 0)), "(1/x)^0"); }
TEST(Simplify, KeepsZeroDividedByZero) { EXPECT_EQ(simplified(Expr(0) / Expr(0)), "0/0"); }
TEST(Simplify, KeepsTheConditionThatMayNotBeDefined) {
  EXPECT_EQ(simplified(select(1 / x > 0, y, y)), "if(1/x > 0, y, y)");
}
TEST(Simplify, DropsWhatIsTotal) {
  EXPECT_EQ(simplified(0 * sin(x)), "0");
  EXPECT_EQ(simplified(sin(x) - sin(x)), "0");
  EXPECT_EQ(simplified(pow(sin(x), 0)), "1");
  EXPECT_EQ(simplified(select(x > 0, y, y)), "y");
}

TEST(Simplify, FoldsConstantsOnlyWhereExact) {
  EXPECT_EQ(simplified(Expr(1) / 3), "1/3");
  EXPECT_EQ(simplified(Expr(0.1) + 0.2), "0.1 + 0.2");
  EXPECT_EQ(simplified(Expr(0.5) + 0.25), "0.75");
  EXPECT_EQ(simplified(Expr(6) / 2), "3");
  EXPECT_EQ(simplified(Expr(0.1) * 3), "0.1*3");
  EXPECT_EQ(simplified(pow(Expr(2), 10)), "1024");
  EXPECT_EQ(simplified(sqrt(Expr(9))), "3");
  EXPECT_EQ(simplified(sqrt(Expr(2))), "sqrt(2)");
  EXPECT_EQ(simplified(sin(Expr(0))), "0");
  EXPECT_EQ(simplified(sin(Expr(1))), "sin(1)");
  EXPECT_EQ(simplified(select(Expr(1) < 2, x, 1 / y)), "x");
}

TEST(Simplify, TidiesUp) {
  EXPECT_EQ(simplified(x * 1 + 0), "x");
  EXPECT_EQ(simplified(x + -y), "x - y");
  EXPECT_EQ(simplified(x - -y), "x + y");
  EXPECT_EQ(simplified(-x + y), "y - x");
  EXPECT_EQ(simplified(-(-x)), "x");
  EXPECT_EQ(simplified(-(x - y)), "y - x");
  EXPECT_EQ(simplified(x * 3), "3*x");
  EXPECT_EQ(simplified(x * (2 * y)), "2*x*y");
  EXPECT_EQ(simplified(2 * (3 * x)), "6*x");
  EXPECT_EQ(simplified(6 * x / 2), "3*x");
  EXPECT_EQ(simplified(2 * (x / 2)), "x");
  EXPECT_EQ(simplified(x * x * x), "x^3");
  EXPECT_EQ(simplified(x + x), "2*x");
  EXPECT_EQ(simplified(-x * -y), "x*y");
  EXPECT_EQ(simplified(x * (1 / y)), "x/y");
  EXPECT_EQ(simplified(pow(-x, 2)), "x^2");
}

TEST(Simplify, SecondTimeChangesNothing) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    std::mt19937_64 random(seed);
    const Expr once = simplify(random_expression(random, symbols));
    EXPECT_TRUE(same(simplify(once), once))
        << "seed " << seed << ": " << to_text(once) << " → " << to_text(simplify(once));
  }
}

/// Values and domain at points where singularities sit: a mistake would show as a value where there was none, or none
/// where there was one.
TEST(Simplify, KeepsValueAndDomainOfRandomExpressions) {
  const double special[] = {0.0, 1.0, -1.0, 0.5, 2.0, -2.0};
  int values_seen = 0, undefined_seen = 0;
  for (unsigned seed = 0; seed < num_trials(4000); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const Expr f = random_expression(random, symbols, {.num_operations = 10});
    const Expr both[] = {f, simplify(f)};
    const Tape tape(both, symbols);
    for (int trial = 0; trial < 6; ++trial) {
      std::vector<double> at(3), values(2), bounds(2);
      for (double& a : at)
        a = trial % 2 == 0 ? special[std::uniform_int_distribution<std::size_t>(0, 5)(random)]
                           : std::uniform_real_distribution<double>(-2, 2)(random);
      tape.evaluate_with_bounds(at, values, bounds);
      if (std::abs(values[0]) > 1e100) continue;  // near overflow
      if (std::isfinite(values[0]) && has_infinite_part(f, symbols, at)) continue;
      EXPECT_EQ(std::isfinite(values[0]), std::isfinite(values[1]))
          << to_text(f) << "\n"
          << to_text(both[1]) << "\nat " << at[0] << ", " << at[1] << ", " << at[2];
      if (!std::isfinite(values[0])) {
        ++undefined_seen;
        continue;
      }
      // A condition or a step that rounding decides has no bound.
      if (!std::isfinite(bounds[0]) || bounds[0] > 1e-6 * (1 + std::abs(values[0]))) continue;
      EXPECT_NEAR(values[0], values[1], 100 * (bounds[0] + bounds[1])) << to_text(f) << "\n" << to_text(both[1]);
      ++values_seen;
    }
  }
  EXPECT_GT(values_seen, static_cast<int>(num_trials(8000)));
  EXPECT_GT(undefined_seen, static_cast<int>(num_trials(1000)));
}

TEST(Substitute, ReplacesEveryOccurrenceAtOnce) {
  const Replacement swap[] = {{x, y}, {y, x}};
  EXPECT_EQ(to_text(substitute(x - y * x, swap)), "y - x*y");
  const Replacement zero[] = {{x, Expr(0)}};
  EXPECT_EQ(to_text(substitute(x * y + z, zero)), "z");
}

TEST(SymbolsOf, AreThoseThatOccurInOrderOfAppearance) {
  const Expr fs[] = {y * sin(x), x + z};
  const std::vector<Expr> found = symbols_of(fs);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_TRUE(same(found[0], y) && same(found[1], x) && same(found[2], z));
}

}  // namespace
}  // namespace mechanician
