#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "mechanician/base/text.hpp"
#include "mechanician/base/version.hpp"
#include "mechanician/cli/commands.hpp"
#include "mechanician/cli/loading.hpp"
#include "mechanician/cli/progress.hpp"
#include "mechanician/cli/run_parts.hpp"
#include "mechanician/cli/saying.hpp"
#include "mechanician/model/family_model.hpp"
#include "mechanician/model/read_model.hpp"
#include "mechanician/motion/stage_model.hpp"
#include "mechanician/report/report.hpp"
#include "mechanician/result/hdf5_writer.hpp"
#include "mechanician/result/record.hpp"
#include "mechanician/result/text_sink.hpp"

namespace mechanician {

namespace {

[[noreturn]] void refuse_value(const System& system, const std::string& key, std::string message, std::string hint) {
  throw ModelError({{system.place_of(key), std::move(message), std::move(hint)}}, system.source());
}

/// What the file says, overridden by the command line.
MotionOptions motion_options(const RunOptions& run, const CommandOptions& options, const Loaded& loaded) {
  const System& system = loaded.system;
  const RunSettings& stated = system.run_settings();
  MotionOptions motion;
  if (!run.to && !stated.to)
    refuse_value(system, "run.to", "nothing says how long the run is to be",
                 "write `to = 10.0` in the section [run], or give --to 10");
  motion.to = run.to ? *run.to : *stated.to;
  if (!(motion.to > loaded.start.t)) {
    const std::string message = fmt::format("the run would end at t = {}, but it starts at t = {}",
                                            short_number(motion.to), short_number(loaded.start.t));
    if (run.to) throw UsageError(fmt::format("--to {}: {}", options.to, message));
    refuse_value(system, "run.to", message, "the end must be later than the start");
  }
  motion.tolerance = run.tolerance ? *run.tolerance : stated.tolerance;
  if (std::string wrong = wrong_tolerance(motion.tolerance); !wrong.empty())
    refuse_value(system, "run.tolerance", "`run.tolerance` cannot be met, or means nothing", std::move(wrong));
  motion.method = run.method ? *run.method : method_of(stated.method).value_or(Method::automatic);
  motion.sampled = loaded.sampled;
  motion.scale = system.scale();
  if (!options.scale.empty()) {
    motion.scale.resize(static_cast<std::size_t>(system.n()), 0.0);
    assign(motion.scale, options.scale, system, "--scale");
  }
  return motion;
}

/// What is written beside the result, and how.
struct ReportFile {
  ReportRecorder rows;
  std::unique_ptr<TextSink> sink;  ///< opened before the run: a name that cannot be written is said at once
};

Exit start_run(const CommandOptions& options) {
  const RunOptions run = parse_run_options(options);
  Loaded loaded = load(options);
  const MotionOptions motion = motion_options(run, options, loaded);
  const std::optional<double> every = run.every ? run.every : loaded.system.run_settings().every;
  if (std::string wrong = every ? wrong_every(*every, loaded.start.t, motion.to) : std::string(); !wrong.empty()) {
    if (run.every) throw UsageError(fmt::format("--every {}: {}", options.every, wrong));
    refuse_value(loaded.system, "run.every", "`run.every` is too small", std::move(wrong));
  }
  if (!accept_start(loaded, options)) return Exit::refused;
  RunSetup setup = make_setup(loaded.system, loaded.start, motion, every, options.verify);
  setup.columns = options.columns, setup.tables = loaded.tables;
  check_columns([&] { Columns(loaded.system, options.columns); });
  Recorder recorder(loaded.system, std::move(setup));
  if (refuse_motion(loaded.system.source(), recorder)) return Exit::refused;
  const InterruptFlag interrupt;  // before there is a file that could be left half begun
  const auto writer = options.output.empty()
                          ? make_standard_output_writer(run.format.value_or(ResultFormat::csv), recorder.header())
                          : make_writer(options.output, *run.format, recorder.header());
  std::optional<ReportFile> report;
  if (!options.report.empty()) {
    report.emplace(
        ReportFile{ReportRecorder(loaded.system, recorder.header().setup, view_for(loaded.system, loaded.start)),
                   make_file_sink(options.report)});
    recorder.watch([&](Integrator& integrator) { report->rows.look(integrator); });
  }
  return run_to_end(loaded.system.source(), recorder, *writer, options, options.output, interrupt,
                    [&](const Summary& summary) {
                      if (!report) return;
                      Integrator& integrator = recorder.integrator();
                      report->rows.finish(integrator);
                      report->sink->append(report_html(*report_page(), {loaded.system, recorder.header().setup.start,
                                                                        report->rows, summary, integrator.events()}));
                      report->sink->finish();
                    });
}

/// Everything but --quiet, the model and a later end comes from the file.
void refuse_options_of_resume(const CommandOptions& o) {
  const std::pair<const char*, bool> given[] = {
      {"--every", !o.every.empty()},
      {"--tolerance", !o.tolerance.empty()},
      {"--method", !o.method.empty()},
      {"--scale", !o.scale.empty()},
      {"--verify", o.verify},
      {"--project-start", o.project_start},
      {"--from", !o.start_from.empty()},
      {"--set", !o.set.empty()},
      {"--base", !o.base.empty()},
      {"--position", !o.position.empty()},
      {"--velocity", !o.velocity.empty()},
      {"--time", !o.time.empty()},
      {"-o", !o.output.empty()},
      {"--json", o.json},
      {"--columns", !o.columns.empty()},
      {"--report", !o.report.empty()},
  };
  for (const auto& [name, is_given] : given)
    if (is_given) throw UsageError(fmt::format("--resume takes everything from the file: {} cannot be given", name));
}

/// Nothing is left to compute: says so. Otherwise none.
std::optional<Exit> already_over(const StoredRun& run) {
  if (run.part) return std::nullopt;
  say("{}: nothing to go on with: the run is {}{}{}\n", run.file,
      run.status == RunStatus::suspect ? "done, but not to be trusted" : name_of(run.status),
      run.message.empty() ? "" : ": ", run.message);
  return exit_of(run.status);
}

FileError damaged(const StoredRun& run, std::string_view why) {
  return FileError(fmt::format("{}: the file is damaged: {}", run.source, why));
}

/// The model of a run with the parameters that it had then, those that sizes of families are made of and lists of numbers
/// included, whatever a CSV file says now.
FamilyModel stated_model(const StoredRun& run) {
  const RunSetup& then = run.setup;
  FamilyModel model = read_family_model_text(then.model.text, then.model.file);
  // Single parameters may say how long lists are; where they stand among the values follows from the lists before them.
  if (!set_parameter_values(model, then.parameters)) throw damaged(run, "it does not fit its model");
  ParameterOverrides overrides;
  for (std::size_t i = 0; i < model.parameters.size(); ++i) {
    const auto unit = model.units.find(model.parameter_names[i]);
    overrides.emplace(model.parameter_names[i],
                      unit == model.units.end() ? model.parameters[i] : model.parameters[i] / unit->second.factor);
  }
  model = read_family_model_text(then.model.text, then.model.file, overrides);
  if (!set_parameter_values(model, then.parameters) || then.start.q.size() != model.num_coordinates())
    throw damaged(run, "it does not fit its model");
  return model;
}

Exit resume_run(const CommandOptions& options) {
  refuse_options_of_resume(options);
  const InterruptFlag interrupt;
  StoredRun run = open_stored_run(options.resume, !options.to.empty());
  if (!options.model.empty() && read_family_model(options.model).source.text != run.setup.model.text) {
    say("{}: error: this is not the model of the run in {}\n"
        "    leave it out: the result holds its model, `{}` as it was then\n",
        options.model, run.source, run.setup.model.file);
    return Exit::refused;
  }
  const double old_end = run.setup.motion.to;
  if (!options.to.empty()) {
    const double to = parse_number(options.to, "--to");
    if (run.status != RunStatus::done)
      throw UsageError(fmt::format("--to: the run in {} is {}, and only one that has reached its end goes on past it",
                                   run.source, name_of(run.status)));
    if (!(to > old_end))
      throw UsageError(fmt::format("--to {}: the run has reached t = {} already", options.to, short_number(old_end)));
    run.setup.motion.to = to;
  }
  if (const auto over = already_over(run)) return *over;
  if (run.setup.version != version())
    say("{}: note: begun by version {}, goes on with {}: the last digits may differ\n", run.source, run.setup.version,
        version());

  FamilyModel stated = stated_model(run);
  if (name_tables(stated.tables) != run.setup.tables)
    throw FileError(fmt::format(
        "{}: a file that the model takes numbers from is not what it was when the run was begun", run.source));
  const System system(std::move(stated));
  RunSetup setup = make_setup(system, run.setup.start, run.setup.motion, run.setup.every, run.setup.verify);
  setup.columns = run.setup.columns, setup.tables = run.setup.tables;
  std::optional<Recorder> recorder;
  try {
    recorder.emplace(system, std::move(setup));
    if (!run.checkpoint.motion.empty()) recorder->restore(run.checkpoint);
  } catch (const std::invalid_argument& e) {
    throw damaged(run, e.what());
  }
  if (refuse_motion(system.source(), *recorder)) return Exit::refused;
  if (!options.quiet) say("{}: goes on at t = {:.10g}\n", run.source, recorder->integrator().t());
  if (!options.quiet && !options.to.empty())
    say("{}: note: the run has a step that ends at t = {:.10g}, and steps that a run of that length has: to the "
        "tolerance, "
        "and not to the bit, it is a run to t = {:.10g}\n",
        run.source, old_end, run.setup.motion.to);
  const std::string file = run.file;
  const auto writer = make_resuming_hdf5_writer(std::move(run), recorder->header());
  return run_to_end(system.source(), *recorder, *writer, options, file, interrupt);
}

}  // namespace

Exit run_run(const CommandOptions& options) {
  if (!options.resume.empty()) return resume_run(options);
  if (options.model.empty()) throw UsageError("run: MODEL is required\nTry `mechanician run --help`.");
  return start_run(options);
}

}  // namespace mechanician
