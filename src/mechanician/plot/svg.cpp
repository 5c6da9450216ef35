#include "mechanician/plot/svg.hpp"

#include <fmt/format.h>

#include <cmath>

#include "mechanician/base/safe_text.hpp"
#include "mechanician/plot/text_width.hpp"

namespace mechanician {

namespace {

/// Hundredths as short as can be: 12, -.5, 3.07.
void append_hundredths(std::string& out, long long h) {
  if (h < 0) out += '-', h = -h;
  if (h >= 100 || h == 0) out += std::to_string(h / 100);
  if (h % 100 == 0) return;
  out += '.';
  out += static_cast<char>('0' + h % 100 / 10);
  if (h % 10 != 0) out += static_cast<char>('0' + h % 10);
}

std::string number(double x) {
  std::string out;
  append_hundredths(out, std::llround(x * 100));
  return out;
}

/// A list of numbers needs a blank only where no minus sign comes.
void append_next(std::string& out, long long h, bool first) {
  if (!first && h >= 0) out += ' ';
  append_hundredths(out, h);
}

/// Relative moves, summed up from rounded places, so that no error adds up.
std::string path_data(const DrawnPath& path) {
  std::string out;
  long long x = 0, y = 0;
  const auto move = [&](char letter, Point p, bool relative) {
    const long long px = std::llround(p.x * 100), py = std::llround(p.y * 100);
    if (letter) out += letter;
    append_next(out, relative ? px - x : px, letter != '\0');
    append_next(out, relative ? py - y : py, false);
    x = px, y = py;
  };
  for (const Polyline& line : path.lines) {
    if (path.dots) {
      for (const Point p : line) move('M', p, false), out += "h0";
      continue;
    }
    for (std::size_t i = 0; i < line.size(); ++i) move(i == 0 ? 'M' : i == 1 ? 'l' : '\0', line[i], i > 0);
    if (path.filled) out += 'z';
  }
  return out;
}

void append_path(std::string& out, const DrawnPath& path) {
  if (path.lines.empty()) return;
  const std::string colour = fmt::format("#{:06x}", path.colour);
  out += fmt::format("<path class=\"{}\" fill=\"{}\"", path.role, path.filled ? colour : "none");
  if (!path.filled) out += fmt::format(" stroke=\"{}\" stroke-width=\"{}\"", colour, number(path.width));
  if (path.dots) out += " stroke-linecap=\"round\"";
  if (!path.dash.empty()) {
    out += " stroke-dasharray=\"";
    for (std::size_t i = 0; i < path.dash.size(); ++i) out += (i == 0 ? "" : " ") + number(path.dash[i]);
    out += '"';
  }
  out += fmt::format(" d=\"{}\"", path_data(path));
  out += path.label.empty() ? "/>\n" : fmt::format("><title>{}</title></path>\n", xml_text(path.label));
}

void append_text(std::string& out, const DrawnText& t) {
  out += fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\"", t.role, number(t.at.x), number(t.at.y));
  if (t.upwards) out += fmt::format(" transform=\"rotate(-90 {} {})\"", number(t.at.x), number(t.at.y));
  out += fmt::format(" font-size=\"{}\"", number(t.size));
  if (t.anchor != Anchor::start) out += fmt::format(" text-anchor=\"{}\"", t.anchor == Anchor::end ? "end" : "middle");
  if (t.bold) out += " font-weight=\"bold\"";
  out += fmt::format(" fill=\"#{:06x}\">", t.colour);
  bool raised = false;
  for (const TextRun& run : t.text) {
    // What is raised stays raised until it is taken down again.
    const double shift = (run.raised ? -raised_by : raised ? raised_by : 0.0) * t.size;
    if (run.raised)
      out += fmt::format("<tspan dy=\"{}\" font-size=\"{}\">{}</tspan>", number(shift), number(raised_size * t.size),
                         xml_text(run.text));
    else if (raised)
      out += fmt::format("<tspan dy=\"{}\">{}</tspan>", number(shift), xml_text(run.text));
    else
      out += xml_text(run.text);
    raised = run.raised;
  }
  out += "</text>\n";
}

}  // namespace

std::string svg_text(const Drawing& drawing) {
  const std::string width = number(drawing.width), height = number(drawing.height);
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\" "
      "font-family=\"Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif\" stroke-linejoin=\"round\" "
      "xml:space=\"preserve\">\n",
      width, height);
  out += fmt::format("<title>{}</title>\n<desc>{}</desc>\n", xml_text(drawing.title), xml_text(drawing.description));
  out += fmt::format("<rect class=\"paper\" width=\"{}\" height=\"{}\" fill=\"#ffffff\"/>\n", width, height);
  for (const auto& item : drawing.items) {
    if (const auto* path = std::get_if<DrawnPath>(&item))
      append_path(out, *path);
    else
      append_text(out, std::get<DrawnText>(item));
  }
  return out + "</svg>\n";
}

}  // namespace mechanician
