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

// ---- sizes that are given

/// Beside an oscillation of 1 one of 1e-9, twenty times as fast: cos(20 t).
constexpr const char* tiny_by_intent = R"toml(
coordinates = ["x", "y"]
[parameters]
small = 1e-9
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
potential = "x^2/2 + 200*y^2"
[start]
position = { x = 1, y = "small" }
)toml";

struct Ended {
  std::vector<double> numbers;
  double off = 0.0;  ///< y, over its amplitude
  long steps = 0;
};
Ended run_tiny(std::string run, std::vector<double> scale = {}, double tolerance = 1e-6) {
  const Loaded model(tiny_by_intent + run);
  if (scale.empty()) scale = model.system.scale();
  Integrator integrator = model.integrator({.to = 20.0, .tolerance = tolerance, .scale = scale});
  const Sample end = run_to_end(integrator);
  return {numbers_of(end), std::abs(end.q(1) / 1e-9 - std::cos(20.0 * 20.0)), integrator.statistics().steps};
}

TEST(GivenScale, makes_what_is_tiny_by_intent_as_exact_as_the_rest) {
  const Ended without = run_tiny(""), with = run_tiny("[run]\nscale = { y = \"small\" }\n");
  EXPECT_GT(without.off, 0.1);  // it is nothing beside x
  EXPECT_LT(with.off, 1e-2);
  EXPECT_GT(with.steps, without.steps);
  const Ended exact = run_tiny("[run]\nscale = { y = \"small\" }\n", {}, 1e-10);
  EXPECT_LT(exact.off, 1e-5);
}

TEST(GivenScale, is_one_number_for_all_or_one_by_coordinate) {
  const Ended all = run_tiny("[run]\nscale = \"2*small\"\n"),
              each = run_tiny("[run]\nscale = { x = 2e-9, y = 2e-9 }\n"), options = run_tiny("", {2e-9, 2e-9});
  EXPECT_TRUE(same_bits(all.numbers, each.numbers));
  EXPECT_TRUE(same_bits(all.numbers, options.numbers));
  EXPECT_EQ(Loaded(std::string(tiny_by_intent) + "[run]\nscale = { y = 3 }\n").system.scale(),
            (std::vector<double>{0.0, 3.0}));
}

TEST(GivenScale, changes_nothing_where_there_is_none) {
  EXPECT_TRUE(Loaded(tiny_by_intent).system.scale().empty());
  EXPECT_TRUE(same_bits(run_tiny("").numbers, run_tiny("", {0.0, 0.0}).numbers));
}

TEST(GivenScale, counts_in_every_phase_and_after_a_checkpoint) {
  const std::string text = R"toml(
coordinates = ["z", "y"]
[dynamics]
kinetic = "(z'^2 + y'^2)/2"
potential = "9.81*z + 18*y^2"
[constraints.floor]
equation = "z >= 0"
restitution = 0.7
[start]
position = { z = 1, y = 1e-9 }
[run]
scale = { y = 1e-9 }
)toml";
  const Loaded model(text);
  const MotionOptions options{.to = 3.0, .tolerance = 1e-8, .scale = model.system.scale()};
  Integrator whole = model.integrator(options), first = model.integrator(options), second = model.integrator(options);
  const Sample end = run_to_end(whole);
  EXPECT_LT(std::abs(end.q(1) / 1e-9 - std::cos(18.0)), 1e-4);
  while (first.t() < 1.0) ASSERT_TRUE(first.advance());
  second.restore(first.checkpoint(), first.events(), first.notes());
  EXPECT_TRUE(same_bits(numbers_of(run_to_end(second)), numbers_of(end)));
}

TEST(GivenScale, must_be_positive_and_as_many_as_coordinates) {
  const Loaded model(tiny_by_intent);
  EXPECT_THROW(model.integrator({.to = 1.0, .scale = {1.0}}), std::invalid_argument);
  EXPECT_THROW(model.integrator({.to = 1.0, .scale = {1.0, -1.0}}), std::invalid_argument);
  System other = Loaded(std::string(tiny_by_intent) + "[run]\nscale = { y = \"small\" }\n").system;
  const double negative = -1.0;
  other.set_parameters({&negative, 1});
  EXPECT_THROW(other.scale(), ModelError);
}

INSTANTIATE_TEST_SUITE_P(models, ScalesTest, testing::ValuesIn(table),
                         [](const auto& c) { return std::string(c.param.name); });

}  // namespace
}  // namespace mechanician
