#pragma once

/// Compiled objects on the disk, so that a model is optimised once per machine and not once per run.
///
/// One file per program, named by a hash of everything that the code depends on: the program, the options, the
/// processor, our version and the compiler's. A file is written beside its place and renamed, so that processes that
/// write the same one at the same time do not disturb each other. A file that is damaged, not ours, or writable by
/// others is not used. A directory that cannot be written to means no cache, and nothing else.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mechanician/compile/llvm_object.hpp"
#include "mechanician/compile/program.hpp"

namespace mechanician {

/// 128 bits: that two different programs ever share one is out of the question, attacks apart (see the owner's rights).
struct CodeKey {
  std::uint64_t high = 0, low = 0;
  friend bool operator==(const CodeKey&, const CodeKey&) = default;
  std::string text() const;  ///< 32 hexadecimal digits
};

CodeKey code_key(const Program& program, const ObjectOptions& options);

/// $MECHANICIAN_CACHE, or $XDG_CACHE_HOME/mechanician, or ~/.cache/mechanician; "" if there is none of them.
std::string cache_directory();

class CodeCache {
 public:
  explicit CodeCache(std::string directory = cache_directory(), std::uint64_t largest_size = std::uint64_t{256} << 20)
      : directory_(std::move(directory)), largest_size_(largest_size) {}

  std::optional<std::vector<std::string>> find(const CodeKey& key) const;
  /// Then removes what was not used for longest until all files together have at most `largest_size` bytes.
  void keep(const CodeKey& key, std::span<const std::string> objects) const;

  std::string path_of(const CodeKey& key) const;

 private:
  void trim() const;

  std::string directory_;
  std::uint64_t largest_size_;
};

}  // namespace mechanician
