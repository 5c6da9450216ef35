#include "mechanician/model/urdf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "mechanician/base/diagnostic.hpp"
#include "mechanician/base/text.hpp"
#include "mechanician/base/xml.hpp"
#include "mechanician/model/bodies_formula.hpp"
#include "mechanician/model/inside_folder.hpp"
#include "mechanician/model/source_map.hpp"

namespace mechanician {

namespace {

std::string list(const Vector& v) { return fmt::format("[{}, {}, {}]", v[0].str(), v[1].str(), v[2].str()); }

/// Turns about the axes of the parent: x by r, y by p, z by y.
Matrix of_rpy(const Vector& rpy) {
  const auto about = [](const Vector& axis, double angle) { return turn(axis, std::cos(angle), std::sin(angle)); };
  return about({0.0, 0.0, 1.0}, rpy[2].value) *
         (about({0.0, 1.0, 0.0}, rpy[1].value) * about({1.0, 0.0, 0.0}, rpy[0].value));
}

struct Frame {
  Vector p{0.0, 0.0, 0.0};
  Matrix R = identity();
  Frame operator*(const Frame& b) const { return {p + R * b.p, R * b.R}; }
};

class Robot {
 public:
  Robot(std::string_view xml, const std::string& file, bool floating)
      : source_{file, std::string(xml)}, floating_(floating), root_(parse(xml)) {}

  ImportedRobot import() {
    if (root_.name != "robot")
      refuse(root_.line, fmt::format("a URDF file has a `robot`, not a `{}`", printable(root_.name)));
    for (const XmlElement& e : root_.children) {
      if (e.name == "link") {
        if (!links_.emplace(named_in(e), &e).second)
          refuse(e.line, fmt::format("there are two links `{}`", printable(named_in(e))));
        order_.push_back(named_in(e));
      }
      if (e.name == "joint") joints_.push_back(&e);
      if (e.name != "link" && e.name != "joint") note(fmt::format("`{}` is not read", printable(e.name)));
    }
    if (links_.empty()) refuse(root_.line, "the robot has no links");
    place();
    ImportedRobot robot;
    const std::string* title = root_.attribute("name");
    text_ += fmt::format("title = \"{}\"\n\n[world]\ngravity = [0, 0, -9.81]\n\n", title ? plain(*title) : "robot");
    for (const std::string& name : outwards_) write_link(name);
    for (const XmlElement* joint : joints_) write_joint(*joint);
    if (!floating_ && !is_ground(base_))
      text_ += fmt::format("[joints.{}]\ntype    = \"fixed\"\nbetween = [\"ground\", \"{}\"]\n\n", fresh("base"),
                           body_of(base_));
    if (!constraints_.empty()) text_ += "[constraints]\n" + constraints_ + "\n";
    if (!starts_.empty()) text_ += "[start.position]\n" + starts_ + "\n";
    robot.text = std::move(text_), robot.notes = std::move(notes_);
    return robot;
  }

 private:
  XmlElement parse(std::string_view xml) const {
    try {
      return parse_xml(xml);
    } catch (const XmlError& e) {
      throw ModelError({{{e.line, 1, 1}, e.what(), {}}}, source_);
    }
  }
  [[noreturn]] void refuse(int line, std::string message) const {
    throw ModelError({{{line, 1, 1}, std::move(message), {}}}, source_);
  }
  void note(std::string what) {
    if (std::find(notes_.begin(), notes_.end(), what) == notes_.end()) notes_.push_back(std::move(what));
  }

  /// Characters that no name can have become _.
  static std::string plain(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
      const CodePoint c = decode_utf8(text, i);
      const auto length = static_cast<std::size_t>(c.length);
      if (c.valid && (out.empty() ? is_name_start(c.value) : is_name_part(c.value)))
        out += text.substr(i, length);
      else
        out += out.empty() && c.value >= '0' && c.value <= '9' ? "_" + std::string(text.substr(i, length)) : "_";
      i += length;
    }
    return out.empty() ? "_" : out;
  }
  std::string fresh(std::string name) {
    while (!taken_.insert(name).second || name == "ground" || name == "world") name += "_";
    return name;
  }
  std::string named_in(const XmlElement& e) const {
    const std::string* name = e.attribute("name");
    if (!name) refuse(e.line, fmt::format("a {} has no name", e.name));
    return *name;
  }

  Vector numbers(const XmlElement& e, const char* key, const Vector& absent) const {
    const std::string* text = e.attribute(key);
    if (!text) return absent;
    Vector v;
    std::size_t at = 0;
    for (Formula& x : v) {
      while (at < text->size() && (*text)[at] <= ' ') ++at;
      const std::size_t end = std::min(text->find_first_of(" \t\r\n", at), text->size());
      const bool plus = at < end && (*text)[at] == '+';
      const auto read = std::from_chars(text->data() + at + plus, text->data() + end, x.value);
      if (read.ec != std::errc() || read.ptr != text->data() + end || !std::isfinite(x.value))
        refuse(e.line, fmt::format("`{}` is three numbers, not \"{}\"", key, printable(*text)));
      at = end;
    }
    return v;
  }
  std::optional<double> number(const XmlElement* e, const char* key) const {
    const std::string* text = e ? e->attribute(key) : nullptr;
    if (!text) return std::nullopt;
    const std::size_t first = text->find_first_not_of(" \t+"), last = text->find_last_not_of(" \t");
    double x = 0.0;
    const char* end = first == std::string::npos ? nullptr : text->data() + last + 1;
    const auto read = end ? std::from_chars(text->data() + first, end, x)
                          : std::from_chars_result{nullptr, std::errc::invalid_argument};
    if (read.ec != std::errc() || read.ptr != end || !std::isfinite(x))
      refuse(e->line, fmt::format("`{}` is a number, not \"{}\"", key, printable(*text)));
    return x;
  }
  Frame origin(const XmlElement& e) const {
    const XmlElement* o = e.child("origin");
    if (!o) return {};
    const Vector zero{0.0, 0.0, 0.0};
    return {numbers(*o, "xyz", zero), of_rpy(numbers(*o, "rpy", zero))};
  }
  std::string link_of(const XmlElement& joint, const char* which) const {
    const XmlElement* e = joint.child(which);
    const std::string* link = e ? e->attribute("link") : nullptr;
    if (!link) refuse(joint.line, fmt::format("the joint `{}` has no {}", printable(named_in(joint)), which));
    if (!links_.contains(*link)) refuse(e->line, fmt::format("there is no link `{}`", printable(*link)));
    return *link;
  }

  /// Where the links are with all joints at zero.
  void place() {
    std::map<std::string, const XmlElement*> above;
    for (const XmlElement* j : joints_)
      if (!above.emplace(link_of(*j, "child"), j).second)
        refuse(j->line, fmt::format("the link `{}` is the child of two joints", printable(link_of(*j, "child"))));
    std::vector<std::string> roots;
    for (const std::string& name : order_)
      if (!above.contains(name)) roots.push_back(name);
    if (roots.size() != 1)
      refuse(root_.line, roots.empty()
                             ? "the joints go round in a circle"
                             : fmt::format("the robot has {} first links: {}", roots.size(), quote_list(roots, 4)));
    base_ = roots.front();
    frames_[base_] = {}, outwards_.push_back(base_);
    for (std::size_t done = 0; done < joints_.size();) {
      const std::size_t before = done;
      done = 0;
      for (const XmlElement* j : joints_) {
        const auto parent = frames_.find(link_of(*j, "parent"));
        if (parent == frames_.end()) continue;
        if (frames_.emplace(link_of(*j, "child"), parent->second * origin(*j)).second)
          outwards_.push_back(link_of(*j, "child"));
        ++done;
      }
      if (done == before && done < joints_.size()) refuse(root_.line, "the joints go round in a circle");
    }
    // Where a link and a joint have one name, it is that of the joint: its coordinate goes by it. What moves freely goes by its link.
    bodies_[base_] = is_ground(base_) ? "ground" : fresh(plain(base_));
    for (const XmlElement* j : joints_) {
      const std::string* type = j->attribute("type");
      if (type && *type == "floating")
        bodies_[link_of(*j, "child")] = fresh(plain(link_of(*j, "child")));
      else
        names_[named_in(*j)] = fresh(plain(named_in(*j)));
    }
    for (const std::string& name : order_)
      if (!bodies_.contains(name)) bodies_[name] = fresh(plain(name));
  }
  /// A first link called world is the ground.
  bool is_ground(const std::string& link) const { return link == base_ && link == "world" && !floating_; }
  const std::string& body_of(const std::string& link) const { return bodies_.at(link); }

  void write_link(const std::string& name) {
    if (is_ground(name)) return;
    const XmlElement& link = *links_.at(name);
    const Frame& frame = frames_.at(name);
    text_ += fmt::format("[bodies.{}]\n", key_of(body_of(name)));
    const XmlElement* inertial = link.child("inertial");
    if (!inertial) {
      text_ += "mass    = 0\n";
    } else {
      const auto mass = number(inertial->child("mass"), "value");
      if (mass.value_or(0.0) < 0.0)
        refuse(inertial->line, fmt::format("the mass of the link `{}` is negative", printable(name)));
      const Frame at = origin(*inertial);
      text_ += fmt::format("mass    = {}\ncentre  = {}\n", mass.value_or(0.0), list(at.p));
      if (const XmlElement* e = inertial->child("inertia")) {
        const auto entry = [&](const char* key) { return Formula(number(e, key).value_or(0.0)); };
        const Matrix I{Vector{entry("ixx"), entry("ixy"), entry("ixz")},
                       Vector{entry("ixy"), entry("iyy"), entry("iyz")},
                       Vector{entry("ixz"), entry("iyz"), entry("izz")}};
        const Matrix own = at.R * (I * transpose(at.R));
        text_ += fmt::format("inertia = [{}, {}, {}]\n", list(own[0]), list(own[1]), list(own[2]));
        if (!is_positive(own)) {
          text_ += "physical = false\n";
          note(fmt::format("line {}: the inertia of `{}` is not positive, as no body has it; it is taken as it is",
                           e->line, printable(name)));
        }
      }
    }
    text_ += fmt::format("start   = {{ at = {}, turned = {{ matrix = [{}, {}, {}] }} }}\n", list(frame.p),
                         list(frame.R[0]), list(frame.R[1]), list(frame.R[2]));
    bool drawn = false;
    for (const XmlElement& e : link.children) {
      if (e.name == "visual" && !drawn && (drawn = write_mesh(e))) continue;
      if (e.name == "visual")
        note(
            "`visual` of links is not read, but for the first of each that is an STL or OBJ file in the folder of the "
            "robot or below it");
      else if (e.name != "inertial")
        note(fmt::format("`{}` of links is not read", printable(e.name)));
    }
    text_ += "\n";
  }

  /// The surface of a link, where there is such a file.
  bool write_mesh(const XmlElement& visual) {
    const XmlElement* geometry = visual.child("geometry");
    const XmlElement* mesh = geometry ? geometry->child("mesh") : nullptr;
    const std::string* name = mesh ? mesh->attribute("filename") : nullptr;
    const std::optional<std::string> file = name ? mesh_beside(*name) : std::nullopt;
    if (!file) return false;
    const Frame at = origin(visual);
    text_ += fmt::format("shape   = {{ mesh = \"{}\", at = {}, turned = {{ matrix = [{}, {}, {}] }}, scale = {} }}\n",
                         *file, list(at.p), list(at.R[0]), list(at.R[1]), list(at.R[2]),
                         list(numbers(*mesh, "scale", {1.0, 1.0, 1.0})));
    return true;
  }
  /// From the folder of the file. What `package://` begins with is looked for with and without the folders that come first.
  std::optional<std::string> mesh_beside(std::string_view name) const {
    constexpr std::string_view package = "package://";
    const bool anywhere = name.starts_with(package);
    if (anywhere) name.remove_prefix(package.size());
    std::vector<std::string> ways{std::string(name)};
    for (std::size_t at = name.find('/'); anywhere && at != std::string_view::npos; at = name.find('/', at + 1))
      ways.emplace_back(name.substr(at + 1));
    for (const std::string& way : ways) {
      const bool plain_text = std::none_of(
          way.begin(), way.end(), [](char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20; });
      // Where links lead is asked only of what is there.
      std::error_code error;
      const auto file = std::filesystem::path(source_.file).parent_path() / way;
      if (plain_text && is_mesh(way) && std::filesystem::is_regular_file(file, error) &&
          file_beside(source_.file, way, "a mesh").problem.empty())
        return way;
    }
    return std::nullopt;
  }

  static std::string key_of(const std::string& name) {
    const bool bare =
        std::all_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    return bare ? name : "\"" + name + "\"";
  }

  /// Zero, or the limit that is next to it.
  double start_of(const XmlElement& joint) const {
    const std::string* type = joint.attribute("type");
    const XmlElement* limit = joint.child("limit");
    if (!type || (*type != "revolute" && *type != "prismatic")) return 0.0;
    const double low = number(limit, "lower").value_or(0.0), high = number(limit, "upper").value_or(0.0);
    return low < high ? std::clamp(0.0, low, high) : 0.0;
  }

  void write_joint(const XmlElement& joint) {
    const std::string own = named_in(joint), child = link_of(joint, "child"), parent = link_of(joint, "parent");
    const std::string* type = joint.attribute("type");
    if (!type) refuse(joint.line, fmt::format("the joint `{}` has no type", printable(own)));
    if (*type == "floating") return;  // nothing holds it
    static const std::map<std::string, std::string> types{{"revolute", "revolute"},
                                                          {"continuous", "revolute"},
                                                          {"prismatic", "prismatic"},
                                                          {"fixed", "fixed"},
                                                          {"planar", "planar"}};
    const auto known = types.find(*type);
    if (known == types.end()) refuse(joint.line, fmt::format("there is no joint of the type `{}`", printable(*type)));
    const std::string name = names_.at(own);
    const Frame& frame = frames_.at(child);
    text_ += fmt::format("[joints.{}]\ntype    = \"{}\"\nbetween = [\"{}\", \"{}\"]\nat      = {}\n", key_of(name),
                         known->second, body_of(parent), body_of(child), list(frame.p));
    for (const XmlElement& e : joint.children)
      if (e.name != "origin" && e.name != "parent" && e.name != "child" && e.name != "axis" && e.name != "limit" &&
          e.name != "dynamics" && e.name != "mimic")
        note(fmt::format("`{}` of joints is not read", printable(e.name)));
    if (*type == "fixed") {
      text_ += "\n";
      return;
    }
    const XmlElement* axis = joint.child("axis");
    const Vector along = axis ? numbers(*axis, "xyz", {1.0, 0.0, 0.0}) : Vector{1.0, 0.0, 0.0};
    if (!(norm(along).value > 0.0))
      refuse(axis->line, fmt::format("the axis of the joint `{}` has no length", printable(own)));
    text_ += fmt::format("axis    = {}\n", list(frame.R * along));
    const std::string coordinate = name + (*type == "prismatic" ? ".distance" : ".angle");
    if (const XmlElement* d = joint.child("dynamics"); d && *type != "planar") {
      if (const auto damping = number(d, "damping"); damping.value_or(0.0) != 0.0)
        text_ += fmt::format("damping = {}\n", *damping);
      if (const auto friction = number(d, "friction"); friction.value_or(0.0) != 0.0)
        constraints_ += fmt::format("\"{0}.friction\" = {{ friction_force = {1}, slip = \"{2}'\" }}\n", name, *friction,
                                    coordinate);
    }
    double start = 0.0;
    const XmlElement* limit = joint.child("limit");
    if (*type == "revolute" || *type == "prismatic") {
      const double low = number(limit, "lower").value_or(0.0), high = number(limit, "upper").value_or(0.0);
      if (low < high) {
        text_ += fmt::format("limits  = [{}, {}]\n", low, high);
        start = start_of(joint);
      } else {
        note(fmt::format("the limits of `{}` leave no room and are not read", printable(own)));
      }
    }
    for (const char* key : {"effort", "velocity"})
      if (limit && limit->attribute(key)) note(fmt::format("`{}` of limits is not read", key));
    if (const XmlElement* mimic = joint.child("mimic")) {
      const std::string* other = mimic->attribute("joint");
      const double factor = number(mimic, "multiplier").value_or(1.0), offset = number(mimic, "offset").value_or(0.0);
      const auto leader = std::find_if(joints_.begin(), joints_.end(),
                                       [&](const XmlElement* j) { return other && named_in(*j) == *other; });
      if (leader == joints_.end() || !names_.contains(*other)) {
        note(fmt::format("the joint `{}` follows `{}`, which is not there: it moves freely", printable(own),
                         printable(other ? *other : "")));
      } else {
        const std::string* kind = (*leader)->attribute("type");
        const std::string led = names_.at(*other) + (kind && *kind == "prismatic" ? ".distance" : ".angle");
        constraints_ += fmt::format("\"{}.mimic\" = \"{} = {}*{} + {}\"\n", name, coordinate, factor, led, offset);
        start = factor * start_of(**leader) + offset;
      }
    }
    if (start != 0.0) starts_ += fmt::format("\"{}\" = {}\n", coordinate, start);
    text_ += "\n";
  }

  SourceText source_;
  bool floating_;
  XmlElement root_;
  std::map<std::string, const XmlElement*> links_;
  std::vector<std::string> order_, outwards_;  ///< links as the file has them; from the first one outwards
  std::vector<const XmlElement*> joints_;
  std::map<std::string, Frame> frames_;
  std::map<std::string, std::string> bodies_, names_;
  std::set<std::string> taken_;
  std::string base_, text_, constraints_, starts_;
  std::vector<std::string> notes_;
};

}  // namespace

bool is_robot(std::string_view file) { return file.ends_with(".urdf") || file.ends_with(".xml"); }

ImportedRobot import_robot(std::string_view xml, const std::string& file, bool floating) {
  return file.ends_with(".xml") ? import_mjcf(xml, file) : import_urdf(xml, file, floating);
}

ImportedRobot import_urdf(std::string_view xml, const std::string& file, bool floating) {
  return Robot(xml, file, floating).import();
}

}  // namespace mechanician
