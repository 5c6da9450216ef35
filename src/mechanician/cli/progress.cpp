#include "mechanician/cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>

#include "mechanician/cli/standard_error.hpp"

namespace mechanician {

namespace {

volatile std::sig_atomic_t interrupted = 0;

extern "C" void note_interrupt(int signal) {
  interrupted = 1;
  std::signal(signal, SIG_DFL);
}

std::string duration(double seconds) {
  if (!(seconds < 1e7)) return "long";
  const long s = std::lround(seconds);
  return s < 3600 ? fmt::format("{}:{:02}", s / 60, s % 60)
                  : fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

}  // namespace

ProgressBar::ProgressBar(Mode mode)
    : enabled_(mode == Mode::if_terminal && ::isatty(STDERR_FILENO) == 1),
      // A run that is over in the blink of an eye needs no bar.
      next_(Clock::now() + std::chrono::milliseconds(200)) {}

void ProgressBar::update(const RunProgress& p) {
  if (!enabled_) return;
  if (first_) first_time_ = p.now, first_wall_ = p.wall_time, first_ = false;
  const auto now = Clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(100);
  const double left = (p.wall_time - first_wall_) * (p.end - p.now) / (p.now - first_time_);
  redraw_line(progress_line(p, left));
  shown_ = true;
}

void ProgressBar::clear() {
  if (!shown_) return;
  redraw_line({});
  shown_ = false;
}

std::string progress_line(const RunProgress& p, double seconds_left) {
  const double fraction = std::clamp((p.now - p.begin) / (p.end - p.begin), 0.0, 1.0);
  const auto filled = static_cast<std::size_t>(20.0 * fraction);
  return fmt::format("{:3.0f} % [{}{}] t = {:.5g} of {:.5g}, {} steps, {} left", std::floor(100.0 * fraction),
                     std::string(filled, '#'), std::string(20 - filled, ' '), p.now, p.end, p.steps,
                     duration(seconds_left));
}

InterruptFlag::InterruptFlag() {
  interrupted = 0;
  // A program started in the background by a shell has SIGINT ignored, and is to stay so.
  for (const int signal : {SIGINT, SIGTERM})
    if (std::signal(signal, note_interrupt) == SIG_IGN) std::signal(signal, SIG_IGN);
}

InterruptFlag::~InterruptFlag() {
  for (const int signal : {SIGINT, SIGTERM})
    if (std::signal(signal, SIG_DFL) == SIG_IGN) std::signal(signal, SIG_IGN);
}

bool InterruptFlag::raised() const { return interrupted != 0; }

}  // namespace mechanician
