#include "mechanician/motion/kkt_factors.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>

namespace mechanician {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// A chain of coupled masses with random rows of neighbours, some of them sums of others.
struct Random {
  explicit Random(unsigned seed, int num_dependent, bool singular = false, bool coupled = true) : random(seed) {
    EquationFacts& f = facts;
    f.n = 12, f.m = 6 + num_dependent;
    f.num_constraints = f.m;
    f.pattern.n = f.n, f.pattern.m = f.m;
    for (int i = 0; i < f.n; ++i) {
      if (singular && i == f.n - 1) continue;  // held by the last of the independent rows
      f.pattern.M.push_back({i, i}), M.push_back(2.0 + any());
      if (i > 0 && coupled) f.pattern.M.push_back({i, i - 1}), M.push_back(0.5 * any());
    }
    A = MatrixXd::Zero(f.m, f.n);
    for (int j = 0; j < 6; ++j)
      for (int k = 0; k < 3; ++k) A(j, 2 * j + (k == 2 && j == 5 ? 1 : k)) += 1.0 + any();
    for (int j = 6; j < f.m; ++j) A.row(j) = any() * A.row(j - 6) + (1.5 + any()) * A.row(j - 5);
    for (int j = 0; j < f.m; ++j)
      for (int i = 0; i < f.n; ++i)
        if (A(j, i) != 0.0) f.pattern.A.push_back({j, i}), values.push_back(A(j, i));
    f.row_slots = list_rows(f.pattern);
    for (int j = 0; j < f.m; ++j) all.candidates.push_back(j);
    off.assign(static_cast<std::size_t>(f.m), 0);
  }
  double any() { return std::uniform_real_distribution<double>(-0.5, 0.5)(random); }
  VectorXd vector(int size) {
    VectorXd x(size);
    for (double& v : x) v = any();
    return x;
  }
  KktFactors::Matrices at() const { return {M.data(), values.data()}; }

  std::mt19937 random;
  EquationFacts facts;
  std::vector<double> M, values;
  MatrixXd A;
  RowSet all;
  std::vector<char> off;
};

TEST(KktFactors, BothKindsGiveTheSameSolutions) {
  for (unsigned seed = 1; seed <= 20; ++seed)
    for (const int dependent : {0, 3})
      for (const bool singular : {false, true}) {
        SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << dependent << ", " << singular);
        Random r(seed, dependent, singular);
        const int n = r.facts.n, m = r.facts.m;
        const VectorXd f = r.vector(n), x0 = r.vector(n), g = r.A * x0;
        VectorXd x[2] = {VectorXd(n), VectorXd(n)}, lambda[2] = {VectorXd(m), VectorXd(m)};
        for (const bool sparse : {false, true}) {
          const auto factors = sparse ? make_sparse_kkt(r.facts) : make_dense_kkt(r.facts);
          RowSet set = r.all;
          EXPECT_EQ(factors->judge_mass(r.at()), singular ? MassKind::semidefinite : MassKind::definite);
          factors->singular_mass = singular;
          ASSERT_TRUE(factors->choose(r.at(), set, r.off, KktFactors::Mass::exact));
          ASSERT_EQ(set.kept.size(), 6u);
          ASSERT_TRUE(factors->factor(r.at(), set, KktFactors::Mass::exact));
          ASSERT_TRUE(factors->solve(f.data(), g.data(), x[sparse].data(), lambda[sparse].data()));
          EXPECT_LT((r.A * x[sparse] - g).norm(), 1e-10);
          // Of least norm there is one, whichever rows were kept.
          ASSERT_TRUE(factors->spread(set, r.off, lambda[sparse].data()));
        }
        EXPECT_LT((x[0] - x[1]).norm(), 1e-9);
        EXPECT_LT((lambda[0] - lambda[1]).norm(), 1e-7 * (1.0 + lambda[0].norm()));
      }
}

TEST(KktFactors, BothKindsFindTheSameVolumeBetweenRows) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random r(seed, 0, false, false);
    double volume[2] = {1.0, 1.0};
    std::vector<double> inverse(6), sizes(6), first;
    for (const bool sparse : {false, true}) {
      const auto factors = sparse ? make_sparse_kkt(r.facts) : make_dense_kkt(r.facts);
      ASSERT_TRUE(factors->calc_pivots(r.at(), r.all.candidates, inverse, sizes));
      for (std::size_t k = 0; k < 6; ++k) {
        volume[sparse] *= inverse[k];
        EXPECT_LE(1.0 / (inverse[k] * sizes[k]), 1.0 + 1e-12);  // a square of a sine
        if (sparse) {
          EXPECT_NEAR(sizes[k], first[k], 1e-12 * sizes[k]);
        }
      }
      first = sizes;
    }
    EXPECT_NEAR(volume[1], volume[0], 1e-10 * volume[0]);
  }
}

/// Masses that are coupled show in the sines, but not in whether there are any.
TEST(KktFactors, ASineVanishesWhereARowDependsOnOthers) {
  for (unsigned seed = 1; seed <= 20; ++seed)
    for (const int dependent : {0, 1}) {
      Random r(seed, dependent);
      const std::size_t m = r.all.candidates.size();
      std::vector<double> inverse(m), sizes(m);
      for (const bool sparse : {false, true}) {
        const auto factors = sparse ? make_sparse_kkt(r.facts) : make_dense_kkt(r.facts);
        ASSERT_TRUE(factors->calc_pivots(r.at(), r.all.candidates, inverse, sizes));
        double least = 1.0;
        for (std::size_t k = 0; k < m; ++k) least = std::min(least, 1.0 / (inverse[k] * sizes[k]));
        EXPECT_EQ(least < 1e-12, dependent == 1) << "seed " << seed << ", sparse " << sparse << ": " << least;
      }
    }
}

TEST(KktFactors, TheMetricOfBothKindsIsThatOfTheMasses) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    Random r(seed, 0);
    const int n = r.facts.n;
    MatrixXd M = MatrixXd::Zero(n, n);
    for (std::size_t k = 0; k < r.M.size(); ++k) {
      const auto [i, j] = r.facts.pattern.M[k];
      M(i, j) = M(j, i) = r.M[k];
    }
    for (const bool sparse : {false, true}) {
      const auto factors = sparse ? make_sparse_kkt(r.facts) : make_dense_kkt(r.facts);
      ASSERT_TRUE(factors->make_metric(r.at()));
      const VectorXd a = r.vector(n), b = r.vector(n);
      VectorXd za = a, zb = b;
      factors->to_metric(za.data()), factors->to_metric(zb.data());
      EXPECT_NEAR(za.dot(zb), a.dot(M.ldlt().solve(b)), 1e-13);
      factors->from_metric(zb.data());
      EXPECT_LT((zb - M.ldlt().solve(b)).norm(), 1e-13);
    }
  }
}

TEST(KktFactors, MultipliersOfAForceAreOfLeastNorm) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    Random r(seed, 3);
    const VectorXd lambda = r.vector(r.facts.m), force = r.A.transpose() * lambda;
    const VectorXd expected = r.A.transpose().completeOrthogonalDecomposition().solve(force);
    for (const bool sparse : {false, true}) {
      const auto factors = sparse ? make_sparse_kkt(r.facts) : make_dense_kkt(r.facts);
      VectorXd found(r.facts.m);
      ASSERT_TRUE(factors->calc_multipliers(r.at(), force.data(), found.data()));
      EXPECT_LT((found - expected).norm(), 1e-6) << "seed " << seed << ", sparse " << sparse;
    }
  }
}

/// Rows that were chosen stay where others would do as well: a motion must not see them change.
TEST(KktFactors, AChoiceStaysWhatItIs) {
  Random r(7, 3);
  const auto factors = make_sparse_kkt(r.facts);
  RowSet set = r.all;
  ASSERT_TRUE(factors->choose(r.at(), set, r.off, KktFactors::Mass::exact));
  set.rank = 6;
  const std::vector<int> kept = set.kept;
  for (int k = 0; k < 5; ++k) {
    for (double& mass : r.M) mass *= 1.0 + 1e-3 * r.any();
    ASSERT_TRUE(factors->choose(r.at(), set, r.off, KktFactors::Mass::exact));
    EXPECT_EQ(set.kept, kept);
  }
}

}  // namespace
}  // namespace mechanician
