#include "mechanician/expression/expression.hpp"

#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "mechanician/base/deep_for_test.hpp"
#include "mechanician/expression/differentiate.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/expression/random_expression_for_test.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/expression/tape.hpp"

namespace mechanician {
namespace {

TEST(Expression, WrittenTheSameWayIsTheSameNode) {
  const Expr x = coordinate("x"), y = coordinate("y");
  EXPECT_TRUE(same(sin(x + y) * 2, sin(x + y) * 2));
  EXPECT_TRUE(same(coordinate("x"), x));
  EXPECT_FALSE(same(x + y, y + x));
  EXPECT_FALSE(same(x - y, y - x));
  EXPECT_FALSE(same(coordinate("x"), parameter("x")));
  EXPECT_FALSE(same(x, derivative_symbol(x)));
  EXPECT_TRUE(same(Expr(0.0), Expr(-0.0)));
  EXPECT_FALSE(same(Expr(0.1), Expr(0.1 + 1e-17 + 1e-16)));
}

TEST(Expression, OperatorsBuildWhatIsWritten) {
  const Expr x = coordinate("x");
  EXPECT_EQ((0 * x).op(), Op::mul);
  EXPECT_EQ((x - x).op(), Op::sub);
  EXPECT_EQ(pow(x, 1).op(), Op::pow);
}

TEST(Expression, UnknownFunctionsAreToldApartByNameArgumentsAndDerivatives) {
  const Expr t = time_symbol(), x = coordinate("x");
  const Expr a = unknown_function("a", {t});
  EXPECT_TRUE(same(a, unknown_function("a", {t})));
  EXPECT_FALSE(same(a, unknown_function("a", {x})));
  EXPECT_FALSE(same(a, unknown_derivative(a, t)));
  EXPECT_TRUE(unknown_derivative(a, x).is_zero());
  EXPECT_TRUE(unknown_function("f", {derivative_symbol(x)}).contains(SymbolKind::velocity));
}

TEST(Expression, KindsAreThoseOfAllSymbols) {
  const Expr x = coordinate("x");
  const Expr f = sin(x) * derivative_symbol(x) + time_symbol();
  EXPECT_EQ(f.kinds(), kind_bit(SymbolKind::coordinate) | kind_bit(SymbolKind::velocity) | kind_bit(SymbolKind::time));
}

TEST(Expression, IsTotalWhereItHasNoSingularity) {
  const Expr x = coordinate("x"), y = coordinate("y");
  for (const Expr& f :
       {x * y + sin(x), x / 2, pow(x, 3), pow(x, 0), hypot(x, y), atan2(y, x), exp(x), abs(x), select(x < y, x, y)})
    EXPECT_TRUE(f.is_total()) << to_text(f);
  for (const Expr& f : {1 / x, x / 0, pow(x, -1), pow(x, 0.5), pow(x, y), sqrt(x), log(x), tan(x), asin(x), acosh(x),
                        1 + sin(1 / x), select(x < 1 / y, x, y)})
    EXPECT_FALSE(f.is_total()) << to_text(f);
}

TEST(Expression, HashesAreThoseOfEveryRun) {
  // Written to disk as the key of compiled code: a change of these numbers makes that cache useless, not wrong.
  const Expr x = coordinate("x");
  const Expr again = coordinate("x");
  EXPECT_EQ((sin(x) + 2).hash(), (sin(again) + 2).hash());
  EXPECT_NE((sin(x) + 2).hash(), (2 + sin(x)).hash());
  EXPECT_NE(coordinate("ab").hash(), coordinate("ba").hash());
}

TEST(Expression, NodesAreFreedWithTheirLastHandle) {
  const std::size_t before = num_live_nodes();
  {
    std::mt19937_64 random(7);
    const Expr x = coordinate("leak_x"), t = time_symbol();
    const std::vector<Expr> symbols{x, t, unknown_function("leak_f", {x, t})};
    for (int i = 0; i < 50; ++i) {
      const Expr f = random_expression(random, symbols);
      (void)gradient(f, symbols);
      (void)simplify(f);
      (void)to_text(f);
      const Tape tape(std::span(&f, 1), symbols);
    }
    EXPECT_GT(num_live_nodes(), before);
  }
  EXPECT_EQ(num_live_nodes(), before);
}

TEST(Expression, ThreadsMayBuildAndDropTheSameExpressions) {
  const std::size_t before = num_live_nodes();
  {
    std::vector<std::thread> threads;
    std::vector<int> failures(4, 0);
    for (std::size_t thread = 0; thread < 4; ++thread)
      threads.emplace_back([&failures, thread] {
        // The same seed everywhere: all threads meet at the same nodes at about the same time.
        for (unsigned seed = 0; seed < 60; ++seed) {
          std::mt19937_64 random(seed), again(seed);
          const std::vector<Expr> symbols{coordinate("x"), coordinate("y"), unknown_function("f", {coordinate("x")})};
          const Expr f = random_expression(random, symbols, {.num_operations = 30});
          const Expr g = random_expression(again, symbols, {.num_operations = 30});
          if (!same(f, g)) ++failures[thread];
          if (!same(derivative(f, symbols[0]), derivative(g, symbols[0]))) ++failures[thread];
        }
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(failures, std::vector<int>(4, 0));
  }
  EXPECT_EQ(num_live_nodes(), before);
}

TEST(Expression, AMillionDeepIsNoTrouble) {
  constexpr int depth = deep_nesting;
  const std::size_t before = num_live_nodes();
  {
    const Expr x = coordinate("x");
    Expr f = x;
    for (int i = 0; i < depth; ++i) f = f + x;
    EXPECT_EQ(simplify(f).op(), Op::add);
    const Expr slope = derivative(f, x);
    EXPECT_TRUE(slope.is_constant(depth + 1.0));
    EXPECT_LT(to_text(f).size(), 20010u);
    EXPECT_EQ(tree_size(f), 2.0 * depth + 1);
    const Tape tape(std::span(&f, 1), std::span(&x, 1));
    const double at[] = {0.5};
    EXPECT_EQ(tape.operator()<double>(at).front(), 0.5 * (depth + 1.0));
  }
  EXPECT_EQ(num_live_nodes(), before);
}

TEST(Expression, ADeepChainOfFunctionsIsNoTroubleEither) {
  constexpr int depth = 100000;
  const Expr x = coordinate("x");
  Expr f = x;
  for (int i = 0; i < depth; ++i) f = sin(-f);
  f = simplify(f);
  const Tangent along[] = {{x, Expr(2)}};
  const Expr both[] = {f, derivative(f, x), directional(f, along)};
  EXPECT_LT(to_text(both[1]).size(), 20010u);
  const Tape tape(both, std::span(&x, 1));
  const std::complex<double> at[] = {{1.0, 1e-200}};
  const auto values = tape.operator()<std::complex<double>>(at);
  // sin(sin(… 1)) tends to √(3/depth).
  EXPECT_NEAR(std::abs(values[0].real()), std::sqrt(3.0 / depth), 1e-4);
  // The product of 10⁵ cosines: a rounding error each.
  EXPECT_NEAR(values[1].real(), values[0].imag() / 1e-200, 1e5 * 2.3e-16 * std::abs(values[1].real()));
  EXPECT_NEAR(values[2].real(), 2 * values[1].real(), 1e5 * 2.3e-16 * std::abs(values[1].real()));
}

}  // namespace
}  // namespace mechanician
