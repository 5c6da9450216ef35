// Several actuators with limits: what acts changes one after the other or all at once, and at every time it is what the programme of
// least cost says at that state.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <string>

#include "mechanician/base/trials_for_test.hpp"
#include "mechanician/instant/accelerate.hpp"
#include "mechanician/motion/integrator.hpp"
#include "mechanician/motion/motion_for_test.hpp"

namespace mechanician {
namespace {

constexpr unsigned seed = 20261117;

struct Found {
  int samples = 0, at_limit = 0;
  std::size_t events = 0;
};

/// Efforts of samples are those of instants, and within their limits.
Found expect_the_programme(const Loaded& loaded, double to) {
  Found found;
  Integrator motion = loaded.integrator({.to = to, .tolerance = 1e-9});
  double before = motion.t();
  while (motion.advance()) {
    for (const double part : {0.37, 0.92}) {
      const Sample s = motion.sample(before + part * (motion.t() - before));
      const Instant now = accelerate(loaded.system, {s.t, s.q, s.qd}, {.diagnose = false});
      EXPECT_TRUE(now.has_acceleration() && now.control);
      if (!now.control) return found;
      // Where what acts is about to change the two sides agree up to what the state is known.
      const double size = 1.0 + now.control->tau.cwiseAbs().maxCoeff();
      EXPECT_LE((s.tau - now.control->tau).cwiseAbs().maxCoeff(), 1e-5 * size) << "at t = " << s.t << "\n"
                                                                               << s.tau.transpose() << "\n"
                                                                               << now.control->tau.transpose();
      for (const int side : now.control->mode.at_limit) found.at_limit += side != 0;
      ++found.samples;
    }
    before = motion.t();
  }
  EXPECT_EQ(motion.stop().reason, StopReason::reached_end) << motion.stop().message;
  EXPECT_TRUE(motion.certificate().holds);
  found.events = motion.events().size();
  return found;
}

TEST(ControlLimits, hold_at_every_time_of_random_motions) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  Found all;
  const int trials = sanitized ? 4 : 60;  // each takes long
  for (int trial = 0; trial < trials; ++trial) {
    const int n = 2 + trial % 2, actuators = 2 + trial % 3, requirements = 1 + trial % 2;
    std::string text = n == 2 ? "coordinates = [\"x\", \"y\"]\n" : "coordinates = [\"x\", \"y\", \"z\"]\n";
    const std::array<std::string, 3> names{"x", "y", "z"};
    text +=
        "[dynamics]\nkinetic = \"(x'^2 + 2*y'^2 + x'*y'" + std::string(n == 3 ? " + z'^2 + 0.5*y'*z'" : "") + ")/2\"\n";
    text += "potential = \"(x^2 + y^2)/4\"\n";
    if (trial % 4 == 3 && n == 3) text += "[constraints]\nrow = \"x + y*y/4 + z = 0\"\n";
    text += "[actuators]\n";
    for (int k = 0; k < actuators; ++k) {
      text += fmt::format("a{} = {{ limit = [{}, {}], cost = {}", k, -0.3 - std::abs(unit(random)),
                          0.3 + std::abs(unit(random)), 1.0 + 0.5 * unit(random));
      for (int i = 0; i < n; ++i)
        text += fmt::format(", {} = \"{} + 0.2*sin({})\"", names[static_cast<std::size_t>(i)], unit(random), names[0]);
      text += " }\n";
    }
    for (int j = 0; j < requirements; ++j)
      text += fmt::format("[control.r{0}]\nequation = \"{1} = {2}*sin({3}*t) + {4}\"\nfrequency = {5}\n{6}", j,
                          names[static_cast<std::size_t>(j)], 0.8 + 0.4 * unit(random), 1.5 + unit(random),
                          0.3 * unit(random), 2.0 + unit(random),
                          trial % 3 == 0   ? "weight = 1.5\n"
                          : trial % 3 == 1 ? fmt::format("priority = {}\n", 1 + j)
                                           : std::string());
    SCOPED_TRACE(fmt::format("seed {}, trial {}\n{}", seed, trial, text));
    const Found one = expect_the_programme(Loaded(text), 4.0);
    all.samples += one.samples, all.at_limit += one.at_limit, all.events += one.events;
    if (HasFailure()) break;
  }
  // The law was tried: actuators were at their limits, came there and left.
  EXPECT_GT(all.at_limit, all.samples / 10);
  EXPECT_GT(all.events, static_cast<std::size_t>(trials));
}

TEST(ControlLimits, several_are_met_at_once_where_what_is_asked_for_jumps) {
  // At t = 1 the goal jumps: all three motors go to a limit in one instant.
  const Loaded loaded(R"x(
coordinates = ["x"]
[dynamics]
kinetic = "x'^2/2"
[actuators]
a = { x = "1", limit = 0.5 }
b = { x = "1", limit = 0.7, cost = 2 }
c = { x = "-1", limit = 0.2, cost = 3 }
[control.place]
equation  = "x = if(t < 1, 0.01*t, 2)"
frequency = 3.0
)x");
  const Found found = expect_the_programme(loaded, 3.0);
  EXPECT_GE(found.events, 6u);  // three come to their limits, and leave them
}

}  // namespace
}  // namespace mechanician
