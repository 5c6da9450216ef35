#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <optional>

#include "mechanician/base/text.hpp"
#include "mechanician/base/version.hpp"
#include "mechanician/cli/commands.hpp"
#include "mechanician/cli/loading.hpp"
#include "mechanician/cli/progress.hpp"
#include "mechanician/cli/saying.hpp"
#include "mechanician/model/read_model.hpp"
#include "mechanician/report/report.hpp"
#include "mechanician/result/hdf5_writer.hpp"
#include "mechanician/result/record.hpp"
#include "mechanician/result/text_sink.hpp"

namespace mechanician {

namespace {

constexpr double largest_tolerance = 0.1;

/// What the command line says of the run; checked before the model is read.
struct RunOptions {
  std::optional<ResultFormat> format;  ///< none: CSV to standard output
  std::optional<double> to, every, tolerance;
  std::optional<Method> method;
};

RunOptions parse_run_options(const CommandOptions& options) {
  if (options.json && !options.output.empty())
    throw UsageError("--json writes the result to standard output and -o to a file: give one of them");
  if (!options.report.empty() && !report_page())
    throw UsageError("--report: this program was built without the report page (node, npm or its packages could not be had when it was built)");
  if (!options.report.empty() && !options.report.ends_with(".html"))
    throw UsageError(fmt::format("--report {}: the name must end in .html", options.report));
  RunOptions run;
  if (!options.output.empty() && !(run.format = format_of(options.output)))
    throw UsageError(fmt::format("-o {}: the ending says the format: .csv, .json or .h5", options.output));
  if (options.json) run.format = ResultFormat::json;
  if (!options.to.empty()) run.to = parse_number(options.to, "--to");
  if (!options.every.empty()) {
    run.every = parse_number(options.every, "--every");
    if (!(*run.every > 0.0))
      throw UsageError(fmt::format("--every {}: the time between two rows must be positive", options.every));
  }
  if (!options.tolerance.empty()) {
    run.tolerance = parse_number(options.tolerance, "--tolerance");
    if (!(*run.tolerance > 0.0 && *run.tolerance <= largest_tolerance))
      throw UsageError(fmt::format("--tolerance {}: it must be above 0 and at most {}, for example 1e-9",
                                   options.tolerance, largest_tolerance));
  }
  if (!options.method.empty() && !(run.method = method_of(options.method))) {
    const std::string near = nearest(options.method, std::vector<std::string>{"auto", "dop853", "bdf"});
    throw UsageError(fmt::format("--method {}: {}", options.method,
                                 near.empty() ? "it is auto, dop853 or bdf" : "did you mean `" + near + "`?"));
  }
  return run;
}

Place place_of(const Model& model, const std::string& key) {
  const auto found = model.places.find(key);
  return found == model.places.end() ? Place{} : found->second;
}

[[noreturn]] void refuse_value(const Model& model, const std::string& key, std::string message, std::string hint) {
  throw ModelError({{place_of(model, key), std::move(message), std::move(hint)}}, model.source);
}

/// What the file says, overridden by the command line.
MotionOptions motion_options(const RunOptions& run, const CommandOptions& options, const Loaded& loaded) {
  const Model& model = loaded.system.model();
  MotionOptions motion;
  if (!run.to && !model.run.to)
    refuse_value(model, "run.to", "nothing says how long the run is to be",
                 "write `to = 10.0` in the section [run], or give --to 10");
  motion.to = run.to ? *run.to : *model.run.to;
  if (!(motion.to > loaded.start.t)) {
    const std::string message = fmt::format("the run would end at t = {}, but it starts at t = {}",
                                            short_number(motion.to), short_number(loaded.start.t));
    if (run.to) throw UsageError(fmt::format("--to {}: {}", options.to, message));
    refuse_value(model, "run.to", message, "the end must be later than the start");
  }
  motion.tolerance = run.tolerance ? *run.tolerance : model.run.tolerance;
  if (!(motion.tolerance > 0.0 && motion.tolerance <= largest_tolerance))
    refuse_value(model, "run.tolerance", "`run.tolerance` is too large to mean anything",
                 fmt::format("it must be above 0 and at most {}, for example 1e-9", largest_tolerance));
  motion.method = run.method ? *run.method : method_of(model.run.method).value_or(Method::automatic);
  return motion;
}

/// The start as asked for, or moved onto the constraints; false if it is refused.
bool accept_start(Loaded& loaded, const CommandOptions& options) {
  const System& system = loaded.system;
  Instant instant = accelerate(system, loaded.start);
  if (options.project_start && !nothing_to_show(instant) && !instant.violations().empty()) {
    const Projection projection = project(system, loaded.start);
    if (!projection.converged) {
      say(projection_offer(system, loaded.start, projection), "error", system);
      return false;
    }
    loaded.start = projection.state;
    if (!options.quiet)
      say({fmt::format("the start was moved onto the constraints, by {} at most in a coordinate or velocity",
                       short_number(projection.moved)),
           {},
           {}},
          "note", system);
    instant = accelerate(system, loaded.start);
  }
  bool refused = !instant.impact && refuse(system, instant);  // an impact is how some motions begin
  refused |= refuse_start(system, instant);
  if (!refused && !options.quiet) warn(system, instant);
  return !refused;
}

Exit exit_of(RunStatus status) {
  switch (status) {
    case RunStatus::done:
    case RunStatus::stopped:
      return Exit::done;
    case RunStatus::suspect:
      return Exit::suspect;
    case RunStatus::interrupted:
      return Exit::interrupted;
    case RunStatus::failed:
    case RunStatus::incomplete:
      break;
  }
  return Exit::stopped;
}

/// Why the motion cannot begin; true if it cannot.
bool refuse_motion(const System& system, const Recorder& recorder) {
  if (!recorder.refusal()) return false;
  say({recorder.refusal()->message, {}, recorder.refusal()->place}, "error", system);
  return true;
}

/// What is written beside the result, and how.
struct ReportFile {
  ReportRecorder rows;
  std::unique_ptr<TextSink> sink;  ///< opened before the run: a name that cannot be written is said at once
};

Exit run_to_end(const System& system, Recorder& recorder, ResultWriter& writer, const CommandOptions& options,
                const std::string& file, const InterruptFlag& interrupt, ReportFile* report = nullptr) {
  ProgressBar bar(options.quiet || options.json ? ProgressBar::Mode::silent : ProgressBar::Mode::if_terminal);
  const Summary summary = recorder.run(writer, [&](const RunProgress& progress) {
    bar.update(progress);
    return !interrupt.raised();
  });
  bar.clear();
  Integrator& integrator = recorder.integrator();
  if (report) {
    report->rows.finish(integrator);
    const State start = recorder.header().setup.start;
    report->sink->append(report_html(*report_page(), {system, start, report->rows, summary, integrator.events()}));
    report->sink->finish();
  }
  if (summary.status == RunStatus::failed) say({summary.message, {}, integrator.stop().place}, "error", system);
  if (!options.quiet) {
    if (summary.status == RunStatus::stopped) say({summary.message, {}, integrator.stop().place}, "note", system);
    fmt::print(stderr, "{}", summary_text(summary, integrator.events(), recorder.columns()));
  } else if (!summary.certificate.holds) {
    fmt::print(stderr, "mechanician: {}\n", trust_line(summary));
  }
  if (summary.status == RunStatus::interrupted && !options.quiet) {
    fmt::print(stderr, "mechanician: interrupted; what was computed is kept\n");
    if (format_of(file) == ResultFormat::hdf5)
      fmt::print(stderr, "mechanician: `mechanician run --resume {}` goes on with it\n", file);
  }
  return exit_of(summary.status);
}

Exit start_run(const CommandOptions& options) {
  const RunOptions run = parse_run_options(options);
  Loaded loaded = load(options);
  const MotionOptions motion = motion_options(run, options, loaded);
  const std::optional<double> every = run.every ? run.every : loaded.system.model().run.every;
  if (!accept_start(loaded, options)) return Exit::refused;
  Recorder recorder(loaded.system, make_setup(loaded.system, loaded.start, motion, every, options.verify));
  if (refuse_motion(loaded.system, recorder)) return Exit::refused;
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
  return run_to_end(loaded.system, recorder, *writer, options, options.output, interrupt, report ? &*report : nullptr);
}

/// Everything but --quiet and the model comes from the file.
void refuse_options_of_resume(const CommandOptions& o) {
  const std::pair<const char*, bool> given[] = {
      {"--to", !o.to.empty()},
      {"--every", !o.every.empty()},
      {"--tolerance", !o.tolerance.empty()},
      {"--method", !o.method.empty()},
      {"--verify", o.verify},
      {"--project-start", o.project_start},
      {"--set", !o.set.empty()},
      {"--position", !o.position.empty()},
      {"--velocity", !o.velocity.empty()},
      {"--time", !o.time.empty()},
      {"-o", !o.output.empty()},
      {"--json", o.json},
      {"--report", !o.report.empty()},
  };
  for (const auto& [name, is_given] : given)
    if (is_given) throw UsageError(fmt::format("--resume takes everything from the file: {} cannot be given", name));
}

/// Nothing is left to compute: says so. Otherwise none.
std::optional<Exit> already_over(const StoredRun& run) {
  if (run.part) return std::nullopt;
  fmt::print(stderr, "{}: nothing to go on with: the run is {}{}{}\n", run.file,
             run.status == RunStatus::suspect ? "done, but not to be trusted" : name_of(run.status),
             run.message.empty() ? "" : ": ", run.message);
  return exit_of(run.status);
}

Exit resume_run(const CommandOptions& options) {
  refuse_options_of_resume(options);
  const InterruptFlag interrupt;
  StoredRun run = open_stored_run(options.resume);
  if (!options.model.empty() && read_model(options.model).source.text != run.setup.model.text) {
    fmt::print(stderr,
               "{}: error: this is not the model of the run in {}\n"
               "    leave it out: the result holds its model, `{}` as it was then\n",
               options.model, run.source, run.setup.model.file);
    return Exit::refused;
  }
  if (const auto over = already_over(run)) return *over;
  if (run.setup.version != version())
    fmt::print(stderr, "{}: note: begun by version {}, goes on with {}: the last digits may differ\n", run.source,
               run.setup.version, version());

  Model model = read_model_text(run.setup.model.text, run.setup.model.file);
  // Sizes of families are made of parameters, which may have been given on the command line.
  if (run.setup.parameters.size() == model.parameters.size() && run.setup.start.q.size() != model.num_coordinates()) {
    ParameterOverrides then;
    for (std::size_t i = 0; i < model.parameters.size(); ++i)
      then.emplace(model.parameters[i].name, run.setup.parameters[i]);
    model = read_model_text(run.setup.model.text, run.setup.model.file, then);
  }
  const auto damaged = [&](const std::string& why) {
    return FileError(fmt::format("{}: the file is damaged: {}", run.source, why));
  };
  if (run.setup.parameters.size() != model.parameters.size() || run.setup.start.q.size() != model.num_coordinates())
    throw damaged("it does not fit its model");
  const System system(std::move(model), run.setup.parameters);
  RunSetup setup = make_setup(system, run.setup.start, run.setup.motion, run.setup.every, run.setup.verify);
  std::optional<Recorder> recorder;
  try {
    recorder.emplace(system, std::move(setup));
    if (!run.checkpoint.motion.empty()) recorder->restore(run.checkpoint);
  } catch (const std::invalid_argument& e) {
    throw damaged(e.what());
  }
  if (refuse_motion(system, *recorder)) return Exit::refused;
  if (!options.quiet) fmt::print(stderr, "{}: goes on at t = {:.10g}\n", run.source, recorder->integrator().t());
  const std::string file = run.file;
  const auto writer = make_resuming_hdf5_writer(std::move(run), recorder->header());
  return run_to_end(system, *recorder, *writer, options, file, interrupt);
}

}  // namespace

Exit run_run(const CommandOptions& options) {
  if (!options.resume.empty()) return resume_run(options);
  if (options.model.empty()) throw UsageError("run: MODEL is required\nTry `mechanician run --help`.");
  return start_run(options);
}

}  // namespace mechanician
