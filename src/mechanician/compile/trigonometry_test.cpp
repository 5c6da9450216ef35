#include "mechanician/compile/trigonometry.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "mechanician/compile/random_program_for_test.hpp"

namespace mechanician {
namespace {

/// Of all sizes, and next to multiples of π/2.
double random_angle(std::mt19937_64& random) {
  switch (random() % 3) {
    case 0:
      return std::ldexp(std::uniform_real_distribution<double>(-1, 1)(random), static_cast<int>(random() % 61) - 40);
    case 1: {
      const auto n = static_cast<double>(random() % 600000);
      const auto x = static_cast<double>(n * 1.57079632679489661923132169163975144L);
      return std::nextafter(x, random() % 2 ? 1e9 : -1e9);
    }
    default:
      return std::uniform_real_distribution<double>(-4, 4)(random);
  }
}

double error_in_ulp(double x, long double exact) {
  const auto size = static_cast<double>(std::abs(exact));
  return static_cast<double>(std::abs(x - exact) / (std::nextafter(size, 2.0) - size));
}

TEST(SineCosine, IsRightToEightTenthsOfAUnitInTheLastPlace) {
  // The oracle: the 64-bit mantissas of long double.
  static_assert(std::numeric_limits<long double>::digits >= 64);
  std::mt19937_64 random(1);
  for (int k = 0; k < 500000; ++k) {
    const double x = random_angle(random);
    const SineCosine y = sine_cosine(x);
    ASSERT_LT(error_in_ulp(y.sine, std::sin(static_cast<long double>(x))), 0.8) << x;
    ASSERT_LT(error_in_ulp(y.cosine, std::cos(static_cast<long double>(x))), 0.8) << x;
  }
}

TEST(SineCosine, OfSpecialNumbersIsThatOfTheLibrary) {
  for (const double x : {0.0, -0.0, 1e-310, -1e-310, 1e22, -3e300, std::numeric_limits<double>::infinity(),
                         -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    const SineCosine y = sine_cosine(x);
    EXPECT_TRUE(same_bits(y.sine, std::sin(x))) << x;
    EXPECT_TRUE(same_bits(y.cosine, std::cos(x))) << x;
  }
}

TEST(SineCosine, OfManyHasTheBitsOfEachAloneInEveryVariant) {
  for (const auto many : {&sines_and_cosines, detail::sines_and_cosines_plain(), detail::sines_and_cosines_avx2(),
                          detail::sines_and_cosines_avx512()}) {
    if (!many) continue;
    std::mt19937_64 random(2);
    for (int round = 0; round < 2000; ++round) {
      const std::size_t count = 1 + random() % 30, room = (count + 7) / 8 * 8;
      std::vector<double> x(room), s(room), c(room);
      const std::vector<double> special = random_inputs(random, static_cast<int>(room));
      for (std::size_t i = 0; i < room; ++i) x[i] = round % 4 == 0 ? special[i] : random_angle(random);
      many(x.data(), s.data(), c.data(), static_cast<std::int64_t>(count));
      for (std::size_t i = 0; i < count; ++i) {
        const SineCosine y = sine_cosine(x[i]);
        ASSERT_TRUE(same_bits(s[i], y.sine) && same_bits(c[i], y.cosine)) << x[i];
      }
    }
  }
}

}  // namespace
}  // namespace mechanician
