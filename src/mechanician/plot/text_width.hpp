#pragma once

/// How wide a text will be, without asking a font: back ends have different ones, and a drawing must fit with all.

#include <string_view>

#include "mechanician/plot/axis.hpp"

namespace mechanician {

/// In pixels, for a sans-serif font of this size; rather too wide than too narrow.
double text_width(std::string_view text, double size);
double text_width(const RichText& text, double size);

/// Size and rise of raised text, in parts of the size of the text.
inline constexpr double raised_size = 0.72, raised_by = 0.38;

}  // namespace mechanician
