#include "mechanician/cli/run_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "mechanician/base/text.hpp"
#include "mechanician/cli/saying.hpp"
#include "mechanician/motion/stage_model.hpp"
#include "mechanician/motion/tolerances.hpp"
#include "mechanician/report/report.hpp"

namespace mechanician {

std::string wrong_tolerance(double tolerance) {
  if (tolerance >= smallest_tolerance && tolerance <= largest_tolerance) return {};
  return fmt::format("it must be at least {}, which is as much as rounding, and at most {}; for example 1e-9",
                     smallest_tolerance, largest_tolerance);
}

std::string wrong_every(double every, double begin, double end) {
  constexpr double eps = std::numeric_limits<double>::epsilon();
  const double least = 4.0 * eps * std::max(std::abs(begin), std::abs(end));
  if (every > least) return {};
  return fmt::format(
      "the time between two rows is lost in the rounding of the time, which goes to {}: it must be above {}",
      short_number(std::abs(end) > std::abs(begin) ? end : begin), short_number(least));
}

void refuse_report(const CommandOptions& options) {
  if (!options.report.empty() && !report_page())
    throw UsageError(
        "--report: this program was built without the report page (node, npm or its packages could not be had when it "
        "was built)");
  if (!options.report.empty() && !options.report.ends_with(".html"))
    throw UsageError(fmt::format("--report {}: the name must end in .html", options.report));
}

RunOptions parse_run_options(const CommandOptions& options) {
  if (options.json && !options.output.empty())
    throw UsageError("--json writes the result to standard output and -o to a file: give one of them");
  refuse_report(options);
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
  const RunOptions motion = parse_motion_options(options);
  run.tolerance = motion.tolerance, run.method = motion.method;
  return run;
}

RunOptions parse_motion_options(const CommandOptions& options) {
  RunOptions run;
  if (!options.tolerance.empty()) {
    run.tolerance = parse_number(options.tolerance, "--tolerance");
    if (const std::string wrong = wrong_tolerance(*run.tolerance); !wrong.empty())
      throw UsageError(fmt::format("--tolerance {}: {}", options.tolerance, wrong));
  }
  if (!options.method.empty() && !(run.method = method_of(options.method))) {
    const std::string near = nearest(options.method, std::vector<std::string>{"auto", "dop853", "bdf"});
    throw UsageError(fmt::format("--method {}: {}", options.method,
                                 near.empty() ? "it is auto, dop853 or bdf" : "did you mean `" + near + "`?"));
  }
  return run;
}

bool accept_start(Loaded& loaded, const CommandOptions& options) {
  Loaded at_start{system_at_start(loaded.system), loaded.start};
  if (!assemble_start(at_start, options)) return false;
  loaded.start = at_start.start;
  const System& system = at_start.system;
  const Instant instant = accelerate(system, loaded.start);
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

bool refuse_motion(const SourceText& source, const Recorder& recorder) {
  if (!recorder.refusal()) return false;
  say({recorder.refusal()->message, {}, recorder.refusal()->place}, "error", source);
  return true;
}

void check_columns(const std::function<void()>& make) {
  try {
    make();
  } catch (const std::invalid_argument& e) {
    throw UsageError(fmt::format("--columns: {}", e.what()));
  }
}

Exit run_to_end(const SourceText& source, Recorder& recorder, ResultWriter& writer, const CommandOptions& options,
                const std::string& file, const InterruptFlag& interrupt,
                const std::function<void(const Summary&)>& at_end) {
  ProgressBar bar(options.quiet || options.json ? ProgressBar::Mode::silent : ProgressBar::Mode::if_terminal);
  const Summary summary = recorder.run(writer, [&](const RunProgress& progress) {
    bar.update(progress);
    return !interrupt.raised();
  });
  bar.clear();
  const Integrator& integrator = recorder.integrator();
  if (at_end) at_end(summary);
  if (summary.status == RunStatus::failed) say({summary.message, {}, integrator.stop().place}, "error", source);
  if (!options.quiet) {
    if (summary.status == RunStatus::stopped) say({summary.message, {}, integrator.stop().place}, "note", source);
    say("{}", summary_text(summary, integrator.events(), recorder.columns()));
  } else if (!summary.certificate.holds) {
    say("mechanician: {}\n", trust_line(summary));
  }
  if (summary.status == RunStatus::interrupted && !options.quiet) {
    say("mechanician: interrupted; what was computed is kept\n");
    if (format_of(file) == ResultFormat::hdf5)
      say("mechanician: `mechanician run --resume {}` goes on with it\n", file);
  }
  return exit_of(summary.status);
}

}  // namespace mechanician
