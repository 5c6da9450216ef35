// What stays where it is when a start is moved onto the constraints. See bodies.hpp.

#include <algorithm>

#include "mechanician/model/bodies_internal.hpp"

namespace mechanician::bodies {

namespace {

constexpr const char* xyz[3] = {"x", "y", "z"};
constexpr const char* wxyz[4] = {"qw", "qx", "qy", "qz"};

}  // namespace

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

/// Along a tree bodies do not begin where the file puts them if joints are open there. What is held is what it is in the file all the same.
void Layer::find_held() {
  const TomlMember* start = root_.find("start");
  const TomlMember* hold = start ? start->value.find("hold") : nullptr;
  if (!assemble_ || !hold) return;
  for (const TomlValue& item : hold->value.items) {
    std::string name = item.text;
    const bool rate = name.ends_with('\'');
    if (rate) name.pop_back();
    const std::size_t dot = name.rfind('.');
    if (dot == std::string::npos) continue;
    const std::string owner = name.substr(0, dot), part = name.substr(dot + 1);
    const auto keep = [&](const char* wanted, const Formula& value, const Formula& its_rate) {
      if (part == wanted) held_.emplace_back(name + (rate ? ".held_rate" : ".held"), rate ? its_rate : value);
    };
    for (const auto* marks : {&points_, &directions_})
      for (const Mark& m : *marks) {
        if (m.name != owner) continue;
        const Body& b = bodies_[static_cast<std::size_t>(m.body)];
        const bool is_point = marks == &points_;
        const Vector arm = b.R * m.local, turning = b.R * cross(b.spin, m.local);
        for (std::size_t k = 0; k < 3; ++k)
          keep(xyz[k], is_point ? b.at[k] + arm[k] : arm[k], is_point ? b.velocity[k] + turning[k] : turning[k]);
      }
    for (const Body& b : bodies_) {
      if (b.name != owner) continue;
      const Vector arm = b.R * b.centre, turning = b.R * cross(b.spin, b.centre), W = b.R * b.spin;
      const Quaternion q_rate = rate_of(b.turned, b.spin);
      for (std::size_t k = 0; k < 3; ++k) {
        keep(xyz[k], b.at[k], b.velocity[k]);
        keep((std::string("c") + xyz[k]).c_str(), b.at[k] + arm[k], b.velocity[k] + turning[k]);
        // Rates of these are no numbers of a start.
        if (!rate) keep((std::string("w") + xyz[k]).c_str(), b.spin[k], 0.0);
        if (!rate) keep((std::string("W") + xyz[k]).c_str(), W[k], 0.0);
      }
      for (std::size_t k = 0; k < 4; ++k) keep(wxyz[k], b.turned[k], q_rate[k]);
    }
  }
}

/// Where every body is by itself, or [start] says where joints are, they begin where it is held.
void Layer::write_held() {
  if (by_itself_) return;
  for (const Joint& j : joints_)
    for (const JointCoordinate& c : j.coordinates)
      if (c.given || c.rate_given) return;
  for (const auto& [name, value] : held_) define(name, value, {}), mentioned_.insert(name);
}

}  // namespace mechanician::bodies
