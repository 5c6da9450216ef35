#include "mechanician/plot/text_input.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "mechanician/base/diagnostic.hpp"

namespace mechanician {

namespace {
constexpr std::size_t piece = std::size_t{1} << 18;
constexpr std::size_t longest_line = std::size_t{1} << 26;
}  // namespace

TextInput::TextInput(const std::string& file) : name_(file == "-" ? "standard input" : file) {
  fd_ = file == "-" ? ::dup(STDIN_FILENO) : ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd_ < 0) throw FileError(fmt::format("{}: cannot be read: {}", name_, std::strerror(errno)));
}

TextInput::~TextInput() {
  if (fd_ >= 0) ::close(fd_);
}

bool TextInput::refill() {
  if (over_) return false;
  // What was taken goes; what was not moves to the front.
  if (at_ > 0) {
    buffer_.erase(0, at_);
    before_ += at_;
    size_ -= at_;
    at_ = 0;
  }
  buffer_.resize(size_ + piece);
  ssize_t got = 0;
  do got = ::read(fd_, buffer_.data() + size_, piece);
  while (got < 0 && errno == EINTR);
  if (got < 0) throw FileError(fmt::format("{}: cannot be read: {}", name_, std::strerror(errno)));
  over_ = got == 0;
  size_ += static_cast<std::size_t>(got);
  buffer_.resize(size_);
  return got > 0;
}

bool TextInput::read_line(Line& line) {
  std::size_t searched = 0;
  for (;;) {
    const void* found =
        size_ > at_ + searched ? std::memchr(buffer_.data() + at_ + searched, '\n', size_ - at_ - searched) : nullptr;
    if (found) {
      const auto newline = static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.data());
      line = {std::string_view(buffer_).substr(at_, newline - at_), true};
      at_ = newline + 1;
      break;
    }
    searched = size_ - at_;
    if (searched > longest_line)
      throw FileError(fmt::format("{}:{}: this line is longer than {} MiB: it is no table of numbers", name_, line_,
                                  longest_line >> 20));
    if (refill()) continue;
    if (at_ == size_) return false;
    line = {std::string_view(buffer_).substr(at_, size_ - at_), false};
    at_ = size_;
    break;
  }
  ++line_;
  line_start_ = offset();
  return true;
}

std::string_view TextInput::first(std::size_t count) {
  while (size_ < count && refill()) continue;
  return std::string_view(buffer_).substr(0, std::min(count, size_));
}

}  // namespace mechanician
