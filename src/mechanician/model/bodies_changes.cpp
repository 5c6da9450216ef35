// Joints that events release and engage: `do = "release pin"` is said of every row of the joint. See bodies.hpp.

#include <fmt/format.h>

#include "mechanician/model/bodies_internal.hpp"

namespace mechanician::bodies {

namespace {

constexpr std::string_view blank = " \t\r\n";

/// "release" or "engage", and of what; empty where it is something else.
struct Change {
  std::string_view word, name;
};

Change change_in(std::string_view text) {
  const auto next = [&] {
    text.remove_prefix(std::min(text.find_first_not_of(blank), text.size()));
    const std::string_view word = text.substr(0, text.find_first_of(blank));
    text.remove_prefix(word.size());
    return word;
  };
  const std::string_view word = next(), name = next();
  if ((word != "release" && word != "engage") || !next().empty()) return {};
  return {word, name};
}

/// `do` of every event.
template <class Found>
void each_action(TomlValue& root, Found found) {
  for (TomlMember& section : root.members)
    if (section.name == "events")
      for (TomlMember& event : section.value.members)
        for (TomlMember& key : event.value.members)
          if (key.name == "do") found(key.value);
}

}  // namespace

void Layer::find_changes() {
  each_action(root_, [&](TomlValue& action) {
    const auto note = [&](const std::string& text) {
      const std::string_view name = change_in(text).name;
      for (Joint& j : joints_)
        j.changes = j.changes || name == j.name || (name.starts_with(j.name + ".") && !name.empty());
    };
    note(action.text);
    for (const TomlValue& item : action.items) note(item.text);
  });
}

void Layer::put_changes() {
  each_action(root_, [&](TomlValue& action) {
    std::vector<TomlValue> items = action.items;
    if (action.type == TomlValue::Type::string) items = {action};
    std::vector<TomlValue> made;
    bool any = false;
    for (const TomlValue& item : items) {
      const Change change = change_in(item.text);
      const Joint* joint = nullptr;
      for (const Joint& j : joints_)
        if (j.name == change.name) joint = &j;
      if (!joint) {
        made.push_back(item);
        continue;
      }
      any = true;
      for (const std::string& row : joint->rows)
        made.push_back(text_value(fmt::format("{} {}", change.word, row), {item.begin, item.end}));
    }
    if (!any) return;
    action.type = TomlValue::Type::array;
    action.text.clear(), action.items = std::move(made);
  });
}

}  // namespace mechanician::bodies
