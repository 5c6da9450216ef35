#pragma once

/// Columns that belong together, known by their names: `positions`, `velocities`, `forces`, …

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mechanician {

/// The words that stand for several columns.
std::span<const std::string> column_group_names();

/// Places of the columns of a group, in their order; none for any other word.
std::vector<std::size_t> columns_of_group(std::string_view group, std::span<const std::string> columns);

}  // namespace mechanician
