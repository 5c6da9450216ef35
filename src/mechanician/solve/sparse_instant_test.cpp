// The two paths give the same answers: seeded random systems of every kind, each solved by both.
#include "mechanician/solve/sparse_instant.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "mechanician/solve/coulomb.hpp"
#include "mechanician/solve/dense_values_for_test.hpp"
#include "mechanician/solve/diagnosis.hpp"
#include "mechanician/solve/one_sided.hpp"
#include "mechanician/solve/parts.hpp"
#include "mechanician/solve/random_system_for_test.hpp"

namespace mechanician {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::DenseValues;
using testing::random_int;
using testing::random_real;
using testing::random_vector;

struct Kind {
  const char* name;
  bool blocks = false;      // masses that are coupled
  int massless = 0;         // coordinates without mass, held by rows
  int open = 0;             // coordinates that nothing determines
  int redundant = 0;        // rows that depend on others
  bool contradict = false;  // and disagree with them
  int measured = 0;
  bool nonideal = false, zero_row = false;
};

/// Rows with two to four entries.
MatrixXd sparse_rows(std::mt19937_64& random, Index m, Index n) {
  MatrixXd A = MatrixXd::Zero(m, n);
  for (Index j = 0; j < m; ++j) {
    const int entries = random_int(random, 2, 4);
    for (int k = 0; k < entries; ++k) A(j, random_int(random, 0, static_cast<int>(n) - 1)) = random_real(random, -2, 2);
    A(j, j % n) = random_real(random, 1, 2);  // independent
  }
  return A;
}

DenseValues make(std::mt19937_64& random, const Kind& kind) {
  const Index n = random_int(random, 8, 30), free = n - kind.massless - kind.open;
  const Index base = std::max<Index>(kind.massless + 1, free / 2);
  DenseValues v;
  v.M = MatrixXd::Zero(n, n);
  for (Index i = 0; i < free; ++i) v.M(i, i) = random_real(random, 0.5, 3);
  for (Index i = 0; kind.blocks && i + 1 < free; i += 3) v.M(i, i + 1) = v.M(i + 1, i) = random_real(random, -0.4, 0.4);
  MatrixXd A = sparse_rows(random, base, free);
  MatrixXd whole = MatrixXd::Zero(base, n);
  whole.leftCols(free) = A;
  for (int k = 0; k < kind.massless; ++k) whole(k, free + k) = random_real(random, 1, 2);
  const Index m = base + kind.redundant + (kind.zero_row ? 1 : 0);
  v.A = MatrixXd::Zero(m, n);
  v.A.topRows(base) = whole;
  v.Q = random_vector(random, n);
  v.Q.tail(kind.open).setZero();
  v.b = random_vector(random, m);
  for (int k = 0; k < kind.redundant; ++k) {
    const Index row = base + k, one = random_int(random, 0, static_cast<int>(base) - 1),
                other = random_int(random, 0, static_cast<int>(base) - 1);
    const double a = random_real(random, 0.5, 2), b = one == other ? 0.0 : random_real(random, -2, -0.5);
    v.A.row(row) = a * whole.row(one) + b * whole.row(other);
    v.b(row) = a * v.b(one) + b * v.b(other) + (kind.contradict && k == 0 ? 0.7 : 0.0);
  }
  if (kind.zero_row) v.b(m - 1) = 0.0;
  // Rows in any order.
  std::vector<Index> order(static_cast<std::size_t>(m));
  for (Index j = 0; j < m; ++j) order[static_cast<std::size_t>(j)] = j;
  std::shuffle(order.begin(), order.end(), random);
  v.A = MatrixXd(v.A(order, Eigen::all));
  v.b = VectorXd(v.b(order));
  if (kind.nonideal) {
    v.C = random_vector(random, n);
    v.C.tail(kind.open + kind.massless).setZero();
  }
  for (int k = 0; k < kind.measured; ++k) v.measured.push_back(k);
  v.W = MatrixXd::Zero(kind.measured, kind.measured);
  for (Index i = 0; i < kind.measured; ++i) v.W(i, i) = random_real(random, 0.5, 20);
  if (kind.measured > 1) v.W(0, 1) = v.W(1, 0) = 0.1;
  return v;
}

InstantValues by(SolvePath path, const DenseValues& dense) {
  InstantValues v = dense;
  v.path = path;
  return v;
}

void expect_near(const VectorXd& x, const VectorXd& y, const char* what, double tolerance = 1e-9) {
  ASSERT_EQ(x.size(), y.size()) << what;
  if (x.size() == 0) return;
  EXPECT_LE((x - y).cwiseAbs().maxCoeff(), tolerance * (1 + x.cwiseAbs().maxCoeff())) << what;
}

void expect_same(const Solution& x, const Solution& y) {
  ASSERT_EQ(describe(x.status), describe(y.status));
  EXPECT_EQ(x.rank, y.rank);
  EXPECT_EQ(x.num_rows, y.num_rows);
  EXPECT_EQ(x.consistent, y.consistent);
  EXPECT_EQ(x.unique, y.unique);
  EXPECT_EQ(x.solvable, y.solvable);
  EXPECT_EQ(x.undetermined, y.undetermined);
  EXPECT_EQ(x.undetermined_directions.cols(), y.undetermined_directions.cols());
  EXPECT_EQ(x.multipliers_undetermined, y.multipliers_undetermined);
  EXPECT_EQ(x.multipliers_unique, y.multipliers_unique);
  EXPECT_EQ(x.mass.kind, y.mass.kind);
  expect_near(x.qdd, y.qdd, "qdd");
  expect_near(x.Qc, y.Qc, "Qc");
  expect_near(x.Qc_i, y.Qc_i, "Qc_i");
  expect_near(x.Qc_ni, y.Qc_ni, "Qc_ni");
  expect_near(x.Q_control, y.Q_control, "Q_control");
  expect_near(x.multipliers, y.multipliers, "multipliers");
  expect_near(x.b_used, y.b_used, "b used");
  expect_near(x.residual, y.residual, "residual");
  ASSERT_EQ(x.a.has_value(), y.a.has_value());
  if (x.a) expect_near(*x.a, *y.a, "a");
  ASSERT_EQ(x.gaussian.has_value(), y.gaussian.has_value());
  if (x.gaussian) {
    EXPECT_NEAR(*x.gaussian, *y.gaussian, 1e-9 * (1 + *x.gaussian));
  }
  ASSERT_EQ(x.least_squares.has_value(), y.least_squares.has_value());
  if (!x.least_squares) return;
  expect_near(x.least_squares->b, y.least_squares->b, "least squares b");
  expect_near(x.least_squares->qdd, y.least_squares->qdd, "least squares qdd");
}

void expect_same(const Diagnosis& x, const Diagnosis& y) {
  EXPECT_EQ(describe(x.status), describe(y.status));
  EXPECT_EQ(x.rank, y.rank);
  EXPECT_EQ(x.zero_rows, y.zero_rows);
  EXPECT_EQ(x.redundant, y.redundant);
  EXPECT_EQ(x.multipliers_undetermined, y.multipliers_undetermined);
  EXPECT_EQ(x.undetermined, y.undetermined);
  EXPECT_EQ(x.consistent, y.consistent);
  ASSERT_EQ(x.depends.size(), y.depends.size());
  for (std::size_t k = 0; k < x.depends.size(); ++k) {
    EXPECT_EQ(x.depends[k].row, y.depends[k].row);
    ASSERT_EQ(x.depends[k].on, y.depends[k].on);
    for (std::size_t i = 0; i < x.depends[k].on.size(); ++i)
      EXPECT_NEAR(x.depends[k].coefficients[i], y.depends[k].coefficients[i], 1e-9);
  }
  ASSERT_EQ(x.conflicts.size(), y.conflicts.size());
  for (std::size_t k = 0; k < x.conflicts.size(); ++k) {
    EXPECT_EQ(x.conflicts[k].rows, y.conflicts[k].rows);
    EXPECT_NEAR(std::abs(x.conflicts[k].residual), std::abs(y.conflicts[k].residual), 1e-8);
  }
}

void expect_same(const Parts& x, const Parts& y) {
  ASSERT_EQ(x.gain.has_value(), y.gain.has_value());
  if (x.gain) {
    EXPECT_LE((*x.gain - *y.gain).norm(), 1e-8 * (1 + x.gain->norm()));
  }
  if (x.z) expect_near(*x.z, *y.z, "z");
  if (x.error_signal) expect_near(*x.error_signal, *y.error_signal, "error signal");
  if (x.deviation) expect_near(*x.deviation, *y.deviation, "deviation");
  if (x.reaction_to_forces) expect_near(*x.reaction_to_forces, *y.reaction_to_forces, "reaction to forces");
  if (x.reaction_to_motion) expect_near(*x.reaction_to_motion, *y.reaction_to_motion, "reaction to motion");
  expect_near(x.c_acting, y.c_acting, "c acting");
  expect_near(x.c_absorbed, y.c_absorbed, "c absorbed");
  expect_near(x.acceleration_null, y.acceleration_null, "acceleration null");
  expect_near(x.acceleration_range, y.acceleration_range, "acceleration range");
  expect_near(x.force_null, y.force_null, "force null");
  EXPECT_LE((x.auxiliary.Ms - y.auxiliary.Ms).norm(), 1e-8 * (1 + x.auxiliary.Ms.norm()));
  expect_near(x.auxiliary.Delta, y.auxiliary.Delta, "Delta");
}

TEST(SparseInstant, SaysWhatTheDensePathSays) {
  const Kind kinds[] = {
      {.name = "plain"},
      {.name = "blocks, C", .blocks = true, .nonideal = true},
      {.name = "redundant", .redundant = 3},
      {.name = "redundant, C", .redundant = 2, .nonideal = true},
      {.name = "zero row", .redundant = 1, .zero_row = true},
      {.name = "contradict", .redundant = 2, .contradict = true},
      {.name = "no mass", .massless = 2, .nonideal = true},
      {.name = "no mass, redundant", .massless = 2, .redundant = 2},
      {.name = "open", .open = 2},
      {.name = "open, redundant", .open = 1, .redundant = 2},
      {.name = "measured", .redundant = 2, .contradict = true, .measured = 4},
      {.name = "measured all", .redundant = 3, .contradict = true, .measured = 6},
      {.name = "measured, no mass", .massless = 1, .redundant = 2, .contradict = true, .measured = 5},
  };
  const int num = testing::num_systems(40);
  for (const Kind& kind : kinds) {
    for (int k = 0; k < num; ++k) {
      const auto seed = static_cast<std::uint64_t>(1000 * (&kind - kinds) + k);
      SCOPED_TRACE(std::string(kind.name) + ", seed " + std::to_string(seed));
      std::mt19937_64 random(seed);
      const DenseValues v = make(random, kind);
      const InstantValues dense = by(SolvePath::dense, v), sparse = by(SolvePath::sparse, v);
      const Solution want = solve(dense), got = solve(sparse);
      expect_same(want, got);
      expect_same(diagnose(dense), diagnose(sparse));
      if (!want.has_acceleration() || ::testing::Test::HasFatalFailure()) continue;
      const VectorXd qd = random_vector(random, v.M.rows());
      expect_same(calc_parts(factor(dense), dense, want, qd), calc_parts(factor(sparse), sparse, got, qd));
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(SparseInstant, RefusesMassesThatAreNone) {
  std::mt19937_64 random(7);
  for (int k = 0; k < 20; ++k) {
    DenseValues v = make(random, {.name = "", .blocks = true});
    v.M(2, 2) = -1.0;
    expect_same(solve(by(SolvePath::dense, v)), solve(by(SolvePath::sparse, v)));
    expect_same(diagnose(by(SolvePath::dense, v)), diagnose(by(SolvePath::sparse, v)));
    v.M(2, 2) = 1.0;
    v.M(4, 5) = v.M(5, 4) + 0.1;
    const Solution dense = solve(by(SolvePath::dense, v)), sparse = solve(by(SolvePath::sparse, v));
    EXPECT_EQ(describe(dense.status), describe(sparse.status));
    EXPECT_EQ(dense.mass.asymmetric_row, sparse.mass.asymmetric_row);
    EXPECT_EQ(dense.mass.asymmetric_column, sparse.mass.asymmetric_column);
  }
}

TEST(SparseInstant, RowsOfAnotherSystemAreOnItsPattern) {
  std::mt19937_64 random(11);
  for (int k = 0; k < 20; ++k) {
    DenseValues v = make(random, {.name = "", .blocks = true, .nonideal = true});
    InstantValues whole = by(SolvePath::sparse, v);
    whole.pattern = std::make_shared<const InstantPattern>(whole.M, whole.A);
    std::vector<Index> rows;
    for (Index j = 0; j < v.b.size(); j += 2) rows.push_back(j);
    InstantValues part = whole;
    part.A = whole.A.select(rows), part.b = whole.b(rows), part.pattern_rows = rows;
    InstantValues alone = part;
    alone.path = SolvePath::dense;
    expect_same(solve(alone), solve(part));
  }
}

TEST(SparseInstant, OneSidedRows) {
  const int num = testing::num_systems(300);
  int holding = 0, conflicts = 0;
  for (int k = 0; k < num; ++k) {
    SCOPED_TRACE("seed " + std::to_string(k));
    std::mt19937_64 random(static_cast<std::uint64_t>(k));
    const Kind kind{
        .name = "", .blocks = k % 2 == 0, .redundant = k % 4, .contradict = k % 7 == 0, .nonideal = k % 5 == 0};
    const DenseValues v = make(random, kind);
    std::vector<Index> one_sided;
    for (Index j = 0; j < v.b.size(); ++j)
      if (random_int(random, 0, 2) > 0) one_sided.push_back(j);
    const OneSidedSolution want = solve_one_sided(by(SolvePath::dense, v), one_sided),
                           got = solve_one_sided(by(SolvePath::sparse, v), one_sided);
    ASSERT_EQ(describe(want.solution.status), describe(got.solution.status));
    if (!want.solution.has_acceleration()) {
      conflicts += !want.conflict.empty();
      EXPECT_EQ(want.conflict.empty(), got.conflict.empty());
      continue;
    }
    expect_near(want.solution.qdd, got.solution.qdd, "qdd");
    EXPECT_EQ(want.holding, got.holding);
    expect_near(want.slack, got.slack, "slack");
    expect_near(want.multipliers_joint, got.multipliers_joint, "joint multipliers", 1e-8);
    expect_near(want.solution.multipliers, got.solution.multipliers, "multipliers", 1e-8);
    expect_near(want.solution.Q_control, got.solution.Q_control, "control", 1e-8);
    EXPECT_LE(got.optimality.largest(), 1e-11);
    holding += static_cast<int>(want.holding.size());
  }
  EXPECT_GT(holding, num);
  EXPECT_GT(conflicts, 0);
}

TEST(SparseInstant, Friction) {
  const int num = testing::num_systems(100);
  for (int k = 0; k < num; ++k) {
    SCOPED_TRACE("seed " + std::to_string(k));
    std::mt19937_64 random(static_cast<std::uint64_t>(k));
    const DenseValues v = make(random, {.name = "", .blocks = true, .nonideal = k % 2 == 0});
    std::vector<Index> one_sided;
    std::vector<FrictionContact> contacts;
    for (Index j = 0; j < std::min<Index>(3, v.b.size()); ++j) {
      if (j > 0) one_sided.push_back(j);
      MatrixXd T = MatrixXd::Zero(1, v.M.rows());
      T(0, random_int(random, 0, static_cast<int>(v.M.rows()) - 1)) = 1.0;
      T(0, random_int(random, 0, static_cast<int>(v.M.rows()) - 1)) = -1.0;
      FrictionContact c;
      c.row = j, c.mu = random_real(random, 0.05, 0.4), c.T = T, c.slip_b = random_vector(random, 1);
      if (random_int(random, 0, 1) == 0) c.direction = VectorXd::Ones(1);
      contacts.push_back(c);
    }
    const CoulombSolution want = solve_coulomb(by(SolvePath::dense, v), one_sided, contacts),
                          got = solve_coulomb(by(SolvePath::sparse, v), one_sided, contacts);
    ASSERT_EQ(want.count, got.count);
    ASSERT_EQ(want.answer.has_value(), got.answer.has_value());
    if (!want.answer || want.count == CoulombSolution::Count::several) continue;
    EXPECT_EQ(want.answer->mode.states, got.answer->mode.states);
    expect_near(want.answer->qdd, got.answer->qdd, "qdd", 1e-8);
    expect_near(want.answer->multipliers, got.answer->multipliers, "multipliers", 1e-8);
    expect_near(want.answer->friction_force, got.answer->friction_force, "friction", 1e-8);
  }
}

/// A chain of masses in a plane with rods and a floor below each.
InstantValues chain_on_floor(Index num, double bend) {
  InstantValues v;
  v.M = SparseRows::diagonal(VectorXd::Ones(2 * num));
  v.Q = VectorXd::Zero(2 * num);
  v.A = SparseRows(0, 2 * num);
  for (Index i = 0; i < num; ++i) v.Q(2 * i + 1) = -9.81 + bend * std::sin(3.7 * static_cast<double>(i));
  for (Index i = 1; i < num; ++i) {
    const double angle = bend * 0.01 * std::sin(static_cast<double>(i));
    v.A.add(2 * i - 2, -std::cos(angle)), v.A.add(2 * i - 1, -std::sin(angle));
    v.A.add(2 * i, std::cos(angle)), v.A.add(2 * i + 1, std::sin(angle));
    v.A.end_row();
  }
  for (Index i = 0; i < num; ++i) v.A.add(2 * i + 1, 1.0), v.A.end_row();
  v.b = VectorXd::Zero(2 * num - 1);
  return v;
}

TEST(SparseInstant, ThousandsOfContactsTakeMilliseconds) {
  const Index num = 2000;
  InstantValues v = chain_on_floor(num, 20.0);
  v.pattern = std::make_shared<const InstantPattern>(v.M, v.A);
  std::vector<Index> one_sided;
  for (Index i = 0; i < num; ++i) one_sided.push_back(num - 1 + i);
  const OneSidedSolution s = solve_one_sided(v, one_sided);
  ASSERT_TRUE(s.solution.has_acceleration());
  EXPECT_LE(s.optimality.largest(), 1e-11);
  EXPECT_GT(s.holding.size(), 100u);
  EXPECT_LT(s.holding.size(), 2000u);
}

}  // namespace
}  // namespace mechanician
