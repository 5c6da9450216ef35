// What a motion says about itself: works, balance of energy, violations, and whether it is to be trusted.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "mechanician/motion/motion_for_test.hpp"

namespace mechanician {
namespace {

using std::numbers::pi;

double total(const Works& w) { return w.given + w.ideal + w.nonideal + w.control; }

// ---- works by closed forms

struct WorkCase {
  const char *name, *toml;
  double to;
  std::function<Works(double)> exact;
};
std::ostream& operator<<(std::ostream& out, const WorkCase& c) { return out << c.name; }

Works works(double given, double ideal, double nonideal, double control, std::vector<double> rows) {
  return {given,
          ideal,
          nonideal,
          control,
          Eigen::Map<const Eigen::VectorXd>(rows.data(), static_cast<Eigen::Index>(rows.size())),
          {}};
}

const std::vector<WorkCase> work_cases{
    {"lifted", R"toml(
coordinates = ["x", "y"]
[dynamics]
kinetic = "3*(x'^2 + y'^2)/2"
potential = "3*9.81*y"
[constraints]
lift = "y = t^2/2"
push = "x = sin(t)"
[start]
velocity = { x = 1 }
)toml",
     2.0,
     [](double t) {
       const double up = 3.0 * (0.5 * t * t + 9.81 * t * t / 2), along = 1.5 * (std::cos(t) * std::cos(t) - 1.0);
       return works(-3.0 * 9.81 * t * t / 2, up + along, 0.0, 0.0, {up, along});
     }},
    {"held_in_place", R"toml(
coordinates = ["x", "y"]
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
force = { x = "t" }
[constraints]
rail = "y = 0"
)toml",
     2.0, [](double t) { return works(std::pow(t, 4) / 8, 0.0, 0.0, 0.0, {0.0}); }},
    {"redundant", R"toml(
coordinates = ["x"]
[dynamics]
kinetic = "x'^2/2"
[constraints]
once = "x = t^2"
twice = "2*x = 2*t^2"
)toml",
     // λ₁ + 2λ₂ = 2 with least norm: λ = 2/5 (1, 2); rates 2t and 4t.
     1.5,
     [](double t) {
       return works(0.0, 2 * t * t, 0.0, 0.0, {0.4 * t * t, 1.6 * t * t});
     }},
    {"constant_speed", R"toml(
coordinates = ["x", "y"]
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
potential = "2*y"
[constraints]
speed = "x'^2 + y'^2 = 9"
[start]
velocity = { y = 3 }
)toml",
     // Straight up: the constraint does what gravity undoes.
     1.5, [](double t) { return works(-6 * t, 6 * t, 0.0, 0.0, {6 * t}); }},
    {"friction", R"toml(
coordinates = ["x", "y"]
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
potential = "10*y"
[constraints]
table = "y = 0"
[nonideal]
x = "-0.2*abs(ideal(y))*sign(x')"
[start]
velocity = { x = 5 }
)toml",
     2.0, [](double t) { return works(0.0, 0.0, -2.0 * (5 * t - t * t), 0.0, {0.0}); }},
    {"control", R"toml(
coordinates = ["x"]
[dynamics]
kinetic = "x'^2/2"
force = { x = "-1" }
[control.ramp]
equation = "x = t^2"
frequency = 3.0
)toml",
     1.5, [](double t) { return works(-t * t, 0.0, 0.0, 3 * t * t, {}); }},
    {"growing_mass", R"toml(
coordinates = ["x"]
[dynamics]
mass = { x = "1 + t" }
[start]
velocity = { x = 2 }
)toml",
     // M q̈ = 0: constant speed, ½Ṁẋ² is given.
     3.0, [](double t) { return works(2 * t, 0.0, 0.0, 0.0, {}); }},
    {"growing_mass_by_energy", R"toml(
coordinates = ["x"]
[dynamics]
kinetic = "(1 + t)*x'^2/2"
[start]
velocity = { x = 2 }
)toml",
     // Momentum 2 is conserved: K = 2/(1 + t).
     3.0, [](double t) { return works(2 / (1 + t) - 2, 0.0, 0.0, 0.0, {}); }},
    {"moving_frame", R"toml(
coordinates = ["r"]
[dynamics]
kinetic = "(r'^2 + 4*r^2)/2"
[start]
position = { r = 1 }
)toml",
     // r = cosh 2t: ½ṙ² = 2 sinh² 2t, all of it from the centrifugal force.
     0.8, [](double t) { return works(2 * std::sinh(2 * t) * std::sinh(2 * t), 0.0, 0.0, 0.0, {}); }},
    {"massless", R"toml(
coordinates = ["x", "u"]
[dynamics]
mass = { x = 2, u = 0 }
force = { u = "6" }
[constraints]
gear = "u = 3*x"
)toml",
     // 18 on x: x = 4.5 t².
     1.0, [](double t) { return works(6 * 13.5 * t * t, 0.0, 0.0, 0.0, {0.0}); }},
};

class WorksTest : public testing::TestWithParam<WorkCase> {};
INSTANTIATE_TEST_SUITE_P(cases, WorksTest, testing::ValuesIn(work_cases),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

TEST_P(WorksTest, are_those_of_the_closed_form_all_along) {
  const WorkCase& c = GetParam();
  const Loaded model(c.toml);
  for (const Method method : {Method::dop853, Method::bdf}) {
    SCOPED_TRACE(name_of(method));
    const double tolerance = 1e-9, allowed = method == Method::bdf ? 1e-5 : 1e-7;
    Integrator integrator = model.integrator({.to = c.to, .tolerance = tolerance, .method = method});
    const auto check = [&](const Works& found, double t) {
      const Works exact = c.exact(t);
      EXPECT_NEAR(found.given, exact.given, allowed) << "at t = " << t;
      EXPECT_NEAR(found.ideal, exact.ideal, allowed) << "at t = " << t;
      EXPECT_NEAR(found.nonideal, exact.nonideal, allowed) << "at t = " << t;
      EXPECT_NEAR(found.control, exact.control, allowed) << "at t = " << t;
      ASSERT_EQ(found.constraints.size(), exact.constraints.size());
      for (Eigen::Index j = 0; j < exact.constraints.size(); ++j)
        EXPECT_NEAR(found.constraints(j), exact.constraints(j), allowed) << "row " << j << " at t = " << t;
    };
    while (integrator.advance())
      for (const double theta : {0.4, 1.0}) {
        const double t = integrator.step_begin() + theta * (integrator.t() - integrator.step_begin());
        check(integrator.sample(t).works, t);
      }
    ASSERT_EQ(integrator.stop().reason, StopReason::reached_end) << integrator.stop().message;
    const Certificate certificate = integrator.certificate();
    check(certificate.works, c.to);
    EXPECT_NEAR(certificate.kinetic_end - certificate.kinetic_start, total(c.exact(c.to)), 2.0 * allowed);
    EXPECT_NEAR(certificate.balance, certificate.kinetic_end - certificate.kinetic_start - total(certificate.works),
                1e-15 * (1.0 + std::abs(certificate.kinetic_end)));
    EXPECT_LE(std::abs(certificate.balance), certificate.balance_largest);
    EXPECT_TRUE(certificate.holds) << certificate.reasons[0];
    EXPECT_TRUE(certificate.reasons.empty());
  }
}

// ---- good motions

TEST(Certificate, holds_on_good_motions_and_is_sharp) {
  for (const char* name :
       {"pendulum_90", "double_pendulum", "frame_that_turns", "rolling_disk", "heavy_body", "sleigh", "kepler_0.9",
        "pendulum_on_shaking_pivot", "viviani_redundant", "ladder_1_forward", "ladder_2_swing", "tent", "rough_hoop",
        "control_ring", "wheel_without_mass", "mass_that_grows", "appell_hamel_fall", "squeezer"})
    for (const double tolerance : {1e-4, 1e-7, 1e-10}) {
      SCOPED_TRACE(testing::Message() << name << ", tolerance " << tolerance);
      const Loaded model = load_case(name);
      Integrator integrator =
          model.integrator({.to = std::min(2.0, *model.system.model().run.to), .tolerance = tolerance});
      run_to_end(integrator);
      ASSERT_EQ(integrator.stop().reason, StopReason::reached_end) << integrator.stop().message;
      const Certificate c = integrator.certificate();
      EXPECT_TRUE(c.holds) << (c.reasons.empty() ? "" : c.reasons[0]);
      EXPECT_LE(c.balance_largest, c.balance_allowed);
      EXPECT_LT(c.position_violation, 1e-12);
      // Sharp: what is allowed is small beside the energies in play, so that it could have failed.
      const double energy =
          std::abs(c.kinetic_start) + std::abs(c.kinetic_end) + std::abs(c.works.given) + std::abs(c.works.ideal) + 1.0;
      EXPECT_LT(c.balance_allowed, 1e5 * tolerance * energy);
    }
}

TEST(Certificate, the_end_of_the_motion_is_where_it_ends) {
  // Works and kinetic energy of the certificate are those of the last sample, also where the end lies inside a step: at
  // an event, in a crossing, at a switch.
  struct {
    const char* name;
    double to;
  } table[] = {{"pendulum_90", 1.234},    {"projectile_stopped", 100.0}, {"ladder_1_forward", 0.5},
               {"ladder_1_forward", 0.7}, {"ladder_1_forward", 0.75},    {"ladder_1_forward", 0.8},
               {"ladder_1_forward", 0.9}, {"ladder_1_forward", 1.0},     {"tent", 3.0},
               {"dry_friction", 2.2}};
  for (const auto& c : table) {
    SCOPED_TRACE(testing::Message() << c.name << " to " << c.to);
    const Loaded model = load_case(c.name);
    Integrator integrator = model.integrator({.to = c.to, .tolerance = 1e-7});
    const Sample end = run_to_end(integrator);
    ASSERT_FALSE(integrator.stop().failed()) << integrator.stop().message;
    EXPECT_EQ(end.t, integrator.t());
    const Certificate certificate = integrator.certificate();
    EXPECT_NEAR(certificate.works.given, end.works.given, 1e-6);
    EXPECT_NEAR(certificate.works.ideal, end.works.ideal, 1e-6);
    const Evaluation there = model.system.evaluate({end.t, end.q, end.qd});
    EXPECT_NEAR(certificate.kinetic_end, 0.5 * end.qd.dot(there.values.M * end.qd), 1e-6);
    EXPECT_TRUE(certificate.holds) << certificate.reasons[0];
  }
}

TEST(Certificate, measured_rows_are_reported_and_not_held_against_the_motion) {
  const Loaded model(R"toml(
coordinates = ["x"]
[dynamics]
kinetic = "x'^2/2"
[constraints.gauge]
equation = "x = 1 + t"
weight = 2.0
[constraints.ruler]
equation = "x = 1.5 + t"
weight = 1.0
[start]
position = { x = 1 }
velocity = { x = 1 }
)toml");
  // Both ask for x″ = 0: x = 1 + t, off the ruler by ½.
  Integrator integrator = model.integrator({.to = 1.0});
  EXPECT_NEAR(run_to_end(integrator).q(0), 2.0, 1e-12);
  const Certificate c = integrator.certificate();
  EXPECT_NEAR(c.measured_residual, 0.5, 1e-12);
  EXPECT_EQ(c.position_violation, 0.0);
  EXPECT_TRUE(c.holds);
}

TEST(Certificate, says_what_the_motion_said) {
  const Loaded model = load_case("stiff_slow");
  Integrator integrator = model.integrator({.to = 0.1, .tolerance = 1e-7});
  run_to_end(integrator);
  const Certificate c = integrator.certificate();
  ASSERT_FALSE(integrator.notes().empty());
  for (const std::string& note : integrator.notes())
    EXPECT_NE(std::find(c.notes.begin(), c.notes.end(), note), c.notes.end()) << note;
}

// ---- hard motions: what is certified is right

struct Hard {
  const char *name, *toml;
  double to;
  std::vector<double> q;  ///< at the end, exactly; empty: there is no motion up to the end
};

TEST(Certificate, a_motion_that_is_certified_is_right) {
  const double w = 2.0, T = 3.0, angle = pi / 2 + w * T;
  const Hard table[] = {
      {"a parallelogram through its flat positions",
       R"toml(
coordinates = ["x0", "y0", "x1", "y1"]
[dynamics]
kinetic = "(x0'^2 + y0'^2)/2 + (x1'^2 + y1'^2)/2"
[constraints]
crank0 = "x0^2 + y0^2 = 1"
crank1 = "(x1 - 1)^2 + y1^2 = 1"
coupler = "(x1 - x0)^2 + (y1 - y0)^2 = 1"
[start]
position = { y0 = 1, x1 = 1, y1 = 1 }
velocity = { x0 = -2, x1 = -2 }
)toml",
       T,
       {std::cos(angle), std::sin(angle), 1.0 + std::cos(angle), std::sin(angle)}},
      {"a lemniscate through its node",
       R"toml(
coordinates = ["x", "y"]
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
[constraints]
lemniscate = "(x^2 + y^2)^2 = x^2 - y^2"
[start]
position = { x = 1 }
velocity = { y = 1 }
)toml",
       2.0 * 1.31102877714605990523,
       {-1.0, 0.0}},
      {"a stiff follower",
       R"toml(
coordinates = ["x"]
[dynamics]
kinetic = "x'^2/2"
force = { x = "-cos(t) - 1e5*(x' + sin(t)) - 1e6*(x - cos(t))" }
[start]
position = { x = 1 }
)toml",
       3.0,
       {std::cos(3.0)}},
      {"a pole in time",
       R"toml(
coordinates = ["x"]
[dynamics]
kinetic = "x'^2/2"
force = { x = "1/(1 - t)" }
[start]
velocity = { x = 1 }
)toml",
       3.0,
       {}},
      {"a pole in space",
       R"toml(
coordinates = ["x"]
[dynamics]
kinetic = "x'^2/2"
force = { x = "0.1/(1 - x)" }
[start]
velocity = { x = 1 }
)toml",
       3.0,
       {}},
      {"a fall into the centre",
       R"toml(
coordinates = ["x", "y"]
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
potential = "-1/sqrt(x^2 + y^2)"
[start]
position = { x = 1 }
)toml",
       3.0,
       {}},
      {"a constraint that cannot be held any longer",
       R"toml(
coordinates = ["x", "y"]
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
[constraints]
left  = "x^2 + y^2 = 1"
right = "(x - 1 - t)^2 + y^2 = 1"
[start]
position = { x = 0.5, y = 0.8660254037844386 }
velocity = { x = 0.5, y = -0.2886751345948129 }
)toml",
       2.0,
       {}},
  };
  for (const Hard& c : table)
    for (const Method method : {Method::automatic, Method::dop853, Method::bdf})
      for (const double tolerance : {1e-4, 1e-6, 1e-8, 1e-10}) {
        SCOPED_TRACE(testing::Message() << c.name << ", " << name_of(method) << ", tolerance " << tolerance);
        const Loaded model(c.toml);
        Integrator integrator = model.integrator({.to = c.to, .tolerance = tolerance, .method = method});
        while (integrator.advance()) ASSERT_LT(integrator.statistics().steps, 100'000);
        const Certificate certificate = integrator.certificate();
        if (integrator.stop().failed() || !certificate.holds) {
          // Said to be wrong; the explicit method has to manage what can be managed.
          EXPECT_TRUE(c.q.empty() || method == Method::bdf) << integrator.stop().message;
          continue;
        }
        EXPECT_FALSE(c.q.empty()) << "ended at " << integrator.sample(c.to).q(0);
        const Sample end = integrator.sample(c.to);
        for (std::size_t i = 0; i < c.q.size(); ++i)
          EXPECT_NEAR(end.q(static_cast<Eigen::Index>(i)), c.q[i], std::max(3e3 * tolerance, 1e-8))
              << "coordinate " << i;
      }
}

TEST(Certificate, the_implicit_method_on_a_singular_configuration_fails_or_is_suspect) {
  // A parallelogram with a switch at its flat position (that changes nothing): the step ends on the singular state.
  const Loaded model(R"toml(
coordinates = ["x0", "y0", "x1", "y1"]
[dynamics]
kinetic = "(x0'^2 + y0'^2)/2 + (x1'^2 + y1'^2)/2"
force = { x0 = "if(y0 > 0, x0/1000, x0*0.001)" }
[constraints]
crank0 = "x0^2 + y0^2 = 1"
crank1 = "(x1 - 1)^2 + y1^2 = 1"
coupler = "(x1 - x0)^2 + (y1 - y0)^2 = 1"
[start]
position = { y0 = 1, x1 = 1, y1 = 1 }
velocity = { x0 = -2, x1 = -2 }
)toml");
  int suspect = 0;
  for (const double tolerance : {1e-5, 1e-7, 1e-8, 1e-9, 1e-11}) {
    SCOPED_TRACE(tolerance);
    Integrator integrator = model.integrator({.to = 1.0, .tolerance = tolerance, .method = Method::bdf});
    while (integrator.advance()) ASSERT_LT(integrator.statistics().steps, 100'000);
    const Certificate c = integrator.certificate();
    EXPECT_EQ(c.holds, c.reasons.empty());
    suspect += !c.holds;
    EXPECT_TRUE(integrator.stop().failed() || !c.holds);
  }
  EXPECT_GT(suspect, 0);
}

}  // namespace
}  // namespace mechanician
