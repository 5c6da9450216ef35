#include "mechanician/result/text_sink.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>

#include "mechanician/base/diagnostic.hpp"
#include "mechanician/result/part_file.hpp"

namespace mechanician {

namespace {

class FileSink final : public TextSink {
 public:
  explicit FileSink(const std::string& file) : part_(file) { part_.file().truncate(0); }

  void append(std::string_view text) override { append_with_tail(text, {}); }

  void append_with_tail(std::string_view text, std::string_view tail) override {
    std::string both(text);
    both += tail;
    try {
      // One write: a process that is killed leaves the file as it was or as it should be, pages in between apart.
      part_.file().write_at(end_, both);
      if (both.size() < tail_.size()) part_.file().truncate(end_ + both.size());
    } catch (const FileError&) {
      put_back();
      throw;
    }
    end_ += text.size();
    tail_ = tail;
    part_.keep();
  }

  void finish() override { part_.finish(); }

 private:
  /// What was there needs no new space on the disk.
  void put_back() {
    try {
      part_.file().write_at(end_, tail_);
      part_.file().truncate(end_ + tail_.size());
    } catch (const FileError&) {
      // The first error is the one to report.
    }
  }

  PartFile part_;
  std::uint64_t end_ = 0;
  std::string tail_;
};

class StandardOutputSink final : public TextSink {
 public:
  void append(std::string_view text) override {
    while (!text.empty()) {
      const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) throw FileError(fmt::format("standard output: {}", std::strerror(errno)));
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  void append_with_tail(std::string_view text, std::string_view) override { append(text); }
  void finish() override {
    // The shell closes standard output after us; closing it here is how a full disk on the network shows.
    if (::close(::dup(STDOUT_FILENO)) != 0) throw FileError(fmt::format("standard output: {}", std::strerror(errno)));
  }
};

}  // namespace

std::unique_ptr<TextSink> make_file_sink(const std::string& file) { return std::make_unique<FileSink>(file); }
std::unique_ptr<TextSink> make_standard_output_sink() { return std::make_unique<StandardOutputSink>(); }

void append_number(std::string& out, double x) {
  char digits[40];
  const auto end = std::to_chars(digits, digits + sizeof digits, x, std::chars_format::general, 17).ptr;
  out.append(digits, end);
}

}  // namespace mechanician
