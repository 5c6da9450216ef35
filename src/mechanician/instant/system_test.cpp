#include "mechanician/instant/system.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "mechanician/model/read_model.hpp"

namespace mechanician {
namespace {

/// A disc in the plane above a floor that moves, with a string, a rough wire and an ordinary row between them.
const char* const disc = R"toml(coordinates = ["x", "y", "th"]
[parameters]
r = 0.5
e = 0.8
[dynamics]
mass = { x = 2, y = 2, th = 0.25 }
[constraints]
level = "x + y = th"
string = "x^2 + y^2 <= 4"
[constraints.floor]
equation = "y - sin(t) >= r"
restitution = "e*exp(-x^2)"
friction = "0.3 + 0.1*tanh(x')"
slip = ["x'*cos(t) + r*cos(x)*th'", "y'*x - sin(3*t)*th"]
[constraints.wire]
equation = "y = x^3"
friction = 0.25
slip = "x'*hypot(1, 3*x^2)"
)toml";

State random_state(std::mt19937_64& random) {
  std::uniform_real_distribution<double> spread(-1.0, 1.0);
  State s{spread(random), Eigen::VectorXd(3), Eigen::VectorXd(3)};
  for (double& x : s.q) x = spread(random);
  for (double& x : s.qd) x = spread(random);
  return s;
}

TEST(System, ContactsStandInTheOrderOfTheRowsWithWhatIsNotGivenAtZero) {
  const System system(read_model_text(disc, "disc.toml"), {0.5, 0.8});
  ASSERT_TRUE(system.has_contacts());
  const State s{0.3, Eigen::Vector3d(0.1, 2.0, 0.0), Eigen::Vector3d(0.5, 0.0, -1.0)};
  std::optional<NotFinite> not_finite;
  const auto contacts = system.evaluate_contacts(s, not_finite);
  ASSERT_FALSE(not_finite);
  ASSERT_EQ(contacts.size(), 3u);
  EXPECT_EQ(system.row(0).one_sided, false);

  EXPECT_EQ(contacts[0].row, 1);
  EXPECT_TRUE(contacts[0].one_sided);
  EXPECT_EQ(contacts[0].restitution, 0.0);
  EXPECT_FALSE(contacts[0].has_friction);
  EXPECT_EQ(contacts[0].T.rows(), 0);

  EXPECT_EQ(contacts[1].row, 2);
  EXPECT_TRUE(contacts[1].one_sided);
  EXPECT_NEAR(contacts[1].restitution, 0.8 * std::exp(-0.01), 1e-15);
  EXPECT_NEAR(contacts[1].mu, 0.3 + 0.1 * std::tanh(0.5), 1e-15);
  EXPECT_EQ(contacts[1].slip.size(), 2);

  EXPECT_EQ(contacts[2].row, 3);
  EXPECT_FALSE(contacts[2].one_sided);
  EXPECT_EQ(contacts[2].mu, 0.25);
  EXPECT_EQ(contacts[2].slip.size(), 1);
}

TEST(System, TheGapOfAtMostIsRightMinusLeft) {
  const System system(read_model_text(disc, "disc.toml"), {0.5, 0.8});
  const State s{0.3, Eigen::Vector3d(0.5, 1.0, 0.0), Eigen::Vector3d(2.0, 3.0, -1.0)};
  const Evaluation now = system.evaluate(s);
  // φ = 4 − x² − y², φ̇ = −2(x x' + y y'), φ̈ = −2(x x'' + y y'') − 2(x'² + y'²)
  EXPECT_NEAR(now.residual(1), 2.75, 1e-15);
  EXPECT_NEAR(now.rate(1), -8.0, 1e-14);
  EXPECT_NEAR((now.values.A.to_dense().row(1) - Eigen::RowVector3d(-1.0, -2.0, 0.0)).norm(), 0.0, 1e-15);
  EXPECT_NEAR(now.values.b(1), 26.0, 1e-14);
}

TEST(System, TheSlipChangesAlongAPathAsItsRowsSay) {
  const System system(read_model_text(disc, "disc.toml"), {0.5, 0.8});
  constexpr unsigned seed = 5;
  std::mt19937_64 random(seed);
  for (int trial = 0; trial < 20; ++trial) {
    const State s = random_state(random);
    const Eigen::VectorXd qdd = random_state(random).q;
    std::optional<NotFinite> not_finite;
    // ψ on q(t) = q + q̇ t + ½ q̈ t², by central differences; their error is of the order h² = 1e-8.
    constexpr double h = 1e-4;
    const auto along = [&](double t) {
      return system.evaluate_contacts({s.t + t, s.q + t * s.qd + 0.5 * t * t * qdd, s.qd + t * qdd}, not_finite);
    };
    const auto now = along(0.0), before = along(-h), after = along(h);
    ASSERT_FALSE(not_finite);
    for (std::size_t c = 0; c < now.size(); ++c) {
      const Eigen::VectorXd rate = now[c].T * qdd - now[c].slip_b;
      const Eigen::VectorXd measured = (after[c].slip - before[c].slip) / (2 * h);
      EXPECT_LT((rate - measured).lpNorm<Eigen::Infinity>(), 100 * h * h)
          << "seed " << seed << ", trial " << trial << ", contact " << c;
    }
  }
}

TEST(System, AContactValueThatIsNotFiniteIsNamedWithItsPlace) {
  const System system(read_model_text(R"toml(coordinates = ["x", "y"]
[dynamics]
mass = { x = 1, y = 1 }
[constraints.floor]
equation = "y >= 0"
friction = "1/x"
slip = "x'"
)toml",
                                      "pole.toml"),
                      {});
  std::optional<NotFinite> not_finite;
  system.evaluate_contacts({0.0, Eigen::Vector2d(0, 0), Eigen::Vector2d(1, 0)}, not_finite);
  ASSERT_TRUE(not_finite);
  EXPECT_EQ(not_finite->quantity, "the friction of constraint `floor`");
  EXPECT_EQ(not_finite->place.line, 6);
}

TEST(System, ConstraintsOfBothSensesCanBeBuiltInCpp) {
  Model model;
  const Expr x = model.add_coordinate("x"), y = model.add_coordinate("y");
  model.kinetic = (pow(dot(x), 2) + pow(dot(y), 2)) / 2;
  model.add_at_least(
      "floor", y, 1.0,
      {.restitution = Expr(0.5), .friction = Friction{.coefficient = 0.3, .slip = {dot(x)}, .place = {}}});
  model.add_at_most("roof", y, 3.0);
  const System system(model, {});
  const State s{0.0, Eigen::Vector2d(0.0, 1.5), Eigen::Vector2d(2.0, -1.0)};
  const Evaluation now = system.evaluate(s);
  EXPECT_EQ(now.residual, Eigen::Vector2d(0.5, 1.5));
  EXPECT_EQ(now.rate, Eigen::Vector2d(-1.0, 1.0));
  std::optional<NotFinite> not_finite;
  const auto contacts = system.evaluate_contacts(s, not_finite);
  ASSERT_EQ(contacts.size(), 2u);
  EXPECT_EQ(contacts[0].slip(0), 2.0);
  EXPECT_EQ(contacts[0].restitution, 0.5);
  EXPECT_FALSE(contacts[1].has_friction);
}

}  // namespace
}  // namespace mechanician
