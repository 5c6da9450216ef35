#pragma once

/// One instant as a picture, SVG: what the report draws of it, without what moves. For notebooks.

#include <string>

#include "mechanician/instant/system.hpp"

namespace mechanician {

/// Empty where there is nothing to draw.
std::string still_svg(const System& system, const State& state);

}  // namespace mechanician
