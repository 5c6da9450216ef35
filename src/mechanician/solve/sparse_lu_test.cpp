#include "mechanician/solve/sparse_lu.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>

#include "mechanician/solve/eigen_decompositions.hpp"

namespace mechanician {
namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

/// A saddle point without symmetry: [K₁ K₂; K₃ 0] on a random pattern, some entries given twice.
struct Saddle {
  Saddle(unsigned seed, int n, int m) : random(seed), size(n + m) {
    for (int i = 0; i < n; ++i) entries.push_back({i, i});
    for (int k = 0; k < 3 * n; ++k) entries.push_back({any(n), any(n)});
    // Row j holds coordinate j at least: they are independent as a rule.
    for (int j = 0; j < m; ++j)
      for (const int i : {j, any(n), any(n)}) entries.push_back({n + j, i}), entries.push_back({i, n + j});
  }
  int any(int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }
  double number() { return std::uniform_real_distribution<double>(-1.0, 1.0)(random); }

  /// New values into the matrix, and the same dense.
  Eigen::MatrixXd set(SparseLu& lu) {
    Eigen::MatrixXd K = Eigen::MatrixXd::Zero(size, size);
    std::fill(lu.values().begin(), lu.values().end(), 0.0);
    for (std::size_t k = 0; k < entries.size(); ++k) {
      const double x = number() + (entries[k].row == entries[k].col ? 3.0 : 0.0);
      K(entries[k].row, entries[k].col) += x;
      lu.values()[static_cast<std::size_t>(lu.places()[k])] += x;
    }
    return K;
  }
  std::mt19937 random;
  int size;
  std::vector<SparseEntry> entries;
};

TEST(SparseLu, solves_as_a_dense_factor_does_with_pivots_new_and_kept) {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    Saddle saddle(seed, 5 + static_cast<int>(seed % 7) * 6, static_cast<int>(seed % 4));
    SparseLu lu(saddle.size, saddle.entries, seed % 2 ? SparseLu::Kind::general : SparseLu::Kind::diagonal);
    for (int round = 0; round < 4; ++round) {
      if (round == 3) lu.forget();
      const Eigen::MatrixXd K = saddle.set(lu);
      ASSERT_TRUE(lu.factor());
      Eigen::VectorXd r(saddle.size);
      for (double& x : r) x = saddle.number();
      Eigen::VectorXd x = r;
      lu.solve(x.data());
      const Eigen::VectorXd dense = Eigen::PartialPivLU<Eigen::MatrixXd>(K).solve(r);
      const double condition = K.norm() * K.inverse().norm();
      EXPECT_LT((x - dense).norm(), 1e3 * eps * condition * dense.norm());
    }
  }
}

TEST(SparseLu, gives_the_same_bits_after_forget_whatever_came_before) {
  Saddle a(5, 40, 6), b(5, 40, 6);
  SparseLu fresh(a.size, a.entries, SparseLu::Kind::general), used(b.size, b.entries, SparseLu::Kind::general);
  for (std::size_t k = 0; k < 5; ++k) b.set(used), used.factor();
  a.random.seed(9), b.random.seed(9);
  a.set(fresh), b.set(used);
  used.forget();
  ASSERT_TRUE(fresh.factor() && used.factor());
  std::vector<double> x(static_cast<std::size_t>(a.size), 1.0), y = x;
  fresh.solve(x.data()), used.solve(y.data());
  EXPECT_EQ(std::memcmp(x.data(), y.data(), x.size() * sizeof(double)), 0);
}

TEST(SparseLu, chooses_other_pivots_where_the_kept_ones_are_no_longer_good) {
  const std::vector<SparseEntry> entries{{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  SparseLu lu(2, entries, SparseLu::Kind::general);
  const auto solve = [&](double a, double b, double c, double d) {
    const double values[] = {a, b, c, d};
    for (std::size_t k = 0; k < 4; ++k) lu.values()[static_cast<std::size_t>(lu.places()[k])] = values[k];
    EXPECT_TRUE(lu.factor());
    Eigen::Vector2d x(1.0, 2.0);
    lu.solve(x.data());
    return std::max(std::abs(a * x[0] + b * x[1] - 1.0), std::abs(c * x[0] + d * x[1] - 2.0));
  };
  EXPECT_LT(solve(1.0, 0.5, 0.5, 1.0), 4.0 * eps);
  EXPECT_LT(solve(1e-14, 1.0, 1.0, 1e-14), 4.0 * eps);
}

TEST(SparseLu, says_where_there_is_no_factor) {
  const std::vector<SparseEntry> entries{{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  SparseLu lu(2, entries, SparseLu::Kind::general);
  std::fill(lu.values().begin(), lu.values().end(), 1.0);
  EXPECT_FALSE(lu.factor());
  lu.values()[0] = 2.0;
  EXPECT_TRUE(lu.factor());
  std::fill(lu.values().begin(), lu.values().end(), 1.0);
  EXPECT_FALSE(lu.factor());
  lu.values()[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(lu.factor());
  // A column without entries.
  const std::vector<SparseEntry> half{{0, 0}, {1, 0}};
  EXPECT_FALSE(SparseLu(2, half, SparseLu::Kind::general).factor());
}

}  // namespace
}  // namespace mechanician
