#pragma once

/// The parts of `run`.

#include <functional>
#include <optional>
#include <string>

#include "mechanician/cli/loading.hpp"
#include "mechanician/cli/options.hpp"
#include "mechanician/cli/progress.hpp"
#include "mechanician/cli/standard_error.hpp"
#include "mechanician/result/hdf5_writer.hpp"
#include "mechanician/result/record.hpp"

namespace mechanician {

/// What is wrong with a tolerance, or with the time between two rows; empty: nothing.
std::string wrong_tolerance(double tolerance);
std::string wrong_every(double every, double begin, double end);

/// What the command line says of the run; checked before the model is read.
struct RunOptions {
  std::optional<ResultFormat> format;  ///< none: CSV to standard output
  std::optional<double> to, every, tolerance;
  std::optional<Method> method;
};

RunOptions parse_run_options(const CommandOptions& options);
/// Throws UsageError where --report cannot be written.
void refuse_report(const CommandOptions& options);
/// --tolerance and --method alone.
RunOptions parse_motion_options(const CommandOptions& options);

/// The start as asked for, or with --project-start moved onto the constraints; false if it is refused.
bool accept_start(Loaded& loaded, const CommandOptions& options);

Exit exit_of(RunStatus status);
/// Why the motion cannot begin; true if it cannot.
bool refuse_motion(const SourceText& source, const Recorder& recorder);
/// What `make` throws for patterns that fit nothing, as a mistake of the command line.
void check_columns(const std::function<void()>& make);

/// To the end, with a bar on the way and a summary; `at_end` is called when the rows are out.
Exit run_to_end(const SourceText& source, Recorder& recorder, ResultWriter& writer, const CommandOptions& options,
                const std::string& file, const InterruptFlag& interrupt,
                const std::function<void(const Summary&)>& at_end = {});

}  // namespace mechanician
