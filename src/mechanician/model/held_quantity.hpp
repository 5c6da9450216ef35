#pragma once

/// What [start] holds and is no coordinate stands among the places of a stated model, by this key and its name as it is written; in a
/// model that is written out it stands among the names of StartValues::hold.

#include <string_view>

namespace mechanician {

inline constexpr std::string_view held_quantity = "start.hold.";

}  // namespace mechanician
