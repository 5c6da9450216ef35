// run of models with families that are too large to be written out member by member.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <tuple>

#include "mechanician/base/text.hpp"
#include "mechanician/base/version.hpp"
#include "mechanician/cli/commands.hpp"
#include "mechanician/cli/large_loading.hpp"
#include "mechanician/cli/run_parts.hpp"
#include "mechanician/large/kernel_equations.hpp"
#include "mechanician/large/large_dynamics.hpp"

namespace mechanician {

namespace {

Columns columns_of(const LargeSystem& system, const std::string& patterns) {
  ColumnSource source;
  source.num_coordinates = system.n(), source.num_constraints = system.m();
  source.coordinate = [&](long i) { return system.model().name_of(i); };
  source.constraint = [&](long j) { return system.row_name(static_cast<int>(j)); };
  source.outputs = output_names(system.model());
  return Columns(source, patterns);
}

RunSetup setup_of(const LargeSystem& system, State start, const MotionOptions& motion, std::optional<double> every) {
  RunSetup setup;
  const FamilyModel& model = system.model();
  setup.model = model.source;
  setup.parameter_names = model.parameter_names;
  setup.parameters = model.parameters;
  for (const NumberFamily& list : model.numbers)
    setup.parameters.insert(setup.parameters.end(), list.values.begin(), list.values.end());
  setup.start = std::move(start);
  setup.motion = motion;
  setup.every = every;
  setup.large = true;
  setup.version = version();
  return setup;
}

std::unique_ptr<Recorder> make_recorder(LargeSystem& system, RunSetup setup) {
  Columns columns = columns_of(system, setup.columns);
  const State start = setup.start;
  return std::make_unique<Recorder>(std::move(columns), std::move(setup), [&](const MotionOptions& options) {
    return Integrator(make_large_steps(system, start, options));
  });
}

/// What the file says, overridden by the command line.
MotionOptions motion_options(const RunOptions& run, const CommandOptions& options, const Large& large) {
  const FamilyModel& model = large.system.model();
  const auto wrong = [&](std::string message, std::string hint, const Place& place = {}) {
    return ModelError({{place, std::move(message), std::move(hint)}}, model.source);
  };
  MotionOptions motion;
  if (!run.to && !model.run.to)
    throw wrong("nothing says how long the run is to be", "write `to = 10.0` in the section [run], or give --to 10");
  motion.to = run.to ? *run.to : *model.run.to;
  if (!(motion.to > large.start.t)) {
    const std::string message = fmt::format("the run would end at t = {}, but it starts at t = {}",
                                            short_number(motion.to), short_number(large.start.t));
    if (run.to) throw UsageError(fmt::format("--to {}: {}", options.to, message));
    throw wrong(message, "the end must be later than the start", model.run_places.to);
  }
  motion.tolerance = run.tolerance ? *run.tolerance : model.run.tolerance;
  if (const std::string why = wrong_tolerance(motion.tolerance); !why.empty())
    throw wrong("`run.tolerance` cannot be met, or means nothing", why, model.run_places.tolerance);
  if (const auto every = run.every ? run.every : model.run.every; every)
    if (const std::string why = wrong_every(*every, large.start.t, motion.to); !why.empty())
      throw wrong("rows cannot follow each other so closely", why);
  motion.method = run.method ? *run.method : method_of(model.run.method).value_or(Method::automatic);
  return motion;
}

/// Moved onto the constraints, and by how much; throws where that does not succeed.
void project_start(Large& large, bool quiet) {
  LargeDynamics dynamics(large.system);
  LargeSystem::Start& start = large.start;
  large.system.settle_sides(start.t, start.q, start.qd);
  const LargeSystem::Start given = start;
  if (!dynamics.project(start.t, start.q.data(), start.qd.data()))
    throw ModelError({{{}, fmt::format("the start cannot be moved onto the constraints: {}", dynamics.why()), {}}},
                     large.system.model().source);
  double moved = 0.0;
  for (std::size_t i = 0; i < start.q.size(); ++i)
    moved = std::max({moved, std::abs(start.q[i] - given.q[i]), std::abs(start.qd[i] - given.qd[i])});
  if (moved > 0.0 && !quiet)
    say("{}: note: the start was moved onto the constraints, by {} at most in a coordinate or velocity\n",
        large.system.model().source.file, short_number(moved));
}

}  // namespace

std::optional<Exit> run_large(const CommandOptions& options) {
  auto large = load_large(options, least_for_kernels, LargeSystem::Kinks::held);
  if (!large) return std::nullopt;
  const RunOptions run = parse_run_options(options);
  const MotionOptions motion = motion_options(run, options, *large);
  LargeSystem& system = large->system;
  if (!options.report.empty()) {
    if (system.n() <= most_for_the_ordinary_path) return std::nullopt;
    throw UsageError(fmt::format("--report is for models of at most {} coordinates, and this one has {}",
                                 most_for_the_ordinary_path, system.n()));
  }
  check_columns([&] { columns_of(system, options.columns); });
  if (options.project_start) project_start(*large, options.quiet);
  RunSetup setup = setup_of(system, state_of(large->start), motion, run.every ? run.every : system.model().run.every);
  setup.verify = options.verify;
  setup.columns = options.columns;
  const auto recorder = make_recorder(system, std::move(setup));
  if (refuse_motion(system.model().source, *recorder)) return Exit::refused;
  const InterruptFlag interrupt;  // before there is a file that could be left half begun
  const auto writer = options.output.empty()
                          ? make_standard_output_writer(run.format.value_or(ResultFormat::csv), recorder->header())
                          : make_writer(options.output, *run.format, recorder->header());
  return run_to_end(system.model().source, *recorder, *writer, options, options.output, interrupt);
}

Exit resume_large(StoredRun run, const CommandOptions& options, const InterruptFlag& interrupt) {
  const auto damaged = [&](const std::string& why) {
    return FileError(fmt::format("{}: the file is damaged: {}", run.source, why));
  };
  const RunSetup& stored = run.setup;
  FamilyModel model = read_family_model_text(stored.model.text, stored.model.file);
  if (stored.parameters.size() < model.parameters.size()) throw damaged("it does not fit its model");
  ParameterOverrides then;
  for (std::size_t i = 0; i < model.parameters.size(); ++i)
    then.emplace(model.parameter_names[i], stored.parameters[i]);
  model = read_family_model_text(stored.model.text, stored.model.file, then);
  // Lists as they were then, whatever a CSV file says now.
  std::size_t at = model.parameters.size();
  for (NumberFamily& list : model.numbers)
    for (double& x : list.values) {
      if (at >= stored.parameters.size()) throw damaged("it does not fit its model");
      x = stored.parameters[at++];
    }
  if (at != stored.parameters.size() || stored.start.q.size() != model.num_coordinates())
    throw damaged("it does not fit its model");
  LargeSystem system(std::move(model), 0, LargeSystem::Kinks::held);
  RunSetup setup = setup_of(system, stored.start, stored.motion, stored.every);
  setup.verify = stored.verify, setup.columns = stored.columns;
  std::unique_ptr<Recorder> recorder;
  try {
    recorder = make_recorder(system, std::move(setup));
    if (!run.checkpoint.motion.empty()) recorder->restore(run.checkpoint);
  } catch (const std::invalid_argument& e) {
    throw damaged(e.what());
  }
  if (refuse_motion(system.model().source, *recorder)) return Exit::refused;
  if (!options.quiet) say("{}: goes on at t = {:.10g}\n", run.source, recorder->integrator().t());
  const std::string file = run.file;
  const auto writer = make_resuming_hdf5_writer(std::move(run), recorder->header());
  return run_to_end(system.model().source, *recorder, *writer, options, file, interrupt);
}

}  // namespace mechanician
