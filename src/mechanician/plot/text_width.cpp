#include "mechanician/plot/text_width.hpp"

#include <utility>

#include "mechanician/base/text.hpp"

namespace mechanician {

namespace {

/// In parts of the size; those of DejaVu Sans, which is wider than most.
double width_of(char32_t c) {
  static constexpr std::pair<std::u32string_view, double> widths[] = {{U"0123456789", 0.64},
                                                                      {U"., 'ilj|", 0.32},
                                                                      {U"()[]-tfr", 0.41},
                                                                      {U"\u2212\u00D7+=<>", 0.84},
                                                                      {U"mMwW@\u2026", 1.0}};
  for (const auto& [characters, width] : widths)
    if (characters.find(c) != std::u32string_view::npos) return width;
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
