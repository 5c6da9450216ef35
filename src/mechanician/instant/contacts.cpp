#include "mechanician/instant/contacts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mechanician/base/text.hpp"
#include "mechanician/compile/row_weights.hpp"
#include "mechanician/solve/row_selection.hpp"

namespace mechanician {

namespace {

/// An acceleration of a gap that is less of what forces would do is none.
constexpr double kept_by_others = 1e-11;

/// What the terms of a row add up to without their signs, those that forces cancel among themselves too.
template <class Result>
double calc_size(const InstantValues& values, const Result& result, Eigen::Index row) {
  double size = std::abs(values.b(row));
  for (const auto& e : values.A.row(row)) {
    const double mass = values.M(e.col, e.col);
    const double force = std::abs(values.Q(e.col)) + std::abs(result.friction_force(e.col));
    size += std::abs(e.value) * (std::abs(result.qdd(e.col)) + (mass > 0.0 ? force / mass : 0.0));
  }
  return size;
}
using Eigen::Index;
using Eigen::VectorXd;

constexpr double touching_tolerance = 1e-9;
/// Gaps, rates and slips below this multiple of their rounding errors are rounding.
constexpr double roundings = 16.0;
}  // namespace

std::string_view name_of(ContactStatus status) {
  switch (status) {
    case ContactStatus::open:
      return "open";
    case ContactStatus::separating:
      return "separating";
    case ContactStatus::impact:
      return "impact";
    case ContactStatus::touching:
      return "touching";
    case ContactStatus::leaving:
      return "leaving";
    case ContactStatus::holding:
      return "holding";
    case ContactStatus::sticking:
      return "sticking";
    case ContactStatus::sliding:
      return "sliding";
  }
  return "";
}

VectorXd calc_units(const InstantValues& values) {
  RowPattern rows;
  std::vector<double> entries, diagonal(static_cast<std::size_t>(values.M.rows()));
  for (Index i = 0; i < values.M.rows(); ++i) diagonal[i] = values.M(i, i);
  for (Index j = 0; j < values.A.rows(); ++j) {
    for (const SparseRows::Entry& e : values.A.row(j)) rows.cols.push_back(e.col), entries.push_back(e.value);
    rows.begin.push_back(static_cast<int>(rows.cols.size()));
  }
  TypicalSizes typical;
  typical.add(diagonal, entries);
  const std::vector<double> weights = typical.weigh_coordinates(rows);
  return Eigen::Map<const VectorXd>(weights.data(), std::ssize(weights)).cwiseSqrt().cwiseInverse();
}

double calc_rest_speed(const State& state, const InstantValues& values, const VectorXd& units) {
  constexpr double of_fall = 1e-3;
  if (units.size() == 0 || values.Q.size() != units.size()) return 0.0;
  return of_fall * std::sqrt(2.0 * values.Q.cwiseProduct(units).cwiseAbs().maxCoeff() *
                             state.q.cwiseQuotient(units).cwiseAbs().maxCoeff());
}

MotionSize size_of(const State& state, const Evaluation& now, std::span<const StateRow> states) {
  const VectorXd units = calc_units(now.values);
  const auto largest = [&](const VectorXd& x) -> VectorXd {
    VectorXd others = x;
    for (const StateRow& z : states) others(z.coordinate) = 0.0;
    VectorXd size = units * (x.size() > 0 ? others.cwiseQuotient(units).cwiseAbs().maxCoeff() : 0.0);
    for (const StateRow& z : states) size(z.coordinate) = std::abs(x(z.coordinate));
    return size;
  };
  MotionSize size{largest(state.q), largest(state.qd)};
  VectorXd rest = units * calc_rest_speed(state, now.values, units);
  for (const StateRow& z : states) rest(z.coordinate) = 0.0;
  size.qd = size.qd.cwiseMax(rest);
  return size;
}

std::vector<Contact> classify_contacts(const System& system, const State& state, const Evaluation& now,
                                       const MotionSize& size, std::optional<NotFinite>& not_finite) {
  std::vector<Contact> contacts;
  for (ContactValues& values : system.evaluate_contacts(state, not_finite)) {
    Contact c;
    const Index j = values.row;
    const RowTraits& row = system.row(values.row);
    if (!not_finite && !(values.restitution >= 0.0 && values.restitution <= 1.0))
      not_finite = NotFinite{{},
                             {},
                             {},
                             row.place,
                             fmt::format("the restitution of `{}` is {} at this state: it must be from 0 to 1",
                                         system.row_name(values.row), short_number(values.restitution))};
    if (!not_finite && values.has_friction && !(values.mu >= 0.0 && values.limit >= 0.0))
      not_finite = NotFinite{
          {},
          {},
          {},
          row.place,
          fmt::format("the friction of `{}` is {} at this state: it must not be negative", system.row_name(values.row),
                      short_number(values.mu >= 0.0 ? values.limit : values.mu))};
    if (values.level == Level::position) c.gap = now.residual(j), c.rate = now.rate(j);
    if (values.level == Level::velocity) c.rate = now.residual(j);
    // What moves by itself, φ_t or ψ₀, is a term of the rate too.
    c.rate_size = now.values.A.abs_dot(j, size.qd) + std::abs(c.rate - now.values.A.dot(j, state.qd));
    c.rate_tolerance = std::max(touching_tolerance * c.rate_size,
                                roundings * (values.level == Level::position ? now.rate_noise : now.residual_noise)(j));
    c.gap_tolerance = std::max(touching_tolerance * now.values.A.abs_dot(j, size.q), roundings * now.residual_noise(j));
    if (!values.one_sided || std::abs(c.rate) <= c.rate_tolerance)
      c.status = ContactStatus::touching;
    else
      c.status = c.rate < 0.0 ? ContactStatus::impact : ContactStatus::separating;
    if (values.one_sided && (c.gap > c.gap_tolerance || (values.level == Level::velocity && c.rate > c.rate_tolerance)))
      c.status = ContactStatus::open;
    // A coefficient that is zero for good is no friction.
    constexpr KindSet varies =
        kind_bit(SymbolKind::time) | kind_bit(SymbolKind::coordinate) | kind_bit(SymbolKind::velocity);
    if (values.mu == 0.0 && values.limit == 0.0 &&
        (system.equations().contacts[contacts.size()].friction.kinds() & varies) == 0)
      values.has_friction = false;
    if (values.has_friction) {
      const VectorXd terms = values.T.abs_times(size.qd) + (values.slip - values.T * state.qd).cwiseAbs();
      c.slip_tolerance = touching_tolerance * terms.norm();
      if (values.slip.norm() > c.slip_tolerance) c.direction = values.slip.normalized();
    }
    c.values = std::move(values);
    contacts.push_back(std::move(c));
  }
  return contacts;
}

ContactSolution solve_contacts(const System& system, const InstantValues& values, std::vector<Contact> contacts,
                               const VectorXd& C, const ContactOptions& options) {
  ContactSolution result;
  const auto touches = [](const Contact& c) { return c.status == ContactStatus::touching; };
  std::vector<Index> rows = rows_with(system, contacts, touches);
  InstantValues part = take_rows(values, rows);
  part.C = C;
  std::vector<Index> one_sided;
  std::vector<FrictionContact> friction;
  std::vector<std::size_t> friction_of;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const Contact& c = contacts[i];
    if (c.values.one_sided && !touches(c)) continue;
    const Index at = c.values.bare ? -1 : std::lower_bound(rows.begin(), rows.end(), c.values.row) - rows.begin();
    if (c.values.one_sided) one_sided.push_back(at);
    if (!options.friction || !c.values.has_friction) continue;
    friction.push_back({at, c.values.mu, c.values.T, c.values.slip_b, c.direction, c.values.limit});
    friction_of.push_back(i);
  }

  const Index m = values.A.rows();
  VectorXd slack;
  std::vector<Index> holding;
  if (friction.empty()) {
    OneSidedSolution s = solve_one_sided(part, one_sided);
    result.status = s.solution.status;
    result.optimality = s.optimality;
    for (const Index i : s.conflict) result.conflict.push_back(rows[static_cast<std::size_t>(i)]);
    if (!s.solution.has_acceleration()) {
      result.contacts = std::move(contacts);
      return result;
    }
    result.qdd = s.solution.qdd;
    result.multipliers = spread_rows(s.multipliers_joint, rows, m);
    result.friction_force = VectorXd::Zero(system.n());
    slack = s.slack, holding = s.holding;
    restore_rows(s.solution, rows, values);
    result.solution = std::move(s.solution);
  } else {
    const CoulombSolution s = solve_coulomb(part, one_sided, friction);
    result.status = s.status;
    const bool known =
        s.answer && s.count != CoulombSolution::Count::none && s.count != CoulombSolution::Count::several;
    if (s.status == SolveStatus::solved && !known) result.trouble = s.description;
    if (s.status != SolveStatus::solved || !known) {
      result.contacts = std::move(contacts);
      return result;
    }
    result.uniqueness_unknown = s.count == CoulombSolution::Count::unknown;
    if (s.count == CoulombSolution::Count::shared) result.shared = s.description;
    const CoulombAnswer& answer = *s.answer;
    result.qdd = answer.qdd;
    result.multipliers = spread_rows(answer.multipliers, rows, m);
    result.friction_force = answer.friction_force;
    slack = answer.slack, holding = answer.mode.holding;
    for (std::size_t k = 0; k < friction.size(); ++k) {
      Contact& c = contacts[friction_of[k]];
      c.friction = answer.friction[k];
      switch (answer.mode.states[k]) {
        case ContactState::open:
          c.status = ContactStatus::leaving;
          break;
        case ContactState::sticking:
          c.status = ContactStatus::sticking;
          break;
        case ContactState::sliding:
          c.status = ContactStatus::sliding;
          c.direction = answer.mode.directions[k];
          break;
      }
    }
  }
  for (Contact& c : contacts) {
    if (c.values.one_sided && c.status != ContactStatus::touching && !c.acts() && c.status != ContactStatus::leaving)
      continue;
    const Index j = c.values.row, at = std::lower_bound(rows.begin(), rows.end(), j) - rows.begin();
    c.normal = result.multipliers(j);
    if (!c.values.one_sided) {
      if (c.status == ContactStatus::touching) c.status = ContactStatus::holding;
      continue;
    }
    const bool holds = std::binary_search(holding.begin(), holding.end(), at);
    if (c.status == ContactStatus::touching) c.status = holds ? ContactStatus::holding : ContactStatus::leaving;
    c.gap_acceleration = slack(std::lower_bound(one_sided.begin(), one_sided.end(), at) - one_sided.begin());
    // What others keep where it is neither leaves nor presses: its gap opens by rounding alone.
    if (c.status == ContactStatus::leaving && !c.values.has_friction &&
        c.gap_acceleration <= kept_by_others * calc_size(values, result, j))
      c.status = ContactStatus::holding;
  }
  result.acting = rows_with(system, contacts, [](const Contact& c) { return c.acts(); });
  result.contacts = std::move(contacts);
  return result;
}

std::optional<CoulombAnswer> solve_contact_mode(const System& system, const InstantValues& values,
                                                const std::vector<Contact>& contacts, const VectorXd& C) {
  const std::vector<Index> rows = rows_with(system, contacts, [](const Contact& c) { return c.acts(); });
  InstantValues part = take_rows(values, rows);
  part.C = C;
  std::vector<Index> one_sided;
  std::vector<FrictionContact> friction;
  CoulombMode mode;
  for (const Contact& c : contacts) {
    if (c.values.one_sided && !c.acts()) continue;
    const Index at = c.values.bare ? -1 : std::lower_bound(rows.begin(), rows.end(), c.values.row) - rows.begin();
    if (c.values.one_sided) one_sided.push_back(at);
    if (!c.values.has_friction) continue;
    friction.push_back({at, c.values.mu, c.values.T, c.values.slip_b, c.direction, c.values.limit});
    const bool slides = c.status == ContactStatus::sliding;
    mode.states.push_back(slides ? ContactState::sliding : ContactState::sticking);
    mode.directions.push_back(slides ? c.direction : VectorXd());
  }
  mode.holding = one_sided;
  return solve_coulomb_mode(part, one_sided, friction, mode);
}

}  // namespace mechanician
