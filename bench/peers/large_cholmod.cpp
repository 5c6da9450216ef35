// CHOLMOD called directly on A M⁻¹Aᵀ, which it is given for nothing: analysis once, what is timed is the numerical
// factorisation and one solution. The order is its own choice among all it has, nested dissection included.

#include <cholmod.h>

#include "large_contest.hpp"

namespace {

struct Solver {
  cholmod_common common;
  cholmod_sparse* T = nullptr;
  cholmod_factor* L = nullptr;
  cholmod_dense *e = nullptr, *lambda = nullptr, *work_y = nullptr, *work_e = nullptr;

  Solver(const contest::Rods& s, int kind) {
    cholmod_start(&common);
    common.print = 0;
    common.supernodal = kind;
    common.nmethods = 9;
    const int n = 3 * s.num_masses, m = static_cast<int>(s.rods.size());
    cholmod_triplet* entries = cholmod_allocate_triplet(m, n, 6 * s.rods.size(), 0, CHOLMOD_REAL, &common);
    e = cholmod_zeros(m, 1, CHOLMOD_REAL, &common);
    std::size_t count = 0;
    for (int r = 0; r < m; ++r) {
      const auto d = s.between(s.x, s.rods[r]), f = s.between(s.v, s.rods[r]);
      double& right = static_cast<double*>(e->x)[r];
      for (int k = 0; k < 3; ++k) {
        right -= f[k] * f[k];
        for (const int side : {-1, 1}) {
          const int mass = side < 0 ? s.rods[r].a : s.rods[r].b;
          if (mass < 0) continue;
          static_cast<int*>(entries->i)[count] = r;
          static_cast<int*>(entries->j)[count] = 3 * mass + k;
          static_cast<double*>(entries->x)[count++] = side * d[k];
          if (k == 2) right += side * d[k] * contest::gravity;  // −A a
        }
      }
    }
    entries->nnz = count;
    cholmod_sparse* A = cholmod_triplet_to_sparse(entries, 0, &common);
    cholmod_sparse* full = cholmod_aat(A, nullptr, 0, 1, &common);
    T = cholmod_copy(full, 1, 1, &common);
    cholmod_free_sparse(&full, &common);
    cholmod_free_sparse(&A, &common);
    cholmod_free_triplet(&entries, &common);
    L = cholmod_analyze(T, &common);
  }
  void solve() {
    cholmod_factorize(T, L, &common);
    cholmod_solve2(CHOLMOD_A, L, e, nullptr, &lambda, nullptr, &work_y, &work_e, &common);
  }
  std::vector<double> accelerations(const contest::Rods& s) const {
    std::vector<double> a(s.x.size());
    for (int i = 0; i < s.num_masses; ++i) a[3 * i + 2] = -contest::gravity;
    for (std::size_t r = 0; r < s.rods.size(); ++r) {
      const auto d = s.between(s.x, s.rods[r]);
      const double force = static_cast<const double*>(lambda->x)[r];
      for (int k = 0; k < 3; ++k) {
        if (s.rods[r].a >= 0) a[3 * s.rods[r].a + k] -= d[k] * force;
        a[3 * s.rods[r].b + k] += d[k] * force;
      }
    }
    return a;
  }
  ~Solver() {
    for (cholmod_dense** d : {&e, &lambda, &work_y, &work_e}) cholmod_free_dense(d, &common);
    cholmod_free_factor(&L, &common);
    cholmod_free_sparse(&T, &common);
    cholmod_finish(&common);
  }
};

}  // namespace

int main(int argc, char** argv) {
  const contest::Arguments a = contest::arguments(argc, argv);
  const bool is_chain = a.workload == "chain";
  if (!is_chain && a.workload != "net") return 0;
  const contest::Rods system =
      is_chain ? contest::make_chain(contest::size_of(a)) : contest::make_net(contest::size_of(a));
  for (const int kind : {CHOLMOD_SIMPLICIAL, CHOLMOD_SUPERNODAL}) {
    Solver solver(system, kind);
    const contest::Timing t = contest::time_large([&] { solver.solve(); });
    const std::vector<double> qdd = solver.accelerations(system);
    contest::report(
        kind == CHOLMOD_SIMPLICIAL ? "simplicial" : "supernodal", t,
        is_chain ? contest::chain_error(contest::chain_acceleration(system), qdd) : contest::rod_error(system, qdd));
  }
}
