#include "mechanician/compile/step_program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>

#include "mechanician/model/parameters.hpp"
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

/// The method as every textbook writes it, for y = (q, q̇).
std::vector<double> textbook(const std::function<std::vector<double>(double, std::vector<double>)>& f, double t,
                             const std::vector<double>& y, double h) {
  const auto moved = [&](double c, const std::vector<double>& k) {
    std::vector<double> x = y;
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += c * k[i];
    return x;
  };
  const auto k1 = f(t, y), k2 = f(t + h / 2, moved(h / 2, k1)), k3 = f(t + h / 2, moved(h / 2, k2)),
             k4 = f(t + h, moved(h, k3));
  std::vector<double> x = y;
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
  return x;
}

constexpr const char* driven_pendulum = R"toml(
coordinates = ["x", "y"]
[parameters]
m = 2.0
g = 9.81
w = 3.0
[dynamics]
kinetic = "m/2*(x'^2 + y'^2)"
potential = "m*g*y"
force = { x = "sin(w*t) - 0.1*x'" }
[constraints]
rod = "x^2 + y^2 = 1"
)toml";

TEST(StepProgram, is_a_step_of_the_textbook_with_the_acceleration_of_the_model) {
  const Equations eqs = derive(read_model_text(driven_pendulum, "test.toml"));
  const AccelerationProgramResult acceleration = make_acceleration_program(eqs, {});
  ASSERT_TRUE(acceleration.made) << acceleration.reason;
  constexpr unsigned seed = 7;
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  ProgramOptions built_in, one_varied;
  built_in.parameters = one_varied.parameters = {2.0, 9.81, 3.0};
  one_varied.varied = {2};
  const StepProgramResult made[] = {make_step_program(eqs, {}), make_step_program(eqs, built_in),
                                    make_step_program(eqs, one_varied)};
  const std::vector<double> parameters[] = {{2.0, 9.81, 3.0}, {}, {3.0}};
  for (int round = 0; round < 20; ++round) {
    const double t = uniform(random), h = 0.05, angle = 3.0 * uniform(random), rate = 2.0 * uniform(random);
    const std::vector<double> y{std::cos(angle), std::sin(angle), -rate * std::sin(angle), rate * std::cos(angle)};
    const auto f = [&](double time, std::vector<double> x) {
      const std::vector<double> a =
          evaluate(acceleration.made->program, {time, x[0], x[1], x[2], x[3], 2.0, 9.81, 3.0});
      return std::vector<double>{x[2], x[3], a[0], a[1]};
    };
    const std::vector<double> expected = textbook(f, t, y, h);
    for (int k = 0; k < 3; ++k) {
      ASSERT_TRUE(made[k].made) << made[k].reason;
      std::vector<double> inputs{t, h};
      inputs.insert(inputs.end(), y.begin(), y.end());
      inputs.insert(inputs.end(), parameters[k].begin(), parameters[k].end());
      const std::vector<double> out = evaluate(made[k].made->program, inputs);
      EXPECT_EQ(out[4], 1.0);
      // Accelerations of about 20 and a step of 0.05: rounding of the end is that of about 2.
      for (std::size_t i = 0; i < 4; ++i)
        EXPECT_NEAR(out[i], expected[i], 64 * 2.3e-16) << "seed " << seed << " round " << round;
    }
  }
}

TEST(StepProgram, vouches_for_no_step_with_a_singular_state_inside) {
  // Two rods that become parallel at x = 0: at y = 0 both rows are (1, 0). A step of 0.2 from y = −0.1 with unit
  // velocity has the stages in its middle there, and no singular state at its ends.
  const Equations eqs = derive(read_model_text(R"toml(
coordinates = ["x", "y", "z"]
[dynamics]
kinetic = "(x'^2 + y'^2 + z'^2)/2"
[constraints]
one = "x + y^2 = 0"
two = "x - y^2 + z*y = 0"
)toml",
                                               "test.toml"));
  const StepProgramResult made = make_step_program(eqs, {});
  ASSERT_TRUE(made.made) << made.reason;
  const auto vouched = [&](double y, double h) {
    // ẋ and ż such that the first stage is a motion; the third coordinate stays 0.
    return evaluate(made.made->program, {0.0, h, -y * y, y, 0.0, -2 * y, 1.0, 0.0}).back();
  };
  EXPECT_EQ(vouched(0.5, 1e-3), 1.0);
  EXPECT_EQ(vouched(-0.1, 1e-3), 1.0);
  EXPECT_EQ(vouched(-0.1, 0.2), 0.0);
  EXPECT_EQ(vouched(0.0, 1e-3), 0.0);
}

TEST(AccelerationProgram, is_the_same_with_one_division_for_the_last_two_rows) {
  for (const char* file : {"double_pendulum", "squeezer", "arm7", "four_bar"}) {
    const Model model = read_model(std::string(MECHANICIAN_SOURCE_DIR) + "/models/" + file + ".toml");
    const ParameterValues parameters = evaluate_parameters(model);
    const StartState start = start_state(model, parameters);
    AccelerationOptions options;
    options.parameters = parameters.values;
    const AccelerationProgramResult apart = make_acceleration_program(derive(model), options);
    options.joint_pivots = true;
    const AccelerationProgramResult joined = make_acceleration_program(derive(model), options);
    ASSERT_TRUE(apart.made && joined.made) << apart.reason << joined.reason;
    const auto divisions = [](const Program& p) {
      return std::count_if(p.steps.begin(), p.steps.end(),
                           [](const Step& s) { return s.action == action_of(Op::div); });
    };
    EXPECT_EQ(divisions(joined.made->program) + 1, divisions(apart.made->program)) << file;
    std::vector<double> inputs{start.time};
    inputs.insert(inputs.end(), start.q.begin(), start.q.end());
    inputs.insert(inputs.end(), start.qd.begin(), start.qd.end());
    const std::vector<double> a = evaluate(apart.made->program, inputs), b = evaluate(joined.made->program, inputs);
    double size = 1.0;
    for (const double x : a) size = std::max(size, std::abs(x));
    // What is vouched for is good to 1e-12 of the accelerations.
    for (std::size_t i = 0; i + 1 < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-12 * size) << file << ' ' << i;
    EXPECT_GT(b.back(), 0.0);
  }
}

TEST(StepProgram, solves_for_two_rows_at_once_only_where_they_are_far_from_dependent) {
  // Rods in line: the squared sine between the rows is m1/(m1 + m2).
  const Equations eqs = derive(read_model_text(R"toml(
coordinates = ["x1", "y1", "x2", "y2"]
[parameters]
m2 = 1.5
[dynamics]
mass = { x1 = "1", y1 = "1", x2 = "m2", y2 = "m2" }
force = { y1 = "-9.81", y2 = "-9.81*m2" }
[constraints]
upper = "x1^2 + y1^2 = 1"
lower = "(x2 - x1)^2 + (y2 - y1)^2 = 0.64"
)toml",
                                               "test.toml"));
  const std::vector<double> hanging{0.0, -1.0, 0.0, -1.8, 0.2, 0.0, -0.3, 0.0};
  ProgramOptions one_by_one, at_once;
  at_once.reference = {0.0};
  at_once.reference.insert(at_once.reference.end(), hanging.begin(), hanging.end());
  at_once.reference.push_back(1.5);
  const StepProgramResult apart = make_step_program(eqs, one_by_one), pair = make_step_program(eqs, at_once);
  at_once.reference.back() = 1e3;
  const StepProgramResult heavy = make_step_program(eqs, at_once);
  ASSERT_TRUE(apart.made && pair.made && heavy.made);
  EXPECT_LT(pair.made->program.steps.size(), heavy.made->program.steps.size());
  for (const double m2 : {1e-6, 1.5, 1e3, 1e4}) {
    std::vector<double> inputs{0.0, 1e-3};
    inputs.insert(inputs.end(), hanging.begin(), hanging.end());
    inputs.push_back(m2);
    const std::vector<double> a = evaluate(apart.made->program, inputs), b = evaluate(pair.made->program, inputs);
    EXPECT_EQ(b.back(), m2 < 4e3 ? 1.0 : 0.0) << m2;
    // 30 eps × condition × accelerations of about 10 × a step of 1e-3; the state itself rounds to eps.
    for (std::size_t i = 0; i < 8; ++i) EXPECT_NEAR(a[i], b[i], 2.3e-16 * (8.0 + 0.3 * (1.0 + m2))) << m2 << ' ' << i;
  }
}

TEST(StepProgram, does_not_vouch_where_a_row_of_a_pair_has_shrunk) {
  // The gradient of u³ is 3u² times that of u.
  const Equations eqs = derive(read_model_text(R"toml(
coordinates = ["x", "y", "z"]
[dynamics]
kinetic = "(x'^2 + y'^2 + z'^2)/2"
[constraints]
one = "x^2 + z = 1"
two = "(y + x*z)^3 = 8"
)toml",
                                               "test.toml"));
  ProgramOptions options;
  options.reference = {0.0, 1.0, 1.5, 0.5, 0.0, 0.0, 0.0};
  const StepProgramResult made = make_step_program(eqs, options);
  ASSERT_TRUE(made.made);
  const auto vouched = [&](double u) {
    return evaluate(made.made->program, {0.0, 1e-3, 1.0, u - 0.5, 0.5, 0.0, 0.0, 0.0}).back();
  };
  EXPECT_EQ(vouched(2.0), 1.0);
  EXPECT_EQ(vouched(0.2), 1.0);
  EXPECT_EQ(vouched(2e-4), 0.0);
}

TEST(StepProgram, says_why_there_is_none) {
  const Equations eqs = derive(read_model_text(driven_pendulum, "test.toml"));
  ProgramOptions options;
  options.most_steps = 3;
  const StepProgramResult made = make_step_program(eqs, options);
  EXPECT_FALSE(made.made);
  EXPECT_EQ(made.reason, "too large");
}

TEST(ProgramBuilder, holds_where_the_least_of_several_is_above_zero) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  ProgramBuilder with(3);
  const auto least = with.apply(
      Op::min, with.apply(Op::min, with.input(0), with.sub(with.input(1), with.constant(1.0))), with.input(2));
  const std::array<ProgramBuilder::Value, 2> outputs{with.is_positive(least), least};
  const Program program = with.finish(outputs);
  for (const double a : {-1.0, 0.0, 2.0, nan})
    for (const double b : {0.5, 1.0, 3.0, nan})
      for (const double c : {-1.0, 4.0, nan}) {
        const std::vector<double> y = evaluate(program, {a, b, c});
        EXPECT_EQ(y[0], y[1] > 0.0 ? 1.0 : 0.0) << a << ' ' << b << ' ' << c;
      }
}

}  // namespace
}  // namespace mechanician
