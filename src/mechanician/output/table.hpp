#pragma once

/// Columns of text for a terminal: the first column flush left, numbers flush right, a last column of words flush left.

#include <string>
#include <utility>
#include <vector>

namespace mechanician {

/// How many lines of so many people are shown: all of them, or where they are very many the first ones.
inline int lines_of(long count) { return static_cast<int>(count <= 100 ? count : 20); }
/// "  … and 980 others", where not all are shown.
std::string others(long count);

class TextTable {
 public:
  enum class LastColumn { numbers, words };
  explicit TextTable(std::vector<std::string> header, LastColumn last = LastColumn::numbers)
      : rows_{std::move(header)}, last_(last) {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  /// Every line indented by so many spaces.
  std::string text(int indent = 2) const;

 private:
  std::vector<std::vector<std::string>> rows_;
  LastColumn last_;
};

}  // namespace mechanician
