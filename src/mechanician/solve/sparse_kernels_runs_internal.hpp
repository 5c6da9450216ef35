// The loops of the sparse elimination over runs: rows that each have only the next one as neighbour.
#pragma once

#include "mechanician/solve/sparse_kernels_even_internal.hpp"

namespace mechanician::sparse {
namespace {

/// Where a run is: rows that lie in strips are formed a block at a time, right before they are eliminated.
struct Walker {
  const Run* run = nullptr;
  const Strip* strip = nullptr;
  const Strip* strip_end = nullptr;
  int at = 0, formed = 0;  // rows of the run, eliminated and formed
  double off = 0, l = 0, y = 0;
};

constexpr int block = 128;

/// Forms rows, at most so many; returns how many are formed and not eliminated.
template <bool with_y>
inline int prepare(Walker& w, int most, const Lists& lists, const double* A, const double* W, const double* f,
                   const double* g, double* values, double* y) {
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
      const int to = from + most < w.strip->count ? from + most : w.strip->count;
      form_rows<with_y>(*w.strip, from, to, lists.row_at, A, W, f, g, values, values + run.entry + begin, y);
      w.formed = w.at + to - from;
      return to - from;
    }
  }
  if (ready > most) ready = most;
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
    prepare<with_y>(w[k], 1, lists, A, W, f, g, values, y);  // the others may have a quicker way
    set(k);
    const Index at = w[k].run->first;
    const double given = -values[at], taken = P[at];
    const double inv = pivots.inverse(given - taken, given), off = -lane[k].e[0];
    if (with_y) lane[k].last_y = lane[k].y[0], lane[k].y[0] *= -inv;
    lane[k].inv = inv;
    lane[k].off = off;
    lane[k].l = off * inv;
    lane[k].d[0] = -inv;
    lane[k].e[0] = lane[k].l;
    w[k].at = 1;
  }
  // Rows that can be formed and eliminated in one go at the present place, and how.
  enum class Way { one_by_one, even, rods };
  const auto find_ready = [&](int k, Way& way) -> int {
    way = Way::one_by_one;
    if (w[k].at != w[k].formed) return 0;
    while (w[k].strip != w[k].strip_end && w[k].strip->first + w[k].strip->count <= runs[k]->first + w[k].at)
      ++w[k].strip;
    if (w[k].strip == w[k].strip_end) return 0;
    const int begin = w[k].strip->first - runs[k]->first;
    const int left = w[k].at < begin ? 0 : begin + w[k].strip->count - w[k].at;
    if (w[k].strip->direction != 0 && left >= EvenRows::group) {
      way = Way::even;
      return left / EvenRows::group * EvenRows::group;
    }
#if defined(__AVX512VL__)
    if (w[k].strip->dimension > 0 && left >= 4) {
      way = Way::rods;
      return left / 4 * 4;
    }
#endif
    return 0;
  };
  while (true) {
    const bool more[2] = {w[0].at < w[0].run->count, num == 2 && w[1].at < w[1].run->count};
    const bool both = more[0] && more[1];
    Way way[2] = {Way::one_by_one, Way::one_by_one};
    int ready[2] = {0, 0};
    for (int k = 0; k < 2; ++k)
      if (more[k]) ready[k] = find_ready(k, way[k]);
    const int k0 = more[0] ? 0 : 1, k1 = both ? 1 : k0;
    if (way[k0] != Way::one_by_one && way[k0] == way[k1]) {
      const int c = ready[k1] < ready[k0] ? ready[k1] : ready[k0];
      set(k0), set(k1);
      const Index from[2] = {runs[k0]->first + w[k0].at - w[k0].strip->first,
                             runs[k1]->first + w[k1].at - w[k1].strip->first};
      Lane active[2] = {lane[k0], lane[k1]};
      if (way[k0] == Way::even) {
        const Strip* strip[2] = {w[k0].strip, w[k1].strip};
        if (both)
          eliminate_even<with_y, 2>(lists, strip, from, active, c, A, W, f, g, pivots);
        else
          eliminate_even<with_y, 1>(lists, strip, from, active, c, A, W, f, g, pivots);
      }
#if defined(__AVX512VL__)
      if (way[k0] == Way::rods) {
        const RodStrip strip[2] = {RodStrip(*w[k0].strip, A, W, f), RodStrip(*w[k1].strip, A, W, f)};
        const int* row_at[2] = {lists.row_at + runs[k0]->first + w[k0].at, lists.row_at + runs[k1]->first + w[k1].at};
        if (both)
          eliminate_rods<with_y, 2>(strip, from, active, row_at, g, c, pivots);
        else
          eliminate_rods<with_y, 1>(strip, from, active, row_at, g, c, pivots);
      }
#endif
      lane[k0] = active[0];
      w[k0].at = w[k0].formed = w[k0].at + c;
      if (both) {
        lane[k1] = active[1];
        w[k1].at = w[k1].formed = w[k1].at + c;
      }
      continue;
    }
    if (more[0] && more[1]) {
      const int most = ready[0] == 0 && ready[1] == 0 ? block : 8;  // not far, where quicker ways are near
      const int a = prepare<with_y>(w[0], most, lists, A, W, f, g, values, y),
                b = prepare<with_y>(w[1], most, lists, A, W, f, g, values, y);
      int c = a < b ? a : b;
      c = c < most ? c : most;
      set(0), set(1);
      eliminate_two<with_y>(lane[0], lane[1], c, pivots);
      w[0].at += c, w[1].at += c;
    } else if (more[0] || more[1]) {
      const int k = more[0] ? 0 : 1;
      const int c = prepare<with_y>(w[k], block, lists, A, W, f, g, values, y);
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
    y[at] = last * values[at];
  }
  if (run.parent >= 0) y[run.parent] -= l[run.count - 1] * last;
}

/// Rows of a run from its end on, a stretch at a time: numbers of rows in a strip with a direction need not be looked up.
struct Return {
  const Run* run;
  const Strip* strips;  // before this one
  int at;               // rows that are left
  const double *y, *e;
  const int* row_at;
  double next = 0;

  /// Rows of the stretch from `begin` on; first: where its first λ belongs, where the others follow it.
  struct Stretch {
    int begin;
    int direction;  // 0: by row_at
    Index first;
  };
  Stretch stretch(const Strip* all) {
    const Strip* begin = all + run->strip_begin;
    while (strips != begin && strips[-1].first - run->first >= at) --strips;
    if (strips == begin) return {0, 0, 0};
    const Strip& s = strips[-1];
    const int from = s.first - run->first, to = from + s.count;
    if (to < at) return {to, 0, 0};
    return {from, s.direction, s.row};
  }
};

template <bool both>
inline void return_rows(Return (&r)[2], const Return::Stretch (&stretch)[2], int count, double* lambda) {
  const Index begin[2] = {r[0].at - count, r[1].at - count};
  if (stretch[0].direction == 0 || (both && stretch[1].direction == 0)) {
    for (Index j = count - 1; j >= 0; --j)
      for (int k = 0; k < 1 + both; ++k) {
        const Index i = begin[k] + j;
        r[k].next = r[k].y[i] - r[k].e[i] * r[k].next;
        lambda[r[k].row_at[i]] = -r[k].next;
      }
  } else {
    double* to[2];
    Index step[2];
    for (int k = 0; k < 1 + both; ++k) {
      step[k] = stretch[k].direction;
      to[k] = lambda + stretch[k].first + step[k] * (begin[k] - stretch[k].begin);
    }
    double next[2] = {r[0].next, r[1].next};
    for (Index j = count - 1; j >= 0; --j)
      for (int k = 0; k < 1 + both; ++k) {
        next[k] = r[k].y[begin[k] + j] - r[k].e[begin[k] + j] * next[k];
        to[k][step[k] * j] = -next[k];
      }
    r[0].next = next[0], r[1].next = next[1];
  }
  for (int k = 0; k < 1 + both; ++k) r[k].at -= count;
}

void run_backward(const Lists& lists, const Run* one, const Run* two, const Strip* strips, const double* values,
                  double* y, double* lambda) {
  Return r[2];
  const Run* runs[2] = {one, two ? two : one};
  for (int k = 0; k < 2; ++k) {
    const Run& run = *runs[k];
    r[k] = {&run, strips + run.strip_end, run.count, y + run.first, values + run.entry, lists.row_at + run.first};
    if (run.parent >= 0) r[k].next = y[run.parent];
  }
  while (two && r[0].at > 0 && r[1].at > 0) {
    const Return::Stretch stretch[2] = {r[0].stretch(strips), r[1].stretch(strips)};
    const int a = r[0].at - stretch[0].begin, b = r[1].at - stretch[1].begin;
    return_rows<true>(r, stretch, a < b ? a : b, lambda);
  }
  for (int k = 0; k < (two ? 2 : 1); ++k) {
    Return rest[2] = {r[k], r[k]};
    while (rest[0].at > 0) {
      const Return::Stretch stretch[2] = {rest[0].stretch(strips), {}};
      return_rows<false>(rest, stretch, rest[0].at - stretch[0].begin, lambda);
    }
    // Runs that end here end at the first row.
    y[runs[k]->first] = rest[0].next;
  }
}

}  // namespace
}  // namespace mechanician::sparse
