#include "mechanician/cli/options.hpp"

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "mechanician/base/patterns.hpp"
#include "mechanician/model/constant_text.hpp"

namespace mechanician {

double parse_number(const std::string& text, const std::string& what) {
  const std::optional<double> value = constant_value(text);
  if (!value)
    throw UsageError(fmt::format("{}: `{}` is not a finite number, nor made of numbers like 2*pi", what, text));
  return *value;
}

Assignments parse_assignments(const std::vector<std::string>& texts, const std::string& option) {
  Assignments result;
  for (const std::string& text : texts) {
    if (text.empty()) continue;
    for (const std::string_view piece : split_list(text)) {
      const std::string item(piece);
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
