#include <gtest/gtest.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <random>

#include "mechanician/solve/dense_values_for_test.hpp"
#include "mechanician/solve/one_sided_oracle_for_test.hpp"
#include "mechanician/solve/random_system_for_test.hpp"

namespace mechanician::testing {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Matrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
using Vector = Eigen::Matrix<long double, Eigen::Dynamic, 1>;
using Lu = Eigen::FullPivLU<Matrix>;

constexpr long double small = 1e-12L;

Lu factored(const Matrix& X) {
  Lu lu(X);
  lu.setThreshold(1e-14L);
  return lu;
}

Index rank_of(const Matrix& X) { return X.size() == 0 ? 0 : factored(X).rank(); }

std::vector<Index> subset_of(const std::vector<Index>& rows, unsigned bits) {
  std::vector<Index> subset;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if ((bits >> i) & 1u) subset.push_back(rows[i]);
  }
  return subset;
}

Matrix stacked(const Matrix& X, const Matrix& Y) {
  Matrix all(X.rows() + Y.rows(), X.cols());
  all << X, Y;
  return all;
}

/// Is there a v ≠ 0 with fixed·v = 0 and cone·v ≥ 0?
bool has_direction(const Matrix& fixed, const Matrix& cone) {
  const Index n = fixed.cols();
  if (rank_of(stacked(fixed, cone)) < n) return true;
  std::vector<Index> rows(static_cast<std::size_t>(cone.rows()));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<Index>(i);
  for (unsigned bits = 0; bits < (1u << rows.size()); ++bits) {
    const Matrix tight = stacked(fixed, cone(subset_of(rows, bits), Eigen::all));
    if (rank_of(tight) != n - 1) continue;
    const Vector v = factored(tight).kernel().col(0).normalized();
    const Vector along = cone * v;
    if (along.minCoeff() >= -small || (-along).minCoeff() >= -small) return true;
  }
  return false;
}

}  // namespace

EnumeratedOptimum enumerate_sets(const testing::DenseValues& values, const std::vector<Index>& one_sided) {
  const Index n = values.M.rows(), m = values.b.size();
  const Matrix M = values.M.cast<long double>(), A = values.A.cast<long double>();
  Vector force = values.Q.cast<long double>();
  if (values.C.size() > 0) force += values.C.cast<long double>();
  const Vector b = values.b.cast<long double>();
  std::vector<Index> equalities, independent;
  for (Index j = 0; j < m; ++j) {
    if (std::find(one_sided.begin(), one_sided.end(), j) == one_sided.end()) equalities.push_back(j);
  }
  for (const Index j : equalities) {
    std::vector<Index> more = independent;
    more.push_back(j);
    if (rank_of(A(more, Eigen::all)) == static_cast<Index>(more.size())) independent = more;
  }
  EnumeratedOptimum optimum;
  for (unsigned bits = 0; bits < (1u << one_sided.size()); ++bits) {
    std::vector<Index> rows = independent;
    const std::vector<Index> held = subset_of(one_sided, bits);
    rows.insert(rows.end(), held.begin(), held.end());
    const auto k = static_cast<Index>(rows.size());
    if (k > n || (k > 0 && rank_of(A(rows, Eigen::all)) < k)) continue;
    Matrix K = Matrix::Zero(n + k, n + k);
    K.topLeftCorner(n, n) = M;
    K.bottomLeftCorner(k, n) = A(rows, Eigen::all);
    K.topRightCorner(n, k) = -K.bottomLeftCorner(k, n).transpose();
    Vector right(n + k);
    right << force, b(rows);
    const Lu lu = factored(K);
    if (lu.rank() < n + k) continue;
    const Vector x = lu.solve(right);
    const Vector qdd = x.head(n);
    const long double size = 1 + x.cwiseAbs().maxCoeff();
    bool good = true;
    for (Index i = static_cast<Index>(independent.size()); i < k; ++i) good = good && x(n + i) >= -small * size;
    for (const Index j : equalities) good = good && std::abs(A.row(j).dot(qdd) - b(j)) <= 1e-9L * size;
    for (const Index j : one_sided) good = good && A.row(j).dot(qdd) - b(j) >= -small * size;
    if (!good) continue;
    optimum.found = true;
    optimum.qdd = qdd.cast<double>();
    std::vector<Index> strong = equalities, weak;
    for (const Index j : one_sided) {
      if (A.row(j).dot(qdd) - b(j) > small * size) continue;
      optimum.zero.push_back(j);
      const auto at = std::find(rows.begin(), rows.end(), j) - rows.begin();
      const bool pushes = at < k && x(n + at) > small * size;
      (pushes ? strong : weak).push_back(j);
    }
    optimum.unique = !has_direction(stacked(M, A(strong, Eigen::all)), A(weak, Eigen::all));
    std::sort(optimum.zero.begin(), optimum.zero.end());
    return optimum;
  }
  return optimum;
}

ProgrammeSpec random_programme_spec(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  ProgrammeSpec spec;
  spec.n = random_int(random, 1, 6);
  spec.num_equalities = random_int(random, 0, std::min(spec.n, 3));
  spec.num_one_sided = random_int(random, 1, 7);
  spec.mass_defect = random_int(random, 0, 3) == 0 ? random_int(random, 1, std::min(2, spec.n)) : 0;
  spec.integers = random_int(random, 0, 1) == 0;
  spec.feasible = random_int(random, 0, 3) != 0;
  return spec;
}

RandomProgramme make_programme(std::uint64_t seed, const ProgrammeSpec& spec) {
  std::mt19937_64 random(seed ^ 0x9e3779b97f4a7c15u);
  const auto number = [&] {
    return spec.integers ? static_cast<double>(random_int(random, -2, 2)) : random_real(random, -1.0, 1.0);
  };
  const auto vector = [&](Index size) {
    VectorXd x(size);
    for (double& entry : x) entry = number();
    return x;
  };
  const Index n = spec.n, m = spec.num_equalities + spec.num_one_sided;
  RandomProgramme p;
  MatrixXd F(n - spec.mass_defect, n);
  for (auto row : F.rowwise()) row = vector(n).transpose();
  if (spec.mass_defect == 0) {
    p.values.M = spec.integers ? MatrixXd(MatrixXd::Identity(n, n) * random_int(random, 1, 3))
                               : MatrixXd(F.transpose() * F + 0.1 * MatrixXd::Identity(n, n));
  } else {
    p.values.M = F.transpose() * F;
  }
  p.values.Q = 3.0 * vector(n);
  if (random_int(random, 0, 3) == 0) p.values.C = vector(n);
  p.values.A.resize(m, n);
  p.values.b.resize(m);
  const VectorXd inside = vector(n);
  std::vector<bool> one_sided(static_cast<std::size_t>(m), false);
  for (int i = 0; i < spec.num_one_sided; ++i) one_sided[i] = true;
  std::shuffle(one_sided.begin(), one_sided.end(), random);
  for (Index j = 0; j < m; ++j) {
    if (one_sided[j]) p.one_sided.push_back(j);
    const int kind = spec.redundant && j > 0 ? random_int(random, 0, 5) : 5;
    const Index other = j > 0 ? random_int(random, 0, static_cast<int>(j) - 1) : 0;
    const Index third = j > 0 ? random_int(random, 0, static_cast<int>(j) - 1) : 0;
    double slack = one_sided[j] && random_int(random, 0, 1) == 0 ? std::abs(number()) : 0.0;
    if (kind == 0) {
      p.values.A.row(j) = p.values.A.row(other);
    } else if (kind == 1) {
      p.values.A.row(j) = (random_int(random, 0, 1) == 0 ? 2.0 : -0.5) * p.values.A.row(other);
    } else if (kind == 2) {
      p.values.A.row(j) = p.values.A.row(other) + p.values.A.row(third);
    } else {
      p.values.A.row(j) = vector(n).transpose();
    }
    p.values.b(j) = p.values.A.row(j).dot(inside) - slack;
    if (!spec.feasible && one_sided[j]) p.values.b(j) = number();
  }
  return p;
}

namespace {
testing::DenseValues on_a_floor(double mass, double force) {
  testing::DenseValues v;
  v.M = MatrixXd::Constant(1, 1, mass);
  v.Q = VectorXd::Constant(1, force);
  v.A = MatrixXd::Ones(1, 1);
  v.b = VectorXd::Zero(1);
  return v;
}
}  // namespace

TEST(SetEnumeration, finds_the_closed_form_of_a_mass_on_a_floor) {
  testing::DenseValues v = on_a_floor(2.0, -6.0);
  EXPECT_EQ(enumerate_sets(v, {0}).qdd(0), 0.0);
  v.Q(0) = 6.0;
  EXPECT_EQ(enumerate_sets(v, {0}).qdd(0), 3.0);
  EXPECT_TRUE(enumerate_sets(v, {0}).zero.empty());
}

TEST(SetEnumeration, knows_when_the_acceleration_is_open) {
  testing::DenseValues v = on_a_floor(0.0, 0.0);
  EXPECT_FALSE(enumerate_sets(v, {0}).unique);
  v.Q(0) = -1;
  EXPECT_TRUE(enumerate_sets(v, {0}).unique);
  v.Q(0) = 1;
  EXPECT_FALSE(enumerate_sets(v, {0}).found);
}

}  // namespace mechanician::testing
