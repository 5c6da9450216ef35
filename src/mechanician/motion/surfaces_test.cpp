// Motions along surfaces where forces jump (Filippov): the mean of both sides that is tangent, from where both drive to the surface
// to where one of them no longer does.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "mechanician/base/trials_for_test.hpp"
#include "mechanician/motion/integrator.hpp"
#include "mechanician/motion/motion_for_test.hpp"

namespace mechanician {
namespace {

using std::numbers::pi;

std::vector<double> times_of(const Integrator& integrator, EventKind kind) {
  std::vector<double> times;
  for (const MotionEvent& e : integrator.events())
    if (e.kind == kind) times.push_back(e.time);
  return times;
}

const char* const friction_laws[] = {"-2*sign({0})",
                                     "if({0} > 0, -2, 2)",
                                     "if({0} < 0, 2, if({0} > 0, -2, 0))",
                                     "-2*(if({0} >= 0, 1, 0) - if({0} <= 0, 1, 0))",
                                     "-2*{0}/abs({0})",
                                     "2 - 4*if({0} > 0, 1, 0)",
                                     "-max(2*sign({0}), -2)"};

/// 3 m/s, braked by 2: at rest after 1.5 s and 2.25 m, and there for good.
TEST(Surfaces, friction_that_is_written_as_a_jump_brings_to_rest) {
  for (const char* law : friction_laws)
    for (const Method method : {Method::dop853, Method::bdf}) {
      SCOPED_TRACE(testing::Message() << law << ", " << name_of(method));
      if (std::string(law).find("/abs") != std::string::npos) continue;  // 0/0 at rest
      const Loaded model = line(fmt::format(fmt::runtime(law), "x'"), "velocity = { x = 3 }");
      Integrator integrator = model.integrator({.to = 5.0, .tolerance = 1e-9, .method = method});
      const Sample end = run_to_end(integrator);
      ASSERT_EQ(integrator.stop().reason, StopReason::reached_end) << integrator.stop().message;
      EXPECT_NEAR(end.q(0), 2.25, 1e-7);
      EXPECT_NEAR(end.qd(0), 0.0, 1e-12);
      EXPECT_NEAR(end.qdd(0), 0.0, 1e-12);
      const auto begins = times_of(integrator, EventKind::sliding_begins);
      ASSERT_EQ(begins.size(), 1u);
      EXPECT_NEAR(begins[0], 1.5, 1e-7);
      EXPECT_TRUE(times_of(integrator, EventKind::sliding_ends).empty());
      EXPECT_TRUE(integrator.certificate().holds);
    }
}

/// Driven by 3 sin t against friction 2 from rest: it moves from sin t = 2/3 on, and x' = ∫ 3 sin − 2 until it comes to rest.
TEST(Surfaces, a_surface_is_left_when_one_side_no_longer_drives_back) {
  const Loaded model = line("3*sin(t) - 2*sign(x')", "time = 0");
  Integrator integrator = model.integrator({.to = 2.0, .tolerance = 1e-10});
  const Sample end = run_to_end(integrator);
  ASSERT_EQ(integrator.stop().reason, StopReason::reached_end) << integrator.stop().message;
  const double free = std::asin(2.0 / 3.0), t = 2.0;
  ASSERT_EQ(times_of(integrator, EventKind::sliding_begins), std::vector<double>{0.0});
  ASSERT_EQ(times_of(integrator, EventKind::sliding_ends).size(), 1u);
  EXPECT_NEAR(times_of(integrator, EventKind::sliding_ends)[0], free, 1e-9);
  EXPECT_NEAR(end.qd(0), 3.0 * (std::cos(free) - std::cos(t)) - 2.0 * (t - free), 1e-9);
}

/// Coulomb's law, which sticks and slides by rows of its own, is the other way to the same motion.
TEST(Surfaces, friction_as_a_force_that_jumps_is_coulombs_law) {
  for (unsigned seed = 0; seed < num_trials(40); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> part(0.0, 1.0);
    const double mu = 0.1 + 0.3 * part(random), pull = 8.0 * part(random), rate = 0.5 + 3.0 * part(random),
                 k = seed % 2 == 0 ? 0.0 : 20.0 * part(random), v = 4.0 * part(random) - 2.0;
    const auto model = [&](const std::string& force, const std::string& constraints) {
      return Loaded(fmt::format(R"toml(
coordinates = ["x", "y"]
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
potential = "10*y + {}*x^2/2"
force = {{ x = "{}*sin({}*t){}" }}
{}
[start]
velocity = {{ x = {} }}
)toml",
                                k, pull, rate, force, constraints, v));
    };
    const Loaded jumps = model(fmt::format(" - {}*sign(x')", 10.0 * mu), "[constraints]\ntable = \"y = 0\""),
                 coulomb = model(
                     "", fmt::format("[constraints.table]\nequation = \"y = 0\"\nfriction = {}\nslip = \"x'\"", mu));
    Integrator one = jumps.integrator({.to = 6.0, .tolerance = 1e-10}),
               other = coulomb.integrator({.to = 6.0, .tolerance = 1e-10});
    double worst = 0.0;
    std::vector<double> q;
    for (int row = 1; row <= 60; ++row) {
      const double t = 0.1 * row;
      while (one.t() < t && one.advance()) {
      }
      while (other.t() < t && other.advance()) {
      }
      ASSERT_TRUE(one.t() >= t && other.t() >= t) << one.stop().message << other.stop().message;
      const Sample a = one.sample(t), b = other.sample(t);
      worst = std::max({worst, std::abs(a.q(0) - b.q(0)), std::abs(a.qd(0) - b.qd(0))});
    }
    EXPECT_LT(worst, 1e-6);
    EXPECT_TRUE(one.certificate().holds);
  }
}

/// A two-point controller: x' = −1 + u, u jumps where x + x' changes its sign; along the surface x = e⁻ᵗ.
TEST(Surfaces, a_controller_of_two_points_slides_down_its_line) {
  const Loaded model = line("-5*sign(x + x') - x'", "position = { x = 1 }");
  Integrator integrator = model.integrator({.to = 4.0, .tolerance = 1e-10});
  run_to_end(integrator);
  ASSERT_EQ(integrator.stop().reason, StopReason::reached_end) << integrator.stop().message;
  const auto begins = times_of(integrator, EventKind::sliding_begins);
  ASSERT_EQ(begins.size(), 1u);
  Integrator again = model.integrator({.to = 4.0, .tolerance = 1e-10});
  double at_begin = 0.0;
  while (again.advance()) {
    if (std::abs(again.t() - begins[0]) < 1e-9) at_begin = again.sample(again.t()).q(0);
    if (again.t() < begins[0]) continue;
    const Sample s = again.sample(again.t());
    EXPECT_NEAR(s.q(0) + s.qd(0), 0.0, 1e-12);
    EXPECT_NEAR(s.q(0), at_begin * std::exp(begins[0] - s.t), 1e-9);
  }
}

/// Two blocks that rub on each other and on a floor: several surfaces at once, with friction smoothed as the other way.
TEST(Surfaces, several_surfaces_at_once_are_the_limit_of_steep_friction) {
  for (unsigned seed = 0; seed < num_trials(12); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> part(0.0, 1.0);
    const double m = 0.5 + part(random), a = 1.0 + part(random), b = 0.5 + part(random), pull = 4.0 * part(random),
                 v = 2.0 * part(random);
    const auto model = [&](const char* law) {
      const auto of = [&](const char* slip) { return fmt::format(fmt::runtime(law), slip); };
      return Loaded(fmt::format(R"toml(
coordinates = ["x", "y"]
[dynamics]
kinetic = "(x'^2 + {}*y'^2)/2"
force = {{ x = "-{}*{} - {}*{} + {}*sin(2*t)", y = "{}*{}" }}
[start]
velocity = {{ x = {}, y = {} }}
)toml",
                                m, a, of("x'"), b, of("(x' - y')"), pull, b, of("(x' - y')"), v, -0.5 * v));
    };
    const Loaded jumps = model("sign({})"), steep = model("tanh({}/1e-5)");
    Integrator one = jumps.integrator({.to = 3.0, .tolerance = 1e-9}),
               other = steep.integrator({.to = 3.0, .tolerance = 1e-9, .method = Method::bdf});
    const Sample end = run_to_end(one), near = run_to_end(other);
    ASSERT_EQ(one.stop().reason, StopReason::reached_end) << one.stop().message;
    ASSERT_EQ(other.stop().reason, StopReason::reached_end) << other.stop().message;
    for (const int i : {0, 1}) {
      EXPECT_NEAR(end.q(i), near.q(i), 5e-4);
      EXPECT_NEAR(end.qd(i), near.qd(i), 5e-4);
    }
    EXPECT_TRUE(one.certificate().holds);
  }
}

TEST(Surfaces, where_both_sides_drive_away_nothing_is_determined) {
  for (const char* force : {"sign(x')", "if(x' > 0, 1, -1)", "sign(x)"}) {
    const Loaded model = line(force, "time = 0");
    const auto refusal = model.integrator({.to = 1.0}).refusal();
    ASSERT_TRUE(refusal) << force;
    EXPECT_EQ(refusal->reason, StopReason::not_unique) << refusal->message;
    EXPECT_NE(refusal->message.find("switches"), std::string::npos);
  }
}

/// A motion that is taken up again along a surface is the same to the last bit.
TEST(Surfaces, checkpoints_hold_along_a_surface) {
  const Loaded model = line("3*sin(t) - 2*sign(x') - x", "velocity = { x = 1 }");
  Integrator whole = model.integrator({.to = 12.0, .tolerance = 1e-9});
  std::vector<std::vector<double>> checkpoints;
  while (whole.advance()) checkpoints.push_back(whole.checkpoint());
  const Sample end = whole.sample(whole.t());
  ASSERT_EQ(whole.stop().reason, StopReason::reached_end) << whole.stop().message;
  EXPECT_GT(times_of(whole, EventKind::sliding_begins).size(), 1u);
  for (const auto& from : checkpoints) {
    Integrator part = model.integrator({.to = 12.0, .tolerance = 1e-9});
    part.restore(from, {}, {});
    const Sample last = run_to_end(part);
    ASSERT_EQ(last.q(0), end.q(0)) << "from t = " << from[0];
    ASSERT_EQ(last.qd(0), end.qd(0));
  }
}

/// Forces, multipliers and powers along a surface are those of an equation that holds it: with a sticking pendulum that stands still.
TEST(Surfaces, samples_along_a_surface_balance) {
  const Loaded model(R"toml(
coordinates = ["x", "y"]
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
force = { x = "y*4*sign(x*y' - y*x')", y = "-x*4*sign(x*y' - y*x')" }
[constraints]
rod = "x^2 + y^2 = 1"
[outputs]
ax = "x''"
[start]
position = { x = 0.28, y = -0.96 }
velocity = { x = 0.96, y = 0.28 }
)toml");
  Integrator integrator = model.integrator({.to = 4.0, .tolerance = 1e-10});
  const Sample s = run_to_end(integrator);
  ASSERT_EQ(integrator.stop().reason, StopReason::reached_end) << integrator.stop().message;
  ASSERT_FALSE(times_of(integrator, EventKind::sliding_begins).empty());
  EXPECT_NEAR(s.qd.norm(), 0.0, 1e-12);
  EXPECT_NEAR(s.qdd.norm(), 0.0, 1e-10);
  EXPECT_NEAR(s.outputs(0), 0.0, 1e-10);
  // At rest friction holds what gravity does along the circle; the rod the rest: λ·2r = 9.81 y/1.
  EXPECT_NEAR(2.0 * s.lambda(0), 9.81 * s.q(1), 1e-9);
  const Certificate c = integrator.certificate();
  EXPECT_TRUE(c.holds);
  EXPECT_LT(c.works.given, 0.0);
}

}  // namespace
}  // namespace mechanician
