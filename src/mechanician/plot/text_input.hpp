#pragma once

/// Text from a file or from standard input, read once from front to back in pieces: a result need not fit into memory.

#include <cstdint>
#include <string>
#include <string_view>

namespace mechanician {

class TextInput {
 public:
  /// "-" is standard input. Throws FileError.
  explicit TextInput(const std::string& file);
  ~TextInput();
  TextInput(const TextInput&) = delete;
  TextInput& operator=(const TextInput&) = delete;

  /// As the user named it; "standard input".
  const std::string& name() const { return name_; }

  static constexpr int end = -1;
  /// The next byte, which stays.
  int peek() { return at_ < size_ || refill() ? static_cast<unsigned char>(buffer_[at_]) : end; }
  /// The next byte, which is taken.
  int get() {
    const int c = peek();
    if (c == end) return c;
    ++at_;
    if (c == '\n') {
      ++line_;
      line_start_ = offset();
    }
    return c;
  }
  /// Where the next byte is, both counted from 1; the column in bytes.
  long line() const { return line_; }
  long column() const { return static_cast<long>(offset() - line_start_) + 1; }

  struct Line {
    std::string_view text;    ///< without its end; valid until the next call of anything
    bool terminated = false;  ///< a newline followed
  };
  /// The next line; false at the end of the text. `line()` is then that of the line after it.
  bool read_line(Line& line);
  /// The first bytes, as many as there are up to `count`, which stay. Only before anything was taken.
  std::string_view first(std::size_t count);

 private:
  std::uint64_t offset() const { return before_ + at_; }
  /// Makes room and reads on; false at the end.
  bool refill();

  std::string name_;
  int fd_ = -1;
  std::string buffer_;
  std::size_t at_ = 0, size_ = 0;
  std::uint64_t before_ = 0;  ///< bytes that have left the buffer
  long line_ = 1;
  std::uint64_t line_start_ = 0;
  bool over_ = false;
};

}  // namespace mechanician
