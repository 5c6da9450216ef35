#include "mechanician/instant/open_inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "mechanician/expression/simplify.hpp"
#include "mechanician/expression/tape.hpp"
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

constexpr std::string_view section = "inputs.";

/// A value in the unit of the file.
double as_stated(const System& system, const std::string& name, double value) {
  const double zero = in_si(system.units(), name, 0.0), one = in_si(system.units(), name, 1.0);
  return (value - zero) / (one - zero);
}

/// The system from its text, with `more` set beside what was set before, `but` one.
System read_again(const System& system, const ParameterOverrides& more, std::string_view but = {}) {
  const SourceText& source = system.source();
  // What was set to something else is so here too: sizes are made of parameters.
  ParameterOverrides set;
  const System plain(read_family_model_text(source.text, source.file));
  const std::vector<std::string> names = system.parameter_names(), stated = plain.parameter_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto found = std::find(stated.begin(), stated.end(), names[i]);
    const double value = system.parameters()[i];
    if (names[i] == but) continue;
    if (found != stated.end() && plain.parameters()[static_cast<std::size_t>(found - stated.begin())] == value)
      continue;
    set[names[i]] = as_stated(system, names[i], value);
  }
  for (const auto& [name, value] : more) set[name] = value;
  Model model = expand(read_family_model_text(source.text, source.file, set));
  std::vector<double> values = evaluate_parameters(model, {}).values;
  for (std::size_t i = 0; i < model.parameters.size(); ++i) {
    const auto found = std::find(names.begin(), names.end(), model.parameters[i].name);
    if (found != names.end()) values[i] = system.parameters()[static_cast<std::size_t>(found - names.begin())];
  }
  System again(std::move(model), std::move(values));
  again.set_engaged(system.engaged_instead());
  return again;
}

}  // namespace

bool is_expression_input(const System& system, const std::string& name) {
  if (stays_in_families(system)) return false;
  const Model& model = system.model();
  return model.places.contains(std::string(section) + name) && find_parameter(model, name) == model.parameters.size();
}

double value_of_input(const System& system, const std::string& name, const State& state) {
  const Model& model = system.model();
  const auto found =
      std::find_if(model.definitions.begin(), model.definitions.end(), [&](const Named& d) { return d.name == name; });
  constexpr KindSet known = kind_bit(SymbolKind::time) | kind_bit(SymbolKind::coordinate) |
                            kind_bit(SymbolKind::velocity) | kind_bit(SymbolKind::parameter);
  if (found == model.definitions.end() || (found->value.kinds() & ~known) != 0)
    throw std::invalid_argument(fmt::format(
        "the input `{}` is made of more than t, coordinates, velocities and parameters: its value at a state "
        "is not known beforehand; set it to a number",
        name));
  std::vector<Expr> symbols = {time_symbol()};
  std::vector<double> values = {state.t};
  for (int i = 0; i < system.n(); ++i) {
    const Coordinate& x = model.coordinates[static_cast<std::size_t>(i)];
    symbols.push_back(x.q()), values.push_back(state.q(i));
    symbols.push_back(x.qd()), values.push_back(state.qd(i));
  }
  for (std::size_t i = 0; i < model.parameters.size(); ++i)
    symbols.push_back(model.parameters[i].symbol()), values.push_back(system.parameters()[i]);
  const Tape tape(std::span(&found->value, 1), symbols);
  const double value = tape(std::span<const double>(values)).front();
  if (!std::isfinite(value))
    throw std::invalid_argument(fmt::format("the input `{}` is {} at this state", name, value));
  return value;
}

System with_number_inputs(const System& system, const ParameterOverrides& values) {
  if (stays_in_families(system) || system.source().text.empty())
    throw std::invalid_argument(
        "inputs that are expressions become numbers where a model is read from text, and not too "
        "large to be written out");
  ParameterOverrides stated;
  for (const auto& [name, value] : values) stated[name] = as_stated(system, name, value);
  System again = read_again(system, stated);
  std::vector<double> all = again.parameters();
  for (const auto& [name, value] : values)
    if (const std::size_t i = find_parameter(again.model(), name); i < all.size()) all[i] = value;
  again.set_parameters(all);
  return again;
}

std::optional<System> with_expression_input(const System& system, const std::string& name) {
  const SourceText& source = system.source();
  if (stays_in_families(system) || source.text.empty() || is_expression_input(system, name)) return {};
  System again = read_again(system, {}, name);
  if (!is_expression_input(again, name)) return {};
  return again;
}

System with_inputs_held(const System& system, std::span<const std::string> names, const State& state) {
  ParameterOverrides values;
  for (const std::string& name : names)
    if (is_expression_input(system, name)) values[name] = value_of_input(system, name, state);
  return values.empty() ? system : with_number_inputs(system, values);
}

std::optional<System> with_open_inputs(const System& system) {
  if (stays_in_families(system) || system.source().text.empty()) return {};
  const auto& places = system.model().places;
  const bool any = std::any_of(places.begin(), places.end(), [&](const auto& place) {
    return place.first.starts_with(section) && is_expression_input(system, place.first.substr(section.size()));
  });
  if (!any) return {};
  return read_again(system, {{inputs_opened, 1.0}});
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
