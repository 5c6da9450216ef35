#include "mechanician/model/model_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/lexer.hpp"
#include "mechanician/model/dependency_order.hpp"
#include "mechanician/model/validate.hpp"

namespace mechanician {

ModelReader::ModelReader(SourceText source, std::string cleaned, std::vector<Problem> problems,
                         const ParameterOverrides& overrides)
    : text_(std::move(cleaned)), map_(text_), fields_(map_), overrides_(overrides) {
  model_.source = std::move(source);
  fields_.problems = std::move(problems);
}

Model ModelReader::read() {
  TomlDocument document = parse_toml(map_);
  root_ = std::move(document.root);
  unreadable_ = std::move(document.unreadable);
  fields_.problems.insert(fields_.problems.end(), document.problems.begin(), document.problems.end());
  if (root_.members.empty() && fields_.problems.empty())
    throw ModelError({{{}, "the file is empty", "a model has at least coordinates = [...] and a section [dynamics]"}},
                     model_.source);

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

  read_top_level();
  find_sizes();
  read_coordinates();
  declare_names();
  read_parameters();
  read_unknowns();
  read_definitions();
  read_dynamics();
  read_constraints();
  read_controls();
  if (const auto* nonideal = root_.find("nonideal"))
    read_by_coordinate(*nonideal, "nonideal", names_.nonideal_scope(), true);
  read_measured();
  read_start();
  read_run();
  read_events();
  read_outputs();
  read_view();

  std::vector<Problem> problems = std::move(fields_.problems);
  for (Problem& p : validate(model_, unreadable_)) problems.push_back(std::move(p));
  if (!problems.empty()) throw ModelError(std::move(problems), model_.source);
  return std::move(model_);
}

const TomlValue* ModelReader::section(const std::string& name) {
  const TomlMember* field = root_.find(name);
  if (!field) return nullptr;
  model_.places[name] = fields_.place_of(*field);
  const TomlValue* table = fields_.table(*field, "[" + name + "]");
  if (!table) fail(name);
  return table;
}

std::optional<Expr> ModelReader::expression(const TomlValue& value, const std::string& path, const NameScope& scope) {
  std::optional<Expr> f = fields_.expression(value, scope, mechanician::quoted(path));
  if (!f) fail(path);
  return f;
}

void ModelReader::read_top_level() {
  fields_.check_keys(root_,
                     {"title", "coordinates", "parameters", "define", "dynamics", "constraints", "nonideal", "start",
                      "run", "outputs", "measured", "control", "unknown", "events", "view"},
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
      const Expr x = model_.add_coordinate(item.text, fields_.place_of(item));
      names_.add(item.text, NameKind::coordinate, x);
      coordinates_.emplace(item.text, model_.num_coordinates() - 1);
    }
  }
}

void ModelReader::declare_names() {
  if (const auto* constraints = root_.find("constraints"))
    for (const TomlMember& m : constraints->value.members) {
      names_.add_constraint(m.name);
      if (m.value.type == TomlValue::Type::table && m.value.find("for")) declare_constraint_family(m);
    }
  if (const TomlValue* table = section("parameters")) {
    for (const TomlMember& m : table->members)
      if (m.value.type != TomlValue::Type::array && m.value.type != TomlValue::Type::table)
        names_.add(m.name, NameKind::parameter, parameter(m.name));
  }
  for (const auto& [name, kind] : {std::pair("define", NameKind::definition), std::pair("unknown", NameKind::unknown)})
    if (const TomlValue* table = section(name))
      for (const TomlMember& m : table->members) {
        if (kind == NameKind::definition && m.name.find('[') != std::string::npos)
          declare_definition_family(m);
        else
          names_.add(m.name, kind, std::nullopt);
      }
}

void ModelReader::read_parameters() {
  const TomlMember* field = root_.find("parameters");
  if (!field) return;
  const NameScope scope = names_.parameter_scope();
  for (const TomlMember& m : field->value.members) {
    const std::string path = "parameters." + m.name;
    model_.places[path] = fields_.place_of(m.value);
    if (m.value.type == TomlValue::Type::array || m.value.type == TomlValue::Type::table) {
      read_array(m);
      continue;
    }
    model_.add_parameter(m.name, expression(m.value, path, scope).value_or(Expr(1.0)), fields_.place_of(m));
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
      } else if (coordinates_.contains(name)) {
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
      names_.set_value(m.name, model_.add_unknown(m.name, std::move(depends)));
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

  const NameScope scope = names_.nonideal_scope();
  for (const int i : order.order) {
    const TomlMember& field_i = members[static_cast<std::size_t>(i)];
    model_.places["define." + field_i.name] = fields_.place_of(field_i.value);
    if (in_cycle[static_cast<std::size_t>(i)]) {
      fail("define." + field_i.name);
      continue;
    }
    each_member(field_i, "define", [&](const TomlMember& m, const TomlValue& value) {
      const std::string path = "define." + m.name;
      model_.places[path] = fields_.place_of(value);
      const auto f = expression(value, path, scope);
      if (!f) return false;
      names_.set_value(m.name, f);
      model_.definitions.push_back({m.name, *f, fields_.place_of(m)});
      return true;
    });
  }
}

}  // namespace mechanician
