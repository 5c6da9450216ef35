// Angles that are cut: where they jump nothing is crossed, unless it is another answer on the other side.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "mechanician/base/trials_for_test.hpp"
#include "mechanician/motion/integrator.hpp"
#include "mechanician/motion/motion_for_test.hpp"

namespace mechanician {
namespace {

/// A pendulum with a torque and an event, in which W is an angle.
Loaded pendulum(const std::string& wrapped, const std::string& torque, const std::string& start,
                const std::string& events = "", int idle = 0) {
  const std::string more = idle > 0 ? fmt::format(", \"d[1..{}]\"", idle) : "",
                    kinetic = idle > 0 ? fmt::format(" + sum(i = 1..{}, d[i]'^2/2)", idle) : "";
  return Loaded(fmt::format(R"toml(
coordinates = ["a"{}]
[define]
W = "{}"
[dynamics]
kinetic = "a'^2/2{}"
potential = "-9.81*cos(a)"
force = {{ a = "{}" }}
[start]
{}
{}
)toml",
                            more, wrapped, kinetic, torque, start, events));
}

struct Angle {
  const char *name, *wrapped;
};
/// All are the distance from upright, between −π and π; those of atan between −π/2 and π/2.
const std::vector<Angle> angles{{"atan2", "atan2(sin(a - pi), cos(a - pi))"},
                                {"acos", "sign(sin(a - pi))*acos(cos(a - pi))"},
                                {"half", "2*atan2(sin((a - pi)/2), abs(cos((a - pi)/2))*sign(cos((a - pi)/2)))"},
                                {"tangent", "2*atan(tan((a - pi)/2))"},
                                {"quotient", "2*atan(sin((a - pi)/2)/cos((a - pi)/2))"},
                                {"wrap", "wrap(a - pi)"},
                                {"mod", "mod(a, 2*pi) - pi"}};

/// Catching a pendulum near the top, written with the wrapped angle and without one: asin is right where |W| < 0.4.
TEST(AngleCuts, a_jump_of_an_angle_is_no_crossing_of_a_threshold) {
  for (const Angle& angle : angles) {
    if (std::string(angle.name) == "half") continue;  // twice as long round: not the same angle
    for (unsigned seed = 0; seed < num_trials(20); ++seed) {
      SCOPED_TRACE(testing::Message() << angle.name << ", seed " << seed);
      std::mt19937_64 random(seed);
      std::uniform_real_distribution<double> number(-1.0, 1.0);
      const double width = 0.3 + 0.2 * number(random), stiffness = 30.0 + 20.0 * number(random);
      const std::string start = fmt::format("position = {{ a = {} }}\nvelocity = {{ a = {} }}", 3.0 * number(random),
                                            seed % 3 == 0 ? 0.0 : 9.0 * number(random));
      const Loaded with = pendulum(angle.wrapped, fmt::format("if(abs(W) < {}, -{}*W, 0)", width, stiffness), start),
                   without = pendulum(
                       "0", fmt::format("if(cos(a - pi) > cos({}), -{}*asin(sin(a - pi)), 0)", width, stiffness),
                       start);
      Integrator one = with.integrator({.to = 4.0, .tolerance = 1e-10}),
                 other = without.integrator({.to = 4.0, .tolerance = 1e-10});
      const Sample a = run_to_end(one), b = run_to_end(other);
      ASSERT_EQ(one.stop().reason, StopReason::reached_end) << one.stop().message;
      ASSERT_EQ(other.stop().reason, StopReason::reached_end) << other.stop().message;
      EXPECT_NEAR(a.q(0), b.q(0), 1e-5);
      EXPECT_NEAR(a.qd(0), b.qd(0), 1e-5);
      EXPECT_TRUE(one.certificate().holds);
    }
  }
}

/// A torque −W jumps at the cut: what a pendulum that goes round several times does is that of the angle counted from its turn.
TEST(AngleCuts, a_force_that_jumps_with_an_angle_does_so_at_the_cut) {
  for (const Angle& angle : {angles[0], angles[3], angles[4], angles[5], angles[6]}) {
    const Loaded model = pendulum(angle.wrapped, "-0.3*W", "velocity = { a = 8 }");
    // The turn is counted by the sum of steps at −2π, 0, 2π …
    const Loaded counted = pendulum(
        "a - pi - 2*pi*(if(a > 2*pi, 1, 0) + if(a > 4*pi, 1, 0) + if(a > 6*pi, 1, 0) + if(a > 8*pi, 1, 0) - if(a < 0, "
        "1, 0))",
        "-0.3*W", "velocity = { a = 8 }");
    Integrator one = model.integrator({.to = 4.0, .tolerance = 1e-11}),
               other = counted.integrator({.to = 4.0, .tolerance = 1e-11});
    const Sample a = run_to_end(one), b = run_to_end(other);
    ASSERT_EQ(one.stop().reason, StopReason::reached_end) << one.stop().message;
    EXPECT_GT(b.q(0), 12.0) << "it goes round more than once";
    EXPECT_NEAR(a.q(0), b.q(0), 1e-8) << angle.name;
    EXPECT_NEAR(a.qd(0), b.qd(0), 1e-8) << angle.name;
  }
}

TEST(AngleCuts, an_angle_that_stays_near_zero_switches_nothing) {
  const Loaded model = pendulum("atan2(sin(a), cos(a))", "-W", "position = { a = 1.0 }");
  Integrator integrator = model.integrator({.to = 5.0});
  run_to_end(integrator);
  EXPECT_EQ(integrator.statistics().switches, 0);
}

/// Passing upright is W = 0; at the bottom W jumps from π to −π, and that is no event. What is written as a jump is one.
TEST(AngleCuts, a_jump_of_an_angle_is_no_event_and_a_jump_that_is_written_is_one) {
  for (const int idle : {0, 1000})
    for (const Angle& angle : {angles[0], angles[1], angles[3], angles[4], angles[5], angles[6]}) {
      const bool written = std::string(angle.name) == "acos";  // with sign()
      const Loaded model = pendulum(angle.wrapped, "0", "position = { a = 0.3 }\nvelocity = { a = 8 }", R"toml(
[events]
upright = { when = "W" }
side = { when = "if(sin(a) > 0, 1, -1)" }
)toml",
                                    idle);
      Integrator integrator = model.integrator({.to = 4.0, .tolerance = 1e-9});
      while (integrator.advance()) {
      }
      ASSERT_EQ(integrator.stop().reason, StopReason::reached_end) << integrator.stop().message;
      const double end = integrator.sample(integrator.t()).q(0);
      long upright = 0, side = 0;
      for (const MotionEvent& e : integrator.events()) (e.name == "upright" ? upright : side) += 1;
      const auto turns = static_cast<long>(std::floor((end + M_PI) / (2.0 * M_PI)));
      EXPECT_GT(turns, 2);
      // What `sign` does is a jump that is written.
      EXPECT_EQ(upright, written ? turns + static_cast<long>(std::floor(end / (2.0 * M_PI))) : turns)
          << angle.name << ", " << idle;
      EXPECT_EQ(side, static_cast<long>(std::floor(end / M_PI))) << angle.name << ", " << idle;
    }
}

}  // namespace
}  // namespace mechanician
