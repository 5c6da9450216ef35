#pragma once

/// Text and numbers on their way into a page.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace mechanician {

/// A JSON text that can stand inside a script element of an HTML page, whatever its strings hold: the characters that
/// could begin or end markup, and those that a person does not see or that turn the direction of the text around them,
/// are written as \uXXXX. These characters occur in JSON only within strings, so that it reads as the same value.
std::string safe_in_script(std::string_view json);

/// At most `most` code points, the last one "…" where something is left out. Bytes that are no UTF-8 become U+FFFD.
std::string shortened(std::string_view text, std::size_t most = 160);

/// The numbers, least significant byte first, as base64.
std::string base64_of(std::span<const double> numbers);
std::string base64_of(std::span<const float> numbers);
std::string base64_of(std::span<const std::uint32_t> numbers);

/// The comment with which a model file begins, as paragraphs.
std::string opening_comment(std::string_view model_text);

}  // namespace mechanician
