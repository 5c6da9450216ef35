#include "mechanician/motion/dynamics.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "mechanician/compile/given_power.hpp"
#include "mechanician/equations/mass_rate.hpp"
#include "mechanician/expression/differentiate.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/motion/divisors.hpp"
#include "mechanician/motion/kernels.hpp"
#include "mechanician/solve/clear_mass.hpp"

namespace mechanician {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

CompiledFunction compiled(const Tape& tape) {
  ProgramBuilder builder(tape.num_inputs());
  std::vector<ProgramBuilder::Value> inputs;
  for (int i = 0; i < tape.num_inputs(); ++i) inputs.push_back(builder.input(i));
  return CompiledFunction(builder.finish(builder.append(tape, inputs)));
}

constexpr KindSet along_the_motion =
    kind_bit(SymbolKind::time) | kind_bit(SymbolKind::coordinate) | kind_bit(SymbolKind::velocity);

}  // namespace

double RowSet::condition() const {
  if (kept.empty()) return 1.0;
  const double last = pivot[kept.size() - 1];
  return last > 0.0 ? pivot.front() / last : std::numeric_limits<double>::infinity();
}

Dynamics::Dynamics(const System& system) : system_(&system), n_(system.n()), m_(system.m()) {
  for (const Row& row : system.equations().rows) assert(!row.one_sided), static_cast<void>(row);
  const Equations& eqs = system.equations();
  num_constraints_ = m_ - eqs.num_control();
  has_C_ = eqs.has_C;
  needs_reactions_ = system.needs_reactions();
  measured_ = !eqs.measured.empty();

  for (int j = 0; j < m_; ++j) {
    const Row& row = system.row(j);
    all.candidates.push_back(j);
    // λ_j (A q̇)_j = 0 on the constraints: φ(q) = 0, and ψ linear and homogeneous in q̇.
    powerless_.push_back((row.level == Level::position && !row.rheonomic) ||
                         (row.level == Level::velocity && row.linear && !row.acatastatic));
    any_power_ |= !powerless_.back();
    if (row.kind == RowKind::control || row.measured || row.level == Level::acceleration) continue;
    velocities.candidates.push_back(j);
    if (row.level == Level::position) positions.candidates.push_back(j);
    velocity_rows_nonlinear_ |= row.level == Level::velocity && !row.linear;
  }

  // All expressions are frozen together, so that equal switching functions are one switch.
  std::vector<Expr> all_exprs;
  const auto add = [&](const std::vector<Expr>& part) {
    const int at = static_cast<int>(all_exprs.size());
    all_exprs.insert(all_exprs.end(), part.begin(), part.end());
    return at;
  };
  std::vector<Expr> M, A, residual, rate;
  for (const auto& e : eqs.M.entries) {
    M_entries_.push_back({e.row, e.col, static_cast<int>(M.size())});
    M.push_back(e.value);
  }
  A_begin_.assign(static_cast<std::size_t>(m_ + 1), 0);
  for (const auto& e : eqs.A.entries) {
    A_entries_.push_back({e.row, e.col, static_cast<int>(A.size())});
    ++A_begin_[e.row + 1];
    A.push_back(e.value);
    rows_use_velocity_ |= e.value.contains(SymbolKind::velocity);
  }
  for (std::size_t j = 0; j < static_cast<std::size_t>(m_); ++j) A_begin_[j + 1] += A_begin_[j];
  for (const Row& row : eqs.rows) {
    residual.push_back(row.level == Level::acceleration ? Expr(0) : row.residual);
    rate.push_back(row.rate);
  }
  mass_constant_ = true;
  for (const Expr& e : M) mass_constant_ &= (e.kinds() & along_the_motion) == 0;

  const int aM = add(M), aQ = add(eqs.Q), aA = add(A), ab = add(eqs.b), aK = add({mass_rate(eqs)}), aC = add(eqs.C);
  const int ar = add(residual), at = add(rate);
  const std::optional<Expr> given = mass_constant_ ? std::nullopt : make_given_power(system.model());
  const int ag = given ? add({*given}) : 0;
  std::vector<Expr> friction;
  for (const ContactRow& c : eqs.contacts) {
    if (!c.has_friction) continue;
    sliding_.push_back({.row = c.row, .num_slips = static_cast<int>(c.slip.size())});
    at_sliding_.push_back(static_cast<int>(friction.size()));
    friction.push_back(c.friction);
    friction.insert(friction.end(), c.slip.begin(), c.slip.end());
    for (int k = 0; k < c.T.rows; ++k)
      for (int i = 0; i < n_; ++i) friction.push_back(c.T.at(k, i));
  }
  const int af = add(friction);
  has_nonideal_ = has_C_ || !sliding_.empty();
  for (const Expr& e : all_exprs) depends_on_time_ |= e.contains(SymbolKind::time);
  Frozen frozen = freeze(all_exprs);
  switches_ = std::move(frozen.switches);
  sides_.assign(switches_.size(), 1.0);
  const auto part = [&](int begin, std::size_t size) {
    return std::vector<Expr>(frozen.expressions.begin() + begin,
                             frozen.expressions.begin() + begin + static_cast<std::ptrdiff_t>(size));
  };

  frozen_ = eqs;
  for (std::size_t k = 0; k < M.size(); ++k) frozen_.M.entries[k].value = frozen.expressions[aM + k];
  for (std::size_t k = 0; k < A.size(); ++k) frozen_.A.entries[k].value = frozen.expressions[aA + k];
  frozen_.Q = part(aQ, eqs.Q.size()), frozen_.b = part(ab, eqs.b.size()), frozen_.C = part(aC, eqs.C.size());
  for (int j = 0; j < m_; ++j) {
    if (frozen_.rows[j].level != Level::acceleration) frozen_.rows[j].residual = frozen.expressions[ar + j];
    frozen_.rows[j].rate = frozen.expressions[at + j];
  }

  if (given) given_power_ = frozen.expressions[ag];

  std::vector<Expr> inputs{eqs.t};
  inputs.insert(inputs.end(), eqs.q.begin(), eqs.q.end());
  inputs.insert(inputs.end(), eqs.qd.begin(), eqs.qd.end());
  inputs.insert(inputs.end(), eqs.parameters.begin(), eqs.parameters.end());
  for (const Switch& s : switches_) inputs.push_back(s.side);
  std::vector<Expr> inputs_C = inputs;
  inputs_C.insert(inputs_C.end(), eqs.ideal.begin(), eqs.ideal.end());
  inputs_C.insert(inputs_C.end(), eqs.multipliers.begin(), eqs.multipliers.end());

  std::vector<Expr> outputs;
  const auto append = [&](const std::vector<Expr>& more) {
    const int begin = static_cast<int>(outputs.size());
    outputs.insert(outputs.end(), more.begin(), more.end());
    return begin;
  };
  append(part(aM, M.size()));
  at_Q_ = append(part(aQ, eqs.Q.size()));
  at_A_ = append(part(aA, A.size()));
  at_b_ = append(part(ab, eqs.b.size()));
  at_K_ = append(part(aK, 1));
  at_C_ = has_C_ && !needs_reactions_ ? append(part(aC, eqs.C.size())) : static_cast<int>(outputs.size());
  rhs_tape_ = Tape(outputs, inputs);
  rhs_values_ = compiled(rhs_tape_);
  outputs.clear();
  append(part(aM, M.size()));
  at_row_A_ = append(part(aA, A.size()));
  at_residual_ = append(part(ar, residual.size()));
  at_rate_ = append(part(at, rate.size()));
  row_tape_ = Tape(outputs, inputs);
  row_values_ = compiled(row_tape_);
  sliding_tape_ = Tape(part(af, friction.size()), inputs);
  sliding_values_.resize(friction.size());
  W_.resize(sliding_.size() * sliding_.size()), W_rhs_.resize(sliding_.size() * static_cast<std::size_t>(n_ + 1));
  if (needs_reactions_) C_tape_ = Tape(part(aC, eqs.C.size()), inputs_C);
  std::vector<Expr> g;
  for (const Switch& s : switches_) g.push_back(s.g);
  switch_tape_ = Tape(g, inputs_C);
  std::vector<Expr> inputs_out = inputs;
  inputs_out.insert(inputs_out.end(), eqs.qdd.begin(), eqs.qdd.end());
  if (!g.empty() && !needs_reactions_) {
    std::vector<Tangent> along{{eqs.t, 1.0}};
    for (int i = 0; i < n_; ++i) along.push_back({eqs.q[i], eqs.qd[i]}), along.push_back({eqs.qd[i], eqs.qdd[i]});
    switch_rate_tape_ = Tape(directional(g, along), inputs_out);
  }
  divisors_ = find_divisors(all_exprs);
  divisor_tape_ = Tape(divisors_, inputs);

  std::vector<Expr> user;
  for (const Named& o : system.model().outputs) user.push_back(o.value);
  std::vector<Expr> when;
  for (const Event& e : system.model().events) {
    when.push_back(e.when);
    events_use_qdd_ |= e.when.contains(SymbolKind::acceleration);
  }
  user.insert(user.end(), when.begin(), when.end());
  // Where an event itself has kinks: their zeros, as written (sides put back as signs, inner ones first).
  std::vector<Replacement> sides_as_signs;
  for (const Switch& s : freeze(when).switches) {
    const Expr zero = substitute(s.g, sides_as_signs);
    sides_as_signs.push_back({s.side, sign(zero)});
    user.push_back(zero);
    ++num_event_switches_;
  }
  output_tape_ = Tape(user, inputs_out);
  output_values_.resize(user.size());

  const auto size = [](auto k) { return static_cast<std::size_t>(k); };
  x_.assign(inputs_C.size() + size(n_), 0.0);
  take_parameters();
  registers_.resize(
      size(std::max({rhs_tape_.num_registers(), row_tape_.num_registers(), C_tape_.num_registers(),
                     sliding_tape_.num_registers(), switch_tape_.num_registers(), switch_rate_tape_.num_registers(),
                     divisor_tape_.num_registers(), output_tape_.num_registers()})));
  v_.resize(size(rhs_tape_.num_outputs()));
  rows_.resize(size(row_tape_.num_outputs()));
  Cv_.resize(size(n_));
  L_.resize(size(n_) * size(n_));
  Z_.resize(size(n_) * size(std::max(m_, 1)));
  pivot_Z_ = Z_;
  tau_.resize(size(m_));
  for (auto* x : {&u_, &uC_, &qdd_, &column_, &coordinate_scale_}) x->resize(size(n_));
  for (auto* x : {&c_, &lambda_, &lambda_joint_, &weights_, &full_, &joint_}) x->resize(size(m_));
  scratch_.resize(size(this->size()));
  G_.resize(size(m_) * size(m_));
  S_.resize(size(m_) * size(m_));
  zero_row_.assign(size(m_), false);
  has_mass_.assign(size(n_), false);
  inert.assign(size(m_), false);
  for (RowSet* set : {&all, &positions, &velocities}) set->kept.reserve(size(m_)), set->pivot.reserve(size(m_ + 1));
}

void Dynamics::take_parameters() {
  std::copy(system_->parameters().begin(), system_->parameters().end(), x_.begin() + 1 + 2 * n_);
}

void Dynamics::set_inputs(double t, const double* q, const double* qd) {
  x_[0] = t;
  std::copy(q, q + n_, x_.begin() + 1);
  std::copy(qd, qd + n_, x_.begin() + 1 + n_);
  std::copy(sides_.begin(), sides_.end(),
            x_.begin() + 1 + 2 * n_ + static_cast<std::ptrdiff_t>(system_->parameters().size()));
}

bool Dynamics::run(const Tape& tape, std::vector<double>& values) {
  tape.evaluate<double>(std::span<const double>(x_).first(static_cast<std::size_t>(tape.num_inputs())), registers_,
                        values);
  // 0·x is not a number exactly where x is not finite.
  double sum = 0.0;
  for (const double x : values) sum += 0.0 * x;
  return sum == 0.0;
}

bool Dynamics::run(CompiledFunction& function, std::vector<double>& values) {
  function(x_.data(), values.data());
  return kernels::all_finite(std::ssize(values), values.data());
}

/// As in compile/row_weights.hpp, at this very state: what a coordinate weighs here, or a part of what it weighs elsewhere.
void Dynamics::calc_row_weights(const std::vector<double>& values, int at_A) {
  constexpr double part = 1e-2;
  std::vector<double>& mass = column_;
  for (int i = 0; i < n_; ++i) mass[i] = (has_mass_[i] ? part : 1.0) / (coordinate_scale_[i] * coordinate_scale_[i]);
  for (const Entry& e : M_entries_)
    if (e.row == e.col && has_mass_[e.row]) mass[e.row] = std::max(mass[e.row], values[e.at]);
  for (int j = 0; j < m_; ++j) {
    double sum = 0.0;
    for (int k = A_begin_[j]; k < A_begin_[j + 1] && !zero_row_[j]; ++k) {
      const double a = values[at_A + A_entries_[k].at];
      sum += a * a / mass[A_entries_[k].col];
    }
    weights_[j] = sum > 0.0 ? 1.0 / sum : 0.0;
  }
}

bool Dynamics::factor_mass(const std::vector<double>& values, int at_A, const RowSet& set, bool loose) {
  if (mass_constant_ && !singular_mass && L_is_constant_) return true;
  const auto form = [&] {
    std::fill(L_.begin(), L_.end(), 0.0);
    for (const Entry& e : M_entries_) L_[e.col * n_ + e.row] = values[e.at];
  };
  form();
  if (!singular_mass) {
    if (kernels::cholesky(n_, L_.data(), clearly_definite)) return L_is_constant_ = mass_constant_, true;
    // Definite where the motion began, and hardly any more: from here on the form that is right in both cases.
    form();
    singular_mass = true;
  }
  calc_row_weights(values, at_A);
  for (const int j : set.candidates) {
    const double w = weights_[j];
    const int begin = A_begin_[j], end = A_begin_[j + 1];
    for (int k = begin; k < end; ++k)
      for (int l = begin; l < end; ++l) {
        const Entry &e = A_entries_[k], &f = A_entries_[l];
        L_[f.col * n_ + e.col] += w * values[at_A + e.at] * values[at_A + f.at];
      }
  }
  // In projections fewer rows take part and may leave directions without mass: there the units of the coordinates decide.
  if (loose)
    for (int i = 0; i < n_; ++i) L_[i * n_ + i] += 1e-13 / (coordinate_scale_[i] * coordinate_scale_[i]);
  return kernels::cholesky(n_, L_.data(), 0.0);
}

bool Dynamics::form_qr(const std::vector<double>& values, int at_A, const RowSet& set, std::vector<double>& Z,
                       std::vector<double>& tau) {
  const int r = static_cast<int>(set.kept.size());
  for (int k = 0; k < r; ++k) {
    double* z = Z.data() + static_cast<std::ptrdiff_t>(k) * n_;
    std::fill(z, z + n_, 0.0);
    const auto j = static_cast<std::size_t>(set.kept[k]);
    for (int l = A_begin_[j]; l < A_begin_[j + 1]; ++l) {
      const Entry& e = A_entries_[l];
      z[e.col] = values[at_A + e.at];
    }
    kernels::solve_lower(n_, L_.data(), z);
  }
  kernels::qr(n_, r, Z.data(), tau.data());
  for (int k = 0; k < r; ++k)
    if (Z[k * n_ + k] == 0.0) return false;
  return true;
}

bool Dynamics::rhs_robust(double t, const double* y, double* dy) {
  settle_rows();
  const double *q = y, *qd = y + n_;
  ++evaluations, ++calls;
  values_stale_ = false;
  if (measured_) return rhs_measured(t, y, dy);
  set_inputs(t, q, qd);
  if (!run(rhs_values_, v_)) return false;
  last_is_rows_ = false, last_A_ = at_A_;
  if (!factor_mass(v_, at_A_, all, false) || !form_qr(v_, at_A_, all, Z_, tau_)) return false;
  const int r = static_cast<int>(all.kept.size());

  // u = Vᵀ L⁻¹ Q, c = R⁻ᵀ b
  for (int i = 0; i < n_; ++i) u_[i] = v_[at_Q_ + i];
  if (singular_mass)
    for (const int j : all.candidates) {
      const double wb = weights_[j] * v_[at_b_ + j];
      for (int l = A_begin_[j]; l < A_begin_[j + 1]; ++l) {
        const Entry& e = A_entries_[l];
        u_[e.col] += wb * v_[at_A_ + e.at];
      }
    }
  kernels::solve_lower(n_, L_.data(), u_.data());
  kernels::apply_vt(n_, r, Z_.data(), tau_.data(), u_.data());
  for (int k = 0; k < r; ++k) c_[k] = v_[at_b_ + all.kept[k]];
  kernels::solve_upper_transposed(r, n_, Z_.data(), c_.data());
  for (int k = 0; k < r; ++k) lambda_[k] = c_[k] - u_[k];
  kernels::solve_upper(r, n_, Z_.data(), lambda_.data());
  std::copy(lambda_.begin(), lambda_.begin() + r, lambda_joint_.begin());
  by_rows(lambda_, full_);

  if (has_C_) {
    const double* C = v_.data() + at_C_;
    if (needs_reactions_) {
      const std::size_t at = static_cast<std::size_t>(rhs_tape_.num_inputs());
      std::fill(x_.begin() + static_cast<std::ptrdiff_t>(at), x_.end(), 0.0);
      for (int j = 0; j < num_constraints_; ++j) {
        const double l = full_[j];
        if (l == 0.0) continue;
        x_[at + n_ + j] = l;
        for (int e = A_begin_[j]; e < A_begin_[j + 1]; ++e) {
          const Entry& a = A_entries_[e];
          x_[at + a.col] += l * v_[at_A_ + a.at];
        }
      }
      if (!run(C_tape_, Cv_)) return false;
      C = Cv_.data();
    }
    std::copy(C, C + n_, uC_.begin());
    kernels::solve_lower(n_, L_.data(), uC_.data());
    kernels::apply_vt(n_, r, Z_.data(), tau_.data(), uC_.data());
    for (int i = r; i < n_; ++i) u_[i] += uC_[i];
    kernels::solve_upper(r, n_, Z_.data(), uC_.data());
    for (int k = 0; k < r; ++k) lambda_joint_[k] -= uC_[k];
  }

  if (!sliding_.empty() && !add_sliding(t, y)) return false;

  // q̈ = L⁻ᵀ V [c; u]
  std::copy(u_.begin(), u_.end(), qdd_.begin());
  std::copy(c_.begin(), c_.begin() + r, qdd_.begin());
  kernels::apply_v(n_, r, Z_.data(), tau_.data(), qdd_.data());
  kernels::solve_lower_transposed(n_, L_.data(), qdd_.data());

  std::copy(qd, qd + n_, dy);
  std::copy(qdd_.begin(), qdd_.end(), dy + n_);
  calc_powers(qd, dy + 2 * n_);
  double sum = 0.0;
  for (int i = 0; i < size(); ++i) sum += 0.0 * dy[i];
  return sum == 0.0;
}

/// Multipliers of the kept rows by row. Between dependent rows least norm decides, where that matters: the sum of their
/// forces is the same.
void Dynamics::by_rows(const std::vector<double>& kept, std::vector<double>& full) {
  std::fill(full.begin(), full.end(), 0.0);
  for (std::size_t k = 0; k < all.kept.size(); ++k) full[all.kept[k]] = kept[k];
  if (all.kept.size() < all.candidates.size() && (any_power_ || num_constraints_ < m_)) spread(all, full);
}

void Dynamics::calc_powers(const double* qd, double* power) {
  std::fill(power, power + num_works(), 0.0);
  double given = v_[at_K_];
  for (int i = 0; i < n_; ++i) given += qd[i] * v_[at_Q_ + i];
  power[0] = given;
  const auto rate_of = [&](int j) {  // (A q̇)_j
    double s = 0.0;
    for (int l = A_begin_[j]; l < A_begin_[j + 1]; ++l) {
      const Entry& e = A_entries_[l];
      s += v_[at_A_ + e.at] * qd[e.col];
    }
    return s;
  };
  for (int j = 0; j < num_constraints_; ++j)
    if (!powerless_[j]) power[1] += power[4 + j] = full_[j] * rate_of(j);
  if (num_constraints_ < m_) {
    if (has_nonideal_) by_rows(lambda_joint_, joint_);
    for (int j = num_constraints_; j < m_; ++j) power[3] += (has_nonideal_ ? joint_ : full_)[j] * rate_of(j);
  }
  if (!has_nonideal_) return;
  double total = 0.0;
  for (const Entry& e : M_entries_) total += qd[e.row] * v_[e.at] * qdd_[e.col];
  for (int i = 0; i < n_; ++i) total -= qd[i] * v_[at_Q_ + i];
  power[2] = total - power[3];
  for (int j = 0; j < num_constraints_; ++j) power[2] -= full_[j] * rate_of(j);
}

bool Dynamics::calc_switches(double t, const double* y, std::span<double> g) {
  if (switches_.empty()) return true;
  set_inputs(t, y, y + n_);
  const std::size_t at = static_cast<std::size_t>(rhs_tape_.num_inputs());
  std::fill(x_.begin() + static_cast<std::ptrdiff_t>(at), x_.end(), 0.0);
  if (needs_reactions_) {
    // It leaves ideal forces and multipliers among the inputs.
    if (!rhs_robust(t, y, scratch_.data())) return false;
    --evaluations, ++projections;
  }
  switch_tape_.evaluate<double>(std::span<const double>(x_).first(static_cast<std::size_t>(switch_tape_.num_inputs())),
                                registers_, g);
  double sum = 0.0;
  for (const double x : g) sum += 0.0 * x;
  return sum == 0.0;
}

void Dynamics::calc_switch_noise(double t, const double* y, std::span<double> noise) {
  if (switches_.empty()) return;
  std::vector<double> values(switches_.size());
  calc_switches(t, y, values);  // sets the inputs, reactions included
  switch_tape_.evaluate_with_bounds(
      std::span<const double>(x_).first(static_cast<std::size_t>(switch_tape_.num_inputs())), values, noise);
  for (double& e : noise) e = std::isfinite(e) ? 4.0 * e * (needs_reactions_ ? all.condition() : 1.0) : 0.0;
}

std::optional<Dynamics::SwitchRate> Dynamics::calc_switch_rate(int which, double t, const double* y, const double* dy) {
  if (needs_reactions_) return {};
  set_inputs(t, y, y + n_);
  const std::size_t at = static_cast<std::size_t>(rhs_tape_.num_inputs());
  std::copy(dy + n_, dy + 2 * n_, x_.begin() + static_cast<std::ptrdiff_t>(at));
  std::vector<double> values(switches_.size()), noise(switches_.size());
  switch_rate_tape_.evaluate_with_bounds(std::span<const double>(x_).first(at + n_), values, noise);
  return SwitchRate{values[which], 16.0 * noise[which] * std::min(all.condition(), 1e8)};
}

void Dynamics::calc_divisors(double t, const double* y, std::span<double> values) {
  if (divisors_.empty()) return;
  set_inputs(t, y, y + n_);
  divisor_tape_.evaluate<double>(std::span<const double>(x_).first(divisor_tape_.num_inputs()), registers_, values);
}

}  // namespace mechanician
