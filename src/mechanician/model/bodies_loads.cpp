// [springs], [forces], [contacts]. See bodies.hpp.

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "mechanician/base/text.hpp"
#include "mechanician/model/bodies_internal.hpp"

namespace mechanician::bodies {

namespace {

constexpr const char* xyz[3] = {"x", "y", "z"};
constexpr const char* wxyz[4] = {"qw", "qx", "qy", "qz"};

Span span_of(const TomlMember& m) { return {m.begin, m.end}; }

/// 2 E(q)ᵀ v: the force on the components of a quaternion by a torque along the axes of what it turns.
Quaternion on_quaternion(const Quaternion& q, const Vector& v) {
  return {-2.0 * (q[1] * v[0] + q[2] * v[1] + q[3] * v[2]), 2.0 * (q[0] * v[0] - q[3] * v[1] + q[2] * v[2]),
          2.0 * (q[3] * v[0] + q[0] * v[1] - q[1] * v[2]), 2.0 * (q[1] * v[1] - q[2] * v[0] + q[0] * v[2])};
}

}  // namespace

void Layer::apply(int body, const Vector& at, const Vector& force, const Vector& torque, Span span) {
  for (int i = body; i > 0;) {
    const Body& b = bodies_[static_cast<std::size_t>(i)];
    if (b.parent < 0) {
      for (std::size_t k = 0; k < 3; ++k)
        if (!is_planar() || static_cast<int>(k) == plane_[0] || static_cast<int>(k) == plane_[1])
          add_force(b.name + "." + xyz[k], force[k], span);
      if (!b.turns) return;
      const Vector about = torque + cross(at - b.pose.p, force);
      if (is_planar()) return add_force(b.name + ".angle", dot(normal_, about), span);
      const Quaternion on = on_quaternion(b.pose.q, transpose(b.pose.R) * about);
      for (std::size_t k = 0; k < 4; ++k) add_force(b.name + "." + wxyz[k], on[k], span);
      return;
    }
    const Joint& j = joints_[static_cast<std::size_t>(b.joint)];
    const double side = j.second == i ? 1.0 : -1.0;
    const Vector P2 = point(j.second, j.r2);
    const Vector about = torque + cross(at - P2, force);
    for (const JointCoordinate& c : j.coordinates) {
      if (!c.used) continue;
      const Vector a1 = world(j.first, column(j.F1, 2));
      if (c.turns) {
        const Vector axis = c.key == "angle2" ? world(j.second, column(j.F2, 0)) : a1;
        Formula f = dot(axis, about);
        if (j.type == JointType::screw) f = f + j.pitch / (2.0 * std::numbers::pi) * dot(a1, force);
        add_force(c.name, side * f, span);
      } else {
        const int column_of = j.type == JointType::planar ? (c.key == "distance" ? 0 : 1) : 2;
        add_force(c.name, side * dot(world(j.first, column(j.F1, column_of)), force), span);
      }
    }
    if (j.type == JointType::spherical) {
      Quaternion q;
      for (std::size_t k = 0; k < 4; ++k) q[k] = named(j.name + "." + wxyz[k]);
      Vector seen;
      for (const int k : {0, 1, 2}) seen[static_cast<std::size_t>(k)] = dot(world(j.second, column(j.F2, k)), about);
      const Quaternion on = on_quaternion(q, seen);
      for (std::size_t k = 0; k < 4; ++k) add_force(j.name + "." + wxyz[k], side * on[k], span);
    }
    i = b.parent;
  }
}

void Layer::write_spring(const TomlMember& field) {
  const TomlValue& table = field.value;
  const std::string path = "springs." + field.name, name = field.name;
  fields_.check_keys(table, {"between", "stiffness", "damping", "free", "law"},
                     fmt::format("in the spring {}", mechanician::quoted(name)));
  const TomlMember *between = table.find("between"), *stiffness = table.find("stiffness"),
                   *damping = table.find("damping"), *free = table.find("free"), *law = table.find("law");
  if (!between || between->value.type != TomlValue::Type::array || between->value.items.size() != 2)
    return report(between ? *between : field,
                  fmt::format("the spring {} is between two points", mechanician::quoted(name)),
                  "between = [\"p\", \"q\"], names of [points] or bodies");
  if (!stiffness && !damping && !law)
    return report(field, fmt::format("the spring {} does nothing", mechanician::quoted(name)),
                  "give stiffness, damping, or a law of length and rate");
  if (law && (stiffness || damping || free)) return report(*law, "a spring has a law or a stiffness", "leave one out");
  const auto p = point_named(between->value.items[0]), q = point_named(between->value.items[1]);
  if (!p || !q) return;
  if (p->body == q->body)
    return report(between->value, fmt::format("both ends of {} are on the same body", mechanician::quoted(name)));
  const Span span = span_of(field);
  const Vector P = define(name + ".first", point(p->body, p->local), span),
               Q = define(name + ".second", point(q->body, q->local), span);
  const Vector apart = Q - P;
  const Formula squared = square(apart[0]) + square(apart[1]) + square(apart[2]);
  const Formula length = define(name + ".length", sqrt(squared), span);
  Formula tension = 0.0;
  bool closes = false;  // may have no length
  if (stiffness) {
    const auto k = formula(stiffness->value, path, "N/m");
    const Body &one = bodies_[static_cast<std::size_t>(p->body)], &two = bodies_[static_cast<std::size_t>(q->body)];
    const auto natural = free ? formula(free->value, path, "m")
                              : std::optional(norm(two.at + two.R * q->local - one.at - one.R * p->local));
    if (!k || !natural) return;
    closes = natural->is_zero();
    // A spring without a length has no direction; said here, since its energy is one of a sum later.
    const TomlMember* start = root_.find("start");
    const bool begins_there = !start || !(start->value.find("assemble") || start->value.find("from"));
    if (!closes && begins_there && norm(two.at + two.R * q->local - one.at - one.R * p->local).value == 0.0)
      return report(field,
                    fmt::format("the spring {} has no length at the start, and no direction in which it could push",
                                mechanician::quoted(name)),
                    "begin with its ends apart, or give free = 0");
    define(name + ".potential", 0.5 * *k * (natural->is_zero() ? squared : square(length - *natural)), span);
    potential_.push_back(name + ".potential");
    tension = tension + *k * (length - *natural);
  }
  // Without a length it has no direction, and no rate. Sines of angles are bounded there, quotients are not.
  Vector n;
  Formula rate = closes ? Formula(0.0) : rate_of(length);
  for (std::size_t k = 0; closes && k < 3; ++k) {
    const Formula &x = apart[k], &y = apart[(k + 1) % 3], &z = apart[(k + 2) % 3];
    if (x.is_zero()) continue;
    n[k] = define(component(name + ".along", static_cast<int>(k)),
                  named(fmt::format("sin(atan({}/(hypot({}, {}) + 1e-200)))", x.str(), y.str(), z.str())), span);
    rate = rate + n[k] * (rate_of(Q[k]) - rate_of(P[k]));
  }
  rate = define(name + ".rate", rate, span);
  Formula given = 0.0;  // what is no gradient
  if (damping) {
    const auto c = formula(damping->value, path, "N*s/m");
    if (!c) return;
    given = *c * rate;
  }
  if (law) {
    // `length` and `rate` are those of this spring.
    if (law->value.type != TomlValue::Type::string)
      return report(law->value, "the law of a spring is an expression of length and rate");
    std::string text;
    const std::string& own = law->value.text;
    for (std::size_t at = 0; at < own.size();) {
      const auto word = [&](std::string_view w) {
        const bool before = at > 0 && (is_name_part(static_cast<unsigned char>(own[at - 1])) || own[at - 1] == '.');
        const std::size_t end = at + w.size();
        return !before && own.compare(at, w.size(), w) == 0 &&
               (end >= own.size() || !(is_name_part(static_cast<unsigned char>(own[end])) || own[end] == '.'));
      };
      if (word("length"))
        text += name + ".length", at += 6;
      else if (word("rate"))
        text += name + ".rate", at += 4;
      else
        text += own[at++];
    }
    given = define(name + ".law", named("(" + text + ")"), {law->value.begin, law->value.end});
  }
  define(name + ".tension", tension + given, span);
  if (given.is_zero()) return;
  // The tension pulls the ends towards each other.
  Vector force;
  if (closes && damping) {
    // Without a length the damper has no direction, and no force.
    const Formula pull = define(name + ".pull", given, span);
    force = pull * n;
  } else {
    const Formula pull = define(name + ".pull", given / length, span);
    force = pull * apart;
  }
  apply(p->body, P, force, {0.0, 0.0, 0.0}, span);
  apply(q->body, Q, -force, {0.0, 0.0, 0.0}, span);
}

void Layer::write_force(const TomlMember& field) {
  const TomlValue& table = field.value;
  const std::string name = field.name;
  fields_.check_keys(table, {"at", "on", "vector", "torque", "frame"},
                     fmt::format("in the force {}", mechanician::quoted(name)));
  const TomlMember *at = table.find("at"), *on = table.find("on"), *vector = table.find("vector"),
                   *torque = table.find("torque"), *frame = table.find("frame");
  if ((!vector || !at) && (!torque || !(on || at)))
    return report(field,
                  fmt::format("the force {} is a vector at a point, or a torque on a body", mechanician::quoted(name)),
                  "at = \"tip\" and vector = [x, y, z]; or on = \"crank\" and torque = [x, y, z]");
  bool in_body = false;
  if (frame) {
    const std::string* word = fields_.string(*frame, "`frame`");
    if (word && *word != "world" && *word != "body")
      report(frame->value, fmt::format("`frame` cannot be {}", mechanician::quoted(*word)), "it is world or body");
    in_body = word && *word == "body";
  }
  std::optional<Mark> point_at;
  int body = 0;
  if (at) {
    point_at = point_named(at->value);
    if (!point_at) return;
    body = point_at->body;
  }
  if (on) {
    const auto b = body_named(on->value, "`on`");
    if (!b) return;
    if (at && *b != body)
      return report(*on, fmt::format("the point of {} is on another body", mechanician::quoted(name)));
    body = *b;
  }
  if (body == 0)
    return report(field, fmt::format("the force {} acts on the ground", mechanician::quoted(name)),
                  "it would do nothing");
  const auto components = [&](const TomlMember& m, const char* key) -> std::optional<Vector> {
    if (m.value.type != TomlValue::Type::array || m.value.items.size() != 3) {
      report(m.value, fmt::format("`{}` is a list of three expressions", m.name));
      return std::nullopt;
    }
    Vector v;
    for (std::size_t k = 0; k < 3; ++k) {
      const TomlValue& item = m.value.items[k];
      if (item.type == TomlValue::Type::number) {
        v[k] = item.number;
        continue;
      }
      const std::string own = fmt::format("{}.{}{}", name, key, xyz[k]);
      define_as_written(own, item);
      v[k] = named(own);
    }
    return in_body ? world(body, v) : v;
  };
  const Vector none{0.0, 0.0, 0.0};
  const Span span = span_of(field);
  const auto f = vector ? components(*vector, "f") : std::optional(none),
             t = torque ? components(*torque, "t") : std::optional(none);
  if (!f || !t) return;
  const Vector where = point_at ? point(body, point_at->local) : bodies_[static_cast<std::size_t>(body)].pose.p;
  apply(body, where, *f, *t, span);
}

void Layer::write_contact(const TomlMember& field) {
  const TomlValue& table = field.value;
  const std::string name = field.name, shown = mechanician::quoted(name), path = "contacts." + name;
  fields_.check_keys(table, {"point", "sphere", "box", "plane", "with", "restitution", "friction"},
                     fmt::format("in the contact {}", shown));
  const TomlMember *point_key = table.find("point"), *sphere = table.find("sphere"), *box = table.find("box"),
                   *plane = table.find("plane"), *with = table.find("with");
  if ((point_key != nullptr) + (sphere != nullptr) + (box != nullptr) != 1)
    return report(
        field, fmt::format("the contact {} is one of a point, a sphere or a box", shown),
        "point = \"p\", sphere = { on = \"ball\", radius = 0.1 } or box = { on = \"crate\", size = [a, b, c] }");
  if ((plane != nullptr) + (with != nullptr) != 1 || (with && !sphere))
    return report(
        field, fmt::format("the contact {} is with a plane, or of a sphere with a sphere", shown),
        "plane = { at = [0, 0, 0], normal = [0, 0, 1] }, or with = { sphere = { on = \"ball\", radius = 0.1 } }");
  const Span span = span_of(field);
  // The points that can touch: on a body, with a radius around them.
  struct Spot {
    int body;
    Vector local;
    Formula radius;
  };
  const auto read_sphere = [&](const TomlMember& m) -> std::optional<Spot> {
    const TomlMember *on = m.value.find("on"), *radius = m.value.find("radius"), *at = m.value.find("at");
    fields_.check_keys(m.value, {"on", "radius", "at"}, fmt::format("in {}", mechanician::quoted(path)));
    if (!on || !radius)
      return report(m, "a sphere has a body and a radius", "sphere = { on = \"ball\", radius = 0.1 }"), std::nullopt;
    const auto body = body_named(on->value, "`on`");
    const auto r = formula(radius->value, path, "m");
    const auto local = at ? vector(*at, path, "m") : std::optional(Vector{0.0, 0.0, 0.0});
    if (!body || !r || !local) return std::nullopt;
    return Spot{*body, *local, *r};
  };
  std::vector<Spot> spots;
  if (point_key) {
    const auto p = point_named(point_key->value);
    if (!p) return;
    spots.push_back({p->body, p->local, 0.0});
  } else if (sphere) {
    const auto s = read_sphere(*sphere);
    if (!s) return;
    spots.push_back(*s);
  } else {
    const TomlMember *on = box->value.find("on"), *size = box->value.find("size"), *at = box->value.find("at");
    fields_.check_keys(box->value, {"on", "size", "at"}, fmt::format("in {}", mechanician::quoted(path)));
    if (!on || !size) return report(*box, "a box has a body and a size", "box = { on = \"crate\", size = [a, b, c] }");
    const auto body = body_named(on->value, "`on`");
    const auto s = vector(*size, path, "m");
    const auto middle = at ? vector(*at, path, "m") : std::optional(Vector{0.0, 0.0, 0.0});
    if (!body || !s || !middle) return;
    for (int corner = 0; corner < 8; ++corner) {
      Vector local = *middle;
      bool twice = false;
      for (int k = 0; k < 3; ++k) {
        const bool far = (corner >> k & 1) != 0, flat = is_planar() && k != plane_[0] && k != plane_[1];
        const auto i = static_cast<std::size_t>(k);
        twice = twice || (flat && far);
        if (!flat) local[i] = local[i] + (far ? 0.5 : -0.5) * (*s)[i];
      }
      if (!twice) spots.push_back({*body, local, 0.0});
    }
  }
  Spot other{0, {0.0, 0.0, 0.0}, 0.0};
  Vector normal{0.0, 0.0, 1.0};
  if (plane) {
    const TomlMember *at = plane->value.find("at"), *n = plane->value.find("normal"), *on = plane->value.find("on");
    fields_.check_keys(plane->value, {"at", "normal", "on"}, fmt::format("in {}", mechanician::quoted(path)));
    if (!n) return report(*plane, "a plane has a normal", "plane = { at = [0, 0, 0], normal = [0, 0, 1] }");
    const auto direction_of = direction(*n, path);
    const auto where = at ? vector(*at, path, "m") : std::optional(Vector{0.0, 0.0, 0.0});
    const auto body = on ? body_named(on->value, "`on`") : std::optional(0);
    if (!direction_of || !where || !body) return;
    const Placement placed = *body == 0 ? placement_of(name) : Placement();
    other.body = *body, other.local = placed.point(*where), normal = placed.direction(*direction_of);
  } else {
    fields_.check_keys(with->value, {"sphere"}, fmt::format("in {}", mechanician::quoted(path)));
    const TomlMember* s = with->value.find("sphere");
    const auto second = s ? read_sphere(*s) : std::nullopt;
    if (!second)
      return s ? void()
               : report(*with, "a sphere touches a plane or a sphere",
                        "with = { sphere = { on = \"ball\", radius = 0.1 } }");
    other = *second;
  }
  const TomlMember *restitution = table.find("restitution"), *friction = table.find("friction");
  const auto velocity = [&](int body, const Vector& at) {
    const Pose& pose = bodies_[static_cast<std::size_t>(body)].pose;
    Vector rate;
    for (std::size_t k = 0; k < 3; ++k) rate[k] = body == 0 ? Formula(0.0) : rate_of(pose.p[k]);
    return rate + cross(pose.R * pose.w, at - pose.p);
  };
  for (std::size_t i = 0; i < spots.size(); ++i) {
    const Spot& spot = spots[i];
    const std::string own = spots.size() == 1 ? name : fmt::format("{}[{}]", name, i + 1);
    const std::string stem = spots.size() == 1 ? name : fmt::format("{}.corner{}", name, i + 1);
    if (spot.body == other.body) return report(field, fmt::format("the contact {} is of a body with itself", shown));
    const Vector P = define(stem + ".point", point(spot.body, spot.local), span);
    const Vector at = define(stem + ".at", point(other.body, other.local), span);
    Vector n;
    Formula gap;
    if (plane) {
      n = define(stem + ".normal", world(other.body, normal), span);
      gap = dot(n, P - at) - spot.radius;
    } else {
      const Vector apart = P - at;
      const Formula length = define(stem + ".length", norm(apart), span);
      n = define(stem + ".normal", Vector{apart[0] / length, apart[1] / length, apart[2] / length}, span);
      gap = length - spot.radius - other.radius;
    }
    Statement row{own, define(stem + ".gap", gap, span).str() + " >= 0", span};
    if (restitution) row.parts.emplace_back("restitution", restitution->value);
    if (friction) {
      const Vector touch = define(stem + ".touch", P - spot.radius * n, span);
      Vector slip = velocity(spot.body, touch);
      if (other.body != 0) slip = slip - velocity(other.body, touch);
      slip = define(stem + ".slip", slip, span);
      const Across t = across(plane ? normal : n);
      TomlValue list;
      list.type = TomlValue::Type::array, list.begin = span.begin, list.end = span.end;
      for (const bool second : {false, true}) {
        Vector v = second ? t.f : t.e;
        if (plane) v = world(other.body, v);
        v = define(stem + (second ? ".f" : ".e"), v, span);
        if (is_planar() && std::abs(dot(v, normal_).value) > 0.5) continue;
        list.items.push_back(text_value(dot(slip, v).str(), span));
      }
      row.parts.emplace_back("friction", friction->value);
      row.parts.emplace_back("slip", list.items.size() == 1 ? list.items.front() : list);
    }
    constraints_.push_back(std::move(row));
  }
}

}  // namespace mechanician::bodies
