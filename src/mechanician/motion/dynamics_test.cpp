#include "mechanician/motion/dynamics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "mechanician/instant/accelerate.hpp"
#include "mechanician/motion/motion_for_test.hpp"
#include "mechanician/motion/random_model_for_test.hpp"
#include "mechanician/solve/pseudo_inverse.hpp"

// Every allocation of the program is counted, Eigen's too; the sanitizers keep malloc to themselves.
#if !defined(MECHANICIAN_SANITIZED)
namespace {
thread_local long num_allocations = 0;
}
extern "C" {
void* __libc_malloc(std::size_t size);
void* malloc(std::size_t size) {
  ++num_allocations;
  return __libc_malloc(size);
}
}
#endif

namespace mechanician {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double eps = std::numeric_limits<double>::epsilon();

struct Kind {
  const char* name;
  Features features;
  bool sparse = false;  ///< by elimination, though it is small
};
std::ostream& operator<<(std::ostream& out, const Kind& kind) { return out << kind.name; }

const std::vector<Kind> kinds{
    {"free", {.holonomic = 0}},
    {"holonomic", {}},
    {"matrices", {.matrices = true, .holonomic = 2}},
    {"moving", {.rheonomic = true, .holonomic = 2}},
    {"moving_by_matrices", {.matrices = true, .rheonomic = true}},
    {"nonholonomic", {.holonomic = 1, .nonholonomic = 1}},
    {"nonlinear", {.rheonomic = true, .holonomic = 0, .nonholonomic = 2, .nonlinear = true}},
    {"redundant", {.rheonomic = true, .holonomic = 2, .nonholonomic = 1, .redundant = 1}},
    {"redundant_at_rest", {.holonomic = 1, .nonholonomic = 1, .redundant = 2}},
    {"singular_mass", {.holonomic = 1, .singular_mass = true}},
    {"singular_mass_moving",
     {.rheonomic = true, .holonomic = 1, .nonholonomic = 1, .redundant = 1, .singular_mass = true}},
    {"singular_mass_by_matrices",
     {.matrices = true, .rheonomic = true, .holonomic = 1, .singular_mass = true, .nonideal = true}},
    {"accelerations", {.rheonomic = true, .holonomic = 1, .acceleration = true}},
    {"nonideal", {.rheonomic = true, .holonomic = 1, .nonholonomic = 1, .nonideal = true}},
    {"reactions", {.rheonomic = true, .holonomic = 2, .reactions = true}},
    {"reactions_redundant", {.rheonomic = true, .holonomic = 2, .redundant = 1, .reactions = true}},
    {"control", {.rheonomic = true, .holonomic = 1, .control = 2}},
    {"control_nonideal", {.rheonomic = true, .holonomic = 1, .nonholonomic = 1, .reactions = true, .control = 1}},
    {"control_singular_mass", {.holonomic = 1, .singular_mass = true, .control = 1}},
    {"measured", {.rheonomic = true, .holonomic = 1, .measured = 2}},
    {"measured_everything",
     {.rheonomic = true, .holonomic = 1, .nonholonomic = 1, .reactions = true, .control = 1, .measured = 2}},
    {"contradicting", {.rheonomic = true, .holonomic = 1, .measured = 1, .contradicting = 2}},
    {"measured_sparse", {.rheonomic = true, .holonomic = 1, .measured = 2}, true},
    {"measured_redundant_sparse", {.rheonomic = true, .holonomic = 2, .redundant = 1, .measured = 1}, true},
    {"measured_everything_sparse",
     {.rheonomic = true, .holonomic = 1, .nonholonomic = 1, .reactions = true, .control = 1, .measured = 2},
     true},
    {"contradicting_sparse", {.rheonomic = true, .holonomic = 1, .measured = 2, .contradicting = 3}, true},
    {"contradicting_everything_sparse",
     {.rheonomic = true,
      .holonomic = 2,
      .nonholonomic = 1,
      .redundant = 1,
      .nonideal = true,
      .control = 1,
      .measured = 1,
      .contradicting = 2},
     true},
};

/// Every kind with several seeds, at a state on its constraints.
class DynamicsTest : public testing::TestWithParam<Kind> {
 protected:
  static constexpr unsigned num_seeds = 6;

  /// check(system, state, dynamics), rows chosen and sides set.
  template <class Check>
  void each_system(Check&& check) {
    unsigned tried = 0;
    for (unsigned seed = 1; seed <= num_seeds; ++seed) {
      SCOPED_TRACE(testing::Message() << GetParam().name << ", seed " << seed);
      const RandomSystem random(seed, GetParam().features);
      if (!random.good()) continue;
      const Instant instant = accelerate(random.system, random.state(), {.parts = true});
      if (!instant.has_acceleration() || instant.solution.rank_doubtful) continue;
      auto values = std::make_unique<WrittenEquations>(random.system);
      auto factors = GetParam().sparse ? make_sparse_kkt(values->facts()) : nullptr;
      Dynamics dynamics(std::move(values), std::move(factors));
      const std::vector<double> y = y_of(random.state(), dynamics.size());
      ASSERT_TRUE(dynamics.choose_rows(random.state().t, y.data()));
      // Models here have a switch only in abs(ideal(…)): its sides follow the forces.
      for (int round = 0; round < 2; ++round) {
        std::vector<double> g(dynamics.switches().size());
        ASSERT_TRUE(dynamics.calc_switches(random.state().t, y.data(), g));
        update_sides(g, dynamics.sides());
      }
      if (dynamics.all.condition() > 1e5) continue;
      ++tried;
      check(random.system, random.state(), instant, dynamics);
    }
    EXPECT_GE(tried, num_seeds / 2);
  }

  /// What rounding may do to accelerations and forces of a system.
  static double allowed(const Dynamics& dynamics, const Instant& instant) {
    const double condition = dynamics.all.condition() * (dynamics.singular_mass() ? 100.0 : 1.0);
    double size = 1.0 + instant.values.Q.cwiseAbs().maxCoeff() + instant.solution.qdd.cwiseAbs().maxCoeff();
    if (instant.solution.multipliers.size() > 0) size += instant.solution.multipliers.cwiseAbs().maxCoeff();
    return 1e3 * eps * condition * size;
  }
};

INSTANTIATE_TEST_SUITE_P(kinds, DynamicsTest, testing::ValuesIn(kinds),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

VectorXd map(const double* x, Eigen::Index size) { return Eigen::Map<const VectorXd>(x, size); }

TEST_P(DynamicsTest, accelerations_are_those_of_the_instant) {
  each_system([](const System& system, const State& state, const Instant& instant, Dynamics& dynamics) {
    const int n = system.n();
    const std::vector<double> y = y_of(state, dynamics.size());
    std::vector<double> dy(y.size());
    ASSERT_TRUE(dynamics.rhs(state.t, y.data(), dy.data()));
    EXPECT_EQ(map(dy.data(), n), state.qd);
    EXPECT_LT((map(dy.data() + n, n) - instant.solution.qdd).cwiseAbs().maxCoeff(), allowed(dynamics, instant));
    EXPECT_EQ(map(dynamics.qdd().data(), n), map(dy.data() + n, n));
  });
}

TEST_P(DynamicsTest, powers_are_those_of_the_instant_and_add_up) {
  each_system([](const System& system, const State& state, const Instant& instant, Dynamics& dynamics) {
    const int n = system.n();
    const std::vector<double> y = y_of(state, dynamics.size());
    std::vector<double> dy(y.size());
    ASSERT_TRUE(dynamics.rhs(state.t, y.data(), dy.data()));
    const double* power = dy.data() + 2 * n;
    const double tolerance = allowed(dynamics, instant) * (1.0 + state.qd.cwiseAbs().sum());
    const PowerParts& expected = *instant.parts->power;
    EXPECT_NEAR(power[1], expected.ideal, tolerance);
    EXPECT_NEAR(power[2], expected.nonideal, tolerance);
    EXPECT_NEAR(power[3], expected.control, tolerance);
    for (int j = 0; j < dynamics.num_constraints(); ++j)
      EXPECT_NEAR(power[4 + j], expected.by_row(j), tolerance) << "row " << j;

    // given = q̇ᵀQ + ½ q̇ᵀṀ q̇, Ṁ by differences along the motion.
    const double h = 1e-5;
    const auto M_at = [&](double s) {
      return system.evaluate({state.t + s, state.q + s * state.qd, state.qd}).values.M.to_dense();
    };
    const MatrixXd Md = (M_at(h) - M_at(-h)) / (2.0 * h);
    const double given = state.qd.dot(instant.values.Q) + 0.5 * state.qd.dot(Md * state.qd);
    EXPECT_NEAR(power[0], given, 1e-8 * (1.0 + std::abs(given)));
    // d/dt ½ q̇ᵀM q̇
    const double rate = state.qd.dot(instant.values.M * instant.solution.qdd) + 0.5 * state.qd.dot(Md * state.qd);
    EXPECT_NEAR(power[0] + power[1] + power[2] + power[3], rate, 1e-8 * (1.0 + std::abs(rate)));
    EXPECT_NEAR(dynamics.last_kinetic(y.data()), 0.5 * state.qd.dot(instant.values.M * state.qd), 1e-13);
  });
}

TEST_P(DynamicsTest, samples_have_the_forces_and_multipliers_of_the_instant) {
  each_system([](const System&, const State& state, const Instant& instant, Dynamics& dynamics) {
    const std::vector<double> y = y_of(state, dynamics.size());
    const auto sample = dynamics.calc_sample(state.t, y.data());
    ASSERT_TRUE(sample);
    const Solution& s = instant.solution;
    const double tolerance = allowed(dynamics, instant);
    const auto near = [&](const VectorXd& a, const VectorXd& b) {
      return a.size() == b.size() && (a.size() == 0 || (a - b).cwiseAbs().maxCoeff() <= tolerance);
    };
    EXPECT_TRUE(near(sample->qdd, s.qdd));
    EXPECT_TRUE(near(sample->Qc, s.Qc)) << sample->Qc.transpose() << "\n" << s.Qc.transpose();
    EXPECT_TRUE(near(sample->Qc_i, s.Qc_i)) << sample->Qc_i.transpose() << "\n" << s.Qc_i.transpose();
    EXPECT_TRUE(near(sample->Qc_ni, s.Qc_ni)) << sample->Qc_ni.transpose() << "\n" << s.Qc_ni.transpose();
    EXPECT_TRUE(near(sample->Q_control, s.Q_control));
    EXPECT_TRUE(near(sample->lambda, s.multipliers)) << sample->lambda.transpose() << "\n" << s.multipliers.transpose();
    const auto m = static_cast<Eigen::Index>(dynamics.num_constraints());
    EXPECT_TRUE(near(sample->power, s.multipliers.cwiseProduct((instant.values.A * state.qd).head(m))));
    EXPECT_NEAR(sample->residual, instant.constraint_residual, 1e-13);
  });
}

/// A state off the constraints by about `far`.
std::vector<double> moved_off(const State& state, double far, int size, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> y = y_of(state, size);
  for (Eigen::Index i = 0; i < 2 * state.q.size(); ++i) y[i] += far * normal(random);
  return y;
}

TEST_P(DynamicsTest, projection_is_the_nearest_state_in_the_mass_norm) {
  each_system([](const System& system, const State& state, const Instant&, Dynamics& dynamics) {
    const int n = system.n();
    for (const double far : {1e-3, 1e-6}) {
      std::vector<double> y = moved_off(state, far, dynamics.size(), 5);
      const State given{state.t, map(y.data(), n), map(y.data() + n, n)};
      const auto done = dynamics.project(state.t, y.data());
      ASSERT_TRUE(done.ok);
      const VectorXd q = map(y.data(), n), qd = map(y.data() + n, n);
      // On the constraints.
      const Evaluation there = system.evaluate({state.t, q, qd});
      for (int j = 0; j < system.m(); ++j) {
        const RowTraits& row = system.row(j);
        if (row.kind == RowKind::control || row.measured || row.level == Level::acceleration) continue;
        EXPECT_LT(std::abs(there.residual(j)), 1e-13) << "row " << j;
        EXPECT_LT(std::abs(there.rate(j)), 1e-13) << "row " << j;
      }
      // The nearest, up to the curvature of the constraints.
      const Projection nearest = project(system, given);
      ASSERT_TRUE(nearest.converged);
      const double curved = 100.0 * far * far * dynamics.all.condition() + 1e3 * eps * dynamics.all.condition();
      EXPECT_LT((q - nearest.state.q).cwiseAbs().maxCoeff(), curved);
      EXPECT_LT((qd - nearest.state.qd).cwiseAbs().maxCoeff(), curved);
      // What was moved is reported.
      const VectorXd size = q.cwiseAbs().cwiseMax(given.q.cwiseAbs()).cwiseMax(map(dynamics.sizes.near_q.data(), n));
      EXPECT_NEAR(done.moved_q, (q - given.q).cwiseAbs().cwiseQuotient(size).maxCoeff(), 0.1 * far);
    }
  });
}

TEST_P(DynamicsTest, projecting_twice_moves_nothing) {
  each_system([](const System&, const State& state, const Instant&, Dynamics& dynamics) {
    std::vector<double> y = moved_off(state, 1e-4, dynamics.size(), 6);
    ASSERT_TRUE(dynamics.project(state.t, y.data()).ok);
    const std::vector<double> once = y;
    const auto again = dynamics.project(state.t, y.data());
    ASSERT_TRUE(again.ok);
    EXPECT_LT(std::max(again.moved_q, again.moved_qd), 64.0 * eps * dynamics.all.condition());
  });
}

TEST_P(DynamicsTest, what_is_tangential_stays_and_what_is_normal_goes) {
  each_system([](const System& system, const State& state, const Instant& instant, Dynamics& dynamics) {
    const int n = system.n();
    std::vector<int> held;
    for (int j = 0; j < system.m(); ++j) {
      const RowTraits& row = system.row(j);
      if (row.kind == RowKind::constraint && !row.measured && row.level != Level::acceleration) held.push_back(j);
    }
    MatrixXd A(static_cast<Eigen::Index>(held.size()), n);
    for (std::size_t k = 0; k < held.size(); ++k)
      A.row(static_cast<Eigen::Index>(k)) = instant.values.A.to_dense().row(held[k]);
    const std::vector<double> y = y_of(state, dynamics.size());
    std::mt19937_64 random(7);
    std::normal_distribution<double> normal;
    VectorXd v(n);
    for (int i = 0; i < n; ++i) v(i) = normal(random);
    VectorXd w = v;
    ASSERT_TRUE(dynamics.project_tangent(state.t, y.data(), w.data()));
    const double rounding = 1e3 * eps * dynamics.all.condition();
    if (!held.empty()) {
      EXPECT_LT((A * w).cwiseAbs().maxCoeff(), rounding);
    }
    // v − w is normal in the mass norm: M(v − w) has nothing along the null space of A.
    const MatrixXd V2 = null_space_basis(A, static_cast<Eigen::Index>(dynamics.velocities.kept.size()));
    EXPECT_LT((V2.transpose() * (instant.values.M * (v - w))).cwiseAbs().maxCoeff(), rounding * 10.0);
    // Tangential vectors stay, where mass or the constraints determine every direction.
    VectorXd twice = w;
    ASSERT_TRUE(dynamics.project_tangent(state.t, y.data(), twice.data()));
    EXPECT_LT((twice - w).cwiseAbs().maxCoeff(), rounding * 10.0);
  });
}

TEST_P(DynamicsTest, violations_are_those_of_the_instant) {
  each_system([](const System& system, const State& state, const Instant&, Dynamics& dynamics) {
    const int n = system.n();
    const std::vector<double> y = moved_off(state, 1e-2, dynamics.size(), 8);
    const State off{state.t, map(y.data(), n), map(y.data() + n, n)};
    const Evaluation now = system.evaluate(off);
    double position = 0.0, velocity = 0.0, measured = 0.0, scaled = 0.0;
    for (const RowResidual& r : calc_residuals(system, off, now)) {
      double& level = !r.of_rate && system.row(r.row).level == Level::position ? position : velocity;
      level = std::max(level, std::abs(r.value));
      scaled = std::max(scaled, r.scaled);
    }
    for (int j = 0; j < system.m(); ++j)
      if (system.row(j).measured) measured = std::max(measured, std::abs(now.residual(j)));
    const auto found = dynamics.calc_violation(state.t, y.data());
    EXPECT_NEAR(found.position, position, 1e-13);
    EXPECT_NEAR(found.velocity, velocity, 1e-13);
    EXPECT_NEAR(found.measured, measured, 1e-13);
    // Alike: what coordinates weigh is that of the state here, and a mean over states around it there.
    EXPECT_LE(found.scaled, 1e-13 + 10.0 * scaled);
    EXPECT_GE(found.scaled, 0.1 * scaled - 1e-13);
  });
}

#if !defined(MECHANICIAN_SANITIZED)
/// Measured rows go through the general solver, which allocates.
class InnerLoop : public DynamicsTest {};
INSTANTIATE_TEST_SUITE_P(kinds, InnerLoop, testing::ValuesIn([] {
                           std::vector<Kind> fast;
                           std::copy_if(kinds.begin(), kinds.end(), std::back_inserter(fast),
                                        [](const Kind& kind) { return kind.features.measured == 0; });
                           return fast;
                         }()),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

TEST_P(InnerLoop, allocates_nothing) {
  each_system([](const System&, const State& state, const Instant&, Dynamics& dynamics) {
    std::vector<double> y = moved_off(state, 1e-5, dynamics.size(), 9), dy(y.size()), v(y);
    ASSERT_TRUE(dynamics.rhs(state.t, y.data(), dy.data()));
    ASSERT_TRUE(dynamics.project(state.t, y.data()).ok);
    y[0] += 1e-6, y[y.size() / 2] += 1e-6;
    const long before = num_allocations;
    const bool ok = dynamics.rhs(state.t + 1e-3, y.data(), dy.data()) && dynamics.project(state.t, y.data()).ok &&
                    dynamics.project_tangent(state.t, y.data(), v.data()) &&
                    (dynamics.all.kept.empty() || dynamics.choose_rows(state.t, y.data())) &&
                    dynamics.rhs(state.t, y.data(), dy.data());
    dynamics.calc_violation(state.t, y.data());
    EXPECT_EQ(num_allocations - before, 0);
    EXPECT_TRUE(ok);
  });
}

TEST(Dynamics, the_count_of_allocations_counts) {
  const long before = num_allocations;
  std::vector<double> vector(1000);
  MatrixXd matrix = MatrixXd::Random(30, 30);
  EXPECT_EQ(num_allocations - before, 2) << vector.size() + static_cast<std::size_t>(matrix.size());
}
#endif

TEST(Dynamics, rows_kept_are_held_while_stages_are_evaluated) {
  // Two parallel rows: which of them acts is chosen once; contradicting numbers in the other change nothing.
  const Loaded model(R"toml(
coordinates = ["x", "y"]
[dynamics]
mass = { x = 1, y = 2 }
force = { y = "-9.81" }
[constraints]
a = "x + y = 0"
b = "2*x + 2*y = 0"
)toml");
  Dynamics dynamics(model.system);
  const std::vector<double> y = y_of(model.start, dynamics.size());
  ASSERT_TRUE(dynamics.choose_rows(0.0, y.data()));
  EXPECT_EQ(dynamics.all.kept, std::vector<int>{0});
  EXPECT_EQ(dynamics.positions.kept, dynamics.velocities.kept);
}

TEST(Dynamics, not_finite_values_are_noticed_and_left_alone) {
  const Loaded model(R"toml(
coordinates = ["x", "y"]
[dynamics]
mass = { x = 1, y = 2 }
force = { y = "sqrt(x)" }
[constraints]
a = "y = log(x)"
[start]
position = { x = 1 }
)toml");
  Dynamics dynamics(model.system);
  std::vector<double> y = y_of(model.start, dynamics.size()), dy(y.size());
  ASSERT_TRUE(dynamics.choose_rows(0.0, y.data()));
  EXPECT_TRUE(dynamics.rhs(0.0, y.data(), dy.data()));
  y[0] = -1.0;
  EXPECT_FALSE(dynamics.rhs(0.0, y.data(), dy.data()));
  EXPECT_FALSE(dynamics.choose_rows(0.0, y.data()));
  EXPECT_FALSE(dynamics.project(0.0, y.data()).ok);
  y[0] = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(dynamics.rhs(0.0, y.data(), dy.data()));
}

TEST(Dynamics, massless_directions_that_no_constraint_holds_move_least) {
  // u has neither mass nor position-level row: projection of positions leaves it, velocities are held by the rate row.
  const Loaded model(R"toml(
coordinates = ["x", "y", "u"]
[dynamics]
mass = { x = 1, y = 4, u = 0 }
[constraints]
line = "x + 2*y = 1"
rate = "u' = x' - y"
[start]
position = { x = 1 }
)toml");
  Dynamics dynamics(model.system);
  std::vector<double> y = y_of(model.start, dynamics.size());
  ASSERT_TRUE(dynamics.choose_rows(0.0, y.data()));
  EXPECT_TRUE(dynamics.singular_mass());
  y[0] = 1.1, y[1] = 0.2, y[2] = 0.7;
  y[3] = 0.3, y[4] = 0.1, y[5] = -0.5;
  ASSERT_TRUE(dynamics.project(0.0, y.data()).ok);
  // δ = −M⁻¹Aᵀ r/(A M⁻¹Aᵀ) with A = (1, 2), M⁻¹ = diag(1, ¼): r = 0.5, A M⁻¹Aᵀ = 2.
  const double rounding = 1e4 * eps;
  EXPECT_NEAR(y[0], 1.1 - 0.25, rounding);
  EXPECT_NEAR(y[1], 0.2 - 0.125, rounding);
  EXPECT_NEAR(y[2], 0.7, 1e-9);
  // ẋ, ẏ nearest with ẋ + 2ẏ = 0; u̇ = ẋ − y costs nothing.
  EXPECT_NEAR(y[3], 0.3 - 0.25, rounding);
  EXPECT_NEAR(y[4], 0.1 - 0.125, rounding);
  EXPECT_NEAR(y[5], y[3] - y[1], rounding);
}

TEST(Dynamics, balance_of_energy_holds_along_the_motion_by_differences) {
  // d/dt ½q̇ᵀM q̇ over a short time against the powers in its middle, for energies and for matrices.
  for (const bool matrices : {false, true})
    for (unsigned seed = 1; seed <= 6; ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << (matrices ? ", matrices" : ", energies"));
      const RandomSystem random(
          seed,
          {.matrices = matrices, .rheonomic = true, .holonomic = 1, .nonholonomic = 1, .nonideal = true, .control = 1});
      if (!random.good()) continue;
      Dynamics dynamics(random.system);
      const State& s = random.state();
      const int n = random.system.n();
      const std::vector<double> y = y_of(s, dynamics.size());
      std::vector<double> dy(y.size());
      ASSERT_TRUE(dynamics.choose_rows(s.t, y.data()) && dynamics.rhs(s.t, y.data(), dy.data()));
      if (dynamics.all.condition() > 1e4) continue;
      const VectorXd qdd = map(dy.data() + n, n);
      // q̈ is known at the middle: q and q̇ to second and first order there are enough for a central difference.
      const double h = 1e-5 / (1.0 + qdd.cwiseAbs().maxCoeff());
      const auto kinetic = [&](double tau) {
        const VectorXd q = s.q + tau * s.qd + 0.5 * tau * tau * qdd, qd = s.qd + tau * qdd;
        return 0.5 * qd.dot(random.system.evaluate({s.t + tau, q, qd}).values.M * qd);
      };
      const double sum = dy[2 * n] + dy[2 * n + 1] + dy[2 * n + 2] + dy[2 * n + 3];
      EXPECT_NEAR((kinetic(h) - kinetic(-h)) / (2.0 * h), sum,
                  1e-7 * (1.0 + std::abs(sum) + qdd.cwiseAbs().maxCoeff()));
    }
}

}  // namespace
}  // namespace mechanician
