#pragma once

/// A zip archive in memory: files as they are, not compressed. What FMUs are.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mechanician {

/// Names with / between folders. The same bytes for the same files.
std::string make_zip(const std::vector<std::pair<std::string, std::string>>& files);

}  // namespace mechanician
