#pragma once

/// Files that people name, read as a whole.

#include <cstddef>
#include <string>

namespace mechanician {

struct FileText {
  std::string text;
  std::string problem;  ///< why it could not be read, "No such file or directory"; empty: it could
};

/// Regular files only: a pipe or a device may never end, or give something else when it is read again. At most `most` bytes and one
/// more, which shows that there are too many.
FileText read_file(const std::string& path, std::size_t most = static_cast<std::size_t>(-1) - 1);

}  // namespace mechanician
