#pragma once

/// What a person sees while a sweep goes on.

#include <chrono>
#include <string>

#include "mechanician/ensemble/sweep.hpp"

namespace mechanician {

/// One line on standard error that is redrawn at most ten times a second; nothing where that is no terminal.
class SweepBar {
 public:
  enum class Mode { silent, if_terminal };
  explicit SweepBar(Mode mode);
  ~SweepBar() { clear(); }
  SweepBar(const SweepBar&) = delete;
  SweepBar& operator=(const SweepBar&) = delete;

  void update(const SweepProgress& progress);
  void clear();

 private:
  bool enabled_ = false, shown_ = false;
  std::chrono::steady_clock::time_point next_;
};

/// " 42 % [########            ] 4200 of 10000 motions, 0:03 left, 3 failed, 1.2e+06 steps/s", in a narrow terminal without the bar
/// and as much of the rest as there is room for: a line that is broken could not be redrawn.
std::string sweep_line(const SweepProgress& progress, std::size_t columns);

}  // namespace mechanician
