#include "mechanician/analysis/rest_modes.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "mechanician/analysis/branch.hpp"
#include "mechanician/analysis/equilibria.hpp"
#include "mechanician/instant/accelerate.hpp"
#include "mechanician/motion/motion_for_test.hpp"

namespace mechanician {
namespace {

constexpr double g = 9.81;

FoundEquilibria rest_of(const Loaded& loaded, const EquilibriumSearch& search = {}) {
  return find_equilibria(loaded.system, loaded.start, search);
}

EquilibriumSearch vary(const char* name, double from, double to) { return {.varied = name, .from = from, .to = to}; }

/// The programme of one-sided constraints has no acceleration there.
void expect_rest(const System& system, const RestState& s) {
  const Instant instant = accelerate(system, s.linear.state);
  ASSERT_TRUE(instant.has_acceleration());
  EXPECT_TRUE(instant.violations().empty());
  EXPECT_LT(instant.solution.qdd.cwiseAbs().maxCoeff(), 1e-9);
  for (const Contact& c : instant.contacts) EXPECT_GE(c.gap, -1e-9);
}

std::string spring_over_floor(double F, double y) {
  return fmt::format(R"toml(
coordinates = ["y"]
[parameters]
F = {}
k = 100
[dynamics]
kinetic = "y'^2/2"
potential = "k/2*(y - 0.1)^2 + 9.81*y"
force = {{ y = "F - y'" }}
[constraints]
floor = "y >= 0"
[start]
position = {{ y = {} }}
)toml",
                     F, y);
}

TEST(rest_modes, structures_without_freedom_rest_where_they_are) {
  // Two coordinates, two constraints: multipliers are the reactions, 9.81 = λ_b and 0 = λ_a − 2 λ_b.
  const Loaded frame(R"toml(
coordinates = ["x", "y"]
[dynamics]
kinetic = "x'^2/2 + y'^2/2"
potential = "9.81*y"
[constraints]
a = "x = 1"
b = "y = 2*x"
[start]
position = { x = 1, y = 2 }
)toml");
  const FoundEquilibria found = rest_of(frame);
  ASSERT_EQ(found.report.equilibria.size(), 1u);
  const RestState& s = found.report.equilibria[0];
  EXPECT_TRUE(s.is_stable());
  EXPECT_TRUE(s.isolated);
  EXPECT_EQ(s.linear.state.q(1), 2.0);
  EXPECT_NEAR(s.linear.multipliers(1), g, 1e-12);
  EXPECT_NEAR(s.linear.multipliers(0), 2 * g, 1e-12);
  expect_rest(frame.system, s);
  // Held by a contact that is pressed at the start.
  const Loaded stop(R"toml(
coordinates = ["a"]
[dynamics]
kinetic = "a'^2/2"
potential = "9.81*sin(-a)"
force = { a = "-0.1*a'" }
[constraints]
up = "a <= 0.7"
[start]
position = { a = 0.7 }
)toml");
  const FoundEquilibria held = rest_of(stop);
  ASSERT_EQ(held.report.equilibria.size(), 3u);  // and −π/2 and −3π/2, once each
  bool at_stop = false;
  for (const RestState& e : held.report.equilibria) {
    expect_rest(stop.system, e);
    if (std::abs(e.linear.state.q(0) - 0.7) > 1e-12) continue;
    at_stop = true;
    EXPECT_TRUE(e.is_stable());
    EXPECT_NEAR(e.linear.multipliers(0), g * std::cos(0.7), 1e-12);
  }
  EXPECT_TRUE(at_stop);
}

TEST(rest_modes, contacts_close_that_the_start_does_not_touch) {
  // k·0.1 − 9.81 + F + λ = 0 on the floor.
  for (const double start : {0.2, 0.0, 3.0}) {
    const Loaded loaded(spring_over_floor(-10, start));
    const FoundEquilibria found = rest_of(loaded);
    ASSERT_EQ(found.report.equilibria.size(), 1u) << start;
    const RestState& s = found.report.equilibria[0];
    EXPECT_NEAR(s.linear.state.q(0), 0.0, 1e-14);
    EXPECT_NEAR(s.linear.multipliers(0), g, 1e-12);
    EXPECT_TRUE(s.is_stable());
    expect_rest(loaded.system, s);
  }
  // And open where they would pull.
  const Loaded lifted(spring_over_floor(20, 0));
  const FoundEquilibria found = rest_of(lifted);
  ASSERT_EQ(found.report.equilibria.size(), 1u);
  EXPECT_NEAR(found.report.equilibria[0].linear.state.q(0), 0.1 + (20 - g) / 100, 1e-13);
  EXPECT_EQ(found.report.equilibria[0].linear.multipliers(0), 0.0);
}

TEST(rest_modes, a_weight_falls_onto_what_is_below) {
  // Nothing but the floor holds it: without it there is no rest at all. Which way it slides does not matter: the floor is a bowl.
  const Loaded loaded(R"toml(
coordinates = ["x", "y"]
[dynamics]
kinetic = "x'^2 + y'^2"
potential = "2*9.81*y"
[constraints]
bowl = "y >= x^2/4 - x/2"
[start]
position = { x = 0.2, y = 2 }
)toml");
  const FoundEquilibria found = rest_of(loaded);
  ASSERT_EQ(found.report.equilibria.size(), 1u);
  const RestState& s = found.report.equilibria[0];
  EXPECT_NEAR(s.linear.state.q(0), 1.0, 1e-9);
  EXPECT_NEAR(s.linear.state.q(1), -0.25, 1e-9);
  EXPECT_NEAR(s.linear.multipliers(0), 2 * g, 1e-9);
  EXPECT_TRUE(s.is_stable());
  // On the bowl: 2 x'' + 2 g x''/2… ω² = g·curvature = g/2.
  ASSERT_EQ(s.spectrum.eigenvalues.size(), 2u);
  EXPECT_NEAR(s.spectrum.eigenvalues.back().frequency(), std::sqrt(g / 2), 1e-9);
  expect_rest(loaded.system, s);
}

TEST(rest_modes, pendulum_between_stops_rests_below_or_on_a_stop) {
  // Stops at 2 and 4 rad, on both sides of the upright: unstable at π, pressed onto either stop.
  const Loaded loaded(R"toml(
coordinates = ["a"]
[dynamics]
kinetic = "a'^2/2"
potential = "-9.81*cos(a)"
[constraints]
low = "a >= 2"
high = "a <= 4"
[start]
position = { a = 3 }
)toml");
  const FoundEquilibria found = rest_of(loaded);
  ASSERT_EQ(found.report.equilibria.size(), 3u);
  EXPECT_NEAR(found.report.equilibria[0].linear.state.q(0), 2.0, 1e-12);
  EXPECT_NEAR(found.report.equilibria[0].linear.multipliers(0), g * std::sin(2.0), 1e-12);
  EXPECT_NEAR(found.report.equilibria[1].linear.state.q(0), 4.0, 1e-12);
  EXPECT_NEAR(found.report.equilibria[1].linear.multipliers(1), -g * std::sin(4.0), 1e-12);
  EXPECT_NEAR(found.report.equilibria[2].linear.state.q(0), std::numbers::pi, 1e-12);
  EXPECT_FALSE(found.report.equilibria[2].is_stable());
  for (const RestState& s : found.report.equilibria) expect_rest(loaded.system, s);
}

TEST(rest_modes, four_legs_carry_more_than_they_are_determined_by) {
  // A table with springs over a floor: heave and two tilts, four corners.
  const Loaded loaded(R"toml(
coordinates = ["z", "a", "b"]
[dynamics]
kinetic = "(z'^2 + a'^2 + b'^2)/2"
potential = "9.81*z - 0.3*a + 0.2*b"
[constraints]
c1 = "z + a + b >= 0"
c2 = "z + a - b >= 0"
c3 = "z - a + b >= 0"
c4 = "z - a - b >= 0"
[start]
position = { z = 0.5, a = 0.1, b = 0.05 }
)toml");
  const FoundEquilibria found = rest_of(loaded);
  ASSERT_EQ(found.report.equilibria.size(), 1u);
  const RestState& s = found.report.equilibria[0];
  EXPECT_LT(s.linear.state.q.cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_NEAR(s.linear.multipliers.sum(), g, 1e-9);
  EXPECT_GE(s.linear.multipliers.minCoeff(), -1e-9);
  expect_rest(loaded.system, s);
}

TEST(rest_modes, multipliers_of_redundant_constraints_are_those_of_least_norm) {
  // 2 y (λ_a + 2 λ_b) = 9.81 at y = −1: λ along (1, 2).
  const Loaded loaded(R"toml(
coordinates = ["x", "y"]
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[constraints]
a = "x^2 + y^2 = 1"
b = "2*x^2 + 2*y^2 = 2"
[start]
position = { x = 1, y = 0 }
)toml");
  const FoundEquilibria found = rest_of(loaded);
  ASSERT_EQ(found.report.equilibria.size(), 2u);
  EXPECT_NEAR(found.report.equilibria[0].linear.multipliers(0), -g / 10, 1e-12);
  EXPECT_NEAR(found.report.equilibria[0].linear.multipliers(1), -g / 5, 1e-12);
}

TEST(rest_modes, a_box_lies_on_its_faces) {
  // In the plane, 0.6 by 0.4: on a long or a short side it is stable, with half the weight on each corner if these were determined; on a corner
  // it stands with its centre above it.
  const Loaded loaded(R"toml(
coordinates = ["x", "z", "a"]
[dynamics]
kinetic = "(x'^2 + z'^2 + 0.05*a'^2)/2"
potential = "9.81*z"
[constraints]
c1 = "z + 0.3*sin(a) + 0.2*cos(a) >= 0"
c2 = "z + 0.3*sin(a) - 0.2*cos(a) >= 0"
c3 = "z - 0.3*sin(a) + 0.2*cos(a) >= 0"
c4 = "z - 0.3*sin(a) - 0.2*cos(a) >= 0"
[start]
position = { z = 0.8, a = 0.3 }
)toml");
  const FoundEquilibria found = rest_of(loaded);
  int stable = 0;
  for (const RestState& s : found.report.equilibria) {
    expect_rest(loaded.system, s);
    EXPECT_NEAR(s.linear.multipliers.sum(), g, 1e-9);
    if (!s.is_stable()) {
      const double d = std::hypot(0.3, 0.2);
      EXPECT_NEAR(s.linear.state.q(1), d, 1e-9);
      EXPECT_NEAR(s.spectrum.eigenvalues.back().value.real(), std::sqrt(g * d / 0.05), 1e-8);
      continue;
    }
    ++stable;
    const double z = s.linear.state.q(1);
    EXPECT_TRUE(std::abs(z - 0.2) < 1e-9 || std::abs(z - 0.3) < 1e-9) << z;
    for (const double lambda : s.linear.multipliers)
      EXPECT_TRUE(std::abs(lambda) < 1e-9 || std::abs(lambda - g / 2) < 1e-9);
  }
  EXPECT_EQ(stable, 4);
  EXPECT_EQ(found.report.equilibria.size(), 8u);
}

TEST(rest_modes, branches_turn_corners_at_contacts) {
  const Loaded loaded(spring_over_floor(0, 0.2));
  const FoundEquilibria found = rest_of(loaded, vary("F", -20, 20));
  ASSERT_TRUE(found.report.branches);
  const Branches& b = *found.report.branches;
  ASSERT_EQ(b.branches.size(), 1u);
  EXPECT_EQ(b.branches[0].front().parameter, -20.0);
  EXPECT_EQ(b.branches[0].back().parameter, 20.0);
  for (const BranchPoint& p : b.branches[0]) {
    EXPECT_NEAR(p.q(0), std::max(0.0, (p.parameter + 10 - g) / 100), 1e-12) << p.parameter;
    EXPECT_EQ(p.num_unstable, 0);
  }
  ASSERT_EQ(b.special.size(), 1u);
  EXPECT_EQ(b.special[0].kind, SpecialKind::opens);
  EXPECT_EQ(b.special[0].constraint, "floor");
  EXPECT_NEAR(b.special[0].parameter, g - 10, 1e-9);
}

TEST(rest_modes, branches_turn_back_where_a_contact_takes_over) {
  // A truss that snaps through is caught by a stop at w = 0.25 on its unstable way: P(w) of the closed form until there, then w = 0.25 for any
  // larger P, and as the truss pulls at the stop on the unstable way for the smaller ones no rest.
  const Loaded loaded(R"toml(
coordinates = ["w"]
[parameters]
P = 0.0
[define]
L0 = "sqrt(1 + 0.3^2)"
L = "sqrt(1 + (0.3 - w)^2)"
[dynamics]
kinetic = "w'^2/2"
potential = "100/L0*(L - L0)^2"
force = { w = "P - 0.1*w'" }
[constraints]
stop = "w <= 0.25"
[start]
position = { w = 0.01 }
)toml");
  const FoundEquilibria found = rest_of(loaded, vary("P", -5, 5));
  ASSERT_TRUE(found.report.branches);
  const double L0 = std::hypot(1.0, 0.3);
  const auto load = [&](double w) {
    const double L = std::hypot(1.0, 0.3 - w);
    return 200.0 / L0 * (L0 - L) * (0.3 - w) / L;
  };
  int on_stop = 0, unstable = 0;
  bool reaches_5 = false;
  for (const auto& branch : found.report.branches->branches)
    for (const BranchPoint& p : branch) {
      EXPECT_LE(p.q(0), 0.25 + 1e-12);
      if (p.q(0) < 0.25 - 1e-9) {
        EXPECT_NEAR(p.parameter, load(p.q(0)), 1e-9);
      } else {
        EXPECT_GE(p.parameter, load(0.25) - 1e-9);
        EXPECT_TRUE(p.num_unstable == 0 || p.parameter < load(0.25) + 1e-9);
        ++on_stop;
      }
      unstable += p.num_unstable > 0;
      reaches_5 |= p.parameter == 5.0;
    }
  EXPECT_GT(on_stop, 10);
  EXPECT_GT(unstable, 3);
  EXPECT_TRUE(reaches_5);
  EXPECT_EQ(found.report.branches->branches.size(), 1u);
}

TEST(equilibrium, what_jumps_wherever_nothing_moves_is_refused) {
  // Rest is all of −0.25 … 0.25, as with friction; a resistance without a jump leaves one state.
  const auto model = [](const char* force) {
    return Loaded(
        fmt::format("coordinates = [\"x\"]\n[dynamics]\nkinetic = \"x'^2/2\"\npotential = \"x^2\"\nforce = {{ x = "
                    "\"{}\" }}\n[start]\nposition = {{ x = 0.1 }}\n",
                    force));
  };
  const Loaded rubs = model("-0.5*sign(x')"), resists = model("-0.5*abs(x')*x' - x'"), steps = model("if(x < 3, 0, 7)");
  const FoundEquilibria refused = find_equilibria(rubs.system, rubs.start, {});
  EXPECT_NE(refused.refusal.find("`sign(x')` jumps wherever nothing moves"), std::string::npos) << refused.refusal;
  EXPECT_TRUE(refused.nothing());
  for (const Loaded* loaded : {&resists, &steps}) {
    const FoundEquilibria found = find_equilibria(loaded->system, loaded->start, {});
    EXPECT_EQ(found.refusal, "");
    ASSERT_FALSE(found.nothing());
    EXPECT_NEAR(found.report.equilibria[0].linear.state.q(0), 0.0, 1e-14);
  }
}

}  // namespace
}  // namespace mechanician
