// The laws of control on random systems, and values worked out by hand.
#include "mechanician/instant/control.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "mechanician/model/parameters.hpp"
#include "mechanician/model/read_model.hpp"
#include "mechanician/solve/eigen_decompositions.hpp"

namespace mechanician {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

Instant at_start(const std::string& text, const AccelerateOptions& options = {}) {
  const Model model = read_model_text(text, "test.toml");
  const System system(model, evaluate_parameters(model).values);
  return accelerate(system, system.start(), options);
}

const std::string crane = R"(
coordinates = ["trolley", "x", "y"]
[dynamics]
kinetic   = "5*trolley'^2 + (x'^2 + y'^2)/2"
potential = "9.81*y"
[constraints]
rope = "(x - trolley)^2 + y^2 = 4"
[control.load]
equation  = "x = 0.5*t"
frequency = 2.0
[start]
position = { x = -1.2, y = -1.6 }
)";

TEST(ControlInstant, the_crane_gets_the_least_force_beside_its_rope) {
  const Instant now = at_start(crane);
  ASSERT_TRUE(now.has_acceleration());
  EXPECT_LE((now.solution.Q_control - Eigen::Vector3d(1.20079505, 2.25482625, -1.60106006)).norm(), 2e-8);
  EXPECT_NEAR(now.control->cost, 7.791826, 1e-6);
  // It does not press on the rope: force and multiplier are those without control.
  const std::string without = crane.substr(0, crane.find("[control")) + crane.substr(crane.find("[start]"));
  const Instant alone = at_start(without);
  EXPECT_LE((now.solution.Qc - alone.solution.Qc).norm(), 1e-13 * alone.solution.Qc.norm());
  EXPECT_NEAR(now.solution.multipliers(0), alone.solution.multipliers(0), 1e-13);
}

TEST(ControlInstant, an_actuator_on_the_trolley_alone) {
  const Instant now = at_start(crane + "[actuators]\nwinch = { trolley = \"1\" }\n");
  ASSERT_TRUE(now.has_acceleration());
  EXPECT_NEAR(now.control->tau(0), 64.888889, 1e-6);
  EXPECT_NEAR(now.control->cost, 64.888889 * 64.888889, 2e-4);
  EXPECT_LE((now.solution.Q_control - Eigen::Vector3d(now.control->tau(0), 0, 0)).norm(), 1e-12);
  // e″ + 4e′ + 4e = 0 with e = −1.2, e′ = −0.5: x″ = 6.8.
  EXPECT_NEAR(now.solution.qdd(1), 6.8, 1e-12);
}

struct Random {
  std::mt19937_64 random;
  double real(double from, double to) { return std::uniform_real_distribution<double>(from, to)(random); }
  int whole(int from, int to) { return std::uniform_int_distribution<int>(from, to)(random); }
  VectorXd vector(Index n) {
    VectorXd x(n);
    for (double& e : x) e = real(-1, 1);
    return x;
  }
};

/// A system of numbers alone: rows on accelerations.
struct Numbers {
  MatrixXd M, A1, A2, E;
  VectorXd Q, C, b1, b2;
  bool with_C = false;

  Instant solve() const {
    Model model;
    const Index n = M.rows();
    std::vector<Expr> q;
    for (Index i = 0; i < n; ++i) q.push_back(model.add_coordinate(fmt::format("q{}", i)));
    model.mass.assign(static_cast<std::size_t>(n), std::vector<Expr>(static_cast<std::size_t>(n)));
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j) model.mass[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = M(i, j);
    const auto row = [&](const Eigen::RowVectorXd& a) {
      Expr sum = 0.0;
      for (Index i = 0; i < n; ++i) sum = sum + Expr(a(i)) * ddot(q[static_cast<std::size_t>(i)]);
      return sum;
    };
    for (Index i = 0; i < n; ++i) model.add_force(q[static_cast<std::size_t>(i)], Q(i));
    for (Index i = 0; i < n && with_C; ++i) model.add_nonideal(q[static_cast<std::size_t>(i)], C(i));
    for (Index j = 0; j < A1.rows(); ++j) model.add_constraint(fmt::format("c{}", j), row(A1.row(j)), b1(j));
    for (Index j = 0; j < A2.rows(); ++j) model.add_control(fmt::format("r{}", j), row(A2.row(j)), b2(j));
    for (Index k = 0; k < E.cols(); ++k) model.add_actuator(fmt::format("a{}", k), row(E.col(k).transpose()));
    const System system(std::move(model), {});
    return accelerate(system, system.start());
  }
};

MatrixXd null_space(const MatrixXd& A) {
  const Eigen::FullPivLU<MatrixXd> lu(A);
  return A.rows() == 0 ? MatrixXd(MatrixXd::Identity(A.cols(), A.cols())) : MatrixXd(lu.kernel());
}

Numbers draw(Random& random, bool singular) {
  Numbers s;
  const int n = random.whole(3, 7), m = random.whole(1, n - 2), p = random.whole(1, n - m);
  MatrixXd L = MatrixXd::Zero(n, n);
  for (double& x : L.reshaped()) x = random.real(-1, 1);
  s.M = L * L.transpose() + 0.3 * MatrixXd::Identity(n, n);
  s.A1.resize(m, n), s.A2.resize(p, n), s.E.resize(n, 0);
  for (double& x : s.A1.reshaped()) x = random.real(-1, 1);
  for (double& x : s.A2.reshaped()) x = random.real(-1, 1);
  s.M = 0.5 * (s.M + s.M.transpose()).eval();
  if (singular) {
    // A coordinate without mass, which the first row holds.
    s.M.row(n - 1).setZero(), s.M.col(n - 1).setZero();
    s.A1(0, n - 1) = 1.5;
  }
  s.Q = random.vector(n), s.C = random.vector(n), s.b1 = random.vector(m), s.b2 = random.vector(p);
  if (singular) s.C(n - 1) = 0.0;
  return s;
}

TEST(ControlInstant, laws_on_random_systems) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random{std::mt19937_64(seed)};
    Numbers s = draw(random, seed % 5 == 4);
    s.with_C = seed % 2 == 1;
    const Index n = s.M.rows(), m = s.A1.rows(), p = s.A2.rows();
    MatrixXd all(m + p, n);
    all << s.A1, s.A2;
    const Eigen::JacobiSVD<MatrixXd> svd(all);
    if (svd.singularValues().tail(1)(0) < 0.05) continue;
    const Instant now = s.solve();
    ASSERT_TRUE(now.has_acceleration());
    const VectorXd &qdd = now.solution.qdd, &u = now.solution.Q_control;
    const double size = 1e-11 * (1 + qdd.norm() + u.norm());
    EXPECT_LE((s.A1 * qdd - s.b1).norm(), size);
    EXPECT_LE((s.A2 * qdd - s.b2).norm(), size);
    const VectorXd Qc = s.M * qdd - s.Q - u;
    EXPECT_LE((now.solution.Qc - Qc).norm(), 10 * size);
    EXPECT_LE((now.solution.Qc_i + now.solution.Qc_ni - Qc).norm(), 10 * size);
    // vᵀ(Qc − C) = 0 for A₁v = 0.
    const MatrixXd V = null_space(s.A1);
    EXPECT_LE((V.transpose() * (Qc - (s.with_C ? s.C : VectorXd(VectorXd::Zero(n))))).norm(), 10 * size * V.norm());
    // Optimal: Δ with M Δ = u, A₁Δ = 0, and M-orthogonal to all that neither constraints nor requirements see.
    Numbers without = s;
    without.A2.resize(0, n), without.b2.resize(0);
    const VectorXd delta = qdd - without.solve().solution.qdd;
    EXPECT_LE((s.A1 * delta).norm(), 10 * size);
    EXPECT_LE((s.M * delta - u).norm(), 10 * size);
    if (all.rows() < n) {
      const MatrixXd free = null_space(all);
      EXPECT_LE((free.transpose() * u).norm(), 10 * size * free.norm());
    }
    EXPECT_NEAR(now.control->cost, delta.dot(s.M * delta), 10 * size * (1 + u.norm()));
    // The requirements written another way that means the same on the constraints.
    Numbers other = s;
    const double factor = random.real(-2, 2);
    other.A2.row(0) += factor * s.A1.row(0), other.b2(0) += factor * s.b1(0);
    const Instant again = other.solve();
    EXPECT_LE((again.solution.Q_control - u).norm(), 100 * size);
    EXPECT_LE((again.solution.Qc - now.solution.Qc).norm(), 100 * size);
  }
}

TEST(ControlInstant, actuators_meet_requirements_with_the_least_effort) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random{std::mt19937_64(5000 + seed)};
    Numbers s = draw(random, false);
    const Index n = s.M.rows(), m = s.A1.rows(), p = s.A2.rows();
    s.E.resize(n, std::min<Index>(n, p + random.whole(0, 2)));
    for (double& x : s.E.reshaped()) x = random.real(-1, 1);
    // [M −A₁ᵀ; A₁ 0] solved directly for each actuator: A₂ N E.
    MatrixXd K = MatrixXd::Zero(n + m, n + m);
    K.topLeftCorner(n, n) = s.M, K.topRightCorner(n, m) = -s.A1.transpose(), K.bottomLeftCorner(m, n) = s.A1;
    MatrixXd right = MatrixXd::Zero(n + m, s.E.cols() + 1);
    right.topLeftCorner(n, s.E.cols()) = s.E;
    right.col(s.E.cols()) << s.Q, s.b1;
    const MatrixXd x = K.fullPivLu().solve(right);
    const MatrixXd G = s.A2 * x.topLeftCorner(n, s.E.cols());
    const Eigen::JacobiSVD<MatrixXd> svd(G, Eigen::ComputeThinU | Eigen::ComputeThinV);
    if (G.cols() < p || svd.singularValues()(p - 1) < 0.02) continue;
    ++compared;
    const VectorXd tau = svd.solve(VectorXd(s.b2 - s.A2 * x.col(s.E.cols()).head(n)));
    const Instant now = s.solve();
    ASSERT_TRUE(now.has_acceleration());
    EXPECT_LE((now.control->tau - tau).norm(), 1e-9 * (1 + tau.norm()));
    EXPECT_LE((s.A2 * now.solution.qdd - s.b2).norm(), 1e-9 * (1 + tau.norm()));
    EXPECT_LE((s.A1 * now.solution.qdd - s.b1).norm(), 1e-9 * (1 + tau.norm()));
    EXPECT_LE((now.solution.Q_control - s.E * tau).norm(), 1e-9 * (1 + tau.norm()));
    EXPECT_NEAR(now.control->cost, tau.squaredNorm(), 1e-8 * (1 + tau.squaredNorm()));
  }
  EXPECT_GT(compared, 60);
}

const std::string block = R"(
coordinates = ["x", "y"]
[dynamics]
kinetic = "x'^2/2 + y'^2"
force = { y = "-1" }
)";

TEST(ControlInstant, what_no_actuator_influences_is_refused_by_name) {
  const std::string text =
      block + "[actuators]\nmotor = { x = \"1\" }\n[control.height]\nequation = \"y = 1\"\nfrequency = 1\n";
  const Instant now = at_start(text);
  EXPECT_FALSE(now.has_acceleration());
  EXPECT_EQ(now.solution.status, SolveStatus::requirements_not_met);
  ASSERT_EQ(now.control->refused.size(), 1u);
  EXPECT_EQ(now.control->refused[0].rows, std::vector<Index>{0});
  // e = −1: ÿ = 1 is asked for, −1/2 is what there is.
  EXPECT_NEAR(now.control->refused[0].missing, 1.5, 1e-12);
  const Instant soft = at_start(text + "weight = 2\n");
  ASSERT_TRUE(soft.has_acceleration());
  EXPECT_FALSE(soft.control->met[0]);
}

TEST(ControlInstant, limits_keep_efforts_and_name_what_is_missed) {
  const Instant now = at_start(block + R"([actuators]
a = { x = "1", limit = 2 }
b = { x = "1", limit = [-1, 0.5] }
[control.reach]
equation = "x = 3"
frequency = 1
)");
  ASSERT_TRUE(now.has_acceleration());
  EXPECT_NEAR(now.control->tau(0), 2.0, 1e-12);
  EXPECT_NEAR(now.control->tau(1), 0.5, 1e-12);
  EXPECT_NEAR(now.solution.qdd(0), 2.5, 1e-12);
  EXPECT_FALSE(now.control->met[0]);
  EXPECT_NEAR(now.control->missing(0), 0.5, 1e-12);
}

TEST(ControlInstant, a_one_sided_requirement_acts_only_when_it_must) {
  const std::string text = block + "[control.floor]\nequation = \"y >= 0.2\"\nfrequency = 1\n[start]\n";
  // e = 9.8: nothing to do.
  const Instant far = at_start(text + "position = { y = 10.0 }\n");
  EXPECT_LE(far.solution.Q_control.norm(), 1e-14);
  EXPECT_TRUE(far.control->met[0]);
  // e = 0, e′ = −1: ÿ ≥ 2 is asked for.
  const Instant near = at_start(text + "position = { y = 0.2 }\nvelocity = { y = -1.0 }\n");
  EXPECT_NEAR(near.solution.qdd(1), 2.0, 1e-12);
}

TEST(ControlInstant, a_free_force_leaves_requirements_met_and_is_control_force) {
  const Instant now = at_start(block + R"([control.reach]
equation = "x + y = 1"
frequency = 1
[control]
free = { x = "0.3", y = "-0.7" }
)");
  ASSERT_TRUE(now.has_acceleration());
  EXPECT_NEAR(now.solution.qdd(0) + now.solution.qdd(1), 1.0, 1e-12);
  // z less what the requirement feels of it: M N A₂ᵀ(A₂NA₂ᵀ)⁺A₂N z, M = diag(1, 2), A₂ = (1, 1).
  const Eigen::Vector2d z(0.3, -0.7);
  const Eigen::Vector2d across = Eigen::Vector2d(1, 1) * ((0.3 - 0.35) / 1.5);
  const Eigen::Vector2d least = Eigen::Vector2d(1, 1) * ((1.0 + 0.5) / 1.5);
  EXPECT_LE((now.solution.Q_control - (least + z - across)).norm(), 1e-12);
  EXPECT_LE(now.solution.Qc.norm(), 1e-12);
}

TEST(ControlInstant, laws_of_the_error) {
  const Instant now = at_start(block + R"([control.reach]
equation = "x = 1"
law = "2*e'' + 3*tanh(e') + e = 0"
[start]
velocity = { x = 0.5 }
)");
  EXPECT_NEAR(now.solution.qdd(0), -(3 * std::tanh(0.5) - 1.0) / 2, 1e-14);
}

TEST(ControlInstant, actuators_beside_friction_meet_the_requirement_with_the_friction_that_they_make) {
  // A block pressed on the floor by the actuator that pulls it: N = m g + τ/2, friction 0.4 N against the slip.
  const Instant now = at_start(R"(
coordinates = ["x", "y"]
[dynamics]
kinetic = "x'^2 + y'^2"
potential = "20*y"
[constraints]
floor = { equation = "y = 0", friction = 0.4, slip = "x'" }
[actuators]
rope = { x = "1", y = "-0.5" }
[control.speed]
equation = "x' = 1"
frequency = 3
[start]
velocity = { x = 0.5 }
)");
  ASSERT_TRUE(now.has_acceleration());
  const double qdd = -3 * (0.5 - 1.0);
  // 2 ẍ = τ − 0.4(20 + τ/2).
  EXPECT_NEAR(now.control->tau(0), (2 * qdd + 0.4 * 20) / (1 - 0.2), 1e-9);
  EXPECT_NEAR(now.solution.qdd(0), qdd, 1e-10);
}

TEST(ControlInstant, a_nominal_model_decides_on_the_force) {
  const Instant now = at_start(R"(
coordinates = ["x"]
[parameters]
m = 2.0
[dynamics]
kinetic = "m*x'^2/2"
[control.reach]
equation = "x = 1"
frequency = 1
[nominal]
m = 1.5
)");
  EXPECT_NEAR(now.solution.Q_control(0), 1.5, 1e-14);
  EXPECT_NEAR(now.solution.qdd(0), 0.75, 1e-14);
}

}  // namespace
}  // namespace mechanician
