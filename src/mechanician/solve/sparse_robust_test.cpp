#include "mechanician/solve/sparse_robust.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>

#include "mechanician/solve/sparse_system_for_test.hpp"

namespace mechanician {
namespace {

using testing::make_chain;
using testing::make_random;
using testing::SparseSystem;
using LongMatrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
using LongVector = Eigen::Matrix<long double, Eigen::Dynamic, 1>;

constexpr double eps = std::numeric_limits<double>::epsilon();

/// x by a null space of A in extended precision (form F5 of U23).
LongVector solve_dense(const SparseSystem& s, int rank) {
  const int n = s.pattern.n, m = s.pattern.m;
  LongMatrix M = LongMatrix::Zero(n, n), At = LongMatrix::Zero(n, m);
  LongVector f(n), g(m);
  for (std::size_t k = 0; k < s.M.size(); ++k)
    M(s.pattern.M[k].row, s.pattern.M[k].col) = M(s.pattern.M[k].col, s.pattern.M[k].row) = s.M[k];
  for (std::size_t k = 0; k < s.A.size(); ++k) At(s.pattern.A[k].col, s.pattern.A[k].row) = s.A[k];
  for (int i = 0; i < n; ++i) f[i] = s.f[i];
  for (int r = 0; r < m; ++r) g[r] = s.g[r];
  const Eigen::ColPivHouseholderQR<LongMatrix> qr(At);
  const LongMatrix Q = qr.householderQ();
  const LongMatrix V1 = Q.leftCols(rank), V2 = Q.rightCols(n - rank);
  const LongVector g_first = (qr.colsPermutation().transpose() * g).head(rank);
  const LongMatrix R = qr.matrixR().topLeftCorner(rank, rank);
  const LongVector y = R.transpose().triangularView<Eigen::Lower>().solve(g_first);
  const LongVector x0 = V1 * y;
  return x0 + V2 * (V2.transpose() * M * V2).ldlt().solve(V2.transpose() * (f - M * x0));
}

double difference(const std::vector<double>& x, const LongVector& expected) {
  long double most = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    most = std::max(most, std::abs(x[i] - expected[static_cast<Eigen::Index>(i)]));
  return static_cast<double>(most / expected.cwiseAbs().maxCoeff());
}

/// A further row: row 7 of the chain, turned by an angle of about `sine`.
SparseSystem nearly_twice(double sine) {
  SparseSystem s = make_chain(20, 0.4);
  const int row = s.pattern.m++;
  for (std::size_t k = 0; k < s.pattern.A.size(); ++k)
    if (s.pattern.A[k].row == 7) s.add_row_entry(row, s.pattern.A[k].col, s.A[k]);
  s.add_row_entry(row, 45, sine);
  s.g.push_back(s.g[7] + 0.3 * sine);
  return s;
}

TEST(SparseRobust, TellsAnglesThatEliminationCannotSee) {
  for (const double sine : {1e-3, 1e-5, 1e-6, 1e-7, 5e-8}) {
    const SparseSystem s = nearly_twice(sine);
    SparseRobust robust(s.pattern);
    const SparseRobustSolution solution = robust.solve(s.M, s.A, s.f, s.g);
    EXPECT_EQ(solution.status, SparseStatus::vouched) << sine << " residual " << solution.residual;
    EXPECT_EQ(solution.rank, 21) << sine;
    EXPECT_TRUE(solution.dependences.empty());
    EXPECT_LT(difference(solution.x, solve_dense(s, 21)), 1e3 * eps / sine) << sine;
  }
}

TEST(SparseRobust, CallsADecisionNearWhereItIs) {
  const SparseSystem s = nearly_twice(3e-10);
  SparseRobust robust(s.pattern);
  EXPECT_TRUE(robust.solve(s.M, s.A, s.f, s.g).near_decision);
}

TEST(SparseRobust, RandomSystemsWithRepeatedRowsAgreeWithDenseSolutions) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const SparseSystem s =
        make_random({.n = 40, .m = 12, .coupling = seed % 2 ? 0.5 : 0.0, .num_repeated = int(seed % 4)}, seed);
    LongMatrix A = LongMatrix::Zero(s.pattern.m, s.pattern.n);
    for (std::size_t k = 0; k < s.A.size(); ++k) A(s.pattern.A[k].row, s.pattern.A[k].col) = s.A[k];
    Eigen::ColPivHouseholderQR<LongMatrix> qr(A);
    qr.setThreshold(1e-13L);
    SparseRobust robust(s.pattern);
    const SparseRobustSolution solution = robust.solve(s.M, s.A, s.f, s.g);
    EXPECT_EQ(solution.status, SparseStatus::vouched) << solution.residual;
    EXPECT_EQ(solution.rank, qr.rank());
    EXPECT_LT(difference(solution.x, solve_dense(s, static_cast<int>(qr.rank()))), 1e-9);
    for (const SparseDependence& d : solution.dependences) {
      EXPECT_FALSE(d.contradicts);
      LongVector rest = A.row(d.row).transpose();
      for (std::size_t k = 0; k < d.rows.size(); ++k) rest -= d.coefficients[k] * A.row(d.rows[k]).transpose();
      EXPECT_LT(rest.norm(), 1e-8L * A.row(d.row).norm());
    }
  }
}

TEST(SparseRobust, NamesTheRowsThatContradictAndTheirCoefficients) {
  SparseSystem s = make_chain(50, 0.4);
  // 2·(row 10) − (row 30), with a right-hand side that does not fit.
  const int row = s.pattern.m++;
  for (std::size_t k = 0; k < s.pattern.A.size(); ++k) {
    if (s.pattern.A[k].row == 10) s.add_row_entry(row, s.pattern.A[k].col, 2 * s.A[k]);
    if (s.pattern.A[k].row == 30) s.add_row_entry(row, s.pattern.A[k].col, -s.A[k]);
  }
  s.g.push_back(2 * s.g[10] - s.g[30] + 0.25);
  SparseRobust robust(s.pattern);
  const SparseRobustSolution solution = robust.solve(s.M, s.A, s.f, s.g);
  EXPECT_EQ(solution.status, SparseStatus::contradiction);
  ASSERT_EQ(solution.dependences.size(), 1u);
  const SparseDependence& d = solution.dependences[0];
  EXPECT_TRUE(d.contradicts);
  // Which of the three comes last depends on the order; the set does not.
  std::vector<int> all = d.rows;
  all.push_back(d.row);
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, (std::vector<int>{10, 30, 50}));
  const double factor = d.row == 50 ? 1 : d.row == 10 ? -0.5 : 1;
  EXPECT_NEAR(d.mismatch, 0.25 * factor, 1e-12);
}

TEST(SparseRobust, NamesAllRodsOfAStraightChainBetweenWalls) {
  const int N = 300;
  SparseSystem s = make_chain(N, 0.0, true);
  SparseRobust robust(s.pattern);
  const SparseRobustSolution solution = robust.solve(s.M, s.A, s.f, s.g);
  EXPECT_EQ(solution.status, SparseStatus::contradiction);
  ASSERT_EQ(solution.dependences.size(), 1u);
  EXPECT_EQ(static_cast<int>(solution.dependences[0].rows.size()), N);
  for (const double c : solution.dependences[0].coefficients) EXPECT_NEAR(std::abs(c), 1.0, 1e3 * N * eps);
  // At rest nothing contradicts.
  std::fill(s.g.begin(), s.g.end(), 0.0);
  EXPECT_EQ(robust.solve(s.M, s.A, s.f, s.g).status, SparseStatus::vouched);
}

/// All rows twice.
SparseSystem all_twice(SparseSystem s) {
  const std::size_t entries = s.A.size();
  const int m = s.pattern.m;
  for (std::size_t k = 0; k < entries; ++k) s.add_row_entry(m + s.pattern.A[k].row, s.pattern.A[k].col, s.A[k]);
  for (int r = 0; r < m; ++r) s.g.push_back(s.g[r]);
  s.pattern.m = 2 * m;
  return s;
}

TEST(SparseRobust, SaysWhenTooMuchIsToBeExplained) {
  // The straight chain between walls is explained by all its rows: no neighbourhood tells.
  SparseSystem s = all_twice(make_chain(30, 0.0, true));
  std::fill(s.g.begin(), s.g.end(), 0.0);
  SparseRobust few(s.pattern, {.most_work = 1}), enough(s.pattern);
  SparseRobustSolution solution = few.solve(s.M, s.A, s.f, s.g);
  EXPECT_EQ(solution.status, SparseStatus::vouched);
  EXPECT_EQ(solution.rank, 30);
  EXPECT_EQ(solution.dependent.size(), 32u);
  EXPECT_FALSE(solution.explained);
  solution = enough.solve(s.M, s.A, s.f, s.g);
  EXPECT_EQ(solution.status, SparseStatus::vouched);
  EXPECT_TRUE(solution.explained);
  EXPECT_EQ(solution.dependences.size(), 32u);
}

TEST(SparseRobust, ExplainsManyRowsWithFewSolutions) {
  const SparseSystem s = all_twice(make_chain(3000, 0.4));
  SparseRobust robust(s.pattern);
  const SparseRobustSolution solution = robust.solve(s.M, s.A, s.f, s.g);
  EXPECT_EQ(solution.rank, 3000);
  ASSERT_EQ(solution.dependences.size(), 3000u);
  for (const SparseDependence& d : solution.dependences) {
    ASSERT_EQ(d.rows.size(), 1u);
    EXPECT_EQ(d.rows[0] % 3000, d.row % 3000);
    EXPECT_NEAR(d.coefficients[0], 1.0, 1e-12);
  }
  EXPECT_LT(solution.num_solutions, 100);
}

TEST(SparseRobust, ExplainsALongDependenceAmongManyShortOnes) {
  const int N = 400;
  SparseSystem s = all_twice(make_chain(N, 0.0, true));
  std::fill(s.g.begin(), s.g.end(), 0.0);
  SparseRobust robust(s.pattern);
  const SparseRobustSolution solution = robust.solve(s.M, s.A, s.f, s.g);
  EXPECT_EQ(solution.status, SparseStatus::vouched) << solution.residual;
  EXPECT_EQ(solution.rank, N);
  ASSERT_EQ(solution.dependences.size(), static_cast<std::size_t>(N + 2));
  int longest = 0;
  for (const SparseDependence& d : solution.dependences) longest += static_cast<int>(d.rows.size()) == N ? 1 : 0;
  EXPECT_EQ(longest, 2);  // both copies of the row that closes the chain
}

}  // namespace
}  // namespace mechanician
