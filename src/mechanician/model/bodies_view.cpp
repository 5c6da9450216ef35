// Pictures of bodies from their shapes, beside what [view] draws. See bodies.hpp.

#include <fmt/format.h>

#include <cmath>

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
  for (const char* kind : {"points", "lines", "rods", "springs", "discs", "spheres", "boxes", "ground"})
    if (const TomlMember* items = view->value.find(kind); items && items->value.find(name)) return true;
  return false;
}

void Layer::draw() {
  const TomlMember *view = root_.find("view"), *wanted = view ? view->value.find("bodies") : nullptr;
  if (wanted && wanted->value.type == TomlValue::Type::boolean && wanted->value.number == 0.0) return;
  for (std::size_t i = 1; i < bodies_.size(); ++i)
    if (!drawn_by_file(bodies_[i].name)) draw_body(bodies_[i]);
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
