#include "mechanician/ensemble/gpu_runner.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "mechanician/compile/ptx_code.hpp"
#include "mechanician/compile/ptx_tables.hpp"
#include "mechanician/compile/violation_program.hpp"

namespace mechanician {

namespace {

std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }
constexpr unsigned threads = 128;
unsigned blocks_for(int count) { return (static_cast<unsigned>(count) + threads - 1) / threads; }

}  // namespace

GpuRunner::GpuRunner(std::shared_ptr<Gpu> gpu, const StepProgram& step, const Program& violation,
                     VariedParameters parameters, const EnsembleOptions& options, std::unique_ptr<MotionRunner> cpu)
    : gpu_(std::move(gpu)),
      options_(options),
      parameters_(std::move(parameters)),
      n_(step.n),
      step_(gpu_->load(make_ptx_step(step.program, step.n), ptx_step_entry)),
      violation_(gpu_->load(make_ptx_map(violation), ptx_map_entry)),
      cpu_(std::move(cpu)) {}

GpuRunner::GpuRunner(const GpuRunner& other, std::unique_ptr<MotionRunner> cpu)
    : gpu_(other.gpu_),
      options_(other.options_),
      parameters_(other.parameters_),
      n_(other.n_),
      step_(other.step_),
      violation_(other.violation_),
      cpu_(std::move(cpu)) {}

std::unique_ptr<MotionRunner> GpuRunner::clone() const {
  return std::unique_ptr<MotionRunner>(new GpuRunner(*this, cpu_->clone()));
}

void GpuRunner::run(const MotionBatch& batch, BatchResult& result) {
  parameters_.check(batch);
  const std::size_t width = (1 + 2 * static_cast<std::size_t>(n_) + parameters_.varied().size()) * 8 + 8 + 4;
  const auto room = static_cast<double>(gpu_->free_memory()) * 0.8 / static_cast<double>(width);
  const int most = static_cast<int>(std::clamp(room, 1.0, 1.0 * (1 << 24)));
  std::vector<int> left;
  for (int first = 0; first < batch.count; first += most)
    run_part(batch, first, std::min(most, batch.count - first), result, left);
  finish_on_cpu(batch, left, result);
}

void GpuRunner::run_part(const MotionBatch& batch, int first, int count, BatchResult& result, std::vector<int>& left) {
  const auto n = static_cast<std::size_t>(n_), p = parameters_.varied().size(), width = 1 + 2 * n + p;
  const auto motions = static_cast<std::size_t>(count), begin = static_cast<std::size_t>(first);
  std::vector<double>& rows = rows_;
  rows.resize(motions * width);
  for (std::size_t k = 0; k < motions; ++k) {
    double* const row = rows.data() + k * width;
    row[0] = batch.t;
    std::copy_n(batch.q.data() + (begin + k) * n, n, row + 1);
    std::copy_n(batch.qd.data() + (begin + k) * n, n, row + 1 + n);
    const double* const all = batch.parameters.data() + (begin + k) * static_cast<std::size_t>(batch.num_parameters);
    std::transform(parameters_.varied().begin(), parameters_.varied().end(), row + 1 + 2 * n,
                   [&](int i) { return all[i]; });
  }
  GpuMemory on_rows(*gpu_, rows.size() * 8), on_done(*gpu_, motions * 4), on_violation(*gpu_, motions * 8);
  std::vector<std::uint32_t>& done = done_;
  done.assign(motions, 0);
  gpu_->copy_in(on_rows.address(), rows.data(), rows.size() * 8);
  gpu_->copy_in(on_done.address(), done.data(), done.size() * 4);

  const StepCount steps = count_steps(batch.t, options_.to, options_.step);
  const auto advance = [&](double t, double h, std::int64_t origin, std::int64_t from, std::int64_t number) {
    const std::uint64_t arguments[] = {on_rows.address(),
                                       on_done.address(),
                                       motions,
                                       bits(t),
                                       bits(h),
                                       static_cast<std::uint64_t>(origin),
                                       static_cast<std::uint64_t>(from),
                                       static_cast<std::uint64_t>(number)};
    const double seconds = gpu_->launch(step_, blocks_for(count), threads, arguments);
    kernel_seconds_ += seconds;
    return seconds;
  };
  // Launches of about a quarter of a second: the device may also be somebody's screen.
  std::int64_t at_once = 256;
  for (std::int64_t at = 0; at < steps.whole;) {
    batch.go_on();
    const std::int64_t number = std::min(at_once, steps.whole - at);
    const double seconds = advance(batch.t, options_.step, 0, at, number);
    at += number;
    at_once = std::clamp<std::int64_t>(
        static_cast<std::int64_t>(static_cast<double>(number) * 0.25 / std::max(seconds, 1e-4)), 16, 1 << 24);
  }
  const auto total = steps.whole + (steps.rest > 0 ? 1 : 0);
  if (steps.rest > 0)
    advance(std::fma(static_cast<double>(steps.whole), options_.step, batch.t), steps.rest, steps.whole, steps.whole,
            1);

  const std::uint64_t arguments[] = {on_rows.address(), on_violation.address(), motions};
  gpu_->launch(violation_, blocks_for(count), threads, arguments);
  gpu_->copy_out(rows.data(), on_rows.address(), rows.size() * 8);
  gpu_->copy_out(done.data(), on_done.address(), done.size() * 4);
  gpu_->copy_out(result.violation.data() + begin, on_violation.address(), motions * 8);

  for (std::size_t k = 0; k < motions; ++k) {
    const double* const row = rows.data() + k * width;
    const std::size_t to = begin + k;
    if (done[k] != total || !std::all_of(row, row + 1 + 2 * n, [](double x) { return std::isfinite(x); })) {
      left.push_back(static_cast<int>(to));
      continue;
    }
    result.t[to] = options_.to;
    std::copy_n(row + 1, n, result.q.data() + to * n);
    std::copy_n(row + 1 + n, n, result.qd.data() + to * n);
    result.outcome[to] = Outcome::done;
    result.steps[to] = total;
    judge_fixed_steps(result, static_cast<int>(to));
  }
}

void GpuRunner::finish_on_cpu(const MotionBatch& batch, const std::vector<int>& left, BatchResult& result) {
  if (left.empty()) return;
  const auto n = static_cast<std::size_t>(batch.n), p = static_cast<std::size_t>(batch.num_parameters);
  MotionBatch some;
  some.count = static_cast<int>(left.size());
  some.num_parameters = batch.num_parameters;
  some.n = batch.n;
  some.t = batch.t;
  for (const int k : left) {
    const auto at = static_cast<std::ptrdiff_t>(k);
    const auto append = [&](std::vector<double>& to, const std::vector<double>& from, std::size_t size) {
      const auto begin = from.begin() + at * static_cast<std::ptrdiff_t>(size);
      to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(size));
    };
    append(some.parameters, batch.parameters, p);
    append(some.q, batch.q, n);
    append(some.qd, batch.qd, n);
  }
  BatchResult got(some);
  cpu_->run(some, got);
  for (std::size_t i = 0; i < left.size(); ++i) {
    const auto k = static_cast<std::size_t>(left[i]);
    result.t[k] = got.t[i];
    std::copy_n(got.q.data() + i * n, n, result.q.data() + k * n);
    std::copy_n(got.qd.data() + i * n, n, result.qd.data() + k * n);
    result.outcome[k] = got.outcome[i];
    result.reason[k] = std::move(got.reason[i]);
    result.steps[k] = got.steps[i];
    result.served[k] = got.steps[i];  // all of them by the processor
    result.violation[k] = got.violation[i];
    result.balance[k] = got.balance[i];
  }
}

GpuRunnerResult make_gpu_runner(std::shared_ptr<Gpu> gpu, const System& system, const State& nominal,
                                const EnsembleOptions& options, const LaneOptions& lanes) {
  LaneRunnerResult cpu = make_lane_runner(system, nominal, options, lanes);
  if (!cpu.made) return {nullptr, cpu.reason};
  const ProgramOptions programs = make_lane_options(system, nominal, lanes.varied);
  const StepProgramResult step = make_step_program(system.equations(), programs);
  if (!step.made) return {nullptr, step.reason};
  if (const char* why = why_no_tables(step.made->program)) return {nullptr, why};
  return {std::make_unique<GpuRunner>(std::move(gpu), *step.made, make_violation_program(system.equations(), programs),
                                      VariedParameters(system, programs), options, std::move(cpu.made)),
          {}};
}

}  // namespace mechanician
