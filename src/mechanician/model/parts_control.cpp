#include "mechanician/model/parts_control.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mechanician/model/control_section.hpp"

namespace mechanician {

namespace {

/// The same for all of control, or not said.
constexpr const char* shared[] = {"every", "robust"};

bool is_same(const TomlValue& a, const TomlValue& b) {
  return a.type == b.type && a.number == b.number && a.text == b.text &&
         std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), is_same) &&
         std::equal(
             a.members.begin(), a.members.end(), b.members.begin(), b.members.end(),
             [](const TomlMember& x, const TomlMember& y) { return x.name == y.name && is_same(x.value, y.value); });
}

const TomlMember* find(const std::vector<TomlMember>& in, const std::string& name) {
  const auto found = std::find_if(in.begin(), in.end(), [&](const TomlMember& m) { return m.name == name; });
  return found == in.end() ? nullptr : &*found;
}

bool has_requirements(const TomlValue& control) {
  return std::any_of(control.members.begin(), control.members.end(),
                     [](const TomlMember& m) { return !is_control_setting(m); });
}

TomlValue& table_in(TomlValue& in, const TomlMember& like) {
  for (TomlMember& m : in.members)
    if (m.name == like.name) return m.value;
  TomlMember& made = in.members.emplace_back();
  made.name = like.name, made.begin = made.value.begin = like.begin, made.end = made.value.end = like.end;
  return made.value;
}

}  // namespace

void rename_coordinates(TomlValue& actuator, const Rename& renamed) {
  constexpr const char* keys[] = {"on", "by", "limit", "cost", "for"};
  for (TomlMember& m : actuator.members) {
    if (m.name == "by")
      for (TomlMember& x : m.value.members) x.name = renamed(x.name);
    if (std::find(std::begin(keys), std::end(keys), m.name) == std::end(keys)) m.name = renamed(m.name);
  }
}

PartsControl::PartsControl(const TomlValue& root) {
  const TomlMember* const control = root.find("control");
  if (!control) return;
  requires_ = has_requirements(control->value);
  for (const char* key : shared)
    if (const TomlMember* m = control->value.find(key); m && is_control_setting(*m)) settings_.push_back(*m);
  own_ = settings_.size();
}

void PartsControl::join(TomlValue& root, TomlValue& control, const std::string& part, const Rename& renamed,
                        const Wrong& wrong) {
  const bool here = has_requirements(control);
  std::vector<TomlMember> given;
  for (TomlMember& m : control.members)
    if (is_control_setting(m)) given.push_back(m);
  std::erase_if(control.members, is_control_setting);
  TomlMember section;
  section.name = "control";
  if (!given.empty()) section.begin = given.front().begin, section.end = given.front().end;

  for (const char* key : shared) {
    const TomlMember *const mine = find(given, key), *const said = find(settings_, key);
    const bool of_model = said && said - settings_.data() < static_cast<std::ptrdiff_t>(own_);
    const bool differs = mine ? (said ? !is_same(mine->value, said->value) : requires_) : said && !of_model && here;
    if (differs) {
      wrong(fmt::format("the part {} {} `{}` in [control], and not all other control does the same", part,
                        mine ? "gives" : "does not give", key),
            fmt::format("it holds for all of control: let [control] of every part say the same `{0}`, or give `{0}` "
                        "in the file that uses them",
                        key));
    } else if (mine && !said) {
      settings_.push_back(*mine);
      table_in(root, section).members.push_back(*mine);
    }
  }
  for (TomlMember& mine : given) {
    if (mine.name != "cost" && mine.name != "free") continue;
    TomlValue& to = table_in(table_in(root, section), mine);
    if (mine.value.type != TomlValue::Type::table || to.type != TomlValue::Type::table) {
      wrong(fmt::format("`{}` in [control] of the part {} cannot be put together with that of the model", mine.name,
                        part),
            mine.name == "cost" ? "in both it is a table by actuator, cost = { NAME = ... }"
                                : "in both it is a table by coordinate, free = { x = ... }");
      continue;
    }
    for (TomlMember& m : mine.value.members) {
      m.name = renamed(m.name);
      if (!to.find(m.name)) to.members.push_back(std::move(m));
    }
  }
  requires_ |= here;
}

}  // namespace mechanician
