// The loops of the sparse elimination over uncoupled coordinates: accelerations from multipliers, and residuals.
#pragma once

#include "mechanician/solve/sparse_kernels_vectors_internal.hpp"

namespace mechanician::sparse {
namespace {

template <int period_, int degree_>
double band_of(const Band& b, const double* A, const double* W, const double* f, const double* lambda, double* x) {
  const int period = period_ ? period_ : b.period, degree = period_ ? degree_ : b.degree;
  const Index ds = b.slot_step, dr = b.row_step;
  double bad = 0;
  for (Index j = 0; j < b.num_groups; ++j) {
    const Index c = b.first + j * period;
    for (int k = 0; k < period; ++k) {
      double force = f[c + k];
      for (int r = 0; r < degree; ++r) force += A[b.slot[k][r] + j * ds] * lambda[b.row[k][r] + j * dr];
      const double value = W[c + k] * force;
      x[c + k] = value;
      bad += value - value;
    }
  }
  return bad;
}

#if defined(__AVX512VL__)
template <int degree>
double band_blocks(const Band& b, const double* A, const double* W, const double* f, const double* lambda, double* x) {
  const __mmask8 mask = static_cast<__mmask8>((1 << b.period) - 1);
  const Index ds = b.slot_step, dr = b.row_step, period = b.period;
  const double *a[degree], *l[degree];
  for (int r = 0; r < degree; ++r) a[r] = A + b.slot[0][r], l[r] = lambda + b.row[0][r];
  __m256d bad = _mm256_setzero_pd();
  for (Index j = 0; j < b.num_groups; ++j) {
    const Index c = b.first + j * period;
    __m256d force = _mm256_maskz_loadu_pd(mask, f + c);
    for (int r = 0; r < degree; ++r)
      force = _mm256_fmadd_pd(_mm256_maskz_loadu_pd(mask, a[r] + j * ds), _mm256_set1_pd(l[r][j * dr]), force);
    const __m256d value = _mm256_mul_pd(_mm256_maskz_loadu_pd(mask, W + c), force);
    _mm256_mask_storeu_pd(x + c, mask, value);
    bad = _mm256_add_pd(bad, _mm256_sub_pd(value, value));
  }
  double lanes_[4];
  _mm256_storeu_pd(lanes_, bad);
  return (lanes_[0] + lanes_[1]) + (lanes_[2] + lanes_[3]);
}
#endif

double band(const Band& b, const double* A, const double* W, const double* f, const double* lambda, double* x) {
#if defined(__AVX512VL__)
  if (b.blocks) {
    switch (b.degree) {
      case 1:
        return band_blocks<1>(b, A, W, f, lambda, x);
      case 2:
        return band_blocks<2>(b, A, W, f, lambda, x);
      case 3:
        return band_blocks<3>(b, A, W, f, lambda, x);
      case 4:
        return band_blocks<4>(b, A, W, f, lambda, x);
      default:
        break;
    }
  }
#endif
  switch (b.period * 16 + b.degree) {
    case 3 * 16 + 2:
      return band_of<3, 2>(b, A, W, f, lambda, x);
    case 3 * 16 + 4:
      return band_of<3, 4>(b, A, W, f, lambda, x);
    case 2 * 16 + 2:
      return band_of<2, 2>(b, A, W, f, lambda, x);
    case 1 * 16 + 1:
      return band_of<1, 1>(b, A, W, f, lambda, x);
    case 1 * 16 + 2:
      return band_of<1, 2>(b, A, W, f, lambda, x);
    default:
      return band_of<0, 0>(b, A, W, f, lambda, x);
  }
}

template <int period_, int degree_>
void sizes_of(const Band& b, const double* A, const double* W, const double* f, const double* lambda, const double* x,
              double* size) {
  const int period = period_ ? period_ : b.period, degree = period_ ? degree_ : b.degree;
  const Index ds = b.slot_step, dr = b.row_step;
  for (Index j = 0; j < b.num_groups; ++j) {
    const Index c = b.first + j * period;
    for (int k = 0; k < period; ++k) {
      double force = __builtin_fabs(f[c + k]);
      for (int r = 0; r < degree; ++r) force += __builtin_fabs(A[b.slot[k][r] + j * ds] * lambda[b.row[k][r] + j * dr]);
      size[c + k] = __builtin_fabs(x[c + k]) + W[c + k] * force;
    }
  }
}

void band_sizes(const Band& b, const double* A, const double* W, const double* f, const double* lambda, const double* x,
                double* size) {
  if (b.period == 3 && b.degree == 2)
    sizes_of<3, 2>(b, A, W, f, lambda, x, size);
  else
    sizes_of<0, 0>(b, A, W, f, lambda, x, size);
}

RowResidual residual(int m, const int* begin, const int* slots, const int* coordinate, const double* A, const double* x,
                     const double* size, const double* g, const char* masked, double* left) {
  RowResidual worst;
  for (int r = 0; r < m; ++r) {
    double sum = g[r], scale = __builtin_fabs(g[r]);
    for (int k = begin[r]; k < begin[r + 1]; ++k) {
      const int s = slots ? slots[k] : k, c = coordinate[s];
      sum -= A[s] * x[c];
      scale += __builtin_fabs(A[s]) * size[c];
    }
    left[r] = sum;
    if (__builtin_fabs(sum) > worst.share * scale && !(masked && masked[r])) {
      worst.share = __builtin_fabs(sum) / scale;
      worst.row = r;
    }
  }
  return worst;
}

}  // namespace
}  // namespace mechanician::sparse
