#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "mechanician/base/safe_text.hpp"
#include "mechanician/base/text.hpp"
#include "mechanician/cli/commands.hpp"
#include "mechanician/cli/loading.hpp"
#include "mechanician/cli/saying.hpp"
#include "mechanician/library/acceleration.hpp"
#include "mechanician/library/latex_document.hpp"
#include "mechanician/motion/stage_model.hpp"
#include "mechanician/output/json_writer.hpp"
#include "mechanician/result/text_sink.hpp"

namespace mechanician {

namespace {

void say_made(const CommandOptions& options, const ExportedFile& made) {
  if (!options.json) {
    show(fmt::format("{}: {} bytes\n", made.file, made.bytes));
  } else {
    JsonWriter json;
    json.begin_object();
    json.key("file").value(made.file);
    json.key("bytes").value(static_cast<Eigen::Index>(made.bytes));
    json.end_object();
    write_out(json.text());
  }
  if (!made.note.empty()) say("mechanician: note: {}\n", safe_text(elided(made.note, 300)));
}

/// The model, its equations and what is to be said of its start, as an article.
ExportedFile write_latex(const CommandOptions& options, const Loaded& loaded) {
  const std::string text = latex_document(loaded.system, loaded.start);
  const auto sink = make_file_sink(options.output);
  sink->append(text);
  sink->finish();
  return {options.output, text.size(), {}};
}

}  // namespace

Exit run_export(const CommandOptions& options) {
  Loaded loaded = load(options);
  // A start that is moved onto the constraints is that of numbers: it is where `run` begins.
  CommandOptions quietly = options;
  quietly.quiet = true;
  if (!assemble_start(loaded, quietly)) return Exit::refused;
  if (refuse(loaded.system, accelerate(system_at_start(loaded.system), loaded.start))) return Exit::refused;
  if (options.kind == "fmu" && !options.output.ends_with(".fmu"))
    throw UsageError(fmt::format("-o {}: an FMU is a file that ends with .fmu", options.output));
  try {
    if (options.kind == "c") say_made(options, write_c(loaded.system, loaded.start, options.output));
    if (options.kind == "fmu")
      say_made(options, write_fmu(loaded.system, loaded.start, options.output, options.fmi == "3.0" ? "3.0" : "2.0"));
    if (options.kind == "latex") say_made(options, write_latex(options, loaded));
  } catch (const std::invalid_argument& e) {
    say("{}: error: {}\n", options.model, e.what());
    return Exit::refused;
  }
  return Exit::done;
}

}  // namespace mechanician
