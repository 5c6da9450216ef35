// Measured rows, against the stacked system of U97 eq. (37), (38) and against normal equations with a border.
#include "mechanician/solve/weighted.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "mechanician/base/trials_for_test.hpp"
#include "mechanician/solve/dense_values_for_test.hpp"
#include "mechanician/solve/eigen_decompositions.hpp"
#include "mechanician/solve/form.hpp"
#include "mechanician/solve/pseudo_inverse.hpp"
#include "mechanician/solve/random_system_for_test.hpp"

namespace mechanician {
namespace {

using namespace mechanician::testing;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double eps = std::numeric_limits<double>::epsilon();

MatrixXd random_weights(std::mt19937_64& random, Index size) {
  const MatrixXd G = random_matrix(random, size, size);
  return G * G.transpose() / static_cast<double>(size) + MatrixXd::Identity(size, size);
}

TEST(Weighted, agrees_with_the_stacked_system_of_u97) {
  int count = 0;
  for (std::uint64_t seed = 0; seed < num_trials(300); ++seed) {
    std::mt19937_64 random(seed);
    SystemSpec spec = random_spec(random, 1.0, false);
    spec.log_row_scale = 0;
    if (spec.rank == 0) continue;
    spec.num_redundant = random_int(random, 1, 3);
    auto system = make_system(seed, spec);
    SCOPED_TRACE(system.describe());
    testing::DenseValues v = system.values;
    const Index n = v.M.rows(), m = v.A.rows(), k = spec.rank;
    v.b += random_vector(random, m);  // contradicts now
    for (Index j = 0; j < m; ++j) v.measured.push_back(j);
    v.W = random_weights(random, m);
    const VectorXd C = v.C.size() > 0 ? v.C : VectorXd(VectorXd::Zero(n));

    // L r = s, r = (q̈_s, Fᶜ_s), weights block diagonal.
    const auto [root, inv_root] = calc_mass_roots(v.M);
    const MatrixXd B = v.A * inv_root;
    const MatrixXd V = null_basis_by_svd(B, k);
    MatrixXd L = MatrixXd::Zero(n + m + (n - k), 2 * n);
    L.topLeftCorner(n, n).setIdentity();
    L.topRightCorner(n, n) = -MatrixXd::Identity(n, n);
    L.block(n, 0, m, n) = B;
    L.bottomRightCorner(n - k, n) = V.transpose();
    VectorXd s(L.rows());
    s << inv_root * v.Q, v.b, V.transpose() * (inv_root * C);
    MatrixXd W = MatrixXd::Identity(L.rows(), L.rows());
    W.topLeftCorner(n, n) = random_weights(random, n);
    W.block(n, n, m, m) = v.W;
    const VectorXd r = (L.transpose() * W * L).fullPivLu().solve(L.transpose() * W * s);
    const VectorXd want = inv_root * r.head(n);

    const double kappa = system.kappa * system.kappa_mass * 10.0;
    const double size = want.norm() + v.Q.norm() + C.norm() + v.b.norm();
    for (const Form form : {Form::automatic, Form::f1, Form::f5}) {
      const Solution got = solve_with_form(v, form);
      ASSERT_EQ(got.status, SolveStatus::solved);
      EXPECT_FALSE(got.consistent);
      EXPECT_NEAR((got.qdd - want).norm(), 0, 1000 * eps * kappa * kappa * size);
      EXPECT_NEAR((got.Qc - root * r.tail(n)).norm(), 0, 1000 * eps * kappa * kappa * size * 10);
      EXPECT_NEAR((v.A * got.qdd - got.b_used).norm(), 0, 1000 * eps * kappa * size);
    }
    ++count;
  }
  EXPECT_GT(count, static_cast<int>(num_trials(200)));
}

TEST(Weighted, rows_without_weight_hold_exactly_and_gauss_decides_the_rest) {
  int count = 0;
  for (std::uint64_t seed = 0; seed < num_trials(400); ++seed) {
    std::mt19937_64 random(seed + 1000);
    const bool singular = seed % 3 == 2;
    SystemSpec spec = random_spec(random, 1.0, singular);
    spec.log_row_scale = 0;
    if (spec.rank < 2) continue;
    spec.num_redundant = random_int(random, 1, 4);
    auto system = make_system(seed, spec);
    if (system.kappa_mass > 100) continue;
    SCOPED_TRACE(system.describe());
    testing::DenseValues v = system.values;
    const Index n = v.M.rows(), m = v.A.rows();
    // Exact rows: independent ones. They are found by rank, measured rows are the rest.
    std::vector<Index> exact;
    for (Index j = 0; j < m; ++j) {
      MatrixXd rows(static_cast<Index>(exact.size()) + 1, n);
      for (std::size_t i = 0; i < exact.size(); ++i) rows.row(static_cast<Index>(i)) = v.A.row(exact[i]);
      rows.bottomRows(1) = v.A.row(j);
      const VectorXd values = singular_values(rows);
      const bool independent = values.size() == rows.rows() && values(values.size() - 1) > 1e-8;
      if (static_cast<int>(exact.size()) < spec.rank - 1 && independent && random_int(random, 0, 1) == 0) {
        exact.push_back(j);
      } else {
        v.measured.push_back(j);
      }
    }
    const auto num_measured = static_cast<Index>(v.measured.size());
    const auto num_exact = static_cast<Index>(exact.size());
    MatrixXd A_w(num_measured, n), A_e(num_exact, n);
    VectorXd b_w(num_measured), b_e(num_exact);
    for (Index i = 0; i < num_measured; ++i) {
      v.b(v.measured[static_cast<std::size_t>(i)]) += random_real(random, -1.0, 1.0);
      A_w.row(i) = v.A.row(v.measured[static_cast<std::size_t>(i)]);
      b_w(i) = v.b(v.measured[static_cast<std::size_t>(i)]);
    }
    for (Index i = 0; i < num_exact; ++i) {
      A_e.row(i) = v.A.row(exact[static_cast<std::size_t>(i)]);
      b_e(i) = v.b(exact[static_cast<std::size_t>(i)]);
    }
    v.W = random_weights(random, num_measured);

    // Minimum over the exact rows: [AwᵀWAw Aeᵀ; Ae 0], least norm; then Gauss over its null space.
    MatrixXd K = MatrixXd::Zero(n + num_exact, n + num_exact);
    K.topLeftCorner(n, n) = A_w.transpose() * v.W * A_w;
    K.topRightCorner(n, num_exact) = A_e.transpose();
    K.bottomLeftCorner(num_exact, n) = A_e;
    VectorXd rhs(n + num_exact);
    rhs << A_w.transpose() * (v.W * b_w), b_e;
    const VectorXd some = (pinv_by_svd(K, spec.rank + num_exact) * rhs).head(n);
    MatrixXd stacked(m, n);
    stacked << A_e, A_w;
    const MatrixXd V2 = null_basis_by_svd(stacked, spec.rank);
    const VectorXd force = v.C.size() > 0 ? VectorXd(v.Q + v.C) : v.Q;
    VectorXd want = some;
    if (V2.cols() > 0)
      want += V2 * (V2.transpose() * v.M * V2).fullPivLu().solve(V2.transpose() * (force - v.M * some));

    const Solution got = solve(v);
    ASSERT_EQ(got.status, SolveStatus::solved);
    const double kappa = system.kappa * system.kappa_mass * 10.0;
    const double size = want.norm() + force.norm() + v.b.norm();
    EXPECT_NEAR((got.qdd - want).norm(), 0, 1000 * eps * kappa * kappa * size);
    EXPECT_NEAR((A_e * got.qdd - b_e).norm(), 0, 1000 * eps * kappa * size);
    ++count;
  }
  EXPECT_GT(count, static_cast<int>(num_trials(150)));
}

TEST(Weighted, weights_have_no_influence_on_consistent_rows) {
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(num_systems(1000)); ++seed) {
    const auto system = make_random_system(seed, 3.0, seed % 3 == 2);
    if (system.kappa_mass > 1e3) continue;
    SCOPED_TRACE(system.describe());
    std::mt19937_64 random(seed);
    testing::DenseValues v = system.values;
    const Solution plain = solve(v);
    for (Index j = 0; j < v.A.rows(); j += 2) v.measured.push_back(j);
    v.W = random_weights(random, static_cast<Index>(v.measured.size()));
    const Solution weighted = solve(v);
    ASSERT_EQ(weighted.status, SolveStatus::solved);
    EXPECT_TRUE(weighted.consistent);
    const double kappa = system.kappa * system.kappa_mass * 10.0;
    EXPECT_NEAR((weighted.qdd - plain.qdd).norm(), 0, 1000 * eps * kappa * kappa * system.size);
  }
}

TEST(Weighted, two_gauges_of_very_different_trust) {
  testing::DenseValues v;
  v.M = MatrixXd::Identity(2, 2);
  v.Q = Eigen::Vector2d(0, 3);
  v.A.resize(2, 2);
  v.A << 1, 0, 1, 0;
  v.b = Eigen::Vector2d(1, 2);
  v.measured = {1, 0};
  v.W = Eigen::Vector2d(1e-12, 1e12).asDiagonal();  // the second row is hardly trusted
  const Solution s = solve(v);
  EXPECT_NEAR(s.qdd(0), 1.0, 16 * eps);
  EXPECT_NEAR(s.qdd(1), 3.0, 16 * eps);
  EXPECT_FALSE(s.consistent);
  EXPECT_FALSE(s.least_squares.has_value());
}

TEST(Weighted, exact_rows_that_contradict_have_no_acceleration_whatever_the_weights) {
  testing::DenseValues v;
  v.M = MatrixXd::Identity(1, 1);
  v.Q = VectorXd::Zero(1);
  v.A = MatrixXd::Ones(3, 1);
  v.b = Eigen::Vector3d(1, 2, 3);
  v.measured = {2};
  v.W = MatrixXd::Identity(1, 1);
  EXPECT_EQ(solve(v).status, SolveStatus::inconsistent);
}

TEST(Weighted, weights_must_be_symmetric_and_positive_definite) {
  testing::DenseValues v;
  v.M = MatrixXd::Identity(2, 2);
  v.Q = VectorXd::Zero(2);
  v.A = MatrixXd::Identity(2, 2);
  v.b = Eigen::Vector2d(1, 2);
  v.measured = {0, 1};
  v.W.resize(2, 2);
  v.W << 1, 2, 2, 1;
  EXPECT_EQ(solve(v).status, SolveStatus::weights_not_definite);
  v.W << 1, 0.5, 0, 1;
  EXPECT_EQ(solve(v).status, SolveStatus::weights_not_definite);
  v.W << 1, 0, 0, 0;
  EXPECT_EQ(solve(v).status, SolveStatus::weights_not_definite);
  v.W << 1, 0.5, 0.5, 1;
  EXPECT_EQ(solve(v).status, SolveStatus::solved);
}

}  // namespace
}  // namespace mechanician
