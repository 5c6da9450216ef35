#include <fmt/format.h>

#include <filesystem>

#include "mechanician/base/safe_text.hpp"
#include "mechanician/base/text.hpp"
#include "mechanician/cli/commands.hpp"
#include "mechanician/cli/loading.hpp"
#include "mechanician/cli/saying.hpp"
#include "mechanician/exports/c_model.hpp"
#include "mechanician/exports/fmu.hpp"
#include "mechanician/motion/stage_model.hpp"
#include "mechanician/output/json_writer.hpp"
#include "mechanician/result/text_sink.hpp"

namespace mechanician {

namespace {

void write_file(const std::string& file, const std::string& bytes) {
  const auto sink = make_file_sink(file);
  sink->append(bytes);
  sink->finish();
}

void say_made(const CommandOptions& options, const std::string& file, std::size_t bytes) {
  if (!options.json) return show(fmt::format("{}: {} bytes\n", file, bytes));
  JsonWriter json;
  json.begin_object();
  json.key("file").value(file);
  json.key("bytes").value(static_cast<Eigen::Index>(bytes));
  json.end_object();
  write_out(json.text());
}

void export_as_c(const CommandOptions& options, const Loaded& loaded, const std::string& name) {
  const CSources c = export_c(loaded.system, loaded.start, name);
  std::error_code error;
  std::filesystem::create_directories(options.output, error);
  const std::string path = options.output + "/" + name;
  // Both or none: the first is finished when the second can be written.
  const auto source = make_file_sink(path + ".c"), header = make_file_sink(path + ".h");
  source->append(c.source), header->append(c.header);
  source->finish(), header->finish();
  say_made(options, path + ".c", c.source.size());
}

void export_as_fmu(const CommandOptions& options, const Loaded& loaded, const std::string& name) {
  if (!options.output.ends_with(".fmu"))
    throw UsageError(fmt::format("-o {}: an FMU is a file that ends with .fmu", options.output));
  const Fmu fmu =
      export_fmu(loaded.system, loaded.start, name, options.fmi == "3.0" ? FmiVersion::three : FmiVersion::two);
  write_file(options.output, fmu.bytes);
  say_made(options, options.output, fmu.bytes.size());
  if (!fmu.has_binary)
    say("mechanician: note: the FMU has sources only: {}\n", safe_text(elided(fmu.why_no_binary, 300)));
}

}  // namespace

Exit run_export(const CommandOptions& options) {
  const Loaded loaded = load(options);
  if (refuse(loaded.system, accelerate(system_at_start(loaded.system), loaded.start))) return Exit::refused;
  const std::string name = c_name_of(options.model == "-" ? std::string("model.toml") : options.model);
  try {
    options.kind == "fmu" ? export_as_fmu(options, loaded, name) : export_as_c(options, loaded, name);
  } catch (const std::invalid_argument& e) {
    say("{}: error: {}\n", options.model, e.what());
    return Exit::refused;
  }
  return Exit::done;
}

}  // namespace mechanician
