#include "mechanician/compile/bounded_values.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "mechanician/expression/print.hpp"
#include "mechanician/expression/random_expression_for_test.hpp"

namespace mechanician {
namespace {

TEST(BoundedValues, AreThoseOfTheTape) {
  const std::vector<Expr> symbols{coordinate("x"), coordinate("y"), coordinate("z")};
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<Expr> outputs;
    for (int k = 0; k < 3; ++k) outputs.push_back(random_expression(random, symbols, {.num_operations = 20}));
    const Tape tape(outputs, symbols);
    ProgramBuilder builder(3);
    const std::vector<ProgramBuilder::Value> inputs{0, 1, 2};
    BoundedValues made = append_with_bounds(builder, tape, inputs);
    made.values.insert(made.values.end(), made.bounds.begin(), made.bounds.end());
    const Program program = builder.finish(made.values);
    std::uniform_real_distribution<double> number(-2, 2);
    // The second is a small integer, which is exact.
    const std::vector<double> at{number(random), std::floor(number(random)), number(random)};
    std::vector<double> values(3), bounds(3);
    tape.evaluate_with_bounds(at, values, bounds);
    std::vector<double> registers(static_cast<std::size_t>(program.num_registers())), got(6);
    program.evaluate(at.data(), registers.data(), got.data());
    for (std::size_t i = 0; i < 3; ++i) {
      if (!std::isfinite(values[i]) || !std::isfinite(bounds[i]) || !std::isfinite(got[3 + i])) continue;
      ++compared;
      EXPECT_NEAR(got[3 + i], bounds[i], 1e-6 * bounds[i]) << "seed " << seed << ": " << to_text(outputs[i]);
    }
  }
  EXPECT_GT(compared, 300);
}

}  // namespace
}  // namespace mechanician
