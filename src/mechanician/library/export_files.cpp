#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>

#include "mechanician/exports/c_model.hpp"
#include "mechanician/exports/fmu.hpp"
#include "mechanician/instant/open_inputs.hpp"
#include "mechanician/library/acceleration.hpp"
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
  const std::optional<System> opened = with_open_inputs(system);
  const CSources c = export_c(opened ? *opened : system, start, name);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const std::string path = folder + "/" + name;
  // Both or none: the first is finished when the second can be written.
  const auto source = make_file_sink(path + ".c"), header = make_file_sink(path + ".h");
  source->append(c.source), header->append(c.header);
  source->finish(), header->finish();
  return {path + ".c", c.source.size(), {}};
}

ExportedFile write_fmu(const System& system, const State& start, const std::string& file, const std::string& fmi,
                       std::string name) {
  if (!file.ends_with(".fmu"))
    throw std::invalid_argument(fmt::format("{}: an FMU is a file that ends with .fmu", file));
  if (fmi != "2.0" && fmi != "3.0") throw std::invalid_argument(fmt::format("fmi is 2.0 or 3.0, not {}", fmi));
  const std::optional<System> opened = with_open_inputs(system);
  const Fmu fmu = export_fmu(opened ? *opened : system, start, name_of(system, std::move(name)),
                             fmi == "3.0" ? FmiVersion::three : FmiVersion::two);
  const auto sink = make_file_sink(file);
  sink->append(fmu.bytes);
  sink->finish();
  return {file, fmu.bytes.size(), fmu.has_binary ? "" : "the FMU has sources only: " + fmu.why_no_binary};
}

}  // namespace mechanician
