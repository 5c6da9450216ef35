#include "mechanician/solve/sparse_parts.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <limits>

#include "mechanician/solve/sparse_elimination.hpp"
#include "mechanician/solve/sparse_system_for_test.hpp"

namespace mechanician {
namespace {

using testing::make_chain;
using testing::make_net;
using testing::make_random;
using testing::SparseSystem;
constexpr double eps = std::numeric_limits<double>::epsilon();

struct Answer {
  std::vector<double> x, lambda;
  SparseResult result;
  std::size_t num_parts = 0;
};

enum class Way { at_once, factor_then_solve };

Answer solve(const SparseSystem& s, const SparseOptions& options, Way way = Way::at_once) {
  SparseElimination elimination(s.pattern, options);
  Answer a{std::vector<double>(s.pattern.n), std::vector<double>(s.pattern.m), {}, elimination.plan().parts.size()};
  for (int round = 0; round < 2; ++round) {  // nothing may be left over from the first one
    if (way == Way::at_once) {
      a.result = elimination.factor_and_solve(s.M, s.A, s.f, s.g, a.x, a.lambda);
    } else {
      elimination.factor(s.M, s.A);
      a.result = elimination.solve(s.f, s.g, a.x, a.lambda);
    }
  }
  return a;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

/// What is left of both equations, from the triplets in extended precision, against the largest term.
double left_over(const SparseSystem& s, const Answer& a) {
  std::vector<long double> f(s.f.begin(), s.f.end()), g(s.g.begin(), s.g.end());
  long double size = 0, most = 0;
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
  for (const auto* list : {&f, &g})
    for (const long double v : *list) most = std::max(most, std::abs(v));
  return static_cast<double>(most / size);
}

void expect_same_for_all_threads(const SparseSystem& s, SparseOrdering ordering, std::size_t least_parts) {
  const SparseOptions alone{.ordering = ordering, .num_threads = 1, .least_products = 1};
  for (const Way way : {Way::at_once, Way::factor_then_solve}) {
    const Answer one = solve(s, alone, way);
    EXPECT_GE(one.num_parts, least_parts);
    EXPECT_TRUE(one.result.vouched()) << describe(one.result);
    EXPECT_LT(left_over(s, one), 1e3 * eps * (1 + one.result.row_growth));
    for (const int threads : {2, 3, 7}) {
      SparseOptions options = alone;
      options.num_threads = threads;
      const Answer many = solve(s, options, way);
      EXPECT_TRUE(same_bits(one.x, many.x)) << threads;
      EXPECT_TRUE(same_bits(one.lambda, many.lambda)) << threads;
      EXPECT_EQ(one.result.row_growth, many.result.row_growth);
      EXPECT_EQ(one.result.num_masked, many.result.num_masked);
      EXPECT_EQ(one.result.residual, many.result.residual);
      EXPECT_EQ(one.result.worst_row, many.result.worst_row);
    }
  }
}

TEST(SparseParts, NetsGiveTheSameBitsForEveryNumberOfThreads) {
  for (const int k : {9, 25, 40}) {
    SCOPED_TRACE(k);
    expect_same_for_all_threads(make_net(k), SparseOrdering::automatic, 3);
    expect_same_for_all_threads(make_net(k), SparseOrdering::dissection, 3);
  }
}

TEST(SparseParts, CoupledMassesAndRepeatedRowsGiveTheSameBitsForEveryNumberOfThreads) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const SparseSystem s = make_random(
        {.n = 500, .m = 220, .coupling = 0.3 * static_cast<double>(seed % 3), .num_repeated = seed % 2 ? 3 : 0}, seed);
    for (const SparseOrdering ordering : {SparseOrdering::automatic, SparseOrdering::dissection})
      expect_same_for_all_threads(s, ordering, 1);
    EXPECT_EQ(solve(s, {.num_threads = 2, .least_products = 1}).result.num_masked, seed % 2 ? 3 : 0);
  }
}

TEST(SparseParts, NetsThatDoNotTouchAreSolvedEachAsByItself) {
  const SparseSystem one = make_net(12);
  SparseSystem two = one;
  for (std::size_t k = 0; k < one.M.size(); ++k)
    two.add_mass(one.pattern.n + one.pattern.M[k].row, one.pattern.n + one.pattern.M[k].col, one.M[k]);
  for (std::size_t k = 0; k < one.A.size(); ++k)
    two.add_row_entry(one.pattern.m + one.pattern.A[k].row, one.pattern.n + one.pattern.A[k].col, one.A[k]);
  two.pattern.n *= 2, two.pattern.m *= 2;
  two.f.insert(two.f.end(), one.f.begin(), one.f.end()), two.g.insert(two.g.end(), one.g.begin(), one.g.end());
  expect_same_for_all_threads(two, SparseOrdering::automatic, 5);
}

TEST(SparseParts, SmallSystemsAreLeftWhole) {
  EXPECT_EQ(solve(make_net(12), {}).num_parts, 1u);
  EXPECT_EQ(solve(make_chain(1000, 0.5), {.least_products = 1}).num_parts, 1u);
}

/// Numbers by axis, masses and forces alike: as families have them.
SparseSystem make_even_chain(int N) {
  const SparseSystem chain = make_chain(N, 0.5);
  SparseSystem s;
  s.pattern.n = chain.pattern.n, s.pattern.m = chain.pattern.m, s.g = chain.g;
  const auto place = [&](int i) { return i % 3 * N + i / 3; };
  for (int i = 0; i < 3 * N; ++i) s.add_mass(i, i, 2.0), s.f.push_back(i < 2 * N ? 0.25 : -9.81);
  for (int k = 0; k < 6; ++k)
    for (std::size_t t = 0; t < chain.A.size(); ++t) {
      const auto [row, col] = chain.pattern.A[t];
      // Rods have two ends of three entries each, the first one only one.
      const int end = row > 0 && col / 3 < row ? 0 : 3;
      if (end + col % 3 == k) s.add_row_entry(row, place(col), chain.A[t]);
    }
  return s;
}

TEST(SparseElimination, ForcesThatAreHeldAreTheSameForces) {
  const SparseSystem s = make_even_chain(300);
  for (const int lanes : {8, 4, 2}) {
    SparseElimination plain(s.pattern, {.most_lanes = lanes}), held(s.pattern, {.most_lanes = lanes});
    Answer a{std::vector<double>(s.pattern.n), std::vector<double>(s.pattern.m), {}}, b = a;
    a.result = plain.factor_and_solve(s.M, s.A, s.f, s.g, a.x, a.lambda);
    held.hold_force(s.f);
    EXPECT_TRUE(std::any_of(held.plan().strips.begin(), held.plan().strips.end(),
                            [](const sparse::Strip& strip) { return strip.even_force; }));
    b.result = held.factor_and_solve(s.M, s.A, s.f, s.g, b.x, b.lambda);
    EXPECT_TRUE(a.result.vouched() && b.result.vouched());
    EXPECT_LT(left_over(s, b), 1e3 * eps * b.result.row_growth);
    for (std::size_t i = 0; i < a.x.size(); ++i) EXPECT_NEAR(a.x[i], b.x[i], 1e3 * eps * b.result.row_growth * 10);
    // Others come from elsewhere, and are read.
    const std::vector<double> none(s.f.size(), 0.0);
    plain.factor_and_solve(s.M, s.A, none, s.g, a.x, a.lambda);
    held.factor_and_solve(s.M, s.A, none, s.g, b.x, b.lambda);
    EXPECT_TRUE(same_bits(a.x, b.x));
  }
}

TEST(SparseThreads, EveryPieceIsDoneOnceAndNoSlotIsUsedTwiceAtATime) {
  for (const int count : {1, 2, 5}) {
    SparseThreads threads(count);
    EXPECT_EQ(threads.count(), count);
    std::vector<std::atomic<int>> done(1000);
    std::vector<std::atomic<int>> busy(count);
    std::atomic<int> clashes{0};
    for (int round = 0; round < 3; ++round)
      threads.ranges(1000, 7, [&](std::ptrdiff_t from, std::ptrdiff_t to, int slot) {
        if (slot < 0 || slot >= count || busy[slot].exchange(1) != 0) ++clashes;
        for (std::ptrdiff_t k = from; k < to; ++k) ++done[k];
        if (slot >= 0 && slot < count) busy[slot] = 0;
      });
    for (const auto& times : done) EXPECT_EQ(times, 3);
    EXPECT_EQ(clashes, 0);
  }
  EXPECT_GE(SparseThreads(0).count(), 1);
}

}  // namespace
}  // namespace mechanician
