// Accelerations that are not unique: what is determined of them, against a least-norm solution of the whole system.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <random>

#include "mechanician/base/trials_for_test.hpp"
#include "mechanician/solve/assemble.hpp"

namespace mechanician {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

TEST(Determined, IsWhatEverySolutionHas) {
  const unsigned seed = 20261116;
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  const auto whole = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  const auto matrix = [&](int rows, int cols) {
    return MatrixXd(MatrixXd::NullaryExpr(rows, cols, [&] { return std::round(4.0 * normal(random)) / 4.0; }));
  };
  int compared = 0;
  for (unsigned trial = 0; trial < num_trials(2000); ++trial) {
    SCOPED_TRACE(fmt::format("seed {}, trial {}", seed, trial));
    // Coordinates with mass, then some without; rows see some of these.
    const int with = whole(1, 5), without = whole(1, 4), n = with + without, m = whole(0, 4);
    const MatrixXd B = matrix(with, with);
    InstantValues v;
    MatrixXd M = MatrixXd::Zero(n, n), A = matrix(m, n);
    M.topLeftCorner(with, with) = B * B.transpose() + MatrixXd::Identity(with, with);
    for (int i = with; i < n; ++i)
      if (whole(0, 2) > 0) A.col(i).setZero();
    const VectorXd b = A * matrix(n, 1);
    VectorXd Q = VectorXd::Zero(n);
    Q.head(with) = matrix(with, 1);
    v.M = M, v.A = A, v.Q = Q, v.b = b;
    Solution s = solve(v);
    if (s.status != SolveStatus::not_unique) continue;
    EXPECT_EQ(s.qdd.size(), 0);
    add_determined(v, s);
    ASSERT_EQ(s.qdd.size(), n);
    MatrixXd K = MatrixXd::Zero(n + m, n + m);
    K.topLeftCorner(n, n) = M, K.topRightCorner(n, m) = -A.transpose(), K.bottomLeftCorner(m, n) = A;
    VectorXd right(n + m);
    right << Q, b;
    const VectorXd x = K.completeOrthogonalDecomposition().solve(right);
    const double size = 1.0 + x.head(n).cwiseAbs().maxCoeff();
    for (int i = 0; i < n; ++i) {
      const bool open = std::binary_search(s.undetermined.begin(), s.undetermined.end(), i);
      EXPECT_EQ(std::isnan(s.qdd(i)), open);
      if (open) continue;
      EXPECT_NEAR(s.qdd(i), x(i), 1e-8 * size);
      ++compared;
    }
    EXPECT_LT((s.Qc - (M * x.head(n) - Q)).cwiseAbs().maxCoeff(), 1e-7 * (1.0 + Q.cwiseAbs().maxCoeff() + size));
  }
  EXPECT_GT(compared, static_cast<int>(num_trials(1000)));
}

}  // namespace
}  // namespace mechanician
