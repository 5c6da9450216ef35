#include "mechanician/motion/acceleration_derivatives.hpp"

#include <algorithm>

namespace mechanician {

namespace {
/// Coordinates from which 2n evaluations and a dense factor take longer than more iterations.
constexpr int most_by_differences = 300;
}  // namespace

bool AccelerationDerivatives::are_known(const Dynamics& dynamics) {
  const EquationFacts& facts = dynamics.facts();
  if (dynamics.is_weighed() && !dynamics.factors().is_sparse()) return false;
  // Control is no part of G and H; what it does with the state is seen by differences.
  if (facts.num_constraints < facts.m) return false;
  return facts.n > most_by_differences || !(facts.needs_reactions || dynamics.has_sliding() || dynamics.is_weighed());
}

bool AccelerationDerivatives::are_states_free(const EquationFacts& facts) {
  std::vector<int> row_of(static_cast<std::size_t>(facts.n), -1);
  for (const StateRow& z : facts.states) row_of[z.coordinate] = z.row;
  return std::all_of(facts.pattern.A.begin(), facts.pattern.A.end(),
                     [&](const SparseEntry& e) { return row_of[e.col] < 0 || row_of[e.col] == e.row; });
}

/// Entries: M below and on the diagonal, M above it, Aᵀ, A, the diagonal of rows, derivatives.
SparseLu AccelerationDerivatives::make_lu(Dynamics& dynamics) {
  const EquationFacts& facts = dynamics.facts();
  const int n = facts.n;
  std::vector<SparseEntry> entries;
  for (const auto& [i, j] : facts.pattern.M) entries.push_back({i, j});
  for (const auto& [i, j] : facts.pattern.M) entries.push_back({j, i});
  for (const auto& [j, i] : facts.pattern.A) entries.push_back({i, n + j});
  for (const auto& [j, i] : facts.pattern.A) entries.push_back({n + j, i});
  for (int j = 0; j < facts.m; ++j) entries.push_back({n + j, n + j});
  const auto derivatives = dynamics.values().derivative_pattern();
  entries.insert(entries.end(), derivatives.begin(), derivatives.end());
  return SparseLu(n + facts.m, entries, facts.m == 0 ? SparseLu::Kind::diagonal : SparseLu::Kind::general);
}

AccelerationDerivatives::AccelerationDerivatives(Dynamics& dynamics)
    : dynamics_(dynamics), n_(dynamics.facts().n), m_(dynamics.facts().m), lu_(make_lu(dynamics)) {
  const auto pattern = dynamics.values().derivative_pattern();
  entries_.assign(pattern.begin(), pattern.end());
  const EquationFacts& facts = dynamics.facts();
  M_.resize(facts.pattern.M.size()), A_.resize(facts.pattern.A.size());
  by_q_.resize(entries_.size()), by_qd_.resize(entries_.size());
  rates_.resize(static_cast<std::size_t>(dynamics.size()));
  x_.resize(static_cast<std::size_t>(n_ + m_)), p_.resize(static_cast<std::size_t>(2 * n_));
  kept_.assign(static_cast<std::size_t>(m_), 0);
  of_state_ = kept_;
  for (const StateRow& z : facts.states) of_state_[z.row] = 1;
}

bool AccelerationDerivatives::linearise(double t, std::span<const double> y, std::span<const double>) {
  // On the constraints: near singular states λ is nothing but what a state is off them.
  std::vector<double>& state = p_;
  const auto take = [&] {
    std::copy_n(y.begin(), state.size(), state.begin());
    return !by_rates_ || dynamics_.set_state_rates(t, state.data());
  };
  if (!take() || (!dynamics_.rows_that_act().empty() && !dynamics_.project(t, state.data()).ok && !take()))
    return false;
  // q̈ and λ as the factors have them, for compiled code gives no multipliers.
  if (!dynamics_.rhs_by_factors(t, state.data(), rates_.data())) return false;
  const EquationValues::Numbers numbers = dynamics_.values().numbers();
  std::copy_n(numbers.M, M_.size(), M_.begin());
  std::copy_n(numbers.A, A_.size(), A_.begin());
  std::fill(kept_.begin(), kept_.end(), 0);
  for (const int j : dynamics_.rows_that_act()) kept_[j] = 1;
  return dynamics_.values().calc_derivatives({.t = t,
                                              .q = state.data(),
                                              .qd = state.data() + n_,
                                              .qdd = rates_.data() + n_,
                                              .multipliers = dynamics_.kept_multipliers().data()},
                                             by_q_, by_qd_);
}

bool AccelerationDerivatives::factor(double gamma) {
  gamma_ = gamma;
  const std::span<double> K = lu_.values();
  std::fill(K.begin(), K.end(), 0.0);
  const SparsePattern& pattern = dynamics_.facts().pattern;
  const int* place = lu_.places().data();
  for (std::size_t k = 0; k < M_.size(); ++k) K[*place++] += M_[k];
  for (std::size_t k = 0; k < M_.size(); ++k, ++place)
    if (pattern.M[k].row != pattern.M[k].col) K[*place] += M_[k];
  for (std::size_t k = 0; k < A_.size(); ++k, ++place)
    if (kept_[pattern.A[k].row]) K[*place] -= A_[k];
  for (std::size_t k = 0; k < A_.size(); ++k, ++place)
    if (kept_[pattern.A[k].row]) K[*place] += A_[k];
  for (int j = 0; j < m_; ++j, ++place)
    if (!kept_[j]) K[*place] = 1.0;
  for (std::size_t k = 0; k < entries_.size(); ++k, ++place)
    if (const int row = entries_[k].row; row < n_ || kept_[row - n_])
      K[*place] -= gamma * (is_by_rate(row) ? by_qd_[k] : by_qd_[k] + gamma * by_q_[k]);
  return lu_.factor();
}

void AccelerationDerivatives::solve_for_acceleration(const double* p, const double* r_v) {
  std::fill(x_.begin(), x_.end(), 0.0);
  for (std::size_t k = 0; k < entries_.size(); ++k) {
    const auto [row, col] = entries_[k];
    if (is_by_rate(row))
      x_[row] += by_qd_[k] * p[col] / gamma_;
    else if (row < n_ || kept_[row - n_])
      x_[row] += by_q_[k] * p[col] + by_qd_[k] * r_v[col];
  }
  const std::vector<SparseEntry>& at = dynamics_.facts().pattern.A;
  if (by_rates_ && gamma_ != 0.0)
    for (std::size_t k = 0; k < A_.size(); ++k)
      if (of_state_[at[k].row]) x_[n_ + at[k].row] -= A_[k] * r_v[at[k].col] / gamma_;
  lu_.solve(x_.data());
}

void AccelerationDerivatives::solve(std::span<double> r) {
  double *const r_q = r.data(), *const r_v = r_q + n_;
  for (int i = 0; i < n_; ++i) p_[i] = r_q[i] + gamma_ * r_v[i];
  solve_for_acceleration(p_.data(), r_v);
  for (int i = 0; i < n_; ++i) {
    r_v[i] += gamma_ * x_[i];
    r_q[i] += gamma_ * r_v[i];
  }
  if (by_rates_)
    for (const StateRow& z : dynamics_.facts().states) r_v[z.coordinate] = 0.0;
}

void AccelerationDerivatives::apply(const double* dq, const double* dqd, double* dqdd) {
  solve_for_acceleration(dq, dqd);
  std::copy_n(x_.begin(), n_, dqdd);
}

}  // namespace mechanician
