#include "mechanician/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace mechanician {

CodePoint decode_utf8(std::string_view text, std::size_t offset) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[offset + i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1, true};
  int length = 0;
  char32_t value = 0, least = 0;
  if ((first & 0xE0) == 0xC0) length = 2, value = first & 0x1Fu, least = 0x80;
  if ((first & 0xF0) == 0xE0) length = 3, value = first & 0x0Fu, least = 0x800;
  if ((first & 0xF8) == 0xF0) length = 4, value = first & 0x07u, least = 0x10000;
  if (length == 0 || offset + static_cast<std::size_t>(length) > text.size()) return {first, 1, false};
  for (int i = 1; i < length; ++i) {
    const unsigned char next = byte(static_cast<std::size_t>(i));
    if ((next & 0xC0) != 0x80) return {first, 1, false};
    value = (value << 6) | (next & 0x3Fu);
  }
  if (value < least || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return {first, 1, false};
  return {value, length, true};
}

std::size_t count_code_points(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

namespace {

struct Range {
  char32_t first, last;
};

// Letters of the alphabets in use in mathematics and living languages. Symbols, punctuation, spaces, digits other than
// ASCII and combining marks are left out.
constexpr std::array letters = {
    Range{'A', 'Z'},         Range{'_', '_'},         Range{'a', 'z'},         Range{0xAA, 0xAA},
    Range{0xB5, 0xB5},       Range{0xBA, 0xBA},       Range{0xC0, 0xD6},       Range{0xD8, 0xF6},
    Range{0xF8, 0x2C1},      Range{0x370, 0x373},     Range{0x376, 0x377},     Range{0x37B, 0x37D},
    Range{0x37F, 0x37F},     Range{0x386, 0x386},     Range{0x388, 0x3FF},     Range{0x400, 0x481},
    Range{0x48A, 0x52F},     Range{0x531, 0x556},     Range{0x561, 0x587},     Range{0x5D0, 0x5EA},
    Range{0x620, 0x64A},     Range{0x671, 0x6D3},     Range{0x904, 0x939},     Range{0x985, 0x9B9},
    Range{0xE01, 0xE30},     Range{0x10A0, 0x10FF},   Range{0x1100, 0x11FF},   Range{0x1D00, 0x1DBF},
    Range{0x1E00, 0x1FBC},   Range{0x1FC2, 0x1FCC},   Range{0x1FD0, 0x1FDB},   Range{0x1FE0, 0x1FEC},
    Range{0x1FF2, 0x1FFC},   Range{0x2071, 0x2071},   Range{0x207F, 0x207F},   Range{0x2090, 0x209C},
    Range{0x2102, 0x2102},   Range{0x210A, 0x2113},   Range{0x2115, 0x2115},   Range{0x2119, 0x211D},
    Range{0x2124, 0x2124},   Range{0x2126, 0x2126},   Range{0x212A, 0x212D},   Range{0x212F, 0x2139},
    Range{0x2C00, 0x2DFF},   Range{0x3041, 0x3096},   Range{0x30A1, 0x30FA},   Range{0x3400, 0x4DBF},
    Range{0x4E00, 0x9FFF},   Range{0xAC00, 0xD7A3},   Range{0x1D400, 0x1D6C0}, Range{0x1D6C2, 0x1D6DA},
    Range{0x1D6DC, 0x1D6FA}, Range{0x1D6FC, 0x1D714}, Range{0x1D716, 0x1D734}, Range{0x1D736, 0x1D74E},
    Range{0x1D750, 0x1D76E}, Range{0x1D770, 0x1D788}, Range{0x1D78A, 0x1D7A8}, Range{0x1D7AA, 0x1D7C2},
    Range{0x20000, 0x2FA1F}};

}  // namespace

bool is_name_start(char32_t c) {
  if (c < 0x80) return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  const auto after =
      std::upper_bound(letters.begin(), letters.end(), c, [](char32_t x, const Range& r) { return x < r.first; });
  return after != letters.begin() && c <= std::prev(after)->last;
}

bool is_name_part(char32_t c) { return is_name_start(c) || (c >= '0' && c <= '9'); }

bool is_name(std::string_view text) {
  bool starts = true;  // a part of it: dots stand between parts
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint c = decode_utf8(text, i);
    const bool dot = c.value == '.' && !starts;
    if (c.value == '[' && !starts) {  // an index between parts, leg[2].knee
      const std::size_t end = text.find_first_not_of("0123456789,-", i + 1);
      if (end == std::string_view::npos || end == i + 1 || text[end] != ']' || end + 1 >= text.size() ||
          text[end + 1] != '.')
        return false;
      i = end + 1;
      continue;
    }
    if (!c.valid || !(dot || (starts ? is_name_start(c.value) : is_name_part(c.value)))) return false;
    starts = dot;
    i += static_cast<std::size_t>(c.length);
  }
  return !starts;
}

namespace {

/// Edits (insert, delete, replace, swap neighbours) between two short texts; case counts half.
double distance(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  std::vector<std::vector<double>> d(a.size() + 1, std::vector<double>(b.size() + 1, 0.0));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = static_cast<double>(i);
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = static_cast<double>(j);
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const double differ = a[i - 1] == b[j - 1] ? 0.0 : lower(a[i - 1]) == lower(b[j - 1]) ? 0.5 : 1.0;
      d[i][j] = std::min({d[i - 1][j] + 1.0, d[i][j - 1] + 1.0, d[i - 1][j - 1] + differ});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1.0);
    }
  return d[a.size()][b.size()];
}

}  // namespace

std::string nearest(std::string_view wanted, std::span<const std::string> candidates) {
  constexpr std::size_t longest = 80;  // the table is quadratic, and no one means a name that long
  if (wanted.size() > longest) return {};
  std::string best;
  double least = std::max(1.0, 0.4 * static_cast<double>(wanted.size()));
  for (const std::string& c : candidates) {
    if (c.size() > longest) continue;
    const double d = distance(wanted, c);
    // One letter for another is no misspelling.
    if (wanted.size() == 1 && c.size() == 1 && d >= 1.0) continue;
    if (d < least || (d == least && best.empty())) least = d, best = c;
  }
  return best;
}

std::string join_and(std::span<const std::string> items) {
  std::string out;
  for (std::size_t i = 0; i < items.size(); ++i)
    out += (i == 0 ? "" : i + 1 == items.size() ? " and " : ", ") + items[i];
  return out;
}

std::string quote_list(std::span<const std::string> items, std::size_t most) {
  std::vector<std::string> quoted;
  for (std::size_t i = 0; i < items.size() && i < most; ++i) quoted.push_back("`" + items[i] + "`");
  if (items.size() > most) quoted.push_back(fmt::format("{} more", items.size() - most));
  return join_and(quoted);
}

std::string count_noun(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string short_number(double value) { return fmt::format("{:.6g}", value); }

}  // namespace mechanician
