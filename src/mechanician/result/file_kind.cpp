#include "mechanician/result/file_kind.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "mechanician/base/diagnostic.hpp"
#include "mechanician/base/read_file.hpp"

namespace mechanician {

std::optional<std::string> why_no_hdf5(const std::string& path) {
  const FileText file = read_file(path, 512);
  if (!file.problem.empty()) throw FileError(fmt::format("{}: cannot be read: {}", path, file.problem));
  const std::string_view text = file.text;
  if (text.empty()) return "it is empty";
  if (text.starts_with("\x89HDF\r\n\x1a\n")) return std::nullopt;
  if (text.starts_with(sweep_magic))
    return "this is a sweep that has not ended: `mechanician sweep --resume` goes on with it";
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '{')
    return "this is JSON; only HDF5 results hold what is needed to go on";
  const bool is_text = std::none_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t';
  });
  if (is_text) return "this is text, no HDF5 file; only HDF5 results hold what is needed to go on";
  return "this is no HDF5 file";
}

}  // namespace mechanician
