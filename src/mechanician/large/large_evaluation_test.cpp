// Members in blocks of four, and numbers written past the caches.

#include <gtest/gtest.h>

#include <random>

#include "mechanician/large/large_system.hpp"

namespace mechanician {
namespace {

/// Terms whose places follow each other, places that several terms and members share, and rows on velocities.
constexpr const char* model = R"toml(
coordinates = ["x[1..N]", "y[1..N]", "s[1..2*N]"]
[parameters]
N = 5
[dynamics]
kinetic = "sum(i = 1..N, (2 + sin(y[i]))*(x[i]'^2 + y[i]'^2)/2) + sum(i = 1..2*N, (i + s[i]^2)*s[i]'^2/2)"
potential = "sum(i = 1..N, cos(x[i])*y[N + 1 - i]) + sum(i = 2..N, sin(x[i] - x[i-1]))"
[dynamics.force]
"y[i]" = { for = "i = 1..N", value = "-x[i]'*y[i]" }
[constraints.rod]
for = "i = 2..N"
equation = "(x[i] - x[i-1])^2 + (y[i] - y[i-1])^2 = 1"
[constraints.rolls]
for = "i = 1..N"
equation = "s[2*i]' = y[i]*x[i]'"
)toml";

constexpr std::size_t past_caches = std::size_t{1} << 22;  ///< entries of A from which they are streamed

class Sizes : public testing::TestWithParam<int> {};

TEST_P(Sizes, NumbersPastTheCachesAreTheSameToTheLastBit) {
  LargeSystem system(read_family_model_text(model, "m.toml", {{"N", GetParam()}}), 1);
  const auto n = static_cast<std::size_t>(system.n());
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> any(-1.0, 1.0);
  std::vector<double> q(n), qd(n);
  for (std::size_t i = 0; i < n; ++i) q[i] = any(random), qd[i] = any(random);
  LargeSystem::Values near = system.make_values(), far = system.make_values();
  const std::size_t entries = far.A.size();
  constexpr double untouched = 1e300;
  far.A.resize(past_caches, untouched);
  for (int twice = 0; twice < 2; ++twice) {
    system.evaluate({0.3, q, qd, {}}, near);
    system.evaluate({0.3, q, qd, {}}, far);
    EXPECT_EQ(near.M, far.M);
    EXPECT_EQ(near.Q, far.Q);
    EXPECT_EQ(near.b, far.b);
    for (std::size_t k = 0; k < entries; ++k) ASSERT_EQ(near.A[k], far.A[k]) << "entry " << k;
    for (std::size_t k = entries; k < past_caches; ++k)
      ASSERT_EQ(far.A[k], untouched) << "beyond the end: " << k - entries;
    std::swap(q, qd);
  }
}

/// Each member as it is alone: a system of one mass more has the same numbers for those that it shares with the smaller one.
TEST_P(Sizes, AMemberDoesNotDependOnHowManyThereAre) {
  constexpr const char* swarm = R"toml(
coordinates = ["x[1..N]"]
[parameters]
N = 5
[dynamics]
kinetic = "sum(i = 1..N, (1 + x[i]^2)*x[i]'^2/2)"
[dynamics.force]
"x[i]" = { for = "i = 1..N", value = "sin(i*x[i])" }
[constraints.held]
for = "i = 1..N"
equation = "x[i]^3 = i"
)toml";
  const auto evaluate = [&](int size) {
    LargeSystem system(read_family_model_text(swarm, "m.toml", {{"N", size}}), 1);
    std::vector<double> q, qd;
    for (int i = 1; i <= size; ++i) q.push_back(std::sin(i)), qd.push_back(std::cos(3 * i));
    LargeSystem::Values values = system.make_values();
    system.evaluate({0.0, q, qd, {}}, values);
    std::vector<double> residual(q.size()), rate(q.size());
    system.evaluate_rows({0.0, q, qd, {}}, residual, rate);
    // ½ q̇ᵀṀq̇ = Σ x x'³
    double power = 0.0;
    for (std::size_t i = 0; i < q.size(); ++i) power += q[i] * qd[i] * qd[i] * qd[i];
    EXPECT_NEAR(system.calc_mass_power({0.0, q, qd, {}}), power, 1e-14 * size);
    for (std::size_t i = 0; i < q.size(); ++i) {
      EXPECT_NEAR(values.M[i], 1 + q[i] * q[i], 1e-15);
      EXPECT_NEAR(residual[i], q[i] * q[i] * q[i] - static_cast<double>(i + 1), 1e-15 * size);
      EXPECT_NEAR(rate[i], 3 * q[i] * q[i] * qd[i], 1e-14);
    }
    return values;
  };
  const LargeSystem::Values some = evaluate(GetParam()), more = evaluate(GetParam() + 1);
  for (std::size_t i = 0; i < some.Q.size(); ++i) {
    ASSERT_EQ(some.M[i], more.M[i]) << i;
    ASSERT_EQ(some.Q[i], more.Q[i]) << i;
    ASSERT_EQ(some.A[i], more.A[i]) << i;
    ASSERT_EQ(some.b[i], more.b[i]) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(LargeEvaluation, Sizes,
                         testing::Values(1, 2, 3, 4, 5, 6, 7, 63, 64, 65, 66, 67, 127, 128, 129, 130, 131));

}  // namespace
}  // namespace mechanician
