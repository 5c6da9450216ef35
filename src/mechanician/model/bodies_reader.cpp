// [world], [bodies], [points], [directions]: what they say. See bodies.hpp.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mechanician/base/text.hpp"
#include "mechanician/model/bodies_internal.hpp"

namespace mechanician {

bool has_bodies(const TomlValue& root) {
  for (const char* name :
       {"world", "bodies", "points", "directions", "joints", "springs", "forces", "contacts", "parts"})
    if (root.find(name)) return true;
  return false;
}

bool lower_bodies(TomlValue& root, FieldReader& fields, const EvaluateField& evaluate, const JoinedParts& parts,
                  const ParameterOverrides& overrides) {
  return bodies::Layer(root, fields, evaluate, parts, overrides).lower();
}

namespace bodies {

namespace {

Span span_of(const TomlMember& m) { return {m.begin, m.end}; }

constexpr const char* axis_names[3] = {"x", "y", "z"};

}  // namespace

std::string component(const std::string& name, int k) { return name + "." + axis_names[k]; }

bool Layer::lower() {
  const std::size_t before = fields_.problems.size();
  note_names(root_);
  kinetic_ = parts_.kinetic, potential_ = parts_.potential;
  read();
  if (!good_ || fields_.problems.size() > before) return false;
  plant();
  place_bodies();
  for (Joint& joint : joints_) write_joint(joint);
  const auto each = [this](const char* name, void (Layer::*write_one)(const TomlMember&)) {
    if (const TomlMember* section = root_.find(name); section && fields_.table(*section, fmt::format("[{}]", name)))
      for (const TomlMember& m : section->value.members) (this->*write_one)(m);
  };
  each("springs", &Layer::write_spring);
  each("forces", &Layer::write_force);
  each("contacts", &Layer::write_contact);
  if (!good_ || fields_.problems.size() > before) return false;
  check_mass();
  if (!good_) return false;
  draw();
  put_changes();
  put_statements();
  return true;
}

/// Something has to move, and have a mass.
void Layer::check_mass() {
  const TomlMember *section = root_.find("bodies"), *dynamics = root_.find("dynamics"),
                   *own = root_.find("coordinates");
  if (!section || bodies_.size() < 2) return;
  if (coordinates_.empty() && !own)
    return report(*section, "nothing moves: every body is held",
                  "a body that no joint holds moves freely; the first link of a robot does with --base floating");
  if (!kinetic_.empty() || (dynamics && (dynamics->value.find("kinetic") || dynamics->value.find("mass")))) return;
  for (std::size_t i = 1; i < bodies_.size(); ++i) {
    const Body& b = bodies_[i];
    report(Place(fields_.place_of(TomlMember{b.name, b.span.begin, b.span.end, {}})),
           b.mass.is_zero()
               ? fmt::format("the body {} has no mass, and nothing that moves has any", mechanician::quoted(b.name))
               : fmt::format("the body {} is a point and turns about itself alone: it has no inertia there",
                             mechanician::quoted(b.name)),
           "give it a mass and an inertia, or a shape with a density");
  }
}

// ---- fields

std::optional<Formula> Layer::formula(const TomlValue& value, const std::string& path, const char* unit) {
  const auto number = evaluate_(value, path);
  if (!number) {
    good_ = false;
    return std::nullopt;
  }
  if (value.type == TomlValue::Type::number) return Formula(*number);
  // A number in quotation marks is in SI, as others are.
  if (unit && fields_.measure.kind == Measure::Kind::known)
    if (const Measure wanted = measure_of_unit(*parse_unit(unit).unit); !common(wanted, fields_.measure)) {
      const MeasureProblem p = explain_mismatch(wanted, fields_.measure);
      report(value, p.message, fmt::format("what is asked for here is in {}", unit));
    }
  return quoted_formula(value.text, *number);
}

std::optional<Vector> Layer::vector(const TomlMember& field, const std::string& path, const char* unit) {
  if (field.value.type != TomlValue::Type::array || field.value.items.size() != 3) {
    report(field.value, fmt::format("`{}` is a list of three numbers", field.name),
           fmt::format("for example {} = [0, 0, 1]", field.name));
    return std::nullopt;
  }
  Vector v;
  for (std::size_t k = 0; k < 3; ++k) {
    const auto f = formula(field.value.items[k], path, unit);
    if (!f) return std::nullopt;
    v[k] = *f;
  }
  return v;
}

std::optional<Vector> Layer::direction(const TomlMember& field, const std::string& path) {
  const auto v = vector(field, path, nullptr);
  if (!v) return std::nullopt;
  if (!(norm(*v).value > 0.0)) {
    report(field.value, fmt::format("`{}` has no length", field.name), "a direction has a component that is not zero");
    return std::nullopt;
  }
  return unit(*v);
}

std::optional<int> Layer::body_named(const TomlValue& value, const char* what) {
  if (value.type != TomlValue::Type::string) {
    report(value, fmt::format("{} is the name of a body in quotation marks", what));
    return std::nullopt;
  }
  if (const int* i = body_numbers_.find(bodies_, value.text)) return *i;
  std::vector<std::string> names;
  for (const Body& b : bodies_) names.push_back(b.name);
  const std::string near = nearest(value.text, names);
  report(value, fmt::format("there is no body {}", mechanician::quoted(value.text)),
         near.empty() ? fmt::format("the bodies are {}", quote_list(names)) : fmt::format("did you mean `{}`?", near));
  return std::nullopt;
}

std::optional<Mark> Layer::point_named(const TomlValue& value) {
  if (value.type != TomlValue::Type::string) {
    report(value, "a point is named by a string", "name it in [points]");
    return std::nullopt;
  }
  if (const int* i = point_numbers_.find(points_, value.text)) return points_[static_cast<std::size_t>(*i)];
  if (const int* i = body_numbers_.find(bodies_, value.text))
    return Mark{value.text, bodies_[static_cast<std::size_t>(*i)].span, *i, {0.0, 0.0, 0.0}};
  std::vector<std::string> names;
  for (const Mark& m : points_) names.push_back(m.name);
  for (const Body& b : bodies_) names.push_back(b.name);
  const std::string near = nearest(value.text, names);
  report(value, fmt::format("there is no point {}", mechanician::quoted(value.text)),
         near.empty() ? "name it in [points], or name a body, whose origin is meant"
                      : fmt::format("did you mean `{}`?", near));
  return std::nullopt;
}

bool Layer::take_name(const TomlMember& field, const char* what) {
  if (!is_name(field.name) && !is_name(field.name + ".x")) {
    report(field, fmt::format("{} cannot be the name of a {}", mechanician::quoted(field.name), what),
           "a name is a letter or _, then letters, digits and _");
    return false;
  }
  if (field.name == "ground" || field.name == "world") {
    report(field, fmt::format("`{}` is taken", field.name), "ground is the world, which does not move");
    return false;
  }
  const auto [known, fresh] = taken_.emplace(field.name, what);
  if (!fresh)
    report(field,
           fmt::format("{} stands for two things: a {} and a {}", mechanician::quoted(field.name), known->second, what),
           "bodies, joints, points and directions share one set of names");
  return fresh;
}

// ---- sections

void Layer::read() {
  bodies_.push_back({.name = "ground", .span = {}});
  bodies_.front().R = identity();
  read_world();
  read_placements();
  const auto each = [this](const char* name, auto read_one) {
    const TomlMember* section = root_.find(name);
    if (!section) return;
    if (!fields_.table(*section, fmt::format("[{}]", name))) {
      good_ = false;
      return;
    }
    for (const TomlMember& m : section->value.members) {
      if (m.value.type != TomlValue::Type::table)
        report(m.value, fmt::format("{} in [{}] is a table", mechanician::quoted(m.name), name));
      else
        read_one(m);
    }
  };
  each("bodies", [this](const TomlMember& m) { read_body(m); });
  each("points", [this](const TomlMember& m) {
    const auto mark = take_name(m, "point") ? read_mark(m, "at", "points." + m.name) : std::nullopt;
    if (mark) points_.push_back(*mark);
  });
  each("directions", [this](const TomlMember& m) {
    const auto mark = take_name(m, "direction") ? read_mark(m, "along", "directions." + m.name) : std::nullopt;
    if (mark) directions_.push_back(*mark);
  });
  each("joints", [this](const TomlMember& m) { read_joint(m); });
  for (const char* name : {"springs", "forces", "contacts"})
    each(name, [this, name](const TomlMember& m) {
      take_name(m, std::string_view(name) == "springs"  ? "spring"
                   : std::string_view(name) == "forces" ? "force"
                                                        : "contact");
    });
  if (good_) read_starts_of_joints();
}

void Layer::read_world() {
  if (const TomlMember* start = root_.find("start"))
    if (const TomlMember* assemble = start->value.find("assemble"))
      assemble_ = assemble->value.type == TomlValue::Type::boolean && assemble->value.number != 0.0;
  const TomlMember* section = root_.find("world");
  const TomlValue* table = section ? fields_.table(*section, "[world]") : nullptr;
  if (!table) return;
  fields_.check_keys(*table, {"gravity", "formulation", "planar"}, "in [world]");
  if (const TomlMember* g = table->find("gravity"))
    if (const auto v = vector(*g, "world.gravity", "m/s^2")) gravity_ = *v;
  if (const TomlMember* f = table->find("formulation")) {
    const std::string* text = fields_.string(*f, "`formulation`");
    if (text && *text == "joint")
      formulation_ = Formulation::joint;
    else if (text && *text == "free")
      formulation_ = Formulation::free;
    else if (text && *text != "auto")
      report(f->value, fmt::format("`formulation` cannot be {}", mechanician::quoted(*text)),
             "it is auto, joint or free");
  }
  if (const TomlMember* p = table->find("planar")) {
    const std::string* text = fields_.string(*p, "`planar`");
    if (text && text->size() == 2 && text->find_first_not_of("xyz") == std::string::npos && (*text)[0] != (*text)[1]) {
      for (const std::size_t k : {0, 1}) plane_[k] = (*text)[k] - 'x';
      Vector a{0.0, 0.0, 0.0}, b = a;
      a[static_cast<std::size_t>(plane_[0])] = 1.0, b[static_cast<std::size_t>(plane_[1])] = 1.0;
      normal_ = cross(a, b);
    } else if (text) {
      report(p->value, fmt::format("`planar` cannot be {}", mechanician::quoted(*text)),
             "it names two axes, as in planar = \"xz\"");
    }
  }
}

void Layer::read_placements() {
  for (const JoinedParts::Placed& p : parts_.placed) {
    Placement own = placement_of(p.prefix + ".");
    const std::string path = "parts." + p.prefix;
    Placement inner{.prefix = p.prefix + "."};
    if (p.at.type == TomlValue::Type::array)
      if (const auto v = vector({"at", p.at.begin, p.at.end, p.at}, path, "m")) inner.at = *v;
    if (!p.turned.members.empty())
      if (const auto q = read_turned({"turned", p.turned.begin, p.turned.end, p.turned}, path)) inner.turned = *q;
    inner.R = matrix_of(inner.turned);
    // Parts of parts stand where the outer ones put them.
    inner.at = own.point(inner.at), inner.turned = own.turned * inner.turned, inner.R = own.R * inner.R;
    placements_.push_back(std::move(inner));
  }
}

Layer::Placement Layer::placement_of(const std::string& name) const {
  const Placement* best = nullptr;
  for (const Placement& p : placements_)
    if (name.starts_with(p.prefix) && (!best || p.prefix.size() > best->prefix.size())) best = &p;
  return best ? *best : Placement();
}

std::optional<Mark> Layer::read_mark(const TomlMember& field, const char* key, const std::string& path) {
  if (std::string_view(key) == "at")
    fields_.check_keys(field.value, {"on", "at"}, fmt::format("in {}", mechanician::quoted(path)));
  else
    fields_.check_keys(field.value, {"on", "along"}, fmt::format("in {}", mechanician::quoted(path)));
  const TomlMember *on = field.value.find("on"), *at = field.value.find(key);
  if (!on || !at) {
    report(field, fmt::format("{} has no `{}`", mechanician::quoted(path), on ? key : "on"),
           fmt::format("for example {} = {{ on = \"ground\", {} = [0, 0, 1] }}", field.name, key));
    return std::nullopt;
  }
  const auto body = body_named(on->value, "`on`");
  const auto local = std::string_view(key) == "along" ? direction(*at, path) : vector(*at, path, "m");
  if (!body || !local) return std::nullopt;
  Vector at_body = *local;
  if (*body == 0) {
    const Placement placed = placement_of(field.name);
    at_body = std::string_view(key) == "along" ? placed.direction(at_body) : placed.point(at_body);
  }
  return Mark{field.name, span_of(field), *body, at_body};
}

void Layer::read_body(const TomlMember& field) {
  if (!take_name(field, "body")) return;
  const std::string path = "bodies." + field.name;
  const TomlValue& table = field.value;
  fields_.check_keys(table, {"mass", "centre", "inertia", "shape", "start", "fixed", "physical"},
                     fmt::format("in the body {}", mechanician::quoted(field.name)));
  Body body{.name = field.name, .span = span_of(field)};
  const TomlMember *mass = table.find("mass"), *centre = table.find("centre"), *inertia = table.find("inertia"),
                   *shape = table.find("shape"), *start = table.find("start");
  const Matrix none{Vector{0.0, 0.0, 0.0}, Vector{0.0, 0.0, 0.0}, Vector{0.0, 0.0, 0.0}};
  body.inertia = none;
  if (mass)
    if (const auto m = formula(mass->value, path + ".mass", "kg")) {
      body.mass = *m;
      if (m->value < 0.0)
        report(mass->value, fmt::format("the mass of {} is negative", mechanician::quoted(field.name)));
    }
  if (centre)
    if (const auto c = vector(*centre, path + ".centre", "m")) body.centre = *c;
  if (inertia) {
    const auto& items = inertia->value.items;
    if (inertia->value.type == TomlValue::Type::array && items.size() == 3 && items[0].type == TomlValue::Type::array) {
      for (std::size_t i = 0; i < 3; ++i) {
        const auto row = vector({"inertia", items[i].begin, items[i].end, items[i]}, path + ".inertia", "kg*m^2");
        if (row) body.inertia[i] = *row;
      }
      for (std::size_t i = 0; i < 3 && good_; ++i)
        for (std::size_t j = 0; j < i; ++j)
          if (std::abs(body.inertia[i][j].value - body.inertia[j][i].value) >
              1e-9 * (std::abs(body.inertia[i][i].value) + std::abs(body.inertia[j][j].value)))
            report(inertia->value, fmt::format("the inertia of {} is not symmetric", mechanician::quoted(field.name)));
    } else if (const auto diagonal = vector(*inertia, path + ".inertia", "kg*m^2")) {
      for (std::size_t i = 0; i < 3; ++i) body.inertia[i][i] = (*diagonal)[i];
    }
    body.has_inertia = true;
    const TomlMember* physical = table.find("physical");
    if (physical && physical->value.type != TomlValue::Type::boolean)
      report(physical->value, "`physical` is true or false",
             "false: the inertia is taken as it is, also where no body has it");
    else if (good_ && (!physical || physical->value.number != 0.0))
      check_inertia(body, *inertia);
  }
  if (shape) read_shape(body, *shape, centre != nullptr, inertia != nullptr, mass != nullptr);
  if (!mass && !(shape && (shape->value.find("density") || shape->value.find("mass"))))
    report(field, fmt::format("the body {} has no mass", mechanician::quoted(field.name)),
           "give mass, or a shape with a density; mass = 0 is a body without mass");
  if (start) read_start(body, *start);
  if (const TomlMember* fixed = table.find("fixed")) {
    const auto known = [](const TomlValue& item) {
      return item.text == "at" || item.text == "turned" || item.text == "velocity" || item.text == "spin";
    };
    if (fixed->value.type != TomlValue::Type::array ||
        !std::all_of(fixed->value.items.begin(), fixed->value.items.end(), known))
      report(fixed->value, "`fixed` is a list of what stays", "some of \"at\", \"turned\", \"velocity\", \"spin\"");
    for (const TomlValue& item : fixed->value.items) body.fixed.push_back(item.text);
  }
  const Placement placed = placement_of(field.name);
  body.at = placed.point(body.at), body.velocity = placed.direction(body.velocity),
  body.turned = placed.turned * body.turned;
  for (std::size_t k = 0; k < 4; ++k)
    body.turned[k] = shorten(fmt::format("{}.turned{}", body.name, k), body.turned[k], body.span);
  body.R = body.given_R = matrix_of(body.turned);
  shorten(body.name + ".stands", body.R, body.span);
  bool moves = false;
  for (const auto& row : body.inertia)
    for (const Formula& f : row) moves = moves || !f.is_zero();
  body.has_inertia = moves;
  bodies_.push_back(std::move(body));
}

void Layer::check_inertia(const Body& body, const TomlMember& field) {
  const Matrix& I = body.inertia;
  if (!is_positive(I))
    return report(field.value, fmt::format("the inertia of {} is not positive", mechanician::quoted(body.name)),
                  "moments of inertia are not negative about any axis; `physical = false` takes it as it is");
  // Moments that no single body has are those of a crank with its flywheel on one axis: worth a word, and no mistake.
  Matrix rest = I;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      rest[i][j] = (i == j ? 0.5 * (I[0][0].value + I[1][1].value + I[2][2].value) : 0.0) - I[i][j].value;
  if (!is_positive(rest))
    fields_.note(
        field.value,
        fmt::format("no single body has the inertia of {}: about one axis it is larger than about the two others "
                    "together",
                    mechanician::quoted(body.name)));
}

void Layer::read_start(Body& body, const TomlMember& field) {
  if (!fields_.table(field, "`start`")) return;
  const std::string path = "bodies." + body.name + ".start";
  fields_.check_keys(field.value, {"at", "turned", "velocity", "spin", "spin_world"},
                     fmt::format("in {}", mechanician::quoted(path)));
  if (const TomlMember* m = field.value.find("at"))
    if (const auto v = vector(*m, path, "m")) body.at = *v;
  if (const TomlMember* m = field.value.find("turned"))
    if (const auto q = read_turned(*m, path)) body.turned = *q;
  if (const TomlMember* m = field.value.find("velocity"))
    if (const auto v = vector(*m, path, "m/s")) body.velocity = *v;
  const TomlMember *spin = field.value.find("spin"), *in_world = field.value.find("spin_world");
  if (spin && in_world)
    report(*in_world, fmt::format("both `spin` and `spin_world` are given for {}", mechanician::quoted(body.name)),
           "leave one out");
  if (spin)
    if (const auto v = vector(*spin, path, "1/s")) body.spin = *v;
  if (in_world)
    if (const auto v = vector(*in_world, path, "1/s")) body.spin = transpose(matrix_of(body.turned)) * *v;
  if (!is_planar() || !good_) return;
  // In the plane: the turn is one about its normal, the spin along it, the velocity in it.
  const Matrix R = matrix_of(body.turned);
  const Vector n = R * normal_;
  const double off =
      norm(n - normal_).value + norm(cross(body.spin, normal_)).value + std::abs(dot(body.velocity, normal_).value);
  if (off > 1e-9)
    report(field, fmt::format("`start` of {} leads out of the plane of [world]", mechanician::quoted(body.name)));
}

std::optional<Quaternion> Layer::read_turned(const TomlMember& field, const std::string& path) {
  if (!fields_.table(field, "`turned`")) return std::nullopt;
  const TomlValue& table = field.value;
  fields_.check_keys(table, {"axis", "angle", "quaternion", "euler", "matrix"},
                     fmt::format("in {}", mechanician::quoted(path + ".turned")));
  const auto about = [&](const Vector& axis, const Formula& angle) -> Quaternion {
    const Formula half = 0.5 * angle, s = sin(half);
    return {cos(half), s * axis[0], s * axis[1], s * axis[2]};
  };
  const int given = (table.find("axis") || table.find("angle")) + (table.find("quaternion") != nullptr) +
                    (table.find("euler") != nullptr) + (table.find("matrix") != nullptr);
  const char* ways =
      "it is given by axis and angle, by quaternion = [w, x, y, z], by euler = { order = \"zyx\", angles = [...] } or "
      "by matrix";
  if (given != 1) {
    report(field, given == 0 ? "`turned` says nothing" : "`turned` is given in two ways", ways);
    return std::nullopt;
  }
  if (const TomlMember* axis = table.find("axis")) {
    const TomlMember* angle = table.find("angle");
    if (!angle) return report(field, "`turned` has an axis and no angle"), std::nullopt;
    const auto a = direction(*axis, path);
    const auto f = formula(angle->value, path, "rad");
    return a && f ? std::optional(about(*a, *f)) : std::nullopt;
  }
  if (table.find("angle")) {
    if (is_planar()) {
      const auto f = formula(table.find("angle")->value, path, "rad");
      return f ? std::optional(about(normal_, *f)) : std::nullopt;
    }
    return report(field, "`turned` has an angle and no axis", ways), std::nullopt;
  }
  if (const TomlMember* m = table.find("quaternion")) {
    Quaternion q;
    if (m->value.type != TomlValue::Type::array || m->value.items.size() != 4)
      return report(m->value, "a quaternion has four components, the scalar part first"), std::nullopt;
    for (std::size_t k = 0; k < 4; ++k) {
      const auto f = formula(m->value.items[k], path, "rad");
      if (!f) return std::nullopt;
      q[k] = *f;
    }
    const Formula length = sqrt(square(q[0]) + square(q[1]) + square(q[2]) + square(q[3]));
    if (!(length.value > 0.0)) return report(m->value, "the quaternion has no length"), std::nullopt;
    // Digits may be missing; more than that is a mistake.
    if (std::abs(length.value - 1.0) > 1e-3)
      return report(m->value,
                    fmt::format("the quaternion is {} long, and that of a rotation is one", short_number(length.value)),
                    fmt::format("divide its components by {}, if this rotation is meant", short_number(length.value))),
             std::nullopt;
    if (length.is_number() && std::abs(length.value - 1.0) < 1e-15) return q;
    return Quaternion{q[0] / length, q[1] / length, q[2] / length, q[3] / length};
  }
  if (const TomlMember* m = table.find("euler")) {
    fields_.check_keys(m->value, {"order", "angles"},
                       fmt::format("in {}", mechanician::quoted(path + ".turned.euler")));
    const TomlMember *order = m->value.find("order"), *angles = m->value.find("angles");
    const std::string* letters = order ? fields_.string(*order, "`order`") : nullptr;
    if (!letters || !angles || letters->size() != 3 || letters->find_first_not_of("xyz") != std::string::npos ||
        (*letters)[0] == (*letters)[1] || (*letters)[1] == (*letters)[2])
      return report(m->value, "`euler` needs an order of three axes and three angles",
                    "for example euler = { order = \"zyx\", angles = [0.1, 0, 0] }"),
             std::nullopt;
    const auto v = vector(*angles, path, "rad");
    if (!v) return std::nullopt;
    Quaternion q{1.0, 0.0, 0.0, 0.0};
    for (std::size_t k = 0; k < 3; ++k) {
      Vector axis{0.0, 0.0, 0.0};
      axis[static_cast<std::size_t>((*letters)[k] - 'x')] = 1.0;
      q = q * about(axis, (*v)[k]);
    }
    return q;
  }
  const TomlMember* m = table.find("matrix");
  Matrix R;
  if (m->value.type != TomlValue::Type::array || m->value.items.size() != 3)
    return report(m->value, "`matrix` has three rows of three"), std::nullopt;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto row = vector({"matrix", m->value.items[i].begin, m->value.items[i].end, m->value.items[i]}, path, "rad");
    if (!row) return std::nullopt;
    R[i] = *row;
  }
  double off = 0.0;
  const Matrix one = R * transpose(R);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) off = std::max(off, std::abs(one[i][j].value - (i == j ? 1.0 : 0.0)));
  const double det = dot(R[0], cross(R[1], R[2])).value;
  if (off > 1e-6 || det < 0.0)
    return report(m->value,
                  det < 0.0 ? "`matrix` mirrors: its determinant is negative"
                            : fmt::format("`matrix` is no rotation: it is off by {}", short_number(off)),
                  "its rows are perpendicular and of length one"),
           std::nullopt;
  return quaternion_of(R);
}

void Layer::read_starts_of_joints() {
  for (Joint& joint : joints_)
    for (JointCoordinate& c : joint.coordinates)
      for (const bool rate : {false, true}) {
        const std::string name = c.name + (rate ? ".start_rate" : ".start");
        const auto found = overrides_.find(name);
        if (found == overrides_.end()) continue;
        parameters_.push_back({name, Formula(found->second).str(), joint.span});
        // What the file says of it is no more.
        for (TomlMember& section : root_.members)
          if (section.name == "start")
            for (TomlMember& table : section.value.members)
              if (table.name == (rate ? "velocity" : "position"))
                std::erase_if(table.value.members, [&](const TomlMember& m) { return m.name == c.name; });
        (rate ? c.start_rate : c.start) = Formula(found->second, name, 3, false);
        (rate ? c.rate_given : c.given) = true;
      }
  const TomlMember* start = root_.find("start");
  if (!start || start->value.type != TomlValue::Type::table) return;
  for (const bool rate : {false, true}) {
    const TomlMember* table = start->value.find(rate ? "velocity" : "position");
    if (!table || table->value.type != TomlValue::Type::table) continue;
    for (const TomlMember& m : table->value.members)
      for (Joint& joint : joints_)
        for (JointCoordinate& c : joint.coordinates)
          if (c.name == m.name && !overrides_.contains(c.name + (rate ? ".start_rate" : ".start")))
            if (const auto f = formula(m.value, "start." + m.name,
                                       c.turns ? (rate ? "1/s" : "rad")
                                       : rate  ? "m/s"
                                               : "m")) {
              (rate ? c.start_rate : c.start) = *f;
              (rate ? c.rate_given : c.given) = true;
            }
  }
}

}  // namespace bodies

}  // namespace mechanician
