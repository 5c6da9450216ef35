#include "mechanician/expression/polynomial.hpp"

#include <gtest/gtest.h>

#include <random>

namespace mechanician {
namespace {

Polynomial random_polynomial(std::mt19937& random, int num_terms, int num_variables = 3, int largest_exponent = 2) {
  std::uniform_int_distribution<int> coefficient(-5, 5), exponent(0, largest_exponent);
  PolynomialArithmetic arithmetic;
  Polynomial p;
  for (int i = 0; i < num_terms; ++i) {
    Polynomial term = constant_polynomial(coefficient(random));
    for (int v = 0; v < num_variables; ++v) term = arithmetic.multiply(term, variable_polynomial(v, exponent(random)));
    p = arithmetic.add(p, term);
  }
  return p;
}

TEST(Rational, IsExactAndInLowestTerms) {
  EXPECT_EQ(Rational(1, 3) + Rational(1, 6), Rational(1, 2));
  EXPECT_EQ(Rational(2, -4), Rational(-1, 2));
  EXPECT_EQ(Rational(2, 3) / Rational(-4, 9), Rational(-3, 2));
}

TEST(Rational, OverflowIsNoticed) {
  const Rational large(std::int64_t{1} << 40);
  EXPECT_THROW(large * large, TooLarge);
  EXPECT_THROW(Rational(INT64_MAX) + Rational(INT64_MAX), TooLarge);
  EXPECT_EQ(large * Rational(1, std::int64_t{1} << 40), Rational(1));
}

TEST(Polynomial, DivisionUndoesMultiplicationAndOnlyThat) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    PolynomialArithmetic arithmetic;
    const Polynomial a = random_polynomial(random, 6), b = random_polynomial(random, 4);
    if (b.empty()) continue;
    const auto q = arithmetic.divide(arithmetic.multiply(a, b), b);
    ASSERT_TRUE(q);
    EXPECT_EQ(*q, a);
    if (is_constant(b)) continue;
    EXPECT_FALSE(arithmetic.divide(arithmetic.add(arithmetic.multiply(a, b), constant_polynomial(1)), b));
  }
}

TEST(Polynomial, GreatestCommonDivisorDividesBothAndContainsEveryCommonFactor) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    PolynomialArithmetic arithmetic;
    const Polynomial f = random_polynomial(random, 3), u = random_polynomial(random, 3),
                     v = random_polynomial(random, 3);
    const Polynomial a = arithmetic.multiply(f, u), b = arithmetic.multiply(f, v);
    if (a.empty() || b.empty()) continue;
    const Polynomial g = arithmetic.gcd(a, b);
    EXPECT_TRUE(arithmetic.divide(a, g));
    EXPECT_TRUE(arithmetic.divide(b, g));
    EXPECT_TRUE(arithmetic.divide(g, f));
  }
}

TEST(Polynomial, GreatestCommonDivisorOfCoprimePolynomialsIsOne) {
  // x² + y² + 1 and x + y + z share nothing.
  PolynomialArithmetic arithmetic;
  const Polynomial x = variable_polynomial(0), y = variable_polynomial(1), z = variable_polynomial(2);
  const Polynomial a =
      arithmetic.add(arithmetic.add(arithmetic.multiply(x, x), arithmetic.multiply(y, y)), constant_polynomial(1));
  EXPECT_TRUE(is_one(arithmetic.gcd(a, arithmetic.add(arithmetic.add(x, y), z))));
}

TEST(Polynomial, WorkIsLimited) {
  PolynomialArithmetic arithmetic({.max_terms = 100});
  Polynomial sum;
  for (int v = 0; v < 10; ++v) sum = arithmetic.add(sum, variable_polynomial(v));
  EXPECT_THROW(arithmetic.power(sum, 6), TooLarge);
}

TEST(Polynomial, PrimitivePartsMultiplyBack) {
  std::mt19937 random(1);
  PolynomialArithmetic arithmetic;
  for (int i = 0; i < 50; ++i) {
    const Polynomial p = arithmetic.multiply(random_polynomial(random, 4), Rational(6, 35));
    if (p.empty()) continue;
    const PrimitiveParts parts = primitive_parts(p);
    EXPECT_GT(parts.primitive.begin()->second.num(), 0);
    EXPECT_EQ(arithmetic.multiply(arithmetic.multiply(parts.primitive, parts.monomial), parts.content), p);
  }
}

}  // namespace
}  // namespace mechanician
