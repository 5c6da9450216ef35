#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>

#include "mechanician/base/text.hpp"
#include "mechanician/model/inside_folder.hpp"
#include "mechanician/model/model_reader.hpp"
#include "mechanician/model/view.hpp"

namespace mechanician {

namespace {

constexpr KindSet of_parameters = kind_bit(SymbolKind::parameter);

/// A product of turns p then, about the axes as turned by p, r.
std::vector<Expr> quaternion_product(const std::vector<Expr>& p, const std::vector<Expr>& r) {
  return {p[0] * r[0] - p[1] * r[1] - p[2] * r[2] - p[3] * r[3], p[0] * r[1] + p[1] * r[0] + p[2] * r[3] - p[3] * r[2],
          p[0] * r[2] - p[1] * r[3] + p[2] * r[0] + p[3] * r[1], p[0] * r[3] + p[1] * r[2] - p[2] * r[1] + p[3] * r[0]};
}

std::vector<Expr> turn_about(int axis, const Expr& angle) {
  std::vector<Expr> q{cos(angle / 2.0), Expr(0.0), Expr(0.0), Expr(0.0)};
  q[static_cast<std::size_t>(axis) + 1] = sin(angle / 2.0);
  return q;
}

class ViewReader {
 public:
  /// How the indices of a table and an expression for all values of indices are read.
  using ReadIndices = std::function<std::optional<std::vector<TermIndex>>(const TomlValue& table)>;
  using ReadExpression = std::function<std::optional<Expr>(const TomlValue& value, const std::string& what,
                                                           const std::vector<TermIndex>& indices)>;
  ViewReader(FieldReader& fields, NameTable& names, FamilyModel& model, ReadIndices indices, ReadExpression expression)
      : fields_(fields),
        names_(names),
        model_(model),
        read_indices_(std::move(indices)),
        read_expression_(std::move(expression)) {}

  void read(const TomlValue& table) {
    fields_.check_keys(table,
                       {"points", "lines", "rods", "springs", "discs", "spheres", "boxes", "meshes", "ground", "traces",
                        "arrows", "camera", "forces", "bodies", "joints", "reactions"},
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
    each(table, "meshes", [&](const TomlMember& m) { read_mesh(m); });
    each(table, "traces", [&](const TomlMember& m) { read_trace(m); });
    each(table, "arrows", [&](const TomlMember& m) { read_arrow(m); });
    if (const TomlMember* m = table.find("camera")) read_camera(*m);
    if (const TomlMember* m = table.find("forces")) view_.forces = truth(*m);
    for (const char* key : {"bodies", "joints"})  // bodies_view.cpp draws them, and takes `reactions` away
      if (const TomlMember* m = table.find(key)) truth(*m);
    if (const TomlMember* m = table.find("reactions"))
      fields_.report(*m, "`reactions` are those of joints: there are none");
    model_.view = std::move(view_);
  }

 private:
  template <class F>
  void each(const TomlValue& table, const char* section, const F& read_one) {
    const TomlMember* field = table.find(section);
    const TomlValue* members = field ? fields_.table(*field, fmt::format("[view.{}]", section)) : nullptr;
    if (!members) return;
    section_ = section;
    for (const TomlMember& m : members->members) {
      const auto indices = read_indices_(m.value);
      if (!indices) continue;
      indices_ = *indices;
      TomlMember member = m;
      std::erase_if(member.value.members, [](const TomlMember& f) { return f.name == "for"; });
      read_one(member);
    }
    indices_.clear();
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
    return read_expression_(value, what, indices_);
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
    std::vector<TermIndex> ranges;
    return named_point(value, what, ranges);
  }

  /// "p", "p[i - 1]", and where `ranges` are wanted "p[1..N]": the indices that this runs through.
  std::optional<ViewVector> named_point(const TomlValue& value, const std::string& what,
                                        std::vector<TermIndex>& ranges) {
    const bool written_out = points_.contains(value.text);  // of a family of bodies: "p[2]" is a name
    const ParsedName name = written_out ? ParsedName{} : parse_name(value.text);
    const auto found = points_.find(name.indexed ? name.name : value.text);
    if (found == points_.end() || found->second.bounds.size() != name.indices.size()) {
      std::vector<std::string> names;
      for (const auto& [other, point] : points_) names.push_back(other);
      const std::string near = nearest(value.text, names);
      fields_.report(value, fmt::format("{} names no point: {}", what, mechanician::quoted(value.text)),
                     near.empty() ? "points are named in [view.points]; or give components, as in [\"x\", \"y\"]"
                                  : fmt::format("did you mean {}?", mechanician::quoted(near)));
      return std::nullopt;
    }
    std::vector<Expr> at;
    const auto index = [&](const ParsedName::Piece& piece) -> std::optional<Expr> {
      names_.begin(indices_);
      const ParsedExpression f = parse_expression(piece.text, names_.scope(Words::parameters));
      const NameTable::Known known = f.value ? names_.known(*f.value) : NameTable::Known{};
      const ParseProblem problem = f.value ? ParseProblem{0, 1, known.problem, known.hint} : f.problems.front();
      if (!known.value) fields_.report(value, problem.message, problem.hint);
      return known.value;
    };
    for (const ParsedName::Piece& piece : name.indices) {
      const auto range = split_range(piece);
      const auto from = index(range ? range->first : piece), to = range ? index(range->second) : from;
      if (!from || !to) return std::nullopt;
      const Place here = fields_.place_of(value);
      if (range)
        ranges.push_back({name.name, parameter(fmt::format("point #{}", ++ranges_)), *from, *to, here, here, here});
      at.push_back(range ? ranges.back().symbol : *from);
    }
    std::vector<TermIndex> all = indices_;
    all.insert(all.end(), ranges.begin(), ranges.end());
    names_.begin(all);
    names_.place_of = [&](std::size_t, std::size_t) { return fields_.place_of(value); };
    if (!names_.check_indices()) return std::nullopt;
    names_.mention_key(found->first, found->second, at, "is no point");
    if (name.indexed && !names_.check_members()) return std::nullopt;
    const std::vector<Expr> p = names_.instance(found->second, at);
    return ViewVector{p[0], p[1], p[2]};
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

  void add(ViewItem item, std::map<std::size_t, std::vector<TermIndex>> ranges = {}) {
    model_.view_items.push_back({indices_, std::move(item), std::move(ranges)});
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
    const ViewVector p = at.value_or(ViewVector{Expr(0.0), Expr(0.0), Expr(0.0)});
    NameTable::Family family{
        .kind = NameKind::definition, .bounds = {}, .indices = indices_, .values = {p[0], p[1], p[2]}};
    std::vector<Expr> label;
    for (const TermIndex& index : indices_) label.push_back(index.symbol);
    names_.finish_family(family, label);
    points_.emplace(m.name, std::move(family));
    if (!at) return;
    item.points = {*at};
    add(std::move(item));
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
    std::map<std::size_t, std::vector<TermIndex>> ranges;
    bool good = true;
    for (const TomlValue& corner : corners->items) {
      std::vector<TermIndex> all;  // members in turn
      const auto p = !good              ? std::nullopt
                     : is_range(corner) ? named_point(corner, path(m), all)
                                        : place(corner, path(m));
      good = good && p;
      if (!all.empty()) ranges.emplace(item.points.size(), std::move(all));
      if (p) item.points.push_back(*p);
    }
    if (good) add(std::move(item), std::move(ranges));
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
    add(std::move(item));
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
    add(std::move(item));
  }

  void read_mesh(const TomlMember& m) {
    ViewItem item = begin(m, ViewKind::mesh);
    const TomlValue* t = table(m, {"file", "at", "scale", "colour", "angle", "turn", "quaternion", "axes", "normal"});
    if (!t) return;
    view_.dimension = 3;
    const TomlMember* file = t->find("file");
    if (!file) {
      fields_.report(m, fmt::format("{} has no `file`", path(m)), "as in file = \"hull.stl\"");
      return;
    }
    const std::string* name = fields_.string(*file, "`file`");
    if (!name) return;
    if (const std::string problem = problem_of_mesh(*name, item.file); !problem.empty())
      fields_.report(file->value, problem, "a mesh is an STL or OBJ file in the folder of the model, or below it");
    const auto at = place(m, "at");
    for (Expr& f : item.vector) f = 1.0;
    if (const auto* scale = t->find("scale")) {
      if (scale->value.type == TomlValue::Type::array) {
        if (const auto v = vector(scale->value, path(m) + " scale")) item.vector = *v;
      } else if (const auto f = number(scale->value, path(m) + " scale")) {
        item.vector = {*f, *f, *f};
      }
    }
    colour(m, item);
    read_turn(m, item.turn);
    if (!at) return;
    item.points = {*at};
    add(std::move(item));
  }

  /// Why no mesh can be read from a file; `path` is to be opened.
  std::string problem_of_mesh(const std::string& name, std::string& path) const {
    if (!is_mesh(name)) return fmt::format("{} is neither an STL nor an OBJ file", mechanician::quoted(name));
    const FileBeside beside = file_beside(model_.source.file, name, "a mesh");
    if (!beside.problem.empty()) return beside.problem;
    std::error_code error;
    if (!std::filesystem::is_regular_file(beside.path, error))
      return fmt::format("there is no file {}", mechanician::quoted(name));
    path = beside.path;
    return {};
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
    add(std::move(item));
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
    add(std::move(item));
  }

  void read_arrow(const TomlMember& m) {
    ViewItem item = begin(m, ViewKind::arrow);
    const TomlValue* t = table(m, {"at", "vector", "scale", "force", "of", "colour"});
    if (!t) return;
    const auto at = place(m, "at");
    colour(m, item);
    const TomlMember *vector_field = t->find("vector"), *force = t->find("force");
    if (vector_field ? t->find("of") != nullptr : !force) {
      fields_.report(m, fmt::format("{} has one of `vector` and `of`", path(m)),
                     "as in vector = [\"x'\", \"y'\"], or force = \"ideal\" and of = [\"x\", \"y\"]");
      return;
    }
    if (force && !read_force_kind(*force, item)) return;
    if (const auto* scale = t->find("scale")) item.scale = number(scale->value, path(m) + " scale");
    if (vector_field) {
      const auto v = vector(vector_field->value, path(m) + " vector");
      if (!v) return;
      item.vector = *v;
    } else if (!read_force_of(m, *force, item)) {
      return;
    }
    if (!at) return;
    item.points = {*at};
    add(std::move(item));
  }

  bool read_force_kind(const TomlMember& force, ViewItem& item) {
    const std::string* word = fields_.string(force, "`force`");
    if (!word) return false;
    using enum ViewForce;
    const std::pair<const char*, ViewForce> known[] = {
        {"constraint", constraint}, {"ideal", ideal}, {"nonideal", nonideal}, {"control", control}};
    for (const auto& [name, kind] : known)
      if (*word == name) item.force = kind;
    if (item.force != none) return true;
    fields_.report(force.value, fmt::format("`force` cannot be {}", mechanician::quoted(*word)),
                   "it is constraint, ideal, nonideal or control");
    return false;
  }

  bool read_force_of(const TomlMember& m, const TomlMember& force, ViewItem& item) {
    const TomlMember* of = m.value.find("of");
    if (!of || of->value.type != TomlValue::Type::array || of->value.items.empty() || of->value.items.size() > 3) {
      fields_.report(of ? of->value : force.value,
                     "a force needs `of`: the coordinates to the right, up and towards the viewer",
                     "as in of = [\"x\", \"y\"]; \"\" where there is none");
      return false;
    }
    bool good = true;
    for (std::size_t i = 0; i < of->value.items.size(); ++i) {
      const TomlValue& name = of->value.items[i];
      if (name.type == TomlValue::Type::string && (name.text.empty() || model_.find(name.text) >= 0)) {
        item.force_of[i] = name.text;
        continue;
      }
      std::vector<std::string> names;
      for (const CoordinateFamily& family : model_.coordinates) names.push_back(model_.name_of(family.first));
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
    const auto stays = [](const Expr& f) { return (f.kinds() & ~of_parameters) == 0; };
    if (!v || std::all_of(v->begin(), v->end(), stays)) return v;
    fields_.report(field.value, fmt::format("{} must be made of numbers and parameters", what),
                   "follow = \"POINT\" moves the camera");
    return std::nullopt;
  }

  void read_camera(const TomlMember& m) {
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
  FamilyModel& model_;
  ReadIndices read_indices_;
  ReadExpression read_expression_;
  View view_;
  std::vector<TermIndex> indices_;  ///< of the part that is read
  std::map<std::string, NameTable::Family> points_;
  int ranges_ = 0;
  std::string section_;
};

}  // namespace

std::string_view name_of(ViewKind kind) {
  constexpr std::array<std::string_view, 11> names{"point", "line", "rod",    "spring", "disc", "sphere",
                                                   "box",   "mesh", "ground", "trace",  "arrow"};
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
  // Everything that may stand in [outputs], and the outputs: a picture is made after the motion.
  NameScope scope = names_.scope(Words::forces);
  std::map<std::string, Expr, std::less<>> outputs;
  for (const FamilyQuantity& output : model_.outputs)
    if (output.label.empty()) outputs.emplace(output.name, output.term.body);
  scope.find = [find = scope.find, outputs = std::move(outputs)](std::string_view name, int primes) {
    std::optional<Expr> found = find(name, primes);
    if (!found && primes == 0)
      if (const auto output = outputs.find(name); output != outputs.end()) found = output->second;
    return found;
  };
  const auto read_expression = [&](const TomlValue& value, const std::string& what,
                                   const std::vector<TermIndex>& indices) {
    names_.begin(indices);
    read_in(value);
    std::optional<Expr> f = fields_.expression(value, scope, what);
    return names_.check_members() ? f : std::nullopt;
  };
  ViewReader(
      fields_, names_, model_, [this](const TomlValue& t) { return indices_of(t); }, read_expression)
      .read(*table);
}

}  // namespace mechanician
