#include "mechanician/motion/kernels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "mechanician/solve/eigen_decompositions.hpp"

namespace mechanician {
namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

TEST(Kernels, qr_is_that_of_an_independent_library_up_to_signs) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    const int n = std::uniform_int_distribution<int>(1, 40)(random),
              r = std::uniform_int_distribution<int>(1, n)(random);
    Eigen::MatrixXd Z(n, r);
    for (double& z : Z.reshaped())
      z = random() % 3 == 0 ? 0.0 : std::uniform_real_distribution<double>(-1.0, 1.0)(random);
    for (int k = 0; k < r; ++k) Z(k, k) += 2.0;
    Eigen::MatrixXd ours = Z;
    std::vector<double> tau(static_cast<std::size_t>(r));
    kernels::qr(n, r, ours.data(), tau.data());
    const Eigen::MatrixXd R = Eigen::HouseholderQR<Eigen::MatrixXd>(Z).matrixQR();
    for (int k = 0; k < r; ++k)
      for (int i = 0; i <= k; ++i) EXPECT_NEAR(std::abs(ours(i, k)), std::abs(R(i, k)), 100.0 * n * eps * Z.norm());
    // V R is Z again.
    for (int k = 0; k < r; ++k) {
      Eigen::VectorXd column = Eigen::VectorXd::Zero(n);
      column.head(k + 1) = ours.col(k).head(k + 1);
      kernels::apply_v(n, r, ours.data(), tau.data(), column.data());
      EXPECT_LE((column - Z.col(k)).norm(), 20.0 * n * eps * Z.norm());
    }
  }
}

TEST(Kernels, the_longest_column_is_the_first_of_those_that_are_within_rounding) {
  Eigen::MatrixXd Y = Eigen::MatrixXd::Ones(11, 4);
  Y.col(0) *= 0.5;
  Y(3, 2) = 1.0 + 4.0 * eps;
  double largest = 0.0;
  EXPECT_EQ(kernels::find_largest(11, 4, 11, Y.data(), largest), 1);
  EXPECT_NEAR(largest, std::sqrt(11.0), 8.0 * eps);
  Y(3, 2) = 1.1;
  EXPECT_EQ(kernels::find_largest(11, 4, 11, Y.data(), largest), 2);
}

TEST(Kernels, sines_are_at_most_one_and_zero_where_there_is_none) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  std::vector<double> inverse, sizes, sines, expected;
  const auto add = [&](double i, double size, double least, double sine) {
    inverse.push_back(i), sizes.push_back(size), sines.push_back(least), expected.push_back(sine);
  };
  for (int k = 0; k < 3; ++k) {
    add(4.0, 1.0, 0.0, 0.5), add(4.0, 1.0, 4.0, 0.25), add(0.5, 1.0, 1.0, 1.0), add(infinity, 1.0, 1.0, 0.0);
    add(nan, 1.0, 1.0, 0.0), add(-4.0, 1.0, 1.0, 0.0), add(4.0, 0.0, 1.0, 0.5);
  }
  kernels::calc_sines(std::ssize(sines), inverse.data(), sizes.data(), sines.data());
  for (std::size_t i = 0; i < sines.size(); ++i) EXPECT_EQ(sines[i], expected[i]) << i;
}

TEST(Kernels, what_falls_towards_zero_or_lies_right_beside_it_may_have_passed_it) {
  const auto may = [](double before, double here, double after, double beyond) {
    return kernels::any_may_vanish(1, &before, &here, &after, &beyond);
  };
  EXPECT_TRUE(may(0.5, 0.1, 0.3, 0.7));
  EXPECT_FALSE(may(0.5, 0.1, 0.05, 0.3)) << "not the lowest";
  EXPECT_FALSE(may(0.55, 0.5, 0.52, 0.6)) << "far away for its speed";
  EXPECT_TRUE(may(0.052, 0.05, 0.052, 0.15)) << "zero lies half way to the neighbour";
  EXPECT_FALSE(may(0.0, 0.0, 0.0, 0.0)) << "always zero";
  std::vector<double> flat(19, 0.9), low = flat;
  low[17] = 0.2;
  EXPECT_TRUE(kernels::any_may_vanish(19, flat.data(), low.data(), flat.data(), flat.data()));
  EXPECT_DOUBLE_EQ(kernels::largest_change(19, flat.data(), low.data()), 0.7);
}

}  // namespace
}  // namespace mechanician
