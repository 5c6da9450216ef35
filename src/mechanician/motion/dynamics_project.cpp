// Projection onto the constraints: Newton steps of least mass norm, M d − Aᵀλ = 0, A d = −r.
//
// A step leaves the constraints by about the tolerance, so one Newton step is usually enough for positions; velocities
// need one where the rows are linear in them. Rounding ends the iteration: a correction that no longer shrinks.

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanician/motion/dynamics.hpp"
#include "mechanician/motion/kernels.hpp"

namespace mechanician {

namespace {
constexpr double eps = std::numeric_limits<double>::epsilon();
}

/// One Newton step for x; its largest entry over what is near (Sizes), or a negative number where it fails. Needs evaluate_rows().
double Dynamics::newton_step(const RowSet& set, double* x, bool velocity, double& largest_residual) {
  const EquationValues::RowNumbers v = values_->row_numbers();
  largest_residual = 0.0;
  for (const int j : set.kept) {
    const double value =
        velocity && facts().rows[static_cast<std::size_t>(j)].level == Level::position ? v.rate[j] : v.residual[j];
    largest_residual = std::max(largest_residual, std::abs(value));
    row_scratch_[static_cast<std::size_t>(j)] = -value;
  }
  if (largest_residual == 0.0) return 0.0;
  factors_->careful = prefer_robust;
  if (!factors_->factor({v.M, v.A}, set, KktFactors::Mass::loose) ||
      !factors_->solve(nullptr, row_scratch_.data(), column_.data(), nullptr) ||
      !kernels::all_finite(n_, column_.data()))
    return -1.0;
  return kernels::add_and_measure(n_, column_.data(), (velocity ? sizes.near_qd : sizes.near_q).data(), x);
}

bool Dynamics::is_on(const RowSet& set, const double* q) const {
  const EquationValues::RowNumbers v = values_->row_numbers();
  for (const int j : set.kept) {
    double terms = 0.0;
    each_entry(j, [&](int i, double a) { terms += std::abs(a * q[i]); });
    if (!(std::abs(v.residual[j]) <= 1e-14 * std::max(calc_row_norm(j, v.A), terms))) return false;
  }
  return true;
}

/// Iterates until the correction is rounding. `moved` is the sum of the corrections.
bool Dynamics::converge(const RowSet& set, bool velocity, double t, double* y, const ProjectOptions& options,
                        double& moved, double& before) {
  double *q = y, *qd = y + n_;
  const bool one_is_enough = velocity && !velocity_rows_nonlinear_;
  double last = std::numeric_limits<double>::infinity();
  for (int k = 0; k < options.most_iterations; ++k) {
    double size_of_residual = 0.0;
    const double d = newton_step(set, velocity ? qd : q, velocity, size_of_residual);
    if (d < 0.0) return false;
    if (k == 0) before = size_of_residual;
    moved += d;
    if (d <= 4.0 * eps || one_is_enough) return true;
    if (k > 0 && d > 0.5 * last) return d < 1e-9;  // no longer shrinking
    // Newton converges quadratically: what is left after a small step is below rounding.
    if (d < 1e-9 && velocity) return true;
    last = d;
    if (!evaluate_rows(t, q, qd)) return false;
    // The evaluation that the velocities need anyway tells whether positions are there.
    if (!velocity && d < 1e-9 && is_on(set, q)) return true;
  }
  return last < 1e-9;
}

Dynamics::Projected Dynamics::project(double t, double* y, const ProjectOptions& options) {
  if (const auto fast = project_fast(t, y, options)) return *fast;
  settle_rows();
  Projected result;
  if (!evaluate_rows(t, y, y + n_)) return result;
  if (options.positions && !positions.kept.empty()) {
    if (!converge(positions, false, t, y, options, result.moved_q, result.phi)) return result;
    if (result.moved_q > 0.0 && result.moved_q <= 4.0 * eps && !evaluate_rows(t, y, y + n_)) return result;
  }
  if (options.velocities && !velocities.kept.empty())
    if (!converge(velocities, true, t, y, options, result.moved_qd, result.rate)) return result;
  result.ok = true;
  return result;
}

bool Dynamics::set_state_rates(double t, double* y) {
  const std::vector<StateRow>& states = facts().states;
  if (states.empty()) return true;
  // Rates do not depend on velocities of states, which are ψ = z' − rate apart from them.
  if (!evaluate_rows(t, y, y + n_)) return false;
  const double* const residual = values_->row_numbers().residual;
  for (const StateRow& z : states) y[n_ + z.coordinate] -= residual[z.row];
  return true;
}

void Dynamics::calc_projection_noise(double t, const double* y, double enough, std::span<double> noise) {
  std::fill(noise.begin(), noise.end(), 0.0);
  double weakest = 1.0;
  for (const double sine : calc_sines(t, y)) weakest = std::min(weakest, sine);
  if (eps <= 0.01 * enough * weakest * weakest) return;
  // Tried out with a few patterns of signs, by some units in the last place, so that residuals feel it.
  std::vector<double> moved(noise.size());
  for (unsigned pattern = 1; pattern <= 3; ++pattern) {
    unsigned bits = pattern;
    for (std::size_t i = 0; i < moved.size(); ++i) {
      bits = bits * 1664525u + 1013904223u;
      moved[i] = y[i] * (1.0 + ((bits >> 16 & 1u) != 0u ? 4.0 : -4.0) * eps);
    }
    if (!project(t, moved.data(), {.most_iterations = 4}).ok) continue;
    for (std::size_t i = 0; i < moved.size(); ++i) noise[i] = std::max(noise[i], std::abs(moved[i] - y[i]));
  }
}

bool Dynamics::project_tangent(double t, const double* y, double* v) {
  if (project_tangent_fast(t, y, v)) return true;
  settle_rows();
  if (velocities.kept.empty()) return true;
  if (!evaluate_rows(t, y, y + n_)) return false;
  // v − x, A x = A v
  for (const int j : velocities.kept) row_scratch_[static_cast<std::size_t>(j)] = calc_row_rate(j, v);
  factors_->careful = prefer_robust;
  if (!factors_->factor(matrices(), velocities, KktFactors::Mass::loose) ||
      !factors_->solve(nullptr, row_scratch_.data(), column_.data(), nullptr))
    return false;
  for (int i = 0; i < n_; ++i) v[i] -= column_[i];
  return true;
}

Dynamics::Violation Dynamics::calc_violation(double t, const double* y) {
  Violation result;
  if (num_constraints_ == 0 || !evaluate_rows(t, y, y + n_)) return result;
  const EquationValues::RowNumbers v = values_->row_numbers();
  const double extent = std::max(sizes.reach.length(), sizes.in_units(y)),
               speed = std::max(sizes.reach.pace(), sizes.in_units(y + n_));
  for (int j = 0; j < num_constraints_; ++j) {
    const RowFacts& row = facts().rows[static_cast<std::size_t>(j)];
    if (row.level == Level::acceleration || values_->is_absent(j)) continue;
    const double value = std::abs(v.residual[j]), rate = std::abs(v.rate[j]);
    if (row.measured) {
      result.measured = std::max(result.measured, value);
      continue;
    }
    double slope = 0.0;  // in the units of the coordinates
    if (!zero_row_[j] && !inert[j])
      each_entry(j, [&](int i, double a) { slope = std::hypot(slope, a * sizes.unit(i)); });
    const bool position = row.level == Level::position;
    if (inert[j]) result.inert = std::max(result.inert, value);
    (position ? result.position : result.velocity) = std::max(position ? result.position : result.velocity, value);
    if (position) result.velocity = std::max(result.velocity, rate);
    if (slope > 0.0 && !row.is_rate) {
      result.scaled = std::max(result.scaled, value == 0.0 ? 0.0 : value / (slope * (position ? extent : speed)));
      result.scaled = std::max(result.scaled, rate == 0.0 ? 0.0 : rate / (slope * speed));
    }
  }
  return result;
}

double Dynamics::last_kinetic(const double* y) {
  const double *const qd = y + n_, *const M = numbers_of_last().M;
  const std::vector<SparseEntry>& at = facts().pattern.M;
  double own = 0.0, mixed = 0.0;
  for (std::size_t k = 0; k < at.size(); ++k)
    (at[k].row == at[k].col ? own : mixed) += qd[at[k].row] * M[k] * qd[at[k].col];
  return 0.5 * own + mixed;
}

void Dynamics::size_forces(double t, const double* y) {
  sizes.see(y);
  // A force that is zero now may not be so soon: with the time, or with the states that it depends on.
  constexpr int most_states_between = 3;
  std::vector<double> there;
  for (int k = 0; k < (facts().states.empty() ? 2 : 2 + most_states_between); ++k) {
    const double ahead = k == 0 ? 0.0 : sizes.reach.soon;
    if (k == 2) there.assign(y, y + size());
    if (k >= 2) {
      if (!set_state_rates(t + ahead, there.data())) break;
      for (const StateRow& z : facts().states) there[z.coordinate] += ahead * there[n_ + z.coordinate];
    }
    if (!evaluate(t + ahead, k < 2 ? y : there.data())) continue;
    sizes.set_forces(values_->numbers().Q);
    if (sizes.reach.force > 0.0) break;
  }
  sizes.see(y);
  // A state that follows velocities comes to what these come to, and is not small before.
  for (const StateRow& z : facts().states) {
    double size = 0.0;
    each_entry(z.row, [&](int i, double a) {
      if (!sizes.is_state(static_cast<std::size_t>(i))) size += std::abs(a) * sizes.near_q[static_cast<std::size_t>(i)];
    });
    double& own = sizes.q[static_cast<std::size_t>(z.coordinate)];
    own = std::max(own, Sizes::part * size);
  }
  if (!facts().states.empty()) sizes.see(y);
}

double Dynamics::last_energy_scale(const double* y) {
  const double* const qd = y + n_;
  const EquationValues::Numbers v = numbers_of_last();
  const double speed = sizes.reach.speed;
  const auto size = [&](int i) { return sizes.of_qd(i, std::abs(qd[i]), speed); };
  const std::vector<SparseEntry>& at = facts().pattern.M;
  double sum = 0.0;
  for (std::size_t k = 0; k < at.size(); ++k) {
    const auto [i, j] = at[k];
    sum += std::abs(qd[i] * v.M[k]) * size(j);
    if (i != j) sum += std::abs(qd[j] * v.M[k]) * size(i);
  }
  for (int i = 0; i < n_; ++i) sum += std::abs(v.Q[i]) * sizes.of_q(i, std::abs(y[i]), 0.0, 0.0);
  return sum;
}

}  // namespace mechanician
