#include "mechanician/report/report_text.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <iterator>

#include "mechanician/base/text.hpp"

namespace mechanician {

namespace {

static_assert(std::endian::native == std::endian::little, "numbers are stored as they lie in memory");

std::string base64_of_bytes(std::span<const unsigned char> bytes) {
  constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = bytes.size() - i;
    const unsigned group = static_cast<unsigned>(bytes[i]) << 16 |
                           (left > 1 ? static_cast<unsigned>(bytes[i + 1]) << 8 : 0u) |
                           (left > 2 ? static_cast<unsigned>(bytes[i + 2]) : 0u);
    out += digits[group >> 18 & 63];
    out += digits[group >> 12 & 63];
    out += left > 1 ? digits[group >> 6 & 63] : '=';
    out += left > 2 ? digits[group & 63] : '=';
  }
  return out;
}

template <class T>
std::string base64_of_numbers(std::span<const T> numbers) {
  std::vector<unsigned char> bytes(numbers.size_bytes());
  if (!bytes.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return base64_of_bytes(bytes);
}

/// Not seen, or with an effect on the text around: controls, marks of direction and joining, line separators.
bool is_unseen(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0xAD || c == 0x34F || c == 0x61C || c == 0x115F || c == 0x1160 ||
         (c >= 0x17B4 && c <= 0x17B5) || (c >= 0x180B && c <= 0x180F) || (c >= 0x200B && c <= 0x200F) ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0x3164 || (c >= 0xFE00 && c <= 0xFE0F) ||
         c == 0xFEFF || c == 0xFFA0 || (c >= 0xFFF0 && c <= 0xFFFF) || (c >= 0xE0000 && c <= 0xE0FFF);
}

void append_escape(std::string& out, char32_t c) {
  const auto unit = [&](unsigned u) { out += fmt::format("\\u{:04x}", u); };
  if (c < 0x10000) return unit(static_cast<unsigned>(c));
  const auto rest = static_cast<unsigned>(c) - 0x10000;
  unit(0xD800 + (rest >> 10));
  unit(0xDC00 + (rest & 0x3FF));
}

}  // namespace

std::string safe_in_script(std::string_view json) {
  std::string out;
  out.reserve(json.size() + json.size() / 16);
  for (std::size_t i = 0; i < json.size();) {
    const CodePoint c = decode_utf8(json, i);
    const auto length = static_cast<std::size_t>(c.length);
    if (!c.valid)
      out += "\\ufffd";
    else if (c.value == '\n' || c.value == ' ')
      out += static_cast<char>(c.value);  // between the values; within strings JSON allows no line feed
    else if (c.value == '<' || c.value == '>' || c.value == '&' || c.value == '\'' || c.value == '`' ||
             is_unseen(c.value))
      append_escape(out, c.value);
    else
      out += json.substr(i, length);
    i += length;
  }
  return out;
}

std::string shortened(std::string_view text, std::size_t most) {
  std::string out;
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++count) {
    const CodePoint c = decode_utf8(text, i);
    const auto length = static_cast<std::size_t>(c.length);
    if (count + 1 == most && i + length < text.size()) return out + "…";
    if (c.valid)
      out += text.substr(i, length);
    else
      out += "\uFFFD";
    i += length;
  }
  return out;
}

std::string base64_of(std::span<const double> numbers) { return base64_of_numbers(numbers); }
std::string base64_of(std::span<const float> numbers) { return base64_of_numbers(numbers); }
std::string base64_of(std::span<const std::uint32_t> numbers) { return base64_of_numbers(numbers); }

std::string opening_comment(std::string_view model_text) {
  std::string out;
  bool joins = false;  // with the line before
  while (!model_text.empty()) {
    const std::size_t end = std::min(model_text.find('\n'), model_text.size());
    std::string_view line = model_text.substr(0, end);
    model_text.remove_prefix(std::min(end + 1, model_text.size()));
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) {
      joins = false;
      continue;
    }
    if (line[first] != '#') break;
    line.remove_prefix(first + 1);
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
    while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r')) line.remove_suffix(1);
    if (line.empty()) {
      joins = false;
      continue;
    }
    if (line.starts_with("Try:") || line.starts_with("See:")) joins = false;
    if (!out.empty()) out += joins ? " " : "\n";
    out += line;
    joins = !line.starts_with("Try:");
  }
  return out;
}

}  // namespace mechanician
