#include "mechanician/compile/acceleration_program.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "mechanician/compile/projection_program.hpp"
#include "mechanician/model/read_model.hpp"

namespace mechanician {
namespace {

std::vector<double> evaluate(const Program& program, std::vector<double> inputs) {
  EXPECT_EQ(static_cast<int>(inputs.size()), program.num_inputs);
  std::vector<double> registers(static_cast<std::size_t>(program.num_registers())),
      values(static_cast<std::size_t>(program.num_outputs()));
  program.evaluate(inputs.data(), registers.data(), values.data());
  return values;
}

constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

Equations equations(const char* toml) { return derive(read_model_text(toml, "test.toml")); }

constexpr const char* pendulum = R"toml(
coordinates = ["x", "y"]
[parameters]
m = 2.0
g = 9.81
[dynamics]
kinetic = "m/2*(x'^2 + y'^2)"
potential = "m*g*y"
[constraints]
rod = "x^2 + y^2 = 1"
)toml";

TEST(AccelerationProgram, of_a_pendulum_is_the_one_in_textbooks) {
  const Equations eqs = equations(pendulum);
  AccelerationOptions options;
  options.powers = options.multipliers = true;
  for (const bool built_in : {false, true}) {
    std::vector<double> inputs{0.0, 0.6, -0.8, 1.6, 1.2};
    if (built_in)
      options.parameters = {2.0, 9.81};
    else
      inputs.insert(inputs.end(), {2.0, 9.81});
    const AccelerationProgramResult result = make_acceleration_program(eqs, options);
    ASSERT_TRUE(result.made) << result.reason;
    EXPECT_EQ(result.made->path, "ldlt");
    const std::vector<double> y = evaluate(result.made->program, inputs);
    // Tension/L = m (v² + g·0.8), towards the pivot; the rod does no work, gravity does.
    const double pull = -(4.0 + 9.81 * 0.8);
    EXPECT_NEAR(y[0], pull * 0.6, 1e-14);
    EXPECT_NEAR(y[1], pull * -0.8 - 9.81, 1e-14);
    ASSERT_EQ(result.made->num_powers, 5);
    EXPECT_NEAR(y[2], -2.0 * 9.81 * 1.2, 1e-14);
    for (int k = 3; k < 7; ++k) EXPECT_EQ(y[static_cast<std::size_t>(k)], 0.0);
    ASSERT_EQ(result.made->num_multipliers, 1);
    EXPECT_NEAR(y[7], 2.0 * pull / 2.0, 1e-14);
    EXPECT_GT(y[static_cast<std::size_t>(result.made->at_vouch)], 0.0);
  }
}

TEST(AccelerationProgram, has_few_steps_for_a_pendulum) {
  AccelerationOptions options;
  options.parameters = {2.0, 9.81};
  const AccelerationProgramResult result = make_acceleration_program(equations(pendulum), options);
  ASSERT_TRUE(result.made);
  // 12 for b, A M⁻¹Aᵀ and its reciprocal, b − A a, λ and two coordinates; the rest vouches.
  EXPECT_LE(result.made->program.steps.size(), 21u);
}

TEST(AccelerationProgram, does_not_vouch_for_what_is_not_finite_or_has_shrunk_to_rounding) {
  const Equations eqs = equations(pendulum);
  AccelerationOptions options;
  options.parameters = {2.0, 9.81};
  options.reference = {0.0, 0.6, -0.8, 1.6, 1.2};
  const AccelerationProgramResult result = make_acceleration_program(eqs, options);
  ASSERT_TRUE(result.made);
  const auto vouch = [&](double x, double y, double xd) {
    return evaluate(result.made->program, {0.0, x, y, xd, 0.0}).back();
  };
  EXPECT_GT(vouch(0.6, -0.8, 1.0), 0.0);
  EXPECT_GT(vouch(1e-4, 0.0, 1.0), 0.0);
  for (const double bad : {0.0, 1e-8, 1e-160, infinity, nan}) EXPECT_FALSE(vouch(bad, 0.0, 1.0) > 0.0) << bad;
  for (const double bad : {1e200, infinity, nan}) EXPECT_FALSE(vouch(0.6, -0.8, bad) > 0.0) << bad;
}

TEST(AccelerationProgram, dependent_rows_share_their_force_and_are_watched) {
  const Equations eqs = equations(R"toml(
coordinates = ["x", "y"]
[dynamics]
mass = { x = 1, y = 1 }
force = { y = "-9.81" }
[constraints]
rod = "x^2 + y^2 = 1"
same = "3*x^2 + 3*y^2 = if(t < 1, 3, 3 + (t - 1)^2)"
)toml");
  AccelerationOptions options;
  options.dropped = {1};
  options.multipliers = true;
  const AccelerationProgramResult result = make_acceleration_program(eqs, options);
  ASSERT_TRUE(result.made) << result.reason;
  const std::vector<double> y = evaluate(result.made->program, {0.0, 0.0, -1.0, 0.0, 0.0});
  EXPECT_GT(y.back(), 0.0);
  EXPECT_NEAR(y[1], 0.0, 1e-14);
  // Least norm with 2λ₁ + 6λ₂ = −9.81 (upward force on y = −1): λ ∝ (1, 3).
  EXPECT_NEAR(y[2], -9.81 / 20.0, 1e-14);
  EXPECT_NEAR(y[3], -3.0 * 9.81 / 20.0, 1e-14);
  // From t = 1 on the second row asks for another acceleration.
  EXPECT_FALSE(evaluate(result.made->program, {1.5, 0.0, -1.0, 0.0, 0.0}).back() > 0.0);
}

TEST(AccelerationProgram, a_row_without_a_gradient_has_to_ask_for_nothing) {
  const Equations eqs = equations(R"toml(
coordinates = ["x", "y"]
[dynamics]
mass = { x = 1, y = 1 }
[constraints]
cross = "x*y = 0"
)toml");
  AccelerationOptions options;
  options.inert = {0};
  const AccelerationProgramResult result = make_acceleration_program(eqs, options);
  ASSERT_TRUE(result.made) << result.reason;
  EXPECT_GT(evaluate(result.made->program, {0, 0, 0, 1, 0}).back(), 0.0);
  EXPECT_FALSE(evaluate(result.made->program, {0, 0, 0, 1, 1}).back() > 0.0);
}

TEST(AccelerationProgram, says_why_there_is_none) {
  const char* measured = R"toml(
coordinates = ["x"]
[dynamics]
mass = { x = 1 }
[constraints]
gauge = { equation = "x = 0", weight = 1 }
)toml";
  EXPECT_EQ(make_acceleration_program(equations(measured), {}).reason,
            "measured constraints are weighed by the general solver");
  AccelerationOptions few;
  few.most_steps = 10;
  EXPECT_EQ(make_acceleration_program(equations(pendulum), few).reason, "too large");
  const char* massless = R"toml(
coordinates = ["x", "u"]
[dynamics]
mass = { x = 1 }
)toml";
  EXPECT_EQ(make_acceleration_program(equations(massless), {}).reason, "the mass matrix is singular");
  const char* friction = R"toml(
coordinates = ["x", "y"]
[dynamics]
mass = { x = 1, y = 1 }
force = { y = "-9.81" }
[constraints]
ground = "y = 0"
again = "2*y = 0"
[nonideal]
x = "-0.1*abs(multiplier(ground))*x'"
)toml";
  AccelerationOptions dropped;
  dropped.dropped = {1};
  EXPECT_EQ(make_acceleration_program(equations(friction), dropped).reason,
            "C uses multipliers, and dependent constraints may leave them open");
}

TEST(AccelerationProgram, of_a_massless_coordinate_follows_its_constraint) {
  // u without mass rides on x: u = x², x on a spring.
  const Equations eqs = equations(R"toml(
coordinates = ["x", "u"]
[dynamics]
mass = { x = 2 }
force = { x = "-3*x" }
[constraints]
ride = "u = x^2"
)toml");
  const AccelerationProgramResult result = make_acceleration_program(eqs, {});
  ASSERT_TRUE(result.made) << result.reason;
  EXPECT_EQ(result.made->path, "ldlt, singular mass");
  const std::vector<double> y = evaluate(result.made->program, {0.0, 0.5, 0.25, 1.0, 1.0});
  EXPECT_GT(y.back(), 0.0);
  EXPECT_NEAR(y[0], -0.75, 1e-15);
  EXPECT_NEAR(y[1], 2.0 * 1.0 + 2.0 * 0.5 * -0.75, 1e-15);
}

TEST(ProjectionProgram, makes_the_newton_step_of_least_mass_norm) {
  const Equations eqs = equations(R"toml(
coordinates = ["x", "y"]
[dynamics]
mass = { x = 1, y = 4 }
[constraints]
line = "x + y = 1"
speed = "x' - y' = 2"
)toml");
  const auto position = make_projection_program(eqs, ProjectionOf::positions, {});
  ASSERT_TRUE(position.made) << position.reason;
  EXPECT_EQ(position.made->rows, std::vector<int>{0});
  const std::vector<double> dq = evaluate(position.made->program, {0, 3, 3, 0, 0});
  // The lighter coordinate moves four times as far.
  EXPECT_NEAR(dq[0], -4.0, 1e-15);
  EXPECT_NEAR(dq[1], -1.0, 1e-15);
  EXPECT_EQ(dq[2], 5.0);
  EXPECT_GT(dq.back(), 0.0);
  const auto velocity = make_projection_program(eqs, ProjectionOf::velocities, {});
  ASSERT_TRUE(velocity.made) << velocity.reason;
  const std::vector<double> dv = evaluate(velocity.made->program, {0, 0.5, 0.5, 3, 3});
  EXPECT_NEAR(3 + dv[0], 1.0, 1e-15);
  EXPECT_NEAR(3 + dv[1], -1.0, 1e-15);
  EXPECT_EQ(dv[2], 6.0);
  EXPECT_EQ(dv[3], -2.0);
  EXPECT_EQ(make_projection_program(equations("coordinates = [\"x\"]\n[dynamics]\nmass = { x = 1 }\n"),
                                    ProjectionOf::positions, {})
                .reason,
            "nothing to project onto");
}

/// Two ways to the same: projection and then acceleration, or both from one elimination.
TEST(AccelerationProgram, of_held_velocities_is_that_of_the_projected_ones) {
  // Bars whose masses couple coordinates, one rod twice, a knife edge, a moving pivot.
  const Equations eqs = equations(R"toml(
coordinates = ["x1", "y1", "x2", "y2"]
[dynamics]
kinetic = "x1'^2 + x1'*x2' + x2'^2 + y1'^2 + y1'*y2' + 2*y2'^2"
potential = "9.81*(y1 + 2*y2)"
[constraints]
first = "(x1 - sin(t)/3)^2 + y1^2 = 1"
again = "2*(x1 - sin(t)/3)^2 + 2*y1^2 = 2"
second = "(x2 - x1)^2 + (y2 - y1)^2 = 1"
edge = "y2*x2' = 0.3*y1'"
)toml");
  AccelerationOptions options;
  options.dropped = {1};
  options.powers = true;
  const auto plain = make_acceleration_program(eqs, options);
  const auto projection = make_projection_program(eqs, ProjectionOf::velocities, options);
  options.hold_velocities = true;
  const auto held = make_acceleration_program(eqs, options);
  ASSERT_TRUE(plain.made && projection.made && held.made) << held.reason;
  EXPECT_EQ(held.made->at_vouch, held.made->at_velocities + 4);
  int compared = 0;
  for (int k = 0; k < 20; ++k) {
    // On the positions: two angles.
    const double t = 0.1 * k, a = 0.3 + 0.2 * k, b = 1.1 - 0.13 * k;
    std::vector<double> inputs{t, std::sin(t) / 3 + std::cos(a), std::sin(a), 0.0, 0.0, 0.4, -0.2 * k, 1.0, 0.3};
    inputs[3] = inputs[1] + std::cos(b), inputs[4] = inputs[2] + std::sin(b);
    const std::vector<double> step = evaluate(projection.made->program, inputs),
                              found = evaluate(held.made->program, inputs);
    std::vector<double> projected = inputs;
    for (std::size_t i = 0; i < 4; ++i) projected[5 + i] += step[i];
    const std::vector<double> expected = evaluate(plain.made->program, projected);
    if (!(expected.back() > 0.0)) continue;
    ASSERT_GT(found.back(), 0.0) << k;
    ++compared;
    double size = 1.0;
    for (const double x : expected) size = std::max(size, std::abs(x));
    for (std::size_t i = 0; i < expected.size() - 1; ++i)
      EXPECT_NEAR(found[i], expected[i], 1e-11 * size) << k << ", output " << i;
    for (std::size_t i = 0; i < 4; ++i)
      EXPECT_NEAR(found[static_cast<std::size_t>(held.made->at_velocities) + i], projected[5 + i], 1e-12 * size) << k;
  }
  EXPECT_GT(compared, 15);
  options.dropped.clear();
  const auto nonlinear = equations(
      "coordinates = [\"x\", \"y\"]\n[dynamics]\nmass = { x = 1, y = 1 }\n[constraints]\nspeed = \"x'^2 + y'^2 = "
      "1\"\n");
  EXPECT_EQ(make_acceleration_program(nonlinear, options).reason,
            "velocities are held by rows that are linear in them only");
}

}  // namespace
}  // namespace mechanician
