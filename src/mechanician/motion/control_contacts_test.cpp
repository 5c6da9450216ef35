// Control beside contacts: what is asked for may open a contact, or make it slip. Closed forms: m(g + a) lifts, μ m g + m a pushes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "mechanician/base/trials_for_test.hpp"
#include "mechanician/instant/accelerate.hpp"
#include "mechanician/motion/control_for_test.hpp"
#include "mechanician/motion/integrator.hpp"

namespace mechanician {
namespace {

constexpr double g = 9.81, m = 2.0;

/// A block on the floor, pushed along it; the rope pulls upwards too, by so much of its effort.
std::string pushed(const std::string& path, double up = 0.0, const std::string& more = "") {
  return fmt::format(R"(
coordinates = ["x", "z"]
[dynamics]
kinetic   = "x'^2 + z'^2"
potential = "2*9.81*z"
[constraints.floor]
equation = "z >= 0"
friction = 0.3
slip     = "x'"
[actuators]
rope = {{ x = "1", z = "{}"{} }}
[control.place]
equation = "{}"
)",
                     up, more, path);
}

template <class Look>
void follow(const Loaded& loaded, double to, Look&& look) {
  Integrator motion = loaded.integrator({.to = to, .tolerance = 1e-10});
  ASSERT_FALSE(motion.refusal()) << motion.refusal()->message;
  while (motion.advance())
    for (const double part : {0.3, 0.8, 1.0})
      look(motion.sample(motion.step_begin() + part * (motion.t() - motion.step_begin())), motion);
  expect_done(motion, to);
}

TEST(ControlContacts, a_block_at_rest_is_lifted) {
  const Loaded loaded(lifted("z = 0.5*t^2"));
  const Instant now = accelerate(loaded.system, loaded.start);
  ASSERT_TRUE(now.has_acceleration());
  EXPECT_NEAR(now.control->tau(0), m * (g + 1), 1e-11);
  EXPECT_TRUE(now.control->met[0]);
  EXPECT_EQ(now.contacts[0].status, ContactStatus::leaving);
  follow(loaded, 1.0, [](const Sample& s, Integrator&) {
    EXPECT_NEAR(s.tau(0), m * (g + 1), 1e-8);
    EXPECT_NEAR(s.q(0), 0.5 * s.t * s.t, 1e-10);
  });
}

TEST(ControlContacts, a_block_is_lifted_when_its_path_rises) {
  // Smoothly, so that nothing but the requirement tells when; and with a jump of what is asked for.
  for (const bool smooth : {true, false}) {
    const Loaded loaded(lifted(smooth ? "z = max(0, t - 1)^3" : "z = if(t < 1, 0, (t - 1)^2)"));
    double released = 0.0;
    follow(loaded, 2.0, [&](const Sample& s, Integrator& motion) {
      const double after = std::max(0.0, s.t - 1), a = s.t < 1 ? 0.0 : smooth ? 6 * after : 2.0;
      EXPECT_NEAR(s.q(0), smooth ? after * after * after : after * after, 1e-9) << s.t;
      if (std::abs(s.t - 1) > 1e-6) {
        EXPECT_NEAR(s.tau(0), s.t < 1 ? 0.0 : m * (g + a), 1e-6) << s.t;
      }
      released = time_of(motion, EventKind::release);
    });
    EXPECT_NEAR(released, 1.0, 1e-9);
  }
}

TEST(ControlContacts, without_actuators_too) {
  std::string text = lifted("z = max(0, t - 1)^3");
  text.erase(text.find("[actuators]"), text.find("[control") - text.find("[actuators]"));
  follow(Loaded(text), 2.0, [](const Sample& s, Integrator&) {
    if (s.t > 1 + 1e-6) {
      EXPECT_NEAR(s.Q_control(0), m * (g + 6 * (s.t - 1)), 1e-6) << s.t;
    }
    EXPECT_NEAR(s.q(0), std::pow(std::max(0.0, s.t - 1), 3), 1e-9);
  });
}

TEST(ControlContacts, a_block_that_sticks_is_pushed_along) {
  for (const double sign : {1.0, -1.0})
    for (const double up : {0.0, 0.2, -0.2}) {
      const Loaded loaded(pushed(fmt::format("x = {}*t^2/4", sign), up));
      // m a = |τ| − μ(m g − up τ), against the way it goes.
      const double a = 0.5,
                   effort = sign > 0 ? (m * a + 0.3 * m * g) / (1 + 0.3 * up) : -(m * a + 0.3 * m * g) / (1 - 0.3 * up);
      const Instant now = accelerate(loaded.system, loaded.start);
      ASSERT_TRUE(now.has_acceleration());
      EXPECT_NEAR(now.control->tau(0), effort, 1e-9);
      follow(loaded, 1.0, [&](const Sample& s, Integrator&) {
        EXPECT_NEAR(s.tau(0), effort, 1e-7);
        EXPECT_NEAR(s.q(0), sign * s.t * s.t / 4, 1e-9);
      });
    }
}

TEST(ControlContacts, a_block_breaks_loose_when_it_must) {
  const Loaded loaded(pushed("x = max(0, t - 1)^3"));
  double slipped = 0.0;
  follow(loaded, 2.0, [&](const Sample& s, Integrator& motion) {
    if (std::abs(s.t - 1) > 1e-6) {
      EXPECT_NEAR(s.tau(0), s.t < 1 ? 0.0 : m * 6 * (s.t - 1) + 0.3 * m * g, 1e-6) << s.t;
    }
    EXPECT_NEAR(s.q(0), std::pow(std::max(0.0, s.t - 1), 3), 1e-9);
    slipped = time_of(motion, EventKind::slip);
  });
  EXPECT_NEAR(slipped, 1.0, 1e-9);
}

TEST(ControlContacts, a_block_is_pushed_along_both_ways_of_a_plane) {
  const Loaded loaded(R"(
coordinates = ["x", "y", "z"]
[dynamics]
kinetic   = "x'^2 + y'^2 + z'^2"
potential = "2*9.81*z"
[constraints.floor]
equation = "z >= 0"
friction = 0.3
slip     = ["x'", "y'"]
[actuators]
east  = { x = "1" }
north = { y = "1" }
[control.x]
equation = "x = 0.3*t^2"
[control.y]
equation = "y = -0.4*t^2"
)");
  follow(loaded, 1.0, [](const Sample& s, Integrator&) {
    EXPECT_NEAR(s.tau(0), 0.6 * (m + 0.3 * m * g), 1e-7);
    EXPECT_NEAR(s.tau(1), -0.8 * (m + 0.3 * m * g), 1e-7);
  });
}

TEST(ControlContacts, of_two_blocks_the_one_that_must_slides) {
  // The lower one is led; the upper one sticks to it while 0.5 g is more than what it needs.
  const Loaded loaded(R"(
coordinates = ["x", "y"]
[dynamics]
kinetic = "x'^2 + y'^2/2"
[constraints]
below   = { friction_force = 8.0, slip = "x'" }
between = { friction_force = 4.0, slip = "y' - x'" }
[actuators]
motor = { x = "1" }
[control.place]
equation = "x = t^2/2"
)");
  follow(loaded, 1.0, [](const Sample& s, Integrator&) {
    EXPECT_NEAR(s.tau(0), 3.0 + 8.0, 1e-7);
    EXPECT_NEAR(s.q(1), s.q(0), 1e-9);
  });
}

TEST(ControlContacts, limits_that_are_too_low_leave_it_where_it_is) {
  // 15 < m g: nothing is done, since nothing helps; and it is said that the requirement is missed, not that nothing influences it.
  const Loaded weak(lifted("z = 0.5*t^2", ", limit = 15"));
  const Instant now = accelerate(weak.system, weak.start);
  ASSERT_TRUE(now.has_acceleration());
  EXPECT_FALSE(now.control->met[0]);
  EXPECT_TRUE(now.control->refused.empty());
  EXPECT_NEAR(now.solution.qdd(0), 0.0, 1e-14);
  follow(weak, 1.0, [](const Sample& s, Integrator&) { EXPECT_NEAR(s.q(0), 0.0, 1e-12); });
  // Enough of it.
  const Loaded strong(lifted("z = max(0, t - 1)^3", ", limit = 40"));
  follow(strong, 1.5,
         [](const Sample& s, Integrator&) { EXPECT_NEAR(s.q(0), std::pow(std::max(0.0, s.t - 1), 3), 1e-9); });
  // A limit that grows: it is lifted from where 10 t = m(g + a) on.
  const Loaded grows(lifted("z'' = 0.5", ", limit = \"10*t\""));
  double released = 0.0;
  follow(grows, 4.0, [&](const Sample&, Integrator& motion) { released = time_of(motion, EventKind::release); });
  EXPECT_GE(released, m * g / 10 - 1e-6);
  EXPECT_LE(released, m * (g + 0.5) / 10 + 1e-6);
}

TEST(ControlContacts, what_no_contact_state_makes_possible_is_refused) {
  const Loaded loaded(lifted("z = -0.5*t^2"));
  const Instant now = accelerate(loaded.system, loaded.start);
  EXPECT_EQ(now.solution.status, SolveStatus::requirements_not_met);
}

TEST(ControlContacts, a_brake_comes_to_stick_beside_a_soft_requirement_that_is_missed) {
  const std::string braked = R"(
coordinates = ["x", "y"]
[dynamics]
kinetic   = "0.75*x'^2 + 0.75*y'^2"
potential = "2.745*x^2 + 2.745*y^2"
force     = { y = "0.1 - 0.2*y'" }
[constraints.held]
equation = "x = 0"
[constraints.rub]
friction_force = 0.703
slip           = "y'"
[start]
position = { y = 0.056 }
velocity = { y = -0.427 }
)";
  const Loaded plain(braked), soft(braked + "[control.r]\nequation = \"x = 0.191\"\nfrequency = 2\nweight = 1.0\n");
  Integrator without = plain.integrator({.to = 1.0, .tolerance = 1e-10});
  const Sample end = run_to_end(without);
  long steps = 0;
  double stuck = 0.0;
  follow(soft, 1.0, [&](const Sample& s, Integrator& motion) {
    steps = motion.statistics().steps, stuck = time_of(motion, EventKind::stick);
    if (s.t == 1.0) {
      EXPECT_NEAR(s.q(1), end.q(1), 1e-10);
    }
  });
  EXPECT_NEAR(stuck, time_of(without, EventKind::stick), 1e-9);
  EXPECT_LE(steps, 2 * without.statistics().steps + 10);
}

TEST(ControlContacts, what_comes_second_is_missed_where_a_contact_is_in_the_way) {
  // A hand above a table, told to go through it: it stays on it, and goes along it as it is told to.
  const std::string hand = R"(
coordinates = ["x", "z"]
[dynamics]
kinetic   = "x'^2 + z'^2"
potential = "2*9.81*z"
[constraints]
table = "z >= 0"
[start]
position = { z = 0.1 }
[actuators]
along = { x = "1" }
lift  = { z = "1" }
[control.place]
equation  = "x = t^2/2"
frequency = 3.0
[control.height]
equation  = "z = 0.1 - 0.3*t"
frequency = 3.0
)";
  const Loaded second(hand + "priority = 2\n");
  follow(second, 1.0, [](const Sample& s, Integrator& motion) {
    EXPECT_NEAR(s.q(0), s.t * s.t / 2, 1e-9);
    EXPECT_GE(s.q(1), -1e-10);
    if (const double met = time_of(motion, EventKind::impact); s.t > met + 1e-6) {
      EXPECT_NEAR(s.q(1), 0.0, 1e-9);
      EXPECT_NEAR(s.tau(0), 2.0, 1e-7);
      EXPECT_NEAR(s.tau(1), 0.0, 1e-7);  // nothing helps, and nothing costs least
    }
  });
  Integrator motion = second.integrator({.to = 1.0, .tolerance = 1e-10});
  while (motion.advance()) {
  }
  bool said = false;
  for (const std::string& note : motion.certificate().notes)
    said |= note.find("`height` is not met beside `table`") != std::string::npos;
  EXPECT_TRUE(said);
  // What comes first is refused, by name, and what was computed until then is in balance.
  const Loaded first(hand);
  Integrator stopped = first.integrator({.to = 1.0, .tolerance = 1e-10});
  while (stopped.advance()) {
  }
  EXPECT_EQ(stopped.stop().reason, StopReason::contradiction);
  EXPECT_NE(stopped.stop().message.find("`height` misses what is asked for by"), std::string::npos)
      << stopped.stop().message;
  const Certificate certificate = stopped.certificate();
  EXPECT_LE(std::abs(certificate.balance), certificate.balance_allowed);
  EXPECT_TRUE(certificate.holds);
}

/// Two masses that are coupled, one of them at a wall: of all that meets the requirement what costs least and has the wall neither entered nor
/// pulling, in closed form. Where the wall would be pressed upon if it were open and would pull if it held, control keeps it just closed.
TEST(ControlContacts, what_control_keeps_closed_neither_pushes_nor_pulls) {
  std::mt19937_64 random(815);
  const auto draw = [&](double from, double to) { return std::uniform_real_distribution<double>(from, to)(random); };
  int carried = 0, pressed = 0, opened = 0;
  for (unsigned trial = 0; trial < num_trials(200); ++trial) {
    SCOPED_TRACE("seed 815, trial " + std::to_string(trial));
    const bool actuators = trial % 2 == 0;
    const double mx = draw(1, 3), my = draw(1, 3), c = draw(-0.8, 0.8), fx = draw(-2, 2), fy = draw(-2, 2),
                 wish = draw(-6, 6);
    std::string text = fmt::format(R"(
coordinates = ["x", "y"]
[dynamics]
kinetic = "{}*x'^2/2 + {}*y'^2/2 + {}*x'*y'"
force   = {{ x = "{}", y = "{}" }}
[constraints]
wall = "y <= 0"
[control.place]
equation = "x'' = {}"
)",
                                   mx, my, c, fx, fy, wish);
    if (actuators) text += "[actuators]\nalong = { x = \"1\" }\nacross = { y = \"1\" }\n";
    const Loaded loaded(text);
    const Instant now = accelerate(loaded.system, loaded.start);
    ASSERT_TRUE(now.has_acceleration());
    ASSERT_TRUE(now.control->met[0]);
    const Eigen::Matrix2d M{{mx, c}, {c, my}};
    const Eigen::Vector2d Q{fx, fy};
    // Without control.
    const double det = mx * my - c * c;
    Eigen::Vector2d first{(my * fx - c * fy) / det, (mx * fy - c * fx) / det};
    const bool holds = first(1) > 0.0;
    if (holds) first = {fx / mx, 0.0};
    const double push = holds ? fy - c * first(0) : 0.0;
    Eigen::Vector2d u, qdd{wish, 0.0};
    double wall = 0.0;
    if (actuators) {
      // Open: |M q̈ − Q|² is least over y″ ≤ 0; closed: the wall carries what it can.
      const Eigen::Vector2d base = M * qdd - Q, along = M.col(1);
      const double open = std::min(0.0, -along.dot(base) / along.squaredNorm());
      const Eigen::Vector2d if_open = base + open * along;
      wall = std::max(0.0, -base(1));
      u = {base(0), base(1) + wall};
      // Where all is met with the contact as it is without control, that is taken.
      const bool stays = holds && base(1) < 0.0, leaves = !holds && open < 0.0;
      if (leaves || (!stays && if_open.squaredNorm() < u.squaredNorm())) u = if_open, qdd(1) = open, wall = 0.0;
    } else {
      if (!holds) qdd(1) = std::min(0.0, first(1) - c * (wish - first(0)) / my);
      u = M * (qdd - first), wall = push;
    }
    carried += qdd(1) == 0.0 && wall == 0.0, pressed += wall > 0.0, opened += qdd(1) < 0.0;
    for (int i = 0; i < 2; ++i) {
      EXPECT_NEAR(now.solution.qdd(i), qdd(i), 1e-10);
      EXPECT_NEAR(now.solution.Q_control(i), u(i), 1e-9);
    }
    EXPECT_NEAR(now.contacts[0].normal, wall, 1e-9);
    EXPECT_EQ(now.contacts[0].acts(), qdd(1) == 0.0);
    // And as a motion, in which nothing changes.
    follow(loaded, 0.5, [&](const Sample& s, Integrator&) {
      EXPECT_NEAR(s.q(0), wish * s.t * s.t / 2, 1e-9);
      EXPECT_NEAR(s.q(1), qdd(1) * s.t * s.t / 2, 1e-9);
      if (qdd(1) < 0.0) return;
      for (int i = 0; i < 2; ++i) EXPECT_NEAR(s.Q_control(i), u(i), 1e-8);
      EXPECT_NEAR(s.multipliers(0), wall, 1e-8);
      EXPECT_NEAR(s.cost, now.control->cost, 1e-8);
    });
  }
  EXPECT_GE(carried, static_cast<int>(num_trials(5)));
  EXPECT_GT(pressed, static_cast<int>(num_trials(20)));
  EXPECT_GT(opened, static_cast<int>(num_trials(20)));
}

TEST(ControlContacts, a_contact_that_control_keeps_closed_is_left_when_it_may) {
  // Samples are what an instant at their states says; the wall never pulls, beside equations that follow from others too.
  for (const std::string more :
       {"", "[constraints.same]\nequation = \"z = 0.3*x\"\n[constraints.again]\nequation = \"2*z = 0.6*x\"\n"})
    for (const std::string actuators : {"", "[actuators]\na = { x = \"1\" }\nb = { y = \"1\", z = \"-0.4\" }\n"}) {
      std::string text = R"(
coordinates = ["x", "y", "z"]
[dynamics]
kinetic   = "0.7*x'^2 + 0.8*y'^2 + 0.7*z'^2 + 0.25*cos(x - y)*x'*y'"
potential = "1.5*x^2 + 1.5*y^2 + 1.5*z^2 + 2.4*x^2 - 4.8*x*y + 2.4*y^2"
force     = { x = "0.8 - 0.2*x'", y = "0.9*sin(3*t)-0.1*y'", z = "-0.3*z'" }
[constraints.wall]
equation = "y <= 0.05"
)" + more + actuators + R"(
[control.place]
equation  = "0.16*sin(t) = x"
frequency = 3.4
)";
      const Loaded loaded(text);
      int closed = 0;
      follow(loaded, 4.0, [&](const Sample& s, Integrator&) {
        EXPECT_GE(s.multipliers(0), -1e-9);
        if (std::abs(s.q(1) - 0.05) > 1e-9 || std::abs(s.qd(1)) > 1e-9) return;
        const Instant now = accelerate(loaded.system, {s.t, s.q, s.qd}, {.diagnose = false});
        if (!now.has_acceleration() || !now.contacts[0].acts()) return;
        ++closed;
        for (int i = 0; i < 3; ++i) {
          EXPECT_NEAR(s.qdd(i), now.solution.qdd(i), 1e-6) << s.t;
          EXPECT_NEAR(s.Q_control(i), now.solution.Q_control(i), 1e-6) << s.t;
        }
        EXPECT_NEAR(s.cost, now.control->cost, 1e-5) << s.t;
      });
      EXPECT_GT(closed, 10);
    }
}

/// Random planes, masses and paths: the instant is what a search over all that contacts may do gives, here by hand for one contact.
TEST(ControlContacts, contacts_of_a_model_that_is_believed_do_what_that_model_has_them_do) {
  // It believes that its force lifts the block, which stays where it is, lighter by that force, and rubs less.
  const double load = 5.0, believed = 3.0, wanted = 0.4, mu = 0.5, force = believed + wanted;
  const Loaded loaded(R"(
coordinates = ["x", "y"]
[parameters]
load = 5.0
mu   = 0.5
[dynamics]
kinetic   = "(x'^2 + y'^2)/2"
potential = "load*y"
[constraints.floor]
equation = "y >= 0"
friction = "mu"
slip     = "x'"
[actuators]
lift = { y = "1" }
[control.height]
equation  = "y = 0.1"
frequency = 2.0
[nominal]
load = 3.0
[start]
velocity = { x = 1.0 }
)");
  follow(loaded, 2.0, [&](const Sample& s, Integrator&) {
    const double braking = mu * (load - force), moved = std::min(s.t, 1.0 / braking);
    EXPECT_NEAR(s.tau(0), force, 1e-9);
    EXPECT_NEAR(s.q(0), moved - braking * moved * moved / 2, 1e-8);
    EXPECT_NEAR(s.q(1), 0.0, 1e-10);
  });
}

TEST(ControlContacts, what_a_controller_drives_to_and_fro_is_given_up_with_the_reason) {
  // Pressed upon the floor the block rubs, so it is lifted; in the air nothing can be done for it, so it is let go.
  const Loaded loaded(R"(
coordinates = ["x", "y"]
[parameters]
m = 1.2159
k = 2.388
mu = 0.3636
load = 1.1173
[dynamics]
kinetic = "m*x'^2/2 + 1.6027*y'^2/2 + 0.1145*cos(x - y)*x'*y'"
potential = "k*(x^2 + y^2)/2 + load*y"
force = { x = "-0.2799*x'", y = "-0.2866*y'" }
[constraints.floor]
equation = "y >= 0"
friction = "mu"
slip = "x'"
[actuators]
a = { y = "1", limit = 4.1636 }
[control.r]
equation = "x = 0.2981*sin(2.328*t) - 0.0175"
frequency = 2.9551
weight = 1.3427
[nominal]
m = 0.7271
mu = 1.9847
load = 1.372
[start]
position = { y = 0.2748 }
)");
  Integrator motion = loaded.integrator({.to = 1.5, .tolerance = 1e-8});
  double before = motion.t();
  while (motion.advance()) {
    if (motion.t() - before < 1e-9) continue;  // on the way to what happens there
    const Sample s = motion.sample(0.5 * (before + motion.t()));
    const Instant now = accelerate(loaded.system, {s.t, s.q, s.qd}, {.diagnose = false});
    before = motion.t();
    if (!now.has_acceleration()) continue;  // just before an impact
    EXPECT_LE((s.qdd - now.solution.qdd).norm(), 1e-8 * (1.0 + now.solution.qdd.norm())) << "at t = " << s.t;
  }
  EXPECT_EQ(motion.stop().reason, StopReason::sliding);
  EXPECT_NE(motion.stop().message.find("which believes in another model"), std::string::npos) << motion.stop().message;
  EXPECT_GT(motion.t(), 0.7);
}

TEST(ControlContacts, random_instants_obey_the_laws_of_contact_and_control) {
  std::mt19937_64 random(4711);
  const auto draw = [&](double from, double to) { return std::uniform_real_distribution<double>(from, to)(random); };
  int lifted_off = 0, slid = 0, stuck = 0;
  for (unsigned trial = 0; trial < num_trials(300); ++trial) {
    SCOPED_TRACE("seed 4711, trial " + std::to_string(trial));
    const double mass = draw(0.5, 3), mu = draw(0.1, 0.8), up = draw(-0.4, 0.4), wish = draw(-2, 2) * (trial % 4 != 0);
    const bool lift = trial % 3 == 0;
    const double rise = lift ? draw(0.1, 2) : 0.0;
    std::string text = fmt::format(R"(
coordinates = ["x", "z"]
[dynamics]
kinetic   = "{0}*(x'^2 + z'^2)/2"
potential = "{0}*9.81*z"
[constraints.floor]
equation = "z >= 0"
friction = {1}
slip     = "x'"
[actuators]
rope = {{ x = "1", z = "{2}" }}
)",
                                   mass, mu, up);
    if (lift) text += "hoist = { z = \"1\" }\n";
    text += fmt::format("[control.x]\nequation = \"x'' = {}\"\n", wish);
    if (lift) text += fmt::format("[control.z]\nequation = \"z'' = {}\"\n", rise);
    const Loaded loaded(text);
    const Instant now = accelerate(loaded.system, loaded.start);
    ASSERT_TRUE(now.has_acceleration());
    const double tau = now.control->tau(0);
    EXPECT_NEAR(now.solution.qdd(0), wish, 1e-9);
    if (lift) {
      ++lifted_off;
      EXPECT_NEAR(tau, mass * wish, 1e-9);
      EXPECT_NEAR(now.control->tau(1), mass * (9.81 + rise) - up * tau, 1e-9);
      continue;
    }
    if (wish == 0.0) {
      ++stuck;
      EXPECT_NEAR(tau, 0.0, 1e-12);
      continue;
    }
    const double sign = wish > 0 ? 1.0 : -1.0, sliding = (mass * wish + sign * mu * mass * 9.81) / (1 + sign * mu * up);
    if (mass * 9.81 - up * sliding > 0.0) {
      ++slid;
      EXPECT_NEAR(tau, sliding, 1e-8 * (1 + std::abs(sliding)));
    }
  }
  EXPECT_GT(lifted_off, static_cast<int>(num_trials(60)));
  EXPECT_GT(slid, static_cast<int>(num_trials(60)));
  EXPECT_GT(stuck, static_cast<int>(num_trials(30)));
}

}  // namespace
}  // namespace mechanician
