// Coulomb friction over time, against closed forms.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "mechanician/motion/contact_run_for_test.hpp"
#include "mechanician/motion/integrator.hpp"

namespace mechanician {
namespace {

using std::numbers::pi;
constexpr double g = 9.81;

std::string block(double mu, double speed) {
  return R"model(
coordinates = ["s", "n"]
[dynamics]
kinetic = "s'^2 + n'^2"
force = { s = "-2*9.81*sin(0.4)", n = "-2*9.81*cos(0.4)" }
[constraints.plane]
equation = "n >= 0"
slip = "s'"
friction = )model" +
         std::to_string(mu) + "\n[start]\nvelocity = { s = " + std::to_string(speed) + " }\n";
}

TEST(FrictionMotion, a_block_slides_up_an_incline_to_rest_and_stays) {
  const Loaded model(block(0.6, 3.0));  // tan 0.4 = 0.42
  Ran run(model, 2.0);
  const double a = g * (std::sin(0.4) + 0.6 * std::cos(0.4));
  ASSERT_EQ(run.integrator.events().size(), 1u);
  EXPECT_EQ(run.integrator.events()[0].kind, EventKind::stick);
  EXPECT_NEAR(run.integrator.events()[0].time, 3.0 / a, 1e-12);
  EXPECT_NEAR(run.last.q(0), 4.5 / a, 1e-12);
  EXPECT_EQ(run.last.qd(0), 0.0);
  EXPECT_NEAR(run.last.normal(0), 2.0 * g * std::cos(0.4), 1e-12);
  EXPECT_NEAR(run.last.friction(0), 2.0 * g * std::sin(0.4), 1e-12);
  EXPECT_NEAR(run.last.works.nonideal, -0.6 * 2.0 * g * std::cos(0.4) * 4.5 / a, 1e-11);
}

TEST(FrictionMotion, a_block_on_too_steep_an_incline_slides_back) {
  const Loaded model(block(0.3, 3.0));
  Ran run(model, 2.0);
  const double up = g * (std::sin(0.4) + 0.3 * std::cos(0.4)), down = g * (std::sin(0.4) - 0.3 * std::cos(0.4));
  ASSERT_EQ(run.integrator.events().size(), 1u);
  EXPECT_EQ(run.integrator.events()[0].kind, EventKind::slip);
  const double t = 2.0 - 3.0 / up;
  EXPECT_NEAR(run.last.qd(0), -down * t, 1e-11);
  EXPECT_NEAR(run.last.q(0), 4.5 / up - 0.5 * down * t * t, 1e-11);
}

TEST(FrictionMotion, a_disc_slides_until_it_rolls) {
  const Loaded disc(R"model(
coordinates = ["x", "y", "a"]
[dynamics]
kinetic = "(x'^2 + y'^2)/2 + a'^2/4"
force = { y = "-9.81" }
[constraints.table]
equation = "y >= 1"
slip = "x' - a'"
friction = 0.2
[start]
position = { y = 1.0 }
velocity = { x = 3.0 }
)model");
  Ran run(disc, 2.0);
  ASSERT_EQ(run.integrator.events().size(), 1u);
  EXPECT_EQ(run.integrator.events()[0].kind, EventKind::stick);
  EXPECT_NEAR(run.integrator.events()[0].time, 3.0 / (3.0 * 0.2 * g), 1e-12);
  EXPECT_NEAR(run.last.qd(0), 2.0, 1e-12);
  EXPECT_NEAR(run.last.qd(2), 2.0, 1e-12);
}

TEST(FrictionMotion, a_ball_with_spin_runs_along_a_parabola_until_it_rolls) {
  // The slip of a billiard ball keeps its direction: it ends after 2|s₀|/(7 μ g).
  const Loaded ball(R"model(
coordinates = ["x", "y", "z", "ax", "ay"]
[parameters]
r = 0.5
[dynamics]
kinetic = "(x'^2 + y'^2 + z'^2)/2 + r^2/5*(ax'^2 + ay'^2)"
force = { z = "-9.81" }
[constraints.table]
equation = "z >= r"
slip = ["x' - r*ay'", "y' + r*ax'"]
friction = 0.15
[start]
position = { z = "r" }
velocity = { x = 2.0, ax = 6.0, ay = -1.0 }
)model");
  Ran run(ball, 2.0);
  const Eigen::Vector2d s0(2.0 + 0.5, 3.0), d = s0.normalized();
  const double t = 2.0 * s0.norm() / (7.0 * 0.15 * g);
  ASSERT_EQ(run.integrator.events().size(), 1u);
  EXPECT_EQ(run.integrator.events()[0].kind, EventKind::stick);
  EXPECT_NEAR(run.integrator.events()[0].time, t, 1e-9);
  const Eigen::Vector2d v = Eigen::Vector2d(2.0, 0.0) - 0.15 * g * t * d;
  EXPECT_NEAR((run.last.qd.head(2) - v).norm(), 0.0, 1e-9);
  const Eigen::Vector2d p = Eigen::Vector2d(2.0, 0.0) * t - 0.5 * 0.15 * g * t * t * d + v * (2.0 - t);
  EXPECT_NEAR((run.last.q.head(2) - p).norm(), 0.0, 1e-9);
}

TEST(FrictionMotion, a_bead_on_a_rough_ring_slows_down_by_its_own_reaction) {
  // No gravity: v' = −μ v²/R, a two-sided constraint whose multiplier is the centripetal force.
  const Loaded bead(R"model(
coordinates = ["x", "y"]
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
[constraints.ring]
equation = "sqrt(x^2 + y^2) = 2"
slip = "(x*y' - y*x')/2"
friction = 0.3
[start]
position = { x = 2.0 }
velocity = { y = 3.0 }
)model");
  Ran run(bead, 5.0);
  const double v = 3.0 / (1.0 + 0.3 * 3.0 * 5.0 / 2.0), angle = std::log(1.0 + 0.3 * 3.0 * 5.0 / 2.0) / 0.3;
  EXPECT_NEAR(run.last.qd.norm(), v, 1e-11);
  EXPECT_NEAR(run.last.q(0), 2.0 * std::cos(angle), 1e-10);
  EXPECT_NEAR(run.last.q(1), 2.0 * std::sin(angle), 1e-10);
  EXPECT_NEAR(run.last.normal(0), -v * v / 2.0, 1e-11);
  EXPECT_NEAR(run.last.friction(0), -0.3 * v * v / 2.0, 1e-11);
}

TEST(FrictionMotion, friction_that_presses_harder_is_in_its_own_normal_force) {
  // A rod of length 2 slides on its lower end, held upright by nothing: N from the coupled equations by hand.
  const Loaded rod(R"model(
coordinates = ["x", "y", "a"]
[dynamics]
kinetic = "(x'^2 + y'^2 + a'^2/3)/2"
force = { y = "-9.81" }
[constraints.floor]
equation = "y - sin(a) >= 0"
slip = "x' + sin(a)*a'"
friction = 0.4
[start]
position = { y = "sin(1.0)", a = 1.0 }
velocity = { x = 1.0 }
)model");
  Integrator integrator = rod.integrator({.to = 0.1});
  // ÿ_tip = −g + N + 3 cos a (N cos a + μN sin a), a' = 0
  const double c = std::cos(1.0), s = std::sin(1.0);
  const double normal = g / (1.0 + 3.0 * c * (c + 0.4 * s));
  const Sample now = integrator.sample(0.0);
  EXPECT_NEAR(now.normal(0), normal, 1e-12);
  EXPECT_NEAR(now.friction(0), -0.4 * normal, 1e-12);
  EXPECT_NEAR(now.qdd(0), -0.4 * normal, 1e-12);
  EXPECT_NEAR(now.lambda(0), g / (1.0 + 3.0 * c * c), 1e-12);  // the ideal one
}

TEST(FrictionMotion, a_belt_carries_a_block_along_until_the_spring_is_too_strong) {
  // x'' = −x + friction, belt at 1. From rest at 0 about μg until the speed is that of the belt; carried to x = μg; then
  // x = μg + sin τ.
  const Loaded block_on_belt(R"model(
coordinates = ["x", "y"]
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
force = { x = "-x", y = "-9.81" }
[constraints.belt]
equation = "y >= 0"
slip = "x' - 1"
friction = 0.3
[start]
)model");
  Ran run(block_on_belt, 6.0);
  const auto slip = run.events(EventKind::slip), stick = run.events(EventKind::stick);
  ASSERT_EQ(slip.size(), 1u);
  ASSERT_EQ(stick.size(), 1u);
  const double a = 0.3 * g, t1 = std::asin(1.0 / a), t2 = t1 + a * std::cos(t1);
  EXPECT_NEAR(stick[0].time, t1, 1e-11);
  EXPECT_NEAR(slip[0].time, t2, 1e-10);
  EXPECT_NEAR(run.last.q(0), a + std::sin(6.0 - t2), 1e-9);
  EXPECT_NEAR(run.last.qd(0), std::cos(6.0 - t2), 1e-9);
}

TEST(FrictionMotion, a_ball_that_bounces_with_spin_follows_newton_and_coulomb) {
  // Sphere of radius 1: e = 0.5. Sliding through the impact: Δv = −μ(1 + e)v_n. Sticking: slip after it is zero.
  for (const double mu : {0.05, 0.6}) {
    SCOPED_TRACE(mu);
    const Loaded ball(R"model(
coordinates = ["x", "z", "a"]
[dynamics]
kinetic = "(x'^2 + z'^2)/2 + a'^2/5"
force = { z = "-9.81" }
[constraints.floor]
equation = "z >= 1"
restitution = 0.5
slip = "x' - a'"
friction = )model" + std::to_string(mu) +
                      "\n[start]\nposition = { z = 2.0 }\nvelocity = { x = 1.0 }\n");
    Integrator integrator = ball.integrator({.to = 0.5, .tolerance = 1e-12});
    run_to_end(integrator);
    ASSERT_EQ(integrator.events().size(), 1u);
    const MotionEvent& e = integrator.events()[0];
    const double vn = std::sqrt(2.0 * g);
    EXPECT_NEAR(e.qd_after(1), 0.5 * vn, 1e-11);
    const double push = std::min(mu * 1.5 * vn, 1.0 / 3.5);
    EXPECT_NEAR(e.qd_after(0), 1.0 - push, 1e-11);
    EXPECT_NEAR(e.qd_after(2), 2.5 * push, 1e-11);
    const ContactCertificate c = *integrator.certificate().contacts;
    const double kinetic = 0.5 * (1.0 - push) * (1.0 - push) + 0.2 * 2.5 * push * 2.5 * push;
    EXPECT_NEAR(c.impact_friction_lost, 0.5 - kinetic, 1e-11);
    EXPECT_NEAR(c.impact_lost, 0.5 * 0.75 * vn * vn, 1e-10);
  }
}

TEST(FrictionMotion, a_painleve_state_is_said_and_not_guessed) {
  // ÿ_tip = p N + q: p = 1 + 3 cos a (cos a − μ sin a) < 0 for this slip, q = −g + sin a·a'²…
  const auto rod = [](double spin) {
    return Loaded(R"model(
coordinates = ["x", "y", "a"]
[dynamics]
kinetic = "(x'^2 + y'^2 + a'^2/3)/2"
force = { y = "-9.81" }
[constraints.floor]
equation = "y - sin(a) >= 0"
slip = "x' + sin(a)*a'"
friction = 2.0
[start]
position = { y = "sin(1.0)", a = 1.0 }
velocity = { x = -5.0, a = )model" +
                  std::to_string(spin) + ", y = \"cos(1.0)*(" + std::to_string(spin) + ")\" }\n");
  };
  for (const double spin : {0.0, -4.0}) {
    SCOPED_TRACE(spin);
    const Loaded model = rod(spin);
    const double c = std::cos(1.0), s = std::sin(1.0), p = 1.0 + 3.0 * c * (c - 2.0 * s);
    ASSERT_LT(p, 0.0);
    const double q = -g + s * spin * spin;
    Integrator integrator = model.integrator({.to = 1.0});
    ASSERT_TRUE(integrator.refusal()) << q;
    // Not held apart (q < 0): no force does it. Apart (q > 0): open, or pressed by a force that friction needs.
    EXPECT_NE(integrator.refusal()->message.find(q < 0.0 ? "no " : "several"), std::string::npos)
        << integrator.refusal()->message;
  }
}

TEST(FrictionMotion, a_box_on_two_rough_feet_rests_though_their_forces_are_not_unique) {
  const Loaded box(R"model(
coordinates = ["x", "y", "a"]
[define]
left  = "-0.2*sin(a) - 0.2*cos(a)"
right = "0.2*sin(a) - 0.2*cos(a)"
[dynamics]
kinetic = "(x'^2 + y'^2 + a'^2/40)/2"
force = { x = "9.81*sin(0.1)", y = "-9.81*cos(0.1)" }
[constraints.l]
equation = "y + left >= 0"
slip = "x' - left*a'"
friction = 0.3
[constraints.r]
equation = "y + right >= 0"
slip = "x' - right*a'"
friction = 0.3
[start]
position = { y = 0.2 }
)model");
  Ran run(box, 100.0, 1e-10);
  EXPECT_TRUE(run.integrator.events().empty());
  // Sticking holds velocities: the position is off by the rounding of accelerations, ½ eps g h² for each step of h ≤ 1 s.
  EXPECT_LE((run.last.q - box.start.q).cwiseAbs().maxCoeff(), 100 * 16 * 0.5 * 2.2e-16 * g);
  EXPECT_EQ(run.integrator.certificate().path, "ldlt");
}

}  // namespace
}  // namespace mechanician
