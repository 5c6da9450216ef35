#include "mechanician/large/large_dynamics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanician/motion/kernels.hpp"
#include "mechanician/solve/clear_mass.hpp"
#include "mechanician/solve/sparse_diagnosis.hpp"
#include "mechanician/solve/sparse_free_directions.hpp"

namespace mechanician {

namespace {

constexpr double small_residual = 1e-9;  ///< of an answer of the robust path, against its terms
constexpr double met = 1e-8;             ///< how far a row that is left out may be off after a projection
constexpr std::size_t most_named = 8;

}  // namespace

SparsePattern pattern_of(const LargeSystem& system) {
  SparsePattern pattern;
  pattern.n = system.n(), pattern.m = system.m();
  for (const auto& [row, col] : system.M_pattern()) pattern.M.push_back({row, col});
  for (const auto& [row, col] : system.A_pattern()) pattern.A.push_back({row, col});
  return pattern;
}

/// The system without rows that depend on others.
struct LargeDynamics::Held {
  Held(const SparsePattern& all, const std::vector<int>& left_out, const SparseOptions& options) {
    std::vector<int> number(static_cast<std::size_t>(all.m), 0);
    for (const int row : left_out) number[static_cast<std::size_t>(row)] = -1;
    for (int row = 0; row < all.m; ++row)
      if (int& k = number[static_cast<std::size_t>(row)]; k == 0)
        k = static_cast<int>(rows.size()), rows.push_back(row);
    SparsePattern pattern;
    pattern.n = all.n, pattern.m = static_cast<int>(rows.size()), pattern.M = all.M;
    for (std::size_t s = 0; s < all.A.size(); ++s) {
      const int row = number[static_cast<std::size_t>(all.A[s].row)];
      if (row >= 0)
        pattern.A.push_back({row, all.A[s].col}), slots.push_back(s);
      else
        left_out_slots.push_back(s);
    }
    solver = std::make_unique<SparseElimination>(pattern, options);
    A.resize(slots.size()), g.resize(rows.size()), lambda.resize(rows.size());
    left.resize(static_cast<std::size_t>(all.m)), size.resize(left.size());
  }
  std::unique_ptr<SparseElimination> solver;
  std::vector<int> rows;
  std::vector<std::size_t> slots, left_out_slots;
  std::vector<double> A, g, lambda;
  std::vector<double> left, size;  ///< by row of all, of those left out
  bool mass_given = false;
};

LargeDynamics::LargeDynamics(LargeSystem& system)
    : system_(&system), pattern_(pattern_of(system)), values_(system.make_values()) {
  const auto n = static_cast<std::size_t>(system.n()), m = static_cast<std::size_t>(system.m());
  for (auto* x : {&lambda_, &residual_, &rate_, &right_}) x->assign(m, 0.0);
  for (auto* x : {&zero_, &step_, &spare_}) x->assign(n, 0.0);
  on_positions_.resize(m);
  for (std::size_t j = 0; j < m; ++j) on_positions_[j] = system.is_position_row(static_cast<int>(j));
  make_solver();
}

void LargeDynamics::make_solver() {
  solver_ = std::make_unique<SparseElimination>(pattern_, SparseOptions{.augment_all = singular_mass_});
  solver_->set_check_residual(check_residuals_);
  if (system_->force_is_constant()) solver_->hold_force(values_.Q);
  mass_given_ = false;
}

std::unique_ptr<LargeDynamics::Held> LargeDynamics::make_held() const {
  auto held = std::make_unique<Held>(pattern_, dependent_, SparseOptions{.augment_all = singular_mass_});
  held->solver->set_check_residual(check_residuals_);
  if (system_->force_is_constant()) held->solver->hold_force(values_.Q);
  return held;
}

LargeDynamics::~LargeDynamics() = default;

void LargeDynamics::set_check_residuals(bool check) {
  check_residuals_ = check;
  solver_->set_check_residual(check);
  if (held_) held_->solver->set_check_residual(check);
}

/// Empty where the solver has it already.
std::span<const double> LargeDynamics::mass(bool& given) {
  if (given && system_->mass_is_constant()) return {};
  given = true;
  return values_.M;
}

bool LargeDynamics::judge(const SparseResult& result) {
  result_ = result;
  if (result.vouched()) {
    if (std::isfinite(result.row_growth)) largest_growth = std::max(largest_growth, result.row_growth);
    return true;
  }
  why_ = describe(result);
  if (result.worst_row >= 0) why_ += fmt::format(" (constraint `{}`)", system_->row_name(result.worst_row));
  return false;
}

/// M x = f + Aᵀλ, A x = g with the matrices at hand.
bool LargeDynamics::solve(std::span<const double> f, std::span<const double> g, std::span<double> x, For what) {
  if (!mass_judged_ && all_finite(values_)) {
    mass_judged_ = true;
    singular_mass_ = !is_clearly_definite(pattern_, values_.M);
    if (singular_mass_) make_solver();
  }
  if (held_) return solve_held(f, g, x, what);
  bool vouched = judge(solver_->factor_and_solve(mass(mass_given_), values_.A, f, g, x, lambda_));
  if (result_.status == SparseStatus::mass_not_definite && !singular_mass_) {
    singular_mass_ = true;
    make_solver();
    vouched = judge(solver_->factor_and_solve(mass(mass_given_), values_.A, f, g, x, lambda_));
  }
  const bool usual = held_rank_ < 0 || result_.num_masked == pattern_.m - held_rank_;
  if (vouched && usual) {
    dependent_ = solver_->masked_rows();
    return true;
  }
  return result_.status != SparseStatus::not_finite && ask_robust(f, g, x, what);
}

bool LargeDynamics::solve_held(std::span<const double> f, std::span<const double> g, std::span<double> x, For what) {
  Held& held = *held_;
  for (std::size_t k = 0; k < held.slots.size(); ++k) held.A[k] = values_.A[held.slots[k]];
  for (std::size_t k = 0; k < held.rows.size(); ++k) held.g[k] = g[static_cast<std::size_t>(held.rows[k])];
  SparseResult result = held.solver->factor_and_solve(mass(held.mass_given), held.A, f, held.g, x, held.lambda);
  if (result.status == SparseStatus::mass_not_definite && !singular_mass_) {
    singular_mass_ = true;
    make_solver();
    held_ = make_held();
    return solve_held(f, g, x, what);
  }
  if (result.worst_row >= 0) result.worst_row = held.rows[static_cast<std::size_t>(result.worst_row)];
  if (!judge(result) || result.num_masked > 0)
    return result_.status != SparseStatus::not_finite && ask_robust(f, g, x, what);
  for (std::size_t k = 0; k < held.rows.size(); ++k) lambda_[static_cast<std::size_t>(held.rows[k])] = held.lambda[k];
  return what == For::projection || !check_residuals_ || meets_left_out(f, g, x);
}

/// A x = g of the rows that are left out, against the terms: x itself, and what each force alone would do.
bool LargeDynamics::meets_left_out(std::span<const double> f, std::span<const double> g, std::span<const double> x) {
  Held& held = *held_;
  for (std::size_t i = 0; i < spare_.size(); ++i) spare_[i] = std::abs(f[i]);
  for (const std::size_t s : held.slots)
    spare_[static_cast<std::size_t>(pattern_.A[s].col)] +=
        std::abs(values_.A[s] * lambda_[static_cast<std::size_t>(pattern_.A[s].row)]);
  for (std::size_t k = 0; k < values_.M.size(); ++k)
    if (const auto [row, col] = pattern_.M[k]; row == col && values_.M[k] > 0.0)
      spare_[static_cast<std::size_t>(row)] /= values_.M[k];
  // A row whose own terms are all rounding has to bear that of the others, which grows with the condition of the rows.
  double largest = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) largest = std::max({largest, std::abs(x[i]), spare_[i]});
  const double rounding = std::min(1.0, 1e-2 + 1e-6 * result_.row_growth) * largest;
  for (const int row : dependent_) {
    const auto j = static_cast<std::size_t>(row);
    held.left[j] = g[j], held.size[j] = std::abs(g[j]);
  }
  for (const std::size_t s : held.left_out_slots) {
    const auto j = static_cast<std::size_t>(pattern_.A[s].row), i = static_cast<std::size_t>(pattern_.A[s].col);
    held.left[j] -= values_.A[s] * x[i];
    held.size[j] += std::abs(values_.A[s]) * (std::abs(x[i]) + spare_[i] + rounding);
  }
  for (const int row : dependent_) {
    const auto j = static_cast<std::size_t>(row);
    if (std::abs(held.left[j]) <= small_residual * held.size[j]) continue;
    result_.status = SparseStatus::contradiction;
    why_ = fmt::format("constraint `{}` contradicts others: {:.1e} of its terms are missing", system_->row_name(row),
                       std::abs(held.left[j]) / held.size[j]);
    return false;
  }
  return true;
}

bool LargeDynamics::ask_robust(std::span<const double> f, std::span<const double> g, std::span<double> x, For what) {
  if (!robust_ || singular_mass_ != robust_->options().augment_all)
    robust_ = std::make_unique<SparseRobust>(pattern_, SparseRobustOptions{.augment_all = singular_mass_});
  const SparseRobustSolution solution = robust_->solve(values_.M, values_.A, f, g, SparseExplain::nothing);
  ++robust_answers;
  if (solution.status == SparseStatus::not_finite || solution.status == SparseStatus::mass_not_definite) {
    result_.status = solution.status, why_ = describe(solution.status);
    if (solution.status == SparseStatus::mass_not_definite) say_mass();
    return false;
  }
  if (held_rank_ >= 0 && solution.rank != held_rank_) {
    result_.status = SparseStatus::doubtful;
    why_ = fmt::format("the rank of the constraints is {} here, and was {} at the start", solution.rank, held_rank_);
    return false;
  }
  // A step of a projection is to meet its rows. Its forces do not count, and are none where rows that depend on others ask for
  // something else, as rows on velocities do while positions are moved.
  const SolutionResidual off =
      calc_solution_residual(pattern_, {values_.M, values_.A, f, g, solution.x, solution.lambda, solution.dependent});
  const double residual = what == For::projection ? off.row : off.largest();
  if (!(residual <= small_residual) || (solution.near_decision && what == For::acceleration)) {
    result_.status = SparseStatus::doubtful;
    why_ = solution.near_decision ? "rows are too near to depending on each other to tell"
                                  : fmt::format("the residual of the solution is {:.1e}", residual);
    return false;
  }
  // A step of a projection need not meet rows that depend on others on the constraints only: its end tells.
  if (solution.status == SparseStatus::contradiction && what == For::acceleration) {
    result_.status = SparseStatus::contradiction;
    say_contradiction(solution, g);
    return false;
  }
  std::copy(solution.x.begin(), solution.x.end(), x.begin());
  lambda_ = solution.lambda;
  if (!held_) dependent_ = solution.dependent;
  result_.row_growth = solution.row_growth, result_.num_masked = static_cast<int>(solution.dependent.size()),
  result_.num_grey = 0;
  result_.status = SparseStatus::vouched;
  largest_growth = std::max(largest_growth, solution.row_growth);
  return true;
}

/// Which coordinates have no mass, or a negative one.
void LargeDynamics::say_mass() {
  const SparseFreeDirections free = find_free_directions(pattern_, values_.M, values_.A, values_.Q);
  const std::vector<int>& coordinates = free.mass_is_indefinite ? free.negative : free.undetermined;
  if (coordinates.empty()) return;
  why_ = free.mass_is_indefinite ? "the mass matrix has a negative eigenvalue, in the directions of "
                                 : "neither mass nor constraint determines ";
  for (std::size_t k = 0; k < coordinates.size() && k < most_named; ++k)
    why_ += fmt::format("{}`{}`", k == 0 ? "" : ", ", system_->model().name_of(coordinates[k]));
  if (coordinates.size() > most_named) why_ += fmt::format(" and {} others", coordinates.size() - most_named);
}

/// In the place of a message that names no number. False, for those who give up.
bool LargeDynamics::say_not_finite(double t, const double* q, const double* qd) {
  if (!explain_ || result_.status != SparseStatus::not_finite) return false;
  const auto n = static_cast<std::size_t>(system_->n());
  if (std::string why = system_->explain_not_finite(t, {q, n}, {qd, n}); !why.empty()) why_ = std::move(why);
  return false;
}

void LargeDynamics::say_contradiction(const SparseRobustSolution& solution, std::span<const double> g) {
  why_ = fmt::format("constraint `{}` contradicts others",
                     system_->row_name(solution.unmet.empty() ? 0 : solution.unmet.front()));
  const SparseRobustSolution explained = robust_->solve(values_.M, values_.A, values_.Q, g);
  const SparseDiagnosis diagnosis = diagnose_sparse(pattern_, values_.M, values_.A, g, explained);
  if (diagnosis.conflicts.empty()) return;
  const std::vector<int>& rows = diagnosis.conflicts.front();
  why_ = "these constraints contradict each other: ";
  for (std::size_t k = 0; k < rows.size() && k < most_named; ++k)
    why_ += fmt::format("{}`{}`", k == 0 ? "" : ", ", system_->row_name(rows[k]));
  if (rows.size() > most_named) why_ += fmt::format(" and {} others", rows.size() - most_named);
}

bool LargeDynamics::has_values(double t, const double* q, const double* qd) {
  const auto n = static_cast<std::size_t>(system_->n());
  system_->evaluate(t, {q, n}, {qd, n}, values_);
  if (all_finite(values_)) return true;
  result_.status = SparseStatus::not_finite, why_ = describe(result_.status);
  return say_not_finite(t, q, qd);
}

bool LargeDynamics::hold_rows(double t, const double* q, const double* qd) {
  held_.reset(), held_rank_ = -1;
  if (!has_values(t, q, qd)) return false;
  if (!solve(values_.Q, values_.b, step_, For::acceleration)) return say_not_finite(t, q, qd);
  held_rank_ = pattern_.m - static_cast<int>(dependent_.size());
  if (dependent_.empty()) return true;
  held_ = make_held();
  for (const int row : dependent_) lambda_[static_cast<std::size_t>(row)] = 0.0;
  return true;
}

bool LargeDynamics::accelerate(double t, const double* q, const double* qd, double* qdd) {
  const auto n = static_cast<std::size_t>(system_->n());
  ++evaluations;
  system_->evaluate(t, {q, n}, {qd, n}, values_);
  return solve(values_.Q, values_.b, {qdd, n}, For::acceleration) ||
         say_not_finite(t, q, qd);  // what is vouched for is finite
}

LargeDynamics::Powers LargeDynamics::calc_powers(double t, const double* q, const double* qd) {
  const auto n = static_cast<std::size_t>(system_->n());
  Powers powers;
  powers.given = kernels::dot(static_cast<int>(n), values_.Q.data(), qd) + system_->calc_mass_power(t, {q, n}, {qd, n});
  // λᵀA q̇: rows that do not move do no work, up to their violation.
  for (std::size_t k = 0; k < values_.A.size(); ++k)
    powers.constraints +=
        lambda_[static_cast<std::size_t>(system_->A_pattern()[k].row)] * values_.A[k] * qd[system_->A_pattern()[k].col];
  return powers;
}

bool LargeDynamics::project(double t, double* q, double* qd) {
  const auto n = static_cast<std::size_t>(system_->n()), m = right_.size();
  if (m == 0) return true;
  // Newton steps converge quadratically: the last is the one whose square is rounding.
  for (const bool velocities : {false, true}) {
    double last = std::numeric_limits<double>::infinity();
    for (int k = 0; k < 8; ++k) {
      ++projections;
      system_->evaluate(t, {q, n}, {qd, n}, values_);
      system_->evaluate_rows(t, {q, n}, {qd, n}, residual_, rate_);
      for (std::size_t j = 0; j < m; ++j) right_[j] = velocities ? -rate_[j] : on_positions_[j] ? -residual_[j] : 0.0;
      if (!solve(zero_, right_, step_, For::projection)) return say_not_finite(t, q, qd);
      const double moved = kernels::add_and_measure(static_cast<std::ptrdiff_t>(n), step_.data(), velocities ? qd : q);
      if (!std::isfinite(moved)) {
        why_ = "the projection onto the constraints has no value";
        return false;
      }
      if (moved < 1e-8 || (velocities && system_->rows_are_linear())) break;
      if (k > 0 && moved > 0.5 * last) {
        // Coordinates so large that their rounding is all that is left.
        if (moved <= 1e-12 * kernels::largest(static_cast<std::ptrdiff_t>(n), velocities ? qd : q)) break;
        why_ = "the projection onto the constraints does not converge";
        return false;
      }
      last = moved;
    }
  }
  if (dependent_.empty()) return true;
  // Rows that depend on others hold where the others do, or they contradict them.
  system_->evaluate_rows(t, {q, n}, {qd, n}, residual_, rate_);
  const std::vector<double> slope = calc_row_sizes(*system_, values_.A);
  const double q_size = std::max(1.0, kernels::largest(static_cast<std::ptrdiff_t>(n), q)),
               qd_size = std::max(1.0, kernels::largest(static_cast<std::ptrdiff_t>(n), qd));
  for (const int row : dependent_) {
    const auto j = static_cast<std::size_t>(row);
    const double off = std::max(on_positions_[j] ? std::abs(residual_[j]) : 0.0, std::abs(rate_[j])),
                 size = slope[j] > 0.0 ? slope[j] : 1.0;
    if ((!on_positions_[j] || std::abs(residual_[j]) <= met * size * q_size) &&
        std::abs(rate_[j]) <= met * size * qd_size)
      continue;
    why_ = fmt::format("constraint `{}` contradicts others: it is off by {:.1e} where they hold",
                       system_->row_name(row), off);
    return false;
  }
  return true;
}

LargeDynamics::Violation LargeDynamics::calc_violation(double t, const double* q, const double* qd) {
  const auto n = static_cast<std::size_t>(system_->n());
  system_->evaluate_rows(t, {q, n}, {qd, n}, residual_, rate_);
  Violation found;
  double worst = 0.0;
  for (std::size_t j = 0; j < residual_.size(); ++j) {
    if (on_positions_[j]) found.position = std::max(found.position, std::abs(residual_[j]));
    found.velocity = std::max(found.velocity, std::abs(rate_[j]));
    if (const double size = std::max(std::abs(residual_[j]), std::abs(rate_[j])); size > worst)
      worst = size, found.worst = static_cast<int>(j);
  }
  return found;
}

RowDistance LargeDynamics::calc_distance(const double* q, const double* qd) const {
  const auto n = static_cast<std::size_t>(system_->n());
  return calc_row_distance(*system_, values_.A, residual_, rate_, {q, n}, {qd, n});
}

RowDistance LargeDynamics::calc_distance_at(double t, const double* q, const double* qd) {
  const auto n = static_cast<std::size_t>(system_->n());
  system_->evaluate(t, {q, n}, {qd, n}, values_);
  system_->evaluate_rows(t, {q, n}, {qd, n}, residual_, rate_);
  return calc_distance(q, qd);
}

std::vector<double> LargeDynamics::calc_constraint_force() const {
  std::vector<double> force(values_.Q.size(), 0.0);
  for (std::size_t k = 0; k < values_.A.size(); ++k) {
    const auto [row, col] = system_->A_pattern()[k];
    force[static_cast<std::size_t>(col)] += values_.A[k] * lambda_[static_cast<std::size_t>(row)];
  }
  return force;
}

double LargeDynamics::calc_kinetic(const double* qd) const {
  double twice = 0.0;
  for (std::size_t k = 0; k < values_.M.size(); ++k) {
    const auto [row, col] = system_->M_pattern()[k];
    twice += (row == col ? 1.0 : 2.0) * values_.M[k] * qd[row] * qd[col];
  }
  return 0.5 * twice;
}

double LargeDynamics::calc_energy_scale(const double* q, const double* qd) const {
  double scale = 0.0;
  for (std::size_t k = 0; k < values_.M.size(); ++k) {
    const auto [row, col] = system_->M_pattern()[k];
    scale += std::abs(values_.M[k] * qd[row]) * std::max(1.0, std::abs(qd[col]));
    if (row != col) scale += std::abs(values_.M[k] * qd[col]) * std::max(1.0, std::abs(qd[row]));
  }
  for (std::size_t i = 0; i < values_.Q.size(); ++i) scale += std::abs(values_.Q[i]) * std::max(1.0, std::abs(q[i]));
  return scale;
}

void LargeDynamics::calc_row_powers(const double* qd, std::span<double> power) const {
  std::fill(power.begin(), power.end(), 0.0);
  for (std::size_t k = 0; k < values_.A.size(); ++k) {
    const auto [row, col] = system_->A_pattern()[k];
    power[static_cast<std::size_t>(row)] += values_.A[k] * qd[col];
  }
  for (std::size_t j = 0; j < power.size(); ++j) power[j] *= lambda_[j];
}

}  // namespace mechanician
