// The same motion in other units of length, mass and time: the same steps, the same verdict, the same numbers.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "mechanician/base/trials_for_test.hpp"
#include "mechanician/motion/motion_for_test.hpp"

namespace mechanician {
namespace {

struct Scaled {
  const char* name;
  const char* toml;  ///< with the parameters L, M, T
  double to;         ///< in T
  /// Units of the coordinates: lengths, or angles.
  std::vector<bool> length;
};
std::ostream& operator<<(std::ostream& out, const Scaled& c) { return out << c.name; }

const Scaled table[] = {
    {"oscillator",
     R"toml(
coordinates = ["x"]
[dynamics]
kinetic = "M/2*x'^2"
potential = "18*M/T^2*x^2"
[start]
position = { x = "2*L" }
)toml",
     10.0,
     {true}},
    {"damped_and_driven_from_rest",
     R"toml(
coordinates = ["x", "y"]
[dynamics]
kinetic = "M/2*(x'^2 + y'^2)"
potential = "M/T^2*(x^2 + (x - y)^2)"
force = { x = "M*L/T^2*sin(t/T) - 0.2*M/T*x'" }
)toml",
     20.0,
     {true, true}},
    {"pendulum_by_constraint",
     R"toml(
coordinates = ["x", "y"]
[dynamics]
kinetic = "M/2*(x'^2 + y'^2)"
potential = "9.81*M*L/T^2*y"
[constraints]
rod = "x^2 + y^2 = L^2"
[start]
position = { x = "0.6*L", y = "-0.8*L" }
)toml",
     5.0,
     {true, true}},
    {"double_pendulum",
     R"toml(
coordinates = ["x1", "y1", "x2", "y2"]
[dynamics]
kinetic = "M/2*(x1'^2 + y1'^2) + M/4*(x2'^2 + y2'^2)"
potential = "9.81*M*L/T^2*(y1 + y2/2)"
[constraints]
upper = "x1^2 + y1^2 = L^2"
lower = "(x2 - x1)^2 + (y2 - y1)^2 = 0.49*L^2"
[start]
position = { x1 = "0.6*L", y1 = "-0.8*L", x2 = "0.6*L", y2 = "-1.5*L" }
)toml",
     2.0,
     {true, true, true, true}},
    {"cart_and_pendulum",
     R"toml(
coordinates = ["x", "a"]
[dynamics]
kinetic = "M*x'^2/2 + 0.1*M*((x' + L*a'*cos(a))^2 + (L*a'*sin(a))^2)/2"
potential = "M/T^2*x^2 - 0.981*M*L^2/T^2*cos(a)"
[start]
position = { x = "0.1*L", a = 0.5 }
)toml",
     8.0,
     {true, false}},
    {"sphere_by_moving_constraint",
     R"toml(
coordinates = ["x", "y", "z"]
[dynamics]
kinetic = "M/2*(x'^2 + y'^2 + z'^2)"
potential = "9.81*M*L/T^2*z"
[constraints]
sphere = "x^2 + y^2 + z^2 = L^2*(1 + 0.1*sin(t/T))^2"
[start]
position = { x = "0.6*L", z = "-0.8*L" }
velocity = { x = "0.06*L/T", y = "0.3*L/T", z = "-0.08*L/T" }
)toml",
     5.0,
     {true, true, true}},
    {"skate",
     R"toml(
coordinates = ["x", "y", "a"]
[dynamics]
kinetic = "M/2*(x'^2 + y'^2) + 0.1*M*L^2*a'^2/2"
potential = "-2*M*L/T^2*x"
[constraints]
blade = "x'*sin(a) - y'*cos(a) = 0"
[start]
velocity = { x = "0.5*L/T", a = "1/T" }
)toml",
     6.0,
     {true, true, false}},
    {"bouncing_ball",
     R"toml(
coordinates = ["x", "y"]
[dynamics]
kinetic = "M/2*(x'^2 + y'^2)"
potential = "9.81*M*L/T^2*y"
[constraints.floor]
equation = "y >= 0"
restitution = 0.5
[start]
position = { y = "L" }
velocity = { x = "L/T" }
)toml",
     3.0,
     {true, true}},
    {"block_that_comes_to_rest",
     R"toml(
coordinates = ["x", "y"]
[dynamics]
kinetic = "M/2*(x'^2 + y'^2)"
potential = "9.81*M*L/T^2*y"
[constraints.floor]
equation = "y >= 0"
friction = 0.3
slip = "x'"
[start]
velocity = { x = "L/T" }
)toml",
     1.0,
     {true, true}},
    {"plate_at_rest",
     R"toml(
coordinates = ["z", "a"]
[dynamics]
kinetic = "M/2*(z'^2 + L^2*a'^2/3)"
force = { z = "-9.81*M*L/T^2" }
[constraints]
left = "z - L*a >= 0"
right = "z + L*a >= 0"
)toml",
     1.0,
     {true, false}},
};

struct Result {
  Eigen::VectorXd q;
  long steps = 0;
  bool holds = false, failed = false;
  std::size_t events = 0;
  std::string why;
};

Result run(const Scaled& c, double L, double M, double T, double tolerance) {
  const Loaded model(fmt::format("{}\n[parameters]\nL = {}\nM = {}\nT = {}\n", c.toml, L, M, T));
  Integrator integrator = model.integrator({.to = c.to * T, .tolerance = tolerance});
  Result result;
  result.q = run_to_end(integrator).q;
  for (std::size_t i = 0; i < c.length.size(); ++i)
    if (c.length[i]) result.q(static_cast<Eigen::Index>(i)) /= L;
  const Certificate certificate = integrator.certificate();
  result.steps = integrator.statistics().steps;
  result.holds = certificate.holds, result.failed = integrator.stop().failed();
  result.events = integrator.events().size();
  result.why = integrator.stop().message + (certificate.reasons.empty() ? "" : certificate.reasons.front());
  return result;
}

class ScalesTest : public testing::TestWithParam<Scaled> {};

TEST_P(ScalesTest, of_length_mass_and_time_change_nothing) {
  const unsigned seed = 20261117;
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> power(-9, 9);
  for (const double tolerance : {1e-6, 1e-10}) {
    const Result one = run(GetParam(), 1.0, 1.0, 1.0, tolerance);
    EXPECT_TRUE(one.holds && !one.failed) << one.why;
    for (unsigned trial = 0; trial < num_trials(20); ++trial) {
      const double L = std::pow(10.0, power(random)), M = std::pow(10.0, power(random)),
                   T = std::pow(10.0, power(random));
      SCOPED_TRACE(
          fmt::format("seed {}, trial {}: L = {}, M = {}, T = {}, tolerance {}", seed, trial, L, M, T, tolerance));
      const Result other = run(GetParam(), L, M, T, tolerance);
      EXPECT_EQ(other.holds, one.holds) << other.why;
      EXPECT_EQ(other.failed, one.failed) << other.why;
      EXPECT_EQ(other.events, one.events);
      EXPECT_NEAR(static_cast<double>(other.steps), static_cast<double>(one.steps),
                  2.0 + 0.02 * static_cast<double>(one.steps));
      EXPECT_LT((other.q - one.q).cwiseAbs().maxCoeff(), 100.0 * tolerance);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(models, ScalesTest, testing::ValuesIn(table),
                         [](const auto& c) { return std::string(c.param.name); });

}  // namespace
}  // namespace mechanician
