#include "mechanician/model/family_model.hpp"

#include <fmt/format.h>

#include <charconv>

#include "mechanician/model/names.hpp"

namespace mechanician {

std::string FamilyModel::name_of(long number) const {
  for (const CoordinateFamily& family : coordinates) {
    if (number >= family.first + family.count) continue;
    if (family.bounds.empty()) return family.name;
    long rest = number - family.first;
    std::string text;
    for (auto b = family.bounds.rbegin(); b != family.bounds.rend(); ++b) {
      text = fmt::format("{}{}{}", b->from + rest % b->count(), text.empty() ? "" : ",", text);
      rest /= b->count();
    }
    return fmt::format("{}[{}]", family.name, text);
  }
  return "";
}

long FamilyModel::find(std::string_view name) const {
  const ParsedName parsed = parse_name(name);
  if (!parsed.problems.empty()) return -1;
  for (const CoordinateFamily& family : coordinates) {
    if (family.name != parsed.name || family.bounds.size() != parsed.indices.size()) continue;
    long number = 0;
    for (std::size_t k = 0; k < family.bounds.size(); ++k) {
      long index = 0;
      const std::string_view text = parsed.indices[k].text;
      const auto read = std::from_chars(text.data(), text.data() + text.size(), index);
      if (read.ec != std::errc() || read.ptr != text.data() + text.size() || index < family.bounds[k].from ||
          index > family.bounds[k].to)
        return -1;
      number = number * family.bounds[k].count() + index - family.bounds[k].from;
    }
    return family.first + number;
  }
  return -1;
}

}  // namespace mechanician
