#include "mechanician/motion/dynamics.hpp"

#include <cmath>
#include <limits>

#include "mechanician/motion/kernels.hpp"

namespace mechanician {

Dynamics::Dynamics(const System& system) : Dynamics(make_equation_values(system)) {}

Dynamics::Dynamics(std::unique_ptr<EquationValues> values) : Dynamics(std::move(values), nullptr) {}

Dynamics::Dynamics(std::unique_ptr<EquationValues> values, std::unique_ptr<KktFactors> factors)
    : values_(std::move(values)), factors_(factors ? std::move(factors) : make_kkt_factors(values_->facts())) {
  const EquationFacts& f = facts();
  n_ = f.n, m_ = f.m, num_constraints_ = f.num_constraints;
  list_candidates();
  if (!f.states.empty()) state_groups_.assign(static_cast<std::size_t>(n_), -1);
  for (std::size_t k = 0; k < f.states.size(); ++k)
    state_groups_[static_cast<std::size_t>(f.states[k].coordinate)] = f.family_of_state[k];
  for (const SlidingFacts& s : f.sliding) sliding_.push_back({.row = s.row, .num_slips = s.num_slips});
  const auto n = static_cast<std::size_t>(n_), m = static_cast<std::size_t>(m_);
  size_sliding();
  for (auto* x : {&qdd_, &column_, &ideal_}) x->resize(n);
  for (auto* x : {&lambda_, &lambda_joint_, &full_, &joint_, &force_lambda_, &row_scratch_}) x->resize(m);
  scratch_.resize(static_cast<std::size_t>(size()));
  zero_row_.assign(m, 0), inert.assign(m, 0), off_.assign(m, 0);
  for (RowSet* set : {&all, &positions, &velocities}) set->kept.reserve(m), set->pivot.reserve(m + 1);
  if (f.control.every) held_control.assign(1 + (f.control.actuators.empty() ? n : f.control.actuators.size()), 0.0);
}

/// The rows that are there.
void Dynamics::list_candidates() {
  for (RowSet* set : {&all, &positions, &velocities}) set->candidates.clear();
  measured_.exact = {};
  weighed_ = weighing_known_ = false;
  any_power_ = velocity_rows_nonlinear_ = false;
  for (int j = 0; j < m_; ++j) {
    const RowFacts& row = facts().rows[static_cast<std::size_t>(j)];
    if (values_->is_absent(j) || row.kind == RowKind::control) continue;
    all.candidates.push_back(j);
    if (!row.measured) measured_.exact.candidates.push_back(j);
    any_power_ |= !row.powerless;
    if (row.measured || row.level == Level::acceleration) continue;
    velocities.candidates.push_back(j);
    if (row.level == Level::position) positions.candidates.push_back(j);
    velocity_rows_nonlinear_ |= row.level == Level::velocity && !row.linear;
  }
}

void Dynamics::size_sliding() {
  const std::size_t contacts = sliding_.size();
  has_nonideal_ = facts().has_C || contacts > 0;
  sliding_lambda_.resize(contacts);
  response_.resize(contacts > 0 ? static_cast<std::size_t>(n_ + m_) : 0);
}

void Dynamics::set_sliding(std::vector<Sliding> sliding) {
  sliding_ = std::move(sliding);
  size_sliding();
}

void Dynamics::set_absent(std::vector<char> absent) {
  values_->absent = std::move(absent);
  list_candidates();
  set_sliding({});
}

void Dynamics::take_parameters() {
  rows_y_.clear(), sines_t_ = std::numeric_limits<double>::quiet_NaN();  // what is known of the last state
  believed_ = {};
  auto* written = dynamic_cast<WrittenEquations*>(&*values_);
  if (!written) return;
  written->take_parameters();
  for (std::size_t i = 0; fast_ && kept_code_ && i < kept_code_->varied.size(); ++i)
    fast_->inputs[static_cast<std::size_t>(1 + 2 * n_) + i] =
        written->system().parameters()[static_cast<std::size_t>(kept_code_->varied[i])];
}

bool Dynamics::evaluate(double t, const double* y) {
  values_stale_ = false;
  if (!values_->evaluate(t, y, y + n_)) return false;
  const EquationValues::Numbers v = values_->numbers();
  last_ = {v.M, v.A};
  return true;
}

bool Dynamics::evaluate_rows(double t, const double* q, const double* qd) {
  ++projections;
  const std::size_t n = qdd_.size();
  const bool known = rows_y_.size() == 1 + 2 * n + sides().size() && rows_y_[0] == t &&
                     std::equal(q, q + n_, rows_y_.begin() + 1) && std::equal(qd, qd + n_, rows_y_.begin() + 1 + n_) &&
                     std::equal(sides().begin(), sides().end(), rows_y_.begin() + 1 + 2 * n_);
  if (!known) {
    rows_y_.clear();
    if (!values_->evaluate_rows(t, q, qd)) return false;
    rows_y_.resize(1 + 2 * n + sides().size());
    rows_y_[0] = t;
    std::copy(q, q + n_, rows_y_.begin() + 1);
    std::copy(qd, qd + n_, rows_y_.begin() + 1 + n_);
    std::copy(sides().begin(), sides().end(), rows_y_.begin() + 1 + 2 * n_);
  }
  const EquationValues::RowNumbers v = values_->row_numbers();
  last_ = {v.M, v.A};
  return true;
}

void Dynamics::copy_row(int j, double* a) const {
  std::fill(a, a + n_, 0.0);
  each_entry(j, [&](int i, double value) { a[i] = value; });
}

bool Dynamics::rhs_by_factors(double t, const double* y, double* dy) {
  return surfaces_.empty() ? rhs_by_factors_aside(t, y, dy) : rhs_along(t, y, true, dy);
}

bool Dynamics::rhs_by_factors_aside(double t, const double* y, double* dy) {
  settle_rows();
  ++evaluations, ++calls;
  generally_ = weighed_ && !factors_->is_sparse();
  if (generally_) return rhs_generally(t, y, dy);
  if (!evaluate(t, y)) return false;
  const EquationValues::Numbers v = values_->numbers();
  factors_->careful = prefer_robust;
  const long robust = factors_->robust_solutions;
  if (weighed_ && !weigh(t, y)) {
    generally_ = true;
    ++robust_evaluations;
    return rhs_generally(t, y, dy);
  }
  const bool solved =
      (weighed_ || factors_->factor({v.M, v.A}, all, KktFactors::Mass::exact)) && solve_constraints(t, y, nullptr);
  robust_evaluations += factors_->robust_solutions - robust;
  if (!solved) return false;
  if (num_constraints_ < m_) {
    const auto respond_to = [&](const double* f, double* x) { return respond(f, nullptr, x, force_lambda_.data()); };
    const auto solve_with = [&](const double* f) { return solve_constraints(t, y, f); };
    if (!add_control(t, y, std::cref(respond_to), std::cref(solve_with))) return false;
  }
  refine_states();
  const double* const qd = y + n_;
  std::copy(qd, qd + n_, dy);
  std::copy(qdd_.begin(), qdd_.end(), dy + n_);
  calc_powers(qd, dy + 2 * n_);
  return kernels::all_finite(size() - n_, dy + n_);
}

/// Orthogonal factors leave rounding of the largest acceleration everywhere. A state that has just begun at zero is small against that, and is
/// of a kind of its own: its row, which has no other state in it, gives what is its own.
void Dynamics::refine_states() {
  const double* const b = values_->numbers().b;
  for (const StateRow& z : facts().states) qdd_[z.coordinate] += b[z.row] - calc_row_rate(z.row, qdd_.data());
}

bool Dynamics::solve_constraints(double t, const double* y, const double* more) {
  const EquationValues::Numbers v = values_->numbers();
  const double* Q = v.Q;
  if (more) {
    for (int i = 0; i < n_; ++i) column_[i] = v.Q[i] + more[i];
    Q = column_.data();
  }
  if (!respond(Q, weighed_ ? measured_.b.data() : v.b, qdd_.data(), lambda_.data())) return false;
  // Most systems need no more than q̈.
  if (any_power_ || has_nonideal_) full_ = lambda_;
  if (any_power_) spread(full_);
  if (has_nonideal_) {
    lambda_joint_ = lambda_;
    if (!add_nonideal(t, y)) return false;
  }
  return true;
}

/// C, which may depend on the ideal forces, and the friction of what slides, which depends on what it changes.
bool Dynamics::add_nonideal(double t, const double* y) {
  if (facts().has_C) {
    const double* C = values_->numbers().C;
    if (facts().needs_reactions) {
      std::fill(ideal_.begin(), ideal_.end(), 0.0);
      for (int j = 0; j < num_constraints_; ++j)
        if (const double l = full_[j]; l != 0.0) each_entry(j, [&](int i, double a) { ideal_[i] += l * a; });
      C = values_->calc_C({.t = t, .q = y, .qd = y + n_, .ideal = ideal_.data(), .multipliers = full_.data()});
      if (!C) return false;
    }
    if (!add_force(C)) return false;
  }
  return sliding_.empty() || add_sliding(t, y);
}

bool Dynamics::add_force(const double* force) {
  if (!respond(force, nullptr, column_.data(), force_lambda_.data())) return false;
  for (int i = 0; i < n_; ++i) qdd_[i] += column_[i];
  for (int j = 0; j < m_; ++j) lambda_joint_[j] += force_lambda_[j];
  return true;
}

/// Between dependent rows least norm decides, where that matters: the sum of their forces is the same.
void Dynamics::spread(std::vector<double>& lambda) {
  if (all.kept.size() < all.candidates.size()) factors_->spread(all, off_, lambda.data());
}

double Dynamics::calc_row_rate(int j, const double* v) const {
  double s = 0.0;
  each_entry(j, [&](int i, double a) { s += a * v[i]; });
  return s;
}

double Dynamics::calc_row_norm(int j, const double* A) const {
  double s = 0.0;
  const SparseLists& slots = facts().row_slots;
  for (const int* slot = slots.first(j); slot != slots.last(j); ++slot) s += A[*slot] * A[*slot];
  return std::sqrt(s);
}

void Dynamics::calc_powers(const double* qd, double* power) {
  const EquationValues::Numbers v = values_->numbers();
  const std::vector<RowFacts>& rows = facts().rows;
  std::fill(power, power + num_works(), 0.0);
  double given = v.mass_power;
  for (int i = 0; i < n_; ++i) given += qd[i] * v.Q[i];
  power[0] = given;
  if (any_power_)
    for (int j = 0; j < num_constraints_; ++j)
      if (!rows[j].powerless) power[1] += power[4 + j] = full_[j] * calc_row_rate(j, qd);
  if (num_constraints_ < m_) {
    power[3] = control_.power;
    std::copy_n(control_.powers.data(), num_actuators(), power + 4 + num_constraints_);
  }
  if (!has_nonideal_) return;
  double total = 0.0;
  const std::vector<SparseEntry>& M = facts().pattern.M;
  for (std::size_t k = 0; k < M.size(); ++k) {
    const auto [i, j] = M[k];
    total += v.M[k] * (i == j ? qd[i] * qdd_[i] : qd[i] * qdd_[j] + qd[j] * qdd_[i]);
  }
  for (int i = 0; i < n_; ++i) total -= qd[i] * v.Q[i];
  power[2] = total - power[3];
  for (int j = 0; j < num_constraints_; ++j) power[2] -= full_[j] * calc_row_rate(j, qd);
}

/// Reactions come from the robust path: those of C = 0, as C itself takes them.
bool Dynamics::set_reactions(Point& point, const double* y) {
  if (!facts().needs_reactions) return true;
  if (!rhs_by_factors(point.t, y, scratch_.data())) return false;
  --evaluations, ++projections;
  point.ideal = ideal_.data(), point.multipliers = full_.data();
  return true;
}

bool Dynamics::calc_switches(double t, const double* y, std::span<double> g) {
  if (g.empty()) return true;
  Point point = point_of(t, y);
  const std::size_t expressions = num_expression_switches();
  if (g.size() > expressions && !calc_control_switches_fast(t, y, g.subspan(expressions))) {
    if (!rhs_by_factors(t, y, scratch_.data())) return false;
    --evaluations, ++projections;
    calc_control_switches(g.subspan(expressions));
    point.ideal = ideal_.data(), point.multipliers = full_.data();
  } else if (!set_reactions(point, y)) {
    return false;
  }
  return expressions == 0 || values_->calc_switches(point, g.first(expressions));
}

bool Dynamics::bound_switches(const StateBox& box, std::span<Interval> g) {
  const std::size_t expressions = num_expression_switches();
  std::fill(g.begin() + static_cast<std::ptrdiff_t>(expressions), g.end(), Interval::everything());
  return expressions == 0 || values_->bound_switches(box, g.first(expressions));
}

void Dynamics::take_sides(double t, const double* y) {
  std::vector<double> g(sides().size());
  if (facts().needs_reactions) return;
  // Inner switches come first, so a few rounds settle them.
  const std::size_t count = num_expression_switches();
  for (std::size_t round = 0; round <= count && count > 0; ++round)
    if (!values_->calc_switches(point_of(t, y), std::span(g).first(count)) ||
        !update_sides(std::span(g).first(count), std::span(sides()).first(count)))
      break;
}

void Dynamics::calc_switch_noise(double t, const double* y, std::span<double> noise) {
  if (noise.empty()) return;
  Point point = point_of(t, y);
  if (!set_reactions(point, y)) return;
  const std::size_t expressions = num_expression_switches();
  // What is left of the others is rounding of efforts, as large as these.
  std::fill(noise.begin() + static_cast<std::ptrdiff_t>(expressions), noise.end(), 0.0);
  if (noise.size() > expressions) {
    const double size = (control_.tau.size() ? control_.tau.cwiseAbs().maxCoeff() : 0.0) +
                        (control_.qdd.size() ? control_.qdd.cwiseAbs().maxCoeff() : 0.0);
    std::fill(noise.begin() + static_cast<std::ptrdiff_t>(expressions), noise.end(), 1e-14 * size);
    noise = noise.first(expressions);
    if (noise.empty()) return;
  }
  values_->calc_switch_noise(point, noise);
  const double magnified = facts().needs_reactions ? all.condition() : 1.0;
  for (double& e : noise) e = std::isfinite(e) ? 4.0 * e * magnified : 0.0;
}

bool Dynamics::calc_switch_rates(double t, const double* y, const double* dy, std::span<double> rates,
                                 std::span<double> noise) {
  Point point = point_of(t, y);
  point.qdd = dy + n_;
  const std::size_t expressions = num_expression_switches();
  std::fill(rates.begin() + static_cast<std::ptrdiff_t>(expressions), rates.end(),
            std::numeric_limits<double>::quiet_NaN());
  std::fill(noise.begin() + static_cast<std::ptrdiff_t>(expressions), noise.end(), 0.0);
  if (expressions > 0 && !values_->calc_switch_rates(point, rates.first(expressions), noise.first(expressions)))
    return false;
  for (double& e : noise) e *= 16.0 * std::min(all.condition(), 1e8);
  return true;
}

std::optional<Dynamics::SwitchRate> Dynamics::calc_switch_rate(int which, double t, const double* y, const double* dy) {
  const std::size_t count = facts().switches.size();
  std::vector<double> rates(count), noise(count);
  if (!calc_switch_rates(t, y, dy, rates, noise) || std::isnan(rates[which])) return {};
  return SwitchRate{rates[which], noise[which]};
}

void Dynamics::calc_divisors(double t, const double* y, std::span<double> values) {
  if (!values.empty()) values_->calc_divisors(point_of(t, y), values);
}

}  // namespace mechanician
