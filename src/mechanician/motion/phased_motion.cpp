#include "mechanician/motion/phased_motion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/motion/step_control.hpp"
#include "mechanician/solve/row_selection.hpp"

namespace mechanician {

namespace {
using Eigen::Index;
using Eigen::VectorXd;

constexpr double checkpoint_version = 7.0;

bool is(const Contact& c, ContactStatus status) { return c.status == status; }

}  // namespace

PhasedMotion::PhasedMotion(const System& system_given, State start_given, MotionOptions options_given)
    : PhasedMotion(system_given, std::move(start_given), options_given, std::make_unique<PhaseSystems>(system_given),
                   nullptr, {}) {}

PhasedMotion::PhasedMotion(const System& system_given, State start_given, MotionOptions options_given,
                           PhaseSystems& phases, Continuation before)
    : PhasedMotion(system_given, std::move(start_given), options_given, nullptr, &phases, std::move(before)) {}

PhasedMotion::PhasedMotion(const System& system_given, State start_given, MotionOptions options_given,
                           std::unique_ptr<PhaseSystems> own, PhaseSystems* phases, Continuation before)
    : MotionSteps(&system_given, std::move(start_given), options_given),
      own_systems_(std::move(own)),
      systems_(phases ? phases : own_systems_.get()),
      before_(std::move(before)),
      forces_(list_forces(system_given.model())) {
  const int constraints = system->m();
  sums_.works.constraints = VectorXd::Zero(constraints);
  sums_.works.actuators = VectorXd::Zero(std::ssize(system->equations().control.actuators));
  held_ = options.sampled;
  if (!held_.from) held_.from = start.t;
  missed_noted_.assign(static_cast<std::size_t>(system->num_control()), 0);
  many_since_ = start.t;
  modes_.resize(system->equations().contacts.size());
  settles_at_.assign(modes_.size(), std::numeric_limits<double>::infinity());
  std::vector<Replacement> at_rest;
  for (const Expr& v : system->equations().qd) at_rest.push_back({v, Expr(0)});
  for (const ContactRow& c : system->equations().contacts) {
    friction_alone_ |= c.has_friction;
    for (const Expr& slip : c.slip)
      if (!simplify(substitute(slip, at_rest)).is_zero()) friction_alone_ = false;
  }
  friction_alone_ &= !system->equations().has_C;
  const auto refuse = [&](StopReason reason, std::string message, Place place = {}) {
    refusal = Stop{reason, std::move(message), place};
    stop = *refusal, over = true;
  };
  system->set_state_rates(start);
  const Evaluation now = system->evaluate(start);
  std::optional<NotFinite> not_finite = now.not_finite;
  std::vector<Contact> contacts;
  if (!not_finite) {
    MotionSize size = size_of(start, now, system->states());
    size_ = {size.q, start.qd.cwiseAbs()};
    // What rests where a motion goes on is small against what has moved before.
    if (before_.sizes) {
      const auto known = [](const std::vector<double>& x) {
        return Eigen::Map<const VectorXd>(x.data(), std::ssize(x));
      };
      size.q = size.q.cwiseMax(known(before_.sizes->near_q)), size.qd = size.qd.cwiseMax(known(before_.sizes->near_qd));
      size_.qd = size.qd;
    }
    contacts = classify_contacts(*system, start, now, size, not_finite);
  }
  if (not_finite) {
    refuse(StopReason::not_finite, not_finite->message(), not_finite->place);
    return;
  }
  sums_.ledger.begin(0.5 * start.qd.dot(now.values.M * start.qd), 0.0);
  sums_.ledger.set_in_play(before_.energy_in_play);
  for (const RowResidual& r : calc_residuals(*system, start, now)) {
    if (r.scaled <= start_tolerance) continue;
    refuse(StopReason::projection,
           fmt::format("the start violates constraint `{}` by {}", system->row_name(r.row), number_text(r.value)),
           system->row(r.row).place);
    return;
  }
  // What closes at once does so in the first step.
  for (Contact& c : contacts)
    if (is(c, ContactStatus::impact)) c.status = ContactStatus::separating, change_pending_ = true;
  const auto instant = decide(start, now, contacts, "at the start");
  if (!instant) {
    refusal = stop;
    return;
  }
  set_modes(*instant);
  begin_phase(start, options.to);
  if (over) refusal = stop;
}

std::vector<ContactStatus> PhasedMotion::statuses() const {
  std::vector<ContactStatus> list;
  for (const ContactMode& mode : modes_) list.push_back(mode.status);
  return list;
}

/// The way that a contact slides in this phase, where its slip does not tell: it has only just begun, or is about to end. When it has
/// come to rest the guard of the slip says.
void PhasedMotion::take_direction(std::size_t c, Contact& contact) const {
  VectorXd& direction = contact.direction;
  if (modes_[c].status != ContactStatus::sliding) {
    direction.resize(0);
  } else if (direction.size() == 0) {
    direction.resize(contact.values.slip.size());
    for (Index k = 0; k < direction.size(); ++k) direction(k) = modes_[c].direction[static_cast<std::size_t>(k)];
  }
}

/// Whether contacts that share forces in more than one way may go on as they do: signs and cones are met, and however the forces are
/// shared the acceleration is one.
bool PhasedMotion::mode_goes_on(const State& there, const VectorXd& control) const {
  Evaluation now = system->evaluate(there);
  std::optional<NotFinite> not_finite = now.not_finite;
  if (not_finite) return true;
  if (control.size() > 0) now.values.Q += control;  // a given force, as contacts feel it
  std::vector<Contact> contacts = classify_contacts(*system, there, now, size_, not_finite);
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    contacts[c].status = modes_[c].status;
    take_direction(c, contacts[c]);
  }
  VectorXd C;
  if (system->equations().has_C && !system->needs_reactions()) C = system->calc_C(there, {}).C;
  const std::optional<CoulombAnswer> answer = solve_contact_mode(*system, now.values, contacts, C);
  return answer && answer->violation <= 1e-12 && answer->determined;
}

/// Whether the multipliers of the phase are unique where it begins. What slides on more points than carry it uniquely rubs in one way
/// all the same where the slips agree: a box that slides without turning. False: it does not.
bool PhasedMotion::find_unique(const State& state) {
  spreads_ = false;
  const std::vector<char>& absent = phase_->dynamics->absent();
  AccelerateOptions with_rows = quickly();
  with_rows.contacts = false;
  if (!absent.empty()) {
    // All rows kept, as the factors see it: there is nothing to be looked at more closely.
    Dynamics& dynamics = *phase_->dynamics;
    VectorXd y = VectorXd::Zero(dynamics.size());
    y << state.q, state.qd, VectorXd::Zero(dynamics.num_works());
    dynamics.take_sides(state.t, y.data());
    if ((multipliers_unique_ = dynamics.choose_rows(state.t, y.data()) && dynamics.keeps_all_rows())) {
      undetermined_.clear();
      return true;
    }
  }
  if (const EquationValues& values = phase_->dynamics->values(); !values.is_whole()) {
    with_rows.rows.emplace();
    for (int j = 0; j < phase_->system->m(); ++j)
      if (!values.is_absent(j)) with_rows.rows->push_back(j);
  }
  const Instant instant = accelerate(*phase_->system, state, with_rows);
  multipliers_unique_ = instant.solution.multipliers_undetermined.empty();
  undetermined_ = instant.solution.multipliers_undetermined;
  const auto& open = undetermined_;
  std::optional<std::size_t> first;
  bool two_sided = false;
  for (std::size_t c = 0; c < modes_.size(); ++c) {
    const ContactRow& contact = system->equations().contacts[c];
    if (modes_[c].status != ContactStatus::sliding || contact.is_force ||
        std::find(open.begin(), open.end(), phase_->rows[c]) == open.end())
      continue;
    if (!first) first = c;
    two_sided |= !system->row(contact.row).one_sided;
  }
  if (!first || (!two_sided && mode_goes_on(state, instant.solution.Q_control))) return true;
  if (!two_sided && system->num_control() == 0) return spreads_ = true;
  finish(
      StopReason::not_unique,
      fmt::format(
          "at t = {}: the force of `{}` is not unique (other constraints do the same), and so neither is its friction",
          short_number(state.t), contact_name(*first)));
  return false;
}

void PhasedMotion::begin_phase(State state, double until, bool ready) {
  // Ideal forces are those without friction, and a phase in which contacts stick does not know them.
  for (std::size_t c = 0; c < modes_.size(); ++c)
    if (modes_[c].status == ContactStatus::sticking && system->needs_reactions())
      return finish(StopReason::not_unique, fmt::format("at t = {}: `{}` sticks, and [nonideal] uses ideal() or "
                                                        "multiplier(): the two cannot be together in a run",
                                                        short_number(state.t), contact_name(c)));
  phase_ = phase_system();
  if (ready)
    multipliers_unique_ = true, spreads_ = false, undetermined_.clear();
  else if (!find_unique(state))
    return;
  phase_start_ = std::move(state);
  phase_until_ = until;
  if (!gets_on()) return;
  make_smooth(phase_start_, until, ready);
  // One after the other: what one of them is relieved of others may have to carry.
  while (!over && ((system->num_control() > 0 && find_pulling()) || (spreads_ && find_relieved())))
    if (!over) make_smooth(phase_start_, until);
}

/// What a controller believes may have contacts open that close again at once, and so on without end.
bool PhasedMotion::gets_on() {
  constexpr int most = 20;
  constexpr double least = 1e-9;  // of the run
  if (!believed_ || phase_start_.t - stuck_.since > least * (options.to - start.t))
    stuck_ = {.since = phase_start_.t};
  else if (++stuck_.phases == most)
    finish(
        StopReason::sliding,
        fmt::format("near t = {} contacts change ever more often, {} times since t = {}: with each way of theirs the "
                    "controller, which believes in another model, drives them into another",
                    short_number(phase_start_.t), most, short_number(stuck_.since)));
  return !over;
}

/// Samples are given forces, and what a controller believes does not know what the contact carries.
bool PhasedMotion::may_be_carried(std::size_t c) const {
  const ControlEquations& control = system->equations().control;
  return system->num_control() > 0 && !control.every && control.nominal.empty() &&
         !system->equations().contacts[c].has_friction;
}

/// A contact that would pull holds because control keeps it closed. False: there is none.
bool PhasedMotion::find_pulling() {
  const Sample now = smooth_->sample(phase_start_.t);
  const Dynamics& d = smooth_->dynamics();
  const std::vector<double>& lambda = smooth_->dynamics().calc_joint_multipliers();
  double force = now.Q_control.size() > 0 ? now.Q_control.cwiseAbs().maxCoeff() : 0.0;
  for (int i = 0; i < d.n(); ++i) force = std::max(force, std::abs(d.values().numbers().Q[i]));
  for (std::size_t c = 0; c < modes_.size(); ++c) {
    const int row = phase_->rows[c];
    const ContactRow& contact = system->equations().contacts[c];
    const bool holds = modes_[c].status == ContactStatus::holding || modes_[c].status == ContactStatus::sticking;
    if (!holds || row < 0 || !system->row(contact.row).one_sided) continue;
    if (std::find(undetermined_.begin(), undetermined_.end(), row) != undetermined_.end()) continue;
    double largest = 0.0;
    d.each_entry(row, [&](int, double a) { largest = std::max(largest, std::abs(a)); });
    constexpr double rounding = 1e-12, clearly = 1e-6;
    const double pull = -lambda[static_cast<std::size_t>(row)] * largest;
    if (pull > rounding * force && !modes_[c].carried && may_be_carried(c)) {
      modes_[c].carried = true;
      return true;
    }
    if (pull <= clearly * force) continue;
    finish(StopReason::not_unique,
           fmt::format("at t = {}: control presses against `{}`, which opens without it: the force that meets the "
                       "requirements with a contact that is open closes it, and the one with a contact that holds "
                       "would have it pull",
                       short_number(phase_start_.t), contact_name(c)));
    return true;
  }
  return false;
}

/// Of contacts that share what they carry with the least forces, one that would pull: the others keep it closed, without a force of its
/// own. False: there is none.
bool PhasedMotion::find_relieved() {
  smooth_->sample(phase_start_.t);
  const std::vector<double>& lambda = smooth_->dynamics().calc_joint_multipliers();
  double largest = 0.0;
  std::optional<std::size_t> most;
  for (std::size_t c = 0; c < modes_.size(); ++c) {
    const auto row = static_cast<std::size_t>(phase_->rows[c]);
    if (modes_[c].status == ContactStatus::open || phase_->rows[c] < 0) continue;
    if (!system->row(system->equations().contacts[c].row).one_sided) continue;
    largest = std::max(largest, std::abs(lambda[row]));
    if (!most || lambda[row] < lambda[static_cast<std::size_t>(phase_->rows[*most])]) most = c;
  }
  if (!most || !(lambda[static_cast<std::size_t>(phase_->rows[*most])] < -1e-12 * largest)) return false;
  modes_[*most] = {};
  phase_ = phase_system();
  return find_unique(phase_start_);
}

/// As long as what is asked for would not have it push, and would close it if it were open.
bool PhasedMotion::carried_goes_on(const State& there) {
  smooth_->misses_requirement(there);
  if (!smooth_->dynamics().carries()) return false;
  const Evaluation now = system->evaluate(there);
  if (now.not_finite) return true;
  const Instant instant = accelerate_with(*system, there, now, contacts_of_phase(there, now), quickly());
  return instant.has_acceleration() && keeps_modes(instant);
}

void PhasedMotion::make_smooth(const State& state, double until, bool ready) {
  phase_ = phase_system();
  SmoothMotion::Phase phase;
  const bool decided = multipliers_unique_ || spreads_;  // by multipliers, one by one
  phase.guards = make_guards(*system, *phase_, modes_, decided);
  meanings_ = guard_meanings(*system, *phase_, modes_, decided);
  phase.sliding = sliding_of(*phase_);
  // Contacts that touch may be in the way of control.
  phase.control_may_miss = system->num_control() > 0 && std::any_of(modes_.begin(), modes_.end(), [](const auto& mode) {
                             return mode.status != ContactStatus::open;
                           });
  samples_inside_ = phase.control_may_miss && is_sampled();
  if (samples_inside_) phase.take_sample = [this](const State& there) { return take_sample_inside(there); };
  const bool at_once = phase.control_may_miss && !is_sampled();
  for (std::size_t c = 0; c < modes_.size(); ++c)
    if (modes_[c].carried) phase.carried.push_back(phase_->rows[c]);
  if (at_once || !decided)
    phase.may_go_on = [this, controlled = at_once, carried = !phase.carried.empty()](const State& there) {
      return (!carried || carried_goes_on(there)) && (!controlled || control_goes_on(there)) &&
             (multipliers_unique_ || spreads_ || mode_goes_on(there, smooth_->dynamics().control_force()));
    };
  prepare_believed();
  if (believed_) phase.believes = [this](const State& there) { return believe(there); };
  phase.energy_in_play = sums_.ledger.in_play();
  phase.sizes = smooth_ ? std::optional(smooth_->dynamics().sizes) : before_.sizes;
  // A force may jump where contacts change; other events that velocities jump over are found there.
  const bool first = sums_.phases == 0 || !smooth_;
  phase.event_signs = first ? before_.event_signs : smooth_->event_signs();
  if (!first)
    for (std::size_t i = 0; i < phase.event_signs.size(); ++i)
      if (!phase_->dynamics->facts().events[i].uses_forces) phase.event_signs[i] = 0.0;
  if (first) phase.pending_events = before_.pending_events, phase.fired = before_.fired;
  phase.forces = force_source();
  phase.largest_step = (options.to - start.t) / step_control::least_steps;
  // A state that was decided upon, with rows that are told apart, needs no second judgement.
  phase.passes = change_pending_;
  phase.grazes = grazes_;
  phase.judged = sums_.phases > 0 && multipliers_unique_ && !phase_->dynamics->absent().empty();
  phase.ready = ready;
  MotionOptions own = options;
  own.to = until;
  own.sampled = held_;
  // Steps go on as they were where nothing but a contact has changed.
  if (sums_.phases > 0) own.first_step = ready && smooth_ ? smooth_->next_step() : 0.0;
  if (sums_.phases == 0 && before_.first_step > 0.0) own.first_step = before_.first_step;
  smooth_ = std::make_unique<SmoothMotion>(*phase_->dynamics, state, own, std::move(phase));
  phase_added_ = false;
  if (smooth_->refusal) {
    over = true;
    stop = *smooth_->refusal;
    if (sums_.phases > 0) stop.message = fmt::format("at t = {}: {}", short_number(state.t), stop.message);
  }
  for (std::string& note : smooth_->notes)
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(std::move(note));
  smooth_->notes.clear();
}

/// Control that misses a requirement may meet it where a contact opens or begins to slip (instant/control.hpp): there the phase ends.
bool PhasedMotion::control_goes_on(const State& there) {
  if (!smooth_->misses_requirement(there)) return true;
  const Evaluation now = system->evaluate(there);
  if (now.not_finite) return true;
  const Instant instant = accelerate_with(*system, there, now, contacts_of_phase(there, now), quickly());
  return instant.has_acceleration() && keeps_modes(instant);
}

/// As they are in this phase, for the general solver to decide what they do.
std::vector<Contact> PhasedMotion::contacts_of_phase(const State& there, const Evaluation& now) const {
  std::optional<NotFinite> not_finite;
  std::vector<Contact> contacts = classify_contacts(*system, there, now, size_, not_finite);
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    if (modes_[c].status == ContactStatus::open) continue;
    contacts[c].status = ContactStatus::touching;
    take_direction(c, contacts[c]);
  }
  return contacts;
}

bool PhasedMotion::keeps_modes(const Instant& instant) const {
  for (std::size_t c = 0; c < modes_.size(); ++c) {
    const ContactStatus is = instant.contacts[c].acts() ? instant.contacts[c].status : ContactStatus::open;
    if (modes_[c].status != ContactStatus::open && is != modes_[c].status) return false;
  }
  return true;
}

AccelerateOptions PhasedMotion::quickly() const {
  AccelerateOptions options_of{.diagnose = false};
  if (is_sampled() && !held_.efforts.empty())
    options_of.held = Eigen::Map<const VectorXd>(held_.efforts.data(), std::ssize(held_.efforts));
  return options_of;
}

std::optional<double> PhasedMotion::sample_due(double time) const {
  if (!is_sampled()) return {};
  const double passed = (time - *held_.from) / *system->equations().control.every, number = std::round(passed);
  if (!held_.efforts.empty() && (std::abs(passed - number) > 1e-7 || number == sampled_)) return {};
  return number;
}

/// The sample sees contacts as they are just before it, and what they would do with the force that it finds.
bool PhasedMotion::take_sample(const State& state, const Evaluation& now, const std::vector<Contact>& contacts,
                               const std::string& when) {
  const std::optional<double> due = sample_due(state.t);
  if (!due) return true;
  const Instant instant = accelerate_with(*system, state, now, contacts, {.diagnose = false});
  if (!has_acceleration(instant, when)) return false;
  const VectorXd& found =
      system->equations().control.actuators.empty() ? instant.solution.Q_control : instant.control->tau;
  held_.efforts.assign(found.begin(), found.end());
  sampled_ = *due;
  note_missed(instant, when);
  return true;
}

/// A sample inside a phase, which goes on if contacts do what they did.
std::optional<std::vector<double>> PhasedMotion::take_sample_inside(const State& state) {
  if (!sample_due(state.t)) return held_.efforts;
  const Evaluation now = system->evaluate(state);
  if (now.not_finite) return {};  // the change of phase says so
  const std::vector<Contact> contacts = contacts_of_phase(state, now);
  if (!take_sample(state, now, contacts, fmt::format("at t = {}", short_number(state.t)))) return {};
  const Instant instant = accelerate_with(*system, state, now, contacts, quickly());
  if (!instant.has_acceleration() || !keeps_modes(instant)) return {};
  return held_.efforts;
}

void PhasedMotion::take_held() {
  if (!is_sampled() || samples_inside_) return;
  const std::vector<double>& held = smooth_->dynamics().held_control;
  if (held.empty() || held.front() == 0.0) return;
  held_.efforts.assign(held.begin() + 1, held.end());
  sampled_ = -1.0;  // if one is due where the phase has ended, it was not taken
}

HeldControl PhasedMotion::held_control() const {
  if (!samples_inside_ && smooth_) return smooth_->held_control();
  if (sample_due(t)) return {held_.from, {}};
  return held_;
}

/// A phase that begins along a surface on which the last one ended says nothing new.
void PhasedMotion::take_events() {
  const auto goes_on = [this](const MotionEvent& event) {
    if (event.kind != EventKind::sliding_begins) return false;
    for (auto e = events.rbegin(); e != events.rend(); ++e)
      if (e->name == event.name && (e->kind == EventKind::sliding_begins || e->kind == EventKind::sliding_ends))
        return e->kind == EventKind::sliding_begins;
    return false;
  };
  for (MotionEvent& event : smooth_->events)
    if (!goes_on(event)) events.push_back(std::move(event));
  smooth_->events.clear();
  for (std::string& note : smooth_->notes)
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(std::move(note));
  smooth_->notes.clear();
}

bool PhasedMotion::advance() {
  if (over) return false;
  if (!stop_requested.empty()) {
    over = true, stop = {StopReason::callback, stop_requested, {}};
    return false;
  }
  if (change_pending_) {
    change_pending_ = false;
    const bool jumped = change_phase();
    if (over) return !stop.failed() && t >= options.to;  // at the very end there is nothing left but to say so
    if (jumped) {
      step_begin = t;
      return true;
    }
  }
  const bool moved = smooth_->advance();
  t = smooth_->t, step_begin = smooth_->step_begin;
  take_events();
  if (smooth_->over) {
    const bool ended = smooth_->guard >= 0 || smooth_->may_not_go_on || smooth_->beyond > 0.0;
    if (smooth_->stop.failed() || smooth_->stop.reason == StopReason::event) {
      over = true, stop = smooth_->stop, stopped_by = smooth_->stopped_by;
    } else if (t >= options.to) {
      over = true, stop = {};
    } else if (ended || t >= phase_until_) {
      change_pending_ = true;
    }
  }
  // A run that goes on past its end begins where its last phase has ended: nothing has moved yet.
  return moved || (change_pending_ && advance());
}

void PhasedMotion::add_phase(Sums& sums) const {
  const Certificate c = smooth_->certificate();
  Works works = c.works;
  works.constraints.setZero(sums.works.constraints.size());
  for (Index j = 0; j < c.works.constraints.size(); ++j) {
    const int row = phase_->row_of[static_cast<std::size_t>(j)];
    if (row >= 0) {
      works.constraints(row) = c.works.constraints(j);
    } else {
      works.ideal -= c.works.constraints(j), works.nonideal += c.works.constraints(j);
    }
  }
  sums.add_part(c, works, smooth_->ledger());
}

EnergyLedger PhasedMotion::ledger() const {
  Sums sums = sums_;
  if (smooth_ && !phase_added_) add_phase(sums);
  return sums.ledger;
}

bool PhasedMotion::rubs() const {
  return std::any_of(modes_.begin(), modes_.end(), [](const ContactMode& m) {
    return m.status == ContactStatus::sticking || m.status == ContactStatus::sliding;
  });
}

/// What work(NAME) has come to before this phase; ideal forces where contacts rub.
Dynamics::ForceSource PhasedMotion::force_source() {
  Dynamics::ForceSource source;
  if (forces_.empty()) return source;
  source.works_before = before_.works_before;
  source.works_before.resize(forces_.size(), 0.0);
  bool ideal = false;
  for (std::size_t i = 0; i < forces_.size(); ++i) {
    const Symbol& s = forces_[i].symbol();
    ideal |= s.kind == SymbolKind::ideal_force || s.kind == SymbolKind::power;
    for (Index j = 0; s.kind == SymbolKind::work && j < sums_.works.constraints.size(); ++j)
      if (system->row_name(static_cast<int>(j)) == s.name) source.works_before[i] += sums_.works.constraints(j);
  }
  if (ideal && rubs())
    source.ideal = [this](const State& state, const VectorXd& control, std::span<double> forces) {
      calc_ideal_forces(state, control, forces);
    };
  return source;
}

void PhasedMotion::calc_ideal_forces(const State& state, const VectorXd& control, std::span<double> forces) const {
  const auto ideal = find_ideal(state, control);
  if (!ideal) return;
  const VectorXd force = ideal->now.values.A.transposed_times(ideal->lambda);
  for (std::size_t i = 0; i < forces_.size(); ++i) {
    const Symbol& s = forces_[i].symbol();
    if (s.kind == SymbolKind::ideal_force) forces[i] = force(system->find_coordinate(s.name));
    for (Index j = 0; s.kind == SymbolKind::power && j < ideal->lambda.size(); ++j)
      if (system->row_name(static_cast<int>(j)) == s.name)
        forces[i] = ideal->lambda(j) * ideal->now.values.A.dot(j, state.qd);
  }
}

std::optional<PhasedMotion::Ideal> PhasedMotion::find_ideal(const State& state, const VectorXd& control) const {
  Ideal ideal{{}, system->evaluate(state)};
  std::optional<NotFinite> not_finite = ideal.now.not_finite;
  if (not_finite) return {};
  if (control.size() > 0) ideal.now.values.Q += control;  // a given force, as constraints feel it
  std::vector<Contact> contacts = classify_contacts(*system, state, ideal.now, size_, not_finite);
  for (std::size_t c = 0; c < contacts.size(); ++c)
    contacts[c].status = modes_[c].status == ContactStatus::open ? ContactStatus::open : ContactStatus::touching;
  const ContactSolution found = solve_contacts(*system, ideal.now.values, std::move(contacts), {}, {.friction = false});
  if (found.status != SolveStatus::solved) return {};
  ideal.lambda = found.multipliers.head(sums_.works.constraints.size());
  return ideal;
}

void PhasedMotion::leave_phase() {
  add_phase(sums_);
  phase_added_ = true, works_then_ = total(sums_.works);
  add(sums_.statistics, smooth_->statistics());
  ++sums_.phases;
  for (const std::string& reason : smooth_->certificate().reasons)
    if (doubts_.size() < 20 && std::find(doubts_.begin(), doubts_.end(), reason) == doubts_.end())
      doubts_.push_back(reason);
}

const Statistics& PhasedMotion::statistics() {
  statistics_ = sums_.statistics;
  if (smooth_ && !phase_added_) add(statistics_, smooth_->statistics());
  return statistics_;
}

Certificate PhasedMotion::certificate() const {
  if (!smooth_) return {};
  Sums sums = sums_;
  if (!phase_added_) add_phase(sums);
  Certificate last = smooth_->certificate();
  // Between phases works are those of impacts: what velocities have gained.
  if (phase_added_) last.kinetic_end += total(sums.works) - works_then_;
  Certificate c = sums.MotionSums::certificate(last);
  c.notes = notes;
  c.reasons = doubts_;
  if (!phase_added_) c.reasons.insert(c.reasons.end(), last.reasons.begin(), last.reasons.end());
  c.contacts = ContactCertificate{.impacts = sums.impacts,
                                  .phases = sums.phases + 1,
                                  .impact_lost = sums.impact_lost,
                                  .impact_friction_lost = sums.impact_friction_lost,
                                  .friction_lost = friction_alone_ ? std::optional(-c.works.nonideal) : std::nullopt,
                                  .surface_work = sums.surface_work,
                                  .penetration = sums.penetration,
                                  .optimality = sums.optimality,
                                  .complementarity = sums.complementarity};
  if (auto reason = sums.find_imbalance(c)) c.reasons.push_back(std::move(*reason));
  const double allowed = 1e-7 + 100.0 * options.tolerance;
  if (sums.penetration > allowed)
    c.reasons.push_back(fmt::format("a one-sided constraint is violated by {:.1e}", sums.penetration));
  c.holds = c.reasons.empty();
  return c;
}

Sample PhasedMotion::sample(double time) { return of_whole(smooth_->sample(time)); }

Sample PhasedMotion::of_whole(const Sample& part) {
  Sample s = part;
  const Index constraints = sums_.works.constraints.size();
  s.lambda.setZero(constraints), s.multipliers.setZero(constraints);
  s.power.setZero(constraints), s.works.constraints.setZero(constraints);
  for (Index j = 0; j < part.lambda.size(); ++j) {
    const int row = phase_->row_of[static_cast<std::size_t>(j)];
    if (row >= 0) {
      s.lambda(row) = part.lambda(j), s.multipliers(row) = part.multipliers(j), s.power(row) = part.power(j);
      s.works.constraints(row) = part.works.constraints(j);
    } else {
      s.works.ideal -= part.works.constraints(j), s.works.nonideal += part.works.constraints(j);
    }
  }
  if (phase_added_)
    s.works = sums_.works;
  else
    add(s.works, sums_.works);
  // Of the state that was sampled: it is the last that the dynamics have seen.
  const auto& contacts_of = system->equations().contacts;
  const std::vector<double> joint = smooth_->dynamics().calc_joint_multipliers();
  std::vector<double> normal, friction_values;
  std::size_t sliding = 0;
  for (std::size_t c = 0; c < modes_.size(); ++c) {
    if (!contacts_of[c].has_friction) continue;
    const std::size_t slips = contacts_of[c].slip.size();
    const double lambda = phase_->rows[c] < 0 ? 0.0 : joint[static_cast<std::size_t>(phase_->rows[c])];
    if (!system->row(contacts_of[c].row).bare) normal.push_back(lambda);
    std::array<double, 2> f{};
    if (modes_[c].status == ContactStatus::sliding) f = smooth_->dynamics().calc_friction(sliding++, lambda);
    if (modes_[c].status == ContactStatus::sticking)
      for (std::size_t k = 0; k < slips; ++k) f[k] = joint[static_cast<std::size_t>(phase_->slip_rows[c][k])];
    friction_values.insert(friction_values.end(), f.begin(), f.begin() + static_cast<std::ptrdiff_t>(slips));
  }
  const auto as_vector = [](const std::vector<double>& x) {
    return VectorXd(Eigen::Map<const VectorXd>(x.data(), static_cast<Index>(x.size())));
  };
  s.normal = as_vector(normal), s.friction = as_vector(friction_values);
  // What is ideal is that of the touching contacts without friction.
  if (!rubs()) return s;
  const auto ideal = find_ideal({s.t, s.q, s.qd}, s.Q_control);
  if (!ideal) return s;
  const InstantValues& values = ideal->now.values;
  s.lambda = ideal->lambda;
  s.Qc_i = values.A.transposed_times(s.lambda);
  s.Qc = values.M * s.qdd - values.Q;
  s.Qc_ni = s.Qc - s.Qc_i;
  s.power = s.lambda.cwiseProduct((values.A * s.qd).head(constraints));
  return s;
}

/// In free flight.
bool PhasedMotion::can_hand_over() const {
  return !over && !change_pending_ && phase_until_ >= options.to && smooth_ && smooth_->can_hand_over() &&
         std::all_of(modes_.begin(), modes_.end(),
                     [](const ContactMode& mode) { return mode.status == ContactStatus::open; });
}

void PhasedMotion::take_back(const HandedMotion& from) {
  smooth_->take_back(from);
  t = step_begin = smooth_->t;
  over = smooth_->over;
}

/// What each contact does under other values is decided as where a phase ends.
void PhasedMotion::take_parameters() {
  if (over) return;
  State state = smooth_->end_state();
  system->set_state_rates(state);
  if (auto wrong = find_wrong_parameters(*system, state)) return finish(wrong->reason, wrong->message, wrong->place);
  smooth_->guard = -1, smooth_->may_not_go_on = smooth_->broken = false, smooth_->beyond = 0.0;
  // A mass that has changed has been given its energy.
  sums_.works.given += 0.5 * state.qd.dot(system->evaluate(state).values.M * state.qd) - smooth_->ledger().kinetic();
  change_pending_ = true;
}

template <class Do>
void PhasedMotion::each_number(Sums& s, Do&& number) {
  s.MotionSums::each_number(number);
  number(s.impact_lost), number(s.impact_friction_lost), number(s.surface_work);
  number(s.penetration), number(s.optimality), number(s.complementarity), number(s.impacts), number(s.phases);
}

std::vector<double> PhasedMotion::checkpoint() const {
  std::vector<double> out{checkpoint_version, static_cast<double>(modes_.size())};
  const auto number = [&](auto x) { out.push_back(static_cast<double>(x)); };
  for (const ContactMode& mode : modes_)
    number(static_cast<int>(mode.status)), number(mode.sign), number(mode.direction[0]), number(mode.direction[1]),
        number(mode.carried);
  number(phase_start_.t), number(phase_until_), number(many_since_);
  for (const double x : phase_start_.q) number(x);
  for (const double x : phase_start_.qd) number(x);
  number(change_pending_), number(multipliers_unique_), number(impact_lowered_noted_), number(uniqueness_noted_),
      number(shared_noted_), number(spreads_), number(grazes_);
  number(smooth_->guard), number(smooth_->may_not_go_on), number(smooth_->beyond), number(smooth_->broken);
  // Where an event has ended the motion at an impact: the state after it.
  number(jumped_to_.has_value()), number(signs_.size()), number(phase_added_), number(works_then_);
  for (const double x : signs_) number(x);
  for (const double x : pending_) number(x);
  for (Index i = 0; i < start.q.size(); ++i) number(jumped_to_ ? jumped_to_->q(i) : 0.0);
  for (Index i = 0; i < start.q.size(); ++i) number(jumped_to_ ? jumped_to_->qd(i) : 0.0);
  for (const auto* numbers : {&size_.q, &size_.qd})
    for (const double x : *numbers) number(x);
  for (const double x : settles_at_) number(x);
  number(held_.efforts.size()), number(*held_.from), number(sampled_);
  for (const double x : held_.efforts) number(x);
  for (const char x : missed_noted_) number(x);
  each_number(const_cast<Sums&>(sums_), [&](auto& x) { out.push_back(static_cast<double>(x)); });
  const std::vector<double> inner = smooth_->checkpoint();
  out.insert(out.end(), inner.begin(), inner.end());
  return out;
}

void PhasedMotion::restore(std::span<const double> from) {
  std::size_t at = 0;
  const auto next = [&] {
    if (at >= from.size()) throw std::invalid_argument("the checkpoint is cut off");
    return from[at++];
  };
  if (next() != checkpoint_version || next() != static_cast<double>(modes_.size()))
    throw std::invalid_argument("the checkpoint is of another program version or model");
  for (ContactMode& mode : modes_) {
    mode.status = static_cast<ContactStatus>(static_cast<int>(next()));
    mode.sign = next(), mode.direction[0] = next(), mode.direction[1] = next(), mode.carried = next() != 0.0;
  }
  phase_start_.t = next(), phase_until_ = next(), many_since_ = next();
  for (double& x : phase_start_.q) x = next();
  for (double& x : phase_start_.qd) x = next();
  change_pending_ = next() != 0.0, multipliers_unique_ = next() != 0.0;
  impact_lowered_noted_ = next() != 0.0, uniqueness_noted_ = next() != 0.0, shared_noted_ = next() != 0.0,
  spreads_ = next() != 0.0, grazes_ = next() != 0.0;
  const int guard = static_cast<int>(next());
  const bool may_not_go_on = next() != 0.0;
  const double beyond = next();
  const bool broken = next() != 0.0;
  const bool jumped = next() != 0.0;
  const double signs = next();
  const bool added = next() != 0.0;
  works_then_ = next();
  if (!(signs >= 0.0 && signs <= static_cast<double>(from.size())))
    throw std::invalid_argument("the checkpoint is cut off");
  signs_.assign(static_cast<std::size_t>(signs), 0.0);
  for (double& x : signs_) x = next();
  pending_.assign(signs_.size(), 0.0);
  for (double& x : pending_) x = next();
  State after = start;
  for (double& x : after.q) x = next();
  for (double& x : after.qd) x = next();
  for (auto* numbers : {&size_.q, &size_.qd})
    for (double& x : *numbers) x = next();
  for (double& x : settles_at_) x = next();
  const double efforts = next();
  held_.from = next(), sampled_ = next();
  if (!(efforts >= 0.0 && efforts <= static_cast<double>(from.size())))
    throw std::invalid_argument("the checkpoint is cut off");
  held_.efforts.assign(static_cast<std::size_t>(efforts), 0.0);
  for (double& x : held_.efforts) x = next();
  for (char& x : missed_noted_) x = next() != 0.0;
  each_number(sums_, [&](auto& x) { x = static_cast<std::remove_reference_t<decltype(x)>>(next()); });
  over = false, stop = {}, refusal.reset();
  make_smooth(phase_start_, phase_until_);
  smooth_->restore(from.subspan(at));
  smooth_->events.clear(), smooth_->notes.clear();
  smooth_->guard = guard, smooth_->may_not_go_on = may_not_go_on, smooth_->beyond = beyond, smooth_->broken = broken;
  t = step_begin = smooth_->t;
  phase_added_ = added, after.t = t;
  if (jumped) jumped_to_ = std::move(after);
  if (t >= options.to) over = true, stop = {};
}

}  // namespace mechanician
