#pragma once

/// What commands say on standard error. A log on a full disk, or nobody who listens, is no reason to end a computation: unlike
/// fmt::print() this never throws for it. Titles and names of a model, paths and arguments do not steer the terminal.

#include <fmt/format.h>
#include <unistd.h>

#include "mechanician/base/safe_text.hpp"
#include "mechanician/base/standard_streams.hpp"

namespace mechanician {

template <class... Args>
void say(fmt::format_string<Args...> format, Args&&... args) {
  static_cast<void>(write_all(STDERR_FILENO, safe_lines(fmt::format(format, std::forward<Args>(args)...))));
}

/// A line that is drawn over the one before, where standard error is a terminal; empty: there is none any more.
inline void redraw_line(std::string_view line) {
  static_cast<void>(write_all(STDERR_FILENO, fmt::format("\r{}\x1b[K", line)));
}

}  // namespace mechanician
