// Kinks and jumps in expressions: steps end where they switch, samples are of their own side, sliding is said.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "mechanician/motion/integrator.hpp"
#include "mechanician/motion/motion_for_test.hpp"

namespace mechanician {
namespace {

using std::numbers::pi;
constexpr double inf = std::numeric_limits<double>::infinity();

struct Kink {
  const char* name;
  Loaded (*model)();
  double to;
  std::vector<double> switches;                  ///< when
  std::function<std::vector<double>(double)> x;  ///< coordinate, velocity, acceleration of the first coordinate
};

/// −sign(x) from x = ½ at rest: parabolas, zeros at 1, 3, 5.
std::vector<double> home(double t) {
  const double s = std::remainder(t, 4.0), side = std::abs(s) <= 1.0 ? 1.0 : -1.0;
  const double from = side > 0.0 ? s : (s > 0.0 ? s - 2.0 : s + 2.0);
  return {side * 0.5 * (1.0 - from * from), -side * from, -side};
}
/// ∫∫ | |τ| − 1 | from −2.
std::vector<double> nested(double t) {
  const double s = t - 2.0;         // x
  const auto rate = [](double x) {  // ∫ from −2
    if (x <= -1.0) return -0.5 * (x + 1.0) * (x + 1.0) + 0.5;
    if (x <= 0.0) return 0.5 + 0.5 * (x + 1.0) * (x + 1.0);
    if (x <= 1.0) return 1.5 - 0.5 * (x - 1.0) * (x - 1.0);
    return 1.5 + 0.5 * (x - 1.0) * (x - 1.0);
  };
  const auto twice = [](double x) {
    const auto cube = [](double z) { return z * z * z / 6.0; };
    if (x <= -1.0) return -cube(x + 1.0) + 0.5 * (x + 2.0) - cube(1.0);
    const double at_m1 = 0.5 - cube(1.0);
    if (x <= 0.0) return at_m1 + 0.5 * (x + 1.0) + cube(x + 1.0);
    const double at_0 = at_m1 + 0.5 + cube(1.0);
    if (x <= 1.0) return at_0 + 1.5 * x - cube(x - 1.0) - cube(1.0);
    const double at_1 = at_0 + 1.5 - cube(1.0);
    return at_1 + 1.5 * (x - 1.0) + cube(x - 1.0);
  };
  return {twice(s), rate(s), std::abs(std::abs(s) - 1.0)};
}

/// ∫∫ of straight lines or steps through points, from x = 0 with velocity 1.
std::vector<double> by_pieces(const std::vector<double>& at, const std::vector<double>& values, bool straight,
                              double t) {
  double x = 0.0, v = 1.0;
  for (std::size_t i = 0; i + 1 < at.size(); ++i) {
    const double slope = straight ? (values[i + 1] - values[i]) / (at[i + 1] - at[i]) : 0.0;
    const double s = std::min(t, at[i + 1]) - at[i];
    const double a = values[i] + slope * s;
    x += v * s + values[i] * s * s / 2 + slope * s * s * s / 6, v += values[i] * s + slope * s * s / 2;
    if (t < at[i + 1] || i + 2 == at.size()) return {x, v, a};
  }
  return {};
}

const std::vector<Kink> kinks{
    {"sign", [] { return line("-sign(x)", "position = { x = 0.5 }"); }, 6.5, {1.0, 3.0, 5.0}, home},
    {"if", [] { return line("if(x < 0, 1, -1)", "position = { x = 0.5 }"); }, 6.5, {1.0, 3.0, 5.0}, home},
    {"if_or",
     [] { return line("if(x < 0 or x > 7, 1, if(x > 0 and not x > 8, -1, 1))", "position = { x = 0.5 }"); },
     6.5,
     {1.0, 3.0, 5.0},
     home},
    {"abs",
     [] { return line("-abs(x)", "velocity = { x = -1 }\nposition = { x = 1 }"); },
     3.0,
     {pi / 4},
     [](double t) -> std::vector<double> {
       if (t < pi / 4) return {std::cos(t) - std::sin(t), -std::sin(t) - std::cos(t), std::sin(t) - std::cos(t)};
       const double s = t - pi / 4, v = -std::numbers::sqrt2;
       return {v * std::sinh(s), v * std::cosh(s), v * std::sinh(s)};
     }},
    {"max",
     [] { return line("-4*max(x, 0)", "position = { x = 1 }"); },
     2.0,
     {pi / 4},
     [](double t) -> std::vector<double> {
       if (t < pi / 4) return {std::cos(2 * t), -2 * std::sin(2 * t), -4 * std::cos(2 * t)};
       return {-2 * (t - pi / 4), -2.0, 0.0};
     }},
    {"min",
     [] { return line("min(t, 1) - min(2, t - 0.5, 7)", "time = 0"); },
     4.0,
     {1.0, 2.5},
     [](double t) -> std::vector<double> {
       // ½ until 1, then 1.5 − t until 2.5, then −1.
       const double v1 = 0.5, x1 = 0.25;
       if (t < 1.0) return {0.25 * t * t, 0.5 * t, 0.5};
       const auto middle = [&](double s) -> std::vector<double> {  // s after 1: acceleration ½ − s
         return {x1 + v1 * s + 0.25 * s * s - s * s * s / 6, v1 + 0.5 * s - 0.5 * s * s, 0.5 - s};
       };
       if (t < 2.5) return middle(t - 1.0);
       const auto at = middle(1.5);
       const double s = t - 2.5;
       return {at[0] + at[1] * s - 0.5 * s * s, at[1] - s, -1.0};
     }},
    {"clock",
     [] { return line("if(t < 1, 0, 2)", "velocity = { x = 1 }"); },
     2.0,
     {1.0},
     [](double t) -> std::vector<double> {
       const double s = std::max(0.0, t - 1.0);
       return {t + s * s, 1.0 + 2.0 * s, t < 1.0 ? 0.0 : 2.0};
     }},
    {"table_linear",
     [] { return line("f(t)", "velocity = { x = 1 }", "[tables.f]\npoints = [[0, 1], [0.5, 0], [2, 3], [4, -1]]"); },
     4.0,
     {0.5, 2.0},
     [](double t) {
       return by_pieces({0.0, 0.5, 2.0, 4.0}, {1.0, 0.0, 3.0, -1.0}, true, t);
     }},
    {"table_steps",
     [] {
       return line(
           "2*f(3*t)/2", "velocity = { x = 1 }",
           "[tables.f]\npoints = [[0, 1], [1.5, 0], [6, 3], [12, -1]]\ninterpolation = \"steps\"\noutside = \"hold\"");
     },
     5.0,
     {0.5, 2.0, 4.0},
     [](double t) {
       return by_pieces({0.0, 0.5, 2.0, 4.0, 9.0}, {1.0, 0.0, 3.0, -1.0, -1.0}, false, t);
     }},
    {"table_of_position",  // x = 3 sin(t) on the way up: a spring of slope 1 inside, none beyond
     [] {
       return line("f(x)", "velocity = { x = 3 }",
                   "[tables.f]\npoints = [[-1, 1], [1, -1], [2, -1]]\noutside = \"hold\"");
     },
     3.0,
     {std::asin(1.0 / 3.0), std::asin(1.0 / 3.0) + std::sqrt(8.0) - std::sqrt(6.0)},
     [](double t) -> std::vector<double> {
       const double at = std::asin(1.0 / 3.0), s = t - at, v = 3.0 * std::cos(at);
       if (t < at) return {3.0 * std::sin(t), 3.0 * std::cos(t), -3.0 * std::sin(t)};
       return {1.0 + v * s - 0.5 * s * s, v - s, -1.0};
     }},
    {"table_on_grid",
     [] {
       return Loaded(R"toml(
coordinates = ["y", "x"]
[tables.f]
arguments = ["x", "t"]
points = [[0, 0, 0], [0, 1, 0], [0, 3, 0], [1, 0, 1], [1, 1, 0], [1, 3, 2], [4, 0, 4], [4, 1, 0], [4, 3, 8]]
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
force = { y = "f(x, t)" }
[start]
velocity = { x = 1.25 }
)toml");
     },
     3.0,
     {0.8, 1.0},  // where x = 1, and t = 1; the grid is x·|t − 1|
     [](double t) -> std::vector<double> {
       const auto cube = [](double z) { return z * z * z; };
       const double s = t - 1.0, early = std::min(t, 1.0);
       // t (1 − t) until 1, then t (t − 1) = s² + s
       const double v = early * early / 2 - cube(early) / 3, x = cube(early) / 6 - cube(early) * early / 12;
       if (t < 1.0) return {1.25 * x, 1.25 * v, 1.25 * t * (1.0 - t)};
       return {1.25 * (x + v * s + cube(s) * s / 12 + cube(s) / 6), 1.25 * (v + cube(s) / 3 + s * s / 2),
               1.25 * (s * s + s)};
     }},
    {"nested",
     [] {
       return Loaded(R"toml(
coordinates = ["y", "x"]
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
force = { y = "abs(abs(x) - 1)" }
[start]
position = { x = -2 }
velocity = { x = 1 }
)toml");
     },
     4.0,
     {1.0, 2.0, 3.0},
     nested},
    {"constraint",
     [] {
       return Loaded(R"toml(
coordinates = ["y", "x"]
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
[constraints]
lift = "y = x + max(t - 1, 0)^3"
rail = "x = abs(t - 2)^3 + 3*t"
[start]
position = { x = 8, y = 8 }
velocity = { x = -9, y = -9 }
)toml");
     },
     3.0,
     {1.0, 2.0},
     [](double t) -> std::vector<double> {
       const double s = std::max(0.0, t - 1.0), u = std::abs(t - 2.0), du = t < 2.0 ? -1.0 : 1.0;
       return {u * u * u + 3 * t + s * s * s, 3 * u * u * du + 3 + 3 * s * s, 6 * u + 6 * s};
     }},
    {"reactions",
     [] {
       // The normal force is cos t: friction 0.5·|cos t|.
       return Loaded(R"toml(
coordinates = ["x", "y"]
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
force = { y = "-cos(t)" }
[constraints]
table = "y = 0"
[nonideal]
x = "-0.5*abs(ideal(y))"
[start]
velocity = { x = 3 }
)toml");
     },
     4.5,
     {pi / 2},
     [](double t) -> std::vector<double> {
       if (t < pi / 2) return {3 * t + 0.5 * (std::cos(t) - 1.0), 3.0 - 0.5 * std::sin(t), -0.5 * std::cos(t)};
       const double s = t - pi / 2;
       return {1.5 * pi - 0.5 + 2.5 * s - 0.5 * (std::cos(t) + s), 2.5 - 0.5 * (1.0 - std::sin(t)), 0.5 * std::cos(t)};
     }},
};

class KinkTest : public testing::TestWithParam<Kink> {};
INSTANTIATE_TEST_SUITE_P(kinks, KinkTest, testing::ValuesIn(kinks),
                         [](const auto& param_info) { return std::string(param_info.param.name); });
std::ostream& operator<<(std::ostream& out, const Kink& kink) { return out << kink.name; }

TEST_P(KinkTest, steps_end_where_an_expression_switches) {
  const Kink& kink = GetParam();
  const Loaded model = kink.model();
  for (const Method method : {Method::dop853, Method::bdf})
    for (const double tolerance : {1e-5, 1e-9}) {
      SCOPED_TRACE(testing::Message() << name_of(method) << ", tolerance " << tolerance);
      const double allowed = (method == Method::bdf ? 3000.0 : 100.0) * tolerance;
      Integrator integrator = model.integrator({.to = kink.to, .tolerance = tolerance, .method = method});
      std::vector<double> ends;
      while (integrator.advance()) {
        ends.push_back(integrator.t());
        const Sample end = integrator.sample(integrator.t());
        const std::vector<double> exact = kink.x(end.t);
        EXPECT_NEAR(end.q(0), exact[0], allowed);
        EXPECT_NEAR(end.qd(0), exact[1], allowed);
      }
      ASSERT_EQ(integrator.stop().reason, StopReason::reached_end) << integrator.stop().message;
      EXPECT_EQ(integrator.statistics().switches, static_cast<long>(kink.switches.size()));
      for (const double when : kink.switches) {
        double nearest = inf;
        for (const double end : ends) nearest = std::min(nearest, std::abs(end - when));
        EXPECT_LT(nearest, allowed) << "switch at " << when;
      }
      const Certificate certificate = integrator.certificate();
      EXPECT_TRUE(certificate.holds) << (certificate.reasons.empty() ? "" : certificate.reasons[0]);
    }
}

TEST_P(KinkTest, samples_are_those_of_their_own_side) {
  const Kink& kink = GetParam();
  const Loaded model = kink.model();
  for (const Method method : {Method::dop853, Method::bdf}) {
    SCOPED_TRACE(name_of(method));
    const double tolerance = 1e-8, allowed = (method == Method::bdf ? 3000.0 : 100.0) * tolerance;
    Integrator integrator = model.integrator({.to = kink.to, .tolerance = tolerance, .method = method});
    while (integrator.advance())
      for (const double theta : {0.05, 0.4, 0.8}) {
        const double t = integrator.step_begin() + theta * (integrator.t() - integrator.step_begin());
        const bool at_switch = std::any_of(kink.switches.begin(), kink.switches.end(),
                                           [&](double when) { return std::abs(t - when) < 10 * allowed; });
        if (at_switch) continue;
        const Sample s = integrator.sample(t);
        const std::vector<double> exact = kink.x(t);
        ASSERT_NEAR(s.q(0), exact[0], allowed) << "at t = " << t;
        ASSERT_NEAR(s.qd(0), exact[1], allowed) << "at t = " << t;
        ASSERT_NEAR(s.qdd(0), exact[2], 100.0 * allowed) << "at t = " << t;
      }
  }
}

TEST(Integrator, a_body_at_rest_on_a_switch_is_refused_where_nothing_says_how_it_goes_on) {
  const auto refusal = [](const std::string& force, const std::string& start) {
    const Loaded model = line(force, start);
    return model.integrator({.to = 1.0}).refusal();
  };
  EXPECT_FALSE(refusal("1 - 2*sign(x')", "time = 0"));
  EXPECT_FALSE(refusal("3 - 2*sign(x')", "time = 0"));
  EXPECT_FALSE(refusal("-3 - 2*sign(x')", "time = 0"));
  ASSERT_TRUE(refusal("-sign(x)", "time = 0"));
  EXPECT_EQ(refusal("-sign(x)", "time = 0")->reason, StopReason::sliding);
  EXPECT_FALSE(refusal("-sign(x)", "velocity = { x = 1 }"));
  ASSERT_TRUE(refusal("sign(x)", "time = 0"));
  EXPECT_EQ(refusal("sign(x)", "time = 0")->reason, StopReason::not_unique);
  EXPECT_FALSE(refusal("-abs(x)", "time = 0"));
}

TEST(Integrator, starts_on_a_switch_take_the_side_that_the_motion_goes_to) {
  for (const int side : {1, -1}) {
    // Slides off: 3 − 2 = 1 upwards, −3 + 2 = −1 downwards.
    const Loaded rough = line(std::to_string(3 * side) + " - 2*sign(x')", "time = 0");
    Integrator friction = rough.integrator({.to = 2.0});
    EXPECT_NEAR(run_to_end(friction).q(0), 2.0 * side, 1e-9);
    EXPECT_EQ(friction.statistics().switches, 0);
    // Passes through zero with speed: the parabola of that side, back after 2.
    const Loaded home_again = line("-sign(x)", "velocity = { x = " + std::to_string(side) + " }");
    Integrator passing = home_again.integrator({.to = 1.0});
    EXPECT_NEAR(run_to_end(passing).q(0), 0.5 * side, 1e-10);
    EXPECT_EQ(passing.statistics().switches, 0);
  }
}

TEST(Integrator, switches_without_end_are_reported_and_not_chattered_through) {
  // Driven home harder on the way out than on the way back: every arc has half the height of the last, so that
  // infinitely many end at a finite time: 1 (down from ½) + Σ (v/2 + v/√2)·2^(−k/2), v = 1, for k = 0, 1, …
  const Loaded model = line("-sign(x)*if(x*x' > 0, 2, 1)", "position = { x = 0.5 }");
  Integrator integrator = model.integrator({.to = 100.0, .tolerance = 1e-9});
  while (integrator.advance()) ASSERT_LT(integrator.statistics().steps, 5000);
  const double accumulation = 1.0 + (0.5 + std::numbers::sqrt2 / 2) / (1.0 - std::numbers::sqrt2 / 2);
  EXPECT_EQ(integrator.stop().reason, StopReason::sliding) << integrator.stop().message;
  EXPECT_NEAR(integrator.t(), accumulation, 1e-4);
}

TEST(Integrator, a_switch_within_rounding_of_the_end_does_not_keep_the_motion_from_ending) {
  const Loaded model = line("-sign(x)", "position = { x = 0.5 }");
  for (const Method method : {Method::dop853, Method::bdf})
    for (const double to :
         {3.0, std::nextafter(3.0, 0.0), std::nextafter(3.0, 4.0), 1.0, 5.0, 3.0 + 1e-13, 3.0 - 1e-13})
      for (const double tolerance : {1e-6, 1e-9, 1e-12}) {
        SCOPED_TRACE(testing::Message() << name_of(method) << " to " << to << ", tolerance " << tolerance);
        Integrator integrator = model.integrator({.to = to, .tolerance = tolerance, .method = method});
        const Sample end = run_to_end(integrator);
        EXPECT_EQ(integrator.stop().reason, StopReason::reached_end) << integrator.stop().message;
        EXPECT_EQ(integrator.t(), to);
        EXPECT_NEAR(end.q(0), 0.0, 3e3 * tolerance);
      }
}

}  // namespace
}  // namespace mechanician
