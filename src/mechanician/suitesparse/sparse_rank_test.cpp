#include "mechanician/suitesparse/sparse_rank.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "mechanician/solve/sparse_system_for_test.hpp"

namespace mechanician {
namespace {

using testing::make_chain;
using testing::make_net;
using testing::make_random;
using testing::SparseSystem;

/// Largest entry of a_row − Σ c a_k, against the largest of a_row.
double left_of(const SparseSystem& s, const SparseDependence& d) {
  std::vector<double> rest(s.pattern.n, 0.0);
  double size = 0, most = 0;
  for (std::size_t e = 0; e < s.A.size(); ++e) {
    const auto [row, col] = s.pattern.A[e];
    if (row == d.row) rest[col] += s.A[e], size = std::max(size, std::abs(s.A[e]));
    for (std::size_t k = 0; k < d.rows.size(); ++k)
      if (d.rows[k] == row) rest[col] -= d.coefficients[k] * s.A[e];
  }
  for (const double value : rest) most = std::max(most, std::abs(value));
  return most / size;
}

TEST(SparseRank, AgreesWithTheRobustPathOnRandomSystems) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const SparseSystem s =
        make_random({.n = 60, .m = 20, .coupling = seed % 2 ? 0.4 : 0.0, .num_repeated = int(seed % 6)}, seed);
    SparseRobust robust(s.pattern);
    const SparseRobustSolution solution = robust.solve(s.M, s.A, s.f, s.g);
    const SparseRank rank = find_sparse_rank(s.pattern, s.M, s.A);
    EXPECT_EQ(rank.rank, solution.rank);
    EXPECT_EQ(rank.dependences.size(), solution.dependences.size());
    for (const SparseDependence& d : rank.dependences) EXPECT_LT(left_of(s, d), 1e-8);
  }
}

TEST(SparseRank, NamesManyRepeatedRows) {
  SparseSystem s = make_chain(2000, 0.4);
  const std::size_t entries = s.A.size();
  for (std::size_t k = 0; k < entries; ++k) s.add_row_entry(2000 + s.pattern.A[k].row, s.pattern.A[k].col, 3 * s.A[k]);
  s.pattern.m = 4000;
  const SparseRank rank = find_sparse_rank(s.pattern, s.M, s.A);
  EXPECT_EQ(rank.rank, 2000);
  ASSERT_EQ(rank.dependences.size(), 2000u);
  for (const SparseDependence& d : rank.dependences) {
    ASSERT_EQ(d.rows.size(), 1u);
    EXPECT_EQ(d.rows[0] % 2000, d.row % 2000);
    EXPECT_NEAR(d.coefficients[0], d.row >= 2000 ? 3.0 : 1.0 / 3, 1e-12);
  }
}

TEST(SparseRank, NetsThatAreNotFlatHaveFullRank) {
  const SparseSystem s = make_net(20);
  EXPECT_EQ(find_sparse_rank(s.pattern, s.M, s.A).rank, s.pattern.m);
}

}  // namespace
}  // namespace mechanician
