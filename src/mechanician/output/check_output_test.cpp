#include "mechanician/output/check_output.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "mechanician/model/read_model.hpp"
#include "mechanician/output/remarks.hpp"

namespace mechanician {
namespace {

/// A disc on a table beside a wall, and a roof far above it.
constexpr const char* disc = R"toml(coordinates = ["x", "y", "th"]
[parameters]
r = 0.5
[dynamics]
mass = { x = 1, y = 1, th = "r^2/2" }
force = { y = -9.81 }
[constraints]
roof = "y <= 4"
[constraints.table]
equation = "y >= r"
restitution = 0.5
friction = 0.25
slip = "x' + r*th'"
[constraints.wall]
equation = "x <= 3"
[start]
position = { x = 3, y = 0.5 }
)toml";

struct Checked {
  System system;
  Instant instant;
};
Checked at(Eigen::Vector3d q, Eigen::Vector3d qd) {
  Model model = read_model_text(disc, "disc.toml");
  System system(std::move(model), {0.5});
  Instant instant = accelerate(system, {0.0, q, qd});
  return {std::move(system), std::move(instant)};
}

std::string without_space(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  return text;
}

void expect_parts(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts)
    EXPECT_NE(without_space(text).find(without_space(part)), std::string::npos) << "no " << part << " in\n" << text;
}

TEST(CheckOutput, SaysOfEachContactWhatItDoesAtTheStart) {
  const Checked c = at({3.0, 0.5, 0.0}, {-2.0, 0.0, 0.0});
  const std::string text = check_text(c.system, c.instant);
  expect_parts(text, {"constraint rows 3, all one-sided", "one-sided, holonomic, scleronomic, catastatic",
                      "roof 0 - - open", "table 0.5 0.25 -2 sliding", "wall 0 - - separating",
                      "rank 1 of 1 row that acts", "degrees of freedom 2", "acceleration unique"});
}

TEST(CheckOutput, JsonSaysTheSame) {
  const Checked c = at({3.0, 0.5, 0.0}, {0.0, 0.0, 0.0});
  expect_parts(
      check_json(c.system, c.instant),
      {R"("one_sided": true, "status": "open", "restitution": 0, "residual": 3.5, "rate": 0})",
       R"("one_sided": true, "status": "sticking", "restitution": 0.5, "friction": 0.25, "slip": [0],)",
       R"("impact": false, "acting": ["table", "wall"], "rank": 2, "degrees_of_freedom": 1, "redundant": [])"});
}

TEST(CheckOutput, AnImpactAtTheStartIsNamed) {
  const Checked c = at({3.0, 2.0, 0.0}, {1.0, 0.0, 0.0});
  expect_parts(check_text(c.system, c.instant), {"wall 0 - - impact", "acceleration none: velocities jump"});
  expect_parts(check_json(c.system, c.instant), {R"("impact": true)", R"("start_valid": true)"});
}

TEST(CheckOutput, AStartBeyondAOneSidedConstraintIsRefusedByHowFar) {
  const Checked c = at({3.25, 0.5, 0.0}, {0.0, 0.0, 0.0});
  const auto remarks = start_refusals(c.system, c.instant);
  ASSERT_EQ(remarks.size(), 1u);
  EXPECT_EQ(render(remarks[0], "error", c.system.model().source),
            "disc.toml:15:13: error: the start position violates one-sided constraint `wall` by 0.25\n    x <= 3");
  expect_parts(check_json(c.system, c.instant), {R"("start_valid": false)"});
}

}  // namespace
}  // namespace mechanician
