#include "mechanician/motion/phase_model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mechanician/expression/simplify.hpp"

namespace mechanician {

namespace {

Constraint slip_of(const Constraint& constraint, std::size_t k) {
  Constraint slip;
  slip.name = slip_name(constraint.name, k, constraint.friction->slip.size());
  slip.residual = constraint.friction->slip[k];
  slip.place = constraint.friction->place;
  return slip;
}

}  // namespace

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
      // A brake that sticks is its slips and nothing else.
      const bool row = !constraint.bare || status == ContactStatus::sliding;
      if (row) phase.rows[c] = static_cast<int>(constraints.size());
      constraint.one_sided = false;
      constraint.restitution.reset();
      if (status == ContactStatus::sticking)
        for (std::size_t k = 0; k < constraint.friction->slip.size(); ++k) {
          phase.slip_rows[c].push_back(static_cast<int>(slips.size()));
          slips.push_back(slip_of(constraint, k));
        }
      if (status != ContactStatus::sliding) constraint.friction.reset();
      ++c;
      if (!row) continue;
    }
    phase.row_of.push_back(j);
    constraints.push_back(std::move(constraint));
  }
  for (auto& rows : phase.slip_rows)
    for (int& row : rows) row += static_cast<int>(constraints.size());
  phase.row_of.insert(phase.row_of.end(), slips.size(), -1);
  for (const StateRow& z : whole.equations().states) phase.row_of.push_back(z.row);
  constraints.insert(constraints.end(), slips.begin(), slips.end());
  model.constraints = std::move(constraints);
  for (Named& force : model.nonideal) force.value = substitute(force.value, absent);
  phase.system = std::make_shared<System>(std::move(model), whole.parameters(), System::Checked::already);
  phase.dynamics = std::make_unique<Dynamics>(*phase.system);
  return phase;
}

/// All contacts as equations, with equations for all their slips, and the friction of all: phases leave rows out.
struct PhaseSystems::AllRows {
  std::shared_ptr<System> system;
  std::unique_ptr<Dynamics> dynamics;
  std::vector<int> row_of;
  std::vector<std::vector<int>> slip_rows;
};

PhaseSystems::PhaseSystems(const System& whole, std::optional<Dynamics::Nominal> nominal)
    : whole_(&whole), nominal_(std::move(nominal)) {}
PhaseSystems::~PhaseSystems() = default;

/// Large systems are derived and planned once. Small ones have compiled code, which is better off without rows that are not
/// there: theirs are derived for each set of statuses.
void PhaseSystems::make_all_rows(const State& start) {
  constexpr int least = 64;  // coordinates: below, no factors are sparse
  asked_ = true;
  const Equations& eqs = whole_->equations();
  std::vector<Expr> inputs{eqs.t}, outputs;
  for (const auto* part : {&eqs.q, &eqs.qd, &eqs.parameters}) inputs.insert(inputs.end(), part->begin(), part->end());
  for (const ContactRow& c : eqs.contacts) outputs.push_back(eqs.rows[static_cast<std::size_t>(c.row)].residual);
  for (const ContactRow& c : eqs.contacts) outputs.push_back(c.friction);
  gaps_ = std::make_shared<const Tape>(outputs, inputs);
  if (whole_->n() < least) return;
  outputs.clear();
  for (const ContactRow& c : eqs.contacts) outputs.push_back(c.restitution);
  restitutions_.emplace(outputs, inputs);
  auto all = std::make_unique<AllRows>();
  Model model = whole_->model();
  std::vector<Constraint> slips;
  const auto& contacts = eqs.contacts;
  const int num = static_cast<int>(model.constraints.size());
  all->slip_rows.resize(contacts.size());
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    Constraint& constraint = model.constraints[static_cast<std::size_t>(contacts[c].row)];
    constraint.one_sided = false;
    constraint.restitution.reset();
    for (std::size_t k = 0; constraint.friction && k < constraint.friction->slip.size(); ++k) {
      all->slip_rows[c].push_back(num + static_cast<int>(slips.size()));
      slips.push_back(slip_of(constraint, k));
    }
  }
  for (int j = 0; j < num; ++j) all->row_of.push_back(j);
  all->row_of.insert(all->row_of.end(), slips.size(), -1);
  for (const StateRow& z : eqs.states) all->row_of.push_back(z.row);
  model.constraints.insert(model.constraints.end(), slips.begin(), slips.end());
  all->system = std::make_shared<System>(std::move(model), whole_->parameters(), System::Checked::already);
  all->dynamics = std::make_unique<Dynamics>(*all->system);
  if (!all->dynamics->factors().is_sparse()) return;
  all->dynamics->measure(nominal_ ? nominal_->state : start);
  all_ = std::move(all);
}

std::shared_ptr<const PhaseSystem> PhaseSystems::of(const std::vector<ContactStatus>& statuses, const State& start) {
  if (!asked_) make_all_rows(start);
  auto found = systems_.find(statuses);
  if (found != systems_.end()) return found->second;
  auto phase = std::make_shared<PhaseSystem>();
  if (all_) {
    // One at a time is kept: there are as many as sets of contacts.
    systems_.clear();
    phase->system = all_->system;
    phase->row_of = all_->row_of;
    phase->rows.assign(statuses.size(), -1);
    phase->slip_rows.resize(statuses.size());
    std::vector<char> absent(static_cast<std::size_t>(all_->system->num_rows()), 0);
    for (std::size_t c = 0; c < statuses.size(); ++c) {
      const int row = whole_->equations().contacts[c].row;
      if (statuses[c] == ContactStatus::open)
        absent[static_cast<std::size_t>(row)] = 1;
      else
        phase->rows[c] = row;
      if (statuses[c] == ContactStatus::sticking) phase->slip_rows[c] = all_->slip_rows[c];
      for (const int slip : all_->slip_rows[c])
        absent[static_cast<std::size_t>(slip)] = statuses[c] != ContactStatus::sticking;
    }
    phase->dynamics = std::make_unique<Dynamics>(*all_->dynamics);
    phase->dynamics->set_absent(std::move(absent));
    phase->dynamics->take_parameters();
  } else {
    *phase = make_phase_system(*whole_, statuses);
    if (nominal_) phase->dynamics->keep_code(*nominal_);
  }
  phase->gaps = gaps_;
  return systems_.emplace(statuses, std::move(phase)).first->second;
}

double PhaseSystems::restitution(std::size_t contact, const State& state) const {
  std::vector<double> x{state.t};
  x.insert(x.end(), state.q.begin(), state.q.end());
  x.insert(x.end(), state.qd.begin(), state.qd.end());
  x.insert(x.end(), whole_->parameters().begin(), whole_->parameters().end());
  return (*restitutions_)(std::span<const double>(x))[contact];
}

void PhaseSystems::set_parameters(std::span<const double> values) {
  if (all_) all_->system->set_parameters(values);
  for (auto& [statuses, phase] : systems_) phase->system->set_parameters(values);
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
    if (is_one_sided(c) && !modes[c].carried &&
        (modes[c].status == ContactStatus::holding || modes[c].status == ContactStatus::sticking))
      multiplier(c);
  for (std::size_t c = 0; c < contacts.size(); ++c)
    if (modes[c].status == ContactStatus::sticking) cone(c);
}

}  // namespace

Dynamics::Guards make_guards(const System& whole, const PhaseSystem& phase, const std::vector<ContactMode>& modes,
                             bool with_multipliers) {
  Dynamics::Guards guards;
  guards.contacts = phase.gaps;
  const int contacts = static_cast<int>(modes.size());
  each_guard(
      whole, modes, with_multipliers, [&](std::size_t c) { guards.gaps.push_back(static_cast<int>(c)); },
      [&](std::size_t c) { guards.rows.push_back(phase.rows[c]); },
      [&](std::size_t c) {
        guards.cones.push_back({.row = phase.rows[c],
                                .sign = modes[c].sign,
                                .slip = phase.slip_rows[c],
                                .mu = contacts + static_cast<int>(c),
                                .is_force = whole.equations().contacts[c].is_force});
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
