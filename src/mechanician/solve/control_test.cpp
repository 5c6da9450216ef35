// Control requirements beside constraints, against the bordered system solved directly.
#include <gtest/gtest.h>

#include <limits>

#include "mechanician/solve/dense_values_for_test.hpp"
#include "mechanician/solve/eigen_decompositions.hpp"
#include "mechanician/solve/form.hpp"
#include "mechanician/solve/random_system_for_test.hpp"

namespace mechanician {
namespace {

using namespace mechanician::testing;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double eps = std::numeric_limits<double>::epsilon();

/// (q̈, λ̃) of M q̈ − Aᵀλ̃ = force, A q̈ = b; A of full row rank.
VectorXd solve_bordered(const MatrixXd& M, const MatrixXd& A, const VectorXd& force, const VectorXd& b) {
  const Index n = M.rows(), m = A.rows();
  MatrixXd K = MatrixXd::Zero(n + m, n + m);
  K.topLeftCorner(n, n) = M;
  K.topRightCorner(n, m) = -A.transpose();
  K.bottomLeftCorner(m, n) = A;
  VectorXd rhs(n + m);
  rhs << force, b;
  return K.fullPivLu().solve(rhs);
}

TEST(Control, forces_of_control_and_constraints_are_told_apart) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    std::mt19937_64 random(seed);
    SystemSpec spec = random_spec(random, 1.5, seed % 4 == 3);
    spec.num_redundant = 0;
    spec.log_row_scale = 0;
    if (spec.rank < 2) continue;
    const auto system = make_system(seed, spec);
    if (system.kappa_mass > 1e3) continue;
    SCOPED_TRACE(system.describe());
    testing::DenseValues v = system.values;
    v.num_control = random_int(random, 1, spec.rank - 1);
    const Index m = v.A.rows(), n = v.M.rows(), constraints = m - v.num_control;
    const VectorXd C = v.C.size() > 0 ? v.C : VectorXd(VectorXd::Zero(n));

    const VectorXd joint = solve_bordered(v.M, v.A, v.Q + C, v.b);
    const VectorXd ideal = solve_bordered(v.M, v.A, v.Q, v.b);
    const VectorXd Q_control = v.A.bottomRows(v.num_control).transpose() * joint.tail(v.num_control);
    const VectorXd Qc = v.M * joint.head(n) - v.Q - Q_control;
    const VectorXd Qc_i = v.A.topRows(constraints).transpose() * ideal.segment(n, constraints);

    const double kappa = std::max(system.kappa, system.kappa_euclid) * system.kappa_mass;
    const double tolerance = 500 * eps * kappa * kappa * (10.0 * system.size + v.Q.norm());
    for (const Form form : {Form::automatic, Form::f4, Form::f5}) {
      const Solution s = solve_with_form(v, form);
      ASSERT_EQ(s.status, SolveStatus::solved);
      EXPECT_NEAR((s.qdd - joint.head(n)).norm(), 0, tolerance);
      EXPECT_NEAR((s.Q_control - Q_control).norm(), 0, tolerance);
      EXPECT_NEAR((s.Qc - Qc).norm(), 0, tolerance);
      EXPECT_NEAR((s.Qc_i - Qc_i).norm(), 0, tolerance);
      EXPECT_NEAR((s.Qc_ni - (Qc - Qc_i)).norm(), 0, tolerance);
      EXPECT_EQ(s.multipliers.size(), constraints);
      EXPECT_TRUE(s.control_split_unique);
      EXPECT_NEAR((v.M * s.qdd - v.Q - s.Qc - s.Q_control).norm(), 0, tolerance);
    }
  }
}

TEST(Control, a_requirement_alone_gives_the_least_control_force) {  // U05 section 3
  testing::DenseValues v;
  v.M = Eigen::Vector2d(1, 4).asDiagonal();
  v.Q = Eigen::Vector2d(0, -8);
  v.A = Eigen::RowVector2d(1, 2);
  v.b = VectorXd::Constant(1, 2.0);
  v.num_control = 1;
  const Solution s = solve(v);
  // a = (0, −2), e = 6, A M⁻¹Aᵀ = 2, λ̃ = 3.
  EXPECT_NEAR((s.Q_control - Eigen::Vector2d(3, 6)).norm(), 0, 64 * eps);
  EXPECT_NEAR(s.Qc.norm(), 0, 64 * eps);
  EXPECT_EQ(s.multipliers.size(), 0);
  EXPECT_NEAR(s.control_multipliers(0), 3.0, 64 * eps);
}

TEST(Control, a_requirement_that_repeats_a_constraint_shares_its_force_and_says_so) {
  testing::DenseValues v;
  v.M = MatrixXd::Identity(2, 2);
  v.Q = Eigen::Vector2d(0, -10);
  v.A.resize(2, 2);
  v.A << 0, 1, 0, 1;
  v.b = Eigen::Vector2d::Zero();
  v.num_control = 1;
  const Solution s = solve(v);
  EXPECT_FALSE(s.control_split_unique);
  EXPECT_NEAR((s.Qc - Eigen::Vector2d(0, 5)).norm(), 0, 64 * eps);
  EXPECT_NEAR((s.Q_control - Eigen::Vector2d(0, 5)).norm(), 0, 64 * eps);
}

TEST(Control, dependence_within_one_kind_leaves_the_split_unique) {
  testing::DenseValues v;
  v.M = MatrixXd::Identity(3, 3);
  v.Q = Eigen::Vector3d(1, 2, 3);
  v.A.resize(4, 3);
  v.A << 1, 0, 0, 2, 0, 0, 0, 1, 1, 0, 3, 3;
  v.b = VectorXd::Zero(4);
  v.num_control = 2;
  const Solution s = solve(v);
  EXPECT_TRUE(s.control_split_unique);
  EXPECT_FALSE(s.multipliers_unique);
  EXPECT_NEAR((s.Qc - Eigen::Vector3d(-1, 0, 0)).norm(), 0, 64 * eps);
  EXPECT_NEAR((s.Q_control - Eigen::Vector3d(0, -2.5, -2.5)).norm(), 0, 64 * eps);
}

}  // namespace
}  // namespace mechanician
