// Sliding friction in the equations of motion, and the functions that end a phase of a motion with contacts.
//
// Friction depends on the multipliers that it changes: with forces λ_s g_s, g_s = −μ sign(λ_s) Tᵀd, the multipliers are
//   λ = λ₀ + Σ λ_s w_s,   w_s = −R⁻¹ (Vᵀ L⁻¹ g_s)_top
// so that those of the sliding rows solve (I − W) λ_s = λ₀. Where det(I − W) vanishes Coulomb's law stops to have one
// solution (Painlevé).

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanician/motion/dynamics.hpp"
#include "mechanician/motion/kernels.hpp"

namespace mechanician {

namespace {
constexpr double eps = std::numeric_limits<double>::epsilon();
/// Slips slower than this part of the velocities have no direction of their own.
constexpr double no_direction = 1e-11;
}  // namespace

std::array<double, 2> Dynamics::slip_direction(const Sliding& contact, const double* slip) const {
  std::array<double, 2> d = contact.direction;
  if (contact.num_slips == 1) return d;
  double speed = 1.0;
  for (int i = 0; i < n_; ++i) speed = std::max(speed, std::abs(x_[1 + n_ + i]));
  const double size = std::hypot(slip[0], slip[1]);
  if (size <= no_direction * speed) return d;
  // Through rest the direction is continued smoothly: that it turns at once there is found as the end of the phase.
  const double forwards = slip[0] * d[0] + slip[1] * d[1] < 0.0 ? -1.0 : 1.0;
  return {forwards * slip[0] / size, forwards * slip[1] / size};
}

/// g_s: the friction force over λ_s.
void Dynamics::calc_sliding_force(const Sliding& contact, const double* values, double* force) const {
  const double mu = values[0];
  const double* T = values + 1 + contact.num_slips;
  const std::array<double, 2> d = slip_direction(contact, values + 1);
  std::fill(force, force + n_, 0.0);
  for (int k = 0; k < contact.num_slips; ++k)
    for (int i = 0; i < n_; ++i) force[i] -= mu * contact.sign * d[k] * T[k * n_ + i];
}

std::array<double, 2> Dynamics::calc_friction(std::size_t which) const {
  const double* values = sliding_values_.data() + at_sliding_[which];
  std::array<double, 2> d = slip_direction(sliding_[which], values + 1);
  for (double& x : d) x *= -values[0] * sliding_[which].sign * sliding_lambda_[which];
  return d;
}

bool Dynamics::add_sliding(double t, const double* y) {
  set_inputs(t, y, y + n_);
  if (!run(sliding_tape_, sliding_values_)) return false;
  const int count = static_cast<int>(sliding_.size()), r = static_cast<int>(all.kept.size());
  std::vector<double>& responses = W_rhs_;  // n each: R⁻¹ of the top, then the rest; after them the right-hand side
  double* lambda = responses.data() + static_cast<std::ptrdiff_t>(count) * n_;
  const auto place = [&](int row) {
    return static_cast<int>(std::find(all.kept.begin(), all.kept.end(), row) - all.kept.begin());
  };
  for (int s = 0; s < count; ++s) {
    double* w = responses.data() + static_cast<std::ptrdiff_t>(s) * n_;
    calc_sliding_force(sliding_[s], sliding_values_.data() + at_sliding_[s], w);
    kernels::solve_lower(n_, L_.data(), w);
    kernels::apply_vt(n_, r, Z_.data(), tau_.data(), w);
    kernels::solve_upper(r, n_, Z_.data(), w);
  }
  for (int a = 0; a < count; ++a) {
    const int at = place(sliding_[a].row);
    if (at >= r) return false;  // a row that depends on others: its multiplier, and so its friction, is not determined
    for (int s = 0; s < count; ++s)
      W_[s * count + a] = (a == s ? 1.0 : 0.0) + responses[static_cast<std::size_t>(s) * n_ + at];
    lambda[a] = lambda_joint_[at];
  }
  // Gauss with column pivots by rows; few contacts slide at a time.
  sliding_determinant_ = 1.0;
  for (int k = 0; k < count; ++k) {
    int p = k;
    for (int i = k + 1; i < count; ++i)
      if (std::abs(W_[k * count + i]) > std::abs(W_[k * count + p])) p = i;
    if (p != k) {
      for (int j = 0; j < count; ++j) std::swap(W_[j * count + k], W_[j * count + p]);
      std::swap(lambda[k], lambda[p]);
      sliding_determinant_ = -sliding_determinant_;
    }
    const double pivot = W_[k * count + k];
    sliding_determinant_ *= pivot;
    if (pivot == 0.0) return false;
    for (int i = k + 1; i < count; ++i) {
      const double f = W_[k * count + i] / pivot;
      if (f == 0.0) continue;
      for (int j = k + 1; j < count; ++j) W_[j * count + i] -= f * W_[j * count + k];
      lambda[i] -= f * lambda[k];
    }
  }
  for (int k = count - 1; k >= 0; --k) {
    for (int j = k + 1; j < count; ++j) lambda[k] -= W_[j * count + k] * lambda[j];
    lambda[k] /= W_[k * count + k];
  }
  sliding_lambda_.assign(lambda, lambda + count);
  for (int s = 0; s < count; ++s) {
    const double* w = responses.data() + static_cast<std::ptrdiff_t>(s) * n_;
    for (int k = 0; k < r; ++k) lambda_joint_[k] -= lambda[s] * w[k];
    for (int i = r; i < n_; ++i) u_[i] += lambda[s] * w[i];
  }
  return true;
}

void Dynamics::hold_slip_directions(double t, const double* y) {
  if (sliding_.empty()) return;
  set_inputs(t, y, y + n_);
  if (!run(sliding_tape_, sliding_values_)) return;
  double speed = 1.0;
  for (int i = 0; i < n_; ++i) speed = std::max(speed, std::abs(y[n_ + i]));
  for (std::size_t s = 0; s < sliding_.size(); ++s) {
    if (sliding_[s].num_slips != 2) continue;
    const double* slip = sliding_values_.data() + at_sliding_[s] + 1;
    const double size = std::hypot(slip[0], slip[1]);
    if (size > no_direction * speed) sliding_[s].direction = {slip[0] / size, slip[1] / size};
  }
}

void Dynamics::set_guards(Guards guards) {
  guards_ = std::move(guards);
  const Equations& eqs = system_->equations();
  std::vector<Expr> inputs{eqs.t};
  inputs.insert(inputs.end(), eqs.q.begin(), eqs.q.end());
  inputs.insert(inputs.end(), eqs.qd.begin(), eqs.qd.end());
  inputs.insert(inputs.end(), eqs.parameters.begin(), eqs.parameters.end());
  std::vector<Expr> outputs = guards_.functions;
  for (const Guards::Cone& c : guards_.cones) outputs.push_back(c.mu);
  guard_tape_ = Tape(outputs, inputs);
  guard_values_.assign(outputs.size(), 0.0), guard_bounds_.assign(outputs.size(), 0.0);
  registers_.resize(std::max(registers_.size(), static_cast<std::size_t>(guard_tape_.num_registers())));
}

int Dynamics::num_guards() const {
  return static_cast<int>(guards_.functions.size() + guards_.rows.size() + guards_.cones.size() + 3 * sliding_.size());
}

const std::vector<double>& Dynamics::calc_joint_multipliers() {
  std::fill(joint_.begin(), joint_.end(), 0.0);
  for (std::size_t k = 0; k < all.kept.size(); ++k) joint_[all.kept[k]] = lambda_joint_[k];
  if (all.kept.size() < all.candidates.size()) spread(all, joint_);
  return joint_;
}

bool Dynamics::calc_guards(double t, const double* y, std::span<double> g, std::span<double> noise) {
  const std::size_t functions = guards_.functions.size();
  double size = 0.0;  // of multipliers
  if (functions < static_cast<std::size_t>(num_guards())) {
    if (!rhs_robust(t, y, scratch_.data())) return false;
    --evaluations, ++projections;
    const int r = static_cast<int>(all.kept.size());
    for (int k = 0; k < r; ++k)
      size = std::max(size, (std::abs(c_[k]) + std::abs(u_[k])) / std::max(std::abs(Z_[k * n_ + k]), 1e-300));
    calc_joint_multipliers();
  }
  set_inputs(t, y, y + n_);
  const auto inputs = std::span<const double>(x_).first(static_cast<std::size_t>(guard_tape_.num_inputs()));
  if (noise.empty())
    guard_tape_.evaluate<double>(inputs, registers_, guard_values_);
  else
    guard_tape_.evaluate_with_bounds(inputs, guard_values_, guard_bounds_);
  std::size_t at = 0;
  const auto put = [&](double value, double bound) {
    g[at] = value;
    if (!noise.empty()) noise[at] = std::isfinite(bound) ? bound : 0.0;
    ++at;
  };
  for (std::size_t i = 0; i < functions; ++i) put(guard_values_[i], 8.0 * guard_bounds_[i]);
  const double rounding = 64.0 * eps * std::min(all.condition(), 1e8) * size;
  for (const int row : guards_.rows) put(joint_[row], rounding);
  for (std::size_t c = 0; c < guards_.cones.size(); ++c) {
    const Guards::Cone& cone = guards_.cones[c];
    double squares = 0.0;
    for (const int j : cone.slip) squares += joint_[j] * joint_[j];
    put(guard_values_[functions + c] * cone.sign * joint_[cone.row] - std::sqrt(squares), 4.0 * rounding);
  }
  double speed = 1.0;
  for (int i = 0; i < n_; ++i) speed = std::max(speed, std::abs(y[n_ + i]));
  for (std::size_t s = 0; s < sliding_.size(); ++s) {
    const double* slip = sliding_values_.data() + at_sliding_[s] + 1;
    double forwards = slip[0] * sliding_[s].direction[0];
    if (sliding_[s].num_slips == 2) forwards += slip[1] * sliding_[s].direction[1];
    put(sliding_[s].sign * joint_[sliding_[s].row], rounding);
    put(forwards, 16.0 * eps * speed);
    put(sliding_determinant_, 64.0 * eps);
  }
  double sum = 0.0;
  for (const double x : g) sum += 0.0 * x;
  return sum == 0.0;
}

}  // namespace mechanician
