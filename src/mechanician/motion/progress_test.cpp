#include "mechanician/motion/progress.hpp"

#include <gtest/gtest.h>

#include "mechanician/motion/motion_for_test.hpp"

namespace mechanician {
namespace {

TEST(Progress, is_asked_for_now_and_then) {
  double moved = 0.0;
  Progress progress;
  EXPECT_TRUE(progress.goes_on(1, 0.0, 1.0, moved));
  EXPECT_TRUE(progress.goes_on(Progress::steps, 1e-3, 1.0, moved));
  EXPECT_TRUE(progress.goes_on(2 * Progress::steps, 1e-3 + 1e-6, 1.0, moved));
  EXPECT_FALSE(
      progress.goes_on(3 * Progress::steps, 1e-3 + 1.01e-6, 1.0, moved));  // less than a ten-thousandth of its best
  EXPECT_NEAR(moved, 1e-8, 1e-12);
  Progress stuck;
  EXPECT_FALSE(stuck.goes_on(Progress::steps, 9e-12, 0.1, moved));        // never any better
  EXPECT_TRUE(Progress().goes_on(Progress::steps, 1e-12, 1e-12, moved));  // at its end
}

/// Ten billion radians a second, for hours: nobody waits for the end.
TEST(Progress, that_nobody_waits_for_ends_a_motion_of_any_method) {
  const Loaded loaded = line("-1e20*x", "position = { x = 1 }");
  for (const Method method : {Method::dop853, Method::bdf, Method::automatic}) {
    Integrator motion = loaded.integrator({.to = 1e5, .tolerance = 1e-8, .method = method});
    long calls = 0;
    while (motion.advance() && ++calls < 100'000) {
    }
    EXPECT_TRUE(motion.stop().failed());
    EXPECT_EQ(motion.stop().reason, StopReason::step_too_small);
    EXPECT_NE(motion.stop().message.find("steps have moved the time by"), std::string::npos) << motion.stop().message;
  }
}

}  // namespace
}  // namespace mechanician
