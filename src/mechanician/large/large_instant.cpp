#include "mechanician/large/large_instant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mechanician/large/large_dynamics.hpp"
#include "mechanician/solve/clear_mass.hpp"
#include "mechanician/solve/sparse_free_directions.hpp"

namespace mechanician {

namespace {

constexpr double small_residual = 1e-9;

/// M⁻¹Q; empty where M is not definite.
std::vector<double> calc_unconstrained(const SparsePattern& pattern, const LargeSystem::Values& values) {
  SparsePattern free;
  free.n = pattern.n, free.M = pattern.M;
  if (!is_clearly_definite(free, values.M)) return {};
  SparseElimination elimination(free);
  std::vector<double> a(static_cast<std::size_t>(pattern.n));
  if (!elimination.factor_and_solve(values.M, {}, values.Q, {}, a, {}).vouched()) a.clear();
  return a;
}

/// With the diagonal of M alone, or any mass where there is none: rows can be told apart whatever M is.
SparsePattern with_diagonal_mass(const SparsePattern& pattern, std::span<const double> M,
                                 std::vector<double>& diagonal) {
  SparsePattern result;
  result.n = pattern.n, result.m = pattern.m, result.A = pattern.A;
  diagonal.assign(static_cast<std::size_t>(pattern.n), 0.0);
  double heaviest = 0.0;
  for (std::size_t k = 0; k < M.size(); ++k)
    if (pattern.M[k].row == pattern.M[k].col)
      diagonal[static_cast<std::size_t>(pattern.M[k].row)] = M[k], heaviest = std::max(heaviest, M[k]);
  for (double& mass : diagonal)
    if (!(mass > 0.0)) mass = heaviest > 0.0 ? heaviest : 1.0;
  for (int i = 0; i < pattern.n; ++i) result.M.push_back({i, i});
  return result;
}

class Examination {
 public:
  Examination(LargeSystem& system, const SparseRankFinder& finder)
      : pattern_(pattern_of(system)), finder_(finder), values_(system.make_values()) {}

  LargeInstant run(LargeSystem& system, double t, std::span<const double> q, std::span<const double> qd) {
    system.evaluate(t, q, qd, values_);
    measure_violation(system, t, q, qd);
    const auto n = static_cast<std::size_t>(pattern_.n), m = static_cast<std::size_t>(pattern_.m);
    std::vector<double> x(n), lambda(m);
    // Infinite masses and the like may leave numbers that look like an answer.
    SparseElimination elimination(pattern_);
    SparseResult first = elimination.factor_and_solve(values_.M, values_.A, values_.Q, values_.b, x, lambda);
    if (first.status == SparseStatus::not_finite || !all_finite(values_)) {
      instant_.why = system.explain_not_finite(t, q, qd);
      if (instant_.why.empty()) instant_.why = describe(SparseStatus::not_finite);
      instant_.rows.decided = false;
      return std::move(instant_);
    }
    if (!is_clearly_definite(pattern_, values_.M)) first.status = SparseStatus::mass_not_definite;
    if (first.vouched() && first.num_masked == 0) {
      instant_.rows.rank = pattern_.m;
      if (first.row_growth > 1.0) instant_.smallest_sine = 1.0 / std::sqrt(first.row_growth);
    } else {
      robust(first.status == SparseStatus::mass_not_definite, x, lambda);
    }
    if (!instant_.mass_is_indefinite) instant_.a = calc_unconstrained(pattern_, values_);
    if (instant_.a.empty()) instant_.mass_is_definite = false;  // what is held by constraints needs no mass
    if (instant_.why.empty()) answer(std::move(x), std::move(lambda));
    return std::move(instant_);
  }

 private:
  void measure_violation(LargeSystem& system, double t, std::span<const double> q, std::span<const double> qd) {
    std::vector<double> residual(static_cast<std::size_t>(pattern_.m)), rate(residual.size());
    system.evaluate_rows(t, q, qd, residual, rate);
    for (std::size_t j = 0; j < residual.size(); ++j)
      if (const double off = std::max(std::abs(residual[j]), std::abs(rate[j]));
          off > instant_.violation || std::isnan(off))
        instant_.violation = off;
    const RowDistance far = calc_row_distance(system, values_.A, residual, rate, q, qd);
    instant_.distance = far.largest, instant_.worst_row = far.worst;
  }

  void robust(bool mass_in_doubt, std::vector<double>& x, std::vector<double>& lambda) {
    instant_.by_robust_path = true;
    if (mass_in_doubt) {
      const SparseFreeDirections free = find_free_directions(pattern_, values_.M, values_.A, values_.Q);
      instant_.mass_is_indefinite = free.mass_is_indefinite, instant_.mass_is_definite = free.mass_is_definite;
      instant_.negative = free.negative;
      instant_.undetermined = free.undetermined, instant_.unique = free.undetermined.empty(),
      instant_.solvable = free.solvable;
    }
    SparseRobustSolution solution;
    if (instant_.mass_is_indefinite || !instant_.unique) {
      std::vector<double> diagonal;
      const SparsePattern pattern = with_diagonal_mass(pattern_, values_.M, diagonal);
      SparseRobust rows(pattern);
      solution = rows.solve(diagonal, values_.A, values_.Q, values_.b);
      consult_finder(pattern, diagonal, solution);
      instant_.rows = diagnose_sparse(pattern, diagonal, values_.A, values_.b, solution);
      instant_.why = instant_.mass_is_indefinite ? "the mass matrix has a negative eigenvalue"
                     : instant_.solvable         ? "the acceleration is not unique"
                                                 : "a force acts where there is neither mass nor constraint";
    } else {
      SparseRobust system(pattern_, {.augment_all = mass_in_doubt});
      solution = system.solve(values_.M, values_.A, values_.Q, values_.b);
      consult_finder(pattern_, values_.M, solution);
      instant_.rows = diagnose_sparse(pattern_, values_.M, values_.A, values_.b, solution);
      if (!instant_.rows.decided)
        instant_.why = "rows are too near to depending on each other to tell";
      else if (const double residual =
                   calc_solution_residual(pattern_, {values_.M, values_.A, values_.Q, values_.b, solution.x,
                                                     solution.lambda, solution.dependent})
                       .largest();
               !(residual <= small_residual))
        instant_.why = fmt::format("the residual of the solution is {:.1e}", residual);
    }
    if (!instant_.rows.consistent) instant_.why = "the constraints contradict each other";
    if (solution.row_growth > 1.0) instant_.smallest_sine = 1.0 / std::sqrt(solution.row_growth);
    x = std::move(solution.x), lambda = std::move(solution.lambda);
  }

  /// Where the rank is too near to tell, or rows are left unexplained.
  void consult_finder(const SparsePattern& pattern, std::span<const double> M, SparseRobustSolution& solution) {
    if (!finder_ || (!solution.near_decision && solution.explained)) return;
    std::vector<SparseDependence> dependences = finder_(pattern, M, values_.A);
    if (pattern.m - static_cast<int>(dependences.size()) != solution.rank) return;
    instant_.rank_by_finder = true;
    solution.near_decision = false;
    if (solution.explained) return;
    solution.explained = true;
    solution.dependences = std::move(dependences);
    solution.dependent.clear();
    for (const SparseDependence& d : solution.dependences) solution.dependent.push_back(d.row);
    std::sort(solution.dependent.begin(), solution.dependent.end());
  }

  void answer(std::vector<double> x, std::vector<double> lambda) {
    instant_.has_acceleration = true;
    if (!instant_.rows.basis.empty()) lambda = calc_least_norm_multipliers(lambda, instant_.rows.basis);
    const auto n = x.size();
    instant_.constraint_force.assign(n, 0.0);
    for (std::size_t s = 0; s < values_.A.size(); ++s)
      instant_.constraint_force[static_cast<std::size_t>(pattern_.A[s].col)] +=
          values_.A[s] * lambda[static_cast<std::size_t>(pattern_.A[s].row)];
    const SolutionResidual residual =
        calc_solution_residual(pattern_, {values_.M, values_.A, values_.Q, values_.b, x, lambda});
    instant_.force_residual = residual.force, instant_.row_residual = residual.row;
    // G = (q̈ − a)ᵀM(q̈ − a) = Qᶜ·(q̈ − a)
    if (!instant_.a.empty()) {
      long double sum = 0.0L;
      for (std::size_t i = 0; i < n; ++i)
        sum += static_cast<long double>(instant_.constraint_force[i]) * (x[i] - instant_.a[i]);
      instant_.gaussian = std::max(0.0, static_cast<double>(sum));
    }
    instant_.qdd = std::move(x), instant_.multipliers = std::move(lambda);
  }

  SparsePattern pattern_;
  const SparseRankFinder& finder_;
  LargeSystem::Values values_;
  LargeInstant instant_;
};

}  // namespace

LargeInstant examine(LargeSystem& system, double t, std::span<const double> q, std::span<const double> qd,
                     const SparseRankFinder& finder) {
  return Examination(system, finder).run(system, t, q, qd);
}

}  // namespace mechanician
