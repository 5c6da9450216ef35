// What a controller believes beside contacts ([nominal]).
//
// The force is that of the general solver for the model that it believes in: there contacts do what that model has them do. Mostly they do there what they do here. So a
// phase of that model is tried first, by its factors: where its contacts may go on so and all requirements are met, the general solver would say the same.

#include "mechanician/instant/control.hpp"
#include "mechanician/motion/phased_motion.hpp"

namespace mechanician {

/// The contacts of a phase that slide.
std::vector<Dynamics::Sliding> PhasedMotion::sliding_of(const PhaseSystem& phase) const {
  std::vector<Dynamics::Sliding> all;
  for (std::size_t c = 0; c < modes_.size(); ++c)
    if (modes_[c].status == ContactStatus::sliding)
      all.push_back(
          {.row = phase.rows[c],
           .num_slips = static_cast<int>(system->equations().contacts[c].slip.size()),
           .sign = modes_[c].sign,
           .direction = modes_[c].direction,
           .shares = !multipliers_unique_ && !spreads_ && system->row(system->equations().contacts[c].row).one_sided,
           .spreads = spreads_});
  return all;
}

void PhasedMotion::prepare_believed() {
  believed_ = is_sampled() ? nullptr : system->nominal();
  believed_phase_.reset();
  if (!believed_ || !multipliers_unique_ || system->needs_reactions()) return;
  if (!believed_alone_) {
    Model model = system->model();
    model.control.nominal.clear();
    believed_alone_ = std::make_unique<System>(std::move(model), believed_->parameters(), System::Checked::already);
    believed_systems_ = std::make_unique<PhaseSystems>(*believed_alone_);
  }
  const std::shared_ptr<const PhaseSystem> phase = believed_systems_->of(statuses(), start);
  believed_phase_ = std::make_unique<Dynamics>(*phase->dynamics);
  believed_phase_->set_sliding(sliding_of(*phase));
  believed_phase_->set_guards(make_guards(*believed_alone_, *phase, modes_, true));
  believed_phase_->control_may_miss = true;
}

/// Nothing: the general solver is to say.
std::optional<Instant> PhasedMotion::believe_as_here(const State& there) {
  if (!believed_phase_) return {};
  Dynamics& d = *believed_phase_;
  std::vector<double> y(static_cast<std::size_t>(d.size()), 0.0);
  std::copy(there.q.begin(), there.q.end(), y.begin());
  std::copy(there.qd.begin(), there.qd.end(), y.begin() + d.n());
  d.take_sides(there.t, y.data());
  if (!d.choose_rows(there.t, y.data()) || !d.keeps_all_rows()) return {};
  d.settle_control(there.t, y.data());
  const auto count = static_cast<std::size_t>(d.num_guards());
  std::vector<double> guards(count), noise(count);
  if (!d.calc_guards(there.t, y.data(), guards, noise)) return {};
  // Gaps are those of the motion itself.
  constexpr double clearly = 1e3;
  for (std::size_t i = d.num_gaps(); i < count; ++i)
    if (!(guards[i] > clearly * noise[i])) return {};
  const std::optional<Sample> now = d.calc_sample(there.t, y.data());
  if (!now || d.misses_requirement() || !now->qdd.allFinite()) return {};
  Instant found;
  found.state = there;
  found.solution.status = SolveStatus::solved;
  found.solution.qdd = now->qdd, found.solution.Q_control = now->Q_control;
  found.control.emplace();
  found.control->tau = now->tau, found.control->cost = now->cost;
  return found;
}

Instant PhasedMotion::believe(const State& there) {
  if (const std::optional<Instant> found = believe_as_here(there)) return *found;
  const Evaluation now = system->evaluate(there);
  if (now.not_finite) return {};
  std::vector<Contact> contacts = contacts_of_phase(there, now);
  for (std::size_t c = 0; c < contacts.size(); ++c)
    if (modes_[c].status == ContactStatus::open) contacts[c].status = ContactStatus::open;
  return accelerate_believed(*believed_, there, contacts);
}

}  // namespace mechanician
