#include "mechanician/instant/joint_starts.hpp"

#include <algorithm>
#include <string_view>

#include "mechanician/instant/family_numbers.hpp"
#include "mechanician/model/family_model.hpp"

namespace mechanician {

bool ties_bodies(const std::map<std::string, Place>& places) {
  constexpr std::string_view section = "constraints.";
  for (auto i = places.lower_bound(std::string(section)); i != places.end() && i->first.starts_with(section); ++i) {
    const std::string_view name = std::string_view(i->first).substr(section.size());
    const std::size_t dot = name.rfind('.');
    if (dot == std::string_view::npos) continue;
    bool along = false;  // of a joint of the tree, or of a body alone
    for (const char* part : {"unit", "lower", "upper", "drive", "mimic", "friction"})
      along = along || name.substr(dot + 1) == part;
    if (!along) return true;
  }
  return false;
}

std::string start_parameter(const std::string& name) {
  return name.ends_with('\'') ? name.substr(0, name.size() - 1) + ".start_rate" : name + ".start";
}

bool open_starts(std::span<const StartValue> names, const std::function<bool(const std::string&)>& is_own,
                 const std::function<std::vector<std::string>(const ParameterOverrides&)>& unknown,
                 ParameterOverrides& overrides) {
  ParameterOverrides more = overrides;
  for (const StartValue& start : names)
    if (!is_own(start.name)) more[start_parameter(start.name)] = start.value;
  if (more.size() == overrides.size()) return false;
  const std::size_t before = overrides.size();
  for (const std::string& name : unknown(more)) more.erase(name);
  for (const auto& [name, value] : more) overrides.insert_or_assign(name, value);
  return overrides.size() > before;
}

ParameterOverrides stated_parameters(const System& system) {
  const Model& model = system.model();
  ParameterOverrides overrides;
  for (std::size_t i = 0; i < model.parameters.size(); ++i) {
    const auto unit = model.units.find(model.parameters[i].name);
    const double value = system.parameters()[i];
    overrides.emplace(model.parameters[i].name, unit == model.units.end() ? value : value / unit->second.factor);
  }
  return overrides;
}

std::optional<State> start_with_joints(const System& system, std::map<std::string, double>& position,
                                       std::map<std::string, double>& velocity) {
  if (stays_in_families(system) || (position.empty() && velocity.empty()) || !ties_bodies(system.model().places))
    return std::nullopt;
  const Model& model = system.model();
  ParameterOverrides overrides = stated_parameters(system);
  std::vector<StartValue> given;
  for (const auto& [name, value] : position) given.push_back({name, value});
  for (const auto& [name, value] : velocity) given.push_back({name + "'", value});
  const auto read = [&](const ParameterOverrides& with) {
    return read_family_model_text(model.source.text, model.source.file, with);
  };
  if (!open_starts(
          given, [](const std::string& name) { return name.find('.') == std::string::npos; },
          [&](const ParameterOverrides& with) { return read(with).unknown_overrides; }, overrides))
    return std::nullopt;
  const System moved(read(overrides));
  bool same = moved.n() == system.n();
  for (int i = 0; same && i < system.n(); ++i) same = moved.coordinate(i) == system.coordinate(i);
  if (!same) return std::nullopt;
  std::erase_if(position, [&](const auto& x) { return overrides.contains(start_parameter(x.first)); });
  std::erase_if(velocity, [&](const auto& x) { return overrides.contains(start_parameter(x.first + "'")); });
  return moved.start();
}

}  // namespace mechanician
