#pragma once

/// Callbacks ask other languages, which costs more than a step: some ten times a second will do.

#include <chrono>

namespace mechanician {

class NowAndThen {
 public:
  /// At once when it is first asked, then every tenth of a second.
  bool is_time() {
    const auto now = std::chrono::steady_clock::now();
    if (last_ != std::chrono::steady_clock::time_point{} && now - last_ < std::chrono::milliseconds(100)) return false;
    last_ = now;
    return true;
  }

 private:
  std::chrono::steady_clock::time_point last_ = {};
};

}  // namespace mechanician
