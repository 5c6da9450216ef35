/// The sections of a model file that state the mechanics. See model_reader.hpp.

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "mechanician/base/text.hpp"
#include "mechanician/model/index_values.hpp"
#include "mechanician/model/model_reader.hpp"
#include "mechanician/model/validate.hpp"

namespace mechanician {

namespace {

Expr difference(const Expr& a, const Expr& b) { return b.is_zero() ? a : a - b; }

}  // namespace

std::optional<FieldReader::Equation> ModelReader::equation(const TomlValue& value, const std::string& path,
                                                           const std::vector<TermIndex>& indices) {
  names_.begin(indices);
  read_in(value);
  auto e = fields_.equation(value, names_.scope(), mechanician::quoted(path));
  if (!names_.check_members()) e = std::nullopt;
  if (!e) fail(path);
  return e;
}

// ---- dynamics

void ModelReader::read_dynamics() {
  const TomlValue* table = section("dynamics");
  if (!table) return;
  fields_.check_keys(*table, {"kinetic", "potential", "mass", "force"}, "in [dynamics]");
  for (const TomlMember& m : table->members) {
    if (m.name == "kinetic" || m.name == "potential") {
      Term term;
      term.kind = m.name == "kinetic" ? TermKind::kinetic : TermKind::potential;
      term.place = model_.places[m.name] = fields_.place_of(m.value);
      if (const auto f = expression(m.value, "dynamics." + m.name)) {
        term.body = *f;
        model_.terms.push_back(std::move(term));
      }
    } else if (m.name == "mass") {
      read_mass(m);
    } else if (m.name == "force") {
      read_by_coordinate(m, "dynamics.force", TermKind::force);
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
  if (field.value.type == TomlValue::Type::array) return read_mass_rows(field.value);
  model_.places["mass"] = fields_.place_of(field);
  read_by_coordinate(field, "dynamics.mass", TermKind::mass);
}

void ModelReader::read_mass_rows(const TomlValue& rows) {
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
      entries.push_back(expression(item, "dynamics.mass").value_or(Expr(0.0)));
    }
  }
  if (mass.size() != n) {
    fields_.report(rows, fmt::format("`mass` has {}", count_noun(mass.size(), "row")), size);
    return fail("dynamics.mass");
  }
  model_.mass = std::move(mass);
}

void ModelReader::read_by_coordinate(const TomlMember& field, const std::string& path, TermKind kind) {
  const TomlValue* table = fields_.table(field, kind == TermKind::nonideal ? "[nonideal]"
                                                : kind == TermKind::force  ? "`force`"
                                                : kind == TermKind::scale  ? "`scale`"
                                                                           : mechanician::quoted(path));
  if (!table) return fail(path);
  for (const TomlMember& m : table->members) {
    Term term;
    const std::string at = path + "." + m.name;
    const auto indices = indices_of(m.value);
    const TomlValue* value = indices ? value_of(m, path) : nullptr;
    const auto target = value ? target_of(m, *indices) : std::nullopt;
    const auto f = target ? expression(*value, at, kind == TermKind::nonideal ? Words::reactions : Words::all, *indices)
                          : std::nullopt;
    if (!f) {
      fail(kind == TermKind::mass ? path : at);
      continue;
    }
    term.kind = kind, term.indices = *indices, term.body = *f, term.target = *target;
    term.place = fields_.place_of(*value), term.key = fields_.place_of(m);
    if (is_number_of_coordinate(kind))
      model_.places.emplace(indices->empty() ? at : at.substr(0, at.find('[')), term.place);
    model_.terms.push_back(std::move(term));
  }
}

// ---- constraints

bool ModelReader::read_part(const TomlMember* field, Term::Part::Kind kind, const std::string& path, Term& term) {
  if (!field) return false;
  const Place place = model_.places[path] = fields_.place_of(field->value);
  const auto f = expression(field->value, path, Words::all, term.indices);
  if (f) term.parts.push_back({kind, *f, place});
  return f.has_value();
}

void ModelReader::read_constraint(const TomlMember& field) {
  const std::string path = "constraints." + field.name;
  model_.places[path] = fields_.place_of(field);
  const auto indices = indices_of(field.value);
  if (!indices) return fail(path);
  Term term;
  term.kind = TermKind::constraint, term.name = field.name, term.indices = *indices, term.key = fields_.place_of(field);
  const TomlValue* text = &field.value;
  if (field.value.type == TomlValue::Type::table) {
    fields_.check_keys(field.value, {"equation", "weight", "restitution", "friction", "slip", "for"},
                       fmt::format("in the constraint {}", mechanician::quoted(field.name)));
    read_part(field.value.find("weight"), Term::Part::Kind::weight, path + ".weight", term);
    read_contact(field, path, term);
    const TomlMember* equation = field.value.find("equation");
    if (!equation) {
      if (!unreadable_.covers(path + ".equation"))
        fields_.report(field, fmt::format("the constraint {} has no equation", mechanician::quoted(field.name)),
                       "give it as equation = \"left = right\"");
      return fail(path);
    }
    text = &equation->value;
  }
  const auto e = equation(*text, path, *indices);
  if (!e) return;
  term.one_sided = e->relation != Relation::equal;
  term.body = e->relation == Relation::at_most ? difference(e->right, e->left) : difference(e->left, e->right);
  term.text = text->text, term.place = fields_.place_of(*text);
  model_.terms.push_back(std::move(term));
}

void ModelReader::read_contact(const TomlMember& field, const std::string& path, Term& term) {
  using Kind = Term::Part::Kind;
  const TomlValue& value = field.value;
  for (const TomlMember& m : value.members)
    if (const std::string near = nearest(m.name, std::vector<std::string>{"friction", "slip"}); !near.empty())
      if (near != m.name) fail(path + "." + near);  // misspelt, not missing
  const TomlMember *friction = value.find("friction"), *slip = value.find("slip");
  read_part(value.find("restitution"), Kind::restitution, path + ".restitution", term);
  if (friction && !slip && !unreadable_.covers(path + ".slip"))
    fields_.report(*friction,
                   fmt::format("the constraint {} has friction but no slip", mechanician::quoted(field.name)),
                   "slip is the velocity that friction acts against, for example slip = \"x'\"");
  if (slip && !friction && !unreadable_.covers(path + ".friction"))
    fields_.report(*slip, fmt::format("the constraint {} has a slip but no friction", mechanician::quoted(field.name)),
                   "give the coefficient of friction, for example friction = 0.3");
  if (!friction || !slip) return;
  // What could not be read is left out, so that the rest is looked at.
  if (!read_part(friction, Kind::friction, path + ".friction", term))
    term.parts.push_back({Kind::friction, 0.0, fields_.place_of(friction->value)});
  const std::size_t before = term.parts.size();
  model_.places[path + ".slip"] = fields_.place_of(slip->value);
  const bool several = slip->value.type == TomlValue::Type::array;
  bool good = true;
  for (const TomlValue& item : several ? std::span(slip->value.items) : std::span(&slip->value, 1)) {
    const auto psi = expression(item, path + ".slip", Words::all, term.indices);
    good = good && psi;
    if (!psi) continue;
    const Place place = model_.places[fmt::format("{}.slip.{}", path, term.parts.size() - before)] =
        fields_.place_of(item);
    term.parts.push_back({Kind::slip, *psi, place});
  }
  if (!good && term.parts.size() == before) term.parts.pop_back();
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
  for (const TomlValue& row : weight->value.items) {
    auto& entries = measured.weight.emplace_back();
    if (row.type != TomlValue::Type::array) {
      fields_.report(row, fmt::format("a row of `weight` is a list, not {}", in_words(row.type)));
      good = false;
      continue;
    }
    for (const TomlValue& item : row.items) {
      const auto f = expression(item, "measured.weight");
      good = good && f;
      entries.push_back(f.value_or(Expr(1.0)));
    }
  }
  if (good) model_.measured.push_back(std::move(measured));
}

// ---- start, run, events, outputs

void ModelReader::read_start() {
  const TomlValue* table = section("start");
  if (!table) return;
  fields_.check_keys(*table, {"time", "position", "velocity"}, "in [start]");
  for (const TomlMember& m : table->members) {
    if (m.name == "time") {
      model_.places["start.time"] = fields_.place_of(m.value);
      const auto f = expression(m.value, "start.time");
      if (!f) continue;
      model_.start_time_stated = *f;
      if ((model_.kinds_of(*f) & ~kind_bit(SymbolKind::parameter)) == 0)
        model_.start_time = IndexValues(model_, {*f}, {})({})[0];
    } else if (m.name == "position" || m.name == "velocity") {
      read_by_coordinate(m, "start." + m.name, m.name == "position" ? TermKind::position : TermKind::velocity);
    }
  }
}

void ModelReader::read_run() {
  const TomlValue* table = section("run");
  if (!table) return;
  fields_.check_keys(*table, {"to", "every", "tolerance", "method", "scale"}, "in [run]");
  const auto number = [&](const std::string& key) -> std::optional<double> {
    const TomlMember* field = table->find(key);
    if (!field) return std::nullopt;
    const std::string path = "run." + key;
    model_.places[path] = fields_.place_of(field->value);
    const auto f = expression(field->value, path);
    if (!f) return std::nullopt;
    if (f->kinds() != 0) {
      fields_.report(field->value, fmt::format("`{}` must be a number", path),
                     "parameters and other names cannot be used here");
      fail(path);
      return std::nullopt;
    }
    return IndexValues(model_, {*f}, {})({})[0];
  };
  model_.run.to = number("to"), model_.run.every = number("every");
  model_.run.tolerance = number("tolerance").value_or(model_.run.tolerance);
  if (const auto* m = table->find("method")) {
    model_.places["run.method"] = fields_.place_of(m->value);
    if (const auto* text = fields_.string(*m, "`run.method`")) model_.run.method = *text;
  }
  if (const auto* m = table->find("scale")) {
    if (m->value.type == TomlValue::Type::table) {
      read_by_coordinate(*m, "run.scale", TermKind::scale);
    } else {
      model_.places["run.scale"] = fields_.place_of(m->value);
      model_.run.scale_of_all = expression(m->value, "run.scale");
    }
  }
  model_.run_places = {model_.places["run.to"], model_.places["run.tolerance"]};
}

void ModelReader::read_event(const TomlMember& field) {
  const std::string path = "events." + field.name;
  const TomlValue* table = fields_.table(field, mechanician::quoted(path));
  if (!table) return;
  model_.places[path] = fields_.place_of(field);
  const auto indices = indices_of(*table);
  if (!indices) return fail(path);
  fields_.check_keys(*table, {"when", "direction", "do", "for"},
                     fmt::format("in the event {}", mechanician::quoted(field.name)));
  const auto choose = [&](const char* key, std::initializer_list<std::string_view> choices) -> std::size_t {
    const TomlMember* m = table->find(key);
    const std::string* text = m ? fields_.string(*m, fmt::format("`{}`", key)) : nullptr;
    for (std::size_t i = 0; text && i < choices.size(); ++i)
      if (*text == choices.begin()[i]) return i;
    if (text)
      fields_.report(m->value, fmt::format("`{}` cannot be {}", key, mechanician::quoted(*text)),
                     fmt::format("it is {}", fmt::join(choices, " or ")));
    return 0;
  };
  FamilyEvent event;
  event.direction = std::array{EventDirection::both, EventDirection::up,
                               EventDirection::down}[choose("direction", {"both", "up", "down"})];
  event.action = std::array{EventAction::record, EventAction::stop}[choose("do", {"record", "stop"})];
  const TomlMember* when = table->find("when");
  if (!when) {
    if (!unreadable_.covers(path + ".when"))
      fields_.report(field, fmt::format("the event {} has no `when`", mechanician::quoted(field.name)),
                     "give an expression that passes zero, as in when = \"x\"");
    return fail(path);
  }
  const auto f = expression(when->value, path, Words::all, *indices);
  if (!f) return;
  event.when.name = field.name;
  for (const TermIndex& index : *indices) event.when.label.push_back(index.symbol);
  event.when.term.kind = TermKind::quantity, event.when.term.indices = *indices;
  event.when.term.body = *f, event.when.term.place = fields_.place_of(when->value);
  model_.events.push_back(std::move(event));
}

void ModelReader::read_output(const TomlMember& field) {
  const ParsedName name = parse_name(field.name);
  const bool indexed =
      name.indexed && is_name(name.name);  // what else is wrong with it is said where names are checked
  const std::string path = "outputs." + field.name;
  model_.places.emplace(indexed ? "outputs." + name.name : path, fields_.place_of(field));
  const TomlValue* value = value_of(field, "outputs");
  const auto indices = value ? indices_of(field.value) : std::nullopt;
  if (!indices) return fail(path);
  FamilyQuantity output;
  output.name = indexed ? name.name : field.name;
  if (!indexed && !indices->empty()) {
    fields_.report(field,
                   fmt::format("the output {} has no index, though it says `for`", mechanician::quoted(field.name)),
                   "write its name with the index, as in \"e[i]\"");
    return fail(path);
  }
  if (indexed) {
    const auto label = label_of(field, name);
    if (!label) return fail(path);
    output.label = *label;
  }
  const auto f = expression(*value, path, Words::all, *indices);
  if (!f) return;
  output.term.kind = TermKind::quantity, output.term.indices = *indices;
  output.term.body = *f, output.term.place = fields_.place_of(*value);
  model_.outputs.push_back(std::move(output));
}

}  // namespace mechanician
