#include "mechanician/solve/diagnosis.hpp"

#include <gtest/gtest.h>

namespace mechanician {
namespace {

InstantValues unit_mass(const Eigen::MatrixXd& A, const Eigen::VectorXd& b) {
  InstantValues v;
  v.M = Eigen::MatrixXd::Identity(A.cols(), A.cols());
  v.Q = Eigen::VectorXd::Zero(A.cols());
  v.A = A;
  v.b = b;
  return v;
}

TEST(Diagnosis, names_the_three_rows_that_contradict_and_not_the_fourth) {
  Eigen::MatrixXd A(4, 3);
  A << 1, 1, 0, 1, -1, 0, 0, 0, 1, 1, 0, 0;
  const auto d = diagnose(unit_mass(A, Eigen::Vector4d(1, 0, 0, 2)));
  EXPECT_FALSE(d.consistent);
  EXPECT_EQ(d.status, SolveStatus::inconsistent);
  ASSERT_EQ(d.conflicts.size(), 1u);
  EXPECT_EQ(d.conflicts[0].rows, (std::vector<Eigen::Index>{0, 1, 3}));
  EXPECT_NEAR(std::abs(d.conflicts[0].residual), 1.5, 1e-14);
  EXPECT_EQ(d.redundant, (std::vector<Eigen::Index>{3}));
  ASSERT_EQ(d.depends[0].on, (std::vector<Eigen::Index>{0, 1}));
  EXPECT_NEAR(d.depends[0].coefficients[0], 0.5, 1e-15);
  EXPECT_NEAR(d.depends[0].coefficients[1], 0.5, 1e-15);
}

}  // namespace
}  // namespace mechanician
