// What is said of members that are to blame: numbers without a value, negative masses, coordinates that nothing determines.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "mechanician/instant/accelerate.hpp"
#include "mechanician/instant/both_for_test.hpp"
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
std::string refusal_of(const System& system) {
  const Integrator motion(system, system.start(), {.to = 1.0});
  return motion.refusal() ? motion.refusal()->message : "";
}

TEST(FamiliesNames, ANumberWithoutValueIsNamedWithItsMemberAndItsReason) {
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
    const Both both(text);
    // From the acceleration of an instant and from a motion; written out, numbers are named in the same way.
    for (const System* system : {&both.kernels, &both.written}) {
      const Instant instant = accelerate(*system, both.start);
      EXPECT_FALSE(instant.has_acceleration());
      ASSERT_TRUE(instant.not_finite);
      EXPECT_GT(instant.not_finite->place.line, 0u);
      EXPECT_EQ(refusal_of(*system), instant.not_finite->message());
    }
    const std::string found = accelerate(both.kernels, both.start).not_finite->message();
    EXPECT_NE(found.find(says), std::string::npos) << found;
  }
}

TEST(FamiliesNames, NothingIsSaidWhereAllNumbersAreThere) {
  const Both both(with(masses, "log(x[i])", same));
  State state = both.start;
  EXPECT_FALSE(both.kernels.evaluate(state).not_finite);
  state.qd(12) = std::numeric_limits<double>::infinity();
  const auto not_finite = both.kernels.evaluate(state).not_finite;
  ASSERT_TRUE(not_finite);
  EXPECT_EQ(not_finite->message(), "the state is not finite: `y[4]`");
}

/// Numbers that are infinite and not in the way of the elimination: an infinite mass does not move.
TEST(FamiliesNames, AnInfiniteMassIsNoAnswer) {
  const Both both(with("sum(i = 1..N, (x[i]'^2 + y[i]'^2/(i - 4)^2)/2)", nothing, same));
  const Instant instant = accelerate(both.kernels, both.start);
  EXPECT_FALSE(instant.has_acceleration());
  ASSERT_TRUE(instant.not_finite);
  EXPECT_NE(instant.not_finite->message().find("(y[4], y[4])"), std::string::npos) << instant.not_finite->message();
  EXPECT_NE(refusal_of(both.kernels).find("(y[4], y[4])"), std::string::npos);
}

/// Coordinates in a direction of negative mass.
std::vector<std::string> negative(const System& system) {
  const Instant instant = accelerate(system, system.start());
  EXPECT_EQ(instant.solution.status, SolveStatus::mass_indefinite);
  const Eigen::VectorXd& v = instant.solution.mass.negative_direction;
  std::vector<std::string> names;
  for (Eigen::Index i = 0; i < v.size(); ++i)
    if (std::abs(v(i)) > 1e-9 * v.cwiseAbs().maxCoeff()) names.push_back(system.coordinate(static_cast<int>(i)));
  return names;
}

TEST(FamiliesNames, ANegativeMassIsNamed) {
  const Both both(with("sum(i = 1..N, (x[i]'^2 + m[i]*y[i]'^2)/2)", nothing, "x[i] = x[i-1] + 1"));
  EXPECT_EQ(negative(both.kernels), std::vector<std::string>{"y[5]"});
  EXPECT_NE(refusal_of(both.kernels).find("`y[5]`"), std::string::npos) << refusal_of(both.kernels);
}

/// T = x'² + 4x'y' + y'²: each alone has mass, together in x = −y less than none.
TEST(FamiliesNames, ADirectionOfNegativeMassIsNamedByItsCoordinates) {
  const Both both(with(masses + " + 2*x[3]'*y[6]'", nothing, "y[i] + x[i] = y[i-1] + x[i-1] + 1"));
  EXPECT_EQ(negative(both.kernels), (std::vector<std::string>{"x[3]", "y[6]"}));
}

TEST(FamiliesNames, WhatNeitherMassNorConstraintDeterminesIsNamed) {
  const Both both(with("sum(i = 1..N, (x[i]'^2 + if(m[i] == 0, 0, 1)*y[i]'^2)/2)", nothing, "x[i] = x[i-1] + 1"));
  for (const System* system : {&both.kernels, &both.written})
    EXPECT_NE(refusal_of(*system).find("`y[8]`"), std::string::npos) << refusal_of(*system);
}

}  // namespace
}  // namespace mechanician
