#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "mechanician/instant/accelerate.hpp"
#include "mechanician/instant/both_for_test.hpp"
#include "mechanician/instant/truss_for_test.hpp"
#include "mechanician/large/large_system.hpp"
#include "mechanician/motion/integrator.hpp"

namespace mechanician {
namespace {

constexpr const char* chain = R"toml(
coordinates = ["x[1..N]", "y[1..N]", "z[1..N]"]
[parameters]
N = 6
[dynamics]
kinetic = "sum(i = 1..N, 0.5*(x[i]'^2 + y[i]'^2 + z[i]'^2))"
potential = "sum(i = 1..N, 9.81*z[i])"
[dynamics.force]
"x[i]" = { for = "i = 1..N", value = "-0.1*x[i]'" }
[constraints]
top = "(x[1] - sin(t)/4)^2 + y[1]^2 + z[1]^2 = 1"
[constraints.rod]
for = "i = 2..N"
equation = "(x[i] - x[i-1])^2 + (y[i] - y[i-1])^2 + (z[i] - z[i-1])^2 = 1"
[start.position]
"x[i]" = { for = "i = 1..N", value = "0.6*i" }
"z[i]" = { for = "i = 1..N", value = "-0.8*i" }
[start.velocity]
"x[i]" = { for = "i = 1..N", value = 0.25 }
"y[i]" = { for = "i = 1..N", value = "0.1*i" }
)toml";

/// A bead on each of several moving rods, with masses that couple, a blade, and one row twice.
constexpr const char* mixed = R"toml(
coordinates = ["s[1..N]", "a[1..N]"]
[parameters]
N = 5
[dynamics]
kinetic = "sum(i = 1..N, (s[i]'^2 + (1 + s[i]^2)*a[i]'^2)/2) + sum(i = 2..N, 0.2*cos(a[i])*s[i]'*s[i-1]')"
potential = "sum(i = 1..N, 3*sin(a[i])*s[i] + s[i]^2)"
[constraints.linked]
for = "i = 2..N"
equation = "a[i] - a[i-1] = 0.3*sin(s[i]) - 0.3*sin(s[i-1])"
[constraints.again]
for = "i = 3..3"
equation = "2*a[i] - 2*a[i-1] = 0.6*sin(s[i]) - 0.6*sin(s[i-1])"
[constraints]
blade = "s[1]' = cos(a[2])*s[2]'"
[start.velocity]
"s[i]" = { for = "i = 1..N", value = 0.5 }
)toml";

Integrator motion_of(const System& system, const MotionOptions& options) {
  return Integrator(system, system.start(), options);
}
System by_kernels(const std::string& text, const ParameterOverrides& set = {}) {
  return System(read_family_model_text(text, "m.toml", set), System::Numbers::kernels);
}

TEST(FamiliesMotion, IsThatOfTheModelWrittenOut) {
  for (const char* text : {chain, mixed}) {
    Both both(text);
    constexpr double to = 1.5;
    Integrator integrator(both.written, both.start, {.to = to, .tolerance = 1e-10});
    while (integrator.advance()) {
    }
    const Sample expected = integrator.sample(to);
    ASSERT_EQ(integrator.t(), to);
    Integrator motion = motion_of(both.kernels, {.to = to, .tolerance = 1e-10});
    // Samples within steps lie on the constraints, too.
    bool sampled = false;
    while (motion.advance()) {
      EXPECT_LT(motion.sample(0.5 * (motion.step_begin() + motion.t())).residual, 1e-12);
      sampled = true;
    }
    ASSERT_TRUE(sampled && !motion.stop().failed()) << motion.stop().message;
    EXPECT_EQ(motion.t(), to);
    const Sample found = motion.sample(to);
    for (Eigen::Index i = 0; i < found.q.size(); ++i) {
      EXPECT_NEAR(found.q(i), expected.q(i), 2e-8) << i;
      EXPECT_NEAR(found.qd(i), expected.qd(i), 2e-7) << i;
    }
    EXPECT_TRUE(motion.certificate().holds);
    EXPECT_LT(motion.certificate().position_violation, 1e-13);
    EXPECT_NEAR(motion.certificate().kinetic_end, integrator.certificate().kinetic_end, 1e-7);
    EXPECT_LT(motion.certificate().balance_largest, 1e-7);
  }
}

TEST(FamiliesMotion, RefusesAStartOffTheConstraintsAndNamesTheWorst) {
  const std::string text = std::string(chain).replace(std::string(chain).find("0.6*i"), 5, "if(i == 4, 2.5, 0.6*i)");
  Both both(text);
  const Integrator motion = motion_of(both.kernels, {.to = 1.0});
  ASSERT_TRUE(motion.refusal());
  EXPECT_NE(motion.refusal()->message.find("`rod[4]`"), std::string::npos) << motion.refusal()->message;
}

TEST(FamiliesMotion, SaysThatItPassesSingularConfigurations) {
  // A ladder of parallelograms turns through its flat positions; a pendulum's chain passes none.
  constexpr const char* ladder = R"toml(
coordinates = ["x[0..N]", "y[0..N]"]
[parameters]
N = 12
[dynamics]
kinetic = "sum(i = 0..N, (x[i]'^2 + y[i]'^2)/2)"
potential = "sum(i = 0..N, 9.81*y[i])"
[constraints.crank]
for = "i = 0..N"
equation = "(x[i] - i)^2 + y[i]^2 = 1"
[constraints.coupler]
for = "i = 1..N"
equation = "(x[i] - x[i-1])^2 + (y[i] - y[i-1])^2 = 1"
[start.position]
"x[i]" = { for = "i = 0..N", value = "i + 0.6" }
"y[i]" = { for = "i = 0..N", value = "0.8" }
[start.velocity]
"x[i]" = { for = "i = 0..N", value = "0.8" }
"y[i]" = { for = "i = 0..N", value = "-0.6" }
)toml";
  for (const char* text : {ladder, chain}) {
    Both both(text);
    Integrator motion = motion_of(both.kernels, {.to = 1.5, .tolerance = 1e-8});
    while (motion.advance()) {
    }
    ASSERT_FALSE(motion.stop().failed()) << motion.stop().message;
    EXPECT_EQ(!motion.events().empty(), text == ladder);
    if (text == chain) continue;
    // It is one pendulum: θ'' = −g cos θ, followed here by small steps.
    double theta = std::atan2(0.8, 0.6), omega = -1.0;
    const int steps = 200000;
    const double h = 1.5 / steps;
    for (int k = 0; k < steps; ++k) {
      omega -= 0.5 * h * 9.81 * std::cos(theta);
      theta += h * omega;
      omega -= 0.5 * h * 9.81 * std::cos(theta);
    }
    const Eigen::VectorXd q = motion.sample(1.5).q;
    for (Eigen::Index i = 0; i <= 12; ++i) {
      EXPECT_NEAR(q(i), static_cast<double>(i) + std::cos(theta), 1e-5);
      EXPECT_NEAR(q(13 + i), std::sin(theta), 1e-5);
    }
  }
}

TEST(FamiliesMotion, StopsWhereRowsContradict) {
  const std::string text =
      std::string(mixed).replace(std::string(mixed).find("0.6*sin(s[i])"), 13, "0.6*sin(s[i]) + t^2");
  Both both(text);
  Integrator motion = motion_of(both.kernels, {.to = 1.0});
  while (!motion.refusal() && motion.advance()) {
  }
  const Stop stop = motion.refusal() ? *motion.refusal() : motion.stop();
  EXPECT_EQ(stop.reason, StopReason::contradiction) << stop.message;
}

TEST(FamiliesMotion, ATrussWithMoreRodsThanItNeedsIsOnePendulum) {
  const System system = by_kernels(truss_for_test, {{"K", 24.0}});
  constexpr int K = 24;
  Integrator motion = motion_of(system, {.to = 1.0, .tolerance = 1e-9});
  while (motion.advance()) {
  }
  ASSERT_FALSE(motion.stop().failed()) << motion.stop().message;
  EXPECT_TRUE(motion.certificate().holds);
  // Rank: all coordinates but the angle.
  EXPECT_EQ(accelerate(system, system.start(), {.diagnose = false}).solution.rank, system.n() - 1);
  // I θ'' = −g Σ (x cos θ − y sin θ) about the pin, x and y before the turn.
  double inertia = 0.0, sx = 0.0, sy = 0.0;
  for (int i = 0; i < K; ++i)
    for (int j = 0; j < K; ++j) inertia += i * i + j * j, sx += i, sy += j;
  double theta = 0.0, omega = 0.0;
  const int steps = 200000;
  const double h = 1.0 / steps;
  const auto pull = [&] { return -9.81 * (sx * std::cos(theta) - sy * std::sin(theta)) / inertia; };
  for (int k = 0; k < steps; ++k) {
    omega += 0.5 * h * pull();
    theta += h * omega;
    omega += 0.5 * h * pull();
  }
  const Eigen::VectorXd q = motion.sample(1.0).q;
  for (int i = 0; i < K; ++i)
    for (int j = 0; j < K; ++j) {
      const Eigen::Index at = i * K + j;
      EXPECT_NEAR(q(at), 1.0 + i * std::cos(theta) - j * std::sin(theta), 1e-6);
      EXPECT_NEAR(q(K * K + at), 1.0 + i * std::sin(theta) + j * std::cos(theta), 1e-6);
    }
}

TEST(FamiliesMotion, ARodOfATrussThatChangesItsLengthIsRefusedByName) {
  const std::string text = std::string(truss_for_test) +
                           "[constraints.pump]\nfor = \"i = 4..4\"\nequation = \"(x[i,4] - x[i-1,4])^2 + (y[i,4] - "
                           "y[i-1,4])^2 = 1 + t^2\"\n";
  const System system = by_kernels(text, {{"K", 24.0}});
  const Integrator motion = motion_of(system, {.to = 1.0});
  ASSERT_TRUE(motion.refusal());
  EXPECT_EQ(motion.refusal()->reason, StopReason::contradiction) << motion.refusal()->message;
}

/// Kinks, jumps and what stands below fraction lines, by member: as in the model written out.
constexpr const char* kinked = R"toml(
coordinates = ["x[1..N]", "y[1..N]"]
[parameters]
N = 5
w = [1, 2, 3, 4, 5]
[dynamics]
kinetic = "sum(i = 1..N, (x[i]'^2 + y[i]'^2)/2)"
potential = "sum(i = 1..N, w[i]*abs(x[i]) + max(y[i], 0.1*i)^2) + sum(i = 2..N, 0.5*(x[i] - x[i-1])^2)"
[dynamics.force]
"y[i]" = { for = "i = 1..N", value = "if(t > 0.3 and t < 0.7, 1, 0)/(2 + x[i]^2)" }
[start.position]
"x[i]" = { for = "i = 1..N", value = "0.3 + 0.1*i" }
"y[i]" = { for = "i = 1..N", value = "0.62" }
[events.low]
for = "i = 2..4"
when = "abs(x[i]) - 0.2"
)toml";

TEST(FamiliesMotion, KinksOfMembersAreThoseOfTheModelWrittenOut) {
  Both both(kinked);
  // t > 0.3 and t < 0.7 are one switch each, whoever asks; abs and max are one for each member.
  EXPECT_EQ(both.kernels.kernels()->num_sides(), 2u + 2u * 5u);
  EXPECT_EQ(both.kernels.kernels()->num_divisors(), 5);
  constexpr double to = 2.0;
  Integrator integrator(both.written, both.start, {.to = to, .tolerance = 1e-10});
  Integrator motion = motion_of(both.kernels, {.to = to, .tolerance = 1e-10});
  while (integrator.advance()) {
  }
  while (motion.advance()) {
  }
  ASSERT_FALSE(motion.stop().failed()) << motion.stop().message;
  EXPECT_EQ(motion.statistics().switches, integrator.statistics().switches);
  EXPECT_GT(motion.statistics().switches, 5);
  ASSERT_EQ(motion.events().size(), integrator.events().size());
  for (std::size_t k = 0; k < motion.events().size(); ++k) {
    EXPECT_EQ(motion.events()[k].name, integrator.events()[k].name);
    EXPECT_NEAR(motion.events()[k].time, integrator.events()[k].time, 1e-8);
  }
  const Sample expected = integrator.sample(to), found = motion.sample(to);
  EXPECT_LT((found.q - expected.q).cwiseAbs().maxCoeff(), 1e-8);
  EXPECT_LT((found.qd - expected.qd).cwiseAbs().maxCoeff(), 1e-7);
}

/// Members that are all alike pass their kinks at the same time: that is one landing, not one for each.
TEST(FamiliesMotion, MembersThatSwitchTogetherTurnTogether) {
  constexpr const char* alike = R"toml(
coordinates = ["x[1..N]"]
[parameters]
N = 400
[dynamics]
kinetic = "sum(i = 1..N, x[i]'^2/2)"
potential = "sum(i = 1..N, abs(x[i]))"
[start.position]
"x[i]" = { for = "i = 1..N", value = "1" }
)toml";
  const System system = by_kernels(alike);
  Integrator motion = motion_of(system, {.to = 3.0, .tolerance = 1e-9});
  while (motion.advance()) {
  }
  ASSERT_FALSE(motion.stop().failed()) << motion.stop().message;
  EXPECT_LT(motion.statistics().steps, 60);  // 50 there are anyway
  // |x| falls for √2, and rises for √2: x = −1 + τ²/2 beyond 2√2.
  const double tau = 3.0 - 2.0 * std::sqrt(2.0);
  EXPECT_LT((motion.sample(3.0).q.array() - (-1.0 + 0.5 * tau * tau)).abs().maxCoeff(), 1e-8);
}

/// A motion keeps alive what it needs of its system, and a second one beside it does not disturb it.
TEST(FamiliesMotion, OutlivesItsSystem) {
  const Both both(chain);
  Integrator alone = motion_of(both.written, {.to = 0.5, .tolerance = 1e-10});
  while (alone.advance()) {
  }
  for (const auto numbers : {System::Numbers::kernels, System::Numbers::written_out}) {
    std::optional<System> system(System(read_family_model_text(chain, "m.toml"), numbers));
    Integrator one = motion_of(*system, {.to = 0.5, .tolerance = 1e-10}),
               other = motion_of(*system, {.to = 0.25, .tolerance = 1e-6});
    system.reset();
    while (one.advance()) other.advance();
    EXPECT_LT((one.sample(0.5).q - alone.sample(0.5).q).cwiseAbs().maxCoeff(), 1e-9);
    EXPECT_EQ(one.system().n(), 18);
  }
}

}  // namespace
}  // namespace mechanician
