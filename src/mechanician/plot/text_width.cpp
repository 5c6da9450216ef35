#include "mechanician/plot/text_width.hpp"

#include "mechanician/base/text.hpp"

namespace mechanician {

namespace {

/// In parts of the size; those of DejaVu Sans, which is wider than most.
double width_of(char32_t c) {
  if (c >= '0' && c <= '9') return 0.64;
  if (c == '.' || c == ',' || c == ' ' || c == '\'' || c == 'i' || c == 'l' || c == 'j' || c == '|') return 0.32;
  if (c == '(' || c == ')' || c == '[' || c == ']' || c == '-' || c == 't' || c == 'f' || c == 'r') return 0.41;
  if (c == 0x2212 || c == 0xD7 || c == '+' || c == '=' || c == '<' || c == '>') return 0.84;
  if (c == 'm' || c == 'M' || c == 'w' || c == 'W' || c == '@' || c == 0x2026) return 1.0;
  if (c >= 'A' && c <= 'Z') return 0.72;
  return c >= 0x1100 ? 1.0 : 0.62;
}

}  // namespace

double text_width(std::string_view text, double size) {
  double width = 0.0;
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint c = decode_utf8(text, i);
    width += width_of(c.value);
    i += static_cast<std::size_t>(c.length);
  }
  return width * size;
}

double text_width(const RichText& text, double size) {
  double width = 0.0;
  for (const TextRun& run : text) width += text_width(run.text, run.raised ? raised_size * size : size);
  return width;
}

}  // namespace mechanician
