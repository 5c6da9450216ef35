#pragma once

/// Names with an index.

#include <string_view>

namespace mechanician {

/// The name without the index at its end: d[1].g of d[1].g[k] and of d[1].g; indices between its parts belong to it.
std::string_view family_of(std::string_view name);

}  // namespace mechanician
