// Motions whose system events change: checkpoints, models built in C++, motions in memory.

#include <gtest/gtest.h>

#include <cmath>

#include "mechanician/motion/motion.hpp"
#include "mechanician/motion/motion_for_test.hpp"

namespace mechanician {
namespace {

/// Contacts, a brake, a mode, and rows that are released and engaged.
constexpr const char* everything = R"toml(
coordinates = ["x", "z"]
[modes]
s = 1
[dynamics]
kinetic = "0.5*x'^2 + 0.5*z'^2"
force   = { x = "s*(2 + sin(t)) - 0.1*x'", z = "-9.81" }
[constraints.floor]
equation    = "z >= 0"
restitution = 0.6
[constraints.rod]
equation = "x' = 2*z'"
engaged  = false
[constraints.brake]
friction_force = 0.3
slip           = "x'"
[start]
position = { z = 1 }
[outputs]
w = "work(floor) + work(rod) + friction(brake) + multiplier(floor)"
[events]
right = { when = "x - 1", direction = "up", do = ["s = -1 - 0.1*x'", "release brake", "engage rod"] }
left  = { when = "x'", direction = "down", do = ["s = 1", "engage brake", "release rod"] }
heavy = { when = "multiplier(floor) - 5", direction = "up" }
)toml";

constexpr const char* smooth = R"toml(
coordinates = ["x", "y"]
[modes]
k = 4
[dynamics]
kinetic   = "0.5*(x'^2 + y'^2)"
potential = "k/2*x^2 + 9.81*y"
[constraints]
rod = "x^2 + y^2 = 1"
[start]
position = { x = 1 }
[outputs]
f = "multiplier(rod) + ideal(x) + work(rod)"
[events]
soft   = { when = "-y - 0.5", do = "k = k/2" }
breaks = { when = "-2*multiplier(rod) - 15", direction = "up", do = "release rod" }
)toml";

std::vector<double> numbers(Integrator& integrator) {
  const Sample s = integrator.sample(integrator.t());
  std::vector<double> x{s.t, s.works.given, s.works.ideal, s.works.nonideal, s.works.control};
  for (const Eigen::VectorXd* v : {&s.q, &s.qd, &s.qdd, &s.lambda, &s.multipliers, &s.outputs, &s.modes, &s.engaged,
                                   &s.friction, &s.works.constraints})
    x.insert(x.end(), v->begin(), v->end());
  return x;
}

void goes_on_with_the_same_bits(const Loaded& model, const MotionOptions& options) {
  Integrator whole = model.integrator(options);
  ASSERT_FALSE(whole.refusal()) << whole.refusal()->message;
  struct Step {
    std::vector<double> numbers, checkpoint;
    std::size_t events, notes;
  };
  std::vector<Step> steps;
  while (whole.advance())
    steps.push_back({numbers(whole), whole.at_checkpoint() ? whole.checkpoint() : std::vector<double>{},
                     whole.events().size(), whole.notes().size()});
  ASSERT_FALSE(whole.stop().failed()) << whole.stop().message;
  ASSERT_GE(whole.events().size(), 2u);
  const auto first = [](const auto& list, std::size_t count) {
    return std::remove_cvref_t<decltype(list)>(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(count));
  };
  for (std::size_t from = 0; from + 1 < steps.size(); ++from) {
    if (steps[from].checkpoint.empty()) continue;
    SCOPED_TRACE(from);
    Integrator again = model.integrator(options);
    again.restore(steps[from].checkpoint, first(whole.events(), steps[from].events),
                  first(whole.notes(), steps[from].notes));
    for (std::size_t at = from + 1; at < std::min(from + 6, steps.size()); ++at) {
      ASSERT_TRUE(again.advance());
      ASSERT_TRUE(same_bits(numbers(again), steps[at].numbers)) << "step " << at;
    }
    while (again.advance()) {
    }
    ASSERT_TRUE(same_bits(numbers(again), steps.back().numbers));
    ASSERT_EQ(again.events().size(), whole.events().size());
    EXPECT_EQ(again.certificate().balance, whole.certificate().balance);
  }
}

TEST(StagedMotion, goes_on_with_the_same_bits_from_every_checkpoint) {
  goes_on_with_the_same_bits(Loaded(smooth), {.to = 2.0, .tolerance = 1e-8});
  goes_on_with_the_same_bits(Loaded(everything), {.to = 4.0, .tolerance = 1e-7});
}

TEST(StagedMotion, goes_on_with_the_same_bits_from_every_checkpoint_of_the_implicit_method) {
  goes_on_with_the_same_bits(Loaded(smooth), {.to = 2.0, .tolerance = 1e-7, .method = Method::bdf});
}

/// A state, a constraint in front of its row and control behind it: the same motion as without modes, and forces under their names.
TEST(StagedMotion, with_states_is_that_of_a_model_that_nothing_changes) {
  const std::string plain = R"toml(
coordinates = ["x", "y", "z"]
[dynamics]
kinetic   = "0.5*(x'^2 + y'^2 + z'^2)"
potential = "9.81*y + 0.5*z^2"
force     = { x = "s", z = "-0.2*s" }
[states]
s = { rate = "x - 0.3*s", start = 0.2 }
r = { rate = "s - r" }
[constraints]
rod  = "x^2 + y^2 = 1"
wall = "z <= 5"
[control.follow]
equation  = "z = 0.1*sin(t)"
frequency = 3
[start]
position = { x = 1 }
[outputs]
f = "multiplier(rod) + control(z) + power(rod)"
)toml";
  const Loaded whole(plain), staged(plain + R"toml(
[modes]
k = 1
[constraints.late]
equation = "z' = 0"
engaged  = false
[events]
tick = { when = "t - 0.7", do = "k = 2" }
hold = { when = "t - 9", do = ["engage late", "release follow"] }
)toml");
  const MotionOptions options{.to = 2.0, .tolerance = 1e-11};
  Integrator one = whole.integrator(options), other = staged.integrator(options);
  const Sample a = run_to_end(one), b = run_to_end(other);
  for (int i = 0; i < whole.system.n(); ++i) {
    EXPECT_NEAR(a.q(i), b.q(i), 1e-9) << i;
    EXPECT_NEAR(a.qdd(i), b.qdd(i), 1e-8) << i;
    EXPECT_NEAR(a.Q_control(i), b.Q_control(i), 1e-8) << i;
  }
  EXPECT_NEAR(a.outputs(0), b.outputs(0), 1e-8);
  const auto row = [](const Loaded& model, const std::string& name) {
    int j = 0;
    while (model.system.row_name(j) != name) ++j;
    return j;
  };
  for (const char* name : {"rod", "wall"}) {
    EXPECT_NEAR(a.multipliers(row(whole, name)), b.multipliers(row(staged, name)), 1e-8) << name;
    EXPECT_NEAR(a.works.constraints(row(whole, name)), b.works.constraints(row(staged, name)), 1e-9) << name;
  }
  EXPECT_EQ(b.multipliers(row(staged, "late")), 0.0);
  EXPECT_EQ(b.modes(0), 2.0);
  EXPECT_EQ(b.engaged, Eigen::Vector2d(0.0, 1.0));  // late, follow
  EXPECT_NEAR(a.works.control, b.works.control, 1e-9);
}

TEST(StagedMotion, in_memory_is_that_of_the_integrator) {
  const Loaded model(everything);
  const MotionOptions options{.to = 3.0, .tolerance = 1e-8};
  const Motion motion = integrate(model.system, model.start, options);
  Integrator integrator = model.integrator(options);
  while (integrator.advance()) {
    if (integrator.step_begin() == integrator.t()) continue;
    const double t = 0.4 * integrator.step_begin() + 0.6 * integrator.t();
    const Sample a = motion.sample(t), b = integrator.sample(t);
    ASSERT_EQ(a.q, b.q) << t;
    ASSERT_EQ(a.modes, b.modes) << t;
    ASSERT_EQ(a.engaged, b.engaged) << t;
    ASSERT_EQ(a.outputs, b.outputs) << t;
  }
}

TEST(StagedMotion, of_a_model_built_in_code) {
  Model model;
  const Expr a = model.add_coordinate("a"), b = model.add_coordinate("b");
  const Expr J = model.add_parameter("J", 2.0), gear = model.add_mode("gear", 1.0);
  model.kinetic = J / 2 * pow(dot(a), 2) + pow(dot(b), 2) / 2;
  model.add_force(a, gear);
  model.add_constraint("clutch", dot(a), dot(b), {.engaged = false});
  model.add_brake("brake", {.coefficient = 0.5, .slip = {dot(b)}, .place = {}});
  model.outputs.push_back({"f", make_symbol(SymbolKind::friction, "brake"), {}});
  Event event{.name = "join", .when = time_symbol() - 1, .place = {}};
  event.changes = {{EventChange::What::engage, "clutch"}, {EventChange::What::set, "gear", gear + 1}};
  model.events.push_back(event);
  const Loaded loaded(std::move(model));
  Integrator integrator = loaded.integrator({.to = 2.0});
  ASSERT_FALSE(integrator.refusal());
  const Sample end = run_to_end(integrator);
  // ½ rad/s at t = 1; joined with a brake that slips: (2·½ + 0)/3, and 2 − ½ on 3 for a second.
  EXPECT_NEAR(end.qd(0), 1.0 / 3.0 + 0.5, 1e-10);
  EXPECT_NEAR(end.qd(1), 1.0 / 3.0 + 0.5, 1e-10);
  EXPECT_EQ(end.modes(0), 2.0);
  EXPECT_EQ(end.engaged(0), 1.0);
  EXPECT_NEAR(end.outputs(0), 0.5, 1e-10);
  EXPECT_NEAR(integrator.certificate().contacts->impact_lost, 0.25 - 3.0 / 18.0, 1e-10);
}

TEST(StagedMotion, of_a_wrong_model_is_refused) {
  const auto refuses = [](auto&& change) {
    Model model;
    const Expr x = model.add_coordinate("x");
    model.add_parameter("k", 1.0);
    model.kinetic = pow(dot(x), 2) / 2;
    Event event{.name = "e", .when = x, .place = {}};
    event.changes = {change};
    model.events.push_back(event);
    EXPECT_THROW(Loaded{std::move(model)}, ModelError);
  };
  refuses(EventChange{EventChange::What::release, "rod"});
  refuses(EventChange{EventChange::What::set, "k", Expr(2.0)});
}

}  // namespace
}  // namespace mechanician
