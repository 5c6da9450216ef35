#pragma once

/// What is to be said of a run at its end: how far it came, at what cost, and whether it is to be trusted.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mechanician/motion/motion_record.hpp"
#include "mechanician/result/columns.hpp"

namespace mechanician {

class JsonWriter;

enum class RunStatus {
  incomplete,   ///< still going on, or killed
  done,         ///< reached its end
  stopped,      ///< at an event with do = "stop"
  failed,       ///< could not go on
  suspect,      ///< done or stopped, but the certificate does not hold
  interrupted,  ///< by the user
};
std::string_view name_of(RunStatus status);
/// Nothing for any other word.
std::optional<RunStatus> status_of(std::string_view name);

struct Summary {
  RunStatus status = RunStatus::incomplete;
  std::string message;  ///< why the run stopped, where it did not reach its end
  double begin = 0.0, end = 0.0;
  long rows = 0;
  std::string method;
  double tolerance = 0.0;
  Statistics statistics;
  Certificate certificate;
  std::vector<SummaryValue> values;  ///< [summary] of the model
  std::vector<std::string> notes;
  double wall_time = 0.0;  ///< seconds, those before a run was taken up again included

  /// Nothing is left to compute.
  bool complete() const {
    return status == RunStatus::done || status == RunStatus::stopped || status == RunStatus::suspect;
  }
};

/// One line: whether the run is to be trusted, and why not.
std::string trust_line(const Summary& summary);

/// For standard error.
std::string summary_text(const Summary& summary, std::span<const MotionEvent> events, const Columns& columns);

/// A JSON object with stable keys.
void write_summary(JsonWriter& json, const Summary& summary, std::span<const MotionEvent> events,
                   const Columns& columns);
void write_event(JsonWriter& json, const MotionEvent& event, const Columns& columns);

}  // namespace mechanician
