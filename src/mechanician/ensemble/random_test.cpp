#include "mechanician/ensemble/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace mechanician {
namespace {

TEST(Philox, GivesThePublishedVectors) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (PhiloxCounter{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}));
  constexpr std::uint32_t ones = 0xffffffffu;
  EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}),
            (PhiloxCounter{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu}));
  // Digits of π.
  EXPECT_EQ(philox({0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}, {0xa4093822u, 0x299f31d0u}),
            (PhiloxCounter{0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u}));
}

TEST(UnitInterval, NeverReachesItsEnds) {
  EXPECT_GT(unit_interval(0), 0.0);
  EXPECT_LT(unit_interval(~std::uint64_t{0}), 1.0);
}

TEST(InverseNormal, UndoesTheDistributionFunction) {
  // Φ(x) = erfc(−x/√2)/2, from the standard library.
  for (double x = -30.0; x <= 5.0; x += 0.37) {
    const double p = 0.5 * std::erfc(-x / std::sqrt(2.0));
    // dx = dp/φ(x): for large x the rounding of p near 1 counts.
    const double density = std::exp(-0.5 * x * x) / std::sqrt(2.0 * M_PI);
    const double allowed = 64.0 * 2.2e-16 * std::max(std::abs(x), 1.0) + 4.0 * 2.2e-16 * p / density;
    EXPECT_NEAR(inverse_normal(p), x, allowed) << "p = " << p;
  }
  EXPECT_EQ(inverse_normal(0.5), 0.0);
  EXPECT_NEAR(inverse_normal(1e-300), -37.0470962993612, 1e-12);
}

TEST(Permuted, IsAPermutationOfAnySize) {
  for (const std::uint64_t count : {1u, 2u, 3u, 7u, 64u, 100u, 1000u, 4097u}) {
    std::set<std::uint64_t> seen;
    for (std::uint64_t i = 0; i < count; ++i) seen.insert(permuted(i, count, 5, 2, 9));
    EXPECT_EQ(seen.size(), count);
    EXPECT_LT(*seen.rbegin(), count);
  }
}

TEST(Permuted, DependsOnSeedDimensionAndNumber) {
  const auto all = [](std::uint64_t seed, std::uint32_t dimension, std::uint64_t which) {
    std::vector<std::uint64_t> made;
    for (std::uint64_t i = 0; i < 50; ++i) made.push_back(permuted(i, 50, seed, dimension, which));
    return made;
  };
  EXPECT_NE(all(1, 0, 0), all(2, 0, 0));
  EXPECT_NE(all(1, 0, 0), all(1, 1, 0));
  EXPECT_NE(all(1, 0, 0), all(1, 0, 1));
  EXPECT_EQ(all(1, 0, 0), all(1, 0, 0));
}

TEST(Sobol, GivesThePointsOfAnotherImplementation) {
  // scipy.stats.qmc.Sobol(21, scramble=False, bits=30), point 37 of its order by Gray's code: 37 ^ 18 = 55.
  const std::vector<std::uint64_t> expected{989855744, 687865856, 620756992, 989855744, 822083584, 318767104,
                                            184549376, 855638016, 654311424, 184549376, 16777216,  83886080,
                                            620756992, 922746880, 117440512, 520093696, 855638016, 452984832,
                                            50331648,  150994944, 1023410176};
  ASSERT_EQ(expected.size(), static_cast<std::size_t>(most_sobol_dimensions));
  for (int d = 0; d < most_sobol_dimensions; ++d)
    EXPECT_EQ(sobol_bits(55, d) >> 22, expected[static_cast<std::size_t>(d)]) << "dimension " << d;
}

TEST(Sobol, HasOnePointInEachIntervalOfEachDimension) {
  for (int d = 0; d < most_sobol_dimensions; ++d) {
    std::set<std::uint64_t> intervals;
    for (std::uint64_t i = 0; i < 1024; ++i) intervals.insert(sobol_bits(i, d) >> 42);
    EXPECT_EQ(intervals.size(), 1024u) << "dimension " << d;
  }
}

}  // namespace
}  // namespace mechanician
