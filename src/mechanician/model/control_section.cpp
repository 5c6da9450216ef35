// [control], [actuators] and [nominal].

#include "mechanician/model/control_section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/degree.hpp"
#include "mechanician/model/index_values.hpp"
#include "mechanician/model/model_reader.hpp"

namespace mechanician {

namespace {

Expr difference(const Expr& a, const Expr& b) { return b.is_zero() ? a : a - b; }

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// m of "m[i]" with the indices as they are: `m = { for = … }` and `"m[i]" = { for = … }` are the same.
std::string family_of(const std::string& written, const std::vector<TermIndex>& indices) {
  const ParsedName name = parse_name(written);
  const bool same =
      name.indexed && std::equal(name.indices.begin(), name.indices.end(), indices.begin(), indices.end(),
                                 [](const auto& piece, const TermIndex& i) { return piece.text == i.name; });
  return same ? name.name : written;
}

}  // namespace

bool is_control_setting(const TomlMember& field) {
  const bool named = is_one_of(field.name, {"cost", "free", "every", "robust"});
  return named && !(field.value.type == TomlValue::Type::table && field.value.find("equation"));
}

void ModelReader::read_control(const TomlMember& field) {
  using Kind = Term::Part::Kind;
  if (is_control_setting(field)) return read_control_setting(field);
  const std::string path = "control." + field.name;
  const TomlValue& table = field.value;
  if (table.type != TomlValue::Type::table) {
    fields_.report(table, fmt::format("a control requirement is a table, not {}", in_words(table.type)),
                   fmt::format("write [control.{}] and below it equation = \"left = right\"", printable(field.name)));
    return fail(path);
  }
  model_.places[path] = fields_.place_of(field);
  const auto indices = indices_of(table);
  if (!indices) return fail(path);
  for (const char* key : {"restitution", "friction", "friction_force", "slip"})
    if (const auto* m = table.find(key))
      fields_.report(*m, fmt::format("a control requirement has no {}", key), "it belongs to a constraint");
  fields_.check_keys(table,
                     {"equation", "frequency", "damping", "law", "priority", "weight", "for", "engaged", "restitution",
                      "friction", "friction_force", "slip"},
                     fmt::format("in the control requirement {}", mechanician::quoted(field.name)));
  Term term;
  term.kind = TermKind::control, term.name = field.name, term.indices = *indices, term.key = fields_.place_of(field);
  const TomlMember *frequency = table.find("frequency"), *damping = table.find("damping"), *law = table.find("law"),
                   *equation = table.find("equation");
  read_part(frequency, Kind::frequency, path + ".frequency", term);
  read_part(damping, Kind::damping, path + ".damping", term);
  read_part(table.find("weight"), Kind::weight, path + ".weight", term);
  read_priority(table.find("priority"), path, term);
  read_engaged(table, term);
  if (!equation) {
    if (!unreadable_.covers(path + ".equation"))
      fields_.report(field, fmt::format("the control requirement {} has no equation", mechanician::quoted(field.name)),
                     "give it as equation = \"left = right\"");
    return fail(path);
  }
  const auto e = this->equation(equation->value, path, *indices);
  if (!e) return;
  term.one_sided = e->relation != Relation::equal;
  term.body = e->relation == Relation::at_most ? difference(e->right, e->left) : difference(e->left, e->right);
  term.text = equation->value.text, term.place = fields_.place_of(equation->value);
  const KindSet kinds = model_.kinds_of(term.body);
  const bool with_velocities = (kinds & (kind_bit(SymbolKind::velocity) | kind_bit(SymbolKind::acceleration))) != 0;
  if (law) {
    read_law(*law, path, kinds, term);
  } else if (damping && with_velocities) {
    fields_.report(*damping, "a requirement with velocities has no damping", "its error follows e' + frequency*e = 0");
    std::erase_if(term.parts, [](const Term::Part& part) { return part.kind == Kind::damping; });
  } else if (damping && !frequency && !unreadable_.covers(path + ".frequency")) {
    fields_.report(*damping, "damping without a frequency",
                   "give frequency too: e'' + 2*damping*frequency*e' + frequency^2*e = 0");
  }
  model_.terms.push_back(std::move(term));
}

void ModelReader::read_priority(const TomlMember* field, const std::string& path, Term& term) {
  if (!field) return;
  const TomlValue& value = field->value;
  if (value.type == TomlValue::Type::number && value.number >= 1.0 && value.number <= 1e6 &&
      value.number == std::floor(value.number)) {
    term.priority = static_cast<int>(value.number);
    return;
  }
  fields_.report(value, "`priority` is a whole number from 1 on",
                 "requirements of priority 1 are met before those of 2");
  fail(path + ".priority");
}

/// left = right of e, e' and e'', t and parameters.
void ModelReader::read_law(const TomlMember& field, const std::string& path, KindSet kinds, Term& term) {
  const std::string at = path + ".law";
  const bool position = (kinds & (kind_bit(SymbolKind::velocity) | kind_bit(SymbolKind::acceleration))) == 0;
  const Place place = model_.places[at] = fields_.place_of(field.value);
  if ((kinds & kind_bit(SymbolKind::acceleration)) != 0) {
    fields_.report(field, "a requirement with accelerations has no law", "it is used as it stands");
    return fail(at);
  }
  names_.begin(term.indices);
  read_in(field.value);
  NameScope scope = names_.scope(Words::all);
  scope.find = [find = scope.find](std::string_view name, int primes) -> std::optional<Expr> {
    if (name != "e") return find(name, primes);
    if (primes > 2) return std::nullopt;
    Expr e = error_symbol();
    for (; primes > 0; --primes) e = derivative_symbol(e);
    return e;
  };
  const auto law = fields_.equation(field.value, scope, mechanician::quoted(at));
  if (!names_.check_members() || !law) return fail(at);
  const Expr whole = difference(law->left, law->right);
  const SymbolKind highest = position ? SymbolKind::acceleration : SymbolKind::velocity;
  const char* const of = position ? "e''" : "e'";
  if (law->relation != Relation::equal) {
    fields_.report(field.value, "a law is an equation", "it is written left = right");
    return fail(at);
  }
  for (const Expr& s : symbols_of(std::span(&whole, 1))) {
    const SymbolKind kind = s.symbol().kind;
    const bool moves =
        kind == SymbolKind::coordinate || kind == SymbolKind::velocity || kind == SymbolKind::acceleration;
    if (moves && s.symbol().name != "e") {
      fields_.report(field.value, fmt::format("a law cannot contain {}", mechanician::quoted(s.symbol().name)),
                     "it is made of the error e, its derivatives, t and parameters");
      return fail(at);
    }
    if (!position && kind == SymbolKind::acceleration) {
      fields_.report(field.value, "the law of a requirement with velocities contains e''",
                     "the highest derivative that it determines is e'");
      return fail(at);
    }
  }
  if (!whole.contains(highest) || !has_degree_at_most(whole, highest, 1)) {
    fields_.report(field.value, fmt::format("a law must contain {} and be linear in it", of),
                   position ? "for example e'' + 3*tanh(e') + e = 0" : "for example e' + 2*e = 0");
    return fail(at);
  }
  term.parts.push_back({Term::Part::Kind::law, whole, place});
}

bool ModelReader::is_actuator(const std::string& name) const {
  return std::any_of(model_.terms.begin(), model_.terms.end(), [&](const Term& t) {
    return t.kind == TermKind::actuator && (t.name == name || (!t.indices.empty() && name.starts_with(t.name + "[")));
  });
}

void ModelReader::read_control_setting(const TomlMember& field) {
  const std::string path = "control." + field.name;
  const TomlValue& value = field.value;
  model_.places[path] = fields_.place_of(field);
  if (field.name == "free") return read_by_coordinate(field, path, TermKind::free_force);
  if (field.name == "every") {
    const auto f = expression(value, path, Words::parameters);
    if (!f) return;
    const double every = f->kinds() == 0 ? IndexValues(model_, {*f}, {})({})[0] : 0.0;
    if (f->kinds() != 0 || !(every > 0.0) || !std::isfinite(every)) {
      fields_.report(value, "`every` of [control] must be a number above zero", "the time from one sample to the next");
      return fail(path);
    }
    model_.control.every = every;
    return;
  }
  if (field.name == "robust") {
    if (!fields_.table(field, "`robust`")) return fail(path);
    fields_.check_keys(value, {"gain", "layer"}, "in `robust`");
    const TomlMember *gain = value.find("gain"), *layer = value.find("layer");
    if (!gain || !layer) {
      if (!unreadable_.covers(path + ".gain") && !unreadable_.covers(path + ".layer"))
        fields_.report(field, "`robust` needs a gain and a layer", "for example robust = { gain = 5.0, layer = 1e-3 }");
      return fail(path);
    }
    model_.places[path + ".gain"] = fields_.place_of(gain->value);
    model_.places[path + ".layer"] = fields_.place_of(layer->value);
    model_.control.gain = expression(gain->value, path + ".gain");
    model_.control.layer = expression(layer->value, path + ".layer");
    return;
  }
  // cost: by actuator, or a matrix by rows.
  if (value.type == TomlValue::Type::table) {
    for (const TomlMember& m : value.members) {
      model_.places[path + "." + m.name] = fields_.place_of(m);
      if (!is_actuator(m.name)) {
        fields_.report(m, fmt::format("{} is no actuator", mechanician::quoted(m.name)),
                       "costs are given by the names of [actuators]");
        continue;
      }
      if (const auto f = expression(m.value, path + "." + m.name)) model_.control_cost.emplace(m.name, *f);
    }
    return;
  }
  if (value.type != TomlValue::Type::array) {
    fields_.report(value, fmt::format("`cost` is a table by actuator or a matrix, not {}", in_words(value.type)),
                   "for example cost = { motor = 2.0 } or cost = [[2, 1], [1, 3]]");
    return fail(path);
  }
  if (std::any_of(model_.terms.begin(), model_.terms.end(),
                  [](const Term& t) { return t.kind == TermKind::actuator && !t.indices.empty(); })) {
    fields_.report(value, "a matrix of costs is for actuators that are written one by one",
                   "give cost = { NAME = ... } for families of them");
    return fail(path);
  }
  for (const TomlValue& row : value.items) {
    auto& entries = model_.control.cost.emplace_back();
    if (row.type != TomlValue::Type::array) {
      fields_.report(row, fmt::format("a row of `cost` is a list, not {}", in_words(row.type)));
      return fail(path);
    }
    for (const TomlValue& item : row.items) entries.push_back(expression(item, path).value_or(Expr(0.0)));
  }
}

/// What robust control promises of the error, and what it has come to in the second half of the run, as numbers of [summary]; which half that
/// is is known to the motion alone (motion/integrator.cpp). On the surface |e' + frequency e| <= layer, and so |e| <= layer/frequency once what
/// was there before has died out.
void ModelReader::add_promises() {
  if (!model_.control.layer || !model_.control.gain) return;
  const std::vector<Term> terms = model_.terms;
  for (const Term& c : terms) {
    using Kind = Term::Part::Kind;
    const auto part = [&](Kind kind) {
      return std::find_if(c.parts.begin(), c.parts.end(), [&](const Term::Part& p) { return p.kind == kind; });
    };
    const auto frequency = part(Kind::frequency);
    const bool positions = (model_.kinds_of(c.body) & kind_bit(SymbolKind::velocity)) == 0;
    if (c.kind != TermKind::control || c.one_sided || !c.indices.empty() || (positions && frequency == c.parts.end()) ||
        (model_.kinds_of(c.body) & kind_bit(SymbolKind::acceleration)) != 0)
      continue;
    const Expr error = make_symbol(SymbolKind::control_error, c.name);
    const Expr bound = positions ? *model_.control.layer / frequency->value : *model_.control.layer;
    for (const auto& [word, f] : {std::pair("error", abs(error)), std::pair("promised", bound)}) {
      FamilyQuantity quantity;
      quantity.name = fmt::format("{}_{}", c.name, word);
      if (root_.find("summary") && root_.find("summary")->value.find(quantity.name)) continue;
      quantity.term.kind = TermKind::quantity, quantity.term.body = f, quantity.term.place = c.place;
      model_.summary.push_back({quantity.name, SummaryKind::max, c.place});
      model_.outputs.push_back(std::move(quantity));
    }
  }
}

void ModelReader::read_actuator(const TomlMember& field) {
  using Kind = Term::Part::Kind;
  const std::string path = "actuators." + field.name;
  const TomlValue& table = field.value;
  if (table.type != TomlValue::Type::table) {
    fields_.report(table, fmt::format("an actuator is a table, not {}", in_words(table.type)),
                   fmt::format("for example {} = {{ x = \"1\" }}, the force on x for each unit of its effort",
                               printable(field.name)));
    return fail(path);
  }
  model_.places[path] = fields_.place_of(field);
  const auto indices = indices_of(table);
  if (!indices) return fail(path);
  Term term;
  term.kind = TermKind::actuator, term.name = family_of(field.name, *indices), term.indices = *indices,
  term.key = fields_.place_of(field);
  term.place = fields_.place_of(field);
  const TomlMember *on = table.find("on"), *by = table.find("by"), *limit = table.find("limit");
  read_part(table.find("cost"), Kind::cost, path + ".cost", term);
  if (limit && limit->value.type == TomlValue::Type::array) {
    if (limit->value.items.size() != 2) {
      fields_.report(limit->value, "`limit` is a number or [low, high]", "for example limit = [-5, 20]");
      return fail(path);
    }
    for (const std::size_t i : {0, 1}) {
      const TomlValue& item = limit->value.items[i];
      const Place place = model_.places[path + (i == 0 ? ".low" : ".high")] = fields_.place_of(item);
      if (const auto f = expression(item, path + ".limit", Words::all, *indices))
        term.parts.push_back({i == 0 ? Kind::low : Kind::high, *f, place});
    }
  } else if (limit) {
    const Place place = model_.places[path + ".high"] = fields_.place_of(limit->value);
    model_.places[path + ".low"] = place;
    if (const auto f = expression(limit->value, path + ".limit", Words::all, *indices)) {
      term.parts.push_back({Kind::low, -*f, place});
      term.parts.push_back({Kind::high, *f, place});
    }
  }
  bool any = false;
  Expr work = 0.0;
  bool first = true;
  const auto add_column = [&](const TomlMember& m) {
    any = true;
    names_.begin(*indices);
    const auto target = target_of(m, *indices);
    const auto f = target ? expression(m.value, path + "." + m.name, Words::all, *indices) : std::nullopt;
    if (!f) return fail(path);
    if ((model_.kinds_of(*f) & kind_bit(SymbolKind::acceleration)) != 0) {
      fields_.report(m.value, "what an actuator does cannot depend on accelerations");
      return fail(path);
    }
    const Expr term_of_work = *f * derivative_symbol(derivative_symbol(target->symbol));
    work = first ? term_of_work : work + term_of_work;
    first = false;
  };
  for (const TomlMember& m : table.members)
    if (!is_one_of(m.name, {"on", "by", "limit", "cost", "for"})) add_column(m);
  if (by && fields_.table(*by, "`by`"))
    for (const TomlMember& m : by->value.members) add_column(m);
  if (on) {
    if (any) {
      fields_.report(*on, "an actuator is given by `on` or by coordinates, not by both",
                     "`on` stands for the gradient of an expression");
      return fail(path);
    }
    const auto f = expression(on->value, path + ".on", Words::all, *indices);
    if (!f) return fail(path);
    if ((model_.kinds_of(*f) & (kind_bit(SymbolKind::velocity) | kind_bit(SymbolKind::acceleration))) != 0) {
      fields_.report(on->value, "`on` is an expression of coordinates",
                     "the actuator does work where it changes; forces that follow velocities are given by coordinate");
      return fail(path);
    }
    work = *f, any = true;
    term.place = fields_.place_of(on->value);
  }
  if (!any) {
    if (!unreadable_.covers(path))
      fields_.report(field, fmt::format("the actuator {} acts on nothing", mechanician::quoted(field.name)),
                     "give a force for each unit of its effort, as in { x = \"1\" }, or on = \"q2 - q1\"");
    return fail(path);
  }
  if (unreadable_.covers(path)) return;
  term.body = work;
  model_.terms.push_back(std::move(term));
}

void ModelReader::read_nominal(const TomlMember& field) {
  const std::string path = "nominal." + field.name;
  model_.places[path] = fields_.place_of(field);
  const auto f = expression(field.value, path);
  if (f) model_.control.nominal.push_back({field.name, *f, fields_.place_of(field)});
}

}  // namespace mechanician
