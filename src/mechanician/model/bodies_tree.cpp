// Where the bodies are: coordinates of their own, or those of joints along a tree. See bodies.hpp.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "mechanician/base/text.hpp"
#include "mechanician/model/bodies_internal.hpp"

namespace mechanician::bodies {

namespace {

constexpr const char* xyz[3] = {"x", "y", "z"};
constexpr const char* wxyz[4] = {"qw", "qx", "qy", "qz"};

bool is_zero(const Vector& v) { return v[0].is_zero() && v[1].is_zero() && v[2].is_zero(); }

/// The rotation of a quaternion that is one long: a quadratic form of it, times 2 less the square of its length. Stretching the
/// quaternion so changes nothing to first order: no joint pulls along it, and what keeps its length has a multiplier that has no part in
/// those of joints, also where these are not determined and the least are taken.
Matrix rotation_of(const Quaternion& q, const Formula& rest) {
  Matrix R = matrix_of(q);
  for (Vector& row : R)
    for (Formula& f : row) f = rest * f;
  return R;
}

Quaternion about(int axis, const Formula& angle) {
  Quaternion q{cos(angle / 2.0), 0.0, 0.0, 0.0};
  q[static_cast<std::size_t>(axis) + 1] = sin(angle / 2.0);
  return q;
}

}  // namespace

// ---- poses

Layer::Relative Layer::relative(const Joint& joint) const {
  const auto& c = joint.coordinates;
  const Vector zero{0.0, 0.0, 0.0};
  Relative r{identity(), zero, zero, zero, {1.0, 0.0, 0.0, 0.0}};
  Matrix rest = joint.F1 * transpose(joint.F2);
  for (Vector& row : rest) drop_rounding(row);
  const Vector e = column(joint.F1, 0), a = column(joint.F1, 2);
  const auto turned = [&](const JointCoordinate& k) {
    r.R = turn(a, cos(k.symbol), sin(k.symbol)) * rest;
    r.w = {0.0, 0.0, k.rate}, r.q = about(2, k.symbol);
  };
  r.R = rest;
  switch (joint.type) {
    case JointType::revolute:
      turned(c[0]);
      break;
    case JointType::prismatic:
      r.d[2] = c[0].symbol, r.d_rate[2] = c[0].rate;
      break;
    case JointType::cylindrical:
    case JointType::screw:
      turned(c[0]);
      r.d[2] = c[1].symbol, r.d_rate[2] = c[1].rate;
      break;
    case JointType::planar:
      turned(c[2]);
      for (const std::size_t k : {0, 1}) r.d[k] = c[k].symbol, r.d_rate[k] = c[k].rate;
      break;
    case JointType::universal: {
      const Formula c2 = cos(c[1].symbol), s2 = sin(c[1].symbol);
      r.R = turn(a, cos(c[0].symbol), sin(c[0].symbol)) * (turn(e, c2, s2) * rest);
      r.w = {c[1].rate, s2 * c[0].rate, c2 * c[0].rate};
      r.q = about(2, c[0].symbol) * about(0, c[1].symbol);
      break;
    }
    case JointType::spherical:
      r.q = joint.q;
      r.R = joint.F1 * (rotation_of(r.q, joint.rest) * transpose(joint.F2)), r.w = spin_of(r.q, joint.q_rate);
      break;
    default:
      break;
  }
  return r;
}

Pose Layer::pose_behind(const Joint& joint, const Pose& from, bool to_second, const std::string& name, Span span) {
  Relative r = relative(joint);
  const auto keep = [&](const std::string& suffix, const Formula& f) {
    return name.empty() ? f : define(name + "." + suffix, f, span);
  };
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      if (!name.empty()) r.R[i][j] = define(fmt::format("{}.k{}{}", joint.name, i + 1, j + 1), r.R[i][j], joint.span);
  Pose to;
  const Matrix back = transpose(r.R);  // components along the first body to those along the second
  const Vector d = joint.F1 * r.d, d_rate = joint.F1 * r.d_rate, w2 = joint.F2 * r.w;
  to.R = from.R * (to_second ? r.R : back);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) to.R[i][j] = keep(fmt::format("r{}{}", i + 1, j + 1), to.R[i][j]);
  if (to_second) {
    to.p = from.p + from.R * (joint.r1 + d) - to.R * joint.r2;
    to.w = back * from.w + w2;
  } else {
    to.p = from.p + from.R * joint.r2 - to.R * (joint.r1 + d);
    to.w = r.R * (from.w - w2);
  }
  for (std::size_t k = 0; k < 3; ++k) to.w[k] = keep(std::string("w") + xyz[k], to.w[k]);
  if (to_second)
    to.u = back * (from.u + cross(from.w, joint.r1 + d) + d_rate) - cross(to.w, joint.r2);
  else
    to.u = r.R * (from.u + cross(from.w, joint.r2)) - cross(to.w, joint.r1 + d) - d_rate;
  for (std::size_t k = 0; k < 3; ++k)
    to.p[k] = keep(xyz[k], to.p[k]), to.u[k] = keep(std::string("u") + xyz[k], to.u[k]);
  const Quaternion f1 = quaternion_of(joint.F1), f2 = quaternion_of(transpose(joint.F2));
  Quaternion q = f1 * (r.q * f2);
  for (Formula& part : q) part = joint.side * part;
  if (!to_second) q = {q[0], -q[1], -q[2], -q[3]};
  to.q = from.q * q;
  for (std::size_t k = 0; k < 4 && !is_planar(); ++k) to.q[k] = keep(wxyz[k], to.q[k]);
  if (is_planar()) {
    // Turns add up in the plane.
    const double side = dot(from.R * column(to_second ? joint.F1 : joint.F2, 2), normal_).value;
    Formula turned = 0.0;
    for (const JointCoordinate& c : joint.coordinates)
      if (c.turns) turned = turned + (side > 0.0 ? c.symbol : -c.symbol);
    to.angle = from.angle + (to_second ? turned : -turned);
  }
  return to;
}

void Layer::place_bodies() {
  if (!good_) return;
  bodies_[0].pose = {{0.0, 0.0, 0.0}, identity(), {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}};
  const auto angle_of = [&](const Matrix& R) {
    Vector e{0.0, 0.0, 0.0}, f = e;
    e[static_cast<std::size_t>(plane_[0])] = 1.0, f[static_cast<std::size_t>(plane_[1])] = 1.0;
    const Formula c = dot(e, R * e), s = dot(f, R * e);
    const double angle = std::atan2(s.value, c.value);
    return c.is_number() && s.is_number() ? Formula(angle)
                                          : Formula(angle, fmt::format("atan2({}, {})", s.str(), c.str()), 3, false);
  };
  for (Body& b : bodies_)
    if (is_planar()) b.angle = angle_of(b.R), b.given_angle = angle_of(b.given_R);
  find_loads();
  for (const int i : order_) {
    Body& b = bodies_[static_cast<std::size_t>(i)];
    if (b.parent < 0)
      make_root(b);
    else
      make_child(b);
    finish_body(b);
  }
  for (const auto* marks : {&points_, &directions_})
    for (const Mark& m : *marks) {
      const Vector v = marks == &points_ ? point(m.body, m.local) : world(m.body, m.local);
      define(m.name, v, m.span);
    }
}

/// The quaternion of a body in the plane, by its angle.
void Layer::half_turned(Body& b) {
  const Formula s = sin(b.pose.angle / 2.0);
  b.pose.q = {cos(b.pose.angle / 2.0), s * normal_[0], s * normal_[1], s * normal_[2]};
  for (std::size_t k = 0; k < 4; ++k) b.pose.q[k] = define(b.name + "." + wxyz[k], b.pose.q[k], b.span);
}

void Layer::make_root(Body& b) {
  Pose& pose = b.pose;
  Vector rate;
  for (std::size_t k = 0; k < 3; ++k) {
    const std::string name = b.name + "." + xyz[k];
    if (is_planar() && static_cast<int>(k) != plane_[0] && static_cast<int>(k) != plane_[1]) {
      pose.p[k] = define(name, b.at[k], b.span), rate[k] = 0.0;
      continue;
    }
    add_coordinate(name, b.at[k], b.velocity[k], b.span);
    pose.p[k] = named(name, b.at[k].value), rate[k] = rate_of(pose.p[k], b.velocity[k].value);
  }
  if (is_planar()) {
    const std::string name = b.name + ".angle";
    const Formula spin = dot(b.spin, normal_);
    add_coordinate(name, b.angle, spin, b.span);
    pose.angle = named(name, b.angle.value);
    pose.R = turn(normal_, cos(pose.angle), sin(pose.angle));
    pose.w = rate_of(pose.angle, spin.value) * normal_;
    half_turned(b);
  } else if (b.turns) {
    const Quaternion start_rate = rate_of(b.turned, b.spin);
    Quaternion q_rate;
    Formula length = 0.0;
    for (std::size_t k = 0; k < 4; ++k) {
      const std::string name = b.name + "." + wxyz[k];
      add_coordinate(name, b.turned[k], start_rate[k], b.span);
      pose.q[k] = named(name, b.turned[k].value), q_rate[k] = rate_of(pose.q[k], start_rate[k].value);
      length = length + square(pose.q[k]);
    }
    constraints_.push_back({b.name + ".unit", length.str() + " = 1", b.span});
    pose.R = rotation_of(pose.q, define(b.name + ".rest", 2.0 - length, b.span)), pose.w = spin_of(pose.q, q_rate);
  } else {
    pose.R = b.R, pose.w = {0.0, 0.0, 0.0}, pose.q = b.turned;
  }
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      pose.R[i][j] = define(fmt::format("{}.r{}{}", b.name, i + 1, j + 1), pose.R[i][j], b.span);
  for (std::size_t k = 0; k < 3; ++k) pose.w[k] = define(b.name + ".w" + xyz[k], pose.w[k], b.span);
  pose.u = transpose(pose.R) * rate;
  for (std::size_t k = 0; k < 3; ++k) pose.u[k] = define(b.name + ".u" + xyz[k], pose.u[k], b.span);
}

void Layer::add_coordinates(Joint& j) {
  for (JointCoordinate& c : j.coordinates) {
    if (j.type == JointType::screw && !c.turns) {
      const Formula lead = j.pitch / (2.0 * std::numbers::pi);
      c.symbol = define(c.name, lead * j.coordinates[0].symbol, j.span), c.rate = rate_of(c.symbol, c.start_rate.value);
      continue;
    }
    c.used = true;
    add_coordinate(c.name, c.start, c.start_rate, j.span);
    c.symbol = named(c.name, c.start.value), c.rate = rate_of(c.symbol, c.start_rate.value);
  }
  if (j.type != JointType::spherical) return;
  for (std::size_t k = 0; k < 4; ++k) {
    const std::string name = j.name + "." + wxyz[k];
    add_coordinate(name, j.q[k], j.q_rate[k], j.span);
    const double rate = j.q_rate[k].value;
    j.q[k] = named(name, j.q[k].value), j.q_rate[k] = rate_of(j.q[k], rate);
  }
  const Formula length = square(j.q[0]) + square(j.q[1]) + square(j.q[2]) + square(j.q[3]);
  constraints_.push_back({j.name + ".unit", length.str() + " = 1", j.span});
  j.rest = define(j.name + ".rest", 2.0 - length, j.span);
}

void Layer::make_child(Body& b) {
  Joint& j = joints_[static_cast<std::size_t>(b.joint)];
  add_coordinates(j);
  const bool to_second = &bodies_[static_cast<std::size_t>(j.second)] == &b;
  b.pose = pose_behind(j, bodies_[static_cast<std::size_t>(b.parent)].pose, to_second, b.name, b.span);
  if (is_planar()) {
    Formula rest = b.given_angle - bodies_[static_cast<std::size_t>(b.parent)].given_angle;
    // Where the file leaves the joint open, it is closed by the turn that is nearest.
    const Matrix closed = to_second ? j.F1 * transpose(j.F2) : j.F2 * transpose(j.F1);
    const Vector e{plane_[0] == 0 ? 1.0 : 0.0, plane_[0] == 1 ? 1.0 : 0.0, plane_[0] == 2 ? 1.0 : 0.0};
    const Vector there = closed * e;
    const double turned = std::atan2(dot(cross(e, there), normal_).value, dot(e, there).value);
    const double open = std::remainder(turned - rest.value, 2.0 * std::numbers::pi);
    if (std::abs(open) > 1e-9) rest = rest + open;
    b.pose.angle = define(b.name + ".angle", b.pose.angle + rest, b.span);
    half_turned(b);
  }
  check_closed(b);
}

/// The joints of a tree close by its coordinates; `start` has to say the same.
void Layer::check_closed(const Body& body) {
  if (assemble_) return;
  for (const Body* b = &body; b->parent >= 0; b = &bodies_[static_cast<std::size_t>(b->parent)])
    for (const JointCoordinate& c : joints_[static_cast<std::size_t>(b->joint)].coordinates)
      if (c.given || c.rate_given) return;
  const Joint& j = joints_[static_cast<std::size_t>(body.joint)];
  const Opening open = opening(j);
  const Place place = fields_.place_of(TomlMember{j.name, j.span.begin, j.span.end, {}});
  const char* hint = "give a `start` of the bodies with which it closes, or `assemble = true` in [start]";
  if (open.way > 0.0)
    return report(place,
                  fmt::format("the joint `{}` does not close: where `start` puts the bodies it is open by {}", j.name,
                              short_number(open.way)),
                  hint);
  if (open.turn > 0.0)
    return report(place,
                  fmt::format("the joint `{}` does not close: where `start` puts the bodies its axes are turned by {}",
                              j.name, short_number(open.turn)),
                  hint);
  if (open.rate > 0.0 || open.spin > 0.0)
    report(place,
           fmt::format("the velocities at the joint `{}` do not fit: where `start` puts the bodies they are off by {}",
                       j.name, short_number(open.rate > 0.0 ? open.rate : open.spin)),
           "`velocity` is that of the origin of a body; or say `assemble = true` in [start]");
}

namespace {

bool is_number(const Vector& v) { return v[0].is_number() && v[1].is_number() && v[2].is_number(); }
bool is_number(const Matrix& A) { return is_number(A[0]) && is_number(A[1]) && is_number(A[2]); }

/// m(c² 1 − c cᵀ)
Formula shift(const Formula& mass, const Vector& c, std::size_t i, std::size_t k) {
  return mass * ((i == k ? dot(c, c) : Formula(0.0)) - c[i] * c[k]);
}

/// Two loads as one; the second in axes R that lie at p.
Load joined(const Load& one, const Load& two, const Matrix& R, const Vector& p) {
  Load all;
  all.mass = one.mass + two.mass;
  const Vector there = p + R * two.centre;
  if (!all.mass.is_zero()) all.centre = (1.0 / all.mass) * (one.mass * one.centre + two.mass * there);
  const Matrix turned = R * (two.inertia * transpose(R));
  const Vector from_one = one.centre - all.centre, from_two = there - all.centre;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t k = 0; k < 3; ++k)
      all.inertia[i][k] =
          one.inertia[i][k] + turned[i][k] + (shift(one.mass, from_one, i, k) + shift(two.mass, from_two, i, k));
  return all;
}

}  // namespace

void Layer::find_loads() {
  for (Body& b : bodies_) b.load = {b.mass, b.centre, b.inertia};
  for (std::size_t n = order_.size(); n-- > 0;) {
    Body& b = bodies_[static_cast<std::size_t>(order_[n])];
    if (b.parent <= 0) continue;
    const Joint& j = joints_[static_cast<std::size_t>(b.joint)];
    Body& on = bodies_[static_cast<std::size_t>(b.parent)];
    const auto known = [](const Load& l) { return l.mass.is_number() && is_number(l.centre) && is_number(l.inertia); };
    // Of parameters texts would grow.
    if (j.type != JointType::fixed || !known(b.load) || !known(on.load) || !is_number(j.F1) || !is_number(j.F2) ||
        !is_number(j.r1) || !is_number(j.r2))
      continue;
    const bool to_second = &bodies_[static_cast<std::size_t>(j.second)] == &b;
    const Matrix rest = j.F1 * transpose(j.F2), R = to_second ? rest : transpose(rest);
    on.load = joined(on.load, b.load, R, to_second ? j.r1 - R * j.r2 : j.r2 - R * j.r1);
    on.carries = b.carried = true;
  }
}

/// T = ½m|u|² + m u·(w × c) + ½ w·(I + m(c² 1 − c cᵀ))w, and what keeps a quaternion from being without mass along itself.
Formula Layer::kinetic_of(const Body& b, const Load& load, const Formula& along) const {
  const Pose& pose = b.pose;
  Vector u = pose.u;
  if (b.parent < 0)  // |u| is that of the world
    for (std::size_t k = 0; k < 3; ++k) u[k] = rate_of(pose.p[k], b.velocity[k].value);
  Formula kinetic = 0.5 * load.mass * (square(u[0]) + square(u[1]) + square(u[2])), moments = 0.0;
  if (!is_zero(load.centre)) kinetic = kinetic + load.mass * dot(pose.u, cross(pose.w, load.centre));
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t k = i; k < 3; ++k) {
      const Formula entry = load.inertia[i][k] + shift(load.mass, load.centre, i, k);
      kinetic = kinetic + (i == k ? 0.5 * entry * square(pose.w[i]) : entry * (pose.w[i] * pose.w[k]));
      if (i == k) moments = moments + entry;
    }
  return along.is_zero() || !(moments.value > 0.0) ? kinetic : kinetic + 2.0 / 3.0 * moments * square(along);
}

void Layer::finish_body(Body& b) {
  const Pose& pose = b.pose;
  const Vector centre = pose.p + pose.R * b.centre, W = pose.R * pose.w;
  for (std::size_t k = 0; k < 3; ++k) {
    define(b.name + ".c" + xyz[k], centre[k], b.span);
    define(b.name + ".W" + xyz[k], W[k], b.span);
  }
  if (!b.turns)
    for (std::size_t k = 0; k < 4; ++k) define(b.name + "." + wxyz[k], pose.q[k], b.span);
  // Nothing has a mass along the quaternion itself. One that moves is given the mean of the moments there: a quaternion of constant
  // length has no speed along itself, so this is an energy of zero, and the mass matrix is not singular.
  const Joint* ball = b.parent >= 0 ? &joints_[static_cast<std::size_t>(b.joint)] : nullptr;
  const bool own = !ball && b.turns && !is_planar();
  Formula along = 0.0;
  if (own || (ball && ball->type == JointType::spherical)) {
    for (std::size_t k = 0; k < 4; ++k) {
      const Formula& q = own ? pose.q[k] : ball->q[k];
      along = along + q * rate_of(q);
    }
    along = define(b.name + ".stretching", along, b.span);
  }
  const auto count = [&](const std::string& name, const Formula& energy, std::vector<std::string>& sum) {
    define(name, energy, b.span);
    if (!b.carried && !energy.is_zero()) sum.push_back(name);
  };
  const Formula kinetic = kinetic_of(b, {b.mass, b.centre, b.inertia}, along);
  const Formula potential = -(b.mass * dot(gravity_, centre));
  // One that does not change is asked for all the same, in outputs, and moves nothing.
  const bool weighs = !is_zero(gravity_);
  if (!b.carries || b.carried) {
    count(b.name + ".kinetic", kinetic, kinetic_);
    if (potential.moves)
      count(b.name + ".potential", potential, potential_);
    else if (weighs)
      define(b.name + ".potential", potential, b.span);
    return;
  }
  define(b.name + ".kinetic", kinetic, b.span);
  if (weighs) define(b.name + ".potential", potential, b.span);
  count(b.name + ".load.kinetic", kinetic_of(b, b.load, along), kinetic_);
  const Formula all = -(b.load.mass * dot(gravity_, pose.p + pose.R * b.load.centre));
  if (all.moves) count(b.name + ".load.potential", all, potential_);
}

Vector Layer::world(int body, const Vector& local) const {
  return bodies_[static_cast<std::size_t>(body)].pose.R * local;
}

Vector Layer::point(int body, const Vector& local) const {
  return bodies_[static_cast<std::size_t>(body)].pose.p + world(body, local);
}

}  // namespace mechanician::bodies
