#include "mechanician/expression/degree.hpp"

#include <gtest/gtest.h>

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
  for (const Expr& f : {1 / xd, sqrt(xd), pow(xd, -1), pow(xd, 0.5), pow(xd, m), pow(m, xd), sin(xd), abs(xd), x + xd / yd})
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
  for (int i = 0; i < 1000000; ++i) f = f + xd * x;
  EXPECT_EQ(degree_bound(f, velocity), 1);
}

}  // namespace
}  // namespace mechanician
