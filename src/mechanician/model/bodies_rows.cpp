// Joints as constraints, and what acts along their coordinates. See bodies.hpp.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "mechanician/base/text.hpp"
#include "mechanician/model/bodies_internal.hpp"

namespace mechanician::bodies {

namespace {

constexpr const char* xyz[3] = {"x", "y", "z"};

}  // namespace

void Layer::write_joint(Joint& joint) {
  if (joint.type == JointType::rolling) return write_rolling(joint);
  joint.P1 = define(joint.name + ".first", point(joint.first, joint.r1), joint.span);
  joint.P2 = define(joint.name + ".second", point(joint.second, joint.r2), joint.span);
  const char* letters[3] = {"e", "f", "a"};
  for (const int k : {0, 1, 2}) {
    const Vector v1 =
        define(fmt::format("{}.{}1", joint.name, letters[k]), world(joint.first, column(joint.F1, k)), joint.span);
    const Vector v2 =
        define(fmt::format("{}.{}2", joint.name, letters[k]), world(joint.second, column(joint.F2, k)), joint.span);
    for (std::size_t i = 0; i < 3; ++i)
      joint.G1[i][static_cast<std::size_t>(k)] = v1[i], joint.G2[i][static_cast<std::size_t>(k)] = v2[i];
  }
  for (JointCoordinate& c : joint.coordinates) c.direct = c.symbol;
  if (!joint.in_tree) {
    write_ties(joint);
    write_rows(joint);
    write_found(joint);
  }
  write_extras(joint);
}

/// Whether the joint says which way its axes point, and not only along which line.
bool Layer::is_aligned(const Joint& joint) const {
  return joint.type != JointType::spherical && joint.type != JointType::universal && joint.type <= JointType::screw;
}

/// A start from which no motion leads to where the axes point one way.
void Layer::check_aligned(const Joint& joint) {
  const TomlMember* start = root_.find("start");
  if (assemble_ || !joint.engaged || !is_aligned(joint) || (start && start->value.find("from"))) return;
  // Numbers for single coordinates of bodies are not looked at here.
  const TomlMember* position = start ? start->value.find("position") : nullptr;
  if (position && !position->value.members.empty()) return;
  const Vector a1 = column(joint.G1, 2), a2 = column(joint.G2, 2);
  if (!(dot(a1, a2).value < 0.0)) return;
  report(Place(fields_.place_of(TomlMember{joint.name, joint.span.begin, joint.span.end, {}})),
         fmt::format("the joint `{}` does not close: where `start` puts the bodies its axes are turned by {}",
                     joint.name, short_number(norm(a1 - a2).value)),
         "give a `start` of the bodies with which it closes, or `assemble = true` in [start]");
}

/// Row by row: what a multiplier of one does to the second body. For u on the first and v on the second body, u·v turns with
/// δ(u·v) = (v × u)·(δθ₂ − δθ₁).
void Layer::write_rows(Joint& joint) {
  const Vector e1 = column(joint.G1, 0), f1 = column(joint.G1, 1), a1 = column(joint.G1, 2);
  const Vector e2 = column(joint.G2, 0), f2 = column(joint.G2, 1), a2 = column(joint.G2, 2);
  const Vector apart = joint.P2 - joint.P1, none{0.0, 0.0, 0.0};
  check_aligned(joint);
  std::vector<Row> rows;
  const auto meet = [&] {
    for (std::size_t k = 0; k < 3; ++k) {
      if (is_planar() && static_cast<int>(k) != plane_[0] && static_cast<int>(k) != plane_[1]) continue;
      Vector force = none;
      force[k] = 1.0;
      rows.push_back({xyz[k], apart[k], force, none});
    }
  };
  const auto in_plane = [&](const Vector& v) { return !is_planar() || std::abs(dot(v, normal_).value) < 0.5; };
  const auto along = [&](const char* name, const Vector& v) {
    if (in_plane(v)) rows.push_back({name, dot(apart, v), v, none});
  };
  const auto square_to = [&](const char* name, const Vector& u, const Vector& v) {
    // In the plane only a turn about the normal counts: both lie in it.
    if (!is_planar() || (in_plane(u) && in_plane(v))) rows.push_back({name, dot(u, v), none, cross(v, u)});
  };
  // Twice the sine of half the angle, which is as the sine where that is zero, to second order of time too, and not zero half a turn away: axes
  // that point against each other are another mechanism. Newton's steps to where it is zero are the longer the farther that is, as those of
  // the tangent of half the angle are not. `with`: the cosine of the angle.
  const auto turned_to = [&](const char* name, const Vector& u, const Vector& v, const Formula& with) {
    if (!is_planar() || (in_plane(u) && in_plane(v)))
      rows.push_back({name, dot(u, v) / sqrt(0.5 + 0.5 * with), none, cross(v, u)});
  };
  const auto aligned = [&] {
    const Formula together = dot(a1, a2);
    turned_to("tilt1", e1, a2, together), turned_to("tilt2", f1, a2, together);
  };
  const auto unturned = [&] { turned_to("turn", e1, f2, dot(e1, e2)); };
  switch (joint.type) {
    case JointType::fixed:
      meet(), aligned(), unturned();
      break;
    case JointType::revolute:
      meet(), aligned();
      break;
    case JointType::prismatic:
      along("across1", e1), along("across2", f1), aligned(), unturned();
      break;
    case JointType::cylindrical:
      along("across1", e1), along("across2", f1), aligned();
      break;
    case JointType::spherical:
      meet();
      break;
    case JointType::planar:
      along("along", a1), aligned();
      break;
    case JointType::universal:
      meet(), square_to("square", a1, e2);
      break;
    case JointType::screw: {
      along("across1", e1), along("across2", f1), aligned();
      const Formula lead = joint.pitch / (2.0 * std::numbers::pi);
      rows.push_back({"lead", dot(apart, a1) - lead * joint.coordinates[0].symbol, a1, -(lead * a1)});
      break;
    }
    case JointType::distance: {
      const Formula length = define(joint.name + ".length", norm(apart), joint.span);
      rows.push_back(
          {"length", length - joint.length, {apart[0] / length, apart[1] / length, apart[2] / length}, none});
      break;
    }
    case JointType::point_on_line:
      along("across1", e1), along("across2", f1);
      break;
    case JointType::point_on_plane:
      along("along", a1);
      break;
    case JointType::parallel:
      // Either way round.
      square_to("tilt1", e1, a2), square_to("tilt2", f1, a2);
      break;
    case JointType::perpendicular:
      square_to("square", a1, a2);
      break;
    case JointType::rolling:
      break;
  }
  write(joint, std::move(rows));
}

void Layer::write(Joint& joint, std::vector<Row> rows) {
  Vector force{0.0, 0.0, 0.0}, torque{0.0, 0.0, 0.0};
  for (const Row& row : rows) {
    const std::string name = joint.name + "." + row.name;
    if (!row.phi.moves) {
      // As for all offsets along the normal of a plane mechanism: it holds, up to rounding, or no motion closes the joint.
      if (row.phi.is_number() && std::abs(row.phi.value) < 1e-9) continue;
      if (row.phi.is_number() || coordinates_.empty()) {
        report(Place(fields_.place_of(TomlMember{joint.name, joint.span.begin, joint.span.end, {}})),
               fmt::format("the joint `{}` cannot close: `{}` is off by {} and nothing moves it", joint.name, row.name,
                           short_number(row.phi.value)));
        continue;
      }
      const std::string text = row.phi.str();
      constraints_.push_back(
          {name, fmt::format("0*{0} + if(abs({1}) < 1e-9, 0, {1}) = 0", coordinates_.front().name, text), joint.span});
      continue;
    }
    constraints_.push_back({name, row.phi.str() + " = 0", joint.span});
    joint.rows.push_back(name);
    if (!joint.engaged) constraints_.back().parts.push_back({"engaged", joint.table->find("engaged")->value});
    const Formula lambda = named(fmt::format("multiplier({})", name));
    force = force + lambda * row.force, torque = torque + lambda * row.torque;
  }
  for (std::size_t k = 0; k < 3; ++k) {
    define(fmt::format("{}.f{}", joint.name, xyz[k]), force[k], joint.span);
    define(fmt::format("{}.t{}", joint.name, xyz[k]), torque[k], joint.span);
  }
}

/// Coordinates of a joint that is no part of the tree: coordinates without mass, each tied to the bodies by a row. An angle so
/// counts its turns; what acts on it acts on the bodies by way of the row. Rows of drives and limits act on the bodies themselves
/// (`direct`): what they carry would be carried by the tie once more, and counted twice among what is least.
void Layer::write_ties(Joint& joint) {
  const Vector e1 = column(joint.G1, 0), f1 = column(joint.G1, 1), a1 = column(joint.G1, 2);
  const Vector e2 = column(joint.G2, 0), f2 = column(joint.G2, 1), a2 = column(joint.G2, 2);
  const Vector apart = joint.P2 - joint.P1;
  for (JointCoordinate& c : joint.coordinates) {
    bool wanted = is_mentioned(c.name) || joint.asked || (joint.type == JointType::screw && c.turns);
    for (const char* key : {"drive", "torque", "force", "spring", "damping", "limits"})
      wanted = wanted || joint.table->find(key);
    if (!wanted) continue;
    c.used = true;
    const auto name = [&](const char* what) { return fmt::format("{}.{}", c.name, what); };
    std::string row;
    if (c.turns) {
      const bool second = c.key == "angle2";
      const Formula s = define(name("sine"), second ? dot(a1, f2) : dot(e2, f1), joint.span);
      const Formula k = define(name("cosine"), second ? dot(a1, a2) : dot(e2, e1), joint.span);
      add_coordinate(c.name, c.start, c.start_rate, joint.span);
      // Twice the tangent of half of what is between them: not zero where they are half a turn apart.
      const Formula behind =
          define(name("behind"),
                 named(fmt::format("2*({0}*cos({2}) - {1}*sin({2}))/(1 + {1}*cos({2}) + {0}*sin({2}))", s.str(),
                                   k.str(), c.name)),
                 joint.span);
      own_units_[name("behind")] = "rad";
      row = behind.str() + " = 0";
      c.direct = named(c.name, c.start.value) + behind;
    } else {
      const Formula way = dot(apart, joint.type == JointType::planar ? (c.key == "distance" ? e1 : f1) : a1);
      add_coordinate(c.name, c.start, c.start_rate, joint.span);
      c.direct = define(name("way"), way, joint.span);
      own_units_[name("way")] = "m";
      row = fmt::format("{} = {}", c.name, c.direct.str());
    }
    c.symbol = named(c.name, c.start.value), c.rate = rate_of(c.symbol, c.start_rate.value);
    constraints_.push_back({c.name, row, joint.span});
  }
}

/// Where every body is by itself for a while (bodies.hpp): what the coordinates along the tree are there, angles of bodies that do not count
/// their turns within half a turn of where the joint begins.
void Layer::write_found(const Joint& joint) {
  if (!overrides_.contains(std::string(every_body_by_itself))) return;
  const auto found = [&](const std::string& coordinate, const Formula& f, const char* unit) {
    const std::string name = coordinate + std::string(found_of_joints);
    define(name, f, joint.span);
    mentioned_.insert(name);
    if (unit) own_units_[name] = unit;
  };
  if (joint.type == JointType::spherical) {
    const auto back = [](const Quaternion& q) { return Quaternion{q[0], -q[1], -q[2], -q[3]}; };
    const Quaternion &one = bodies_[static_cast<std::size_t>(joint.first)].pose.q,
                     &two = bodies_[static_cast<std::size_t>(joint.second)].pose.q;
    const Quaternion q = back(quaternion_of(joint.F1)) * (back(one) * (two * back(quaternion_of(transpose(joint.F2)))));
    constexpr const char* wxyz[4] = {"qw", "qx", "qy", "qz"};
    for (std::size_t k = 0; k < 4; ++k) found(joint.name + "." + wxyz[k], joint.side * q[k], nullptr);
  }
  const Vector apart = joint.P2 - joint.P1;
  for (const JointCoordinate& c : joint.coordinates) {
    if (!c.turns) {
      const int along = joint.type == JointType::planar ? (c.key == "distance" ? 0 : 1) : 2;
      found(c.name, dot(apart, column(joint.G1, along)), "m");
      continue;
    }
    const bool second = c.key == "angle2";
    const Formula s =
        second ? dot(column(joint.G1, 2), column(joint.G2, 1)) : dot(column(joint.G2, 0), column(joint.G1, 1));
    const Formula k =
        second ? dot(column(joint.G1, 2), column(joint.G2, 2)) : dot(column(joint.G2, 0), column(joint.G1, 0));
    // Near it: in a plane bodies count their turns.
    Formula near = c.start;
    if (is_planar()) {
      const Body &one = bodies_[static_cast<std::size_t>(joint.first)],
                 &two = bodies_[static_cast<std::size_t>(joint.second)];
      const Formula turned = (two.pose.angle - one.pose.angle) - (two.angle - one.angle);
      near = near + (dot(column(joint.G1, 2), normal_).value > 0.0 ? turned : -turned);
      near = define(c.name + ".near", near, joint.span);
      own_units_[c.name + ".near"] = "rad";
    }
    const Formula sine = sin(near), cosine = cos(near);
    const std::string behind =
        fmt::format("atan2({}, {})", (s * cosine - k * sine).str(), (k * cosine + s * sine).str());
    found(c.name, near + named(behind), "rad");
  }
}

/// drive, torque, force, spring, damping, limits: along the coordinates.
void Layer::write_extras(Joint& joint) {
  const TomlValue& table = *joint.table;
  const std::string shown = mechanician::quoted(joint.name);
  const auto span = [](const TomlMember& m) { return Span{m.begin, m.end}; };
  const auto each = [&](const char* key, auto act) {
    const TomlMember* m = table.find(key);
    if (!m) return;
    if (joint.coordinates.empty())
      return report(*m, fmt::format("a joint of the type `{}` has no coordinate that a {} could act along",
                                    in_words(joint.type), key));
    // By coordinate, where there are several; the first one else. What is said of a screw is said of its angle.
    const bool by_name =
        m->value.type == TomlValue::Type::table && joint.coordinates.size() > 1 &&
        (m->value.find("angle") || m->value.find("distance") || m->value.find("angle2") || m->value.find("distance2"));
    if (!by_name && joint.coordinates.size() > 1 && joint.type != JointType::screw) {
      std::vector<std::string> keys;
      for (const JointCoordinate& c : joint.coordinates) keys.push_back(c.key);
      return report(*m, fmt::format("{} has more than one coordinate: which has the {}?", shown, key),
                    fmt::format("write {} = {{ {} = ... }}; they are {}", key, keys.front(), quote_list(keys)));
    }
    if (!by_name) return act(joint.coordinates.front(), m->value, *m, std::string());
    const std::string ending = std::string_view(key) == "limits"    ? "limit"
                               : std::string_view(key) == "damping" ? "damper"
                                                                    : key;
    if (is_mentioned(joint.name + "." + ending)) {
      std::vector<std::string> names;
      for (const TomlMember& one : m->value.members)
        names.push_back(fmt::format("{}.{}.{}", joint.name, one.name, ending));
      report(*m, fmt::format("`{}.{}` is asked for, and {} has one for each coordinate", joint.name, ending, shown),
             fmt::format("the names are {}", quote_list(names)));
    }
    for (const TomlMember& part : m->value.members) {
      const auto c = std::find_if(joint.coordinates.begin(), joint.coordinates.end(),
                                  [&](const JointCoordinate& x) { return x.key == part.name; });
      if (c == joint.coordinates.end())
        report(part, fmt::format("{} has no coordinate {}", shown, mechanician::quoted(part.name)));
      else
        act(*c, part.value, part, "." + part.name);
    }
  };
  const auto along = [&](const JointCoordinate& c) {
    return joint.type == JointType::screw ? joint.coordinates[0] : c;
  };
  Formula spring = 0.0, limit = 0.0;

  each("drive", [&](const JointCoordinate& c, const TomlValue& value, const TomlMember& m, const std::string& suffix) {
    const std::string name = joint.name + suffix + ".drive";
    define_as_written(joint.name + suffix + ".driven", value);
    own_units_[joint.name + suffix + ".driven"] = c.turns ? "rad" : "m";
    constraints_.push_back({name, fmt::format("{} = {}{}.driven", c.direct.str(), joint.name, suffix), span(m)});
    define(name, named(fmt::format("multiplier({})", name)), span(m));
  });
  for (const bool turns : {true, false}) {
    const char* key = turns ? "torque" : "force";
    const TomlMember* m = table.find(key);
    if (!m) continue;
    const auto c = std::find_if(joint.coordinates.begin(), joint.coordinates.end(),
                                [&](const JointCoordinate& x) { return x.turns == turns; });
    if (c == joint.coordinates.end()) {
      report(*m, fmt::format("a joint of the type `{}` has no coordinate that a {} could act along",
                             in_words(joint.type), key));
      continue;
    }
    const auto act = [&](const JointCoordinate& on, const TomlValue& value, const std::string& suffix) {
      define_as_written(joint.name + suffix + "." + key, value);
      own_units_[joint.name + suffix + "." + key] = turns ? "N*m" : "N";
      Formula f = named(joint.name + suffix + "." + key);
      if (joint.type == JointType::screw && !on.turns) f = joint.pitch / (2.0 * std::numbers::pi) * f;
      add_force(along(on).name, f, span(*m));
    };
    if (m->value.type != TomlValue::Type::table) {
      act(*c, m->value, "");
    } else {
      for (const TomlMember& part : m->value.members)
        for (const JointCoordinate& x : joint.coordinates)
          if (x.key == part.name && x.turns == turns) act(x, part.value, "." + part.name);
    }
  }
  each("spring", [&](const JointCoordinate& c, const TomlValue& value, const TomlMember& m, const std::string& suffix) {
    const std::string path = "joints." + joint.name + ".spring";
    if (value.type != TomlValue::Type::table || !value.find("stiffness"))
      return report(m, fmt::format("the spring of {} has no stiffness", shown),
                    "for example spring = { stiffness = 40, free = 0.1 }");
    fields_.check_keys(value, {"stiffness", "free"}, fmt::format("in {}", mechanician::quoted(path)));
    const auto k = formula(value.find("stiffness")->value, path, c.turns ? "N*m" : "N/m");
    const auto free = value.find("free") ? formula(value.find("free")->value, path, c.turns ? "rad" : "m")
                                         : std::optional<Formula>(0.0);
    if (!k || !free) return;
    const std::string name = joint.name + suffix + ".spring";
    const Formula stretch = c.symbol - *free;
    define(name + ".potential", 0.5 * *k * square(stretch), span(m));
    potential_.push_back(name + ".potential");
    define(name, -(*k * stretch), span(m));
  });
  if (const TomlMember* ball = table.find("damping"); ball && joint.type == JointType::spherical) {
    // A ball is damped about every axis alike.
    if (const auto d = formula(ball->value, "joints." + joint.name + ".damping", "N*m*s")) {
      const auto spin = [&](int body) {
        const Pose& pose = bodies_[static_cast<std::size_t>(body)].pose;
        return pose.R * pose.w;
      };
      const Vector torque = define(joint.name + ".damper", -*d * (spin(joint.second) - spin(joint.first)), span(*ball));
      apply(joint.second, joint.P2, {0.0, 0.0, 0.0}, torque, span(*ball));
      apply(joint.first, joint.P2, {0.0, 0.0, 0.0}, -torque, span(*ball));
    }
  } else {
    each("damping",
         [&](const JointCoordinate& c, const TomlValue& value, const TomlMember& m, const std::string& suffix) {
           const auto d = formula(value, "joints." + joint.name + ".damping", c.turns ? "N*m*s" : "N*s/m");
           if (!d) return;
           const Formula f = define(joint.name + suffix + ".damper", -(*d * c.rate), span(m));
           add_force(c.name, f, span(m));
         });
  }
  each("limits", [&](const JointCoordinate& c, const TomlValue& value, const TomlMember& m, const std::string& suffix) {
    const std::string path = "joints." + joint.name + ".limits";
    if (value.type != TomlValue::Type::array || value.items.size() != 2)
      return report(m, fmt::format("the limits of {} are a list of two, the lower first", shown));
    const auto low = formula(value.items[0], path, c.turns ? "rad" : "m"),
               high = formula(value.items[1], path, c.turns ? "rad" : "m");
    if (!low || !high) return;
    if (!(low->value < high->value))
      return report(m, fmt::format("the lower limit of {} is not below the upper one", shown));
    for (const bool upper : {false, true}) {
      const std::string name = joint.name + suffix + (upper ? ".upper" : ".lower");
      Statement s{name, fmt::format("{} {} {}", c.direct.str(), upper ? "<=" : ">=", (upper ? *high : *low).str()),
                  span(m)};
      if (const TomlMember* e = table.find("restitution")) s.parts.emplace_back("restitution", e->value);
      constraints_.push_back(std::move(s));
    }
    const std::string name = joint.name + suffix;
    define(name + ".limit", named(fmt::format("multiplier({0}.lower) - multiplier({0}.upper)", name)), span(m));
  });
  if (const TomlMember* e = table.find("restitution"); e && !table.find("limits"))
    report(*e, fmt::format("{} has a restitution and no limits", shown));
}

/// A wheel or a ball on a plane of the first body: its lowest point is on the plane and does not move along it.
void Layer::write_rolling(Joint& joint) {
  const Body& two = bodies_[static_cast<std::size_t>(joint.second)];
  const Vector n = define(joint.name + ".normal", world(joint.first, joint.normal), joint.span);
  const Vector at = define(joint.name + ".plane", point(joint.first, joint.plane_at), joint.span);
  const Vector p = two.pose.p;
  Vector down = -joint.radius * n;  // from the centre to the contact
  Formula height = joint.radius;
  if (!joint.ball) {
    // d = n − (n·a)a points from the contact up to the axis.
    const Vector a = define(joint.name + ".axis", world(joint.second, column(joint.F2, 2)), joint.span);
    const Formula lean = dot(n, a);
    const Formula upright = define(joint.name + ".upright", sqrt(1.0 - square(lean)), joint.span);
    const Formula ring = joint.radius - joint.edge;
    const Vector d = define(joint.name + ".spoke", n - lean * a, joint.span);
    down = Vector{-(ring / upright) * d[0], -(ring / upright) * d[1], -(ring / upright) * d[2]} - joint.edge * n;
    height = ring * upright + joint.edge;
  }
  const Vector reach = define(joint.name + ".reach", down, joint.span);
  joint.P2 = define(joint.name + ".second", p + reach, joint.span);
  // Velocities of what touches, on both sides.
  const auto spin = [&](const Body& b) { return b.pose.R * b.pose.w; };
  const auto velocity = [&](const Body& b, const Vector& arm) {
    Vector rate;
    for (std::size_t k = 0; k < 3; ++k) rate[k] = rate_of(b.pose.p[k]);
    return rate + cross(spin(b), arm);
  };
  const Body& one = bodies_[static_cast<std::size_t>(joint.first)];
  Vector slip = velocity(two, reach);
  if (joint.first != 0) slip = slip - velocity(one, joint.P2 - one.pose.p);
  slip = define(joint.name + ".slip", slip, joint.span);
  const Across t = across(joint.normal);
  std::vector<Row> rows{{"contact", dot(n, p - at) - height, n, {0.0, 0.0, 0.0}}};
  for (const bool other : {false, true}) {
    const Vector v = define(joint.name + (other ? ".f1" : ".e1"), world(joint.first, other ? t.f : t.e), joint.span);
    if (is_planar() && std::abs(dot(v, normal_).value) > 0.5) continue;
    rows.push_back({other ? "roll2" : "roll1", dot(slip, v), v, {0.0, 0.0, 0.0}});
  }
  write(joint, std::move(rows));
}

}  // namespace mechanician::bodies
