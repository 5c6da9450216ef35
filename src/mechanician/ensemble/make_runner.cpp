#include "mechanician/ensemble/make_runner.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "mechanician/compile/ptx_code.hpp"
#include "mechanician/compile/ptx_tables.hpp"
#include "mechanician/compile/violation_program.hpp"
#include "mechanician/ensemble/adaptive_runner.hpp"
#include "mechanician/ensemble/gpu_runner.hpp"
#include "mechanician/ensemble/lane_runner.hpp"
#include "mechanician/ensemble/single_runner.hpp"
#include "mechanician/ensemble/start_lanes.hpp"
#include "mechanician/instant/project.hpp"
#include "mechanician/motion/stage_model.hpp"

namespace mechanician {

namespace {

constexpr std::int64_t worth_a_gpu = 20'000;

std::unique_ptr<MotionRunner> make_cpu_runner(const System& system, const State& nominal,
                                              const EnsembleOptions& options, const Varied& varied) {
  auto single = std::make_unique<SingleRunner>(system, nominal, options, varied);
  // Lanes keep the end of a motion alone.
  if (system.n() > most_in_lanes || options.summarise || needs_single_runs(system)) return single;
  // Both keep to what the single one would do, and leave to it what they cannot do.
  LaneRunnerResult lanes = options.method == EnsembleMethod::rk4
                               ? make_lane_runner(system, nominal, options, {.varied = varied})
                               : make_adaptive_runner(system, nominal, options, {.varied = varied});
  if (lanes.made) return std::move(lanes.made);
  return single;
}

/// Null, and why, where it cannot be.
std::unique_ptr<MotionRunner> make_gpu_runner(const System& system, const State& nominal,
                                              const EnsembleOptions& options, const Varied& varied,
                                              std::string& why_not) {
  if (options.method != EnsembleMethod::rk4) {
    why_not = "a GPU takes steps of fixed size: give --method rk4 --step H";
    return nullptr;
  }
  if (why_not = refuse_fixed_steps(system.model()); !why_not.empty()) return nullptr;
  const FoundGpu found = find_gpu();
  if (!found.gpu) {
    why_not = found.why_not;
    return nullptr;
  }
  try {
    const RowsLeftOut dependent = find_dependent_rows(system, nominal);
    if (dependent.doubtful) {
      why_not = nearly_dependent;
      return nullptr;
    }
    const ProgramOptions programs = make_lane_options(system, nominal, dependent, varied);
    const StepProgramResult step = make_step_program(system.equations(), programs);
    if (!step.made) {
      why_not = step.reason;
      return nullptr;
    }
    if (const char* why = why_no_tables(step.made->program)) {
      why_not = why;
      return nullptr;
    }
    return std::make_unique<GpuRunner>(found.gpu, *step.made, make_violation_program(system.equations(), programs),
                                       VariedParameters(system, programs), options,
                                       make_cpu_runner(system, nominal, options, varied));
  } catch (const GpuError& e) {
    why_not = e.what();
    return nullptr;
  }
}

}  // namespace

std::string_view name_of(Device device) {
  switch (device) {
    case Device::automatic:
      return "auto";
    case Device::cpu:
      return "cpu";
    case Device::gpu:
      return "gpu";
  }
  return "auto";
}

std::unique_ptr<MotionRunner> make_runner(const System& system, const State& start, const EnsembleOptions& options,
                                          const RunnerOptions& runner) {
  // Programs are made for states on the constraints.
  State nominal = start;
  if (system.m() > 0)
    if (Projection projected = project_start(system_at_start(system), start); projected.converged)
      nominal = std::move(projected.state);
  const bool worth_it = options.method == EnsembleMethod::rk4 && runner.motions >= worth_a_gpu;
  if (runner.device == Device::gpu || (runner.device == Device::automatic && worth_it)) {
    std::string why_not;
    if (auto made = make_gpu_runner(system, nominal, options, runner.varied, why_not)) return made;
    if (runner.device == Device::gpu) throw std::invalid_argument(fmt::format("--device gpu: {}", why_not));
  }
  return make_cpu_runner(system, nominal, options, runner.varied);
}

}  // namespace mechanician
