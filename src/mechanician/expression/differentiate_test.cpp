#include "mechanician/expression/differentiate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <optional>
#include <random>

#include "mechanician/expression/print.hpp"
#include "mechanician/expression/random_expression_for_test.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/expression/table.hpp"
#include "mechanician/expression/tape.hpp"

namespace mechanician {
namespace {

const Expr x = coordinate("x"), y = coordinate("y"), z = coordinate("z"), t = time_symbol();
const std::vector<Expr> symbols{x, y, z};

/// ∂f/∂symbols[k] by the complex step: no difference is formed, so that it is as exact as f itself.
std::vector<double> complex_step(const Expr& f, std::span<const double> at) {
  constexpr double h = 1e-150;
  const Tape tape(std::span(&f, 1), symbols);
  std::vector<double> slopes;
  for (std::size_t k = 0; k < at.size(); ++k) {
    std::vector<std::complex<double>> inputs(at.begin(), at.end());
    inputs[k] += std::complex<double>(0.0, h);
    slopes.push_back(tape.operator()<std::complex<double>>(inputs).front().imag() / h);
  }
  return slopes;
}

/// The largest intermediate result, where all of them are finite and not near overflow; else nothing.
std::optional<double> largest_term(const Expr& f, std::span<const double> at) {
  const Tape tape(std::span(&f, 1), symbols);
  std::vector<double> registers(static_cast<std::size_t>(tape.num_registers())), values(1);
  tape.evaluate<double>(at, registers, values);
  double largest = 0;
  for (const double r : registers) {
    if (!std::isfinite(r) || std::abs(r) > 1e50) return std::nullopt;
    largest = std::max(largest, std::abs(r));
  }
  return largest;
}

TEST(Differentiate, EveryOperatorAgreesWithTheComplexStep) {
  // Points where each function is defined.
  const std::vector<std::vector<double>> points{{0.3, 0.7, -0.2}, {0.6, 0.2, 0.9}, {1.7, 2.2, -1.1}, {-0.4, 1.3, 0.5}};
  int compared = 0;
  for (const OperatorRow& row : operator_table()) {
    if (row.arity == 0 || row.condition) continue;
    std::vector<Expr> args{x, y, z};
    args.resize(static_cast<std::size_t>(row.arity));
    if (row.op == Op::select) args[0] = x < y;
    Expr f = make_raw(row.op, args);
    if (row.op == Op::lookup)
      f = Table({.name = "f",
                 .arguments = {{-2, -1, 0.5, 2}, {-1, 0.4, 1, 3}},
                 .values = {1, 2, 0, 1, -1, 2, 3, 1, 0.5, 0, 0, 1, 2, 2, -1, 1},
                 .interpolation = Interpolation::cubic})(x, y);
    const std::vector<Expr> slopes = gradient(f, symbols);
    const Tape tape(slopes, symbols);
    int seen = 0;
    for (const auto& at : points) {
      if (!largest_term(f, at)) continue;
      const std::vector<double> exact = tape.operator()<double>(at), stepped = complex_step(f, at);
      for (std::size_t k = 0; k < 3; ++k) {
        if (!std::isfinite(exact[k])) continue;  // x^y by y at x < 0
        EXPECT_NEAR(exact[k], stepped[k], 20 * 2.3e-16 * (1 + std::abs(exact[k]))) << row.name << " by argument " << k;
        ++seen;
      }
    }
    EXPECT_GT(seen, 0) << row.name << " is never defined at the points";
    compared += seen;
  }
  EXPECT_GT(compared, 200);
}

TEST(Differentiate, RandomExpressionsAgreeWithTheComplexStep) {
  int compared = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const Expr f = random_expression(random, symbols);
    const std::vector<Expr> slopes = gradient(f, symbols);
    const Tape tape(slopes, symbols);
    std::vector<double> at(3), values(3), bounds(3);
    for (double& a : at) a = std::uniform_real_distribution<double>(-2, 2)(random);
    const auto largest = largest_term(f, at);
    if (!largest) continue;
    tape.evaluate_with_bounds(at, values, bounds);
    const std::vector<double> stepped = complex_step(f, at);
    for (std::size_t k = 0; k < 3; ++k) {
      if (!std::isfinite(values[k]) || !std::isfinite(bounds[k]) || std::abs(values[k]) > 1e50) continue;
      EXPECT_NEAR(values[k], stepped[k], 1e3 * (bounds[k] + 2.3e-16 * std::max(std::abs(values[k]), *largest)))
          << to_text(f) << " by " << to_text(symbols[k]);
      ++compared;
    }
  }
  EXPECT_GT(compared, 1500);
}

TEST(Differentiate, BackwardsAndForwardsAgree) {
  int compared = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const Expr f = random_expression(random, symbols);
    const std::vector<Expr> slopes = gradient(f, symbols);
    const Tangent direction[] = {{x, Expr(2)}, {y, z}, {z, Expr(-1)}};
    const Expr both[] = {directional(f, direction), slopes[0] * 2 + slopes[1] * z - slopes[2]};
    const Tape tape(both, symbols);
    std::vector<double> at(3), values(2), bounds(2);
    for (double& a : at) a = std::uniform_real_distribution<double>(-2, 2)(random);
    tape.evaluate_with_bounds(at, values, bounds);
    if (!std::isfinite(values[0]) || !std::isfinite(values[1]) || !std::isfinite(bounds[0] + bounds[1])) continue;
    EXPECT_NEAR(values[0], values[1], 100 * (bounds[0] + bounds[1])) << to_text(f);
    ++compared;
  }
  EXPECT_GT(compared, 500);
}

TEST(Differentiate, OfWhatDoesNotDependOnTheSymbolIsZero) {
  for (const Expr& f : {log(x), 1 / x, pow(x, x), select(x > 0, log(x), x)})
    EXPECT_TRUE(derivative(f, y).is_zero()) << to_text(f);
  EXPECT_TRUE(derivative(sign(y), y).is_zero());
}

TEST(Differentiate, PowersReadWell) {
  EXPECT_EQ(to_text(derivative(pow(x, 3), x)), "3*x^2");
  EXPECT_EQ(to_text(derivative(pow(x, 2), x)), "2*x");
  EXPECT_TRUE(derivative(x, x).is_one());
  EXPECT_EQ(to_text(derivative(log(x), x)), "1/x");
}

TEST(Differentiate, APowerOfAParameterHasASlopeAtZero) {
  // Only the base moves: the logarithm of the base, which has no value at zero, must not enter.
  const Expr n = parameter("n"), slope = derivative(pow(x, n), x);
  const std::vector<Expr> inputs{x, n};
  const Tape tape(std::span(&slope, 1), inputs);
  const double at[] = {0.0, 2.0};
  EXPECT_EQ(tape.operator()<double>(at).front(), 0.0);
}

TEST(Differentiate, UnknownFunctionsFollowTheChainRule) {
  const Expr F = unknown_function("F", {x, t});
  EXPECT_TRUE(same(derivative(F, x), unknown_derivative(F, x)));
  EXPECT_TRUE(derivative(F, y).is_zero());
  const Tangent along[] = {{x, y}, {t, Expr(1)}};
  const Expr rate = directional(sin(F), along);
  const Expr expected = cos(F) * (unknown_derivative(F, x) * y + unknown_derivative(F, t));
  const Expr both[] = {rate, expected};
  const std::vector<Expr> inputs{F, unknown_derivative(F, x), unknown_derivative(F, t), y};
  const Tape tape(both, inputs);
  const double at[] = {0.3, 0.5, -0.7, 1.1};
  const auto values = tape.operator()<double>(at);
  EXPECT_NEAR(values[0], values[1], 1e-15);
  // Second derivatives do not depend on the order.
  EXPECT_TRUE(same(derivative(derivative(F, x), t), derivative(derivative(F, t), x)));
}

TEST(Differentiate, AGradientCostsAFewTimesItsFunction) {
  Expr f = 1;
  std::vector<Expr> many;
  for (int i = 0; i < 1000; ++i) {
    many.push_back(coordinate("q" + std::to_string(i)));
    f = f * sin(many.back());
  }
  const std::vector<Expr> slopes = gradient(f, many);
  EXPECT_LT(count_nodes(slopes), 5 * count_nodes(std::span(&f, 1)));
}

}  // namespace
}  // namespace mechanician
