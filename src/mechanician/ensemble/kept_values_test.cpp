#include "mechanician/ensemble/kept_values.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "mechanician/model/read_model.hpp"

namespace mechanician {
namespace {

/// A block slides on a rough floor, a second one is steered, and nothing else acts on them.
constexpr const char* blocks = R"toml(
coordinates = ["x", "y", "s"]
[parameters]
m = 2.0
mu = 0.25
[dynamics]
kinetic = "m/2*(x'^2 + y'^2) + s'^2/2"
potential = "10*m*y"
[constraints.floor]
equation = "y >= 0"
friction = "mu"
slip     = "x'"
[control.steer]
equation = "s'' = 3"
[outputs]
speed = "abs(x')"
)toml";

System make_system(const char* text) {
  Model model = read_model_text(text, "test.toml");
  const ParameterValues values = evaluate_parameters(model);
  return System(std::move(model), values.values);
}

/// Of blocks at the height y.
std::vector<double> kept_at(KeptValues& kept, double m, double y, double xd) {
  const std::vector<double> p{m, 0.25}, q{0.0, y, 0.0}, qd{xd, 0.0, 0.0};
  std::vector<double> values(kept.names().size());
  kept.calc(p.data(), 0.0, q.data(), qd.data(), nullptr, values.data());
  return values;
}

TEST(KeptValues, HaveForcesOfContactsAndControls) {
  // By hand: the floor carries 10 m, friction is a quarter of that against the slip, and steering takes 3.
  const System system = make_system(blocks);
  KeptValues kept(system, {"normal(floor)", "friction(floor)", "x''", "Qcontrol(s)", "lambda(floor)", "speed"});
  EXPECT_EQ(kept.names(), (std::vector<std::string>{"speed", "x''", "Qcontrol(s)", "lambda(floor)", "normal(floor)",
                                                    "friction(floor)"}));
  constexpr double tolerance = 64 * std::numeric_limits<double>::epsilon() * 40.0;  // forces up to 40, well conditioned
  const auto near = [&](const std::vector<double>& found, const std::vector<double>& wanted) {
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(found[i], wanted[i], tolerance) << kept.names()[i];
  };
  near(kept_at(kept, 2.0, 0.0, 3.0), {3.0, -2.5, 3.0, 20.0, 20.0, -5.0});
  near(kept_at(kept, 4.0, 0.0, -3.0), {3.0, 2.5, 3.0, 40.0, 40.0, 10.0});
  near(kept_at(kept, 2.0, 1.0, 3.0), {3.0, 0.0, 3.0, 0.0, 0.0, 0.0});
}

TEST(KeptValues, OfEverythingAreWhatTheModelHas) {
  const KeptValues all(make_system(blocks), {"*"});
  const auto has = [](const KeptValues& kept, const char* name) {
    return std::find(kept.names().begin(), kept.names().end(), name) != kept.names().end();
  };
  for (const char* name :
       {"speed", "s''", "Qc(x)", "Qi(y)", "Qni(x)", "Qcontrol(s)", "lambda(floor)", "normal(floor)", "friction(floor)"})
    EXPECT_TRUE(has(all, name)) << name;
  const KeptValues plain(
      make_system("coordinates = [\"x\"]\n[dynamics]\nkinetic = \"x'^2/2\"\n[constraints]\nheld = \"x = 0\"\n"), {"*"});
  EXPECT_EQ(plain.names(), (std::vector<std::string>{"x''", "Qc(x)", "Qi(x)", "Qni(x)", "lambda(held)"}));
}

TEST(KeptValues, HaveNoNumberWhereThereIsNoAcceleration) {
  const System system = make_system(blocks);
  KeptValues kept(system, {"speed", "x''", "normal(floor)"});
  // Falling onto the floor: velocities have to jump.
  const std::vector<double> p{2.0, 0.25}, q{0.0, 0.0, 0.0}, qd{3.0, -1.0, 0.0};
  std::vector<double> values(3);
  kept.calc(p.data(), 0.0, q.data(), qd.data(), nullptr, values.data());
  EXPECT_EQ(values[0], 3.0);
  EXPECT_TRUE(std::isnan(values[1]) && std::isnan(values[2]));
}

TEST(KeptValues, SayWhatCannotBeKept) {
  const System system = make_system(blocks);
  for (const auto& [pattern, part] : {std::pair{"x", "`x` at the end of each motion is in every result"},
                                      {"s'", "is in every result"},
                                      {"t", "is in every result"},
                                      {"speeed", "did you mean `speed`?"},
                                      {"normal(z*", "nothing that can be kept"},
                                      {"friction(flor)", "did you mean `friction(floor)`?"}})
    try {
      KeptValues kept(system, {pattern});
      ADD_FAILURE() << pattern;
    } catch (const std::invalid_argument& e) {
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    }
}

}  // namespace
}  // namespace mechanician
