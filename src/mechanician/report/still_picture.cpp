#include "mechanician/report/still_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <vector>

#include "mechanician/expression/simplify.hpp"
#include "mechanician/report/report.hpp"

namespace mechanician {

namespace {

struct Flat {
  double x = 0.0, y = 0.0;
};

/// A shape with its numbers.
struct Shape {
  ViewKind kind;
  std::string colour;
  std::vector<Flat> points;
  double radius = 0.0;
  bool closed = false;
};

/// Colours of a light page, as the report has them.
std::string colour_of(const std::string& name) {
  static const std::map<std::string, std::string> known{
      {"blue", "#1f66b1"}, {"orange", "#c4500c"}, {"green", "#1d7a46"}, {"red", "#b3261e"},  {"purple", "#7540b0"},
      {"teal", "#0d7377"}, {"brown", "#7a5230"},  {"pink", "#b52a72"},  {"grey", "#5c6470"}, {"ink", "#1c2430"}};
  if (name.size() == 7 && name[0] == '#' && name.find_first_not_of("0123456789abcdefABCDEF", 1) == std::string::npos)
    return name;
  const auto found = known.find(name);
  return found == known.end() ? "#1f66b1" : found->second;
}

/// In space seen from the front right, a little from above.
Flat project(const std::array<double, 3>& p, int dimension) {
  if (dimension == 2) return {p[0], p[1]};
  constexpr double around = -std::numbers::pi / 3, above = std::numbers::pi / 9;
  const double away = p[0] * std::cos(around) + p[1] * std::sin(around);
  return {-p[0] * std::sin(around) + p[1] * std::cos(around), p[2] * std::cos(above) - away * std::sin(above)};
}

/// What can be drawn without forces and traces, with numbers that are some.
std::vector<Shape> find_shapes(const View& view, const System& system, const State& state) {
  const Equations& eqs = system.equations();
  std::vector<Expr> inputs{eqs.t};
  for (const auto* symbols : {&eqs.q, &eqs.qd, &eqs.parameters})
    inputs.insert(inputs.end(), symbols->begin(), symbols->end());
  std::vector<double> values{state.t};
  values.insert(values.end(), state.q.begin(), state.q.end());
  values.insert(values.end(), state.qd.begin(), state.qd.end());
  values.insert(values.end(), system.parameters().begin(), system.parameters().end());
  std::vector<Shape> shapes;
  for (const ViewItem& item : view.items) {
    if (item.kind == ViewKind::trace || item.kind == ViewKind::arrow || item.kind == ViewKind::ground) continue;
    std::vector<Expr> wanted{item.radius};
    for (const ViewVector& p : item.points) wanted.insert(wanted.end(), p.begin(), p.end());
    const std::vector<Expr> symbols = symbols_of(wanted);
    const bool known = std::all_of(symbols.begin(), symbols.end(), [&](const Expr& s) {
      return std::any_of(inputs.begin(), inputs.end(), [&](const Expr& i) { return same(i, s); });
    });
    if (!known) continue;
    const std::vector<double> numbers = Tape(wanted, inputs)(std::span<const double>(values));
    if (!std::all_of(numbers.begin(), numbers.end(), [](double x) { return std::isfinite(x); })) continue;
    Shape shape{item.kind, colour_of(item.colour), {}, numbers[0], item.closed};
    for (std::size_t k = 1; k + 2 < numbers.size(); k += 3)
      shape.points.push_back(project({numbers[k], numbers[k + 1], numbers[k + 2]}, view.dimension));
    if (!shape.points.empty()) shapes.push_back(std::move(shape));
  }
  return shapes;
}

constexpr double across = 240.0;  // pixels, whatever the units of the model

/// A shape on a square of `across`, from its upper left corner.
struct Drawn {
  std::string colour;
  std::vector<Flat> points;
  double radius = 0.0;  ///< of a circle, around the only point
  bool is_body = false, closed = false;
};

std::vector<Drawn> draw(const System& system, const State& state) {
  const std::optional<View> view = view_for(system, state);
  if (!view) return {};
  const std::vector<Shape> shapes = find_shapes(*view, system, state);
  double left = INFINITY, right = -INFINITY, low = INFINITY, high = -INFINITY;
  for (const Shape& s : shapes)
    for (const Flat& p : s.points) {
      const double r = s.kind == ViewKind::disc || s.kind == ViewKind::sphere ? s.radius : 0.0;
      left = std::min(left, p.x - r), right = std::max(right, p.x + r);
      low = std::min(low, p.y - r), high = std::max(high, p.y + r);
    }
  const double size = std::max({right - left, high - low, 1e-300}), margin = 0.08 * size, width = size + 2.0 * margin;
  const auto at = [&](const Flat& p) {
    return Flat{across * (p.x - 0.5 * (left + right) + 0.5 * width) / width,
                across * (0.5 * (low + high) + 0.5 * width - p.y) / width};
  };
  std::vector<Drawn> drawn;
  for (const bool round : {false, true})  // points above what they hold
    for (const Shape& s : shapes) {
      if ((s.points.size() == 1) != round) continue;
      Drawn one{s.colour, {}, 0.0, s.kind == ViewKind::disc || s.kind == ViewKind::sphere, s.closed};
      for (const Flat& p : s.points) one.points.push_back(at(p));
      if (round) one.radius = one.is_body ? std::max(across * s.radius / width, 1.5) : 4.0;
      drawn.push_back(std::move(one));
    }
  return drawn;
}

}  // namespace

std::string still_svg(const System& system, const State& state) {
  const std::vector<Drawn> drawn = draw(system, state);
  if (drawn.empty()) return {};
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"240\" height=\"240\" viewBox=\"0 0 240 240\">";
  for (const Drawn& s : drawn) {
    if (s.radius > 0.0) {
      const Flat p = s.points.front();
      svg += fmt::format(R"(<circle cx="{:.2f}" cy="{:.2f}" r="{:.2f}" fill="{}" fill-opacity="{}" stroke="{}"/>)", p.x,
                         p.y, s.radius, s.colour, s.is_body ? 0.25 : 1.0, s.colour);
      continue;
    }
    std::string corners;
    for (const Flat& p : s.points) corners += fmt::format("{:.2f},{:.2f} ", p.x, p.y);
    svg += fmt::format(R"(<{} points="{}" fill="none" stroke="{}" stroke-width="2"/>)",
                       s.closed ? "polygon" : "polyline", corners, s.colour);
  }
  return svg + "</svg>";
}

std::string still_latex(const System& system, const State& state) {
  const std::vector<Drawn> drawn = draw(system, state);
  if (drawn.empty()) return {};
  // Plain operators of PDF, which both engines pass on: packages that draw are not everywhere.
  std::string out = fmt::format(
      "\\ifdefined\\directlua\\def\\drawn#1{{\\pdfextension "
      "literal{{#1}}}}\\else\\def\\drawn#1{{\\special{{pdf:content "
      "#1}}}}\\fi\n\\leavevmode\\hbox to {0:g}bp{{\\vrule width 0pt height {0:g}bp%\n",
      across);
  const auto channel = [](const std::string& colour, std::size_t k, double paled) {
    const double value = std::stoi(colour.substr(1 + 2 * k, 2), nullptr, 16) / 255.0;
    return 1.0 - paled * (1.0 - value);
  };
  for (const Drawn& s : drawn) {
    const auto colour = [&](double paled, const char* how) {
      return fmt::format("{:.3f} {:.3f} {:.3f} {} ", channel(s.colour, 0, paled), channel(s.colour, 1, paled),
                         channel(s.colour, 2, paled), how);
    };
    out += "\\drawn{q " + colour(1.0, "RG");
    if (s.radius > 0.0) {
      const double x = s.points.front().x, y = across - s.points.front().y, r = s.radius, k = 0.5522847498 * r;
      out += colour(s.is_body ? 0.25 : 1.0, "rg");
      out += fmt::format("1 w {:.2f} {:.2f} m ", x + r, y);
      for (const auto& [ax, ay, bx, by] : {std::array{1.0, 0.0, 0.0, 1.0}, std::array{0.0, 1.0, -1.0, 0.0},
                                           std::array{-1.0, 0.0, 0.0, -1.0}, std::array{0.0, -1.0, 1.0, 0.0}})
        out += fmt::format("{:.2f} {:.2f} {:.2f} {:.2f} {:.2f} {:.2f} c ", x + ax * r + bx * k, y + ay * r + by * k,
                           x + bx * r + ax * k, y + by * r + ay * k, x + bx * r, y + by * r);
      out += "b";
    } else {
      out += "2 w 1 J 1 j ";
      for (std::size_t k = 0; k < s.points.size(); ++k)
        out += fmt::format("{:.2f} {:.2f} {} ", s.points[k].x, across - s.points[k].y, k == 0 ? "m" : "l");
      out += s.closed ? "s" : "S";
    }
    out += " Q}%\n";
  }
  return out + "\\hfil}\n";
}

}  // namespace mechanician
