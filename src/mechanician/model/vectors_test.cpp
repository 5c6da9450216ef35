#include <gtest/gtest.h>

#include <random>

#include "mechanician/expression/tape.hpp"
#include "mechanician/model/read_model.hpp"

namespace mechanician {
namespace {

/// Outputs of a model at random states, by name.
std::map<std::string, double> outputs_at(const Model& model, unsigned seed) {
  std::vector<Expr> values, inputs{time_symbol()};
  for (const Named& o : model.outputs) values.push_back(o.value);
  for (const Constraint& c : model.constraints) values.push_back(c.residual);
  if (model.kinetic) values.push_back(*model.kinetic);
  for (const Coordinate& c : model.coordinates)
    inputs.push_back(c.q()), inputs.push_back(c.qd()), inputs.push_back(c.qdd());
  for (const Parameter& p : model.parameters) inputs.push_back(p.symbol());
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> draw(-2.0, 2.0);
  std::vector<double> at;
  for (std::size_t i = 0; i < inputs.size(); ++i) at.push_back(draw(random));
  const std::vector<double> found = Tape(values, inputs)(std::span<const double>(at));
  std::map<std::string, double> result;
  for (std::size_t i = 0; i < model.outputs.size(); ++i) result[model.outputs[i].name] = found[i];
  for (std::size_t i = 0; i < model.constraints.size(); ++i)
    result["row " + model.constraints[i].name] = found[model.outputs.size() + i];
  if (model.kinetic) result["kinetic"] = found.back();
  return result;
}

void expect_same(const std::string& vectors, const std::string& components) {
  const Model a = read_model_text(vectors, "a.toml"), b = read_model_text(components, "b.toml");
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const auto x = outputs_at(a, seed), y = outputs_at(b, seed);
    ASSERT_EQ(x.size(), y.size());
    for (const auto& [name, value] : y) EXPECT_NEAR(x.at(name), value, 1e-12 * (1 + std::abs(value))) << name;
  }
}

TEST(Vectors, mean_what_their_components_mean) {
  const std::string top = R"toml(
coordinates = ["x", "y", "z", "a"]
[parameters]
m = 2
L = 3
)toml";
  expect_same(top + R"toml(
[vectors]
r = ["x", "y", "z"]
s = ["L*cos(a)", "L*sin(a)", "t"]
v = "r'"
d = "r - s/2 + 2*v*m"
n = "cross(r, s)"
p = ["x", "y"]
[define]
e = "m/2*dot(v, v)"
w = "-(3*r)"
[dynamics]
kinetic = "e + a'^2"
[constraints]
rod = "norm(r - s) = L"
flat = "dot(r, n + s) = r[1]*s.y"
[outputs]
f = "dot(d, n)"
g = "norm(s'')^2 + w.z + r.x' + p[2]''"
h = "cross(p, p')"
k = "2*cross(r, s).z - r'.x + (r + s).y"
)toml",
              top + R"toml(
[dynamics]
kinetic = "m/2*(x'^2 + y'^2 + z'^2) + a'^2"
[constraints]
rod = "sqrt((x - L*cos(a))^2 + (y - L*sin(a))^2 + (z - t)^2) = L"
flat = "x*(y*t - z*L*sin(a) + L*cos(a)) + y*(z*L*cos(a) - x*t + L*sin(a)) + z*(x*L*sin(a) - y*L*cos(a) + t) = x*L*sin(a)"
[outputs]
f = "(x - L*cos(a)/2 + 2*m*x')*(y*t - z*L*sin(a)) + (y - L*sin(a)/2 + 2*m*y')*(z*L*cos(a) - x*t) + (z - t/2 + 2*m*z')*(x*L*sin(a) - y*L*cos(a))"
g = "(-L*sin(a)*a'' - L*cos(a)*a'^2)^2 + (L*cos(a)*a'' - L*sin(a)*a'^2)^2 - 3*z + x' + y''"
h = "x*y' - y*x'"
k = "2*(x*L*sin(a) - y*L*cos(a)) - x' + y + L*sin(a)"
)toml");
}

TEST(Vectors, of_families_mean_what_their_members_mean) {
  const std::string top = R"toml(
coordinates = ["x[1..4]", "y[1..4]"]
[dynamics]
kinetic = "sum(i = 1..4, x[i]'^2 + y[i]'^2)"
)toml";
  expect_same(top + R"toml(
[vectors]
"r[i]" = { for = "i = 1..4", value = ["x[i]", "i*y[i]"] }
"b[i]" = { for = "i = 2..4", value = "r[i] - r[i-1]" }
[constraints.rod]
for = "i = 2..4"
equation = "norm(b[i]) = 1"
[outputs]
"c[i]" = { for = "i = 3..4", value = "cross(b[i], b[i-1]') + r[i].x" }
s = "sum(i = 1..4, dot(r[i], r[i]'))"
)toml",
              top + R"toml(
[constraints.rod]
for = "i = 2..4"
equation = "sqrt((x[i] - x[i-1])^2 + (i*y[i] - (i-1)*y[i-1])^2) = 1"
[outputs]
"c[i]" = { for = "i = 3..4", value = "(x[i] - x[i-1])*((i-1)*y[i-1]' - (i-2)*y[i-2]') - (i*y[i] - (i-1)*y[i-1])*(x[i-1]' - x[i-2]') + x[i]" }
s = "sum(i = 1..4, x[i]*x[i]' + i^2*y[i]*y[i]')"
)toml");
}

/// An expression of vectors, and its components written out.
struct Random {
  std::mt19937 random;
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); }
  struct Vector {
    std::string text;
    std::vector<std::string> parts;
  };
  Vector vector(int depth) {
    if (depth == 0) {
      const bool first = below(2) == 0, primed = below(3) == 0;
      std::vector<std::string> parts =
          first ? std::vector<std::string>{"x", "y", "z"} : std::vector<std::string>{"(x*y)", "sin(z)", "m*y"};
      if (primed)
        parts = first ? std::vector<std::string>{"x'", "y'", "z'"}
                      : std::vector<std::string>{"(x'*y + x*y')", "(cos(z)*z')", "(m*y')"};
      return {std::string(first ? "r" : "s") + (primed ? "'" : ""), parts};
    }
    const Vector a = vector(depth - 1), b = vector(depth - 1);
    Vector made;
    switch (below(5)) {
      case 0:
        made.text = "(" + a.text + " + " + b.text + ")";
        for (int i = 0; i < 3; ++i) made.parts.push_back("(" + a.parts[i] + " + " + b.parts[i] + ")");
        break;
      case 1:
        made.text = "(" + a.text + " - " + b.text + ")";
        for (int i = 0; i < 3; ++i) made.parts.push_back("(" + a.parts[i] + " - " + b.parts[i] + ")");
        break;
      case 2:
        made.text = "cross(" + a.text + ", " + b.text + ")";
        for (int i = 0; i < 3; ++i) {
          const int j = (i + 1) % 3, k = (i + 2) % 3;
          made.parts.push_back("(" + a.parts[j] + "*" + b.parts[k] + " - " + a.parts[k] + "*" + b.parts[j] + ")");
        }
        break;
      case 3:
        made.text = "(dot(" + a.text + ", " + b.text + ")*" + b.text + ")";
        for (int i = 0; i < 3; ++i)
          made.parts.push_back("((" + a.parts[0] + "*" + b.parts[0] + " + " + a.parts[1] + "*" + b.parts[1] + " + " +
                               a.parts[2] + "*" + b.parts[2] + ")*" + b.parts[i] + ")");
        break;
      default:
        made.text = "(-" + a.text + "/m)";
        for (int i = 0; i < 3; ++i) made.parts.push_back("(-" + a.parts[i] + "/m)");
    }
    return made;
  }
};

TEST(Vectors, made_at_random_mean_what_their_components_mean) {
  for (unsigned seed = 1; seed <= 25; ++seed) {
    SCOPED_TRACE(seed);
    Random random{std::mt19937(seed)};
    const Random::Vector v = random.vector(3);
    const std::string top =
        "coordinates = [\"x\", \"y\", \"z\"]\n[parameters]\nm = 2\n[dynamics]\nkinetic = \"x'^2 + y'^2 + z'^2\"\n";
    expect_same(
        top + "[vectors]\nr = [\"x\", \"y\", \"z\"]\ns = [\"x*y\", \"sin(z)\", \"m*y\"]\nv = \"" + v.text +
            "\"\n[outputs]\na = \"v.x\"\nb = \"v.y\"\nc = \"v.z\"\n",
        top + "[outputs]\na = \"" + v.parts[0] + "\"\nb = \"" + v.parts[1] + "\"\nc = \"" + v.parts[2] + "\"\n");
  }
}

}  // namespace
}  // namespace mechanician
