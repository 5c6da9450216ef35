#include <fmt/format.h>

#include <filesystem>

#include "mechanician/cli/commands.hpp"
#include "mechanician/cli/loading.hpp"
#include "mechanician/cli/saying.hpp"
#include "mechanician/exports/c_model.hpp"
#include "mechanician/result/text_sink.hpp"

namespace mechanician {

Exit run_export(const CommandOptions& options) {
  const Loaded loaded = load(options);
  const Instant instant = accelerate(loaded.system, loaded.start);
  if (refuse(loaded.system, instant)) return Exit::refused;
  CSources c;
  const std::string name = c_name_of(options.model == "-" ? std::string("model.toml") : options.model);
  try {
    c = export_c(loaded.system, loaded.start, name);
  } catch (const std::invalid_argument& e) {
    say("{}: error: {}\n", options.model, e.what());
    return Exit::refused;
  }
  std::error_code error;
  std::filesystem::create_directories(options.output, error);
  const std::string path = options.output + "/" + name;
  // Both or none: the first is finished when the second can be written.
  const auto source = make_file_sink(path + ".c"), header = make_file_sink(path + ".h");
  source->append(c.source), header->append(c.header);
  source->finish(), header->finish();
  if (options.json)
    write_out(fmt::format("{{\"source\": \"{0}.c\", \"header\": \"{0}.h\", \"bytes\": {1}}}\n", name, c.source.size()));
  else
    show(fmt::format("{0}.c: {1} bytes, {0}.h\n", path, c.source.size()));
  return Exit::done;
}

}  // namespace mechanician
