#include "mechanician/base/safe_text.hpp"

#include "mechanician/base/text.hpp"

namespace mechanician {

namespace {

constexpr const char* replacement = "\xEF\xBF\xBD";

bool is_harmless(char32_t c) {
  if (c < 0x20 || (c >= 0x7F && c < 0xA0)) return false;
  if ((c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0x200E || c == 0x200F) return false;
  if (c >= 0xD800 && c <= 0xDFFF) return false;
  return c != 0xFFFE && c != 0xFFFF && c != 0x2028 && c != 0x2029;
}

std::string make_safe(std::string_view text, bool lines) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint c = decode_utf8(text, i);
    const auto length = static_cast<std::size_t>(c.length);
    if (lines && c.value == '\n')
      out += '\n';
    else if (c.valid && (c.value == '\n' || c.value == '\t' || c.value == '\r'))
      out += ' ';
    else if (c.valid && is_harmless(c.value))
      out += text.substr(i, length);
    else
      out += replacement;
    i += length;
  }
  return out;
}

}  // namespace

std::string safe_text(std::string_view text) { return make_safe(text, false); }
std::string safe_lines(std::string_view text) { return make_safe(text, true); }

std::string elided(std::string_view text, std::size_t most) {
  if (count_code_points(text) <= most || most == 0) return std::string(text);
  std::size_t i = 0;
  for (std::size_t count = 0; count + 1 < most && i < text.size(); ++count)
    i += static_cast<std::size_t>(decode_utf8(text, i).length);
  return std::string(text.substr(0, i)) + "…";
}

std::string xml_text(std::string_view text) {
  std::string out;
  for (const char c : text) switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  return out;
}

std::size_t text_columns(std::string_view text) { return count_code_points(text); }

}  // namespace mechanician
