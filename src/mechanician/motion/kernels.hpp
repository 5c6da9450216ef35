#pragma once

/// Small dense kernels on column-major arrays that belong to the caller: nothing is allocated, nothing is checked.
///
/// The matrices of a step are small and of fixed size; plain loops beat general libraries there by several times. What
/// takes longest is in kernels.cpp, for wide vectors.

#include <cmath>
#include <cstddef>

namespace mechanician::kernels {

/// L Lᵀ = M, in place, lower triangle; false where a pivot falls below `least` times its own diagonal entry.
inline bool cholesky(int n, double* M, double least) {
  for (int j = 0; j < n; ++j) {
    double* cj = M + static_cast<std::ptrdiff_t>(j) * n;
    const double diagonal = cj[j];
    double d = diagonal;
    for (int k = 0; k < j; ++k) {
      const double l = M[static_cast<std::ptrdiff_t>(k) * n + j];
      d -= l * l;
    }
    if (!(d > least * diagonal) || !(d > 0.0)) return false;
    const double root = std::sqrt(d), inverse = 1.0 / root;
    for (int k = 0; k < j; ++k) {
      const double* ck = M + static_cast<std::ptrdiff_t>(k) * n;
      const double l = ck[j];
      if (l == 0.0) continue;
      for (int i = j + 1; i < n; ++i) cj[i] -= l * ck[i];
    }
    cj[j] = root;
    for (int i = j + 1; i < n; ++i) cj[i] *= inverse;
  }
  return true;
}

/// x ← L⁻¹x
inline void solve_lower(int n, const double* L, double* x) {
  for (int j = 0; j < n; ++j) {
    const double* cj = L + static_cast<std::ptrdiff_t>(j) * n;
    if (x[j] == 0.0) continue;
    const double xj = x[j] /= cj[j];
    for (int i = j + 1; i < n; ++i) x[i] -= xj * cj[i];
  }
}

/// x ← L⁻ᵀx
inline void solve_lower_transposed(int n, const double* L, double* x) {
  for (int j = n - 1; j >= 0; --j) {
    const double* cj = L + static_cast<std::ptrdiff_t>(j) * n;
    double s = x[j];
    for (int i = j + 1; i < n; ++i) s -= cj[i] * x[i];
    x[j] = s / cj[j];
  }
}

inline double dot(int n, const double* x, const double* y) {
  double s = 0.0;
  for (int i = 0; i < n; ++i) s += x[i] * y[i];
  return s;
}

/// Whether all are finite: 0·x is not a number exactly where x is not finite. Several sums, so that none waits for another.
bool all_finite(std::ptrdiff_t n, const double* x);

/// Largest |x_i|; not a number counts as none. Several at a time, as above.
inline double largest(std::ptrdiff_t n, const double* x) {
  double most[4] = {};
  std::ptrdiff_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (int l = 0; l < 4; ++l) most[l] = std::abs(x[i + l]) > most[l] ? std::abs(x[i + l]) : most[l];
  for (; i < n; ++i) most[0] = std::max(most[0], std::abs(x[i]));
  return std::max(std::max(most[0], most[1]), std::max(most[2], most[3]));
}

/// x += d; the largest |d_i| over max(near_i, |x_i|) before and after.
inline double add_and_measure(std::ptrdiff_t n, const double* __restrict d, const double* __restrict near,
                              double* __restrict x) {
  double most[4] = {};
  std::ptrdiff_t i = 0;
  const auto measure = [&](std::ptrdiff_t k) {
    const double here = x[k] + d[k], size = std::max(near[k], std::max(std::abs(x[k]), std::abs(here)));
    x[k] = here;
    return std::abs(d[k]) / size;
  };
  for (; i + 4 <= n; i += 4)
    for (int l = 0; l < 4; ++l) {
      const double moved = measure(i + l);
      most[l] = moved > most[l] ? moved : most[l];
    }
  for (; i < n; ++i) most[0] = std::max(most[0], measure(i));
  return std::max(std::max(most[0], most[1]), std::max(most[2], most[3]));
}

inline double norm(int n, const double* x) { return std::sqrt(dot(n, x, x)); }

/// One Householder reflection I − τ w wᵀ that takes x to (β, 0, …): w over x with w₀ = 1 left out, β in x[0].
inline double make_reflector(int n, double* x) {
  if (n <= 1) return 0.0;
  const double tail = dot(n - 1, x + 1, x + 1);
  if (tail == 0.0) return 0.0;
  const double size = std::sqrt(x[0] * x[0] + tail), beta = x[0] > 0.0 ? -size : size, w0 = x[0] - beta;
  for (int i = 1; i < n; ++i) x[i] /= w0;
  const double tau = -w0 / beta;
  x[0] = beta;
  return tau;
}

/// y ← (I − τ w wᵀ) y, w = (1, x[1], …).
inline void apply_reflector(int n, double tau, const double* x, double* y) {
  if (tau == 0.0) return;
  double s = y[0];
  for (int i = 1; i < n; ++i) s += x[i] * y[i];
  s *= tau;
  y[0] -= s;
  for (int i = 1; i < n; ++i) y[i] -= s * x[i];
}

/// The same for `count` columns, each `stride` after the one before.
void apply_reflector_to(int n, double tau, const double* x, int count, std::ptrdiff_t stride, double* Y);

/// Which of `count` columns is longest, the first of those that are within rounding, and how long.
int find_largest(int n, int count, std::ptrdiff_t stride, const double* Y, double& largest);

/// Z = V R, Z n×r with r ≤ n, in place: R in the upper triangle, reflectors below.
void qr(int n, int r, double* Z, double* tau);

/// Largest |y_i − x_i|.
double largest_change(std::ptrdiff_t n, const double* x, const double* y);

/// Whether some of n values on the way may have passed zero: lowest of its neighbours, and no more than 2.5 times as large as
/// it changes from here to them or from `after` to `beyond`.
bool any_may_vanish(std::ptrdiff_t n, const double* before, const double* here, const double* after,
                    const double* beyond);

/// 1/√(inverse pivot × size), at most 1; 0 where it is not a number. `sines` holds the least sizes that count before.
void calc_sines(std::ptrdiff_t count, const double* inverse_pivots, const double* sizes, double* sines);

/// x ← Vᵀx and x ← V x with the full n×n orthogonal V.
inline void apply_vt(int n, int r, const double* Z, const double* tau, double* x) {
  for (int j = 0; j < r; ++j) apply_reflector(n - j, tau[j], Z + static_cast<std::ptrdiff_t>(j) * n + j, x + j);
}
inline void apply_v(int n, int r, const double* Z, const double* tau, double* x) {
  for (int j = r - 1; j >= 0; --j) apply_reflector(n - j, tau[j], Z + static_cast<std::ptrdiff_t>(j) * n + j, x + j);
}

/// x ← R⁻¹x and x ← R⁻ᵀx, R the r×r upper triangle of an array with `ld` rows.
inline void solve_upper(int r, int ld, const double* R, double* x) {
  for (int j = r - 1; j >= 0; --j) {
    const double* cj = R + static_cast<std::ptrdiff_t>(j) * ld;
    const double xj = x[j] /= cj[j];
    for (int i = 0; i < j; ++i) x[i] -= xj * cj[i];
  }
}
inline void solve_upper_transposed(int r, int ld, const double* R, double* x) {
  for (int j = 0; j < r; ++j) {
    const double* cj = R + static_cast<std::ptrdiff_t>(j) * ld;
    double s = x[j];
    for (int i = 0; i < j; ++i) s -= cj[i] * x[i];
    x[j] = s / cj[j];
  }
}

}  // namespace mechanician::kernels
