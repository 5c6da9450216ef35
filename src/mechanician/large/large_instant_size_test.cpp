// Names of dependent rows where the truth is known by construction, at sizes that no dense method reaches.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "mechanician/large/large_instant.hpp"

namespace mechanician {
namespace {

LargeSystem read(const std::string& name, const ParameterOverrides& set) {
  return LargeSystem(read_family_model(MECHANICIAN_SOURCE_DIR "/bench/models/" + name + ".toml", set));
}

TEST(LargeInstant, OfTenThousandRodsThoseThatAreThereTwiceAndThreeTimesAreNamed) {
  constexpr int N = 10'000;
  LargeSystem system = read("redundant_chain", {{"N", N}});
  const auto start = system.start();
  const LargeInstant found = examine(system, start.t, start.q, start.qd);
  std::map<std::string, std::pair<std::string, double>> truth;
  for (int i = 1; i <= N / 100; ++i) {
    truth["twice[" + std::to_string(i) + "]"] = {"rod[" + std::to_string(100 * i) + "]", 2.0};
    for (const char* k : {"1", "2"})
      truth["thrice[" + std::to_string(i) + "," + k + "]"] = {"rod[" + std::to_string(100 * i - 50) + "]", 1.0};
  }
  ASSERT_TRUE(found.has_acceleration) << found.why;
  EXPECT_TRUE(found.rows.decided && found.rows.explained && found.rows.consistent);
  EXPECT_EQ(found.rows.rank, N);
  ASSERT_EQ(found.rows.depends.size(), truth.size());
  for (const SparseDependence& d : found.rows.depends) {
    const auto expected = truth.find(system.row_name(d.row));
    ASSERT_NE(expected, truth.end()) << system.row_name(d.row);
    ASSERT_EQ(d.rows.size(), 1u);
    EXPECT_EQ(system.row_name(d.rows.front()), expected->second.first);
    EXPECT_NEAR(d.coefficients.front(), expected->second.second, 1e-9);
    truth.erase(expected);
  }
  EXPECT_TRUE(truth.empty());
  // The copies and what they copy, and no other.
  EXPECT_EQ(found.rows.multipliers_undetermined.size(), static_cast<std::size_t>(5 * N / 100));
  EXPECT_LT(found.row_residual, 1e-12);
  EXPECT_LT(found.force_residual, 1e-12);
}

TEST(LargeInstant, ANearlyStraightChainOfTenThousandHasItsFullRankAndAStraightOneLacksOne) {
  constexpr int N = 10'000;
  for (const double bend : {1e-6, 1e-8}) {
    SCOPED_TRACE(bend);
    LargeSystem system = read("straight_chain", {{"N", N}, {"bend", bend}});
    const auto start = system.start();
    const LargeInstant found = examine(system, start.t, start.q, start.qd);
    ASSERT_TRUE(found.has_acceleration) << found.why;
    EXPECT_TRUE(found.rows.decided && found.rows.redundant.empty());
    EXPECT_EQ(found.rows.rank, N + 1);
    EXPECT_LT(found.row_residual, 1e-9);
    EXPECT_LT(found.force_residual, 1e-9);
  }
  LargeSystem system = read("straight_chain", {{"N", N}, {"bend", 0.0}});
  const auto start = system.start();
  const LargeInstant found = examine(system, start.t, start.q, start.qd);
  EXPECT_EQ(found.rows.rank, N);
  // The rods pull in turn: all others together, each as strong, are the last one.
  ASSERT_EQ(found.rows.depends.size(), 1u);
  const SparseDependence& d = found.rows.depends.front();
  EXPECT_EQ(system.row_name(d.row), "last[10000]");
  EXPECT_EQ(d.rows.size(), static_cast<std::size_t>(N));
  for (const double c : d.coefficients) EXPECT_NEAR(std::abs(c), 1.0, 1e-9);
}

}  // namespace
}  // namespace mechanician
