#include "mechanician/instant/project.hpp"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <Eigen/QR>
#include <cmath>
#include <numbers>
#include <random>

#include "mechanician/instant/accelerate.hpp"
#include "mechanician/model/read_model.hpp"

namespace mechanician {
namespace {

State state(double t, std::vector<double> q, std::vector<double> qd) {
  const auto vector = [](const std::vector<double>& x) {
    return Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(x.data(), static_cast<Eigen::Index>(x.size())));
  };
  return {t, vector(q), vector(qd)};
}

Model particle(double mx, double my) {
  Model model;
  const Expr x = model.add_coordinate("x"), y = model.add_coordinate("y");
  model.kinetic = mx / 2 * pow(dot(x), 2) + my / 2 * pow(dot(y), 2);
  return model;
}

TEST(Project, FindsTheNearestPointOfAnEllipseInTheMassNorm) {
  const double mx = 3.0, my = 0.5, a = 2.0, b = 1.0;
  Model model = particle(mx, my);
  model.add_constraint("ellipse", pow(coordinate("x") / a, 2) + pow(coordinate("y") / b, 2), 1);
  const System system(model, {});
  const unsigned seed = 11;
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> draw(-3.0, 3.0);
  for (int trial = 0; trial < 100; ++trial) {
    const State given = state(0, {draw(random), draw(random)}, {draw(random), draw(random)});
    const Projection p = project(system, given);
    ASSERT_TRUE(p.converged) << "seed " << seed << " trial " << trial;
    // Second route: the least distance over the angle, refined by Newton's method.
    const auto distance2 = [&](double s) {
      return mx * std::pow(a * std::cos(s) - given.q(0), 2) + my * std::pow(b * std::sin(s) - given.q(1), 2);
    };
    double best = 0;
    for (int k = 0; k < 3600; ++k) {
      const double s = 2 * std::numbers::pi * k / 3600;
      if (distance2(s) < distance2(best)) best = s;
    }
    const double here = mx * std::pow(p.state.q(0) - given.q(0), 2) + my * std::pow(p.state.q(1) - given.q(1), 2);
    // A stationary point: the global one unless the start is near the medial axis.
    const double s = std::atan2(p.state.q(1) / b, p.state.q(0) / a);
    const double slope =
        -mx * (a * std::cos(s) - given.q(0)) * a * std::sin(s) + my * (b * std::sin(s) - given.q(1)) * b * std::cos(s);
    EXPECT_NEAR(slope, 0.0, 1e-9) << "seed " << seed << " trial " << trial;
    EXPECT_LE(here, distance2(s + 0.01) + 1e-12);
    EXPECT_LE(here, distance2(s - 0.01) + 1e-12);
    EXPECT_GE(here, distance2(best) - 1e-5);
    EXPECT_NEAR(std::pow(p.state.q(0) / a, 2) + std::pow(p.state.q(1) / b, 2), 1.0, 1e-14);
    // The velocity: v − v₀ = M⁻¹ Aᵀ µ and A v = 0.
    const Eigen::Vector2d A(2 * p.state.q(0) / (a * a), 2 * p.state.q(1) / (b * b));
    const double mu = -A.dot(given.qd) / (A(0) * A(0) / mx + A(1) * A(1) / my);
    EXPECT_NEAR(p.state.qd(0), given.qd(0) + A(0) / mx * mu, 1e-12);
    EXPECT_NEAR(p.state.qd(1), given.qd(1) + A(1) / my * mu, 1e-12);
  }
}

TEST(Project, LeavesAValidStateAlone) {
  Model model = particle(1, 1);
  model.add_constraint("circle", pow(coordinate("x"), 2) + pow(coordinate("y"), 2), 25);
  const Projection p = project(System(model, {}), state(0, {3, 4}, {4, -3}));
  ASSERT_TRUE(p.converged);
  EXPECT_EQ(p.moved, 0.0);
}

TEST(Project, MovesAlongMasslessDirectionsFirstAndThereByTheEuclideanNorm) {
  // s and u have no mass: x = s + u is met by moving those two, equally far, and x stays.
  Model model;
  const Expr x = model.add_coordinate("x"), s = model.add_coordinate("s"), u = model.add_coordinate("u");
  model.kinetic = pow(dot(x), 2) / 2;
  model.add_constraint("sum", x, s + u);
  const Projection p = project(System(model, {}), state(0, {1, 0, 0}, {0, 0, 3}));
  ASSERT_TRUE(p.converged);
  EXPECT_NEAR(p.state.q(0), 1.0, 1e-15);
  EXPECT_NEAR(p.state.q(1), 0.5, 1e-15);
  EXPECT_NEAR(p.state.q(2), 0.5, 1e-15);
  EXPECT_NEAR(p.state.qd(0), 0.0, 1e-15);
  EXPECT_NEAR(p.state.qd(1), -1.5, 1e-14);
  EXPECT_NEAR(p.state.qd(2), 1.5, 1e-14);
}

TEST(Project, CopesWithRedundantAndRheonomicAndNonlinearConstraints) {
  Model model;
  const Expr x = model.add_coordinate("x"), y = model.add_coordinate("y"), z = model.add_coordinate("z");
  model.kinetic = pow(dot(x), 2) + 2 * pow(dot(y), 2) + pow(dot(z), 2);
  const Expr r2 = x * x + y * y, R = 1 + time_symbol() / 10;
  model.add_constraint("ring", r2, R * R);
  model.add_constraint("again", 1000 * r2, 1000 * R * R);
  model.add_constraint("quartic", r2 * r2, pow(R, 4));
  model.add_constraint("speed", pow(dot(x), 2) + pow(dot(y), 2) + pow(dot(z), 2), 9);
  const System system(model, {});
  const State given = state(2, {1.0, -0.5, 0.3}, {0.2, 1.0, 2.0});
  const Projection p = project(system, given);
  ASSERT_TRUE(p.converged);
  const Instant now = accelerate(system, p.state);
  EXPECT_TRUE(now.violations().empty());
  EXPECT_LT(now.constraint_residual, 1e-11);
  // Stationary: M (v − v₀) lies in the span of the rows.
  const Eigen::Vector3d Mdv(2 * (p.state.qd(0) - given.qd(0)), 4 * (p.state.qd(1) - given.qd(1)),
                            2 * (p.state.qd(2) - given.qd(2)));
  const Eigen::Vector3d ring(p.state.q(0), p.state.q(1), 0), speed = p.state.qd;
  const Eigen::Vector3d normal = ring.cross(speed);
  EXPECT_NEAR(normal.dot(Mdv) / normal.norm(), 0.0, 1e-9);
}

TEST(Project, ComesToTheNearestPointWhereSquaredDistancesAreTheSameToRounding) {
  // Overconstrained linkages, and an arm half a radian away: on the last steps the distance falls by less than its rounding.
  for (const auto& [name, far] : {std::pair{"bricard", 1e-3}, {"three_rods", 1e-3}, {"arm7", 0.0}}) {
    Model model = read_model(std::string(MECHANICIAN_SOURCE_DIR "/models/") + name + ".toml");
    const ParameterValues parameters = evaluate_parameters(model);
    const State start = state_of(start_state(model, parameters));
    const System system(std::move(model), parameters.values);
    const unsigned seed = 7;
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> draw(-far, far);
    for (int trial = 0; trial < 6; ++trial) {
      State given = start;
      for (double& x : given.q) x += draw(random);
      if (far == 0.0) given.q(1) = 0.05 - 0.01 * trial;
      const Projection p = project(system, given);
      ASSERT_TRUE(p.converged) << name << ", seed " << seed << " trial " << trial;
      // M (q − q₀) is a combination of the rows.
      const Eigen::MatrixXd M = system.evaluate(given).values.M.to_dense(),
                            A = system.evaluate(p.state).values.A.to_dense();
      const Eigen::VectorXd force = M * (p.state.q - given.q);
      const Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> rows(A.transpose());
      EXPECT_LT((A.transpose() * rows.solve(force) - force).norm(), 1e-11 * (1.0 + force.norm()))
          << name << " trial " << trial;
      EXPECT_LT(system.evaluate(p.state).residual.cwiseAbs().maxCoeff(), 1e-12) << name << " trial " << trial;
    }
  }
}

TEST(Project, SaysWhichConstraintCannotBeMet) {
  Model model = particle(1, 1);
  model.add_constraint("impossible", pow(coordinate("x"), 2) + pow(coordinate("y"), 2), -1);
  const Projection p = project(System(model, {}), state(0, {0.3, 0.1}, {0, 0}));
  EXPECT_FALSE(p.converged);
  ASSERT_EQ(p.unmet.size(), 1u);
}

}  // namespace
}  // namespace mechanician
