#include "mechanician/model/plain_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace mechanician {

namespace {

std::string text_in_quotes(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += '\\', out += c;
    else if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04X}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + "\"";
}

std::string key_of(const std::string& name) {
  const bool bare = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
  return bare ? name : text_in_quotes(name);
}

std::string inline_text(const TomlValue& value) {
  std::string out;
  switch (value.type) {
    case TomlValue::Type::string:
    case TomlValue::Type::date:
      return text_in_quotes(value.text);
    case TomlValue::Type::number:
      return std::isnan(value.number) ? "nan" : fmt::format("{}", value.number);
    case TomlValue::Type::boolean:
      return value.number != 0.0 ? "true" : "false";
    case TomlValue::Type::array:
      for (const TomlValue& item : value.items) out += (out.empty() ? "" : ", ") + inline_text(item);
      return "[" + out + "]";
    case TomlValue::Type::table:
      for (const TomlMember& m : value.members)
        out += (out.empty() ? "" : ", ") + key_of(m.name) + " = " + inline_text(m.value);
      return "{ " + out + " }";
  }
  return out;
}

void print_section(const std::string& path, const TomlValue& table, std::string& out) {
  // Rows keep their order: what has more to say stands on a line of its own among the others.
  const bool nested = path == "dynamics" || path == "start" || path == "view";
  out += fmt::format("\n[{}]\n", path);
  for (const TomlMember& m : table.members)
    if (!nested || m.value.type != TomlValue::Type::table)
      out += fmt::format("{} = {}\n", key_of(m.name), inline_text(m.value));
  for (const TomlMember& m : table.members)
    if (nested && m.value.type == TomlValue::Type::table) print_section(path + "." + key_of(m.name), m.value, out);
}

}  // namespace

std::string print_toml(const TomlValue& root) {
  constexpr std::array<std::string_view, 4> first = {"parameters", "define", "dynamics", "constraints"};
  std::string out;
  for (const TomlMember& m : root.members)
    if (m.name == "coordinates") {
      out += "coordinates = [";
      std::size_t width = 15;
      for (std::size_t i = 0; i < m.value.items.size(); ++i) {
        const std::string item = inline_text(m.value.items[i]) + (i + 1 < m.value.items.size() ? "," : "");
        width += item.size() + 1;
        if (width > 120) out += "\n ", width = item.size() + 2;
        out += (i == 0 ? "" : " ") + item;
      }
      out += "]\n";
    } else if (m.value.type != TomlValue::Type::table) {
      out = fmt::format("{} = {}\n", key_of(m.name), inline_text(m.value)) + out;
    }
  const auto is_first = [&](const TomlMember& m) {
    return std::find(first.begin(), first.end(), m.name) != first.end();
  };
  for (const std::string_view name : first)
    for (const TomlMember& m : root.members)
      if (m.name == name && m.value.type == TomlValue::Type::table) print_section(m.name, m.value, out);
  for (const TomlMember& m : root.members)
    if (m.value.type == TomlValue::Type::table && !is_first(m)) print_section(key_of(m.name), m.value, out);
  return out;
}

}  // namespace mechanician
