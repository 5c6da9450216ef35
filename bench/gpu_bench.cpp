/// Ensembles on a GPU: many motions of fixed steps of one model, steps per second, and how they compare with the processor.
///
///     bench_gpu MODEL.toml [MOTIONS [STEPS [STEP]]]      4,000,000 motions, 1,000 steps of 1 ms
///
/// Starts are those of the model, turned a little: its velocities get a spread that is projected onto the constraints by the first
/// reading of them (start positions are the model's own, so that they hold). Prints one JSON object.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <random>

#include "mechanician/compile/device_functions.hpp"
#include "mechanician/compile/host_arithmetic_for_test.hpp"
#include "mechanician/compile/projection_program.hpp"
#include "mechanician/compile/ptx_code.hpp"
#include "mechanician/compile/violation_program.hpp"
#include "mechanician/ensemble/gpu_runner.hpp"
#include "mechanician/model/read_model.hpp"

namespace mechanician {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// What is left over is counted, not done.
class Nobody : public MotionRunner {
 public:
  void run(const MotionBatch& batch, BatchResult&) override { left += batch.count; }
  std::unique_ptr<MotionRunner> clone() const override { return std::make_unique<Nobody>(); }
  int lanes() const override { return 1; }
  int preferred_batch() const override { return 1; }
  std::string_view device() const override { return "cpu"; }
  static inline long left = 0;
};

/// Bits of every function on the device that are not those of the host; of 1,000,000 arguments each.
long count_function_mismatches(Gpu& gpu) {
  DeviceFunctions<HostArithmetic> host;
  const auto expected = [&](Op op, double a, double b) {
    switch (op) {
      case Op::sin:
        return host.sine_cosine(a).sine;
      case Op::cos:
        return host.sine_cosine(a).cosine;
      case Op::tan:
        return host.tan(a);
      case Op::asin:
        return host.asin(a);
      case Op::acos:
        return host.acos(a);
      case Op::atan:
        return host.atan(a);
      case Op::atan2:
        return host.atan2(a, b);
      case Op::sinh:
        return host.sinh(a);
      case Op::cosh:
        return host.cosh(a);
      case Op::tanh:
        return host.tanh(a);
      case Op::asinh:
        return host.asinh(a);
      case Op::acosh:
        return host.acosh(a);
      case Op::atanh:
        return host.atanh(a);
      case Op::exp:
        return host.exp(a);
      case Op::log:
        return host.log(a);
      case Op::hypot:
        return host.hypot(a, b);
      case Op::pow:
        return host.pow(a, b);
      case Op::div:
        return a / b;
      case Op::sqrt:
        return std::sqrt(a);
      default:
        return a;
    }
  };
  constexpr std::size_t count = 1'000'000;
  std::mt19937_64 random(901);
  std::uniform_real_distribution<double> number(-3, 3);
  std::vector<double> inputs;
  for (std::size_t i = 0; i < 2 * count; ++i)
    inputs.push_back(number(random) * (i % 7 == 0 ? 1e-3 : i % 11 == 0 ? 100.0 : 1.0));
  long wrong = 0;
  for (const Op op : {Op::sin, Op::cos, Op::tan, Op::asin, Op::acos, Op::atan, Op::atan2, Op::sinh, Op::cosh, Op::tanh,
                      Op::asinh, Op::acosh, Op::atanh, Op::exp, Op::log, Op::hypot, Op::pow, Op::div, Op::sqrt}) {
    Program program;
    program.num_inputs = 2;
    program.steps = {{action_of(op), 0, row_of(op).arity > 1 ? 1 : 0, 0}};
    program.outputs = {2};
    const Gpu::Kernel kernel = gpu.load(make_ptx_map(program), ptx_map_entry);
    GpuMemory in(gpu, 16 * count), out(gpu, 8 * count);
    std::vector<double> outputs(count, -77.0);
    gpu.copy_in(in.address(), inputs.data(), 16 * count);
    const std::uint64_t arguments[] = {in.address(), out.address(), count};
    gpu.launch(kernel, (count + 127) / 128, 128, arguments);
    gpu.copy_out(outputs.data(), out.address(), 8 * count);
    long of_this = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double want = expected(op, inputs[2 * i], inputs[2 * i + 1]);
      if (!(want == outputs[i] || (std::isnan(want) && std::isnan(outputs[i])))) ++of_this;
    }
    if (of_this) fmt::print(stderr, "{}: {} of {} differ\n", row_of(op).name, of_this, count);
    wrong += of_this;
  }
  return wrong;
}

/// Velocities of many motions, on the constraints.
MotionBatch make_batch(const Equations& eqs, const StartState& start, const std::vector<double>& parameters,
                       int count) {
  MotionBatch batch;
  batch.count = count, batch.n = eqs.n(), batch.num_parameters = static_cast<int>(parameters.size());
  for (int k = 0; k < count; ++k) batch.parameters.insert(batch.parameters.end(), parameters.begin(), parameters.end());
  const auto n = static_cast<std::size_t>(eqs.n());
  ProgramOptions options;
  options.parameters = parameters;
  const ProjectionProgramResult projection = make_projection_program(eqs, ProjectionOf::velocities, options);
  std::mt19937_64 random(902);
  std::uniform_real_distribution<double> spread(-0.5, 0.5);
  std::vector<double> registers, values;
  if (projection.made)
    registers.resize(static_cast<std::size_t>(projection.made->program.num_registers())),
        values.resize(static_cast<std::size_t>(projection.made->program.num_outputs()));
  for (int k = 0; k < count; ++k) {
    std::vector<double> inputs{start.time};
    inputs.insert(inputs.end(), start.q.begin(), start.q.end());
    for (const double v : start.qd) inputs.push_back(v + spread(random));
    if (projection.made) {
      projection.made->program.evaluate(inputs.data(), registers.data(), values.data());
      for (std::size_t i = 0; i < n; ++i) inputs[1 + n + i] += values[i];
    }
    batch.q.insert(batch.q.end(), inputs.begin() + 1, inputs.begin() + 1 + static_cast<std::ptrdiff_t>(n));
    batch.qd.insert(batch.qd.end(), inputs.begin() + 1 + static_cast<std::ptrdiff_t>(n), inputs.end());
  }
  return batch;
}

int bench(const char* file, int count, int steps, double h) {
  const FoundGpu found = find_gpu();
  if (!found.gpu) {
    fmt::print(stderr, "no GPU: {}\n", found.why_not);
    return 1;
  }
  const long mismatches = count_function_mismatches(*found.gpu);
  const Model model = read_model(file);
  const ParameterValues parameters = evaluate_parameters(model);
  const StartState start = start_state(model, parameters);
  const System system(model, parameters.values);
  const Equations& eqs = system.equations();
  const ProgramOptions options = make_lane_options(system, state_of(start), std::vector<int>{});
  const VariedParameters varied(system, options);
  const StepProgramResult step = make_step_program(eqs, options);
  if (!step.made) {
    fmt::print(stderr, "no step program: {}\n", step.reason);
    return 1;
  }
  const Program violation = make_violation_program(eqs, options);
  const MotionBatch batch = make_batch(eqs, start, parameters.values, count);

  // Against the processor, a hundred steps of some.
  const int few = std::min(count, 1000);
  MotionBatch some = batch;
  some.count = few;
  some.q.resize(static_cast<std::size_t>(few) * static_cast<std::size_t>(batch.n)), some.qd.resize(some.q.size());
  BatchResult check(some);
  GpuRunner(found.gpu, *step.made, violation, varied,
            {.method = EnsembleMethod::rk4, .step = h, .to = start.time + 100 * h}, std::make_unique<Nobody>())
      .run(some, check);
  double difference = 0.0, size = 0.0;
  std::vector<double> registers(static_cast<std::size_t>(step.made->program.num_registers())),
      outputs(static_cast<std::size_t>(2 * batch.n + 1));
  const auto n = static_cast<std::size_t>(batch.n);
  for (std::size_t k = 0; k < static_cast<std::size_t>(few); ++k) {
    std::vector<double> inputs{start.time, h};
    inputs.insert(inputs.end(), some.q.begin() + static_cast<std::ptrdiff_t>(k * n),
                  some.q.begin() + static_cast<std::ptrdiff_t>(k * n + n));
    inputs.insert(inputs.end(), some.qd.begin() + static_cast<std::ptrdiff_t>(k * n),
                  some.qd.begin() + static_cast<std::ptrdiff_t>(k * n + n));
    for (int i = 0; i < 100; ++i) {
      inputs[0] = std::fma(i, h, start.time);
      step.made->program.evaluate(inputs.data(), registers.data(), outputs.data());
      std::copy_n(outputs.begin(), 2 * n, inputs.begin() + 2);
    }
    for (std::size_t i = 0; i < n; ++i) {
      difference = std::max({difference, std::abs(inputs[2 + i] - check.q[k * n + i]),
                             std::abs(inputs[2 + n + i] - check.qd[k * n + i])});
      size = std::max({size, std::abs(inputs[2 + i]), std::abs(inputs[2 + n + i])});
    }
  }

  const auto begin = Clock::now();
  GpuRunner runner(found.gpu, *step.made, violation, varied,
                   {.method = EnsembleMethod::rk4, .step = h, .to = start.time + steps * h},
                   std::make_unique<Nobody>());
  const double compile_seconds = seconds_since(begin);
  std::vector<double> rates, whole;
  BatchResult result;
  for (int repetition = 0; repetition < 5; ++repetition) {
    result = BatchResult(batch);
    const double before = runner.kernel_seconds();
    const auto start_of_run = Clock::now();
    runner.run(batch, result);
    whole.push_back(static_cast<double>(count) * steps / seconds_since(start_of_run));
    rates.push_back(static_cast<double>(count) * steps / (runner.kernel_seconds() - before));
  }
  std::sort(rates.begin(), rates.end());
  std::sort(whole.begin(), whole.end());
  fmt::print(
      "{{\"model\": \"{}\", \"device\": \"{}\", \"motions\": {}, \"steps\": {}, \"operations_per_step\": {},\n"
      " \"steps_per_second\": {:.4g}, \"steps_per_second_with_copies\": {:.4g}, \"compile_seconds\": {:.3g},\n"
      " \"largest_constraint_violation\": {:.3g}, \"left_to_processor\": {},\n"
      " \"difference_from_processor_after_100_steps\": {:.3g}, \"size\": {:.3g}, \"functions_with_other_bits\": {}}}\n",
      model.title, found.gpu->name(), count, steps, step.made->program.steps.size(), rates[2], whole[2],
      compile_seconds, *std::max_element(result.violation.begin(), result.violation.end()), Nobody::left, difference,
      size, mismatches);
  return mismatches == 0 ? 0 : 1;
}

}  // namespace
}  // namespace mechanician

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "bench_gpu MODEL.toml [MOTIONS [STEPS [STEP]]]\n");
    return 2;
  }
  try {
    return mechanician::bench(argv[1], argc > 2 ? std::atoi(argv[2]) : 4'000'000, argc > 3 ? std::atoi(argv[3]) : 1000,
                              argc > 4 ? std::atof(argv[4]) : 1e-3);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
