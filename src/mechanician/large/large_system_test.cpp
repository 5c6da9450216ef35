#include "mechanician/large/large_system.hpp"

#include <gtest/gtest.h>

namespace mechanician {
namespace {

TEST(LargeSystem, SaysWhichMemberIsWrong) {
  const auto refusal = [](const std::string& text) -> std::string {
    try {
      LargeSystem system(read_family_model_text(text, "m.toml"));
      system.start();
    } catch (const ModelError& e) {
      const Problem& p = e.problems().front();
      return std::to_string(p.place.line) + " " + p.message;
    }
    return "accepted";
  };
  const std::string top = "coordinates = [\"x[1..N]\"]\n[parameters]\nN = 1000000\n[dynamics]\n",
                    kinetic = "kinetic = \"sum(i = 1..N, x[i]'^2)\"\n";
  EXPECT_EQ(refusal(top + kinetic), "accepted");
  EXPECT_EQ(refusal(top + "kinetic = \"sum(i = 1..N, x[i+1]'^2)\"\n"), "5 `x` has no member 1000001 for i = 1000000");
  EXPECT_EQ(refusal(top + kinetic + "[constraints.rod]\nfor = \"i = 1..N\"\nequation = \"x[i] = x[i-1]\"\n"),
            "8 `x` has no member 0 for i = 1");
  EXPECT_EQ(refusal(top + kinetic + "potential = \"sum(i = 1..N, x[i/2])\"\n"),
            "6 an index of `x`: this is 0.5, and must be a whole number for i = 1");
  EXPECT_EQ(refusal(top + "kinetic = \"sum(i = 1..N, x[i]'^4)\"\n"),
            "5 the kinetic energy is not quadratic in the velocities");
  EXPECT_EQ(refusal(top + "kinetic = \"sum(i = 1..N, x[i]')^2\"\n"),
            "5 a sum may be multiplied by numbers and parameters only beyond 100,000 coordinates");
  EXPECT_EQ(refusal(top + kinetic + "potential = \"sum(i = 1..M, x[i])\"\n"), "6 unknown name `M`");
  EXPECT_EQ(refusal(top + kinetic + "[constraints]\nfloor = \"x[1] >= 0\"\n"),
            "7 one-sided constraints are not supported beyond 100,000 coordinates yet");
  EXPECT_EQ(refusal(top + kinetic + "[nonideal]\n\"x[1]\" = 1\n"),
            "6 [nonideal] is not supported beyond 100,000 coordinates yet");
  EXPECT_EQ(refusal(top + kinetic + "[start.position]\n\"x[i]\" = { for = \"i = 0..3\", value = 1 }\n"),
            "7 `x[0]` is no coordinate");
}

}  // namespace
}  // namespace mechanician
