#pragma once

/// A shape for each kind of event, small enough to stand side by side and different in outline.

#include <string_view>

#include "mechanician/plot/drawing.hpp"

namespace mechanician {

/// Around (0, 0), about 2·radius wide.
DrawnPath event_mark(std::string_view kind, double radius);

/// The same in a terminal: a character of Unicode, or of ASCII.
std::string_view event_character(std::string_view kind, bool unicode);

}  // namespace mechanician
