#pragma once

/// What a person sees while a run goes on, and how they end it.

#include <chrono>
#include <string>

#include "mechanician/result/record.hpp"

namespace mechanician {

/// One line on standard error that is redrawn at most ten times a second; nothing where that is no terminal.
class ProgressBar {
 public:
  enum class Mode { silent, if_terminal };
  explicit ProgressBar(Mode mode);
  ~ProgressBar() { clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void update(const RunProgress& progress);
  /// Leaves the line as if nothing had been there.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  bool shown_ = false, enabled_ = false;
  bool first_ = true;
  double first_time_ = 0.0, first_wall_ = 0.0;  ///< a run that is taken up again does not begin at 0
  Clock::time_point next_;
};

/// "  42 % [####      ]  t = 4.2 of 10, 1,234 steps, 0:03 left", for 80 columns.
std::string progress_line(const RunProgress& progress, double seconds_left);

/// While it lives, the first Ctrl-C (or SIGTERM) only sets a flag; the second ends the process as usual.
class InterruptFlag {
 public:
  InterruptFlag();
  ~InterruptFlag();
  InterruptFlag(const InterruptFlag&) = delete;
  InterruptFlag& operator=(const InterruptFlag&) = delete;
  bool raised() const;
};

}  // namespace mechanician
