#pragma once

#include <string>

#include "mechanician/plot/drawing.hpp"

namespace mechanician {

/// The drawing as SVG: text stays text, colours and dashes are attributes, no script, no style sheet, nothing loaded.
std::string svg_text(const Drawing& drawing);

}  // namespace mechanician
