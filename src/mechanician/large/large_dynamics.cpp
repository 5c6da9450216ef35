#include "mechanician/large/large_dynamics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanician/motion/kernels.hpp"

namespace mechanician {

namespace {

SparsePattern pattern_of(const LargeSystem& system) {
  SparsePattern pattern;
  pattern.n = system.n(), pattern.m = system.m();
  for (const auto& [row, col] : system.M_pattern()) pattern.M.push_back({row, col});
  for (const auto& [row, col] : system.A_pattern()) pattern.A.push_back({row, col});
  return pattern;
}

}  // namespace

LargeDynamics::LargeDynamics(LargeSystem& system) : system_(&system), solver_(pattern_of(system)), values_(system.make_values()) {
  const auto n = static_cast<std::size_t>(system.n()), m = static_cast<std::size_t>(system.m());
  for (auto* x : {&lambda_, &residual_, &rate_, &right_}) x->assign(m, 0.0);
  for (auto* x : {&zero_, &step_, &spare_}) x->assign(n, 0.0);
  on_positions_.resize(m);
  for (std::size_t j = 0; j < m; ++j) on_positions_[j] = system.is_position_row(static_cast<int>(j));
}

/// Empty where the solver has it already.
std::span<const double> LargeDynamics::mass() {
  if (mass_given_ && system_->mass_is_constant()) return {};
  mass_given_ = true;
  return values_.M;
}

bool LargeDynamics::judge(const SparseResult& result) {
  result_ = result;
  if (std::isfinite(result.row_growth)) largest_growth = std::max(largest_growth, result.row_growth);
  if (result.vouched()) return true;
  why_ = describe(result);
  if (result.worst_row >= 0) why_ += fmt::format(" (constraint `{}`)", system_->row_name(result.worst_row));
  return false;
}

bool LargeDynamics::accelerate(double t, const double* q, const double* qd, double* qdd) {
  const auto n = static_cast<std::size_t>(system_->n());
  ++evaluations;
  system_->evaluate(t, {q, n}, {qd, n}, values_);
  if (!judge(solver_.factor_and_solve(mass(), values_.A, values_.Q, values_.b, {qdd, n}, lambda_))) return false;
  return kernels::all_finite(static_cast<std::ptrdiff_t>(n), qdd);
}

LargeDynamics::Powers LargeDynamics::calc_powers(double t, const double* q, const double* qd) {
  const auto n = static_cast<std::size_t>(system_->n());
  Powers powers;
  powers.given = kernels::dot(static_cast<int>(n), values_.Q.data(), qd) + system_->calc_mass_power(t, {q, n}, {qd, n});
  // λᵀA q̇: rows that do not move do no work, up to their violation.
  for (std::size_t k = 0; k < values_.A.size(); ++k)
    powers.constraints += lambda_[static_cast<std::size_t>(system_->A_pattern()[k].row)] * values_.A[k] * qd[system_->A_pattern()[k].col];
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
      if (!judge(solver_.factor_and_solve(mass(), values_.A, zero_, right_, step_, lambda_))) return false;
      const double moved = kernels::add_and_measure(static_cast<std::ptrdiff_t>(n), step_.data(), velocities ? qd : q);
      if (!std::isfinite(moved)) {
        why_ = "the projection onto the constraints has no value";
        return false;
      }
      if (moved < 1e-8 || (velocities && system_->rows_are_linear())) break;
      if (k > 0 && moved > 0.5 * last) {
        why_ = "the projection onto the constraints does not converge";
        return false;
      }
      last = moved;
    }
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
    if (const double size = std::max(std::abs(residual_[j]), std::abs(rate_[j])); size > worst) worst = size, found.worst = static_cast<int>(j);
  }
  return found;
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

}  // namespace mechanician
