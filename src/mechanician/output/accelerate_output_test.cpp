#include "mechanician/output/accelerate_output.hpp"

#include <gtest/gtest.h>

#include <string>

#include "mechanician/model/read_model.hpp"

namespace mechanician {
namespace {

TEST(AccelerateOutput, ShowsContactsWithFrictionAsNonIdealForce) {
  // A block of 2 kg slides at 3 m/s: normal force 2·10, friction a quarter of it.
  const System system(read_model_text(R"toml(coordinates = ["x", "y"]
[dynamics]
mass = { x = 2, y = 2 }
force = { y = -20 }
[constraints]
roof = "y <= 4"
[constraints.floor]
equation = "y >= 0"
friction = 0.25
slip = "x'"
)toml",
                                      "block.toml"),
                      {});
  const Instant instant = accelerate(system, {0.0, Eigen::Vector2d(1, 0), Eigen::Vector2d(3, 0)});
  ASSERT_TRUE(instant.has_acceleration());
  EXPECT_EQ(accelerate_text(system, instant),
            "t = 0\n\n"
            "  coordinate  position  velocity  acceleration  unconstrained  ideal force  non-ideal force\n"
            "  x                  1         3          -2.5              0            0               -5\n"
            "  y                  0         0             0            -10           20                0\n\n"
            "  constraint  multiplier\n"
            "  roof                 0\n"
            "  floor               20\n\n"
            "  contact  gap  rate  normal  slip  friction\n"
            "  roof       4     0       0     -         -  open\n"
            "  floor      0     0      20     3        -5  sliding\n\n"
            "  rank 1 of 1 row, Gaussian 212.5, largest constraint residual 0\n");
}

}  // namespace
}  // namespace mechanician
