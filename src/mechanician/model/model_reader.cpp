#include "mechanician/model/model_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/family_name.hpp"
#include "mechanician/expression/lexer.hpp"
#include "mechanician/model/bodies.hpp"
#include "mechanician/model/dependency_order.hpp"
#include "mechanician/model/expand_internal.hpp"
#include "mechanician/model/index_values.hpp"
#include "mechanician/model/parts.hpp"
#include "mechanician/model/plain_model.hpp"

namespace mechanician {

namespace {

/// Has an index, as in "x[1..N]"; one between parts of a name, leg[2].knee, belongs to the name.
bool is_family(std::string_view name) { return name.find('[') != std::string_view::npos && !is_name(name); }

/// Sections whose names stand for forces.
constexpr std::array row_sections{std::pair("constraints", ForceName::Of::constraint),
                                  std::pair("control", ForceName::Of::requirement),
                                  std::pair("actuators", ForceName::Of::actuator)};

}  // namespace

ModelReader::ModelReader(SourceText source, std::string cleaned, TomlValue root, Unreadable unreadable,
                         const ParameterOverrides& overrides, long most)
    : text_(std::move(cleaned)),
      map_(text_),
      fields_(map_),
      unreadable_(std::move(unreadable)),
      root_(std::move(root)),
      names_(model_),
      overrides_(overrides),
      most_coordinates_(most) {
  model_.source = std::move(source);
  // A name may be defined where the file could not be read.
  names_.is_excused = [this](std::string_view name) {
    if (unreadable_.covers("coordinates")) return true;
    const std::string family(family_of(name));
    for (const char* section :
         {"parameters.", "inputs.", "states.", "modes.", "define.", "unknown.", "vectors.", "tables."})
      if (unreadable_.covers(section + std::string(name)) || unreadable_.covers(section + family)) return true;
    return false;
  };
  names_.is_constraint_excused = [this](std::string_view name) {
    return unreadable_.covers("constraints." + std::string(name)) ||
           unreadable_.covers("constraints." + std::string(family_of(name)));
  };
  names_.wants_hints = [this] { return !fields_.is_full(); };
  names_.report = [this](const Problem& p) { fields_.report(p.place, p.message, p.hint); };
}

ModelReader::ModelReader(SourceText source, std::string cleaned, std::vector<Problem> problems,
                         const ParameterOverrides& overrides, long most)
    : ModelReader(std::move(source), std::move(cleaned), TomlValue(), Unreadable(), overrides, most) {
  TomlDocument document = parse_toml(map_);
  root_ = std::move(document.root);
  unreadable_ = std::move(document.unreadable);
  fields_.problems = std::move(problems);
  fields_.problems.insert(fields_.problems.end(), document.problems.begin(), document.problems.end());
}

FamilyModel ModelReader::read() {
  if (root_.members.empty() && fields_.problems.empty())
    throw ModelError({{{}, "the file is empty", "a model has at least coordinates = [...] and a section [dynamics]"}},
                     model_.source);
  if (!lower()) throw ModelError(std::move(fields_.problems), model_.source);
  if (overrides_.contains(inputs_opened)) open_inputs();
  read_top_level();
  declare_names();
  read_units();
  read_tables();
  read_parameters();
  read_coordinates();
  declare_states();
  declare_families();
  check_units();
  read_unknowns();
  read_definitions();
  read_dynamics();
  const auto each = [this](const char* name, void (ModelReader::*read_one)(const TomlMember&)) {
    if (const TomlValue* table = section(name))
      for (const TomlMember& m : table->members) (this->*read_one)(m);
  };
  each("constraints", &ModelReader::read_constraint);
  each("states", &ModelReader::read_state);
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
  each("summary", &ModelReader::read_summary);  // last: what it is about is no output for others
  add_promises();

  std::vector<Problem> problems = std::move(fields_.problems);
  for (Problem& p : validate_families(model_, unreadable_)) problems.push_back(std::move(p));
  if (!problems.empty()) throw ModelError(std::move(problems), model_.source);
  return std::move(model_);
}

TomlValue ModelReader::plain() {
  if (!lower() || !fields_.problems.empty()) throw ModelError(std::move(fields_.problems), model_.source);
  for (TomlMember& m : root_.members)
    if (m.name == "parameters")
      for (TomlMember& p : m.value.members)
        if (const auto set = overrides_.find(p.name); set != overrides_.end()) {
          p.value = TomlValue();
          p.value.type = TomlValue::Type::number, p.value.number = set->second;
        }
  return std::move(root_);
}

std::vector<Problem> ModelReader::notes() {
  const TomlMember* world = root_.find("world");
  const bool no_gravity = root_.find("bodies") && !root_.find("parts") && !(world && world->value.find("gravity"));
  if (!lower()) throw ModelError(std::move(fields_.problems), model_.source);
  if (no_gravity) fields_.notes.push_back({{}, "there is no gravity: [world] does not give it", {}});
  return std::move(fields_.notes);
}

bool ModelReader::lower() {
  if (!has_bodies(root_)) return true;
  // Units are those of names of the file; bodies and joints are in SI.
  if (const TomlMember* units = root_.find("units"))
    for (const TomlMember& m : units->value.members)
      for (const char* name : {"bodies", "points", "directions", "joints", "springs", "contacts", "parts"})
        if (const TomlMember* layer = root_.find(name);
            layer && layer->value.find(m.name.substr(0, m.name.find('.')))) {
          fields_.report(m, fmt::format("{} is in SI, as all of bodies and joints", mechanician::quoted(m.name)),
                         "give units to parameters, coordinates, definitions and vectors of the file");
          return false;
        }
  JoinedParts joined;
  const bool parts = root_.find("parts") != nullptr;
  return with_numbers([&](FieldReader& fields, const EvaluateField& evaluate) {
           return write_out_families(root_, fields, evaluate) &&
                  join_parts(root_, model_.source.file, fields, evaluate, joined);
         }) &&
         with_numbers([&](FieldReader& fields, const EvaluateField& evaluate) {
           // What the file says of families of its parts is written out when these are there.
           return (!parts || write_out_families(root_, fields, evaluate)) &&
                  lower_bodies(root_, fields, evaluate, joined, overrides_);
         });
}

TomlValue ModelReader::with_parts(JoinedParts& joined, int depth) {
  const bool parts = root_.find("parts") != nullptr;
  const bool good = with_numbers([&](FieldReader& fields, const EvaluateField& evaluate) {
                      return write_out_families(root_, fields, evaluate) &&
                             join_parts(root_, model_.source.file, fields, evaluate, joined, depth);
                    }) &&
                    (!parts || with_numbers([&](FieldReader& fields, const EvaluateField& evaluate) {
                      return write_out_families(root_, fields, evaluate);
                    }));
  if (!good || !fields_.problems.empty()) throw ModelError(std::move(fields_.problems), model_.source);
  return std::move(root_);
}

bool ModelReader::with_numbers(const WithNumbers& act) {
  ModelReader of_numbers(model_.source, text_, root_, unreadable_, overrides_, most_coordinates_);
  of_numbers.declare_names();
  of_numbers.read_units();
  of_numbers.read_tables();
  of_numbers.read_parameters();
  const std::size_t known = of_numbers.fields_.problems.size();
  const EvaluateField evaluate = [&](const TomlValue& value, const std::string& path) -> std::optional<double> {
    const auto f = of_numbers.expression(value, path, Words::parameters);
    if (!f) return std::nullopt;
    return IndexValues(of_numbers.model_, {*f}, {})({})[0];
  };
  const bool good = act(of_numbers.fields_, evaluate);
  const std::vector<Problem>& problems = of_numbers.fields_.problems;
  fields_.problems.insert(fields_.problems.end(), problems.begin() + static_cast<std::ptrdiff_t>(good ? known : 0),
                          problems.end());
  for (Problem& note : of_numbers.fields_.notes) fields_.notes.push_back(std::move(note));
  return good;
}

long ModelReader::count() {
  if (has_bodies(root_)) return 0;  // they are written out
  if (text_.find("..") == std::string::npos || !fields_.problems.empty()) return 0;
  only_sizes_ = true;
  declare_names();
  read_tables();
  read_parameters();
  read_coordinates();
  declare_states();
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
  fields_.check_keys(root_, {"title",      "coordinates", "parameters", "inputs",    "states",   "modes",   "define",
                             "dynamics",   "constraints", "nonideal",   "start",     "run",      "outputs", "measured",
                             "control",    "unknown",     "events",     "view",      "world",    "bodies",  "points",
                             "directions", "joints",      "springs",    "forces",    "contacts", "parts",   "summary",
                             "vectors",    "units",       "tables",     "actuators", "nominal"},
                     "at the top of the file");
  // A misspelt section hides what it holds.
  for (const TomlMember& m : std::span(root_.members).first(std::min<std::size_t>(root_.members.size(), 100))) {
    const std::string near =
        nearest(m.name, std::vector<std::string>{"parameters", "inputs", "states", "modes", "define", "unknown",
                                                 "coordinates", "dynamics", "constraints", "tables"});
    if (!near.empty() && near != m.name && !root_.find(near)) fail(near);
  }
  if (const auto* title = root_.find("title"))
    if (const auto* text = fields_.string(*title, "`title`")) model_.title = *text;
}

void ModelReader::declare_names() {
  if (const auto* field = root_.find("coordinates"); field && field->value.type == TomlValue::Type::array)
    for (const TomlValue& item : field->value.items) {
      if (item.type != TomlValue::Type::string) continue;
      if (!is_family(item.text))
        names_.add(item.text, NameKind::coordinate, coordinate(item.text));
      else
        names_.add_family(std::string(parse_name(item.text).name), {});  // its bounds are made of parameters
    }
  if (const TomlValue* table = section("states"))
    for (const TomlMember& m : table->members) {
      if (!is_family(m.name))
        names_.add(m.name, NameKind::state, coordinate(m.name));
      else
        names_.add_family(std::string(parse_name(m.name).name), {.kind = NameKind::state, .bounds = {}});
    }
  for (const auto& [name, of] : row_sections)
    if (const auto* rows = root_.find(name))
      for (const TomlMember& m : rows->value.members)
        if (of != ForceName::Of::requirement || m.value.find("equation")) names_.add_row(of, m.name);
  if (const TomlValue* table = section("parameters")) {
    for (const TomlMember& m : table->members)
      if (m.value.type != TomlValue::Type::array && m.value.type != TomlValue::Type::table)
        names_.add(m.name, NameKind::parameter, parameter(m.name));
  }
  if (const TomlValue* table = section("inputs")) {
    for (const TomlMember& m : table->members) {
      if (m.value.type == TomlValue::Type::array || m.value.type == TomlValue::Type::table) continue;
      if (is_number_input(m))
        names_.add(m.name, NameKind::input, parameter(m.name));
      else
        names_.add(m.name, NameKind::definition, std::nullopt);
    }
  }
  if (const TomlValue* table = section("modes"))
    for (const TomlMember& m : table->members) names_.add(m.name, NameKind::parameter, parameter(m.name));
  for (const auto& [name, kind] : {std::pair("define", NameKind::definition), std::pair("unknown", NameKind::unknown),
                                   std::pair("vectors", NameKind::vector)})
    if (const TomlValue* table = section(name)) {
      for (const TomlMember& m : table->members) {
        if (kind == NameKind::unknown || !is_family(m.name))
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
    } else if (is_family(item.text)) {
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
  for (const auto& [section, of] : row_sections) {
    const auto* const rows = root_.find(section);
    for (std::size_t i = 0; rows && i < rows->value.members.size(); ++i) {
      const TomlMember& m = rows->value.members[i];
      NameTable::Family family{.kind = NameKind::constraint, .number = static_cast<int>(i), .bounds = {}};
      if (m.value.type != TomlValue::Type::table || !m.value.find("for") || !indexed(m, family)) continue;
      std::vector<Expr> label;
      for (const TermIndex& index : family.indices) label.push_back(index.symbol);
      if (names_.finish_family(family, label)) names_.add_family(m.name, std::move(family));
    }
  }
  for (const Definition& stated : definitions())
    if (!stated.is_input && is_family(stated.field->name)) declare_family(stated);
}

/// What the indices of a definition or a vector run through.
void ModelReader::declare_family(const Definition& stated) {
  const TomlMember& m = *stated.field;
  const NameKind kind = stated.is_vector ? NameKind::vector : NameKind::definition;
  const std::string what(in_words(kind));
  const ParsedName name = parse_name(m.name);
  const std::string path = fmt::format("{}.{}", stated.section(), name.name);
  NameTable::Family* family = names_.find_family(name.name);
  const TomlMember* range = m.value.find("for");
  if (!range || range->value.type != TomlValue::Type::string || !name.problems.empty()) {
    fields_.report(m,
                   fmt::format("the {} {} does not say what its index runs over",
                               stated.is_vector ? "vector" : "definition", mechanician::quoted(m.name)),
                   fmt::format("write \"{}\" = {{ for = \"i = 1..N\", value = {} }}", printable(m.name),
                               stated.is_vector ? "[\"...\", \"...\"]" : "\"...\""));
    return fail(path);
  }
  if (family->kind != kind || !family->bounds.empty()) {
    fields_.report(m, family->kind == kind
                          ? fmt::format("the {} {} is given twice", what, mechanician::quoted(name.name))
                          : fmt::format("{} stands for two things: a {} and a {}", mechanician::quoted(name.name),
                                        in_words(family->kind), what));
    return fail(path);
  }
  const auto indices = indices_of(m.value);
  if (indices) family->indices = *indices;
  const auto label = indices && !indices->empty() ? label_of(m, name) : std::nullopt;
  if (label && !names_.finish_family(*family, *label))
    fields_.report(
        m, fmt::format("the indices of {} do not tell which of its definitions is meant", mechanician::quoted(m.name)),
        "each is one index of its `for`, times and plus numbers");
  if (!label || family->bounds.empty()) fail(path);
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

std::vector<ModelReader::Definition> ModelReader::definitions() const {
  std::vector<Definition> all;
  for (const bool vectors : {false, true})
    if (const TomlMember* field = root_.find(vectors ? "vectors" : "define"))
      for (const TomlMember& m : field->value.members) all.push_back({&m, vectors});
  if (const TomlMember* inputs = root_.find("inputs"); inputs && inputs->value.type == TomlValue::Type::table)
    for (const TomlMember& m : inputs->value.members)
      if (m.value.type == TomlValue::Type::string && !is_number_input(m)) all.push_back({&m, false, true});
  return all;
}

void ModelReader::read_definitions() {
  const std::vector<Definition> all = definitions();
  for (const Definition& stated : all)
    if (stated.is_input) model_.open_inputs.push_back(stated.field->name);
  std::unordered_map<std::string_view, int> index;
  // A family is one definition here: r[i] may not be made of r[i - 1].
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool fresh = index.emplace(family_of(all[i].field->name), static_cast<int>(i)).second;
    // What is wrong with names of definitions is said with the model, which knows no vectors.
    if (!all[i].is_vector) continue;
    const std::string name(family_of(all[i].field->name));
    if (!is_name(name) || is_reserved(name))
      fields_.report(*all[i].field, fmt::format("{} cannot be the name of a vector", mechanician::quoted(name)),
                     "a name is a letter or _, then letters, digits and _");
    else if (!fresh || (!names_.is_vector(name) && names_.is_known(name)) || model_.find_parameter(name) ||
             model_.find(name) >= 0)
      fields_.report(*all[i].field,
                     fmt::format("{} stands for two things, one of them a vector", mechanician::quoted(name)));
  }

  // Definitions come in any order: which names does each use?
  std::vector<std::vector<int>> needs(all.size());
  const auto add_names = [&](const TomlValue& value, std::vector<int>& to) {
    if (value.type != TomlValue::Type::string || value.text.size() > longest_expression) return;
    Lexer lexer(value.text);
    bool of_row = false;  // what multiplier() and the like take is no definition
    for (Token token = lexer.next(); token.kind != TokenKind::end; token = lexer.next()) {
      const bool skipped = of_row;
      if (!(token.kind == TokenKind::sign && token.text == "("))
        of_row = token.kind == TokenKind::name && (token.text == "multiplier" || token.text == "friction" ||
                                                   token.text == "power" || token.text == "work");
      if (token.kind == TokenKind::error) {
        // r[i].x: the dot belongs to what is before.
        if (token.text != ".") return;
        lexer.seek(token.offset + 1);
        continue;
      }
      if (token.kind != TokenKind::name || skipped) continue;
      for (std::string_view name = token.text;; name = name.substr(0, name.rfind('.'))) {
        if (const auto found = index.find(name); found != index.end()) to.push_back(found->second);
        if (name.find('.') == std::string_view::npos) break;
      }
    }
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    const TomlMember* inner = all[i].field->value.find("value");
    const TomlValue& value = inner ? inner->value : all[i].field->value;
    add_names(value, needs[i]);
    for (const TomlValue& item : value.items) add_names(item, needs[i]);
  }
  const DependencyOrder order = dependency_order(needs);
  std::vector<bool> in_cycle(all.size(), false);
  for (const auto& cycle : order.cycles) {
    const auto name_of = [&](int i) { return all[static_cast<std::size_t>(i)].field->name; };
    const TomlMember& first = *all[static_cast<std::size_t>(cycle.front())].field;
    fields_.report(first.value, fmt::format("{} is defined by itself: {}", mechanician::quoted(first.name),
                                            cycle_text(cycle, name_of)));
    for (const int i : cycle) in_cycle[static_cast<std::size_t>(i)] = true;
  }

  for (const int i : order.order) {
    const Definition& stated = all[static_cast<std::size_t>(i)];
    const std::string path = fmt::format("{}.{}", stated.section(), family_of(stated.field->name));
    model_.places[path] = fields_.place_of(stated.field->value);
    if (in_cycle[static_cast<std::size_t>(i)])
      fail(path);
    else
      read_definition(stated);
  }
}

void ModelReader::read_definition(const Definition& stated) {
  const TomlMember& field = *stated.field;
  const ParsedName name = parse_name(field.name);
  const std::string path = fmt::format("{}.{}", stated.section(), name.indexed ? name.name : field.name);
  if (unreadable_.covers(path) && name.indexed) return;
  const TomlValue* value = value_of(field, stated.section());
  const auto indices = value ? indices_of(field.value) : std::nullopt;
  if (!indices) return fail(path);
  names_.definitions = true;
  names_.begin(*indices);
  read_in(*value);
  auto f = fields_.vector(*value, names_.scope(Words::forces), mechanician::quoted(path));
  if (!names_.check_members()) f = std::nullopt;
  names_.definitions = false;
  if (f && f->size() == 1 && stated.is_vector) {
    fields_.report(*value, fmt::format("{} is a number, and no vector", mechanician::quoted(field.name)),
                   "a vector is a list of two or three, or made of vectors; numbers stand in [define]");
    f = std::nullopt;
  }
  if (f && !stated.is_vector && value->type == TomlValue::Type::array) {
    fields_.report(
        *value,
        fmt::format("{} is a number or an expression in quotation marks, not a list", mechanician::quoted(path)),
        "vectors stand in [vectors]");
    f = std::nullopt;
  }
  if (!f) return fail(path);
  const std::string whole = name.indexed ? name.name : field.name;
  if (names_.units) {
    if (const Measure* given = names_.find_measure(whole))
      expect_measure(*value, *given);
    else
      names_.set_measure(whole, fields_.measure);
  }
  if (name.indexed) {
    NameTable::Family* family = names_.find_family(name.name);
    family->values = *f;
    if (f->size() > 1) family->kind = NameKind::vector;
  } else if (f->size() > 1) {
    names_.set_vector(field.name, *f);
  } else {
    names_.set_value(field.name, f->front());
  }
  if (f->size() > 1) return;  // nothing behind the reader knows vectors
  FamilyQuantity definition;
  definition.name = whole;
  definition.term.kind = TermKind::quantity;
  definition.term.indices = *indices, definition.term.body = f->front();
  definition.term.place = fields_.place_of(field);
  if (name.indexed) definition.label = label_of(field, name).value_or(std::vector<Expr>{});
  model_.definitions.push_back(std::move(definition));
}

}  // namespace mechanician
