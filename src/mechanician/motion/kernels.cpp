#include "mechanician/motion/kernels.hpp"

#include <algorithm>

#include "mechanician/base/wide.hpp"

namespace mechanician::kernels {

namespace {

constexpr int block = 8;
using Block = wide::Eight;
using wide::load, wide::store;

__attribute__((always_inline)) inline double dot_of(int n, const double* x, const double* y) {
  Block sum = {}, a, b;
  int i = 0;
  for (; i + block <= n; i += block) load(x + i, a), load(y + i, b), sum += a * b;
  double rest = 0.0;
  for (; i < n; ++i) rest += x[i] * y[i];
  const auto add_up = [](const wide::Four& v) { return (v[0] + v[1]) + (v[2] + v[3]); };
  return (add_up(sum.low) + add_up(sum.high)) + rest;
}

/// y ← y − s·x
__attribute__((always_inline)) inline void subtract(int n, double s, const double* x, double* y) {
  Block a, b;
  int i = 0;
  for (; i + block <= n; i += block) {
    load(x + i, a), load(y + i, b);
    b -= s * a;
    store(b, y + i);
  }
  for (; i < n; ++i) y[i] -= s * x[i];
}

}  // namespace

MECHANICIAN_WIDEST void apply_reflector_to(int n, double tau, const double* x, int count, std::ptrdiff_t stride,
                                           double* Y) {
  if (tau == 0.0) return;
  for (int k = 0; k < count; ++k) {
    double* const y = Y + k * stride;
    const double s = tau * (y[0] + dot_of(n - 1, x + 1, y + 1));
    if (s == 0.0) continue;  // rows with nothing in common
    y[0] -= s;
    subtract(n - 1, s, x + 1, y + 1);
  }
}

MECHANICIAN_WIDEST int find_largest(int n, int count, std::ptrdiff_t stride, const double* Y, double& largest) {
  int best = 0;
  largest = -1.0;
  for (int k = 0; k < count; ++k) {
    const double* const y = Y + k * stride;
    const double size = std::sqrt(dot_of(n, y, y));
    if (size > largest * (1.0 + 1e-12)) largest = size, best = k;
  }
  return best;
}

void qr(int n, int r, double* Z, double* tau) {
  for (int j = 0; j < r; ++j) {
    double* const c = Z + static_cast<std::ptrdiff_t>(j) * n + j;
    tau[j] = make_reflector(n - j, c);
    apply_reflector_to(n - j, tau[j], c, r - j - 1, n, c + n);
  }
}

MECHANICIAN_WIDEST void calc_sines(std::ptrdiff_t count, const double* __restrict inverse_pivots,
                                   const double* __restrict sizes, double* __restrict sines) {
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const double size = sizes[i] > sines[i] ? sizes[i] : sines[i], squared = 1.0 / (inverse_pivots[i] * size);
    // Also where it is not a number.
    sines[i] = std::sqrt(squared > 0.0 ? (squared < 1.0 ? squared : 1.0) : 0.0);
  }
}

MECHANICIAN_WIDEST bool all_finite(std::ptrdiff_t n, const double* x) {
  Block one = {}, other = {}, a, b;
  std::ptrdiff_t i = 0;
  for (; i + 2 * block <= n; i += 2 * block) {
    load(x + i, a), load(x + i + block, b);
    one += 0.0 * a, other += 0.0 * b;
  }
  // The last block ends with the last number, whatever it looks at twice.
  for (; n >= block && i < n; i += block) load(x + std::min(i, n - block), a), one += 0.0 * a;
  double rest = 0.0;
  for (; i < n; ++i) rest += 0.0 * x[i];
  one += other;
  const wide::Four sum = one.low + one.high;
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + rest == 0.0;
}

MECHANICIAN_WIDEST double largest_change(std::ptrdiff_t n, const double* x, const double* y) {
  double most[block] = {};
  std::ptrdiff_t i = 0;
  for (; i + block <= n; i += block)
    for (int l = 0; l < block; ++l)
      most[l] = std::abs(y[i + l] - x[i + l]) > most[l] ? std::abs(y[i + l] - x[i + l]) : most[l];
  for (; i < n; ++i) most[0] = std::max(most[0], std::abs(y[i] - x[i]));
  return *std::max_element(most, most + block);
}

MECHANICIAN_WIDEST bool any_may_vanish(std::ptrdiff_t n, const double* before, const double* here, const double* after,
                                       const double* beyond) {
  long count = 0;
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    const double x = here[i], falls = before[i] - x, rises = after[i] - x, on = beyond[i] - after[i];
    const double near_by = falls > rises ? falls : rises, change = near_by > on ? near_by : on;
    count += (falls >= 0.0) & (rises >= 0.0) & (x <= 2.5 * change) & (change > 0.0);
  }
  return count > 0;
}

}  // namespace mechanician::kernels
