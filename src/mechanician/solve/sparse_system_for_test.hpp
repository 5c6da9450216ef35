// Sparse systems for tests and measurements: chains, ladders, nets, random ones.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "mechanician/solve/sparse_pattern.hpp"

namespace mechanician::testing {

struct SparseSystem {
  SparsePattern pattern;
  std::vector<double> M, A, f, g;

  void add_mass(int row, int col, double value) {
    pattern.M.push_back({row, col});
    M.push_back(value);
  }
  void add_row_entry(int row, int col, double value) {
    pattern.A.push_back({row, col});
    A.push_back(value);
  }
  /// A rod between points of `dim` coordinates; a < 0: to the fixed point `from`.
  void add_rod(int dim, int a, int b, const double* from, const double* to, double rate) {
    const int row = pattern.m++;
    if (a >= 0)
      for (int k = 0; k < dim; ++k) add_row_entry(row, dim * a + k, from[k] - to[k]);
    for (int k = 0; k < dim; ++k) add_row_entry(row, dim * b + k, to[k] - from[k]);
    g.push_back(rate);
  }
};

/// N points in space hanging by unit rods, heavy by 9.81. `bend` = 0: straight down. `held`: a last rod to a fixed
/// point.
inline SparseSystem make_chain(int N, double bend, bool held = false) {
  SparseSystem s;
  s.pattern.n = 3 * N;
  s.pattern.M.reserve(3 * N), s.pattern.A.reserve(6 * N);
  double p[3] = {0, 0, 0};
  for (int i = 0; i < N; ++i) {
    const double last[3] = {p[0], p[1], p[2]};
    const double a = bend * std::sin(0.7 * i), b = 0.8 * bend * std::cos(1.3 * i);
    p[0] += std::sin(a) * std::cos(b), p[1] += std::sin(b), p[2] -= std::cos(a) * std::cos(b);
    for (int k = 0; k < 3; ++k) {
      s.add_mass(3 * i + k, 3 * i + k, 1.0 + 0.1 * std::sin(i));
      s.f.push_back(k == 2 ? -9.81 * s.M.back() : 0.1 * std::sin(i + k));
    }
    s.add_rod(3, i - 1, i, last, p, -0.5 - 0.4 * std::sin(0.3 * i));
  }
  if (held) {
    const int row = s.pattern.m++;
    const double a = bend * std::sin(0.7 * N), b = 0.8 * bend * std::cos(1.3 * N);
    s.add_row_entry(row, 3 * N - 3, -std::sin(a) * std::cos(b));
    s.add_row_entry(row, 3 * N - 2, -std::sin(b));
    s.add_row_entry(row, 3 * N - 1, std::cos(a) * std::cos(b));
    s.g.push_back(0.0);
  }
  return s;
}

/// The same system with coordinates by axis, and entries of A by end and axis, as families of a model give them: the
/// numbers of rows that follow each other lie one after the other.
inline SparseSystem by_axis(const SparseSystem& s, int dim) {
  const int points = s.pattern.n / dim;
  const auto renamed = [&](int c) { return c % dim * points + c / dim; };
  SparseSystem r;
  r.pattern.n = s.pattern.n, r.pattern.m = s.pattern.m;
  r.g = s.g, r.f.resize(s.f.size()), r.M.resize(s.M.size()), r.pattern.M.resize(s.M.size());
  for (std::size_t k = 0; k < s.M.size(); ++k) {
    const int c = renamed(s.pattern.M[k].row);  // diagonal
    r.M[c] = s.M[k], r.pattern.M[c] = {c, c}, r.f[c] = s.f[s.pattern.M[k].row];
  }
  for (int end = 0; end < 2; ++end)
    for (int axis = 0; axis < dim; ++axis)
      for (std::size_t k = 0; k < s.A.size(); ++k) {
        const auto [row, col] = s.pattern.A[k];
        if (col % dim == axis && (col / dim == row) == (end == 1)) r.add_row_entry(row, renamed(col), s.A[k]);
      }
  return r;
}

/// N four-bars side by side in natural coordinates: points B_0 … B_N on cranks, joined by couplers, rods with mass.
inline SparseSystem make_ladder(int N, double angle) {
  SparseSystem s;
  s.pattern.n = 2 * N + 2;
  const double x = std::sin(angle), y = std::cos(angle);
  for (int i = 0; i <= N; ++i)
    for (int k = 0; k < 2; ++k) {
      s.add_mass(2 * i + k, 2 * i + k, (1 + (i > 0) + (i < N)) / 3.0);
      if (i > 0) s.add_mass(2 * i + k, 2 * i - 2 + k, 1.0 / 6);
      s.f.push_back(k == 1 ? -9.81 * 0.5 * (1 + (i > 0) + (i < N)) : 0.0);
    }
  for (int i = 0; i <= N; ++i) {
    const double foot[2] = {double(i), 0}, top[2] = {i + x, y}, next[2] = {i + 1 + x, y};
    s.add_rod(2, -1, i, foot, top, -0.3);
    if (i < N) s.add_rod(2, i, i + 1, top, next, 0.0);
  }
  return s;
}

/// k×k points of a hanging cloth, not flat, joined by 2k(k−1) rods; two corners are held by a rod each where `held`.
inline SparseSystem make_net(int k, bool held = true) {
  SparseSystem s;
  s.pattern.n = 3 * k * k;
  std::vector<double> p(3 * k * k);
  for (int i = 0; i < k; ++i)
    for (int j = 0; j < k; ++j) {
      double* at = &p[3 * (i * k + j)];
      at[0] = i + 0.2 * std::sin(1.1 * j), at[1] = j + 0.2 * std::cos(1.7 * i),
      at[2] = 0.3 * std::sin(0.9 * i + 0.5 * j);
      for (int c = 0; c < 3; ++c) {
        const int q = 3 * (i * k + j) + c;
        s.add_mass(q, q, 1.0);
        s.f.push_back(c == 2 ? -9.81 : 0.0);
      }
    }
  const auto join = [&](int a, int b) { s.add_rod(3, a, b, &p[3 * a], &p[3 * b], -0.1 * std::sin(a + b)); };
  for (int i = 0; i < k; ++i)
    for (int j = 0; j < k; ++j) {
      if (j + 1 < k) join(i * k + j, i * k + j + 1);
      if (i + 1 < k) join(i * k + j, (i + 1) * k + j);
    }
  if (held) {
    for (const int corner : {0, k - 1}) {
      const double nail[3] = {p[3 * corner], p[3 * corner + 1], p[3 * corner + 2] + 1};
      s.add_rod(3, -1, corner, nail, &p[3 * corner], 0.0);
    }
  }
  return s;
}

struct RandomSparse {
  int n = 10, m = 5;
  double coupling = 0.3;  // share of coordinates whose mass is coupled to another
  int num_repeated = 0;   // further rows that are combinations of up to three rows before
  int num_massless = 0;   // coordinates without mass
};

inline SparseSystem make_random(const RandomSparse& spec, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  const auto below = [&](int k) { return static_cast<int>(random() % static_cast<unsigned>(k)); };
  SparseSystem s;
  s.pattern.n = spec.n;
  std::vector<double> diagonal(spec.n);
  for (double& d : diagonal) d = 0.5 + std::abs(normal(random));
  for (int i = 0; i < spec.num_massless; ++i) diagonal[i] = 0;
  for (int i = spec.num_massless + 1; i < spec.n; ++i)
    if (std::uniform_real_distribution<double>()(random) < spec.coupling) {
      const int j = spec.num_massless + below(i - spec.num_massless);
      const double value = normal(random);
      s.add_mass(i, j, value);
      diagonal[i] += std::abs(value), diagonal[j] += std::abs(value);
    }
  for (int i = spec.num_massless; i < spec.n; ++i) s.add_mass(i, i, diagonal[i]);
  std::vector<std::vector<double>> rows;
  std::vector<double> x0(spec.n);
  for (double& x : x0) x = normal(random);
  for (int r = 0; r < spec.m + spec.num_repeated; ++r) {
    std::vector<double> row(spec.n, 0.0);
    if (r < spec.m) {
      if (r < spec.num_massless) row[r] = 1 + std::abs(normal(random));
      for (int k = 0; k < 3; ++k) row[below(spec.n)] += normal(random);
    } else {
      const int terms = 1 + below(3);
      for (int k = 0; k < terms; ++k) {
        const int other = below(spec.m);
        const double c = normal(random);
        for (int i = 0; i < spec.n; ++i) row[i] += c * rows[other][i];
      }
    }
    double g = 0;
    for (int i = 0; i < spec.n; ++i) {
      g += row[i] * x0[i];
      if (row[i] != 0) s.add_row_entry(r, i, row[i]);
    }
    s.g.push_back(g);
    rows.push_back(std::move(row));
  }
  s.pattern.m = spec.m + spec.num_repeated;
  for (int i = 0; i < spec.n; ++i) s.f.push_back(normal(random));
  return s;
}

}  // namespace mechanician::testing
