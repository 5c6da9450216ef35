#include "mechanician/plot/result_source.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "mechanician/base/diagnostic.hpp"
#include "mechanician/plot/sources_internal.hpp"

namespace mechanician {

std::string remark_of(std::string_view status, std::string_view message) {
  if (status == "done" || status == "stopped" || status.empty()) return {};
  const std::string_view what = status == "suspect" ? "the run is not to be trusted" : "the result is not whole";
  return message.empty() ? fmt::format("{} ({})", what, status) : fmt::format("{} ({}: {})", what, status, message);
}

std::unique_ptr<ResultSource> open_result(const std::string& file) {
  const auto ends_in = [&](std::string_view ending) {
    return file.ends_with(ending) || file.ends_with(std::string(ending) + ".part");
  };
  std::error_code error;
  if (file != "-") {
    if (!std::filesystem::exists(file, error)) {
      const bool part = std::filesystem::exists(file + ".part", error);
      throw FileError(fmt::format("{}: there is no such file{}", file,
                                  part ? fmt::format("; `{}.part` is a run that has not ended", file) : ""));
    }
    if (std::filesystem::is_directory(file, error)) throw FileError(fmt::format("{}: this is a folder", file));
    if (file.ends_with(".toml"))
      throw FileError(
          fmt::format("{0}: this is a model: plot takes what `mechanician run {0} -o FILE.csv` writes", file));
    if (ends_in(".h5")) return open_hdf5(file);
  }
  auto input = std::make_unique<TextInput>(file);
  const std::string_view beginning = input->first(512);
  if (beginning.starts_with("\x89HDF")) {
    if (file == "-") throw FileError("standard input: an HDF5 result must be a file");
    return open_hdf5(file);
  }
  const auto first = beginning.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && beginning[first] == '{') return open_json(std::move(input));
  return open_csv(std::move(input));
}

}  // namespace mechanician
