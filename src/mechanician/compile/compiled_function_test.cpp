#include "mechanician/compile/compiled_function.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string_view>
#include <thread>

#include "mechanician/compile/llvm_object.hpp"
#include "mechanician/compile/program_order.hpp"
#include "mechanician/compile/random_program_for_test.hpp"
#include "mechanician/compile/x86_code.hpp"

namespace mechanician {
namespace {

namespace fs = std::filesystem;

/// The cache of these tests, not that of the user. Tests use different programs, as all share it.
class OwnCache : public testing::Environment {
 public:
  void SetUp() override {
    // Tests of the end of a process are run by processes of their own, which have that of their parent.
    const char* const parents = std::getenv("MECHANICIAN_CACHE");
    if (parents && std::string_view(parents).find("mechanician_function_") != std::string_view::npos) return;
    std::string name = (fs::temp_directory_path() / "mechanician_function_XXXXXX").string();
    directory_ = ::mkdtemp(name.data());
    ::setenv("MECHANICIAN_CACHE", directory_.c_str(), 1);
  }
  void TearDown() override {
    if (!directory_.empty()) fs::remove_all(directory_);
  }

 private:
  std::string directory_;
};
const auto* const own_cache = testing::AddGlobalTestEnvironment(new OwnCache);

class Function : public testing::Test {
 protected:
  const bool has_quick = make_x86_code({}) != nullptr, has_llvm = can_compile_objects();
};

std::vector<double> call(CompiledFunction& f, const std::vector<double>& inputs, int lanes = 1) {
  std::vector<double> outputs(static_cast<std::size_t>(f.num_outputs() * lanes));
  f(inputs.data(), outputs.data());
  return outputs;
}

TEST_F(Function, GivesTheBitsOfTheInterpreterInEveryTierAndWhileItChanges) {
  for (const TierPolicy tier :
       {TierPolicy::automatic, TierPolicy::interpreter, TierPolicy::quick, TierPolicy::optimised})
    for (const bool background : {true, false})
      for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        std::mt19937_64 random(seed);
        const Program program = random_program(random);
        CompiledFunction f(program, {.tier = tier, .background = background, .after_ms = 0.01});
        for (int k = 0; k < 500; ++k) {
          const std::vector<double> inputs = random_inputs(random, program.num_inputs);
          ASSERT_TRUE(same_bits(call(f, inputs), interpret(program, inputs)))
              << "seed " << seed << ", evaluation " << k;
        }
      }
}

TEST_F(Function, OfAFewEvaluationsIsInterpreted) {
  std::mt19937_64 random(1);
  const Program program = random_program(random);
  CompiledFunction f(program);
  const std::vector<double> inputs = random_inputs(random, program.num_inputs);
  for (int k = 0; k < 5; ++k) call(f, inputs);
  EXPECT_EQ(f.tier(), Tier::interpreter);
  EXPECT_EQ(f.compile_ms(), 0.0);
  if (!has_quick) return;
  for (int k = 0; k < 100; ++k) call(f, inputs);
  EXPECT_EQ(f.tier(), Tier::quick);
  EXPECT_GT(f.compile_ms(), 0.0);
}

TEST_F(Function, HasQuickCodeBeforeItsFirstEvaluationWhereThatIsAskedFor) {
  std::mt19937_64 random(95);
  const Program program = random_program(random);
  CompiledFunction f(program), interpreted(program, {.tier = TierPolicy::interpreter});
  f.make_quick_code(), interpreted.make_quick_code();
  EXPECT_EQ(f.tier(), has_quick ? Tier::quick : Tier::interpreter);
  EXPECT_EQ(interpreted.tier(), Tier::interpreter);
  const std::vector<double> inputs(static_cast<std::size_t>(program.num_inputs), 0.3);
  EXPECT_TRUE(same_bits(call(f, inputs), call(interpreted, inputs)));
}

TEST_F(Function, IsInTheTierThatIsAskedFor) {
  std::mt19937_64 random(2);
  const Program program = random_program(random);
  EXPECT_EQ(CompiledFunction(program, {.tier = TierPolicy::interpreter}).tier(), Tier::interpreter);
  EXPECT_EQ(CompiledFunction(program, {.tier = TierPolicy::quick}).tier(),
            has_quick || has_llvm ? Tier::quick : Tier::interpreter);
  const Tier best = has_llvm ? Tier::optimised : has_quick ? Tier::quick : Tier::interpreter;
  CompiledFunction f(program, {.tier = TierPolicy::optimised});
  f.wait();
  EXPECT_EQ(f.tier(), best);
  const CompiledFunction now(program, {.tier = TierPolicy::optimised, .background = false});
  EXPECT_EQ(now.tier(), best);
}

TEST_F(Function, ReadsWhatAnEarlierOneCompiled) {
  if (!has_llvm) GTEST_SKIP() << "no LLVM";
  std::mt19937_64 random(3003);
  const Program program = random_program(random);
  const CompileOptions options{.tier = TierPolicy::optimised, .background = false};
  const CompiledFunction first(program, options);
  EXPECT_FALSE(first.report().from_cache);
  CompiledFunction second(program, options);
  EXPECT_TRUE(second.report().from_cache);
  const std::vector<double> inputs = random_inputs(random, program.num_inputs);
  EXPECT_TRUE(same_bits(call(second, inputs), interpret(program, inputs)));
  const CompiledFunction third(program, {.tier = TierPolicy::optimised, .background = false, .cache = false});
  EXPECT_FALSE(third.report().from_cache);
}

TEST_F(Function, OfLanesGivesTheBitsOfEachInstance) {
  for (const TierPolicy tier : {TierPolicy::interpreter, TierPolicy::automatic, TierPolicy::optimised})
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      std::mt19937_64 random(seed);
      const Program program = random_program(random);
      constexpr int lanes = 4;
      CompiledFunction f(program, {.tier = tier, .background = false, .lanes = lanes});
      for (int round = 0; round < 30; ++round) {
        std::vector<std::vector<double>> single;
        std::vector<double> inputs(static_cast<std::size_t>(program.num_inputs) * lanes);
        for (std::size_t k = 0; k < lanes; ++k) {
          single.push_back(random_inputs(random, program.num_inputs));
          for (std::size_t i = 0; i < single[k].size(); ++i) inputs[i * lanes + k] = single[k][i];
        }
        const std::vector<double> outputs = call(f, inputs, lanes);
        for (std::size_t k = 0; k < lanes; ++k) {
          const std::vector<double> alone = interpret(program, single[k]);
          for (std::size_t i = 0; i < alone.size(); ++i) ASSERT_TRUE(same_bits(outputs[i * lanes + k], alone[i]));
        }
      }
    }
}

TEST_F(Function, IsUsedByManyThreadsThroughCopiesWhileItsCodeChanges) {
  std::mt19937_64 random(5);
  const Program program = random_program(random, {.num_steps = 200});
  const CompiledFunction f(program, {.after_ms = 0.05});
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (std::uint64_t seed = 0; seed < 4; ++seed)
    threads.emplace_back([&, seed] {
      CompiledFunction own = f;
      std::mt19937_64 local(seed);
      for (int k = 0; k < 3000; ++k) {
        const std::vector<double> inputs = random_inputs(local, program.num_inputs);
        if (!same_bits(call(own, inputs), interpret(program, inputs))) ++wrong;
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(Function, CanBeDroppedWhileItIsCompiled) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::mt19937_64 random(seed);
    CompiledFunction f(random_program(random, {.num_steps = 2000}), {.tier = TierPolicy::optimised});
    CompiledFunction g;
    g = f;
    if (seed % 10 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

TEST_F(Function, DoesNotDisturbTheEndOfTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const bool by_main : {true, false})
    for (const int ms : {0, 5, 20, 40, 80})
      EXPECT_EXIT(
          {
            std::mt19937_64 random(1);
            static CompiledFunction f(random_program(random, {.num_steps = 20000}), {.tier = TierPolicy::optimised});
            std::this_thread::sleep_for(std::chrono::milliseconds(ms));
            if (by_main) std::exit(0);
            std::thread([] { std::exit(0); }).join();
          },
          testing::ExitedWithCode(0), "");
}

// Not of the fixture: in the process that runs this, nothing has opened the library before.
TEST(FunctionWithoutLlvm, StillWorks) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        ::setenv("MECHANICIAN_LLVM", "/no/such/library.so", 1);
        std::mt19937_64 random(1);
        const Program program = random_program(random);
        CompiledFunction f(program, {.tier = TierPolicy::optimised, .cache = false});
        f.wait();
        if (can_compile_objects() || f.tier() == Tier::optimised) std::exit(2);
        const std::vector<double> inputs = random_inputs(random, program.num_inputs);
        std::exit(same_bits(call(f, inputs), interpret(program, inputs)) ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(ProgramOrder, PutsSinesTogether) {
  ProgramBuilder builder(3);
  std::vector<ProgramBuilder::Value> outputs;
  for (int i = 0; i < 3; ++i) {
    const auto twice = builder.add(i, i), sine = builder.apply(Op::sin, twice), cosine = builder.apply(Op::cos, twice);
    outputs.push_back(builder.apply(Op::sin, builder.mul(sine, cosine)));
    outputs.push_back(builder.apply(Op::exp, twice));
  }
  const Program program = with_calls_first(builder.finish(outputs));
  const auto batches = sine_batches(program, 0, static_cast<int>(program.steps.size()), 1);
  ASSERT_EQ(batches.size(), 2u);
  EXPECT_EQ(batches[0].arguments.size(), 3u);
  EXPECT_EQ(batches[0].end - batches[0].begin, 6);
  EXPECT_EQ(batches[1].arguments.size(), 3u);
  EXPECT_EQ(batches[1].end - batches[1].begin, 3);
}

TEST(ProgramOrder, StartsALongChainEarly) {
  // Many short sums, then a chain of divisions: the chain begins first, the sums fill its gaps.
  ProgramBuilder builder(2);
  std::vector<ProgramBuilder::Value> outputs;
  for (int i = 1; i <= 100; ++i) outputs.push_back(builder.add(0, builder.constant(i)));
  ProgramBuilder::Value chain = builder.input(1);
  for (int i = 1; i <= 50; ++i) chain = builder.div(builder.input(0), builder.add(chain, builder.constant(i + 0.5)));
  outputs.push_back(chain);
  const Program program = builder.finish(outputs), chained = with_long_chains_first(program);
  EXPECT_EQ(program.steps[0].action, action_of(Op::add));
  const auto first_division = [](const Program& p) {
    return std::find_if(p.steps.begin(), p.steps.end(), [](const Step& s) { return s.action == action_of(Op::div); }) -
           p.steps.begin();
  };
  EXPECT_EQ(first_division(program), 101);
  EXPECT_LT(first_division(chained), 12);
  EXPECT_EQ(interpret(chained, {0.7, 0.2}), interpret(program, {0.7, 0.2}));
  // Sums alone are limited by their number: nothing to gain.
  outputs.pop_back();
  const Program sums = builder.finish(outputs);
  EXPECT_EQ(with_long_chains_first(sums).steps, sums.steps);
}

TEST(ProgramOrder, GivesTheSameBits) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    std::mt19937_64 random(seed);
    const Program program = random_program(random);
    const Program ordered = with_calls_first(program), chained = with_long_chains_first(ordered);
    for (int k = 0; k < 10; ++k) {
      const std::vector<double> inputs = random_inputs(random, program.num_inputs);
      ASSERT_TRUE(same_bits(interpret(ordered, inputs), interpret(program, inputs))) << "seed " << seed;
      ASSERT_TRUE(same_bits(interpret(chained, inputs), interpret(program, inputs))) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace mechanician
