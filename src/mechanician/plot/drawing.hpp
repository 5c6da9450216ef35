#pragma once

/// A picture as a list of strokes and texts, in pixels from the upper left corner. Back ends only copy it: what is
/// decided about a plot is decided before.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "mechanician/plot/axis.hpp"
#include "mechanician/plot/thin.hpp"

namespace mechanician {

using Colour = std::uint32_t;  ///< 0xRRGGBB

struct DrawnPath {
  const char* role = "";  ///< "curve", "grid", …: a class in SVG
  std::string label;      ///< of a curve; shown where the pointer rests on it
  std::vector<Polyline> lines;
  Colour colour = 0;
  double width = 1.0;        ///< 0: no line
  std::vector<double> dash;  ///< lengths of strokes and gaps; empty: one line
  bool dots = false;         ///< each point of `lines` is a dot of that width
  bool filled = false;       ///< closed and filled
};

enum class Anchor { start, middle, end };

struct DrawnText {
  const char* role = "";
  RichText text;
  Point at;  ///< of the baseline
  double size = 11.0;
  Anchor anchor = Anchor::start;
  bool upwards = false;  ///< turned by a quarter, to be read from the right
  bool bold = false;
  Colour colour = 0x222222;
};

struct Drawing {
  double width = 0.0, height = 0.0;
  std::string title, description;                         ///< for those who do not see it
  std::vector<std::variant<DrawnPath, DrawnText>> items;  ///< from back to front
};

}  // namespace mechanician
