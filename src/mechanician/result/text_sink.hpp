#pragma once

/// Where the text of a CSV or JSON result goes: to a file that can be amended at its end, or down a pipe.

#include <memory>
#include <string>
#include <string_view>

#include "mechanician/base/diagnostic.hpp"

namespace mechanician {

/// Who read our standard output has gone, as `head` does: no mistake of anybody, and nothing to be said.
class ReaderGone : public FileError {
 public:
  ReaderGone() : FileError("standard output: nobody reads it") {}
};

class TextSink {
 public:
  virtual ~TextSink() = default;
  /// Adds `text` for good.
  virtual void append(std::string_view text) = 0;
  /// Makes the text end with `tail`, which the next text replaces. Where that is not possible (a pipe), only
  /// `text` is added.
  virtual void append_with_tail(std::string_view text, std::string_view tail) = 0;
  /// No more text.
  virtual void finish() = 0;
};

/// FILE.part, then FILE. When a write fails the file is put back to what it was before.
std::unique_ptr<TextSink> make_file_sink(const std::string& file);
/// Throws ReaderGone where a pipe was closed at its other end.
std::unique_ptr<TextSink> make_standard_output_sink();

/// Adds a number with 17 significant digits, which reads back as the same number.
void append_number(std::string& out, double x);

}  // namespace mechanician
