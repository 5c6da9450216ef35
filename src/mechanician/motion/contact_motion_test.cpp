// One-sided constraints over time, against closed forms.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "mechanician/motion/contact_run_for_test.hpp"
#include "mechanician/motion/integrator.hpp"
#include "mechanician/motion/motion.hpp"

namespace mechanician {
namespace {

using std::numbers::pi;
constexpr double g = 9.81;

std::string bouncing(double e) {
  return R"model(
coordinates = ["z"]
[dynamics]
kinetic = "z'^2/2"
potential = "9.81*z"
[constraints.floor]
equation = "z >= 0"
restitution = )model" +
         std::to_string(e) + R"model(
[start]
position = { z = 2.0 }
)model";
}

TEST(ContactMotion, a_bouncing_ball_comes_to_rest_where_its_impacts_accumulate) {
  for (const double tolerance : {1e-8, 1e-12}) {
    SCOPED_TRACE(tolerance);
    const Loaded ball(bouncing(0.8));
    Ran run(ball, 7.0, tolerance);
    const auto impacts = run.events(EventKind::impact);
    const double v0 = std::sqrt(2.0 * g * 2.0), t0 = v0 / g;
    double t = t0, v = v0;
    for (std::size_t k = 0; k < 40; ++k) {
      EXPECT_NEAR(impacts[k].time, t, 10.0 * tolerance);
      EXPECT_NEAR(impacts[k].qd_before(0), -v, 10.0 * tolerance);
      EXPECT_NEAR(impacts[k].qd_after(0), 0.8 * v, 10.0 * tolerance);
      v *= 0.8;
      t += 2.0 * v / g;
    }
    const auto contacts = run.events(EventKind::contact);
    ASSERT_EQ(contacts.size(), 1u);
    EXPECT_NEAR(contacts[0].time, t0 * (1.0 + 0.8) / (1.0 - 0.8), 1e-10);
    EXPECT_NEAR(contacts[0].time, 5.746957711326909, 1e-10);
    EXPECT_EQ(run.last.q(0), 0.0);
    EXPECT_EQ(run.last.qd(0), 0.0);
    EXPECT_DOUBLE_EQ(run.last.lambda(0), g);
    const ContactCertificate c = *run.integrator.certificate().contacts;
    EXPECT_NEAR(c.impact_lost, g * 2.0, 1e-9);
    EXPECT_LE(c.penetration, 1e-12);
  }
}

TEST(ContactMotion, a_ball_without_loss_returns_to_its_height_a_thousand_times) {
  const Loaded ball(bouncing(1.0));
  const double period = 2.0 * std::sqrt(2.0 * 2.0 / g);
  Ran run(ball, 1000.0 * period);
  EXPECT_EQ(run.events(EventKind::impact).size(), 1000u);
  EXPECT_NEAR(run.last.q(0), 2.0, 1e-9);
  EXPECT_NEAR(run.last.qd(0), 0.0, 1e-6);
}

TEST(ContactMotion, a_ball_on_an_incline_slides_on_after_its_last_bounce) {
  const double alpha = 0.5, e = 0.5, h = 0.4;
  const Loaded ball(R"model(
coordinates = ["x", "y"]
[parameters]
a = 0.5
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[constraints.incline]
equation = "x*sin(a) + y*cos(a) >= 0"
restitution = 0.5
[start]
position = { y = 0.4 }
)model");
  Ran run(ball, 2.0);
  const auto contacts = run.events(EventKind::contact);
  ASSERT_EQ(contacts.size(), 1u);
  const double across = h * std::cos(alpha), gn = g * std::cos(alpha), t0 = std::sqrt(2.0 * across / gn);
  EXPECT_NEAR(contacts[0].time, t0 * (1.0 + e) / (1.0 - e), 1e-9);
  // Along the incline nothing ever acts but gravity.
  const double along = -h * std::sin(alpha) + 0.5 * g * std::sin(alpha) * 4.0;
  EXPECT_NEAR(run.last.q(0) * std::cos(alpha) - run.last.q(1) * std::sin(alpha), along, 1e-9);
  EXPECT_NEAR(run.last.q(0) * std::sin(alpha) + run.last.q(1) * std::cos(alpha), 0.0, 1e-15);
  EXPECT_NEAR(run.last.lambda(0), gn, 1e-12);
}

TEST(ContactMotion, a_string_goes_slack_and_taut_again) {
  const Loaded pendulum(R"model(
coordinates = ["x", "y"]
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[constraints]
string = "x^2 + y^2 <= 1"
[start]
position = { y = -1.0 }
velocity = { x = 6.0 }
)model");
  Ran run(pendulum, 2.0);
  const auto release = run.events(EventKind::release), impact = run.events(EventKind::impact);
  ASSERT_EQ(release.size(), 1u);
  ASSERT_GE(impact.size(), 1u);
  // No tension: v² = g y, and v² = 36 − 2g(1 + y).
  const double y = (36.0 - 2.0 * g) / (3.0 * g);
  EXPECT_NEAR(release[0].q(1), y, 1e-10);
  EXPECT_NEAR(release[0].qd_before.squaredNorm(), g * y, 1e-9);
  EXPECT_EQ(release[0].constraints, std::vector<std::string>{"string"});
  // |p + vt − ½gt²| = 1 again after t = 4 v_y/g.
  EXPECT_NEAR(impact[0].time - release[0].time, 4.0 * release[0].qd_after(1) / g, 1e-9);
  // The radial velocity is lost, the tangential one kept.
  const Eigen::Vector2d p = impact[0].q, before = impact[0].qd_before, after = impact[0].qd_after;
  EXPECT_NEAR(after.dot(p), 0.0, 1e-14);
  EXPECT_NEAR((before - before.dot(p) * p - after).norm(), 0.0, 1e-10);
}

TEST(ContactMotion, a_rod_falls_onto_the_floor_as_its_energy_says) {
  // One end slides on a smooth floor. m = 1, length 2: ½(sin²θ + 1/3)θ̇² = g(cos θ₀ − cos θ), θ from the vertical.
  const Loaded rod(R"model(
coordinates = ["x", "y", "a"]
[dynamics]
kinetic = "(x'^2 + y'^2 + a'^2/3)/2"
potential = "9.81*y"
[constraints]
lower = "y - cos(a) >= 0"
upper = "y + cos(a) >= 0"
[start]
position = { y = "cos(0.3)", a = 0.3 }
)model");
  Ran run(rod, 3.0);
  const auto impact = run.events(EventKind::impact);
  ASSERT_EQ(impact.size(), 1u);
  // t = ∫ dθ/θ̇; θ = θ₀ + s² takes the root away at the begin.
  const double to = std::sqrt(pi / 2 - 0.3);
  long double t = 0.0L;
  const int n = 20000;
  for (int k = 0; k < n; ++k) {
    const long double s = (k + 0.5L) * to / n, theta = 0.3L + s * s;
    const long double rate = std::sqrt(2.0L * 9.81L * (std::cos(0.3L) - std::cos(theta)) /
                                       (std::sin(theta) * std::sin(theta) + 1.0L / 3.0L));
    t += 2.0L * s / rate * to / n;
  }
  EXPECT_NEAR(impact[0].time, static_cast<double>(t), 1e-8);  // midpoint rule
  EXPECT_NEAR(run.last.q(1), 0.0, 1e-12);
  EXPECT_NEAR(run.last.qd.norm(), 0.0, 1e-12);
  EXPECT_NEAR(run.last.q(0), 0.0, 1e-12);
}

TEST(ContactMotion, three_balls_of_a_cradle_part_by_the_minimum_principle) {
  // γ₁⁺ ≥ 1, γ₂⁺ ≥ 0 with the least change: both hold, (−1/3, 2/3, 2/3).
  const Loaded cradle(R"model(
coordinates = ["a", "b", "c"]
[dynamics]
kinetic = "(a'^2 + b'^2 + c'^2)/2"
[constraints.first]
equation = "b - a >= 1"
restitution = 1.0
[constraints.second]
equation = "c - b >= 1"
restitution = 1.0
[start]
position = { b = 2.0, c = 3.0 }
velocity = { a = 1.0 }
)model");
  Ran run(cradle, 2.0);
  const auto impact = run.events(EventKind::impact);
  ASSERT_EQ(impact.size(), 1u);
  EXPECT_NEAR(impact[0].time, 1.0, 1e-14);
  EXPECT_NEAR(impact[0].qd_after(0), -1.0 / 3.0, 1e-14);
  EXPECT_NEAR(impact[0].qd_after(1), 2.0 / 3.0, 1e-14);
  EXPECT_NEAR(impact[0].qd_after(2), 2.0 / 3.0, 1e-14);
  EXPECT_NEAR(run.integrator.certificate().contacts->impact_lost, 0.0, 1e-14);
}

TEST(ContactMotion, balls_that_do_not_touch_pass_the_push_on) {
  const Loaded cradle(R"model(
coordinates = ["a", "b", "c"]
[dynamics]
kinetic = "(a'^2 + b'^2 + c'^2)/2"
[constraints.first]
equation = "b - a >= 1"
restitution = 1.0
[constraints.second]
equation = "c - b >= 1"
restitution = 1.0
[start]
position = { b = 2.0, c = 3.125 }
velocity = { a = 1.0 }
)model");
  Ran run(cradle, 2.0);
  const auto impact = run.events(EventKind::impact);
  ASSERT_EQ(impact.size(), 2u);
  EXPECT_NEAR(impact[1].time, 1.125, 1e-13);
  EXPECT_NEAR((run.last.qd - Eigen::Vector3d(0, 0, 1)).norm(), 0.0, 1e-13);
}

TEST(ContactMotion, a_ladder_leaves_the_wall_at_two_thirds_of_its_height) {
  const Loaded ladder(R"model(
coordinates = ["x", "y", "a"]
[define]
top = "y + sin(a)"
[dynamics]
kinetic = "(x'^2 + y'^2 + a'^2/3)/2"
potential = "9.81*y"
[constraints]
wall = "x - cos(a) >= 0"
floor = "y - sin(a) >= 0"
[start]
position = { x = "cos(1.2)", y = "sin(1.2)", a = 1.2 }
)model");
  Ran run(ladder, 0.9);
  const auto release = run.events(EventKind::release);
  ASSERT_EQ(release.size(), 1u);
  EXPECT_EQ(release[0].constraints, std::vector<std::string>{"wall"});
  EXPECT_NEAR(std::sin(release[0].q(2)), 2.0 / 3.0 * std::sin(1.2), 1e-10);
}

TEST(ContactMotion, a_release_is_one_event_whatever_the_start) {
  for (const double start : {0.05, 0.1, 0.2, 0.35, 0.5, 0.8}) {
    SCOPED_TRACE(start);
    Model model = read_model_text(R"model(
coordinates = ["x", "y", "a"]
[parameters]
a0 = 0.1
[dynamics]
kinetic = "(x'^2 + y'^2 + a'^2/3)/2"
potential = "9.81*y"
[constraints]
wall = "x - sin(a) >= 0"
floor = "y - cos(a) >= 0"
[start]
position = { x = "sin(a0)", y = "cos(a0)", a = "a0" }
)model",
                                  "test.toml");
    model.parameters[0].value = start;
    const Loaded ladder(std::move(model));
    Integrator integrator = ladder.integrator({.to = 10.0, .tolerance = 1e-11});
    while (integrator.events().empty() && integrator.advance()) {
    }
    for (int k = 0; k < 3; ++k) integrator.advance();
    ASSERT_EQ(integrator.events().size(), 1u);
    EXPECT_EQ(integrator.events()[0].kind, EventKind::release);
    EXPECT_NEAR(std::cos(integrator.events()[0].q(2)), 2.0 / 3.0 * std::cos(start), 1e-9);
  }
}

TEST(ContactMotion, legs_that_share_a_load_in_many_ways_lift_off_when_none_of_them_is_left) {
  // A plate on four legs, a torque of 20 t about one edge's parallel: two legs let go at 20 t = m g/2 · 1.
  const Loaded plate(R"model(
coordinates = ["z", "a", "b"]
[dynamics]
kinetic = "(z'^2 + a'^2/3 + b'^2/3)/2"
force = { z = "-9.81", a = "20*t" }
[constraints]
l1 = "z + a + b >= 0"
l2 = "z + a - b >= 0"
l3 = "z - a + b >= 0"
l4 = "z - a - b >= 0"
)model");
  Ran run(plate, 0.6, 1e-10);
  const auto release = run.events(EventKind::release);
  ASSERT_EQ(release.size(), 1u);
  EXPECT_EQ(release[0].constraints, (std::vector<std::string>{"l1", "l2"}));
  EXPECT_NEAR(release[0].time, 9.81 / 20.0, 1e-10);
}

TEST(ContactMotion, a_restitution_that_leaves_its_range_stops_the_motion) {
  std::string text = bouncing(0.5);
  text.replace(text.find("restitution = "), text.find("[start]") - text.find("restitution = "),
               "restitution = \"0.5 + t\"\n");
  const Loaded ball(text);
  Integrator integrator = ball.integrator({.to = 2.0});
  run_to_end(integrator);
  ASSERT_TRUE(integrator.stop().failed());
  EXPECT_NE(integrator.stop().message.find("restitution of `floor`"), std::string::npos) << integrator.stop().message;
}

TEST(ContactMotion, impacts_accumulate_whatever_the_clock_says) {
  const Loaded ball(bouncing(0.8));
  for (const double t : {1e2, 1e4, 1e8}) {
    SCOPED_TRACE(t);
    State start = ball.start;
    start.t = t;
    Integrator integrator(ball.system, start, {.to = t + 7.0, .tolerance = 1e-10});
    const Sample last = run_to_end(integrator);
    EXPECT_FALSE(integrator.stop().failed()) << integrator.stop().message;
    EXPECT_EQ(last.qd(0), 0.0);
    EXPECT_EQ(integrator.events().back().kind, EventKind::contact);
    EXPECT_NEAR(integrator.events().back().time - t, 5.746957711326909, 1e-9 + 1e4 * 2.2e-16 * t);
  }
}

TEST(ContactMotion, a_table_that_shakes_throws_off_what_lies_on_it) {
  // z ≥ sin(6 t)/2: left where −18 sin(6 t) = −g, and the works say who lifted.
  const Loaded table(R"model(
coordinates = ["z"]
[dynamics]
kinetic = "z'^2"
potential = "2*9.81*z"
[constraints]
table = "z >= sin(6*t)/2"
[start]
velocity = { z = 3.0 }
)model");
  Ran run(table, 0.3);
  const auto release = run.events(EventKind::release);
  ASSERT_EQ(release.size(), 1u);
  const double t = std::asin(g / 18.0) / 6.0;
  EXPECT_NEAR(release[0].time, t, 1e-11);
  const double v = 3.0 * std::cos(6.0 * t), z = 0.5 * std::sin(6.0 * t), s = 0.3 - t;
  EXPECT_NEAR(run.last.q(0), z + v * s - 0.5 * g * s * s, 1e-11);
  EXPECT_NEAR(run.last.works.ideal, v * v - 9.0 + 2.0 * g * z, 1e-10);
}

TEST(ContactMotion, a_one_sided_velocity_is_a_ratchet) {
  // x'' = cos t, x' ≥ 0: from π to 3π/2 the ratchet holds.
  const Loaded ratchet = line("cos(t)", "position = { x = 0 }", "[constraints]\nratchet = \"x' >= 0\"");
  Ran run(ratchet, 6.0);
  const auto contact = run.events(EventKind::contact), release = run.events(EventKind::release);
  ASSERT_EQ(contact.size(), 1u);
  ASSERT_EQ(release.size(), 1u);
  EXPECT_NEAR(contact[0].time, pi, 1e-10);
  EXPECT_NEAR(release[0].time, 1.5 * pi, 1e-10);
  EXPECT_NEAR(run.last.qd(0), std::sin(6.0) + 1.0, 1e-10);
  EXPECT_NEAR(run.last.q(0), 2.0 + (6.0 - 1.5 * pi) - std::cos(6.0), 1e-10);
}

TEST(ContactMotion, a_grazing_pass_does_not_chatter) {
  // Past a disc at a distance of δ, and into it by as little.
  for (const double off : {1.0 + 1e-9, 1.0, 1.0 - 1e-7}) {
    SCOPED_TRACE(off);
    Model model = read_model_text(R"model(
coordinates = ["x", "y"]
[parameters]
d = 1.0
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
[constraints.disc]
equation = "x^2 + y^2 >= 1"
restitution = 1.0
[start]
position = { x = -3.0, y = "d" }
velocity = { x = 1.0 }
)model",
                                  "test.toml");
    model.parameters[0].value = off;
    const Loaded loaded(std::move(model));
    Ran run(loaded, 6.0);
    EXPECT_LE(run.integrator.events().size(), 1u);
    EXPECT_LT(run.integrator.certificate().contacts->phases, 4);
    EXPECT_NEAR(run.last.qd.norm(), 1.0, 1e-12);
    if (off < 1.0) {
      ASSERT_EQ(run.events(EventKind::impact).size(), 1u);
      // Reflected at the normal n = (−c, d): v⁺ = v − 2(v·n)n.
      const double c = std::sqrt(1.0 - off * off);
      EXPECT_NEAR(run.last.qd(1), 2.0 * c * off, 1e-9);
    }
  }
}

TEST(ContactMotion, twenty_balls_in_a_tube_rest_for_a_hundred_seconds) {
  std::string names, kinetic, potential, contacts, start;
  for (int i = 1; i <= 20; ++i) {
    names += (i > 1 ? ", " : "") + std::string("\"y") + std::to_string(i) + "\"";
    kinetic += (i > 1 ? " + " : "") + std::string("y") + std::to_string(i) + "'^2/2";
    potential += (i > 1 ? " + " : "") + std::string("9.81*y") + std::to_string(i);
    contacts += "[constraints.c" + std::to_string(i) + "]\nrestitution = 0.5\nequation = \"y" + std::to_string(i) +
                (i > 1 ? " - y" + std::to_string(i - 1) + " >= 0.2\"\n" : " >= 0.1\"\n");
    start += (i > 1 ? ", " : "") + std::string("y") + std::to_string(i) + " = " + std::to_string(0.2 * i - 0.1);
  }
  const Loaded tube("coordinates = [" + names + "]\n[dynamics]\nkinetic = \"" + kinetic + "\"\npotential = \"" +
                    potential + "\"\n" + contacts + "[start]\nposition = { " + start + " }\n");
  Ran run(tube, 100.0, 1e-10);
  EXPECT_TRUE(run.integrator.events().empty());
  EXPECT_LE((run.last.q - tube.start.q).cwiseAbs().maxCoeff(), 1e-14);
  EXPECT_LE(run.last.qd.cwiseAbs().maxCoeff(), 1e-14);
  for (int i = 0; i < 20; ++i) EXPECT_NEAR(run.last.lambda(i), g * (20 - i), 1e-10);
}

TEST(ContactMotion, what_begins_with_an_impact_or_inside_a_wall_is_told_apart) {
  const Loaded closing(bouncing(0.5));
  State at_floor = closing.start;
  at_floor.q(0) = 0.0, at_floor.qd(0) = -2.0;
  Integrator impact(closing.system, at_floor, {.to = 0.2, .tolerance = 1e-10});
  EXPECT_FALSE(impact.refusal());
  EXPECT_EQ(impact.sample(0.0).qd(0), -2.0);
  const Sample last = run_to_end(impact);
  EXPECT_NEAR(last.q(0), 0.2 - 0.5 * g * 0.04, 1e-12);
  ASSERT_EQ(impact.events().size(), 1u);
  EXPECT_EQ(impact.events()[0].time, 0.0);

  at_floor.q(0) = -0.01;
  Integrator inside(closing.system, at_floor, {.to = 0.2});
  ASSERT_TRUE(inside.refusal());
  EXPECT_NE(inside.refusal()->message.find("floor"), std::string::npos);
}

TEST(ContactMotion, a_run_may_end_anywhere_also_just_after_the_last_impact) {
  const Loaded ball(bouncing(0.8));
  for (const double after : {-1e-9, -1e-12, 0.0, 1e-14, 1e-13, 1e-12, 1e-9}) {
    SCOPED_TRACE(after);
    Ran run(ball, 5.746957711326909 + after);
    EXPECT_NEAR(run.last.q(0), 0.0, 1e-15);
    EXPECT_LT(run.integrator.statistics().steps, 2000);
  }
}

TEST(ContactMotion, works_are_counted_once_where_a_motion_cannot_go_on) {
  // Falls onto a floor that a rod forbids it to reach: 1 m of fall, and then a contradiction of velocities.
  const Loaded model(R"model(
coordinates = ["z"]
[dynamics]
kinetic = "z'^2/2"
force = { z = "-9.81" }
[constraints]
down = "z' + 9.81*t = 0"
floor = "z >= -1"
)model");
  Integrator integrator = model.integrator({.to = 1.0});
  const Sample last = run_to_end(integrator);
  EXPECT_TRUE(integrator.stop().failed());
  EXPECT_NEAR(last.works.given, g, 1e-8);
  const Certificate c = integrator.certificate();
  EXPECT_NEAR(c.works.given, g, 1e-8);
  EXPECT_NEAR(c.balance, 0.0, 1e-8);
}

TEST(ContactMotion, control_forces_have_no_part_in_impacts) {
  // x is to follow 0.3 t; at the slanted floor the ball jumps as a free one does, and x is brought back afterwards.
  const Loaded model(R"model(
coordinates = ["x", "y"]
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
force = { y = "-9.81" }
[constraints.floor]
equation = "y + 0.5*x >= 0"
restitution = 0.5
[control.track]
equation = "x = 0.3*t"
frequency = 3.0
[start]
position = { y = 1.0 }
velocity = { x = 0.3 }
)model");
  Integrator integrator = model.integrator({.to = 0.6, .tolerance = 1e-12});
  run_to_end(integrator);
  ASSERT_EQ(integrator.events().size(), 1u);
  const MotionEvent& e = integrator.events()[0];
  const Eigen::Vector2d n(0.5, 1.0), v = e.qd_before;
  EXPECT_NEAR((e.qd_after - (v - 1.5 * n.dot(v) / n.squaredNorm() * n)).norm(), 0.0, 1e-12);
}

TEST(ContactMotion, impacts_beside_equalities_keep_them) {
  // A pendulum that hits a wall: its speed is turned round.
  const Loaded pendulum(R"model(
coordinates = ["x", "y"]
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[constraints]
rod = "x^2 + y^2 = 1"
wall = { equation = "x >= 0", restitution = 1.0 }
[start]
position = { x = 1.0 }
)model");
  Ran run(pendulum, 10.0);
  const auto impact = run.events(EventKind::impact);
  ASSERT_GE(impact.size(), 5u);
  // A quarter of the period from 90°: K(1/√2)/√g.
  const double quarter = 1.8540746773013719 / std::sqrt(g);
  for (std::size_t k = 0; k < impact.size(); ++k)
    EXPECT_NEAR(impact[k].time, (2.0 * static_cast<double>(k) + 1.0) * quarter, 1e-8);
  EXPECT_NEAR(0.5 * run.last.qd.squaredNorm() + g * run.last.q(1), 0.0, 1e-8);
  EXPECT_LE(run.integrator.certificate().position_violation, 1e-14);
}

TEST(ContactMotion, taking_it_up_again_anywhere_gives_the_same_bits) {
  const Loaded ball(R"model(
coordinates = ["x", "z"]
[dynamics]
kinetic = "(x'^2 + z'^2)/2"
potential = "9.81*z"
[constraints]
floor = { equation = "z >= 0.1*sin(3*x)", restitution = 0.6, friction = 0.2, slip = "x' + 0.3*cos(3*x)*z'" }
[start]
position = { z = 1.0 }
velocity = { x = 0.7 }
)model");
  const MotionOptions options{.to = 4.0, .tolerance = 1e-8};
  Integrator whole = ball.integrator(options);
  std::vector<std::vector<double>> checkpoints;
  std::vector<std::size_t> events;
  while (whole.advance()) checkpoints.push_back(whole.checkpoint()), events.push_back(whole.events().size());
  ASSERT_FALSE(whole.stop().failed()) << whole.stop().message;
  const Sample end = whole.sample(whole.t());
  ASSERT_GT(checkpoints.size(), 30u);
  for (std::size_t k = 0; k + 1 < checkpoints.size(); k += 7) {
    Integrator again = ball.integrator(options);
    again.restore(checkpoints[k],
                  {whole.events().begin(), whole.events().begin() + static_cast<std::ptrdiff_t>(events[k])}, {});
    const Sample there = run_to_end(again);
    EXPECT_EQ(there.q, end.q) << k;
    EXPECT_EQ(there.qd, end.qd) << k;
    EXPECT_EQ(again.events().size(), whole.events().size()) << k;
    EXPECT_EQ(again.statistics().evaluations, whole.statistics().evaluations) << k;
  }
}

TEST(ContactMotion, a_ball_in_a_wedge_comes_to_rest_when_it_should) {
  // Times of impacts from one to the next in closed form, with 60 digits; they add up to the last.
  const Loaded model(R"toml(
coordinates = ["x", "y"]
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[constraints.left]
equation = "x*0.9396926207859083 + y*0.3420201433256688 >= 0"
restitution = 0.4
[constraints.right]
equation = "-x*0.6427876096865393 + y*0.766044443118978 >= 0"
restitution = 0.8
[start]
position = { x = 0.1, y = 1 }
)toml");
  const double impacts[] = {0.4321649826735, 0.46713254429526, 0.72363523397869, 1.0004345412091,
                            1.0338760280076, 1.0801604504262,  1.2258540308012,  1.2602785563147,
                            1.2945902785209, 1.3443006672932,  1.3755931196551,  1.3816599829504};
  Integrator integrator = model.integrator({.to = 2.0, .tolerance = 1e-10});
  const Sample end = run_to_end(integrator);
  ASSERT_GT(integrator.events().size(), 60u);
  for (std::size_t k = 0; k < std::size(impacts); ++k) EXPECT_NEAR(integrator.events()[k].time, impacts[k], 1e-9) << k;
  EXPECT_NEAR(integrator.events().back().time, 1.513476505757, 1e-7);
  EXPECT_LT(end.q.norm(), 1e-9);
  EXPECT_TRUE(integrator.certificate().holds);
}

}  // namespace
}  // namespace mechanician
