// [joints]: types, frames and coordinates. See bodies.hpp.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "mechanician/base/text.hpp"
#include "mechanician/model/bodies_internal.hpp"

namespace mechanician::bodies {

namespace {

constexpr std::array<std::string_view, 14> type_names = {
    "fixed", "revolute", "prismatic",     "cylindrical",    "spherical", "planar",        "universal",
    "screw", "distance", "point_on_line", "point_on_plane", "parallel",  "perpendicular", "rolling"};

Matrix frame(const Vector& axis) {
  const Across a = across(axis);
  return columns(a.e, a.f, axis);
}

bool has_axis(JointType type) {
  return type != JointType::fixed && type != JointType::spherical && type != JointType::distance &&
         type != JointType::rolling;
}

/// Lines and planes belong to the first body: of the second there is a point.
bool has_axis_on_first_alone(JointType type) {
  return type == JointType::point_on_line || type == JointType::point_on_plane;
}

bool has_second_axis(JointType type) { return type == JointType::universal || type == JointType::perpendicular; }

/// Where nothing is said of it, the point is the origin of the second body.
bool needs_point(JointType type) {
  return type != JointType::prismatic && type != JointType::fixed && type != JointType::parallel &&
         type != JointType::perpendicular && type != JointType::rolling;
}

/// Which of the two quaternions a joint turns by where it stands at zero: the one that leads from `turned` of the first body to that of the second.
double side_of(const Body& one, const Body& two, const Joint& joint) {
  const Quaternion& q = one.turned;
  const Quaternion between = Quaternion{q[0], -q[1], -q[2], -q[3]} * two.turned;
  const Quaternion own = quaternion_of(joint.F1) * quaternion_of(transpose(joint.F2));
  double along = 0.0;
  for (std::size_t k = 0; k < 4; ++k) along += between[k].value * own[k].value;
  return along < 0.0 ? -1.0 : 1.0;
}

}  // namespace

std::string_view in_words(JointType type) { return type_names[static_cast<std::size_t>(type)]; }

void Layer::read_joint(const TomlMember& field) {
  if (!take_name(field, "joint")) return;
  const TomlValue& table = field.value;
  const std::string path = "joints." + field.name, name = mechanician::quoted(field.name);
  fields_.check_keys(table, {"type",   "between", "at",     "axis",    "at2",    "axis2",       "first",
                             "second", "pitch",   "length", "radius",  "plane",  "edge",        "drive",
                             "torque", "force",   "spring", "damping", "limits", "restitution", "engaged"},
                     fmt::format("in the joint {}", name));
  Joint joint;
  joint.name = field.name, joint.span = {field.begin, field.end}, joint.table = &table;
  const std::vector<std::string> known(type_names.begin(), type_names.end());
  const TomlMember *type = table.find("type"), *between = table.find("between");
  if (!type)
    return report(field, fmt::format("the joint {} has no type", name),
                  fmt::format("the types are {}", quote_list(known, 20)));
  const std::string* word = fields_.string(*type, "`type`");
  if (!word) return void(good_ = false);
  const auto found = std::find(type_names.begin(), type_names.end(), *word);
  if (found == type_names.end()) {
    const std::string near = nearest(*word, known);
    return report(type->value, fmt::format("there is no joint of the type {}", mechanician::quoted(*word)),
                  near.empty() ? fmt::format("the types are {}", quote_list(known, 20))
                               : fmt::format("did you mean `{}`?", near));
  }
  joint.type = static_cast<JointType>(found - type_names.begin());
  if (!between || between->value.type != TomlValue::Type::array || between->value.items.size() != 2) {
    const std::string hint = "for example between = [\"ground\", \"crank\"]";
    if (between) return report(between->value, "a joint is between two bodies", hint);
    return report(field, fmt::format("the joint {} does not say what it is between", name), hint);
  }
  const auto first = body_named(between->value.items[0], "what a joint is between"),
             second = body_named(between->value.items[1], "what a joint is between");
  if (!first || !second) return;
  if (*first == *second)
    return report(between->value, fmt::format("the joint {} ties {} to itself", name,
                                              mechanician::quoted(bodies_[static_cast<std::size_t>(*first)].name)));
  joint.first = *first, joint.second = *second;
  if (!read_frames(joint, field)) return;
  for (Matrix* F : {&joint.F1, &joint.F2})
    for (Vector& row : *F) drop_rounding(row);
  for (Vector* r : {&joint.r1, &joint.r2}) drop_rounding(*r, norm(*r).value);
  shorten(joint.name + ".point1", joint.r1, joint.span), shorten(joint.name + ".point2", joint.r2, joint.span);
  shorten(joint.name + ".frame1", joint.F1, joint.span), shorten(joint.name + ".frame2", joint.F2, joint.span);

  const auto number = [&](const char* key, Formula& to) {
    const TomlMember* m = table.find(key);
    const auto f = m ? formula(m->value, path + "." + key, "m") : std::nullopt;
    if (f) to = *f;
    return f.has_value();
  };
  if (joint.type == JointType::screw && !table.find("pitch"))
    return report(field, fmt::format("the screw {} has no pitch", name), "it is the way along the axis for one turn");
  number("pitch", joint.pitch);
  if (joint.type == JointType::distance) {
    const Body &a = bodies_[static_cast<std::size_t>(*first)], &b = bodies_[static_cast<std::size_t>(*second)];
    if (!number("length", joint.length)) joint.length = norm(b.at + b.R * joint.r2 - a.at - a.R * joint.r1);
    if (!(joint.length.value > 0.0))
      return report(field, fmt::format("the two points of {} are to be at no distance", name),
                    "that is a joint of the type `spherical`");
  }
  for (const auto& [key, only] : {std::pair("pitch", JointType::screw), std::pair("length", JointType::distance),
                                  std::pair("radius", JointType::rolling), std::pair("plane", JointType::rolling),
                                  std::pair("edge", JointType::rolling)})
    if (const TomlMember* m = table.find(key); m && joint.type != only)
      report(*m, fmt::format("a joint of the type `{}` has no {}", in_words(joint.type), key));
  if (const TomlMember* m = table.find("axis2"); m && !has_second_axis(joint.type))
    report(*m, fmt::format("a joint of the type `{}` has no axis2", in_words(joint.type)));

  const auto coordinate = [&](const char* key, bool turns) {
    JointCoordinate c;
    c.key = key, c.name = joint.name + "." + key, c.turns = turns;
    joint.coordinates.push_back(std::move(c));
  };
  switch (joint.type) {
    case JointType::revolute:
      coordinate("angle", true);
      break;
    case JointType::prismatic:
      coordinate("distance", false);
      break;
    case JointType::cylindrical:
      coordinate("angle", true), coordinate("distance", false);
      break;
    case JointType::screw:
      coordinate("angle", true), coordinate("distance", false);
      break;
    case JointType::universal:
      coordinate("angle", true), coordinate("angle2", true);
      break;
    case JointType::planar:
      coordinate("distance", false), coordinate("distance2", false), coordinate("angle", true);
      break;
    default:
      break;
  }
  if (joint.type == JointType::rolling && !read_rolling(joint, field)) return;
  joint.side = side_of(bodies_[static_cast<std::size_t>(*first)], bodies_[static_cast<std::size_t>(*second)], joint);
  if (const TomlMember* m = table.find("engaged")) {
    if (m->value.type != TomlValue::Type::boolean)
      return report(m->value, "`engaged` is true or false",
                    "with engaged = false the joint begins released, and an event engages it");
    joint.engaged = m->value.number != 0.0;
  }
  joints_.push_back(std::move(joint));
}

bool Layer::read_frames(Joint& joint, const TomlMember& field) {
  const TomlValue& table = field.value;
  const std::string path = "joints." + field.name, name = mechanician::quoted(field.name);
  const Body &one = bodies_[static_cast<std::size_t>(joint.first)],
             &two = bodies_[static_cast<std::size_t>(joint.second)];
  const Matrix R1t = transpose(one.R), R2t = transpose(two.R);
  const TomlMember *first = table.find("first"), *second = table.find("second"), *at = table.find("at"),
                   *axis = table.find("axis"), *at2 = table.find("at2"), *axis2 = table.find("axis2");
  const bool own = first || second;
  if (own && (!first || !second || at || axis || at2 || axis2))
    return report(field,
                  fmt::format("the frames of {} are given by `first` and `second`, or by `at` and `axis` in the world",
                              name)),
           false;
  const Placement placed = placement_of(joint.name);
  Vector a1{0.0, 0.0, 1.0}, a2{0.0, 0.0, 1.0};  // axes, in the bodies
  bool axes = false;
  if (own) {
    const TomlMember* ends[2] = {first, second};
    for (const std::size_t k : {0, 1}) {
      if (!fields_.table(*ends[k], fmt::format("`{}`", ends[k]->name))) return good_ = false;
      fields_.check_keys(ends[k]->value, {"at", "axis"},
                         fmt::format("in {}", mechanician::quoted(path + "." + ends[k]->name)));
      const TomlMember *r = ends[k]->value.find("at"), *a = ends[k]->value.find("axis");
      Vector local{0.0, 0.0, 0.0};
      if (r) {
        const auto v = vector(*r, path, "m");
        if (!v) return false;
        local = *v;
      }
      const bool on_ground = (k == 0 ? joint.first : joint.second) == 0;
      if (on_ground) local = placed.point(local);
      (k == 0 ? joint.r1 : joint.r2) = local;
      if (a) {
        const auto v = direction(*a, path);
        if (!v) return false;
        (k == 0 ? a1 : a2) = on_ground ? placed.direction(*v) : *v;
      } else if (has_axis(joint.type) && (k == 0 || !has_axis_on_first_alone(joint.type))) {
        return report(*ends[k], fmt::format("the joint {} has no axis", name), "give axis = [x, y, z]"), false;
      }
    }
    axes = has_axis(joint.type);
  } else {
    if (!at && needs_point(joint.type))
      return report(field, fmt::format("the joint {} does not say where it is", name),
                    "give at = [x, y, z] in the world, with the bodies where `start` puts them"),
             false;
    if (joint.type == JointType::distance && !at2)
      return report(field, fmt::format("the joint {} is between two points", name), "give at and at2, in the world"),
             false;
    if (at2 && joint.type != JointType::distance)
      return report(*at2, fmt::format("a joint of the type `{}` has no at2", in_words(joint.type))), false;
    if (!axis && has_axis(joint.type))
      return report(field, fmt::format("the joint {} has no axis", name), "give axis = [x, y, z]"), false;
    if (!axis2 && has_second_axis(joint.type))
      return report(field, fmt::format("the joint {} has no axis2", name),
                    "axis is fixed on the first body, axis2 on the second"),
             false;
    Vector where = two.at;
    if (at) {
      const auto v = vector(*at, path, "m");
      if (!v) return false;
      where = placed.point(*v);
    }
    joint.r1 = R1t * (where - one.at);
    if (at2) {
      const auto v = vector(*at2, path, "m");
      if (!v) return false;
      where = placed.point(*v);
    }
    joint.r2 = R2t * (where - two.at);
    if (axis) {
      const auto v = direction(*axis, path);
      if (!v) return false;
      a1 = R1t * placed.direction(*v), a2 = R2t * placed.direction(*v), axes = true;
    }
    if (axis2) {
      const auto v = direction(*axis2, path);
      if (!v) return false;
      a2 = R2t * placed.direction(*v);
    }
  }
  // Frames are made of the axes many times over.
  shorten(joint.name + ".axis1", a1, joint.span), shorten(joint.name + ".axis2", a2, joint.span);
  if (joint.type == JointType::universal) {
    const double off = dot(one.R * a1, two.R * a2).value;
    if (std::abs(off) > 1e-6 && !own)
      return report(axis2 ? *axis2 : field,
                    fmt::format("the axes of {} are not perpendicular: they make an angle of {}°", name,
                                short_number(std::acos(std::clamp(off, -1.0, 1.0)) * 180 / 3.14159265358979323846))),
             false;
    // What was taken for perpendicular is so, to rounding: axes are often written with a few digits.
    if (std::abs(off) > 1e-15 && !own) {
      const Vector other = R2t * (one.R * a1);
      a2 = unit(a2 - dot(a2, other) * other);
      shorten(joint.name + ".square2", a2, joint.span);
    }
    // e is the second axis, the third column the first one, in both bodies.
    Vector seen1 = R1t * (two.R * a2), seen2 = R2t * (one.R * a1);
    shorten(joint.name + ".seen1", seen1, joint.span), shorten(joint.name + ".seen2", seen2, joint.span);
    Vector e1 = unit(seen1 - dot(seen1, a1) * a1), c2 = unit(seen2 - dot(seen2, a2) * a2);
    shorten(joint.name + ".across1", e1, joint.span), shorten(joint.name + ".across2", c2, joint.span);
    joint.F1 = columns(e1, cross(a1, e1), a1), joint.F2 = columns(a2, cross(c2, a2), c2);
  } else if (joint.type == JointType::perpendicular) {
    joint.F1 = frame(a1), joint.F2 = frame(a2);
  } else if (!axes) {
    joint.F1 = identity(), joint.F2 = R2t * one.R;
  } else if (!own || has_axis_on_first_alone(joint.type)) {
    // One frame in the world, seen from both.
    joint.F1 = frame(a1);
    shorten(joint.name + ".frame1", joint.F1, joint.span);
    joint.F2 = R2t * (one.R * joint.F1);
  } else {
    joint.F1 = frame(a1);
    const Vector seen = R2t * (one.R * column(joint.F1, 0)), other = R2t * (one.R * a1);
    Vector flat = seen - dot(seen, a2) * a2;
    // Of a guess that is turned by more than a right angle: where the least turn that brings the axes together takes it.
    if (const double together = dot(other, a2).value; together < 0.0 && together > -1.0 + 1e-9)
      flat = seen - (dot(seen, a2) / (1.0 + dot(other, a2))) * (other + a2);
    if (!(norm(flat).value > 1e-6))
      return report(field, fmt::format("the axes of {} are perpendicular where `start` puts the bodies", name)), false;
    const Vector e = unit(flat);
    joint.F2 = columns(e, cross(a2, e), a2);
  }
  if (is_planar()) {
    // What turns does so about the normal, what slides stays in the plane.
    const double along = std::abs(dot(one.R * a1, normal_).value);
    const bool turns = joint.type == JointType::revolute || joint.type == JointType::planar;
    const bool slides = joint.type == JointType::prismatic || joint.type == JointType::cylindrical ||
                        joint.type == JointType::point_on_line;
    if (turns && std::abs(along - 1.0) > 1e-9)
      return report(field, fmt::format("the axis of {} is not the normal of the plane of [world]", name)), false;
    if (slides && along > 1e-9)
      return report(field, fmt::format("the axis of {} does not lie in the plane of [world]", name)), false;
    if (joint.type == JointType::universal || joint.type == JointType::screw)
      return report(field,
                    fmt::format("a joint of the type `{}` leads out of the plane of [world]", in_words(joint.type))),
             false;
  }
  return true;
}

bool Layer::read_rolling(Joint& joint, const TomlMember& field) {
  const TomlValue& table = field.value;
  const std::string path = "joints." + field.name, name = mechanician::quoted(field.name);
  const Body &one = bodies_[static_cast<std::size_t>(joint.first)],
             &two = bodies_[static_cast<std::size_t>(joint.second)];
  const TomlMember *radius = table.find("radius"), *plane = table.find("plane"), *axis = table.find("axis"),
                   *edge = table.find("edge");
  if (!radius || !plane)
    return report(field, fmt::format("the joint {} has no {}", name, radius ? "plane" : "radius"),
                  "for example radius = 0.3, plane = { at = [0, 0, 0], normal = [0, 0, 1] }"),
           false;
  const auto r = formula(radius->value, path + ".radius", "m");
  if (!r || !fields_.table(*plane, "`plane`")) return good_ = false;
  if (!(r->value > 0.0)) return report(radius->value, fmt::format("the radius of {} is not positive", name)), false;
  joint.radius = *r;
  fields_.check_keys(plane->value, {"at", "normal"}, fmt::format("in {}", mechanician::quoted(path + ".plane")));
  const TomlMember *at = plane->value.find("at"), *normal = plane->value.find("normal");
  if (!normal) return report(*plane, "a plane has a normal", "plane = { at = [0, 0, 0], normal = [0, 0, 1] }"), false;
  const auto n = direction(*normal, path);
  std::optional<Vector> p = Vector{0.0, 0.0, 0.0};
  if (at) p = vector(*at, path, "m");
  if (!n || !p) return false;
  const Placement placed = placement_of(joint.name);
  joint.plane_at = transpose(one.R) * (placed.point(*p) - one.at),
  joint.normal = transpose(one.R) * placed.direction(*n);
  joint.r2 = {0.0, 0.0, 0.0};
  if (axis) {
    const auto a = direction(*axis, path);
    if (!a) return false;
    joint.ball = false;
    joint.F2 = frame(transpose(two.R) * placed.direction(*a));
    const bool sharp = edge && edge->value.type == TomlValue::Type::string && edge->value.text == "sharp";
    if (edge && !sharp) {
      const auto e = formula(edge->value, path + ".edge", "m");
      if (!e) return false;
      if (!(e->value >= 0.0) || e->value >= r->value)
        return report(edge->value, fmt::format("the edge of {} is a radius below that of the wheel", name),
                      "or \"sharp\""),
               false;
      joint.edge = *e;
    }
    if (std::abs(dot(*a, *n).value) > 1.0 - 1e-9)
      return report(*axis, fmt::format("the wheel {} lies flat on the plane", name)), false;
  } else if (edge) {
    return report(*edge, "a ball has no edge", "with an axis it is a wheel"), false;
  }
  return true;
}

}  // namespace mechanician::bodies
