#include "mechanician/compile/program.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "mechanician/compile/trigonometry.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/expression/random_expression_for_test.hpp"

namespace mechanician {
namespace {

using Value = ProgramBuilder::Value;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

std::vector<double> run(const Program& program, const std::vector<double>& inputs) {
  std::vector<double> registers(static_cast<std::size_t>(program.num_registers())), values(program.outputs.size());
  program.evaluate(inputs.data(), registers.data(), values.data());
  return values;
}

bool same_bits(double x, double y) {
  return (std::isnan(x) && std::isnan(y)) || std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
}

/// Sine and cosine are our own, right to 0.8 units in the last place; the library's to 0.6.
bool same(Op op, double x, double y) {
  if ((op == Op::sin || op == Op::cos) && std::isfinite(x) && x != 0)
    return std::nextafter(x, -2) <= y && y <= std::nextafter(x, 2);
  return same_bits(x, y);
}

Program finish(const ProgramBuilder& builder, std::vector<Value> outputs) { return builder.finish(outputs); }

TEST(Program, EveryOperatorIsThatOfTheInterpreterOfTapes) {
  const std::vector<double> special{0.0,    -0.0,  1.0, -1.0,     0.3,       -2.5,
                                    1e-310, 1e300, 7.0, infinity, -infinity, not_a_number};
  for (int k = static_cast<int>(Op::add); k < num_operators; ++k) {
    const Op op = static_cast<Op>(k);
    ProgramBuilder builder(3);
    const Program program = finish(builder, {builder.apply(op, 0, 1, 2)});
    for (const double a : special)
      for (const double b : special)
        for (const double c : {0.5, -0.0})
          EXPECT_TRUE(same(op, run(program, {a, b, c})[0], evaluate_operator<double>(op, a, b, c)))
              << row_of(op).name << " of " << a << ", " << b << ", " << c;
  }
}

TEST(Program, OperationsOnConstantsAreDoneWhileBuilding) {
  for (int k = static_cast<int>(Op::add); k < num_operators; ++k) {
    const Op op = static_cast<Op>(k);
    ProgramBuilder builder(0);
    const Value a = builder.constant(0.3), b = builder.constant(0.75), c = builder.constant(-2.0);
    const Program program = finish(builder, {builder.apply(op, a, b, c)});
    EXPECT_TRUE(program.steps.empty()) << row_of(op).name;
    EXPECT_TRUE(same_bits(run(program, {})[0], evaluate_operator<double>(op, 0.3, 0.75, -2.0))) << row_of(op).name;
  }
}

TEST(Program, ZeroAndOneCostNothing) {
  ProgramBuilder builder(2);
  const Value x = builder.input(0), y = builder.input(1), zero = builder.constant(0), one = builder.constant(1);
  EXPECT_EQ(builder.add(x, zero), x);
  EXPECT_EQ(builder.add(zero, x), x);
  EXPECT_EQ(builder.sub(x, zero), x);
  EXPECT_EQ(builder.sub(zero, x), builder.neg(x));
  EXPECT_EQ(builder.mul(x, one), x);
  EXPECT_EQ(builder.div(x, one), x);
  EXPECT_TRUE(builder.is_constant(builder.mul(zero, x), 0));
  EXPECT_EQ(builder.mul(x, builder.constant(-1)), builder.neg(x));
  EXPECT_EQ(builder.neg(builder.neg(x)), x);
  EXPECT_EQ(builder.add(x, builder.neg(y)), builder.sub(x, y));
  EXPECT_EQ(builder.sub(x, builder.neg(y)), builder.add(x, y));
  EXPECT_EQ(builder.mul(builder.neg(x), builder.neg(y)), builder.mul(x, y));
  EXPECT_EQ(builder.div(x, builder.constant(4)), builder.mul(x, builder.constant(0.25)));
  EXPECT_NE(builder.div(x, builder.constant(3)), builder.mul(x, builder.constant(1.0 / 3)));
  EXPECT_EQ(builder.select(one, x, y), x);
  EXPECT_EQ(builder.select(zero, x, y), y);
  EXPECT_EQ(builder.select(x, y, y), y);
}

TEST(Program, EqualStepsAreMadeOnceInEitherOrderOfTheirOperands) {
  ProgramBuilder builder(2);
  const Value x = builder.input(0), y = builder.input(1);
  EXPECT_EQ(builder.add(x, y), builder.add(y, x));
  EXPECT_EQ(builder.mul(x, y), builder.mul(y, x));
  EXPECT_NE(builder.sub(x, y), builder.sub(y, x));
  EXPECT_EQ(builder.apply(Op::sin, x), builder.apply(Op::sin, x));
  EXPECT_NE(builder.constant(0.0), builder.constant(-0.0));
  EXPECT_EQ(builder.constant(not_a_number), builder.constant(not_a_number));
}

TEST(Program, SmallPowersAreProducts) {
  ProgramBuilder builder(1);
  EXPECT_EQ(builder.apply(Op::pow, 0, builder.constant(2)), builder.mul(0, 0));
  EXPECT_EQ(builder.apply(Op::pow, 0, builder.constant(3)), builder.mul(builder.mul(0, 0), 0));
  EXPECT_EQ(builder.apply(Op::pow, 0, builder.constant(-1)), builder.div(builder.constant(1), 0));
}

TEST(Program, WhatNoOutputNeedsIsDropped) {
  ProgramBuilder builder(2);
  builder.apply(Op::sin, builder.add(0, builder.constant(17)));
  const Program program = finish(builder, {builder.add(0, 1)});
  EXPECT_EQ(program.steps.size(), 1u);
  EXPECT_TRUE(program.constants.empty());
}

TEST(Program, AProductUsedOnceIsFusedWithItsSumAndRoundedOnce) {
  const double x = 1 + 0x1p-30, y = 1 - 0x1p-30;  // x·y = 1 − 2⁻⁶⁰ rounds to 1
  const auto fused = [&](auto make) {
    ProgramBuilder builder(3);
    const Program program = finish(builder, {make(builder, builder.mul(0, 1), Value{2})});
    EXPECT_EQ(program.steps.size(), 1u);
    return run(program, {x, y, 1.0})[0];
  };
  EXPECT_EQ(fused([](ProgramBuilder& b, Value xy, Value z) { return b.sub(xy, z); }), -0x1p-60);
  EXPECT_EQ(fused([](ProgramBuilder& b, Value xy, Value z) { return b.sub(z, xy); }), 0x1p-60);
  EXPECT_EQ(fused([](ProgramBuilder& b, Value xy, Value z) { return b.add(z, xy); }), 2.0);
  // Used twice: stays a product.
  ProgramBuilder builder(3);
  const Value xy = builder.mul(0, 1);
  const Program program = finish(builder, {builder.sub(xy, 2), xy});
  EXPECT_EQ(program.steps.size(), 2u);
  EXPECT_EQ(run(program, {x, y, 1.0})[0], 0.0);
}

TEST(Program, OfTwoProductsTheLaterIsFused) {
  ProgramBuilder builder(3);
  const Value early = builder.mul(0, 1), late = builder.mul(builder.apply(Op::sin, 0), 2);
  const Program program = finish(builder, {builder.sub(early, late)});
  ASSERT_EQ(program.steps.size(), 3u);
  EXPECT_EQ(program.steps.back().action, Action::fnma);
  EXPECT_EQ(run(program, {0.3, 0.7, 0.9})[0], std::fma(-sine_cosine(0.3).sine, 0.9, 0.3 * 0.7));
}

TEST(Program, InputsConstantsAndRepeatedValuesCanBeOutputs) {
  ProgramBuilder builder(2);
  const Program program = finish(builder, {1, builder.constant(2.5), 0, 1});
  EXPECT_EQ(run(program, {3, 4}), (std::vector<double>{4, 2.5, 3, 4}));
}

TEST(Program, AppendedTapesAgreeWithTheTapeToItsRoundingErrors) {
  const std::vector<Expr> symbols{coordinate("x"), coordinate("y"), coordinate("z")};
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<Expr> outputs;
    for (int k = 0; k < 3; ++k)
      outputs.push_back(random_expression(random, symbols, {.num_operations = 20, .smooth = true}));
    const Tape tape(outputs, symbols);
    ProgramBuilder builder(3);
    const std::vector<Value> inputs{0, 1, 2};
    const Program program = builder.finish(builder.append(tape, inputs));
    std::uniform_real_distribution<double> number(-2, 2);
    const std::vector<double> at{number(random), number(random), number(random)};
    std::vector<double> values(3), bounds(3);
    tape.evaluate_with_bounds(at, values, bounds);
    const std::vector<double> got = run(program, at);
    for (std::size_t i = 0; i < 3; ++i) {
      if (!std::isfinite(values[i]) || !std::isfinite(bounds[i])) continue;
      ++compared;
      EXPECT_NEAR(got[i], values[i], 10 * bounds[i] + 1e-300) << "seed " << seed << ": " << to_text(outputs[i]);
    }
  }
  EXPECT_GT(compared, 300);
}

TEST(Program, ATapeCanBeAppendedTwiceWithDifferentInputs) {
  const std::vector<Expr> symbols{coordinate("x")};
  const std::vector<Expr> outputs{sin(symbols[0]) * 2.0, Expr(3.0)};
  const Tape tape(outputs, symbols);
  ProgramBuilder builder(2);
  const std::vector<Value> first = builder.append(tape, std::vector<Value>{0}),
                           second = builder.append(tape, std::vector<Value>{1}),
                           at_zero = builder.append(tape, std::vector<Value>{builder.constant(0)});
  EXPECT_NE(first[0], second[0]);
  EXPECT_EQ(first, builder.append(tape, std::vector<Value>{0}));
  EXPECT_TRUE(builder.is_constant(first[1], 3));
  EXPECT_TRUE(builder.is_constant(at_zero[0], 0));
}

TEST(ProgramBuilder, drops_a_product_with_zero_only_where_the_other_factor_has_a_value_everywhere) {
  ProgramBuilder builder(1);
  const auto x = builder.input(0), zero = builder.constant(0.0);
  EXPECT_TRUE(builder.is_constant(builder.mul(zero, builder.apply(Op::sin, x)), 0.0));
  const auto root = builder.mul(builder.apply(Op::sqrt, x), zero),
             pole = builder.mul(zero, builder.div(builder.constant(1.0), x));
  const std::vector<ProgramBuilder::Value> outputs{root, pole};
  const Program program = builder.finish(outputs);
  std::vector<double> registers(static_cast<std::size_t>(program.num_registers())), values(2);
  const double negative = -1.0, nothing = 0.0;
  program.evaluate(&negative, registers.data(), values.data());
  EXPECT_TRUE(std::isnan(values[0]));
  program.evaluate(&nothing, registers.data(), values.data());
  EXPECT_TRUE(std::isnan(values[1]));
}

}  // namespace
}  // namespace mechanician
