// What is known of a motion at one time: forces, multipliers, powers. Not part of the inner loop.

#include <cmath>
#include <limits>

#include "mechanician/motion/dynamics.hpp"
#include "mechanician/motion/general_solution_internal.hpp"
#include "mechanician/motion/kernels.hpp"
#include "mechanician/solve/factorisation.hpp"
#include "mechanician/solve/row_selection.hpp"

namespace mechanician {

namespace {
using Eigen::VectorXd;
}  // namespace

/// The general solver, at home with measured and dependent rows. `with_noise`: zero rows decided here and now.
bool Dynamics::solve_generally(double t, const double* y, bool with_noise, Solution& solution, General* general,
                               const double* more) {
  const System& system = written()->system();
  const State state{t, Eigen::Map<const VectorXd>(y, n_), Eigen::Map<const VectorXd>(y + n_, n_)};
  Evaluation now = system.evaluate(state);
  if (now.not_finite) return false;
  InstantValues& values = now.values;
  if (more) values.Q += Eigen::Map<const VectorXd>(more, n_);
  if (!with_noise) {
    // Within a step the rows that act are those of its begin.
    values.A_noise = SparseRows(0, n_);
    for (int j = 0; j < num_constraints_; ++j) {
      if (zero_row_[j])
        for (const SparseRows::Entry& e : values.A.row(j)) values.A_noise.add(e.col, std::abs(e.value));
      values.A_noise.end_row();
    }
  }
  std::vector<Eigen::Index> rows;
  for (int j = 0; j < num_constraints_; ++j)
    if (!values_->is_absent(j)) rows.push_back(j);
  InstantValues part = values_->is_whole() ? values : take_rows(values, rows);
  const Factorisation factors = factor(part);
  const auto solve_part = [&] {
    part.C = values.C;
    solution = solve(factors, part);
    if (!values_->is_whole()) restore_rows(solution, rows, values);
  };
  const auto set_C = [&] {
    System::Nonideal nonideal = system.calc_C(state, solution);
    if (nonideal.not_finite || !nonideal.not_unique.empty()) return false;
    values.C = std::move(nonideal.C);
    return true;
  };
  if (facts().has_C && !facts().needs_reactions && !set_C()) return false;
  solve_part();
  if (facts().has_C && facts().needs_reactions && solution.has_acceleration()) {
    if (!set_C()) return false;
    solve_part();
  }
  if (general) *general = {factors, std::move(part), std::move(rows)};
  return solution.has_acceleration();
}

bool Dynamics::rhs_generally(double t, const double* y, double* dy) {
  Solution solution;
  General general;
  const double* qd = y + n_;
  VectorXd friction = VectorXd::Zero(n_);
  const auto solve_with = [&](const double* force) {
    if (!solve_generally(t, y, false, solution, &general, force) || !evaluate(t, y)) return false;
    for (int i = 0; i < n_; ++i) qdd_[i] = solution.qdd(i);
    // Multipliers with everything, and the friction of what slides.
    std::copy(solution.multipliers.begin(), solution.multipliers.end(), full_.begin());
    InstantValues joint = general.values;
    if (joint.C.size() > 0) joint.Q += joint.C, joint.C.resize(0);
    const Solution with_C = mechanician::solve(general.factors, joint);
    if (!with_C.has_acceleration()) return false;
    general.copy_multipliers(with_C, m_, lambda_joint_.data());
    if (!sliding_.empty() && !add_sliding_generally(t, y, general)) return false;
    friction = general.values.M * (Eigen::Map<const VectorXd>(qdd_.data(), n_) - solution.qdd);
    return true;
  };
  if (!solve_with(nullptr)) return false;
  if (num_constraints_ < m_) {
    const auto respond_to = [&](const double* f, double* x) {
      InstantValues with = general.values;
      with.C.resize(0), with.b.setZero();
      with.Q = Eigen::Map<const VectorXd>(f, n_);
      const Solution moved = mechanician::solve(general.factors, with);
      if (moved.has_acceleration()) std::copy(moved.qdd.begin(), moved.qdd.end(), x);
      return moved.has_acceleration();
    };
    if (!add_control(t, y, std::cref(respond_to), std::cref(solve_with))) return false;
  }
  const EquationValues::Numbers now = values_->numbers();
  std::copy(qd, qd + n_, dy);
  std::copy(qdd_.begin(), qdd_.end(), dy + n_);
  double* power = dy + 2 * n_;
  const Eigen::Map<const VectorXd> v(qd, n_);
  power[0] = now.mass_power;
  for (int i = 0; i < n_; ++i) power[0] += qd[i] * now.Q[i];
  power[1] = 0.0, power[2] = v.dot(solution.Qc_ni) + v.dot(friction);
  power[3] = num_constraints_ < m_ ? control_.power : 0.0;
  for (int j = 0; j < num_constraints_; ++j) {
    const RowFacts& row = facts().rows[static_cast<std::size_t>(j)];
    power[4 + j] = 0.0;
    if (row.powerless) continue;
    power[1] += power[4 + j] = solution.multipliers(j) * calc_row_rate(j, qd);
  }
  std::copy_n(control_.powers.data(), num_actuators(), power + 4 + num_constraints_);
  return kernels::all_finite(size() - n_, dy + n_);
}

/// Forces and multipliers of a sample, of the last rhs_by_factors(), whose q̈ is in it already.
bool Dynamics::split_forces(const double* y, bool qdd_given, Sample& s) {
  const EquationValues::Numbers now = values_->numbers();
  const EquationFacts& f = facts();
  s.Qc_ni = s.Q_control = VectorXd::Zero(n_);
  if (num_constraints_ < m_) s.Q_control = control_.u;
  // What all constraints do: M q̈ − Q, less what control does.
  VectorXd force = -Eigen::Map<const VectorXd>(now.Q, n_) - s.Q_control;
  for (std::size_t k = 0; k < f.pattern.M.size(); ++k) {
    const auto [i, j] = f.pattern.M[k];
    force(i) += now.M[k] * s.qdd(j);
    if (i != j) force(j) += now.M[k] * s.qdd(i);
  }
  const auto add_rows = [&](int from, int to, const double* lambda, VectorXd& sum) {
    for (int j = from; j < to; ++j)
      if (lambda[j] != 0.0) each_entry(j, [&](int i, double a) { sum(i) += a * lambda[j]; });
  };
  const bool unique = all.kept.size() == all.candidates.size();
  if (qdd_given && !has_nonideal_ && num_constraints_ == m_ && values_->is_whole()) {
    // The force is given; multipliers of least norm that give it.
    s.Qc = s.Qc_i = force;
    s.lambda = VectorXd::Zero(m_);
    return m_ == 0 || factors_->calc_multipliers(matrices(), force.data(), s.lambda.data());
  }
  if (!generally_ && (unique || factors_->is_sparse() || !written())) {
    full_ = lambda_;
    spread(full_);
    s.lambda = Eigen::Map<const VectorXd>(full_.data(), num_constraints_);
    s.Qc_i = VectorXd::Zero(n_);
    add_rows(0, num_constraints_, full_.data(), s.Qc_i);
  } else {
    Solution solution;
    if (!solve_generally(s.t, y, true, solution, nullptr, s.Q_control.data())) return false;
    s.lambda = solution.multipliers;
    s.Qc = solution.Qc, s.Qc_i = solution.Qc_i, s.Qc_ni = solution.Qc_ni;
    if (sliding_.empty()) return true;
  }
  if (has_nonideal_) s.Qc_ni = force - s.Qc_i;
  s.Qc = s.Qc_i + s.Qc_ni;
  return true;
}

std::optional<Sample> Dynamics::calc_reactions(double t, const double* y, const double* qdd_given) {
  if (!surfaces_.empty() && !qdd_given) return calc_reactions_along(t, y);
  Sample s;
  s.t = t;
  s.q = Eigen::Map<const VectorXd>(y, n_);
  s.qd = Eigen::Map<const VectorXd>(y + n_, n_);
  if (!rhs_by_factors(t, y, scratch_.data())) return std::nullopt;
  --evaluations, ++projections;
  s.qdd = Eigen::Map<const VectorXd>(qdd_given ? qdd_given : qdd_.data(), n_);
  if (!split_forces(y, qdd_given != nullptr, s)) return std::nullopt;
  if (num_constraints_ < m_) {
    s.tau = facts().control.actuators.empty() ? VectorXd() : control_.tau;
    s.cost = control_.cost;
    s.error.resize(m_ - num_constraints_);
    if (!evaluate_rows(t, y, y + n_)) return std::nullopt;
    for (int j = num_constraints_; j < m_; ++j) s.error(j - num_constraints_) = residual_of(j);
  }
  if (s.lambda.size() == 0) s.lambda = VectorXd::Zero(num_constraints_);
  s.power.resize(num_constraints_);
  for (int j = 0; j < num_constraints_; ++j) s.power(j) = s.lambda(j) * calc_row_rate(j, y + n_);
  // Those of the ideal case are the actual ones where nothing else acts.
  const std::vector<double>& joint = calc_joint_multipliers();
  s.multipliers = has_nonideal_ ? VectorXd(Eigen::Map<const VectorXd>(joint.data(), num_constraints_)) : s.lambda;
  return s;
}

std::optional<Sample> Dynamics::calc_sample(double t, const double* y, const double* qdd_given) {
  std::optional<Sample> found = calc_reactions(t, y, qdd_given);
  if (!found) return found;
  Sample& s = *found;
  // Outputs may use accelerations and forces.
  calc_forces(y, s);
  const std::span<const double> quantities =
      values_->calc_quantities({.t = t, .q = y, .qd = s.qd.data(), .qdd = s.qdd.data(), .forces = forces_.data()});
  s.outputs = Eigen::Map<const VectorXd>(quantities.data(), facts().num_outputs);

  const Violation violation = calc_violation(t, y);
  s.residual = std::max(violation.position, violation.velocity);
  const double* w = y + 2 * n_;
  s.works = {w[0],
             w[1],
             w[2],
             w[3],
             Eigen::Map<const VectorXd>(w + 4, num_constraints_),
             Eigen::Map<const VectorXd>(w + 4 + num_constraints_, num_actuators())};
  return found;
}

bool Dynamics::has_plain_samples() const {
  const EquationFacts& f = facts();
  if (!fast_ || prefer_robust || weighed_ || singular_mass() || factors_->is_sparse()) return false;
  if (!f.switches.empty() || !surfaces_.empty() || !sliding_.empty() || num_constraints_ < m_ || !values_->is_whole())
    return false;
  const auto is_whole = [](const RowSet& set) { return set.kept.size() == set.candidates.size(); };
  if (!(rows_far_ || all.candidates.empty()) || !is_whole(all) || !is_whole(positions) || !is_whole(velocities))
    return false;
  // An output may have no value, which is said of the motion: whether it has one must be known now.
  constexpr KindSet later = all_forces | kind_bit(SymbolKind::acceleration);
  const std::vector<Named>& outputs = values_->system().model().outputs;
  return std::none_of(outputs.begin(), outputs.end(), [](const Named& o) { return (o.value.kinds() & later) != 0; });
}

bool Dynamics::finds_sample_later(double t, const double* y) {
  CompiledPrograms::Acceleration& fast = fast_->acceleration;
  fast_->set_inputs(t, y, n_, sides());
  if (!fast.run(fast_->inputs) || !kernels::all_finite(std::ssize(fast.outputs), fast.outputs.data())) return false;
  if (const int outputs = facts().num_outputs;
      outputs > 0 && !kernels::all_finite(outputs, values_->calc_quantities(point_of(t, y)).data()))
    return false;
  projections += 1 + (num_constraints_ > 0);  // as calc_sample() counts
  return true;
}

std::optional<Sample> Dynamics::complete_sample(double t, const double* y) {
  for (RowSet* set : {&all, &positions, &velocities}) set->kept = set->candidates;
  rows_stale_ = prefer_robust = factors_->singular_mass = false;
  return calc_sample(t, y);
}

double Dynamics::calc_friction_size(const ForceFacts& force) {
  for (std::size_t s = 0; s < sliding_.size(); ++s)
    if (sliding_[s].row == force.at) {
      const std::array<double, 2> f = calc_friction(s, joint_[static_cast<std::size_t>(sliding_[s].row)]);
      return sliding_[s].num_slips == 2 ? std::hypot(f[0], f[1]) : std::abs(f[0]);
    }
  double squares = 0.0;
  for (const int slip : force.slips)
    if (slip >= 0 && !values_->is_absent(slip)) squares += joint_[slip] * joint_[slip];
  return std::sqrt(squares);
}

void Dynamics::calc_forces(const double* y, const Sample& s) {
  const std::vector<ForceFacts>& wanted = facts().forces;
  if (wanted.empty()) return;
  forces_.assign(wanted.size(), 0.0);
  calc_joint_multipliers();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const ForceFacts& f = wanted[i];
    double& value = forces_[i];
    switch (f.kind) {
      case SymbolKind::work:
        if (f.at >= 0) value = y[2 * n_ + 4 + f.at];
        if (!force_source_.works_before.empty()) value += force_source_.works_before[i];
        break;
      case SymbolKind::friction:
        value = calc_friction_size(f);
        break;
      case SymbolKind::effort:
        if (f.at >= 0) value = s.tau(f.at);
        break;
      case SymbolKind::control_error:
        if (f.at >= 0) value = s.error(f.at);
        break;
      case SymbolKind::control_cost:
        value = s.cost;
        break;
      default: {
        const VectorXd& of_kind = f.kind == SymbolKind::multiplier         ? s.multipliers
                                  : f.kind == SymbolKind::power            ? s.power
                                  : f.kind == SymbolKind::ideal_force      ? s.Qc_i
                                  : f.kind == SymbolKind::constraint_force ? s.Qc
                                                                           : s.Q_control;
        if (f.at >= 0) value = of_kind(f.at);
      }
    }
  }
  if (force_source_.ideal) force_source_.ideal({s.t, s.q, s.qd}, s.Q_control, forces_);
}

/// What is not known of them: by rounding, and because the state is known up to the tolerance only. Of the last calc_forces().
void Dynamics::calc_force_noise(const double* y, double tolerance, std::span<double> noise) {
  const std::vector<double>& units = factors_->typical_units();
  const EquationValues::Numbers v = values_->numbers();
  std::vector<double>& terms = row_scratch_;
  std::fill(terms.begin(), terms.end(), 0.0);
  if (!generally_) factors_->calc_multiplier_sizes(v.Q, v.b, terms.data());
  const auto row_size = [&](int j) {
    double squares = 0.0;
    each_entry(j, [&](int i, double a) { squares += a * units[i] * a * units[i]; });
    return std::sqrt(squares);
  };
  double largest = 0.0;  // of the forces of rows, in units of what coordinates weigh
  for (int j = 0; j < m_; ++j) {
    terms[j] = std::max(terms[j], std::abs(joint_[j]));
    if (!values_->is_absent(j)) largest = std::max(largest, terms[j] * row_size(j));
  }
  const double rounding = 64.0 * std::numeric_limits<double>::epsilon() * std::min(all.condition(), 1e8) * largest;
  const auto of_row = [&](int j) {
    const double size = row_size(j);
    return tolerance * terms[j] + (size > 0.0 ? rounding / size : 0.0);
  };
  const std::vector<ForceFacts>& wanted = facts().forces;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const ForceFacts& f = wanted[i];
    noise[i] = tolerance * std::abs(forces_[i]);
    if ((kind_bit(f.kind) & forces_of_control) != 0) continue;
    if (f.kind == SymbolKind::friction)
      for (const int slip : f.slips)
        if (slip >= 0 && !values_->is_absent(slip)) noise[i] += of_row(slip);
    if (f.at < 0 || f.kind == SymbolKind::friction) continue;
    if (f.kind == SymbolKind::multiplier) {
      noise[i] += of_row(f.at);
    } else if (f.kind == SymbolKind::power) {
      double speed = 0.0;
      each_entry(f.at,
                 [&](int k, double a) { speed += std::abs(a) * std::max(std::abs(y[n_ + k]), sizes.near_qd[k]); });
      noise[i] += of_row(f.at) * speed;
    } else if (f.kind != SymbolKind::work) {
      noise[i] += rounding / units[f.at];
    }
  }
}

bool Dynamics::set_output_point(double t, const double* y, Point& point) {
  point = point_of(t, y);
  if (facts().events_use_forces) {
    const std::optional<Sample> s = calc_reactions(t, y, nullptr);
    if (!s) return false;
    calc_forces(y, *s);
    event_qdd_.assign(s->qdd.begin(), s->qdd.end());
    point.qdd = event_qdd_.data(), point.forces = forces_.data();
    return true;
  }
  if (!facts().events_use_acceleration) return true;
  if (!rhs(t, y, scratch_.data())) return false;
  --evaluations, ++projections;
  point.qdd = qdd_.data();
  return true;
}

bool Dynamics::calc_events(double t, const double* y, std::span<double> when) {
  if (when.empty()) return true;
  Point point;
  if (!set_output_point(t, y, point)) return false;
  const std::span<const double> quantities = values_->calc_quantities(point);
  std::copy_n(quantities.begin() + facts().num_outputs, when.size(), when.begin());
  return kernels::all_finite(std::ssize(when), when.data());
}

void Dynamics::calc_event_noise(double t, const double* y, double tolerance, std::span<double> noise) {
  Point point;
  if (!set_output_point(t, y, point)) return;
  const EquationFacts& f = facts();
  const auto outputs = static_cast<std::size_t>(f.num_outputs), n = static_cast<std::size_t>(n_);
  std::vector<double> bounds(outputs + f.events.size() + static_cast<std::size_t>(f.num_event_switches)), known(3 * n);
  for (std::size_t i = 0; i < 3 * n; ++i)
    if (const double* const x = i < 2 * n ? y + i : point.qdd ? point.qdd + (i - 2 * n) : nullptr)
      known[i] = tolerance * (i < 2 * n ? sizes.of_known(i, *x) : std::abs(*x));
  std::vector<double> of_forces(f.forces.size());
  if (point.forces) calc_force_noise(y, tolerance, of_forces);
  values_->calc_quantity_noise(point,
                               {.t = 0.0,
                                .q = known.data(),
                                .qd = known.data() + n,
                                .qdd = point.qdd ? known.data() + 2 * n : nullptr,
                                .forces = point.forces ? of_forces.data() : nullptr},
                               bounds);
  for (std::size_t i = 0; i < noise.size(); ++i) {
    const double e = bounds[outputs + i];
    noise[i] = std::isfinite(e) ? e : 0.0;
  }
}

bool Dynamics::bound_events(const StateBox& box, std::span<Interval> when) {
  const EquationFacts& f = facts();
  if (f.events_use_forces) return false;  // nothing bounds these
  bounds_of_quantities_.resize(static_cast<std::size_t>(f.num_outputs + f.num_event_switches) + f.events.size());
  if (!values_->bound_quantities(box, bounds_of_quantities_)) return false;
  std::copy_n(bounds_of_quantities_.begin() + f.num_outputs, when.size(), when.begin());
  return true;
}

bool Dynamics::calc_event_switches(double t, const double* y, std::span<double> g) {
  Point point;
  if (!set_output_point(t, y, point)) return false;
  const std::span<const double> quantities = values_->calc_quantities(point);
  std::copy(quantities.end() - facts().num_event_switches, quantities.end(), g.begin());
  return true;
}

}  // namespace mechanician
