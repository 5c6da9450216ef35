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

CsvColumn read_csv_column(const std::string& model_file, const std::string& name, const std::string& column,
                          std::size_t most_rows) {
  const auto wrong = [](bool about_column, std::string problem, std::string hint = {}) {
    return CsvColumn{{}, std::move(problem), std::move(hint), about_column};
  };
  const FileBeside beside = file_beside(model_file, name, "a CSV file");
  if (!beside.problem.empty()) return wrong(false, beside.problem, beside.hint);
  const FileText file = read_file(beside.path);
  if (!file.problem.empty()) return wrong(false, fmt::format("{} cannot be read", in_quotes(name)), file.problem);
  try {
    CsvText csv(file.text);
    const std::vector<std::string>& header = csv.names();
    const auto at = std::find(header.begin(), header.end(), column);
    if (at == header.end()) {
      const std::string near = nearest(column, header);
      return wrong(true, fmt::format("{} has no column {}", in_quotes(name), in_quotes(column)),
                   near.empty() ? fmt::format("its columns are {}", quote_list(header, 20))
                                : fmt::format("did you mean `{}`?", near));
    }
    if (std::find(at + 1, header.end(), column) != header.end())
      return wrong(true, fmt::format("{} has the column {} twice", in_quotes(name), in_quotes(column)));
    std::vector<double> numbers;
    while (csv.next()) {
      const std::string_view cell = csv.fields()[static_cast<std::size_t>(at - header.begin())];
      const std::optional<double> x = csv_number(cell);
      if (!x)
        return wrong(false, fmt::format("line {} of {} has {} in column {}, which is no number", csv.line(),
                                        in_quotes(name), in_quotes(csv_unquoted(cell)), in_quotes(column)));
      numbers.push_back(*x);
      if (numbers.size() > most_rows)
        return wrong(false, fmt::format("{} has more than {} rows", in_quotes(name), most_rows));
    }
    if (numbers.empty()) return wrong(false, fmt::format("{} has no rows", in_quotes(name)));
    return {std::move(numbers), {}, {}, false};
  } catch (const CsvError& e) {
    return wrong(false, fmt::format("line {} of {}: {}", e.line, in_quotes(name), e.what()));
  }
}

}  // namespace mechanician
