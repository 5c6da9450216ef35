#pragma once

/// Places in a model file: byte offsets to lines and columns and back, also through the escapes of a TOML string.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mechanician/base/diagnostic.hpp"

namespace mechanician {

/// Lines and columns of a text. Columns count code points, and the count is kept per block of the text, so that a file
/// of one endless line costs no more than others. The text must outlive the map.
class SourceMap {
 public:
  explicit SourceMap(std::string_view text);

  std::string_view text() const { return text_; }
  /// The stretch [begin, end) of the text.
  Place place_of(std::size_t begin, std::size_t end) const;
  /// Of a line and a column, both from 1; the end of the text for what lies behind it.
  std::size_t offset_of(std::size_t line, std::size_t column) const;

 private:
  std::size_t code_points_before(std::size_t offset) const;

  std::string_view text_;
  std::vector<std::size_t> lines_;          ///< offset of each line
  std::vector<std::uint32_t> code_points_;  ///< number of code points before each block
};

/// A TOML string as it stands in a file: where its opening quotation mark is, and what it means.
///
/// Finds the raw offset of the byte `decoded` of the string's value, whatever escapes and line ends stand before it.
/// The offset may be that of the closing quotation mark.
std::size_t raw_offset(std::string_view text, std::size_t opening, std::size_t decoded);

/// The value of the TOML string that opens at `opening`; for keys and tests.
std::string decode_string(std::string_view text, std::size_t opening);

/// Text of a file as it may be printed on a terminal: control characters and those that turn the direction of writing
/// are spelt out, and what is longer than `most` code points is cut.
std::string printable(std::string_view text, std::size_t most = 80);
/// The same in backquotes.
std::string quoted(std::string_view text);

}  // namespace mechanician
