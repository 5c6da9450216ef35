#include "mechanician/solve/sparse_robust.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cassert>
#include <cmath>

namespace mechanician {

namespace {

SparseOptions elimination_options(const SparseRobustOptions& options) {
  SparseOptions result;
  result.dependent = options.apart;
  result.grey = 0;
  result.check_residual = false;  // done here, in extended precision
  result.ordering = options.ordering;
  result.augment_all = options.augment_all;
  return result;
}

}  // namespace

/// What the rows that are eliminated leave of one that was set apart.
struct SparseRobust::Left {
  int row = 0;
  std::vector<double> x, lambda;  // x_j, λ_j
  std::vector<double> r;          // n
  double size = 0;                // of a_j in the metric of the masses, as far as their diagonal shows it
  double sine = 0;
};

SparseRobust::SparseRobust(const SparsePattern& pattern, const SparseRobustOptions& options)
    : pattern_(pattern), options_(options), elimination_(pattern, elimination_options(options)) {
  for (auto* v : {&f_left_, &dx_}) v->assign(pattern.n, 0.0);
  for (auto* v : {&g_left_, &dlambda_}) v->assign(pattern.m, 0.0);
  is_apart_.assign(pattern.m, 0);
}

/// Fills what is missing in both equations; returns the largest share of it. Rows set apart do not count.
double SparseRobust::calc_residual(std::span<const double> f, std::span<const double> g, std::span<const double> x,
                                   std::span<const double> lambda) {
  std::vector<long double> left_f(f.begin(), f.end()), left_g(g.begin(), g.end());
  std::vector<double> size_f(pattern_.n), mass(pattern_.n, 0.0), size_g(pattern_.m);
  for (int i = 0; i < pattern_.n; ++i) size_f[i] = std::abs(f[i]);
  for (int r = 0; r < pattern_.m; ++r) size_g[r] = std::abs(g[r]);
  for (std::size_t s = 0; s < A_.size(); ++s) {
    const long double force = static_cast<long double>(A_[s]) * lambda[pattern_.A[s].row];
    left_f[pattern_.A[s].col] += force;
    size_f[pattern_.A[s].col] += static_cast<double>(std::abs(force));
  }
  for (std::size_t k = 0; k < M_.size(); ++k) {
    const auto [i, j] = pattern_.M[k];
    left_f[i] -= static_cast<long double>(M_[k]) * x[j];
    size_f[i] += std::abs(M_[k] * x[j]);
    if (i == j) {
      mass[i] = M_[k];
      continue;
    }
    left_f[j] -= static_cast<long double>(M_[k]) * x[i];
    size_f[j] += std::abs(M_[k] * x[i]);
  }
  for (std::size_t s = 0; s < A_.size(); ++s) {
    const auto [r, i] = pattern_.A[s];
    left_g[r] -= static_cast<long double>(A_[s]) * x[i];
    size_g[r] += std::abs(A_[s]) * (std::abs(x[i]) + (mass[i] > 0 ? size_f[i] / mass[i] : 0.0));
  }
  double worst = 0;
  for (int i = 0; i < pattern_.n; ++i) {
    f_left_[i] = static_cast<double>(left_f[i]);
    if (size_f[i] > 0) worst = std::max(worst, std::abs(f_left_[i]) / size_f[i]);
  }
  for (int r = 0; r < pattern_.m; ++r) {
    g_left_[r] = static_cast<double>(left_g[r]);
    if (size_g[r] > 0 && !is_apart_[r]) worst = std::max(worst, std::abs(g_left_[r]) / size_g[r]);
  }
  return worst;
}

/// Steps of refinement until they gain nothing; the last residual.
double SparseRobust::refine(std::span<const double> f, std::span<const double> g, std::span<double> x,
                            std::span<double> lambda) {
  constexpr int most_steps = 6;
  double residual = calc_residual(f, g, x, lambda), last_change = INFINITY;
  for (int step = 0; step < most_steps; ++step) {
    elimination_.solve(f_left_, g_left_, dx_, dlambda_);
    double change = 0, size = 0;
    for (int i = 0; i < pattern_.n; ++i)
      change = std::max(change, std::abs(dx_[i])), size = std::max(size, std::abs(x[i]));
    if (!(change < 0.5 * last_change)) break;
    last_change = change;
    for (int i = 0; i < pattern_.n; ++i) x[i] += dx_[i];
    for (int r = 0; r < pattern_.m; ++r) lambda[r] += dlambda_[r];
    residual = calc_residual(f, g, x, lambda);
    if (change <= 1e-15 * size) break;
  }
  return residual;
}

SparseRobust::Left SparseRobust::calc_left(int row) {
  const SparsePlan& plan = elimination_.plan();
  Left left;
  left.row = row;
  left.x.assign(pattern_.n, 0.0);
  left.lambda.assign(pattern_.m, 0.0);
  std::vector<double> a(pattern_.n, 0.0), zero(pattern_.m, 0.0);
  for (const int* s = plan.row_slots.first(row); s != plan.row_slots.last(row); ++s) a[plan.A_col[*s]] = A_[*s];
  elimination_.solve(a, zero, left.x, left.lambda);
  refine(a, zero, left.x, left.lambda);

  std::vector<long double> r(a.begin(), a.end());
  for (std::size_t s = 0; s < A_.size(); ++s)
    r[pattern_.A[s].col] += static_cast<long double>(A_[s]) * left.lambda[pattern_.A[s].row];
  left.r.assign(r.begin(), r.end());
  // Sizes: of the row in the metric, of what is left in the same metric (r·x = r M⁻¹rᵀ).
  double square = 0, rest = 0, squares = 0;
  std::vector<double> mass(pattern_.n, 0.0);
  for (std::size_t k = 0; k < M_.size(); ++k)
    if (pattern_.M[k].row == pattern_.M[k].col) mass[pattern_.M[k].row] = M_[k];
  double heaviest = 0;
  for (const double value : mass) heaviest = std::max(heaviest, value);
  if (!(heaviest > 0)) heaviest = 1;
  for (int i = 0; i < pattern_.n; ++i) {
    const double weight = 1 / (mass[i] > 0 ? mass[i] : heaviest);
    square += a[i] * a[i] * weight;
    squares += left.r[i] * left.r[i] * weight;
    rest += left.r[i] * left.x[i];
  }
  left.size = std::sqrt(square);
  // r·x suffers where r itself is rounding: then its own norm tells.
  left.sine =
      left.size > 0
          ? std::max(std::sqrt(std::max(rest, 0.0)), std::min(std::sqrt(squares), 1e-12 * left.size)) / left.size
          : 0;
  return left;
}

SparseRobustSolution SparseRobust::solve(std::span<const double> M, std::span<const double> A,
                                         std::span<const double> f, std::span<const double> g) {
  SparseRobustSolution solution;
  const int n = pattern_.n, m = pattern_.m;
  M_ = M, A_ = A;
  solution.x.assign(n, 0.0);
  solution.lambda.assign(m, 0.0);
  const SparseResult first = elimination_.factor_and_solve(M, A, f, g, solution.x, solution.lambda);
  if (first.status == SparseStatus::not_finite || first.status == SparseStatus::mass_not_definite) {
    solution.status = first.status;
    return solution;
  }
  std::fill(is_apart_.begin(), is_apart_.end(), char{0});
  const std::vector<int> apart = elimination_.masked_rows();
  for (const int r : apart) is_apart_[r] = 1;
  refine(f, g, solution.x, solution.lambda);
  solution.rank = m - static_cast<int>(apart.size());
  if (static_cast<int>(apart.size()) > options_.most_apart) {
    solution.residual = calc_residual(f, g, solution.x, solution.lambda);
    solution.status = SparseStatus::doubtful;
    return solution;
  }

  std::vector<Left> left;
  for (const int r : apart) left.push_back(calc_left(r));
  // Greedy choice of the largest sine that is left: Gram–Schmidt on the remainders, twice is enough.
  std::vector<int> kept;
  std::vector<std::vector<double>> u, v;  // orthonormal remainders r̂ and M⁻¹r̂
  std::vector<char> done(left.size(), 0);
  std::vector<double> rest(left.size());
  std::vector<Left> work = left;
  const auto dot = [](const std::vector<double>& a, const std::vector<double>& b) {
    long double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<long double>(a[i]) * b[i];
    return static_cast<double>(sum);
  };
  for (std::size_t k = 0; k < left.size(); ++k) rest[k] = left[k].sine;
  while (true) {
    int best = -1;
    for (std::size_t k = 0; k < left.size(); ++k)
      if (!done[k] && (best < 0 || rest[k] > rest[best])) best = static_cast<int>(k);
    if (best < 0) break;
    const double near = rest[best] / options_.dependent;
    if (near > 1 / options_.gap && near < options_.gap) solution.near_decision = true;
    if (!(rest[best] > options_.dependent)) break;
    done[best] = 1;
    kept.push_back(best);
    solution.least_sine = std::min(solution.least_sine, rest[best]);
    const double scale = 1 / std::sqrt(dot(work[best].r, work[best].x));
    u.push_back(work[best].r), v.push_back(work[best].x);
    for (double& value : u.back()) value *= scale;
    for (double& value : v.back()) value *= scale;
    for (std::size_t k = 0; k < left.size(); ++k) {
      if (done[k]) continue;
      for (int twice = 0; twice < 2; ++twice) {
        const double c = dot(v.back(), work[k].r);
        for (int i = 0; i < n; ++i) work[k].r[i] -= c * u.back()[i], work[k].x[i] -= c * v.back()[i];
      }
      rest[k] = left[k].size > 0 ? std::sqrt(std::max(dot(work[k].r, work[k].x), 0.0)) / left[k].size : 0;
    }
  }
  solution.rank += static_cast<int>(kept.size());

  // The small system of the rows that were set apart and hold after all.
  const Eigen::Index num = static_cast<Eigen::Index>(kept.size());
  Eigen::MatrixXd G(num, num);
  for (Eigen::Index j = 0; j < num; ++j)
    for (Eigen::Index k = 0; k < num; ++k) G(j, k) = dot(left[kept[j]].r, left[kept[k]].x);
  const Eigen::VectorXd scale = G.diagonal().cwiseSqrt().cwiseInverse();
  const Eigen::LDLT<Eigen::MatrixXd> ldlt(scale.asDiagonal() * G * scale.asDiagonal());
  const SparsePlan& plan = elimination_.plan();
  const auto miss = [&](int row) {
    long double sum = g[row];
    for (const int* s = plan.row_slots.first(row); s != plan.row_slots.last(row); ++s)
      sum -= static_cast<long double>(A_[*s]) * solution.x[plan.A_col[*s]];
    return static_cast<double>(sum);
  };
  for (int step = 0; step < 4 && num > 0; ++step) {
    Eigen::VectorXd rhs(num);
    for (Eigen::Index j = 0; j < num; ++j) rhs[j] = miss(left[kept[j]].row) * scale[j];
    const Eigen::VectorXd mu = scale.asDiagonal() * ldlt.solve(rhs);
    for (Eigen::Index k = 0; k < num; ++k) {
      const Left& l = left[kept[k]];
      for (int i = 0; i < n; ++i) solution.x[i] += mu[k] * l.x[i];
      for (int r = 0; r < m; ++r) solution.lambda[r] += mu[k] * l.lambda[r];
      solution.lambda[l.row] += mu[k];
    }
    refine(f, g, solution.x, solution.lambda);
  }
  for (const int k : kept) is_apart_[left[k].row] = 0;
  solution.residual = calc_residual(f, g, solution.x, solution.lambda);
  if (!(solution.residual <= options_.accuracy) || solution.near_decision) solution.status = SparseStatus::doubtful;

  // Dependent rows, in terms of rows that were kept.
  const auto size_of_row = [&](int row) {
    double square = 0;
    for (const int* s = plan.row_slots.first(row); s != plan.row_slots.last(row); ++s) square += A_[*s] * A_[*s];
    return std::sqrt(square);
  };
  const auto size_of_terms = [&](int row) {
    double size = std::abs(g[row]);
    for (const int* s = plan.row_slots.first(row); s != plan.row_slots.last(row); ++s)
      size += std::abs(A_[*s] * solution.x[plan.A_col[*s]]);
    return size;
  };
  for (std::size_t k = 0; k < left.size(); ++k) {
    if (done[k]) continue;
    std::vector<double> c(m, 0.0);
    for (int r = 0; r < m; ++r) c[r] = -left[k].lambda[r];
    if (num > 0) {
      Eigen::VectorXd rhs(num);
      for (Eigen::Index j = 0; j < num; ++j) rhs[j] = dot(left[k].r, left[kept[j]].x) * scale[j];
      const Eigen::VectorXd d = scale.asDiagonal() * ldlt.solve(rhs);
      for (Eigen::Index j = 0; j < num; ++j) {
        for (int r = 0; r < m; ++r) c[r] += d[j] * left[kept[j]].lambda[r];
        c[left[kept[j]].row] += d[j];
      }
    }
    SparseDependence dependence;
    dependence.row = left[k].row;
    dependence.sine = rest[k];
    const double own = size_of_row(dependence.row);
    long double mismatch = g[dependence.row];
    double terms = size_of_terms(dependence.row);
    for (int r = 0; r < m; ++r) {
      if (!(std::abs(c[r]) * size_of_row(r) > options_.negligible * own)) continue;
      dependence.rows.push_back(r);
      dependence.coefficients.push_back(c[r]);
      mismatch -= static_cast<long double>(c[r]) * g[r];
      terms += std::abs(c[r]) * size_of_terms(r);
    }
    dependence.mismatch = static_cast<double>(mismatch);
    dependence.relative_mismatch = terms > 0 ? std::abs(dependence.mismatch) / terms : 0;
    dependence.contradicts = dependence.relative_mismatch > options_.contradiction;
    if (dependence.contradicts) solution.status = SparseStatus::contradiction;
    solution.dependences.push_back(std::move(dependence));
  }
  std::stable_sort(solution.dependences.begin(), solution.dependences.end(),
                   [](const SparseDependence& a, const SparseDependence& b) { return a.contradicts > b.contradicts; });
  return solution;
}

}  // namespace mechanician
