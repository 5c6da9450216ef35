#include "mechanician/model/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>

#include "mechanician/base/read_file.hpp"
#include "mechanician/base/text.hpp"
#include "mechanician/expression/lexer.hpp"
#include "mechanician/expression/units.hpp"
#include "mechanician/model/control_section.hpp"
#include "mechanician/model/family_model.hpp"
#include "mechanician/model/inside_folder.hpp"
#include "mechanician/model/parts_control.hpp"
#include "mechanician/model/read_model.hpp"
#include "mechanician/model/source_map.hpp"
#include "mechanician/model/urdf.hpp"

namespace mechanician {

namespace {

constexpr int deepest = 8;

/// Sections whose members have names of their own.
constexpr const char* named_sections[] = {"parameters", "define",     "unknown", "constraints", "control", "bodies",
                                          "points",     "directions", "joints",  "springs",     "forces",  "contacts",
                                          "events",     "outputs",    "states",  "inputs",      "tables",  "modes",
                                          "vectors",    "summary",    "units",   "actuators",   "nominal"};

bool is_named_section(const std::string& name) {
  return std::find(std::begin(named_sections), std::end(named_sections), name) != std::end(named_sections);
}

/// Words that are no expressions.
bool is_word(const std::string& key) {
  for (const char* known : {"type", "frame", "order", "method", "direction", "colour", "csv", "column", "file", "mesh",
                            "argument", "interpolation", "outside", "model"})
    if (key == known) return true;
  return false;
}

/// Meshes are named from the folder of the model that uses the part.
void move_meshes(TomlValue& tree, const std::string& folder) {
  const auto move = [&](TomlValue& table, const char* key) {
    for (TomlMember& m : table.members)
      if (m.name == key && m.value.type == TomlValue::Type::string) m.value.text = folder + "/" + m.value.text;
  };
  for (TomlMember& section : tree.members)
    for (TomlMember& m : section.value.members) {
      if (section.name == "view" && m.name == "meshes")
        for (TomlMember& mesh : m.value.members) move(mesh.value, "file");
      if (section.name == "bodies")
        for (TomlMember& k : m.value.members)
          if (k.name == "shape") move(k.value, "mesh");
    }
}

bool has_names(const std::string& text) {
  Lexer lexer(text);
  for (Token token = lexer.next(); token.kind != TokenKind::end; token = lexer.next())
    if (token.kind == TokenKind::name || token.kind == TokenKind::error) return true;
  return false;
}

/// What is set is read as if it stood in the part: a number is in the unit that the part gives its parameter, what is made of names is in SI.
double factor_of(const std::string& text, const TomlMember& set) {
  if (set.value.type != TomlValue::Type::string || !has_names(set.value.text)) return 1.0;
  const TomlDocument part = parse_toml(SourceMap(text));
  const TomlMember *units = part.root.find("units"), *unit = units ? units->value.find(set.name) : nullptr;
  const ParsedUnit parsed = unit ? parse_unit(unit->value.text) : ParsedUnit();
  return parsed.unit ? parsed.unit->factor : 1.0;
}

std::string with_names(const std::string& text, const std::function<std::string(const std::string&)>& renamed) {
  std::string out;
  std::size_t done = 0;
  Lexer lexer(text);
  for (Token token = lexer.next(); token.kind != TokenKind::end && token.kind != TokenKind::error;
       token = lexer.next()) {
    if (token.kind != TokenKind::name) continue;
    out.append(text, done, token.offset - done);
    out += renamed(std::string(token.text));
    done = token.offset + token.text.size();
  }
  return out + text.substr(done);
}

/// Puts a prefix before the names of a part.
class Prefixing {
 public:
  Prefixing(std::string prefix, const TomlValue& root, std::size_t begin, std::size_t end)
      : prefix_(std::move(prefix)), begin_(begin), end_(end) {
    const auto note = [this](std::string_view name) {
      own_.insert(std::string(name.substr(0, name.find_first_of(".["))));
    };
    for (const TomlMember& m : root.members) {
      if (m.name == "coordinates")
        for (const TomlValue& item : m.value.items) note(item.text);
      if (is_named_section(m.name) && m.name != "units")
        for (const TomlMember& k : m.value.members)
          if (m.name != "control" || !is_control_setting(k)) note(k.name);
      if (m.name == "view")
        if (const TomlMember* points = m.value.find("points"))
          for (const TomlMember& k : points->value.members) note(k.name);
    }
    own_.insert("world");  // world.kinetic, of parts of it
  }

  std::string text(const std::string& text) const {
    return with_names(text, [this](const std::string& name) {
      return own_.contains(name.substr(0, name.find_first_of(".["))) ? prefix_ + "." + name : name;
    });
  }

  /// `names`: are there names in it at all?
  void apply(TomlValue& value, const std::string& key = {}, bool names = true) const {
    value.begin = begin_, value.end = end_;
    if (value.type == TomlValue::Type::string) {
      const bool letter =
          value.text.size() == 1 && value.text[0] >= 'x' && value.text[0] <= 'z' && (key == "axis" || key == "turn");
      if (names && !is_word(key) && !letter) value.text = text(value.text);
      value.generated = true;
    }
    for (TomlMember& m : value.members) {
      m.begin = begin_, m.end = end_;
      // Tables have columns of files, and the m of a unit is no mass.
      apply(m.value, m.name, names && m.name != "tables" && m.name != "units");
    }
    for (TomlValue& item : value.items) apply(item, key, names);
  }

 private:
  std::string prefix_;
  std::size_t begin_, end_;
  std::set<std::string> own_;
};

TomlValue& table_of(TomlValue& in, const std::string& name, const TomlMember& at) {
  for (TomlMember& m : in.members)
    if (m.name == name) return m.value;
  TomlMember member{name, at.begin, at.end, {}};
  member.value.begin = at.begin, member.value.end = at.end;
  in.members.push_back(std::move(member));
  return in.members.back().value;
}

/// The files that are being read in this thread, the whole model first: a part reads its own file to the end before it is joined.
class Reading {
 public:
  explicit Reading(const std::string& file) { files().push_back(canonical(file)); }
  ~Reading() { files().pop_back(); }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

  /// From the file that is a part of itself back to it, as text; empty where it is none.
  static std::string circle(const std::string& file) {
    const std::string name = canonical(file);
    const auto first = std::find(files().begin(), files().end(), name);
    if (first == files().end()) return {};
    std::string text;
    for (auto i = first; i != files().end(); ++i) text += std::filesystem::path(*i).filename().string() + " → ";
    return text + std::filesystem::path(name).filename().string();
  }

 private:
  static std::string canonical(const std::string& file) {
    std::error_code error;
    const auto whole = std::filesystem::weakly_canonical(std::filesystem::absolute(file, error), error);
    return error ? file : whole.string();
  }
  static std::vector<std::string>& files() {
    static thread_local std::vector<std::string> list;
    return list;
  }
};

}  // namespace

bool join_parts(TomlValue& root, const std::string& model_file, FieldReader& fields, const EvaluateField& evaluate,
                JoinedParts& joined, int depth) {
  const auto section =
      std::find_if(root.members.begin(), root.members.end(), [](const TomlMember& m) { return m.name == "parts"; });
  if (section == root.members.end()) return true;
  const TomlMember parts = *section;
  root.members.erase(section);
  if (!fields.table(parts, "[parts]")) return false;
  bool good = true;
  // Equal parts are read and checked once.
  struct Read {
    TomlValue tree;
    JoinedParts inner;
  };
  std::map<std::pair<std::string, ParameterOverrides>, Read> known;
  std::map<std::string, std::string> texts;
  PartsControl control(root);
  const auto wrong = [&](const auto& at, const std::string& message, const std::string& hint = {}) {
    fields.report(at, message, hint);
    good = false;
  };
  for (const TomlMember& part : parts.value.members) {
    const std::string shown = mechanician::quoted(part.name);
    if (part.value.type != TomlValue::Type::table) {
      wrong(part.value, fmt::format("the part {} is a table", shown),
            fmt::format("[parts.{}] and below it model = \"leg.toml\"", printable(part.name)));
      continue;
    }
    fields.check_keys(part.value, {"model", "set", "at", "turned", "start"}, fmt::format("in the part {}", shown));
    const TomlMember *model = part.value.find("model"), *set = part.value.find("set"),
                     *start = part.value.find("start"), *at = part.value.find("at"),
                     *turned = part.value.find("turned");
    if (!model || model->value.type != TomlValue::Type::string) {
      wrong(part, fmt::format("the part {} does not say which model it is", shown), "model = \"leg.toml\"");
      continue;
    }
    if (!is_name(part.name) && !is_name(part.name + ".x")) {
      wrong(part, fmt::format("{} cannot be the name of a part", shown),
            "a name is a letter or _, then letters, digits and _");
      continue;
    }
    if (depth >= deepest) {
      wrong(model->value, fmt::format("parts of parts go deeper than {}: is a model a part of itself?", deepest));
      continue;
    }
    const FileBeside beside = file_beside(model_file, model->value.text, "the file of a part");
    if (!beside.problem.empty() || model->value.text.empty()) {
      wrong(model->value,
            beside.problem.empty() ? fmt::format("the part {} does not say which model it is", shown) : beside.problem,
            beside.problem.empty() ? "model = \"leg.toml\"" : beside.hint);
      continue;
    }
    const std::string& path = beside.path;
    const Reading whole(model_file);
    if (const std::string circle = Reading::circle(path); !circle.empty()) {
      wrong(model->value, fmt::format("the model is a part of itself: {}", circle));
      continue;
    }
    if (!texts.contains(path)) {
      FileText file = read_file(path, largest_file);
      if (!file.problem.empty()) {
        wrong(model->value, fmt::format("{} cannot be read", mechanician::quoted(model->value.text)), file.problem);
        continue;
      }
      texts.emplace(path, is_robot(path) ? import_robot(file.text, path).text : std::move(file.text));
    }
    const std::string& text = texts.at(path);
    // What is wrong with a part is said of its own file.
    ParameterOverrides values;
    if (set)
      for (const TomlMember& m : set->value.members) {
        const auto x = evaluate(m.value, "parts." + part.name + ".set");
        if (x) values.emplace(m.name, *x / factor_of(text, m));
        good = good && x;
      }
    if (!good) continue;
    const auto [read, fresh] = known.try_emplace({path, values});
    if (fresh) {
      if (depth == 0) read_family_model_text(text, path, values);
      read->second.tree = part_tree(text, path, values, read->second.inner, depth + 1);
    }
    TomlValue tree = read->second.tree;
    JoinedParts inner = read->second.inner;
    // CSV files are named from the folder of this model.
    const std::string folder = std::filesystem::path(model->value.text).parent_path().string();
    for (TomlMember& m : tree.members)
      if ((m.name == "parameters" || m.name == "tables") && !folder.empty())
        for (TomlMember& p : m.value.members)
          for (TomlMember& k : p.value.members)
            if (k.name == "csv" || k.name == "file") k.value.text = folder + "/" + k.value.text;
    if (!folder.empty()) move_meshes(tree, folder);
    const Prefixing prefixing(part.name, tree, part.begin, part.end);
    prefixing.apply(tree);
    const std::string prefix = part.name + ".";
    const Rename renamed = [&](const std::string& name) { return prefixing.text(name); };
    for (TomlMember& m : tree.members) {
      if (m.name == "control")
        control.join(root, m.value, shown, renamed,
                     [&](const std::string& message, const std::string& hint) { wrong(part, message, hint); });
      if (m.name == "actuators")
        for (TomlMember& k : m.value.members) rename_coordinates(k.value, renamed);
      if (is_named_section(m.name)) {
        TomlValue& to = table_of(root, m.name, part);
        for (TomlMember& k : m.value.members) {
          k.name = prefix + k.name;
          to.members.push_back(std::move(k));
        }
      } else if (m.name == "coordinates") {
        TomlValue& to = table_of(root, m.name, part);
        to.type = TomlValue::Type::array;
        for (TomlValue& item : m.value.items) to.items.push_back(std::move(item));
      } else if (m.name == "dynamics" || m.name == "start") {
        for (TomlMember& k : m.value.members) {
          if (k.name == "mass") {
            wrong(part, fmt::format("the part {} gives a mass matrix", shown), "a part states its kinetic energy");
          } else if (k.name == "kinetic" || k.name == "potential") {
            const std::string name = prefix + "world." + k.name;
            table_of(root, "define", part).members.push_back({name, part.begin, part.end, std::move(k.value)});
            (k.name == "kinetic" ? joined.kinetic : joined.potential).push_back(name);
          } else if (k.name == "hold") {
            TomlValue& to = table_of(table_of(root, "start", part), "hold", part);
            to.type = TomlValue::Type::array;
            for (TomlValue& item : k.value.items) to.items.push_back(std::move(item));
          } else if (k.value.type == TomlValue::Type::table) {
            TomlValue& to = table_of(table_of(root, m.name, part), k.name, part);
            for (TomlMember& x : k.value.members) {
              x.name = prefixing.text(x.name);
              if (!to.find(x.name)) to.members.push_back(std::move(x));
            }
          }
        }
      } else if (m.name == "nonideal") {
        TomlValue& to = table_of(root, m.name, part);
        for (TomlMember& x : m.value.members) {
          x.name = prefixing.text(x.name);
          to.members.push_back(std::move(x));
        }
      } else if (m.name == "view") {
        for (TomlMember& k : m.value.members) {
          if (k.value.type != TomlValue::Type::table || k.name == "camera") continue;
          TomlValue& to = table_of(table_of(root, "view", part), k.name, part);
          for (TomlMember& x : k.value.members) {
            x.name = prefix + x.name;
            to.members.push_back(std::move(x));
          }
        }
      } else if (m.name == "world") {
        for (TomlMember& k : m.value.members) {
          TomlValue& to = table_of(root, "world", part);
          const TomlMember* own = to.find(k.name);
          if (!own && k.name == "gravity") {
            to.members.push_back(std::move(k));
          } else if (own && k.name == "gravity") {
            bool same = own->value.items.size() == k.value.items.size();
            for (std::size_t i = 0; same && i < k.value.items.size(); ++i)
              same = own->value.items[i].type == k.value.items[i].type &&
                     own->value.items[i].number == k.value.items[i].number &&
                     own->value.items[i].text == k.value.items[i].text;
            if (!same)
              wrong(part, fmt::format("the part {} has another gravity", shown),
                    "there is one world: let the file of the part say the same, or nothing");
          }
        }
      } else if (m.name == "measured") {
        wrong(part, fmt::format("the part {} has a section [measured]", shown),
              "it stands in the file that uses the part");
      }
    }
    for (const auto* names : {&inner.kinetic, &inner.potential})
      for (const std::string& name : *names)
        (names == &inner.kinetic ? joined.kinetic : joined.potential).push_back(prefix + name);
    if (set)
      for (const TomlMember& m : set->value.members) {
        TomlValue& parameters = table_of(root, "parameters", part);
        const auto found = std::find_if(parameters.members.begin(), parameters.members.end(),
                                        [&](const TomlMember& p) { return p.name == prefix + m.name; });
        if (found == parameters.members.end())
          wrong(m, fmt::format("the part {} has no parameter {}", shown, mechanician::quoted(m.name)));
        else
          found->value = m.value;
      }
    if (start)
      for (const TomlMember& m : start->value.members) {
        const bool rate = m.name.ends_with('\'');
        const std::string name = prefix + m.name.substr(0, m.name.size() - (rate ? 1 : 0));
        TomlValue& to = table_of(table_of(root, "start", part), rate ? "velocity" : "position", part);
        std::erase_if(to.members, [&](const TomlMember& x) { return x.name == name; });
        to.members.push_back({name, m.begin, m.end, m.value});
      }
    if (at || turned)
      joined.placed.push_back(
          {part.name, at ? at->value : TomlValue(), turned ? turned->value : TomlValue(), part.begin, part.end});
    for (JoinedParts::Placed& p : inner.placed) {
      p.prefix = prefix + p.prefix, p.begin = part.begin, p.end = part.end;
      prefixing.apply(p.at), prefixing.apply(p.turned);
      joined.placed.push_back(std::move(p));
    }
  }
  return good;
}

}  // namespace mechanician
