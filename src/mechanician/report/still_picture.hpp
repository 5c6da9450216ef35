#pragma once

/// One instant as a picture: what the report draws of it, without what moves. For notebooks and articles.

#include <string>

#include "mechanician/instant/system.hpp"

namespace mechanician {

/// Empty where there is nothing to draw.
std::string still_svg(const System& system, const State& state);
/// The same for LuaLaTeX and XeLaTeX, a box without packages.
std::string still_latex(const System& system, const State& state);

}  // namespace mechanician
