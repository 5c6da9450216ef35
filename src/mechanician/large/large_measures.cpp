#include "mechanician/large/large_measures.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mechanician {

namespace {

constexpr double share_of_others = 1e-4;  ///< of the largest terms, of which 1e-9 may be missing

double largest_of(std::span<const double> x) {
  double most = 1.0;
  for (const double value : x) most = std::max(most, std::abs(value));
  return most;
}

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

bool all_finite(const LargeSystem::Values& values) {
  // x·0 is zero for all numbers and for nothing else.
  double sum = 0.0;
  for (const LargeVector* part : {&values.M, &values.Q, &values.A, &values.b})
    for (const double x : *part) sum += x * 0.0;
  return sum == 0.0;
}

std::vector<double> calc_row_sizes(const LargeSystem& system, std::span<const double> A) {
  std::vector<double> size(at(system.m()), 0.0);
  for (std::size_t k = 0; k < A.size(); ++k) size[at(system.A_pattern()[k].row)] += A[k] * A[k];
  for (double& x : size) x = std::sqrt(x);
  return size;
}

RowDistance calc_row_distance(const LargeSystem& system, std::span<const double> A, std::span<const double> residual,
                              std::span<const double> rate, std::span<const double> q, std::span<const double> qd) {
  RowDistance result;
  const double q_size = largest_of(q), qd_size = largest_of(qd);
  const std::vector<double> slope = calc_row_sizes(system, A);
  for (int row = 0; row < system.m(); ++row) {
    const auto j = at(row);
    const double size = slope[j] > 0.0 ? slope[j] : 1.0;
    const double value = std::abs(residual[j]) / (size * (system.is_position_row(row) ? q_size : qd_size)),
                 speed = std::abs(rate[j]) / (size * qd_size);
    for (const double off : {value, speed})
      if (off > result.largest || std::isnan(off))
        result = {std::isnan(off) ? std::numeric_limits<double>::infinity() : off, row};
  }
  return result;
}

SolutionResidual calc_solution_residual(const SparsePattern& pattern, const SolutionParts& parts) {
  const auto n = at(pattern.n), m = at(pattern.m);
  const auto& [M, A, f, g, x, lambda, left_out] = parts;
  std::vector<long double> left_f(f.begin(), f.end()), left_g(g.begin(), g.end());
  std::vector<double> size_f(n), size_g(m), mass(n, 0.0), largest_in_row(m, 0.0);
  std::vector<char> has_mass(n, 0), counts(m, 1);
  for (const int row : left_out) counts[at(row)] = 0;
  for (std::size_t i = 0; i < n; ++i) size_f[i] = std::abs(f[i]);
  for (std::size_t j = 0; j < m; ++j) size_g[j] = std::abs(g[j]);
  for (std::size_t s = 0; s < A.size(); ++s) {
    const auto j = at(pattern.A[s].row), i = at(pattern.A[s].col);
    const long double force = static_cast<long double>(A[s]) * lambda[j];
    left_f[i] += force, size_f[i] += static_cast<double>(std::abs(force));
    largest_in_row[j] = std::max(largest_in_row[j], std::abs(A[s]));
  }
  for (std::size_t k = 0; k < M.size(); ++k) {
    const auto i = at(pattern.M[k].row), j = at(pattern.M[k].col);
    if (M[k] != 0.0) has_mass[i] = has_mass[j] = 1;
    left_f[i] -= static_cast<long double>(M[k]) * x[j], size_f[i] += std::abs(M[k] * x[j]);
    if (i == j) {
      mass[i] = M[k];
      continue;
    }
    left_f[j] -= static_cast<long double>(M[k]) * x[i], size_f[j] += std::abs(M[k] * x[i]);
  }
  double fastest = 0.0, heaviest = 0.0;
  for (std::size_t i = 0; i < n; ++i)
    fastest = std::max({fastest, std::abs(x[i]), mass[i] > 0.0 ? size_f[i] / mass[i] : 0.0}),
    heaviest = std::max(heaviest, mass[i]);
  // Where only coordinates without mass move there is no force at all, and that of a mass which moved with them is the measure.
  double largest = heaviest * fastest;
  for (const double size : size_f) largest = std::max(largest, size);
  const bool some_have_none = std::find(has_mass.begin(), has_mass.end(), char{0}) != has_mass.end();
  std::vector<double> floor(n, 0.0), floor_g(m, 0.0);
  if (some_have_none && heaviest > 0.0)
    for (std::size_t i = 0; i < n; ++i) floor[i] = share_of_others * largest * mass[i] / heaviest;
  for (std::size_t s = 0; s < A.size(); ++s) {
    const auto j = at(pattern.A[s].row), i = at(pattern.A[s].col);
    left_g[j] -= static_cast<long double>(A[s]) * x[i];
    size_g[j] += std::abs(A[s]) * (std::abs(x[i]) + (mass[i] > 0.0 ? size_f[i] / mass[i] : 0.0));
    if (some_have_none) floor_g[j] = share_of_others * fastest * largest_in_row[j];
    if (!has_mass[i] && largest_in_row[j] > 0.0)
      floor[i] = std::max(floor[i], share_of_others * largest * std::abs(A[s]) / largest_in_row[j]);
  }
  SolutionResidual result;
  const auto take = [](double& most, long double left, double size) {
    if (left == 0.0L) return;
    const double share = static_cast<double>(std::abs(left)) / size;
    most = std::isnan(share) ? std::numeric_limits<double>::infinity() : std::max(most, share);
  };
  for (std::size_t i = 0; i < n; ++i) take(result.force, left_f[i], size_f[i] + floor[i]);
  for (std::size_t j = 0; j < m; ++j)
    if (counts[j]) take(result.row, left_g[j], size_g[j] + floor_g[j]);
  return result;
}

}  // namespace mechanician
