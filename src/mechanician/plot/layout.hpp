#pragma once

/// From numbers to a drawing: ranges, axes, legends, marks of events, where everything goes.

#include <optional>
#include <string>
#include <vector>

#include "mechanician/plot/drawing.hpp"
#include "mechanician/plot/plot_data.hpp"

namespace mechanician {

struct PlotOptions {
  enum class Style { lines, points, both } style = Style::lines;
  bool log_x = false, log_y = false;
  bool equal = false;              ///< one unit is as long on both axes
  std::optional<double> from, to;  ///< of the abscissa
  std::string title;
  std::string x_label;                ///< empty: what is on the axis
  std::vector<std::string> y_labels;  ///< by panel; none: the names of the curves,
  std::vector<std::string> y_groups;  ///< or if they are too long, what they are together
  double width = 0.0, height = 0.0;   ///< pixels; 0: 640, and what the panels need
};

/// The ranges of a plot, before axes are made of them.
struct PlotRanges {
  Range x;
  std::vector<Range> y;  ///< by panel
};
/// Throws std::invalid_argument where there is nothing to draw.
PlotRanges find_ranges(const PlotData& data, const PlotOptions& options);

/// "x, y": what is on the ordinate of a panel.
std::string joined_labels(const std::vector<Curve>& panel);

/// Throws std::invalid_argument where there is nothing to draw, or no room for it.
Drawing make_drawing(const PlotData& data, const PlotOptions& options);

}  // namespace mechanician
