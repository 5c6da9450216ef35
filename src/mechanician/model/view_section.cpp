#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "mechanician/base/text.hpp"
#include "mechanician/model/model_reader.hpp"
#include "mechanician/model/parameters.hpp"
#include "mechanician/model/view.hpp"

namespace mechanician {

namespace {

constexpr std::size_t most_items = 20'000;
constexpr KindSet of_parameters = kind_bit(SymbolKind::parameter);

/// A product of turns p then, about the axes as turned by p, r.
std::vector<Expr> quaternion_product(const std::vector<Expr>& p, const std::vector<Expr>& r) {
  return {p[0] * r[0] - p[1] * r[1] - p[2] * r[2] - p[3] * r[3], p[0] * r[1] + p[1] * r[0] + p[2] * r[3] - p[3] * r[2],
          p[0] * r[2] - p[1] * r[3] + p[2] * r[0] + p[3] * r[1], p[0] * r[3] + p[1] * r[2] - p[2] * r[1] + p[3] * r[0]};
}

std::vector<Expr> turn_about(int axis, const Expr& angle) {
  std::vector<Expr> q(4, Expr(0.0));
  q[0] = cos(angle / 2.0);
  q[static_cast<std::size_t>(axis) + 1] = sin(angle / 2.0);
  return q;
}

class ViewReader {
 public:
  ViewReader(FieldReader& fields, NameTable& names, NameScope scope,
             const std::unordered_map<std::string, int>& coordinates)
      : fields_(fields), names_(names), scope_(std::move(scope)), coordinates_(coordinates) {}

  View read(const TomlValue& table) {
    fields_.check_keys(table,
                       {"points", "lines", "rods", "springs", "discs", "spheres", "boxes", "ground", "traces", "arrows",
                        "camera", "forces"},
                       "in [view]");
    // Points first: the others name them.
    each(table, "points", [&](const TomlMember& m) { read_point(m); });
    each(table, "ground", [&](const TomlMember& m) { read_ground(m); });
    each(table, "lines", [&](const TomlMember& m) { read_line(m); });
    each(table, "rods", [&](const TomlMember& m) { read_pair(m, ViewKind::rod); });
    each(table, "springs", [&](const TomlMember& m) { read_pair(m, ViewKind::spring); });
    each(table, "discs", [&](const TomlMember& m) { read_body(m, ViewKind::disc); });
    each(table, "spheres", [&](const TomlMember& m) { read_body(m, ViewKind::sphere); });
    each(table, "boxes", [&](const TomlMember& m) { read_body(m, ViewKind::box); });
    each(table, "traces", [&](const TomlMember& m) { read_trace(m); });
    each(table, "arrows", [&](const TomlMember& m) { read_arrow(m); });
    if (const TomlMember* m = table.find("camera")) read_camera(*m);
    if (const TomlMember* m = table.find("forces")) view_.forces = truth(*m);
    return std::move(view_);
  }

 private:
  template <class F>
  void each(const TomlValue& table, const char* section, const F& read_one) {
    const TomlMember* field = table.find(section);
    const TomlValue* members = field ? fields_.table(*field, fmt::format("[view.{}]", section)) : nullptr;
    if (!members) return;
    section_ = section;
    for (const TomlMember& m : members->members) {
      if (view_.items.size() >= most_items) {
        fields_.report(m, fmt::format("a picture has at most {} parts", most_items));
        return;
      }
      each_index(m, read_one);
    }
  }

  /// Once; or for every index of a family: balls with `for` are balls[1], balls[2], …
  template <class F>
  void each_index(const TomlMember& m, const F& read_one) {
    const TomlMember* range = m.value.type == TomlValue::Type::table ? m.value.find("for") : nullptr;
    if (!range) return read_one(m);
    const std::string* text = fields_.string(*range, "`for`");
    if (!text) return;
    const ParsedRanges parsed = parse_ranges(*text);
    for (const ParseProblem& p : parsed.problems) fields_.report(range->value, p.message, p.hint);
    if (!parsed.problems.empty()) return;
    TomlMember member = m;
    std::erase_if(member.value.members, [](const TomlMember& field) { return field.name == "for"; });
    const std::size_t problems = fields_.problems.size();
    const auto problem = names_.for_each(parsed.ranges, names_.parameter_scope(), 500, [&] {
      std::string indices;
      for (const auto& [index, value] : names_.bound())
        indices += fmt::format("{}{}", indices.empty() ? "" : ",", value);
      member.name = fmt::format("{}[{}]", m.name, indices);
      read_one(member);
      return fields_.problems.size() == problems && view_.items.size() < most_items;
    });
    if (problem) fields_.report(range->value, problem->message, problem->hint);
  }

  /// "p[i - 1]" as it is called now, and "p[1..N]" as the names of all these; others as they are.
  std::vector<std::string> names_of(const TomlValue& value) {
    const ParsedName name = parse_name(value.text);
    if (!name.indexed || !name.problems.empty()) return {value.text};
    std::vector<std::string> texts{""};
    for (const ParsedName::Piece& piece : name.indices) {
      const auto range = split_range(piece);
      long ends[2];
      for (const bool upper : {false, true}) {
        const ParsedExpression f = parse_expression(range ? upper ? range->second.text : range->first.text : piece.text,
                                                    names_.parameter_scope());
        const NameTable::Whole whole = f.value ? names_.whole_number(*f.value) : NameTable::Whole{};
        if (!whole.value) return {value.text};
        ends[upper] = *whole.value;
      }
      std::vector<std::string> more;
      for (const std::string& begun : texts)
        for (long i = ends[0]; i <= ends[1] && more.size() < most_items; ++i)
          more.push_back(fmt::format("{}{}{}", begun, begun.empty() ? "" : ",", i));
      texts = std::move(more);
    }
    for (std::string& text : texts) text = fmt::format("{}[{}]", name.name, text);
    return texts;
  }

  ViewItem begin(const TomlMember& m, ViewKind kind) const {
    ViewItem item;
    item.kind = kind;
    item.name = m.name;
    item.place = fields_.place_of(m);
    return item;
  }
  std::string path(const TomlMember& m) const { return mechanician::quoted("view." + section_ + "." + m.name); }

  std::optional<Expr> number(const TomlValue& value, const std::string& what) {
    return fields_.expression(value, scope_, what);
  }
  void number(const TomlValue& table, const char* key, const std::string& what, Expr& to) {
    if (const TomlMember* m = table.find(key))
      if (const auto f = number(m->value, what + " " + key)) to = *f;
  }

  /// Two or three expressions.
  std::optional<ViewVector> vector(const TomlValue& value, const std::string& what, bool counts = true) {
    if (value.type != TomlValue::Type::array || value.items.size() < 2 || value.items.size() > 3) {
      fields_.report(value, fmt::format("{} has two or three components", what), "for example [\"x\", \"y\"]");
      return std::nullopt;
    }
    ViewVector v{Expr(0.0), Expr(0.0), Expr(0.0)};
    bool good = true;
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      const auto f = number(value.items[i], what);
      good = good && f;
      if (f) v[i] = *f;
    }
    if (counts && value.items.size() == 3) view_.dimension = 3;
    return good ? std::optional(v) : std::nullopt;
  }

  /// The name of a point, or its components.
  std::optional<ViewVector> place(const TomlValue& value, const std::string& what) {
    if (value.type != TomlValue::Type::string) return vector(value, what);
    const std::vector<std::string> meant = names_of(value);
    const auto found = points_.find(meant.size() == 1 ? meant.front() : value.text);
    if (found != points_.end()) return found->second;
    std::vector<std::string> names;
    for (const auto& [name, point] : points_) names.push_back(name);
    const std::string near = nearest(value.text, names);
    fields_.report(value, fmt::format("{} names no point: {}", what, mechanician::quoted(value.text)),
                   near.empty() ? "points are named in [view.points]; or give components, as in [\"x\", \"y\"]"
                                : fmt::format("did you mean {}?", mechanician::quoted(near)));
    return std::nullopt;
  }
  /// A field that must be there.
  std::optional<ViewVector> place(const TomlMember& m, const char* key) {
    const TomlMember* field = m.value.find(key);
    if (field) return place(field->value, path(m) + " " + key);
    fields_.report(m, fmt::format("{} has no `{}`", path(m), key), fmt::format("as in {} = [\"x\", \"y\"]", key));
    return std::nullopt;
  }

  bool truth(const TomlMember& m) {
    if (m.value.type == TomlValue::Type::boolean) return m.value.number != 0.0;
    fields_.report(m.value,
                   fmt::format("{} is true or false, not {}", mechanician::quoted(m.name), in_words(m.value.type)));
    return false;
  }

  void colour(const TomlMember& m, ViewItem& item) {
    const TomlMember* field = m.value.find("colour");
    const std::string* text = field ? fields_.string(*field, "`colour`") : nullptr;
    if (!text) return;
    const auto& known = view_colours();
    const bool hex = text->size() == 7 && (*text)[0] == '#' &&
                     text->find_first_not_of("0123456789abcdefABCDEF", 1) == std::string::npos;
    if (hex || std::find(known.begin(), known.end(), *text) != known.end())
      item.colour = *text;
    else
      fields_.report(field->value, fmt::format("{} is no colour", mechanician::quoted(*text)),
                     fmt::format("it is {} or \"#rrggbb\"", fmt::join(known, ", ")));
  }

  bool is_table(const TomlMember& m) { return m.value.type == TomlValue::Type::table; }
  const TomlValue* table(const TomlMember& m, std::initializer_list<std::string_view> keys) {
    const TomlValue* t = fields_.table(m, path(m));
    if (t) fields_.check_keys(*t, keys, "in " + path(m));
    return t;
  }

  void read_point(const TomlMember& m) {
    ViewItem item = begin(m, ViewKind::point);
    std::optional<ViewVector> at;
    if (is_table(m)) {
      fields_.check_keys(m.value, {"at", "radius", "colour"}, "in " + path(m));
      at = place(m, "at");
      number(m.value, "radius", path(m), item.radius);
      colour(m, item);
    } else {
      at = vector(m.value, path(m));
    }
    // A point that cannot be read is still a name.
    points_.emplace(m.name, at.value_or(ViewVector{Expr(0.0), Expr(0.0), Expr(0.0)}));
    if (!at) return;
    item.points = {*at};
    view_.items.push_back(std::move(item));
  }

  void read_line(const TomlMember& m) {
    ViewItem item = begin(m, ViewKind::line);
    const TomlValue* corners = &m.value;
    if (is_table(m)) {
      fields_.check_keys(m.value, {"through", "closed", "dashed", "colour"}, "in " + path(m));
      const TomlMember* through = m.value.find("through");
      if (!through) {
        fields_.report(m, fmt::format("{} has no `through`", path(m)), "as in through = [\"a\", \"b\", \"c\"]");
        return;
      }
      corners = &through->value;
      if (const auto* f = m.value.find("closed")) item.closed = truth(*f);
      if (const auto* f = m.value.find("dashed")) item.dashed = truth(*f);
      colour(m, item);
    }
    const auto is_range = [](const TomlValue& v) {
      return v.type == TomlValue::Type::string && v.text.find("..") != std::string::npos;
    };
    if (corners->type != TomlValue::Type::array ||
        (corners->items.size() < 2 && std::none_of(corners->items.begin(), corners->items.end(), is_range))) {
      fields_.report(*corners, fmt::format("{} is a list of at least two points", path(m)),
                     "as in [\"a\", \"b\", [\"x\", \"0\"]]");
      return;
    }
    bool good = true;
    for (const TomlValue& corner : corners->items) {
      std::vector<TomlValue> places{corner};
      if (is_range(corner)) {  // all members in turn
        const std::vector<std::string> names = names_of(corner);
        places.assign(names.size(), corner);
        for (std::size_t k = 0; k < names.size(); ++k) places[k].text = names[k];
      }
      for (const TomlValue& one : places) {
        const auto p = good ? place(one, path(m)) : std::nullopt;
        good = good && p;
        if (p) item.points.push_back(*p);
      }
    }
    if (good) view_.items.push_back(std::move(item));
  }

  void read_pair(const TomlMember& m, ViewKind kind) {
    ViewItem item = begin(m, kind);
    std::optional<ViewVector> from, to;
    if (m.value.type == TomlValue::Type::array && m.value.items.size() == 2) {
      from = place(m.value.items[0], path(m));
      to = place(m.value.items[1], path(m));
    } else {
      const TomlValue* t = kind == ViewKind::rod ? table(m, {"from", "to", "radius", "colour"})
                                                 : table(m, {"from", "to", "radius", "turns", "colour"});
      if (!t) return;
      from = place(m, "from");
      to = place(m, "to");
      number(*t, "radius", path(m), item.radius);
      if (const auto* turns = t->find("turns")) {
        if (turns->value.type == TomlValue::Type::number && turns->value.number >= 1 && turns->value.number <= 100)
          item.turns = static_cast<int>(std::lround(turns->value.number));
        else
          fields_.report(turns->value, "the turns of a spring are a number from 1 to 100");
      }
      colour(m, item);
    }
    if (!from || !to) return;
    item.points = {*from, *to};
    view_.items.push_back(std::move(item));
  }

  void read_body(const TomlMember& m, ViewKind kind) {
    ViewItem item = begin(m, kind);
    const TomlValue* t = kind == ViewKind::disc ? table(m, {"at", "radius", "thickness", "hollow", "colour", "angle",
                                                            "turn", "quaternion", "axes", "normal"})
                         : kind == ViewKind::sphere
                             ? table(m, {"at", "radius", "colour", "angle", "turn", "quaternion", "axes", "normal"})
                             : table(m, {"at", "size", "colour", "angle", "turn", "quaternion", "axes", "normal"});
    if (!t) return;
    const auto at = place(m, "at");
    number(*t, "radius", path(m), item.radius);
    number(*t, "thickness", path(m), item.thickness);
    if (const auto* size = t->find("size"))
      if (const auto v = vector(size->value, path(m) + " size", false)) item.vector = *v;
    if (const auto* hollow = t->find("hollow")) item.hollow = truth(*hollow);
    if (kind == ViewKind::box && !t->find("size"))
      fields_.report(m, fmt::format("{} has no `size`", path(m)), "as in size = [0.4, 0.2] or [0.4, 0.2, 0.1]");
    colour(m, item);
    read_turn(m, item.turn);
    if (!at) return;
    item.points = {*at};
    view_.items.push_back(std::move(item));
  }

  void read_turn(const TomlMember& m, ViewTurn& turn) {
    int count = 0;
    for (const char* key : {"angle", "turn", "quaternion", "axes", "normal"}) {
      const TomlMember* field = m.value.find(key);
      if (!field) continue;
      if (++count > 1) {
        fields_.report(*field, fmt::format("{} is turned in two ways", path(m)),
                       "give one of angle, turn, quaternion, axes, normal");
        return;
      }
      const std::string what = path(m) + " " + key;
      const std::string_view k = key;
      if (k == "angle") {
        if (const auto f = number(field->value, what)) turn = {ViewTurn::Given::quaternion, turn_about(2, *f)};
      } else if (k == "turn") {
        read_turns(field->value, what, turn);
      } else if (k == "quaternion") {
        if (field->value.type != TomlValue::Type::array || field->value.items.size() != 4) {
          fields_.report(field->value, fmt::format("{} has four components, the scalar part first", what));
          continue;
        }
        std::vector<Expr> q;
        for (const TomlValue& item : field->value.items) q.push_back(number(item, what).value_or(Expr(0.0)));
        turn = {ViewTurn::Given::quaternion, std::move(q)};
      } else if (k == "axes") {
        if (field->value.type != TomlValue::Type::array || field->value.items.size() != 2) {
          fields_.report(field->value, fmt::format("{} are two vectors: where the body's x and y axes point", what),
                         "as in [[\"cos(a)\", \"sin(a)\", \"0\"], [\"-sin(a)\", \"cos(a)\", \"0\"]]");
          continue;
        }
        std::vector<Expr> values;
        for (const TomlValue& axis : field->value.items)
          if (const auto v = vector(axis, what)) values.insert(values.end(), v->begin(), v->end());
        if (values.size() == 6) turn = {ViewTurn::Given::axes, std::move(values)};
      } else if (const auto v = vector(field->value, what)) {
        turn = {ViewTurn::Given::normal, {v->begin(), v->end()}};
      }
    }
  }

  /// [["z", "psi"], ["x", "theta"]]: one after the other, each about an axis of the body as it is turned by then.
  void read_turns(const TomlValue& value, const std::string& what, ViewTurn& turn) {
    std::vector<Expr> q{Expr(1.0), Expr(0.0), Expr(0.0), Expr(0.0)};
    bool good = value.type == TomlValue::Type::array && !value.items.empty() && value.items.size() <= 12;
    for (std::size_t i = 0; good && i < value.items.size(); ++i) {
      const TomlValue& step = value.items[i];
      good = step.type == TomlValue::Type::array && step.items.size() == 2 &&
             step.items[0].type == TomlValue::Type::string &&
             (step.items[0].text == "x" || step.items[0].text == "y" || step.items[0].text == "z");
      if (!good) break;
      const auto angle = number(step.items[1], what);
      if (!angle) return;
      q = quaternion_product(q, turn_about(step.items[0].text[0] - 'x', *angle));
    }
    if (!good)
      fields_.report(value, fmt::format("{} is a list of turns, each about an axis of the body", what),
                     "as in [[\"z\", \"psi\"], [\"x\", \"theta\"]]");
    else
      turn = {ViewTurn::Given::quaternion, std::move(q)};
  }

  void read_ground(const TomlMember& m) {
    ViewItem item = begin(m, ViewKind::ground);
    const TomlValue* t = table(m, {"at", "normal", "size", "colour"});
    if (!t) return;
    const auto at = place(m, "at"), normal = place(m, "normal");
    number(*t, "size", path(m), item.radius);
    colour(m, item);
    if (!at || !normal) return;
    item.points = {*at};
    item.vector = *normal;
    view_.items.push_back(std::move(item));
  }

  void read_trace(const TomlMember& m) {
    ViewItem item = begin(m, ViewKind::trace);
    std::optional<ViewVector> of;
    if (is_table(m)) {
      fields_.check_keys(m.value, {"of", "seconds", "colour"}, "in " + path(m));
      of = place(m, "of");
      if (const auto* f = m.value.find("seconds")) item.seconds = constant(f->value, path(m) + " seconds");
      colour(m, item);
    } else {
      of = place(m.value, path(m));
    }
    if (!of) return;
    item.points = {*of};
    view_.items.push_back(std::move(item));
  }

  void read_arrow(const TomlMember& m) {
    ViewItem item = begin(m, ViewKind::arrow);
    const TomlValue* t = table(m, {"at", "vector", "scale", "force", "of", "colour"});
    if (!t) return;
    const auto at = place(m, "at");
    colour(m, item);
    const TomlMember *vector_field = t->find("vector"), *force = t->find("force");
    if (!vector_field == !force) {
      fields_.report(m, fmt::format("{} has one of `vector` and `force`", path(m)),
                     "as in vector = [\"x'\", \"y'\"], or force = \"ideal\" and of = [\"x\", \"y\"]");
      return;
    }
    if (const auto* scale = t->find("scale")) item.scale = number(scale->value, path(m) + " scale");
    if (vector_field) {
      const auto v = vector(vector_field->value, path(m) + " vector");
      if (!v) return;
      item.vector = *v;
    } else if (!read_force(m, *force, item)) {
      return;
    }
    if (!at) return;
    item.points = {*at};
    view_.items.push_back(std::move(item));
  }

  bool read_force(const TomlMember& m, const TomlMember& force, ViewItem& item) {
    const std::string* word = fields_.string(force, "`force`");
    if (!word) return false;
    const std::pair<const char*, ViewForce> known[] = {{"constraint", ViewForce::constraint},
                                                       {"ideal", ViewForce::ideal},
                                                       {"nonideal", ViewForce::nonideal},
                                                       {"control", ViewForce::control}};
    for (const auto& [name, kind] : known)
      if (*word == name) item.force = kind;
    if (item.force == ViewForce::none)
      fields_.report(force.value, fmt::format("`force` cannot be {}", mechanician::quoted(*word)),
                     "it is constraint, ideal, nonideal or control");
    const TomlMember* of = m.value.find("of");
    if (!of || of->value.type != TomlValue::Type::array || of->value.items.empty() || of->value.items.size() > 3) {
      fields_.report(of ? of->value : force.value,
                     "a force needs `of`: the coordinates to the right, up and towards the viewer",
                     "as in of = [\"x\", \"y\"]; \"\" where there is none");
      return false;
    }
    bool good = item.force != ViewForce::none;
    for (std::size_t i = 0; i < of->value.items.size(); ++i) {
      const TomlValue& name = of->value.items[i];
      if (name.type == TomlValue::Type::string && (name.text.empty() || coordinates_.contains(name.text))) {
        item.force_of[i] = name.text;
        continue;
      }
      std::vector<std::string> names;
      for (const auto& [coordinate, index] : coordinates_) names.push_back(coordinate);
      const std::string near = nearest(name.text, names);
      fields_.report(name, "this is no coordinate",
                     near.empty() ? "" : fmt::format("did you mean {}?", mechanician::quoted(near)));
      good = false;
    }
    return good;
  }

  /// An expression that does not move.
  std::optional<Expr> constant(const TomlValue& value, const std::string& what) {
    const auto f = number(value, what);
    if (!f || (f->kinds() & ~of_parameters) == 0) return f;
    fields_.report(value, fmt::format("{} must be made of numbers and parameters", what));
    return std::nullopt;
  }
  std::optional<ViewVector> constant_vector(const TomlMember& field, const std::string& what) {
    const auto v = vector(field.value, what, false);
    if (!v) return v;
    for (const Expr& f : *v)
      if ((f.kinds() & ~of_parameters) != 0) {
        fields_.report(field.value, fmt::format("{} must be made of numbers and parameters", what),
                       "follow = \"POINT\" moves the camera");
        return std::nullopt;
      }
    return v;
  }

  void read_camera(const TomlMember& m) {
    section_ = "camera";
    const TomlValue* t = fields_.table(m, "`view.camera`");
    if (!t) return;
    fields_.check_keys(*t, {"from", "at", "up", "height", "follow"}, "in `view.camera`");
    ViewCamera& camera = view_.camera;
    if (const auto* f = t->find("from")) camera.from = constant_vector(*f, "`view.camera.from`");
    if (const auto* f = t->find("at")) camera.at = constant_vector(*f, "`view.camera.at`");
    if (const auto* f = t->find("up")) camera.up = constant_vector(*f, "`view.camera.up`");
    if (const auto* f = t->find("height")) camera.height = constant(f->value, "`view.camera.height`");
    if (const auto* f = t->find("follow")) camera.follow = place(f->value, "`view.camera.follow`");
  }

  FieldReader& fields_;
  NameTable& names_;
  NameScope scope_;
  const std::unordered_map<std::string, int>& coordinates_;
  View view_;
  std::map<std::string, ViewVector> points_;
  std::string section_;
};

}  // namespace

std::string_view name_of(ViewKind kind) {
  constexpr std::array<std::string_view, 10> names{"point",  "line", "rod",    "spring", "disc",
                                                   "sphere", "box",  "ground", "trace",  "arrow"};
  return names[static_cast<std::size_t>(kind)];
}

const std::vector<std::string>& view_colours() {
  static const std::vector<std::string> colours{"blue",  "orange", "green", "red", "purple", "teal",
                                                "brown", "pink",   "grey",  "ink", "steel"};
  return colours;
}

void ModelReader::read_view() {
  const TomlValue* table = section("view");
  if (!table) return;
  // Everything that may stand in [nonideal], and the outputs: a picture is made after the motion.
  NameScope scope = names_.nonideal_scope();
  std::map<std::string, Expr, std::less<>> outputs;
  for (const Named& output : model_.outputs) outputs.emplace(output.name, output.value);
  scope.find = [find = scope.find, outputs = std::move(outputs)](std::string_view name, int primes) {
    std::optional<Expr> found = find(name, primes);
    if (!found && primes == 0)
      if (const auto output = outputs.find(name); output != outputs.end()) found = output->second;
    return found;
  };
  model_.view = ViewReader(fields_, names_, std::move(scope), coordinates_).read(*table);
}

}  // namespace mechanician
