#include "mechanician/exports/open_inputs.hpp"

#include <algorithm>

#include "mechanician/expression/family_name.hpp"
#include "mechanician/instant/family_numbers.hpp"
#include "mechanician/model/family_model.hpp"
#include "mechanician/model/plain_model.hpp"

namespace mechanician {

namespace {

std::size_t find_parameter(const Model& model, const std::string& name) {
  const auto found = std::find_if(model.parameters.begin(), model.parameters.end(),
                                  [&](const Parameter& p) { return p.name == name; });
  return static_cast<std::size_t>(found - model.parameters.begin());
}

std::string without(const std::string& name, std::string_view suffix) {
  return name.ends_with(suffix) ? name.substr(0, name.size() - suffix.size()) : std::string();
}

}  // namespace

std::optional<System> with_open_inputs(const System& system) {
  if (stays_in_families(system) || system.source().text.empty()) return {};
  const Model& model = system.model();
  constexpr std::string_view section = "inputs.";
  const bool any = std::any_of(model.places.begin(), model.places.end(), [&](const auto& place) {
    return place.first.starts_with(section) &&
           find_parameter(model, place.first.substr(section.size())) == model.parameters.size();
  });
  if (!any) return {};
  // What was set to something else is so here too: sizes are made of parameters.
  const SourceText& source = system.source();
  ParameterOverrides set;
  const System plain(read_family_model_text(source.text, source.file));
  const std::vector<std::string> names = system.parameter_names(), stated = plain.parameter_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto found = std::find(stated.begin(), stated.end(), names[i]);
    const double value = system.parameters()[i];
    if (found != stated.end() && plain.parameters()[static_cast<std::size_t>(found - stated.begin())] == value)
      continue;
    const auto unit = system.units().find(std::string(family_of(names[i])));
    set[names[i]] = unit == system.units().end() ? value : value / unit->second.factor;
  }
  set[inputs_opened] = 1.0;
  Model opened = expand(read_family_model_text(source.text, source.file, set));
  std::vector<double> values = evaluate_parameters(opened, {}).values;
  for (std::size_t i = 0; i < opened.parameters.size(); ++i) {
    const auto found = std::find(names.begin(), names.end(), opened.parameters[i].name);
    if (found != names.end()) values[i] = system.parameters()[static_cast<std::size_t>(found - names.begin())];
  }
  return System(std::move(opened), std::move(values));
}

std::string open_input_name(const Model& model, std::size_t parameter) {
  const Parameter& p = model.parameters[parameter];
  const std::string name = p.is_input ? without(p.name, input_suffix) : std::string();
  return name.empty() || find_parameter(model, name + given_suffix) == model.parameters.size() ? std::string() : name;
}

bool is_given_flag(const Model& model, std::size_t parameter) {
  const std::string name = without(model.parameters[parameter].name, given_suffix);
  if (name.empty()) return false;
  const std::size_t number = find_parameter(model, name + input_suffix);
  return number < model.parameters.size() && model.parameters[number].is_input;
}

std::size_t given_flag_of(const Model& model, std::size_t parameter) {
  return find_parameter(model, open_input_name(model, parameter) + given_suffix);
}

}  // namespace mechanician
