#pragma once

/// A result while it is being written: FILE.part, which becomes FILE when it is finished.
///
/// Every write is checked; an earlier FILE stays as it is until the rename. FILE.part is locked, so that two runs never
/// write the same result. The lock is of the kind that belongs to an open file (F_OFD_SETLK): unlike flock it does not
/// get into the way of HDF5's own locks, so that a result can be read while it grows. It ends with the process, however
/// that ends.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace mechanician {

/// An open file whose operations succeed or throw FileError with the path and the reason.
class OpenFile {
 public:
  OpenFile() = default;
  enum class Mode { read, write, create };  ///< create: also writable, made if it is not there, kept if it is
  OpenFile(std::string path, Mode mode);
  ~OpenFile();
  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&& other) noexcept;

  const std::string& path() const { return path_; }
  /// After a rename.
  void set_path(std::string path) { path_ = std::move(path); }
  std::uint64_t size() const;
  void write_at(std::uint64_t offset, std::string_view bytes);
  void read_at(std::uint64_t offset, std::span<char> bytes) const;
  void truncate(std::uint64_t size);
  /// To the disk itself: the only way to hear of errors that the system keeps to itself at first.
  void sync();
  void close();
  /// Who may read and write it: the lowest nine bits.
  unsigned permissions() const;
  void set_permissions(unsigned permissions);
  /// False if another open file holds the lock.
  bool try_lock();
  /// Whether the path still leads to this file.
  bool is_at_its_path() const;

 private:
  [[noreturn]] void fail(const char* doing) const;
  std::string path_;
  int fd_ = -1;
};

/// The file that a path means when it is a symbolic link, also to nothing yet: what replaces it leaves the link as it is.
std::string resolve_links(const std::string& file);

/// Removes the file if it is there; errors do not matter.
void remove_quietly(const std::string& path);

class PartFile {
 public:
  /// Opens and locks FILE.part; what it held before is still there. Throws FileError, also where FILE is no regular
  /// file, or is write-protected. FILE.part may be read and written by those who may do so with FILE.
  explicit PartFile(const std::string& file);
  /// Leaves FILE.part as it is if it is worth keeping, else removes it.
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  /// Where the result will be, links resolved.
  const std::string& path() const { return path_; }
  static std::string part_of(const std::string& file) { return file + ".part"; }
  static std::string scratch_of(const std::string& file) { return part_of(file) + ".new"; }
  /// For building a new version beside it.
  std::string scratch() const { return scratch_of(path_); }
  /// Makes an empty scratch file for the same people as FILE.part.
  void make_scratch() const;

  OpenFile& file() { return file_; }
  /// From now on FILE.part is worth something when the process ends.
  void keep() { keep_ = true; }
  /// The scratch file, complete, takes the place of FILE.part.
  void replace_by_scratch();
  /// The scratch file, complete and open, becomes FILE.part at once, and what was FILE.part the scratch file. False where the file
  /// system cannot do that: then nothing has changed.
  bool exchange_with_scratch(OpenFile& scratch);
  /// FILE.part becomes FILE.
  void finish();
  /// The scratch file becomes FILE, and FILE.part goes.
  void finish_by_scratch();

 private:
  std::string path_;
  OpenFile file_;
  bool keep_ = false;
};

}  // namespace mechanician
