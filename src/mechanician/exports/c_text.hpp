#pragma once

/// Pieces that texts of C are put together from.

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mechanician {

/// `text` with words replaced.
std::string with(std::string_view text, std::initializer_list<std::pair<std::string_view, std::string>> words);

/// {1, 2, 3, 0}: never empty.
std::string c_integers(const std::vector<int>& values);
std::string c_numbers(const double* values, int count);

}  // namespace mechanician
