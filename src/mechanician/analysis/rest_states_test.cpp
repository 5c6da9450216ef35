#include "mechanician/analysis/rest_states.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>

#include "mechanician/analysis/branch.hpp"
#include "mechanician/instant/accelerate.hpp"
#include "mechanician/motion/motion_for_test.hpp"

namespace mechanician {
namespace {

constexpr double g = 9.81;

std::vector<RestState> rest_of(const Loaded& loaded, const RestOptions& options = {}) {
  return RestSearch(loaded.system, loaded.start).find_all(options);
}

/// All accelerations vanish there, as the general solver has them.
void expect_rest(const System& system, const RestState& s) {
  const Instant instant = accelerate(system, s.linear.state);
  ASSERT_TRUE(instant.has_acceleration());
  EXPECT_TRUE(instant.violations().empty());
  EXPECT_LT(instant.solution.qdd.cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_EQ(s.linear.state.qd.norm(), 0.0);
}

const char* const pendulum = R"toml(
coordinates = ["x", "y"]
[parameters]
L = 2.0
[dynamics]
kinetic = "3*(x'^2 + y'^2)/2"
potential = "3*9.81*y"
[constraints]
rod = "x^2 + y^2 = L^2"
[start]
position = { x = 2.0 }
)toml";

TEST(equilibrium, pendulum_hangs_or_stands) {
  const Loaded loaded(pendulum);
  const auto found = rest_of(loaded);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_TRUE(found[0].is_stable());
  EXPECT_NEAR(found[0].linear.state.q(1), -2.0, 1e-14);
  EXPECT_NEAR(found[0].linear.multipliers(0), -3.0 * g / 4.0, 1e-12);  // 2 y λ = m g
  EXPECT_FALSE(found[1].is_stable());
  EXPECT_NEAR(found[1].linear.state.q(1), 2.0, 1e-14);
  for (const RestState& s : found) expect_rest(loaded.system, s);
  // As an angle: whole turns are the same.
  const Loaded angle(R"toml(
coordinates = ["theta"]
[dynamics]
kinetic = "theta'^2/2"
potential = "-9.81*cos(theta)"
[start]
position = { theta = 20 }
)toml");
  EXPECT_EQ(rest_of(angle).size(), 2u);
}

TEST(equilibrium, double_well_has_three_and_the_same_seed_the_same) {
  const Loaded loaded = line("x - x^3 - 0.1*x'", "position = { x = 0.5 }");
  const auto found = rest_of(loaded, {.starts = 40, .seed = 5});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_NEAR(found[0].linear.state.q(0), -1.0, 1e-14);
  EXPECT_NEAR(found[1].linear.state.q(0), 1.0, 1e-14);
  EXPECT_NEAR(found[2].linear.state.q(0), 0.0, 1e-14);
  EXPECT_FALSE(found[2].is_stable());
  const auto again = rest_of(loaded, {.starts = 40, .seed = 5});
  for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(again[k].linear.state.q(0), found[k].linear.state.q(0));
}

TEST(equilibrium, four_bar_linkage_rests_where_its_potential_does) {
  const Loaded loaded(read_model(std::filesystem::path(MECHANICIAN_SOURCE_DIR) / "models" / "four_bar.toml"));
  const auto found = rest_of(loaded);
  EXPECT_EQ(found.size(), 4u);
  for (const RestState& s : found) expect_rest(loaded.system, s);
}

TEST(equilibrium, hanging_chain_has_slopes_at_equal_distances) {
  // The horizontal force is the same in all links, so tangents of their angles grow by m g/H from link to link.
  std::string text = "coordinates = [";
  const int N = 9;
  for (int i = 1; i <= N; ++i) text += fmt::format("\"x{}\", \"y{}\", ", i, i);
  text += "]\n[dynamics]\nkinetic = \"";
  for (int i = 1; i <= N; ++i) text += fmt::format("{}(x{}'^2 + y{}'^2)/2", i > 1 ? " + " : "", i, i);
  text += "\"\npotential = \"";
  for (int i = 1; i <= N; ++i) text += fmt::format("{}9.81*y{}", i > 1 ? " + " : "", i);
  text += "\"\n[constraints]\nl0 = \"x1^2 + y1^2 = 1.44\"\n";
  for (int i = 1; i < N; ++i)
    text += fmt::format("l{} = \"(x{} - x{})^2 + (y{} - y{})^2 = 1.44\"\n", i, i + 1, i, i + 1, i);
  text += fmt::format("l{} = \"(8 - x{})^2 + y{}^2 = 1.44\"\n[start]\nposition = {{ ", N, N, N);
  for (int i = 1; i <= N; ++i)
    text += fmt::format("{}x{} = {}, y{} = {}", i > 1 ? ", " : "", i, 0.8 * i, i, -2.0 + 0.1 * std::abs(i - 5));
  const Loaded loaded(text + " }\n");
  const auto found = rest_of(loaded, {.starts = 3});
  ASSERT_GE(found.size(), 1u);
  ASSERT_TRUE(found[0].is_stable());
  const Eigen::VectorXd& q = found[0].linear.state.q;
  std::vector<double> slope;
  for (int i = 0; i <= N; ++i) {
    const double x0 = i == 0 ? 0.0 : q(2 * i - 2), y0 = i == 0 ? 0.0 : q(2 * i - 1), x1 = i == N ? 8.0 : q(2 * i),
                 y1 = i == N ? 0.0 : q(2 * i + 1);
    slope.push_back((y1 - y0) / (x1 - x0));
  }
  for (int i = 1; i < N; ++i) EXPECT_NEAR(slope[i + 1] - slope[i], slope[1] - slope[0], 1e-10);
  EXPECT_LT(slope.front(), 0.0);
}

TEST(equilibrium, states_of_first_order_rest_where_their_rate_vanishes) {
  const Loaded motor(R"toml(
coordinates = ["phi", "i"]
[parameters]
U = 12.0
[dynamics]
kinetic = "0.01/2*phi'^2"
potential = "3*phi^2/2"
force = { phi = "0.1*i - 0.001*phi'" }
[constraints]
current = "0.05*i' = U - 2*i - 0.1*phi'"
)toml");
  const auto found = rest_of(motor);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(found[0].linear.state.q(0), 0.2, 1e-13);
  EXPECT_NEAR(found[0].linear.state.q(1), 6.0, 1e-12);
  EXPECT_TRUE(found[0].is_stable());
}

TEST(equilibrium, states_and_inputs_are_the_same_as_written_by_hand) {
  const Loaded motor(R"toml(
coordinates = ["phi"]
[inputs]
U = 12.0
[states]
i = { rate = "(U - 2*i - 0.1*phi')/0.05", start = 0 }
[dynamics]
kinetic = "0.01/2*phi'^2"
potential = "3*phi^2/2"
force = { phi = "0.1*i - 0.001*phi'" }
)toml");
  const auto found = rest_of(motor);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(found[0].linear.state.q(0), 0.2, 1e-13);
  EXPECT_NEAR(found[0].linear.state.q(1), 6.0, 1e-12);
}

Branches branches_of(const Loaded& loaded, const std::string& parameter, double from, double to) {
  RestModes modes(loaded.system, loaded.start, parameter);
  BranchOptions options;
  options.from = from, options.to = to;
  return follow_branches(modes, options);
}

TEST(equilibrium, truss_snaps_through_at_the_folds_of_the_closed_form) {
  const Loaded loaded(R"toml(
coordinates = ["w"]
[parameters]
b = 1.0
h = 0.3
EA = 100.0
P = 0.0
[define]
L0 = "sqrt(b^2 + h^2)"
L = "sqrt(b^2 + (h - w)^2)"
[dynamics]
kinetic = "w'^2/2"
potential = "EA/L0*(L - L0)^2"
force = { w = "P - 0.1*w'" }
[start]
position = { w = 0.01 }
)toml");
  EXPECT_EQ(rest_of(loaded).size(), 3u);
  const Branches found = branches_of(loaded, "P", -5.0, 5.0);
  // P(w) is extremal where L³ = L0 b².
  const double L0 = std::hypot(1.0, 0.3), L = std::cbrt(L0), y = std::sqrt(L * L - 1.0),
               P = 200.0 / L0 * (L0 - L) * y / L;
  ASSERT_EQ(found.special.size(), 2u);
  for (const SpecialPoint& s : found.special) {
    EXPECT_EQ(s.kind, SpecialKind::fold);
    const double sign = s.parameter > 0.0 ? 1.0 : -1.0;
    EXPECT_NEAR(s.parameter, sign * P, 1e-12);
    EXPECT_NEAR(s.q(0), 0.3 - sign * y, 1e-8);
  }
  ASSERT_EQ(found.branches.size(), 1u);
  EXPECT_EQ(found.branches[0].front().parameter, -5.0);
  EXPECT_EQ(found.branches[0].back().parameter, 5.0);
}

TEST(equilibrium, branches_turn_back_at_kinks) {
  // A characteristic in straight lines: F = −k(x), with folds at its corners (1, −1) and (−1, 1).
  const Loaded loaded(R"toml(
coordinates = ["x"]
[parameters]
F = 0
[tables.k]
points = [[-2, 3], [-1, -1], [0, 0.2], [1, 1], [2, -3]]
[dynamics]
kinetic = "x'^2/2"
force = { x = "k(x) + F - 0.1*x'" }
)toml");
  const Branches found = branches_of(loaded, "F", -2.0, 2.0);
  ASSERT_EQ(found.branches.size(), 1u);
  EXPECT_EQ(found.branches[0].front().parameter, -2.0);
  EXPECT_EQ(found.branches[0].back().parameter, 2.0);
  ASSERT_EQ(found.special.size(), 2u);
  for (const SpecialPoint& s : found.special) {
    EXPECT_EQ(s.kind, SpecialKind::fold);
    EXPECT_NEAR(std::abs(s.parameter), 1.0, 1e-9);
    EXPECT_NEAR(s.q(0), -s.parameter, 1e-9);
  }
  EXPECT_TRUE(found.notes.empty());
  const double x[] = {-2, -1, 0, 1, 2}, k[] = {3, -1, 0.2, 1, -3};
  for (const BranchPoint& p : found.branches[0]) {
    const auto piece = static_cast<std::size_t>(std::clamp(std::floor(p.q(0)) + 2.0, 0.0, 3.0));
    EXPECT_NEAR(k[piece] + (k[piece + 1] - k[piece]) * (p.q(0) - x[piece]), -p.parameter, 1e-9);
    if (std::abs(std::abs(p.q(0)) - 1.0) > 1e-6) {
      EXPECT_EQ(p.num_unstable, std::abs(p.q(0)) < 1.0 ? 1 : 0) << p.q(0);
    }
  }
}

TEST(equilibrium, corners_that_do_not_turn_back_are_passed) {
  // A spring that gets ten times stiffer at x = 1 and softer at −1: F = x there and 10 x − 9 beyond.
  const Loaded loaded(R"toml(
coordinates = ["x", "y"]
[parameters]
F = 0
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
potential = "(y - x)^2/2"
force = { x = "F - x - 9*max(0, x - 1) + 0.9*min(0, x + 1)" }
)toml");
  const Branches found = branches_of(loaded, "F", -3.0, 12.0);
  ASSERT_EQ(found.branches.size(), 1u);
  EXPECT_TRUE(found.special.empty());
  EXPECT_EQ(found.branches[0].back().parameter, 12.0);
  EXPECT_NEAR(found.branches[0].back().q(0), 2.1, 1e-12);
}

TEST(equilibrium, what_rows_of_velocities_leave_free_is_a_continuum) {
  const Loaded skate(R"toml(
coordinates = ["x", "y", "th"]
[dynamics]
kinetic = "(x'^2 + y'^2 + th'^2)/2"
potential = "3*x"
[constraints]
blade = "x'*sin(th) = y'*cos(th)"
[start]
position = { th = 0.4 }
)toml");
  const auto found = rest_of(skate);
  ASSERT_FALSE(found.empty());
  for (const RestState& s : found) {
    EXPECT_NEAR(std::cos(s.linear.state.q(2)), 0.0, 1e-12);
    EXPECT_FALSE(s.isolated);
    expect_rest(skate.system, s);
  }
}

TEST(equilibrium, states_along_the_constraints_are_found_in_every_formulation) {
  // A crank with a heavy rod whose end slides, in free bodies: what can be reached from the start, and q and −q once.
  for (const char* const formulation : {"joint", "free"}) {
    SCOPED_TRACE(formulation);
    const Loaded loaded(fmt::format(R"toml(
[world]
gravity = [0, 0, -9.81]
formulation = "{}"
[bodies.a]
mass = 1
inertia = [0.01, 0.02, 0.02]
centre = [0.15, 0, 0]
[bodies.b]
mass = 2
inertia = [0.01, 0.05, 0.05]
centre = [0.4, 0, 0]
start = {{ at = [0.3, 0, 0] }}
[joints.p]
type = "revolute"
between = ["ground", "a"]
at = [0, 0, 0]
axis = [0, 1, 0]
[joints.q]
type = "revolute"
between = ["a", "b"]
at = [0.3, 0, 0]
axis = [0, 1, 0]
[points]
end = {{ on = "b", at = [0.8, 0, 0] }}
[constraints]
slide = "end.z = 0"
)toml",
                                    formulation));
    // Hanging and standing, with the end of the rod on this side.
    int stable = 0, unstable = 0;
    for (const RestState& s : rest_of(loaded)) {
      expect_rest(loaded.system, s);
      (s.is_stable() ? stable : unstable)++;
    }
    EXPECT_GE(stable, 1);
    EXPECT_GE(unstable, 1);
  }
}

TEST(equilibrium, bead_on_a_spinning_hoop_leaves_its_bottom_at_the_speed_of_the_closed_form) {
  const Loaded loaded(R"toml(
coordinates = ["theta"]
[parameters]
R = 0.5
w = 2.0
[dynamics]
kinetic = "R^2/2*theta'^2"
potential = "-9.81*R*cos(theta) - R^2*w^2*sin(theta)^2/2"
[start]
position = { theta = 0.1 }
)toml");
  const Branches found = branches_of(loaded, "w", 1.0, 8.0);
  ASSERT_EQ(found.special.size(), 1u);
  EXPECT_EQ(found.special[0].kind, SpecialKind::crossing);
  EXPECT_NEAR(found.special[0].parameter, std::sqrt(g / 0.5), 1e-9);
  // On the new branch cos(theta) = g/(w² R).
  double off = 0.0;
  int points = 0;
  for (const auto& branch : found.branches)
    for (const BranchPoint& p : branch)
      if (std::abs(std::sin(p.q(0))) > 1e-3) {
        off = std::max(off, std::abs(std::cos(p.q(0)) - g / (p.parameter * p.parameter * 0.5))), ++points;
        EXPECT_EQ(p.num_unstable, 0);
      }
  EXPECT_GT(points, 30);
  EXPECT_LT(off, 1e-10);
}

TEST(equilibrium, column_buckles_at_the_load_of_the_closed_form) {
  // Two rods, springs k in both joints: (3 − √5)/2 k/L.
  const Loaded loaded(R"toml(
coordinates = ["a", "b"]
[parameters]
P = 0.1
[dynamics]
kinetic = "(a'^2 + b'^2)/2"
potential = "a^2/2 + (b - a)^2/2 + P*(cos(a) + cos(b))"
force = { a = "-0.1*a'", b = "-0.1*b'" }
[start]
position = { a = 0.05, b = 0.05 }
)toml");
  const Branches found = branches_of(loaded, "P", 0.0, 1.0);
  ASSERT_GE(found.special.size(), 1u);
  EXPECT_EQ(found.special[0].kind, SpecialKind::crossing);
  EXPECT_NEAR(found.special[0].parameter, (3.0 - std::sqrt(5.0)) / 2.0, 1e-10);
}

TEST(equilibrium, follows_parameters_that_move_constraints) {
  const Loaded loaded(pendulum);
  const Branches found = branches_of(loaded, "L", 1.0, 3.0);
  ASSERT_EQ(found.branches.size(), 2u);
  for (const auto& branch : found.branches)
    for (const BranchPoint& p : branch) EXPECT_NEAR(std::abs(p.q(1)), p.parameter, 1e-12);
}

TEST(equilibrium, oscillations_that_set_in_are_found) {
  // x'' + (x² − mu) x' + x = 0: at mu = 0 a pair passes the axis.
  const Loaded loaded(R"toml(
coordinates = ["x"]
[parameters]
mu = -1.0
[dynamics]
kinetic = "x'^2/2"
force = { x = "-x + (mu - x^2)*x'" }
)toml");
  const Branches found = branches_of(loaded, "mu", -1.0, 1.0);
  ASSERT_EQ(found.special.size(), 1u);
  EXPECT_EQ(found.special[0].kind, SpecialKind::oscillation);
  EXPECT_NEAR(found.special[0].parameter, 0.0, 1e-9);
}

TEST(equilibrium, of_long_chains_in_relative_angles_is_where_forces_vanish) {
  // A cantilever of hinges with springs bends under its weight: each spring carries the moment of the weights beyond it. Its masses
  // by relative angles have a condition of N⁴.
  const int N = 40;
  const Loaded loaded(R"toml(
[parameters]
N = 40
L = "1/N"
[world]
planar = "xz"
gravity = [0, 0, -9.81]
[bodies."s[i]"]
for = "i = 1..N"
mass = "0.5*L"
inertia = ["0.5*L^3/12", "0.5*L^3/12", "0.5*L^3/12"]
start = { at = ["(i - 0.5)*L", 0, 0] }
[joints.root]
type = "revolute"
between = ["ground", "s[1]"]
at = [0, 0, 0]
axis = [0, 1, 0]
spring = { stiffness = "4/L" }
[joints."h[i]"]
for = "i = 2..N"
type = "revolute"
between = ["s[i-1]", "s[i]"]
at = ["(i - 1)*L", 0, 0]
axis = [0, 1, 0]
spring = { stiffness = "2/L" }
)toml");
  const auto found = rest_of(loaded, {.starts = 1});
  ASSERT_FALSE(found.empty());
  EXPECT_TRUE(found[0].is_stable());
  for (const RestState& s : found) {
    const double L = 1.0 / N, weight = 0.5 * L * g;
    Eigen::VectorXd angle = s.linear.state.q;
    ASSERT_EQ(angle.size(), N);
    for (int i = 1; i < N; ++i) angle(i) += angle(i - 1);
    double moment = 0.0, beyond = 0.0;  // of the weights beyond a hinge
    for (int i = N - 1; i >= 0; --i, beyond += weight) {
      moment += (0.5 * weight + beyond) * L * std::cos(angle(i));
      EXPECT_NEAR(s.linear.state.q(i), moment * L / (i == 0 ? 4.0 : 2.0), 1e-11) << "hinge " << i + 1;
    }
  }
}

TEST(equilibrium, what_is_next_to_a_singular_configuration_and_moves_is_none) {
  // Peaucellier's rhombus, stretched, is a crest of its potential.
  const auto file = std::filesystem::path(MECHANICIAN_SOURCE_DIR) / "models" / "peaucellier.toml";
  const Loaded loaded(read_model(file, {}));
  const auto found = rest_of(loaded, {.starts = 15});
  EXPECT_FALSE(found.empty());
  for (const RestState& s : found) expect_rest(loaded.system, s);
}

TEST(equilibrium, walks_end_where_branches_meet_that_nothing_can_move_on) {
  // Bricard's ring: states that are found lie on the constraints, and there may be none.
  const auto file = std::filesystem::path(MECHANICIAN_SOURCE_DIR) / "models" / "bricard.toml";
  const Loaded loaded(read_model(file, {}));
  for (const RestState& s : rest_of(loaded, {.starts = 15})) {
    const Evaluation at = loaded.system.evaluate(s.linear.state);
    EXPECT_LT(at.residual.cwiseAbs().maxCoeff(), 1e-10);
  }
}

}  // namespace
}  // namespace mechanician
