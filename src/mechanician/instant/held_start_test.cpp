#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "mechanician/instant/accelerate.hpp"
#include "mechanician/instant/project.hpp"
#include "mechanician/model/read_model.hpp"

namespace mechanician {
namespace {

/// Crank, rod and slider; masses coupled by the second term.
constexpr const char* slider_crank = R"toml(
coordinates = ["crank", "rod", "slider"]
[parameters]
r = 1.0
L = 2.5
[dynamics]
kinetic = "crank'^2/2 + rod'^2 + 3*slider'^2/2 + 0.4*crank'*slider' + 0.2*rod'*slider'"
[constraints]
along  = "r*cos(crank) + L*cos(rod) = slider"
across = "r*sin(crank) = L*sin(rod)"
[start]
position = { crank = 0.7, rod = 0.1, slider = 3 }
velocity = { crank = 2 }
)toml";

System system_of(const std::string& text) { return System(read_family_model_text(text, "test.toml")); }

TEST(HeldStart, a_slider_crank_with_its_crank_held_is_closed_as_by_hand) {
  const System system = system_of(std::string(slider_crank) + "hold = [\"crank\", \"crank'\"]\nassemble = true\n");
  EXPECT_TRUE(system.start_rules().assemble);
  const unsigned seed = 5;
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> draw(-0.3, 0.3);
  for (int trial = 0; trial < 50; ++trial) {
    State given = system.start();
    for (double& x : given.q) x += draw(random);
    for (double& x : given.qd) x += draw(random);
    const Projection p = project_start(system, given);
    ASSERT_TRUE(p.converged) << "seed " << seed << " trial " << trial;
    EXPECT_EQ(p.state.q(0), given.q(0));  // to the bit
    EXPECT_EQ(p.state.qd(0), given.qd(0));
    const double rod = std::asin(std::sin(given.q(0)) / 2.5);
    EXPECT_NEAR(p.state.q(1), rod, 1e-14);
    EXPECT_NEAR(p.state.q(2), std::cos(given.q(0)) + 2.5 * std::cos(rod), 1e-14);
    const double rate = std::cos(given.q(0)) * given.qd(0) / (2.5 * std::cos(rod));
    EXPECT_NEAR(p.state.qd(1), rate, 1e-13);
    EXPECT_NEAR(p.state.qd(2), -std::sin(given.q(0)) * given.qd(0) - 2.5 * std::sin(rod) * rate, 1e-13);
    EXPECT_TRUE(accelerate(system, p.state).violations().empty());
  }
}

TEST(HeldStart, definitions_are_held_as_one_constraint_more) {
  // A bead on a circle of radius 2 with x + y held: the nearest of two points of a line through the circle; its rate is held by itself.
  Model model;
  const Expr x = model.add_coordinate("x"), y = model.add_coordinate("y");
  model.kinetic = pow(dot(x), 2) + pow(dot(y), 2);
  model.add_constraint("ring", pow(x, 2) + pow(y, 2), 4);
  model.definitions.push_back({"s", x + y, {}});
  model.start_at({.position = {{"x", 1.5}, {"y", 0.7}}, .velocity = {{"x", 0.3}, {"y", 0.4}}, .hold = {"s", "s'"}});
  const System system(model, {});
  const Projection p = project_start(system, system.start());
  ASSERT_TRUE(p.converged);
  const double half = 1.1, across = std::sqrt(2.0 - half * half);
  EXPECT_NEAR(p.state.q(0), half + across, 1e-13);
  EXPECT_NEAR(p.state.q(1), half - across, 1e-13);
  EXPECT_NEAR(p.state.qd(0) + p.state.qd(1), 0.7, 1e-13);
  EXPECT_NEAR(p.state.q(0) * p.state.qd(0) + p.state.q(1) * p.state.qd(1), 0.0, 1e-13);
  // s alone: velocities are the nearest ones on the ring.
  model.start.hold = {"s"};
  const System one(model, {});
  const Projection q = project_start(one, one.start());
  ASSERT_TRUE(q.converged);
  EXPECT_NEAR(q.state.q(0), half + across, 1e-13);
  const double along = (0.3 * -q.state.q(1) + 0.4 * q.state.q(0)) / 4.0;
  EXPECT_NEAR(q.state.qd(0), -along * q.state.q(1), 1e-13);
  EXPECT_NEAR(q.state.qd(1), along * q.state.q(0), 1e-13);
  // Further out than the ring there is none: what is in the way is named.
  model.start_at({.position = {{"x", 3}, {"y", 3}}, .hold = {"s"}});
  const System far(model, {});
  const Projection none = project_start(far, far.start());
  EXPECT_FALSE(none.converged);
  EXPECT_EQ(find_in_the_way(far, far.start(), none).names, std::vector<std::string>{"s"});
  model.start_at({.hold = {"u"}});
  EXPECT_THROW(System(model, {}), ModelError);
}

TEST(HeldStart, what_is_not_held_moves_least_in_the_mass_norm) {
  // Four coordinates, one constraint, one of them held: with Lagrange's multiplier, M_ff Δ = J_fᵀ μ for the free ones.
  const unsigned seed = 17;
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> draw(0.3, 1.5);
  for (int trial = 0; trial < 30; ++trial) {
    Model model;
    std::vector<Expr> x;
    for (const char* name : {"a", "b", "c", "d"}) x.push_back(model.add_coordinate(name));
    Expr energy = 0.0;
    for (const Expr& u : x) energy = energy + draw(random) * pow(dot(u), 2);
    energy = energy + 0.2 * dot(x[0]) * dot(x[1]) + 0.15 * dot(x[1]) * dot(x[3]);
    model.kinetic = energy;
    model.add_constraint("ball", pow(x[0], 2) + pow(x[1], 2) + 2 * pow(x[2], 2) + pow(x[3], 2), 4);
    model.start_at({.position = {{"a", draw(random)}, {"b", draw(random)}, {"c", draw(random)}, {"d", draw(random)}},
                    .hold = {"b"}});
    const System system(model, {});
    const State given = system.start();
    const Projection p = project_start(system, given);
    ASSERT_TRUE(p.converged) << "seed " << seed << " trial " << trial;
    EXPECT_EQ(p.state.q(1), given.q(1));
    const Evaluation at_given = system.evaluate(given), there = system.evaluate(p.state);
    EXPECT_NEAR(there.residual(0), 0.0, 1e-13);
    const Eigen::VectorXd moved = p.state.q - given.q, force = at_given.values.M * moved;
    const Eigen::VectorXd row = there.values.A.to_dense().row(0);
    const double mu = force(0) / row(0);
    for (const int i : {2, 3}) EXPECT_NEAR(force(i), mu * row(i), 1e-10) << "seed " << seed << " trial " << trial;
  }
}

TEST(HeldStart, what_stands_in_the_way_is_named) {
  const std::string held = std::string(slider_crank) + "hold = [\"crank\", \"slider\", \"rod'\"]\n";
  const System system = system_of(held);
  State given = system.start();
  given.q(2) = 9.0;
  const Projection p = project_start(system, given);
  ASSERT_FALSE(p.converged);
  ASSERT_EQ(p.unmet.size(), p.off.size());
  ASSERT_FALSE(p.unmet.empty());
  const InTheWay way = find_in_the_way(system, given, p);
  EXPECT_TRUE(way.each_is_enough);
  EXPECT_EQ(way.names, std::vector<std::string>{"slider"});
}

TEST(HeldStart, a_family_is_held_in_ranges_written_out_and_by_kernels) {
  const std::string text = R"toml(
coordinates = ["x[1..N]", "y[1..N]"]
[parameters]
N = 80
[dynamics]
kinetic = "sum(i = 1..N, (x[i]'^2 + 2*y[i]'^2)/2)"
[constraints.on]
for = "i = 1..N"
equation = "x[i]^2 + y[i]^2 = i^2"
[start.position]
"x[i]" = { for = "i = 1..N", value = "0.6*i" }
"y[i]" = { for = "i = 1..N", value = "0.7*i" }
[start.velocity]
"x[i]" = { for = "i = 1..N", value = "1" }
[start]
hold = ["x[1..40]", { for = "i = 41..N", value = "y[i]" }, "x[1..N]'"]
)toml";
  for (const System::Numbers numbers : {System::Numbers::written_out, System::Numbers::kernels}) {
    const System system(read_family_model_text(text, "test.toml"), numbers);
    const StartRules rules = system.start_rules();
    EXPECT_EQ(rules.held_positions.size(), 80u);
    EXPECT_EQ(rules.held_velocities.size(), 80u);
    const Projection p = project_start(system, system.start());
    ASSERT_TRUE(p.converged);
    for (int i = 1; i <= 80; ++i) {
      const double x = p.state.q(i - 1), y = p.state.q(80 + i - 1);
      if (i <= 40) {
        EXPECT_EQ(x, 0.6 * i);
        EXPECT_NEAR(y, 0.8 * i, 1e-12 * i);
      } else {
        EXPECT_EQ(y, 0.7 * i);
        EXPECT_NEAR(x, std::sqrt(1 - 0.49) * i, 1e-12 * i);
      }
      EXPECT_EQ(p.state.qd(i - 1), 1.0);
      EXPECT_NEAR(p.state.qd(80 + i - 1), -x / y, 1e-12);
    }
  }
}

TEST(HeldStart, a_coordinate_without_mass_may_be_held) {
  const System system = system_of(R"toml(
coordinates = ["x", "s"]
[dynamics]
kinetic = "x'^2/2"
[constraints]
tie = "x = s^2"
[start]
position = { x = 1, s = 2 }
hold = ["s"]
)toml");
  const Projection p = project_start(system, system.start());
  ASSERT_TRUE(p.converged);
  EXPECT_EQ(p.state.q(1), 2.0);
  EXPECT_NEAR(p.state.q(0), 4.0, 1e-14);
}

TEST(HeldStart, a_name_that_is_no_coordinate_is_refused_in_cpp_too) {
  Model model;
  const Expr x = model.add_coordinate("x");
  model.kinetic = pow(dot(x), 2);
  model.start_at({.hold = {"y"}});
  EXPECT_THROW(System(model, {}), ModelError);
}

}  // namespace
}  // namespace mechanician
