// The elimination of strips with a direction: rows of a chain, whose numbers follow each other in memory.
//
// Pivots s_j = P_j − T²_{j−1}/s_{j−1} wait for each other, a product and a division each. Their products
// u_j = s_1 … s_j do so with a product alone,
//
//     u_{j+1} = P_j u_j − T²_{j−1} u_{j−1},   1/s_j = u_j / u_{j+1}
//
// and all divisions are side by side. Rounding in u is that of slightly different P and T, as in the elimination
// itself. Where a pivot is not beyond doubt or a product leaves the numbers there are, the rows are eliminated one
// after the other.
#pragma once

#include "mechanician/solve/sparse_kernels_strips_internal.hpp"

namespace mechanician::sparse {
namespace {

struct Lane {
  double* d;
  double* e;
  double* y;  // over the pivot where the row is done
  double inv = 0, off = 0, l = 0, last_y = 0;
};

/// One row with P and T beside the diagonal (both positive in sign of T) and y as far as it is formed. From one pivot
/// to the next there are only a product and a division.
template <bool with_y>
inline void eliminate_row(Lane& lane, Index j, double P, double off, double y, RowPivots& pivots) {
  const double s = P - (lane.off * lane.off) * lane.inv;
  const double inv = pivots.inverse(s, P);
  if (with_y) {
    lane.last_y = y - lane.l * lane.last_y;
    lane.y[j] = -inv * lane.last_y;
  }
  const double l = off * inv;
  lane.d[j] = -inv;
  lane.e[j] = l;
  lane.inv = inv;
  lane.off = off;
  lane.l = l;
}

/// The power of two that brings x to [1, 2).
inline double scale_of(double x) {
  long long bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  bits = 0x7fe0000000000000LL - (bits & 0x7ff0000000000000LL);
  double scale;
  __builtin_memcpy(&scale, &bits, sizeof scale);
  return scale;
}

/// Rows of one run under way.
struct EvenRows {
  static constexpr int most = 64, group = 8;
  double P[most], off[most], y[most];
  double u[most / group * (group + 1)];  // of each group the scaled u before it, then those of its rows
};

/// Inverse pivots and factors from u; false where one is in doubt, and then nothing counts.
inline bool divide_even(const EvenRows& rows, int count, double most_growth, double* d, double* e, double& growth) {
  Vec largest{};
  Mask good = largest == largest;
  for (int j = 0; j < count; j += lanes) {
    const double* u = rows.u + j + j / EvenRows::group;
    const Vec next = load(u + 1), inv = load(u) / next, ratio = load(rows.P + j) * inv;
    good &= (ratio > 0.0) & (ratio < most_growth) & (next > 1e-250) & (next < 1e250);
    largest = ratio > largest ? ratio : largest;
    store(d + j, -inv);
    store(e + j, load(rows.off + j) * inv);
  }
  bool all = true;
  double most = 0;
  for (int k = 0; k < lanes; ++k) {
    all = all && good[k] != 0;
    most = larger(most, largest[k]);
  }
  if (all) growth = larger(growth, most);
  return all;
}

/// Forms and eliminates `count` rows (a multiple of 8) of one or two strips.
template <bool with_y, int num>
void eliminate_even(const Lists& lists, const Strip* const (&strip)[2], const Index (&from)[2], Lane (&lane)[2],
                    int count, const double* A, const double* W, const double* f, const double* g, RowPivots& pivots) {
  EvenRows rows[num];
  const double doubt = pivots.limits.grey > pivots.limits.dependent ? pivots.limits.grey : pivots.limits.dependent;
  const double most_growth = 0.999 / doubt;
  int here = 0;
  for (Index done = 0; done < count; done += here) {
    here = count - done < EvenRows::most ? static_cast<int>(count - done) : EvenRows::most;
    double before[num], last[num], off[num];
    for (int k = 0; k < num; ++k) {
      form_even<with_y>(lists, *strip[k], from[k] + done, here, A, W, f, g, rows[k].P, rows[k].off, rows[k].y);
      before[k] = lane[k].inv, last[k] = 1.0, off[k] = lane[k].off;
    }
    int at = 0;
    for (int j = 0; j < here; j += EvenRows::group, ++at) {
      for (int k = 0; k < num; ++k) {
        const double scale = scale_of(last[k]);
        before[k] *= scale, last[k] *= scale;
        rows[k].u[at] = last[k];
      }
      for (int i = j; i < j + EvenRows::group; ++i) {
        ++at;
        for (int k = 0; k < num; ++k) {
          const double next = rows[k].P[i] * last[k] - off[k] * off[k] * before[k];
          before[k] = last[k], last[k] = next, off[k] = rows[k].off[i];
          rows[k].u[at] = next;
        }
      }
    }
    bool good[num];
    bool all = true;
    for (int k = 0; k < num; ++k) {
      good[k] = divide_even(rows[k], here, most_growth, lane[k].d + done, lane[k].e + done, pivots.growth);
      all = all && good[k];
    }
    if (with_y && __builtin_expect(all, 1)) {
      double l[num], y[num];
      for (int k = 0; k < num; ++k) l[k] = lane[k].l, y[k] = lane[k].last_y;
      for (int i = 0; i < here; ++i)
        for (int k = 0; k < num; ++k) {
          y[k] = rows[k].y[i] - l[k] * y[k];
          l[k] = lane[k].e[done + i];
          lane[k].y[done + i] = lane[k].d[done + i] * y[k];
        }
      for (int k = 0; k < num; ++k) lane[k].last_y = y[k];
    }
    for (int k = 0; k < num; ++k) {
      if (__builtin_expect(!all, 0) && (!good[k] || with_y)) {
        for (int i = 0; i < here; ++i)
          eliminate_row<with_y>(lane[k], done + i, rows[k].P[i], rows[k].off[i], rows[k].y[i], pivots);
        continue;
      }
      const Index end = done + here - 1;
      lane[k].inv = -lane[k].d[end], lane[k].off = rows[k].off[here - 1], lane[k].l = lane[k].e[end];
    }
  }
}

}  // namespace
}  // namespace mechanician::sparse
