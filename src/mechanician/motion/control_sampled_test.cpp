// Sampled control beside contacts: between samples the control force is a given one. Against runs without control, one for each sample,
// in which the effort that an instant asks for is an input; and against closed forms.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "mechanician/base/trials_for_test.hpp"
#include "mechanician/instant/accelerate.hpp"
#include "mechanician/motion/control_for_test.hpp"
#include "mechanician/motion/integrator.hpp"

namespace mechanician {
namespace {

using Eigen::VectorXd;

/// A model with sampled control, without samples, and with given forces.
struct Sampled {
  std::string dynamics;                ///< with FORCES in the place of what actuators do
  std::vector<std::string> actuators;  ///< coordinates that they push
  std::string control;
  double every = 0.1;
  std::string limit = {};

  std::string text() const {
    std::string text = dynamics;
    text.replace(text.find("FORCES"), 6, "");
    text += "[actuators]\n";
    for (std::size_t i = 0; i < actuators.size(); ++i)
      text += fmt::format("a{} = {{ {} = \"1\"{} }}\n", i, actuators[i], limit);
    return text + control;
  }
  Loaded controlled() const { return Loaded(text() + fmt::format("[control]\nevery = {}\n", every)); }
  Loaded at_once() const { return Loaded(text()); }
  Loaded given(const VectorXd& tau) const {
    std::string text = dynamics, forces = "force = { ";
    for (std::size_t i = 0; i < actuators.size(); ++i)
      forces += fmt::format("{} = \"{:.17g}\", ", actuators[i], tau(static_cast<Eigen::Index>(i)));
    forces.resize(forces.size() - 2);
    text.replace(text.find("FORCES"), 6, forces + " }\n");
    return Loaded(text);
  }
};

/// The motion of sampled control is that of a chain of runs.
void expect_as_chain(const Sampled& model, double to, double within, int least_events = 0) {
  const Loaded loaded = model.controlled(), at_once = model.at_once();
  Integrator motion = loaded.integrator({.to = to, .tolerance = 1e-11});
  ASSERT_FALSE(motion.refusal()) << motion.refusal()->message;
  State state = loaded.start;
  for (int k = 0; k * model.every < to - 1e-12; ++k) {
    SCOPED_TRACE(fmt::format("sample {}", k));
    const double until = std::min(to, (k + 1) * model.every);
    const Instant now = accelerate(at_once.system, state, {.diagnose = false});
    ASSERT_TRUE(now.has_acceleration());
    const Loaded plain = model.given(now.control->tau);
    Integrator part(plain.system, state, {.to = until, .tolerance = 1e-11});
    ASSERT_FALSE(part.refusal()) << part.refusal()->message;
    const Sample end = run_to_end(part);
    ASSERT_EQ(part.stop().reason, StopReason::reached_end) << part.stop().message;
    while (motion.t() < until - 1e-9) ASSERT_TRUE(motion.advance()) << motion.stop().message;
    ASSERT_NEAR(motion.t(), until, 1e-12);
    const Sample sampled = motion.sample(motion.t());
    for (Eigen::Index i = 0; i < end.q.size(); ++i) {
      EXPECT_NEAR(sampled.q(i), end.q(i), within);
      EXPECT_NEAR(sampled.qd(i), end.qd(i), within);
    }
    for (Eigen::Index i = 0; i < now.control->tau.size(); ++i)
      EXPECT_NEAR(sampled.tau(i), now.control->tau(i), 1e3 * within * (1 + std::abs(now.control->tau(i))));
    state = {until, end.q, end.qd};
  }
  while (motion.advance()) {
  }
  expect_done(motion, to);
  EXPECT_GE(std::ssize(motion.events()), least_events);
}

TEST(ControlSampled, a_block_leaves_the_floor_at_a_sample) {
  const Loaded loaded(lifted("z = max(0, t - 1)^3") + "frequency = 2.0\n[control]\nevery = 0.375\n");
  // On the floor until the first sample that asks for more; then z'' is constant from sample to sample.
  double z = 0.0, v = 0.0, a = 0.0;
  Integrator motion = loaded.integrator({.to = 3.0, .tolerance = 1e-11});
  for (int k = 0; k < 8; ++k) {
    const double t = 0.375 * k, s = std::max(0.0, t - 1);
    a = 6 * s + 4 * (3 * s * s - v) + 4 * (s * s * s - z);
    if (k < 3) a = 0.0;
    z += 0.375 * v + 0.5 * a * 0.375 * 0.375, v += 0.375 * a;
    while (motion.t() < 0.375 * (k + 1) - 1e-9) ASSERT_TRUE(motion.advance()) << motion.stop().message;
    const Sample now = motion.sample(motion.t());
    EXPECT_NEAR(now.q(0), z, 1e-10) << k;
    EXPECT_NEAR(now.qd(0), v, 1e-10) << k;
    EXPECT_NEAR(now.tau(0), k < 3 ? 0.0 : 2 * (9.81 + a), 1e-8) << k;
  }
  ASSERT_FALSE(motion.events().empty());
  EXPECT_EQ(motion.events().front().kind, EventKind::release);
  EXPECT_NEAR(motion.events().front().time, 1.125, 1e-12);
  EXPECT_TRUE(motion.certificate().holds);
}

const std::string block = R"(
coordinates = ["x", "z"]
[dynamics]
kinetic   = "x'^2 + z'^2"
potential = "2*9.81*z"
FORCES
[constraints.floor]
equation = "z >= 0"
friction = 0.3
slip     = "x'"
)";

TEST(ControlSampled, a_block_sticks_and_slides) {
  expect_as_chain({block, {"x"}, "[control.place]\nequation = \"x = 0.2*sin(3*t)\"\nfrequency = 4.0\n", 0.1}, 2.0, 1e-8,
                  3);
}

TEST(ControlSampled, beside_a_brake) {
  const std::string braked = R"(
coordinates = ["x", "y"]
[dynamics]
kinetic   = "x'^2 + y'^2/2"
potential = "3*(x - y)^2"
FORCES
[constraints.rub]
friction_force = 0.7
slip           = "y'"
[start]
velocity = { y = 0.8 }
)";
  expect_as_chain({braked, {"x"}, "[control.place]\nequation = \"x = 0.5*sin(2*t)\"\nfrequency = 3.0\n", 0.05}, 3.0,
                  1e-8, 2);
}

TEST(ControlSampled, within_limits_beside_a_stop) {
  // The arm is driven against its stop and away from it again; the motor is too weak for what is asked for.
  const std::string arm = R"(
coordinates = ["a", "b"]
[dynamics]
kinetic   = "a'^2 + b'^2/2 + cos(a - b)*a'*b'/2"
potential = "-2*cos(b) - 4*cos(a) + 6"
FORCES
[constraints]
stop = { equation = "b - a <= 0.2", restitution = 0.4 }
)";
  for (const std::string& limit : {std::string(), std::string(", limit = 15")})
    expect_as_chain({arm,
                     {"a", "b"},
                     "[control.first]\nequation = \"a = 0.3*sin(2*t)\"\nfrequency = 4.0\n"
                     "[control.second]\nequation = \"b = 1.2*sin(3*t)\"\nfrequency = 4.0\nweight = 1.0\n",
                     0.04,
                     limit},
                    2.0, 1e-6, 2);
}

TEST(ControlSampled, without_actuators_too) {
  const Loaded loaded(R"(
coordinates = ["x"]
[dynamics]
kinetic = "x'^2/2"
[constraints]
wall = { equation = "x <= 0.5", restitution = 0.5 }
[control.place]
equation  = "x = 1"
frequency = 2.0
weight    = 1.0
[control]
every = 0.25
)");
  Integrator motion = loaded.integrator({.to = 1.0, .tolerance = 1e-11});
  ASSERT_FALSE(motion.refusal()) << motion.refusal()->message;
  double x = 0, v = 0;
  for (int k = 0; k < 4; ++k) {
    const double u = 4 * (1 - x) - 4 * v;
    double left = 0.25;
    for (int bounces = 0; bounces < 50; ++bounces) {
      const double gap = 0.5 - x, root = v * v + 2 * u * gap;
      const double when = root < 0 ? -1 : u > 0 ? (std::sqrt(root) - v) / u : 2 * gap / (v + std::sqrt(root));
      if (!(when > 1e-15 && when < left)) break;
      x = 0.5, v = -0.5 * (v + u * when), left -= when;
    }
    x += left * v + left * left * u / 2, v += left * u;
    while (motion.t() < 0.25 * (k + 1) - 1e-9) ASSERT_TRUE(motion.advance()) << motion.stop().message;
    EXPECT_NEAR(motion.sample(motion.t()).q(0), x, 1e-9) << k;
    EXPECT_NEAR(motion.sample(motion.t()).qd(0), v, 1e-9) << k;
  }
  EXPECT_TRUE(motion.certificate().holds);
}

TEST(ControlSampled, motions_are_taken_up_again) {
  const Sampled model{block, {"x"}, "[control.place]\nequation = \"x = 0.2*sin(3*t)\"\nfrequency = 4.0\n", 0.1};
  const Loaded loaded = model.controlled();
  Integrator whole = loaded.integrator({.to = 2.0, .tolerance = 1e-10});
  const std::vector<double> end = numbers_of(run_to_end(whole));
  Integrator first = loaded.integrator({.to = 2.0, .tolerance = 1e-10});
  while (first.t() < 0.93) ASSERT_TRUE(first.advance());
  Integrator second = loaded.integrator({.to = 2.0, .tolerance = 1e-10});
  second.restore(first.checkpoint(), {}, {});
  EXPECT_EQ(numbers_of(run_to_end(second)), end);
}

TEST(ControlSampled, random_blocks_are_chains_of_runs) {
  std::mt19937_64 random(9713);
  const auto draw = [&](double from, double to) { return std::uniform_real_distribution<double>(from, to)(random); };
  for (unsigned trial = 0; trial < num_trials(12); ++trial) {
    SCOPED_TRACE("seed 9713, trial " + std::to_string(trial));
    const std::string dynamics = fmt::format(R"(
coordinates = ["x", "y"]
[dynamics]
kinetic   = "x'^2/2 + {0}*y'^2/2"
potential = "{1}*(x - y)^2/2"
FORCES
[constraints.rub]
friction_force = {2}
slip           = "x'"
[constraints.wall]
equation    = "y <= {3}"
restitution = {4}
[start]
velocity = {{ x = {5}, y = {6} }}
)",
                                             draw(0.5, 2), draw(1, 6), draw(0.1, 1), draw(0.1, 0.4),
                                             trial % 2 ? 0.0 : draw(0.1, 0.6), draw(-1, 1), draw(-1, 1));
    expect_as_chain({dynamics,
                     {trial % 3 ? "x" : "y"},
                     fmt::format("[control.place]\nequation = \"x = {}*sin({}*t)\"\nfrequency = {}\nweight = 1\n",
                                 draw(-0.5, 0.5), draw(1, 4), draw(1, 5)),
                     draw(0.03, 0.2),
                     trial % 4 ? "" : ", limit = 2"},
                    1.5, 1e-6);
  }
}

}  // namespace
}  // namespace mechanician
