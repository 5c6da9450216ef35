#include "mechanician/motion/phase_model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mechanician/expression/simplify.hpp"

namespace mechanician {

void open_what_is_apart(std::vector<Contact>& contacts, const Evaluation& now, const State& state) {
  const double reach = 1e-9 * std::max(1.0, state.q.size() ? state.q.cwiseAbs().maxCoeff() : 0.0);
  for (Contact& c : contacts)
    if (c.values.one_sided && c.values.level == Level::position && c.gap > reach * now.values.A.norm(c.values.row) &&
        c.gap > 16.0 * now.residual_noise(c.values.row))
      c.status = ContactStatus::open;
}

PhaseSystem make_phase_system(const System& whole, const std::vector<ContactStatus>& statuses) {
  PhaseSystem phase;
  Model model = whole.model();
  const auto& contacts = whole.equations().contacts;
  std::vector<Constraint> constraints, slips;
  std::vector<Replacement> absent;
  phase.rows.assign(contacts.size(), -1);
  phase.slip_rows.resize(contacts.size());
  std::size_t c = 0;
  for (int j = 0; j < static_cast<int>(model.constraints.size()); ++j) {
    Constraint constraint = model.constraints[static_cast<std::size_t>(j)];
    if (c < contacts.size() && contacts[c].row == j) {
      const ContactStatus status = statuses[c];
      if (status == ContactStatus::open) {
        absent.push_back({make_symbol(SymbolKind::multiplier, constraint.name), Expr(0)});
        ++c;
        continue;
      }
      phase.rows[c] = static_cast<int>(constraints.size());
      constraint.one_sided = false;
      constraint.restitution.reset();
      if (status == ContactStatus::sticking)
        for (std::size_t k = 0; k < constraint.friction->slip.size(); ++k) {
          Constraint slip;
          slip.name = constraint.friction->slip.size() == 1 ? fmt::format("slip of {}", constraint.name)
                                                            : fmt::format("slip {} of {}", k + 1, constraint.name);
          slip.residual = constraint.friction->slip[k];
          slip.place = constraint.friction->place;
          phase.slip_rows[c].push_back(static_cast<int>(slips.size()));
          slips.push_back(std::move(slip));
        }
      if (status != ContactStatus::sliding) constraint.friction.reset();
      ++c;
    }
    phase.row_of.push_back(j);
    constraints.push_back(std::move(constraint));
  }
  for (auto& rows : phase.slip_rows)
    for (int& row : rows) row += static_cast<int>(constraints.size());
  phase.row_of.insert(phase.row_of.end(), slips.size(), -1);
  constraints.insert(constraints.end(), slips.begin(), slips.end());
  model.constraints = std::move(constraints);
  for (Named& force : model.nonideal) force.value = substitute(force.value, absent);
  phase.system = std::make_unique<System>(std::move(model), whole.parameters(), System::Checked::already);
  phase.dynamics = std::make_unique<Dynamics>(*phase.system);
  return phase;
}

const PhaseSystem& PhaseSystems::of(const std::vector<ContactStatus>& statuses) {
  auto found = systems_.find(statuses);
  if (found == systems_.end()) {
    found = systems_.emplace(statuses, make_phase_system(*whole_, statuses)).first;
    if (nominal_) found->second.dynamics->keep_code(*nominal_);
  }
  return found->second;
}

void PhaseSystems::set_parameters(std::span<const double> values) {
  for (auto& [statuses, phase] : systems_) phase.system->set_parameters(values);
}

namespace {

/// Calls each of these, in the order of Dynamics::calc_guards.
template <class Gap, class Multiplier, class Cone>
void each_guard(const System& whole, const std::vector<ContactMode>& modes, bool with_multipliers, Gap&& gap,
                Multiplier&& multiplier, Cone&& cone) {
  const auto& contacts = whole.equations().contacts;
  const auto is_one_sided = [&](std::size_t c) { return whole.row(contacts[c].row).one_sided; };
  for (std::size_t c = 0; c < contacts.size(); ++c)
    if (modes[c].status == ContactStatus::open) gap(c);
  if (!with_multipliers) return;
  for (std::size_t c = 0; c < contacts.size(); ++c)
    if (is_one_sided(c) && (modes[c].status == ContactStatus::holding || modes[c].status == ContactStatus::sticking))
      multiplier(c);
  for (std::size_t c = 0; c < contacts.size(); ++c)
    if (modes[c].status == ContactStatus::sticking) cone(c);
}

}  // namespace

Dynamics::Guards make_guards(const System& whole, const PhaseSystem& phase, const std::vector<ContactMode>& modes,
                             bool with_multipliers) {
  Dynamics::Guards guards;
  const auto& contacts = whole.equations().contacts;
  each_guard(
      whole, modes, with_multipliers,
      [&](std::size_t c) { guards.functions.push_back(whole.row(contacts[c].row).residual); },
      [&](std::size_t c) { guards.rows.push_back(phase.rows[c]); },
      [&](std::size_t c) {
        guards.cones.push_back(
            {.row = phase.rows[c], .sign = modes[c].sign, .slip = phase.slip_rows[c], .mu = contacts[c].friction});
      });
  return guards;
}

std::vector<GuardMeaning> guard_meanings(const System& whole, const PhaseSystem&, const std::vector<ContactMode>& modes,
                                         bool with_multipliers) {
  using What = GuardMeaning::What;
  std::vector<GuardMeaning> meanings;
  each_guard(
      whole, modes, with_multipliers,
      [&](std::size_t c) {
        meanings.push_back({What::gap, c});
      },
      [&](std::size_t c) {
        meanings.push_back({What::multiplier, c});
      },
      [&](std::size_t c) {
        meanings.push_back({What::cone, c});
      });
  for (std::size_t c = 0; c < modes.size(); ++c)
    if (modes[c].status == ContactStatus::sliding)
      for (const What what : {What::sliding_multiplier, What::slip, What::friction_solvable})
        meanings.push_back({what, c});
  return meanings;
}

}  // namespace mechanician
