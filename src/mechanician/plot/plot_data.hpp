#pragma once

/// The numbers of a plot: one abscissa, curves in panels, and what happened on the way.

#include <span>
#include <string>
#include <vector>

#include "mechanician/plot/result_source.hpp"
#include "mechanician/plot/selection.hpp"

namespace mechanician {

struct Curve {
  std::string label;
  std::vector<double> y;  ///< by row; not finite where there is no value
};

struct PlotEvent {
  double time = 0.0;
  std::string kind;   ///< "impact", …; "user" for events of the model
  std::string label;  ///< the kind, or the name of an event of the model
  double row = 0.0;   ///< where it lies among the rows; a fraction lies between two
};

struct PlotData {
  std::string abscissa;
  bool against_time = false;
  std::vector<double> x;                   ///< by row
  std::vector<char> added;                 ///< by row: it lies between rows of the result, on a curve that they give
  std::vector<char> jump;                  ///< by row: from this row to the next one the motion jumps
  std::vector<std::vector<Curve>> panels;  ///< none is empty
  std::vector<PlotEvent> events;           ///< in the order of time
  std::string remark;                      ///< of the result
};

struct PlotDataOptions {
  bool straight = false;  ///< straight lines between rows, also where it is known how they curve (between_rows.hpp)
};

/// Reads what is needed and computes formulas. At an impact the velocities of before and after it, which the event
/// holds, become rows of their own; of other columns no value is known there.
PlotData make_plot_data(ResultSource& source, const Shown& abscissa, const std::vector<std::vector<Shown>>& panels,
                        const PlotDataOptions& options = {});

}  // namespace mechanician
