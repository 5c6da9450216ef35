// Starts that are moved onto the joints do not depend on the formulation.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <random>

#include "mechanician/base/trials_for_test.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/expression/tape.hpp"
#include "mechanician/instant/accelerate.hpp"
#include "mechanician/instant/project.hpp"
#include "mechanician/model/family_model.hpp"

namespace mechanician {
namespace {

using Eigen::Quaterniond;
using Eigen::Vector3d;

/// A tree of bodies, often with a loop, that closes somewhere; where the file puts them and how they move fits by a gap only.
struct RandomMechanism {
  std::mt19937 random;
  bool is_planar;
  std::vector<Vector3d> p{Vector3d::Zero()};
  std::vector<Quaterniond> q{Quaterniond::Identity()};
  std::string text;

  explicit RandomMechanism(unsigned seed) : random(seed), is_planar(seed % 4 == 3) {
    const int n = 2 + static_cast<int>(seed / 4 % 2);
    const double gap = seed % 3 == 0 ? 0.02 : 0.1;
    text = is_planar ? "[world]\nplanar = \"xy\"\n" : "[world]\n";
    text += "gravity = [0.3, -9.81, 0]\nformulation = \"FORMULATION\"\n[start]\nassemble = true\nHOLD\n";
    std::string outputs = "[outputs]\n";
    int num_outputs = 0;
    for (int i = 1; i <= n; ++i) {
      p.push_back(vector(1.0)), q.push_back(turn(1.5));
      const Vector3d at = p.back() + vector(gap), v = vector(0.4), c = vector(0.2);
      const Quaterniond turned = q.back() * turn(gap);
      Vector3d w = vector(0.4);
      if (is_planar) w.head(2).setZero();
      const double side = turned.w() < 0.0 ? -1.0 : 1.0;
      text += fmt::format(
          "[bodies.b{}]\nmass = {}\ninertia = [0.05, 0.06, 0.07]\ncentre = {}\n"
          "start = {{ at = {}, turned = {{ quaternion = [{}, {}, {}, {}] }}, velocity = {}, spin = {} }}\n",
          i, 0.5 + 0.3 * i, str(c), str(at), side * turned.w(), side * turned.x(), side * turned.y(), side * turned.z(),
          str(v), str(w));
      for (const char* what : {"x", "y", "z", "qw", "qx", "qy", "qz", "wx", "wy", "wz", "x'", "y'", "cx''", "Wz'"})
        outputs += fmt::format("o{} = \"b{}.{}\"\n", ++num_outputs, i, what);
    }
    for (int i = 1; i <= n; ++i) {
      static constexpr const char* kinds[] = {"revolute",  "prismatic", "cylindrical", "spherical",
                                              "universal", "screw",     "planar",      "revolute"};
      static constexpr const char* in_plane[] = {"revolute", "prismatic", "revolute"};
      const std::string kind = is_planar ? in_plane[pick(3)] : kinds[pick(8)];
      joint(fmt::format("j{}", i), kind, pick(i), i);
    }
    if (seed % 5 != 0) {
      static constexpr const char* kinds[] = {"spherical", "revolute", "point_on_plane", "distance", "cylindrical"};
      const std::string kind = is_planar ? "revolute" : kinds[pick(5)];
      joint("loop", kind, 0, n);
    }
    text += outputs;
  }

  int pick(int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }
  double draw(double size) { return std::uniform_real_distribution<double>(-size, size)(random); }
  Vector3d vector(double size) { return {draw(size), draw(size), is_planar ? 0.0 : draw(size)}; }
  Quaterniond turn(double most) {
    const Vector3d axis = is_planar ? Vector3d::UnitZ() : Vector3d(draw(1), draw(1), 1.1).normalized();
    return Quaterniond(Eigen::AngleAxisd(draw(most), axis));
  }
  static std::string str(const Vector3d& v) { return fmt::format("[{}, {}, {}]", v.x(), v.y(), v.z()); }

  void joint(const std::string& name, const std::string& kind, int one, int two) {
    const auto i = static_cast<std::size_t>(one), k = static_cast<std::size_t>(two);
    const Vector3d at = p[k] + vector(0.4);
    Vector3d axis = is_planar ? Vector3d::UnitZ() : Vector3d(vector(1.0) + Vector3d(0, 0, 1.2)).normalized();
    if (is_planar && kind == "prismatic") axis = Vector3d(draw(1), 1.2, 0).normalized();
    const auto body = [](int b) { return b == 0 ? std::string("ground") : fmt::format("b{}", b); };
    const bool axes = kind != "spherical" && kind != "distance";
    Vector3d other = axis, at_other = at;
    if (kind == "universal") other = axis.unitOrthogonal();
    if (kind == "distance") at_other = at + Vector3d(0.3, 0.4, 0);
    const auto end = [&](std::size_t b, const Vector3d& where, const Vector3d& along) {
      const Quaterniond back = q[b].conjugate();
      return fmt::format("{{ at = {}{} }}", str(back * (where - p[b])), axes ? ", axis = " + str(back * along) : "");
    };
    text += fmt::format("[joints.{}]\ntype = \"{}\"\nbetween = [\"{}\", \"{}\"]\nfirst = {}\nsecond = {}\n", name, kind,
                        body(one), body(two), end(i, at, axis),
                        kind == "point_on_plane" ? fmt::format("{{ at = {} }}", str(q[k].conjugate() * (at - p[k])))
                                                 : end(k, at_other, other));
    if (kind == "screw") text += "pitch = 0.2\n";
    if (kind == "distance") text += "length = 0.5\n";
  }
};

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  return text.replace(text.find(what), what.size(), by);
}

struct Assembled {
  bool converged = false;
  std::vector<double> outputs;
};

/// Where no motion closes a joint along the tree, the model is refused by its name.
std::optional<System> try_read(const std::string& text) {
  try {
    return System(read_family_model_text(text, "mechanism.toml"));
  } catch (const ModelError& e) {
    EXPECT_NE(std::string(e.what()).find("cannot close"), std::string::npos) << e.what();
    return std::nullopt;
  }
}

Assembled assemble(const std::string& text) {
  const std::optional<System> read = try_read(text);
  if (!read) return {};
  const System& system = *read;
  const Projection p = project_start(system, system.start());
  Assembled result{p.converged, {}};
  if (!p.converged) return result;
  const Instant instant = accelerate(system, p.state);
  EXPECT_TRUE(instant.violations().empty());
  const Model& model = system.model();
  std::vector<Expr> symbols, outputs;
  std::vector<double> values;
  for (int i = 0; i < system.n(); ++i) {
    const Coordinate& x = model.coordinates[static_cast<std::size_t>(i)];
    symbols.push_back(x.q()), symbols.push_back(x.qd()), symbols.push_back(x.qdd());
    values.push_back(p.state.q(i)), values.push_back(p.state.qd(i)), values.push_back(instant.solution.qdd(i));
  }
  for (std::size_t i = 0; i < model.parameters.size(); ++i)
    symbols.push_back(model.parameters[i].symbol()), values.push_back(system.parameters()[i]);
  for (const Named& o : model.outputs) outputs.push_back(o.value);
  result.outputs = Tape(outputs, symbols)(std::span<const double>(values));
  return result;
}

TEST(AssembledStart, is_the_same_in_joint_coordinates_and_with_every_body_by_itself) {
  int closed = 0, held = 0;
  for (unsigned seed = 1; seed <= num_trials(128); ++seed) {
    const RandomMechanism mechanism(seed);
    std::string text = mechanism.text, hold;
    if (seed % 6 == 0 && text.find("j2.angle") == std::string::npos &&
        text.find("[joints.j2]\ntype = \"revolute\"") != std::string::npos)
      hold = "hold = [\"j2.angle\", \"j2.angle'\"]", ++held;
    if (seed % 6 == 1) hold = "hold = [\"b1.x\"]", ++held;
    text = replaced(text, "HOLD", hold);
    const Assembled joint = assemble(replaced(text, "FORMULATION", "joint"));
    const Assembled free = assemble(replaced(text, "FORMULATION", "free"));
    EXPECT_EQ(joint.converged, free.converged) << "seed " << seed << '\n' << text;
    if (!joint.converged || !free.converged) continue;
    ++closed;
    double size = 1.0;
    for (const double x : free.outputs) size = std::max(size, std::abs(x));
    double off = 0.0;
    for (std::size_t k = 0; k < free.outputs.size(); ++k)
      off = std::max(off, std::abs(joint.outputs[k] - free.outputs[k]));
    EXPECT_LE(off, 1e-9 * size) << "seed " << seed << '\n' << text;
  }
  EXPECT_GE(closed, sanitized ? 9 : 100);
  EXPECT_GE(held, sanitized ? 1 : 10);
}

}  // namespace
}  // namespace mechanician
