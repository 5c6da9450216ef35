// Where the bodies are: coordinates of their own, or those of joints along a tree. See bodies.hpp.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <tuple>

#include "mechanician/base/text.hpp"
#include "mechanician/model/bodies_internal.hpp"

namespace mechanician::bodies {

namespace {

constexpr const char* xyz[3] = {"x", "y", "z"};
constexpr const char* wxyz[4] = {"qw", "qx", "qy", "qz"};

/// Pairs of coordinates; where there are more, every body is by itself. 30 balls in a row, 85 hinges.
constexpr double most_work = 2e5;

bool grows(JointType type) { return type <= JointType::screw; }

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

// ---- which joints the tree consists of

void Layer::plant() {
  // A point mass of whose orientation nothing asks has a position alone.
  for (std::size_t i = 1; i < bodies_.size(); ++i) {
    Body& b = bodies_[i];
    const int k = static_cast<int>(i);
    b.turns = b.has_inertia || is_planar();
    for (const Joint& j : joints_)
      if (j.first == k || j.second == k) {
        const bool at_point =
            j.type == JointType::spherical || j.type == JointType::distance ||
            (j.second == k && (j.type == JointType::point_on_line || j.type == JointType::point_on_plane));
        b.turns = b.turns || !at_point || !is_zero(j.first == k ? j.r1 : j.r2);
      }
    for (const auto* marks : {&points_, &directions_})
      for (const Mark& m : *marks) b.turns = b.turns || (m.body == k && !is_zero(m.local));
    for (const char* part : {"wx", "wy", "wz", "Wx", "Wy", "Wz", "qw", "qx", "qy", "qz"})
      b.turns = b.turns || is_mentioned(b.name + "." + part);
    b.turns = b.turns || !is_zero(b.centre) || !is_zero(b.spin);
  }

  // Reactions are multipliers of rows. Where some are asked for, every body is by itself, so that those which are not determined have
  // their least norm among all; along a tree that was asked for, such joints alone are rows.
  bool reactions = false;
  for (Joint& j : joints_)
    for (const char* part : {"fx", "fy", "fz", "tx", "ty", "tz"})
      j.asked = j.asked || is_mentioned(j.name + "." + part);
  for (const Joint& j : joints_) reactions = reactions || j.asked;
  bool by_itself = formulation_ == Formulation::free || (formulation_ == Formulation::automatic && reactions);

  bodies_.front().turns = true;
  grow_tree(true);
  for (Joint& j : joints_) find_rates(j);

  // A start that is to be moved onto the constraints is moved least where every body is by itself.
  if (formulation_ == Formulation::automatic) {
    bool given = false;
    for (const Joint& j : joints_)
      for (const JointCoordinate& c : j.coordinates) given = given || c.given || c.rate_given;
    for (const Joint& j : joints_) {
      const Opening open = opening(j);
      const bool is_open = open.way > 0.0 || open.turn > 0.0 || open.rate > 0.0 || open.spin > 0.0;
      by_itself = by_itself || (!given && j.in_tree && is_open);
    }
    for (const Body& b : bodies_) by_itself = by_itself || !b.fixed.empty();
    // What is held is a coordinate.
    const TomlMember* start = root_.find("start");
    if (const TomlMember* hold = start ? start->value.find("hold") : nullptr)
      for (const TomlValue& item : hold->value.items)
        for (const Body& b : bodies_) by_itself = by_itself || item.text.starts_with(b.name + ".");
    // Along long branches every coordinate is felt by all bodies behind it, and by all coordinates of these.
    by_itself = by_itself || work_of_tree() > most_work;
  }
  by_itself_ = by_itself;
  move_along_tree();
  // Where a joint that closes a loop begins, its coordinate says.
  for (const Joint& j : joints_)
    for (const JointCoordinate& c : j.coordinates)
      if (!j.in_tree && (overrides_.contains(c.name + ".start") || overrides_.contains(c.name + ".start_rate")))
        mentioned_.insert(c.name);
  if (!by_itself && !reactions) return;
  for (std::size_t i = 1; i < bodies_.size(); ++i) {
    Body& b = bodies_[i];
    const Pose& pose = starts_[i];
    b.at = pose.p, b.turned = pose.q, b.R = pose.R, b.velocity = pose.R * pose.u, b.spin = pose.w;
  }
  for (Body& b : bodies_) b.parent = b.joint = -1;
  for (Joint& j : joints_) j.in_tree = false;
  if (!by_itself) grow_tree(false);
}

/// From the ground outwards, then from the first body that is left. Where joints close a loop, one that has no coordinate with a name
/// is left out, a ball before a fixed one, and one that is far from the ground. Without `asked` the joints whose reactions are asked for
/// are left out too.
void Layer::grow_tree(bool asked) {
  order_.clear();
  std::vector<std::vector<int>> at(bodies_.size());
  for (std::size_t j = 0; j < joints_.size(); ++j) {
    const Joint& joint = joints_[j];
    if (!grows(joint.type) || (joint.asked && !asked)) continue;
    if (!bodies_[static_cast<std::size_t>(joint.first)].turns || !bodies_[static_cast<std::size_t>(joint.second)].turns)
      continue;
    for (const int b : {joint.first, joint.second}) at[static_cast<std::size_t>(b)].push_back(static_cast<int>(j));
  }
  std::vector<int> level(bodies_.size(), -1);
  const auto each_behind = [&](int from, auto visit) {
    level[static_cast<std::size_t>(from)] = 0;
    std::vector<int> front{from};
    for (std::size_t i = 0; i < front.size(); ++i)
      for (const int j : at[static_cast<std::size_t>(front[i])]) {
        const Joint& joint = joints_[static_cast<std::size_t>(j)];
        const int other = joint.first == front[i] ? joint.second : joint.first;
        if (level[static_cast<std::size_t>(other)] >= 0) continue;
        level[static_cast<std::size_t>(other)] = level[static_cast<std::size_t>(front[i])] + 1;
        visit(front[i], j, other);
        front.push_back(other);
      }
    return front;
  };
  const auto each_tree = [&](auto visit) {
    std::fill(level.begin(), level.end(), -1);
    for (std::size_t i = 0; i < bodies_.size(); ++i)
      if (level[i] < 0)
        for (const int b : each_behind(static_cast<int>(i), visit))
          if (b > 0) order_.push_back(b);
  };
  each_tree([](int, int, int) {});
  order_.clear();

  // The joints of the tree: the best ones that close no loop.
  std::vector<int> best;
  for (std::size_t b = 0; b < bodies_.size(); ++b)
    for (const int j : at[b])
      if (joints_[static_cast<std::size_t>(j)].first == static_cast<int>(b)) best.push_back(j);
  const auto rank = [&](int j) {
    const Joint& joint = joints_[static_cast<std::size_t>(j)];
    const int kind = joint.type == JointType::spherical ? 2 : joint.type == JointType::fixed ? 1 : 0;
    return std::tuple(
        kind, std::min(level[static_cast<std::size_t>(joint.first)], level[static_cast<std::size_t>(joint.second)]), j);
  };
  std::sort(best.begin(), best.end(), [&](int a, int b) { return rank(a) < rank(b); });
  std::vector<int> group(bodies_.size());
  std::iota(group.begin(), group.end(), 0);
  const auto top = [&](int b) {
    while (group[static_cast<std::size_t>(b)] != b)
      b = group[static_cast<std::size_t>(b)] = group[static_cast<std::size_t>(group[static_cast<std::size_t>(b)])];
    return b;
  };
  std::vector<bool> kept(joints_.size(), false);
  for (const int j : best) {
    const int one = top(joints_[static_cast<std::size_t>(j)].first),
              two = top(joints_[static_cast<std::size_t>(j)].second);
    if (one != two) group[static_cast<std::size_t>(two)] = one, kept[static_cast<std::size_t>(j)] = true;
  }
  for (auto& list : at) std::erase_if(list, [&](int j) { return !kept[static_cast<std::size_t>(j)]; });
  each_tree([&](int from, int j, int to) {
    bodies_[static_cast<std::size_t>(to)].parent = from, bodies_[static_cast<std::size_t>(to)].joint = j;
    joints_[static_cast<std::size_t>(j)].in_tree = true;
  });
}

/// How many pairs of coordinates there are between which a body has a mass.
double Layer::work_of_tree() const {
  std::vector<double> coordinates(bodies_.size(), 0.0);
  double work = 0.0;
  for (const int i : order_) {
    const Body& b = bodies_[static_cast<std::size_t>(i)];
    double& own = coordinates[static_cast<std::size_t>(i)];
    if (b.parent < 0) {
      own = is_planar() ? 3.0 : 7.0;
    } else {
      const Joint& j = joints_[static_cast<std::size_t>(b.joint)];
      own = coordinates[static_cast<std::size_t>(b.parent)] +
            (j.type == JointType::spherical ? 4.0 : static_cast<double>(j.coordinates.size()));
    }
    work += own * own;
  }
  return work;
}

/// Rates of a joint where `start` puts the bodies; ball joints stand at 1 there.
void Layer::find_rates(Joint& j) {
  const Body &one = bodies_[static_cast<std::size_t>(j.first)], &two = bodies_[static_cast<std::size_t>(j.second)];
  const Vector w = transpose(j.F2) * (two.spin - transpose(two.R) * (one.R * one.spin));
  const Vector v = transpose(j.F1) * (transpose(one.R) * (two.velocity + two.R * cross(two.spin, j.r2) - one.velocity -
                                                          one.R * cross(one.spin, j.r1)));
  for (JointCoordinate& c : j.coordinates) {
    if (c.rate_given) continue;
    if (c.turns)
      c.start_rate = c.key == "angle2" ? w[0] : w[2];
    else
      c.start_rate = j.type == JointType::planar ? (c.key == "distance" ? v[0] : v[1]) : v[2];
  }
  j.q_rate = {0.0, 0.5 * w[0], 0.5 * w[1], 0.5 * w[2]};
  if (j.type != JointType::screw) return;
  JointCoordinate &turn = j.coordinates[0], &way = j.coordinates[1];
  const Formula lead = j.pitch / (2.0 * std::numbers::pi);
  if (way.given && !turn.given) turn.start = way.start / lead, turn.given = true;
  if (way.rate_given && !turn.rate_given) turn.start_rate = way.start_rate / lead, turn.rate_given = true;
  way.start = lead * turn.start, way.start_rate = lead * turn.start_rate;
}

/// Where all bodies begin: what [start] says of joints moves what hangs on them along the tree.
void Layer::move_along_tree() {
  starts_.assign(bodies_.size(), {});
  starts_[0] = {{0.0, 0.0, 0.0}, identity(), {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}};
  std::vector<bool> moved(bodies_.size(), false);
  for (const int i : order_) {
    const Body& b = bodies_[static_cast<std::size_t>(i)];
    Pose& pose = starts_[static_cast<std::size_t>(i)];
    bool moves = b.parent >= 0 && moved[static_cast<std::size_t>(b.parent)];
    if (b.parent >= 0)
      for (const JointCoordinate& c : joints_[static_cast<std::size_t>(b.joint)].coordinates)
        moves = moves || c.given || c.rate_given;
    if (moves || (!by_itself_ && b.parent >= 0)) {
      Joint& j = joints_[static_cast<std::size_t>(b.joint)];
      for (JointCoordinate& c : j.coordinates) c.symbol = c.start, c.rate = c.start_rate;
      pose = pose_behind(j, starts_[static_cast<std::size_t>(b.parent)], j.second == i, "", {});
      shorten(pose, b.name + ".start");
      moved[static_cast<std::size_t>(i)] = moves;
    } else {
      pose = {b.at, b.R, b.spin, transpose(b.R) * b.velocity, b.turned};
    }
  }
  // What joints stand at that are not given themselves.
  for (Joint& j : joints_) {
    const bool one = moved[static_cast<std::size_t>(j.first)], two = moved[static_cast<std::size_t>(j.second)];
    if (!j.in_tree || one || two) find_start_of(j, one || two);
  }
}

/// From where the bodies begin. `rates`: these too.
void Layer::find_start_of(Joint& j, bool rates) {
  const Pose &one = starts_[static_cast<std::size_t>(j.first)], &two = starts_[static_cast<std::size_t>(j.second)];
  const Matrix G1 = one.R * j.F1, G2 = two.R * j.F2;
  const Vector apart = two.p + two.R * j.r2 - one.p - one.R * j.r1;
  const Vector w = transpose(j.F2) * (two.w - transpose(two.R) * (one.R * one.w));
  // Of the point of the second body, as seen from the first.
  const Vector v = transpose(G1) * (two.R * (two.u + cross(two.w, j.r2)) -
                                    one.R * (one.u + cross(one.w, j.r1 + transpose(one.R) * apart)));
  Formula sine2 = 0.0, cosine2 = 1.0;
  for (JointCoordinate& c : j.coordinates) {
    if (!c.turns) {
      const int along = j.type == JointType::planar ? (c.key == "distance" ? 0 : 1) : 2;
      const Formula way = dot(apart, column(G1, along));
      if (!c.given && (!way.is_number() || std::abs(way.value) > 1e-12)) c.start = way;
      if (rates && !c.rate_given) c.start_rate = v[static_cast<std::size_t>(along)];
      continue;
    }
    const bool second = c.key == "angle2";
    const Formula s = second ? dot(column(G1, 2), column(G2, 1)) : dot(column(G2, 0), column(G1, 1));
    const Formula k = second ? dot(column(G1, 2), column(G2, 2)) : dot(column(G2, 0), column(G1, 0));
    if (second) sine2 = s, cosine2 = k;
    const double angle = std::atan2(s.value, k.value);
    const bool number = s.is_number() && k.is_number();
    if (!c.given && (!number || std::hypot(s.value, k.value - 1.0) > 1e-9))
      c.start = number ? Formula(angle) : Formula(angle, fmt::format("atan2({}, {})", s.str(), k.str()), 3, false);
    if (rates && !c.rate_given) c.start_rate = second ? w[0] : w[2];
  }
  if (rates && j.type == JointType::universal && !j.coordinates[0].rate_given)
    j.coordinates[0].start_rate = sine2 * w[1] + cosine2 * w[2];
}

/// Long expressions of parameters become parameters: what hangs on a body is made of them.
void Layer::shorten(Pose& pose, const std::string& name) {
  const auto shorten_one = [&](Formula& f, const std::string& part) {
    if (f.text.size() < 24) return;
    parameters_.push_back({name + "." + part, f.str(), {}});
    f = Formula(f.value, name + "." + part, 3, false);
  };
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t k = 0; k < 3; ++k) shorten_one(pose.R[i][k], fmt::format("r{}{}", i + 1, k + 1));
    shorten_one(pose.p[i], xyz[i]);
    shorten_one(pose.w[i], std::string("w") + xyz[i]);
    shorten_one(pose.u[i], std::string("u") + xyz[i]);
  }
  for (std::size_t k = 0; k < 4; ++k) shorten_one(pose.q[k], wxyz[k]);
}

// ---- poses

Layer::Relative Layer::relative(const Joint& joint) const {
  const auto& c = joint.coordinates;
  const Vector zero{0.0, 0.0, 0.0};
  Relative r{identity(), zero, zero, zero, {1.0, 0.0, 0.0, 0.0}};
  const Matrix rest = joint.F1 * transpose(joint.F2);
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
  if (!to_second) q = {q[0], -q[1], -q[2], -q[3]};
  to.q = from.q * q;
  for (std::size_t k = 0; k < 4; ++k) to.q[k] = keep(wxyz[k], to.q[k]);
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
    const Formula s = sin(pose.angle / 2.0);
    pose.q = {cos(pose.angle / 2.0), s * normal_[0], s * normal_[1], s * normal_[2]};
    for (std::size_t k = 0; k < 4; ++k) pose.q[k] = define(b.name + "." + wxyz[k], pose.q[k], b.span);
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
    const Formula rest = b.given_angle - bodies_[static_cast<std::size_t>(b.parent)].given_angle;
    b.pose.angle = define(b.name + ".angle", b.pose.angle + rest, b.span);
  }
  check_closed(b);
}

/// How far a joint is open where `start` puts the bodies, as numbers.
Layer::Opening Layer::opening(const Joint& j) const {
  const Body &one = bodies_[static_cast<std::size_t>(j.first)], &two = bodies_[static_cast<std::size_t>(j.second)];
  const Matrix G1 = one.R * j.F1, G2 = two.R * j.F2;
  const Vector apart = transpose(G1) * (two.at + two.R * j.r2 - one.at - one.R * j.r1);
  const Vector w = transpose(j.F2) * (two.spin - transpose(two.R) * (one.R * one.spin));
  const Vector v =
      transpose(G1) * (two.velocity + two.R * cross(two.spin, j.r2) - one.velocity - one.R * cross(one.spin, j.r1));
  bool free_turn[3] = {false, false, false}, free_way[3] = {false, false, false};
  for (const JointCoordinate& c : j.coordinates) {
    if (c.turns) free_turn[c.key == "angle2" ? 0 : 2] = true;
    if (!c.turns) free_way[j.type == JointType::planar ? (c.key == "distance" ? 0 : 1) : 2] = true;
  }
  Opening open;
  const double turning = norm(one.spin).value + norm(two.spin).value, arms = norm(j.r1).value + norm(j.r2).value;
  const double moving = norm(one.velocity).value + norm(two.velocity).value + turning * arms;
  for (std::size_t k = 0; k < 3; ++k) {
    if (!free_turn[k] && j.type != JointType::spherical) open.spin = std::hypot(open.spin, w[k].value);
    if (!free_way[k]) open.rate = std::hypot(open.rate, v[k].value);
    if (!free_way[k] || j.type == JointType::screw) open.way = std::hypot(open.way, apart[k].value);
  }
  if (j.type == JointType::screw)
    open.rate = std::hypot(open.rate, v[2].value - j.pitch.value / (2.0 * std::numbers::pi) * w[2].value);
  if (j.type == JointType::universal)
    open.turn = std::abs(dot(column(G1, 2), column(G2, 0)).value);
  else if (j.type != JointType::spherical)
    open.turn = norm(column(G1, 2) - column(G2, 2)).value;
  const double size = norm(one.at).value + norm(two.at).value + arms;
  if (!(open.way > 1e-8 * size)) open.way = 0.0;
  if (!(open.turn > 1e-8)) open.turn = 0.0;
  if (!(open.rate > 1e-8 * moving)) open.rate = 0.0;
  if (!(open.spin > 1e-8 * turning)) open.spin = 0.0;
  return open;
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

void Layer::finish_body(Body& b) {
  const Pose& pose = b.pose;
  const Vector centre = pose.p + pose.R * b.centre, W = pose.R * pose.w;
  for (std::size_t k = 0; k < 3; ++k) {
    define(b.name + ".c" + xyz[k], centre[k], b.span);
    define(b.name + ".W" + xyz[k], W[k], b.span);
  }
  if (!b.turns)
    for (std::size_t k = 0; k < 4; ++k) define(b.name + "." + wxyz[k], pose.q[k], b.span);
  // T = ½m|u|² + m u·(w × c) + ½ w·(I + m(c² 1 − c cᵀ))w
  Vector u = pose.u;
  if (b.parent < 0)  // |u| is that of the world
    for (std::size_t k = 0; k < 3; ++k) u[k] = rate_of(pose.p[k], b.velocity[k].value);
  Formula kinetic = 0.5 * b.mass * (square(u[0]) + square(u[1]) + square(u[2])), moments = 0.0;
  if (!is_zero(b.centre)) kinetic = kinetic + b.mass * dot(pose.u, cross(pose.w, b.centre));
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t k = i; k < 3; ++k) {
      const Formula entry =
          b.inertia[i][k] + b.mass * ((i == k ? dot(b.centre, b.centre) : Formula(0.0)) - b.centre[i] * b.centre[k]);
      kinetic = kinetic + (i == k ? 0.5 * entry * square(pose.w[i]) : entry * (pose.w[i] * pose.w[k]));
      if (i == k) moments = moments + entry;
    }
  // Nothing has a mass along the quaternion itself. One that moves is given the mean of the moments there: a quaternion of constant
  // length has no speed along itself, so this is an energy of zero, and the mass matrix is not singular.
  const Joint* ball = b.parent >= 0 ? &joints_[static_cast<std::size_t>(b.joint)] : nullptr;
  const bool own = !ball && b.turns && !is_planar();
  if ((own || (ball && ball->type == JointType::spherical)) && moments.value > 0.0) {
    Formula along = 0.0;
    for (std::size_t k = 0; k < 4; ++k) {
      const Formula& q = own ? pose.q[k] : ball->q[k];
      along = along + q * rate_of(q);
    }
    kinetic = kinetic + 2.0 / 3.0 * moments * square(define(b.name + ".stretching", along, b.span));
  }
  define(b.name + ".kinetic", kinetic, b.span);
  if (!kinetic.is_zero()) kinetic_.push_back(b.name + ".kinetic");
  const Formula potential = -(b.mass * dot(gravity_, centre));
  if (potential.moves) {
    define(b.name + ".potential", potential, b.span);
    potential_.push_back(b.name + ".potential");
  }
}

/// What `fixed` keeps: the coordinates of the body, or those that lead to it.
std::vector<std::string> Layer::held() const {
  std::vector<std::string> names;
  for (const Body& body : bodies_)
    for (const std::string& what : body.fixed) {
      const char* prime = what == "velocity" || what == "spin" ? "'" : "";
      const bool turn = what == "turned" || what == "spin";
      const Body* b = &body;
      for (; b->parent >= 0; b = &bodies_[static_cast<std::size_t>(b->parent)])
        for (const JointCoordinate& c : joints_[static_cast<std::size_t>(b->joint)].coordinates)
          if (c.used) names.push_back(c.name + prime);
      if (b == &bodies_.front()) continue;
      if (b != &body || !turn)
        for (const int k : {0, 1, 2})
          if (!is_planar() || k == plane_[0] || k == plane_[1]) names.push_back(component(b->name, k) + prime);
      if ((b == &body && !turn) || !b->turns) continue;
      if (is_planar())
        names.push_back(b->name + ".angle" + prime);
      else
        for (const char* k : wxyz) names.push_back(b->name + "." + k + prime);
    }
  return names;
}

Vector Layer::world(int body, const Vector& local) const {
  return bodies_[static_cast<std::size_t>(body)].pose.R * local;
}

Vector Layer::point(int body, const Vector& local) const {
  return bodies_[static_cast<std::size_t>(body)].pose.p + world(body, local);
}

}  // namespace mechanician::bodies
