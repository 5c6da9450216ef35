#pragma once

/// Columns of a CSV file that lies in the folder of a model, or below it.

#include <span>
#include <string>
#include <vector>

namespace mechanician {

struct CsvColumns {
  std::vector<std::vector<double>> values;  ///< by column that was asked for
  std::vector<long> lines;                  ///< by row: where it stands in the file
  std::string problem, hint;                ///< what is wrong; empty: nothing
  int about_column = -1;                    ///< it is wrong with this one of the columns, not with the file
};

CsvColumns read_csv_columns(const std::string& model_file, const std::string& name,
                            std::span<const std::string> columns, std::size_t most_rows);

}  // namespace mechanician
