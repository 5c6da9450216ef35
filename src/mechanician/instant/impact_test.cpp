// Impacts: the laws that every one of them obeys, on random systems, and what is known by hand.

#include "mechanician/instant/impact.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "mechanician/base/trials_for_test.hpp"
#include "mechanician/instant/accelerate.hpp"
#include "mechanician/model/parameters.hpp"
#include "mechanician/model/read_model.hpp"

namespace mechanician {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

struct RandomImpact {
  std::string text;
  State state;
};

/// Linear constraints through the origin, some of them equalities, some redundant, a mass matrix and velocities. With
/// `friction` each contact has a slip of its own.
RandomImpact make_random(std::mt19937_64& random, bool friction) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  const int n = 2 + static_cast<int>(random() % 4), contacts = 1 + static_cast<int>(random() % 4);
  const MatrixXd F = MatrixXd::NullaryExpr(n, n, [&] { return normal(random); });
  const MatrixXd M = F * F.transpose() + 0.1 * MatrixXd::Identity(n, n);
  RandomImpact result;
  std::string& out = result.text;
  const auto linear = [&](const VectorXd& a, const char* dash) {
    std::string sum;
    for (int i = 0; i < n; ++i) sum += fmt::format("{}({:.17g})*x{}{}", i ? " + " : "", a(i), i, dash);
    return sum;
  };
  out = "coordinates = [";
  for (int i = 0; i < n; ++i) out += fmt::format("{}\"x{}\"", i ? ", " : "", i);
  out += "]\n[dynamics]\nmass = [";
  for (int i = 0; i < n; ++i) {
    out += i ? ", [" : "[";
    for (int j = 0; j < n; ++j) out += fmt::format("{}\"{:.17g}\"", j ? ", " : "", 0.5 * (M(i, j) + M(j, i)));
    out += "]";
  }
  out += "]\n[constraints]\n";
  const auto vector = [&] { return VectorXd(VectorXd::NullaryExpr(n, [&] { return normal(random); })); };
  VectorXd equality = VectorXd::Zero(n);
  if (n > 2 && random() % 2) {
    equality = vector();
    out += fmt::format("held = \"{} = 0\"\n", linear(equality, ""));
    if (random() % 2) out += fmt::format("again = \"{} = 0\"\n", linear(-2.0 * equality, ""));
  }
  VectorXd last = vector();
  for (int c = 0; c < contacts; ++c) {
    const VectorXd row = c > 0 && random() % 4 == 0 ? VectorXd(last * (0.5 + uniform(random))) : vector();
    last = row;
    const double e = random() % 3 == 0 ? 1.0 : uniform(random);
    out += fmt::format("[constraints.c{}]\nequation = \"{} >= 0\"\nrestitution = {:.17g}\n", c, linear(row, ""), e);
    if (friction)
      out += fmt::format("friction = {:.17g}\nslip = \"{}\"\n", 2.0 * uniform(random), linear(vector(), "'"));
  }
  result.state.q = VectorXd::Zero(n);
  result.state.qd = vector();
  if (equality.norm() > 0.0) result.state.qd -= equality * equality.dot(result.state.qd) / equality.squaredNorm();
  return result;
}

System make_system(const std::string& text) {
  Model model = read_model_text(text, "random.toml");
  std::vector<double> parameters = evaluate_parameters(model).values;
  return System(std::move(model), std::move(parameters));
}

TEST(Impact, without_friction_it_obeys_newton_and_the_minimum_and_adds_no_energy) {
  int impacts = 0;
  for (unsigned seed = 1; seed <= num_trials(1000); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const RandomImpact given = make_random(random, false);
    const System system = make_system(given.text);
    const Instant instant = accelerate(system, given.state);
    if (!instant.impact) continue;
    ++impacts;
    const Impact& impact = *instant.impact;
    ASSERT_EQ(impact.status, SolveStatus::solved);
    const MatrixXd M = instant.values.M.to_dense();
    const MatrixXd A = instant.values.A.to_dense();
    const VectorXd &before = given.state.qd, &after = impact.qd_after;
    const double size = before.norm() * (1.0 + M.norm());
    // M Δv = Aᵀ Λ
    EXPECT_LE((M * (after - before) - A.transpose() * impact.impulses).norm(),
              1e-11 * size * (1.0 + impact.impulses.norm()));
    for (const Contact& c : instant.contacts) {
      const auto j = c.values.row;
      const double was = A.row(j).dot(before), is = A.row(j).dot(after), scale = 1e-10 * size * A.row(j).norm();
      if (was > 0.0) continue;  // separating: has no part in the first impact
      EXPECT_GE(is, -c.values.restitution * was - scale);
      EXPECT_GE(impact.impulses(j), -1e-10 * size);
      EXPECT_LE(std::min(impact.impulses(j), is + c.values.restitution * was),
                1e-9 * size * (1.0 + impact.impulses.norm()));
    }
    for (int j = 0; j < system.m(); ++j)
      if (!system.row(j).one_sided) {
        EXPECT_NEAR(A.row(j).dot(after), 0.0, 1e-10 * size * A.row(j).norm());
      }
    const double change = 0.5 * (after.dot(M * after) - before.dot(M * before));
    EXPECT_LE(change, 1e-11 * size * size);
    EXPECT_NEAR(change, -impact.energy_lost, 1e-10 * size * size);
    EXPECT_NEAR(impact.surface_work, 0.0, 1e-10 * size * size);
  }
  EXPECT_GE(impacts, static_cast<int>(num_trials(500)));
}

TEST(Impact, with_friction_it_stays_in_the_cone_and_adds_no_energy) {
  int impacts = 0, lowered = 0;
  for (unsigned seed = 1; seed <= num_trials(600); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const RandomImpact given = make_random(random, true);
    const System system = make_system(given.text);
    const Instant instant = accelerate(system, given.state);
    if (!instant.impact) continue;
    const Impact& impact = *instant.impact;
    if (!impact.trouble.empty() || impact.status != SolveStatus::solved) continue;  // said, not guessed
    ++impacts;
    lowered += impact.restitution_part < 1.0;
    const MatrixXd M = instant.values.M.to_dense();
    const double before = 0.5 * given.state.qd.dot(M * given.state.qd),
                 after = 0.5 * impact.qd_after.dot(M * impact.qd_after);
    EXPECT_LE(after, before * (1.0 + 1e-10));
    EXPECT_NEAR(before - after, impact.energy_lost + impact.friction_lost, 1e-9 * before);
  }
  EXPECT_GT(lowered, 0);
  EXPECT_GE(impacts, static_cast<int>(num_trials(200)));
}

TEST(Impact, a_moving_wall_gives_what_is_said_to_be_its_work) {
  // A wall at speed 2 meets a ball at rest, e = 0.5: v⁺ = 3, its work Λ·2 = 6, of which 1.5 are lost.
  const System system = make_system(R"(
coordinates = ["x"]
[dynamics]
kinetic = "x'^2/2"
[constraints.wall]
equation = "x >= 2*t"
restitution = 0.5
)");
  const Instant instant = accelerate(system, {0.0, VectorXd::Zero(1), VectorXd::Zero(1)});
  ASSERT_TRUE(instant.impact);
  EXPECT_FALSE(instant.has_acceleration());
  EXPECT_NEAR(instant.impact->qd_after(0), 3.0, 1e-14);
  EXPECT_NEAR(instant.impact->surface_work, 6.0, 1e-13);
  EXPECT_NEAR(instant.impact->energy_lost, 1.5, 1e-13);
}

TEST(Impact, slip_that_turns_round_must_not_add_energy) {
  // Kane's rod: leaning by 1 rad, falling and sliding so that friction turns the slip round, e = 0.95.
  const System system = make_system(R"model(
coordinates = ["x", "y", "a"]
[dynamics]
kinetic = "(x'^2 + y'^2 + a'^2/3)/2"
[constraints.floor]
equation = "y - sin(a) >= 0"
restitution = 0.95
friction = 1.0
slip = "x' + sin(a)*a'"
)model");
  int lowered = 0;
  for (int k = 0; k < 200; ++k) {
    State state{0.0, VectorXd(3), VectorXd(3)};
    const double a = 0.3 + 0.01 * (k % 100), spin = k < 100 ? -2.0 : 2.0;
    state.q << 0.0, std::sin(a), a;
    state.qd << -0.3, -1.0, spin;
    const Instant instant = accelerate(system, state);
    if (!instant.impact || !instant.impact->trouble.empty()) continue;
    ASSERT_EQ(instant.impact->status, SolveStatus::solved);
    EXPECT_GE(instant.impact->energy_lost + instant.impact->friction_lost, -1e-11);
    lowered += instant.impact->restitution_part < 1.0;
  }
  EXPECT_GT(lowered, 0);
}

TEST(Contacts, a_state_with_too_much_friction_is_reported_and_has_no_acceleration) {
  const System system = make_system(R"model(
coordinates = ["x", "y", "a"]
[dynamics]
kinetic = "(x'^2 + y'^2 + a'^2/3)/2"
force = { y = "-9.81" }
[constraints.floor]
equation = "y - sin(a) >= 0"
friction = 2.0
slip = "x' + sin(a)*a'"
)model");
  State state{0.0, VectorXd(3), VectorXd(3)};
  state.q << 0.0, std::sin(1.0), 1.0;
  state.qd << -5.0, 0.0, 0.0;
  const Instant none = accelerate(system, state);
  EXPECT_FALSE(none.has_acceleration());
  EXPECT_FALSE(none.contact_trouble.empty());
  state.qd(0) = 5.0;  // the other way there is one
  EXPECT_TRUE(accelerate(system, state).has_acceleration());
}

}  // namespace
}  // namespace mechanician
