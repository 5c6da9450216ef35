#include "mechanician/ensemble/gpu_runner.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>

#include "mechanician/compile/ptx_machine_for_test.hpp"
#include "mechanician/compile/violation_program.hpp"
#include "mechanician/model/read_model.hpp"

namespace mechanician {
namespace {

/// A device that is this process: kernels are interpreted.
class InterpretedGpu : public Gpu {
 public:
  std::string name() const override { return "interpreter"; }
  std::size_t free_memory() const override { return memory; }
  Kernel load(const std::string& ptx, const char* entry) override {
    kernels_.push_back(std::make_unique<PtxMachine>(ptx));
    EXPECT_EQ(kernels_.back()->entry(), entry);
    return kernels_.back().get();
  }
  Address allocate(std::size_t bytes) override {
    auto block = std::make_unique<char[]>(bytes);
    const auto address = std::bit_cast<Address>(block.get());
    blocks_[address] = std::move(block);
    return address;
  }
  void release(Address address) override { blocks_.erase(address); }
  void copy_in(Address to, const void* from, std::size_t bytes) override {
    std::memcpy(std::bit_cast<void*>(to), from, bytes);
  }
  void copy_out(void* to, Address from, std::size_t bytes) override {
    std::memcpy(to, std::bit_cast<const void*>(from), bytes);
  }
  double launch(Kernel kernel, unsigned blocks, unsigned threads, std::span<const std::uint64_t> arguments) override {
    static_cast<PtxMachine*>(kernel)->launch({arguments.begin(), arguments.end()}, blocks, threads);
    return launch_seconds;
  }
  std::size_t memory = 1 << 20;
  double launch_seconds = 1e-3;
  std::size_t num_blocks() const { return blocks_.size(); }

 private:
  std::vector<std::unique_ptr<PtxMachine>> kernels_;
  std::map<Address, std::unique_ptr<char[]>> blocks_;
};

/// Says that it was asked.
class StandIn : public MotionRunner {
 public:
  void run(const MotionBatch& batch, BatchResult& result) override {
    for (std::size_t k = 0; k < static_cast<std::size_t>(batch.count); ++k) {
      result.outcome[k] = Outcome::suspect;
      result.reason[k] = "stand-in";
      result.q[k * static_cast<std::size_t>(batch.n)] = 1e3 + batch.q[k * static_cast<std::size_t>(batch.n)];
      result.steps[k] = 7;
    }
  }
  std::unique_ptr<MotionRunner> clone() const override { return std::make_unique<StandIn>(); }
  int lanes() const override { return 1; }
  int preferred_batch() const override { return 1; }
  std::string_view device() const override { return "cpu"; }
};

/// A pendulum on a rod that is pulled up, with its parameters as inputs.
struct Rig {
  Model model = read_model_text(R"(
coordinates = ["x", "y"]
[parameters]
L = 1.0
g = 9.81
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
potential = "g*y"
[constraints]
rod = "x^2 + y^2 = (L + sin(t)/10)^2"
[start]
position = { x = "L", y = 0.0 }
velocity = { x = 0.1, y = 0.0 }
)",
                                "rod.toml");
  System system{model, evaluate_parameters(model).values};
  State nominal = state_of(start_state(model, evaluate_parameters(model)));
  ProgramOptions programs = make_lane_options(system, nominal, std::nullopt);
  VariedParameters parameters{system, programs};
  StepProgram step = *make_step_program(system.equations(), programs).made;
  Program violation = make_violation_program(system.equations(), programs);

  static MotionBatch batch(int count) {
    MotionBatch b;
    b.count = count, b.num_parameters = 2, b.n = 2;
    for (int k = 0; k < count; ++k) {
      const double L = 1.0 + 0.01 * k;
      for (const double x : {L, 9.81}) b.parameters.push_back(x);
      for (const double x : {L, 0.0}) b.q.push_back(x);
      for (const double x : {0.1, 0.2 * k}) b.qd.push_back(x);
    }
    return b;
  }
};

TEST(GpuRunner, TakesTheStepsOfTheProgram) {
  Rig rig;
  for (const double to : {0.05, 0.053}) {
    const EnsembleOptions options{.method = EnsembleMethod::rk4, .step = 0.01, .to = to};
    auto gpu = std::make_shared<InterpretedGpu>();
    gpu->memory = 600;  // a few motions at a time
    GpuRunner runner(gpu, rig.step, rig.violation, rig.parameters, options, std::make_unique<StandIn>());
    const MotionBatch batch = Rig::batch(9);
    BatchResult result(batch);
    runner.run(batch, result);
    EXPECT_EQ(gpu->num_blocks(), 0u) << "memory of the device is given back";

    std::vector<double> registers(static_cast<std::size_t>(rig.step.program.num_registers()));
    for (std::size_t k = 0; k < 9; ++k) {
      std::vector<double> y{batch.q[2 * k], batch.q[2 * k + 1], batch.qd[2 * k], batch.qd[2 * k + 1]};
      const auto take = [&](double t, double h) {
        const double inputs[] = {t, h, y[0], y[1], y[2], y[3], batch.parameters[2 * k], batch.parameters[2 * k + 1]};
        double outputs[5];
        rig.step.program.evaluate(inputs, registers.data(), outputs);
        ASSERT_GT(outputs[4], 0);
        y.assign(outputs, outputs + 4);
      };
      for (int i = 0; i < 5; ++i) take(std::fma(i, 0.01, 0.0), 0.01);
      if (to > 0.05) take(std::fma(5, 0.01, 0.0), to - std::fma(5, 0.01, 0.0));
      EXPECT_EQ(result.q[2 * k], y[0]);
      EXPECT_EQ(result.q[2 * k + 1], y[1]);
      EXPECT_EQ(result.qd[2 * k], y[2]);
      EXPECT_EQ(result.qd[2 * k + 1], y[3]);
      EXPECT_EQ(result.t[k], to);
      EXPECT_EQ(result.outcome[k], Outcome::done);
      EXPECT_EQ(result.steps[k], to > 0.05 ? 6 : 5);
      const double r = batch.parameters[2 * k] + std::sin(to) / 10;
      EXPECT_GE(result.violation[k], std::abs(y[0] * y[0] + y[1] * y[1] - r * r) - 1e-15);
    }
  }
}

TEST(GpuRunner, ResultsDoNotDependOnHowLaunchesAreCut) {
  Rig rig;
  const MotionBatch batch = Rig::batch(3);
  std::vector<BatchResult> results;
  for (const double seconds : {1e-3, 100.0}) {
    auto gpu = std::make_shared<InterpretedGpu>();
    gpu->launch_seconds = seconds;
    GpuRunner runner(gpu, rig.step, rig.violation, rig.parameters,
                     {.method = EnsembleMethod::rk4, .step = 0.001, .to = 0.3}, std::make_unique<StandIn>());
    results.emplace_back(batch);
    runner.run(batch, results.back());
  }
  EXPECT_EQ(results[0].q, results[1].q);
  EXPECT_EQ(results[0].qd, results[1].qd);
}

TEST(GpuRunner, LeavesToTheProcessorWhatTheProgramCannotVouchFor) {
  Rig rig;
  MotionBatch batch = Rig::batch(4);
  batch.q[2 * 2] = batch.q[2 * 2 + 1] = 0.0;  // the rod has no direction
  GpuRunner runner(std::make_shared<InterpretedGpu>(), rig.step, rig.violation, rig.parameters,
                   {.method = EnsembleMethod::rk4, .step = 0.01, .to = 0.02}, std::make_unique<StandIn>());
  BatchResult result(batch);
  runner.run(batch, result);
  for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(result.outcome[k], k == 2 ? Outcome::suspect : Outcome::done) << k;
  EXPECT_EQ(result.reason[2], "stand-in");
  EXPECT_EQ(result.q[4], 1e3);
  EXPECT_EQ(result.served[2], 7);
  EXPECT_EQ(result.served[1], 0);
}

TEST(GpuRunner, AgreesWithLanesToTheLastBitAndLeavesThemWhatItCannotDo) {
  Rig rig;
  const EnsembleOptions options{.method = EnsembleMethod::rk4, .step = 0.01, .to = 0.035};
  const LaneOptions lanes{.varied = std::vector{0}};
  GpuRunnerResult gpu = make_gpu_runner(std::make_shared<InterpretedGpu>(), rig.system, rig.nominal, options, lanes);
  LaneRunnerResult cpu = make_lane_runner(rig.system, rig.nominal, options, lanes);
  ASSERT_TRUE(gpu.made && cpu.made) << gpu.reason << cpu.reason;
  MotionBatch batch = Rig::batch(11);
  batch.q[2 * 5] = batch.q[2 * 5 + 1] = 0.0;
  BatchResult on_gpu(batch), on_cpu(batch);
  gpu.made->run(batch, on_gpu);
  cpu.made->run(batch, on_cpu);
  EXPECT_EQ(on_gpu.q, on_cpu.q);
  EXPECT_EQ(on_gpu.qd, on_cpu.qd);
  EXPECT_EQ(on_gpu.outcome, on_cpu.outcome);
  EXPECT_EQ(on_gpu.steps, on_cpu.steps);
  EXPECT_NE(on_gpu.outcome[5], Outcome::done);
}

TEST(CountSteps, RestsOfRoundingAreNone) {
  EXPECT_EQ(count_steps(0.0, 1.0, 0.001).whole, 1000);
  EXPECT_EQ(count_steps(0.0, 1.0, 0.001).rest, 0.0);
  EXPECT_EQ(count_steps(0.0, 0.3, 0.1).whole, 3);
  EXPECT_EQ(count_steps(0.0, 0.3, 0.1).rest, 0.0);
  EXPECT_EQ(count_steps(2.0, 2.35, 0.1).whole, 3);
  EXPECT_NEAR(count_steps(2.0, 2.35, 0.1).rest, 0.05, 1e-15);
  EXPECT_EQ(count_steps(0.0, 0.05, 0.1).whole, 0);
  EXPECT_EQ(count_steps(0.0, 0.05, 0.1).rest, 0.05);
  for (const double step : {2.0, 1e10, 1e16, 1e17, 1e300}) {
    EXPECT_EQ(count_steps(0.0, 1.0, step).whole, 0) << step;
    EXPECT_EQ(count_steps(0.0, 1.0, step).rest, 1.0) << step;
  }
}

TEST(FindGpu, SaysWhyThereIsNone) {
  const FoundGpu found = find_gpu();
  EXPECT_EQ(found.gpu == nullptr, !found.why_not.empty());
}

}  // namespace
}  // namespace mechanician
