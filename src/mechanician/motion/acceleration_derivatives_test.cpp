#include "mechanician/motion/acceleration_derivatives.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <limits>
#include <random>

#include "mechanician/motion/motion_for_test.hpp"
#include "mechanician/motion/random_model_for_test.hpp"
#include "mechanician/solve/eigen_decompositions.hpp"

namespace mechanician {
namespace {

using Complex = std::complex<double>;
constexpr double eps = std::numeric_limits<double>::epsilon();

/// ∂q̈/∂(q, q̇) by complex steps through the equations as they are written and a dense solution, for some rows of A.
Eigen::MatrixXd by_complex_steps(const System& system, const std::vector<int>& kept, double t, const double* y) {
  const Equations& eqs = system.equations();
  const Eigen::Index n = eqs.n(), m = static_cast<Eigen::Index>(kept.size());
  std::vector<Expr> inputs{eqs.t}, outputs;
  for (const auto* part : {&eqs.q, &eqs.qd, &eqs.parameters}) inputs.insert(inputs.end(), part->begin(), part->end());
  for (const auto& e : eqs.M.entries) outputs.push_back(e.value);
  for (const auto& e : eqs.A.entries) outputs.push_back(e.value);
  for (const auto* part : {&eqs.Q, &eqs.C, &eqs.b}) outputs.insert(outputs.end(), part->begin(), part->end());
  const Tape tape(outputs, inputs);
  std::vector<Eigen::Index> place(static_cast<std::size_t>(eqs.m()), -1);
  for (Eigen::Index k = 0; k < m; ++k) place[static_cast<std::size_t>(kept[static_cast<std::size_t>(k)])] = k;
  constexpr double tiny = 1e-100;
  Eigen::MatrixXd J(n, 2 * n);
  for (Eigen::Index col = 0; col < 2 * n; ++col) {
    std::vector<Complex> x{t};
    for (Eigen::Index i = 0; i < 2 * n; ++i) x.emplace_back(y[i], i == col ? tiny : 0.0);
    for (const double p : system.parameters()) x.emplace_back(p);
    const std::vector<Complex> v = tape(std::span<const Complex>(x));
    Eigen::MatrixXcd K = Eigen::MatrixXcd::Zero(n + m, n + m);
    Eigen::VectorXcd r(n + m);
    std::size_t k = 0;
    for (const auto& e : eqs.M.entries) K(e.row, e.col) = v[k++];
    for (const auto& e : eqs.A.entries) {
      const Eigen::Index j = place[static_cast<std::size_t>(e.row)];
      if (j >= 0) K(n + j, e.col) = v[k], K(e.col, n + j) = -v[k];
      ++k;
    }
    for (Eigen::Index i = 0; i < n; ++i) r(i) = v[k + static_cast<std::size_t>(i)];
    k += static_cast<std::size_t>(n);
    for (Eigen::Index i = 0; i < n; ++i) r(i) += v[k + static_cast<std::size_t>(i)];
    k += static_cast<std::size_t>(n);
    for (Eigen::Index j = 0; j < m; ++j) r(n + j) = v[k + static_cast<std::size_t>(kept[static_cast<std::size_t>(j)])];
    J.col(col) = K.partialPivLu().solve(r).eval().head(n).imag() / tiny;
  }
  return J;
}

TEST(AccelerationDerivatives, are_those_by_complex_steps_for_systems_of_every_kind) {
  const Features kinds[] = {
      {.holonomic = 0},
      {.holonomic = 2},
      {.matrices = true, .rheonomic = true},
      {.rheonomic = true, .holonomic = 2},
      {.holonomic = 1, .nonholonomic = 1},
      {.rheonomic = true, .holonomic = 0, .nonholonomic = 2, .nonlinear = true},
      {.rheonomic = true, .holonomic = 2, .nonholonomic = 1, .redundant = 1},
      {.rheonomic = true, .holonomic = 1, .nonholonomic = 1, .redundant = 1, .singular_mass = true},
      {.rheonomic = true, .holonomic = 1, .acceleration = true},
      {.rheonomic = true, .holonomic = 2, .nonideal = true},
      {.holonomic = 1, .nonideal = true, .control = 1}};
  int tried = 0;
  for (std::size_t kind = 0; kind < std::size(kinds); ++kind)
    for (unsigned seed = 1; seed <= 8; ++seed) {
      SCOPED_TRACE(testing::Message() << "kind " << kind << ", seed " << seed);
      const RandomSystem random(seed, kinds[kind]);
      if (!random.good()) continue;
      Dynamics dynamics(random.system);
      const std::vector<double> y = y_of(random.state(), dynamics.size());
      const double t = random.state().t;
      if (!dynamics.choose_rows(t, y.data()) || dynamics.all.condition() > 1e3) continue;
      // What control does is seen by differences.
      if (random.system.num_control() > 0) {
        EXPECT_FALSE(AccelerationDerivatives::are_known(dynamics));
        continue;
      }
      ASSERT_TRUE(AccelerationDerivatives::are_known(dynamics));
      AccelerationDerivatives exact(dynamics);
      const std::span<const double> state = std::span(y).first(static_cast<std::size_t>(2 * dynamics.n()));
      ASSERT_TRUE(exact.linearise(t, state, {}));
      const Eigen::MatrixXd J = by_complex_steps(random.system, dynamics.all.kept, t, y.data());
      ++tried;

      // Products, and Newton's system with steps short and long.
      const Eigen::Index n = dynamics.n();
      std::mt19937 numbers(seed);
      Eigen::VectorXd x(2 * n), product(n);
      for (double& a : x) a = std::uniform_real_distribution<double>(-1.0, 1.0)(numbers);
      ASSERT_TRUE(exact.factor(0.0));
      exact.apply(x.data(), x.data() + n, product.data());
      EXPECT_LT((product - J * x).norm(), 1e5 * eps * (1.0 + J.norm()) * dynamics.all.condition());
      Eigen::MatrixXd whole = Eigen::MatrixXd::Zero(2 * n, 2 * n);
      whole.topRightCorner(n, n).setIdentity();
      whole.bottomRows(n) = J;
      for (const double gamma : {1e-3, 0.1, 10.0}) {
        const Eigen::MatrixXd K = Eigen::MatrixXd::Identity(2 * n, 2 * n) - gamma * whole;
        if (K.norm() * K.inverse().norm() > 1e6) continue;
        Eigen::VectorXd r = x;
        ASSERT_TRUE(exact.factor(gamma));
        exact.solve({r.data(), static_cast<std::size_t>(2 * n)});
        EXPECT_LT((K * r - x).norm(), 1e5 * eps * K.norm() * (1.0 + r.norm()) * dynamics.all.condition()) << gamma;
      }
    }
  EXPECT_GT(tried, 60);
}

TEST(AccelerationDerivatives, follow_the_sides_that_are_held) {
  const Loaded model(R"toml(
coordinates = ["x", "y"]
[dynamics]
kinetic = "(1 + abs(x))*x'^2/2 + y'^2/2"
force = { x = "-abs(y)*x'", y = "max(x, y)*y" }
[start]
position = { x = 0.5, y = -0.3 }
velocity = { x = 0.2, y = 0.4 }
)toml");
  Dynamics dynamics(model.system);
  const std::vector<double> y = y_of(model.start, dynamics.size());
  std::vector<double> g(dynamics.sides().size());
  for (int round = 0; round < 4; ++round)
    if (!dynamics.calc_switches(0.0, y.data(), g) || !update_sides(g, dynamics.sides())) break;
  ASSERT_TRUE(dynamics.choose_rows(0.0, y.data()));
  AccelerationDerivatives exact(dynamics);
  ASSERT_TRUE(exact.linearise(0.0, std::span(y).first(4), {}) && exact.factor(0.0));
  // On these sides (1 + x) ẍ = −ẋ²/2 + y ẋ, ÿ = x y.
  const double x = 0.5, v = 0.2, yy = -0.3, a = (-v * v / 2 + yy * v) / (1 + x);
  const double dx[] = {1.0, 0.0}, dy[] = {0.0, 1.0}, none[] = {0.0, 0.0};
  double out[2];
  exact.apply(dx, none, out);
  EXPECT_NEAR(out[0], -a / (1 + x), 4 * eps);
  EXPECT_NEAR(out[1], yy, 4 * eps);
  exact.apply(dy, none, out);
  EXPECT_NEAR(out[0], v / (1 + x), 4 * eps);
  EXPECT_NEAR(out[1], x, 4 * eps);
  exact.apply(none, dx, out);
  EXPECT_NEAR(out[0], (-v + yy) / (1 + x), 4 * eps);
  EXPECT_NEAR(out[1], 0.0, 4 * eps);
}

TEST(AccelerationDerivatives, are_not_known_where_C_depends_on_reactions_or_rows_are_measured) {
  for (const Features& kind : {Features{.holonomic = 1, .reactions = true}, Features{.holonomic = 1, .measured = 1}}) {
    const RandomSystem random(1, kind);
    ASSERT_TRUE(random.good());
    Dynamics dynamics(random.system);
    ASSERT_TRUE(dynamics.choose_rows(random.state().t, y_of(random.state(), dynamics.size()).data()));
    EXPECT_FALSE(AccelerationDerivatives::are_known(dynamics));
  }
}

}  // namespace
}  // namespace mechanician
