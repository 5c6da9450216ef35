// Friction with a largest force of its own is convex: accelerations minimise ½ q̈ᵀM q̈ − q̈ᵀQ + Σ F‖T q̈ − b‖ over the rows that hold. So
// the conditions of the minimum are enough, and there is one answer.

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "mechanician/base/trials_for_test.hpp"
#include "mechanician/solve/coulomb.hpp"
#include "mechanician/solve/dense_values_for_test.hpp"
#include "mechanician/solve/random_system_for_test.hpp"

namespace mechanician {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::random_int;
using testing::random_real;

MatrixXd random_matrix(std::mt19937_64& random, Index rows, Index cols) {
  MatrixXd X(rows, cols);
  for (double& x : X.reshaped()) x = random_real(random, -1.0, 1.0);
  return X;
}

TEST(CoulombLimit, meets_the_conditions_of_the_minimum_on_random_systems) {
  int stuck = 0, slid = 0;
  for (unsigned trial = 0; trial < num_trials(400); ++trial) {
    const std::uint64_t seed = 20261117u + trial;
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const Index n = random_int(random, 2, 6), m = random_int(random, 0, 1), count = random_int(random, 1, 4);
    testing::DenseValues v;
    const MatrixXd B = random_matrix(random, n, n);
    v.M = B * B.transpose() + MatrixXd::Identity(n, n);
    v.Q = 5.0 * random_matrix(random, n, 1);
    v.A = random_matrix(random, m, n);
    v.b = random_matrix(random, m, 1);
    std::vector<FrictionContact> contacts;
    std::vector<MatrixXd> T;
    bool several_planes = false;
    for (Index c = 0; c < count; ++c) {
      const Index k = !several_planes ? random_int(random, 1, 2) : 1;
      several_planes |= k == 2;
      FrictionContact contact;
      // Beside a row it has nothing to do with its multiplier.
      contact.row = m > 0 && c == 0 && random_int(random, 0, 1) == 1 ? 0 : -1;
      contact.limit = random_real(random, 0.1, 3.0);
      T.push_back(random_matrix(random, k, n));
      contact.T = T.back();
      contact.slip_b = 0.3 * random_matrix(random, k, 1);
      if (random_int(random, 0, 3) == 0) contact.direction = VectorXd(random_matrix(random, k, 1)).normalized();
      contacts.push_back(contact);
    }
    const CoulombSolution solution = solve_coulomb(v, {}, contacts);
    ASSERT_EQ(solution.status, SolveStatus::solved);
    ASSERT_TRUE(solution.answer) << solution.description;
    EXPECT_NE(solution.count, CoulombSolution::Count::several) << solution.description;
    const CoulombAnswer& answer = *solution.answer;
    VectorXd force = v.Q;
    if (m > 0) force += v.A.transpose() * answer.multipliers;
    for (std::size_t c = 0; c < contacts.size(); ++c) {
      const VectorXd f = answer.friction[c], s = T[c] * answer.qdd - contacts[c].slip_b;
      force += T[c].transpose() * f;
      const double F = contacts[c].limit;
      if (contacts[c].direction.size() > 0) {
        EXPECT_NEAR((f + F * contacts[c].direction).norm(), 0.0, 1e-9);
      } else if (s.norm() > 1e-8) {
        EXPECT_NEAR((f + F * s.normalized()).norm(), 0.0, 1e-6 * F);
        ++slid;
      } else {
        EXPECT_LE(f.norm(), F * (1.0 + 1e-9));
        ++stuck;
      }
    }
    EXPECT_LE((v.M * answer.qdd - force).norm(), 1e-8 * (1.0 + force.norm()));
    if (m > 0) {
      EXPECT_LE((v.A * answer.qdd - v.b).norm(), 1e-9 * (1.0 + answer.qdd.norm()));
    }
  }
  const int least = static_cast<int>(num_trials(400) / 8);  // so that the conditions of both have been looked at
  EXPECT_GT(stuck, least);
  EXPECT_GT(slid, least);
}

TEST(CoulombLimit, refuses_a_coefficient_without_a_normal_force) {
  testing::DenseValues v;
  v.M = MatrixXd::Identity(1, 1), v.Q = VectorXd::Ones(1), v.A = MatrixXd(0, 1), v.b = VectorXd(0);
  FrictionContact contact;
  contact.row = -1, contact.mu = 0.3, contact.T = MatrixXd(MatrixXd::Identity(1, 1)),
  contact.slip_b = VectorXd::Zero(1);
  EXPECT_THROW(solve_coulomb(v, {}, {contact}), std::invalid_argument);
}

}  // namespace
}  // namespace mechanician
