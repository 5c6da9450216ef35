#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "mechanician/model/family_model.hpp"
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
