// The generated elimination against dense solutions in long double, on random sparse systems.

#include "mechanician/compile/elimination.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace mechanician {
namespace {

using Real = long double;
constexpr double eps = std::numeric_limits<double>::epsilon();

struct Dense {
  int rows = 0, cols = 0;
  std::vector<Real> x;
  Dense(int r, int c) : rows(r), cols(c), x(static_cast<std::size_t>(r * c), 0) {}
  Real& operator()(int i, int j) { return x[static_cast<std::size_t>(i * cols + j)]; }
};

/// Gauss with complete pivoting, in place; the solution in long double.
std::vector<Real> solve_dense(Dense K, std::vector<Real> y) {
  const int n = K.rows;
  std::vector<int> column(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) column[static_cast<std::size_t>(i)] = i;
  for (int k = 0; k < n; ++k) {
    int r = k, c = k;
    for (int i = k; i < n; ++i)
      for (int j = k; j < n; ++j)
        if (std::abs(K(i, j)) > std::abs(K(r, c))) r = i, c = j;
    for (int j = 0; j < n; ++j) std::swap(K(k, j), K(r, j));
    for (int i = 0; i < n; ++i) std::swap(K(i, k), K(i, c));
    std::swap(y[static_cast<std::size_t>(k)], y[static_cast<std::size_t>(r)]);
    std::swap(column[static_cast<std::size_t>(k)], column[static_cast<std::size_t>(c)]);
    for (int i = k + 1; i < n; ++i) {
      const Real l = K(i, k) / K(k, k);
      for (int j = k; j < n; ++j) K(i, j) -= l * K(k, j);
      y[static_cast<std::size_t>(i)] -= l * y[static_cast<std::size_t>(k)];
    }
  }
  std::vector<Real> x(static_cast<std::size_t>(n));
  for (int k = n - 1; k >= 0; --k) {
    Real s = y[static_cast<std::size_t>(k)];
    for (int j = k + 1; j < n; ++j) s -= K(k, j) * x[static_cast<std::size_t>(column[static_cast<std::size_t>(j)])];
    x[static_cast<std::size_t>(column[static_cast<std::size_t>(k)])] = s / K(k, k);
  }
  return x;
}

/// A sparse system as a program whose inputs are its numbers.
struct Random {
  int n, m;
  std::vector<std::pair<int, int>> M_at, A_at;
  std::vector<double> input;  ///< M, A, f, g
};

Random make_random(std::mt19937& random, bool diagonal) {
  const auto real = [&] { return std::uniform_real_distribution<double>(-1.0, 1.0)(random); };
  Random s{1 + static_cast<int>(random() % 12), 0, {}, {}, {}};
  s.m = static_cast<int>(random() % static_cast<unsigned>(s.n));
  // M = Σ v vᵀ over short sparse v, and a diagonal.
  Dense M(s.n, s.n);
  for (int i = 0; i < s.n; ++i) M(i, i) = 0.5L + std::abs(real());
  if (!diagonal)
    for (int k = 0; k < s.n / 2; ++k) {
      const int i = static_cast<int>(random() % static_cast<unsigned>(s.n)),
                j = static_cast<int>(random() % static_cast<unsigned>(s.n));
      if (i == j) continue;
      const double a = real(), b = real();
      M(i, i) += a * a, M(j, j) += b * b, M(i, j) += a * b, M(j, i) += a * b;
    }
  for (int i = 0; i < s.n; ++i)
    for (int j = 0; j <= i; ++j)
      if (M(i, j) != 0) s.M_at.push_back({i, j}), s.input.push_back(static_cast<double>(M(i, j)));
  for (int r = 0; r < s.m; ++r) {
    std::vector<int> cols{r};  // a staircase keeps the rows independent
    for (int k = 0; k < 2; ++k) cols.push_back(static_cast<int>(random() % static_cast<unsigned>(s.n)));
    std::sort(cols.begin(), cols.end());
    cols.erase(std::unique(cols.begin(), cols.end()), cols.end());
    for (const int c : cols) s.A_at.push_back({r, c}), s.input.push_back(c == r ? 1.0 + std::abs(real()) : real());
  }
  for (int i = 0; i < s.n + s.m; ++i) s.input.push_back(real());
  return s;
}

struct Outcome {
  std::vector<double> values;  ///< x, λ, vouch
  int num_steps = 0;
};

Outcome run(const Random& s, bool refined, const std::vector<char>& constant) {
  ProgramBuilder builder(static_cast<int>(s.input.size()));
  Numbers numbers(builder);
  std::vector<ProgramBuilder::Value> values;
  for (std::size_t i = 0; i < s.input.size(); ++i)
    values.push_back(constant[i] ? builder.constant(s.input[i]) : builder.input(static_cast<int>(i)));
  const std::vector<Number> all = numbers.adopt(values);
  KktMatrix K{s.n, s.m, {}, {}};
  std::size_t next = 0;
  for (const auto& [i, j] : s.M_at) K.M.push_back({i, j, all[next++]});
  for (const auto& [i, j] : s.A_at) K.A.push_back({i, j, all[next++]});
  std::vector<Number> f, g;
  for (int i = 0; i < s.n; ++i) f.push_back(all[next++]);
  for (int j = 0; j < s.m; ++j) g.push_back(all[next++]);
  Elimination elimination(numbers, K, {}, 100'000);
  if (!elimination.problem().empty()) return {};
  Elimination::Solution solution = elimination.solve(f, g);
  if (refined) solution = elimination.refine(solution, f, g);
  std::vector<ProgramBuilder::Value> outputs;
  for (const Number& x : solution.x) outputs.push_back(numbers.value_of(x));
  for (const Number& x : solution.lambda) outputs.push_back(numbers.value_of(x));
  outputs.push_back(numbers.value_of(elimination.calc_vouch({})));
  const Program program = builder.finish(outputs);
  Outcome result{std::vector<double>(outputs.size()), static_cast<int>(program.steps.size())};
  std::vector<double> registers(static_cast<std::size_t>(program.num_registers()));
  program.evaluate(s.input.data(), registers.data(), result.values.data());
  return result;
}

std::vector<Real> oracle(const Random& s) {
  Dense K(s.n + s.m, s.n + s.m);
  std::size_t next = 0;
  for (const auto& [i, j] : s.M_at) K(i, j) = K(j, i) = s.input[next++];
  for (const auto& [i, j] : s.A_at) K(s.n + i, j) = K(j, s.n + i) = s.input[next++];
  std::vector<Real> y;
  for (int i = 0; i < s.n + s.m; ++i) y.push_back(s.input[next++]);
  std::vector<Real> x = solve_dense(K, y);
  for (int j = 0; j < s.m; ++j) x[static_cast<std::size_t>(s.n + j)] *= -1;
  return x;
}

TEST(Elimination, agrees_with_dense_gauss_in_long_double_on_random_sparse_systems) {
  int vouched = 0;
  for (unsigned seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    const Random s = make_random(random, seed % 3 == 0);
    std::vector<char> constant(s.input.size(), 0);
    for (char& c : constant) c = seed % 2 == 0 && random() % 2 == 0;
    const std::vector<Real> want = oracle(s);
    Real size = 1;
    for (const Real x : want) size = std::max(size, std::abs(x));
    for (const bool refined : {false, true}) {
      const Outcome got = run(s, refined, constant);
      if (got.values.empty()) continue;
      if (!(got.values.back() > 0)) continue;
      vouched += !refined;
      // Growth may be 1e10 where vouched; these rows have one of a few hundred at most.
      for (std::size_t i = 0; i < want.size(); ++i)
        EXPECT_NEAR(got.values[i], static_cast<double>(want[i]), 1e5 * eps * static_cast<double>(size));
    }
  }
  EXPECT_GT(vouched, 1950);
}

TEST(Elimination, constants_cost_nothing) {
  std::mt19937 random(5);
  const Random s = make_random(random, false);
  std::vector<char> constant(s.input.size(), 1);
  const Outcome all = run(s, false, constant);
  ASSERT_FALSE(all.values.empty());
  EXPECT_EQ(all.num_steps, 0);
}

TEST(Elimination, of_a_chain_has_linear_cost) {
  // Masses on a line coupled to their neighbours, one row between each pair: the pattern of a ladder.
  const auto steps = [](int n) {
    Random s{n, n - 1, {}, {}, {}};
    for (int i = 0; i < n; ++i) {
      if (i > 0) s.M_at.push_back({i, i - 1}), s.input.push_back(0.25);
      s.M_at.push_back({i, i}), s.input.push_back(1.0);
    }
    for (int j = 0; j + 1 < n; ++j)
      for (const int c : {j, j + 1}) s.A_at.push_back({j, c}), s.input.push_back(c == j ? 1.0 : -1.0 - 0.01 * j);
    for (int i = 0; i < 2 * n - 1; ++i) s.input.push_back(1.0);
    return run(s, false, std::vector<char>(s.input.size(), 0)).num_steps;
  };
  const int ten = steps(10), twenty = steps(20), forty = steps(40);
  EXPECT_EQ(forty - twenty, 2 * (twenty - ten));
}

TEST(Elimination, does_not_vouch_for_rows_that_are_nearly_dependent_or_masses_that_are_not_positive) {
  const auto vouch = [](double angle, double mass) {
    Random s{3, 2, {{0, 0}, {1, 0}, {1, 1}, {2, 2}}, {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {1, 2}}, {}};
    s.input = {1.0, mass, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, angle, 1, 2, 3, 4, 5};
    return run(s, false, std::vector<char>(s.input.size(), 0)).values.back();
  };
  EXPECT_GT(vouch(1.0, 0.5), 0.0);
  EXPECT_GT(vouch(1e-2, 0.5), 0.0);
  for (const double angle : {1e-6, 1e-8, 1e-10, 1e-14, 0.0}) EXPECT_FALSE(vouch(angle, 0.5) > 0.0) << angle;
  for (const double mass : {1.0, -1.0, 1.5, 5.0, 1.0 - 1e-11, std::nan("")})
    EXPECT_FALSE(vouch(1.0, mass) > 0.0) << mass;
}

TEST(EliminationOrder, rows_come_after_their_coordinates_and_every_node_comes_once) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    const Random s = make_random(random, false);
    EliminationGraph graph{s.n, s.m, {}};
    for (const auto& [i, j] : s.M_at)
      if (i != j) graph.edges.push_back({i, j});
    for (const auto& [i, j] : s.A_at) graph.edges.push_back({s.n + i, j});
    const auto order = find_elimination_order(graph, 100'000);
    ASSERT_TRUE(order);
    std::vector<int> position(static_cast<std::size_t>(s.n + s.m), -1);
    for (std::size_t k = 0; k < order->nodes.size(); ++k) {
      int& p = position[static_cast<std::size_t>(order->nodes[k])];
      EXPECT_EQ(p, -1);
      p = static_cast<int>(k);
    }
    EXPECT_EQ(std::count(position.begin(), position.end(), -1), 0);
    for (const auto& [i, j] : s.A_at)
      EXPECT_GT(position[static_cast<std::size_t>(s.n + i)], position[static_cast<std::size_t>(j)]);
  }
}

TEST(EliminationOrder, gives_up_where_too_much_is_needed) {
  EliminationGraph dense{30, 0, {}};
  for (int i = 0; i < 30; ++i)
    for (int j = 0; j < i; ++j) dense.edges.push_back({i, j});
  EXPECT_FALSE(find_elimination_order(dense, 1000));
  EXPECT_TRUE(find_elimination_order(dense, 10'000));
}

}  // namespace
}  // namespace mechanician
