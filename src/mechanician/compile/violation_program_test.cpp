#include "mechanician/compile/violation_program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "mechanician/model/read_model.hpp"

namespace mechanician {
namespace {

TEST(ViolationProgram, IsTheLargestOfPositionsRatesAndVelocities) {
  const Model model = read_model_text(R"(
coordinates = ["x", "y"]
[parameters]
L = 2.0
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
[constraints]
circle = "x^2 + y^2 = L^2"
roll = "x' = 3*y'"
[start]
position = { x = 2.0, y = 0.0 }
)",
                                      "bead.toml");
  const Equations eqs = derive(model);
  ProgramOptions options;
  const Program with_inputs = make_violation_program(eqs);
  options.parameters = std::vector{2.0};
  const Program built_in = make_violation_program(eqs, options);
  options.parameters = std::vector{77.0};
  options.varied = {0};
  const Program varied = make_violation_program(eqs, options);
  ASSERT_EQ(with_inputs.num_inputs, 6);
  ASSERT_EQ(built_in.num_inputs, 5);
  ASSERT_EQ(varied.num_inputs, 6);
  for (const auto& [x, y, u, v] : {std::array{2.0, 0.0, 0.0, 0.0}, std::array{1.0, 1.0, 0.0, 0.0},
                                   std::array{2.0, 0.0, 0.5, 0.0}, std::array{0.0, 2.0, 0.3, -0.1}}) {
    const double expected =
        std::max({std::abs(x * x + y * y - 4.0), std::abs(2 * x * u + 2 * y * v), std::abs(u - 3 * v)});
    const double inputs[] = {0.0, x, y, u, v, 2.0};
    for (const Program* program : {&with_inputs, &built_in, &varied}) {
      std::vector<double> registers(static_cast<std::size_t>(program->num_registers()));
      double got = -1.0;
      program->evaluate(inputs, registers.data(), &got);
      EXPECT_NEAR(got, expected, 1e-15);
    }
  }
}

}  // namespace
}  // namespace mechanician
