#include "mechanician/model/csv_column.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "mechanician/base/text.hpp"
#include "mechanician/model/source_map.hpp"

namespace mechanician {

namespace {

/// Not std::quoted, which <filesystem> brings along.
constexpr auto in_quotes = [](std::string_view text) { return mechanician::quoted(text); };

}  // namespace

CsvColumn read_csv_column(const std::string& model_file, const std::string& name, const std::string& column,
                          std::size_t most_rows) {
  const auto wrong = [](bool about_column, std::string problem, std::string hint = {}) {
    return CsvColumn{{}, std::move(problem), std::move(hint), about_column};
  };
  // A model file opens nothing outside its folder.
  const std::filesystem::path relative(name);
  bool inside = relative.is_relative();
  for (const auto& part : relative) inside &= part != "..";
  if (!inside)
    return wrong(false, "a CSV file lies in the folder of the model, or below it", "give its path from there");
  const std::filesystem::path whole = std::filesystem::path(model_file).parent_path() / relative;
  std::error_code error;
  const auto folder = std::filesystem::weakly_canonical(
      std::filesystem::path(model_file).parent_path().empty() ? "." : std::filesystem::path(model_file).parent_path(),
      error);
  const auto real = std::filesystem::weakly_canonical(std::filesystem::absolute(whole, error),
                                                      error);  // also where there is no such file
  if (error || std::mismatch(folder.begin(), folder.end(), real.begin(), real.end()).first != folder.end())
    return wrong(false, "this leads out of the folder of the model");
  std::ifstream in(whole);
  if (!in || !std::filesystem::is_regular_file(whole, error))
    return wrong(false, fmt::format("{} cannot be read", in_quotes(name)));
  const auto cells = [](std::string line) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    std::vector<std::string> found;
    for (std::size_t begin = 0; begin <= line.size();) {
      const std::size_t end = std::min(line.find(',', begin), line.size());
      std::string cell = line.substr(begin, end - begin);
      const auto first = cell.find_first_not_of(" \t\""), last = cell.find_last_not_of(" \t\"");
      found.push_back(first == std::string::npos ? "" : cell.substr(first, last - first + 1));
      begin = end + 1;
    }
    return found;
  };
  std::string line;
  std::getline(in, line);
  const std::vector<std::string> header = cells(line);
  const auto at = std::find(header.begin(), header.end(), column);
  if (at == header.end()) {
    const std::string near = nearest(column, header);
    return wrong(true, fmt::format("{} has no column {}", in_quotes(name), in_quotes(column)),
                 near.empty() ? fmt::format("its columns are {}", quote_list(header, 20))
                              : fmt::format("did you mean `{}`?", near));
  }
  const auto which = static_cast<std::size_t>(at - header.begin());
  std::vector<double> numbers;
  for (long number = 2; std::getline(in, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::vector<std::string> row = cells(line);
    double x = 0.0;
    const std::string cell = which < row.size() ? row[which] : "";
    const char* const end = cell.data() + cell.size();
    const auto read = std::from_chars(cell.data(), end, x);
    if (read.ec != std::errc() || read.ptr != end || !std::isfinite(x))
      return wrong(false, fmt::format("line {} of {} has {} in column {}, which is no number", number, in_quotes(name),
                                      in_quotes(cell), in_quotes(column)));
    numbers.push_back(x);
    if (numbers.size() > most_rows)
      return wrong(false, fmt::format("{} has more than {} rows", in_quotes(name), most_rows));
  }
  if (numbers.empty()) return wrong(false, fmt::format("{} has no rows", in_quotes(name)));
  return {std::move(numbers), {}, {}, false};
}

}  // namespace mechanician
