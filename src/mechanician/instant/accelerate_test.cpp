#include "mechanician/instant/accelerate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <stdexcept>

#include "mechanician/expression/differentiate.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/expression/tape.hpp"
#include "mechanician/solve/eigen_decompositions.hpp"

namespace mechanician {
namespace {

State state(double t, std::vector<double> q, std::vector<double> qd) {
  const auto vector = [](const std::vector<double>& x) {
    return Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(x.data(), static_cast<Eigen::Index>(x.size())));
  };
  return {t, vector(q), vector(qd)};
}

Model pendulum() {
  Model model;
  const Expr x = model.add_coordinate("x"), y = model.add_coordinate("y");
  const Expr m = model.add_parameter("m", 2.0), g = model.add_parameter("g", 9.81), L = model.add_parameter("L", 1.0);
  model.kinetic = m / 2 * (pow(dot(x), 2) + pow(dot(y), 2));
  model.potential = m * g * y;
  model.add_constraint("rod", x * x + y * y, L * L);
  return model;
}

TEST(Accelerate, APendulumBuiltInCppHasTheTextbookForce) {
  const System system(pendulum(), {2.0, 9.81, 1.0});
  // At 53° from the vertical with speed 2: tension/L = m (v² + g y)/L², towards the pivot.
  const Instant now = accelerate(system, state(0, {0.6, -0.8}, {1.6, 1.2}));
  ASSERT_TRUE(now.has_acceleration());
  const double lambda2 = -(2.0 * (4.0 + 9.81 * 0.8));
  EXPECT_NEAR(now.solution.Qc(0), lambda2 * 0.6, 1e-12);
  EXPECT_NEAR(now.solution.Qc(1), lambda2 * -0.8, 1e-12);
  EXPECT_NEAR(now.solution.multipliers(0), lambda2 / 2, 1e-12);
  EXPECT_NEAR(now.solution.qdd(0), lambda2 * 0.6 / 2, 1e-12);
  EXPECT_LT(now.constraint_residual, 1e-15);
}

/// Three masses on a frame that slides on a blade at (x, y): a Chaplygin sleigh without symmetry.
struct Sleigh {
  std::vector<double> mass{1.5, 0.7, 0.4}, along{0.4, -0.2, 0.1}, across{0.05, 0.3, -0.35};
};

TEST(Accelerate, AgreesWithTheGibbsAppellEquations) {
  // Route 1: the model, from its kinetic energy and the constraint of the blade.
  const Sleigh sleigh;
  Model model;
  const Expr x = model.add_coordinate("x"), y = model.add_coordinate("y"), th = model.add_coordinate("th");
  Expr T = 0;
  std::vector<Expr> rx, ry;
  for (std::size_t k = 0; k < sleigh.mass.size(); ++k) {
    rx.push_back(x + sleigh.along[k] * cos(th) - sleigh.across[k] * sin(th));
    ry.push_back(y + sleigh.along[k] * sin(th) + sleigh.across[k] * cos(th));
    const std::vector<Tangent> moving{{x, dot(x)}, {y, dot(y)}, {th, dot(th)}};
    T += sleigh.mass[k] / 2 * (pow(directional(rx[k], moving), 2) + pow(directional(ry[k], moving), 2));
  }
  model.kinetic = T;
  model.add_force(th, 0.3 * sin(time_symbol()));
  model.add_force(x, -0.2);
  model.add_constraint("blade", dot(y) * cos(th), dot(x) * sin(th));
  const System system(model, {});

  // Route 2: Gibbs' function S = ½ Σ m |r̈|² in the quasi-accelerations v̇ (along the blade) and ω̇, stationary with the
  // generalised forces: ∂S/∂v̇ = Q_v, ∂S/∂ω̇ = Q_ω. No multiplier and no mass matrix of the coordinates.
  const Expr v = parameter("v"), w = parameter("w"), vd = parameter("vd"), wd = parameter("wd"),
             angle = parameter("angle");
  Expr S = 0;
  for (std::size_t k = 0; k < sleigh.mass.size(); ++k) {
    // Second derivative of r along the motion with ẋ = v cos θ, ẏ = v sin θ, θ̇ = ω.
    const std::vector<Tangent> moving{{x, v * cos(th)}, {y, v * sin(th)}, {th, w}, {v, vd}, {w, wd}};
    const Expr ax = directional(directional(rx[k], moving), moving),
               ay = directional(directional(ry[k], moving), moving);
    S += sleigh.mass[k] / 2 * (pow(ax, 2) + pow(ay, 2));
  }
  const std::vector<Expr> free{vd, wd};
  const std::vector<Expr> S_free = gradient(simplify(S), free);
  const Tape tape(S_free, std::vector<Expr>{th, v, w, vd, wd});

  const unsigned seed = 7;
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> draw(-2.0, 2.0);
  for (int trial = 0; trial < 50; ++trial) {
    const double a = draw(random), speed = draw(random), rate = draw(random), t = draw(random);
    const auto S_at = [&](double vdot, double wdot) {
      return tape(std::span<const double>(std::vector<double>{a, speed, rate, vdot, wdot}));
    };
    const auto zero = S_at(0, 0), by_v = S_at(1, 0), by_w = S_at(0, 1);
    const double H11 = by_v[0] - zero[0], H12 = by_w[0] - zero[0], H22 = by_w[1] - zero[1];
    const double Q_v = -0.2 * std::cos(a), Q_w = 0.3 * std::sin(t);
    const double r1 = Q_v - zero[0], r2 = Q_w - zero[1], det = H11 * H22 - H12 * H12;
    const double vdot = (H22 * r1 - H12 * r2) / det, wdot = (H11 * r2 - H12 * r1) / det;
    const Instant now =
        accelerate(system, state(t, {draw(random), draw(random), a}, {speed * std::cos(a), speed * std::sin(a), rate}));
    ASSERT_TRUE(now.has_acceleration());
    const double tol = 1e-12 * (1.0 + std::abs(vdot) + std::abs(wdot) + speed * speed + rate * rate);
    EXPECT_NEAR(now.solution.qdd(0), vdot * std::cos(a) - speed * rate * std::sin(a), tol)
        << "seed " << seed << " trial " << trial;
    EXPECT_NEAR(now.solution.qdd(1), vdot * std::sin(a) + speed * rate * std::cos(a), tol)
        << "seed " << seed << " trial " << trial;
    EXPECT_NEAR(now.solution.qdd(2), wdot, tol) << "seed " << seed << " trial " << trial;
  }
}

TEST(Accelerate, AConstraintWrittenAsASquareCountsAsZeroOnItself) {
  Model model = pendulum();
  const Expr x = coordinate("x"), y = coordinate("y");
  model.constraints.clear();
  model.add_constraint("square", pow(x * x + y * y - 1, 2), 0);
  const System system(model, {2.0, 9.81, 1.0});
  const Instant now = accelerate(system, state(0, {0.6, -0.8}, {1.6, 1.2}));
  ASSERT_TRUE(now.has_acceleration());
  EXPECT_EQ(now.solution.rank, 0);
  EXPECT_NEAR(now.solution.qdd(1), -9.81, 1e-12);
  ASSERT_EQ(now.diagnosis->zero_rows.size(), 1u);
  EXPECT_TRUE(now.violations().empty());
  // Off the constraint it acts, and its distance is measured, not its square.
  const Instant off = accelerate(system, state(0, {0.6, -0.9}, {0, 0}));
  EXPECT_EQ(off.solution.rank, 1);
  EXPECT_EQ(off.violations().size(), 1u);
}

TEST(Accelerate, NonidealForcesMayDependOnIdealOnes) {
  // A block on a rough incline: C = −µ|N| v/|v|, so that the deceleration is g(sin α + µ cos α).
  Model model;
  const Expr x = model.add_coordinate("x"), y = model.add_coordinate("y");
  model.kinetic = pow(dot(x), 2) + pow(dot(y), 2);  // m = 2
  model.potential = 2 * 9.81 * y;
  model.add_constraint("incline", 4 * y, 3 * x);
  const Expr speed = sqrt(pow(dot(x), 2) + pow(dot(y), 2));
  const Expr N = 5 * abs(make_symbol(SymbolKind::multiplier, "incline"));  // |(−3, 4)| = 5
  model.add_nonideal(x, -0.25 * N * dot(x) / speed);
  model.add_nonideal(y, -0.25 * N * dot(y) / speed);
  const System system(model, {});
  const Instant now = accelerate(system, state(0, {0, 0}, {4, 3}));
  ASSERT_TRUE(now.has_acceleration());
  const double along = -9.81 * (0.6 + 0.25 * 0.8);
  EXPECT_NEAR(now.solution.qdd(0), along * 0.8, 1e-13);
  EXPECT_NEAR(now.solution.qdd(1), along * 0.6, 1e-13);

  // The same constraint twice: the multiplier is not unique, and asking for it is refused by name.
  model.add_constraint("again", 8 * y, 6 * x);
  const Instant twice = accelerate(System(model, {}), state(0, {0, 0}, {4, 3}));
  EXPECT_FALSE(twice.has_acceleration());
  ASSERT_EQ(twice.multiplier_not_unique, std::vector<std::string>{"incline"});
}

TEST(Accelerate, AForceThatCPrescribesOnAFreeMasslessCoordinateCannotBeMet) {
  Model model;
  const Expr x = model.add_coordinate("x"), u = model.add_coordinate("u");
  model.kinetic = pow(dot(x), 2) / 2;
  model.add_constraint("hold", x, 0);
  const Instant open = accelerate(System(model, {}), state(0, {0, 0}, {0, 0}));
  EXPECT_EQ(open.solution.status, SolveStatus::not_unique);
  EXPECT_TRUE(open.solution.solvable);
  model.add_nonideal(u, 1);
  const Instant forced = accelerate(System(model, {}), state(0, {0, 0}, {0, 0}));
  EXPECT_EQ(forced.solution.status, SolveStatus::unsolvable);
  EXPECT_FALSE(forced.solution.solvable);
}

TEST(Accelerate, RoundingOfOneRowDoesNotMakeItsPartnerContradict) {
  // A straight line stated twice: b is zero, exactly in one row, to rounding in the other.
  Model model;
  const Expr x = model.add_coordinate("x"), y = model.add_coordinate("y"), z = model.add_coordinate("z");
  model.kinetic = (pow(dot(x), 2) + 2 * pow(dot(y), 2) + pow(dot(z), 2)) / 2;
  model.add_constraint("line", x, y / 3 + z / 7);
  model.add_constraint("same", exp(x - y / 3 - z / 7), 1);
  const System system(model, {});
  const unsigned seed = 3;
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> draw(-3.0, 3.0);
  for (int trial = 0; trial < 200; ++trial) {
    const double y0 = draw(random), z0 = draw(random), v = draw(random), w = draw(random);
    const Instant now = accelerate(system, state(0, {y0 / 3 + z0 / 7, y0, z0}, {v / 3 + w / 7, v, w}));
    ASSERT_TRUE(now.has_acceleration()) << "seed " << seed << " trial " << trial;
    EXPECT_TRUE(now.solution.consistent);
    EXPECT_EQ(now.solution.rank, 1);
  }
}

TEST(Accelerate, TheBranchThatIsNotTakenNeedsNoValue) {
  Model model;
  const Expr x = model.add_coordinate("x"), y = model.add_coordinate("y");
  model.kinetic = (pow(dot(x), 2) + pow(dot(y), 2)) / 2;
  model.add_constraint("c", select(x > 0, sqrt(x), -x) + y, 3);
  const Instant now = accelerate(System(model, {}), state(0, {-2, 1}, {1, 1}));
  ASSERT_TRUE(now.has_acceleration());
  EXPECT_EQ(now.values.A(0, 0), -1.0);
  EXPECT_EQ(now.values.b(0), 0.0);
}

TEST(Accelerate, SaysWhichSubexpressionIsNotFinite) {
  Model model;
  const Expr x = model.add_coordinate("x");
  model.kinetic = pow(dot(x), 2) / 2;
  model.add_force(x, 1 / (x - 1) + sqrt(x - 3));
  const Instant now = accelerate(System(model, {}), state(0, {1}, {0}));
  ASSERT_TRUE(now.not_finite.has_value());
  EXPECT_EQ(now.not_finite->message(), "the given force on `x` is not a finite number: 1/(x - 1) (1 divided by zero)");
  const Instant root = accelerate(System(model, {}), state(0, {2}, {0}));
  ASSERT_TRUE(root.not_finite.has_value());
  EXPECT_EQ(root.not_finite->message(),
            "the given force on `x` is not a finite number: sqrt(x - 3) (`sqrt` of -1 is nan)");
}

TEST(Accelerate, AFunctionWithoutAValueIsAskedFor) {
  Model model;
  const Expr x = model.add_coordinate("x");
  model.kinetic = pow(dot(x), 2) / 2;
  model.add_force(x, model.add_unknown("alpha", {time_symbol()}));
  EXPECT_THROW(System(model, {}), ModelError);
}

TEST(System, AModelBuiltInCppIsCheckedToo) {
  Model model;
  const Expr x = model.add_coordinate("x");
  model.kinetic = pow(dot(x), 3);
  EXPECT_THROW(System(model, {}), ModelError);
  model.kinetic = pow(dot(x), 2);
  model.add_constraint("none", 1.0, 2.0);
  EXPECT_THROW(System(model, {}), ModelError);
  model.constraints.clear();
  EXPECT_THROW(System(model, {1.0}), std::invalid_argument);
  EXPECT_NO_THROW(System(model, {}));
}

TEST(Residuals, AreDistancesWhateverTheUnitsOfTheConstraint) {
  for (const double scale : {1e-9, 1.0, 1e9}) {
    Model model = pendulum();
    const Expr x = coordinate("x"), y = coordinate("y");
    model.constraints.clear();
    model.add_constraint("rod", scale * (x * x + y * y), scale);
    const System system(model, {2.0, 9.81, 1.0});
    EXPECT_TRUE(accelerate(system, state(0, {0.6, -0.8}, {0.8, 0.6})).violations().empty()) << scale;
    const auto off = accelerate(system, state(0, {0.6, -0.8 - 1e-6}, {0.8, 0.6 + 1e-6})).violations();
    EXPECT_EQ(off.size(), 2u) << scale;
  }
}

}  // namespace
}  // namespace mechanician
