#include "mechanician/compile/llvm_object.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include "mechanician/compile/machine_code.hpp"
#include "mechanician/compile/object_file.hpp"
#include "mechanician/compile/random_program_for_test.hpp"

namespace mechanician {
namespace {

std::shared_ptr<const MachineCode> compile(const Program& program, const ObjectOptions& options) {
  const auto objects = compile_objects(program, options);
  return objects ? load_objects(*objects) : nullptr;
}

std::vector<double> run(const MachineCode& code, const Program& program, const ObjectOptions& options,
                        const std::vector<double>& inputs) {
  std::vector<double> values(program.outputs.size() * static_cast<std::size_t>(options.lanes)),
      scratch(scratch_size(program, options));
  code.run(inputs.data(), values.data(), scratch.data());
  return values;
}

class Objects : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_compile_objects()) GTEST_SKIP() << "no LLVM";
  }
};

TEST_F(Objects, GiveTheBitsOfTheInterpreterAtEveryLevel) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    std::mt19937_64 random(seed);
    const Program program = random_program(random, {.tables = true});
    for (const CodeLevel level : {CodeLevel::quick, CodeLevel::optimised}) {
      const ObjectOptions options{.level = level};
      const auto code = compile(program, options);
      ASSERT_TRUE(code) << "seed " << seed;
      for (int k = 0; k < 20; ++k) {
        const std::vector<double> inputs = random_inputs(random, program.num_inputs);
        ASSERT_TRUE(same_bits(run(*code, program, options, inputs), interpret(program, inputs)))
            << "seed " << seed << ", level " << static_cast<int>(level);
      }
    }
  }
}

TEST_F(Objects, GiveTheSameBitsHoweverTheProgramIsCut) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    std::mt19937_64 random(seed);
    const Program program = random_program(random, {.num_steps = 300, .num_outputs = 40, .tables = true});
    for (const int size : {1, 7, 50, 299, 300, 301})
      for (const CodeLevel level : {CodeLevel::quick, CodeLevel::optimised}) {
        const ObjectOptions options{.level = level, .steps_per_part = size};
        const auto code = compile(program, options);
        ASSERT_TRUE(code);
        EXPECT_EQ(code->num_parts(), static_cast<std::size_t>((300 + size - 1) / size));
        const std::vector<double> inputs = random_inputs(random, program.num_inputs);
        EXPECT_TRUE(same_bits(run(*code, program, options, inputs), interpret(program, inputs)))
            << "seed " << seed << ", parts of " << size;
      }
  }
}

TEST_F(Objects, OfLanesGiveTheBitsOfEachInstanceAlone) {
  for (const int lanes : {2, 4, 8})
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
      std::mt19937_64 random(seed);
      const Program program = random_program(random, {.tables = true});
      const ObjectOptions options{.lanes = lanes, .steps_per_part = 25};
      const auto code = compile(program, options);
      ASSERT_TRUE(code);
      const auto W = static_cast<std::size_t>(lanes), n = static_cast<std::size_t>(program.num_inputs);
      std::vector<double> inputs(n * W);
      std::vector<std::vector<double>> single;
      for (std::size_t k = 0; k < W; ++k) {
        single.push_back(random_inputs(random, program.num_inputs));
        for (std::size_t i = 0; i < n; ++i) inputs[i * W + k] = single[k][i];
      }
      const std::vector<double> values = run(*code, program, options, inputs);
      for (std::size_t k = 0; k < W; ++k) {
        const std::vector<double> alone = interpret(program, single[k]);
        for (std::size_t i = 0; i < alone.size(); ++i)
          ASSERT_TRUE(same_bits(values[i * W + k], alone[i])) << "seed " << seed << ", lane " << k << " of " << lanes;
      }
    }
}

TEST_F(Objects, OfProgramsWithoutStepsCopyInputsAndConstants) {
  Program program;
  program.num_inputs = 2;
  program.constants = {2.5};
  program.outputs = {1, 2, 0, 1};
  const auto code = compile(program, {});
  ASSERT_TRUE(code);
  EXPECT_EQ(run(*code, program, {}, {3, 4}), (std::vector<double>{4, 2.5, 3, 4}));
}

TEST_F(Objects, AreAbandonedBetweenParts) {
  std::mt19937_64 random(1);
  const Program program = random_program(random, {.num_steps = 100});
  int asked = 0;
  EXPECT_FALSE(compile_objects(program, {.steps_per_part = 10}, [&] { return ++asked > 4; }));
  EXPECT_EQ(asked, 5);
}

// Every byte of an object changed, and every length: refused or loaded, but nothing is read or written out of bounds
// (the sanitizers would say). What is loaded is not run: the code itself is protected by the checksum of the cache.
TEST_F(Objects, ThatAreDamagedAreRefusedOrLoadedButNeverCrashTheLoader) {
  std::mt19937_64 random(3);
  const auto objects = compile_objects(random_program(random), {});
  ASSERT_TRUE(objects);
  std::string object = objects->front();
  for (std::size_t i = 0; i < object.size(); ++i)
    for (const char flip : {'\x01', '\x80', '\xff'}) {
      object[i] = static_cast<char>(object[i] ^ flip);
      load_objects(std::span(&object, 1));
      object[i] = static_cast<char>(object[i] ^ flip);
    }
  for (std::size_t size = 0; size < object.size(); ++size) {
    const std::string part = object.substr(0, size);
    load_objects(std::span(&part, 1));
  }
  EXPECT_TRUE(load_objects(std::span(&object, 1)));
}

TEST_F(Objects, CompiledAndDroppedAThousandTimesLeaveNothingBehind) {
  const auto num_mappings = [] {
    std::ifstream maps("/proc/self/maps");
    return std::count(std::istreambuf_iterator<char>(maps), {}, '\n');
  };
  const auto resident_mb = [] {
    std::ifstream status("/proc/self/statm");
    double total = 0, resident = 0;
    status >> total >> resident;
    return resident * 4096 / 1e6;
  };
  std::ptrdiff_t mappings = 0;
  double resident = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    std::mt19937_64 random(seed);
    const Program program = random_program(random, {.num_steps = 30});
    const ObjectOptions options{.level = seed % 2 ? CodeLevel::quick : CodeLevel::optimised};
    ASSERT_TRUE(compile(program, options));
    if (seed == 100) mappings = num_mappings(), resident = resident_mb();
  }
  EXPECT_LE(num_mappings(), mappings + 20);
#if defined(MECHANICIAN_SANITIZED)
  constexpr double allowed = 1000;  // it keeps what was freed
#else
  constexpr double allowed = 40;
#endif
  EXPECT_LE(resident_mb(), resident + allowed);
}

}  // namespace
}  // namespace mechanician
