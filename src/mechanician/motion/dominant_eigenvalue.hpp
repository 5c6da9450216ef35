#pragma once

/// The eigenvalue of largest size of the J of y = (q, q̇), by its products alone.
///
/// After some products x, Jx, J²x lie in the space of the eigenvector or the pair of them that is largest: the monic
/// polynomial z² − s z + p that makes (J² − sJ + p) x least has its eigenvalues as roots, real or a pair. (These are the
/// Ritz values of two dimensions: from one vector a pair could not be told from anything else.)

#include <cmath>
#include <complex>
#include <optional>
#include <vector>

namespace mechanician {

/// multiply(x, y): y = Jx, for 2n numbers; false where there is no value. `scale`: about its size, which makes positions
/// and velocities comparable. Nothing where there is none to be found.
template <class Multiply>
std::optional<std::complex<double>> find_dominant_eigenvalue(int n, double scale, int num_products,
                                                             Multiply&& multiply) {
  const auto size = static_cast<std::size_t>(2 * n);
  std::vector<double> x(size), y(size), z(size);
  const auto dot = [&](const std::vector<double>& a, const std::vector<double>& b) {
    double q = 0.0, v = 0.0;
    for (std::size_t i = 0; i < size; ++i) (i < size / 2 ? q : v) += a[i] * b[i];
    return scale * scale * q + v;
  };
  unsigned bits = 1;
  for (std::size_t i = 0; i < size; ++i) {
    bits = bits * 1664525u + 1013904223u;
    x[i] = (static_cast<double>(bits >> 8) / (1u << 24) - 0.5) * (i < size / 2 ? 1.0 / scale : 1.0);
  }
  for (int k = 0; k < num_products; ++k) {
    const double length = std::sqrt(dot(x, x));
    if (!(length > 0.0) || !std::isfinite(length)) return {};
    for (double& a : x) a /= length;
    if (!multiply(x, y)) return {};
    x.swap(y);
  }
  const double length = std::sqrt(dot(x, x));
  if (!(length > 0.0) || !std::isfinite(length)) return {};
  for (double& a : x) a /= length;
  if (!multiply(x, y) || !multiply(y, z)) return {};
  // z ≈ s y − p x. What y has across x first: where that is rounding, x is an eigenvector.
  const double along = dot(x, y);
  std::vector<double> u(size);
  for (std::size_t i = 0; i < size; ++i) u[i] = y[i] - along * x[i];
  const double across = dot(u, u);
  constexpr double rounding = 1e-10;
  if (across <= rounding * rounding * dot(y, y)) return std::complex<double>(along, 0.0);
  const double s = dot(u, z) / across;
  const double p = s * along - dot(x, z), half = 0.5 * s, discriminant = half * half - p;
  if (discriminant < 0.0) return std::complex<double>(half, std::sqrt(-discriminant));
  return std::complex<double>(half + std::copysign(std::sqrt(discriminant), half), 0.0);
}

}  // namespace mechanician
