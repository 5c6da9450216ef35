#pragma once

/// A TOML text as a plain tree in the order of the file, every part with its place.
///
/// All mistakes are collected: see toml_statements.hpp. What a mistake makes unreadable is listed by its path
/// ("parameters.m", "dynamics"), so that the reader of the model does not call it missing.

#include <string>
#include <string_view>
#include <vector>

#include "mechanician/base/diagnostic.hpp"
#include "mechanician/model/source_map.hpp"
#include "mechanician/model/unreadable.hpp"

namespace mechanician {

struct TomlMember;

struct TomlValue {
  enum class Type { table, array, string, number, boolean, date } type = Type::table;
  std::size_t begin = 0, end = 0;   ///< bytes of the file; of a table with a header: the name in its header
  std::string text;                 ///< of a string
  double number = 0.0;              ///< of a number; may be infinite or not a number; of a truth value 1 or 0
  std::vector<TomlMember> members;  ///< of a table
  std::vector<TomlValue> items;     ///< of an array
  bool generated = false;           ///< a text that is not in the file: its place is that of what it comes from
  const TomlMember* find(std::string_view name) const;
};

struct TomlMember {
  std::string name;
  std::size_t begin = 0, end = 0;  ///< of the key
  TomlValue value;
};

/// "a table", "a string", …
std::string_view in_words(TomlValue::Type type);

struct TomlDocument {
  TomlValue root;
  std::vector<Problem> problems;
  Unreadable unreadable;
};

/// The map's text must be UTF-8.
TomlDocument parse_toml(const SourceMap& source);

}  // namespace mechanician
