// The loops, compiled once for each kind of processor. No header of the standard library with code in it may be
// included here: the linker would be free to use that code, made for AVX-512, everywhere.

#include "mechanician/solve/sparse_kernels_internal.hpp"

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

void invert(int count, const double* M, const int* slot, double* W) {
  if (slot == nullptr)
    for (int i = 0; i < count; ++i) W[i] = 1.0 / M[i];
  else
    for (int i = 0; i < count; ++i) W[i] = slot[i] < 0 ? 0.0 : 1.0 / M[slot[i]];
}

void scale(int count, const double* A, const int* coordinate, const double* W, double* B) {
  for (int s = 0; s < count; ++s) B[s] = -A[s] * W[coordinate[s]];
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
void form_strip(const Strip& strip, int from, int to, const int* row_at, const double* A, const double* W, const double* f,
                const double* g, double* diagonal, double* beside, double* y) {
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

template <bool with_y>
void form_rows(const Strip& strip, int from, int to, const int* row_at, const double* A, const double* W, const double* f,
               const double* g, double* diagonal, double* beside, double* y) {
  const int kind = strip.num_terms * 16 + strip.num_shared;
  switch (kind) {
    case 6 * 16 + 3: form_strip<6, 3, with_y>(strip, from, to, row_at, A, W, f, g, diagonal, beside, y); break;
    case 4 * 16 + 2: form_strip<4, 2, with_y>(strip, from, to, row_at, A, W, f, g, diagonal, beside, y); break;
    default: form_strip<0, 0, with_y>(strip, from, to, row_at, A, W, f, g, diagonal, beside, y);
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
  double off = 0, l = 0, last_y = 0;
};

template <bool with_y>
inline void eliminate_one(Lane& lane, Index j, RowPivots& pivots) {
  const double P = -lane.d[j];
  const double s = P - lane.l * lane.off;
  const double inv = pivots.inverse(s, P);
  const double off = -lane.e[j];
  const double l = off * inv;
  if (with_y) {
    const double y = lane.y[j] - lane.l * lane.last_y;
    lane.y[j] = lane.last_y = y;
  }
  lane.d[j] = -inv;
  lane.e[j] = l;
  lane.off = off;
  lane.l = l;
}

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
  for (int k = 0; k < num; ++k) w[k].run = runs[k], w[k].strip = strips + runs[k]->strip_begin, w[k].strip_end = strips + runs[k]->strip_end;

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
    lane[k].off = off;
    lane[k].l = off * inv;
    lane[k].d[0] = -inv;
    lane[k].e[0] = lane[k].l;
    w[k].at = 1;
  }
  while (true) {
    const bool more[2] = {w[0].at < w[0].run->count, num == 2 && w[1].at < w[1].run->count};
    if (more[0] && more[1]) {
      const int a = prepare<with_y>(w[0], lists, A, W, f, g, values, y), b = prepare<with_y>(w[1], lists, A, W, f, g, values, y);
      const int c = a < b ? a : b;
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

void run_forward(const Lists& lists, const Run& run, const Strip* strips, const double* A, const double* W, const double* f,
                 const double* g, const double* values, double* y) {
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
    y[p] = next[k];
    lambda[lists.row_at[p]] = -next[k];
  };
  while (at[0] >= 0 && at[1] >= 0) step(0, at[0]--), step(1, at[1]--);
  for (int k = 0; k < 2; ++k)
    while (at[k] >= 0) step(k, at[k]--);
}

// ---- pivots with few neighbours

template <int fixed>
void small_of(const Lists& lists, const SmallPivots& s, const PivotLimits& limits, double* values, double* P,
              PivotCount& count) {
  const int d = fixed < 0 ? s.degree : fixed;
  RowPivots rows(limits);
  MassPivots masses{limits.indefinite};
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
    if (!s.is_row)
      for (int i = 0; i < d; ++i) P[at[i]] += l[i] * e[i];
    for (int i = 0; i < d; ++i)
      for (int j = i; j < d; ++j) values[*target++] -= l[i] * e[j];
  }
  rows.add_to(count);
  masses.add_to(count);
}

void small(const Lists& lists, const SmallPivots& s, const PivotLimits& limits, double* values, double* P, PivotCount& count) {
  switch (s.degree) {
    case 0: return small_of<0>(lists, s, limits, values, P, count);
    case 1: return small_of<1>(lists, s, limits, values, P, count);
    case 2: return small_of<2>(lists, s, limits, values, P, count);
    case 3: return small_of<3>(lists, s, limits, values, P, count);
    case 4: return small_of<4>(lists, s, limits, values, P, count);
    case 5: return small_of<5>(lists, s, limits, values, P, count);
    case 6: return small_of<6>(lists, s, limits, values, P, count);
    default: return small_of<-1>(lists, s, limits, values, P, count);
  }
}

void small_forward(const Lists& lists, const SmallPivots& s, const double* values, double* y) {
  const int* at = lists.rows + s.rows;
  const double* l = values + s.entry;
  for (Index k = s.first; k < s.first + s.count; ++k, at += s.degree, l += s.degree) {
    const double yk = y[k];
    for (int i = 0; i < s.degree; ++i) y[at[i]] -= l[i] * yk;
  }
}

void small_backward(const Lists& lists, const SmallPivots& s, const double* values, double* y) {
  const int* at = lists.rows + s.rows + Index(s.count) * s.degree;
  const double* l = values + s.entry + Index(s.count) * s.degree;
  for (Index k = s.first + s.count - 1; k >= s.first; --k) {
    at -= s.degree, l -= s.degree;
    double z = y[k] * values[k];
    for (int i = 0; i < s.degree; ++i) z -= l[i] * y[at[i]];
    y[k] = z;
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

void supernode(const Lists& lists, const Supernode& s, const PivotLimits& limits, double* values, double* P, double* work,
               PivotCount& count) {
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

double band(const Band& b, const double* A, const double* W, const double* f, const double* lambda, double* x) {
  switch (b.period * 16 + b.degree) {
    case 3 * 16 + 2: return band_of<3, 2>(b, A, W, f, lambda, x);
    case 3 * 16 + 4: return band_of<3, 4>(b, A, W, f, lambda, x);
    case 2 * 16 + 2: return band_of<2, 2>(b, A, W, f, lambda, x);
    case 1 * 16 + 1: return band_of<1, 1>(b, A, W, f, lambda, x);
    case 1 * 16 + 2: return band_of<1, 2>(b, A, W, f, lambda, x);
    default: return band_of<0, 0>(b, A, W, f, lambda, x);
  }
}

constexpr Kernels table = {invert,        scale,          form,      run,               run_forward,        run_backward, small,
                           small_forward, small_backward, supernode, supernode_forward, supernode_backward, band};

}  // namespace
}  // namespace mechanician::sparse
