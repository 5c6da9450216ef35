#pragma once

/// The drawing as PNG or PDF, by the library cairo, which is opened while the program runs and only for this: a program
/// that draws nothing does not wait for it, and one without it still writes SVG.

#include <string>

#include "mechanician/plot/drawing.hpp"

namespace mechanician {

/// The bytes of a file. Throws std::runtime_error where there is no cairo, with what to do.
/// MECHANICIAN_CAIRO in the environment names the library, or is "off".
std::string pdf_bytes(const Drawing& drawing);
/// `scale` pixels for each of the drawing.
std::string png_bytes(const Drawing& drawing, double scale);

}  // namespace mechanician
