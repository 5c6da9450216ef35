#pragma once

/// A column of a CSV file that lies in the folder of a model, or below it.

#include <string>
#include <vector>

namespace mechanician {

struct CsvColumn {
  std::vector<double> values;
  std::string problem, hint;  ///< what is wrong; empty: nothing
  bool about_column = false;  ///< with the column that is asked for, not with the file
};

CsvColumn read_csv_column(const std::string& model_file, const std::string& name, const std::string& column,
                          std::size_t most_rows);

}  // namespace mechanician
