// Projection onto the constraints: Newton steps of least mass norm, d = L⁻ᵀ V [R⁻ᵀ(−r); 0] with Z = L⁻¹A_keptᵀ = V R.
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

Dynamics::Projected Dynamics::project(double t, double* y, const ProjectOptions& options) {
  if (const auto fast = project_fast(t, y, options)) return *fast;
  settle_rows();
  Projected result;
  double *q = y, *qd = y + n_;
  const auto residual = [&](int j, bool rate) { return rows_[(rate ? at_rate_ : at_residual_) + j]; };
  // One Newton step for x; returns its largest entry over max(1, |x|), or a negative number where it fails.
  const auto step = [&](const RowSet& set, double* x, bool velocity, double& largest_residual) {
    if (!factor_mass(rows_, at_row_A_, set, true) || !form_qr(rows_, at_row_A_, set, Z_, tau_)) return -1.0;
    const int r = static_cast<int>(set.kept.size());
    std::fill(u_.begin(), u_.end(), 0.0);
    largest_residual = 0.0;
    for (int k = 0; k < r; ++k) {
      const int j = set.kept[k];
      const double value = residual(j, velocity && system_->row(j).level == Level::position);
      largest_residual = std::max(largest_residual, std::abs(value));
      u_[k] = -value;
    }
    if (largest_residual == 0.0) return 0.0;
    kernels::solve_upper_transposed(r, n_, Z_.data(), u_.data());
    kernels::apply_v(n_, r, Z_.data(), tau_.data(), u_.data());
    kernels::solve_lower_transposed(n_, L_.data(), u_.data());
    double largest = 0.0;
    for (int i = 0; i < n_; ++i) {
      const double d = u_[i];
      if (!std::isfinite(d)) return -1.0;
      largest = std::max(largest, std::abs(d) / std::max(1.0, std::abs(x[i])));
      x[i] += d;
    }
    return largest;
  };
  // Iterates until the correction is rounding. `moved` is the sum of the corrections.
  const auto converge = [&](const RowSet& set, double* x, bool velocity, bool one_is_enough, double& moved,
                            double& before) {
    double last = std::numeric_limits<double>::infinity();
    for (int k = 0; k < options.most_iterations; ++k) {
      double size_of_residual = 0.0;
      const double d = step(set, x, velocity, size_of_residual);
      if (d < 0.0) return false;
      if (k == 0) before = size_of_residual;
      moved += d;
      if (d <= 4.0 * eps || one_is_enough) return true;
      if (k > 0 && d > 0.5 * last) return d < 1e-9;  // no longer shrinking
      // Newton converges quadratically: what is left after a small step is below rounding.
      if (d < 1e-9 && velocity) return true;
      last = d;
      if (!evaluate_rows(t, q, qd)) return false;
      if (!velocity && d < 1e-9) {
        // The evaluation that the velocities need anyway tells whether positions are there, each row in the size of its terms.
        bool there = true;
        for (const int j : set.kept) {
          double slope = 0.0, terms = 0.0;
          for (int l = A_begin_[j]; l < A_begin_[j + 1]; ++l) {
            const double a = rows_[at_row_A_ + A_entries_[l].at];
            slope += a * a, terms += std::abs(a * q[A_entries_[l].col]);
          }
          there &= std::abs(residual(j, false)) <= 1e-14 * std::max(std::sqrt(slope), terms);
        }
        if (there) return true;
      }
    }
    return last < 1e-9;
  };
  if (!evaluate_rows(t, q, qd)) return result;
  if (options.positions && !positions.kept.empty()) {
    if (!converge(positions, q, false, false, result.moved_q, result.phi)) return result;
    if (result.moved_q > 0.0 && result.moved_q <= 4.0 * eps && !evaluate_rows(t, q, qd)) return result;
  }
  if (options.velocities && !velocities.kept.empty())
    if (!converge(velocities, qd, true, !velocity_rows_nonlinear_, result.moved_qd, result.rate)) return result;
  result.ok = true;
  return result;
}

bool Dynamics::project_tangent(double t, const double* y, double* v) {
  if (project_tangent_fast(t, y, v)) return true;
  settle_rows();
  if (velocities.kept.empty()) return true;
  if (!evaluate_rows(t, y, y + n_) || !factor_mass(rows_, at_row_A_, velocities, true) ||
      !form_qr(rows_, at_row_A_, velocities, Z_, tau_))
    return false;
  // v − L⁻ᵀ V₁ V₁ᵀ Lᵀ v = v − L⁻ᵀ V₁ R⁻ᵀ (A v)
  const int r = static_cast<int>(velocities.kept.size());
  std::fill(u_.begin(), u_.end(), 0.0);
  for (int k = 0; k < r; ++k) {
    copy_row(velocities.kept[k], column_.data());
    u_[k] = kernels::dot(n_, column_.data(), v);
  }
  kernels::solve_upper_transposed(r, n_, Z_.data(), u_.data());
  kernels::apply_v(n_, r, Z_.data(), tau_.data(), u_.data());
  kernels::solve_lower_transposed(n_, L_.data(), u_.data());
  for (int i = 0; i < n_; ++i) v[i] -= u_[i];
  return true;
}

Dynamics::Violation Dynamics::calc_violation(double t, const double* y) {
  Violation result;
  if (num_constraints_ == 0 || !evaluate_rows(t, y, y + n_)) return result;
  double q_size = 1.0, qd_size = 1.0;
  for (int i = 0; i < n_; ++i)
    q_size = std::max(q_size, std::abs(y[i])), qd_size = std::max(qd_size, std::abs(y[n_ + i]));
  for (int j = 0; j < num_constraints_; ++j) {
    const Row& row = system_->row(j);
    if (row.level == Level::acceleration) continue;
    const double value = std::abs(rows_[at_residual_ + j]), rate = std::abs(rows_[at_rate_ + j]);
    if (row.measured) {
      result.measured = std::max(result.measured, value);
      continue;
    }
    double squared = 0.0;
    for (int l = A_begin_[j]; l < A_begin_[j + 1]; ++l) {
      const double a = rows_[at_row_A_ + A_entries_[l].at];
      squared += a * a;
    }
    const double slope = zero_row_[j] || inert[j] ? 0.0 : std::sqrt(squared);
    const bool position = row.level == Level::position;
    if (inert[j]) result.inert = std::max(result.inert, value);
    (position ? result.position : result.velocity) = std::max(position ? result.position : result.velocity, value);
    if (position) result.velocity = std::max(result.velocity, rate);
    if (slope > 0.0) {
      result.scaled = std::max(result.scaled, value / (slope * (position ? q_size : qd_size)));
      result.scaled = std::max(result.scaled, rate / (slope * qd_size));
    }
  }
  return result;
}

namespace {
/// Σ term(0 … count − 1) in four parts, so that none waits for another.
template <class Term>
double sum_of(std::size_t count, Term&& term) {
  double part[4] = {};
  std::size_t k = 0;
  for (; k + 4 <= count; k += 4)
    for (std::size_t l = 0; l < 4; ++l) part[l] += term(k + l);
  for (; k < count; ++k) part[0] += term(k);
  return (part[0] + part[1]) + (part[2] + part[3]);
}
}  // namespace

double Dynamics::last_kinetic(const double* y) const {
  refresh_values();
  const double* qd = y + n_;
  const Entry* const M = M_entries_.data();
  return 0.5 * sum_of(M_entries_.size(), [&](std::size_t k) { return qd[M[k].row] * v_[M[k].at] * qd[M[k].col]; });
}

double Dynamics::last_energy_scale(const double* y) const {
  refresh_values();
  const double* qd = y + n_;
  const auto size = [](double x) { return std::abs(x) > 1.0 ? std::abs(x) : 1.0; };
  const Entry* const M = M_entries_.data();
  return sum_of(M_entries_.size(),
                [&](std::size_t k) { return std::abs(qd[M[k].row] * v_[M[k].at]) * size(qd[M[k].col]); }) +
         sum_of(static_cast<std::size_t>(n_), [&](std::size_t i) { return std::abs(v_[at_Q_ + i]) * size(y[i]); });
}

}  // namespace mechanician
