#pragma once

#include <set>
#include <string>
#include <string_view>

namespace mechanician {

/// Parts of a model file that have a problem already, by path ("parameters.m", "dynamics"; "" for the whole file): what
/// lies at or below such a path is not called missing or wrong a second time.
class Unreadable {
 public:
  void add(std::string path) { paths_.insert(std::move(path)); }
  bool covers(std::string_view path) const {
    for (;;) {
      if (paths_.contains(path)) return true;
      if (path.empty()) return false;
      const auto dot = path.rfind('.');
      path = dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
    }
  }
  /// Something at or below the path was added, or a path above it.
  bool touches(std::string_view path) const {
    if (covers(path)) return true;
    const std::string below = std::string(path) + ".";
    const auto after = paths_.lower_bound(below);
    return after != paths_.end() && after->starts_with(below);
  }

 private:
  std::set<std::string, std::less<>> paths_;
};

}  // namespace mechanician
