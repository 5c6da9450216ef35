#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "mechanician/solve/dense_values_for_test.hpp"
#include "mechanician/solve/eigen_decompositions.hpp"
#include "mechanician/solve/random_system_for_test.hpp"

namespace mechanician::testing {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

VectorXd random_vector(std::mt19937_64& random, Index size) { return random_matrix(random, size, 1); }

MatrixXd random_matrix(std::mt19937_64& random, Index rows, Index cols) {
  std::normal_distribution<double> normal;
  MatrixXd X(rows, cols);
  for (Index j = 0; j < cols; ++j) {
    for (Index i = 0; i < rows; ++i) X(i, j) = normal(random);
  }
  return X;
}

MatrixXd random_orthogonal(std::mt19937_64& random, Index size) {
  if (size == 0) return MatrixXd(0, 0);
  const Eigen::HouseholderQR<MatrixXd> qr(random_matrix(random, size, size));
  return qr.householderQ();
}

int random_int(std::mt19937_64& random, int from, int to) {
  return std::uniform_int_distribution<int>(from, to)(random);
}

double random_real(std::mt19937_64& random, double from, double to) {
  return std::uniform_real_distribution<double>(from, to)(random);
}

VectorXd singular_values(const MatrixXd& X) {
  if (X.size() == 0) return VectorXd(0);
  return Eigen::JacobiSVD<MatrixXd>(X).singularValues();
}

MatrixXd null_basis_by_svd(const MatrixXd& X, Index rank) {
  if (X.size() == 0) return MatrixXd::Identity(X.cols(), X.cols());
  const Eigen::JacobiSVD<MatrixXd> svd(X, Eigen::ComputeFullV);
  return svd.matrixV().rightCols(X.cols() - rank);
}

MatrixXd pinv_by_svd(const MatrixXd& X, Index rank) {
  if (X.size() == 0 || rank == 0) return MatrixXd::Zero(X.cols(), X.rows());
  const Eigen::JacobiSVD<MatrixXd> svd(X, Eigen::ComputeThinU | Eigen::ComputeThinV);
  return svd.matrixV().leftCols(rank) * svd.singularValues().head(rank).cwiseInverse().asDiagonal() *
         svd.matrixU().leftCols(rank).transpose();
}

int num_systems(int ordinary) {
#ifdef MECHANICIAN_SANITIZED
  return std::max(1, ordinary / 20);
#else
  return ordinary;
#endif
}

SystemSpec random_spec(std::mt19937_64& random, double max_log_condition, bool singular_mass) {
  SystemSpec spec;
  spec.n = random_int(random, 1, 12);
  spec.mass_defect = singular_mass ? random_int(random, 1, std::max(1, spec.n / 2)) : 0;
  spec.rank = random_int(random, spec.mass_defect, spec.n);
  spec.num_redundant = random_int(random, 0, 1) == 0 ? 0 : random_int(random, 1, 5);
  if (spec.rank == 0) spec.num_redundant = 0;
  spec.log_condition = random_real(random, 0.0, max_log_condition);
  spec.log_row_scale = random_int(random, 0, 1) == 0 ? 0.0 : 6.0;
  spec.nonideal = random_int(random, 0, 1) == 1;
  return spec;
}

RandomSystem make_system(std::uint64_t seed, const SystemSpec& spec) {
  std::mt19937_64 random(seed);
  const Index n = spec.n;
  const Index k = spec.rank;
  const Index m = k + spec.num_redundant;
  RandomSystem system;
  system.seed = seed;
  system.spec = spec;
  system.scale.resize(n);
  for (Index i = 0; i < n; ++i) {
    system.scale(i) = std::pow(10.0, random_real(random, -spec.log_coordinate_scale, spec.log_coordinate_scale));
  }
  const VectorXd inverse_scale = system.scale.cwiseInverse();

  // M̄ with eigenvalues in 1..10, some of them zero: massless coordinates, or massless directions.
  VectorXd eigenvalues(n);
  for (Index i = 0; i < n; ++i) eigenvalues(i) = std::pow(10.0, random_real(random, 0.0, 1.0));
  eigenvalues.head(spec.mass_defect).setZero();
  MatrixXd G = random_orthogonal(random, n);
  if (spec.mass_defect > 0 && random_int(random, 0, 1) == 0) {
    G.setIdentity();
    const Index massive = n - spec.mass_defect;
    G.bottomRightCorner(massive, massive) = random_orthogonal(random, massive);
  }
  MatrixXd Mbar = G * eigenvalues.asDiagonal() * G.transpose();
  Mbar = (0.5 * (Mbar + Mbar.transpose())).eval();
  testing::DenseValues& v = system.values;
  v.M = inverse_scale.asDiagonal() * Mbar * inverse_scale.asDiagonal();
  v.M = (0.5 * (v.M + v.M.transpose())).eval();

  // Independent rows with chosen singular values in the mass metric, x = M̄^(1/2) …; Euclidean where M is singular.
  VectorXd sigma(k);
  for (Index i = 0; i < k; ++i) {
    const double exponent = k == 1 ? 0.0 : -spec.log_condition * static_cast<double>(i) / static_cast<double>(k - 1);
    sigma(i) = std::pow(10.0, exponent);
  }
  // One after the other: the same systems with every compiler.
  const MatrixXd right = random_orthogonal(random, n);
  MatrixXd B0 = random_orthogonal(random, k) * sigma.asDiagonal() * right.topRows(k);
  MatrixXd L = MatrixXd::Identity(n, n);
  if (spec.mass_defect == 0) L = Mbar.llt().matrixL();
  system.A0 = B0 * L.transpose() * inverse_scale.asDiagonal();

  // Dependent rows: small integer or general combinations; then order and scale of all rows.
  MatrixXd combine = MatrixXd::Zero(m, k);
  combine.topRows(k).setIdentity();
  const bool integers = random_int(random, 0, 1) == 0;
  for (Index i = k; i < m; ++i) {
    for (Index j = 0; j < k; ++j) {
      if (random_int(random, 0, 2) == 0 && k > 1) continue;
      combine(i, j) = integers ? random_int(random, -3, 3) : random_real(random, -2.0, 2.0);
    }
    if (combine.row(i).isZero()) combine(i, 0) = 1.0;
  }
  std::vector<Index> order(static_cast<std::size_t>(m));
  for (Index i = 0; i < m; ++i) order[static_cast<std::size_t>(i)] = i;
  std::shuffle(order.begin(), order.end(), random);
  system.S.resize(m, k);
  for (Index i = 0; i < m; ++i) {
    const double scale = std::pow(10.0, random_real(random, -spec.log_row_scale, spec.log_row_scale));
    system.S.row(i) = scale * combine.row(order[static_cast<std::size_t>(i)]);
  }
  v.A = system.S * system.A0;

  // Either a moderate acceleration or a general right-hand side.
  const VectorXd x = random_vector(random, n);
  system.b0 =
      random_int(random, 0, 1) == 0 ? VectorXd(B0 * x) : random_vector(random, k).cwiseProduct(B0.rowwise().norm());
  v.b = system.S * system.b0;
  const double size_of_Q = std::pow(10.0, random_real(random, -1.0, 1.0));
  v.Q = inverse_scale.cwiseProduct(random_vector(random, n)) * size_of_Q;
  if (spec.nonideal) v.C = inverse_scale.cwiseProduct(random_vector(random, n));

  // What errors are to be compared with.
  const auto condition = [&](const MatrixXd& rows) {
    if (k == 0) return 1.0;
    const VectorXd values = singular_values(rows.rowwise().normalized());
    return values(0) / values(k - 1);
  };
  MatrixXd A_scaled = v.A * system.scale.asDiagonal();
  for (Index i = 0; i < m; ++i) A_scaled.row(i).normalize();
  system.kappa_euclid = condition(A_scaled);
  if (spec.mass_defect > 0) {
    // solve() scales coordinates by 1/sqrt(M_ii), or by the size of their column where they have no mass.
    VectorXd s(n);
    for (Index i = 0; i < n; ++i)
      s(i) = 1.0 / std::sqrt(Mbar(i, i) > 1e-14 ? Mbar(i, i) : A_scaled.col(i).squaredNorm());
    system.kappa_euclid = std::max(system.kappa_euclid, condition((A_scaled * s.asDiagonal()).eval()));
  }
  MatrixXd A_metric = A_scaled.transpose();
  if (m > 0) L.triangularView<Eigen::Lower>().solveInPlace(A_metric);
  system.kappa = spec.mass_defect > 0 ? system.kappa_euclid : condition(A_metric.transpose().eval());
  const MatrixXd A0_scaled = (system.A0 * system.scale.asDiagonal()).rowwise().normalized();
  const MatrixXd V2 = null_basis_by_svd(A0_scaled, k);
  if (V2.cols() > 0) {
    const VectorXd values = singular_values(V2.transpose() * Mbar * V2);
    system.Mhat_inv = 1.0 / values(values.size() - 1);
    system.kappa_mass = singular_values(Mbar)(0) * system.Mhat_inv;
  }
  const VectorXd row_norm = (system.A0 * system.scale.asDiagonal()).rowwise().norm();
  const VectorXd particular = pinv_by_svd(A0_scaled, k) * system.b0.cwiseQuotient(row_norm);
  double forces = system.scale.cwiseProduct(v.Q).norm() + Mbar.norm() * particular.norm();
  if (spec.nonideal) forces += system.scale.cwiseProduct(v.C).norm();
  system.size = particular.norm() + system.Mhat_inv * forces;
  system.size_with_a = particular.norm() + forces;  // the eigenvalues of M̄ are not less than 1
  return system;
}

RandomSystem make_random_system(std::uint64_t seed, double max_log_condition, bool singular_mass) {
  std::mt19937_64 random(seed * 7919 + 17);
  return make_system(seed, random_spec(random, max_log_condition, singular_mass));
}

OracleInput RandomSystem::oracle_input() const {
  return {values.M, values.Q, values.C.size() > 0 ? values.C : VectorXd(VectorXd::Zero(values.Q.size())), A0, b0,
          S,        scale};
}

std::string RandomSystem::describe() const {
  return fmt::format(
      "seed {} n {} rank {} redundant {} mass defect {} kappa {:.2g} mass {:.2g} row scale {} coordinates {}", seed,
      spec.n, spec.rank, spec.num_redundant, spec.mass_defect, kappa, kappa_mass, spec.log_row_scale,
      spec.log_coordinate_scale);
}

namespace {

TEST(RandomSystem, is_what_was_asked_for) {
  SystemSpec spec{.n = 7, .rank = 4, .num_redundant = 3, .mass_defect = 2, .log_condition = 3.0};
  const RandomSystem system = make_system(5, spec);
  const VectorXd rows = singular_values(system.values.A);
  EXPECT_GT(rows(3), 1e-5);
  EXPECT_LT(rows(4), 1e-14);
  const VectorXd mass = singular_values(system.values.M);
  EXPECT_GT(mass(4), 0.5);
  EXPECT_LT(mass(5), 1e-14);
}

}  // namespace
}  // namespace mechanician::testing
