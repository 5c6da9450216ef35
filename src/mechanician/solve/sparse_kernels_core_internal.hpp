// The loops of the sparse elimination over the core: pivots with few neighbours, and supernodes.
#pragma once

#include "mechanician/solve/sparse_kernels_vectors_internal.hpp"

namespace mechanician::sparse {
namespace {

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

/// What the children of a part left for it, in their order.
template <bool with_y>
void take_fronts(const Lists& lists, const Part& part, double* values, double* P, double* y) {
  for (int c = part.child_begin; c < part.child_end; ++c) {
    const Part& child = lists.parts[lists.part_children[c]];
    Index at_piece = child.pieces_begin;
    for (int j = 0; j < child.size; ++j) {
      while (lists.pieces[at_piece].to <= j) ++at_piece;
      const Piece& piece = lists.pieces[at_piece];
      const int* relative = lists.relative + piece.relative - piece.from;
      const int at = lists.rows[child.rows + j];
      const Index* origin = lists.origins + 2 * Index(at - lists.first_core);
      const double* u = values + child.values + Index(j) * child.lead;
      values[origin[1]] += u[j];
      double* to = values + origin[0];
      for (int i = j + 1; i < child.size; ++i) to[relative[i]] += u[i];
      P[at] += P[child.first + j];
      if (with_y) y[at] += y[child.first + j];
    }
  }
}

template <bool with_y>
void core_of(const Lists& lists, const Part& part, const PivotLimits& limits, double* values, double* P, double* y,
             double* work, PivotCount& count) {
  RowPivots rows(limits);
  MassPivots masses{limits.indefinite};
  take_fronts<with_y>(lists, part, values, P, y);
  for (const Task* task = lists.tasks + part.task_begin; task != lists.tasks + part.task_end; ++task) {
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

void core(const Lists& lists, const Part& part, const PivotLimits& limits, double* values, double* P, double* y,
          double* work, PivotCount& count) {
  if (y)
    core_of<true>(lists, part, limits, values, P, y, work, count);
  else
    core_of<false>(lists, part, limits, values, P, y, work, count);
}

void core_forward(const Lists& lists, const Part& part, const double* values, double* y, double* work) {
  for (int c = part.child_begin; c < part.child_end; ++c) {
    const Part& child = lists.parts[lists.part_children[c]];
    for (int j = 0; j < child.size; ++j) y[lists.rows[child.rows + j]] += y[child.first + j];
  }
  for (const Task* task = lists.tasks + part.task_begin; task != lists.tasks + part.task_end; ++task) {
    if (task->is_supernode)
      supernode_forward(lists, lists.supernodes[task->index], values, y, work);
    else
      small_forward(lists, lists.small[task->index], values, y);
  }
}

void core_backward(const Lists& lists, const Part& part, const double* values, double* y, double* work) {
  for (int j = 0; j < part.size; ++j) y[part.first + j] = y[lists.rows[part.owners + j]];
  for (Index t = part.task_end - 1; t >= part.task_begin; --t) {
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

}  // namespace
}  // namespace mechanician::sparse
