// Robots in MJCF, MuJoCo's XML, as model files. See urdf.hpp.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>
#include <set>

#include "mechanician/base/diagnostic.hpp"
#include "mechanician/base/text.hpp"
#include "mechanician/base/xml.hpp"
#include "mechanician/model/bodies_formula.hpp"
#include "mechanician/model/source_map.hpp"
#include "mechanician/model/urdf.hpp"

namespace mechanician {

namespace {

constexpr double pi = std::numbers::pi;

struct Frame {
  Vector p{0.0, 0.0, 0.0};
  Matrix R = identity();
  Frame operator*(const Frame& b) const { return {p + R * b.p, R * b.R}; }
};

/// Mass, centre and inertia about that, along the axes of a body.
struct Inertia {
  double mass = 0.0;
  Vector centre{0.0, 0.0, 0.0};
  Matrix about{Vector{0.0, 0.0, 0.0}, Vector{0.0, 0.0, 0.0}, Vector{0.0, 0.0, 0.0}};
};

Matrix moved(const Inertia& x, const Vector& to) {
  const Vector d = x.centre - to;
  Matrix I = x.about;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      I[i][j] = I[i][j] + x.mass * ((i == j ? dot(d, d) : Formula(0.0)) - d[i] * d[j]);
  return I;
}

std::string list(const Vector& v) { return fmt::format("[{}, {}, {}]", v[0].str(), v[1].str(), v[2].str()); }

class Mujoco {
 public:
  Mujoco(std::string_view xml, const std::string& file) : source_{file, std::string(xml)}, root_(parse(xml)) {}

  ImportedRobot import() {
    if (root_.name != "mujoco")
      refuse(root_, fmt::format("an MJCF file has a `mujoco`, not a `{}`", printable(root_.name)));
    Vector gravity{0.0, 0.0, -9.81};
    for (const XmlElement& e : root_.children) {
      if (e.name == "compiler") {
        if (const auto* angle = e.attribute("angle")) degrees_ = *angle != "radian";
        if (const auto* order = e.attribute("eulerseq")) order_ = *order;
        for (const auto& [key, value] : e.attributes)
          if (key != "angle" && key != "eulerseq" && key != "autolimits" && key != "meshdir" && key != "texturedir")
            note(fmt::format("`{}` of `compiler` is not read", printable(key)));
      } else if (e.name == "option") {
        gravity = vector(e, "gravity", gravity);
        for (const auto& [key, value] : e.attributes)
          if (key != "gravity") note(fmt::format("`{}` of `option` is not read", printable(key)));
      } else if (e.name == "default") {
        defaults(e, "main", {});
      } else if (e.name != "worldbody" && e.name != "equality") {
        note(fmt::format("`{}` is not read", printable(e.name)));
      }
    }
    const XmlElement* world = root_.child("worldbody");
    if (!world) refuse(root_, "there is no `worldbody`");
    const std::string* title = root_.attribute("model");
    text_ = fmt::format("title = \"{}\"\n\n[world]\ngravity = {}\n\n", title ? plain(*title) : "robot", list(gravity));
    frames_["world"] = {}, bodies_["world"] = "ground";
    for (const XmlElement& e : world->children)
      if (e.name == "body")
        body(e, {}, "ground", "main");
      else
        note(fmt::format("`{}` of the world is not read", printable(e.name)));
    if (const XmlElement* equality = root_.child("equality"))
      for (const XmlElement& e : equality->children) tie(e);
    if (!kinetic_.empty()) text_ += fmt::format("[dynamics]\nkinetic = \"{}\"\n\n", kinetic_);
    if (!constraints_.empty()) text_ += "[constraints]\n" + constraints_ + "\n";
    return {std::move(text_), std::move(notes_)};
  }

 private:
  using Attributes = std::map<std::string, std::string>;

  XmlElement parse(std::string_view xml) const {
    try {
      return parse_xml(xml);
    } catch (const XmlError& e) {
      throw ModelError({{{e.line, 1, 1}, e.what(), {}}}, source_);
    }
  }
  [[noreturn]] void refuse(const XmlElement& at, std::string message) const {
    throw ModelError({{{at.line, 1, 1}, std::move(message), {}}}, source_);
  }
  void note(std::string what) {
    if (std::find(notes_.begin(), notes_.end(), what) == notes_.end()) notes_.push_back(std::move(what));
  }
  static std::string plain(std::string_view text) {
    std::string out;
    for (const char c : text) {
      const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_', digit = c >= '0' && c <= '9';
      if (out.empty() && digit) out = "_";
      out += letter || digit ? c : '_';
    }
    return out.empty() ? "_" : out;
  }
  std::string fresh(std::string name) {
    while (name == "ground" || name == "world" || !taken_.insert(name).second) name += "_";
    return name;
  }

  // ---- attributes, with what classes say

  void defaults(const XmlElement& e, std::string name, std::map<std::string, Attributes> inherited) {
    if (const auto* own = e.attribute("class")) name = *own;
    for (const XmlElement& c : e.children)
      if (c.name != "default")
        for (const auto& [key, value] : c.attributes) inherited[c.name][key] = value;
    classes_[name] = inherited;
    for (const XmlElement& c : e.children)
      if (c.name == "default") defaults(c, name, inherited);
  }
  /// The element with the attributes of its class put in.
  XmlElement whole(const XmlElement& e, const std::string& child_class) const {
    const std::string* own = e.attribute("class");
    const auto found = classes_.find(own ? *own : child_class);
    if (own && found == classes_.end()) refuse(e, fmt::format("there is no class `{}`", printable(*own)));
    XmlElement out = e;
    if (found != classes_.end())
      if (const auto kind = found->second.find(e.name); kind != found->second.end())
        for (const auto& [key, value] : kind->second)
          if (!out.attribute(key)) out.attributes.emplace_back(key, value);
    return out;
  }
  std::vector<double> numbers(const XmlElement& e, const char* key) const {
    std::vector<double> out;
    const std::string* text = e.attribute(key);
    for (std::size_t at = 0; text && at < text->size();) {
      while (at < text->size() && static_cast<unsigned char>((*text)[at]) <= ' ') ++at;
      if (at >= text->size()) break;
      const std::size_t end = std::min(text->find_first_of(" \t\r\n", at), text->size());
      double x = 0.0;
      const bool plus = (*text)[at] == '+';
      const auto read = std::from_chars(text->data() + at + plus, text->data() + end, x);
      if (read.ec != std::errc() || read.ptr != text->data() + end || !std::isfinite(x))
        refuse(e, fmt::format("`{}` has something that is no number: \"{}\"", key, printable(*text)));
      out.push_back(x), at = end;
    }
    return out;
  }
  std::optional<double> number(const XmlElement& e, const char* key) const {
    const auto x = numbers(e, key);
    return x.empty() ? std::nullopt : std::optional(x.front());
  }
  Vector vector(const XmlElement& e, const char* key, const Vector& absent) const {
    const auto x = numbers(e, key);
    if (x.empty()) return absent;
    if (x.size() != 3) refuse(e, fmt::format("`{}` is three numbers", key));
    return {x[0], x[1], x[2]};
  }
  double angle(double x) const { return degrees_ ? x * pi / 180.0 : x; }
  Frame frame(const XmlElement& e) const {
    Frame f{vector(e, "pos", {0.0, 0.0, 0.0}), identity()};
    const auto q = numbers(e, "quat"), a = numbers(e, "axisangle"), euler = numbers(e, "euler");
    if (q.size() == 4) {
      const double length = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
      if (!(length > 0.0)) refuse(e, "the quaternion has no length");
      f.R = matrix_of({q[0] / length, q[1] / length, q[2] / length, q[3] / length});
    } else if (a.size() == 4) {
      f.R = turn(unit({a[0], a[1], a[2]}), std::cos(angle(a[3])), std::sin(angle(a[3])));
    } else if (euler.size() == 3) {
      for (std::size_t k = 0; k < 3; ++k) {
        const char letter = k < order_.size() ? order_[k] : 'x';
        Vector axis{0.0, 0.0, 0.0};
        axis[static_cast<std::size_t>((letter | 32) - 'x') % 3] = 1.0;
        const Matrix T = turn(axis, std::cos(angle(euler[k])), std::sin(angle(euler[k])));
        f.R = letter >= 'a' ? f.R * T : T * f.R;  // small letters: axes that move
      }
    }
    for (const char* key : {"xyaxes", "zaxis"})
      if (e.attribute(key)) refuse(e, fmt::format("`{}` is not read: give quat, axisangle or euler", key));
    return f;
  }

  // ---- inertia

  std::optional<Inertia> of_geom(const XmlElement& given, const std::string& child_class) {
    const XmlElement e = whole(given, child_class);
    const std::string* kind = e.attribute("type");
    const std::string type = kind ? *kind : e.attribute("mesh") ? "mesh" : "sphere";
    if (type == "plane" || type == "hfield") return std::nullopt;
    auto size = numbers(e, "size");
    Frame at = frame(e);
    const auto ends = numbers(e, "fromto");
    if (ends.size() == 6) {
      const Vector a{ends[0], ends[1], ends[2]}, b{ends[3], ends[4], ends[5]};
      const Vector axis = unit(b - a);
      const Across across_axis = across(axis);
      at = {0.5 * (a + b), columns(across_axis.e, across_axis.f, axis)};
      size.resize(1), size.push_back(0.5 * norm(b - a).value);
    }
    size.resize(3, 0.0);
    const double r = size[0], h = size[1];
    double volume = 0.0;
    Vector unit_inertia{0.0, 0.0, 0.0};  // for a mass of one
    if (type == "sphere") {
      volume = 4.0 / 3.0 * pi * r * r * r, unit_inertia = {0.4 * r * r, 0.4 * r * r, 0.4 * r * r};
    } else if (type == "box") {
      volume = 8.0 * size[0] * size[1] * size[2];
      for (std::size_t k = 0; k < 3; ++k)
        unit_inertia[k] = (size[(k + 1) % 3] * size[(k + 1) % 3] + size[(k + 2) % 3] * size[(k + 2) % 3]) / 3.0;
    } else if (type == "ellipsoid") {
      volume = 4.0 / 3.0 * pi * size[0] * size[1] * size[2];
      for (std::size_t k = 0; k < 3; ++k)
        unit_inertia[k] = (size[(k + 1) % 3] * size[(k + 1) % 3] + size[(k + 2) % 3] * size[(k + 2) % 3]) / 5.0;
    } else if (type == "cylinder" || type == "capsule") {
      const double middle = pi * r * r * 2.0 * h, caps = type == "capsule" ? 4.0 / 3.0 * pi * r * r * r : 0.0;
      volume = middle + caps;
      const double side = middle * (3.0 * r * r + 4.0 * h * h) / 12.0 + caps * (0.4 * r * r + h * h + 0.75 * h * r);
      const double along = 0.5 * middle * r * r + 0.4 * caps * r * r;
      unit_inertia = {side / volume, side / volume, along / volume};
    } else {
      refuse(given,
             fmt::format("a geom of the type `{}` gives no inertia: give the body an `inertial`", printable(type)));
    }
    if (!(volume > 0.0)) refuse(given, "a geom has no size");
    Inertia x;
    x.mass = number(e, "mass").value_or(number(e, "density").value_or(1000.0) * volume);
    x.centre = at.p;
    Matrix own{Vector{0.0, 0.0, 0.0}, Vector{0.0, 0.0, 0.0}, Vector{0.0, 0.0, 0.0}};
    for (std::size_t k = 0; k < 3; ++k) own[k][k] = x.mass * unit_inertia[k];
    x.about = at.R * (own * transpose(at.R));
    return x;
  }

  Inertia of_body(const XmlElement& e, const std::string& child_class) {
    if (const XmlElement* i = e.child("inertial")) {
      const Frame at = frame(*i);
      Inertia x;
      x.mass = number(*i, "mass").value_or(0.0), x.centre = at.p;
      const auto d = numbers(*i, "diaginertia"), full = numbers(*i, "fullinertia");
      Matrix own = x.about;
      if (d.size() == 3)
        for (std::size_t k = 0; k < 3; ++k) own[k][k] = d[k];
      if (full.size() == 6)
        own = {Vector{full[0], full[3], full[4]}, Vector{full[3], full[1], full[5]}, Vector{full[4], full[5], full[2]}};
      x.about = at.R * (own * transpose(at.R));
      return x;
    }
    std::vector<Inertia> parts;
    for (const XmlElement& g : e.children)
      if (g.name == "geom")
        if (const auto x = of_geom(g, child_class)) parts.push_back(*x);
    Inertia all;
    for (const Inertia& x : parts) all.mass += x.mass, all.centre = all.centre + x.mass * x.centre;
    if (all.mass > 0.0) all.centre = (1.0 / all.mass) * all.centre;
    for (const Inertia& x : parts) {
      const Matrix I = moved(x, all.centre);
      for (std::size_t i = 0; i < 3; ++i) all.about[i] = all.about[i] + I[i];
    }
    return all;
  }

  // ---- bodies and joints

  void write_body(const std::string& name, const Frame& at, const Inertia& x) {
    text_ += fmt::format("[bodies.{}]\nmass    = {}\n", name, x.mass);
    if (x.mass > 0.0)
      text_ += fmt::format("centre  = {}\ninertia = [{}, {}, {}]\n", list(x.centre), list(x.about[0]), list(x.about[1]),
                           list(x.about[2]));
    text_ += fmt::format("start   = {{ at = {}, turned = {{ matrix = [{}, {}, {}] }} }}\n\n", list(at.p), list(at.R[0]),
                         list(at.R[1]), list(at.R[2]));
  }

  void body(const XmlElement& e, const Frame& parent_frame, const std::string& parent, const std::string& outer_class) {
    const std::string* of_children = e.attribute("childclass");
    const std::string child_class = of_children ? *of_children : outer_class;
    const Frame at = parent_frame * frame(e);
    const std::string* given = e.attribute("name");
    const std::string own = given ? *given : "body", name = fresh(plain(own));
    if (given) frames_[own] = at, bodies_[own] = name;
    std::vector<XmlElement> joints;
    for (const XmlElement& c : e.children) {
      if (c.name == "joint" || c.name == "freejoint")
        joints.push_back(c.name == "joint" ? whole(c, child_class) : c);
      else if (c.name != "body" && c.name != "inertial" && c.name != "geom")
        note(fmt::format("`{}` of bodies is not read", printable(c.name)));
      if (c.name == "geom") note("geoms are read for their inertia; they do not touch each other");
    }
    std::string before = parent;
    bool free = false;
    for (std::size_t k = 0; k < joints.size(); ++k) {
      // Several joints of a body: one after the other, with bodies without mass between them.
      const bool last = k + 1 == joints.size();
      const std::string to = last ? name : fresh(fmt::format("{}_{}", name, k + 1));
      if (!last) write_body(to, at, {});
      free = joint(joints[k], at, before, to, name) || free;
      before = to;
    }
    write_body(name, at, of_body(e, child_class));
    if (joints.empty())
      text_ += fmt::format("[joints.{}]\ntype    = \"fixed\"\nbetween = [\"{}\", \"{}\"]\nat      = {}\n\n",
                           fresh(name + "_weld"), parent, name, list(at.p));
    for (const XmlElement& c : e.children)
      if (c.name == "body") body(c, at, name, child_class);
  }

  /// True: a free joint, which ties nothing.
  bool joint(const XmlElement& j, const Frame& at, const std::string& from, const std::string& to,
             const std::string& body_name) {
    const std::string* kind = j.attribute("type");
    const std::string type = j.name == "freejoint" ? "free" : kind ? *kind : "hinge";
    if (type == "free") return true;
    const std::string* given = j.attribute("name");
    const std::string name = fresh(given ? plain(*given) : body_name + "_joint");
    const bool slides = type == "slide";
    if (type != "hinge" && type != "slide" && type != "ball")
      refuse(j, fmt::format("there is no joint of the type `{}`", printable(type)));
    const std::string coordinate = name + (slides ? ".distance" : ".angle");
    if (given && type != "ball") coordinates_[*given] = coordinate;
    text_ += fmt::format("[joints.{}]\ntype    = \"{}\"\nbetween = [\"{}\", \"{}\"]\nat      = {}\n", name,
                         type == "hinge" ? "revolute"
                         : slides        ? "prismatic"
                                         : "spherical",
                         from, to, list(at.p + at.R * vector(j, "pos", {0.0, 0.0, 0.0})));
    if (type != "ball") {
      text_ += fmt::format("axis    = {}\n", list(at.R * vector(j, "axis", {0.0, 0.0, 1.0})));
      const auto unit_of = [&](double x) { return slides ? x : angle(x); };
      const double ref = unit_of(number(j, "ref").value_or(0.0));
      if (ref != 0.0) note(fmt::format("`ref` of `{}`: coordinates here count from the position of the file", name));
      if (const double k = number(j, "stiffness").value_or(0.0); k != 0.0)
        text_ += fmt::format("spring  = {{ stiffness = {}, free = {} }}\n", k,
                             unit_of(number(j, "springref").value_or(0.0)) - ref);
      if (const double d = number(j, "damping").value_or(0.0); d != 0.0) text_ += fmt::format("damping = {}\n", d);
      const auto range = numbers(j, "range");
      const std::string* limited = j.attribute("limited");
      if (range.size() == 2 && range[0] < range[1] && !(limited && *limited == "false"))
        text_ += fmt::format("limits  = [{}, {}]\n", unit_of(range[0]) - ref, unit_of(range[1]) - ref);
      if (const double armature = number(j, "armature").value_or(0.0); armature != 0.0)
        kinetic_ += fmt::format("{}{}*{}'^2", kinetic_.empty() ? "" : " + ", armature / 2.0, coordinate);
      if (const double loss = number(j, "frictionloss").value_or(0.0); loss != 0.0)
        constraints_ +=
            fmt::format("\"{}.friction\" = {{ friction_force = {}, slip = \"{}'\" }}\n", name, loss, coordinate);
    } else {
      if (const double d = number(j, "damping").value_or(0.0); d != 0.0) text_ += fmt::format("damping = {}\n", d);
      for (const char* key : {"stiffness", "range", "armature", "frictionloss"})
        if (j.attribute(key) && number(j, key).value_or(0.0) != 0.0)
          note(fmt::format("`{}` of ball joints is not read", key));
    }
    text_ += "\n";
    return false;
  }

  // ---- equality

  void tie(const XmlElement& given) {
    const XmlElement e = whole(given, "main");
    if (const auto* active = e.attribute("active"); active && *active == "false")
      return note("ties that are not active are not read");
    const auto named = [&](const char* key) {
      const std::string* name = e.attribute(key);
      const std::string wanted = name ? *name : "world";
      const auto found = bodies_.find(wanted);
      if (found == bodies_.end()) refuse(given, fmt::format("there is no body `{}`", printable(wanted)));
      return std::pair(found->second, frames_.at(wanted));
    };
    const std::string* given_name = e.attribute("name");
    const std::string name = fresh(given_name ? plain(*given_name) : e.name);
    if ((e.name == "connect" || e.name == "weld") && e.attribute("body1")) {
      const auto [one, at] = named("body1");
      const std::string two = named("body2").first;
      if (e.name == "weld" && e.attribute("relpose"))
        note("`relpose` of welds is not read: bodies are welded as they stand");
      text_ += fmt::format("[joints.{}]\ntype    = \"{}\"\nbetween = [\"{}\", \"{}\"]\nat      = {}\n\n", name,
                           e.name == "connect" ? "spherical" : "fixed", two, one,
                           list(at.p + at.R * vector(e, "anchor", {0.0, 0.0, 0.0})));
    } else if (e.name == "joint") {
      const std::string *one = e.attribute("joint1"), *two = e.attribute("joint2");
      const auto a = one ? coordinates_.find(*one) : coordinates_.end(),
                 b = two ? coordinates_.find(*two) : coordinates_.end();
      if (a == coordinates_.end() || (two && b == coordinates_.end()))
        refuse(given, "a tie of joints that are not there");
      auto c = numbers(e, "polycoef");
      if (c.empty()) c = {0.0, 1.0};
      std::string right = fmt::format("{}", c[0]);
      for (std::size_t k = 1; two && k < c.size(); ++k)
        if (c[k] != 0.0) right += fmt::format(" + ({})*{}^{}", c[k], b->second, k);
      constraints_ += fmt::format("{} = \"{} = {}\"\n", name, a->second, right);
    } else {
      note(fmt::format("`{}` of ties is not read", printable(e.name)));
    }
  }

  SourceText source_;
  XmlElement root_;
  bool degrees_ = true;
  std::string order_ = "xyz";
  std::map<std::string, std::map<std::string, Attributes>> classes_;
  std::map<std::string, Frame> frames_;
  std::map<std::string, std::string> bodies_, coordinates_;
  std::set<std::string> taken_;
  std::string text_, constraints_, kinetic_;
  std::vector<std::string> notes_;
};

}  // namespace

ImportedRobot import_mjcf(std::string_view xml, const std::string& file) { return Mujoco(xml, file).import(); }

}  // namespace mechanician
