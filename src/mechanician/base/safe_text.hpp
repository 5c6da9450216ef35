#pragma once

/// Names from files, made fit to be shown: whoever wrote the file must not steer the terminal or end an SVG element.

#include <string>
#include <string_view>

namespace mechanician {

/// Control characters, what reverses the direction of writing, what XML forbids and what is not UTF-8 become U+FFFD; a
/// line break or tab becomes a blank.
std::string safe_text(std::string_view text);

/// The same, but for line breaks, which stay: for text of several lines.
std::string safe_lines(std::string_view text);

/// At most `most` code points, the last of them … where some were left out.
std::string elided(std::string_view text, std::size_t most);

/// & < > " as entities; for text that is safe already.
std::string xml_text(std::string_view text);

/// Columns that it takes in a terminal, one a code point.
std::size_t text_columns(std::string_view text);

}  // namespace mechanician
