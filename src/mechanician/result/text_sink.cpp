#include "mechanician/result/text_sink.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "mechanician/base/standard_streams.hpp"
#include "mechanician/result/part_file.hpp"

namespace mechanician {

namespace {

/// CSV has no tail: lines are added, and one that a kill has cut does no harm. With a tail, as JSON has, text is replaced, and a kill
/// within that would leave neither the old nor the new. So there are two files that change places, FILE.part and its scratch file:
/// the whole one stays what it is while the other gets all that it does not have yet.
class FileSink final : public TextSink {
 public:
  explicit FileSink(const std::string& file) : part_(file) {}
  ~FileSink() override {
    if (!other_.path().empty()) remove_quietly(part_.scratch());
  }

  void append(std::string_view text) override { append_with_tail(text, {}); }

  void append_with_tail(std::string_view text, std::string_view tail) override {
    if ((tail.empty() && tail_.empty()) || !replace(text, tail)) write_here(text, tail);
    tail_ = tail;
    part_.keep();
  }

  void finish() override { part_.finish(); }

 private:
  /// By the other file; false where the file system cannot exchange them.
  bool replace(std::string_view text, std::string_view tail) {
    if (!can_exchange_) return false;
    if (other_.path().empty()) {
      part_.make_scratch();
      other_ = OpenFile(part_.scratch(), OpenFile::Mode::write);
      if (!other_.try_lock()) throw FileError(fmt::format("{}: another run is writing this result", other_.path()));
    }
    const std::uint64_t body = other_end_ + missing_.size() + text.size();
    other_.write_at(other_end_, missing_ + std::string(text) + std::string(tail));
    other_.truncate(body + tail.size());
    can_exchange_ = part_.exchange_with_scratch(other_);
    if (!can_exchange_) return false;
    other_end_ = end_, end_ = body;
    missing_ = text;
    return true;
  }

  void write_here(std::string_view text, std::string_view tail) {
    // What an earlier run has left there goes when there is something new.
    if (end_ == 0) part_.file().truncate(0);
    try {
      part_.file().write_at(end_, std::string(text) + std::string(tail));
      if (text.size() + tail.size() < tail_.size()) part_.file().truncate(end_ + text.size() + tail.size());
    } catch (const FileError&) {
      put_back();
      throw;
    }
    end_ += text.size();
  }

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
  std::uint64_t end_ = 0;  ///< of the text without its tail
  std::string tail_;
  OpenFile other_;               ///< the scratch file, if there is one
  std::uint64_t other_end_ = 0;  ///< of the text that it shares with FILE.part
  std::string missing_;          ///< what FILE.part has behind that
  bool can_exchange_ = true;
};

class StandardOutputSink final : public TextSink {
 public:
  void append(std::string_view text) override {
    if (write_all(STDOUT_FILENO, text)) return;
    if (errno == EPIPE) throw ReaderGone();
    throw FileError(fmt::format("standard output: {}", std::strerror(errno)));
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
  if (std::isnan(x)) x = std::numeric_limits<double>::quiet_NaN();  // which has no sign to be read
  const auto end = std::to_chars(digits, digits + sizeof digits, x, std::chars_format::general, 17).ptr;
  out.append(digits, end);
}

}  // namespace mechanician
