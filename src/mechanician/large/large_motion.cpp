#include "mechanician/large/large_motion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "mechanician/base/text.hpp"
#include "mechanician/motion/kernels.hpp"

namespace mechanician {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr double start_tolerance = 1e-8;  ///< of residuals at the start
constexpr double too_near = 1e6;          ///< 1/sin² of the angle between a row and the others at the end of a step

SparsePattern pattern_of(const LargeSystem& system) {
  SparsePattern pattern;
  pattern.n = system.n(), pattern.m = system.m();
  for (const auto& [row, col] : system.M_pattern()) pattern.M.push_back({row, col});
  for (const auto& [row, col] : system.A_pattern()) pattern.A.push_back({row, col});
  return pattern;
}

/// From 1/sin².
double angle_of(double growth) { return growth > 1.0 ? std::asin(1.0 / std::sqrt(growth)) : 1.0; }

}  // namespace

LargeDynamics::LargeDynamics(LargeSystem& system) : system_(&system), solver_(pattern_of(system), {.check_residual = std::getenv("NOCHECK") == nullptr}), values_(system.make_values()) {
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

LargeMotion::LargeMotion(LargeSystem& system, const LargeSystem::Start& start, const LargeRunOptions& options)
    : dynamics_(system), options_(options), n_(static_cast<std::size_t>(system.n())), rk_(2 * system.n() + 2), t_(start.t), step_t_(start.t) {
  for (auto* x : {&e5_, &e3_, &y_}) x->assign(2 * n_ + 2, 0.0);
  std::copy(start.q.begin(), start.q.end(), rk_.y_new.begin());
  std::copy(start.qd.begin(), start.qd.end(), rk_.y_new.begin() + static_cast<std::ptrdiff_t>(n_));
  double* const y = rk_.y_new.data();
  const LargeDynamics::Violation off = dynamics_.calc_violation(t_, y, y + n_);
  if (std::max(off.position, off.velocity) > start_tolerance)
    throw ModelError({{{},
                       fmt::format("the start is off the constraints by {} in positions and {} in velocities, most of all off `{}`", short_number(off.position),
                                   short_number(off.velocity), system.row_name(off.worst)),
                       {}}},
                     system.model().source);
  if (!dynamics_.project(t_, y, y + n_) || !rate_of(t_, y, rk_.k[12].data())) {
    fail(dynamics_.why());
    return;
  }
  certificate_.kinetic_start = certificate_.kinetic_end = dynamics_.calc_kinetic(y + n_);
  certificate_.dependent_rows = static_cast<int>(dynamics_.dependent_rows().size());
  certificate_.angle_at_start = certificate_.smallest_angle = angle_of(dynamics_.largest_growth);
  // Hairer's first guess: a step in which the state changes by a hundredth of its size, or the rate by as much as it is large.
  double size = 1e-3, change = 1e-6;
  for (std::size_t i = 0; i < 2 * n_; ++i) size = std::max(size, std::abs(y[i])), change = std::max(change, std::abs(rk_.k[12][i]));
  h_ = std::min(0.01 * size / change * std::pow(options_.tolerance / 1e-10, 1.0 / 8.0), options_.to - t_);
}

bool LargeMotion::fail(std::string why) {
  message_ = fmt::format("at t = {}: {}", short_number(t_), why);
  return false;
}

bool LargeMotion::rate_of(double t, double* y, double* dy) {
  std::copy(y + n_, y + 2 * n_, dy);
  if (!dynamics_.accelerate(t, y, y + n_, dy + n_)) return false;
  const LargeDynamics::Powers powers = dynamics_.calc_powers(t, y, y + n_);
  dy[2 * n_] = powers.given, dy[2 * n_ + 1] = powers.constraints;
  return true;
}

bool LargeMotion::advance() {
  if (failed() || t_ >= options_.to) return false;
  rk_.y = rk_.y_new, rk_.k[0] = rk_.k[12];
  const auto f = [this](double t, double* y, double* dy) { return rate_of(t, y, dy); };
  bool rejected = false;
  for (int tries = 0; tries < 200; ++tries) {
    const double remaining = options_.to - t_;
    const bool last = h_ >= remaining * (1.0 - 1e-12);
    const double h = last ? remaining : h_;
    if (!(h > 4.0 * eps * std::max(std::abs(t_), 1e-6 * remaining))) break;
    double error = std::numeric_limits<double>::infinity();
    dynamics_.set_check_residuals(false);
    const bool made = rk_.make_stages(f, t_, h);
    dynamics_.set_check_residuals(true);
    if (made) {
      rk_.calc_errors(h, static_cast<int>(2 * n_), e5_.data(), e3_.data());
      double s5 = 0.0, s3 = 0.0;
      for (std::size_t i = 0; i < 2 * n_; ++i) {
        const double scale = options_.tolerance * std::max({1.0, std::abs(rk_.y[i]), std::abs(rk_.y_new[i])});
        s5 = std::max(s5, std::abs(e5_[i]) / scale), s3 = std::max(s3, std::abs(e3_[i]) / scale);
      }
      error = s5 == 0.0 ? 0.0 : s5 / std::sqrt(1.0 + 0.01 * (s3 / s5) * (s3 / s5));
    }
    const double factor = error == 0.0 ? 10.0 : std::isfinite(error) ? std::clamp(0.9 * std::pow(error, -1.0 / 8.0), 0.2, 10.0) : 0.25;
    double* const y = rk_.y_new.data();
    bool good = error <= 1.0 && dynamics_.project(t_ + h, y, y + n_) && rate_of(t_ + h, y, rk_.k[12].data());
    // A step does not end where rows are nearly dependent: rounding there would choose the way on.
    if (good && !last && dynamics_.result().row_growth > too_near && tries < 20) good = false;
    if (good) {
      step_t_ = t_, step_h_ = h, dense_ = false;
      t_ = last ? options_.to : t_ + h;
      h_ = h * (rejected ? std::min(1.0, factor) : factor);
      ++certificate_.steps;
      watch();
      return true;
    }
    ++certificate_.rejected;
    rejected = true;
    h_ = h * (error <= 1.0 ? 0.7 : factor);
  }
  return fail(dynamics_.why().empty() ? "the step size has come down to nothing" : dynamics_.why());
}

void LargeMotion::watch() {
  const double* y = rk_.y_new.data();
  Certificate& c = certificate_;
  c.evaluations = dynamics_.evaluations, c.projections = dynamics_.projections;
  c.kinetic_end = dynamics_.calc_kinetic(y + n_);
  c.work_given = y[2 * n_], c.work_constraints = y[2 * n_ + 1];
  c.balance = c.kinetic_end - c.kinetic_start - c.work_given - c.work_constraints;
  c.balance_largest = std::max(c.balance_largest, std::abs(c.balance));
  // Local errors of the size of the tolerance in every component at every step explain this much.
  c.balance_allowed += 5.0 * (options_.tolerance + 4.0 * eps) * dynamics_.calc_energy_scale(y, y + n_) +
                       2.0 * eps * (std::abs(c.kinetic_end) + std::abs(c.work_given) + std::abs(c.work_constraints));
  const LargeDynamics::Violation now = dynamics_.calc_violation(t_, y, y + n_);
  c.position_violation = std::max(c.position_violation, now.position), c.velocity_violation = std::max(c.velocity_violation, now.velocity);
  if (const double angle = angle_of(dynamics_.largest_growth); angle < c.smallest_angle) c.smallest_angle = angle, c.smallest_angle_at = t_;
  c.dependent_rows = std::max(c.dependent_rows, static_cast<int>(dynamics_.dependent_rows().size()));
}

void LargeMotion::sample(double t, std::span<double> q, std::span<double> qd) {
  const double* from = rk_.y_new.data();
  if (step_h_ > 0.0 && t < t_) {
    const auto f = [this](double time, double* y, double* dy) { return rate_of(time, y, dy); };
    if (!dense_) dense_ = rk_.make_dense(f, step_t_, step_h_);
    if (dense_) {
      rk_.sample((t - step_t_) / step_h_, y_.data(), nullptr);
      dynamics_.project(t, y_.data(), y_.data() + n_);
      from = y_.data();
    }
  }
  std::copy(from, from + n_, q.begin());
  std::copy(from + n_, from + 2 * n_, qd.begin());
  sampled_works_[0] = from[2 * n_], sampled_works_[1] = from[2 * n_ + 1];
}

}  // namespace mechanician
