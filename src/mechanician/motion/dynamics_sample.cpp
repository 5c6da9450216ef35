// What is known of a motion at one time: forces, multipliers, powers. Not part of the inner loop.

#include <cmath>

#include "mechanician/motion/dynamics.hpp"
#include "mechanician/solve/eigen_decompositions.hpp"
#include "mechanician/solve/factorisation.hpp"

namespace mechanician {

namespace {
using Eigen::MatrixXd;
using Eigen::VectorXd;
}  // namespace

/// The general solver, at home with measured and dependent rows. `with_noise`: zero rows decided here and now.
bool Dynamics::solve_generally(double t, const double* y, bool with_noise, Solution& solution) {
  const State state{t, Eigen::Map<const VectorXd>(y, n_), Eigen::Map<const VectorXd>(y + n_, n_)};
  Evaluation now = system_->evaluate(state);
  if (now.not_finite) return false;
  InstantValues& values = now.values;
  if (!with_noise) {
    // Within a step the rows that act are those of its begin.
    values.A_noise = SparseRows(0, n_);
    for (int j = 0; j < m_; ++j) {
      if (zero_row_[j])
        for (const SparseRows::Entry& e : values.A.row(j)) values.A_noise.add(e.col, std::abs(e.value));
      values.A_noise.end_row();
    }
  }
  const Factorisation factors = factor(values);
  const auto set_C = [&] {
    System::Nonideal nonideal = system_->calc_C(state, solution);
    if (nonideal.not_finite || !nonideal.not_unique.empty()) return false;
    values.C = std::move(nonideal.C);
    return true;
  };
  if (has_C_ && !needs_reactions_ && !set_C()) return false;
  solution = solve(factors, values);
  if (has_C_ && needs_reactions_ && solution.has_acceleration()) {
    if (!set_C()) return false;
    solution = solve(factors, values);
  }
  return solution.has_acceleration();
}

bool Dynamics::rhs_measured(double t, const double* y, double* dy) {
  Solution solution;
  if (!solve_generally(t, y, false, solution)) return false;
  const double* qd = y + n_;
  set_inputs(t, y, qd);
  if (!run(rhs_values_, v_)) return false;
  last_is_rows_ = false, last_A_ = at_A_;
  std::copy(qd, qd + n_, dy);
  for (int i = 0; i < n_; ++i) dy[n_ + i] = qdd_[i] = solution.qdd(i);
  double* power = dy + 2 * n_;
  const Eigen::Map<const VectorXd> v(qd, n_);
  power[0] = v_[at_K_];
  for (int i = 0; i < n_; ++i) power[0] += qd[i] * v_[at_Q_ + i];
  power[1] = 0.0, power[2] = v.dot(solution.Qc_ni), power[3] = v.dot(solution.Q_control);
  for (int j = 0; j < num_constraints_; ++j) {
    power[4 + j] = 0.0;
    if (powerless_[j] && !system_->row(j).measured) continue;
    copy_row(j, column_.data());
    power[1] += power[4 + j] = solution.multipliers(j) * v.dot(Eigen::Map<const VectorXd>(column_.data(), n_));
  }
  double sum = 0.0;
  for (int i = 0; i < size(); ++i) sum += 0.0 * dy[i];
  return sum == 0.0;
}

std::optional<Sample> Dynamics::calc_sample(double t, const double* y, const double* qdd_given) {
  Sample s;
  s.t = t;
  s.q = Eigen::Map<const VectorXd>(y, n_);
  s.qd = Eigen::Map<const VectorXd>(y + n_, n_);
  if (!rhs_robust(t, y, scratch_.data())) return std::nullopt;
  --evaluations, ++projections;
  s.qdd = qdd_given ? VectorXd(Eigen::Map<const VectorXd>(qdd_given, n_))
                    : VectorXd(Eigen::Map<const VectorXd>(qdd_.data(), n_));

  MatrixXd A = MatrixXd::Zero(m_, n_), M = MatrixXd::Zero(n_, n_);
  for (const Entry& e : A_entries_) A(e.row, e.col) = v_[at_A_ + e.at];
  for (const Entry& e : M_entries_) M(e.row, e.col) = v_[e.at];
  const VectorXd Q = Eigen::Map<const VectorXd>(v_.data() + at_Q_, n_);
  const int r = static_cast<int>(all.kept.size());
  const VectorXd zero = VectorXd::Zero(n_);

  Solution solution;
  const bool simple = !measured_ && r == m_;
  if (qdd_given && !has_nonideal_ && num_constraints_ == m_) {
    // The force is M q̈ − Q; multipliers of least norm that give it.
    s.Qc = s.Qc_i = M * s.qdd - Q;
    s.Qc_ni = s.Q_control = zero;
    Eigen::CompleteOrthogonalDecomposition<MatrixXd> solver(m_, n_);
    solver.setThreshold(1e-7);
    if (m_ > 0) s.lambda = solver.compute(A.transpose()).solve(s.Qc_i);
  } else if (simple) {
    s.lambda = VectorXd::Zero(num_constraints_);
    VectorXd control = VectorXd::Zero(m_);
    for (int k = 0; k < r; ++k) {
      const int j = all.kept[k];
      if (j < num_constraints_) s.lambda(j) = lambda_[k];
      if (j >= num_constraints_) control(j) = lambda_joint_[k];
    }
    s.Qc_i = A.topRows(num_constraints_).transpose() * s.lambda;
    s.Q_control = A.transpose() * control;
    s.Qc_ni = has_nonideal_ ? VectorXd(M * s.qdd - Q - s.Qc_i - s.Q_control) : zero;
    s.Qc = s.Qc_i + s.Qc_ni;
  } else {
    if (!solve_generally(t, y, true, solution)) return std::nullopt;
    s.lambda = solution.multipliers;
    s.Qc = solution.Qc, s.Qc_i = solution.Qc_i, s.Qc_ni = solution.Qc_ni, s.Q_control = solution.Q_control;
    if (!sliding_.empty()) s.Qc_ni = M * s.qdd - Q - s.Qc_i - s.Q_control, s.Qc = s.Qc_i + s.Qc_ni;
  }
  if (s.lambda.size() == 0) s.lambda = VectorXd::Zero(num_constraints_);
  s.power = s.lambda.cwiseProduct(A.topRows(num_constraints_) * s.qd);

  // Outputs may use accelerations.
  const auto num_outputs = static_cast<Eigen::Index>(system_->model().outputs.size());
  std::vector<double>& values = output_values_;
  set_inputs(t, y, y + n_);
  for (int i = 0; i < n_; ++i) x_[rhs_tape_.num_inputs() + i] = s.qdd(i);
  run(output_tape_, values);
  s.outputs = Eigen::Map<const VectorXd>(values.data(), num_outputs);

  const Violation violation = calc_violation(t, y);
  s.residual = std::max(violation.position, violation.velocity);
  const double* w = y + 2 * n_;
  s.works = {w[0], w[1], w[2], w[3], Eigen::Map<const VectorXd>(w + 4, num_constraints_)};
  return s;
}

bool Dynamics::set_output_inputs(double t, const double* y) {
  if (events_use_qdd_) {
    if (!rhs(t, y, scratch_.data())) return false;
    --evaluations, ++projections;
  }
  set_inputs(t, y, y + n_);
  for (int i = 0; i < n_; ++i) x_[rhs_tape_.num_inputs() + i] = events_use_qdd_ ? qdd_[i] : 0.0;
  return true;
}

bool Dynamics::calc_events(double t, const double* y, std::span<double> when) {
  if (when.empty()) return true;
  if (!set_output_inputs(t, y)) return false;
  run(output_tape_, output_values_);
  double sum = 0.0;
  for (std::size_t i = 0; i < when.size(); ++i)
    sum += 0.0 * (when[i] = output_values_[system_->model().outputs.size() + i]);
  return sum == 0.0;
}

void Dynamics::calc_event_noise(double t, const double* y, std::span<double> noise) {
  std::vector<double> bounds(output_values_.size());
  if (!set_output_inputs(t, y)) return;
  output_tape_.evaluate_with_bounds(
      std::span<const double>(x_).first(static_cast<std::size_t>(output_tape_.num_inputs())), output_values_, bounds);
  for (std::size_t i = 0; i < noise.size(); ++i) {
    const double e = bounds[system_->model().outputs.size() + i];
    noise[i] = std::isfinite(e) ? 8.0 * e : 0.0;
  }
}

bool Dynamics::calc_event_switches(double t, const double* y, std::span<double> g) {
  if (!set_output_inputs(t, y)) return false;
  run(output_tape_, output_values_);
  std::copy(output_values_.end() - num_event_switches_, output_values_.end(), g.begin());
  return true;
}

}  // namespace mechanician
