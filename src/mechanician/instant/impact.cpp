#include "mechanician/instant/impact.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mechanician {

namespace {
using Eigen::Index;
using Eigen::VectorXd;

constexpr double eps = std::numeric_limits<double>::epsilon();

/// The jump with all restitutions multiplied by `part`.
ContactSolution solve_jump(const System& system, const State& state, const Evaluation& now,
                           std::vector<Contact> contacts, double part) {
  InstantValues values = now.values;
  values.Q = values.M * state.qd;
  values.Q_noise = eps * values.M.abs_times(state.qd);
  const VectorXd Av = values.A * state.qd, size = values.A.abs_times(state.qd);
  for (Index j = 0; j < values.A.rows(); ++j) {
    const RowTraits& row = system.row(static_cast<int>(j));
    const bool holds = row.kind == RowKind::constraint && !row.measured;
    double off = 0.0;
    if (holds && row.level == Level::position) off = now.rate(j);
    if (holds && row.level == Level::velocity) off = now.residual(j);
    values.b(j) = Av(j) - off;
  }
  for (Contact& c : contacts) {
    const Index j = c.values.row;
    if (c.values.one_sided && c.values.level == Level::position)
      values.b(j) += std::max(0.0, -part * c.values.restitution * c.rate);
    // A constraint on velocities may not be violated afterwards, whether it touches before or not.
    if (c.status == ContactStatus::impact || (c.values.one_sided && c.values.level == Level::velocity))
      c.status = ContactStatus::touching;
    // A force with a limit of its own has no impulse.
    if (c.values.limit > 0.0 || c.values.bare) c.values.has_friction = false;
    if (c.values.has_friction) {
      c.values.slip_b = c.values.T * state.qd - c.values.slip;
      c.direction.resize(0);
    }
  }
  values.b_noise = 4.0 * eps * size;
  values.b_size = size.cwiseMax(values.b.cwiseAbs());
  return solve_contacts(system, values, std::move(contacts), {});
}

}  // namespace

Impact calc_impact(const System& system, const State& state, const Evaluation& now,
                   const std::vector<Contact>& contacts) {
  const auto& M = now.values.M;
  const double before = 0.5 * state.qd.dot(M * state.qd);
  const auto make = [&](double part) {
    Impact impact;
    impact.restitution_part = part;
    const ContactSolution s = solve_jump(system, state, now, contacts, part);
    impact.status = s.status, impact.trouble = s.trouble;
    if (s.status != SolveStatus::solved || !s.trouble.empty()) return impact;
    impact.qd_after = s.qdd;
    impact.impulses = s.multipliers;
    const VectorXd sum = impact.qd_after + state.qd;
    for (int j = 0; j < system.m(); ++j) {
      const double both = now.values.A.dot(j, sum);  // (A v⁻ + A v⁺)_j
      // What the constraint does by itself: −φ_t, −ψ₀; all of it where only A Δv = 0 is asked for.
      const RowTraits& row = system.row(j);
      double moving = now.values.A.dot(j, state.qd);
      if (row.kind == RowKind::constraint && !row.measured && row.level == Level::position) moving -= now.rate(j);
      if (row.kind == RowKind::constraint && !row.measured && row.level == Level::velocity) moving -= now.residual(j);
      impact.surface_work += impact.impulses(j) * moving;
      impact.energy_lost -= impact.impulses(j) * (0.5 * both - moving);
    }
    for (std::size_t i = 0; i < s.contacts.size(); ++i) {
      const Contact& c = s.contacts[i];
      if (c.friction.size()) {
        const VectorXd& moving = c.values.slip_b;  // T v⁻ − slip⁻
        impact.surface_work += c.friction.dot(moving);
        impact.friction_lost -= c.friction.dot(0.5 * (c.values.T * sum) - moving);
      }
      if (c.values.one_sided && c.acts() && impact.impulses(c.values.row) > 0.0)
        impact.contacts.push_back(static_cast<int>(i));
    }
    return impact;
  };
  Impact impact = make(1.0);
  if (impact.status != SolveStatus::solved || !impact.trouble.empty()) return impact;
  const auto adds_energy = [&](const Impact& x) {
    return x.energy_lost + x.friction_lost < -1e-12 * std::max(before, std::abs(x.surface_work));
  };
  const bool any_friction =
      std::any_of(contacts.begin(), contacts.end(), [](const Contact& c) { return c.values.has_friction; });
  if (any_friction && adds_energy(impact)) {
    double low = 0.0, high = 1.0;
    Impact best = make(0.0);
    for (int k = 0; k < 60 && best.status == SolveStatus::solved && best.trouble.empty(); ++k) {
      const double middle = 0.5 * (low + high);
      Impact there = make(middle);
      const bool good = there.status == SolveStatus::solved && there.trouble.empty() && !adds_energy(there);
      (good ? low : high) = middle;
      if (good) best = std::move(there);
    }
    impact = std::move(best);
  }
  return impact;
}

}  // namespace mechanician
