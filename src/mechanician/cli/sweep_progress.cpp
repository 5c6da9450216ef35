#include "mechanician/cli/sweep_progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace mechanician {

namespace {

std::string duration(double seconds) {
  if (!(seconds < 1e7)) return "long";
  const long s = std::lround(seconds);
  return s < 3600 ? fmt::format("{}:{:02}", s / 60, s % 60) : fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

}  // namespace

SweepBar::SweepBar(Mode mode)
    : enabled_(mode == Mode::if_terminal && ::isatty(STDERR_FILENO) == 1),
      next_(std::chrono::steady_clock::now() + std::chrono::milliseconds(200)) {}

void SweepBar::update(const SweepProgress& progress) {
  const auto now = std::chrono::steady_clock::now();
  if (!enabled_ || now < next_) return;
  next_ = now + std::chrono::milliseconds(100);
  fmt::print(stderr, "\r{}\x1b[K", sweep_line(progress));
  std::fflush(stderr);
  shown_ = true;
}

void SweepBar::clear() {
  if (!shown_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  shown_ = false;
}

std::string sweep_line(const SweepProgress& p) {
  const std::int64_t done = p.before + p.now.motions;
  const double fraction = std::clamp(static_cast<double>(done) / static_cast<double>(std::max<std::int64_t>(p.motions, 1)), 0.0, 1.0);
  const auto filled = static_cast<std::size_t>(20.0 * fraction);
  const double left = p.now.motions > 0 ? p.seconds * static_cast<double>(p.motions - done) / static_cast<double>(p.now.motions) : 1e9;
  return fmt::format("{:3.0f} % [{}{}] {} of {} motions, {} failed, {:.2g} steps/s, {} left", std::floor(100.0 * fraction),
                     std::string(filled, '#'), std::string(20 - filled, ' '), done, p.motions, p.now.failed,
                     static_cast<double>(p.now.steps) / std::max(p.seconds, 1e-9), duration(left));
}

}  // namespace mechanician
