#include "mechanician/model/csv_column.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "mechanician/base/csv.hpp"
#include "mechanician/base/read_file.hpp"
#include "mechanician/base/text.hpp"
#include "mechanician/model/inside_folder.hpp"
#include "mechanician/model/source_map.hpp"

namespace mechanician {

namespace {

/// Not std::quoted.
constexpr auto in_quotes = [](std::string_view text) { return mechanician::quoted(text); };

}  // namespace

CsvColumns read_csv_columns(const std::string& model_file, const std::string& name,
                            std::span<const std::string> columns, std::size_t most_rows) {
  const auto wrong = [](int about_column, std::string problem, std::string hint = {}) {
    return CsvColumns{{}, {}, std::move(problem), std::move(hint), about_column};
  };
  const FileBeside beside = file_beside(model_file, name, "a CSV file");
  if (!beside.problem.empty()) return wrong(-1, beside.problem, beside.hint);
  const FileText file = read_file(beside.path);
  if (!file.problem.empty()) return wrong(-1, fmt::format("{} cannot be read", in_quotes(name)), file.problem);
  try {
    CsvText csv(file.text);
    const std::vector<std::string>& header = csv.names();
    std::vector<std::size_t> at;
    for (const std::string& column : columns) {
      const auto number = static_cast<int>(at.size());
      const auto found = std::find(header.begin(), header.end(), column);
      if (found == header.end()) {
        const std::string near = nearest(column, header);
        return wrong(number, fmt::format("{} has no column {}", in_quotes(name), in_quotes(column)),
                     near.empty() ? fmt::format("its columns are {}", quote_list(header, 20))
                                  : fmt::format("did you mean `{}`?", near));
      }
      if (std::find(found + 1, header.end(), column) != header.end())
        return wrong(number, fmt::format("{} has the column {} twice", in_quotes(name), in_quotes(column)));
      at.push_back(static_cast<std::size_t>(found - header.begin()));
    }
    CsvColumns read;
    read.values.resize(columns.size());
    while (csv.next()) {
      for (std::size_t k = 0; k < at.size(); ++k) {
        const std::string_view cell = csv.fields()[at[k]];
        const std::optional<double> x = csv_number(cell);
        if (!x)
          return wrong(-1, fmt::format("line {} of {} has {} in column {}, which is no number", csv.line(),
                                       in_quotes(name), in_quotes(csv_unquoted(cell)), in_quotes(columns[k])));
        read.values[k].push_back(*x);
      }
      read.lines.push_back(csv.line());
      if (read.lines.size() > most_rows)
        return wrong(-1, fmt::format("{} has more than {} rows", in_quotes(name), most_rows));
    }
    if (read.lines.empty()) return wrong(-1, fmt::format("{} has no rows", in_quotes(name)));
    return read;
  } catch (const CsvError& e) {
    return wrong(-1, fmt::format("line {} of {}: {}", e.line, in_quotes(name), e.what()));
  }
}

}  // namespace mechanician
