#include "mechanician/solve/sparse_diagnosis.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "mechanician/solve/dense_values_for_test.hpp"
#include "mechanician/solve/diagnosis.hpp"
#include "mechanician/solve/factorisation.hpp"
#include "mechanician/solve/sparse_system_for_test.hpp"

namespace mechanician {
namespace {

using Eigen::Index;
using testing::make_chain;
using testing::make_random;
using testing::SparseSystem;

testing::DenseValues dense(const SparseSystem& s) {
  testing::DenseValues v;
  v.M = Eigen::MatrixXd::Zero(s.pattern.n, s.pattern.n);
  v.A = Eigen::MatrixXd::Zero(s.pattern.m, s.pattern.n);
  for (std::size_t k = 0; k < s.M.size(); ++k)
    v.M(s.pattern.M[k].row, s.pattern.M[k].col) = v.M(s.pattern.M[k].col, s.pattern.M[k].row) = s.M[k];
  for (std::size_t k = 0; k < s.A.size(); ++k) v.A(s.pattern.A[k].row, s.pattern.A[k].col) = s.A[k];
  v.Q = Eigen::Map<const Eigen::VectorXd>(s.f.data(), s.pattern.n);
  v.b = Eigen::Map<const Eigen::VectorXd>(s.g.data(), s.pattern.m);
  return v;
}

std::vector<int> to_int(const std::vector<Index>& x) { return {x.begin(), x.end()}; }

void expect_as_dense(const SparseSystem& s) {
  SparseRobust robust(s.pattern);
  const SparseRobustSolution solution = robust.solve(s.M, s.A, s.f, s.g);
  const SparseDiagnosis d = diagnose_sparse(s.pattern, s.M, s.A, s.g, solution);
  const testing::DenseValues values = dense(s);
  const Diagnosis expected = diagnose(values);
  EXPECT_EQ(d.rank, expected.rank);
  EXPECT_TRUE(d.explained);
  EXPECT_EQ(d.redundant, to_int(expected.redundant));
  EXPECT_EQ(d.multipliers_undetermined, to_int(expected.multipliers_undetermined));
  EXPECT_EQ(d.consistent, expected.consistent);
  ASSERT_EQ(d.depends.size(), expected.depends.size());
  for (std::size_t k = 0; k < d.depends.size(); ++k) {
    EXPECT_EQ(d.depends[k].rows, to_int(expected.depends[k].on)) << "row " << d.depends[k].row;
    if (d.depends[k].rows.size() != expected.depends[k].on.size()) continue;
    for (std::size_t i = 0; i < d.depends[k].rows.size(); ++i) {
      const double c = expected.depends[k].coefficients[i];
      EXPECT_NEAR(d.depends[k].coefficients[i], c, 1e-8 * (1 + std::abs(c)));
    }
  }
  // With more rows than that the dense search lists only some of them.
  std::set<int> involved;
  for (const std::vector<int>& set : d.conflicts) involved.insert(set.begin(), set.end());
  if (static_cast<Index>(involved.size()) <= all_conflicts_up_to) {
    std::vector<std::vector<int>> sets;
    for (const Conflict& c : expected.conflicts) sets.push_back(to_int(c.rows));
    EXPECT_EQ(d.conflicts, sets);
  }
  if (!d.consistent) return;
  const Solution x = solve(factor(values), values);
  const std::vector<double> lambda = calc_least_norm_multipliers(solution.lambda, d.basis);
  for (int r = 0; r < s.pattern.m; ++r)
    EXPECT_NEAR(lambda[r], x.multipliers(r), 1e-7 * (1 + x.multipliers.cwiseAbs().maxCoeff())) << "row " << r;
}

TEST(SparseDiagnosis, IsTheDenseOneOnRandomSystems) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_as_dense(
        make_random({.n = 40, .m = 14, .coupling = seed % 2 ? 0.5 : 0.0, .num_repeated = int(seed % 6)}, seed));
  }
}

TEST(SparseDiagnosis, IsTheDenseOneWhereRowsContradict) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SparseSystem s = make_random({.n = 40, .m = 14, .num_repeated = 2 + int(seed % 4)}, seed);
    s.g.back() += 0.5;
    expect_as_dense(s);
  }
}

/// A conflict is a set of rows with yᵀA = 0, yᵀg ≠ 0 that no row can leave: its rank is one less than its size, and so is that
/// of the rows without any one of them.
void expect_irreducible(const SparseSystem& s, const std::vector<int>& set) {
  const testing::DenseValues all = dense(s);
  const auto size = static_cast<Index>(set.size());
  for (int left_out = -1; left_out < static_cast<int>(set.size()); ++left_out) {
    std::vector<Index> rows;
    for (int k = 0; k < static_cast<int>(set.size()); ++k)
      if (k != left_out) rows.push_back(set[static_cast<std::size_t>(k)]);
    testing::DenseValues some = all;
    some.A = all.A(rows, Eigen::all);
    some.b = all.b(rows);
    const Diagnosis d = diagnose(some);
    EXPECT_EQ(d.consistent, left_out >= 0);
    EXPECT_EQ(d.rank, size - 1);
  }
}

TEST(SparseDiagnosis, ConflictsAreIrreducibleAndCoverTheirRowsOnBothWays) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SparseSystem s = make_random({.n = 40, .m = 8, .num_repeated = 4}, seed);
    s.g.back() += 0.5;
    SparseRobust robust(s.pattern);
    const SparseRobustSolution solution = robust.solve(s.M, s.A, s.f, s.g);
    std::vector<std::vector<int>> covered;
    for (const int dense_conflicts : {200, 0}) {
      const SparseDiagnosis d =
          diagnose_sparse(s.pattern, s.M, s.A, s.g, solution, {.dense_conflicts = dense_conflicts});
      ASSERT_FALSE(d.conflicts.empty());
      std::vector<int> rows;
      for (const std::vector<int>& set : d.conflicts) {
        expect_irreducible(s, set);
        rows.insert(rows.end(), set.begin(), set.end());
      }
      std::sort(rows.begin(), rows.end());
      rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
      covered.push_back(rows);
    }
    EXPECT_EQ(covered[0], covered[1]);
  }
}

TEST(SparseDiagnosis, AChainWithRodsTwiceAndThreeTimes) {
  SparseSystem s = make_chain(60, 0.4);
  const auto repeat = [&](int row, double factor) {
    const int copy = s.pattern.m++;
    const std::size_t entries = s.A.size();
    for (std::size_t k = 0; k < entries; ++k)
      if (s.pattern.A[k].row == row) s.add_row_entry(copy, s.pattern.A[k].col, factor * s.A[k]);
    s.g.push_back(factor * s.g[static_cast<std::size_t>(row)]);
  };
  for (int k = 1; k <= 3; ++k) repeat(20 * k - 1, 2.0);
  for (int k = 1; k <= 3; ++k) repeat(20 * k - 11, -1.0);
  for (int k = 1; k <= 3; ++k) repeat(20 * k - 11, 0.5);
  expect_as_dense(s);
  s.g[64] += 1.0, s.g[67] -= 0.1;
  expect_as_dense(s);
  SparseRobust robust(s.pattern);
  const SparseDiagnosis d = diagnose_sparse(s.pattern, s.M, s.A, s.g, robust.solve(s.M, s.A, s.f, s.g));
  EXPECT_EQ(d.conflicts, (std::vector<std::vector<int>>{{29, 64}, {29, 67}, {64, 67}}));
}

}  // namespace
}  // namespace mechanician
