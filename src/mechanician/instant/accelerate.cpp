#include "mechanician/instant/accelerate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mechanician {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

double largest(const Eigen::VectorXd& x) { return x.size() == 0 ? 0.0 : x.cwiseAbs().maxCoeff(); }

}  // namespace

std::vector<RowResidual> Instant::violations() const {
  std::vector<RowResidual> result;
  for (const RowResidual& r : residuals)
    if (!(r.scaled <= start_tolerance)) result.push_back(r);
  return result;
}

std::vector<RowResidual> calc_residuals(const System& system, const State& state, const Evaluation& now) {
  std::vector<RowResidual> result;
  const double q_size = std::max(1.0, largest(state.q)), qd_size = std::max(1.0, largest(state.qd));
  for (int i = 0; i < system.m(); ++i) {
    const Row& row = system.row(i);
    if (row.kind == RowKind::control || row.measured || row.level == Level::acceleration) continue;
    const double slope = now.values.A.row(i).norm(), slope_noise = now.values.A_noise.row(i).norm();
    // |φ|/‖φ_q‖ is the distance to the constraint, to first order; where the gradient is lost in rounding, φ is
    // compared with the size of its own terms.
    const auto scaled = [&](double value, double noise, double size) {
      if (std::abs(value) <= 4.0 * noise) return 0.0;
      if (slope > 16.0 * slope_noise) return std::abs(value) / (slope * size);
      return std::abs(value) / std::max(noise / eps, std::numeric_limits<double>::min());
    };
    const bool position = row.level == Level::position;
    result.push_back(
        {i, false, now.residual(i), scaled(now.residual(i), now.residual_noise(i), position ? q_size : qd_size)});
    if (position) result.push_back({i, true, now.rate(i), scaled(now.rate(i), now.rate_noise(i), qd_size)});
  }
  return result;
}

Instant accelerate(const System& system, const State& state, const AccelerateOptions& options) {
  refuse_contacts(system.model());
  Instant instant;
  instant.state = state;
  Evaluation now = system.evaluate(state);
  instant.not_finite = now.not_finite;
  if (instant.not_finite) {
    instant.values = std::move(now.values);
    instant.solution.status = SolveStatus::not_finite;
    return instant;
  }
  instant.residuals = calc_residuals(system, state, now);
  for (const RowResidual& r : instant.residuals)
    instant.constraint_residual = std::max(instant.constraint_residual, std::abs(r.value));
  instant.values = std::move(now.values);

  const Factorisation factors = factor(instant.values);
  const auto solved = [&] { return solve_with_form(factors, instant.values, options.form); };
  const auto set_C = [&] {
    System::Nonideal nonideal = system.calc_C(state, instant.solution);
    instant.multiplier_not_unique = std::move(nonideal.not_unique);
    instant.not_finite = std::move(nonideal.not_finite);
    if (!instant.not_finite && instant.multiplier_not_unique.empty()) instant.values.C = std::move(nonideal.C);
  };
  // Where C depends on the reactions: first with C = 0, then with the C that those forces give.
  const bool two_stages = system.equations().has_C && system.needs_reactions();
  if (system.equations().has_C && !two_stages) set_C();
  instant.solution = solved();
  if (two_stages && instant.solution.has_acceleration()) {
    set_C();
    if (instant.has_acceleration()) instant.solution = solved();
  }
  if (options.diagnose) instant.diagnosis = diagnose(factors, instant.values);
  if (options.parts && instant.has_acceleration())
    instant.parts = calc_parts(factors, instant.values, instant.solution, state.qd);
  return instant;
}

}  // namespace mechanician
