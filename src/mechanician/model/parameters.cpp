#include "mechanician/model/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/family_name.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/expression/tape.hpp"
#include "mechanician/model/dependency_order.hpp"
#include "mechanician/model/parameters_internal.hpp"

namespace mechanician {

ParameterIndex index_parameters(const Model& model) {
  ParameterIndex index;
  for (std::size_t i = 0; i < model.parameters.size(); ++i) index.emplace(model.parameters[i].name, i);
  return index;
}

namespace {

Place value_place(const Model& model, const Parameter& parameter) {
  const Place place = model.place_of("parameters." + parameter.name);
  return place.line > 0 ? place : parameter.place;
}

}  // namespace

ConstantEvaluation evaluate_constant(const Expr& f, const ParameterIndex& index, const std::vector<double>& values) {
  if (f.is_constant()) return {f.value(), {}};
  const std::vector<Expr> symbols = symbols_of(std::span(&f, 1));
  std::vector<double> inputs;
  for (const Expr& s : symbols) {
    const auto found = s.symbol().kind == SymbolKind::parameter ? index.find(s.symbol().name) : index.end();
    inputs.push_back(found == index.end() ? std::numeric_limits<double>::quiet_NaN() : values[found->second]);
  }
  const Tape tape(std::span(&f, 1), symbols);
  const double value = tape(std::span<const double>(inputs)).front();
  std::string text;
  if (!std::isfinite(value))
    if (const auto culprit = tape.find_culprit(0, inputs)) {
      text = print(culprit->expression, {.max_length = 80});
      if (!culprit->operands.empty()) {
        text += " with ";
        for (std::size_t i = 0; i < culprit->operands.size(); ++i)
          text += (i == 0 ? "" : " and ") + short_number(culprit->operands[i]);
      }
      text += fmt::format(" gives {}", short_number(culprit->value));
    }
  double rounding = 0.0, bound = 0.0;
  tape.evaluate_with_bounds(inputs, std::span(&bound, 1), std::span(&rounding, 1));
  return {value, std::move(text), rounding};
}

double in_si(const std::map<std::string, UnitOf>& units, std::string_view name, double value) {
  if (units.empty()) return value;
  const auto unit = units.find(std::string(family_of(name.substr(0, name.find('\'')))));
  return unit == units.end() ? value : value * unit->second.factor;
}

ParameterEvaluation try_evaluate_parameters(const Model& model, const ParameterOverrides& overrides) {
  const ParameterIndex index = index_parameters(model);
  const std::size_t count = model.parameters.size();
  std::vector<std::vector<int>> needs(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Parameter& p = model.parameters[i];
    if (p.value.is_constant() || overrides.contains(p.name)) continue;
    for (const Expr& s : symbols_of(std::span(&p.value, 1)))
      if (const auto found = index.find(s.symbol().name);
          s.symbol().kind == SymbolKind::parameter && found != index.end())
        needs[i].push_back(static_cast<int>(found->second));
  }

  ParameterEvaluation result;
  result.values.values.assign(count, std::numeric_limits<double>::quiet_NaN());
  result.known.assign(count, false);
  const DependencyOrder order = dependency_order(needs);
  for (const auto& cycle : order.cycles) {
    const auto name_of = [&](int i) { return model.parameters[static_cast<std::size_t>(i)].name; };
    const Parameter& first = model.parameters[static_cast<std::size_t>(cycle.front())];
    result.problems.push_back(
        {value_place(model, first),
         fmt::format("the parameter `{}` is made of itself: {}", first.name, cycle_text(cycle, name_of)),
         {}});
  }
  std::vector<bool> in_cycle(count, false);
  for (const auto& cycle : order.cycles)
    for (const int i : cycle) in_cycle[static_cast<std::size_t>(i)] = true;

  for (const int item : order.order) {
    const auto i = static_cast<std::size_t>(item);
    const Parameter& p = model.parameters[i];
    const auto given = overrides.find(p.name);
    bool ready = !in_cycle[i];
    for (const int need : needs[i]) ready = ready && result.known[static_cast<std::size_t>(need)];
    // What is made of a parameter without a value has none, and no mistake of its own.
    if (!ready) continue;
    const ConstantEvaluation e = given != overrides.end()
                                     ? ConstantEvaluation{in_si(model.units, p.name, given->second), {}}
                                     : evaluate_constant(p.value, index, result.values.values);
    result.values.values[i] = e.value;
    result.known[i] = std::isfinite(e.value);
    if (!result.known[i])
      result.problems.push_back(
          {value_place(model, p), fmt::format("the parameter `{}` is not finite", p.name), e.culprit});
  }
  return result;
}

ParameterValues evaluate_parameters(const Model& model, const ParameterOverrides& overrides) {
  for (const auto& [name, value] : overrides) {
    std::vector<std::string> known;
    for (const Parameter& p : model.parameters) known.push_back(p.name);
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string near = nearest(name, known);
    throw std::invalid_argument(fmt::format("there is no parameter `{}`{}", name,
                                            !near.empty() ? fmt::format("; did you mean `{}`?", near)
                                            : known.empty()
                                                ? "; the model has none"
                                                : fmt::format("; the parameters are {}", quote_list(known))));
  }
  ParameterEvaluation result = try_evaluate_parameters(model, overrides);
  if (!result.problems.empty()) throw ModelError(std::move(result.problems), model.source);
  return std::move(result.values);
}

double evaluate_constant(const Expr& f, const Model& model, const ParameterValues& parameters) {
  return f.is_constant() ? f.value() : evaluate_constant(f, index_parameters(model), parameters.values).value;
}

StartEvaluation try_start_state(const Model& model, const ParameterValues& parameters) {
  const ParameterIndex index = index_parameters(model);
  StartEvaluation result;
  const auto value = [&](const Expr& f, const std::string& path) {
    const ConstantEvaluation e = evaluate_constant(f, index, parameters.values);
    if (!std::isfinite(e.value))
      result.problems.push_back({model.place_of(path), fmt::format("`{}` is not finite", path), e.culprit});
    // R*sin(pi) is meant to be zero: a size that is rounding would be one that all else is measured by.
    return std::abs(e.value) <= e.rounding ? 0.0 : e.value;
  };
  result.state.time = value(model.start.time, "start.time");
  for (const Coordinate& c : model.coordinates) {
    const auto position = model.start.position.find(c.name), velocity = model.start.velocity.find(c.name);
    result.state.q.push_back(
        position == model.start.position.end() ? 0.0 : value(position->second, "start.position." + c.name));
    result.state.qd.push_back(
        velocity == model.start.velocity.end() ? 0.0 : value(velocity->second, "start.velocity." + c.name));
  }
  const RunSettings& run = model.run;
  if (!run.scale_of_all && run.scale.empty()) return result;
  const auto scale = [&](const Expr& f, const std::string& path) {
    const ConstantEvaluation e = evaluate_constant(f, index, parameters.values);
    if (std::string wrong = wrong_scale(e.value); !wrong.empty())
      result.problems.push_back({model.place_of(path), fmt::format("`{}` is {}", path, short_number(e.value)),
                                 e.culprit.empty() ? std::move(wrong) : e.culprit});
    return e.value;
  };
  result.state.scale.assign(model.coordinates.size(), run.scale_of_all ? scale(*run.scale_of_all, "run.scale") : 0.0);
  for (std::size_t i = 0; i < model.coordinates.size(); ++i)
    if (const auto given = run.scale.find(model.coordinates[i].name); given != run.scale.end())
      result.state.scale[i] = scale(given->second, "run.scale." + given->first);
  return result;
}

std::string wrong_scale(double scale) {
  return scale > 0.0 && std::isfinite(scale) ? "" : "the typical size of a coordinate is positive and finite";
}

StartState start_state(const Model& model, const ParameterValues& parameters) {
  StartEvaluation result = try_start_state(model, parameters);
  if (!result.problems.empty()) throw ModelError(std::move(result.problems), model.source);
  return std::move(result.state);
}

}  // namespace mechanician
