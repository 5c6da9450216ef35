// What somebody would write for one mechanism only: the double pendulum in closed form, and with fixed-size matrices
// and a pseudo-inverse; the ladder as blocks of four unknowns, eliminated one after the other.

#include <Eigen/Dense>

#include "contest.hpp"

namespace {

using namespace contest;

/// One classical Runge–Kutta step.
template <class Acceleration>
inline void rk4(PendulumState& s, double h, Acceleration&& acceleration) {
  double a1[4], a2[4], a3[4], a4[4], v2[4], v3[4], v4[4], x[4];
  acceleration(s.x, s.v, a1);
  for (int i = 0; i < 4; ++i) x[i] = s.x[i] + 0.5 * h * s.v[i], v2[i] = s.v[i] + 0.5 * h * a1[i];
  acceleration(x, v2, a2);
  for (int i = 0; i < 4; ++i) x[i] = s.x[i] + 0.5 * h * v2[i], v3[i] = s.v[i] + 0.5 * h * a2[i];
  acceleration(x, v3, a3);
  for (int i = 0; i < 4; ++i) x[i] = s.x[i] + h * v3[i], v4[i] = s.v[i] + h * a3[i];
  acceleration(x, v4, a4);
  for (int i = 0; i < 4; ++i) {
    s.x[i] += h / 6 * (s.v[i] + 2 * (v2[i] + v3[i]) + v4[i]);
    s.v[i] += h / 6 * (a1[i] + 2 * (a2[i] + a3[i]) + a4[i]);
  }
}

/// Two multipliers by Cramer's rule.
inline void closed_form(const double* x, const double* v, double* a) {
  constexpr double w1 = 1 / pendulum_mass[0], w2 = 1 / pendulum_mass[1];
  const double dx = x[2] - x[0], dy = x[3] - x[1], ex = v[2] - v[0], ey = v[3] - v[1];
  const double k11 = w1 * (x[0] * x[0] + x[1] * x[1]), k12 = -w1 * (x[0] * dx + x[1] * dy),
               k22 = (w1 + w2) * (dx * dx + dy * dy);
  const double r1 = gravity * x[1] - (v[0] * v[0] + v[1] * v[1]), r2 = -(ex * ex + ey * ey);
  const double over = 1 / (k11 * k22 - k12 * k12);
  const double l1 = (k22 * r1 - k12 * r2) * over, l2 = (k11 * r2 - k12 * r1) * over;
  a[0] = w1 * (x[0] * l1 - dx * l2), a[1] = w1 * (x[1] * l1 - dy * l2) - gravity;
  a[2] = w2 * dx * l2, a[3] = w2 * dy * l2 - gravity;
}

/// q̈ = a + M^(−1/2) (A M^(−1/2))⁺ (b − A a).
inline void pseudo_inverse(const double* x, const double* v, double* out) {
  const double s1 = 1 / std::sqrt(pendulum_mass[0]), s2 = 1 / std::sqrt(pendulum_mass[1]);
  const Eigen::Vector4d half(s1, s1, s2, s2), free(0, -gravity, 0, -gravity);
  const double dx = x[2] - x[0], dy = x[3] - x[1], ex = v[2] - v[0], ey = v[3] - v[1];
  Eigen::Matrix<double, 2, 4> A;
  A << x[0], x[1], 0, 0, -dx, -dy, dx, dy;
  const Eigen::Vector2d b(-(v[0] * v[0] + v[1] * v[1]), -(ex * ex + ey * ey));
  const Eigen::Matrix<double, 2, 4> B = A * half.asDiagonal();
  const Eigen::Vector2d e = b - A * free;
  const Eigen::Vector4d y = B.completeOrthogonalDecomposition().solve(e);
  Eigen::Map<Eigen::Vector4d> a(out);
  a = free + half.cwiseProduct(y);
}

template <class Acceleration>
void measure_pendulum(const std::string& name, const Arguments& a, Acceleration&& acceleration) {
  if (!a.wants(name)) return;
  double error = 0.0;
  Timing t = time_calls(1, [&](int) {
    PendulumState s = pendulum_start();
    for (int i = 0; i < pendulum_steps; ++i) rk4(s, pendulum_step, acceleration);
    error = pendulum_error(s.x);
  });
  t.median /= pendulum_steps, t.least /= pendulum_steps;
  report(name, t, error);
}

/// The ladder in the tips of the cranks, 2(N + 1) coordinates. Block i: acceleration of tip i, multipliers of crank i
/// and of the coupler to tip i + 1; neighbours are coupled, so that the blocks are eliminated like a tridiagonal
/// matrix.
struct HandLadder {
  static constexpr int N = ladder_size;
  Eigen::Matrix<double, 2, N + 1> x, v, a;
  Eigen::Matrix2d back[N + 1];
  Eigen::Vector2d known[N + 1];

  void set(double angle, double speed) {
    for (int i = 0; i <= N; ++i) {
      x.col(i) << i + std::sin(angle), std::cos(angle);
      v.col(i) << speed * std::cos(angle), -speed * std::sin(angle);
    }
  }
  void accelerate() {
    Eigen::Matrix<double, 4, 2> to_next = Eigen::Matrix<double, 4, 2>::Zero();  // S⁻¹U of the block before
    Eigen::Vector4d y = Eigen::Vector4d::Zero();
    Eigen::Vector2d before = Eigen::Vector2d::Zero();
    for (int i = 0; i <= N; ++i) {
      const Eigen::Vector2d crank = x.col(i) - Eigen::Vector2d(i, 0);
      Eigen::Vector2d rod = Eigen::Vector2d::Zero();
      double b = 0.0;
      if (i < N) rod = x.col(i + 1) - x.col(i), b = -(v.col(i + 1) - v.col(i)).squaredNorm();
      const double rods = 1.0 + (i > 0) + (i < N);
      Eigen::Matrix4d S;
      S << rods / 3, 0, crank[0], -rod[0], 0, rods / 3, crank[1], -rod[1], crank[0], crank[1], 0, 0, -rod[0], -rod[1],
          0, i < N ? 0.0 : 1.0;
      Eigen::Vector4d r(0, -gravity * 0.5 * rods, -v.col(i).squaredNorm(), b);
      for (int c = 0; c < 2 && i > 0; ++c) {
        S.block<1, 2>(c, 0) -= to_next.row(c) / 6 + before[c] * to_next.row(3);
        r[c] -= y[c] / 6 + before[c] * y[3];
      }
      const Eigen::Matrix4d inverse = S.inverse();
      y = inverse * r;
      for (int c = 0; c < 2; ++c) to_next.col(c) = inverse.col(c) / 6 + inverse.col(3) * rod[c];
      back[i] = to_next.topRows<2>(), known[i] = y.head<2>(), before = rod;
    }
    Eigen::Vector2d next = Eigen::Vector2d::Zero();
    for (int i = N; i >= 0; --i) {
      next = i < N ? Eigen::Vector2d(known[i] - back[i] * next) : known[i];
      a.col(i) = next;
    }
  }
};

void w1() {
  HandLadder ladder;
  double error = 0.0;
  const Timing t = time_calls(ladder_states, [&](int k) {
    const double angle = ladder_angle(k), exact = ladder_exact(angle);
    static std::vector<HandLadder> states = [] {
      std::vector<HandLadder> all(ladder_states);
      for (int i = 0; i < ladder_states; ++i) all[i].set(ladder_angle(i), ladder_speed);
      return all;
    }();
    ladder.x = states[k].x, ladder.v = states[k].v;
    ladder.accelerate();
    error =
        std::max(error, std::abs(ladder.a(0, 0) * std::cos(angle) - ladder.a(1, 0) * std::sin(angle) - exact) / exact);
  });
  report("blocks of four", t, error);
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments a = arguments(argc, argv);
  if (a.workload == "w1") w1();
  if (a.workload == "w4") {
    measure_pendulum("closed form", a, closed_form);
    measure_pendulum("pseudo-inverse", a, pseudo_inverse);
  }
}
