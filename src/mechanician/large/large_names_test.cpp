// What is said of members that are to blame: numbers without a value, negative masses, coordinates that nothing determines.

#include <gtest/gtest.h>

#include <limits>

#include "mechanician/large/kernel_equations.hpp"
#include "mechanician/large/large_instant.hpp"
#include "mechanician/motion/integrator.hpp"

namespace mechanician {
namespace {

std::string with(const std::string& kinetic, const std::string& force, const std::string& constraint) {
  return "coordinates = [\"x[1..N]\", \"y[1..N]\"]\n[parameters]\nN = 9\nm = [1, 1, 1, 1, -2, 1, 1, 0, "
         "1]\n[dynamics]\nkinetic = \"" +
         kinetic + "\"\n[dynamics.force]\n\"x[i]\" = { for = \"i = 1..N\", value = \"" + force +
         "\" }\n[constraints.row]\nfor = \"i = 2..N\"\nequation = \"" + constraint +
         "\"\n[start.position]\n\"x[i]\" = { for = \"i = 1..N\", value = \"i\" }\n\"y[i]\" = { for = \"i = 1..N\", "
         "value = \"1\" }\n";
}
const std::string masses = "sum(i = 1..N, (x[i]'^2 + y[i]'^2)/2)", nothing = "0", same = "y[i] = y[i-1]";

struct Case {
  std::string model, says;
};

/// Why a motion does not begin.
std::string refusal_of(LargeSystem& system) {
  const Integrator motion(make_large_steps(system, state_of(system.start()), {.to = 1.0}));
  return motion.refusal() ? motion.refusal()->message : "";
}

TEST(LargeNames, ANumberWithoutValueIsNamedWithItsMemberAndItsReason) {
  for (const auto& [text, says] : std::vector<Case>{
           {with(masses, "log(x[i] - 6.5)", same),
            "the given force on `x[1]` is not a finite number: log(x[i] - 6.5) (`log` of -5.5 is nan)"},
           {with(masses, "if(i > 3, sqrt(7.5 - i), 0)", same), "the given force on `x[8]` is not a finite number"},
           {with(masses, "if(log(7.5 - x[i]) < 0, 1, 2)", same),
            "the given force on `x[8]` is not a finite number: log("},
           {with(masses, nothing, "y[i]*sqrt(x[i] - 2.5) = y[i-1]"),
            "constraint `row[2]` is not a finite number: sqrt(x[i] - 2.5)"},
           {with(masses, nothing, "y[i]*1/(x[i] - 5) = y[i-1]"), "constraint `row[5]` is not a finite number"},
           {with("sum(i = 1..N, (log(i)*x[i]'^2 + log(6.5 - i)*y[i]'^2)/2)", nothing, same),
            "the mass matrix entry (y[7], y[7]) is not a finite number: log(6.5 - i)"},
           {with("sum(i = 1..N, (x[i]'^2 + y[i]'^2/(x[i] - 3))/2)", nothing, same),
            "the mass matrix entry (y[3], y[3]) is not a finite number"}}) {
    SCOPED_TRACE(text);
    LargeSystem system(read_family_model_text(text, "m.toml"), 1);
    const LargeSystem::Start start = system.start();
    const std::string found = system.explain_not_finite(start.t, start.q, start.qd);
    EXPECT_NE(found.find(says), std::string::npos) << found;
    // The same from the acceleration of an instant and from a motion.
    const LargeInstant instant = examine(system, start.t, start.q, start.qd);
    EXPECT_FALSE(instant.has_acceleration);
    EXPECT_EQ(instant.why, found);
    EXPECT_EQ(refusal_of(system), found);
  }
}

TEST(LargeNames, NothingIsSaidWhereAllNumbersAreThere) {
  LargeSystem system(read_family_model_text(with(masses, "log(x[i])", same), "m.toml"), 1);
  LargeSystem::Start start = system.start();
  EXPECT_EQ(system.explain_not_finite(start.t, start.q, start.qd), "");
  start.qd[12] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(system.explain_not_finite(start.t, start.q, start.qd), "the state is not finite: `y[4]`");
}

/// Numbers that are infinite and not in the way of the elimination: an infinite mass does not move.
TEST(LargeNames, AnInfiniteMassIsNoAnswer) {
  LargeSystem system(
      read_family_model_text(with("sum(i = 1..N, (x[i]'^2 + y[i]'^2/(i - 4)^2)/2)", nothing, same), "m.toml"), 1);
  const LargeSystem::Start start = system.start();
  const LargeInstant instant = examine(system, start.t, start.q, start.qd);
  EXPECT_FALSE(instant.has_acceleration);
  EXPECT_NE(instant.why.find("(y[4], y[4])"), std::string::npos) << instant.why;
  EXPECT_NE(refusal_of(system).find("(y[4], y[4])"), std::string::npos);
}

TEST(LargeNames, ANegativeMassIsNamed) {
  LargeSystem system(
      read_family_model_text(with("sum(i = 1..N, (x[i]'^2 + m[i]*y[i]'^2)/2)", nothing, "x[i] = x[i-1] + 1"), "m.toml"),
      1);
  const LargeSystem::Start start = system.start();
  const LargeInstant instant = examine(system, start.t, start.q, start.qd);
  EXPECT_TRUE(instant.mass_is_indefinite);
  ASSERT_EQ(instant.negative.size(), 1u);
  EXPECT_EQ(system.model().name_of(instant.negative.front()), "y[5]");
  EXPECT_NE(refusal_of(system).find("negative eigenvalue"), std::string::npos) << refusal_of(system);
}

/// T = x'² + 4x'y' + y'²: each alone has mass, together in x = −y less than none.
TEST(LargeNames, ADirectionOfNegativeMassIsNamedByItsCoordinates) {
  LargeSystem system(
      read_family_model_text(with(masses + " + 2*x[3]'*y[6]'", nothing, "y[i] + x[i] = y[i-1] + x[i-1] + 1"), "m.toml"),
      1);
  const LargeSystem::Start start = system.start();
  const LargeInstant instant = examine(system, start.t, start.q, start.qd);
  EXPECT_TRUE(instant.mass_is_indefinite);
  std::vector<std::string> names;
  for (const int i : instant.negative) names.push_back(system.model().name_of(i));
  EXPECT_EQ(names, (std::vector<std::string>{"x[3]", "y[6]"}));
}

TEST(LargeNames, WhatNeitherMassNorConstraintDeterminesIsNamed) {
  LargeSystem system(
      read_family_model_text(
          with("sum(i = 1..N, (x[i]'^2 + if(m[i] == 0, 0, 1)*y[i]'^2)/2)", nothing, "x[i] = x[i-1] + 1"), "m.toml"),
      1);
  EXPECT_NE(refusal_of(system), "");
}

}  // namespace
}  // namespace mechanician
