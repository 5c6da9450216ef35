#include "mechanician/cli/options.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string_view>

namespace mechanician {

double parse_number(const std::string& text, const std::string& what) {
  std::string_view digits = text;
  if (!digits.empty() && digits.front() == '+') digits.remove_prefix(1);
  double value = 0.0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (read.ec != std::errc{} || read.ptr != digits.data() + digits.size() || !std::isfinite(value))
    throw UsageError(fmt::format("{}: `{}` is not a finite number", what, text));
  return value;
}

Assignments parse_assignments(const std::vector<std::string>& texts, const std::string& option) {
  Assignments result;
  for (const std::string& text : texts) {
    std::size_t at = 0;
    while (at <= text.size() && !text.empty()) {
      // Commas between brackets belong to a name: net[1,2]=0.5.
      std::size_t comma = at;
      for (int depth = 0; comma < text.size() && (depth > 0 || text[comma] != ','); ++comma)
        depth += (text[comma] == '[') - (text[comma] == ']');
      const std::string item = text.substr(at, comma - at);
      at = comma + 1;
      const std::size_t equal = item.find('=');
      if (equal == std::string::npos || equal == 0)
        throw UsageError(fmt::format("{}: `{}` is not of the form name=value", option, item));
      const std::string name = item.substr(0, equal);
      result.emplace_back(name, parse_number(item.substr(equal + 1), fmt::format("{} {}", option, name)));
    }
  }
  return result;
}

}  // namespace mechanician
