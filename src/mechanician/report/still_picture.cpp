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

}  // namespace

std::string still_svg(const System& system, const State& state) {
  const std::optional<View> view = view_for(system, state);
  if (!view) return {};
  const std::vector<Shape> shapes = find_shapes(*view, system, state);
  if (shapes.empty()) return {};
  double left = INFINITY, right = -INFINITY, low = INFINITY, high = -INFINITY;
  for (const Shape& s : shapes)
    for (const Flat& p : s.points) {
      const double r = s.kind == ViewKind::disc || s.kind == ViewKind::sphere ? s.radius : 0.0;
      left = std::min(left, p.x - r), right = std::max(right, p.x + r);
      low = std::min(low, p.y - r), high = std::max(high, p.y + r);
    }
  const double size = std::max({right - left, high - low, 1e-300}), margin = 0.08 * size, width = size + 2.0 * margin;
  // 240 pixels across, whatever the units of the model.
  const auto at = [&](const Flat& p) {
    return Flat{240.0 * (p.x - 0.5 * (left + right) + 0.5 * width) / width,
                240.0 * (0.5 * (low + high) + 0.5 * width - p.y) / width};
  };
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"240\" height=\"240\" viewBox=\"0 0 240 240\">";
  for (const bool round : {false, true})  // points above what they hold
    for (const Shape& s : shapes) {
      const bool is_round = s.points.size() == 1;
      if (is_round != round) continue;
      if (is_round) {
        const bool is_body = s.kind == ViewKind::disc || s.kind == ViewKind::sphere;
        const double r = is_body ? std::max(240.0 * s.radius / width, 1.5) : 4.0;
        const Flat p = at(s.points.front());
        svg += fmt::format(R"(<circle cx="{:.2f}" cy="{:.2f}" r="{:.2f}" fill="{}" fill-opacity="{}" stroke="{}"/>)",
                           p.x, p.y, r, s.colour, is_body ? 0.25 : 1.0, s.colour);
        continue;
      }
      std::string corners;
      for (const Flat& p : s.points) corners += fmt::format("{:.2f},{:.2f} ", at(p).x, at(p).y);
      svg += fmt::format(R"(<{} points="{}" fill="none" stroke="{}" stroke-width="2"/>)",
                         s.closed ? "polygon" : "polyline", corners, s.colour);
    }
  return svg + "</svg>";
}

}  // namespace mechanician
