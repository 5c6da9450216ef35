#include "mechanician/instant/accelerate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanician/instant/control.hpp"
#include "mechanician/instant/without_states.hpp"
#include "mechanician/solve/assemble.hpp"
#include "mechanician/solve/row_selection.hpp"

namespace mechanician {

namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr double eps = std::numeric_limits<double>::epsilon();

double largest(const VectorXd& x) { return x.size() == 0 ? 0.0 : x.cwiseAbs().maxCoeff(); }

}  // namespace

std::vector<RowResidual> Instant::violations() const {
  std::vector<RowResidual> result;
  for (const RowResidual& r : residuals)
    if (!(r.scaled <= start_tolerance)) result.push_back(r);
  return result;
}

std::vector<RowResidual> calc_residuals(const System& system, const State& state, const Evaluation& now) {
  std::vector<RowResidual> result;
  // Coordinates in units of what they weigh, as motions have them (motion/sizes.hpp).
  const VectorXd units = calc_units(now.values);
  const auto in_units = [&](const VectorXd& x) {
    return x.size() > 0 ? x.cwiseQuotient(units).cwiseAbs().maxCoeff() : 0.0;
  };
  const double free = std::sqrt(2.0 * now.values.Q.cwiseAbs().dot(state.q.cwiseAbs()));
  const auto or_one = [](double x) { return x > 0.0 ? x : 1.0; };
  const std::vector<double> scale = system.scale();
  const double given = scale.empty() ? 0.0 : in_units(Eigen::Map<const VectorXd>(scale.data(), std::ssize(scale)));
  const double q_size = or_one(std::max(given, in_units(state.q))),
               qd_size = or_one(std::max({in_units(state.qd), free, calc_rest_speed(state, now.values, units)}));
  const auto slope_of = [&](const SparseRows& A, int i) {
    double slope = 0.0;
    for (const SparseRows::Entry& e : A.row(i)) slope = std::hypot(slope, e.value * units(e.col));
    return slope;
  };
  for (int i = 0; i < system.m(); ++i) {
    const RowTraits& row = system.row(i);
    if (row.measured || row.bare || row.level == Level::acceleration) continue;
    // A one-sided constraint is violated on one side only, and its rate is free.
    if (row.one_sided) {
      const double least = std::min(0.0, now.residual(i));
      const double slope_here = slope_of(now.values.A, i);
      const double size = row.level == Level::position ? q_size : qd_size;
      result.push_back({i, false, least, least == 0.0 ? 0.0 : -least / (std::max(slope_here, 1e-300) * size)});
      continue;
    }
    const double slope = slope_of(now.values.A, i), slope_noise = slope_of(now.values.A_noise, i);
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

namespace {

/// The contacts decide which rows act; these rows as equalities, with friction as a part of C, are then solved as ever.
void solve_with_contacts(const System& system, const Evaluation& now, const AccelerateOptions& options,
                         Instant& instant) {
  const State& state = instant.state;
  const auto solve_acting = [&](const std::vector<Eigen::Index>& acting, const Eigen::VectorXd& C, bool last) {
    InstantValues part = take_rows(instant.values, acting);
    part.C = C;
    const Factorisation factors = factor(part);
    Solution solution = solve_with_form(factors, part, options.form);
    if (last && options.diagnose) {
      instant.diagnosis = diagnose(factors, part);
      restore_rows(*instant.diagnosis, acting);
    }
    if (last && options.parts && solution.has_acceleration()) {
      instant.parts = calc_parts(factors, part, solution, state.qd);
      restore_rows(*instant.parts, acting, instant.values);
    }
    restore_rows(solution, acting, instant.values);
    return solution;
  };
  const auto touches = [](const Contact& c) { return c.status == ContactStatus::touching; };
  const bool impact = std::any_of(instant.contacts.begin(), instant.contacts.end(),
                                  [](const Contact& c) { return c.status == ContactStatus::impact; });
  if (impact) instant.impact = calc_impact(system, state, now, instant.contacts);

  const ContactSolution ideal = solve_contacts(system, instant.values, instant.contacts, {}, {.friction = false});
  if (impact || ideal.status != SolveStatus::solved) {
    instant.acting = rows_with(system, instant.contacts, touches);
    instant.solution = solve_acting(instant.acting, {}, true);
    if (!impact) instant.solution.status = ideal.status;
    instant.contact_conflict = ideal.conflict;
    return;
  }
  // Nothing but one-sided constraints: the programme has said it all.
  const bool any_friction = std::any_of(instant.contacts.begin(), instant.contacts.end(), [&](const Contact& c) {
    return c.values.has_friction && (touches(c) || !c.values.one_sided);
  });
  if (!any_friction && !system.has_C()) {
    instant.contacts = ideal.contacts;
    instant.acting = ideal.acting;
    instant.optimality = ideal.optimality;
    if (options.form == Form::automatic && !options.diagnose && !options.parts) {
      instant.solution = *ideal.solution;
      return;
    }
    instant.solution = solve_acting(ideal.acting, {}, true);
    if (instant.solution.has_acceleration() && !instant.solution.multipliers_unique)
      instant.solution.multipliers = ideal.multipliers.head(instant.solution.multipliers.size());
    return;
  }
  instant.solution = solve_acting(ideal.acting, {}, false);
  const auto nonnegative = [&](const ContactSolution& of) {
    if (!instant.solution.multipliers_unique)
      instant.solution.multipliers = of.multipliers.head(instant.solution.multipliers.size());
  };
  if (instant.solution.has_acceleration()) nonnegative(ideal);
  System::Nonideal nonideal = system.calc_C(state, instant.solution);
  instant.multiplier_not_unique = std::move(nonideal.not_unique);
  instant.not_finite = std::move(nonideal.not_finite);
  if (instant.not_finite || !instant.multiplier_not_unique.empty()) return;

  ContactSolution actual = solve_contacts(system, instant.values, instant.contacts, nonideal.C);
  instant.contact_trouble = actual.trouble;
  instant.contact_conflict = actual.conflict;
  if (actual.status != SolveStatus::solved || !actual.trouble.empty()) {
    if (actual.trouble.empty()) instant.solution.status = actual.status;
    return;
  }
  instant.contacts = actual.contacts;
  instant.acting = actual.acting;
  instant.optimality = actual.optimality;
  instant.uniqueness_unknown = actual.uniqueness_unknown;
  instant.shared = actual.shared;
  if (system.has_C() || !actual.friction_force.isZero(0.0)) instant.values.C = nonideal.C + actual.friction_force;
  const Solution of_ideal = instant.solution;
  instant.solution = solve_acting(actual.acting, instant.values.C, true);
  if (!instant.solution.has_acceleration()) return;
  nonnegative(ideal);
  if (actual.acting != ideal.acting) {
    Solution& s = instant.solution;
    s.Qc_i = of_ideal.Qc_i, s.multipliers = of_ideal.multipliers;
    s.Qc_ni = s.Qc - s.Qc_i;
  }
}

/// Residuals; false where a value is not finite.
bool look_at(const System& system, const Evaluation& now, Instant& instant) {
  if ((instant.not_finite = now.not_finite)) {
    instant.values = now.values;
    instant.solution.status = SolveStatus::not_finite;
    return false;
  }
  instant.residuals = calc_residuals(system, instant.state, now);
  for (const RowResidual& r : instant.residuals)
    instant.constraint_residual = std::max(instant.constraint_residual, std::abs(r.value));
  return true;
}

/// The rows that the options name, all of them as equalities.
void solve_rows(const System& system, const AccelerateOptions& options, Instant& instant) {
  const State& state = instant.state;
  if (options.rows)
    instant.acting = *options.rows;
  else
    for (int j = 0; j < system.m(); ++j) instant.acting.push_back(j);
  InstantValues taken;  // copies of all that there is are of no use to anybody
  if (options.rows) taken = take_rows(instant.values, instant.acting);
  InstantValues& part = options.rows ? taken : instant.values;
  const Factorisation factors = factor(part);
  const auto solved = [&] {
    part.C = instant.values.C;
    Solution solution = solve_with_form(factors, part, options.form);
    if (options.rows) restore_rows(solution, instant.acting, instant.values);
    return solution;
  };
  const auto set_C = [&] {
    System::Nonideal nonideal = system.calc_C(state, instant.solution);
    instant.multiplier_not_unique = std::move(nonideal.not_unique);
    instant.not_finite = std::move(nonideal.not_finite);
    if (!instant.not_finite && instant.multiplier_not_unique.empty()) instant.values.C = std::move(nonideal.C);
  };
  // Where C depends on the reactions: first with C = 0, then with the C that those forces give.
  const bool two_stages = system.has_C() && system.needs_reactions();
  if (system.has_C() && !two_stages) set_C();
  instant.solution = solved();
  if (two_stages && instant.solution.has_acceleration()) {
    set_C();
    if (instant.has_acceleration()) instant.solution = solved();
  }
  if (options.diagnose && !options.rows && !two_stages) add_determined(part, instant.solution);
  if (options.diagnose) {
    instant.diagnosis = diagnose(factors, part);
    if (options.rows) restore_rows(*instant.diagnosis, instant.acting);
  }
  if (options.parts && instant.has_acceleration() && !options.rows)
    instant.parts = calc_parts(factors, part, instant.solution, state.qd);
}

/// With instant.values as they are, control force and all.
void solve_constraints(const System& system, const Evaluation& now, const AccelerateOptions& options, bool contacts,
                       Instant& instant) {
  // States of first order have no mass, and nothing that feels them needs it.
  const bool beside_states =
      (options.diagnose || options.parts || options.form != Form::automatic) && has_unfelt_states(system);
  AccelerateOptions of_all = options;
  if (beside_states && needs_definite_mass(options.form)) of_all.form = Form::automatic;
  if (contacts)
    solve_with_contacts(system, now, of_all, instant);
  else
    solve_rows(system, of_all, instant);
  if (beside_states) add_without_states(system, options, instant);
}

/// Constraints and control of an instant that was looked at.
void solve_all(const System& system, Evaluation now, const AccelerateOptions& options, bool contacts,
               Instant& instant) {
  // Impacts look at them again; elsewhere copies are of no use to anybody.
  const bool again = contacts || system.num_control() > 0;
  instant.values = again ? now.values : std::move(now.values);
  if (system.num_control() == 0) return solve_constraints(system, now, options, contacts, instant);
  const Instant start = instant;
  const auto plant = [&](const VectorXd& u, const AccelerateOptions& how, const std::vector<Contact>* guess) {
    Instant result = start;
    if (guess) result.contacts = *guess;
    if (u.size() > 0) result.values.Q += u;
    solve_constraints(system, now, how, contacts, result);
    return result;
  };
  instant = accelerate_with_control(system, now, options, start.contacts, plant);
}

}  // namespace

Instant accelerate_with(const System& system, const State& state, const Evaluation& now, std::vector<Contact> contacts,
                        const AccelerateOptions& options) {
  Instant instant;
  instant.state = state;
  if (!look_at(system, now, instant)) return instant;
  instant.contacts = std::move(contacts);
  solve_all(system, now, options, true, instant);
  return instant;
}

Instant accelerate(const System& system, const State& state, const AccelerateOptions& options) {
  Instant instant;
  instant.state = state;
  Evaluation now = system.evaluate(state);
  if (!look_at(system, now, instant)) return instant;
  const bool contacts = system.has_contacts() && options.contacts;
  if (contacts) instant.contacts = classify_contacts(system, state, now, size_of(state, now), instant.not_finite);
  if (instant.not_finite) {
    instant.solution.status = SolveStatus::not_finite;
    return instant;
  }
  solve_all(system, std::move(now), options, contacts, instant);
  return instant;
}

double calc_solution_residual(const Instant& instant) {
  constexpr double share = 1e-3;
  const InstantValues& v = instant.values;
  const Solution& s = instant.solution;
  Eigen::VectorXd size = v.M.abs_times(s.qdd) + v.Q.cwiseAbs() + s.Qc_ni.cwiseAbs() + s.Q_control.cwiseAbs();
  if (v.Q_noise.size() == size.size()) size += v.Q_noise / eps;  // terms that Q was summed from
  for (Eigen::Index j = 0; j < s.multipliers.size(); ++j)
    for (const SparseRows::Entry& e : v.A.row(j)) size(e.col) += std::abs(e.value * s.multipliers(j));
  const double granted = share * largest(size);
  const Eigen::VectorXd off = v.M * s.qdd - v.Q - s.Qc - s.Q_control;
  double most = 0.0;
  const auto take = [&](double missing, double terms) {
    if (missing != 0.0) most = std::max(most, std::abs(missing) / terms);
  };
  for (Eigen::Index i = 0; i < off.size(); ++i) take(off(i), size(i) + granted);
  // What the forces would do alone is what a row has held back.
  Eigen::VectorXd speeding = s.qdd.cwiseAbs();
  for (Eigen::Index i = 0; i < size.size(); ++i)
    if (const double mass = v.M(i, i); mass > 0.0) speeding(i) += size(i) / mass;
  const double fastest = share * largest(speeding);
  for (std::size_t k = 0; k < instant.acting.size() && s.b_used.size() == v.b.size(); ++k) {
    const Eigen::Index j = instant.acting[k];
    const double terms = v.b_size.size() == v.b.size() ? v.b_size(j) : std::abs(s.b_used(j));
    take(v.A.dot(j, s.qdd) - s.b_used(j), v.A.abs_dot(j, speeding) + terms + fastest * v.A.norm(j));
  }
  return most;
}

}  // namespace mechanician
