// What somebody would write for one chain only: the tridiagonal system for the forces in the rods, formed and
// eliminated in one pass, solved and turned into accelerations in a second one.

#include "large_contest.hpp"

namespace {

struct Tridiagonal {
  explicit Tridiagonal(int N) : inverse(N), l(N), y(N), d(3 * N) {}
  std::vector<double> inverse, l, y, d;

  void accelerate(const contest::Rods& s, double* a) {
    const int N = s.num_masses;
    const double *x = s.x.data(), *v = s.v.data();
    double px = 0, py = 0, pz = 0, qx = 0, qy = 0, qz = 0, bx = 0, by = 0, bz = 0, last = 0, inv = 0;
    for (int i = 0; i < N; ++i) {
      const double dx = x[3 * i] - px, dy = x[3 * i + 1] - py, dz = x[3 * i + 2] - pz;
      const double ex = v[3 * i] - qx, ey = v[3 * i + 1] - qy, ez = v[3 * i + 2] - qz;
      const double off = -(dx * bx + dy * by + dz * bz), factor = off * inv;
      inv = 1 / ((dx * dx + dy * dy + dz * dz) * (i ? 2 : 1) - factor * off);
      last = (i ? 0.0 : contest::gravity * dz) - (ex * ex + ey * ey + ez * ez) - factor * last;
      inverse[i] = inv, l[i] = factor, y[i] = last;
      d[3 * i] = bx = dx, d[3 * i + 1] = by = dy, d[3 * i + 2] = bz = dz;
      px = x[3 * i], py = x[3 * i + 1], pz = x[3 * i + 2], qx = v[3 * i], qy = v[3 * i + 1], qz = v[3 * i + 2];
    }
    double force = 0, factor = 0, nx = 0, ny = 0, nz = 0;
    for (int i = N - 1; i >= 0; --i) {
      force = y[i] * inverse[i] - factor * force;
      factor = l[i];
      const double fx = d[3 * i] * force, fy = d[3 * i + 1] * force, fz = d[3 * i + 2] * force;
      a[3 * i] = fx - nx, a[3 * i + 1] = fy - ny, a[3 * i + 2] = fz - nz - contest::gravity;
      nx = fx, ny = fy, nz = fz;
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  const contest::Arguments a = contest::arguments(argc, argv);
  if (a.workload != "chain") return 0;
  const contest::Rods chain = contest::make_chain(contest::size_of(a));
  Tridiagonal by_hand(chain.num_masses);
  std::vector<double> qdd(chain.x.size());
  const contest::Timing t = contest::time_large([&] { by_hand.accelerate(chain, qdd.data()); });
  contest::report("tridiagonal", t, contest::chain_error(contest::chain_acceleration(chain), qdd));
}
