#include "mechanician/base/read_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace mechanician {

namespace {

thread_local FilesKept* kept = nullptr;

FileText read_now(const std::string& path, std::size_t most) {
  // Without waiting: a pipe that nobody writes to would keep us here for ever.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return {{}, errno == ENXIO ? "it is a socket or a device" : std::strerror(errno)};
  FileText result;
  struct stat about {};
  if (::fstat(file, &about) != 0)
    result.problem = std::strerror(errno);
  else if (S_ISDIR(about.st_mode))
    result.problem = "it is a folder";
  else if (S_ISFIFO(about.st_mode))
    result.problem = "it is a pipe, and this must be a file";
  else if (!S_ISREG(about.st_mode))
    result.problem = "it is a device, and this must be a file";
  std::string& text = result.text;
  constexpr std::size_t piece = std::size_t{1} << 16;
  while (result.problem.empty() && text.size() <= most) {
    const std::size_t before = text.size();
    text.resize(before + std::min(piece, most - before + 1));
    const ssize_t got = ::read(file, text.data() + before, text.size() - before);
    if (got < 0 && errno != EINTR) result.problem = std::strerror(errno);
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) break;
  }
  ::close(file);
  if (!result.problem.empty()) text.clear();
  return result;
}

}  // namespace

FileText read_file(const std::string& path, std::size_t most) {
  FileText result = read_now(path, most);
  if (kept) kept->add({path, most, result});
  return result;
}

bool FileRead::is_unchanged() const {
  const FileText now = read_now(path, most);
  return now.text == got.text && now.problem == got.problem;
}

FilesKept::FilesKept() : outer_(kept) { kept = this; }
FilesKept::~FilesKept() { kept = outer_; }

}  // namespace mechanician
