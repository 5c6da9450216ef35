#pragma once

/// What commands say on standard error. A log on a full disk, or nobody who listens, is no reason to end a computation: unlike
/// fmt::print() this never throws for it.

#include <fmt/format.h>

#include <cstdio>
#include <string>

namespace mechanician {

template <class... Args>
void say(fmt::format_string<Args...> format, Args&&... args) {
  const std::string text = fmt::format(format, std::forward<Args>(args)...);
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
}

}  // namespace mechanician
