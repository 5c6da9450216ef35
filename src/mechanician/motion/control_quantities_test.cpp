// tau(NAME), e(NAME) and cost in outputs, events and [summary]; works of actuators; requirements that events release.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "mechanician/motion/integrator.hpp"
#include "mechanician/motion/motion_for_test.hpp"

namespace mechanician {
namespace {

const std::string slider = R"x(
coordinates = ["x", "y"]
[dynamics]
kinetic = "(x'^2 + 2*y'^2)/2"
[actuators]
motor = { x = "1", limit = 5 }
lift  = { y = "3" }
[control.place]
equation  = "x = 1"
frequency = 2.0
[control.height]
equation  = "y = sin(t)"
frequency = 1.0
[outputs]
effort = "tau(motor)"
error  = "e(place)"
costs  = "cost"
sum    = "tau(motor)^2 + tau(lift)^2 - cost"
)x";

TEST(ControlQuantities, stand_in_outputs) {
  const Loaded loaded(slider);
  Integrator motion = loaded.integrator({.to = 2.0, .tolerance = 1e-10});
  while (motion.advance()) {
    const Sample s = motion.sample(motion.t());
    EXPECT_EQ(s.outputs(0), s.tau(0));
    EXPECT_EQ(s.outputs(1), s.error(0));
    EXPECT_EQ(s.outputs(2), s.cost);
    EXPECT_NEAR(s.outputs(3), 0.0, 1e-12 * (1 + s.cost));
    // e'' + 4e' + 4e = 0 from −1 at rest.
    EXPECT_NEAR(s.error(0), -(1 + 2 * s.t) * std::exp(-2 * s.t), 1e-9);
    EXPECT_NEAR(s.tau(0), 4 * (1 - 2 * s.t) * std::exp(-2 * s.t), 1e-8);
  }
}

TEST(ControlQuantities, works_of_actuators_add_up) {
  const Loaded loaded(slider);
  Integrator motion = loaded.integrator({.to = 2.0, .tolerance = 1e-10});
  const Sample end = run_to_end(motion);
  ASSERT_EQ(end.works.actuators.size(), 2);
  EXPECT_NEAR(end.works.actuators.sum(), end.works.control, 1e-12);
  EXPECT_NEAR(end.works.actuators(0), end.qd(0) * end.qd(0) / 2, 1e-10);
  EXPECT_NEAR(end.works.actuators(1), end.qd(1) * end.qd(1), 1e-10);
  EXPECT_EQ(motion.certificate().works.actuators, end.works.actuators);
}

TEST(ControlQuantities, events_find_where_an_effort_is_reached) {
  const Loaded loaded(slider +
                      "[events]\nweak = { when = \"tau(motor) - 1\" }\nclose = { when = \"e(place) + 0.5\" }\n");
  Integrator motion = loaded.integrator({.to = 2.0, .tolerance = 1e-11});
  run_to_end(motion);
  ASSERT_EQ(motion.events().size(), 2u);
  for (const MotionEvent& e : motion.events()) {
    const double decay = std::exp(-2 * e.time);
    EXPECT_NEAR(e.name == "weak" ? 4 * (1 - 2 * e.time) * decay - 1 : 0.5 - (1 + 2 * e.time) * decay, 0.0, 1e-9)
        << e.name;
  }
}

TEST(ControlQuantities, a_requirement_that_is_released_asks_for_nothing) {
  // From t = 1 on the mass flies on; the state stands between the rows of constraints and requirements.
  const Loaded loaded(R"(
coordinates = ["x"]
[dynamics]
kinetic = "x'^2/2"
[states]
z = { rate = "x - z", start = 0 }
[actuators]
motor = { x = "1" }
[control.place]
equation  = "x = t^2"
[events]
off = { when = "t - 1", do = "release place" }
[run]
to = 2
)");
  Integrator motion = loaded.integrator({.to = 2.0, .tolerance = 1e-10});
  while (motion.advance()) {
    const Sample s = motion.sample(motion.t());
    ASSERT_EQ(s.tau.size(), 1);
    ASSERT_EQ(s.error.size(), 1);
    if (s.t < 1.0) {
      EXPECT_NEAR(s.tau(0), 2.0, 1e-9);
      EXPECT_NEAR(s.error(0), 0.0, 1e-9);
    } else if (s.t > 1.0) {
      EXPECT_EQ(s.tau(0), 0.0);
      EXPECT_TRUE(std::isnan(s.error(0)));
    }
  }
  const Sample end = motion.sample(motion.t());
  EXPECT_NEAR(end.q(0), 1.0 + 2.0, 1e-9);
  EXPECT_NEAR(end.works.actuators(0), 2.0, 1e-9);
  EXPECT_TRUE(motion.certificate().holds);
}

}  // namespace
}  // namespace mechanician
