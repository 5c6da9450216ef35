// The statements of the plain language, put into the tree of the file. See bodies.hpp.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <unordered_set>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/family_name.hpp"
#include "mechanician/expression/lexer.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/model/bodies_internal.hpp"

namespace mechanician::bodies {

namespace {

template <class Found>
void each_name(const std::string& text, Found found) {
  if (text.size() > longest_expression) return;
  Lexer lexer(text);
  for (Token token = lexer.next(); token.kind != TokenKind::end && token.kind != TokenKind::error; token = lexer.next())
    if (token.kind == TokenKind::name) found(token.text);
}

/// Of a quantity of bodies, joints and springs by the last part of its name; null: none, or not told by it.
const char* unit_of(const std::string& part) {
  static const std::map<std::string, const char*> units{
      {"x", "m"},        {"y", "m"},         {"z", "m"},       {"cx", "m"},       {"cy", "m"},     {"cz", "m"},
      {"wx", "1/s"},     {"wy", "1/s"},      {"wz", "1/s"},    {"Wx", "1/s"},     {"Wy", "1/s"},   {"Wz", "1/s"},
      {"fx", "N"},       {"fy", "N"},        {"fz", "N"},      {"tx", "N*m"},     {"ty", "N*m"},   {"tz", "N*m"},
      {"distance", "m"}, {"distance2", "m"}, {"angle", "rad"}, {"angle2", "rad"}, {"length", "m"}, {"tension", "N"},
      {"kinetic", "J"},  {"potential", "J"}};
  const auto found = units.find(part);
  return found == units.end() ? nullptr : found->second;
}

}  // namespace

void Layer::note_names(const TomlValue& value) {
  if (value.type == TomlValue::Type::string)
    each_name(value.text, [this](std::string_view name) { mentioned_.emplace(name); });
  for (const TomlMember& m : value.members) {
    mentioned_.insert(m.name.substr(0, m.name.find('\'')));
    note_names(m.value);
  }
  for (const TomlValue& item : value.items) note_names(item);
}

Formula Layer::define(const std::string& name, const Formula& f, Span span) {
  definitions_.push_back({name, f.str(), span});
  return f.is_number() ? f : Formula(f.value, name, 3, f.moves);
}

Vector Layer::define(const std::string& name, const Vector& v, Span span) {
  Vector names;
  for (const int k : {0, 1, 2})
    names[static_cast<std::size_t>(k)] = define(component(name, k), v[static_cast<std::size_t>(k)], span);
  return names;
}

Formula Layer::shorten(const std::string& name, const Formula& f, Span span) {
  constexpr std::size_t short_enough = 32;
  if (f.is_number() || f.moves || f.text.size() <= short_enough) return f;
  short_names_.insert(name);
  return define(name, f, span);
}

void Layer::shorten(const std::string& name, Vector& v, Span span) {
  for (const int k : {0, 1, 2}) {
    Formula& f = v[static_cast<std::size_t>(k)];
    f = shorten(component(name, k), f, span);
  }
}

void Layer::shorten(const std::string& name, Matrix& A, Span span) {
  for (const int i : {0, 1, 2}) shorten(fmt::format("{}.row{}", name, i + 1), A[static_cast<std::size_t>(i)], span);
}

void Layer::define_as_written(const std::string& name, const TomlValue& value) {
  Statement s{
      name, value.type == TomlValue::Type::string ? value.text : std::string(), {value.begin, value.end}, &value};
  definitions_.push_back(std::move(s));
}

void Layer::add_coordinate(const std::string& name, const Formula& start, const Formula& start_rate, Span span) {
  coordinates_.push_back({name, {}, span});
  if (!start.is_zero()) positions_.push_back({name, start.str(), span});
  if (!start_rate.is_zero()) velocities_.push_back({name, start_rate.str(), span});
}

void Layer::add_force(const std::string& coordinate, const Formula& f, Span span) {
  if (f.is_zero()) return;
  const auto [at, fresh] = forces_.emplace(coordinate, Statement{coordinate, f.str(), span});
  if (!fresh) at->second.text = (Formula(0.0, at->second.text, 1, true) + f).str();
}

TomlValue Layer::text_value(std::string text, Span span) const {
  TomlValue value;
  value.type = TomlValue::Type::string, value.begin = span.begin, value.end = span.end;
  value.text = std::move(text), value.generated = true;
  return value;
}

TomlValue& Layer::table_of(TomlValue& in, const std::string& name, Span span) {
  for (TomlMember& m : in.members)
    if (m.name == name) return m.value;
  TomlMember member{name, span.begin, span.end, {}};
  member.value.begin = span.begin, member.value.end = span.end;
  in.members.push_back(std::move(member));
  return in.members.back().value;
}

/// Coordinates of joints begin at zero, and in a loop the rounding of its constraints is all that there is of them at first. What they
/// count against there is what bodies by themselves have: a turn of one, a way as long as the mechanism is large.
void Layer::put_scales(Span span) {
  bool loops = root_.find("constraints") != nullptr;
  for (const Joint& j : joints_) loops = loops || !j.in_tree;
  if (!loops) return;
  double size = 0.0;
  for (const Body& b : bodies_)
    for (const Formula& f : b.at) size = std::max(size, std::abs(f.value));
  for (const Joint& j : joints_)
    for (const Vector* r : {&j.r1, &j.r2}) size = std::max(size, norm(*r).value);
  for (const Joint& j : joints_)
    for (const JointCoordinate& c : j.coordinates) {
      if (!c.used || !j.in_tree || (!c.turns && !(size > 0.0))) continue;
      TomlValue& run = table_of(root_, "run", span);
      if (const TomlMember* given = run.find("scale"); given && given->value.type != TomlValue::Type::table) return;
      TomlValue& scale = table_of(run, "scale", span);
      if (scale.find(c.name)) continue;
      TomlMember m{c.name, j.span.begin, j.span.end, {}};
      m.value.type = TomlValue::Type::number, m.value.begin = j.span.begin, m.value.end = j.span.end;
      m.value.number = c.turns ? 1.0 : size;
      scale.members.push_back(std::move(m));
    }
}

/// mass = { s = 6 } of own coordinates, beside bodies that have a kinetic energy: 6/2 s'².
void Layer::masses_as_energy(Span span) {
  TomlValue& dynamics = table_of(root_, "dynamics", span);
  const auto mass =
      std::find_if(dynamics.members.begin(), dynamics.members.end(), [](const auto& m) { return m.name == "mass"; });
  if (mass == dynamics.members.end()) return;
  constexpr const char* instead = "give the kinetic energy of own coordinates beside bodies: kinetic = \"6/2*s'^2\"";
  if (mass->value.type != TomlValue::Type::table)
    return report(*mass, "beside bodies there is no mass matrix of all coordinates", instead);
  std::string text;
  for (const TomlMember& m : mass->value.members) {
    const TomlMember *range = m.value.find("for"), *own = m.value.find("value");
    const TomlValue& value = range && own ? own->value : m.value;
    const bool number = value.type == TomlValue::Type::number;
    // Where a mass depends on where things are, its matrix alone leaves out what a kinetic energy has.
    bool varies = !number && value.type != TomlValue::Type::string;
    each_name(value.text, [&](std::string_view token) {
      const std::string name(token);
      for (const char* section : {"define", "states", "tables"})
        if (const TomlMember* found = root_.find(section); found && found->value.find(name)) varies = true;
      if (const TomlMember* found = root_.find("coordinates"))
        for (const TomlValue& item : found->value.items) varies |= family_of(item.text) == family_of(name);
      varies |= name == "t";
    });
    if (varies) {
      report(m.value, fmt::format("the mass of {} is not made of parameters alone", mechanician::quoted(m.name)),
             instead);
      continue;
    }
    const std::string term = fmt::format("({})/2*{}'^2", number ? number_text(value.number) : value.text, m.name);
    text += (text.empty() ? "" : " + ") + (range ? fmt::format("sum({}, {})", range->value.text, term) : term);
  }
  const Span at{mass->value.begin, mass->value.end};
  dynamics.members.erase(mass);
  if (text.empty()) return;
  table_of(root_, "define", span).members.push_back({"world.mass", at.begin, at.end, text_value(text, at)});
  kinetic_.push_back("world.mass");
}

void Layer::put_statements() {
  const TomlMember* section = nullptr;
  for (const char* name : {"world", "bodies", "joints", "points", "forces"})
    if (!section) section = root_.find(name);
  const Span span = section ? Span{section->begin, section->end} : Span{};

  // Definitions that something asks for, by whatever way.
  std::unordered_map<std::string_view, const Statement*> by_name;
  for (const Statement& d : definitions_) by_name.emplace(d.name, &d);
  std::unordered_set<std::string_view> wanted;
  std::vector<std::string_view> open;
  const auto want = [&](std::string_view name) {
    if (wanted.insert(name).second) open.push_back(name);
  };
  const auto ask = [&](const std::string& text) { each_name(text, want); };
  for (const std::string& name : mentioned_) want(name);
  for (const auto* names : {&kinetic_, &potential_})
    for (const std::string& name : *names) want(name);
  for (const Statement& c : constraints_) {
    ask(c.text);
    for (const auto& part : c.parts) {
      ask(part.second.text);
      for (const TomlValue& item : part.second.items) ask(item.text);
    }
  }
  for (const auto& [name, f] : forces_) ask(f.text);
  for (const auto* values : {&positions_, &velocities_})
    for (const Statement& s : *values) ask(s.text);
  const std::function<void(const TomlValue&)> ask_all = [&](const TomlValue& value) {
    if (value.type == TomlValue::Type::string) ask(value.text);
    for (const TomlValue& item : value.items) ask_all(item);
    for (const TomlMember& m : value.members) ask_all(m.value);
  };
  ask_all(view_);
  // Reactions, where every one of them is known.
  for (const Joint& j : joints_) {
    const auto want_of = [&](const std::string& name) {
      if (const auto found = by_name.find(name); found != by_name.end()) want(found->first);
    };
    if (!by_itself_ && !j.asked) continue;
    for (const char* part : {"fx", "fy", "fz", "tx", "ty", "tz"}) want_of(j.name + "." + part);
    for (const char* part : {"drive", "limit"}) {
      want_of(j.name + "." + part);
      for (const JointCoordinate& c : j.coordinates) want_of(c.name + "." + part);
    }
  }
  while (!open.empty()) {
    const std::string_view name = open.back();
    open.pop_back();
    if (const auto found = by_name.find(name); found != by_name.end()) ask(found->second->text);
  }

  const auto member = [&](const Statement& s) {
    TomlMember m{s.name, s.span.begin, s.span.end, s.as_written ? *s.as_written : text_value(s.text, s.span)};
    return m;
  };
  std::vector<TomlMember> definitions;
  for (const Statement& d : definitions_)
    if (wanted.contains(d.name)) definitions.push_back(member(d));
  std::vector<TomlMember> constraints;
  for (const Statement& c : constraints_) {
    TomlMember m = member(c);
    if (!c.parts.empty()) {
      TomlValue table;
      table.begin = c.span.begin, table.end = c.span.end;
      table.members.push_back({"equation", c.span.begin, c.span.end, m.value});
      for (const auto& [key, value] : c.parts) table.members.push_back({key, value.begin, value.end, value});
      m.value = std::move(table);
    }
    constraints.push_back(std::move(m));
  }

  std::erase_if(root_.members, [](const TomlMember& m) {
    for (const char* name : {"world", "bodies", "points", "directions", "joints", "springs", "forces", "contacts"})
      if (m.name == name) return true;
    return false;
  });
  if (!root_.find("coordinates")) {
    TomlMember m{"coordinates", span.begin, span.end, {}};
    m.value.type = TomlValue::Type::array, m.value.begin = span.begin, m.value.end = span.end;
    root_.members.insert(root_.members.begin(), std::move(m));
  }
  for (TomlMember& m : root_.members)
    if (m.name == "coordinates" && m.value.type == TomlValue::Type::array)
      for (const Statement& c : coordinates_) m.value.items.push_back(text_value(c.name, c.span));

  if (root_.find("units")) {
    std::set<std::string> plain;
    for (const Mark& m : directions_) plain.insert(m.name);
    const auto add = [&](const Statement& s) {
      const std::size_t dot = s.name.rfind('.');
      const auto own = own_units_.find(s.name);
      const char* unit = own != own_units_.end() ? own->second
                         : dot == std::string::npos || plain.contains(s.name.substr(0, dot))
                             ? nullptr
                             : unit_of(s.name.substr(dot + 1));
      if (unit && family_of(s.name) == s.name)
        table_of(root_, "units", span).members.push_back({s.name, s.span.begin, s.span.end, text_value(unit, s.span)});
    };
    for (const Statement& c : coordinates_) add(c);
    for (const Statement& d : definitions_)
      if (wanted.contains(d.name) && !short_names_.contains(d.name)) add(d);
  }

  TomlValue& define_table = table_of(root_, "define", span);
  for (TomlMember& m : definitions) define_table.members.push_back(std::move(m));

  // Energies: those of the file and those of the bodies, each under its name.
  const auto sum = [&](const char* key, const std::vector<std::string>& names) {
    if (names.empty()) return;
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : " + ") + name;
    TomlValue& dynamics = table_of(root_, "dynamics", span);
    Span at = span;
    for (TomlMember& m : dynamics.members)
      if (m.name == key) {
        const std::string own = std::string("world.") + key;
        at = {m.value.begin, m.value.end};
        table_of(root_, "define", span).members.push_back({own, m.begin, m.end, m.value});
        text = own + " + " + text;
      }
    table_of(table_of(root_, "dynamics", span), key, span) = text_value(text, at);
  };
  if (!kinetic_.empty()) masses_as_energy(span);
  sum("kinetic", kinetic_);
  sum("potential", potential_);
  std::unordered_map<std::string, std::size_t> given_forces;
  if (const TomlMember* dynamics = root_.find("dynamics"))
    if (const TomlMember* table = dynamics->value.find("force"))
      for (std::size_t i = 0; i < table->value.members.size(); ++i)
        given_forces.emplace(table->value.members[i].name, i);
  for (auto& [name, f] : forces_) {
    TomlValue& table = table_of(table_of(root_, "dynamics", span), "force", f.span);
    std::string text = f.text;
    const auto found = given_forces.find(name);
    const auto given = found == given_forces.end() ? table.members.end()
                                                   : table.members.begin() + static_cast<std::ptrdiff_t>(found->second);
    if (given == table.members.end()) {
      table.members.push_back({name, f.span.begin, f.span.end, text_value(text, f.span)});
      continue;
    }
    const std::string own = "world.force." + name;
    TomlValue as_written = given->value;
    given->value = text_value((named(own) + Formula(0.0, text, 1, true)).str(), {as_written.begin, as_written.end});
    table_of(root_, "define", span).members.push_back({own, f.span.begin, f.span.end, std::move(as_written)});
  }
  if (!constraints.empty()) {
    // In front of those of the file, as the joints stand before what is said of them.
    TomlValue& table = table_of(root_, "constraints", span);
    table.members.insert(table.members.begin(), std::make_move_iterator(constraints.begin()),
                         std::make_move_iterator(constraints.end()));
  }
  for (const std::string& name : held()) {
    TomlValue& hold = table_of(table_of(root_, "start", span), "hold", span);
    hold.type = TomlValue::Type::array;
    hold.items.push_back(text_value(name, span));
  }
  for (const Statement& p : parameters_)
    if (wanted.contains(p.name) || overrides_.contains(p.name))
      table_of(root_, "parameters", span).members.push_back(member(p));
  put_scales(span);
  for (TomlMember& kind : view_.members) {
    TomlValue& items = table_of(table_of(root_, "view", span), kind.name, span);
    items.members.insert(items.members.end(), std::make_move_iterator(kind.value.members.begin()),
                         std::make_move_iterator(kind.value.members.end()));
  }
  const TomlMember* start = root_.find("start");
  const bool elsewhere = start && start->value.find("from");  // the start is that of a result
  for (const bool rate : {false, true}) {
    if (elsewhere) break;
    const std::vector<Statement>& values = rate ? velocities_ : positions_;
    if (values.empty()) continue;
    TomlValue& table = table_of(table_of(root_, "start", span), rate ? "velocity" : "position", span);
    std::unordered_set<std::string> given;
    for (const TomlMember& m : table.members) given.insert(m.name);
    for (const Statement& s : values)
      if (!given.contains(s.name)) table.members.push_back(member(s));
  }
}

}  // namespace mechanician::bodies
