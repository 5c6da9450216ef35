#include "mechanician/expression/tape.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "mechanician/expression/print.hpp"
#include "mechanician/expression/random_expression_for_test.hpp"

namespace mechanician {
namespace {

const Expr x = coordinate("x"), y = coordinate("y"), z = coordinate("z");
const std::vector<Expr> symbols{x, y, z};
constexpr double infinity = std::numeric_limits<double>::infinity();

double value_of(const Expr& f, std::vector<double> at) {
  return Tape(std::span(&f, 1), symbols).operator()<double>(at).front();
}

TEST(Tape, EvaluatesEveryOperatorLikeTheMathematicalLibrary) {
  const std::vector<double> at{0.3, 0.7, -0.2};
  EXPECT_EQ(value_of(x + y, at), 0.3 + 0.7);
  EXPECT_EQ(value_of(x - y, at), 0.3 - 0.7);
  EXPECT_EQ(value_of(x * y, at), 0.3 * 0.7);
  EXPECT_EQ(value_of(x / y, at), 0.3 / 0.7);
  EXPECT_DOUBLE_EQ(value_of(pow(x, y), at), std::pow(0.3, 0.7));
  EXPECT_EQ(value_of(-x, at), -0.3);
  EXPECT_DOUBLE_EQ(value_of(sin(x), at), std::sin(0.3));
  EXPECT_DOUBLE_EQ(value_of(cos(x), at), std::cos(0.3));
  EXPECT_DOUBLE_EQ(value_of(tan(x), at), std::tan(0.3));
  EXPECT_DOUBLE_EQ(value_of(asin(x), at), std::asin(0.3));
  EXPECT_DOUBLE_EQ(value_of(acos(x), at), std::acos(0.3));
  EXPECT_DOUBLE_EQ(value_of(atan(x), at), std::atan(0.3));
  EXPECT_DOUBLE_EQ(value_of(atan2(x, y), at), std::atan2(0.3, 0.7));
  EXPECT_DOUBLE_EQ(value_of(sinh(x), at), std::sinh(0.3));
  EXPECT_DOUBLE_EQ(value_of(cosh(x), at), std::cosh(0.3));
  EXPECT_DOUBLE_EQ(value_of(tanh(x), at), std::tanh(0.3));
  EXPECT_DOUBLE_EQ(value_of(asinh(x), at), std::asinh(0.3));
  EXPECT_DOUBLE_EQ(value_of(acosh(1 + x), at), std::acosh(1.3));
  EXPECT_DOUBLE_EQ(value_of(atanh(x), at), std::atanh(0.3));
  EXPECT_DOUBLE_EQ(value_of(exp(x), at), std::exp(0.3));
  EXPECT_DOUBLE_EQ(value_of(log(x), at), std::log(0.3));
  EXPECT_DOUBLE_EQ(value_of(sqrt(x), at), std::sqrt(0.3));
  EXPECT_EQ(value_of(abs(z), at), 0.2);
  EXPECT_EQ(value_of(sign(z), at), -1);
  EXPECT_EQ(value_of(sign(x - x), at), 0);
  EXPECT_EQ(value_of(min(x, y), at), 0.3);
  EXPECT_EQ(value_of(max(x, y), at), 0.7);
  EXPECT_DOUBLE_EQ(value_of(hypot(x, y), at), std::hypot(0.3, 0.7));
  EXPECT_EQ(value_of(select(x < y, x, y), at), 0.3);
  EXPECT_EQ(value_of(select(x > y || !(x <= y), x, y), at), 0.7);
  EXPECT_EQ(value_of(select(x >= 0.3 && equal_to(y, 0.7), 1, 2), at), 1);
}

/// A condition whose operands have no value has none, unless another part decides it.
TEST(Tape, HasNoValueWhereAConditionHasNone) {
  const auto has_value = [](const Expr& condition, double at) {
    const double chosen = value_of(select(condition, 1, 2), {at, 0, 0});
    return std::isfinite(chosen) ? static_cast<int>(chosen) : 0;
  };
  const Expr no_value = log(x);  // at −1
  for (const Expr& c : {no_value<0, no_value <= 0, no_value> 0, no_value >= 0, equal_to(no_value, 0), 0 < no_value,
                        equal_to(no_value, no_value), !(no_value < 0), no_value < 0 && y <= 0, y <= 0 && no_value < 0,
                        no_value < 0 || y > 0, !(y > 0 || no_value < 0), no_value < 0 || no_value >= 0})
    EXPECT_EQ(has_value(c, -1), 0) << to_text(c);
  EXPECT_EQ(has_value(x > 0 && no_value < 1, -1), 2);
  EXPECT_EQ(has_value(x <= 0 || no_value < 1, -1), 1);
  EXPECT_EQ(has_value(!(x > 0 && no_value < 1), -1), 1);
  EXPECT_EQ(has_value(x > 0 && (y <= 0 || no_value < 1), -1), 2);
  for (const double at : {0.5, 2.0, 5.0}) {
    EXPECT_EQ(has_value(no_value < 1, at), std::log(at) < 1 ? 1 : 2);
    EXPECT_EQ(has_value(!(no_value < 1) && no_value < 1.2, at), std::log(at) >= 1 && std::log(at) < 1.2 ? 1 : 2);
    EXPECT_EQ(has_value(equal_to(no_value, std::log(0.5)), at), at == 0.5 ? 1 : 2);
  }
  // One within another, and in the branch that is not taken.
  EXPECT_EQ(has_value(select(no_value < 0, 1, 2) < 3, -1), 0);
  EXPECT_EQ(value_of(select(x > 0, select(no_value < 0, 1, 2), 3), {-1, 0, 0}), 3);
}

TEST(Tape, NamesTheOperandThatLeavesAConditionWithoutValue) {
  const Expr f = 2 * select(y > 0 && !(sqrt(x) < 1), 1, 2);
  const auto culprit = Tape(std::span(&f, 1), symbols).find_culprit(0, std::vector<double>{-1, 1, 0});
  ASSERT_TRUE(culprit);
  EXPECT_EQ(to_text(culprit->expression), "sqrt(x)");
}

TEST(Tape, ComputesEqualSubexpressionsOnce) {
  const Expr fs[] = {sin(x * y) + x, sin(y * x) + x, sin(x * y)};
  const Tape tape(fs, symbols);
  EXPECT_EQ(tape.code().size(), 3u);  // x·y, sin, +
  EXPECT_EQ(Tape(std::vector<Expr>{x - y, y - x}, symbols).code().size(), 2u);
}

TEST(Tape, FoldsConstantsAndKeepsThoseThatAreNotFinite) {
  const Expr folded = x * (Expr(1) / 3), broken = x * (Expr(1) / 0);
  EXPECT_EQ(Tape(std::span(&folded, 1), symbols).code().size(), 1u);
  const Tape tape(std::span(&broken, 1), symbols);
  const auto culprit = tape.find_culprit(0, std::vector<double>{1, 1, 1});
  ASSERT_TRUE(culprit);
  EXPECT_EQ(to_text(culprit->expression), "1/0");
}

TEST(Tape, OutputsMayBeInputsConstantsAndRepeated) {
  const Expr fs[] = {x, Expr(2.5), x, y + x};
  EXPECT_EQ(Tape(fs, symbols).operator()<double>(std::vector<double>{1, 2, 3}), (std::vector<double>{1, 2.5, 1, 3}));
}

TEST(RoundingBound, CoversTheErrorOfRandomExpressionsAndIsNotAbsurd) {
  int compared = 0, tight = 0;
  for (unsigned seed = 0; seed < 4000; ++seed) {
    std::mt19937_64 random(seed);
    const Expr f = random_expression(random, symbols, {.num_operations = 12, .smooth = true});
    const Tape tape(std::span(&f, 1), symbols);
    std::vector<double> at(3), values(1), bounds(1);
    for (double& a : at) a = std::uniform_real_distribution<double>(-2, 2)(random);
    tape.evaluate_with_bounds(at, values, bounds);
    // The bound is of first order: it says nothing where the error is as large as the value's own scale.
    if (!std::isfinite(values[0]) || !std::isfinite(bounds[0]) || bounds[0] > 1e-9 * (1 + std::abs(values[0])))
      continue;
    const std::vector<long double> exact_at(at.begin(), at.end());
    const long double exact = tape.operator()<long double>(exact_at).front();
    const auto error = static_cast<double>(std::abs(static_cast<long double>(values[0]) - exact));
    // Constants such as 0.1 are the same in both; library functions are good to one unit instead of half of one.
    EXPECT_LE(error, 4 * bounds[0] + std::numeric_limits<double>::denorm_min())
        << "seed " << seed << ": " << to_text(f);
    ++compared;
    tight += bounds[0] <= 1000 * error + 1e3 * 2.3e-16 * std::abs(values[0]);
  }
  EXPECT_GT(compared, 1500);
  EXPECT_GT(tight, compared * 9 / 10);
}

TEST(RoundingBound, SeesCancellation) {
  const Expr f = (1 + x) - 1;
  const Tape tape(std::span(&f, 1), symbols);
  std::vector<double> values(1), bounds(1);
  tape.evaluate_with_bounds(std::vector<double>{1e-10, 0, 0}, values, bounds);
  EXPECT_GT(bounds[0], 1e-17);
  EXPECT_LT(bounds[0], 1e-15);
}

TEST(RoundingBound, CountsInputsAsRoundedAlsoWhereTheyAreWhole) {
  const Expr f = x - 1;
  const Tape tape(std::span(&f, 1), symbols);
  std::vector<double> values(1), bounds(1);
  tape.evaluate_with_bounds(std::vector<double>{1, 0, 0}, values, bounds);
  EXPECT_EQ(values[0], 0.0);
  EXPECT_GE(bounds[0], 1e-16);
  EXPECT_LE(bounds[0], 3e-16);
}

TEST(RoundingBound, OfAnIfIsThatOfTheBranchTaken) {
  const Expr f = select(x > 0, y, 1e20 * y);
  const Tape tape(std::span(&f, 1), symbols);
  std::vector<double> values(1), bounds(1);
  tape.evaluate_with_bounds(std::vector<double>{1, 0.3, 0}, values, bounds);
  EXPECT_LT(bounds[0], 1e-15);
}

struct CulpritCase {
  Expr f;
  std::vector<double> at;
  std::string expected;
};

TEST(Culprit, IsTheInnermostSubexpressionThatIsNotFinite) {
  const CulpritCase cases[] = {
      {1 + sin(1 / x) * y, {0, 1, 1}, "1/x"},
      {sqrt(x - y) + log(z), {1, 2, 1}, "sqrt(x - y)"},
      {sqrt(x) + log(z), {1, 2, 0}, "log(z)"},
      {exp(x * 1000) - y, {1, 0, 0}, "exp(x*1000)"},
      {select(x > 0, log(y), 1 / z), {1, -1, 0}, "log(y)"},
      {select(x > 0, log(y), 1 / z), {-1, -1, 0}, "1/z"},
      {2 * select(x > 0, select(y > 0, 1 / z, x), y), {1, 1, 0}, "1/z"},
      {pow(x, 0.5), {-1, 0, 0}, "x^0.5"},
  };
  for (const CulpritCase& c : cases) {
    const auto culprit = Tape(std::span(&c.f, 1), symbols).find_culprit(0, c.at);
    ASSERT_TRUE(culprit) << to_text(c.f);
    EXPECT_EQ(to_text(culprit->expression), c.expected);
    EXPECT_FALSE(std::isfinite(culprit->value));
    for (const double operand : culprit->operands) EXPECT_TRUE(std::isfinite(operand));
  }
}

TEST(Culprit, IsNoneWhereTheValueIsFinite) {
  const Expr f = select(x > 0, y, 1 / z);  // the other branch does not count
  EXPECT_FALSE(Tape(std::span(&f, 1), symbols).find_culprit(0, std::vector<double>{1, 1, 0}));
  EXPECT_EQ(value_of(1 / (1 / x), {0, 0, 0}), 0.0);
  EXPECT_EQ(value_of(exp(-(1 / (x * x))), {0, 0, 0}), 0.0);
  EXPECT_EQ(value_of(1 / x, {0, 0, 0}), infinity);
}

}  // namespace
}  // namespace mechanician
