#include "mechanician/compile/step_function.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <string>

#include "mechanician/compile/llvm_object.hpp"
#include "mechanician/model/parameters.hpp"
#include "mechanician/model/read_model.hpp"

namespace mechanician {
namespace {

struct Ready {
  StepProgram program;
  std::vector<double> start;  ///< [q | q̇]
};

Ready make(const char* file, bool parameters_are_inputs) {
  const Model model = read_model(std::string(MECHANICIAN_SOURCE_DIR) + "/models/" + file);
  const ParameterValues parameters = evaluate_parameters(model);
  ProgramOptions options;
  options.parameters = parameters.values;
  if (parameters_are_inputs)
    for (int i = 0; i < static_cast<int>(parameters.values.size()); ++i) options.varied.push_back(i);
  const StartState start = start_state(model, parameters);
  options.reference = {start.time};
  options.reference.insert(options.reference.end(), start.q.begin(), start.q.end());
  options.reference.insert(options.reference.end(), start.qd.begin(), start.qd.end());
  if (parameters_are_inputs)
    options.reference.insert(options.reference.end(), parameters.values.begin(), parameters.values.end());
  StepProgramResult made = make_step_program(derive(model), options);
  EXPECT_TRUE(made.made) << made.reason;
  Ready ready{std::move(*made.made), {}};
  for (int i = 0; i < ready.program.n; ++i) ready.start.push_back(start.q[i]);
  for (int i = 0; i < ready.program.n; ++i) ready.start.push_back(start.qd[i]);
  if (parameters_are_inputs) ready.start.insert(ready.start.end(), parameters.values.begin(), parameters.values.end());
  return ready;
}

/// Motions that differ a little, some steps on: states and vouches, motion by motion.
std::vector<std::uint64_t> bits_after(const Ready& ready, const StepFunctionOptions& options, int num_motions,
                                      std::vector<int> cuts) {
  StepFunction step(ready.program, options);
  const int lanes = step.lanes(), size = 2 * ready.program.n;
  std::vector<std::uint64_t> all;
  for (int begin = 0; begin < num_motions; begin += lanes) {
    std::vector<double> block(step.block_size()), vouched(static_cast<std::size_t>(lanes)),
        good(static_cast<std::size_t>(lanes), 1.0);
    for (int k = 0; k < lanes; ++k) {
      std::mt19937 random(static_cast<unsigned>(std::min(begin + k, num_motions - 1)));
      std::uniform_real_distribution<double> uniform(-1e-3, 1e-3);
      block[static_cast<std::size_t>(k)] = 0.25, block[static_cast<std::size_t>(lanes + k)] = 1e-3;
      for (std::size_t i = 0; i < ready.start.size(); ++i)
        block[(2 + i) * static_cast<std::size_t>(lanes) + static_cast<std::size_t>(k)] =
            ready.start[i] + uniform(random) * (1.0 + std::abs(ready.start[i]));
    }
    std::int64_t first = 0;
    for (const int count : cuts) {
      step.advance(block.data(), first, count, vouched.data());
      for (std::size_t k = 0; k < vouched.size(); ++k) good[k] = std::min(good[k], vouched[k]);
      first += count;
    }
    for (int k = 0; k < lanes && begin + k < num_motions; ++k) {
      for (int i = 0; i < size; ++i)
        all.push_back(std::bit_cast<std::uint64_t>(block[static_cast<std::size_t>((2 + i) * lanes + k)]));
      all.push_back(std::bit_cast<std::uint64_t>(good[static_cast<std::size_t>(k)]));
    }
  }
  return all;
}

class StepFunctionOf : public testing::TestWithParam<const char*> {};

TEST_P(StepFunctionOf, gives_the_same_bits_with_all_tiers_lanes_and_cuts) {
  for (const bool inputs : {false, true}) {
    const Ready ready = make(GetParam(), inputs);
    const auto expected = bits_after(ready, {.tier = TierPolicy::interpreter, .lanes = 1}, 19, {20});
    EXPECT_EQ(expected, bits_after(ready, {.tier = TierPolicy::interpreter, .lanes = 4}, 19, {7, 13}));
    EXPECT_EQ(expected, bits_after(ready, {.tier = TierPolicy::quick, .lanes = 4}, 19, {20}));
    EXPECT_EQ(expected, bits_after(ready, {.tier = TierPolicy::quick, .lanes = 6}, 19, {20}));
    if (!can_compile_objects() || ready.program.program.steps.size() > 1000) continue;
    for (const int lanes : {1, 4, 8, 16})
      EXPECT_EQ(expected, bits_after(ready, {.background = false, .cache = false, .lanes = lanes}, 19, {1, 12, 7}))
          << lanes;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, StepFunctionOf,
                         testing::Values("double_pendulum.toml", "rolling_disk.toml", "kapitza_pendulum.toml",
                                         "squeezer.toml"),
                         [](const auto& named) {
                           const std::string name = named.param;
                           return name.substr(0, name.find('.'));
                         });

TEST(StepFunction, has_the_same_bits_where_an_angle_is_far_in_one_lane) {
  // Beyond 2²⁰ sines are called for, and one lane gets there on its way; it must not matter to the others.
  const Ready ready = make("../bench/models/double_pendulum_angles.toml", false);
  ASSERT_EQ(ready.program.n, 2);
  const double angles[] = {0.3, 0x1p20 + 0.5, -0x1.8p23, 0x1p20 - 1e-3, 1e300, -0.0, 1e-300, 2.0};
  std::vector<std::vector<double>> ends;
  for (const StepFunctionOptions& options : {StepFunctionOptions{.tier = TierPolicy::interpreter, .lanes = 8},
                                             StepFunctionOptions{.background = false, .cache = false, .lanes = 8},
                                             StepFunctionOptions{.background = false, .cache = false, .lanes = 16}}) {
    StepFunction step(ready.program, options);
    const auto lanes = static_cast<std::size_t>(step.lanes());
    std::vector<double> block(step.block_size()), vouched(lanes), end;
    for (std::size_t k = 0; k < lanes; ++k)
      block[lanes + k] = 1e-3, block[2 * lanes + k] = angles[k % 8], block[3 * lanes + k] = 0.9,
                    block[4 * lanes + k] = 1.0;
    step.advance(block.data(), 0, 5, vouched.data());
    for (std::size_t k = 0; k < 8; ++k) end.insert(end.end(), {block[2 * lanes + k], block[5 * lanes + k]});
    ends.push_back(end);
  }
  EXPECT_GT(ends[0][6], 0x1p20);
  EXPECT_EQ(ends[0], ends[1]);
  EXPECT_EQ(ends[0], ends[2]);
}

TEST(StepFunction, tells_which_lanes_are_not_vouched_for) {
  const Ready ready = make("double_pendulum.toml", false);
  for (const TierPolicy tier : {TierPolicy::interpreter, TierPolicy::quick, TierPolicy::automatic}) {
    StepFunction step(ready.program, {.tier = tier, .background = false, .cache = false, .lanes = 4});
    std::vector<double> block(step.block_size()), vouched(4);
    for (std::size_t k = 0; k < 4; ++k) {
      block[4 + k] = 1e-3;
      for (std::size_t i = 0; i < 8; ++i) block[(2 + i) * 4 + k] = ready.start[i];
    }
    // One lane with the lower mass in the place of the upper one: its rod has no direction.
    for (std::size_t i = 0; i < 2; ++i) block[(4 + i) * 4 + 2] = block[(2 + i) * 4 + 2];
    step.advance(block.data(), 0, 3, vouched.data());
    EXPECT_EQ(vouched, (std::vector<double>{1.0, 1.0, 0.0, 1.0})) << static_cast<int>(tier);
  }
}

}  // namespace
}  // namespace mechanician
