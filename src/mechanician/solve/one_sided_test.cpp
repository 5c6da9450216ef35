#include "mechanician/solve/one_sided.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "mechanician/base/trials_for_test.hpp"
#include "mechanician/solve/dense_values_for_test.hpp"
#include "mechanician/solve/one_sided_oracle_for_test.hpp"
#include "mechanician/solve/random_system_for_test.hpp"

namespace mechanician {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::make_programme;
using testing::random_programme_spec;

std::vector<Index> all_rows(Index m) {
  std::vector<Index> rows(static_cast<std::size_t>(m));
  std::iota(rows.begin(), rows.end(), Index{0});
  return rows;
}

/// q̈ and λ̃ meet the conditions of optimality, looked at afresh in the coordinates as given.
void expect_optimal(const testing::DenseValues& v, const std::vector<Index>& one_sided, const OneSidedSolution& s,
                    double tolerance) {
  ASSERT_EQ(s.slack.size(), static_cast<Index>(one_sided.size()));
  const VectorXd& lambda = s.multipliers_joint;
  VectorXd rest = v.M * s.solution.qdd - v.Q - v.A.transpose() * lambda;
  if (v.C.size() > 0) rest -= v.C;
  const double forces = 1 + v.Q.cwiseAbs().maxCoeff() + (v.M * s.solution.qdd).cwiseAbs().maxCoeff() +
                        (v.A.cwiseAbs().transpose() * lambda.cwiseAbs()).maxCoeff();
  EXPECT_LE(rest.cwiseAbs().maxCoeff(), tolerance * forces);
  const VectorXd slack = v.A * s.solution.qdd - v.b;
  const double size = 1 + v.b.cwiseAbs().maxCoeff() + (v.A.cwiseAbs() * s.solution.qdd.cwiseAbs()).maxCoeff();
  for (Index j = 0; j < v.b.size(); ++j) {
    const auto at = std::find(one_sided.begin(), one_sided.end(), j);
    if (at == one_sided.end()) {
      EXPECT_NEAR(slack(j), 0.0, tolerance * size);
      continue;
    }
    const double reported = s.slack(at - one_sided.begin());
    EXPECT_GE(reported, 0.0);
    EXPECT_NEAR(slack(j), reported, tolerance * size);
    EXPECT_GE(lambda(j), 0.0);
    const bool holds = std::binary_search(s.holding.begin(), s.holding.end(), j);
    EXPECT_TRUE(holds ? reported == 0.0 : lambda(j) == 0.0);
  }
  EXPECT_LE(s.optimality.largest(), tolerance);
}

void expect_conflict(const testing::DenseValues& v, const std::vector<Index>& one_sided, const OneSidedSolution& s) {
  ASSERT_FALSE(s.conflict.empty());
  VectorXd y = VectorXd::Zero(v.b.size());
  for (std::size_t i = 0; i < s.conflict.size(); ++i) y(s.conflict[i]) = s.conflict_coefficients(static_cast<Index>(i));
  EXPECT_LE((v.A.transpose() * y).cwiseAbs().maxCoeff(), 1e-9 * (1 + v.A.cwiseAbs().maxCoeff()));
  for (const Index j : one_sided) EXPECT_GE(y(j), 0.0);
  EXPECT_GT(y.dot(v.b), 0.0);
  // None can be left out.
  for (const Index left_out : s.conflict) {
    testing::DenseValues fewer = v;
    fewer.M = MatrixXd::Identity(v.M.rows(), v.M.cols());
    fewer.A.setZero();
    fewer.b.setZero();
    for (const Index j : s.conflict) {
      if (j == left_out) continue;
      fewer.A.row(j) = v.A.row(j);
      fewer.b(j) = v.b(j);
    }
    EXPECT_TRUE(testing::enumerate_sets(fewer, one_sided).found) << "without row " << left_out;
  }
}

testing::DenseValues unit_masses(const VectorXd& Q, const MatrixXd& A, const VectorXd& b) {
  testing::DenseValues v;
  v.M = MatrixXd::Identity(Q.size(), Q.size());
  v.Q = Q;
  v.A = A;
  v.b = b;
  return v;
}

TEST(OneSided, a_thousand_random_programmes_agree_with_the_enumeration_of_sets) {
  int num_solved = 0, num_infeasible = 0, num_open = 0, num_balanced = 0;
  const int num = 1000;
  for (int i = 0; i < num; ++i) {
    const auto seed = static_cast<std::uint64_t>(1000 + i);
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    const auto spec = random_programme_spec(seed);
    const auto [v, one_sided] = make_programme(seed, spec);
    const auto expected = testing::enumerate_sets(v, one_sided);
    for (const bool none : {false, true}) {
      const OneSidedSolution s = solve_one_sided(v, one_sided, {.guess_none = none});
      if (!expected.found) {
        EXPECT_FALSE(s.solution.has_acceleration());
        if (s.solution.status == SolveStatus::inconsistent) {
          expect_conflict(v, one_sided, s);
          ++num_infeasible;
        } else {
          EXPECT_GT(spec.mass_defect, 0);
        }
      } else if (!expected.unique) {
        EXPECT_EQ(s.solution.status, SolveStatus::not_unique);
        ++num_open;
      } else {
        ASSERT_EQ(s.solution.status, SolveStatus::solved) << describe(s.solution.status) << " " << spec.mass_defect;
        expect_optimal(v, one_sided, s, 1e-12);
        const double size = 1 + expected.qdd.cwiseAbs().maxCoeff();
        EXPECT_LE((s.solution.qdd - expected.qdd).cwiseAbs().maxCoeff(), 1e-11 * size);
        EXPECT_EQ(s.holding, expected.zero);
        ++num_solved;
        for (const Index row : s.holding) num_balanced += s.multipliers_joint(row) == 0.0;
      }
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(num_solved, num);
  EXPECT_GT(num_infeasible, num / 20);
  EXPECT_GT(num_open, 0);
  EXPECT_GT(num_balanced, num / 20);
}

TEST(OneSided, singular_masses_are_determined_open_or_without_an_answer_as_the_enumeration_says) {
  int num_solved = 0, num_open = 0, num_none = 0;
  for (std::uint64_t seed = 1; seed <= num_trials(1000); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    auto spec = random_programme_spec(seed);
    spec.n = std::min(spec.n, 3);
    spec.num_equalities = std::min(spec.num_equalities, 1);
    spec.mass_defect = 1 + static_cast<int>(seed % 2 == 0 && spec.n > 1);
    auto [v, one_sided] = make_programme(seed, spec);
    if (seed % 3 == 0) v.Q.setZero();  // rows that touch and carry nothing
    const auto expected = testing::enumerate_sets(v, one_sided);
    const auto s = solve_one_sided(v, one_sided);
    if (!expected.found) {
      EXPECT_FALSE(s.solution.has_acceleration());
      ++num_none;
    } else if (!expected.unique) {
      EXPECT_EQ(s.solution.status, SolveStatus::not_unique);
      ++num_open;
    } else {
      ASSERT_EQ(s.solution.status, SolveStatus::solved);
      EXPECT_LE((s.solution.qdd - expected.qdd).cwiseAbs().maxCoeff(),
                1e-11 * (1 + expected.qdd.cwiseAbs().maxCoeff()));
      EXPECT_EQ(s.holding, expected.zero);
      expect_optimal(v, one_sided, s, 1e-11);
      ++num_solved;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(num_solved, static_cast<int>(num_trials(200)));
  EXPECT_GT(num_open, static_cast<int>(num_trials(20)));
  EXPECT_GT(num_none, static_cast<int>(num_trials(100)));
}

TEST(OneSided, a_mass_on_a_floor_is_held_lifted_or_balanced) {
  const auto solved = [](double force) {
    return solve_one_sided(unit_masses(VectorXd::Constant(1, force), MatrixXd::Ones(1, 1), VectorXd::Zero(1)), {0});
  };
  const auto held = solved(-9.81);
  EXPECT_EQ(held.solution.qdd(0), 0.0);
  EXPECT_DOUBLE_EQ(held.solution.multipliers(0), 9.81);
  EXPECT_EQ(held.holding, all_rows(1));
  const auto lifted = solved(2.0);
  EXPECT_DOUBLE_EQ(lifted.solution.qdd(0), 2.0);
  EXPECT_EQ(lifted.solution.multipliers(0), 0.0);
  EXPECT_DOUBLE_EQ(lifted.slack(0), 2.0);
  EXPECT_TRUE(lifted.holding.empty());
  EXPECT_EQ(lifted.solution.rank, 0);
  const auto balanced = solved(0.0);
  EXPECT_EQ(balanced.slack(0), 0.0);
  EXPECT_EQ(balanced.solution.multipliers(0), 0.0);
  EXPECT_EQ(balanced.holding, all_rows(1));
}

TEST(OneSided, four_feet_share_the_weight_and_none_pulls) {
  // A plate, coordinates: height, two tilts; the centre of mass is off the middle, inside the feet.
  MatrixXd A(4, 3);
  A << 1, 1, 1, 1, 1, -1, 1, -1, 1, 1, -1, -1;
  VectorXd Q(3);
  Q << -10, -8, -8;  // near one corner: least norm alone would make the opposite foot pull
  const auto s = solve_one_sided(unit_masses(Q, A, VectorXd::Zero(4)), all_rows(4));
  ASSERT_TRUE(s.solution.has_acceleration());
  EXPECT_LE(s.solution.qdd.norm(), 1e-14);
  EXPECT_EQ(s.holding, all_rows(4));
  EXPECT_FALSE(s.solution.multipliers_unique);
  EXPECT_GE(s.multipliers_joint.minCoeff(), 0.0);
  EXPECT_LE((A.transpose() * s.multipliers_joint + Q).norm(), 1e-13);
  // (x, 9 − x, 9 − x, x − 8) carries it for 8 ≤ x ≤ 9; of these (8, 1, 1, 0) has the least norm.
  EXPECT_NEAR(s.multipliers_joint(0), 8.0, 1e-12);
  EXPECT_EQ(s.multipliers_joint(3), 0.0);
  // A little further and the plate tips.
  Q << -10, -11, -8;
  EXPECT_FALSE(solve_one_sided(unit_masses(Q, A, VectorXd::Zero(4)), all_rows(4)).holding.size() == 4);
}

TEST(OneSided, order_and_scale_of_rows_do_not_matter) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    auto spec = random_programme_spec(seed);
    spec.mass_defect = 0;
    spec.feasible = true;
    const auto [v, one_sided] = make_programme(seed, spec);
    const auto s = solve_one_sided(v, one_sided);
    std::mt19937_64 random(seed);
    std::vector<Index> order = all_rows(v.b.size());
    std::shuffle(order.begin(), order.end(), random);
    testing::DenseValues other = v;
    VectorXd scale(v.b.size());
    std::vector<Index> one_sided_there;
    for (Index j = 0; j < v.b.size(); ++j) {
      scale(j) = std::pow(10.0, testing::random_int(random, -5, 5));
      other.A.row(j) = scale(j) * v.A.row(order[j]);
      other.b(j) = scale(j) * v.b(order[j]);
      if (std::find(one_sided.begin(), one_sided.end(), order[j]) != one_sided.end()) one_sided_there.push_back(j);
    }
    const auto t = solve_one_sided(other, one_sided_there);
    ASSERT_EQ(s.solution.status, t.solution.status);
    if (!s.solution.has_acceleration()) continue;
    const double size = 1 + s.solution.qdd.cwiseAbs().maxCoeff();
    EXPECT_LE((s.solution.qdd - t.solution.qdd).cwiseAbs().maxCoeff(), 1e-11 * size);
    std::vector<Index> holding;
    for (const Index j : t.holding) holding.push_back(order[j]);
    std::sort(holding.begin(), holding.end());
    EXPECT_EQ(s.holding, holding);
  }
}

TEST(OneSided, a_warm_start_changes_nothing_but_the_work) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    auto spec = random_programme_spec(seed);
    spec.feasible = true;
    const auto [v, one_sided] = make_programme(seed, spec);
    const auto cold = solve_one_sided(v, one_sided);
    const auto warm = solve_one_sided(v, one_sided, {.warm_start = cold.holding, .guess_none = cold.holding.empty()});
    ASSERT_EQ(cold.solution.status, warm.solution.status);
    if (!cold.solution.has_acceleration()) continue;
    EXPECT_EQ(cold.holding, warm.holding);
    EXPECT_EQ(warm.iterations, 0);
    EXPECT_LE((cold.solution.qdd - warm.solution.qdd).norm(), 1e-12 * (1 + cold.solution.qdd.norm()));
    const auto wrong = solve_one_sided(v, one_sided, {.warm_start = {one_sided.front()}});
    EXPECT_EQ(cold.holding, wrong.holding);
  }
}

TEST(OneSided, measured_rows_that_contradict_attain_their_weighted_mean) {
  MatrixXd A(3, 2);
  A << 1, 0, 1, 0, 0, 1;
  VectorXd b(3);
  b << 1, 3, 0;
  testing::DenseValues v = unit_masses(VectorXd::Constant(2, -1.0), A, b);
  v.measured = {0, 1};
  v.W = Eigen::Vector2d(3, 1).asDiagonal();
  const auto s = solve_one_sided(v, {2});
  ASSERT_TRUE(s.solution.has_acceleration());
  EXPECT_FALSE(s.solution.consistent);
  EXPECT_NEAR(s.solution.qdd(0), 1.5, 1e-14);
  EXPECT_NEAR(s.solution.qdd(1), 0.0, 1e-14);
  EXPECT_NEAR(s.solution.b_used(1), 1.5, 1e-14);
}

TEST(OneSided, rows_must_be_there_and_named_once) {
  testing::DenseValues v = unit_masses(VectorXd::Zero(1), MatrixXd::Ones(2, 1), VectorXd::Zero(2));
  EXPECT_THROW(solve_one_sided(v, {2}), std::invalid_argument);
  EXPECT_THROW(solve_one_sided(v, {0, 0}), std::invalid_argument);
  EXPECT_THROW(solve_one_sided(v, {0}, {.warm_start = {1}}), std::invalid_argument);
}

}  // namespace
}  // namespace mechanician
