// Pictures of bodies from their shapes, beside what [view] draws. See bodies.hpp.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/lexer.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/model/bodies_internal.hpp"

namespace mechanician::bodies {

TomlValue Layer::components(const Vector& v, Span span) const {
  TomlValue list;
  list.type = TomlValue::Type::array, list.begin = span.begin, list.end = span.end;
  for (const Formula& f : v) list.items.push_back(text_value(f.str(), span));
  return list;
}

void Layer::put_view(const char* kind, const std::string& name, std::vector<std::pair<std::string, TomlValue>> parts,
                     Span span) {
  TomlMember item{name, span.begin, span.end, {}};
  item.value.begin = span.begin, item.value.end = span.end;
  for (auto& [key, value] : parts) item.value.members.push_back({key, span.begin, span.end, std::move(value)});
  table_of(view_, kind, span).members.push_back(std::move(item));
}

/// Whether [view] has a picture of its own of what is called so, of any kind but a trace or an arrow.
bool Layer::drawn_by_file(const std::string& name) const {
  const TomlMember* view = root_.find("view");
  if (!view) return false;
  for (const char* kind : {"points", "lines", "rods", "springs", "discs", "spheres", "boxes", "meshes", "ground"})
    if (const TomlMember* items = view->value.find(kind); items && items->value.find(name)) return true;
  return false;
}

/// `KEY = false` in [view].
bool Layer::is_left_out(const char* key) const {
  const TomlMember *view = root_.find("view"), *wanted = view ? view->value.find(key) : nullptr;
  return wanted && wanted->value.type == TomlValue::Type::boolean && wanted->value.number == 0.0;
}

void Layer::draw() {
  for (TomlMember& m : root_.members)  // joints have been asked: the plain language has arrows
    if (m.name == "view") std::erase_if(m.value.members, [](const TomlMember& k) { return k.name == "reactions"; });
  if (is_left_out("bodies")) return;
  const bool unseen = overrides_.contains(nothing_drawn) && !root_.find("view");
  for (std::size_t i = 1; i < bodies_.size(); ++i) {
    // Files and colours are looked at where [view] is read, also if nothing is drawn.
    const TomlValue* shape = bodies_[i].shape;
    if (unseen && !(shape && (shape->find("mesh") || shape->find("colour")))) continue;
    if (!drawn_by_file(bodies_[i].name)) draw_body(bodies_[i]);
  }
  if (unseen) return;
  // Many joints have small symbols. Short numbers: people read them.
  const double crowd = std::max(1.0, std::sqrt(static_cast<double>(joints_.size()) / 10.0));
  const double unit = std::stod(fmt::format("{:.2g}", 0.016 * size_of_mechanism() / crowd));
  for (const Joint& j : joints_) {
    if (unit > 0.0 && !is_left_out("joints") && !drawn_by_file(j.name)) draw_joint(j, unit);
    if (j.drawn) draw_reaction(j);
  }
  if (const TomlMember* springs = root_.find("springs"))
    for (const TomlMember& m : springs->value.members) {
      if (drawn_by_file(m.name)) continue;
      const Span span{m.begin, m.end};
      const auto end = [&](const char* which) {
        Vector v;
        for (const int k : {0, 1, 2}) v[static_cast<std::size_t>(k)] = named(component(m.name + "." + which, k));
        return components(v, span);
      };
      put_view("springs", m.name, {{"from", end("first")}, {"to", end("second")}}, span);
    }
}

/// What symbols are measured by: the mechanism as it begins, from end to end.
double Layer::size_of_mechanism() const {
  double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
  const auto note = [&](const Vector& v, double reach = 0.0) {
    for (std::size_t k = 0; k < 3; ++k)
      low[k] = std::min(low[k], v[k].value - reach), high[k] = std::max(high[k], v[k].value + reach);
  };
  for (std::size_t i = 1; i < bodies_.size(); ++i) {
    const Body& b = bodies_[i];
    double reach = 0.0;  // of what has the inertia of the body, where there is nothing else to see of its size
    for (std::size_t k = 0; k < 3; ++k) reach += 0.5 * b.inertia[k][k].value;
    note(b.pose.p), note(b.pose.p + b.pose.R * b.centre, b.mass.value > 0.0 ? std::sqrt(reach / b.mass.value) : 0.0);
  }
  for (const Joint& j : joints_) {
    if (j.type != JointType::rolling) note(j.P1);
    note(j.P2);
  }
  double sum = 0.0;
  for (std::size_t k = 0; k < 3; ++k) sum += (high[k] - low[k]) * (high[k] - low[k]);
  return std::sqrt(sum);
}

/// Symbols of one size, made of what a view has. What comes apart along the axis has a bar from the point on the first body to that on the second,
/// where what slides on it is. Wheels that roll and directions that are held are seen in the bodies.
void Layer::draw_joint(const Joint& j, double u) {
  const auto item = [&](const char* kind, const char* part, std::vector<std::pair<std::string, TomlValue>> with) {
    with.emplace_back("colour", text_value(*part ? "steel" : "orange", j.span));
    put_view(kind, j.name + part, std::move(with), j.span);
  };
  const auto number = [&](double x) { return text_value(number_text(x), j.span); };
  const auto list = [&](std::vector<TomlValue> items) {
    TomlValue value;
    value.type = TomlValue::Type::array, value.begin = j.span.begin, value.end = j.span.end;
    value.items = std::move(items);
    return value;
  };
  const auto pin = [&](const char* part, const Vector& at, const Vector& axis, double radius, double half) {
    const Vector way = Formula(half * u) * axis;
    item(
        "rods", part,
        {{"from", components(at - way, j.span)}, {"to", components(at + way, j.span)}, {"radius", number(radius * u)}});
  };
  const auto bar = [&](const char* part) {
    item("rods", part,
         {{"from", components(j.P1, j.span)}, {"to", components(j.P2, j.span)}, {"radius", number(0.35 * u)}});
  };
  const Vector e = column(j.G1, 0), f = column(j.G1, 1), axis = column(j.G1, 2);
  const auto box = [&](const char* part, const Vector& at, double across, double along) {
    item("boxes", part,
         {{"at", components(at, j.span)},
          {"size", list({number(across * u), number(across * u), number(along * u)})},
          {"axes", list({components(e, j.span), components(f, j.span)})}});
  };
  const auto ball = [&](const Vector& at) {
    item("spheres", "", {{"at", components(at, j.span)}, {"radius", number(1.05 * u)}});
  };
  switch (j.type) {
    case JointType::fixed:
      return box("", j.P1, 1.1, 1.1);
    case JointType::revolute:
      return pin("", j.P1, axis, 0.7, 2.2);
    case JointType::prismatic:
      return bar(".bar"), box("", j.P2, 1.4, 2.4);
    case JointType::cylindrical:
    case JointType::screw:
      return bar(".bar"), pin("", j.P2, axis, 0.7, 1.4);
    case JointType::spherical:
      return ball(j.P1);
    case JointType::planar:
      return box("", j.P2, 4.0, 0.5);
    case JointType::universal:
      return pin("", j.P1, axis, 0.5, 1.8), pin(".cross", j.P1, column(j.G2, 0), 0.5, 1.8);
    case JointType::distance:
      return bar("");
    case JointType::point_on_line:
      return bar(".bar"), ball(j.P2);
    case JointType::point_on_plane:
      return box(".plate", j.P1, 4.0, 0.3), ball(j.P2);
    case JointType::parallel:
    case JointType::perpendicular:
    case JointType::rolling:
      return;
  }
}

void Layer::draw_reaction(const Joint& j) {
  Vector force;
  for (const int k : {0, 1, 2}) force[static_cast<std::size_t>(k)] = named(fmt::format("{}.f{}", j.name, "xyz"[k]));
  put_view(
      "arrows", j.name,
      {{"at", components(j.P2, j.span)}, {"vector", components(force, j.span)}, {"force", text_value("ideal", j.span)}},
      j.span);
}

/// Which joints have an arrow of their force. Without a word in [view] those whose reactions something asks for, unless an arrow of the
/// file is made of them: reactions that nobody wants would make rows of all joints.
void Layer::find_drawn_reactions() {
  const TomlMember *view = root_.find("view"), *wanted = view ? view->value.find("reactions") : nullptr;
  if (is_left_out("bodies")) return;
  if (!wanted) {
    if (is_left_out("forces")) return;
    std::set<std::string, std::less<>> own;
    const std::function<void(const TomlValue&)> note = [&](const TomlValue& value) {
      Lexer lexer(value.text);
      for (Token token = lexer.next(); token.kind != TokenKind::end && token.kind != TokenKind::error;
           token = lexer.next())
        if (token.kind == TokenKind::name) own.emplace(token.text);
      for (const TomlValue& item : value.items) note(item);
      for (const TomlMember& m : value.members) note(m.value);
    };
    if (const TomlMember* arrows = view ? view->value.find("arrows") : nullptr) note(arrows->value);
    for (Joint& j : joints_) {
      j.drawn = j.asked;
      for (const char* part : {".fx", ".fy", ".fz"}) j.drawn = j.drawn && !own.contains(j.name + part);
    }
    return;
  }
  if (wanted->value.type == TomlValue::Type::boolean)
    for (Joint& j : joints_) j.drawn = wanted->value.number != 0.0;
  else if (wanted->value.type != TomlValue::Type::array)
    report(wanted->value, "`reactions` is true, false or a list of joints", "as in reactions = [\"hinge\"]");
  for (const TomlValue& item : wanted->value.items) {
    const auto found =
        std::find_if(joints_.begin(), joints_.end(), [&](const Joint& j) { return j.name == item.text; });
    if (found != joints_.end()) {
      found->drawn = true;
      continue;
    }
    std::vector<std::string> names;
    for (const Joint& j : joints_) names.push_back(j.name);
    const std::string near = nearest(item.text, names);
    report(item, fmt::format("there is no joint {}", mechanician::quoted(item.text)),
           near.empty() ? "" : fmt::format("did you mean {}?", mechanician::quoted(near)));
  }
  for (Joint& j : joints_) j.asked = j.asked || j.drawn;
}

/// Balls, boxes, discs and rods; bodies without a shape are points of their own size.
void Layer::draw_body(const Body& b) {
  const auto colour = [&](std::vector<std::pair<std::string, TomlValue>> parts) {
    if (const TomlMember* c = b.shape ? b.shape->find("colour") : nullptr) parts.emplace_back("colour", c->value);
    return parts;
  };
  const Vector middle = b.pose.p + b.pose.R * b.middle;
  if (!b.shape) {
    put_view("points", b.name, {{"at", components(b.pose.p + b.pose.R * b.centre, b.span)}}, b.span);
    return;
  }
  const auto turned = [&](const Quaternion& q) {
    TomlValue list;
    list.type = TomlValue::Type::array, list.begin = b.span.begin, list.end = b.span.end;
    for (const Formula& f : q) list.items.push_back(text_value(f.str(), b.span));
    return list;
  };
  if (const TomlMember* mesh = b.shape->find("mesh")) {
    std::vector<std::pair<std::string, TomlValue>> parts = {
        {"file", mesh->value}, {"at", components(middle, b.span)}, {"quaternion", turned(b.pose.q * b.shape_turned)}};
    if (const TomlMember* scale = b.shape->find("scale")) parts.emplace_back("scale", scale->value);
    put_view("meshes", b.name, colour(std::move(parts)), b.span);
    return;
  }
  if (const TomlMember* box = b.shape->find("box")) {
    put_view("boxes", b.name,
             colour({{"at", components(middle, b.span)}, {"size", box->value}, {"quaternion", turned(b.pose.q)}}),
             b.span);
    return;
  }
  if (const TomlMember* sphere = b.shape->find("sphere")) {
    put_view("spheres", b.name,
             colour({{"at", components(middle, b.span)}, {"radius", sphere->value}, {"quaternion", turned(b.pose.q)}}),
             b.span);
    return;
  }
  const TomlMember *cylinder = b.shape->find("cylinder"), *round = cylinder ? cylinder : b.shape->find("capsule");
  const TomlMember* axis = b.shape->find("axis");
  const auto along = static_cast<std::size_t>(axis ? axis->value.text[0] - 'x' : 2);
  const auto radius = formula(round->value.items[0], "shape", "m"),
             length = formula(round->value.items[1], "shape", "m");
  if (!radius || !length) return;
  if (cylinder && length->value < 2.0 * radius->value) {
    // Wheels and the like. The axis of a disc is its z: turned to x about y, to y about x.
    const double half = std::sqrt(0.5);
    const Quaternion to_axis = along == 0   ? Quaternion{half, 0.0, half, 0.0}
                               : along == 1 ? Quaternion{half, -half, 0.0, 0.0}
                                            : Quaternion{1.0, 0.0, 0.0, 0.0};
    std::vector<std::pair<std::string, TomlValue>> parts = {{"at", components(middle, b.span)},
                                                            {"radius", round->value.items[0]},
                                                            {"thickness", round->value.items[1]},
                                                            {"quaternion", turned(b.pose.q * to_axis)}};
    if (b.shape->find("inner")) {
      TomlValue yes;
      yes.type = TomlValue::Type::boolean, yes.number = 1.0, yes.begin = b.span.begin, yes.end = b.span.end;
      parts.emplace_back("hollow", yes);
    }
    put_view("discs", b.name, colour(std::move(parts)), b.span);
    return;
  }
  Vector reach{0.0, 0.0, 0.0};
  reach[along] = 0.5 * *length;
  const Vector way = b.pose.R * reach;
  put_view("rods", b.name,
           colour({{"from", components(middle - way, b.span)},
                   {"to", components(middle + way, b.span)},
                   {"radius", round->value.items[0]}}),
           b.span);
}

}  // namespace mechanician::bodies
