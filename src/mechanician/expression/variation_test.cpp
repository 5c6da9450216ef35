#include "mechanician/expression/variation.hpp"

#include <gtest/gtest.h>

#include <random>

#include "mechanician/base/trials_for_test.hpp"
#include "mechanician/expression/definite_conditions.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/expression/random_expression_for_test.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/expression/tape.hpp"
#include "mechanician/expression/where_defined.hpp"

namespace mechanician {
namespace {

const std::vector<Expr> symbols{coordinate("x"), coordinate("y"), parameter("p")};
const Expr &x = symbols[0], &y = symbols[1];

template <class T>
T vary_over(const Expr& f, const Interval& a, const Interval& b) {
  return Tape(std::vector<Expr>{f}, symbols).operator()<T>(std::vector<T>{T(a), T(b), T(Interval(1.0))})[0];
}

/// Of expressions that vary by narrow functions alone nothing is seen by no samples: their bound is one of all that they vary.
TEST(Variation, bounds_what_random_functions_of_narrow_ones_vary_by) {
  const std::vector<Replacement> narrow{
      {symbols[0], exp(2 * x - y)}, {symbols[1], atan(3 * y)}, {symbols[2], 1 / (pow(x, 2) + 0.1)}};
  for (unsigned seed = 0; seed < num_trials(4000); ++seed) {
    std::mt19937_64 random(seed);
    const Expr f =
        substitute(random_expression(random, symbols, {.num_operations = 1 + static_cast<int>(seed % 12)}), narrow);
    const Tape tape(std::vector<Expr>{f}, symbols);
    std::uniform_real_distribution<double> place(-3.0, 3.0), exponent(-4.0, 0.7), part(0.0, 1.0);
    std::vector<Interval> box;
    std::vector<Varying<SeenBy::by_nothing>> in;
    for (std::size_t i = 0; i < symbols.size(); ++i) {
      const double middle = place(random), width = std::pow(10.0, exponent(random));
      box.push_back({middle - width, middle + width});
      in.emplace_back(box.back());
    }
    const double bound = tape.operator()<Varying<SeenBy::by_nothing>>(in)[0].unseen;
    double low = std::numeric_limits<double>::infinity(), high = -low;
    bool known = true;
    double rounding = 0.0;
    for (int trial = 0; trial < 20; ++trial) {
      std::vector<double> at, values(1), bounds(1);
      for (const Interval& i : box) at.push_back(i.low + part(random) * (i.high - i.low));
      tape.evaluate_with_bounds(at, values, bounds);
      known &= std::isfinite(values[0]) && std::isfinite(bounds[0]);
      low = std::min(low, values[0]), high = std::max(high, values[0]), rounding = std::max(rounding, bounds[0]);
    }
    if (known) {
      EXPECT_LE(high - low, bound * (1.0 + 1e-9) + 16.0 * rounding) << "seed " << seed << ": " << to_text(f);
    }
  }
}

TEST(Variation, is_nothing_where_functions_are_seen_or_are_next_to_nothing) {
  const Expr barrier = exp(-pow((x - 50) / 0.01, 2));
  const auto unseen = [&](const Expr& f, Interval a) {
    return vary_over<Varying<SeenBy::by_step>>(f, a, Interval(1.0)).unseen;
  };
  EXPECT_EQ(unseen(barrier, {0.0, 49.0}), 0.0);
  EXPECT_EQ(unseen(barrier, {0.0, 51.0}), 1.0);
  EXPECT_EQ(unseen(barrier, {49.99, 50.01}), 0.0);  // one turn
  EXPECT_EQ(unseen(3 * barrier + x, {0.0, 51.0}), 3.0);
  EXPECT_EQ(unseen(sin(x) + pow(x, 3) * y, {0.0, 51.0}), 0.0);
  EXPECT_EQ(unseen(1 / x, {1.0, 3.0}), 0.0);
  EXPECT_GT(unseen(1 / (pow(x, 2) + 1e-4), {-1.0, 1.0}), 9e3);
  EXPECT_EQ(unseen(tanh(x / 1e-3), {0.5, 1.0}), 0.0);
  EXPECT_EQ(unseen(tanh(x / 1e-3), {-0.5, 1.0}), 2.0);
  EXPECT_TRUE(std::isinf(unseen(1 / x, {-1.0, 1.0})));
}

TEST(Variation, kinks_between_samples_are_not_seen) {
  const auto unseen = [&](const Expr& f, Interval a) {
    return vary_over<Varying<SeenBy::but_kinks_by_step>>(f, a, Interval(1.0)).unseen;
  };
  EXPECT_EQ(unseen(abs(x), {0.0, 2.0}), 0.0);
  EXPECT_EQ(unseen(abs(x), {-1.0, 2.0}), 2.0);
  EXPECT_EQ(unseen(max(x, y), {1.0, 2.0}), 0.0);
  EXPECT_EQ(unseen(max(x, y), {0.0, 2.0}), 1.0);
  EXPECT_EQ(unseen(min(x, y) + 5 * sin(x), {2.0, 3.0}), 0.0);
  EXPECT_EQ(unseen(3 * min(x, y), {0.0, 2.0}), 3.0);
  EXPECT_EQ(unseen(mod(x, 2), {0.5, 1.5}), 0.0);
  EXPECT_GE(unseen(mod(x, 2), {1.5, 2.5}), 1.5);
  // Inside the equations steps end there.
  EXPECT_EQ((vary_over<Varying<SeenBy::by_step>>(abs(x), {-1.0, 2.0}, Interval(1.0)).unseen), 0.0);
}

TEST(NarrowFunctions, are_those_that_vary_along_a_motion) {
  const auto any = [](const Expr& f) { return NarrowFunctions(std::vector<Expr>{f}).any(); };
  EXPECT_FALSE(any(sin(x) * pow(x, 2) + sqrt(symbols[2]) / exp(symbols[2])));
  EXPECT_TRUE(any(sqrt(x)));
  EXPECT_TRUE(any(sin(exp(x))));
  EXPECT_TRUE(any(y / (1 + x)));
  EXPECT_TRUE(any(pow(cos(x), 100)));
  EXPECT_FALSE(any(pow(cos(x), 2)));
}

/// Where it has a value an expression has the same one.
TEST(WhereDefined, changes_no_value) {
  int asked = 0;
  for (unsigned seed = 0; seed < num_trials(4000); ++seed) {
    std::mt19937_64 random(seed);
    const std::vector<Expr> f =
        with_definite_conditions(std::vector<Expr>{random_expression(random, symbols, {.num_operations = 20})});
    const std::vector<Expr> g = where_defined(f);
    asked += same(f[0], g[0]) ? 0 : 1;
    std::uniform_real_distribution<double> place(-3.0, 3.0);
    for (int trial = 0; trial < 5; ++trial) {
      const std::vector<double> at{place(random), place(random), place(random)};
      const double value = Tape(f, symbols).operator()<double>(at)[0];
      if (std::isnan(value)) continue;
      EXPECT_EQ(Tape(g, symbols).operator()<double>(at)[0], value) << "seed " << seed << ": " << to_text(f[0]);
    }
  }
  EXPECT_GT(asked, 0);
}

}  // namespace
}  // namespace mechanician
