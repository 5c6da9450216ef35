// One solve of M x − Aᵀλ = f, A x = g at large sizes: chains, ladders, nets; beside CHOLMOD on A M⁻¹Aᵀ in the same run.
//
//   bench_sparse [chain|ladder|net] [largest]
//
// Columns: ns per body for values in, x and λ out (T formed, factored, solved); the same with residuals checked; the
// same with M unchanged; CHOLMOD: numerical factorisation and solution only, A M⁻¹Aᵀ in its own format given for
// nothing.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "mechanician/solve/sparse_elimination.hpp"
#include "mechanician/solve/sparse_system_for_test.hpp"

#ifdef MECHANICIAN_BENCH_CHOLMOD
#include <cholmod.h>
#endif

namespace {

using namespace mechanician;
using mechanician::testing::SparseSystem;
using Clock = std::chrono::steady_clock;

double seconds(auto action) {
  const auto start = Clock::now();
  action();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Least of several repetitions of about 50 ms.
double best_of(auto action) {
  const double first = seconds(action);
  const int inner = std::max(1, static_cast<int>(0.05 / std::max(first, 1e-9)));
  double best = first;
  for (int k = 0; k < 7; ++k)
    best = std::min(best, seconds([&] {
                            for (int i = 0; i < inner; ++i) action();
                          }) / inner);
  return best;
}

#ifdef MECHANICIAN_BENCH_CHOLMOD
/// T = A M⁻¹Aᵀ for a diagonal M, upper triangle by columns.
struct Cholmod {
  explicit Cholmod(const SparseSystem& s) {
    cholmod_start(&common);
    common.print = 0;
    cholmod_triplet* triplet =
        cholmod_allocate_triplet(s.pattern.n, s.pattern.m, s.A.size(), 0, CHOLMOD_REAL, &common);  // Aᵀ
    for (std::size_t k = 0; k < s.A.size(); ++k) {
      static_cast<int*>(triplet->i)[k] = s.pattern.A[k].col;
      static_cast<int*>(triplet->j)[k] = s.pattern.A[k].row;
      static_cast<double*>(triplet->x)[k] = s.A[k] / std::sqrt(s.M[s.pattern.A[k].col]);
    }
    triplet->nnz = s.A.size();
    cholmod_sparse* At = cholmod_triplet_to_sparse(triplet, 0, &common);
    cholmod_sparse* A = cholmod_transpose(At, 1, &common);
    cholmod_sparse* full = cholmod_aat(A, nullptr, 0, 1, &common);
    T = cholmod_copy(full, 1, 1, &common);
    cholmod_free_sparse(&full, &common);
    cholmod_free_sparse(&A, &common);
    cholmod_free_sparse(&At, &common);
    cholmod_free_triplet(&triplet, &common);
    e = cholmod_ones(s.pattern.m, 1, CHOLMOD_REAL, &common);
    analyse_s = seconds([&] { L = cholmod_analyze(T, &common); });
  }
  void solve() {
    cholmod_factorize(T, L, &common);
    cholmod_dense* lambda = cholmod_solve(CHOLMOD_A, L, e, &common);
    cholmod_free_dense(&lambda, &common);
  }
  ~Cholmod() {
    cholmod_free_factor(&L, &common);
    cholmod_free_sparse(&T, &common);
    cholmod_free_dense(&e, &common);
    cholmod_finish(&common);
  }
  cholmod_common common;
  cholmod_sparse* T = nullptr;
  cholmod_factor* L = nullptr;
  cholmod_dense* e = nullptr;
  double analyse_s = 0;
};
#endif

struct Line {
  double bodies, ns;
};

Line measure(const std::string& name, double bodies, const SparseSystem& given, bool diagonal_mass) {
  struct {
    const SparsePattern& pattern;
    LargeVector M, A, f, g;
  } s{given.pattern,
      {given.M.begin(), given.M.end()},
      {given.A.begin(), given.A.end()},
      {given.f.begin(), given.f.end()},
      {given.g.begin(), given.g.end()}};
  LargeVector x(s.pattern.n), lambda(s.pattern.m);
  SparseOptions plain;
  plain.check_residual = false;
  double setup = 0;
  SparseElimination* made = nullptr;
  setup = seconds([&] { made = new SparseElimination(s.pattern, plain); });
  SparseElimination& fast = *made;
  SparseResult result;
  const double all = best_of([&] { result = fast.factor_and_solve(s.M, s.A, s.f, s.g, x, lambda); });
  const double same_mass = best_of([&] { result = fast.factor_and_solve({}, s.A, s.f, s.g, x, lambda); });
  const double megabytes = fast.plan().bytes() / 1e6, products = fast.plan().num_products;
  delete made;
  SparseElimination checked(s.pattern);
  const double with_check = best_of([&] { result = checked.factor_and_solve(s.M, s.A, s.f, s.g, x, lambda); });
  double other = NAN;
#ifdef MECHANICIAN_BENCH_CHOLMOD
  if (diagonal_mass) {
    Cholmod cholmod(given);
    other = best_of([&] { cholmod.solve(); });
  }
#endif
  const double ns = 1e9 / bodies;
  fmt::print("{:<8} {:>9.0f} {:>10.2f} {:>10.2f} {:>10.2f} {:>10.1f} {:>8.2f} {:>9.3f} {:>8.1f} {:>10.1f}  {}\n", name,
             bodies, all * ns, with_check * ns, same_mass * ns, other * ns, other / all, setup, megabytes,
             products / bodies, describe(result.status));
  std::fflush(stdout);
  return {bodies, all * ns * bodies};
}

void growth(const std::vector<Line>& lines) {
  for (std::size_t k = 1; k < lines.size(); ++k)
    fmt::print("  exponent {:.0f} → {:.0f}: {:.3f}\n", lines[k - 1].bodies, lines[k].bodies,
               std::log(lines[k].ns / lines[k - 1].ns) / std::log(lines[k].bodies / lines[k - 1].bodies));
  if (lines.size() > 2)
    fmt::print("  exponent over all: {:.3f}\n",
               std::log(lines.back().ns / lines[0].ns) / std::log(lines.back().bodies / lines[0].bodies));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string which = argc > 1 ? argv[1] : "all";
  const int largest = argc > 2 ? std::atoi(argv[2]) : 1'000'000;
  fmt::print("{:<8} {:>9} {:>10} {:>10} {:>10} {:>10} {:>8} {:>9} {:>8} {:>10}\n", "", "bodies", "ns/body", "checked",
             "same M", "CHOLMOD", "ratio", "setup s", "MB", "products");
  std::vector<Line> lines;
  if (which == "all" || which == "chain") {
    for (const int N : {100, 1000, 10'000, 100'000, 1'000'000})
      if (N <= largest) lines.push_back(measure("chain", N, mechanician::testing::make_chain(N, 0.5), true));
    growth(lines);
  }
  if (which == "all" || which == "ladder") {
    lines.clear();
    for (const int N : {40, 1000, 10'000, 100'000})
      if (N <= largest) lines.push_back(measure("ladder", N, mechanician::testing::make_ladder(N, 0.4), false));
    growth(lines);
  }
  if (which == "all" || which == "net") {
    lines.clear();
    for (const int k : {30, 100, 300})
      if (k <= largest) lines.push_back(measure("net", double(k) * k, mechanician::testing::make_net(k), true));
    growth(lines);
  }
}
