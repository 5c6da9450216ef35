#pragma once

/// Names as people list them: joined by commas, with * and ?.

#include <string_view>
#include <vector>

namespace mechanician {

/// Cut at commas that stand neither in brackets nor in quotation marks, without blanks around: "x, net[1,2]" is two.
std::vector<std::string_view> split_list(std::string_view text);

/// * is any text, ? any character. Linear but for the last star.
bool fits_pattern(std::string_view pattern, std::string_view name);

}  // namespace mechanician
