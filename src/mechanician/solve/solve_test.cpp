// Special cases and statuses of solve(); the rest is in accuracy_test.cpp and laws_test.cpp.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "mechanician/solve/dense_values_for_test.hpp"
#include "mechanician/solve/eigen_decompositions.hpp"
#include "mechanician/solve/form.hpp"
#include "mechanician/solve/parts.hpp"
#include "mechanician/solve/random_system_for_test.hpp"

namespace mechanician {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double eps = std::numeric_limits<double>::epsilon();

testing::DenseValues make_values(const MatrixXd& M, const VectorXd& Q, const MatrixXd& A, const VectorXd& b) {
  testing::DenseValues v;
  v.M = M;
  v.Q = Q;
  v.A = A;
  v.b = b;
  return v;
}

constexpr Form all_forms[] = {Form::automatic, Form::f1, Form::f2, Form::f3, Form::f4, Form::f5};

TEST(Solve, without_constraints_the_acceleration_is_that_of_the_forces) {
  testing::DenseValues v =
      make_values(Eigen::Vector2d(2, 4).asDiagonal(), Eigen::Vector2d(1, -2), MatrixXd(0, 2), VectorXd(0));
  for (const Form form : all_forms) {
    const Solution s = solve_with_form(v, form);
    ASSERT_EQ(s.status, SolveStatus::solved);
    EXPECT_NEAR((s.qdd - Eigen::Vector2d(0.5, -0.5)).norm(), 0, 8 * eps);
    EXPECT_EQ(s.rank, 0);
    EXPECT_NEAR(s.Qc.norm(), 0, 8 * eps);
    EXPECT_EQ(s.multipliers.size(), 0);
  }
  v.A.resize(0, 0);  // left empty altogether
  v.C = Eigen::Vector2d(2, 0);
  const Solution s = solve(v);
  EXPECT_NEAR((s.qdd - Eigen::Vector2d(1.5, -0.5)).norm(), 0, 4 * eps);
  EXPECT_EQ(s.Qc_ni, v.C);
}

TEST(Solve, constraints_of_full_column_rank_decide_whatever_the_forces) {  // U23 remark 3
  MatrixXd A(3, 2);
  A << 1, 2, 3, -1, 4, 1;
  const VectorXd qdd = Eigen::Vector2d(0.25, -3);
  for (const double mass : {1.0, 0.0}) {
    testing::DenseValues v = make_values(Eigen::Vector2d(1, mass).asDiagonal(), Eigen::Vector2d(1e3, 7), A, A * qdd);
    v.C = Eigen::Vector2d(-5, 1e4);
    const Solution s = solve(v);
    ASSERT_EQ(s.status, SolveStatus::solved);
    EXPECT_NEAR((s.qdd - qdd).norm(), 0, 16 * eps * qdd.norm());
    EXPECT_EQ(s.Qc_ni.norm(), 0);
    EXPECT_NEAR((A.transpose() * s.multipliers - s.Qc_i).norm(), 0, 32 * eps * 1e3);
  }
}

TEST(Solve, a_particle_projects) {  // U23 eq. 28: q̈ = (I − A⁺A)(a + C/m₀) + A⁺b
  MatrixXd A(2, 3);
  A << 1, 2, 2, 2, 4, 4;
  testing::DenseValues v =
      make_values(0.5 * MatrixXd::Identity(3, 3), Eigen::Vector3d(1, 2, 3), A, Eigen::Vector2d(3, 6));
  v.C = Eigen::Vector3d(0, -1, 1);
  const Eigen::Vector3d unit = Eigen::Vector3d(1, 2, 2) / 3.0;
  const Eigen::Vector3d free = (v.Q + v.C) / 0.5;
  const Eigen::Vector3d want = free - unit * unit.dot(free) + unit;
  for (const Form form : all_forms) {
    const Solution s = solve_with_form(v, form);
    EXPECT_NEAR((s.qdd - want).norm(), 0, 64 * eps * want.norm());
    EXPECT_FALSE(s.multipliers_unique);
    EXPECT_EQ(s.multipliers_undetermined, (std::vector<Index>{0, 1}));
    // Least norm for the rows as given: λ ∥ (1, 2).
    EXPECT_NEAR(s.multipliers(1), 2.0 * s.multipliers(0), 64 * eps * 10);
  }
}

TEST(Solve, one_coordinate_one_row) {
  const testing::DenseValues v = make_values(MatrixXd::Constant(1, 1, 3.0), VectorXd::Constant(1, 6.0),
                                             MatrixXd::Constant(1, 1, -2.0), VectorXd::Constant(1, 1.0));
  const Solution s = solve(v);
  EXPECT_DOUBLE_EQ(s.qdd(0), -0.5);
  EXPECT_DOUBLE_EQ(s.Qc(0), -7.5);
  EXPECT_DOUBLE_EQ(s.multipliers(0), 3.75);
  EXPECT_DOUBLE_EQ((*s.a)(0), 2.0);
  EXPECT_DOUBLE_EQ(*s.gaussian, 7.5 * 7.5 / 3.0);
}

TEST(Solve, a_zero_row_is_no_constraint_but_must_not_ask_for_anything) {
  MatrixXd A = MatrixXd::Zero(2, 2);
  A(0, 0) = 1;
  testing::DenseValues v = make_values(MatrixXd::Identity(2, 2), Eigen::Vector2d(1, 1), A, Eigen::Vector2d(0, 0));
  Solution s = solve(v);
  ASSERT_EQ(s.status, SolveStatus::solved);
  EXPECT_EQ(s.rank, 1);
  EXPECT_EQ(s.qdd, Eigen::Vector2d(0, 1));
  EXPECT_EQ(s.multipliers, Eigen::Vector2d(-1, 0));
  EXPECT_EQ(s.multipliers_undetermined, (std::vector<Index>{1}));
  v.b(1) = 1e-12;
  EXPECT_EQ(solve(v).status, SolveStatus::inconsistent);
  v.b_size = Eigen::Vector2d(0, 1);  // it is a difference of terms of size 1
  EXPECT_EQ(solve(v).status, SolveStatus::solved);
}

TEST(Solve, a_row_within_its_own_rounding_error_counts_as_zero) {
  MatrixXd A(2, 2);
  A << 1, 0, 3e-17, -2e-17;
  testing::DenseValues v = make_values(MatrixXd::Identity(2, 2), Eigen::Vector2d(1, 1), A, Eigen::Vector2d(0, 1e-33));
  EXPECT_EQ(solve(v).rank, 2);
  v.A_noise = MatrixXd::Zero(2, 2);
  v.A_noise.row(1).setConstant(1e-16);
  v.b_noise = Eigen::Vector2d(0, 1e-16);
  for (const Form form : all_forms) {
    const Solution s = solve_with_form(v, form);
    ASSERT_EQ(s.status, SolveStatus::solved);
    EXPECT_EQ(s.rank, 1);
    EXPECT_NEAR((s.qdd - Eigen::Vector2d(0, 1)).norm(), 0, 8 * eps);
  }
}

TEST(Solve, no_coordinates_no_answer_no_crash) {
  const Solution s = solve(make_values(MatrixXd(0, 0), VectorXd(0), MatrixXd(0, 0), VectorXd(0)));
  EXPECT_EQ(s.status, SolveStatus::solved);
  EXPECT_EQ(s.qdd.size(), 0);
}

TEST(Solve, contradicting_rows_have_no_acceleration_but_a_least_squares_one) {
  MatrixXd A(3, 2);
  A << 1, 0, 2, 0, 0, 1;
  const testing::DenseValues v =
      make_values(MatrixXd::Identity(2, 2), Eigen::Vector2d(5, 5), A, Eigen::Vector3d(1, 3, 7));
  for (const Form form : all_forms) {
    const Solution s = solve_with_form(v, form);
    EXPECT_EQ(s.status, SolveStatus::inconsistent);
    EXPECT_FALSE(s.consistent);
    EXPECT_EQ(s.qdd.size(), 0);
    ASSERT_TRUE(s.least_squares.has_value());
    // min (x − 1)² + (2x − 3)²: x = 7/5, rows as given.
    EXPECT_NEAR((s.least_squares->qdd - Eigen::Vector2d(1.4, 7)).norm(), 0, 64 * eps * 7);
    EXPECT_NEAR((s.least_squares->b - Eigen::Vector3d(1.4, 2.8, 7)).norm(), 0, 64 * eps * 7);
  }
}

TEST(Solve, a_free_massless_coordinate_is_not_unique_and_with_a_force_on_it_unsolvable) {
  testing::DenseValues v = make_values(Eigen::Vector3d(1, 0, 2).asDiagonal(), Eigen::Vector3d(1, 0, 1),
                                       Eigen::RowVector3d(1, 0, 1), VectorXd::Zero(1));
  Solution s = solve(v);
  EXPECT_EQ(s.status, SolveStatus::not_unique);
  EXPECT_FALSE(s.unique);
  EXPECT_TRUE(s.solvable);
  EXPECT_EQ(s.undetermined, (std::vector<Index>{1}));
  EXPECT_EQ(s.undetermined_directions, (MatrixXd(Eigen::Vector3d(0, 1, 0))));
  EXPECT_FALSE(s.a.has_value());
  v.Q(1) = 1e-3;
  s = solve(v);
  EXPECT_EQ(s.status, SolveStatus::unsolvable);
  EXPECT_FALSE(s.solvable);
  v.C = Eigen::Vector3d(0, -1e-3, 0);
  EXPECT_EQ(solve(v).status, SolveStatus::not_unique);
}

TEST(Solve, a_massless_node_between_springs_is_held_by_a_constraint) {
  // The massless coordinate follows the massive one: x₂ = 2 x₁.
  testing::DenseValues v = make_values(Eigen::Vector2d(3, 0).asDiagonal(), Eigen::Vector2d(1, 4),
                                       Eigen::RowVector2d(2, -1), VectorXd::Zero(1));
  for (const Form form : {Form::automatic, Form::f4, Form::f5}) {
    const Solution s = solve_with_form(v, form);
    ASSERT_EQ(s.status, SolveStatus::solved);
    EXPECT_NEAR((s.qdd - Eigen::Vector2d(3, 6)).norm(), 0, 64 * eps * 6);  // 3 ẍ₁ = 1 + 2·4
    EXPECT_NEAR(s.multipliers(0), 4.0, 64 * eps * 9);
    EXPECT_FALSE(s.gaussian.has_value());
  }
  EXPECT_EQ(solve_with_form(v, Form::f1).status, SolveStatus::form_not_applicable);
  EXPECT_EQ(solve_with_form(v, Form::f1).qdd.size(), 0);
}

TEST(Solve, a_number_that_is_not_finite_is_a_status) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const testing::DenseValues good =
      make_values(MatrixXd::Identity(2, 2), Eigen::Vector2d(1, 1), Eigen::RowVector2d(1, 0), VectorXd::Zero(1));
  testing::DenseValues v = good;
  v.M(0, 1) = nan;
  EXPECT_EQ(solve(v).status, SolveStatus::not_finite);
  v = good;
  v.A(0, 1) = std::numeric_limits<double>::infinity();
  EXPECT_EQ(solve_with_form(v, Form::f1).status, SolveStatus::not_finite);
  v = good;
  v.b(0) = nan;
  EXPECT_EQ(solve(v).status, SolveStatus::not_finite);
  v = good;
  v.Q(0) = nan;
  EXPECT_EQ(solve(v).status, SolveStatus::not_finite);
}

TEST(Solve, sizes_that_disagree_are_the_callers_mistake) {
  testing::DenseValues v = make_values(MatrixXd::Identity(2, 2), VectorXd::Zero(3), MatrixXd(0, 2), VectorXd(0));
  EXPECT_THROW(solve(v), std::invalid_argument);
  v.Q.resize(2);
  v.Q.setZero();
  v.b = VectorXd::Zero(1);
  EXPECT_THROW(solve(v), std::invalid_argument);
  v.A = MatrixXd::Ones(1, 2);
  EXPECT_NO_THROW(solve(v));
  v.measured = {0};
  EXPECT_THROW(solve(v), std::invalid_argument);
  v.W = MatrixXd::Identity(1, 1);
  EXPECT_NO_THROW(solve(v));
  v.measured = {1};
  EXPECT_THROW(solve(v), std::invalid_argument);
}

TEST(Solve, every_status_has_words) {
  for (int i = 0; i <= static_cast<int>(SolveStatus::requirements_not_met); ++i) {
    EXPECT_STRNE(describe(static_cast<SolveStatus>(i)), "");
  }
}

TEST(Rank, a_rank_that_hangs_by_a_thread_is_reported_as_doubtful) {
  testing::DenseValues v = make_values(MatrixXd::Identity(3, 3), VectorXd::Zero(3), MatrixXd(2, 3), VectorXd::Zero(2));
  const auto with_angle = [&](double angle) {
    v.A << 1, 0, 0, 1, angle, 0;
    return solve(v);
  };
  EXPECT_EQ(with_angle(1e-6).rank, 2);
  EXPECT_FALSE(with_angle(1e-6).rank_doubtful);
  EXPECT_EQ(with_angle(2e-11).rank, 2);
  EXPECT_TRUE(with_angle(2e-11).rank_doubtful);
  EXPECT_EQ(with_angle(1e-15).rank, 1);
  EXPECT_FALSE(with_angle(1e-15).rank_doubtful);
  // Dropped, but close to what was kept: a third row that leans out by little more than a second one.
  v.A.resize(3, 3);
  v.b = VectorXd::Zero(3);
  v.A << 1, 0, 0, 1, 1e-10, 0, 1, 0, 5e-13;
  const Solution close = solve(v);
  EXPECT_EQ(close.rank, 2);
  EXPECT_LT(close.rank_gap, 1e3);
  EXPECT_TRUE(close.rank_doubtful);
}

TEST(Rank, the_threshold_is_clamped) {
  EXPECT_DOUBLE_EQ(rank_tolerance(1, 1), 1e-12);
  EXPECT_DOUBLE_EQ(rank_tolerance(10, 3), 3e4 * eps);
  EXPECT_DOUBLE_EQ(rank_tolerance(1000, 3000), 1e-10);
}

TEST(Solve, the_second_stage_takes_another_C) {
  const auto system = testing::make_random_system(3, 2.0, false);
  testing::DenseValues v = system.values;
  v.C.resize(0);
  const Factorisation f = factor(v);
  const Solution ideal = solve(f, v);
  v.C = 0.5 * ideal.Qc_i + VectorXd::Ones(v.Q.size());
  EXPECT_EQ(solve(f, v).qdd, solve(v).qdd);
  EXPECT_EQ(solve(f, v).Qc_i, ideal.Qc_i);
}

TEST(Parts, power_is_that_of_the_forces_and_by_row) {
  // A bead pushed along x at prescribed acceleration, with friction C along y.
  testing::DenseValues v = make_values(2.0 * MatrixXd::Identity(2, 2), Eigen::Vector2d(0, 1), Eigen::RowVector2d(4, 0),
                                       VectorXd::Constant(1, 8.0));
  v.C = Eigen::Vector2d(9, -0.5);
  const Factorisation f = factor(v);
  const Solution s = solve(f, v);
  const Parts parts = calc_parts(f, v, s, Eigen::Vector2d(3, 2));
  EXPECT_DOUBLE_EQ(parts.power->ideal, 12.0);     // Qc_i = (4, 0)
  EXPECT_DOUBLE_EQ(parts.power->nonideal, -1.0);  // Qc_ni = (0, −0.5)
  EXPECT_DOUBLE_EQ(parts.power->by_row(0), 12.0);
  EXPECT_DOUBLE_EQ((*parts.z)(0), 9.0 / std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(parts.c_absorbed(0), 9.0);
  EXPECT_DOUBLE_EQ((*parts.error_signal)(0), 8.0);
  EXPECT_DOUBLE_EQ((*parts.gain)(0, 0), 0.5);
  EXPECT_FALSE(calc_parts(f, v, s).power.has_value());
}

TEST(Parts, what_needs_the_inverse_mass_is_absent_where_mass_is_singular) {
  testing::DenseValues v = make_values(Eigen::Vector2d(3, 0).asDiagonal(), Eigen::Vector2d(1, 4),
                                       Eigen::RowVector2d(2, -1), VectorXd::Zero(1));
  const Factorisation f = factor(v);
  const Parts parts = calc_parts(f, v, solve(f, v));
  EXPECT_FALSE(parts.error_signal || parts.gain || parts.deviation || parts.deviation_ideal ||
               parts.deviation_nonideal || parts.z || parts.reaction_to_forces || parts.reaction_to_motion);
  EXPECT_NEAR((parts.acceleration_null - Eigen::Vector2d(3, 6)).norm(), 0, 64 * eps * 6);
}

}  // namespace
}  // namespace mechanician
