// Which mass matrices are factored by themselves.

#include "mechanician/solve/clear_mass.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "mechanician/base/trials_for_test.hpp"
#include "mechanician/solve/mass.hpp"

namespace mechanician {
namespace {

/// Of a rigid body with quaternion e, 4 EᵀJE: singular along e.
Eigen::Matrix4d quaternion_mass(const Eigen::Vector4d& e, const Eigen::Vector3d& J) {
  Eigen::Matrix<double, 3, 4> E;
  E << -e(1), e(0), e(3), -e(2), -e(2), -e(3), e(0), e(1), -e(3), e(2), -e(1), e(0);
  return 4.0 * E.transpose() * J.asDiagonal() * E;
}

/// Many of them by chance, and those in which pivots without interchanges hide the zero.
std::vector<Eigen::Vector4d> orientations(std::mt19937_64& random, unsigned count) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> decades(-12.0, 0.0);
  std::vector<Eigen::Vector4d> result{
      {1, 0, 0, 0}, {0, 0, 0, 1}, {1, 1e-2, 1e-4, 1e-6}, {1, 1e-4, 1e-4, 1e-4}, {1, 1, 1, 1e-4}};
  for (unsigned k = 0; k < count; ++k) {
    Eigen::Vector4d e(normal(random), normal(random), normal(random), normal(random));
    if (k % 2 == 1)
      for (double& x : e) x *= std::pow(10.0, decades(random));
    result.push_back(e);
  }
  for (Eigen::Vector4d& e : result) e.normalize();
  return result;
}

TEST(ClearMass, of_a_body_with_a_quaternion_is_never_definite) {
  constexpr unsigned seed = 7;
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> decades(-18.0, 18.0), ratio(-4.0, 0.0);
  for (const Eigen::Vector4d& e : orientations(random, num_trials(20'000))) {
    const double size = std::pow(10.0, decades(random));
    const Eigen::Vector3d J = size * Eigen::Vector3d(1.0, std::pow(10.0, ratio(random)), std::pow(10.0, ratio(random)));
    const Eigen::Matrix4d M = quaternion_mass(e, J);
    ASSERT_FALSE(is_clearly_definite(M)) << "seed " << seed << "\n" << e << "\n" << J;
    // The same block in a large system, beside a mass of its own.
    SparsePattern pattern;
    pattern.n = 5;
    pattern.M.push_back({0, 0});
    std::vector<double> values{1.0};
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j <= i; ++j) pattern.M.push_back({i + 1, j + 1}), values.push_back(M(i, j));
    ASSERT_FALSE(is_clearly_definite(pattern, values));
  }
}

TEST(ClearMass, that_is_definite_is_so_in_any_units) {
  constexpr unsigned seed = 8;
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> decades(-12.0, 12.0);
  for (unsigned k = 0; k < num_trials(1'000); ++k) {
    const Eigen::Index n = 1 + k % 8;
    const Eigen::MatrixXd F = Eigen::MatrixXd::NullaryExpr(n + 2, n, [&] { return normal(random); });
    const Eigen::VectorXd units = Eigen::VectorXd::NullaryExpr(n, [&] { return std::pow(10.0, decades(random)); });
    const Eigen::MatrixXd M =
        units.asDiagonal() * (F.transpose() * F + 0.1 * Eigen::MatrixXd::Identity(n, n)) * units.asDiagonal();
    ASSERT_TRUE(is_clearly_definite(M)) << "seed " << seed << ", trial " << k;
    // Unless its entries are hardly known.
    EXPECT_FALSE(is_clearly_definite(M, M.cwiseAbs() * 1e-2));
  }
}

TEST(ClearMass, is_not_that_of_infinite_or_negative_masses) {
  EXPECT_TRUE(is_clearly_definite(Eigen::MatrixXd(0, 0)));
  EXPECT_FALSE(is_clearly_definite(Eigen::MatrixXd::Constant(1, 1, std::nan(""))));
  EXPECT_FALSE(is_clearly_definite(-Eigen::MatrixXd::Identity(2, 2)));
  EXPECT_FALSE(is_clearly_definite(Eigen::MatrixXd::Zero(2, 2)));
}

}  // namespace
}  // namespace mechanician
