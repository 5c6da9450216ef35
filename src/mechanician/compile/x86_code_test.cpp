#include "mechanician/compile/x86_code.hpp"

#include <gtest/gtest.h>

#include <random>

#include "mechanician/compile/random_program_for_test.hpp"

namespace mechanician {
namespace {

std::vector<double> run(const MachineCode& code, const Program& program, const std::vector<double>& inputs) {
  std::vector<double> values(program.outputs.size()), scratch(scratch_bound(program));
  code.run(inputs.data(), values.data(), scratch.data());
  return values;
}

/// Four instances at once, each by itself in the result.
std::vector<std::vector<double>> run_four(const MachineCode& code, const Program& program,
                                          const std::vector<std::vector<double>>& inputs) {
  std::vector<double> together(4 * static_cast<std::size_t>(program.num_inputs)), values(4 * program.outputs.size()),
      scratch(scratch_bound(program, 4));
  for (std::size_t k = 0; k < 4; ++k)
    for (std::size_t i = 0; i < inputs[k].size(); ++i) together[4 * i + k] = inputs[k][i];
  code.run(together.data(), values.data(), scratch.data());
  std::vector<std::vector<double>> result(4);
  for (std::size_t k = 0; k < 4; ++k)
    for (std::size_t i = 0; i < program.outputs.size(); ++i) result[k].push_back(values[4 * i + k]);
  return result;
}

class X86Code : public testing::Test {
 protected:
  void SetUp() override {
    if (!make_x86_code({})) GTEST_SKIP() << "another processor";
  }
};

TEST_F(X86Code, GivesTheBitsOfTheInterpreter) {
  int numbers = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    std::mt19937_64 random(seed);
    const Program program =
        random_program(random, {.num_steps = 1 + static_cast<int>(seed % 200), .num_outputs = 10, .tables = true});
    const auto code = make_x86_code(program);
    ASSERT_TRUE(code);
    for (int k = 0; k < 10; ++k) {
      const std::vector<double> inputs = random_inputs(random, program.num_inputs);
      const std::vector<double> expected = interpret(program, inputs);
      ASSERT_TRUE(same_bits(run(*code, program, inputs), expected)) << "seed " << seed;
      for (const double x : expected) numbers += std::isfinite(x) ? 1 : 0;
    }
  }
  EXPECT_GT(numbers, 50000);  // the comparison would mean little if nearly all were not numbers
}

TEST_F(X86Code, OfFourInstancesGivesTheBitsOfEach) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    std::mt19937_64 random(seed);
    const Program program =
        random_program(random, {.num_steps = 1 + static_cast<int>(seed % 200), .num_outputs = 10, .tables = true});
    const auto code = make_x86_code(program, 4);
    ASSERT_TRUE(code);
    for (int round = 0; round < 5; ++round) {
      std::vector<std::vector<double>> inputs;
      for (int k = 0; k < 4; ++k) inputs.push_back(random_inputs(random, program.num_inputs));
      const auto found = run_four(*code, program, inputs);
      for (std::size_t k = 0; k < 4; ++k)
        ASSERT_TRUE(same_bits(found[k], interpret(program, inputs[k]))) << "seed " << seed << ", lane " << k;
    }
  }
  EXPECT_FALSE(make_x86_code({}, 3));
}

TEST_F(X86Code, OfEveryActionGivesTheBitsOfTheInterpreterWhateverIsUsedAgain) {
  const std::vector<double> special{0.0,
                                    -0.0,
                                    1.0,
                                    -1.0,
                                    0.3,
                                    -2.5,
                                    std::numeric_limits<double>::infinity(),
                                    -std::numeric_limits<double>::infinity(),
                                    std::numeric_limits<double>::quiet_NaN()};
  for (int k = static_cast<int>(Op::add); k <= static_cast<int>(Action::fnma); ++k)
    for (int again = 0; again < 8; ++again) {
      // Operands as steps, so that they are in registers; those of `again` are used afterwards.
      Program program;
      program.num_inputs = 3;
      program.constants = {1.0};
      for (int i = 0; i < 3; ++i) program.steps.push_back({action_of(Op::mul), i, 3, i});
      const Action action = static_cast<Action>(k);
      const int arity = is_op(action) ? row_of(static_cast<Op>(action)).arity : 3;
      program.steps.push_back({action, 4, arity > 1 ? 5 : 4, arity > 2 ? 6 : 4});
      program.outputs = {7};
      for (int i = 0; i < 3; ++i)
        if (again >> i & 1) {
          program.outputs.push_back(program.num_registers());
          program.steps.push_back({action_of(Op::add), 4 + i, 3, 4 + i});
        }
      const auto code = make_x86_code(program), of_four = make_x86_code(program, 4);
      ASSERT_TRUE(code && of_four);
      for (const double a : special)
        for (const double b : special)
          for (const double c : {0.7, -0.0}) {
            const auto expected = interpret(program, {a, b, c});
            ASSERT_TRUE(same_bits(run(*code, program, {a, b, c}), expected))
                << "action " << k << " of " << a << ", " << b << ", " << c << ", again " << again;
            const auto four = run_four(*of_four, program, {{0.3, 0.2, 1.0}, {a, b, c}, {-2.0, 0.0, 0.5}, {a, b, c}});
            ASSERT_TRUE(same_bits(four[1], expected) && same_bits(four[3], expected))
                << "action " << k << " of " << a << ", " << b << ", " << c << ", again " << again << ", four at once";
          }
    }
}

TEST_F(X86Code, OfLongProgramsWithManyLiveNumbersGivesTheBitsOfTheInterpreter) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    std::mt19937_64 random(seed);
    Program program = random_program(random, {.num_inputs = 300, .num_steps = 20000, .num_outputs = 5000});
    const auto code = make_x86_code(program);
    ASSERT_TRUE(code);
    const std::vector<double> inputs = random_inputs(random, program.num_inputs);
    const std::vector<double> expected = interpret(program, inputs);
    EXPECT_TRUE(same_bits(run(*code, program, inputs), expected)) << "seed " << seed;
    const auto four = run_four(*make_x86_code(program, 4), program,
                               {inputs, inputs, random_inputs(random, program.num_inputs), inputs});
    EXPECT_TRUE(same_bits(four[0], expected) && same_bits(four[3], expected)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace mechanician
