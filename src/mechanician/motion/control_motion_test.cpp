// Motions under control: split, limits, one-sided requirements, samples, models that are believed; against closed forms.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "mechanician/instant/accelerate.hpp"
#include "mechanician/motion/control_for_test.hpp"
#include "mechanician/motion/integrator.hpp"

namespace mechanician {
namespace {

const std::string crane = R"(
coordinates = ["trolley", "x", "y"]
[dynamics]
kinetic   = "5*trolley'^2 + (x'^2 + y'^2)/2"
potential = "9.81*y"
[constraints]
rope = "(x - trolley)^2 + y^2 = 4"
[control.load]
equation  = "x = 0.5*t"
frequency = 2.0
[start]
position = { x = -1.2, y = -1.6 }
)";

/// Every sample says what the general solver says at its state, and the balance holds.
void expect_as_at_instants(const std::string& text, double to) {
  const Loaded loaded(text);
  Integrator motion = loaded.integrator({.to = to, .tolerance = 1e-10});
  ASSERT_TRUE(motion.stop().message.empty()) << motion.stop().message;
  int count = 0;
  while (motion.advance()) {
    const Sample s = motion.sample(motion.t());
    const Instant now = accelerate(loaded.system, {s.t, s.q, s.qd}, {.diagnose = false});
    ASSERT_TRUE(now.has_acceleration());
    const double size = 1e-8 * (1 + now.solution.qdd.norm() + now.solution.Q_control.norm());
    EXPECT_LE((s.qdd - now.solution.qdd).norm(), size);
    EXPECT_LE((s.Q_control - now.solution.Q_control).norm(), size);
    EXPECT_LE((s.Qc - now.solution.Qc).norm(), size);
    EXPECT_LE((s.Qc_i - now.solution.Qc_i).norm(), size);
    EXPECT_LE((s.lambda - now.solution.multipliers).norm(), size);
    EXPECT_NEAR(s.cost, now.control->cost, size * (1 + now.control->cost));
    if (now.control->tau.size() > 0) {
      EXPECT_LE((s.tau - now.control->tau).norm(), size);
    }
    ++count;
  }
  EXPECT_GT(count, 5);
  expect_done(motion, to);
}

TEST(ControlMotion, without_actuators) { expect_as_at_instants(crane, 1.0); }

TEST(ControlMotion, by_an_actuator) {
  expect_as_at_instants(crane + "[actuators]\nwinch = { trolley = \"1\" }\n", 0.3);
}

TEST(ControlMotion, beside_forces_that_depend_on_reactions) {
  expect_as_at_instants(crane + "[nonideal]\nx = \"-0.1*abs(ideal(y))*x'\"\n", 0.6);
  expect_as_at_instants(crane + "[actuators]\nwinch = { trolley = \"1\" }\nload = { x = \"1\", y = \"0.5\" }\n" +
                            "[nonideal]\nx = \"-0.1*abs(ideal(y))*x'\"\n",
                        0.4);
}

TEST(ControlMotion, a_model_that_is_believed_has_reactions_of_its_own) {
  // Its rod pulls where the one that there is pushes: the friction of both is a kink.
  const Loaded loaded(R"toml(
coordinates = ["x", "y", "z"]
[parameters]
m = 0.6
k = 4.0
[dynamics]
kinetic   = "m*x'^2/2 + y'^2/2 + z'^2/2 + 0.1*cos(x - y)*x'*y'"
potential = "k*x^2/2 + k*z^2/2 + y^2"
force     = { x = "0.6", z = "-0.4" }
[constraints.rod]
equation = "z = 0.7*x"
[nonideal]
x = "-0.2*abs(ideal(z))*tanh(x')"
[actuators]
a = { x = "1", limit = 2.6, cost = 0.7 }
b = { y = "1", limit = [-1.1, 1.7] }
c = { z = "1" }
[control.place]
equation  = "x = 0.3*sin(1.6*t)"
frequency = 2.5
[nominal]
m = 1.4
k = 1.7
[start]
position = { x = 0.2, y = -0.3, z = 0.14 }
velocity = { x = -0.4, y = -0.4, z = -0.28 }
)toml");
  Integrator motion = loaded.integrator({.to = 1.5, .tolerance = 1e-10});
  const std::shared_ptr<const System> believed = loaded.system.nominal();
  int other = 0, count = 0;
  for (int k = 1; k < 150; ++k) {
    while (motion.t() < 0.01 * k) ASSERT_TRUE(motion.advance()) << motion.stop().message;
    const Sample s = motion.sample(0.01 * k);
    const State state{s.t, s.q, s.qd};
    const Instant now = accelerate(loaded.system, state, {.diagnose = false});
    const Instant of_model = accelerate(*believed, state, {.diagnose = false, .believed = true});
    ASSERT_TRUE(now.has_acceleration() && of_model.has_acceleration());
    // Where its reaction passes zero either side may be right.
    const double reaction = of_model.solution.multipliers(0);
    if (std::abs(reaction) < 0.05) continue;
    ++count, other += reaction * s.lambda(0) < 0.0;
    EXPECT_LE((s.tau - now.control->tau).norm(), 1e-8 * (1 + s.tau.norm())) << s.t;
    EXPECT_LE((s.qdd - now.solution.qdd).norm(), 1e-8 * (1 + s.qdd.norm())) << s.t;
  }
  EXPECT_GT(count, 100);
  EXPECT_GT(other, 2);
}

TEST(ControlMotion, with_priorities_and_weights) {
  expect_as_at_instants(crane + R"([control.still]
equation = "trolley = 0"
frequency = 1
priority = 2
[control.low]
equation = "y = -1.9"
frequency = 1
weight = 0.5
)",
                        0.5);
}

const std::string slider = R"(
coordinates = ["x"]
[dynamics]
kinetic = "x'^2/2"
[actuators]
motor = { x = "1", limit = 0.5 }
[control.place]
equation  = "x = 1"
frequency = 2.0
)";

TEST(ControlMotion, a_motor_leaves_its_limit_where_it_must) {
  const Loaded loaded(slider);
  Integrator motion = loaded.integrator({.to = 4.0, .tolerance = 1e-11});
  const Sample end = run_to_end(motion);
  // ẍ = 1/2 until 4(1 − x) − 4ẋ = 1/2: t² + 2t = 7/2.
  const double t1 = std::sqrt(4.5) - 1.0;
  ASSERT_EQ(motion.events().size(), 1u);
  EXPECT_EQ(motion.events()[0].kind, EventKind::released);
  EXPECT_EQ(motion.events()[0].name, "motor");
  EXPECT_NEAR(motion.events()[0].time, t1, 1e-9);
  const double A = t1 * t1 / 4 - 1, B = t1 / 2 + 2 * A, s = 4.0 - t1;
  EXPECT_NEAR(end.q(0), 1 + (A + B * s) * std::exp(-2 * s), 1e-9);
  EXPECT_NEAR(end.works.control, 0.5 * end.qd(0) * end.qd(0), 1e-10);
  EXPECT_TRUE(motion.certificate().holds);
}

TEST(ControlMotion, a_motor_comes_to_both_limits) {
  const Loaded loaded(slider + "[start]\nvelocity = { x = 3.0 }\n");
  Integrator motion = loaded.integrator({.to = 60.0, .tolerance = 1e-10});
  double largest = 0.0;
  while (motion.advance()) largest = std::max(largest, std::abs(motion.sample(motion.t()).tau(0)));
  EXPECT_LE(largest, 0.5 * (1 + 1e-9));
  EXPECT_TRUE(motion.certificate().holds);
  int saturated = 0, released = 0;
  for (const MotionEvent& e : motion.events())
    saturated += e.kind == EventKind::saturated, released += e.kind == EventKind::released;
  EXPECT_GE(released, 2);
  EXPECT_GE(saturated, 1);
  EXPECT_NEAR(motion.sample(motion.t()).q(0), 1.0, 1e-3);
}

TEST(ControlMotion, a_one_sided_requirement_acts_when_it_must) {
  // Falls with ÿ = −1 until ÿ + 2ẏ + y = 0 asks for more: −1 − 2t + (2 − t²/2) = 0.
  const Loaded loaded(R"(
coordinates = ["y"]
[dynamics]
kinetic = "y'^2/2"
force = { y = "-1" }
[control.floor]
equation = "y >= 0"
frequency = 1
[start]
position = { y = 2.0 }
)");
  Integrator motion = loaded.integrator({.to = 5.0, .tolerance = 1e-11});
  const Sample end = run_to_end(motion);
  const double t1 = std::sqrt(6.0) - 2.0;
  ASSERT_GE(motion.events().size(), 1u);
  EXPECT_EQ(motion.events()[0].kind, EventKind::acts);
  EXPECT_NEAR(motion.events()[0].time, t1, 1e-9);
  // From there on e″ + 2e′ + e = 0.
  const double A = 2 - t1 * t1 / 2, B = -t1 + A, s = 5.0 - t1;
  EXPECT_NEAR(end.q(0), (A + B * s) * std::exp(-s), 1e-9);
}

TEST(ControlMotion, a_law_of_velocities_may_be_robust) {
  // v′ = −(v − 1) − 2 f((v − 1)/0.1), f the sign outside of the layer: from v = 0 on 3 − v.
  const Loaded loaded(R"(
coordinates = ["x"]
[dynamics]
kinetic = "x'^2/2"
[control]
robust = { gain = 2.0, layer = 0.1 }
[control.speed]
equation = "x' = 1"
law      = "e' + e = 0"
)");
  Integrator motion = loaded.integrator({.to = 0.3, .tolerance = 1e-11});
  const Sample end = run_to_end(motion);
  EXPECT_NEAR(end.qd(0), 3 * (1 - std::exp(-0.3)), 1e-9);
  expect_done(motion, 0.3);
}

TEST(ControlMotion, sampled_control_holds_its_effort) {
  const Loaded loaded(sampled_slider);
  Integrator motion = loaded.integrator({.to = 2.0, .tolerance = 1e-10});
  const Sample end = run_to_end(motion);
  double x = 0, v = 0;
  for (int k = 0; k < 8; ++k) {
    const double u = 4 * (1 - x) - 4 * v;
    x += 0.25 * v + u / 32, v += 0.25 * u;
  }
  EXPECT_NEAR(end.q(0), x, 1e-12);
  EXPECT_NEAR(end.qd(0), v, 1e-12);
}

/// At a time between samples a force changes.
struct Change {
  double t, force;
};
/// x″ = u + force with u held from 0.25 k on, exactly, from t = 0 at rest.
std::pair<double, double> by_samples(double to, const std::vector<Change>& changes = {}) {
  double t = 0, x = 0, v = 0, u = 4, force = 0;
  const auto go = [&](double end) {
    const double h = end - t;
    x += h * v + h * h * (u + force) / 2, v += h * (u + force), t = end;
  };
  std::size_t next = 0;
  for (int k = 1;; ++k) {
    const double sample = 0.25 * k;
    for (; next < changes.size() && changes[next].t <= std::min(sample, to); ++next)
      go(changes[next].t), force = changes[next].force;
    if (to <= sample) {
      go(to);
      return {x, v};
    }
    go(sample);
    u = 4 * (1 - x) - 4 * v - force;
  }
}

TEST(ControlMotion, samples_stay_on_their_grid_over_events) {
  for (const std::string& actuators : {std::string(), std::string("[actuators]\nmotor = { x = \"1\" }\n")}) {
    std::string text = sampled_slider + actuators + R"([modes]
push = 0
[events]
first  = { when = "t - 0.6", do = "push = 0.7" }
second = { when = "t - 1.1", do = "push = -0.4" }
)";
    text.insert(text.find("[control.place]"), "force = { x = \"push\" }\n");
    const Loaded loaded(text);
    Integrator motion = loaded.integrator({.to = 2.1, .tolerance = 1e-10});
    const Sample end = run_to_end(motion);
    EXPECT_EQ(motion.stop().reason, StopReason::reached_end) << motion.stop().message;
    const auto [x, v] = by_samples(2.1, {{0.6, 0.7}, {1.1, -0.4}});
    EXPECT_NEAR(end.q(0), x, 1e-11);
    EXPECT_NEAR(end.qd(0), v, 1e-11);
  }
}

TEST(ControlMotion, samples_go_on_from_where_another_run_has_ended) {
  const Loaded loaded(sampled_slider);
  Integrator whole = loaded.integrator({.to = 2.1, .tolerance = 1e-10});
  const Sample end = run_to_end(whole);
  Integrator first = loaded.integrator({.to = 1.1, .tolerance = 1e-10});
  const Sample there = run_to_end(first);
  MotionOptions options{.to = 2.1, .tolerance = 1e-10};
  options.sampled = {0.0, {there.Q_control(0)}};
  Integrator second(loaded.system, {there.t, there.q, there.qd}, options);
  const Sample again = run_to_end(second);
  EXPECT_NEAR(again.q(0), end.q(0), 1e-12);
  EXPECT_NEAR(again.qd(0), end.qd(0), 1e-12);
  EXPECT_NEAR(end.q(0), by_samples(2.1).first, 1e-11);
}

TEST(ControlMotion, a_state_that_begins_at_zero_takes_no_more_steps_beside_an_actuator) {
  const std::string text = R"(
coordinates = ["x"]
[dynamics]
kinetic = "x'^2/2"
[states]
z = { rate = "x - z", start = 0 }
w = { rate = "z - 2*w", start = 0 }
[control.place]
equation = "x = t^2"
)";
  const auto run = [](const std::string& model) {
    const Loaded loaded(model);
    Integrator motion = loaded.integrator({.to = 2.0, .tolerance = 1e-10});
    const Sample end = run_to_end(motion);
    // z′ = t² − z.
    EXPECT_NEAR(end.q(1), 4 - 4 + 2 - 2 * std::exp(-2.0), 1e-9);
    return motion.statistics().steps + motion.statistics().rejected;
  };
  const long without = run(text), with = run(text + "[actuators]\nmotor = { x = \"1\" }\n");
  EXPECT_LE(with, without + without / 4) << without;
}

TEST(ControlMotion, the_error_that_was_reached_is_that_of_the_second_half_of_the_run_that_was_made) {
  const Loaded loaded(R"(
coordinates = ["x"]
[dynamics]
kinetic = "x'^2/2"
[control]
robust = { gain = 1e-9, layer = 1.0 }
[control.place]
equation  = "x = 0"
frequency = 1.0
[start]
position = { x = 1 }
[run]
to = 100.0
)");
  for (const double to : {1.0, 4.0, 10.0}) {
    Integrator motion = loaded.integrator({.to = to, .tolerance = 1e-10});
    run_to_end(motion);
    // x = (1 + t)e⁻ᵗ, which falls.
    const double half = to / 2;
    ASSERT_EQ(motion.summary().front().name, "place_error");
    EXPECT_NEAR(motion.summary().front().value, (1 + half) * std::exp(-half), 1e-8) << to;
  }
}

TEST(ControlMotion, a_controller_may_believe_in_another_mass) {
  const Loaded loaded(R"(
coordinates = ["x"]
[parameters]
m = 2.0
[dynamics]
kinetic = "m*x'^2/2"
[control.place]
equation  = "x = 1"
frequency = 2.0
[nominal]
m = 1.5
)");
  Integrator motion = loaded.integrator({.to = 2.0, .tolerance = 1e-11});
  const Sample end = run_to_end(motion);
  // 2ë = −1.5(4ė + 4e): ë + 3ė + 3e = 0.
  const double w = std::sqrt(3.0) / 2, t = 2.0;
  EXPECT_NEAR(end.q(0), 1 - std::exp(-1.5 * t) * (std::cos(w * t) + 1.5 / w * std::sin(w * t)), 1e-9);
}

}  // namespace
}  // namespace mechanician
