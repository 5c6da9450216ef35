// Which joints are a tree, and where bodies and joints begin. See bodies.hpp.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <tuple>

#include "mechanician/model/bodies_internal.hpp"

namespace mechanician::bodies {

namespace {

constexpr const char* xyz[3] = {"x", "y", "z"};
constexpr const char* wxyz[4] = {"qw", "qx", "qy", "qz"};

/// Pairs of coordinates; where there are more, every body is by itself. 30 balls in a row, 85 hinges.
constexpr double most_work = 2e5;
/// Beyond it a tree that is asked for would take hours and all memory.
constexpr double refused_work = 2e7;

bool grows(JointType type) { return type <= JointType::screw; }

bool is_zero(const Vector& v) { return v[0].is_zero() && v[1].is_zero() && v[2].is_zero(); }

}  // namespace

void Layer::plant() {
  // A point mass of whose orientation nothing asks has a position alone.
  for (std::size_t i = 1; i < bodies_.size(); ++i) {
    Body& b = bodies_[i];
    b.turns = b.has_inertia || is_planar();
    for (const char* part : {"wx", "wy", "wz", "Wx", "Wy", "Wz", "qw", "qx", "qy", "qz"})
      b.turns = b.turns || is_mentioned(b.name + "." + part);
    b.turns = b.turns || !is_zero(b.centre) || !is_zero(b.spin);
  }
  for (const Joint& j : joints_)
    for (const int k : {j.first, j.second}) {
      const bool at_point =
          j.type == JointType::spherical || j.type == JointType::distance ||
          (j.second == k && (j.type == JointType::point_on_line || j.type == JointType::point_on_plane));
      bool& turns = bodies_[static_cast<std::size_t>(k)].turns;
      turns = turns || !at_point || !is_zero(j.first == k ? j.r1 : j.r2);
    }
  for (const auto* marks : {&points_, &directions_})
    for (const Mark& m : *marks) {
      bool& turns = bodies_[static_cast<std::size_t>(m.body)].turns;
      turns = turns || !is_zero(m.local);
    }

  find_held();
  // Reactions are multipliers of rows. Where some are asked for, every body is by itself, so that those which are not determined have
  // their least norm among all; along a tree that was asked for, such joints alone are rows.
  bool reactions = false;
  for (Joint& j : joints_)
    for (const char* part : {"fx", "fy", "fz", "tx", "ty", "tz"})
      j.asked = j.asked || is_mentioned(j.name + "." + part);
  find_drawn_reactions();
  for (const Joint& j : joints_) reactions = reactions || j.asked;
  const bool by_name = reactions;
  // What events release and engage are rows too.
  find_changes();
  for (Joint& j : joints_) j.asked = j.asked || j.changes || !j.engaged;
  for (const Joint& j : joints_) reactions = reactions || j.asked;
  bool by_itself = formulation_ == Formulation::free || (formulation_ == Formulation::automatic && reactions);

  bodies_.front().turns = true;
  grow_tree(true);
  for (Joint& j : joints_) find_rates(j);
  by_itself = by_itself || leaves_open(by_name);
  if (overrides_.contains(std::string(every_body_by_itself))) {
    parameters_.push_back({std::string(every_body_by_itself), "1", {}});
    by_itself = true;
  }

  // A start that is to be moved onto the constraints is moved least where every body is by itself.
  if (formulation_ == Formulation::automatic) {
    bool given = false;
    for (const Joint& j : joints_)
      for (const JointCoordinate& c : j.coordinates) given = given || c.given || c.rate_given;
    for (const Joint& j : joints_) {
      if (!j.engaged) continue;
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
  if (formulation_ == Formulation::joint && work_of_tree() > refused_work) {
    report(root_.find("world")->value.find("formulation")->value,
           fmt::format("along these joints {:.0e} pairs of coordinates feel the mass of a common body: too many for "
                       "`formulation = \"joint\"`",
                       work_of_tree()),
           "say \"auto\" or \"free\", with which every body of so long a branch is by itself");
    by_itself = true;
  }
  by_itself_ = by_itself;
  if (!by_itself) mark_open(), mark_apart();
  move_along_tree();
  write_held();
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
  for (const Joint& j : joints_) turn_away(j);
  if (!by_itself) grow_tree(false);
}

/// Whether something that is asked for, a reaction or what a drive or a limit does, is not determined: then it is the least among the reactions of all
/// joints, and every joint is made of rows.
bool Layer::leaves_open(bool reactions) const {
  const auto extra_asked = [&](const Joint& j) {
    for (const char* part : {"drive", "limit"}) {
      if (is_mentioned(j.name + "." + part)) return true;
      for (const JointCoordinate& c : j.coordinates)
        if (is_mentioned(c.name + "." + part)) return true;
    }
    return false;
  };
  // What constraints of the file do to bodies is not known here.
  const TomlMember* texts = root_.find("constraints");
  if (reactions && texts && !texts->value.members.empty()) return true;
  bool loops = false, asked = reactions;
  for (const Joint& j : joints_) loops = loops || !j.in_tree, asked = asked || extra_asked(j);
  if (!loops || !asked) return false;
  const std::vector<OpenForces> open = find_open_forces();
  for (std::size_t n = 0; n < joints_.size(); ++n) {
    bool named = false;
    for (const char* part : {"fx", "fy", "fz", "tx", "ty", "tz"})
      named = named || is_mentioned(joints_[n].name + "." + part);
    if ((open[n].reaction && named) || (open[n].extra && extra_asked(joints_[n]))) return true;
  }
  return false;
}

/// Reactions that are not determined are found where every body is by itself; somebody who asks has to know that there are some.
void Layer::mark_open() {
  if (std::all_of(joints_.begin(), joints_.end(), [](const Joint& j) { return j.in_tree; })) return;
  for (const OpenForces& open : find_open_forces())
    if (open.reaction || open.extra) {
      define(std::string(reactions_left_open), Formula(1.0), joints_.front().span);
      mentioned_.insert(std::string(reactions_left_open));
      return;
    }
}

/// Bodies that the file does not put on the joints of the tree begin on them here, and not where they would be moved to.
void Layer::mark_apart() {
  for (const Joint& j : joints_) {
    const Opening open = j.in_tree ? opening(j) : Opening{};
    if (!(open.way > 0.0 || open.turn > 0.0 || open.rate > 0.0 || open.spin > 0.0)) continue;
    define(std::string(begins_apart), Formula(1.0), j.span);
    mentioned_.insert(std::string(begins_apart));
    return;
  }
}

/// From the ground outwards, then from the first body that is left. Where joints close a loop, one that has no coordinate with a name
/// is left out, a ball before a fixed one, and one that is far from the ground. Without `asked` the joints whose reactions are asked for
/// are left out too.
void Layer::grow_tree(bool asked) {
  order_.clear();
  std::vector<std::vector<int>> at(bodies_.size());
  for (std::size_t j = 0; j < joints_.size(); ++j) {
    const Joint& joint = joints_[j];
    if (!grows(joint.type) || (joint.asked && !asked) || !joint.engaged) continue;
    // Along these a body would turn out of the plane: its own coordinates do not.
    if (is_planar() && (joint.type == JointType::spherical || joint.type == JointType::cylindrical)) continue;
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

/// A guess with axes that all but point against each other: which way to turn them is hardly told. One body begins nearer, the way that is told
/// or any.
void Layer::turn_away(const Joint& j) {
  if (!assemble_ || !j.engaged || !is_aligned(j)) return;
  const auto may_turn = [&](int body) {
    const auto& fixed = bodies_[static_cast<std::size_t>(body)].fixed;
    return body > 0 && std::find(fixed.begin(), fixed.end(), "turned") == fixed.end();
  };
  const bool second = may_turn(j.second);
  if (!second && !may_turn(j.first)) return;
  Body& b = bodies_[static_cast<std::size_t>(second ? j.second : j.first)];
  const Body& other = bodies_[static_cast<std::size_t>(second ? j.first : j.second)];
  const Matrix &own = second ? j.F2 : j.F1, &others = second ? j.F1 : j.F2;
  // Both seen from the body that turns.
  const Vector a = column(own, 2), wanted = transpose(b.R) * (other.R * column(others, 2));
  constexpr double nearly = -0.95, half_angle = 0.25;
  if (dot(a, wanted).value > nearly) return;
  const auto about = worths(cross(a, wanted));
  const double size = std::hypot(about[0], about[1], about[2]);
  Vector axis = is_planar() ? normal_ : column(own, 0);
  if (size > 1e-6) axis = {about[0] / size, about[1] / size, about[2] / size};
  const double s = std::sin(half_angle);
  b.turned = b.turned * Quaternion{std::cos(half_angle), s * axis[0], s * axis[1], s * axis[2]};
  b.R = matrix_of(b.turned);
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
      shorten(b.name + ".start", pose, b.span);
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

void Layer::shorten(const std::string& name, Pose& pose, Span span) {
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t k = 0; k < 3; ++k)
      pose.R[i][k] = shorten(fmt::format("{}.r{}{}", name, i + 1, k + 1), pose.R[i][k], span);
    pose.p[i] = shorten(name + "." + xyz[i], pose.p[i], span);
    pose.w[i] = shorten(name + ".w" + xyz[i], pose.w[i], span);
    pose.u[i] = shorten(name + ".u" + xyz[i], pose.u[i], span);
  }
  for (std::size_t k = 0; k < 4; ++k) pose.q[k] = shorten(name + "." + wxyz[k], pose.q[k], span);
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

}  // namespace mechanician::bodies
