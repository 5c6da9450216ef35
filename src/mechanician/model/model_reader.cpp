#include "mechanician/model/model_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/lexer.hpp"
#include "mechanician/model/dependency_order.hpp"
#include "mechanician/model/expand_internal.hpp"
#include "mechanician/model/index_values.hpp"

namespace mechanician {

ModelReader::ModelReader(SourceText source, std::string cleaned, std::vector<Problem> problems,
                         const ParameterOverrides& overrides, long most)
    : text_(std::move(cleaned)),
      map_(text_),
      fields_(map_),
      names_(model_),
      overrides_(overrides),
      most_coordinates_(most) {
  model_.source = std::move(source);
  fields_.problems = std::move(problems);
  TomlDocument document = parse_toml(map_);
  root_ = std::move(document.root);
  unreadable_ = std::move(document.unreadable);
  fields_.problems.insert(fields_.problems.end(), document.problems.begin(), document.problems.end());

  // A name may be defined where the file could not be read.
  names_.is_excused = [this](std::string_view name) {
    if (unreadable_.covers("coordinates")) return true;
    const std::string family(name.substr(0, name.find('[')));
    for (const char* section : {"parameters.", "define.", "unknown."})
      if (unreadable_.covers(section + std::string(name)) || unreadable_.covers(section + family)) return true;
    return false;
  };
  names_.is_constraint_excused = [this](std::string_view name) {
    return unreadable_.covers("constraints." + std::string(name)) ||
           unreadable_.covers("constraints." + std::string(name.substr(0, name.find('['))));
  };
  names_.wants_hints = [this] { return !fields_.is_full(); };
  names_.report = [this](const Problem& p) { fields_.report(p.place, p.message, p.hint); };
}

FamilyModel ModelReader::read() {
  if (root_.members.empty() && fields_.problems.empty())
    throw ModelError({{{}, "the file is empty", "a model has at least coordinates = [...] and a section [dynamics]"}},
                     model_.source);
  read_top_level();
  declare_names();
  read_parameters();
  read_coordinates();
  declare_families();
  read_unknowns();
  read_definitions();
  read_dynamics();
  const auto each = [this](const char* name, void (ModelReader::*read_one)(const TomlMember&)) {
    if (const TomlValue* table = section(name))
      for (const TomlMember& m : table->members) (this->*read_one)(m);
  };
  each("constraints", &ModelReader::read_constraint);
  each("actuators", &ModelReader::read_actuator);
  each("control", &ModelReader::read_control);
  each("nominal", &ModelReader::read_nominal);
  if (const auto* nonideal = root_.find("nonideal"); nonideal && section("nonideal"))
    read_by_coordinate(*nonideal, "nonideal", TermKind::nonideal);
  read_measured();
  read_start();
  read_run();
  each("events", &ModelReader::read_event);
  each("outputs", &ModelReader::read_output);
  read_view();

  std::vector<Problem> problems = std::move(fields_.problems);
  for (Problem& p : validate_families(model_, unreadable_)) problems.push_back(std::move(p));
  if (!problems.empty()) throw ModelError(std::move(problems), model_.source);
  return std::move(model_);
}

long ModelReader::count() {
  if (text_.find("..") == std::string::npos || !fields_.problems.empty()) return 0;
  only_sizes_ = true;
  declare_names();
  read_parameters();
  read_coordinates();
  return fields_.problems.empty() ? model_.num_coordinates() : 0;
}

const TomlValue* ModelReader::section(const std::string& name) {
  const TomlMember* field = root_.find(name);
  if (!field) return nullptr;
  model_.places[name] = fields_.place_of(*field);
  const TomlValue* table = fields_.table(*field, "[" + name + "]");
  if (!table) fail(name);
  return table;
}

std::optional<Expr> ModelReader::expression(const TomlValue& value, const std::string& path, Words words,
                                            const std::vector<TermIndex>& indices) {
  names_.begin(indices);
  read_in(value);
  std::optional<Expr> f = fields_.expression(value, names_.scope(words), mechanician::quoted(path));
  if (!names_.check_members()) f = std::nullopt;
  if (!f) fail(path);
  return f;
}

void ModelReader::read_top_level() {
  fields_.check_keys(root_,
                     {"title", "coordinates", "parameters", "define", "dynamics", "constraints", "nonideal", "start",
                      "run", "outputs", "measured", "control", "actuators", "nominal", "unknown", "events", "view"},
                     "at the top of the file");
  // A misspelt section hides what it holds.
  for (const TomlMember& m : std::span(root_.members).first(std::min<std::size_t>(root_.members.size(), 100))) {
    const std::string near = nearest(
        m.name, std::vector<std::string>{"parameters", "define", "unknown", "coordinates", "dynamics", "constraints"});
    if (!near.empty() && near != m.name && !root_.find(near)) fail(near);
  }
  if (const auto* title = root_.find("title"))
    if (const auto* text = fields_.string(*title, "`title`")) model_.title = *text;
}

void ModelReader::declare_names() {
  if (const auto* field = root_.find("coordinates"); field && field->value.type == TomlValue::Type::array)
    for (const TomlValue& item : field->value.items) {
      if (item.type != TomlValue::Type::string) continue;
      if (item.text.find('[') == std::string::npos)
        names_.add(item.text, NameKind::coordinate, coordinate(item.text));
      else
        names_.add_family(std::string(parse_name(item.text).name), {});  // its bounds are made of parameters
    }
  if (const auto* constraints = root_.find("constraints"))
    for (const TomlMember& m : constraints->value.members) names_.add_constraint(m.name);
  if (const TomlValue* table = section("parameters")) {
    for (const TomlMember& m : table->members)
      if (m.value.type != TomlValue::Type::array && m.value.type != TomlValue::Type::table)
        names_.add(m.name, NameKind::parameter, parameter(m.name));
  }
  for (const auto& [name, kind] : {std::pair("define", NameKind::definition), std::pair("unknown", NameKind::unknown)})
    if (const TomlValue* table = section(name)) {
      for (const TomlMember& m : table->members) {
        if (kind != NameKind::definition || m.name.find('[') == std::string::npos)
          names_.add(m.name, kind, std::nullopt);
        else
          names_.add_family(std::string(parse_name(m.name).name), {.kind = kind, .bounds = {}});
      }
    }
}

void ModelReader::read_coordinates() {
  const TomlMember* field = root_.find("coordinates");
  if (!field) return;
  model_.places["coordinates"] = fields_.place_of(*field);
  if (field->value.type != TomlValue::Type::array) {
    fields_.report(field->value, fmt::format("`coordinates` is a list of names, not {}", in_words(field->value.type)),
                   "for example coordinates = [\"x\", \"y\"]");
    return fail("coordinates");
  }
  for (const TomlValue& item : field->value.items) {
    if (item.type != TomlValue::Type::string) {
      fields_.report(item, fmt::format("a coordinate is a name in quotation marks, not {}", in_words(item.type)));
      fail("coordinates");
    } else if (item.text.find('[') != std::string::npos) {
      read_coordinate_family(item);
    } else {
      const auto number = static_cast<int>(model_.coordinates.size());
      model_.members.emplace(item.text, MemberSymbol{coordinate(item.text), number, {}});
      model_.coordinates.push_back({item.text, {}, model_.num_coordinates(), 1, fields_.place_of(item)});
    }
  }
}

void ModelReader::read_coordinate_family(const TomlValue& item) {
  const auto wrong = [&](const ParseProblem& problem) {
    report_in(item, problem);
    fail("coordinates");
  };
  const ParsedName name = parse_name(item.text);
  if (!name.problems.empty()) return wrong(name.problems.front());
  CoordinateFamily family{name.name, {}, model_.num_coordinates(), 1, fields_.place_of(item)};
  double count = 1.0;
  names_.begin();
  for (const ParsedName::Piece& piece : name.indices) {
    const auto range = split_range(piece);
    if (!range)
      return wrong({piece.offset, piece.text.size(), "a family of coordinates is given with its bounds",
                    fmt::format("for example {}[1..N]", name.name)});
    long ends[2];
    for (const bool upper : {false, true}) {
      const ParsedName::Piece& end = upper ? range->second : range->first;
      ParsedExpression f = parse_expression(end.text, names_.scope(Words::parameters));
      if (!f.problems.empty()) {
        f.problems.front().offset += end.offset;
        return wrong(f.problems.front());
      }
      NameTable::Known bound = names_.known(*f.value);
      const double value = bound.value ? IndexValues(model_, {*bound.value}, {})({})[0] : 0.0;
      if (bound.value && (value != std::round(value) || !(std::abs(value) < 1e15)))
        bound = {std::nullopt, not_whole(value)};
      if (!bound.value)
        return wrong({end.offset, end.text.size(),
                      bound.problem.empty()
                          ? ""
                          : fmt::format("a bound of {}: {}", mechanician::quoted(name.name), bound.problem),
                      bound.hint});
      ends[upper] = static_cast<long>(value);
    }
    if (ends[1] < ends[0])
      return wrong({piece.offset,
                    piece.text.size(),
                    fmt::format("the family {} has no members: its bounds are {}..{}", mechanician::quoted(name.name),
                                ends[0], ends[1]),
                    {}});
    family.bounds.push_back({ends[0], ends[1]});
    count *= static_cast<double>(family.bounds.back().count());
  }
  const double all = count + static_cast<double>(model_.num_coordinates());
  if (all > static_cast<double>(most_coordinates_))
    return wrong({0,
                  item.text.size(),
                  fmt::format("the model has {:.0f} coordinates; {} are possible", all, most_coordinates_),
                  {}});
  NameTable::Family* declared = names_.find_family(name.name);
  if (!declared->bounds.empty() || model_.members.contains(name.name))
    return wrong(
        {0, name.name.size(), fmt::format("the coordinate {} is given twice", mechanician::quoted(name.name)), {}});
  declared->bounds = family.bounds, declared->number = static_cast<int>(model_.coordinates.size());
  family.count = static_cast<long>(count);
  model_.coordinates.push_back(std::move(family));
}

/// What indices of constraints and definitions run through.
void ModelReader::declare_families() {
  const auto indexed = [&](const TomlMember& field, NameTable::Family& family) {
    const auto indices = indices_of(field.value);
    if (indices) family.indices = *indices;
    return indices && !indices->empty();
  };
  if (const auto* constraints = root_.find("constraints"))
    for (std::size_t i = 0; i < constraints->value.members.size(); ++i) {
      const TomlMember& m = constraints->value.members[i];
      NameTable::Family family{.kind = NameKind::constraint, .number = static_cast<int>(i), .bounds = {}};
      if (m.value.type != TomlValue::Type::table || !m.value.find("for") || !indexed(m, family)) continue;
      std::vector<Expr> label;
      for (const TermIndex& index : family.indices) label.push_back(index.symbol);
      if (names_.finish_family(family, label)) names_.add_family(m.name, std::move(family));
    }
  if (const auto* define = root_.find("define"))
    for (const TomlMember& m : define->value.members) {
      if (m.name.find('[') == std::string::npos) continue;
      const ParsedName name = parse_name(m.name);
      NameTable::Family* family = names_.find_family(name.name);
      const TomlMember* range = m.value.find("for");
      if (!range || range->value.type != TomlValue::Type::string || !name.problems.empty()) {
        fields_.report(
            m, fmt::format("the definition {} does not say what its index runs over", mechanician::quoted(m.name)),
            fmt::format("write \"{}\" = {{ for = \"i = 1..N\", value = \"...\" }}", printable(m.name)));
        fail("define." + name.name);
        continue;
      }
      if (family->kind != NameKind::definition || !family->bounds.empty()) {
        fields_.report(m, family->kind == NameKind::definition
                              ? fmt::format("the defined name {} is given twice", mechanician::quoted(name.name))
                              : fmt::format("{} stands for two things: a {} and a defined name",
                                            mechanician::quoted(name.name), in_words(family->kind)));
        fail("define." + name.name);
        continue;
      }
      const bool good = indexed(m, *family);
      const auto label = good ? label_of(m, name) : std::nullopt;
      if (label && !names_.finish_family(*family, *label))
        fields_.report(
            m,
            fmt::format("the indices of {} do not tell which of its definitions is meant", mechanician::quoted(m.name)),
            "each is one index of its `for`, times and plus numbers");
      if (!label || family->bounds.empty()) fail("define." + name.name);
    }
}

void ModelReader::read_unknowns() {
  const TomlMember* field = root_.find("unknown");
  if (!field) return;
  for (const TomlMember& m : field->value.members) {
    const std::string path = "unknown." + m.name;
    model_.places[path] = fields_.place_of(m);
    const std::string* text = fields_.string(m, mechanician::quoted(path));
    if (!text) {
      fail(path);
      continue;
    }
    // "t", "x, y, t": what the function depends on.
    std::vector<Expr> depends;
    bool good = true;
    for (std::size_t begin = 0; begin <= text->size();) {
      const std::size_t end = std::min(text->find(',', begin), text->size());
      std::size_t first = std::min(text->find_first_not_of(" \t\n", begin), end), last = end;
      while (last > first && ((*text)[last - 1] == ' ' || (*text)[last - 1] == '\t' || (*text)[last - 1] == '\n'))
        --last;
      const std::string name = text->substr(first, last - first);
      begin = end + 1;
      if (name == "t") {
        depends.push_back(time_symbol());
      } else if (model_.find(name) >= 0) {
        depends.push_back(coordinate(name));
      } else {
        good = false;
        if (unreadable_.covers("coordinates")) continue;
        const std::size_t at = raw_offset(text_, m.value.begin, first);
        fields_.report(at, raw_offset(text_, m.value.begin, last),
                       name.empty() ? "a function depends on something"
                                    : fmt::format("a function depends on t and coordinates, and {} is neither",
                                                  mechanician::quoted(name)),
                       name.empty() ? "for example alpha = \"t\" or alpha = \"x, t\"" : "");
      }
    }
    if (good)
      names_.set_value(m.name, model_.unknowns.emplace_back(unknown_function(m.name, std::move(depends))));
    else
      fail(path);
  }
}

void ModelReader::read_definitions() {
  const TomlMember* field = root_.find("define");
  if (!field) return;
  const auto& members = field->value.members;
  std::unordered_map<std::string_view, int> index;
  // A family is one definition here: r[i] may not be made of r[i - 1].
  for (std::size_t i = 0; i < members.size(); ++i)
    index.emplace(std::string_view(members[i].name).substr(0, members[i].name.find('[')), static_cast<int>(i));

  // Definitions come in any order: which names does each use?
  std::vector<std::vector<int>> needs(members.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    const TomlMember* inner = members[i].value.find("value");
    const TomlValue& value = inner ? inner->value : members[i].value;
    if (value.type != TomlValue::Type::string || value.text.size() > longest_expression) continue;
    Lexer lexer(value.text);
    for (Token token = lexer.next(); token.kind != TokenKind::end && token.kind != TokenKind::error;
         token = lexer.next())
      if (token.kind == TokenKind::name)
        if (const auto found = index.find(token.text); found != index.end()) needs[i].push_back(found->second);
  }
  const DependencyOrder order = dependency_order(needs);
  std::vector<bool> in_cycle(members.size(), false);
  for (const auto& cycle : order.cycles) {
    const auto name_of = [&](int i) { return members[static_cast<std::size_t>(i)].name; };
    const TomlMember& first = members[static_cast<std::size_t>(cycle.front())];
    fields_.report(first.value, fmt::format("{} is defined by itself: {}", mechanician::quoted(first.name),
                                            cycle_text(cycle, name_of)));
    for (const int i : cycle) in_cycle[static_cast<std::size_t>(i)] = true;
  }

  for (const int i : order.order) {
    const TomlMember& field_i = members[static_cast<std::size_t>(i)];
    model_.places["define." + field_i.name.substr(0, field_i.name.find('['))] = fields_.place_of(field_i.value);
    if (in_cycle[static_cast<std::size_t>(i)])
      fail("define." + field_i.name.substr(0, field_i.name.find('[')));
    else
      read_definition(field_i);
  }
}

void ModelReader::read_definition(const TomlMember& field) {
  const ParsedName name = parse_name(field.name);
  const std::string path = "define." + (name.indexed ? name.name : field.name);
  if (unreadable_.covers(path) && name.indexed) return;
  FamilyQuantity definition;
  const TomlValue* value = value_of(field, "define");
  const auto indices = value ? indices_of(field.value) : std::nullopt;
  if (!indices) return fail(path);
  names_.definitions = true;
  const auto f = expression(*value, path, Words::reactions, *indices);
  names_.definitions = false;
  if (!f) return;
  definition.name = name.indexed ? name.name : field.name;
  definition.term.kind = TermKind::quantity;
  definition.term.indices = *indices, definition.term.body = *f, definition.term.place = fields_.place_of(field);
  if (name.indexed) {
    names_.find_family(name.name)->values = {*f};
    definition.label = label_of(field, name).value_or(std::vector<Expr>{});
  } else {
    names_.set_value(field.name, *f);
  }
  model_.definitions.push_back(std::move(definition));
}

}  // namespace mechanician
