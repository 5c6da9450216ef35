// [units]: what numbers of the file are in, and whether dimensions agree. See model_reader.hpp.

#include <fmt/format.h>

#include <cmath>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/family_name.hpp"
#include "mechanician/model/model_reader.hpp"

namespace mechanician {

void ModelReader::read_units() {
  const TomlValue* table = section("units");
  if (!table) return;
  names_.units = true;
  for (const TomlMember& m : table->members) {
    const std::string* text = fields_.string(m, fmt::format("the unit of {}", mechanician::quoted(m.name)));
    if (!text) continue;
    const ParsedUnit parsed = parse_unit(*text);
    if (!parsed.unit) {
      fields_.report(fields_.place_in(m.value, parsed.offset, parsed.length), parsed.problem, parsed.hint);
      continue;
    }
    model_.places["units." + m.name] = fields_.place_of(m.value);
    model_.units[m.name] = {*text, parsed.unit->factor};
    names_.set_measure(m.name, measure_of_unit(*parsed.unit));
  }
}

void ModelReader::check_units() {
  const TomlMember* field = root_.find("units");
  if (!field || field->value.type != TomlValue::Type::table) return;
  for (const TomlMember& m : field->value.members) {
    if (names_.is_known(m.name) || names_.is_excused(m.name)) continue;
    const std::string near = fields_.is_full() ? "" : nearest(m.name, names_.names());
    fields_.report(
        m,
        fmt::format("{} has a unit and is no parameter, coordinate, definition or vector", mechanician::quoted(m.name)),
        near.empty() ? "families are named without their index" : fmt::format("did you mean `{}`?", near));
  }
}

const UnitOf* ModelReader::unit_of(std::string_view name) const {
  const auto found = model_.units.find(std::string(family_of(name)));
  return found == model_.units.end() ? nullptr : &found->second;
}

void ModelReader::expect_measure(const TomlValue& value, const Measure& wanted) {
  if (common(wanted, fields_.measure)) return;
  const MeasureProblem p = explain_mismatch(wanted, fields_.measure);
  fields_.report(fields_.place_of(value), p.message, p.hint);
}

void ModelReader::take_unit(const TomlValue& value, const std::string& name, int over, Expr& f) {
  if (!names_.units) return;
  const std::string base(family_of(name));
  const Measure* known = names_.find_measure(base);
  if (!known) return;
  if (f.kinds() == 0) {
    const UnitOf* unit = unit_of(base);
    if (unit && unit->factor != 1.0) f = f.is_constant() ? Expr(f.value() * unit->factor) : f * Expr(unit->factor);
    return;
  }
  expect_measure(value, rate(*known, over));
}

void ModelReader::expect_energy(const TomlValue& value, const Measure& measure, std::string_view what) {
  // Where no mass is in it, a mass or a stiffness may have been left out because it is 1.
  if (!names_.units || measure.kind != Measure::Kind::known || measure.dimension == joules() ||
      std::abs(measure.dimension.power[0] - 1.0) > 1e-9)
    return;
  fields_.report(
      fields_.place_of(value),
      fmt::format("{} is an energy, in {}, and this is in {}", what, text_of(joules()), text_of(measure.dimension)),
      "a number that has a unit gets a name in [parameters] and its unit in [units]");
}

}  // namespace mechanician
