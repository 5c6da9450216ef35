/// The sections of a model file that state the mechanics. See model_reader.hpp.

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "mechanician/base/text.hpp"
#include "mechanician/model/model_reader.hpp"
#include "mechanician/model/number_fields_internal.hpp"
#include "mechanician/model/parameters.hpp"
#include "mechanician/model/validate.hpp"

namespace mechanician {

std::optional<FieldReader::Equation> ModelReader::equation(const TomlValue& value, const std::string& path) {
  auto e = fields_.equation(value, names_.scope(), mechanician::quoted(path));
  if (!e) fail(path);
  return e;
}

bool ModelReader::is_coordinate(const TomlMember& key) {
  if (coordinates_.contains(key.name)) return true;
  if (unreadable_.covers("coordinates")) return false;
  std::string near;
  if (!fields_.is_full()) {
    std::vector<std::string> known;
    for (const Coordinate& c : model_.coordinates) known.push_back(c.name);
    near = nearest(key.name, known);
    if (near.empty() && !known.empty()) near = {};
  }
  fields_.report(key, fmt::format("{} is no coordinate", mechanician::quoted(key.name)),
                 near.empty() ? "" : fmt::format("did you mean `{}`?", near));
  return false;
}

// ---- dynamics
// ----------------------------------------------------------------------------------------------------------

void ModelReader::read_dynamics() {
  const TomlValue* table = section("dynamics");
  if (!table) return;
  fields_.check_keys(*table, {"kinetic", "potential", "mass", "force"}, "in [dynamics]");
  const NameScope scope = names_.scope();
  for (const TomlMember& m : table->members) {
    if (m.name == "kinetic" || m.name == "potential") {
      model_.places[m.name] = fields_.place_of(m.value);
      auto f = expression(m.value, "dynamics." + m.name, scope);
      (m.name == "kinetic" ? model_.kinetic : model_.potential) = std::move(f);
    } else if (m.name == "mass") {
      read_mass(m);
    } else if (m.name == "force") {
      read_by_coordinate(m, "dynamics.force", scope, false);
    } else if (const std::string near = nearest(m.name, std::vector<std::string>{"kinetic", "mass"}); !near.empty()) {
      fail("dynamics." + near);  // misspelt, not missing
    }
  }
}

void ModelReader::read_mass(const TomlMember& field) {
  model_.places["mass"] = fields_.place_of(field);
  if (field.value.type != TomlValue::Type::array && field.value.type != TomlValue::Type::table) {
    fields_.report(field.value,
                   fmt::format("`mass` is a matrix or a table by coordinate, not {}", in_words(field.value.type)),
                   "for example mass = { x = \"m\", y = \"m\" } or mass = [[\"m\", 0], [0, \"m\"]]");
    return fail("dynamics.mass");
  }
  if (unreadable_.covers("coordinates")) return fail("dynamics.mass");
  if (model_.num_coordinates() > most_coordinates_with_mass) {
    fields_.report(field, fmt::format("`mass` is for models of at most {} coordinates", most_coordinates_with_mass),
                   "give the kinetic energy instead");
    return fail("dynamics.mass");
  }
  field.value.type == TomlValue::Type::array ? read_mass_rows(field.value) : read_mass_diagonal(field.value);
}

void ModelReader::read_mass_rows(const TomlValue& rows) {
  const NameScope scope = names_.scope();
  const auto n = static_cast<std::size_t>(model_.num_coordinates());
  const std::string size = fmt::format("the {} need{} {} × {}", count_noun(n, "coordinate"), n == 1 ? "s" : "", n, n);
  std::vector<std::vector<Expr>> mass;
  for (const TomlValue& row : rows.items) {
    if (row.type != TomlValue::Type::array) {
      fields_.report(row, fmt::format("a row of `mass` is a list, not {}", in_words(row.type)));
      return fail("dynamics.mass");
    }
    if (row.items.size() != n) {
      fields_.report(row,
                     fmt::format("this row of `mass` has {}",
                                 row.items.size() == 1 ? "1 entry" : fmt::format("{} entries", row.items.size())),
                     size);
      return fail("dynamics.mass");
    }
    std::vector<Expr>& entries = mass.emplace_back();
    for (const TomlValue& item : row.items) {
      if (n <= 100) model_.places[fmt::format("mass.{}.{}", mass.size() - 1, entries.size())] = fields_.place_of(item);
      entries.push_back(expression(item, "dynamics.mass", scope).value_or(Expr(0.0)));
    }
  }
  if (mass.size() != n) {
    fields_.report(rows, fmt::format("`mass` has {}", count_noun(mass.size(), "row")), size);
    return fail("dynamics.mass");
  }
  model_.mass = std::move(mass);
}

void ModelReader::read_mass_diagonal(const TomlValue& table) {
  const NameScope scope = names_.scope();
  const auto n = static_cast<std::size_t>(model_.num_coordinates());
  model_.mass.assign(n, std::vector<Expr>(n));
  for (const TomlMember& field : table.members)
    each_member(field, "dynamics.mass", [&](const TomlMember& m, const TomlValue& value) {
      if (!is_coordinate(m)) {
        fail("dynamics.mass");
        return false;
      }
      const auto i = static_cast<std::size_t>(coordinates_.at(m.name));
      model_.places[fmt::format("mass.{}.{}", i, i)] = fields_.place_of(value);
      const auto f = expression(value, "dynamics.mass", scope);
      model_.mass[i][i] = f.value_or(Expr(0.0));
      return f.has_value();
    });
}

void ModelReader::read_by_coordinate(const TomlMember& field, const std::string& path, const NameScope& scope,
                                     bool nonideal) {
  const TomlValue* table = fields_.table(field, nonideal ? "[nonideal]" : "`force`");
  if (!table) return fail(path);
  for (const TomlMember& entry : table->members)
    each_member(entry, path, [&](const TomlMember& m, const TomlValue& value) {
      if (!is_coordinate(m)) return false;
      const auto f = expression(value, path + "." + m.name, scope);
      if (!f) return false;
      const Place place = fields_.place_of(value);
      nonideal ? model_.add_nonideal(coordinate(m.name), *f, place) : model_.add_force(coordinate(m.name), *f, place);
      return true;
    });
}

// ---- constraints and control
// -------------------------------------------------------------------------------------------

void ModelReader::read_constraints() {
  const TomlValue* table = section("constraints");
  if (!table) return;
  for (const TomlMember& m : table->members)
    each_index(m, m.value, "constraints." + m.name,
               [&](const TomlMember& member) { return read_constraint(member, m.value); });
}

bool ModelReader::read_constraint(const TomlMember& field, const TomlValue& value) {
  const std::string path = "constraints." + field.name;
  model_.places[path] = fields_.place_of(field);
  const auto wrong = [&] {
    fail(path);
    return false;
  };
  ConstraintOptions options;
  const TomlValue* text = &value;
  if (value.type == TomlValue::Type::table) {
    fields_.check_keys(value, {"equation", "weight", "restitution", "friction", "slip", "for"},
                       fmt::format("in the constraint {}", mechanician::quoted(field.name)));
    if (const auto* m = value.find("weight")) {
      model_.places[path + ".weight"] = fields_.place_of(m->value);
      options.weight = expression(m->value, path + ".weight", names_.scope());
    }
    read_contact(field, value, path, options);
    const TomlMember* equation = value.find("equation");
    if (!equation) {
      if (!unreadable_.covers(path + ".equation"))
        fields_.report(field, fmt::format("the constraint {} has no equation", mechanician::quoted(field.name)),
                       "give it as equation = \"left = right\"");
      return wrong();
    }
    text = &equation->value;
  }
  const auto e = equation(*text, path);
  if (!e) return false;
  options.text = text->text;
  options.place = fields_.place_of(*text);
  const auto add = e->relation == Relation::equal      ? &Model::add_constraint
                   : e->relation == Relation::at_least ? &Model::add_at_least
                                                       : &Model::add_at_most;
  (model_.*add)(field.name, e->left, e->right, std::move(options));
  return true;
}

void ModelReader::read_contact(const TomlMember& field, const TomlValue& value, const std::string& path,
                               ConstraintOptions& options) {
  const NameScope scope = names_.scope();
  for (const TomlMember& m : value.members)
    if (const std::string near = nearest(m.name, std::vector<std::string>{"friction", "slip"}); !near.empty())
      if (near != m.name) fail(path + "." + near);  // misspelt, not missing
  const TomlMember *restitution = value.find("restitution"), *friction = value.find("friction"),
                   *slip = value.find("slip");
  if (restitution) {
    model_.places[path + ".restitution"] = fields_.place_of(restitution->value);
    options.restitution = expression(restitution->value, path + ".restitution", scope);
  }
  if (friction && !slip && !unreadable_.covers(path + ".slip"))
    fields_.report(*friction,
                   fmt::format("the constraint {} has friction but no slip", mechanician::quoted(field.name)),
                   "slip is the velocity that friction acts against, for example slip = \"x'\"");
  if (slip && !friction && !unreadable_.covers(path + ".friction"))
    fields_.report(*slip, fmt::format("the constraint {} has a slip but no friction", mechanician::quoted(field.name)),
                   "give the coefficient of friction, for example friction = 0.3");
  if (!friction || !slip) return;
  // What could not be read is left out, so that the rest is looked at.
  Friction law{0.0, {}, fields_.place_of(friction->value)};
  model_.places[path + ".friction"] = law.place;
  model_.places[path + ".slip"] = fields_.place_of(slip->value);
  if (const auto coefficient = expression(friction->value, path + ".friction", scope)) law.coefficient = *coefficient;
  const bool several = slip->value.type == TomlValue::Type::array;
  bool good = true;
  for (const TomlValue& item : several ? std::span(slip->value.items) : std::span(&slip->value, 1)) {
    const auto psi = expression(item, path + ".slip", scope);
    good = good && psi;
    if (!psi) continue;
    model_.places[fmt::format("{}.slip.{}", path, law.slip.size())] = fields_.place_of(item);
    law.slip.push_back(*psi);
  }
  if (good || !law.slip.empty()) options.friction = std::move(law);
}

void ModelReader::read_controls() {
  const TomlValue* table = section("control");
  if (!table) return;
  for (const TomlMember& m : table->members) {
    if (m.value.type == TomlValue::Type::table) {
      each_index(m, m.value, "control." + m.name,
                 [&](const TomlMember& member) { return read_control(member, m.value); });
    } else {
      fields_.report(m.value, fmt::format("a control requirement is a table, not {}", in_words(m.value.type)),
                     fmt::format("write [control.{}] and below it equation = \"left = right\"", printable(m.name)));
      fail("control." + m.name);
    }
  }
}

bool ModelReader::read_control(const TomlMember& field, const TomlValue& table) {
  const std::string path = "control." + field.name;
  model_.places[path] = fields_.place_of(field);
  if (const auto* weight = table.find("weight"))
    fields_.report(*weight, "a control requirement has no weight", "weights are for measured constraints");
  for (const char* key : {"restitution", "friction", "slip"})
    if (const auto* m = table.find(key))
      fields_.report(*m, fmt::format("a control requirement has no {}", key), "it belongs to a constraint");
  fields_.check_keys(table, {"equation", "frequency", "damping", "weight", "for", "restitution", "friction", "slip"},
                     fmt::format("in the control requirement {}", mechanician::quoted(field.name)));
  ControlOptions options;
  const NameScope scope = names_.scope();
  const TomlMember *frequency = table.find("frequency"), *damping = table.find("damping"),
                   *equation = table.find("equation");
  if (frequency) {
    model_.places[path + ".frequency"] = fields_.place_of(frequency->value);
    options.frequency = expression(frequency->value, path + ".frequency", scope);
  }
  if (damping) {
    model_.places[path + ".damping"] = fields_.place_of(damping->value);
    if (const auto f = expression(damping->value, path + ".damping", scope)) options.damping = *f;
  }
  if (!equation) {
    if (!unreadable_.covers(path + ".equation"))
      fields_.report(field, fmt::format("the control requirement {} has no equation", mechanician::quoted(field.name)),
                     "give it as equation = \"left = right\"");
    fail(path);
    return false;
  }
  const auto e = this->equation(equation->value, path);
  if (!e) return false;
  if (e->relation != Relation::equal) {
    fields_.report(equation->value, "a control requirement is an equation", "it is written left = right");
    fail(path);
    return false;
  }
  options.text = equation->value.text;
  options.place = fields_.place_of(equation->value);
  const bool with_velocities = ((e->left.kinds() | e->right.kinds()) &
                                (kind_bit(SymbolKind::velocity) | kind_bit(SymbolKind::acceleration))) != 0;
  if (damping && with_velocities) {
    fields_.report(*damping, "a requirement with velocities has no damping", "its error follows e' + frequency*e = 0");
    options.damping = 1.0;
  } else if (damping && !frequency && !unreadable_.covers(path + ".frequency")) {
    fields_.report(*damping, "damping without a frequency",
                   "give frequency too: e'' + 2*damping*frequency*e' + frequency^2*e = 0");
  }
  model_.add_control(field.name, e->left, e->right, std::move(options));
  return true;
}

void ModelReader::read_measured() {
  const TomlValue* table = section("measured");
  if (!table) return;
  fields_.check_keys(*table, {"constraints", "weight"}, "in [measured]");
  const TomlMember *constraints = table->find("constraints"), *weight = table->find("weight");
  for (const auto& [field, key] : {std::pair(constraints, "constraints"), std::pair(weight, "weight")}) {
    if (!field && !unreadable_.covers(std::string("measured.") + key))
      fields_.report(*root_.find("measured"), fmt::format("[measured] has no `{}`", key),
                     "it needs constraints = [\"a\", \"b\"] and weight = [[4, 0], [0, 1]]");
    if (field && field->value.type != TomlValue::Type::array) {
      fields_.report(field->value,
                     fmt::format("`{}` in [measured] is a list, not {}", key, in_words(field->value.type)));
      return;
    }
  }
  if (!constraints || !weight) return;
  Measured measured;
  measured.place = fields_.place_of(*weight);
  bool good = true;
  for (const TomlValue& item : constraints->value.items) {
    if (item.type != TomlValue::Type::string) {
      fields_.report(item, fmt::format("a constraint is named by a string, not by {}", in_words(item.type)));
      good = false;
      continue;
    }
    model_.places["measured." + item.text] = fields_.place_of(item);
    measured.constraints.push_back(item.text);
  }
  const NameScope scope = names_.scope();
  for (const TomlValue& row : weight->value.items) {
    auto& entries = measured.weight.emplace_back();
    if (row.type != TomlValue::Type::array) {
      fields_.report(row, fmt::format("a row of `weight` is a list, not {}", in_words(row.type)));
      good = false;
      continue;
    }
    for (const TomlValue& item : row.items) {
      const auto f = expression(item, "measured.weight", scope);
      good = good && f;
      entries.push_back(f.value_or(Expr(1.0)));
    }
  }
  if (good) model_.measured.push_back(std::move(measured));
}

// ---- start, run, events, outputs
// ---------------------------------------------------------------------------------------

void ModelReader::read_start() {
  const TomlValue* table = section("start");
  if (!table) return;
  fields_.check_keys(*table, {"time", "position", "velocity"}, "in [start]");
  for (const TomlMember& m : table->members) {
    if (m.name == "time") {
      model_.places["start.time"] = fields_.place_of(m.value);
      if (const auto f = expression(m.value, "start.time", names_.scope())) model_.start.time = *f;
    } else if (m.name == "position") {
      read_start_values(m, "start.position", model_.start.position);
    } else if (m.name == "velocity") {
      read_start_values(m, "start.velocity", model_.start.velocity);
    }
  }
}

void ModelReader::read_start_values(const TomlMember& field, const std::string& path,
                                    std::map<std::string, Expr>& values) {
  const TomlValue* table = fields_.table(field, mechanician::quoted(path));
  if (!table) return fail(path);
  for (const TomlMember& entry : table->members)
    each_member(entry, path, [&](const TomlMember& m, const TomlValue& value) {
      if (!is_coordinate(m)) return false;
      model_.places[path + "." + m.name] = fields_.place_of(value);
      const auto f = expression(value, path + "." + m.name, names_.scope());
      if (f && !values.emplace(m.name, *f).second) {
        fields_.report(entry, fmt::format("{} has two start values", mechanician::quoted(m.name)));
        return false;
      }
      return f.has_value();
    });
}

void ModelReader::read_run() {
  const TomlValue* table = section("run");
  if (!table) return;
  fields_.check_keys(*table, {"to", "every", "tolerance", "method"}, "in [run]");
  read_run_number(*table, "to", [&](double v) { model_.run.to = v; });
  read_run_number(*table, "every", [&](double v) { model_.run.every = v; });
  read_run_number(*table, "tolerance", [&](double v) { model_.run.tolerance = v; });
  if (const auto* m = table->find("method")) {
    model_.places["run.method"] = fields_.place_of(m->value);
    if (const auto* text = fields_.string(*m, "`run.method`")) model_.run.method = *text;
  }
}

void ModelReader::read_run_number(const TomlValue& table, const std::string& key,
                                  const std::function<void(double)>& set) {
  const TomlMember* field = table.find(key);
  if (!field) return;
  const std::string path = "run." + key;
  model_.places[path] = fields_.place_of(field->value);
  const auto f = expression(field->value, path, names_.scope());
  if (!f) return;
  if (f->kinds() != 0) {
    fields_.report(field->value, fmt::format("`{}` must be a number", path),
                   "parameters and other names cannot be used here");
    return fail(path);
  }
  set(evaluate_constant(*f, model_, {}));
}

void ModelReader::read_events() {
  const TomlValue* table = section("events");
  if (!table) return;
  for (const TomlMember& m : table->members)
    if (const TomlValue* entry = fields_.table(m, mechanician::quoted("events." + m.name)))
      each_index(m, *entry, "events." + m.name, [&](const TomlMember& member) { return read_event(member, *entry); });
}

bool ModelReader::read_event(const TomlMember& m, const TomlValue& table) {
  const TomlValue* entry = &table;
  const std::string path = "events." + m.name;
  model_.places[path] = fields_.place_of(m);
  Event event;
  event.name = m.name;
  const EventChoice choice = read_event_choice(m, *entry, fields_);
  event.direction = choice.direction, event.action = choice.action;
  const TomlMember* when = entry->find("when");
  if (!when) {
    if (!unreadable_.covers(path + ".when"))
      fields_.report(m, fmt::format("the event {} has no `when`", mechanician::quoted(m.name)),
                     "give an expression that passes zero, as in when = \"x\"");
    return false;
  }
  const auto f = expression(when->value, path, names_.scope());
  if (!f) return false;
  event.when = *f;
  event.place = fields_.place_of(when->value);
  model_.events.push_back(std::move(event));
  return true;
}

void ModelReader::read_outputs() {
  const TomlValue* table = section("outputs");
  if (!table) return;
  for (const TomlMember& entry : table->members)
    each_member(entry, "outputs", [&](const TomlMember& m, const TomlValue& value) {
      model_.places["outputs." + m.name] = fields_.place_of(m);
      const auto f = expression(value, "outputs." + m.name, names_.scope());
      if (f) model_.outputs.push_back({m.name, *f, fields_.place_of(value)});
      return f.has_value();
    });
}

}  // namespace mechanician
