#include "mechanician/model/source_map.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mechanician/base/text.hpp"

namespace mechanician {

namespace {

constexpr std::size_t block = 64;  // bytes

bool starts_code_point(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

/// A block with as many code points as bytes, for numbers of code points before each block: there is nothing to count.
bool is_plain(const std::vector<std::uint32_t>& before, std::size_t number) {
  return number + 1 < before.size() && before[number + 1] - before[number] == block;
}

}  // namespace

SourceMap::SourceMap(std::string_view text) : text_(text) {
  lines_.push_back(0);
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i % block == 0) code_points_.push_back(count);
    if (starts_code_point(text[i])) ++count;
    if (text[i] == '\n') lines_.push_back(i + 1);
  }
  if (text.size() % block == 0) code_points_.push_back(count);
}

std::size_t SourceMap::code_points_before(std::size_t offset) const {
  const std::size_t number = offset / block, first = number * block;
  if (is_plain(code_points_, number)) return code_points_[number] + offset - first;
  return code_points_[number] + count_code_points(text_.substr(first, offset - first));
}

Place SourceMap::place_of(std::size_t begin, std::size_t end) const {
  begin = std::min(begin, text_.size());
  end = std::clamp(end, begin, text_.size());
  const auto line = std::upper_bound(lines_.begin(), lines_.end(), begin) - lines_.begin();
  const std::size_t before = code_points_before(begin);
  const std::size_t column = before - code_points_before(lines_[static_cast<std::size_t>(line - 1)]) + 1;
  const std::size_t length = std::max<std::size_t>(code_points_before(end) - before, 1);
  return {static_cast<int>(line), static_cast<int>(column), static_cast<int>(length)};
}

std::size_t SourceMap::offset_of(std::size_t line, std::size_t column) const {
  if (line == 0 || line > lines_.size()) return text_.size();
  const std::size_t begin = lines_[line - 1];
  const std::size_t wanted = code_points_before(begin) + std::max<std::size_t>(column, 1) - 1;
  // The last block that starts at or before the wanted code point, then on by single bytes.
  const auto after = std::upper_bound(code_points_.begin(), code_points_.end(), static_cast<std::uint32_t>(wanted));
  std::size_t offset = std::max(begin, static_cast<std::size_t>(after - code_points_.begin() - 1) * block);
  std::size_t count = code_points_before(offset);
  if (is_plain(code_points_, offset / block) && wanted < code_points_[offset / block] + block)
    return offset + wanted - count;
  while (offset < text_.size() && (count < wanted || !starts_code_point(text_[offset])))
    if (starts_code_point(text_[offset++])) ++count;
  return offset;
}

namespace {

/// Walks over a TOML string and calls visit(raw offset, decoded text) for each piece of its value; visit returns false
/// to stop. Returns the raw offset where it stopped or where the closing mark is.
template <class Visit>
std::size_t walk_string(std::string_view text, std::size_t opening, Visit visit) {
  const char mark = text[opening];
  const bool multi_line = text.substr(opening, 3) == std::string(3, mark);
  std::size_t i = opening + (multi_line ? 3 : 1);
  const auto at = [&](std::size_t k) { return k < text.size() ? text[k] : '\0'; };
  // A line end right behind the opening marks is not part of the value.
  if (multi_line && at(i) == '\r' && at(i + 1) == '\n')
    i += 2;
  else if (multi_line && at(i) == '\n')
    ++i;

  while (i < text.size()) {
    if (text[i] == mark) {
      if (!multi_line) return i;
      // Up to two marks may stand directly before the closing three.
      std::size_t run = 0;
      while (at(i + run) == mark && run < 5) ++run;
      if (run >= 3) {
        for (std::size_t k = 0; k + 3 < run; ++k)
          if (!visit(i + k, std::string_view(&mark, 1))) return i + k;
        return i + run - 3;
      }
    }
    if (mark == '"' && text[i] == '\\') {
      const std::size_t escape = i++;
      std::size_t next = i;
      while (at(next) == ' ' || at(next) == '\t') ++next;
      if (multi_line && (at(next) == '\n' || at(next) == '\r')) {
        // A backslash at the end of a line swallows the white space up to the next text.
        i = std::min(text.find_first_not_of(" \t\r\n", next), text.size());
        continue;
      }
      const char c = at(i++);
      std::string value(1, c);
      if (c == 'n') value = "\n";
      if (c == 't') value = "\t";
      if (c == 'r') value = "\r";
      if (c == 'b') value = "\b";
      if (c == 'f') value = "\f";
      if (c == 'u' || c == 'U') {
        char32_t point = 0;
        for (int k = c == 'u' ? 4 : 8; k > 0 && i < text.size(); --k, ++i) {
          const char digit = text[i];
          point = point * 16 + static_cast<char32_t>(digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10);
        }
        value.clear();
        const auto push = [&](char32_t bits) { value += static_cast<char>(static_cast<unsigned char>(bits)); };
        if (point < 0x80)
          push(point);
        else if (point < 0x800)
          push(0xC0 | point >> 6), push(0x80 | (point & 0x3F));
        else if (point < 0x10000)
          push(0xE0 | point >> 12), push(0x80 | (point >> 6 & 0x3F)), push(0x80 | (point & 0x3F));
        else
          push(0xF0 | (point >> 18 & 7)), push(0x80 | (point >> 12 & 0x3F)), push(0x80 | (point >> 6 & 0x3F)),
              push(0x80 | (point & 0x3F));
      }
      if (!visit(escape, value)) return escape;
      continue;
    }
    if (text[i] == '\r' && at(i + 1) == '\n') {
      // A line end counts as \n, however it is written.
      if (!visit(i, std::string_view("\n"))) return i;
      i += 2;
      continue;
    }
    if (text[i] == '\n' && !multi_line) return i;
    if (!visit(i, text.substr(i, 1))) return i;
    ++i;
  }
  return i;
}

}  // namespace

std::size_t raw_offset(std::string_view text, std::size_t opening, std::size_t decoded) {
  std::size_t count = 0;
  return walk_string(text, opening, [&](std::size_t, std::string_view value) {
    if (count + value.size() > decoded) return false;
    count += value.size();
    return true;
  });
}

std::string decode_string(std::string_view text, std::size_t opening) {
  std::string value;
  walk_string(text, opening, [&](std::size_t, std::string_view piece) {
    value += piece;
    return true;
  });
  return value;
}

std::string printable(std::string_view text, std::size_t most) {
  const auto is_plain_letter = [](char c) { return c >= 0x20 && c < 0x7F; };
  if (text.size() <= most && std::all_of(text.begin(), text.end(), is_plain_letter)) return std::string(text);
  std::string out;
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++count) {
    if (count == most) return out + "…";
    const CodePoint c = decode_utf8(text, i);
    const char32_t v = c.value;
    const bool harmless = c.valid && v >= 0x20 && v != 0x7F && !(v >= 0x80 && v < 0xA0) &&
                          !(v >= 0x200B && v <= 0x200F) && !(v >= 0x2028 && v <= 0x202E) &&
                          !(v >= 0x2060 && v <= 0x206F) && v != 0xFEFF;
    if (harmless)
      out += text.substr(i, static_cast<std::size_t>(c.length));
    else if (v == '\n' || v == '\t')
      out += ' ';
    else
      out += fmt::format("<U+{:04X}>", static_cast<unsigned>(v));
    i += static_cast<std::size_t>(c.length);
  }
  return out;
}

std::string quoted(std::string_view text) { return "`" + printable(text) + "`"; }

}  // namespace mechanician
