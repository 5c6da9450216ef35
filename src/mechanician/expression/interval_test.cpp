#include "mechanician/expression/interval.hpp"

#include <gtest/gtest.h>

#include <random>

#include "mechanician/base/trials_for_test.hpp"
#include "mechanician/expression/bounded.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/expression/random_expression_for_test.hpp"

namespace mechanician {
namespace {

const std::vector<Expr> symbols{coordinate("x"), coordinate("y"), parameter("p")};

/// What an expression is at states between bounds lies between the bounds of the expression.
TEST(Interval, encloses_every_value_of_random_expressions) {
  for (unsigned seed = 0; seed < num_trials(4000); ++seed) {
    std::mt19937_64 random(seed);
    const Expr f = random_expression(random, symbols, {.num_operations = 1 + static_cast<int>(seed % 12)});
    const Tape tape(std::vector<Expr>{f}, symbols);
    std::uniform_real_distribution<double> place(-3.0, 3.0), exponent(-4.0, 0.7), part(0.0, 1.0);
    std::vector<Interval> box;
    for (std::size_t i = 0; i < symbols.size(); ++i) {
      const double middle = place(random), width = std::pow(10.0, exponent(random));
      box.push_back({middle - width, middle + width});
    }
    const Interval found = tape.operator()<Interval>(box)[0];
    for (int trial = 0; trial < 20; ++trial) {
      std::vector<double> x;
      for (const Interval& i : box) x.push_back(i.low + part(random) * (i.high - i.low));
      const double value = tape.operator()<double>(x)[0];
      if (!std::isfinite(value)) continue;
      std::vector<double> values(1), bounds(1);
      tape.evaluate_with_bounds(x, values, bounds);
      const double slack = std::isfinite(bounds[0]) ? 8.0 * bounds[0] : std::numeric_limits<double>::infinity();
      EXPECT_LE(found.low, value + slack) << "seed " << seed << ": " << to_text(f);
      EXPECT_GE(found.high, value - slack) << "seed " << seed << ": " << to_text(f);
    }
  }
}

TEST(Interval, is_exact_where_symbols_occur_once) {
  const Expr x = symbols[0], y = symbols[1];
  const auto bounds = [&](const Expr& f, Interval a, Interval b) {
    return Tape(std::vector<Expr>{f}, symbols).operator()<Interval>(std::vector<Interval>{a, b, Interval(1.0)})[0];
  };
  const auto expect = [](const Interval& i, double low, double high) {
    EXPECT_DOUBLE_EQ(i.low, low);
    EXPECT_DOUBLE_EQ(i.high, high);
  };
  expect(bounds(sin(x), {1.0, 2.0}, {}), std::sin(1.0), 1.0);
  expect(bounds(cos(x), {3.0, 7.0}, {}), -1.0, 1.0);
  expect(bounds(pow(x, 2), {-1.0, 3.0}, {}), 0.0, 9.0);
  expect(bounds(x / y, {1.0, 2.0}, {4.0, 8.0}), 0.125, 0.5);
  expect(bounds(exp(-pow((x - 50) / 0.01, 2)) - 0.5, {0.0, 49.0}, {}), -0.5, -0.5);
  expect(bounds(select(x < 1, y, 5), {2.0, 3.0}, {0.0, 1.0}), 5.0, 5.0);
  expect(bounds(select(x < 1, y, 5), {0.0, 3.0}, {0.0, 1.0}), 0.0, 5.0);
  EXPECT_TRUE(std::isinf(bounds(x / y, {1.0, 2.0}, {-1.0, 1.0}).high));
}

/// The two ways to bounds of rounding are one.
TEST(Bounded, is_the_running_error_analysis_of_a_tape) {
  for (unsigned seed = 0; seed < num_trials(500); ++seed) {
    std::mt19937_64 random(seed);
    const Expr f = random_expression(random, symbols);
    const Tape tape(std::vector<Expr>{f}, symbols);
    std::uniform_real_distribution<double> place(-3.0, 3.0);
    const std::vector<double> x{place(random), place(random), place(random)};
    std::vector<double> value(1), bound(1);
    tape.evaluate_with_bounds(x, value, bound);
    std::vector<Bounded> in;
    for (const double number : x) in.emplace_back(number, 0.0);
    const Bounded found = tape.operator()<Bounded>(in)[0];
    if (std::isnan(value[0]) || std::isnan(bound[0])) continue;
    EXPECT_EQ(found.value, value[0]) << "seed " << seed << ": " << to_text(f);
    EXPECT_EQ(found.error, bound[0]) << "seed " << seed << ": " << to_text(f);
  }
}

}  // namespace
}  // namespace mechanician
