// Names of dependent rows where the truth is known by construction, at sizes that no dense method reaches.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "mechanician/instant/accelerate.hpp"

namespace mechanician {
namespace {

System read(const std::string& name, const ParameterOverrides& set) {
  return System(read_family_model(MECHANICIAN_SOURCE_DIR "/bench/models/" + name + ".toml", set));
}

TEST(FamiliesInstant, OfTenThousandRodsThoseThatAreThereTwiceAndThreeTimesAreNamed) {
  constexpr int N = 10'000;
  const System system = read("redundant_chain", {{"N", N}});
  const Instant found = accelerate(system, system.start());
  std::map<std::string, std::pair<std::string, double>> truth;
  for (int i = 1; i <= N / 100; ++i) {
    truth["twice[" + std::to_string(i) + "]"] = {"rod[" + std::to_string(100 * i) + "]", 2.0};
    for (const char* k : {"1", "2"})
      truth["thrice[" + std::to_string(i) + "," + k + "]"] = {"rod[" + std::to_string(100 * i - 50) + "]", 1.0};
  }
  ASSERT_TRUE(found.has_acceleration());
  EXPECT_TRUE(!found.diagnosis->rank_doubtful && found.diagnosis->depends_complete && found.diagnosis->consistent);
  EXPECT_EQ(found.diagnosis->rank, N);
  ASSERT_EQ(found.diagnosis->depends.size(), truth.size());
  for (const Dependence& d : found.diagnosis->depends) {
    const auto expected = truth.find(system.row_name(static_cast<int>(d.row)));
    ASSERT_NE(expected, truth.end()) << system.row_name(static_cast<int>(d.row));
    ASSERT_EQ(d.on.size(), 1u);
    EXPECT_EQ(system.row_name(static_cast<int>(d.on.front())), expected->second.first);
    EXPECT_NEAR(d.coefficients.front(), expected->second.second, 1e-9);
    truth.erase(expected);
  }
  EXPECT_TRUE(truth.empty());
  // The copies and what they copy, and no other.
  EXPECT_EQ(found.diagnosis->multipliers_undetermined.size(), static_cast<std::size_t>(5 * N / 100));
  EXPECT_LT(calc_solution_residual(found), 1e-12);
}

TEST(FamiliesInstant, ANearlyStraightChainOfTenThousandHasItsFullRankAndAStraightOneLacksOne) {
  constexpr int N = 10'000;
  for (const double bend : {1e-6, 1e-8}) {
    SCOPED_TRACE(bend);
    const System system = read("straight_chain", {{"N", N}, {"bend", bend}});
    const Instant found = accelerate(system, system.start());
    ASSERT_TRUE(found.has_acceleration());
    EXPECT_TRUE(!found.diagnosis->rank_doubtful && found.diagnosis->redundant.empty());
    EXPECT_EQ(found.diagnosis->rank, N + 1);
    EXPECT_LT(calc_solution_residual(found), 1e-9);
  }
  const System system = read("straight_chain", {{"N", N}, {"bend", 0.0}});
  const Instant found = accelerate(system, system.start());
  EXPECT_EQ(found.diagnosis->rank, N);
  // The rods pull in turn: all others together, each as strong, are the last one.
  ASSERT_EQ(found.diagnosis->depends.size(), 1u);
  const Dependence& d = found.diagnosis->depends.front();
  EXPECT_EQ(system.row_name(static_cast<int>(d.row)), "last[10000]");
  EXPECT_EQ(d.on.size(), static_cast<std::size_t>(N));
  for (const double c : d.coefficients) EXPECT_NEAR(std::abs(c), 1.0, 1e-9);
}

}  // namespace
}  // namespace mechanician
