// What starts and answers of families are measured by.

#include <gtest/gtest.h>

#include "mechanician/instant/accelerate.hpp"
#include "mechanician/instant/both_for_test.hpp"
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
TEST(FamiliesMeasures, ADistanceDoesNotDependOnHowAConstraintIsWritten) {
  for (const char* factor : {"1", "1e9", "1e-9"})
    for (const char* length : {"1", "1e5"}) {
      SCOPED_TRACE(std::string(factor) + ", " + length);
      const System system = Both(chain(length, factor)).kernels;
      State start = system.start();
      const double L = std::stod(length), size = 9.6 * L;
      Integrator motion(system, start, {.to = 0.2, .tolerance = 1e-9});
      while (motion.advance()) {
      }
      EXPECT_FALSE(motion.stop().failed()) << motion.stop().message;
      EXPECT_TRUE(motion.certificate().holds);
      // The last mass moved along its rod by a share of the whole: that far is it off, to first order.
      constexpr double share = 1e-6;
      start.q(11) += 0.6 * share * size, start.q(23) -= 0.8 * share * size;
      const std::vector<RowResidual> off = accelerate(system, start).violations();
      ASSERT_EQ(off.size(), 1u);
      EXPECT_NEAR(off.front().scaled, share / std::sqrt(2.0), 1e-4 * share);  // two masses share the gradient
      EXPECT_EQ(system.row_name(off.front().row), "rod[12]");
      EXPECT_TRUE(Integrator(system, start, {.to = 0.2}).refusal());
    }
}

/// Coordinates without mass that follow others: no force acts on them, and none may be asked of their rows.
TEST(FamiliesMeasures, FollowersWithoutMassNeedNoForce) {
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
  const Both both(text);
  const Instant found = accelerate(both.kernels, both.start), expected = accelerate(both.written, both.start);
  ASSERT_TRUE(found.has_acceleration() && expected.has_acceleration());
  EXPECT_EQ(found.solution.mass.kind, MassKind::semidefinite);
  EXPECT_LE(calc_solution_residual(found), 1e-12);
  EXPECT_LE((found.solution.qdd - expected.solution.qdd).cwiseAbs().maxCoeff(),
            1e-11 * expected.solution.qdd.cwiseAbs().maxCoeff());
  Integrator motion(both.kernels, both.start, {.to = 0.3, .tolerance = 1e-9});
  while (motion.advance()) {
  }
  EXPECT_FALSE(motion.stop().failed()) << motion.stop().message;
  EXPECT_TRUE(motion.certificate().holds);
}

/// A joint without mass takes up the rounding of a start by itself, and no force is left to measure that of the multipliers by.
TEST(FamiliesMeasures, AJointWithoutMassBeginsToMove) {
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
    const Both both(turned);
    Integrator motion(both.kernels, both.start, {.to = 0.01, .tolerance = 1e-9});
    while (motion.advance()) {
    }
    EXPECT_FALSE(motion.stop().failed()) << turn << ": " << motion.stop().message;
    EXPECT_TRUE(motion.certificate().holds) << turn;
  }
}

}  // namespace
}  // namespace mechanician
