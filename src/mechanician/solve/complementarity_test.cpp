#include "mechanician/solve/complementarity.hpp"

#include <gtest/gtest.h>

#include <random>

#include "mechanician/base/trials_for_test.hpp"
#include "mechanician/solve/eigen_decompositions.hpp"
#include "mechanician/solve/random_system_for_test.hpp"

namespace mechanician {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

void expect_answer(const MatrixXd& M, const VectorXd& q, const Complementarity& a) {
  const VectorXd w = M * a.z + q;
  const double zero = 1e-9 * (1 + q.norm() + a.z.norm());
  EXPECT_GE(a.z.minCoeff(), -zero);
  EXPECT_GE(w.minCoeff(), -zero);
  for (Index i = 0; i < q.size(); ++i)
    EXPECT_LE(std::abs(a.positive[static_cast<std::size_t>(i)] ? w(i) : a.z(i)), zero);
}

TEST(Complementarity, of_definite_matrices_is_found_and_is_the_one_of_all_choices_tried) {
  for (unsigned seed = 1; seed <= num_trials(300); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const Index n = testing::random_int(random, 1, 7);
    const MatrixXd F = testing::random_matrix(random, n, n), skew = testing::random_matrix(random, n, n);
    const MatrixXd M = F.transpose() * F + 0.1 * MatrixXd::Identity(n, n) + skew - skew.transpose();
    VectorXd q = testing::random_vector(random, n);
    if (seed % 3 == 0) q(testing::random_int(random, 0, static_cast<int>(n) - 1)) = 0.0;
    const auto a = solve_complementarity(M, q);
    ASSERT_TRUE(a);
    expect_answer(M, q, *a);
    // A positive definite matrix, symmetric or not: one answer only.
    int found = 0;
    for (unsigned choice = 0; choice < (1u << n); ++choice) {
      std::vector<Index> basic;
      for (Index i = 0; i < n; ++i)
        if (choice >> i & 1u) basic.push_back(i);
      VectorXd z = VectorXd::Zero(n);
      if (!basic.empty()) {
        const VectorXd solved = Eigen::PartialPivLU<MatrixXd>(MatrixXd(M(basic, basic))).solve(VectorXd(-q(basic)));
        z(basic) = solved;
      }
      const VectorXd w = M * z + q;
      if (z.minCoeff() < -1e-10 || w.minCoeff() < -1e-10) continue;
      ++found;
      EXPECT_LE((z - a->z).norm(), 1e-8 * (1 + z.norm()));
    }
    EXPECT_GE(found, 1);
  }
}

TEST(Complementarity, that_has_no_answer_finds_none) {
  MatrixXd M(2, 2);
  M << 0, -1, 0, 0;
  EXPECT_FALSE(solve_complementarity(M, Eigen::Vector2d(1, -1)));
  EXPECT_FALSE(solve_complementarity(-MatrixXd::Identity(1, 1), -VectorXd::Ones(1)));
  const auto nothing = solve_complementarity(MatrixXd(0, 0), VectorXd(0));
  ASSERT_TRUE(nothing);
  EXPECT_EQ(nothing->z.size(), 0);
}

}  // namespace
}  // namespace mechanician
