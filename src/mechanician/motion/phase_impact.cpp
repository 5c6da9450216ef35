// The commonest end of a phase, by the factors of the motion: one gap closes, every other contact is held or clearly open, nothing
// rubs. Then the impact is one solution with the rows that are held and the one that closes,
//
//   M Δq̇ = Aᵀp,   A Δq̇ = −φ̇ where it is held, −(1 + e) φ̇ where it closes
//
// and what follows is a phase whose own factors say whether all multipliers have the right sign. Where any of this is not clear
// the general solver decides, with all contacts (jump(), decide()): nothing has changed then.

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanician/motion/phased_motion.hpp"

namespace mechanician {

namespace {
using Eigen::Index;
using Eigen::VectorXd;

constexpr double eps = std::numeric_limits<double>::epsilon();
/// What counts as touching or at rest in classify_contacts(), and how far from it is clear.
constexpr double touching = 1e-9, clear = 1e3;
/// Multipliers below this part of what they could be are zero, as in solve/one_sided.
constexpr double zero_fraction = 1e-12, largest_zero_fraction = 1e-9;

double abs_dot(const Dynamics& d, int row, const VectorXd& x) {
  double sum = 0.0;
  d.each_entry(row, [&](int i, double a) { sum += std::abs(a * x(i)); });
  return sum;
}
double dot(const Dynamics& d, int row, const VectorXd& x) {
  double sum = 0.0;
  d.each_entry(row, [&](int i, double a) { sum += a * x(i); });
  return sum;
}
/// 1/√ of the mass of each coordinate: sizes in the metric, where masses are not coupled.
VectorXd units_of(const Dynamics& d) {
  VectorXd units(d.n());
  d.factors().calc_units(d.matrices(), units.data());
  return units;
}
double row_size(const Dynamics& d, int row, const VectorXd& units) {
  double squares = 0.0;
  d.each_entry(row, [&](int i, double a) { squares += std::pow(a * units(i), 2); });
  return std::sqrt(squares);
}
VectorXd mass_times(const Dynamics& d, const VectorXd& x) {
  VectorXd y = VectorXd::Zero(x.size());
  const std::vector<SparseEntry>& M = d.facts().pattern.M;
  for (std::size_t k = 0; k < M.size(); ++k) {
    const auto [i, j] = M[k];
    y(i) += d.matrices().M[k] * x(j);
    if (i != j) y(j) += d.matrices().M[k] * x(i);
  }
  return y;
}

}  // namespace

/// Position-level contacts that are open or held, without friction where they act, and that are all clear of the one that closes.
bool PhasedMotion::is_plain(std::size_t closing, const State& state, const Dynamics& d) const {
  const auto& contacts = system->equations().contacts;
  const EquationValues::RowNumbers v = d.values().row_numbers();
  const double length = state.q.cwiseAbs().maxCoeff();
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    const int row = contacts[c].row;
    const RowTraits& traits = system->row(row);
    const bool open = modes_[c].status == ContactStatus::open;
    if (!traits.one_sided || traits.level != Level::position) return false;
    if ((!open || c == closing) && contacts[c].has_friction) return false;
    if (!open && modes_[c].status != ContactStatus::holding) return false;
    if (!open || c == closing) continue;
    const double tolerance = std::max(touching * abs_dot(d, row, size_.q), 16.0 * eps * abs_dot(d, row, state.q));
    double squares = 0.0;
    d.each_entry(row, [&](int, double a) { squares += a * a; });
    if (!(v.residual[row] > clear * (tolerance + eps * length * std::sqrt(squares)))) return false;
  }
  return true;
}

std::optional<PhasedMotion::PlainImpact> PhasedMotion::find_plain_impact(std::size_t closing, const State& state) {
  Dynamics& d = smooth_->dynamics();
  const EquationFacts& f = d.facts();
  if (d.absent().empty() || !multipliers_unique_ || f.has_C || !f.measured.empty() ||
      !d.evaluate_rows(state.t, state.q.data(), state.qd.data()) || !is_plain(closing, state, d))
    return {};
  const EquationValues::RowNumbers v = d.values().row_numbers();
  const int row = system->equations().contacts[closing].row;
  PlainImpact impact;
  impact.restitution = systems_->restitution(closing, state);
  const double rate = v.rate[row], rate_size = abs_dot(d, row, size_.qd) + std::abs(rate - dot(d, row, state.qd));
  if (!(rate < -clear * touching * rate_size) || !(impact.restitution >= 0.0 && impact.restitution <= 1.0)) return {};
  const VectorXd units = units_of(d);
  if (!(row_size(d, row, units) > 1e-6 * d.start_size(row) * units.minCoeff())) return {};

  VectorXd g = VectorXd::Zero(f.m), push = g;
  RowSet& held = impact.rows;
  for (int j = 0; j < f.m; ++j) {
    const RowFacts& traits = f.rows[static_cast<std::size_t>(j)];
    if ((d.values().is_absent(j) && j != row) || traits.kind == RowKind::control) continue;
    held.kept.push_back(j);
    if (traits.level != Level::acceleration) g(j) = -(traits.level == Level::position ? v.rate[j] : v.residual[j]);
  }
  g(row) *= 1.0 + impact.restitution;
  KktFactors& factors = d.factors();
  const long robust = factors.robust_solutions;
  impact.change.resize(d.n()), impact.impulses.resize(f.m), impact.push = VectorXd::Zero(d.n());
  factors.careful = false;
  if (!factors.factor(d.matrices(), held, KktFactors::Mass::exact) ||
      !factors.solve(nullptr, g.data(), impact.change.data(), impact.impulses.data()))
    return {};
  // A gap that is left below zero would be found closing a little deeper each time.
  push(row) = -v.residual[row];
  if (push(row) > 0.0 && !factors.solve(nullptr, push.data(), impact.push.data(), nullptr)) return {};
  if (factors.robust_solutions != robust || !impact.change.allFinite()) return {};
  const double scale = 2.0 * state.qd.cwiseQuotient(units).norm() + impact.change.cwiseQuotient(units).norm();
  for (const ContactRow& c : system->equations().contacts)
    if (impact.impulses(c.row) < -zero_fraction * scale / row_size(d, c.row, units)) return {};
  return impact;
}

/// The phase after the impact, where its multipliers have the right signs and what rebounds does so clearly.
bool PhasedMotion::find_plain_phase(std::size_t closing, const PlainImpact& impact, State& state) {
  std::vector<ContactStatus> next = statuses();
  const bool rebounds = impact.restitution > 0.0;
  if (!rebounds) next[closing] = ContactStatus::holding;
  if (!move_onto(next, state, {})) return false;
  Dynamics& d = *systems_->of(next, start)->dynamics;
  VectorXd y = VectorXd::Zero(d.size()), dy(d.size());
  y << state.q, state.qd, VectorXd::Zero(d.num_works());
  const long robust = d.factors().robust_solutions, evaluations = d.evaluations;
  d.hold_control(held_.efforts);
  const bool solved = d.rhs_by_factors(state.t, y.data(), dy.data()) && d.factors().robust_solutions == robust;
  d.evaluations = evaluations;
  if (!solved) return false;
  const VectorXd qdd = dy.segment(d.n(), d.n()), units = units_of(d);
  const EquationValues::Numbers v = d.values().numbers();
  const Eigen::Map<const VectorXd> Q(v.Q, d.n());
  const double scale = Q.cwiseProduct(units).norm() + qdd.cwiseQuotient(units).norm();
  const double zero = std::clamp(zero_fraction * d.condition(), zero_fraction, largest_zero_fraction) * scale;
  const std::vector<double>& lambda = d.calc_joint_multipliers();
  const auto& contacts = system->equations().contacts;
  for (std::size_t c = 0; c < contacts.size(); ++c)
    if (next[c] != ContactStatus::open &&
        lambda[static_cast<std::size_t>(contacts[c].row)] < -zero / row_size(d, contacts[c].row, units))
      return false;
  if (rebounds) {
    const int row = contacts[closing].row;
    const double rate = dot(d, row, impact.change) * impact.restitution / (1.0 + impact.restitution);
    const double acceleration = dot(d, row, qdd) - v.b[row];
    const double noise = 16.0 * eps * abs_dot(d, row, state.q);
    if (is_low(rate, acceleration, abs_dot(d, row, size_.qd), noise, state.t)) return false;
  }
  // M q̈ = Q + Aᵀλ, up to this.
  VectorXd rest = mass_times(d, qdd) - Q;
  if (d.control_force().size() > 0) rest -= d.control_force();
  for (const int j : d.all.kept)
    d.each_entry(j, [&](int i, double a) { rest(i) -= a * lambda[static_cast<std::size_t>(j)]; });
  sums_.optimality = std::max(sums_.optimality, scale > 0.0 ? rest.cwiseProduct(units).norm() / scale : 0.0);
  return true;
}

bool PhasedMotion::jump_plainly(std::size_t closing, State& state) {
  const std::optional<PlainImpact> impact = find_plain_impact(closing, state);
  if (!impact) return false;
  Dynamics& d = smooth_->dynamics();
  const VectorXd before = state.qd;
  State after{state.t, state.q + impact->push, state.qd + impact->change};
  const double kinetic = 0.5 * after.qd.dot(mass_times(d, after.qd));
  system->set_state_rates(after);
  const VectorXd jumped = after.qd;
  if (!find_plain_phase(closing, *impact, after)) return false;

  const EquationValues::RowNumbers v = d.values().row_numbers();
  const VectorXd sum = before + jumped, unfelt = felt * mass_times(d, size_.qd).cwiseAbs();
  const auto& contacts = system->equations().contacts;
  double works = 0.0;
  for (const int j : impact->rows.kept) {
    const double p = impact->impulses(j), both = dot(d, j, sum), work = 0.5 * p * both;
    const Level level = d.facts().rows[static_cast<std::size_t>(j)].level;
    // What the constraint does by itself; all of it where only A Δq̇ = 0 is asked for.
    double moving = dot(d, j, before);
    if (level == Level::position) moving -= v.rate[j];
    if (level == Level::velocity) moving -= v.residual[j];
    sums_.surface_work += p * moving, sums_.impact_lost -= p * (0.5 * both - moving);
    works += work, sums_.works.ideal += work;
    if (const int row = phase_->row_of[static_cast<std::size_t>(j)]; row >= 0) sums_.works.constraints(row) += work;
  }
  sums_.works.nonideal += 0.5 * (jumped - before).dot(mass_times(d, sum)) - works;
  ++sums_.impacts;
  std::vector<std::string> names;
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    const int row = contacts[c].row;
    bool is_felt = c == closing;
    double near = 0.0;
    d.each_entry(row, [&](int i, double a) {
      is_felt |= std::abs(impact->impulses(row) * a) > unfelt(i);
      near += std::abs(a) * d.sizes.near_q[i];
    });
    if (impact->impulses(row) > 0.0 && is_felt) names.push_back(contact_name(c));
    if (v.residual[row] < 0.0) sums_.penetration = std::max(sums_.penetration, -v.residual[row] / near);
  }
  if (impact->restitution == 0.0) modes_[closing] = {.status = ContactStatus::holding};
  // The little that is lost by moving onto what holds now is lost in impacts.
  sums_.works.ideal += 0.5 * after.qd.dot(mass_times(*phase_system()->dynamics, after.qd)) - kinetic;
  state = std::move(after);
  add_event(EventKind::impact, state.t, std::move(names), {state.t, state.q, jumped}, before);
  watch_impacts(state.t);
  return true;
}

}  // namespace mechanician
