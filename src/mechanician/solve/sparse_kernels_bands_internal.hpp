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

/// Coordinates, slots and rows that all follow each other: side by side in vectors, the last few one by one.
inline bool is_even(const Band& b) { return b.period == 1 && b.slot_step == 1 && b.row_step == 1; }

template <int degree, bool equal, bool equal_f>
double band_even(const Band& b, const double* A, const double* W, const double* f, const double* lambda, double* x,
                 double equal_W, [[maybe_unused]] bool stream) {
  const double *a[degree], *l[degree];
  for (int r = 0; r < degree; ++r) a[r] = A + b.slot[0][r], l[r] = lambda + b.row[0][r];
  W += b.first, f += b.first, x += b.first;
  double sum = 0;
  const auto one = [&](Index j) {
    double force = equal_f ? b.force : f[j];
    for (int r = 0; r < degree; ++r) force += a[r][j] * l[r][j];
    x[j] = (equal ? equal_W : W[j]) * force;
    sum += x[j] - x[j];
  };
  Vec bad{};
  const auto some = [&](Index j) {
    Vec force = equal_f ? Vec{} + b.force : load(f + j);
    for (int r = 0; r < degree; ++r) force += load(a[r] + j) * load(l[r] + j);
    const Vec value = equal ? force * equal_W : force * load(W + j);
    bad += value - value;
    return value;
  };
  Index j = 0;
#if defined(__AVX512VL__)
  if (stream) {
    for (; j < b.num_groups && reinterpret_cast<unsigned long>(x + j) % 64 != 0; ++j) one(j);
    for (; j + lanes <= b.num_groups; j += lanes) _mm512_stream_pd(x + j, (__m512d)some(j));
    _mm_sfence();
  }
#endif
  for (; j + lanes <= b.num_groups; j += lanes) store(x + j, some(j));
  for (; j < b.num_groups; ++j) one(j);
  for (int k = 0; k < lanes; ++k) sum += bad[k];
  return sum;
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

template <bool equal, bool equal_f>
double band_even_of(const Band& b, const double* A, const double* W, const double* f, const double* lambda, double* x,
                    double equal_W, bool stream) {
  switch (b.degree) {
    case 1:
      return band_even<1, equal, equal_f>(b, A, W, f, lambda, x, equal_W, stream);
    case 2:
      return band_even<2, equal, equal_f>(b, A, W, f, lambda, x, equal_W, stream);
    case 3:
      return band_even<3, equal, equal_f>(b, A, W, f, lambda, x, equal_W, stream);
    default:
      return band_even<4, equal, equal_f>(b, A, W, f, lambda, x, equal_W, stream);
  }
}

double band(const Lists& lists, const Band& b, const double* A, const double* W, const double* f, const double* lambda,
            double* x, bool stream) {
  if (is_even(b)) {
    const double w = lists.equal_W;
    if (w == 0) return band_even_of<false, false>(b, A, W, f, lambda, x, w, stream);
    return lists.force_held && b.even_force ? band_even_of<true, true>(b, A, W, f, lambda, x, w, stream)
                                            : band_even_of<true, false>(b, A, W, f, lambda, x, w, stream);
  }
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

inline Vec absolute(Vec v) { return v < 0.0 ? -v : v; }

void band_sizes(const Band& b, const double* A, const double* W, const double* f, const double* lambda, const double* x,
                double* size) {
  if (is_even(b)) {
    Band rest = b;
    Index j = 0;
    for (; j + lanes <= b.num_groups; j += lanes) {
      const Index c = b.first + j;
      Vec force = absolute(load(f + c));
      for (int r = 0; r < b.degree; ++r) force += absolute(load(A + b.slot[0][r] + j) * load(lambda + b.row[0][r] + j));
      store(size + c, absolute(load(x + c)) + load(W + c) * force);
    }
    // What is left is a band too.
    rest.first += static_cast<int>(j), rest.num_groups -= static_cast<int>(j);
    for (int r = 0; r < b.degree; ++r) rest.slot[0][r] += static_cast<int>(j), rest.row[0][r] += static_cast<int>(j);
    sizes_of<0, 0>(rest, A, W, f, lambda, x, size);
  } else if (b.period == 3 && b.degree == 2)
    sizes_of<3, 2>(b, A, W, f, lambda, x, size);
  else
    sizes_of<0, 0>(b, A, W, f, lambda, x, size);
}

RowResidual residual(int from, int to, const int* begin, const int* slots, const int* coordinate, const double* A,
                     const double* x, const double* size, const double* g, const char* masked, double* left) {
  RowResidual worst;
  for (int r = from; r < to; ++r) {
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

template <int terms>
RowResidual strip_residual_of(const Strip& strip, const double* A, const double* x, const double* size, const double* g,
                              double* left) {
  const int p = terms ? terms : strip.num_terms;
  RowResidual worst;
  // In the order of memory, whatever that of elimination is.
  const Index lowest = strip.direction > 0 ? 0 : 1 - strip.count;
  for (Index j = lowest; j < lowest + strip.count;) {
    if (j + lanes > lowest + strip.count) {
      const Index r = strip.row + j;
      double sum = g[r], scale = __builtin_fabs(g[r]);
      for (int k = 0; k < p; ++k) {
        const double a = A[strip.slot[k] + j];
        sum -= a * x[strip.coordinate[k] + j];
        scale += __builtin_fabs(a) * size[strip.coordinate[k] + j];
      }
      left[r] = sum;
      if (__builtin_fabs(sum) > worst.share * scale)
        worst.share = __builtin_fabs(sum) / scale, worst.row = static_cast<int>(r);
      ++j;
      continue;
    }
    const Index r = strip.row + j;
    Vec sum = load(g + r), scale = absolute(sum);
    for (int k = 0; k < p; ++k) {
      const Vec a = load(A + strip.slot[k] + j);
      sum -= a * load(x + strip.coordinate[k] + j);
      scale += absolute(a) * load(size + strip.coordinate[k] + j);
    }
    store(left + r, sum);
    const Vec share = absolute(sum) / scale;
    for (int k = 0; k < lanes; ++k)
      if (__builtin_expect(share[k] > worst.share, 0)) worst.share = share[k], worst.row = static_cast<int>(r + k);
    j += lanes;
  }
  return worst;
}

RowResidual strip_residual(const Strip& strip, const double* A, const double* x, const double* size, const double* g,
                           double* left) {
  if (strip.num_terms == 6) return strip_residual_of<6>(strip, A, x, size, g, left);
  if (strip.num_terms == 4) return strip_residual_of<4>(strip, A, x, size, g, left);
  return strip_residual_of<0>(strip, A, x, size, g, left);
}

}  // namespace
}  // namespace mechanician::sparse
