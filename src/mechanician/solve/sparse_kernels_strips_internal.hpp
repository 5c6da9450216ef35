// The loops of the sparse elimination that form rows of T = A M⁻¹Aᵀ in strips.
#pragma once

#include "mechanician/solve/sparse_kernels_vectors_internal.hpp"

namespace mechanician::sparse {
namespace {

/// T on and beside the diagonal (positive here) for rows from … to of a strip, and e = g − A M⁻¹f where f is given.
template <int terms, int shared, bool with_y>
void form_strip(const Strip& strip, int from, int to, const int* row_at, const double* A, const double* W,
                const double* f, const double* g, double* diagonal, double* beside, double* y) {
  const int p = terms ? terms : strip.num_terms, q = terms ? shared : strip.num_shared;
  const Index ds = strip.slot_step, dc = strip.coordinate_step, dp = strip.partner_step;
  const double* a[most_terms];
  const double* w[most_terms];
  const double* h[most_terms];
  const double* b[most_shared];
  for (int k = 0; k < p; ++k) {
    a[k] = A + strip.slot[k];
    w[k] = W + strip.coordinate[k];
    h[k] = f + (with_y ? strip.coordinate[k] : 0);
  }
  for (int k = 0; k < q; ++k) b[k] = A + strip.partner[k];
  for (Index j = from; j < to; ++j) {
    double z[most_terms];
    double P = 0, e = 0, off = 0;
    for (int k = 0; k < p; ++k) {
      const double ak = a[k][j * ds];
      z[k] = ak * w[k][j * dc];
      P += z[k] * ak;
      if (with_y) e += z[k] * h[k][j * dc];
    }
    for (int k = 0; k < q; ++k) off += z[k] * b[k][j * dp];
    const Index at = j + strip.first;
    diagonal[at] = -P;
    beside[j] = -off;
    if (with_y) y[at] = g[row_at[at]] - e;
  }
}

#if defined(__AVX512VL__)
/// The four sums over the lanes of a, b, c and d.
inline __m256d sums(__m256d a, __m256d b, __m256d c, __m256d d) {
  const __m256d ab = _mm256_hadd_pd(a, b), cd = _mm256_hadd_pd(c, d);
  return _mm256_add_pd(_mm256_permute2f128_pd(ab, cd, 0x21), _mm256_blend_pd(ab, cd, 0b1100));
}

/// Four rows of a strip of rods, to local arrays: −T on and beside the diagonal, e = A M⁻¹f.
struct RodStrip {
  const double *a0, *a1, *w0, *w1, *f0, *f1, *b;
  Index ds, dc, dp;
  __mmask8 mask;

  RodStrip(const Strip& s, const double* A, const double* W, const double* f)
      : a0(A + s.slot[0]),
        a1(A + s.slot[s.dimension]),
        w0(W + s.coordinate[0]),
        w1(W + s.coordinate[s.dimension]),
        f0(f + s.coordinate[0]),
        f1(f + s.coordinate[s.dimension]),
        b(A + s.partner[0]),
        ds(s.slot_step),
        dc(s.coordinate_step),
        dp(s.partner_step),
        mask(static_cast<__mmask8>((1 << s.dimension) - 1)) {}

  template <bool with_y>
  inline void form(Index j, double* diagonal, double* beside, double* e) const {
    __m256d p[4], o[4], q[4];
    for (int k = 0; k < 4; ++k) {
      const Index t = j + k;
      const __m256d x0 = _mm256_maskz_loadu_pd(mask, a0 + t * ds), x1 = _mm256_maskz_loadu_pd(mask, a1 + t * ds);
      const __m256d z0 = _mm256_mul_pd(x0, _mm256_maskz_loadu_pd(mask, w0 + t * dc));
      const __m256d z1 = _mm256_mul_pd(x1, _mm256_maskz_loadu_pd(mask, w1 + t * dc));
      p[k] = _mm256_fmadd_pd(z0, x0, _mm256_mul_pd(z1, x1));
      if (with_y)
        q[k] = _mm256_fmadd_pd(z0, _mm256_maskz_loadu_pd(mask, f0 + t * dc),
                               _mm256_mul_pd(z1, _mm256_maskz_loadu_pd(mask, f1 + t * dc)));
      o[k] = _mm256_mul_pd(z0, _mm256_maskz_loadu_pd(mask, b + t * dp));
    }
    _mm256_storeu_pd(diagonal, sums(p[0], p[1], p[2], p[3]));
    _mm256_storeu_pd(beside, sums(o[0], o[1], o[2], o[3]));
    if (with_y) _mm256_storeu_pd(e, sums(q[0], q[1], q[2], q[3]));
  }
};
#endif

template <bool with_y>
void form_rows(const Strip& strip, int from, int to, const int* row_at, const double* A, const double* W,
               const double* f, const double* g, double* diagonal, double* beside, double* y) {
  const int kind = strip.num_terms * 16 + strip.num_shared;
  switch (kind) {
    case 6 * 16 + 3:
      form_strip<6, 3, with_y>(strip, from, to, row_at, A, W, f, g, diagonal, beside, y);
      break;
    case 4 * 16 + 2:
      form_strip<4, 2, with_y>(strip, from, to, row_at, A, W, f, g, diagonal, beside, y);
      break;
    default:
      form_strip<0, 0, with_y>(strip, from, to, row_at, A, W, f, g, diagonal, beside, y);
  }
}

/// In reverse where the direction is −1.
template <int direction>
inline Vec turned(Vec v) {
  if (direction > 0) return v;
#if defined(__clang__)
  Vec reversed;
  for (int k = 0; k < lanes; ++k) reversed[k] = v[lanes - 1 - k];
  return reversed;
#else
  Mask order;
  for (int k = 0; k < lanes; ++k) order[k] = lanes - 1 - k;
  return __builtin_shuffle(v, order);
#endif
}

/// Rows from … from + count − 1 (a multiple of lanes) of a strip with a direction, side by side in vectors: P, T beside
/// the diagonal, and g − A M⁻¹f where f is given.
enum class Equal { nothing, masses, masses_and_forces };
template <int direction, int terms, int shared, bool with_y, Equal equal>
void form_even_of(const Strip& strip, Index from, int count, const double* A, const double* W, double equal_W,
                  const double* f, const double* g, double* P, double* off, double* y) {
  const int p = terms ? terms : strip.num_terms, q = terms ? shared : strip.num_shared;
  const Index begin = direction * from - (direction > 0 ? 0 : lanes - 1);  // the lowest of the first vector
  const bool far = strip.count > (1 << 14);
  for (Index j = 0; j < count; j += lanes) {
    const Index at = begin + direction * j, next = at + direction * count;
    Vec sum{}, beside{}, e{};
    if (far) {
      // The rows of the next call: a dozen places at once are more than the processor foresees.
      for (int k = 0; k < p; ++k) __builtin_prefetch(A + strip.slot[k] + next);
      for (int k = 0; k < q && with_y && equal != Equal::masses_and_forces; ++k)
        __builtin_prefetch(f + strip.coordinate[k] + next);
      if (with_y) __builtin_prefetch(g + strip.row + next);
    }
    for (int k = 0; k < p; ++k) {
      const Vec a = load(A + strip.slot[k] + at);
      const Index c = strip.coordinate[k] + at;
      const Vec z = equal != Equal::nothing ? a : a * load(W + c);
      sum += z * a;
      if (k < q) beside += z * load(A + strip.partner[k] + at);
      if (with_y) e += equal == Equal::masses_and_forces ? z * strip.force[k] : z * load(f + c);
    }
    if (equal != Equal::nothing) sum *= equal_W, beside *= equal_W, e *= equal_W;
    if (with_y) e = load(g + strip.row + at) - e;
    store(P + j, turned<direction>(sum));
    store(off + j, turned<direction>(beside));
    if (with_y) store(y + j, turned<direction>(e));
  }
}

template <int direction, bool with_y, Equal equal>
void form_even_along(const Strip& strip, Index from, int count, const double* A, const double* W, double equal_W,
                     const double* f, const double* g, double* P, double* off, double* y) {
  switch (strip.num_terms * 16 + strip.num_shared) {
    case 6 * 16 + 3:
      return form_even_of<direction, 6, 3, with_y, equal>(strip, from, count, A, W, equal_W, f, g, P, off, y);
    case 4 * 16 + 2:
      return form_even_of<direction, 4, 2, with_y, equal>(strip, from, count, A, W, equal_W, f, g, P, off, y);
    default:
      return form_even_of<direction, 0, 0, with_y, equal>(strip, from, count, A, W, equal_W, f, g, P, off, y);
  }
}

template <int direction, bool with_y>
void form_even_as(const Lists& lists, const Strip& strip, Index from, int count, const double* A, const double* W,
                  const double* f, const double* g, double* P, double* off, double* y) {
  const double w = lists.equal_W;
  if (w == 0) return form_even_along<direction, with_y, Equal::nothing>(strip, from, count, A, W, w, f, g, P, off, y);
  if (with_y && lists.force_held && strip.even_force)
    return form_even_along<direction, with_y, Equal::masses_and_forces>(strip, from, count, A, W, w, f, g, P, off, y);
  return form_even_along<direction, with_y, Equal::masses>(strip, from, count, A, W, w, f, g, P, off, y);
}

template <bool with_y>
void form_even(const Lists& lists, const Strip& strip, Index from, int count, const double* A, const double* W,
               const double* f, const double* g, double* P, double* off, double* y) {
  return strip.direction > 0 ? form_even_as<1, with_y>(lists, strip, from, count, A, W, f, g, P, off, y)
                             : form_even_as<-1, with_y>(lists, strip, from, count, A, W, f, g, P, off, y);
}

}  // namespace
}  // namespace mechanician::sparse
