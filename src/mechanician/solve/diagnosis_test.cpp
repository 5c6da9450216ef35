#include "mechanician/solve/diagnosis.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "mechanician/base/trials_for_test.hpp"
#include "mechanician/solve/dense_values_for_test.hpp"
#include "mechanician/solve/random_system_for_test.hpp"

namespace mechanician {
namespace {

using namespace mechanician::testing;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Rows = std::vector<Index>;

testing::DenseValues unit_mass(const MatrixXd& A, const VectorXd& b) {
  testing::DenseValues v;
  v.M = MatrixXd::Identity(A.cols(), A.cols());
  v.Q = VectorXd::Zero(A.cols());
  v.A = A;
  v.b = b;
  return v;
}

/// Exact rank of a small integer matrix, by elimination without division (Bareiss).
int exact_rank(const MatrixXd& X) {
  const int rows = static_cast<int>(X.rows()), cols = static_cast<int>(X.cols());
  using Wide = __int128_t;
  std::vector<std::vector<Wide>> a(static_cast<std::size_t>(rows), std::vector<Wide>(static_cast<std::size_t>(cols)));
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < cols; ++j) a[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = std::llround(X(i, j));
  }
  Wide previous = 1;
  std::size_t rank = 0;
  for (std::size_t j = 0; j < static_cast<std::size_t>(cols) && rank < a.size(); ++j) {
    std::size_t pivot = rank;
    while (pivot < a.size() && a[pivot][j] == 0) ++pivot;
    if (pivot == a.size()) continue;
    std::swap(a[pivot], a[rank]);
    for (std::size_t i = rank + 1; i < a.size(); ++i) {
      for (std::size_t c = j + 1; c < static_cast<std::size_t>(cols); ++c) {
        a[i][c] = (a[i][c] * a[rank][j] - a[i][j] * a[rank][c]) / previous;
      }
      a[i][j] = 0;
    }
    previous = a[rank][j];
    ++rank;
  }
  return static_cast<int>(rank);
}

MatrixXd select(const MatrixXd& X, const Rows& rows) { return X(rows, Eigen::all); }

/// A and b of integers: do these rows contradict?
bool contradict(const MatrixXd& A, const VectorXd& b, const Rows& rows) {
  MatrixXd Ab(static_cast<Index>(rows.size()), A.cols() + 1);
  Ab << select(A, rows), select(b, rows);
  return exact_rank(Ab) > exact_rank(select(A, rows));
}

bool irreducible(const MatrixXd& A, const VectorXd& b, const Rows& rows) {
  if (!contradict(A, b, rows)) return false;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Rows fewer = rows;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (contradict(A, b, fewer)) return false;
  }
  return true;
}

MatrixXd random_integers(std::mt19937_64& random, Index rows, Index cols, int size) {
  MatrixXd X(rows, cols);
  for (Index j = 0; j < cols; ++j) {
    for (Index i = 0; i < rows; ++i) X(i, j) = random_int(random, -size, size);
  }
  return X;
}

/// The same equations, each multiplied by some power of ten between 1e−6 and 1e6.
testing::DenseValues scaled_rows(std::mt19937_64& random, const MatrixXd& A, const VectorXd& b) {
  testing::DenseValues v = unit_mass(A, b);
  for (Index j = 0; j < A.rows(); ++j) {
    const double scale = std::pow(10.0, random_int(random, -6, 6));
    v.A.row(j) *= scale;
    v.b(j) *= scale;
  }
  return v;
}

TEST(Diagnosis, names_the_three_rows_that_contradict_and_not_the_fourth) {
  MatrixXd A(4, 3);
  A << 1, 1, 0, 1, -1, 0, 0, 0, 1, 1, 0, 0;
  const auto d = diagnose(unit_mass(A, Eigen::Vector4d(1, 0, 0, 2)));
  EXPECT_FALSE(d.consistent);
  EXPECT_EQ(d.status, SolveStatus::inconsistent);
  ASSERT_EQ(d.conflicts.size(), 1u);
  EXPECT_EQ(d.conflicts[0].rows, (Rows{0, 1, 3}));
  // ½·sum + ½·difference − x = 0 for every acceleration, but ½ − 2 = −1½.
  EXPECT_NEAR((d.conflicts[0].coefficients - Eigen::Vector3d(-0.5, -0.5, 1)).norm(), 0, 1e-14);
  EXPECT_NEAR(d.conflicts[0].residual, 1.5, 1e-14);
  EXPECT_EQ(d.redundant, (Rows{3}));
  ASSERT_EQ(d.depends[0].on, (Rows{0, 1}));
  EXPECT_NEAR(d.depends[0].coefficients[0], 0.5, 1e-15);
  EXPECT_NEAR(d.depends[0].coefficients[1], 0.5, 1e-15);
  EXPECT_EQ(d.multipliers_undetermined, (Rows{0, 1, 3}));
}

TEST(Diagnosis, redundant_rows_are_those_that_depend_on_rows_before_them) {
  for (std::uint64_t seed = 0; seed < num_trials(3000); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    std::mt19937_64 random(seed);
    const Index m = random_int(random, 1, 9), n = random_int(random, 1, 6);
    const Index inner = random_int(random, 1, 4);
    const MatrixXd A = random_integers(random, m, inner, 2) * random_integers(random, inner, n, 2);
    Rows want, before;
    for (Index j = 0; j < m; ++j) {
      Rows with = before;
      with.push_back(j);
      (exact_rank(select(A, with)) == static_cast<int>(with.size()) ? before : want).push_back(j);
    }
    const testing::DenseValues v = scaled_rows(random, A, VectorXd::Zero(m));
    const Diagnosis d = diagnose(v);
    EXPECT_EQ(d.rank, exact_rank(A));
    EXPECT_EQ(d.redundant, want);
    ASSERT_EQ(d.depends.size(), d.redundant.size());
    EXPECT_TRUE(d.consistent);
    EXPECT_TRUE(d.conflicts.empty());
    for (const Dependence& dependence : d.depends) {
      VectorXd sum = VectorXd::Zero(n);
      double size = 0;
      for (std::size_t i = 0; i < dependence.on.size(); ++i) {
        EXPECT_TRUE(std::binary_search(before.begin(), before.end(), dependence.on[i]));
        EXPECT_LT(dependence.on[i], dependence.row);
        sum += dependence.coefficients[i] * v.A.row(dependence.on[i]).transpose();
        size += std::abs(dependence.coefficients[i]) * v.A.row(dependence.on[i]).norm();
        // None of them is superfluous: without it the row does not depend on the others.
        Rows fewer = dependence.on;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
        fewer.push_back(dependence.row);
        EXPECT_EQ(exact_rank(select(A, fewer)), static_cast<int>(fewer.size()));
      }
      EXPECT_NEAR((sum - v.A.row(dependence.row).transpose()).norm(), 0, 1e-13 * size);
    }
    // λ_j is undetermined iff row j is in the span of the others.
    Rows undetermined;
    for (Index j = 0; j < m; ++j) {
      Rows others;
      for (Index i = 0; i < m; ++i) {
        if (i != j) others.push_back(i);
      }
      if (exact_rank(select(A, others)) == exact_rank(A)) undetermined.push_back(j);
    }
    EXPECT_EQ(d.multipliers_undetermined, undetermined);
  }
}

TEST(Diagnosis, coefficients_of_dependent_rows_are_good_to_ten_digits) {
  for (std::uint64_t seed = 0; seed < num_trials(500); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    std::mt19937_64 random(seed);
    SystemSpec spec{.n = random_int(random, 3, 12), .log_condition = random_real(random, 0.0, 3.0)};
    spec.rank = random_int(random, 2, spec.n);
    const MatrixXd A0 = make_system(seed, spec).A0;
    const Index k = A0.rows();
    const Index num_redundant = random_int(random, 1, 4);
    MatrixXd combine = random_matrix(random, num_redundant, k);
    combine = combine.unaryExpr([&](double x) { return random_int(random, 0, 1) == 0 ? 0.0 : x; });
    combine.col(0).setConstant(2.0);
    MatrixXd A(k + num_redundant, spec.n);
    A << A0, combine * A0;
    const VectorXd scale = random_vector(random, A.rows()).unaryExpr([](double x) { return std::pow(10.0, 2.0 * x); });
    const Diagnosis d = diagnose(unit_mass(scale.asDiagonal() * A, VectorXd::Zero(A.rows())));
    ASSERT_EQ(static_cast<Index>(d.redundant.size()), num_redundant);
    for (Index r = 0; r < num_redundant; ++r) {
      const Dependence& got = d.depends[static_cast<std::size_t>(r)];
      EXPECT_EQ(got.row, k + r);
      Rows want_on;
      for (Index j = 0; j < k; ++j) {
        if (combine(r, j) == 0) continue;
        want_on.push_back(j);
        const auto at = static_cast<std::size_t>(std::find(got.on.begin(), got.on.end(), j) - got.on.begin());
        ASSERT_LT(at, got.on.size());
        const double want = combine(r, j) * scale(k + r) / scale(j);
        EXPECT_NEAR(got.coefficients[at], want, 1e-10 * std::abs(want / combine(r, j)) * combine.row(r).norm());
      }
      EXPECT_EQ(got.on, want_on);
    }
  }
}

TEST(Diagnosis, finds_exactly_the_irreducible_conflicts_that_trying_all_subsets_finds) {
  std::size_t num_conflicts = 0;
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(num_systems(2000)); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    std::mt19937_64 random(seed);
    const Index m = random_int(random, 1, 8), n = random_int(random, 1, 4);
    const MatrixXd A = random_integers(random, m, n, random_int(random, 1, 3));
    VectorXd b = A * random_integers(random, n, 1, 2);
    for (int changes = random_int(random, 0, 3); changes > 0; --changes)
      b(random_int(random, 0, static_cast<int>(m) - 1)) += 1;

    std::vector<Rows> want;
    for (unsigned mask = 1; mask < (1u << m); ++mask) {
      Rows rows;
      for (Index j = 0; j < m; ++j) {
        if ((mask >> j) & 1u) rows.push_back(j);
      }
      if (irreducible(A, b, rows)) want.push_back(rows);
    }
    std::sort(want.begin(), want.end(),
              [](const Rows& x, const Rows& y) { return x.size() != y.size() ? x.size() < y.size() : x < y; });

    const testing::DenseValues v = scaled_rows(random, A, b);
    const Diagnosis d = diagnose(v);
    std::vector<Rows> got;
    for (const Conflict& conflict : d.conflicts) {
      got.push_back(conflict.rows);
      const VectorXd y = conflict.coefficients;
      const VectorXd b_rows = select(v.b, conflict.rows);
      const MatrixXd A_rows = select(v.A, conflict.rows);
      EXPECT_EQ(y.cwiseAbs().maxCoeff(), 1.0);
      EXPECT_NEAR((y.transpose() * A_rows).norm(), 0, 1e-12 * (y.cwiseAbs().transpose() * A_rows.cwiseAbs()).norm());
      EXPECT_NEAR(conflict.residual, y.dot(b_rows), 1e-12 * y.cwiseAbs().dot(b_rows.cwiseAbs()));
      EXPECT_GT(conflict.relative_residual, 1e-9);
    }
    EXPECT_EQ(got, want);
    EXPECT_EQ(d.consistent, want.empty());
    num_conflicts += want.size();
  }
  EXPECT_GT(num_conflicts, static_cast<std::size_t>(num_systems(2000)));
}

TEST(Diagnosis, beyond_twenty_rows_every_row_of_a_contradiction_is_in_some_conflict) {
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(num_systems(100)); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    std::mt19937_64 random(seed);
    // Three groups of rows in coordinates of their own: one that contradicts, all rows generic, so all of them are
    // involved; one with dependent rows that agree; and a pair that contradicts.
    const int n1 = random_int(random, 2, 4), m1 = random_int(random, 22, 30), n2 = 3, m2 = 6;
    const Index m = m1 + m2 + 2;
    MatrixXd A = MatrixXd::Zero(m, n1 + n2 + 1);
    VectorXd b(m);
    A.topLeftCorner(m1, n1) = random_integers(random, m1, n1, 1000);
    b.head(m1) = random_integers(random, m1, 1, 1000);
    A.block(m1, n1, m2, n2) = random_integers(random, m2, n2, 5);
    b.segment(m1, m2) = A.block(m1, n1, m2, n2) * random_integers(random, n2, 1, 5);
    A(m - 2, n1 + n2) = 1;
    A(m - 1, n1 + n2) = -2;
    b(m - 2) = 1;
    b(m - 1) = 3;
    Rows order(static_cast<std::size_t>(m));
    std::iota(order.begin(), order.end(), Index{0});
    std::shuffle(order.begin(), order.end(), random);
    const MatrixXd A_shuffled = select(A, order);
    const VectorXd b_shuffled = select(b, order);

    const Diagnosis d = diagnose(scaled_rows(random, A_shuffled, b_shuffled));
    std::set<Index> covered;
    for (const Conflict& conflict : d.conflicts) {
      EXPECT_TRUE(irreducible(A_shuffled, b_shuffled, conflict.rows));
      for (const Index row : conflict.rows) covered.insert(order[static_cast<std::size_t>(row)]);
    }
    std::set<Index> want;
    for (Index j = 0; j < m; ++j) {
      if (j < m1 || j >= m1 + m2) want.insert(j);
    }
    EXPECT_EQ(covered, want);
    for (std::size_t i = 1; i < d.conflicts.size(); ++i) {
      EXPECT_LE(d.conflicts[i - 1].rows.size(), d.conflicts[i].rows.size());
    }
  }
}

TEST(Diagnosis, all_conflicts_of_twenty_generic_rows) {
#ifdef MECHANICIAN_SANITIZED
  const int m = 14, n = 6;
  const std::size_t want = 3432;  // C(14, 7)
#else
  const int m = 20, n = 9;
  const std::size_t want = 184756;  // C(20, 10)
#endif
  std::mt19937_64 random(1);
  const Diagnosis d = diagnose(unit_mass(random_matrix(random, m, n), random_vector(random, m)));
  ASSERT_EQ(d.conflicts.size(), want);
  for (const Conflict& conflict : d.conflicts) ASSERT_EQ(conflict.rows.size(), static_cast<std::size_t>(n + 1));
  EXPECT_TRUE(std::adjacent_find(d.conflicts.begin(), d.conflicts.end(), [](const Conflict& x, const Conflict& y) {
                return !(x.rows < y.rows);
              }) == d.conflicts.end());
}

TEST(Diagnosis, twenty_rows_in_one_coordinate_conflict_in_pairs) {
  VectorXd b = VectorXd::LinSpaced(20, 0.0, 19.0);
  const Diagnosis d = diagnose(unit_mass(MatrixXd::Ones(20, 1), b));
  EXPECT_EQ(d.conflicts.size(), 190u);
  EXPECT_EQ(d.redundant.size(), 19u);
}

TEST(Diagnosis, a_zero_row_depends_on_nothing_and_conflicts_by_itself) {
  MatrixXd A = MatrixXd::Zero(3, 2);
  A << 0, 0, 1, 2, 0, 0;
  const Diagnosis d = diagnose(unit_mass(A, Eigen::Vector3d(0, 1, 5)));
  EXPECT_EQ(d.zero_rows, (Rows{0, 2}));
  EXPECT_EQ(d.redundant, (Rows{0, 2}));
  EXPECT_TRUE(d.depends[0].on.empty());
  EXPECT_TRUE(d.depends[1].on.empty());
  ASSERT_EQ(d.conflicts.size(), 1u);
  EXPECT_EQ(d.conflicts[0].rows, (Rows{2}));
  EXPECT_DOUBLE_EQ(d.conflicts[0].residual, 5.0);
  EXPECT_EQ(d.multipliers_undetermined, (Rows{0, 2}));
}

TEST(Diagnosis, a_contradiction_is_one_only_beyond_the_tolerance) {
  MatrixXd A(2, 2);
  A << 1, 1, 2, 2;
  EXPECT_TRUE(diagnose(unit_mass(A, Eigen::Vector2d(1, 2 + 1e-10))).consistent);
  const Diagnosis d = diagnose(unit_mass(A, Eigen::Vector2d(1, 2 + 1e-7)));
  EXPECT_FALSE(d.consistent);
  ASSERT_EQ(d.conflicts.size(), 1u);
  EXPECT_EQ(d.conflicts[0].rows, (Rows{0, 1}));
}

TEST(Diagnosis, rows_are_diagnosed_even_where_the_mass_matrix_is_refused) {
  MatrixXd A(2, 2);
  A << 1, 1, 2, 2;
  testing::DenseValues v = unit_mass(A, Eigen::Vector2d(1, 3));
  v.M(0, 0) = -1;
  const Diagnosis d = diagnose(v);
  EXPECT_EQ(d.status, SolveStatus::mass_indefinite);
  EXPECT_EQ(d.rank, 1);
  EXPECT_EQ(d.redundant, (Rows{1}));
  EXPECT_EQ(d.conflicts.size(), 1u);
}

TEST(Diagnosis, undetermined_coordinates_and_numbers_that_are_not_finite) {
  testing::DenseValues v = unit_mass(Eigen::RowVector3d(1, 0, 0), VectorXd::Zero(1));
  v.M = MatrixXd::Zero(3, 3);
  v.M.bottomRightCorner(2, 2).setOnes();  // only the sum of the last two has mass
  Diagnosis d = diagnose(v);
  EXPECT_FALSE(d.unique);
  EXPECT_TRUE(d.solvable);
  EXPECT_EQ(d.undetermined, (Rows{1, 2}));
  v.A(0, 0) = std::numeric_limits<double>::quiet_NaN();
  d = diagnose(v);
  EXPECT_EQ(d.status, SolveStatus::not_finite);
  EXPECT_TRUE(d.conflicts.empty());
}

}  // namespace
}  // namespace mechanician
