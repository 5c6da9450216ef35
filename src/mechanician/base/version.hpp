#pragma once

#include <string_view>

namespace mechanician {

/// The version of the library, as "major.minor.patch".
std::string_view version();

}  // namespace mechanician
