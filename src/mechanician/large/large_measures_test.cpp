#include "mechanician/large/large_measures.hpp"

#include <gtest/gtest.h>

#include "mechanician/instant/accelerate.hpp"
#include "mechanician/large/kernel_equations.hpp"
#include "mechanician/large/large_instant.hpp"
#include "mechanician/model/read_model.hpp"
#include "mechanician/motion/integrator.hpp"

namespace mechanician {
namespace {

std::string chain(const std::string& length, const std::string& factor) {
  return "coordinates = [\"x[1..N]\", \"y[1..N]\"]\n[parameters]\nN = 12\nL = " + length +
         "\n[dynamics]\nkinetic = \"sum(i = 1..N, (x[i]'^2 + y[i]'^2)/2)\"\npotential = \"sum(i = 1..N, "
         "9.81*L*y[i])\"\n[constraints]\ntop = \"" +
         factor + "*(x[1]^2 + y[1]^2) = " + factor + "*L^2\"\n[constraints.rod]\nfor = \"i = 2..N\"\nequation = \"" +
         factor + "*((x[i] - x[i-1])^2 + (y[i] - y[i-1])^2) = " + factor +
         "*L^2\"\n[start.position]\n\"x[i]\" = { for = \"i = 1..N\", value = \"0.6*i*L\" }\n\"y[i]\" = { for = \"i = "
         "1..N\", value = \"-0.8*i*L\" }\n";
}

/// The distance to a rod, whatever its equation is multiplied by and whatever the unit of length.
TEST(LargeMeasures, ADistanceDoesNotDependOnHowAConstraintIsWritten) {
  for (const char* factor : {"1", "1e9", "1e-9"})
    for (const char* length : {"1", "1e5"}) {
      SCOPED_TRACE(std::string(factor) + ", " + length);
      LargeSystem system(read_family_model_text(chain(length, factor), "m.toml"), 1, LargeSystem::Kinks::held);
      LargeSystem::Start start = system.start();
      const double L = std::stod(length), size = 9.6 * L;
      Integrator motion(make_large_steps(system, state_of(start), {.to = 0.2, .tolerance = 1e-9}));
      while (motion.advance()) {
      }
      EXPECT_FALSE(motion.stop().failed()) << motion.stop().message;
      EXPECT_TRUE(motion.certificate().holds);
      // The last mass moved along its rod by a share of the whole: that far is it off, to first order.
      constexpr double share = 1e-6;
      start.q[11] += 0.6 * share * size, start.q[23] -= 0.8 * share * size;
      const LargeInstant instant = examine(system, start.t, start.q, start.qd);
      EXPECT_NEAR(instant.distance, share / std::sqrt(2.0), 1e-4 * share);  // two masses share the gradient
      EXPECT_EQ(system.row_name(instant.worst_row), "rod[12]");
      EXPECT_TRUE(Integrator(make_large_steps(system, state_of(start), {.to = 0.2})).refusal());
    }
}

/// Coordinates without mass that follow others: no force acts on them, and none may be asked of their rows.
TEST(LargeMeasures, FollowersWithoutMassNeedNoForce) {
  const std::string text = R"toml(
coordinates = ["x[1..N]", "y[1..N]", "s[1..N]"]
[parameters]
N = 8
[dynamics]
kinetic = "sum(i = 1..N, (x[i]'^2 + y[i]'^2)/2)"
potential = "sum(i = 1..N, 9.81*y[i])"
[dynamics.force]
"s[3]" = 2.5
[constraints]
top = "x[1]^2 + y[1]^2 = 1"
[constraints.rod]
for = "i = 2..N"
equation = "(x[i] - x[i-1])^2 + (y[i] - y[i-1])^2 = 1"
[constraints.follows]
for = "i = 1..N"
equation = "s[i] = x[i]*y[i] + i"
[start.position]
"x[i]" = { for = "i = 1..N", value = "0.6*i" }
"y[i]" = { for = "i = 1..N", value = "-0.8*i" }
"s[i]" = { for = "i = 1..N", value = "i - 0.48*i^2" }
[start.velocity]
"x[i]" = { for = "i = 1..N", value = "0.08*i" }
"y[i]" = { for = "i = 1..N", value = "0.06*i" }
"s[i]" = { for = "i = 1..N", value = "0.036*i^2 - 0.064*i^2" }
)toml";
  LargeSystem large(read_family_model_text(text, "m.toml"), 1);
  const LargeSystem::Start start = large.start();
  const LargeInstant instant = examine(large, start.t, start.q, start.qd);
  ASSERT_TRUE(instant.has_acceleration) << instant.why;
  EXPECT_FALSE(instant.mass_is_definite);
  EXPECT_LE(std::max(instant.force_residual, instant.row_residual), 1e-12);
  Model written = read_model_text(text, "m.toml");
  const ParameterValues parameters = evaluate_parameters(written);
  const State state = state_of(start_state(written, parameters));
  const Instant small = accelerate(System(std::move(written), parameters.values), state);
  ASSERT_TRUE(small.solution.has_acceleration());
  for (int i = 0; i < large.n(); ++i)
    EXPECT_NEAR(instant.qdd[static_cast<std::size_t>(i)], small.solution.qdd(i),
                1e-11 * small.solution.qdd.cwiseAbs().maxCoeff())
        << large.model().name_of(i);
  Integrator motion(make_large_steps(large, state_of(start), {.to = 0.3, .tolerance = 1e-9}));
  while (motion.advance()) {
  }
  EXPECT_FALSE(motion.stop().failed()) << motion.stop().message;
  EXPECT_TRUE(motion.certificate().holds);
}

/// A joint without mass takes up the rounding of a start by itself, and no force is left to measure that of the multipliers by.
TEST(LargeMeasures, AJointWithoutMassBeginsToMove) {
  for (const int turn : {3, 7, 11}) {
    const std::string text = R"toml(
coordinates = ["x[1..N]", "y[1..N]"]
[parameters]
N = 6
[dynamics]
kinetic = "sum(i = 1..N, if(i == 2 or i == 4, 0, 1)*(x[i]'^2 + y[i]'^2)/2)"
potential = "sum(i = 1..N, 9.81*y[i])"
[constraints]
top = "x[1]^2 + y[1]^2 = 1"
[constraints.rod]
for = "i = 2..N"
equation = "(x[i] - x[i-1])^2 + (y[i] - y[i-1])^2 = 1"
[constraints.rate]
for = "i = N..N"
equation = "(x[i] - x[i-1])*(x[i]' - x[i-1]') + (y[i] - y[i-1])*(y[i]' - y[i-1]') = 0"
[start.position]
"x[i]" = { for = "i = 1..N", value = "sum(j = 1..i, cos(TURN*j))" }
"y[i]" = { for = "i = 1..N", value = "sum(j = 1..i, sin(TURN*j))" }
)toml";
    std::string turned = text;
    for (std::size_t at; (at = turned.find("TURN")) != std::string::npos;) turned.replace(at, 4, std::to_string(turn));
    LargeSystem system(read_family_model_text(turned, "m.toml"), 1, LargeSystem::Kinks::held);
    Integrator motion(make_large_steps(system, state_of(system.start()), {.to = 0.01, .tolerance = 1e-9}));
    while (motion.advance()) {
    }
    EXPECT_FALSE(motion.stop().failed()) << turn << ": " << motion.stop().message;
    EXPECT_TRUE(motion.certificate().holds) << turn;
  }
}

}  // namespace
}  // namespace mechanician
