#pragma once

/// The report of a run: one HTML file that opens without a network and shows the motion.
///
///     ReportRecorder rows(system, setup, view_for(system, start));
///     … rows.look(integrator) after each step …
///     const std::string html = report_html(*report_page(), {system, start, rows, summary, events});
///
/// The page is that of viewer/, built with the program; docs/reference/report.md says what its data are. Nothing that
/// a model file holds can become markup or script of the page: see safe_in_script().

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "mechanician/report/report_recorder.hpp"
#include "mechanician/result/summary.hpp"

namespace mechanician {

/// The page without data; nothing where the program was built without it.
std::optional<std::string_view> report_page();

/// What the model draws, or what can be drawn of its coordinates.
std::optional<View> view_for(const System& system, const State& start);

struct ReportInput {
  const System& system;
  const State& start;
  const ReportRecorder& rows;
  const Summary& summary;
  std::span<const MotionEvent> events;
  /// Where there was no run: what is shown in the place of its status, and of the line about it.
  std::string status = {}, trust = {};
};

/// The data of the report: JSON that may stand in a script element.
std::string report_json(const ReportInput& input);
/// The page with the data in it. Throws std::invalid_argument for a page without a place for them.
std::string report_html(std::string_view page, const ReportInput& input);

}  // namespace mechanician
