#include "mechanician/expression/degree.hpp"

#include <gtest/gtest.h>

#include <string>

#include "mechanician/base/deep_for_test.hpp"
#include "mechanician/expression/print.hpp"

namespace mechanician {
namespace {

const Expr x = coordinate("x"), y = coordinate("y"), m = parameter("m");
const Expr xd = derivative_symbol(x), yd = derivative_symbol(y);
constexpr auto velocity = SymbolKind::velocity;

TEST(Degree, KineticEnergyIsQuadraticInTheVelocitiesWhateverItsCoefficients) {
  const Expr T = m / 2 * (pow(xd, 2) + xd * yd * sin(x) / (1 + pow(x, 2))) + xd * sqrt(y) + log(x);
  EXPECT_EQ(degree_bound(T, velocity), 2);
  EXPECT_TRUE(has_degree_at_most(T, velocity, 2));
  EXPECT_FALSE(has_degree_at_most(T, velocity, 1));
}

TEST(Degree, ABranchOnAPositionKeepsThePolynomial) {
  EXPECT_EQ(degree_bound(select(x > 0, pow(xd, 2), yd), velocity), 2);
  EXPECT_EQ(degree_bound(select(xd > 0, pow(xd, 2), yd), velocity), std::nullopt);
}

TEST(Degree, WhatIsNoPolynomialHasNoBound) {
  for (const Expr& f :
       {1 / xd, sqrt(xd), pow(xd, -1), pow(xd, 0.5), pow(xd, m), pow(m, xd), sin(xd), abs(xd), x + xd / yd})
    EXPECT_EQ(degree_bound(f, velocity), std::nullopt);
}

TEST(Degree, AnUnknownFunctionOfAVelocityIsNoPolynomialInIt) {
  EXPECT_EQ(degree_bound(unknown_function("F", {xd}) * xd, velocity), std::nullopt);
  EXPECT_EQ(degree_bound(unknown_function("F", {x}) * xd, velocity), 1);
}

TEST(Degree, RepeatedSquaringDoesNotOverflow) {
  Expr f = xd;
  for (int i = 0; i < 100; ++i) f = f * f;
  EXPECT_FALSE(has_degree_at_most(f, velocity, 1000));
}

TEST(Degree, AMillionDeepSumIsNoTrouble) {
  Expr f = xd;
  for (int i = 0; i < deep_nesting; ++i) f = f + xd * x;
  EXPECT_EQ(degree_bound(f, velocity), 1);
}

TEST(AsPolynomial, ExpandsOnlyWhereTheStructureDoesNotShowIt) {
  const Expr T = m / 2 * (xd * xd + yd * yd);
  EXPECT_TRUE(same(*as_polynomial(T, velocity, 2), T));
  const auto speed = as_polynomial(m / 2 * pow(sqrt(xd * xd + yd * yd), 2), velocity, 2);
  ASSERT_TRUE(speed);
  EXPECT_EQ(to_text(*speed), "m/2*(x'^2 + y'^2)");
  const auto cancels = as_polynomial(pow(xd + 1, 3) - pow(xd, 3), velocity, 2);
  ASSERT_TRUE(cancels);
  EXPECT_EQ(to_text(*cancels), "1 + 3*x' + 3*x'^2");
}

TEST(AsPolynomial, ExpandsManyAddendsOneByOne) {
  Expr T = 0;
  for (int i = 0; i < 5000; ++i) {
    const Expr v = derivative_symbol(coordinate("x" + std::to_string(i))),
               w = derivative_symbol(coordinate("y" + std::to_string(i)));
    T = T + m / 2 * pow(sqrt(v * v + w * w), 2);
  }
  const auto polynomial = as_polynomial(T / 3, velocity, 2);
  ASSERT_TRUE(polynomial);
  EXPECT_EQ(degree_bound(*polynomial, velocity), 2);
}

TEST(AsPolynomial, DoesNotHideASingularity) {
  EXPECT_FALSE(as_polynomial(pow(xd, 3) / xd, velocity, 2));
  EXPECT_FALSE(as_polynomial(xd * xd + log(xd) - log(xd), velocity, 2));
  EXPECT_FALSE(as_polynomial(pow(xd, 3) * pow(xd, -1), velocity, 2));
  EXPECT_FALSE(as_polynomial(sqrt(xd * xd), velocity, 1));
}

TEST(Degree, IsExactAfterExpansion) {
  EXPECT_EQ(degree_in(pow(xd + y, 2) - xd * xd, velocity), 1);
  EXPECT_EQ(degree_in(pow(hypot(xd, yd), 4), velocity), 4);
  EXPECT_EQ(degree_in(xd - xd, velocity), 0);
  EXPECT_EQ(degree_in(xd / yd, velocity), std::nullopt);
  EXPECT_EQ(degree_in(sin(xd), velocity), std::nullopt);
}

/// What is linear as it is written.
TEST(Degree, LinearMeansThatNoFunctionOrProductHoldsIt) {
  const Expr s = parameter("s"), u = parameter("u");
  const auto linear = [&](const Expr& f) {
    return is_linear_in(f, [](const Expr& symbol) { return symbol.symbol().name != "x"; });
  };
  EXPECT_TRUE(linear(3.0 * s - u / (1.0 + x * x) + sin(x)));
  EXPECT_TRUE(linear(select(x > 0.0, s, -u)));
  for (const Expr& f : {s * u, s * s, x / s, sin(s), sign(s), select(s > 0.0, x, 2.0 * x), pow(s, 2.0)})
    EXPECT_FALSE(linear(f));
}

}  // namespace
}  // namespace mechanician
