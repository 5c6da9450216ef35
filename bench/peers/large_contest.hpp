#pragma once

/// What the contestants of the large workloads share: chains and nets of point masses on rods in space, of any size.
/// `PROGRAM WORKLOAD N` writes one line of JSON for each variant, as in contest.hpp; times are those of one
/// acceleration of the whole system.

#include <array>

#include "contest.hpp"

namespace contest {

/// Point masses of 1 kg and rods of 1 m; mass −1 is the ceiling, at the origin. Coordinates x, y, z of one mass after
/// the other.
struct Rods {
  struct Ends {
    int a, b;
  };
  int num_masses = 0;
  std::vector<Ends> rods;
  std::vector<double> x, v;
  std::array<double, 3> between(const std::vector<double>& of, Ends e) const {
    std::array<double, 3> d{};
    for (int k = 0; k < 3; ++k) d[k] = of[3 * e.b + k] - (e.a < 0 ? 0.0 : of[3 * e.a + k]);
    return d;
  }
};

/// A chain that winds, every rod turning at its own rate: nothing is zero, no two neighbours are parallel.
inline Rods make_chain(int N) {
  Rods s;
  s.num_masses = N, s.x.resize(3 * N), s.v.resize(3 * N);
  double x[3] = {0, 0, 0}, v[3] = {0, 0, 0};
  for (int i = 0; i < N; ++i) {
    s.rods.push_back({i - 1, i});
    const double a = 0.5 * std::sin(0.7 * i), b = 0.4 * std::cos(1.3 * i);
    const double da = std::sin(0.3 * i), db = std::cos(0.2 * i);
    const double u[3] = {std::sin(a) * std::cos(b), std::sin(b), -std::cos(a) * std::cos(b)};
    const double du[3] = {std::cos(a) * std::cos(b) * da - std::sin(a) * std::sin(b) * db, std::cos(b) * db,
                          std::sin(a) * std::cos(b) * da + std::cos(a) * std::sin(b) * db};
    for (int k = 0; k < 3; ++k) {
      x[k] += u[k], v[k] += du[k];
      s.x[3 * i + k] = x[k], s.v[3 * i + k] = v[k];
    }
  }
  return s;
}

/// k by k masses in zigzag, as bench/models/net.toml; hanging nowhere, at rest.
inline Rods make_net(int k) {
  Rods s;
  s.num_masses = k * k;
  const auto at = [k](int i, int j) { return (i - 1) * k + j - 1; };
  for (int i = 1; i <= k; ++i)
    for (int j = 1; j <= k; ++j)
      for (const double c : {0.8 * i, 0.8 * j, 0.3 * (2 - std::cos(M_PI * i) - std::cos(M_PI * j))}) s.x.push_back(c);
  for (int i = 2; i <= k; ++i)
    for (int j = 1; j <= k; ++j) s.rods.push_back({at(i - 1, j), at(i, j)});
  for (int i = 1; i <= k; ++i)
    for (int j = 2; j <= k; ++j) s.rods.push_back({at(i, j - 1), at(i, j)});
  s.v.resize(s.x.size());
  for (std::size_t c = 0; c < s.v.size(); ++c) s.v[c] = std::sin(0.7 * static_cast<double>(c));
  return s;
}

/// How far accelerations miss d·(a_b − a_a) + |e|² = 0 of the rods, largest, relative to the largest acceleration.
inline double rod_error(const Rods& s, const std::vector<double>& a) {
  double off = 0, size = 0;
  for (const double c : a) size = std::max(size, std::abs(c));
  for (const auto& rod : s.rods) {
    const auto d = s.between(s.x, rod), e = s.between(s.v, rod), f = s.between(a, rod);
    double sum = 0;
    for (int k = 0; k < 3; ++k) sum += d[k] * f[k] + e[k] * e[k];
    off = std::isfinite(sum) ? std::max(off, std::abs(sum)) : 1e300;
  }
  return off / size;
}

/// The acceleration of a chain in long double: a tridiagonal system for the forces in the rods.
inline std::vector<double> chain_acceleration(const Rods& s) {
  using Real = long double;
  const int N = s.num_masses;
  std::vector<Real> inverse(N), l(N), y(N);
  std::array<double, 3> before{};
  for (int i = 0; i < N; ++i) {
    const auto d = s.between(s.x, s.rods[i]), e = s.between(s.v, s.rods[i]);
    Real on = 0, off = 0, right = i ? 0 : Real(gravity) * d[2];
    for (int k = 0; k < 3; ++k) {
      on += Real(d[k]) * d[k] * (i ? 2 : 1);
      off -= Real(d[k]) * before[k];
      right -= Real(e[k]) * e[k];
    }
    l[i] = i ? off * inverse[i - 1] : 0;
    inverse[i] = 1 / (on - l[i] * off);
    y[i] = right - (i ? l[i] * y[i - 1] : 0);
    before = d;
  }
  std::vector<double> a(3 * N);
  Real force = 0, next[3] = {0, 0, 0};
  for (int i = N - 1; i >= 0; --i) {
    force = y[i] * inverse[i] - (i + 1 < N ? l[i + 1] * force : 0);
    const auto d = s.between(s.x, s.rods[i]);
    for (int k = 0; k < 3; ++k) {
      const Real here = d[k] * force;
      a[3 * i + k] = static_cast<double>(here - next[k] - (k == 2 ? Real(gravity) : 0));
      next[k] = here;
    }
  }
  return a;
}
/// Largest difference to that, relative to its largest.
inline double chain_error(const std::vector<double>& exact, const std::vector<double>& a) {
  double off = 0, size = 0;
  for (std::size_t c = 0; c < exact.size(); ++c) {
    off = std::isfinite(a[c]) ? std::max(off, std::abs(a[c] - exact[c])) : 1e300;
    size = std::max(size, std::abs(exact[c]));
  }
  return off / size;
}

// ---- ten seconds of a chain that starts at rest, straight and aslant, as bench/models/chain.toml
constexpr double motion_time = 10.0, motion_tolerance = 1e-8;
constexpr double motion_start[3] = {0.6, 0.0, -0.8};

/// What takes long is not repeated.
template <class Call>
Timing time_large(Call&& call) {
  const auto begin = Clock::now();
  call();
  const double once = seconds_since(begin);
  if (once > 1.0) return {1e9 * once, 1e9 * once};
  return time_calls(
      1, [&](int) { call(); }, 0.2);
}

inline int size_of(const Arguments& a) {
  return std::max(1, static_cast<int>(std::strtod(a.variant.c_str(), nullptr)));
}

}  // namespace contest
