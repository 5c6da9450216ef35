#include "mechanician/solve/one_sided_sparse.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "mechanician/solve/dense_values_for_test.hpp"
#include "mechanician/solve/factorisation.hpp"
#include "mechanician/solve/one_sided_oracle_for_test.hpp"
#include "mechanician/solve/random_system_for_test.hpp"
#include "mechanician/solve/row_selection.hpp"

namespace mechanician {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

std::vector<Index> all_rows(Index m) {
  std::vector<Index> rows(static_cast<std::size_t>(m));
  std::iota(rows.begin(), rows.end(), Index{0});
  return rows;
}

std::vector<bool> flags(Index m, const std::vector<Index>& rows) {
  std::vector<bool> result(static_cast<std::size_t>(m), false);
  for (const Index j : rows) result[j] = true;
  return result;
}

TEST(SparseOneSided, agrees_with_the_enumeration_of_sets_wherever_it_answers) {
  int num_answers = 0, num_feasible = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto seed = static_cast<std::uint64_t>(50000 + i);
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    auto spec = testing::random_programme_spec(seed);
    spec.mass_defect = 0;
    const auto [v, one_sided] = testing::make_programme(seed, spec);
    const auto expected = testing::enumerate_sets(v, one_sided);
    num_feasible += expected.found;
    const auto s = try_solve_sparse(v, flags(v.b.size(), one_sided), one_sided);
    if (!s) continue;
    ++num_answers;
    ASSERT_EQ(expected.found, s->solution.has_acceleration());
    if (!expected.found) continue;
    EXPECT_LE((s->solution.qdd - expected.qdd).cwiseAbs().maxCoeff(), 1e-11 * (1 + expected.qdd.cwiseAbs().maxCoeff()));
    EXPECT_EQ(s->holding, expected.zero);
    for (const Index j : one_sided) EXPECT_GE(s->multipliers_joint(j), 0.0);
    EXPECT_LE(s->optimality.largest(), 1e-12);
  }
  EXPECT_GT(num_answers, num_feasible * 8 / 10);
}

TEST(SparseOneSided, says_the_same_as_the_dense_solution_with_the_same_rows) {
  int num_compared = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    auto spec = testing::random_programme_spec(seed);
    spec.mass_defect = 0;
    spec.feasible = true;
    const auto [v, one_sided] = testing::make_programme(seed, spec);
    const auto s = try_solve_sparse(v, flags(v.b.size(), one_sided), one_sided);
    if (!s) continue;
    std::vector<Index> rows;
    for (Index j = 0; j < v.b.size(); ++j) {
      const bool sided = std::find(one_sided.begin(), one_sided.end(), j) != one_sided.end();
      if (!sided || std::binary_search(s->holding.begin(), s->holding.end(), j)) rows.push_back(j);
    }
    Solution dense = solve(take_rows(v, rows));
    const double size = 1 + dense.qdd.norm() + dense.Qc.norm();
    EXPECT_LE((s->solution.qdd - dense.qdd).norm(), 1e-11 * size);
    EXPECT_LE((s->solution.Qc - dense.Qc).norm(), 1e-10 * size);
    EXPECT_LE((s->solution.Qc_i - dense.Qc_i).norm(), 1e-10 * size);
    EXPECT_LE((s->solution.Qc_ni - dense.Qc_ni).norm(), 1e-10 * size);
    EXPECT_NEAR(*s->solution.gaussian, *dense.gaussian, 1e-9 * size * size);
    EXPECT_LE((*s->solution.a - *dense.a).norm(), 1e-11 * size);
    EXPECT_EQ(s->solution.rank, dense.rank);
    EXPECT_EQ(s->solution.multipliers_unique, dense.multipliers_unique);
    Solution numbered = dense;
    restore_rows(numbered, rows, v);
    EXPECT_EQ(s->solution.multipliers_undetermined, numbered.multipliers_undetermined);
    // The same least-norm multipliers, where these are not negative anyway.
    bool negative = false;
    for (const Index j : one_sided) negative = negative || numbered.multipliers(j) < 0;
    ++num_compared;
    if (negative) continue;
    EXPECT_LE((s->solution.multipliers - numbered.multipliers).norm(), 1e-9 * (1 + dense.multipliers.norm()));
  }
  EXPECT_GT(num_compared, 200);
}

TEST(SparseOneSided, two_hundred_balls_in_a_tube_carry_each_other) {
  const Index num = 200;
  testing::DenseValues v;
  v.M = MatrixXd::Identity(num, num);
  v.Q = VectorXd::Constant(num, -9.81);
  v.A = MatrixXd::Identity(num, num);
  for (Index i = 1; i < num; ++i) v.A(i, i - 1) = -1;
  v.b = VectorXd::Zero(num);
  const auto s = solve_one_sided(v, all_rows(num));
  ASSERT_TRUE(s.solution.has_acceleration());
  EXPECT_EQ(s.holding, all_rows(num));
  EXPECT_LE(s.solution.qdd.cwiseAbs().maxCoeff(), 1e-11);
  for (Index i = 0; i < num; ++i) {
    EXPECT_NEAR(s.solution.multipliers(i), 9.81 * static_cast<double>(num - i), 1e-10);
  }
  // A push from below at ball 100 as large as what it carries: the floor and the lower balls keep their own weight.
  v.Q(100) += 9.81 * 100 + 50;
  const auto pushed = solve_one_sided(v, all_rows(num));
  ASSERT_TRUE(pushed.solution.has_acceleration());
  EXPECT_EQ(pushed.holding.size(), 199u);
  EXPECT_NEAR(pushed.solution.qdd(150), 0.5, 1e-12);
  EXPECT_NEAR(pushed.slack(100), 0.5, 1e-12);
  EXPECT_NEAR(pushed.solution.multipliers(0), 9.81 * 100, 1e-10);
}

TEST(SparseOneSided, random_contacts_between_many_masses_meet_the_conditions_of_optimality) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const Index n = 60, m = testing::random_int(random, 30, 90);
    testing::DenseValues v;
    v.M = VectorXd::Ones(n).asDiagonal();
    v.Q = testing::random_vector(random, n);
    v.A = MatrixXd::Zero(m, n);
    for (Index j = 0; j < m; ++j) {
      v.A(j, testing::random_int(random, 0, n - 1)) += 1;
      v.A(j, testing::random_int(random, 0, n - 1)) -= 1;
      if (v.A.row(j).isZero(0.0)) v.A(j, 0) = 1;
    }
    v.b = VectorXd::Zero(m);
    const auto s = solve_one_sided(v, all_rows(m));
    ASSERT_TRUE(s.solution.has_acceleration());
    const VectorXd slack = v.A * s.solution.qdd;
    EXPECT_GE(slack.minCoeff(), -1e-12);
    EXPECT_GE(s.multipliers_joint.minCoeff(), 0.0);
    EXPECT_LE(slack.cwiseProduct(s.multipliers_joint).cwiseAbs().maxCoeff(), 1e-11);
    EXPECT_LE((s.solution.qdd - v.Q - v.A.transpose() * s.multipliers_joint).norm(), 1e-11);
  }
}

TEST(SparseOneSided, a_contradiction_among_many_rows_is_named) {
  const Index num = 60;
  testing::DenseValues v;
  v.M = MatrixXd::Identity(num, num);
  v.Q = VectorXd::Zero(num);
  v.A = MatrixXd::Zero(num + 1, num);
  v.A.topRows(num).setIdentity();
  v.A(num, 7) = -1;
  v.b = VectorXd::Zero(num + 1);
  v.b(num) = 1;  // q₇ ≥ 0 and −q₇ ≥ 1
  const auto s = solve_one_sided(v, all_rows(num + 1));
  EXPECT_EQ(s.solution.status, SolveStatus::inconsistent);
  EXPECT_EQ(s.conflict, (std::vector<Index>{7, num}));
}

}  // namespace
}  // namespace mechanician
