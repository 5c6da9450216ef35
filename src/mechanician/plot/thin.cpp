#include "mechanician/plot/thin.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <unordered_set>

namespace mechanician {

namespace {

constexpr double column_width = 0.5, least_move = 0.25, tolerance = 0.05;
constexpr std::size_t many_points = 20000;

double rounded(double x) { return std::round(x * 100.0) / 100.0; }
Point rounded(Point p) { return {rounded(p.x), rounded(p.y)}; }

/// The part of a segment inside the box (Liang and Barsky).
std::optional<std::pair<Point, Point>> clipped(Point a, Point b, const Box& box) {
  double from = 0.0, to = 1.0;
  const double dx = b.x - a.x, dy = b.y - a.y;
  const auto cut = [&](double p, double q) {
    if (p == 0.0) return q >= 0.0;
    const double r = q / p;
    if (p < 0.0)
      from = std::max(from, r);
    else
      to = std::min(to, r);
    return from <= to;
  };
  if (!cut(-dx, a.x - box.left) || !cut(dx, box.right - a.x) || !cut(-dy, a.y - box.top) || !cut(dy, box.bottom - a.y))
    return std::nullopt;
  const auto at = [&](double s) { return s == 0.0 ? a : s == 1.0 ? b : Point{a.x + s * dx, a.y + s * dy}; };
  return std::pair{at(from), at(to)};
}

/// First, lowest, highest and last of each column, in the order in which they come.
Polyline extremes_by_column(const Polyline& line) {
  Polyline out;
  std::size_t begin = 0;
  const auto column = [](Point p) { return std::floor(p.x / column_width); };
  while (begin < line.size()) {
    std::size_t stop = begin, low = begin, high = begin;
    for (; stop < line.size() && column(line[stop]) == column(line[begin]); ++stop) {
      if (line[stop].y < line[low].y) low = stop;
      if (line[stop].y > line[high].y) high = stop;
    }
    std::size_t kept[] = {begin, std::min(low, high), std::max(low, high), stop - 1};
    for (std::size_t i = 0; i < 4; ++i)
      if (i == 0 || kept[i] != kept[i - 1]) out.push_back(line[kept[i]]);
    begin = stop;
  }
  return out;
}

Polyline without_small_moves(const Polyline& line) {
  Polyline out{line.front()};
  for (const Point p : line)
    if (std::hypot(p.x - out.back().x, p.y - out.back().y) >= least_move) out.push_back(p);
  if (out.back() != line.back()) out.push_back(line.back());
  return out;
}

/// Leaves out points that lie on a line with their neighbours. Turning points stay, so that extremes are exact.
Polyline without_straight_parts(const Polyline& line) {
  if (line.size() < 3) return line;
  Polyline out{line.front()};
  double low = 0.0, high = 0.0, direction = 0.0, reach = 0.0;  // directions that come near enough to all points so far
  bool open = false;
  const auto sign = [](double x) { return (x > 0.0) - (x < 0.0); };
  for (std::size_t i = 1; i < line.size(); ++i) {
    const Point last = line[i - 1], p = line[i];
    if (open) {
      const Point before = line[i - 2];
      const bool turns = sign(p.y - last.y) != sign(last.y - before.y) || sign(p.x - last.x) != sign(last.x - before.x);
      const double dx = p.x - out.back().x, dy = p.y - out.back().y, distance = std::hypot(dx, dy);
      const double angle = std::remainder(std::atan2(dy, dx) - direction, 2 * M_PI);
      if (turns || distance < reach || angle < low || angle > high) {
        out.push_back(last);
        open = false;
      } else {
        const double slack = std::asin(std::min(1.0, tolerance / distance));
        low = std::max(low, angle - slack);
        high = std::min(high, angle + slack);
        reach = distance;
      }
    }
    if (!open) {
      const double dx = p.x - out.back().x, dy = p.y - out.back().y;
      reach = std::hypot(dx, dy);
      if (reach == 0.0) continue;
      direction = std::atan2(dy, dx);
      high = std::asin(std::min(1.0, tolerance / reach));
      low = -high;
      open = true;
    }
  }
  if (out.back() != line.back()) out.push_back(line.back());
  return out;
}

/// A motion that goes the same way again and again is drawn once.
std::vector<Polyline> without_repetitions(const std::vector<Polyline>& lines) {
  std::unordered_set<std::uint64_t> seen;
  std::vector<Polyline> out;
  const auto cell = [](Point p) {
    const auto part = [](double x) {
      return static_cast<std::uint64_t>(std::clamp(x / least_move + 1.0, 0.0, 65535.0));
    };
    return part(p.x) << 16 | part(p.y);
  };
  for (const Polyline& line : lines) {
    bool broken = true;
    for (std::size_t i = 1; i < line.size(); ++i) {
      const std::uint64_t a = cell(line[i - 1]), b = cell(line[i]);
      if (!seen.insert(std::min(a, b) << 32 | std::max(a, b)).second) {
        broken = true;
        continue;
      }
      if (broken) out.push_back({line[i - 1]});
      out.back().push_back(line[i]);
      broken = false;
    }
  }
  return out;
}

Polyline thinned(const Polyline& line) {
  const bool grows = std::is_sorted(line.begin(), line.end(), [](const Point& a, const Point& b) { return a.x < b.x; });
  Polyline few = line;
  if (grows)
    few = extremes_by_column(line);
  else if (line.size() > many_points)
    few = without_small_moves(line);
  for (Point& p : few) p = rounded(p);
  few.erase(std::unique(few.begin(), few.end()), few.end());
  return without_straight_parts(few);
}

bool is_finite(Point p) { return std::isfinite(p.x) && std::isfinite(p.y); }

}  // namespace

Point place_in(const Box& box, const Axis& x_axis, const Axis& y_axis, double x, double y) {
  if ((x_axis.log && !(x > 0.0)) || (y_axis.log && !(y > 0.0))) return {NAN, NAN};
  constexpr double far = 1e7;  // pixels; keeps what is far outside from overflowing
  const double px = box.left + std::clamp(x_axis.place(x), -far, far) * box.width();
  const double py = box.bottom - std::clamp(y_axis.place(y), -far, far) * box.height();
  return {px, py};
}

Strokes make_strokes(const CurveRows& rows, const Axis& x_axis, const Axis& y_axis, const Box& box) {
  Strokes strokes;
  const std::size_t n = rows.y.size();
  const auto at = [&](std::size_t i) {
    if (!std::isfinite(rows.x[i]) || !std::isfinite(rows.y[i])) return Point{NAN, NAN};
    return place_in(box, x_axis, y_axis, rows.x[i], rows.y[i]);
  };
  Polyline line;
  const auto end_line = [&] {
    if (line.size() > 1) strokes.lines.push_back(thinned(line));
    line.clear();
  };
  Point before{NAN, NAN};
  bool joined = false;  // the point before is the end of a segment
  for (std::size_t i = 0; i < n; ++i) {
    const Point p = at(i);
    if (is_finite(p) && box.holds(p) && (rows.added.empty() || !rows.added[i])) {
      if (strokes.points.empty() || rounded(strokes.points.back()) != rounded(p)) strokes.points.push_back(p);
    }
    const bool jumps = i > 0 && rows.jump[i - 1];
    bool joins = false;
    if (is_finite(p) && is_finite(before)) {
      joins = true;
      if (const auto part = clipped(before, p, box)) {
        const auto [a, b] = *part;
        if (jumps) {
          end_line();
          if (rounded(a) != rounded(b)) strokes.jumps.push_back({rounded(a), rounded(b)});
        } else {
          if (line.empty() || line.back() != a) {
            end_line();
            line.push_back(a);
          }
          line.push_back(b);
        }
      } else {
        end_line();
      }
    } else {
      end_line();
      if (is_finite(before) && !joined && box.holds(before)) strokes.lone.push_back(rounded(before));
    }
    // A jump leads nowhere by itself: the point after it must be joined to the next one.
    joined = joins && !jumps;
    before = p;
  }
  end_line();
  if (is_finite(before) && !joined && box.holds(before)) strokes.lone.push_back(rounded(before));
  std::size_t total = 0;
  for (const Polyline& l : strokes.lines) total += l.size();
  if (total > many_points) strokes.lines = without_repetitions(strokes.lines);

  // Points that fall on the same place count once.
  std::unordered_set<std::uint64_t> seen;
  Polyline distinct;
  for (const Point p : strokes.points) {
    const auto cell = static_cast<std::uint64_t>(p.x / least_move) << 32 | static_cast<std::uint32_t>(p.y / least_move);
    if (seen.insert(cell).second) distinct.push_back(rounded(p));
  }
  strokes.points = std::move(distinct);
  return strokes;
}

}  // namespace mechanician
