#include "mechanician/output/table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mechanician/base/text.hpp"

namespace mechanician {

std::string TextTable::text(int indent) const {
  std::vector<std::size_t> width;
  for (const auto& row : rows_) {
    width.resize(std::max(width.size(), row.size()), 0);
    for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], count_code_points(row[c]));
  }
  std::string out;
  for (const auto& row : rows_) {
    out.append(static_cast<std::size_t>(indent), ' ');
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string pad(width[c] - count_code_points(row[c]), ' ');
      if (c > 0) out += "  ";
      const bool left = c == 0 || (last_ == LastColumn::words && c + 1 == width.size());
      out += left ? row[c] + pad : pad + row[c];
    }
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  }
  return out;
}

std::string others(long count) {
  return lines_of(count) == count ? "" : fmt::format("  … and {} others\n", count - lines_of(count));
}

}  // namespace mechanician
