// The loops, compiled once for each kind of processor. No header of the standard library with code in it may be
// included here: the linker would be free to use that code, made for AVX-512, everywhere.

#include "mechanician/solve/sparse_kernels.hpp"

#if defined(__AVX512VL__)
#include <immintrin.h>
#endif

namespace mechanician::sparse {
namespace {

#if defined(__AVX512F__)
constexpr int lanes = 8;
#elif defined(__AVX2__)
constexpr int lanes = 4;
#else
constexpr int lanes = 2;
#endif
typedef double Vec __attribute__((vector_size(lanes * sizeof(double)), aligned(8), may_alias));

inline double larger(double a, double b) { return a > b ? a : b; }

/// The pivot s of a row that its coordinates give P: 1/s, or zero where the row is masked.
struct RowPivots {
  PivotLimits limits;
  double growth = 0;
  int masked = 0, grey = 0, not_finite = 0;

  explicit RowPivots(const PivotLimits& given) : limits(given) {}
  inline double inverse(double s, double P) {
    const double least = limits.dependent * P;
    if (__builtin_expect(!(s > least), 0)) {
      ++masked;
      not_finite += !(s <= least);
      return 0.0;
    }
    grey += s < limits.grey * P;
    const double inv = 1.0 / s;
    growth = larger(growth, P * inv);
    return inv;
  }
  void add_to(PivotCount& count) const {
    count.row_growth = larger(count.row_growth, growth);
    count.num_masked += masked;
    count.num_grey += grey;
    count.num_not_finite += not_finite;
  }
};

struct MassPivots {
  double least, growth = 0;
  int indefinite = 0;
  inline double inverse(double d, double H) {
    if (__builtin_expect(!(d > least * H), 0)) {
      ++indefinite;
      return 0.0;
    }
    const double inv = 1.0 / d;
    growth = larger(growth, H * inv);
    return inv;
  }
  void add_to(PivotCount& count) const {
    count.mass_growth = larger(count.mass_growth, growth);
    count.num_indefinite += indefinite;
  }
};

int invert(int count, const double* M, const int* slot, double* W) {
  int not_positive = 0;
  if (slot == nullptr) {
    for (int i = 0; i < count; ++i) {
      W[i] = 1.0 / M[i];
      not_positive += M[i] <= 0;
    }
    return not_positive;
  }
  for (int i = 0; i < count; ++i) {
    if (slot[i] < 0) {
      W[i] = 0.0;
      continue;
    }
    const double mass = M[slot[i]];
    W[i] = 1.0 / mass;
    not_positive += mass <= 0;
  }
  return not_positive;
}

void scale(int count, const int* slots, const double* A, const int* coordinate, const double* W, double* B) {
  if (slots == nullptr)
    for (int s = 0; s < count; ++s) B[s] = -A[s] * W[coordinate[s]];
  else
    for (int k = 0; k < count; ++k) B[slots[k]] = -A[slots[k]] * W[coordinate[slots[k]]];
}

void form(Index count, const int* target, const int* begin, const int* pairs, const double* B, const double* A,
          double* values) {
  for (Index t = 0; t < count; ++t) {
    double sum = 0;
    for (int p = begin[t]; p < begin[t + 1]; ++p) sum += B[pairs[2 * Index(p)]] * A[pairs[2 * Index(p) + 1]];
    values[target[t]] = sum;
  }
}

// ---- runs

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
    for (int k = 0; k < q; ++k) off += z[strip.shared[k]] * b[k][j * dp];
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
  int shared;

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
        mask(static_cast<__mmask8>((1 << s.dimension) - 1)),
        shared(s.shared_block) {}

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
      o[k] = _mm256_mul_pd(shared ? z1 : z0, _mm256_maskz_loadu_pd(mask, b + t * dp));
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

/// Where a run is: rows that lie in strips are formed a block at a time, right before they are eliminated.
struct Walker {
  const Run* run = nullptr;
  const Strip* strip = nullptr;
  const Strip* strip_end = nullptr;
  int at = 0, formed = 0;  // rows of the run, eliminated and formed
  double off = 0, l = 0, y = 0;
};

constexpr int block = 128;

template <bool with_y>
inline int prepare(Walker& w, const Lists& lists, const double* A, const double* W, const double* f, const double* g,
                   double* values, double* y) {
  if (w.at < w.formed) return w.formed - w.at;
  const Run& run = *w.run;
  while (w.strip != w.strip_end && w.strip->first + w.strip->count <= run.first + w.at) ++w.strip;
  int ready = run.count - w.at;
  if (w.strip != w.strip_end) {
    const int begin = w.strip->first - run.first;
    if (w.at < begin) {
      ready = begin - w.at;
    } else {
      const int from = w.at - begin;
      const int to = from + block < w.strip->count ? from + block : w.strip->count;
      form_rows<with_y>(*w.strip, from, to, lists.row_at, A, W, f, g, values, values + run.entry + begin, y);
      w.formed = w.at + to - from;
      return to - from;
    }
  }
  if (ready > block) ready = block;
  if (with_y) {
    // Rows outside strips have −A M⁻¹f in y already.
    for (int k = 0; k < ready; ++k) {
      const int at = run.first + w.at + k;
      y[at] += g[lists.row_at[at]];
    }
  }
  w.formed = w.at + ready;
  return ready;
}

struct Lane {
  double* d;
  double* e;
  double* y;
  double inv = 0, off = 0, l = 0, last_y = 0;
};

/// One row with P and T beside the diagonal (both positive in sign of T) and y as far as it is formed. From one pivot
/// to the next there are only a product and a division.
template <bool with_y>
inline void eliminate_row(Lane& lane, Index j, double P, double off, double y, RowPivots& pivots) {
  const double s = P - (lane.off * lane.off) * lane.inv;
  const double inv = pivots.inverse(s, P);
  if (with_y) {
    y -= lane.l * lane.last_y;
    lane.y[j] = lane.last_y = y;
  }
  const double l = off * inv;
  lane.d[j] = -inv;
  lane.e[j] = l;
  lane.inv = inv;
  lane.off = off;
  lane.l = l;
}

template <bool with_y>
inline void eliminate_one(Lane& lane, Index j, RowPivots& pivots) {
  eliminate_row<with_y>(lane, j, -lane.d[j], -lane.e[j], with_y ? lane.y[j] : 0.0, pivots);
}

#if defined(__AVX512VL__)
/// Forms and eliminates `count` rows (a multiple of 4) of one or two strips of rods; forming the next rows fills the
/// time in which the pivots wait for each other.
template <bool with_y, int num>
void eliminate_rods(const RodStrip (&rods)[2], const Index (&from)[2], Lane (&given)[2], const int* const (&row_at)[2],
                    const double* g, int count, RowPivots& all) {
  Lane lane[2] = {given[0], given[1]};
  RowPivots pivots = all;
  for (Index j = 0; j < count; j += 4) {
    double P[num][4], off[num][4], e[num][4];
    for (int k = 0; k < num; ++k) rods[k].form<with_y>(from[k] + j, P[k], off[k], e[k]);
    for (int t = 0; t < 4; ++t)
      for (int k = 0; k < num; ++k)
        eliminate_row<with_y>(lane[k], j + t, P[k][t], off[k][t], with_y ? g[row_at[k][j + t]] - e[k][t] : 0.0, pivots);
  }
  for (int k = 0; k < num; ++k) given[k] = lane[k];
  all = pivots;
}
#endif

template <bool with_y>
void eliminate_rows(Lane& lane, int count, RowPivots& pivots) {
  for (Index j = 0; j < count; ++j) eliminate_one<with_y>(lane, j, pivots);
}

template <bool with_y>
void eliminate_two(Lane& one, Lane& two, int count, RowPivots& pivots) {
  for (Index j = 0; j < count; ++j) {
    eliminate_one<with_y>(one, j, pivots);
    eliminate_one<with_y>(two, j, pivots);
  }
}

template <bool with_y>
void run_all(const Lists& lists, const Run* one, const Run* two, const Strip* strips, const double* A, const double* W,
             const double* f, const double* g, const PivotLimits& limits, double* values, double* P, double* y,
             PivotCount& count) {
  RowPivots pivots(limits);
  Walker w[2];
  Lane lane[2];
  const Run* runs[2] = {one, two};
  const int num = two ? 2 : 1;
  for (int k = 0; k < num; ++k)
    w[k].run = runs[k], w[k].strip = strips + runs[k]->strip_begin, w[k].strip_end = strips + runs[k]->strip_end;

  const auto set = [&](int k) {
    lane[k].d = values + w[k].run->first + w[k].at;
    lane[k].e = values + w[k].run->entry + w[k].at;
    lane[k].y = y + (with_y ? w[k].run->first + w[k].at : 0);
  };
  // The first row may have taken from runs before: its P is kept apart.
  for (int k = 0; k < num; ++k) {
    prepare<with_y>(w[k], lists, A, W, f, g, values, y);
    set(k);
    const Index at = w[k].run->first;
    const double given = -values[at], taken = P[at];
    const double inv = pivots.inverse(given - taken, given), off = -lane[k].e[0];
    if (with_y) lane[k].last_y = lane[k].y[0];
    lane[k].inv = inv;
    lane[k].off = off;
    lane[k].l = off * inv;
    lane[k].d[0] = -inv;
    lane[k].e[0] = lane[k].l;
    w[k].at = 1;
  }
  // Rows of rods that can be formed and eliminated in one go at the present place.
  const auto rods_here = [&](int k) -> int {
#if defined(__AVX512VL__)
    if (w[k].at != w[k].formed) return 0;
    while (w[k].strip != w[k].strip_end && w[k].strip->first + w[k].strip->count <= runs[k]->first + w[k].at)
      ++w[k].strip;
    if (w[k].strip == w[k].strip_end || w[k].strip->dimension == 0) return 0;
    const int begin = w[k].strip->first - runs[k]->first;
    return w[k].at < begin ? 0 : (begin + w[k].strip->count - w[k].at) / 4 * 4;
#else
    return 0 * k;
#endif
  };
  while (true) {
    const bool more[2] = {w[0].at < w[0].run->count, num == 2 && w[1].at < w[1].run->count};
    const int rods[2] = {more[0] ? rods_here(0) : 0, more[1] ? rods_here(1) : 0};
#if defined(__AVX512VL__)
    const int k0 = rods[0] > 0 ? 0 : 1;
    if (rods[k0] > 0 && (!(more[0] && more[1]) || (rods[0] > 0 && rods[1] > 0))) {
      const bool both = more[0] && more[1];
      const int k1 = both ? 1 : k0;
      const int c = both && rods[1] < rods[0] ? rods[1] : rods[k0];
      set(k0), set(k1);
      const RodStrip strip[2] = {RodStrip(*w[k0].strip, A, W, f), RodStrip(*w[k1].strip, A, W, f)};
      const Index from[2] = {runs[k0]->first + w[k0].at - w[k0].strip->first,
                             runs[k1]->first + w[k1].at - w[k1].strip->first};
      const int* row_at[2] = {lists.row_at + runs[k0]->first + w[k0].at, lists.row_at + runs[k1]->first + w[k1].at};
      Lane active[2] = {lane[k0], lane[k1]};
      if (both)
        eliminate_rods<with_y, 2>(strip, from, active, row_at, g, c, pivots);
      else
        eliminate_rods<with_y, 1>(strip, from, active, row_at, g, c, pivots);
      lane[k0] = active[0];
      if (both) lane[k1] = active[1];
      w[k0].at = w[k0].formed = w[k0].at + c;
      if (both) w[k1].at = w[k1].formed = w[k1].at + c;
      continue;
    }
#endif
    if (more[0] && more[1]) {
      const int a = prepare<with_y>(w[0], lists, A, W, f, g, values, y),
                b = prepare<with_y>(w[1], lists, A, W, f, g, values, y);
      int c = a < b ? a : b;
      c = c < 8 || (rods[0] == 0 && rods[1] == 0) ? c : 8;  // not far, where rods are near
      set(0), set(1);
      eliminate_two<with_y>(lane[0], lane[1], c, pivots);
      w[0].at += c, w[1].at += c;
    } else if (more[0] || more[1]) {
      const int k = more[0] ? 0 : 1;
      const int c = prepare<with_y>(w[k], lists, A, W, f, g, values, y);
      set(k);
      eliminate_rows<with_y>(lane[k], c, pivots);
      w[k].at += c;
    } else {
      break;
    }
  }
  for (int k = 0; k < num; ++k) {
    const Run& run = *runs[k];
    if (run.parent < 0) continue;
    if (run.parent_diagonal < 0)
      P[run.parent] += lane[k].l * lane[k].off;  // head of another run
    else
      values[run.parent_diagonal] += lane[k].l * lane[k].off;
    if (with_y) y[run.parent] -= lane[k].l * lane[k].last_y;
  }
  pivots.add_to(count);
}

void run(const Lists& lists, const Run* one, const Run* two, const Strip* strips, const double* A, const double* W,
         const double* f, const double* g, const PivotLimits& limits, double* values, double* P, double* y,
         PivotCount& count) {
  if (y)
    run_all<true>(lists, one, two, strips, A, W, f, g, limits, values, P, y, count);
  else
    run_all<false>(lists, one, two, strips, A, W, f, g, limits, values, P, y, count);
}

void run_forward(const Lists& lists, const Run& run, const Strip* strips, const double* A, const double* W,
                 const double* f, const double* g, const double* values, double* y) {
  for (const Strip* strip = strips + run.strip_begin; strip != strips + run.strip_end; ++strip) {
    const Index ds = strip->slot_step, dc = strip->coordinate_step;
    for (Index j = 0; j < strip->count; ++j) {
      double e = 0;
      for (int k = 0; k < strip->num_terms; ++k) {
        const Index c = strip->coordinate[k] + j * dc;
        e += A[strip->slot[k] + j * ds] * W[c] * f[c];
      }
      y[strip->first + j] -= e;
    }
  }
  const double* l = values + run.entry;
  double last = 0;
  for (Index j = 0; j < run.count; ++j) {
    const Index at = run.first + j;
    last = y[at] + g[lists.row_at[at]] - (j ? l[j - 1] * last : 0.0);
    y[at] = last;
  }
  if (run.parent >= 0) y[run.parent] -= l[run.count - 1] * last;
}

void run_backward(const Lists& lists, const Run* one, const Run* two, const double* values, double* y, double* lambda) {
  const Run* runs[2] = {one, two};
  Index at[2] = {one->count - 1, two ? two->count - 1 : -1};
  double next[2] = {0, 0};
  for (int k = 0; k < 2; ++k)
    if (runs[k] && runs[k]->parent >= 0) next[k] = y[runs[k]->parent];
  const auto step = [&](int k, Index j) {
    const Index p = runs[k]->first + j;
    next[k] = y[p] * values[p] - values[runs[k]->entry + j] * next[k];
    lambda[lists.row_at[p]] = -next[k];
  };
  while (at[0] >= 0 && at[1] >= 0) step(0, at[0]--), step(1, at[1]--);
  for (int k = 0; k < 2; ++k)
    while (at[k] >= 0) step(k, at[k]--);
  // Runs that end here end at the first row.
  for (int k = 0; k < 2; ++k)
    if (runs[k]) y[runs[k]->first] = next[k];
}

// ---- pivots with few neighbours

/// `fixed` neighbours, or as many as there are where it is negative.
template <int fixed, bool with_y>
inline __attribute__((always_inline)) void small_of(const Lists& lists, const SmallPivots& s, double* __restrict values,
                                                    double* __restrict P, double* __restrict y, RowPivots& rows,
                                                    MassPivots& masses) {
  const int d = fixed < 0 ? s.degree : fixed;
  const int* target = lists.targets + s.targets;
  const int* at = lists.rows + s.rows;
  double* entry = values + s.entry;
  for (Index k = s.first; k < s.first + s.count; ++k, entry += d, at += d) {
    const double inv = s.is_row ? -rows.inverse(-values[k], P[k]) : masses.inverse(values[k], P[k]);
    values[k] = inv;
    double e[fixed < 0 ? 64 : fixed + 1], l[fixed < 0 ? 64 : fixed + 1];
    for (int i = 0; i < d; ++i) {
      e[i] = entry[i];
      l[i] = e[i] * inv;
      entry[i] = l[i];
    }
    for (int i = 0; i < d; ++i)
      for (int j = i; j < d; ++j) values[*target++] -= l[i] * e[j];
    if (with_y) {
      const double yk = y[k];
      for (int i = 0; i < d; ++i) y[at[i]] -= l[i] * yk;
    }
    if (!s.is_row)
      for (int i = 0; i < d; ++i) P[at[i]] += l[i] * e[i];
  }
}

inline void small_forward(const Lists& lists, const SmallPivots& s, const double* values, double* y) {
  const int* at = lists.rows + s.rows;
  const double* l = values + s.entry;
  for (Index k = s.first; k < s.first + s.count; ++k, at += s.degree, l += s.degree) {
    const double yk = y[k];
    for (int i = 0; i < s.degree; ++i) y[at[i]] -= l[i] * yk;
  }
}

template <int fixed>
inline __attribute__((always_inline)) void small_backward(const Lists& lists, const SmallPivots& s,
                                                          const double* __restrict values, double* __restrict y) {
  const int d = fixed < 0 ? s.degree : fixed;
  const int* at = lists.rows + s.rows + Index(s.count) * d;
  const double* l = values + s.entry + Index(s.count) * d;
  for (Index k = s.first + s.count - 1; k >= s.first; --k) {
    at -= d, l -= d;
    // Two sums: the last neighbours are known first.
    double z = y[k] * values[k], rest = 0;
    for (int i = d - 1; i > 0; i -= 2) {
      z -= l[i] * y[at[i]];
      rest -= l[i - 1] * y[at[i - 1]];
    }
    if (d % 2) z -= l[0] * y[at[0]];
    y[k] = z + rest;
  }
}

// ---- supernodes

inline Vec load(const double* p) { return *reinterpret_cast<const Vec*>(p); }
inline void store(double* p, Vec v) { *reinterpret_cast<Vec*>(p) = v; }

/// C −= L Eᵀ for `height` rows (a multiple of 8) and 8 columns, depth columns of L and E, which have the same lead.
/// E points at the first of the 8 rows that become columns.
template <int vectors>
inline void tile(double* C, Index lead_C, const double* L, const double* E, Index lead, Index depth) {
  Vec sum[8][vectors];
  for (int j = 0; j < 8; ++j)
    for (int i = 0; i < vectors; ++i) sum[j][i] = Vec{};
  for (Index k = 0; k < depth; ++k) {
    Vec l[vectors];
    for (int i = 0; i < vectors; ++i) l[i] = load(L + k * lead + i * lanes);
    for (int j = 0; j < 8; ++j) {
      const double e = E[k * lead + j];
      for (int i = 0; i < vectors; ++i) sum[j][i] += l[i] * e;
    }
  }
  for (int j = 0; j < 8; ++j)
    for (int i = 0; i < vectors; ++i) {
      double* c = C + j * lead_C + i * lanes;
      store(c, load(c) - sum[j][i]);
    }
}

void update_columns(double* C, Index lead_C, const double* L, const double* E, Index lead, Index depth, Index height) {
  if (depth == 0) return;
  constexpr int vectors = lanes == 8 ? 2 : 1;
  Index i = 0;
  for (; i + vectors * lanes <= height; i += vectors * lanes) tile<vectors>(C + i, lead_C, L + i, E, lead, depth);
  for (; i < height; i += lanes) tile<1>(C + i, lead_C, L + i, E, lead, depth);
}

void supernode(const Lists& lists, const Supernode& s, const PivotLimits& limits, double* values, double* P,
               double* work, PivotCount& count) {
  RowPivots rows(limits);
  MassPivots masses{limits.indefinite};
  double* L = values + s.values;
  double* E = work;  // unscaled columns
  const Index lead = s.lead;
  for (int b = 0; b < s.width; b += 8) {
    const int end = b + 8 < s.width ? b + 8 : s.width;
    // Earlier columns of this supernode. Columns beyond the width are not there: a short block goes one by one.
    if (end - b == 8) {
      update_columns(L + b * lead + b, lead, L + b, E + b, lead, b, lead - b);
    } else {
      for (int j = b; j < end; ++j)
        for (int k = 0; k < b; ++k) {
          const double e = E[k * lead + j];
          for (Index i = b; i < lead; ++i) L[j * lead + i] -= L[k * lead + i] * e;
        }
    }
    for (int k = b; k < end; ++k) {
      double* column = L + k * lead;
      const Index at = s.first + k;
      const bool is_row = lists.row_at[at] >= 0;
      const double inv = is_row ? -rows.inverse(-column[k], P[at]) : masses.inverse(column[k], P[at]);
      values[at] = inv;
      double* unscaled = E + k * lead;
      for (Index i = b; i < lead; ++i) {
        unscaled[i] = column[i];
        column[i] *= inv;
      }
      for (int j = k + 1; j < end; ++j) {
        const double e = unscaled[j];
        double* to = L + j * lead;
        for (Index i = b; i < lead; ++i) to[i] -= column[i] * e;
      }
      if (!is_row) {
        for (int i = k + 1; i < s.width; ++i) P[s.first + i] += column[i] * unscaled[i];
        for (int i = 0; i < s.num_rows; ++i) P[lists.rows[s.rows + i]] += column[s.offset + i] * unscaled[s.offset + i];
      }
    }
  }
  rows.add_to(count);
  masses.add_to(count);
  // What is left for later columns, eight at a time.
  double* U = work + lead * s.width;
  const Index height = lead - s.offset;
  Index at_piece = s.pieces_begin;
  for (int j0 = 0; j0 < s.num_rows; j0 += 8) {
    for (Index k = 0; k < 8 * height; ++k) U[k] = 0;
    update_columns(U + j0, height, L + s.offset + j0, E + s.offset + j0, lead, s.width, height - j0);
    for (int j = j0; j < j0 + 8 && j < s.num_rows; ++j) {
      while (lists.pieces[at_piece].to <= j) ++at_piece;
      const Piece& piece = lists.pieces[at_piece];
      const int* relative = lists.relative + piece.relative - piece.from;
      const Index* origin = lists.origins + 2 * Index(lists.rows[s.rows + j] - lists.first_core);
      const double* u = U + (j - j0) * height;
      values[origin[1]] += u[j];
      double* to = values + origin[0];
      for (int i = j + 1; i < s.num_rows; ++i) to[relative[i]] += u[i];
    }
  }
}

void supernode_forward(const Lists& lists, const Supernode& s, const double* values, double* y, double* work) {
  const double* L = values + s.values;
  for (int i = 0; i < s.num_rows; ++i) work[i] = 0;
  for (int k = 0; k < s.width; ++k) {
    const double* column = L + Index(k) * s.lead;
    const double yk = y[s.first + k];
    for (int j = k + 1; j < s.width; ++j) y[s.first + j] -= column[j] * yk;
    for (int i = 0; i < s.num_rows; ++i) work[i] += column[s.offset + i] * yk;
  }
  for (int i = 0; i < s.num_rows; ++i) y[lists.rows[s.rows + i]] -= work[i];
}

void supernode_backward(const Lists& lists, const Supernode& s, const double* values, double* y, double* work) {
  const double* L = values + s.values;
  for (int i = 0; i < s.num_rows; ++i) work[i] = y[lists.rows[s.rows + i]];
  for (int k = s.width - 1; k >= 0; --k) {
    const double* column = L + Index(k) * s.lead + s.offset;
    // Several sums at once: the order of additions is fixed here, not by the compiler.
    double sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    int i = 0;
    for (; i + 8 <= s.num_rows; i += 8)
      for (int t = 0; t < 8; ++t) sum[t] += column[i + t] * work[i + t];
    for (; i < s.num_rows; ++i) sum[i % 8] += column[i] * work[i];
    double z = y[s.first + k] * values[s.first + k];
    for (int j = k + 1; j < s.width; ++j) z -= L[Index(k) * s.lead + j] * y[s.first + j];
    y[s.first + k] = z - (((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7])));
  }
}

// ---- the core

template <bool with_y>
void core_of(const Lists& lists, const PivotLimits& limits, double* values, double* P, double* y, double* work,
             PivotCount& count) {
  RowPivots rows(limits);
  MassPivots masses{limits.indefinite};
  for (const Task* task = lists.tasks; task != lists.tasks + lists.num_tasks; ++task) {
    if (task->is_supernode) {
      const Supernode& s = lists.supernodes[task->index];
      supernode(lists, s, limits, values, P, work, count);
      if (with_y) supernode_forward(lists, s, values, y, work);
      continue;
    }
    const SmallPivots& s = lists.small[task->index];
    switch (s.degree) {
      case 0:
        small_of<0, with_y>(lists, s, values, P, y, rows, masses);
        break;
      case 1:
        small_of<1, with_y>(lists, s, values, P, y, rows, masses);
        break;
      case 2:
        small_of<2, with_y>(lists, s, values, P, y, rows, masses);
        break;
      case 3:
        small_of<3, with_y>(lists, s, values, P, y, rows, masses);
        break;
      case 4:
        small_of<4, with_y>(lists, s, values, P, y, rows, masses);
        break;
      case 5:
        small_of<5, with_y>(lists, s, values, P, y, rows, masses);
        break;
      case 6:
        small_of<6, with_y>(lists, s, values, P, y, rows, masses);
        break;
      case 7:
        small_of<7, with_y>(lists, s, values, P, y, rows, masses);
        break;
      case 8:
        small_of<8, with_y>(lists, s, values, P, y, rows, masses);
        break;
      default:
        small_of<-1, with_y>(lists, s, values, P, y, rows, masses);
    }
  }
  rows.add_to(count);
  masses.add_to(count);
}

void core(const Lists& lists, const PivotLimits& limits, double* values, double* P, double* y, double* work,
          PivotCount& count) {
  if (y)
    core_of<true>(lists, limits, values, P, y, work, count);
  else
    core_of<false>(lists, limits, values, P, y, work, count);
}

void core_forward(const Lists& lists, const double* values, double* y, double* work) {
  for (const Task* task = lists.tasks; task != lists.tasks + lists.num_tasks; ++task) {
    if (task->is_supernode)
      supernode_forward(lists, lists.supernodes[task->index], values, y, work);
    else
      small_forward(lists, lists.small[task->index], values, y);
  }
}

void core_backward(const Lists& lists, const double* values, double* y, double* work) {
  for (Index t = lists.num_tasks - 1; t >= 0; --t) {
    const Task* task = lists.tasks + t;
    if (task->is_supernode) {
      supernode_backward(lists, lists.supernodes[task->index], values, y, work);
      continue;
    }
    const SmallPivots& s = lists.small[task->index];
    switch (s.degree) {
      case 0:
        small_backward<0>(lists, s, values, y);
        break;
      case 1:
        small_backward<1>(lists, s, values, y);
        break;
      case 2:
        small_backward<2>(lists, s, values, y);
        break;
      case 3:
        small_backward<3>(lists, s, values, y);
        break;
      case 4:
        small_backward<4>(lists, s, values, y);
        break;
      case 5:
        small_backward<5>(lists, s, values, y);
        break;
      case 6:
        small_backward<6>(lists, s, values, y);
        break;
      case 7:
        small_backward<7>(lists, s, values, y);
        break;
      case 8:
        small_backward<8>(lists, s, values, y);
        break;
      default:
        small_backward<-1>(lists, s, values, y);
    }
  }
}

// ---- accelerations of uncoupled coordinates

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

constexpr Kernels table = {invert, scale,        form,          run,  run_forward, run_backward,
                           core,   core_forward, core_backward, band, band_sizes,  residual};

}  // namespace
}  // namespace mechanician::sparse
