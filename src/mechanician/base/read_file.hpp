#pragma once

/// Files that people name, read as a whole.

#include <cstddef>
#include <string>
#include <vector>

namespace mechanician {

struct FileText {
  std::string text;
  std::string problem;  ///< why it could not be read, "No such file or directory"; empty: it could
};

/// Regular files only: a pipe or a device may never end, or give something else when it is read again. At most `most` bytes and one
/// more, which shows that there are too many.
FileText read_file(const std::string& path, std::size_t most = static_cast<std::size_t>(-1) - 1);

/// A file as it was read, or could not be.
struct FileRead {
  std::string path;
  std::size_t most = 0;
  FileText got = {};
  /// Read once more, byte for byte.
  bool is_unchanged() const;
};

/// Keeps what read_file gives in this thread while it lives.
class FilesKept {
 public:
  FilesKept();
  ~FilesKept();
  FilesKept(const FilesKept&) = delete;
  FilesKept& operator=(const FilesKept&) = delete;
  void add(FileRead file) { files_.push_back(std::move(file)); }
  std::vector<FileRead> take() { return std::move(files_); }

 private:
  std::vector<FileRead> files_;
  FilesKept* outer_;
};

}  // namespace mechanician
