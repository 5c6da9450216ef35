#include "mechanician/solve/sparse_robust.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "mechanician/solve/eigen_decompositions.hpp"
#include "mechanician/solve/sparse_local_dependence.hpp"

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

/// A factor between 1 and 2 in absolute value that has nothing to do with the factors of other rows.
double factor_of(int row) {
  std::uint64_t bits = (static_cast<std::uint64_t>(row) + 1) * 0x9E3779B97F4A7C15u;
  bits ^= bits >> 29;
  bits *= 0xBF58476D1CE4E5B9u;
  bits ^= bits >> 32;
  const double value = 1 + static_cast<double>(bits >> 12) / static_cast<double>(std::uint64_t{1} << 52);
  return bits & 1 ? value : -value;
}

}  // namespace

/// What the rows that are eliminated leave of one that was set apart, or of a sum of several.
struct SparseRobust::Left {
  int row = 0;
  std::vector<double> x, lambda;  // x_j, λ_j
  std::vector<double> r;          // n
  double size = 0;                // of a_j in the metric of the masses, as far as their diagonal shows it
  double sine = 0;
  double noise = 0;  // what rounding may leave, against the size
};

SparseRobust::SparseRobust(const SparsePattern& pattern, const SparseRobustOptions& options)
    : pattern_(pattern), options_(options), elimination_(pattern, elimination_options(options)) {
  for (auto* v : {&f_left_, &dx_}) v->assign(pattern.n, 0.0);
  for (auto* v : {&g_left_, &dlambda_, &size_g_}) v->assign(pattern.m, 0.0);
  is_apart_.assign(pattern.m, 0);
}

/// Fills what is missing in both equations; returns the largest share of it. Rows set apart do not count.
double SparseRobust::calc_residual(std::span<const double> f, std::span<const double> g, std::span<const double> x,
                                   std::span<const double> lambda) {
  std::vector<long double> left_f(f.begin(), f.end()), left_g(g.begin(), g.end());
  std::vector<double> size_f(pattern_.n), mass(pattern_.n, 0.0);
  std::vector<double>& size_g = size_g_;
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

/// A row whose own terms are all rounding has to bear that of the others: some 10⁻¹³ of the largest acceleration.
void SparseRobust::add_rounding(std::span<const double> f, std::span<const double> x) {
  constexpr double share = 1e-4;  // of terms, of which `contradiction` is allowed to be missing
  double largest = 0;
  for (int i = 0; i < pattern_.n; ++i)
    largest = std::max({largest, std::abs(x[i]) / std::sqrt(weight_[i]), std::abs(f[i]) * std::sqrt(weight_[i])});
  for (int r = 0; r < pattern_.m; ++r) size_g_[r] += share * largest * size_[r];
}

/// Steps of refinement until they gain nothing; the last residual.
double SparseRobust::refine(std::span<const double> f, std::span<const double> g, std::span<double> x,
                            std::span<double> lambda) {
  constexpr int most_steps = 6;
  double residual = calc_residual(f, g, x, lambda), last_change = INFINITY;
  for (int step = 0; step < most_steps; ++step) {
    elimination_.solve(f_left_, g_left_, dx_, dlambda_);
    ++num_solutions_;
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

/// Sizes of rows in the metric of the diagonal of M.
void SparseRobust::measure_rows() {
  weight_.assign(pattern_.n, 0.0);
  double heaviest = 0;
  for (std::size_t k = 0; k < M_.size(); ++k)
    if (pattern_.M[k].row == pattern_.M[k].col)
      weight_[pattern_.M[k].row] = M_[k], heaviest = std::max(heaviest, M_[k]);
  if (!(heaviest > 0)) heaviest = 1;
  for (double& value : weight_) value = 1 / (value > 0 ? value : heaviest);
  size_.assign(pattern_.m, 0.0);
  for (std::size_t s = 0; s < A_.size(); ++s) size_[pattern_.A[s].row] += A_[s] * A_[s] * weight_[pattern_.A[s].col];
  for (double& value : size_) value = std::sqrt(value);
}

/// Of one row as it is; of several, of the sum of unit rows times factor_of().
SparseRobust::Left SparseRobust::calc_left(std::span<const int> rows, Care care) {
  const SparsePlan& plan = elimination_.plan();
  Left left;
  left.row = rows.front();
  left.x.assign(pattern_.n, 0.0);
  left.lambda.assign(pattern_.m, 0.0);
  std::vector<double> a(pattern_.n, 0.0), zero(pattern_.m, 0.0);
  const bool alone = rows.size() == 1;
  for (const int row : rows) {
    if (!(size_[row] > 0)) continue;
    const double factor = alone ? 1.0 : factor_of(row) / size_[row];
    for (const int* s = plan.row_slots.first(row); s != plan.row_slots.last(row); ++s)
      a[plan.A_col[*s]] += factor * A_[*s];
  }
  elimination_.solve(a, zero, left.x, left.lambda);
  ++num_solutions_;
  if (care == Care::tell) {
    // Without refinement λ is right to some 10⁻⁸, as rows are at 10⁻⁴ at least: what is well above that is there.
    measure_left(a, rows, left);
    if (left.sine > 1e10 * left.noise) return left;
  }
  refine(a, zero, left.x, left.lambda);
  measure_left(a, rows, left);
  return left;
}

/// r = aᵀ + A_Eᵀλ, and how large it is.
void SparseRobust::measure_left(const std::vector<double>& a, std::span<const int> rows, Left& left) const {
  const bool alone = rows.size() == 1;
  std::vector<long double> r(a.begin(), a.end());
  std::vector<double> terms(pattern_.n);
  for (int i = 0; i < pattern_.n; ++i) terms[i] = std::abs(a[i]);
  for (std::size_t s = 0; s < A_.size(); ++s) {
    const long double term = static_cast<long double>(A_[s]) * left.lambda[pattern_.A[s].row];
    r[pattern_.A[s].col] += term;
    terms[pattern_.A[s].col] += static_cast<double>(std::abs(term));
  }
  left.r.assign(r.begin(), r.end());
  // r·x = r M⁻¹rᵀ suffers where r itself is rounding: then its own norm tells.
  double rest = 0, squares = 0, noise = 0;
  for (int i = 0; i < pattern_.n; ++i) {
    squares += left.r[i] * left.r[i] * weight_[i];
    noise += terms[i] * terms[i] * weight_[i];
    rest += left.r[i] * left.x[i];
  }
  left.size = alone ? size_[rows.front()] : 1.0;
  if (!(left.size > 0)) return;
  left.sine = std::max(std::sqrt(std::max(rest, 0.0)), std::min(std::sqrt(squares), 1e-12 * left.size)) / left.size;
  left.noise = 2 * std::numeric_limits<double>::epsilon() * std::sqrt(noise) / left.size;
  if (!alone) left.sine = std::sqrt(squares);
}

/// Rows of which nothing is left, and others: a sum with random factors leaves nothing only if none of them does.
void SparseRobust::sift(std::span<const int> rows, std::vector<int>& nothing, std::vector<int>& something) {
  if (rows.empty()) return;
  if (static_cast<int>(something.size()) > options_.most_apart) {
    something.insert(something.end(), rows.begin(), rows.end());
    return;
  }
  const Left left = calc_left(rows, Care::tell);
  if (left.sine <= std::max(options_.dependent / options_.gap, std::min(left.noise, options_.dependent))) {
    nothing.insert(nothing.end(), rows.begin(), rows.end());
  } else if (rows.size() == 1) {
    something.push_back(rows.front());
  } else {
    sift(rows.first(rows.size() / 2), nothing, something);
    sift(rows.subspan(rows.size() / 2), nothing, something);
  }
}

/// By rows before them in their neighbourhoods. False where that does not explain all.
bool SparseRobust::explain_locally(const std::vector<int>& rows, std::vector<SparseDependence>& explained) const {
  if (rows.empty()) return true;
  std::vector<LocalDependence> found =
      find_local_dependences(pattern_, A_, weight_, {.negligible = options_.negligible});
  if (found.size() != rows.size()) return false;
  for (LocalDependence& d : found) {
    explained.emplace_back();
    explained.back().row = d.row;
    explained.back().rows = std::move(d.rows), explained.back().coefficients = std::move(d.coefficients);
  }
  return true;
}

/// Rows of which nothing is left, all at once. What explains one and what explains another come apart where they have no
/// coordinate in common; those that do not are dealt out to further groups.
void SparseRobust::explain_group(const std::vector<int>& group, std::vector<std::vector<int>>& next,
                                 std::vector<SparseDependence>& explained) {
  constexpr std::size_t num_slots = 8;
  const SparsePlan& plan = elimination_.plan();
  const Left left = calc_left(group);
  const bool alone = group.size() == 1;
  const double negligible = options_.negligible * (alone ? size_[group.front()] : 1.0);
  std::vector<int> taking_part;
  for (int r = 0; r < pattern_.m; ++r)
    if (!is_apart_[r] && std::abs(left.lambda[r]) * size_[r] > negligible) taking_part.push_back(r);

  // Coordinates that rows join.
  parent_.resize(pattern_.n);
  const auto root_of = [this](int i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  };
  const auto touched = [&](int row, auto&& visit) {
    for (const int* s = plan.row_slots.first(row); s != plan.row_slots.last(row); ++s)
      if (A_[*s] != 0) visit(plan.A_col[*s]);
  };
  for (const auto* rows : {&std::as_const(taking_part), &group})
    for (const int row : *rows) touched(row, [&](int i) { parent_[i] = i; });
  const auto first_of = [&](int row) {
    int first = -1;
    touched(row, [&](int i) { first = first < 0 ? i : first; });
    return first;
  };
  for (const auto* rows : {&std::as_const(taking_part), &group})
    for (const int row : *rows) {
      const int first = first_of(row);
      touched(row, [&](int i) { parent_[root_of(i)] = root_of(first); });
    }
  struct Part {
    int root, row;
    bool operator<(const Part& other) const { return root != other.root ? root < other.root : row < other.row; }
  };
  const auto parts_of = [&](const std::vector<int>& rows) {
    std::vector<Part> parts;
    for (const int row : rows) parts.push_back({first_of(row) < 0 ? -1 - row : root_of(first_of(row)), row});
    std::sort(parts.begin(), parts.end());
    return parts;
  };
  const std::vector<Part> members = parts_of(group), others = parts_of(taking_part);

  std::vector<std::vector<int>> slots(num_slots);
  auto other = others.begin();
  for (auto begin = members.begin(), end = begin; begin != members.end(); begin = end) {
    while (end != members.end() && end->root == begin->root) ++end;
    if (end - begin > 1) {
      for (auto member = begin; member != end; ++member)
        slots[static_cast<std::size_t>(member - begin) % num_slots].push_back(member->row);
      continue;
    }
    const int row = begin->row;
    SparseDependence dependence;
    dependence.row = row;
    const double factor = alone ? -1.0 : size_[row] > 0 ? -size_[row] / factor_of(row) : 0.0;
    while (other != others.end() && other->root < begin->root) ++other;
    for (; other != others.end() && other->root == begin->root; ++other) {
      dependence.rows.push_back(other->row);
      dependence.coefficients.push_back(factor * left.lambda[other->row]);
    }
    explained.push_back(std::move(dependence));
  }
  for (std::vector<int>& slot : slots)
    if (!slot.empty()) {
      std::sort(slot.begin(), slot.end());
      next.push_back(std::move(slot));
    }
}

/// Whether right-hand sides fit, in the sizes of the terms of the last calc_residual().
void SparseRobust::judge(SparseDependence& dependence, std::span<const double> g) const {
  long double mismatch = g[dependence.row];
  double terms = size_g_[dependence.row];
  for (std::size_t k = 0; k < dependence.rows.size(); ++k) {
    mismatch -= static_cast<long double>(dependence.coefficients[k]) * g[dependence.rows[k]];
    terms += std::abs(dependence.coefficients[k]) * size_g_[dependence.rows[k]];
  }
  dependence.mismatch = static_cast<double>(mismatch);
  dependence.relative_mismatch = terms > 0 ? std::abs(dependence.mismatch) / terms : 0;
  dependence.contradicts = dependence.relative_mismatch > options_.contradiction;
}

SparseRobustSolution SparseRobust::solve(std::span<const double> M, std::span<const double> A,
                                         std::span<const double> f, std::span<const double> g, SparseExplain explain) {
  SparseRobustSolution solution;
  const int n = pattern_.n, m = pattern_.m;
  M_ = M, A_ = A;
  num_solutions_ = 1;
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
  measure_rows();
  solution.row_growth = first.row_growth;
  // Vectors of all the rows about which something is left are kept: not more than half a gigabyte of them.
  const int most_apart = std::min(options_.most_apart, 16 + static_cast<int>(6e7 / (2.0 * n + m + 1)));
  std::vector<int> nothing, something;
  sift(apart, nothing, something);
  if (static_cast<int>(something.size()) > most_apart) {
    solution.dependent = apart;
    solution.explained = false;
    solution.near_decision = true;
    solution.residual = calc_residual(f, g, solution.x, solution.lambda);
    solution.row_size = size_g_;
    solution.status = SparseStatus::doubtful;
    solution.num_solutions = static_cast<int>(num_solutions_);
    return solution;
  }

  std::vector<Left> left;
  for (const int r : something) left.push_back(calc_left({&r, 1}));
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
  const Eigen::LDLT<Eigen::MatrixXd> ldlt(Eigen::MatrixXd(scale.asDiagonal() * G * scale.asDiagonal()));
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
  std::vector<char> was_apart = is_apart_;
  for (const int k : kept) is_apart_[left[k].row] = 0;
  solution.residual = calc_residual(f, g, solution.x, solution.lambda);
  add_rounding(f, solution.x);
  solution.row_size = size_g_;
  if (!(solution.residual <= options_.accuracy) || solution.near_decision) solution.status = SparseStatus::doubtful;
  for (int r = 0; r < m; ++r) {
    if (!is_apart_[r]) continue;
    solution.dependent.push_back(r);
    if (std::abs(g_left_[r]) > options_.contradiction * size_g_[r]) solution.unmet.push_back(r);
  }
  if (!solution.unmet.empty()) solution.status = SparseStatus::contradiction;
  if (!kept.empty())
    solution.row_growth = std::max(solution.row_growth, 1 / (solution.least_sine * solution.least_sine));
  solution.num_solutions = static_cast<int>(num_solutions_);
  if (explain == SparseExplain::nothing) {
    solution.explained = solution.dependent.empty();
    return solution;
  }

  // Dependent rows, in terms of rows that were kept.
  const bool locally = explain_locally(solution.dependent, solution.dependences);
  for (std::size_t k = 0; k < left.size(); ++k) {
    if (done[k] || locally) continue;
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
    for (int r = 0; r < m; ++r) {
      if (!(std::abs(c[r]) * size_[r] > options_.negligible * size_[dependence.row])) continue;
      dependence.rows.push_back(r);
      dependence.coefficients.push_back(c[r]);
    }
    solution.dependences.push_back(std::move(dependence));
  }
  // All others, in groups. Each solution reads the factor and the rows some four times.
  is_apart_ = std::move(was_apart);
  const double one =
      4.0 * static_cast<double>(elimination_.plan().num_values + n + m + 2 * static_cast<long>(A_.size()));
  std::vector<double> sizes = size_g_;  // explaining measures other terms
  std::vector<std::vector<int>> groups, next;
  if (!nothing.empty() && !locally) groups.push_back(nothing);
  const long before = num_solutions_;
  while (!groups.empty()) {
    next.clear();
    for (const std::vector<int>& group : groups) {
      if (static_cast<double>(num_solutions_ - before) * one > options_.most_work) {
        solution.explained = false;
        break;
      }
      explain_group(group, next, solution.dependences);
    }
    if (!solution.explained) break;
    std::swap(groups, next);
  }
  size_g_ = std::move(sizes);
  solution.num_solutions = static_cast<int>(num_solutions_);
  for (SparseDependence& dependence : solution.dependences) {
    judge(dependence, g);
    if (dependence.contradicts) solution.status = SparseStatus::contradiction;
  }
  std::sort(solution.dependences.begin(), solution.dependences.end(),
            [](const SparseDependence& a, const SparseDependence& b) { return a.row < b.row; });
  std::stable_sort(solution.dependences.begin(), solution.dependences.end(),
                   [](const SparseDependence& a, const SparseDependence& b) { return a.contradicts > b.contradicts; });
  return solution;
}

}  // namespace mechanician
