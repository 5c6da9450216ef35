#pragma once

/// A curve on its way to the paper: from rows to as few points as show the same picture.
///
/// Points are rounded to a hundredth of a pixel. A curve whose abscissa only grows keeps, of each half pixel column,
/// its first, lowest, highest and last point, so that no extreme is lost. Any other one leaves out points that are less
/// than a quarter of a pixel from the last one. Then points go that lie, to a twentieth of a pixel, on a straight line
/// between those that stay; turning points stay. Linear in the number of rows.

#include <span>
#include <vector>

#include "mechanician/plot/axis.hpp"

namespace mechanician {

struct Point {
  double x = 0.0, y = 0.0;
  bool operator==(const Point&) const = default;
};
using Polyline = std::vector<Point>;

struct Box {
  double left = 0.0, top = 0.0, right = 0.0, bottom = 0.0;
  double width() const { return right - left; }
  double height() const { return bottom - top; }
  /// With room for rounding.
  bool holds(Point p) const {
    constexpr double slack = 1e-6;
    return p.x >= left - slack && p.x <= right + slack && p.y >= top - slack && p.y <= bottom + slack;
  }
};

/// Where a point of the data lies in the box; not finite where it has no place.
Point place_in(const Box& box, const Axis& x_axis, const Axis& y_axis, double x, double y);

struct Strokes {
  std::vector<Polyline> lines;
  std::vector<Polyline> jumps;  ///< where the motion jumps, two points each
  Polyline points;              ///< all rows, for plots of points
  Polyline lone;                ///< rows without neighbours, which no line shows
};

struct CurveRows {
  std::span<const double> x, y;
  std::span<const char> jump;
  std::span<const char> added = {};  ///< rows that are no points of their own; may be empty
};
/// Everything outside of the box is cut off.
Strokes make_strokes(const CurveRows& rows, const Axis& x_axis, const Axis& y_axis, const Box& box);

}  // namespace mechanician
