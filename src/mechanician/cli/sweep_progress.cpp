#include "mechanician/cli/sweep_progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "mechanician/cli/standard_error.hpp"

namespace mechanician {

namespace {

std::string duration(double seconds) {
  if (!(seconds < 1e7)) return "long";
  const long s = std::lround(seconds);
  return s < 3600 ? fmt::format("{}:{:02}", s / 60, s % 60)
                  : fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

/// Of the terminal; it may change meanwhile.
std::size_t columns_of_terminal() {
  struct winsize size {};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

SweepBar::SweepBar(Mode mode)
    : enabled_(mode == Mode::if_terminal && ::isatty(STDERR_FILENO) == 1),
      next_(std::chrono::steady_clock::now() + std::chrono::milliseconds(200)) {}

void SweepBar::update(const SweepProgress& progress) {
  const auto now = std::chrono::steady_clock::now();
  if (!enabled_ || now < next_) return;
  next_ = now + std::chrono::milliseconds(100);
  redraw_line(sweep_line(progress, columns_of_terminal()));
  shown_ = true;
}

void SweepBar::clear() {
  if (!shown_) return;
  redraw_line({});
  shown_ = false;
}

std::string sweep_line(const SweepProgress& p, std::size_t columns) {
  const std::int64_t done = p.before + p.now.motions;
  const double fraction =
      std::clamp(static_cast<double>(done) / static_cast<double>(std::max<std::int64_t>(p.motions, 1)), 0.0, 1.0);
  const auto filled = static_cast<std::size_t>(20.0 * fraction);
  const double left =
      p.now.motions > 0 ? p.seconds * static_cast<double>(p.motions - done) / static_cast<double>(p.now.motions) : 1e9;
  // The last column stays free: some terminals go to the next line when it is written.
  std::string line = fmt::format("{:3.0f} %", std::floor(100.0 * fraction));
  for (const std::string& part :
       {fmt::format(" {} of {} motions", done, p.motions), fmt::format(", {} left", duration(left)),
        fmt::format(", {} failed", p.now.failed),
        fmt::format(", {:.2g} steps/s", static_cast<double>(p.now.steps) / std::max(p.seconds, 1e-9))}) {
    if (line.size() + part.size() >= columns) return line.substr(0, columns > 0 ? columns - 1 : 0);
    line += part;
  }
  const std::string bar = fmt::format(" [{}{}]", std::string(filled, '#'), std::string(20 - filled, ' '));
  return line.size() + bar.size() < columns ? line.insert(5, bar) : line;
}

}  // namespace mechanician
