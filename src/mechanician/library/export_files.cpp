#include "mechanician/library/export_files.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "mechanician/exports/c_model.hpp"
#include "mechanician/result/text_sink.hpp"

namespace mechanician {

namespace {

std::string name_of(const System& system, std::string name) {
  if (!name.empty()) return c_name_of(name + ".toml");
  const std::string& file = system.source().file;
  return c_name_of(file.empty() || file == "-" ? "model.toml" : file);
}

}  // namespace

ExportedFile write_c(const System& system, const State& start, const std::string& folder, std::string name) {
  name = name_of(system, std::move(name));
  const CSources c = export_c(system, start, name);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const std::string path = folder + "/" + name;
  // Both or none: the first is finished when the second can be written.
  const auto source = make_file_sink(path + ".c"), header = make_file_sink(path + ".h");
  source->append(c.source), header->append(c.header);
  source->finish(), header->finish();
  return {path + ".c", c.source.size(), {}};
}

ExportedFile write_fmu(const System& system, const State& start, const std::string& file, FmiVersion version,
                       std::string name) {
  if (!file.ends_with(".fmu"))
    throw std::invalid_argument(fmt::format("{}: an FMU is a file that ends with .fmu", file));
  const Fmu fmu = export_fmu(system, start, name_of(system, std::move(name)), version);
  const auto sink = make_file_sink(file);
  sink->append(fmu.bytes);
  sink->finish();
  return {file, fmu.bytes.size(), fmu.has_binary ? "" : "the FMU has sources only: " + fmu.why_no_binary};
}

}  // namespace mechanician
