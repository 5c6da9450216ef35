#include "mechanician/solve/mass.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "mechanician/solve/dense_values_for_test.hpp"
#include "mechanician/solve/factorisation.hpp"
#include "mechanician/solve/random_system_for_test.hpp"

namespace mechanician {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

TEST(Mass, units_do_not_make_a_matrix_singular) {
  const VectorXd units = (VectorXd(3) << 1e-9, 1.0, 1e9).finished();
  MatrixXd M(3, 3);
  M << 2, 1, 0, 1, 2, 1, 0, 1, 2;
  EXPECT_EQ(check_mass(units.asDiagonal() * M * units.asDiagonal()).kind, MassKind::definite);
}

TEST(Mass, a_massless_coordinate_or_direction_is_semidefinite) {
  EXPECT_EQ(check_mass(VectorXd::LinSpaced(3, 0.0, 2.0).asDiagonal()).kind, MassKind::semidefinite);
  EXPECT_EQ(check_mass(MatrixXd::Ones(2, 2)).kind, MassKind::semidefinite);
  EXPECT_EQ(check_mass(MatrixXd::Zero(2, 2)).kind, MassKind::semidefinite);
}

TEST(Mass, rounding_does_not_make_a_semidefinite_matrix_indefinite) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    const int n = testing::random_int(random, 2, 12);
    const MatrixXd F = testing::random_matrix(random, testing::random_int(random, 1, n - 1), n);
    const MatrixXd product = F.transpose() * F;
    EXPECT_EQ(check_mass(0.5 * (product + product.transpose())).kind, MassKind::semidefinite) << "seed " << seed;
  }
}

TEST(Mass, a_negative_eigenvalue_is_found_with_its_direction) {
  MatrixXd M(3, 3);
  M << 4, 0, 0, 0, 1, 2, 0, 2, 1;  // eigenvalues 4, 3, −1
  const MassCheck check = check_mass(M);
  EXPECT_EQ(check.kind, MassKind::indefinite);
  EXPECT_NEAR(check.negative_eigenvalue, -1.0, 1e-14);
  EXPECT_NEAR(std::abs(check.negative_direction.dot(Eigen::Vector3d(0, 1, -1).normalized())), 1.0, 1e-14);
}

TEST(Mass, a_zero_on_the_diagonal_with_something_beside_it_is_indefinite) {
  MatrixXd M(2, 2);
  M << 0, 1e-3, 1e-3, 5;
  const MassCheck check = check_mass(M);
  EXPECT_EQ(check.kind, MassKind::indefinite);
  EXPECT_LT(check.negative_eigenvalue, 0);
}

TEST(Mass, a_negative_eigenvalue_is_found_among_much_larger_masses) {
  MatrixXd M = MatrixXd::Zero(3, 3);
  M(0, 0) = 1e12;
  M.bottomRightCorner(2, 2) << 1e-8, 2e-8, 2e-8, 1e-8;
  const MassCheck check = check_mass(M);
  EXPECT_EQ(check.kind, MassKind::indefinite);
  EXPECT_LT(check.negative_eigenvalue, 0);
  EXPECT_LT(check.negative_direction.dot(M * check.negative_direction), 0);
}

TEST(Mass, error_bounds_excuse_a_small_negative_value) {
  MatrixXd M(2, 2), noise(2, 2);
  M << 1, 0, 0, -1e-12;
  noise << 0, 0, 0, 1e-11;
  EXPECT_EQ(check_mass(M).kind, MassKind::indefinite);
  EXPECT_EQ(check_mass(M, noise).kind, MassKind::semidefinite);
}

TEST(Mass, an_asymmetric_matrix_is_refused_and_the_pair_named) {
  testing::DenseValues v;
  v.M = MatrixXd::Identity(3, 3);
  v.M(2, 0) = 0.1;
  v.Q = VectorXd::Zero(3);
  const Solution solution = solve(v);
  EXPECT_EQ(solution.status, SolveStatus::mass_not_symmetric);
  EXPECT_EQ(solution.mass.asymmetric_row, 2);
  EXPECT_EQ(solution.mass.asymmetric_column, 0);
  EXPECT_EQ(solution.qdd.size(), 0);
}

TEST(Mass, an_indefinite_matrix_has_no_acceleration) {
  testing::DenseValues v;
  v.M = Eigen::Vector2d(1, -1).asDiagonal();
  v.Q = VectorXd::Zero(2);
  EXPECT_EQ(solve(v).status, SolveStatus::mass_indefinite);
}

}  // namespace
}  // namespace mechanician
