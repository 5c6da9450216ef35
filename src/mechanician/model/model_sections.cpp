/// The sections of a model file that state the mechanics. See model_reader.hpp.

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/family_name.hpp"
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
        expect_energy(m.value, fields_.measure, m.name == "kinetic" ? "the kinetic energy" : "the potential energy");
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
  std::size_t n = 0;  // states, which come last, have no mass
  for (const CoordinateFamily& c : model_.coordinates)
    if (!c.is_state) n += static_cast<std::size_t>(c.count);
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
  const auto all = static_cast<std::size_t>(model_.num_coordinates());
  for (auto& entries : mass) entries.resize(all, 0.0);
  mass.resize(all, std::vector<Expr>(all, 0.0));
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
    const std::string coordinate = target->symbol.symbol().name;
    if (is_number_of_coordinate(kind))
      take_unit(*value, coordinate, kind == TermKind::velocity ? 1 : 0, term.body);
    else if (const Measure* q =
                 kind == TermKind::force ? names_.find_measure(std::string(family_of(coordinate))) : nullptr)
      expect_energy(*value, product(fields_.measure, *q, 1.0), "a force times its coordinate");
    term.place = fields_.place_of(*value), term.key = fields_.place_of(m);
    if (is_number_of_coordinate(kind))
      model_.places.emplace(indices->empty() ? at : std::string(family_of(at)), term.place);
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
    fields_.check_keys(field.value,
                       {"equation", "weight", "restitution", "friction", "friction_force", "slip", "engaged", "for"},
                       fmt::format("in the constraint {}", mechanician::quoted(field.name)));
    read_part(field.value.find("weight"), Term::Part::Kind::weight, path + ".weight", term);
    read_contact(field, path, term);
    read_engaged(field.value, term);
    const TomlMember* equation = field.value.find("equation");
    if (!equation && field.value.find("friction_force") && field.value.find("slip") &&
        !unreadable_.covers(path + ".equation")) {
      // A brake: friction, and nothing else.
      for (const char* key : {"weight", "restitution"})
        if (const TomlMember* m = field.value.find(key))
          fields_.report(
              *m, fmt::format("the constraint {} has a {} but no equation", mechanician::quoted(field.name), key),
              "what has only friction_force and slip is a brake");
      term.bare = true, term.body = 0.0, term.place = fields_.place_of(field);
      model_.terms.push_back(std::move(term));
      return;
    }
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
    if (const std::string near = nearest(m.name, std::vector<std::string>{"friction", "friction_force", "slip"});
        !near.empty())
      if (near != m.name) fail(path + "." + near);  // misspelt, not missing
  const TomlMember *friction = value.find("friction"), *force = value.find("friction_force"),
                   *slip = value.find("slip");
  if (friction && force)
    fields_.report(
        *force, fmt::format("the constraint {} has friction and friction_force", mechanician::quoted(field.name)),
        "friction is the coefficient of the normal force, friction_force a limit of its own: give one of them");
  const Kind kind = friction ? Kind::friction : Kind::friction_force;
  if (!friction) friction = force;
  // Coefficients are plain numbers.
  const auto expect_plain = [&](const TomlMember& m) {
    if (names_.units && fields_.measure.kind == Measure::Kind::known) expect_measure(m.value, measure_of_unit({}));
  };
  if (const TomlMember* e = value.find("restitution");
      read_part(e, Kind::restitution, path + ".restitution", term) && e)
    expect_plain(*e);
  if (friction && !slip && !unreadable_.covers(path + ".slip"))
    fields_.report(*friction,
                   fmt::format("the constraint {} has friction but no slip", mechanician::quoted(field.name)),
                   "slip is the velocity that friction acts against, for example slip = \"x'\"");
  if (slip && !friction && !unreadable_.covers(path + ".friction") && !unreadable_.covers(path + ".friction_force"))
    fields_.report(
        *slip, fmt::format("the constraint {} has a slip but no friction", mechanician::quoted(field.name)),
        "give the coefficient of friction, for example friction = 0.3, or friction_force, the largest force");
  if (!friction || !slip) return;
  // What could not be read is left out, so that the rest is looked at.
  if (!read_part(friction, kind, path + "." + friction->name, term))
    term.parts.push_back({kind, 0.0, fields_.place_of(friction->value)});
  else if (kind == Kind::friction)
    expect_plain(*friction);
  const std::size_t before = term.parts.size();
  model_.places[path + ".slip"] = fields_.place_of(slip->value);
  const bool several = slip->value.type == TomlValue::Type::array;
  bool good = true, forbidden = false;
  for (const TomlValue& item : several ? std::span(slip->value.items) : std::span(&slip->value, 1)) {
    const auto psi = expression(item, path + ".slip", Words::all, term.indices);
    good = good && psi;
    if (!psi) continue;
    // Joints may forbid one of the two slips of a point of a body: nothing rubs there.
    if (item.generated && !psi->contains(SymbolKind::velocity)) {
      forbidden = true;
      continue;
    }
    const Place place = model_.places[fmt::format("{}.slip.{}", path, term.parts.size() - before)] =
        fields_.place_of(item);
    term.parts.push_back({Kind::slip, *psi, place});
  }
  if ((!good || forbidden) && term.parts.size() == before) term.parts.pop_back();
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

// ---- run, events, outputs, summary

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
  // snap = { for = … } and "snap[i]" = { for = … } are the same.
  const ParsedName name = parse_name(field.name);
  const bool indexed = name.indexed && is_name(name.name);
  model_.places[indexed ? "events." + name.name : path] = fields_.place_of(field);
  const auto indices = indices_of(*table);
  const auto label = indices && indexed ? label_of(field, name) : std::nullopt;
  if (!indices || (indexed && !label)) return fail(path);
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
  if (const TomlMember* actions = table->find("do")) {
    const bool several = actions->value.type == TomlValue::Type::array;
    for (const TomlValue& item : several ? std::span(actions->value.items) : std::span(&actions->value, 1))
      read_action(item, *indices, event);
  }
  const TomlMember* when = table->find("when");
  if (!when) {
    if (!unreadable_.covers(path + ".when"))
      fields_.report(field, fmt::format("the event {} has no `when`", mechanician::quoted(field.name)),
                     "give an expression that passes zero, as in when = \"x\"");
    return fail(path);
  }
  const auto f = expression(when->value, path, Words::forces, *indices);
  if (!f) return;
  event.when.name = indexed ? name.name : field.name;
  if (indexed) event.when.label = *label;
  for (std::size_t k = 0; !indexed && k < indices->size(); ++k) event.when.label.push_back((*indices)[k].symbol);
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
  const auto f = expression(*value, path, Words::forces, *indices);
  if (!f) return;
  output.term.kind = TermKind::quantity, output.term.indices = *indices;
  output.term.body = *f, output.term.place = fields_.place_of(*value);
  model_.outputs.push_back(std::move(output));
}

void ModelReader::read_summary(const TomlMember& field) {
  static constexpr std::array<std::string_view, 7> kinds{"max",      "min",         "mean",       "rms",
                                                         "integral", "time_of_max", "time_of_min"};
  const ParsedName name = parse_name(field.name);
  const bool indexed = name.indexed && is_name(name.name);
  const std::string path = "summary." + field.name;
  model_.places.emplace(indexed ? "summary." + name.name : path, fields_.place_of(field));
  const TomlValue* table = fields_.table(field, mechanician::quoted(path));
  if (!table) return fail(path);
  fields_.check_keys(*table, {"max", "min", "mean", "rms", "integral", "time_of_max", "time_of_min", "for"},
                     fmt::format("in {}", mechanician::quoted(path)));
  const TomlMember* what = nullptr;
  std::size_t kind = 0;
  for (const TomlMember& m : table->members) {
    const auto found = std::find(kinds.begin(), kinds.end(), m.name);
    if (found == kinds.end()) continue;
    if (what) {
      fields_.report(m,
                     fmt::format("{} is one number: `{}` or `{}`", mechanician::quoted(field.name), what->name, m.name),
                     "give the other a name of its own");
      return fail(path);
    }
    what = &m, kind = static_cast<std::size_t>(found - kinds.begin());
  }
  if (!what) {
    if (!unreadable_.covers(path))
      fields_.report(field, fmt::format("{} does not say what is wanted", mechanician::quoted(field.name)),
                     "for example peak = { max = \"x\" }; also min, mean, rms, integral, time_of_max, time_of_min");
    return fail(path);
  }
  const auto indices = indices_of(field.value);
  if (!indices) return fail(path);
  FamilyQuantity quantity;
  quantity.name = indexed ? name.name : field.name;
  if (!indexed && !indices->empty()) {
    fields_.report(field, fmt::format("{} has no index, though it says `for`", mechanician::quoted(field.name)),
                   "write its name with the index, as in \"peak[i]\"");
    return fail(path);
  }
  if (indexed) {
    const auto label = label_of(field, name);
    if (!label) return fail(path);
    quantity.label = *label;
  }
  const auto f = expression(what->value, path, Words::forces, *indices);
  if (!f) return;
  quantity.term.kind = TermKind::quantity, quantity.term.indices = *indices;
  quantity.term.body = *f, quantity.term.place = fields_.place_of(what->value);
  model_.outputs.push_back(std::move(quantity));
  model_.summary.push_back({indexed ? name.name : field.name, static_cast<SummaryKind>(kind), fields_.place_of(field)});
}

}  // namespace mechanician
