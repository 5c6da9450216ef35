/// Ranges of a plot: those of the data, between the limits that were asked for.

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "mechanician/plot/layout.hpp"

namespace mechanician {

namespace {

constexpr double margin = 0.04;

/// Adds the ordinates of the rows whose abscissa lies in the range, and where lines enter and leave it.
void add_inside(RangeFinder& finder, const PlotData& data, const Curve& curve, Range x) {
  const auto inside = [&](double v) { return v >= x.low && v <= x.high; };
  for (std::size_t i = 0; i < curve.y.size(); ++i) {
    if (inside(data.x[i])) finder.add(curve.y[i]);
    if (i == 0) continue;
    const double x0 = data.x[i - 1], x1 = data.x[i], y0 = curve.y[i - 1], y1 = curve.y[i];
    for (const double edge : {x.low, x.high})
      if ((x0 < edge && x1 > edge) || (x1 < edge && x0 > edge)) finder.add(y0 + (y1 - y0) * ((edge - x0) / (x1 - x0)));
  }
}

}  // namespace

std::string joined_labels(const std::vector<Curve>& panel) {
  std::string text;
  for (const Curve& curve : panel) text += (text.empty() ? "" : ", ") + curve.label;
  return text;
}

PlotRanges find_ranges(const PlotData& data, const PlotOptions& options) {
  RangeFinder abscissa(options.log_x);
  for (const double x : data.x) abscissa.add(x);
  const char* positive = options.log_x ? "positive " : "";
  if (abscissa.empty())
    throw std::invalid_argument(fmt::format("there is no {}number in `{}`", positive, data.abscissa));
  // Against time a plot begins where the run begins; elsewhere curves do not touch the frame.
  PlotRanges ranges;
  ranges.x = abscissa.range();
  if (options.from) ranges.x.low = *options.from;
  if (options.to) ranges.x.high = *options.to;
  if (!(ranges.x.low <= ranges.x.high) || abscissa.range().high < ranges.x.low || abscissa.range().low > ranges.x.high)
    throw std::invalid_argument(fmt::format("nothing lies between --from and --to: `{}` goes from {:.6g} to {:.6g}",
                                            data.abscissa, abscissa.range().low, abscissa.range().high));
  const Range limits = ranges.x;
  const Range wide = widened(ranges.x, options.log_x, data.against_time ? 0.0 : margin);
  if (!options.from || limits.low == limits.high) ranges.x.low = wide.low;
  if (!options.to || limits.low == limits.high) ranges.x.high = wide.high;
  for (const auto& panel : data.panels) {
    RangeFinder ordinate(options.log_y);
    for (const Curve& curve : panel) add_inside(ordinate, data, curve, limits);
    if (ordinate.empty())
      throw std::invalid_argument(fmt::format("there is no {}number in `{}`{}", options.log_y ? "positive " : "",
                                              joined_labels(panel),
                                              options.from || options.to ? " between --from and --to" : ""));
    ranges.y.push_back(widened(ordinate.range(), options.log_y, margin));
  }
  return ranges;
}

}  // namespace mechanician
