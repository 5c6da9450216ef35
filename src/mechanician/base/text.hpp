#pragma once

/// Small helpers for text: UTF-8, names, the nearest known name, numbers in words.

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mechanician {

/// One code point of a UTF-8 text.
struct CodePoint {
  char32_t value = 0;
  int length = 1;     ///< bytes
  bool valid = true;  ///< false: not UTF-8; value is the byte
};
CodePoint decode_utf8(std::string_view text, std::size_t offset);

/// Number of code points in a text.
std::size_t count_code_points(std::string_view text);

/// A letter in the sense of the model language: ASCII letters, `_`, and the letters of Unicode's alphabets.
bool is_name_start(char32_t c);
bool is_name_part(char32_t c);
bool is_name(std::string_view text);

/// The candidate that a person most likely meant, or empty if none is near.
std::string nearest(std::string_view wanted, std::span<const std::string> candidates);

/// "a", "a and b", "a, b and c".
std::string join_and(std::span<const std::string> items);
/// Each item in quotation marks, then join_and; at most `most` of them, then "and N more".
std::string quote_list(std::span<const std::string> items, std::size_t most = 12);
/// "1 row", "3 rows".
std::string count_noun(std::size_t count, std::string_view noun);
/// A number for people: 6 significant digits.
std::string short_number(double value);

}  // namespace mechanician
