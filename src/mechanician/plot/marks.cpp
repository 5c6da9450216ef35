#include "mechanician/plot/marks.hpp"

#include <cmath>

namespace mechanician {

DrawnPath event_mark(std::string_view kind, double r) {
  DrawnPath mark;
  mark.colour = 0x555555;
  mark.width = 0.9;
  mark.filled = true;
  if (kind == "impact") {
    mark.lines = {{{-r, -r * 0.8}, {r, -r * 0.8}, {0, r}}};
  } else if (kind == "release") {
    mark.lines = {{{-r, r * 0.8}, {r, r * 0.8}, {0, -r}, {-r, r * 0.8}}};
    mark.filled = false;
  } else if (kind == "contact") {
    mark.lines = {{{-r * 0.8, -r * 0.8}, {r * 0.8, -r * 0.8}, {r * 0.8, r * 0.8}, {-r * 0.8, r * 0.8}}};
  } else if (kind == "stick" || kind == "sliding begins") {
    mark.lines = {{{0, -r}, {r, 0}, {0, r}, {-r, 0}}};
  } else if (kind == "slip" || kind == "sliding ends") {
    mark.lines = {{{0, -r}, {r, 0}, {0, r}, {-r, 0}, {0, -r}}};
    mark.filled = false;
  } else if (kind == "singular") {
    mark.lines = {{{-r * 0.8, -r * 0.8}, {r * 0.8, r * 0.8}}, {{-r * 0.8, r * 0.8}, {r * 0.8, -r * 0.8}}};
    mark.filled = false;
    mark.width = 1.2;
  } else {
    // Events of the model: a ring.
    Polyline ring;
    for (int i = 0; i <= 12; ++i)
      ring.push_back({r * 0.85 * std::cos(i * M_PI / 6), r * 0.85 * std::sin(i * M_PI / 6)});
    mark.lines = {ring};
    mark.filled = false;
  }
  return mark;
}

std::string_view event_character(std::string_view kind, bool unicode) {
  struct Row {
    std::string_view kind, unicode, ascii;
  };
  static constexpr Row rows[] = {{"impact", "▼", "v"},         {"release", "△", "^"},     {"contact", "■", "#"},
                                 {"stick", "◆", "*"},          {"slip", "◇", "~"},        {"singular", "×", "x"},
                                 {"sliding begins", "◆", "*"}, {"sliding ends", "◇", "~"}};
  for (const Row& row : rows)
    if (row.kind == kind) return unicode ? row.unicode : row.ascii;
  return unicode ? "○" : "o";
}

}  // namespace mechanician
