#include "mechanician/solve/sparse_elimination.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanician/base/trials_for_test.hpp"
#include "mechanician/solve/sparse_dissection.hpp"
#include "mechanician/solve/sparse_system_for_test.hpp"

// Every allocation of the program is counted; the sanitizers keep malloc to themselves.
#if !defined(MECHANICIAN_SANITIZED)
namespace {
thread_local long num_allocations = 0;
}
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void* malloc(std::size_t size) {
  ++num_allocations;
  return __libc_malloc(size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++num_allocations;
  return __libc_memalign(alignment, size);
}
}
#endif

namespace mechanician {
namespace {

using testing::by_axis;
using testing::make_chain;
using testing::make_ladder;
using testing::make_net;
using testing::make_random;
using testing::SparseSystem;
using LongMatrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
using LongVector = Eigen::Matrix<long double, Eigen::Dynamic, 1>;

constexpr double eps = std::numeric_limits<double>::epsilon();

struct Dense {
  LongMatrix M, A;
};

Dense make_dense(const SparseSystem& s) {
  Dense d{LongMatrix::Zero(s.pattern.n, s.pattern.n), LongMatrix::Zero(s.pattern.m, s.pattern.n)};
  for (std::size_t k = 0; k < s.M.size(); ++k) {
    d.M(s.pattern.M[k].row, s.pattern.M[k].col) = s.M[k];
    d.M(s.pattern.M[k].col, s.pattern.M[k].row) = s.M[k];
  }
  for (std::size_t k = 0; k < s.A.size(); ++k) d.A(s.pattern.A[k].row, s.pattern.A[k].col) = s.A[k];
  return d;
}

/// x and λ of least norm of the whole system, in extended precision, by an orthogonal decomposition.
LongVector solve_dense(const SparseSystem& s) {
  const Dense d = make_dense(s);
  const int n = s.pattern.n, m = s.pattern.m;
  LongMatrix K = LongMatrix::Zero(n + m, n + m);
  K.topLeftCorner(n, n) = d.M;
  K.topRightCorner(n, m) = -d.A.transpose();
  K.bottomLeftCorner(m, n) = d.A;
  LongVector rhs(n + m);
  for (int i = 0; i < n; ++i) rhs[i] = s.f[i];
  for (int r = 0; r < m; ++r) rhs[n + r] = s.g[r];
  Eigen::CompleteOrthogonalDecomposition<LongMatrix> cod;
  cod.setThreshold(1e-13L);
  cod.compute(K);
  return cod.solve(rhs);
}

struct Answer {
  std::vector<double> x, lambda;
  SparseResult result;
};

Answer solve(SparseElimination& elimination, const SparseSystem& s) {
  Answer a;
  a.x.assign(s.pattern.n, 0), a.lambda.assign(s.pattern.m, 0);
  a.result = elimination.factor_and_solve(s.M, s.A, s.f, s.g, a.x, a.lambda);
  return a;
}

/// Largest difference of x, relative to the largest x.
double difference(const std::vector<double>& x, const LongVector& expected) {
  long double most = 0, size = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    most = std::max(most, std::abs(x[i] - expected[static_cast<Eigen::Index>(i)]));
    size = std::max(size, std::abs(expected[static_cast<Eigen::Index>(i)]));
  }
  return static_cast<double>(most / (size > 0 ? size : 1));
}

/// Left-over of both equations, computed here from the triplets in extended precision, against the largest term.
double left_over(const SparseSystem& s, const Answer& a) {
  std::vector<long double> f(s.f.begin(), s.f.end()), g(s.g.begin(), s.g.end());
  long double size = 0;
  for (const double v : s.f) size = std::max<long double>(size, std::abs(v));
  for (std::size_t k = 0; k < s.M.size(); ++k) {
    const auto [i, j] = s.pattern.M[k];
    f[i] -= static_cast<long double>(s.M[k]) * a.x[j];
    if (i != j) f[j] -= static_cast<long double>(s.M[k]) * a.x[i];
  }
  for (std::size_t k = 0; k < s.A.size(); ++k) {
    const auto [r, i] = s.pattern.A[k];
    const long double term = static_cast<long double>(s.A[k]) * a.lambda[r];
    f[i] += term;
    g[r] -= static_cast<long double>(s.A[k]) * a.x[i];
    size = std::max(size, std::abs(term));
  }
  long double most = 0;
  for (const long double v : f) most = std::max(most, std::abs(v));
  for (const long double v : g) most = std::max(most, std::abs(v));
  return static_cast<double>(most / size);
}

class Orderings : public ::testing::TestWithParam<SparseOrdering> {};

TEST_P(Orderings, RandomSystemsAgreeWithADenseSolutionInExtendedPrecision) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    testing::RandomSparse spec;
    spec.n = 5 + static_cast<int>(random() % 60);
    spec.m = 1 + static_cast<int>(random() % static_cast<unsigned>(spec.n / 2));
    spec.coupling = 0.25 * static_cast<double>(random() % 4);
    const SparseSystem s = make_random(spec, seed);
    SparseElimination elimination(s.pattern, {.ordering = GetParam()});
    const Answer a = solve(elimination, s);
    const LongVector expected = solve_dense(s);
    if (a.result.status == SparseStatus::vouched) {
      EXPECT_LT(difference(a.x, expected), 100 * eps * a.result.row_growth * a.result.mass_growth + 1e-13)
          << describe(a.result);
    } else {
      EXPECT_GT(a.result.row_growth, 1e8) << describe(a.result);
    }
    // Two steps instead of one give the same.
    Answer b{std::vector<double>(a.x.size()), std::vector<double>(a.lambda.size()), {}};
    elimination.factor(s.M, s.A);
    b.result = elimination.solve(s.f, s.g, b.x, b.lambda);
    EXPECT_EQ(a.result.status, b.result.status);
    if (a.result.vouched()) {
      EXPECT_LT(difference(b.x, expected), 100 * eps * a.result.row_growth * a.result.mass_growth + 1e-13);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Orderings,
                         ::testing::Values(SparseOrdering::automatic, SparseOrdering::least_degree,
                                           SparseOrdering::joined_rows, SparseOrdering::dissection,
                                           SparseOrdering::halved));

// Large enough for dense blocks of coordinates and rows; both equations are put together again from the triplets.
TEST_P(Orderings, LargerRandomSystemsMeetBothEquations) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const SparseSystem s = make_random(
        {.n = 500, .m = 220, .coupling = 0.3 + 0.3 * static_cast<double>(seed % 3), .num_repeated = seed % 2 ? 3 : 0},
        seed);
    for (const int lanes : {2, 4, 8}) {
      SparseElimination elimination(s.pattern, {.ordering = GetParam(), .most_lanes = lanes});
      EXPECT_FALSE(elimination.plan().supernodes.empty());
      const Answer a = solve(elimination, s);
      EXPECT_TRUE(a.result.vouched()) << describe(a.result);
      EXPECT_EQ(a.result.num_masked, seed % 2 ? 3 : 0);
      EXPECT_LT(left_over(s, a), 1e3 * eps * (1 + a.result.row_growth));
    }
  }
}

TEST(SparseElimination, MasksRowsThatRepeatOthersAndKeepsTheMotion) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    testing::RandomSparse spec{.n = 40, .m = 12, .coupling = seed % 2 ? 0.5 : 0.0, .num_repeated = 1 + int(seed % 5)};
    const SparseSystem s = make_random(spec, seed);
    SparseElimination elimination(s.pattern);
    const Answer a = solve(elimination, s);
    const Dense d = make_dense(s);
    Eigen::ColPivHouseholderQR<LongMatrix> qr(d.A);
    qr.setThreshold(1e-14L);
    EXPECT_EQ(static_cast<int>(elimination.masked_rows().size()), s.pattern.m - qr.rank());
    EXPECT_EQ(a.result.status, SparseStatus::vouched) << describe(a.result);
    for (const int r : elimination.masked_rows()) EXPECT_EQ(a.lambda[r], 0.0);
    EXPECT_LT(difference(a.x, solve_dense(s)), 1e4 * eps * a.result.row_growth);
  }
}

TEST(SparseElimination, NamesARowThatContradicts) {
  SparseSystem s = make_chain(50, 0.4);
  // The tenth rod twice, and a third time with another right-hand side.
  for (const double off : {0.0, 0.5}) {
    const int row = s.pattern.m++;
    for (std::size_t k = 0; k < s.pattern.A.size(); ++k)
      if (s.pattern.A[k].row == 10) s.add_row_entry(row, s.pattern.A[k].col, 2 * s.A[k]);
    s.g.push_back(2 * s.g[10] + off);
  }
  SparseElimination elimination(s.pattern);
  const Answer a = solve(elimination, s);
  EXPECT_EQ(a.result.status, SparseStatus::contradiction);
  EXPECT_EQ(elimination.masked_rows().size(), 2u);
  ASSERT_FALSE(elimination.unmet_rows().empty());
  for (const int r : elimination.unmet_rows()) EXPECT_TRUE(r == 10 || r >= 50) << r;
  EXPECT_NE(describe(a.result).find("row"), std::string::npos);
}

TEST(SparseElimination, SaysThatNearlyDependentRowsAreBeyondIt) {
  SparseSystem s = make_chain(20, 0.4);
  const int row = s.pattern.m++;
  for (std::size_t k = 0; k < s.pattern.A.size(); ++k)
    if (s.pattern.A[k].row == 7)
      s.add_row_entry(row, s.pattern.A[k].col, s.A[k] + (s.pattern.A[k].col == 18 ? 3e-6 : 0));
  s.g.push_back(s.g[7]);
  SparseElimination elimination(s.pattern);
  const Answer a = solve(elimination, s);
  EXPECT_EQ(a.result.status, SparseStatus::doubtful) << describe(a.result);
  EXPECT_EQ(a.result.num_grey, 1);
}

TEST(SparseElimination, SolvesWithMasslessCoordinates) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const SparseSystem s = make_random({.n = 30, .m = 12, .coupling = 0.4, .num_massless = 4}, seed);
    SparseElimination elimination(s.pattern);
    EXPECT_FALSE(elimination.plan().augmented.empty());
    const Answer a = solve(elimination, s);
    if (a.result.vouched()) {
      EXPECT_LT(difference(a.x, solve_dense(s)), 1e4 * eps * a.result.row_growth * a.result.mass_growth);
    } else {
      EXPECT_GT(a.result.mass_growth * a.result.row_growth, 1e6) << describe(a.result);
    }
  }
}

TEST(SparseElimination, SaysThatACoordinateIsUndetermined) {
  SparseSystem s = make_chain(3, 0.4);
  s.pattern.n += 1;  // a coordinate with neither mass nor row
  s.f.push_back(0.0);
  SparseElimination elimination(s.pattern);
  EXPECT_EQ(solve(elimination, s).result.status, SparseStatus::mass_not_definite);
  EXPECT_EQ(elimination.plan().massless, std::vector<int>{9});

  SparseSystem two;  // M = [1 1; 1 1] without rows
  two.pattern.n = 2;
  two.add_mass(0, 0, 1), two.add_mass(1, 0, 1), two.add_mass(1, 1, 1);
  two.f = {1, 2};
  SparseElimination singular(two.pattern);
  EXPECT_EQ(solve(singular, two).result.status, SparseStatus::mass_not_definite);
}

TEST(SparseElimination, SaysThatAMassIsNotPositive) {
  for (const double mass : {0.0, -1.0, -1e-3}) {
    SparseSystem s = make_chain(30, 0.4);
    s.M[40] = mass;
    SparseElimination elimination(s.pattern);
    EXPECT_EQ(solve(elimination, s).result.status, SparseStatus::mass_not_definite) << mass;
  }
}

TEST(SparseElimination, SingularCoupledMassIsSolvedWhenAllRowsEnter) {
  SparseSystem s;  // M = [1 1; 1 1], x0 − x1 = 1: x0 + x1 = f0 where f0 = f1
  s.pattern.n = 2, s.pattern.m = 1;
  s.add_mass(0, 0, 1), s.add_mass(1, 0, 1), s.add_mass(1, 1, 1);
  s.add_row_entry(0, 0, 1), s.add_row_entry(0, 1, -1);
  s.f = {3, 3}, s.g = {1};
  SparseElimination elimination(s.pattern, {.augment_all = true});
  const Answer a = solve(elimination, s);
  EXPECT_TRUE(a.result.vouched()) << describe(a.result);
  EXPECT_NEAR(a.x[0], 2, 10 * eps);
  EXPECT_NEAR(a.x[1], 1, 10 * eps);
  EXPECT_NEAR(a.lambda[0], 0, 10 * eps);
}

TEST(SparseElimination, RefusesNumbersThatAreNone) {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    for (const int where : {0, 17, 100}) {
      SparseSystem s = make_chain(40, 0.4);
      s.A[where] = bad;
      SparseElimination elimination(s.pattern);
      EXPECT_EQ(solve(elimination, s).result.status, SparseStatus::not_finite) << bad << " at " << where;
    }
    SparseSystem s = make_ladder(10, 0.4);
    s.M[7] = bad;
    SparseElimination elimination(s.pattern);
    EXPECT_EQ(solve(elimination, s).result.status, SparseStatus::not_finite) << bad;
    SparseSystem t = make_ladder(10, 0.4);
    t.f[7] = bad;
    EXPECT_EQ(solve(elimination, t).result.status, SparseStatus::not_finite) << bad;
  }
}

TEST(SparseElimination, DoesNotVouchForADependentRowWithoutANumber) {
  SparseSystem s = make_chain(10, 0.4);
  const int row = s.pattern.m++;
  for (std::size_t k = 0; k < s.pattern.A.size(); ++k)
    if (s.pattern.A[k].row == 4) s.add_row_entry(row, s.pattern.A[k].col, s.A[k]);
  s.g.push_back(s.g[4]);
  SparseElimination elimination(s.pattern);
  EXPECT_TRUE(solve(elimination, s).result.vouched());
  ASSERT_EQ(elimination.masked_rows().size(), 1u);
  s.g[elimination.masked_rows()[0]] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(solve(elimination, s).result.vouched());
}

#if !defined(MECHANICIAN_SANITIZED)
TEST(SparseElimination, AllocatesNothingOnceItIsMade) {
  SparseSystem twice = make_chain(30, 0.4);  // dependent rows, contradicting: lists are filled, steps are refined
  const std::size_t entries = twice.A.size();
  for (std::size_t k = 0; k < entries; ++k)
    twice.add_row_entry(30 + twice.pattern.A[k].row, twice.pattern.A[k].col, 1.1 * twice.A[k]);
  twice.pattern.m = 60;
  for (int r = 0; r < 30; ++r) twice.g.push_back(r);
  for (const SparseSystem& s : {make_chain(500, 0.4), make_ladder(50, 0.4), make_net(12), twice}) {
    SparseElimination elimination(s.pattern, {.accuracy = 0, .most_refinements = 2});
    std::vector<double> x(s.pattern.n), lambda(s.pattern.m);
    const long before = num_allocations;
    elimination.factor_and_solve(s.M, s.A, s.f, s.g, x, lambda);
    elimination.factor(s.M, s.A);
    elimination.solve(s.f, s.g, x, lambda);
    EXPECT_EQ(num_allocations - before, 0) << s.pattern.n;
  }
  // Neither do threads, once their library has had what it keeps.
  const SparseSystem net = make_net(25);
  SparseElimination shared(net.pattern, {.num_threads = 2, .least_products = 1});
  EXPECT_GT(shared.plan().parts.size(), 2u);
  std::vector<double> x(net.pattern.n), lambda(net.pattern.m);
  for (int round = 0; round < 20; ++round) shared.factor_and_solve(net.M, net.A, net.f, net.g, x, lambda);
  const long settled = num_allocations;
  for (int round = 0; round < 5; ++round) shared.factor_and_solve(net.M, net.A, net.f, net.g, x, lambda);
  EXPECT_EQ(num_allocations - settled, 0);
  const long before = num_allocations;
  const std::vector<double> one(100);
  EXPECT_GT(num_allocations, before);
}
#endif

TEST(SparseElimination, RefusesPatternsThatAreNone) {
  EXPECT_THROW(SparseElimination({.n = 2, .m = 1, .M = {{0, 1}}, .A = {}}), std::invalid_argument);
  EXPECT_THROW(SparseElimination({.n = 2, .m = 1, .M = {}, .A = {{0, 2}}}), std::invalid_argument);
  EXPECT_THROW(SparseElimination({.n = 2, .m = 1, .M = {}, .A = {{0, 1}, {0, 1}}}), std::invalid_argument);
}

TEST(SparseElimination, RefusesValuesOfOtherSizes) {
  const SparseSystem s = make_chain(3, 0.4);
  SparseElimination elimination(s.pattern);
  std::vector<double> x(9), lambda(3), few(2);
  EXPECT_THROW(elimination.factor_and_solve({}, s.A, s.f, s.g, x, lambda), std::invalid_argument);  // no M so far
  EXPECT_THROW(elimination.factor(s.A), std::invalid_argument);
  EXPECT_THROW(elimination.factor(few, s.A), std::invalid_argument);
  EXPECT_THROW(elimination.factor(s.M, few), std::invalid_argument);
  elimination.factor(s.M, s.A);
  EXPECT_THROW(elimination.solve(few, s.g, x, lambda), std::invalid_argument);
  EXPECT_THROW(elimination.solve(s.f, s.g, few, lambda), std::invalid_argument);
  EXPECT_TRUE(elimination.factor_and_solve({}, s.A, s.f, s.g, x, lambda).vouched());
}

TEST(SparseElimination, ChainsLaddersAndNetsAgreeWithDenseSolutions) {
  for (const SparseSystem& s : {make_chain(1, 0.4), make_chain(2, 0.4), make_chain(7, 0.4), make_chain(60, 0.4),
                                make_chain(90, 0.4), make_chain(61, 0.4, true), make_ladder(1, 0.3),
                                make_ladder(12, 0.4), make_net(2), make_net(5), make_net(8, false)}) {
    const LongVector expected = solve_dense(s);
    for (const int lanes : {2, 4}) {
      SparseElimination narrow(s.pattern, {.most_lanes = lanes});
      const Answer b = solve(narrow, s);
      EXPECT_TRUE(b.result.vouched()) << s.pattern.n << ", " << lanes << ": " << describe(b.result);
      EXPECT_LT(difference(b.x, expected), 1e4 * eps * b.result.row_growth) << s.pattern.n << ", " << lanes;
    }
    SparseElimination elimination(s.pattern);
    const Answer a = solve(elimination, s);
    EXPECT_TRUE(a.result.vouched()) << s.pattern.n << ": " << describe(a.result);
    EXPECT_LT(difference(a.x, expected), 1e4 * eps * a.result.row_growth) << s.pattern.n;
    for (int r = 0; r < s.pattern.m; ++r)
      EXPECT_NEAR(a.lambda[r], static_cast<double>(expected[s.pattern.n + r]), 1e6 * eps * (1 + std::abs(a.lambda[r])));
  }
}

TEST(SparseElimination, ManyShortChainsAgreeWithDenseSolutions) {
  for (const int length : {1, 2, 11}) {
    SparseSystem s;
    const int N = 66;
    s.pattern.n = 3 * N;
    std::mt19937_64 random(5);
    std::normal_distribution<double> normal;
    for (int i = 0; i < N; ++i) {
      double from[3], to[3];
      for (int k = 0; k < 3; ++k) {
        from[k] = normal(random), to[k] = normal(random);
        s.add_mass(3 * i + k, 3 * i + k, 1 + 0.3 * std::abs(normal(random)));
        s.f.push_back(normal(random));
      }
      s.add_rod(3, i % length ? i - 1 : -1, i, from, to, normal(random));
    }
    SparseElimination elimination(s.pattern);
    EXPECT_EQ(static_cast<int>(elimination.plan().runs.size()), N / length);
    const Answer a = solve(elimination, s);
    EXPECT_TRUE(a.result.vouched()) << describe(a.result);
    EXPECT_LT(difference(a.x, solve_dense(s)), 1e3 * eps * a.result.row_growth) << length;
  }
}

TEST(SparseElimination, TreesOfRodsAgreeWithDenseSolutions) {
  // Branches at every third point: runs that end in runs.
  SparseSystem s;
  const int N = 120;
  s.pattern.n = 3 * N;
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  std::vector<double> p(3 * N);
  const double origin[3] = {0, 0, 0};
  for (int i = 0; i < N; ++i) {
    const int parent = i == 0 ? -1 : i % 40 == 0 ? i / 3 : i - 1;
    for (int k = 0; k < 3; ++k) {
      p[3 * i + k] = (parent >= 0 ? p[3 * parent + k] : 0) + normal(random);
      s.add_mass(3 * i + k, 3 * i + k, 1 + 0.3 * std::abs(normal(random)));
      s.f.push_back(normal(random));
    }
    s.add_rod(3, parent, i, parent >= 0 ? &p[3 * parent] : origin, &p[3 * i], normal(random));
  }
  SparseElimination elimination(s.pattern);
  EXPECT_GT(elimination.plan().runs.size(), 3u);
  const Answer a = solve(elimination, s);
  EXPECT_TRUE(a.result.vouched()) << describe(a.result);
  EXPECT_LT(difference(a.x, solve_dense(s)), 1e3 * eps * a.result.row_growth);
}

TEST(SparseElimination, NearlyStraightChainsOfManyRodsMeetBothEquations) {
  const int N = 100'000;
  for (const double bend : {1e-3, 0.3}) {
    const SparseSystem s = make_chain(N, bend);
    SparseElimination elimination(s.pattern);
    const Answer a = solve(elimination, s);
    EXPECT_TRUE(a.result.vouched()) << describe(a.result);
    EXPECT_LT(left_over(s, a), 1e3 * eps) << bend;
  }
  // Between two walls a straight chain has one row too many.
  const SparseSystem s = make_chain(1000, 0.0, true);
  SparseElimination elimination(s.pattern);
  Answer a = solve(elimination, s);
  EXPECT_EQ(elimination.masked_rows().size(), 1u);
  EXPECT_EQ(a.result.status, SparseStatus::contradiction);  // the ends cannot rotate as prescribed
}

TEST(SparseElimination, CostGrowsInProportionToTheBodies) {
  constexpr int largest = num_trials(1) == 0 ? 10'000 : 100'000;  // less under the sanitizers
  const auto cost = [](const SparseSystem& s) {
    const SparseElimination elimination(s.pattern);
    return std::pair(elimination.plan().num_products, elimination.plan().bytes());
  };
  for (const bool ladder : {false, true}) {
    const auto make = [&](int N) { return ladder ? make_ladder(N, 0.4) : make_chain(N, 0.4); };
    auto few = cost(make(1000));
    for (int N = 10'000; N <= largest; N *= 10) {
      const auto many = cost(make(N));
      EXPECT_LT(many.first, 10.3 * few.first) << ladder;
      EXPECT_LT(many.second, 10.6 * few.second) << ladder;
      few = many;
    }
  }
  // Rings have no ends.
  const auto ring = [](int N) {
    SparseSystem s;
    s.pattern.n = 2 * N;
    for (int i = 0; i < N; ++i) {
      const double a = i, from[2] = {std::cos(a), std::sin(a)}, to[2] = {std::cos(a + 1), std::sin(a + 1)};
      for (int k = 0; k < 2; ++k) s.add_mass(2 * i + k, 2 * i + k, 1), s.f.push_back(1);
      s.add_rod(2, i, (i + 1) % N, from, to, 0);
    }
    return s;
  };
  EXPECT_LT(cost(ring(largest)).first, 10.3 * cost(ring(largest / 10)).first);
  // Nets k×k: k³ products, k² log k entries.
  const auto small = cost(make_net(25)), large = cost(make_net(100));
  EXPECT_LT(large.first, 1.5 * 64 * small.first);
  EXPECT_LT(large.second, 1.6 * 16 * small.second);
}

TEST(SparseDissection, LevelSetsSeparateNets) {
  const int k = 60;
  SparseLists grid;
  for (int i = 0; i < k; ++i)
    for (int j = 0; j < k; ++j) {
      for (const auto& [di, dj] : {std::pair(-1, 0), std::pair(0, -1), std::pair(0, 1), std::pair(1, 0)})
        if (i + di >= 0 && i + di < k && j + dj >= 0 && j + dj < k) grid.items.push_back((i + di) * k + j + dj);
      grid.begin.push_back(static_cast<int>(grid.items.size()));
    }
  for (const std::vector<int>& order : {dissect(grid), dissect_by_levels(grid)}) {
    std::vector<int> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (int v = 0; v < k * k; ++v) ASSERT_EQ(sorted[v], v);
    // What is left without the last 2k nodes, about one separator, falls into parts none of which is nearly everything.
    std::vector<int> part(k * k, -1);
    for (int v = k * k - 2 * k; v < k * k; ++v) part[order[v]] = 0;
    int largest = 0;
    for (int start = 0; start < k * k; ++start) {
      if (part[start] >= 0) continue;
      std::vector<int> queue = {start};
      part[start] = 1;
      for (std::size_t q = 0; q < queue.size(); ++q)
        for (const int* u = grid.first(queue[q]); u != grid.last(queue[q]); ++u)
          if (part[*u] < 0) part[*u] = 1, queue.push_back(*u);
      largest = std::max(largest, static_cast<int>(queue.size()));
    }
    EXPECT_LT(largest, k * k * 3 / 4);
  }
}

TEST(SparseElimination, ARowThatTouchesEverythingCostsNoMoreThanItsLength) {
  SparseSystem s = make_ladder(2000, 0.4);
  const int row = s.pattern.m++;
  for (int i = 0; i < s.pattern.n; i += 2) s.add_row_entry(row, i, 1.0);
  s.g.push_back(0.0);
  const SparseElimination elimination(s.pattern), without(make_ladder(2000, 0.4).pattern);
  EXPECT_LT(elimination.plan().num_products, 4 * without.plan().num_products);
}

// ---- strips with a direction: chains whose numbers lie by axis

TEST(SparseStrips, RowsThatLieOneAfterTheOtherHaveADirectionFromBothEnds) {
  const SparseElimination elimination(by_axis(make_chain(200, 0.5), 3).pattern);
  int up = 0, down = 0;
  for (const sparse::Strip& strip : elimination.plan().strips)
    (strip.direction > 0 ? up : down) += strip.direction == 0 ? 0 : strip.count;
  EXPECT_GT(up, 80);
  EXPECT_GT(down, 80);
}

TEST(SparseStrips, ChainsByAxisAreSolvedAsAccuratelyAsAnyWhateverTheirScaleAndOnEveryProcessor) {
  for (const double scale : {1.0, 1e-60, 1e50})
    for (const int N : {17, 40, 90}) {
      SparseSystem s = by_axis(make_chain(N, 0.5), 3);
      for (double& a : s.A) a *= scale;
      for (double& g : s.g) g *= scale;
      const LongVector expected = solve_dense(by_axis(make_chain(N, 0.5), 3));
      for (const int lanes : {8, 4, 2})
        for (const bool check : {true, false}) {
          SparseElimination elimination(s.pattern, {.check_residual = check, .most_lanes = lanes});
          const Answer a = solve(elimination, s);
          EXPECT_TRUE(a.result.vouched()) << describe(a.result);
          EXPECT_LT(difference(a.x, expected), 100 * eps) << N << ' ' << scale << ' ' << lanes;
          // Again with the factors alone.
          std::vector<double> x(s.pattern.n), lambda(s.pattern.m);
          elimination.factor(s.M, s.A);
          EXPECT_TRUE(elimination.solve(s.f, s.g, x, lambda).vouched());
          EXPECT_LT(difference(x, expected), 100 * eps) << N << ' ' << scale << ' ' << lanes;
        }
    }
}

TEST(SparseStrips, ADependentRowWithinAStripIsMaskedAndTheOthersHold) {
  // Rods 30 and 31 both pull at mass 30 alone, along the same line: one of them says what the other does.
  SparseSystem s = by_axis(make_chain(64, 0.5), 3);
  double along[3] = {0.6, 0.0, -0.8};
  for (std::size_t k = 0; k < s.A.size(); ++k) {
    const auto [row, col] = s.pattern.A[k];
    if (row == 30 || row == 31) s.A[k] = col % 64 == 30 ? along[col / 64] : 0.0;
  }
  s.g[31] = s.g[30];
  const LongVector expected = solve_dense(s);
  for (const int lanes : {8, 4, 2}) {
    SparseElimination elimination(s.pattern, {.most_lanes = lanes});
    const Answer a = solve(elimination, s);
    EXPECT_TRUE(a.result.vouched()) << describe(a.result);
    EXPECT_EQ(a.result.num_masked, 1);
    ASSERT_EQ(elimination.masked_rows().size(), 1u);
    EXPECT_TRUE(elimination.masked_rows()[0] == 30 || elimination.masked_rows()[0] == 31);
    EXPECT_LT(difference(a.x, expected), 1000 * eps) << lanes;
    s.g[31] += 1.0;
    EXPECT_EQ(solve(elimination, s).result.status, SparseStatus::contradiction);
    s.g[31] = s.g[30];
  }
}

TEST(SparseStrips, ANumberThatIsNoneIsFoundWithinAStrip) {
  SparseSystem s = by_axis(make_chain(64, 0.5), 3);
  s.A[100] = std::numeric_limits<double>::quiet_NaN();
  SparseElimination elimination(s.pattern);
  EXPECT_EQ(solve(elimination, s).result.status, SparseStatus::not_finite);
}

}  // namespace
}  // namespace mechanician
