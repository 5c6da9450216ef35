#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "mechanician/expression/tape.hpp"
#include "mechanician/model/family_model.hpp"
#include "mechanician/model/parameters.hpp"
#include "mechanician/model/read_model.hpp"

namespace mechanician {
namespace {

TEST(ModelUnits, numbers_are_put_into_si_and_so_is_what_is_set) {
  const std::string text = R"toml(
coordinates = ["x", "a"]
[parameters]
L = 400
half = "L/2"
m = [1, 2.5]
w = "2*30"
k = 3
[units]
L = "mm"
half = "m"
m = "g"
w = "rpm"
x = "cm"
a = "deg"
[dynamics]
kinetic = "m[1]*x'^2 + m[2]*L^2*a'^2"
[start]
position = { x = 7, a = 180 }
velocity = { x = "2*3", a = 90 }
[run]
scale = { x = 2 }
)toml";
  const FamilyModel model = read_family_model_text(text, "a.toml");
  const double pi = std::acos(-1.0);
  EXPECT_DOUBLE_EQ(*model.find_parameter("L"), 0.4);
  EXPECT_DOUBLE_EQ(*model.find_parameter("half"), 0.2);
  EXPECT_DOUBLE_EQ(*model.find_parameter("m[2]"), 2.5e-3);
  EXPECT_DOUBLE_EQ(*model.find_parameter("w"), 2 * pi);
  EXPECT_DOUBLE_EQ(*model.find_parameter("k"), 3.0);
  const Model whole = expand(model);
  const StartState start = start_state(whole, evaluate_parameters(whole));
  EXPECT_DOUBLE_EQ(start.q[0], 0.07);
  EXPECT_DOUBLE_EQ(start.q[1], pi);
  EXPECT_DOUBLE_EQ(start.qd[0], 0.06);
  EXPECT_DOUBLE_EQ(start.qd[1], pi / 2);
  EXPECT_DOUBLE_EQ(start.scale[0], 0.02);
  EXPECT_DOUBLE_EQ(*read_family_model_text(text, "a.toml", {{"L", 100}}).find_parameter("half"), 0.05);
  EXPECT_DOUBLE_EQ(evaluate_parameters(whole, {{"L", 100}, {"m[1]", 5}}).values[0], 0.1);
}

TEST(ModelUnits, tables_are_in_units_of_their_own) {
  const auto read = [](const std::string& force, const std::string& units) {
    return read_model_text(fmt::format(R"toml(
coordinates = ["x"]
[parameters]
v = 36
m = 2
c = 3
[units]
v = "km/h"
m = "kg"
c = "N/m"
x = "mm"
[tables.road]
points = [[0, 0], [10, 50], [20, 0]]
{}
[tables.map]
arguments = ["x", "y"]
points = [[0, 0, 1], [0, 4, 2], [100, 0, 3], [100, 4, 5]]
units = ["%", "kN", "N"]
[dynamics]
kinetic = "m/2*x'^2"
force = {{ x = "{}" }}
)toml",
                                       units, force),
                           "a.toml");
  };
  const auto value = [](const Model& model, double t) {
    std::vector<Expr> inputs{time_symbol(), coordinate("x")};
    std::vector<double> values{t, 0.05};
    const ParameterValues parameters = evaluate_parameters(model);
    for (std::size_t i = 0; i < model.parameters.size(); ++i)
      inputs.push_back(model.parameters[i].symbol()), values.push_back(parameters.values[i]);
    const Expr f = model.forces.at(0).value;
    return Tape(std::span(&f, 1), inputs)(std::span<const double>(values)).front();
  };
  const auto problems = [&](const std::string& force, const std::string& units) {
    try {
      read(force, units);
    } catch (const ModelError& error) {
      return error.problems().front().message;
    }
    return std::string();
  };
  const std::string units = "units = [\"m\", \"mm\"]";
  // 36 km/h for 0.3 s is 3 m, where the road is 15 mm high and rises by 5 mm a metre.
  EXPECT_NEAR(value(read("c*road(v*t)", units), 0.3), 3 * 0.015, 1e-15);
  EXPECT_NEAR(value(read("c*road'(v*t)*x", units), 0.3), 3 * 0.005 * 0.05, 1e-15);
  EXPECT_NEAR(value(read("map(0.5, c*x*10000)", units), 0.3), 0.5 * (1 + 0.375) + 0.5 * (3 + 0.75), 1e-12);
  // Without units a table is of anything, and anything.
  EXPECT_NEAR(value(read("c*road(v*t)", ""), 0.3), 3 * 15.0, 1e-12);
  EXPECT_EQ(problems("c*road(v*t) + c*x", units), "");
  EXPECT_EQ(problems("c*road(m)", units), "`road` is of m, and this is in kg");
  EXPECT_NE(problems("c*x + road(v*t)", units), "");   // a length is no force
  EXPECT_NE(problems("c*x + c*road'(x)", units), "");  // nor is a slope times a stiffness
  EXPECT_NE(problems("map(x, c*x)", units), "");
}

TEST(ModelUnits, a_model_in_any_units_is_the_model_in_si) {
  struct Choice {
    const char* unit;
    double factor;
  };
  const std::vector<Choice> lengths{{"mm", 1e-3}, {"cm", 1e-2}, {"m", 1}, {"in", 0.0254}, {"ft", 0.3048}, {"km", 1e3}},
      masses{{"g", 1e-3}, {"kg", 1}, {"t", 1e3}, {"lb", 0.45359237}},
      stiffnesses{{"N/m", 1}, {"N/mm", 1e3}, {"kN/cm", 1e5}, {"lbf/in", 4.4482216152605 / 0.0254}},
      accelerations{{"m/s^2", 1}, {"ft/s^2", 0.3048}, {"km/h/s", 1 / 3.6}};
  for (unsigned seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto pick = [&](const std::vector<Choice>& from) {
      return from[std::uniform_int_distribution<std::size_t>(0, from.size() - 1)(random)];
    };
    std::uniform_real_distribution<double> draw(0.5, 2.0);
    const Choice L = pick(lengths), m = pick(masses), k = pick(stiffnesses), g = pick(accelerations), x = pick(lengths);
    const double values[] = {draw(random), draw(random), draw(random), draw(random), draw(random), draw(random)};
    const auto text = [&](bool si) {
      const auto number = [&](double in_si, const Choice& c) {
        return fmt::format("{:.17g}", si ? in_si : in_si / c.factor);
      };
      std::string s = "coordinates = [\"x\", \"y\"]\n[parameters]\nL = " + number(values[0], L) +
                      "\nm = " + number(values[1], m) + "\nk = " + number(values[2], k) +
                      "\ng = " + number(values[3], g) +
                      "\nfree = \"L/3\"\n[dynamics]\nkinetic = \"m/2*(x'^2 + y'^2)\"\npotential = "
                      "\"m*g*y + k/2*(hypot(x, y) - free)^2\"\n[dynamics.force]\nx = \"-m*sqrt(g/L)*x'\"\n"
                      "[constraints]\nwire = \"y = x^2/L - L\"\n[start]\nposition = { x = " +
                      number(values[4], x) + ", y = " + number(values[5], x) + " }\n";
      if (!si)
        s += fmt::format(
            "[units]\nL = \"{}\"\nm = \"{}\"\nk = \"{}\"\ng = \"{}\"\nx = \"{}\"\ny = \"{}\"\nfree = \"{}\"\n", L.unit,
            m.unit, k.unit, g.unit, x.unit, x.unit, x.unit);
      return s;
    };
    const Model a = read_model_text(text(true), "si.toml"), b = read_model_text(text(false), "units.toml");
    const ParameterValues p = evaluate_parameters(a), q = evaluate_parameters(b);
    for (std::size_t i = 0; i < p.values.size(); ++i) EXPECT_NEAR(q.values[i] / p.values[i], 1.0, 1e-14) << i;
    const StartState s = start_state(a, p), t = start_state(b, q);
    for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(t.q[i] / s.q[i], 1.0, 1e-14);
  }
}

}  // namespace
}  // namespace mechanician
