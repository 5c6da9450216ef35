#include "mechanician/solve/sparse_free_directions.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include "mechanician/solve/dense_values_for_test.hpp"
#include "mechanician/solve/diagnosis.hpp"
#include "mechanician/solve/sparse_system_for_test.hpp"

namespace mechanician {
namespace {

using testing::make_random;
using testing::SparseSystem;

TEST(SparseFreeDirections, AreThoseOfTheDensePath) {
  int not_unique = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    // Each massless coordinate has a row of its own; without some of these rows the acceleration is open.
    SparseSystem s = make_random({.n = 20, .m = 8, .coupling = 0.3, .num_massless = int(seed % 5)}, seed);
    const int dropped = int(seed / 5 % 3);
    for (std::size_t k = 0; k < s.A.size(); ++k)
      if (s.pattern.A[k].row < dropped) s.A[k] = 0;
    for (int i = 0; seed % 2 == 0 && i < int(seed % 5); ++i) s.f[i] = 0;
    testing::DenseValues v;
    v.M = Eigen::MatrixXd::Zero(20, 20), v.A = Eigen::MatrixXd::Zero(8, 20);
    for (std::size_t k = 0; k < s.M.size(); ++k)
      v.M(s.pattern.M[k].row, s.pattern.M[k].col) = v.M(s.pattern.M[k].col, s.pattern.M[k].row) = s.M[k];
    for (std::size_t k = 0; k < s.A.size(); ++k) v.A(s.pattern.A[k].row, s.pattern.A[k].col) = s.A[k];
    v.Q = Eigen::Map<const Eigen::VectorXd>(s.f.data(), 20), v.b = Eigen::VectorXd::Zero(8);
    const Diagnosis expected = diagnose(v);
    const SparseFreeDirections found = find_free_directions(s.pattern, s.M, s.A, s.f);
    EXPECT_FALSE(found.mass_is_indefinite);
    EXPECT_EQ(found.mass_is_definite, seed % 5 == 0);
    EXPECT_EQ(found.undetermined.empty(), expected.unique);
    EXPECT_EQ(found.undetermined, std::vector<int>(expected.undetermined.begin(), expected.undetermined.end()));
    EXPECT_EQ(found.solvable, expected.solvable);
    not_unique += !expected.unique;
  }
  EXPECT_GT(not_unique, 10);
}

TEST(SparseFreeDirections, ANegativeMassIsSeenAndNamed) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SparseSystem s = make_random({.n = 20, .m = 8, .coupling = seed % 2 == 0 ? 0.0 : 0.3}, seed);
    EXPECT_FALSE(find_free_directions(s.pattern, s.M, s.A, s.f).mass_is_indefinite);
    Eigen::MatrixXd M = Eigen::MatrixXd::Zero(20, 20);
    for (std::size_t k = 0; k < s.M.size(); ++k) {
      if (s.pattern.M[k].row == 7 && s.pattern.M[k].col == 7) s.M[k] = -0.1;
      M(s.pattern.M[k].row, s.pattern.M[k].col) = M(s.pattern.M[k].col, s.pattern.M[k].row) = s.M[k];
    }
    const SparseFreeDirections found = find_free_directions(s.pattern, s.M, s.A, s.f);
    EXPECT_TRUE(found.mass_is_indefinite);
    // The masses that are named are indefinite among themselves; where nothing is coupled it is the one.
    ASSERT_FALSE(found.negative.empty());
    const auto size = static_cast<Eigen::Index>(found.negative.size());
    Eigen::MatrixXd named(size, size);
    for (Eigen::Index i = 0; i < size; ++i)
      for (Eigen::Index j = 0; j < size; ++j) named(i, j) = M(found.negative[i], found.negative[j]);
    EXPECT_LT(Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(named).eigenvalues()(0), 0.0);
    if (seed % 2 == 0) {
      EXPECT_EQ(found.negative, std::vector<int>{7});
    }
  }
}

}  // namespace
}  // namespace mechanician
