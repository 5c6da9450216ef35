#include "mechanician/exports/fmu_description.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mechanician/exports/c_printer.hpp"
#include "mechanician/expression/family_name.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/expression/tape.hpp"
#include "mechanician/expression/units.hpp"

namespace mechanician {

namespace {

std::string xml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (static_cast<unsigned char>(c) >= 32)
      out += c;
  }
  return out;
}

std::string attribute(std::string_view name, std::string_view value) {
  return value.empty() ? "" : fmt::format(" {}=\"{}\"", name, xml(value));
}

constexpr const char* log_categories =
    "  <LogCategories>\n    <Category name=\"logAll\"/>\n    <Category name=\"logStatusError\"/>\n    <Category "
    "name=\"logStatusWarning\"/>\n  </LogCategories>\n";

}  // namespace

double start_of_open_input(const CFacts& facts, std::size_t parameter) {
  std::size_t at = 0;
  while (facts.inputs[at] != static_cast<int>(parameter)) ++at;
  const Equations& eqs = facts.system.equations();
  std::vector<Expr> symbols{eqs.t};
  std::vector<double> values{facts.start.t};
  for (const auto* part : {&eqs.q, &eqs.qd, &eqs.parameters}) symbols.insert(symbols.end(), part->begin(), part->end());
  values.insert(values.end(), facts.start.q.begin(), facts.start.q.end());
  values.insert(values.end(), facts.start.qd.begin(), facts.start.qd.end());
  values.insert(values.end(), facts.system.parameters().begin(), facts.system.parameters().end());
  for (const Expr& s : symbols_of(std::span(&facts.input_values[at], 1)))
    if (std::none_of(symbols.begin(), symbols.end(), [&](const Expr& known) { return same(known, s); })) return 0.0;
  const double value = Tape(std::vector<Expr>{facts.input_values[at]}, symbols)(std::span<const double>(values))[0];
  return std::isfinite(value) ? value : 0.0;
}

FmuDescription::FmuDescription(const CFacts& given, std::string model_name, std::string model_token)
    : facts(given), name(std::move(model_name)), token(std::move(model_token)) {
  const System& system = facts.system;
  const int n = facts.num_coordinates, s = facts.num_states;
  int next = 0;
  const auto add = [&](std::string what, const char* causality, const char* variability, const char* initial,
                       std::string start, std::string description) -> FmuVariable& {
    while (std::any_of(variables.begin(), variables.end(), [&](const FmuVariable& v) { return v.name == what; }))
      what += "_";
    variables.push_back(
        {std::move(what), causality, variability, initial, std::move(start), std::move(description), {}, next++, -1});
    return variables.back();
  };
  const auto coordinate = [&](int i) { return system.coordinate(facts.coordinates[static_cast<std::size_t>(i)]); };
  const auto at = [&](int i) { return facts.coordinates[static_cast<std::size_t>(i)]; };
  add("t", "independent", "continuous", "", "", "time");
  for (int i = 0; i < n + s; ++i)
    add(coordinate(i), "output", "continuous", "exact", c_number(facts.start.q(at(i))),
        i < n ? "coordinate" : "state of first order")
        .unit = unit_of(coordinate(i), 0);
  for (int i = 0; i < n; ++i) {
    FmuVariable& v =
        add(coordinate(i) + "'", "output", "continuous", "exact", c_number(facts.start.qd(at(i))), "velocity");
    v.derivative_of = 1 + i, v.unit = unit_of(coordinate(i), 1);
  }
  for (int i = 0; i < n; ++i) {
    FmuVariable& v = add(coordinate(i) + "''", "output", "continuous", "calculated", "", "acceleration");
    v.derivative_of = 1 + n + s + i, v.unit = unit_of(coordinate(i), 2);
  }
  for (int i = n; i < n + s; ++i) {
    FmuVariable& v = add(coordinate(i) + "'", "output", "continuous", "calculated", "", "rate");
    v.derivative_of = 1 + i, v.unit = unit_of(coordinate(i), 1);
  }
  for (std::size_t k = 0; k < facts.model.parameters.size(); ++k) {
    const Parameter& p = facts.model.parameters[k];
    const std::string value = c_number(system.parameters()[k]);
    if (facts.is_flag[k]) {
      ++next;
      continue;
    }
    if (!facts.open_input[k].empty()) {
      add(facts.open_input[k], "input", "continuous", "", c_number(start_of_open_input(facts, k)),
          "input, an expression until it is set")
          .unit = unit_of(facts.open_input[k], 0);
      continue;
    }
    FmuVariable& v =
        p.is_input               ? add(p.name, "input", "continuous", "", value, "input")
        : p.is_mode              ? add(p.name, "output", "discrete", "exact", value, "mode, set by events")
        : facts.is_structural[k] ? add(p.name, "local", "constant", "exact", value, "says how many there are: built in")
        : facts.is_derived[k]    ? add(p.name, "calculatedParameter", "tunable", "calculated", "", to_text(p.value))
                                 : add(p.name, "parameter", "tunable", "exact", value, "parameter");
    v.unit = unit_of(p.name, 0);
  }
  for (int i = 0; i < n; ++i)
    add(fmt::format("Qc({})", coordinate(i)), "output", "continuous", "calculated", "", "force of the constraints");
  const bool control = facts.num_constraints < static_cast<int>(facts.rows.size());
  for (int i = 0; i < n && control; ++i)
    add(fmt::format("Qcontrol({})", coordinate(i)), "output", "continuous", "calculated", "", "force of control");
  if (!control) next += n;
  for (std::size_t j = 0; j < facts.rows.size(); ++j) {
    const Row& row = facts.eqs.rows[static_cast<std::size_t>(facts.rows[j])];
    if (static_cast<int>(j) < facts.num_constraints && !row.bare)
      add(fmt::format("lambda({})", row.name), "output", "continuous", "calculated", "",
          fmt::format("multiplier of {}", row.text));
    else
      ++next;
  }
  for (const CFacts::Contact& c : facts.contacts)
    if (c.num_slips > 0 && !c.bare)
      add(fmt::format("normal({})", c.name), "output", "continuous", "calculated", "", "multiplier, with friction");
    else
      ++next;
  for (const std::string& slip : facts.slip_names)
    add(slip, "output", "continuous", "calculated", "", "friction along the slip");
  for (const ControlEquations::Actuator& a : facts.eqs.control.actuators)
    add(fmt::format("tau({})", a.name), "output", "continuous", "calculated", "", "effort of an actuator");
  for (int j = facts.eqs.num_constraints(); j < facts.m(); ++j)
    add(fmt::format("e({})", system.row_name(j)), "output", "continuous", "calculated", "",
        fmt::format("error of {}", facts.eqs.rows[static_cast<std::size_t>(j)].text));
  if (control)
    add("cost", "output", "continuous", "calculated", "", "cost of control");
  else
    ++next;
  for (std::size_t i = 0; i < facts.outputs.size(); ++i)
    add(facts.output_names[i], "output", "continuous", "calculated", "", to_text(facts.outputs[i]));
  for (const char* energy : {"kinetic_energy", "potential_energy"})
    add(energy, "output", "continuous", "calculated", "", "energy");
  for (const int row : facts.changing_rows)
    add(fmt::format("engaged({})", system.row_name(facts.rows[static_cast<std::size_t>(row)])), "output", "discrete",
        "calculated", "", "1 where it holds");
  for (const std::string& guard : facts.guard_names)
    add(guard, "local", "continuous", "calculated", "", "zero where the contact changes");
  for (const Event& event : facts.model.events)
    add(fmt::format("event({})", event.name), "output", "continuous", "calculated", "",
        fmt::format("passes zero at the event: {}", to_text(event.when)));
  for (std::size_t i = 0; i < facts.sides.size(); ++i)
    add(fmt::format("switch({})", i + 1), "local", "continuous", "calculated", "",
        fmt::format("zero where it switches: {}", facts.sides[i].text));
  num_events = facts.num_guards + static_cast<int>(facts.events.size() + facts.sides.size());
}

/// The name of its unit in SI; nothing where the model says none, or powers are not whole.
std::string FmuDescription::unit_of(const std::string& variable, int over_seconds) {
  const auto found = facts.system.units().find(std::string(family_of(variable)));
  if (found == facts.system.units().end()) return {};
  const ParsedUnit parsed = parse_unit(found->second.text);
  if (!parsed.unit) return {};
  const Dimension d = parsed.unit->dimension.times(seconds(), -over_seconds);
  static constexpr const char* bases[] = {"kg", "m", "s", "A", "K", "mol", "cd"};
  Unit unit;
  std::string above, below;
  for (std::size_t i = 0; i < 7; ++i) {
    const double power = d.power[i];
    if (power != std::round(power)) return {};
    if (power == 0.0) continue;
    unit.exponents += fmt::format(" {}=\"{}\"", bases[i], static_cast<int>(power));
    const int size = static_cast<int>(std::abs(power));
    (power > 0 ? above : below) += fmt::format("{}{}{}", power > 0 ? (above.empty() ? "" : "*") : "/", bases[i],
                                               size > 1 ? fmt::format("^{}", size) : "");
  }
  unit.name = (above.empty() ? "1" : above) + below;
  if (over_seconds == 0 && found->second.factor != 1.0)
    unit.display = found->second.text, unit.display_factor = 1.0 / found->second.factor;
  auto same = std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.name == unit.name; });
  if (same == units.end()) same = units.insert(units.end(), unit);
  if (same->display.empty()) same->display = unit.display, same->display_factor = unit.display_factor;
  return unit.name;
}

std::string FmuDescription::units_text() const {
  if (units.empty()) return {};
  std::string out = "  <UnitDefinitions>\n";
  for (const Unit& u : units) {
    out += fmt::format("    <Unit name=\"{}\">\n      <BaseUnit{}/>\n", xml(u.name), u.exponents);
    if (!u.display.empty())
      out +=
          fmt::format("      <DisplayUnit name=\"{}\" factor=\"{}\"/>\n", xml(u.display), c_number(u.display_factor));
    out += "    </Unit>\n";
  }
  return out + "  </UnitDefinitions>\n";
}

std::string FmuDescription::experiment() const {
  const RunSettings& run = facts.system.run_settings();
  return fmt::format("  <DefaultExperiment startTime=\"{}\"{} tolerance=\"{}\"{}/>\n", c_number(facts.start.t),
                     run.to ? fmt::format(" stopTime=\"{}\"", c_number(*run.to)) : "", c_number(run.tolerance),
                     run.every ? fmt::format(" stepSize=\"{}\"", c_number(*run.every)) : "");
}

std::string FmuDescription::for_fmi_2() const {
  std::string out = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"{}\" guid=\"{}\" description=\"{}\" "
      "generationTool=\"mechanician {}\" variableNamingConvention=\"flat\" numberOfEventIndicators=\"{}\">\n",
      xml(name), xml(token), xml(facts.system.title()), MECHANICIAN_VERSION, num_events);
  const std::string sources = fmt::format(
      "    <SourceFiles>\n      <File name=\"fmi2.c\"/>\n      <File name=\"{0}.c\"/>\n    </SourceFiles>\n",
      xml(name));
  const std::string states =
      fmt::format("canGetAndSetFMUstate=\"true\" canSerializeFMUstate=\"true\" providesDirectionalDerivative=\"{}\"",
                  has_directional);
  out += fmt::format("  <ModelExchange modelIdentifier=\"{}\" {}>\n{}  </ModelExchange>\n", xml(name), states, sources);
  out += fmt::format(
      "  <CoSimulation modelIdentifier=\"{}\" canHandleVariableCommunicationStepSize=\"true\" {}>\n{}  "
      "</CoSimulation>\n",
      xml(name), states, sources);
  out += units_text() + log_categories + experiment() + "  <ModelVariables>\n";
  std::vector<int> index_of;  // from 1, by reference
  for (const FmuVariable& v : variables) {
    index_of.resize(static_cast<std::size_t>(v.reference) + 1, 0);
    index_of.back() = static_cast<int>(&v - variables.data()) + 1;
  }
  const auto index = [&](int reference) { return index_of[static_cast<std::size_t>(reference)]; };
  for (const FmuVariable& v : variables) {
    out += fmt::format("    <ScalarVariable name=\"{}\" valueReference=\"{}\" causality=\"{}\" variability=\"{}\"",
                       xml(v.name), v.reference, v.causality, v.variability);
    out += attribute("initial", v.initial) + attribute("description", v.description) + ">\n      <Real" +
           attribute("unit", v.unit);
    if (v.derivative_of >= 0) out += fmt::format(" derivative=\"{}\"", index(v.derivative_of));
    out += attribute("start", v.start) + "/>\n    </ScalarVariable>\n";
  }
  out += "  </ModelVariables>\n  <ModelStructure>\n    <Outputs>\n";
  for (const FmuVariable& v : variables)
    if (v.causality == "output") out += fmt::format("      <Unknown index=\"{}\"/>\n", index(v.reference));
  out += "    </Outputs>\n    <Derivatives>\n";
  for (const FmuVariable& v : variables)
    if (v.derivative_of >= 0) out += fmt::format("      <Unknown index=\"{}\"/>\n", index(v.reference));
  out += "    </Derivatives>\n    <InitialUnknowns>\n";
  for (const FmuVariable& v : variables)
    if (v.initial == "calculated" && v.causality != "local")
      out += fmt::format("      <Unknown index=\"{}\"/>\n", index(v.reference));
  return out + "    </InitialUnknowns>\n  </ModelStructure>\n</fmiModelDescription>\n";
}

std::string FmuDescription::for_fmi_3() const {
  std::string out = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"{}\" instantiationToken=\"{}\" description=\"{}\" "
      "generationTool=\"mechanician {}\" variableNamingConvention=\"flat\">\n",
      xml(name), xml(token), xml(facts.system.title()), MECHANICIAN_VERSION);
  const std::string states =
      fmt::format("canGetAndSetFMUState=\"true\" canSerializeFMUState=\"true\" providesDirectionalDerivatives=\"{}\"",
                  has_directional);
  out += fmt::format(
      "  <ModelExchange modelIdentifier=\"{0}\" needsCompletedIntegratorStep=\"true\" {1}/>\n  <CoSimulation "
      "modelIdentifier=\"{0}\" {1} "
      "canHandleVariableCommunicationStepSize=\"true\" providesIntermediateUpdate=\"true\" "
      "canReturnEarlyAfterIntermediateUpdate=\"true\"/>\n",
      xml(name), states);
  out += units_text() + log_categories + experiment() + "  <ModelVariables>\n";
  for (const FmuVariable& v : variables) {
    out += fmt::format("    <Float64 name=\"{}\" valueReference=\"{}\" causality=\"{}\" variability=\"{}\"",
                       xml(v.name), v.reference, v.causality, v.variability);
    out += attribute("initial", v.initial) + attribute("description", v.description) + attribute("unit", v.unit);
    if (v.derivative_of >= 0) out += fmt::format(" derivative=\"{}\"", v.derivative_of);
    out += attribute("start", v.start) + "/>\n";
  }
  out += "  </ModelVariables>\n  <ModelStructure>\n";
  for (const FmuVariable& v : variables)
    if (v.causality == "output") out += fmt::format("    <Output valueReference=\"{}\"/>\n", v.reference);
  for (const FmuVariable& v : variables)
    if (v.derivative_of >= 0)
      out += fmt::format("    <ContinuousStateDerivative valueReference=\"{}\"/>\n", v.reference);
  for (const FmuVariable& v : variables)
    if (v.initial == "calculated" && v.causality != "local")
      out += fmt::format("    <InitialUnknown valueReference=\"{}\"/>\n", v.reference);
  for (std::size_t i = variables.size() - static_cast<std::size_t>(num_events); i < variables.size(); ++i)
    out += fmt::format("    <EventIndicator valueReference=\"{}\"/>\n", variables[i].reference);
  return out + "  </ModelStructure>\n</fmiModelDescription>\n";
}

std::string FmuDescription::of_build() const {
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiBuildDescription fmiVersion=\"3.0\">\n"
      "  <BuildConfiguration modelIdentifier=\"{0}\">\n    <SourceFileSet language=\"C99\">\n"
      "      <SourceFile name=\"fmi3.c\"/>\n      <SourceFile name=\"{0}.c\"/>\n    </SourceFileSet>\n"
      "    <Library name=\"m\"/>\n  </BuildConfiguration>\n</fmiBuildDescription>\n",
      xml(name));
}

}  // namespace mechanician
