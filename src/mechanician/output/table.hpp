#pragma once

/// Columns of text for a terminal: first column left, numbers right aligned.

#include <string>
#include <vector>

namespace mechanician {

class Table {
 public:
  explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  /// Every line indented by so many spaces.
  std::string text(int indent = 2) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace mechanician
