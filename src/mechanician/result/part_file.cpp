#include "mechanician/result/part_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "mechanician/base/diagnostic.hpp"

namespace mechanician {

namespace {

[[noreturn]] void fail(const std::string& path, const char* doing, int error) {
  throw FileError(fmt::format("{}: cannot {}: {}", path, doing, std::strerror(error)));
}

void rename_or_throw(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) fail(to, "rename to it", errno);
}

}  // namespace

std::string resolve_links(const std::string& file) {
  std::filesystem::path path = file;
  for (int links = 0; links < 40; ++links) {
    std::error_code error;
    const std::filesystem::path target = std::filesystem::read_symlink(path, error);
    if (error) return path.string();  // no link: this is the file
    path = path.parent_path() / target;
  }
  return file;
}

OpenFile::OpenFile(std::string path, Mode mode) : path_(std::move(path)) {
  // What is made here lies beside a result under a name of ours: a link there would lead to somebody else's file.
  const int flags = mode == Mode::read ? O_RDONLY : mode == Mode::write ? O_RDWR : O_RDWR | O_CREAT | O_NOFOLLOW;
  fd_ = ::open(path_.c_str(), flags | O_CLOEXEC, 0666);
  if (fd_ < 0) fail(mode == Mode::read ? "read" : "write");
}

OpenFile::~OpenFile() {
  if (fd_ >= 0) ::close(fd_);
}

OpenFile::OpenFile(OpenFile&& other) noexcept : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}

OpenFile& OpenFile::operator=(OpenFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  return *this;
}

void OpenFile::fail(const char* doing) const { mechanician::fail(path_, doing, errno); }

std::uint64_t OpenFile::size() const {
  struct stat now {};
  if (::fstat(fd_, &now) != 0) fail("read");
  return static_cast<std::uint64_t>(now.st_size);
}

void OpenFile::write_at(std::uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written == 0) errno = ENOSPC;
    if (written <= 0) fail("write");
    bytes.remove_prefix(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
}

void OpenFile::read_at(std::uint64_t offset, std::span<char> bytes) const {
  while (!bytes.empty()) {
    const ssize_t got = ::pread(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("read");
    if (got == 0) throw FileError(fmt::format("{}: the file is shorter than it should be", path_));
    bytes = bytes.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
}

void OpenFile::truncate(std::uint64_t size) {
  while (::ftruncate(fd_, static_cast<off_t>(size)) != 0)
    if (errno != EINTR) fail("write");
}

void OpenFile::sync() {
  // Some file systems cannot do this; then there is nothing to wait for.
  if (::fsync(fd_) != 0 && errno != EINVAL && errno != EROFS && errno != ENOTSUP) fail("write");
}

void OpenFile::close() {
  // EINTR: the file is closed all the same.
  if (const int fd = std::exchange(fd_, -1); fd >= 0 && ::close(fd) != 0 && errno != EINTR) fail("write");
}

unsigned OpenFile::permissions() const {
  struct stat now {};
  if (::fstat(fd_, &now) != 0) fail("read");
  return now.st_mode & 0777u;
}

void OpenFile::set_permissions(unsigned permissions) {
  // Some file systems have none.
  if (::fchmod(fd_, static_cast<mode_t>(permissions)) != 0 && errno != ENOTSUP && errno != EPERM && errno != EINVAL)
    fail("set permissions");
}

bool OpenFile::try_lock() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (::fcntl(fd_, F_OFD_SETLK, &lock) == 0) return true;
  if (errno == EAGAIN || errno == EACCES) return false;
  // A file system without locks: better a result without one than none.
  if (errno == ENOLCK || errno == EINVAL || errno == ENOTSUP || errno == ENOSYS) return true;
  fail("lock");
}

bool OpenFile::is_at_its_path() const {
  struct stat here {};
  struct stat there {};
  if (::fstat(fd_, &here) != 0) fail("read");
  return ::stat(path_.c_str(), &there) == 0 && here.st_ino == there.st_ino && here.st_dev == there.st_dev;
}

void remove_quietly(const std::string& path) { ::unlink(path.c_str()); }

PartFile::PartFile(const std::string& file) : path_(resolve_links(file)) {
  struct stat there {};
  const bool replaces = ::stat(path_.c_str(), &there) == 0;
  if (replaces && !S_ISREG(there.st_mode))
    throw FileError(fmt::format("{}: cannot write: it is not a regular file", path_));
  // A rename asks nobody. The superuser may write everything, but protects files like others.
  if (replaces && ((there.st_mode & 0222u) == 0 || ::faccessat(AT_FDCWD, path_.c_str(), W_OK, AT_EACCESS) != 0))
    throw FileError(fmt::format("{}: cannot write: it is write-protected", path_));
  const std::string part = part_of(path_);
  for (;;) {
    file_ = OpenFile(part, OpenFile::Mode::create);
    if (!file_.try_lock()) throw FileError(fmt::format("{}: another run is writing this result", part));
    // Between opening and locking another run may have renamed it: then the lock is one on a file that is no longer
    // there.
    if (file_.is_at_its_path()) break;
  }
  keep_ = file_.size() > 0;
  if (replaces) file_.set_permissions(there.st_mode & 0777u);
}

void PartFile::make_scratch() const {
  remove_quietly(scratch());
  OpenFile(scratch(), OpenFile::Mode::create).set_permissions(file_.permissions());
}

PartFile::~PartFile() {
  if (!keep_) remove_quietly(file_.path());
}

void PartFile::replace_by_scratch() {
  OpenFile next(scratch(), OpenFile::Mode::write);
  if (!next.try_lock()) throw FileError(fmt::format("{}: another run is writing this result", next.path()));
  const std::string part = file_.path();
  rename_or_throw(scratch(), part);
  next.set_path(part);
  file_ = std::move(next);
}

bool PartFile::exchange_with_scratch(OpenFile& other) {
  if (::renameat2(AT_FDCWD, other.path().c_str(), AT_FDCWD, file_.path().c_str(), RENAME_EXCHANGE) != 0) return false;
  const std::string part = file_.path();
  file_.set_path(other.path());
  other.set_path(part);
  std::swap(file_, other);
  return true;
}

void PartFile::finish() {
  file_.sync();
  rename_or_throw(file_.path(), path_);
  keep_ = true;
  file_.close();
}

void PartFile::finish_by_scratch() {
  {
    OpenFile next(scratch(), OpenFile::Mode::write);
    next.sync();
    next.close();
  }
  rename_or_throw(scratch(), path_);
  keep_ = false;
}

}  // namespace mechanician
