#include "mechanician/exports/c_text.hpp"

#include "mechanician/exports/c_printer.hpp"

namespace mechanician {

std::string with(std::string_view text, std::initializer_list<std::pair<std::string_view, std::string>> words) {
  std::string out(text);
  for (const auto& [word, by] : words)
    for (std::size_t at = out.find(word); at != std::string::npos; at = out.find(word, at + by.size()))
      out.replace(at, word.size(), by);
  return out;
}

std::string c_integers(const std::vector<int>& values) {
  std::string out = "{";
  std::size_t line = 0;
  for (const int v : values) {
    const std::string item = std::to_string(v) + ", ";
    out += item, line += item.size();
    if (line > 140) out += "\n  ", line = 0;
  }
  return out + "0}";
}

std::string c_numbers(const double* values, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += (i ? ", " : "") + c_number(values[i]);
  return text + "}";
}

}  // namespace mechanician
