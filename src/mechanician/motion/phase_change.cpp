// Between two phases: impacts, and what each contact does next.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/expression/tape.hpp"
#include "mechanician/instant/project.hpp"
#include "mechanician/motion/phased_motion.hpp"

namespace mechanician {

namespace {
using Eigen::Index;
using Eigen::VectorXd;
using What = GuardMeaning::What;

constexpr int most_impacts_at_once = 1000;
constexpr long many_impacts = 5000;
/// Slips, gap accelerations and slip accelerations below this part of their terms count as zero after an event.
constexpr double small = 1e-7;
/// What is held is met to rounding; where it is off by this multiple of what counts as touching, something has jumped.
constexpr double broken_by = 1e3;
/// Rebounds that are lower than this multiple of the rounding of the gap or shorter than this one of the clock's are not
/// followed: of the next ones rounding would make something else.
constexpr double clear_height = 100.0, clear_flight = 1e5;
constexpr double eps = std::numeric_limits<double>::epsilon();

bool touches(const Contact& c) { return c.status != ContactStatus::open; }

void set_status_by_rate(Contact& c) {
  if (!c.values.one_sided || std::abs(c.rate) <= c.rate_tolerance)
    c.status = ContactStatus::touching;
  else
    c.status = c.rate < 0.0 ? ContactStatus::impact : ContactStatus::separating;
}

}  // namespace

void PhasedMotion::add_event(EventKind kind, double time, std::vector<std::string> names, const State& state,
                             const VectorXd& before) {
  MotionEvent event;
  event.time = time;
  event.kind = kind;
  event.constraints = std::move(names);
  event.q = state.q;
  event.qd_before = before, event.qd_after = state.qd;
  events.push_back(std::move(event));
}

bool PhasedMotion::has_acceleration(const Instant& instant, const std::string& when) {
  const auto stop_with = [&](StopReason reason, const std::string& message, Place place = {}) {
    finish(reason, fmt::format("{}: {}", when, message), place);
    return false;
  };
  if (instant.not_finite)
    return stop_with(StopReason::not_finite, instant.not_finite->message(), instant.not_finite->place);
  if (!instant.contact_trouble.empty()) return stop_with(StopReason::not_unique, instant.contact_trouble);
  if (!instant.multiplier_not_unique.empty())
    return stop_with(StopReason::not_unique,
                     fmt::format("the multiplier of {} is not unique", quote_list(instant.multiplier_not_unique)));
  if (instant.has_acceleration()) return true;
  if (instant.solution.status == SolveStatus::requirements_not_met)
    return stop_with(StopReason::contradiction, describe_unmet(*system, instant));
  std::vector<std::string> names;
  for (const Index j : instant.contact_conflict) names.push_back(system->row_name(static_cast<int>(j)));
  return stop_with(
      instant.solution.status == SolveStatus::inconsistent ? StopReason::contradiction : StopReason::not_unique,
      names.empty() ? describe(instant.solution.status) : fmt::format("{} cannot hold together", quote_list(names)));
}

/// Requirements that contacts prevent. What limits prevent is an event of the motion.
void PhasedMotion::note_missed(const Instant& instant, const std::string& when) {
  if (!instant.control || instant.control->missing.size() == 0) return;
  const InstantControl& control = *instant.control;
  const auto& at_limit = control.mode.at_limit;
  const auto acts = [](const Contact& c) { return c.acts(); };
  if (std::any_of(at_limit.begin(), at_limit.end(), [](int at) { return at != 0; }) ||
      std::none_of(instant.contacts.begin(), instant.contacts.end(), acts))
    return;
  std::vector<std::string> names;
  for (std::size_t c = 0; c < modes_.size(); ++c)
    if (instant.contacts[c].acts()) names.push_back(contact_name(c));
  for (std::size_t j = 0; j < control.met.size(); ++j) {
    if (control.met[j] || missed_noted_[j]) continue;
    missed_noted_[j] = 1;
    notes.push_back(
        fmt::format("{}: control requirement `{}` is not met beside {}: its acceleration misses what is "
                    "asked for by {}",
                    when, system->row_name(system->m() + static_cast<int>(j)), quote_list(names),
                    short_number(control.missing(static_cast<Index>(j)))));
  }
}

/// What the instant says, with the contacts as given; nothing where the motion cannot go on.
std::optional<Instant> PhasedMotion::decide(const State& state, const Evaluation& now,
                                            const std::vector<Contact>& contacts, const std::string& when) {
  if (!take_sample(state, now, contacts, when)) return {};
  Instant instant = accelerate_with(*system, state, now, contacts, quickly());
  if (!has_acceleration(instant, when)) return {};
  if (!is_sampled()) note_missed(instant, when);
  if (instant.uniqueness_unknown && !uniqueness_noted_) {
    uniqueness_noted_ = true;
    notes.push_back(fmt::format(
        "{}: many contacts with friction: whether other motions obey Coulomb's law too was not examined", when));
  }
  if (!instant.shared.empty() && !shared_noted_) {
    shared_noted_ = true;
    notes.push_back(fmt::format("{}: {}", when, instant.shared));
  }
  sums_.optimality = std::max(sums_.optimality, instant.optimality.largest());
  double force = 0.0, opening = 0.0;
  for (const Contact& c : instant.contacts)
    force = std::max(force, std::abs(c.normal)), opening = std::max(opening, std::abs(c.gap_acceleration));
  for (const Contact& c : instant.contacts)
    if (force > 0.0 && opening > 0.0 && c.values.one_sided)
      sums_.complementarity =
          std::max(sums_.complementarity, std::min(std::abs(c.normal) / force, std::abs(c.gap_acceleration) / opening));
  return instant;
}

void PhasedMotion::set_modes(const Instant& instant) {
  for (std::size_t c = 0; c < modes_.size(); ++c) {
    const Contact& contact = instant.contacts[c];
    ContactMode mode;
    if (contact.acts()) mode.status = contact.status;
    if (!contact.values.one_sided) {
      mode.sign = contact.normal < 0.0 ? -1.0 : 1.0;
      // A multiplier that has just passed through zero is on its new side.
      if (smooth_ && smooth_->guard >= 0 && meanings_[smooth_->guard].contact == c &&
          meanings_[smooth_->guard].what == What::sliding_multiplier)
        mode.sign = -modes_[c].sign;
    }
    for (Index k = 0; k < contact.direction.size(); ++k)
      mode.direction[static_cast<std::size_t>(k)] = contact.direction(k);
    // What has just ceased to push and does not open is kept closed by control.
    mode.carried = mode.status == ContactStatus::holding && contact.values.one_sided && may_be_carried(c) && smooth_ &&
                   smooth_->guard >= 0 && meanings_[static_cast<std::size_t>(smooth_->guard)].contact == c &&
                   meanings_[static_cast<std::size_t>(smooth_->guard)].what == What::multiplier;
    modes_[c] = mode;
  }
}

/// Impacts until nothing closes any more. True if velocities jumped.
bool PhasedMotion::jump(State& state, Evaluation& now, std::vector<Contact>& contacts) {
  bool jumped = false;
  for (int round = 0; std::any_of(contacts.begin(), contacts.end(),
                                  [](const Contact& c) { return c.status == ContactStatus::impact; });
       ++round) {
    const std::string when = fmt::format("impact at t = {}", short_number(state.t));
    if (round == most_impacts_at_once) {
      finish(StopReason::step_too_small,
             fmt::format("{}: {} impacts at the same time, and no end of them", when, round));
      return jumped;
    }
    const Impact impact = calc_impact(*system, state, now, contacts);
    if (impact.status != SolveStatus::solved || !impact.trouble.empty()) {
      finish(impact.trouble.empty() && impact.status == SolveStatus::inconsistent ? StopReason::contradiction
                                                                                  : StopReason::not_unique,
             fmt::format("{}: {}", when, impact.trouble.empty() ? describe(impact.status) : impact.trouble));
      return jumped;
    }
    if (impact.restitution_part < 1.0 && !impact_lowered_noted_) {
      impact_lowered_noted_ = true;
      notes.push_back(
          fmt::format("{}: with friction the restitution asked for would add energy: it was lowered to {:.3g} of it",
                      when, impact.restitution_part));
    }
    ++sums_.impacts;
    sums_.impact_lost += impact.energy_lost, sums_.impact_friction_lost += impact.friction_lost;
    sums_.surface_work += impact.surface_work;
    const VectorXd before = state.qd;
    state.qd = impact.qd_after;
    system->set_state_rates(state);  // without an impulse
    jumped = true;
    const VectorXd sum = before + state.qd;
    const Index constraints = sums_.works.constraints.size();
    double works = 0.0;
    for (Index j = 0; j < now.values.A.rows(); ++j) {
      const double work = 0.5 * impact.impulses(j) * now.values.A.dot(j, sum);
      works += work;
      if (j < constraints)
        sums_.works.ideal += work, sums_.works.constraints(j) += work;
      else
        sums_.works.control += work;
    }
    // Friction has done the rest.
    sums_.works.nonideal += 0.5 * (state.qd - before).dot(now.values.M * sum) - works;
    std::vector<std::string> names;
    // What lies still elsewhere has impulses too, of the size of rounding.
    const VectorXd unfelt = felt * now.values.M.abs_times(size_.qd);
    for (const int c : impact.contacts) {
      const Contact& contact = contacts[static_cast<std::size_t>(c)];
      const Index j = contact.values.row;
      bool is_felt = contact.status == ContactStatus::impact;
      for (const SparseRows::Entry& e : now.values.A.row(j))
        is_felt |= std::abs(impact.impulses(j) * e.value) > unfelt(e.col);
      if (is_felt) names.push_back(contact_name(static_cast<std::size_t>(c)));
    }
    add_event(EventKind::impact, state.t, std::move(names), state, before);

    std::vector<bool> touching(contacts.size()), thrown_back(contacts.size());
    for (std::size_t c = 0; c < contacts.size(); ++c) touching[c] = touches(contacts[c]);
    for (const int c : impact.contacts) {
      const Contact& contact = contacts[static_cast<std::size_t>(c)];
      thrown_back[static_cast<std::size_t>(c)] =
          contact.status == ContactStatus::impact && contact.values.restitution > 0.0;
    }
    now = system->evaluate(state);
    std::optional<NotFinite> not_finite = now.not_finite;
    if (!not_finite) contacts = classify_contacts(*system, state, now, size_, not_finite);
    if (not_finite) {
      finish(StopReason::not_finite, fmt::format("{}: {}", when, not_finite->message()));
      return jumped;
    }
    for (std::size_t c = 0; c < contacts.size(); ++c) {
      if (!touching[c]) {
        if (contacts[c].values.level == Level::position) contacts[c].status = ContactStatus::open;
        continue;
      }
      set_status_by_rate(contacts[c]);
      // A rebound, however slow: settle() says when it is too slow.
      if (thrown_back[c] && contacts[c].rate > 0.0) contacts[c].status = ContactStatus::separating;
    }
  }
  if (jumped) watch_impacts(state.t);
  return jumped;
}

void PhasedMotion::watch_impacts(double time) {
  if (sums_.impacts % many_impacts != 0) return;
  if (time - many_since_ < 1e-12 * (options.to - start.t))
    finish(StopReason::step_too_small, fmt::format("near t = {}: {} impacts since t = {}: they do not come to an end",
                                                   short_number(time), many_impacts, short_number(many_since_)));
  many_since_ = time;
}

bool PhasedMotion::is_low(double rate, double acceleration, double rate_size, double gap_noise, double time) const {
  if (!(acceleration < 0.0)) return false;
  const double height = rate * rate / (-2.0 * acceleration);
  // Steps of dop853 follow a flight, however low, as they follow any parabola. Those of bdf are off by the tolerance in heights too, and a
  // rebound below that would go on for ever.
  constexpr double several = 10.0;
  const double told_apart = std::max(options.tolerance, 1e-9);
  const bool slow = rate <= (smooth_->is_implicit() ? std::sqrt(several * told_apart) : told_apart) * rate_size;
  // Nor can the clock resolve a flight that is shorter than its rounding.
  const double flight = 2.0 * rate / -acceleration, tick = eps * std::abs(time);
  return slow || height <= clear_height * gap_noise || flight <= clear_flight * tick;
}

/// Rebounds too low to be followed end in contact. The contacts are changed where that is so.
PhasedMotion::Settling PhasedMotion::settle(const State& state, const Evaluation& now, std::vector<Contact>& contacts,
                                            Instant& instant) {
  Settling result;
  result.until = state.t;
  std::vector<std::size_t> low;
  double longest = 0.0;
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    const Contact& contact = contacts[c];
    if (contact.status != ContactStatus::separating || contact.values.level != Level::position) continue;
    const Index j = contact.values.row;
    const double acceleration = now.values.A.dot(j, instant.solution.qdd) - now.values.b(j);
    if (is_low(contact.rate, acceleration, contact.rate_size, now.residual_noise(j), state.t)) low.push_back(c);
  }
  // Those that would not stay are thrown up, and with them left out others may stay no more.
  while (!low.empty()) {
    std::vector<Contact> trial = contacts;
    for (const std::size_t c : low) trial[c].status = ContactStatus::touching;
    Instant held = accelerate_with(*system, state, now, trial, quickly());
    // Rebounds without end lead to where control cannot go on.
    if (held.solution.status == SolveStatus::requirements_not_met)
      has_acceleration(held, fmt::format("at t = {}", short_number(state.t)));
    if (!held.has_acceleration()) return result;
    const std::size_t before = low.size();
    std::erase_if(low, [&](std::size_t c) { return !held.contacts[c].acts(); });
    if (low.size() < before) continue;
    for (const std::size_t c : low) {
      const Index j = contacts[c].values.row;
      const double acceleration = now.values.A.dot(j, instant.solution.qdd) - now.values.b(j);
      const double e = contacts[c].values.restitution;
      if (e < 1.0) longest = std::max(longest, 2.0 * contacts[c].rate / (-acceleration * (1.0 - e)));
    }
    contacts = std::move(trial);
    instant = std::move(held);
    result.until = state.t + longest;
    result.contacts = std::move(low);
    return result;
  }
  return result;
}

/// How far and how fast the phase has gone that ends here.
void PhasedMotion::measure(const State& end) {
  const double duration = end.t - phase_start_.t;
  if (!(duration > 0.0)) return;
  size_.q = (end.q - phase_start_.q).cwiseAbs();
  size_.qd = size_.qd.cwiseMax(end.qd.cwiseAbs()).cwiseMax(phase_start_.qd.cwiseAbs());
  // From rest to rest the way tells, where it is more than rounding.
  for (Index i = 0; i < size_.q.size(); ++i)
    if (size_.q(i) > 1e4 * eps * std::abs(end.q(i))) size_.qd(i) = std::max(size_.qd(i), size_.q(i) / duration);
  // What rests among things that move has a size all the same: impacts elsewhere leave more than its own rounding.
  if (smooth_)
    for (Index i = 0; i < size_.qd.size(); ++i)
      size_.qd(i) = std::max(size_.qd(i), Sizes::rest * smooth_->dynamics().sizes.near_qd[static_cast<std::size_t>(i)]);
}

/// Names of the contacts whose impacts have come to their end.
std::vector<std::string> PhasedMotion::take_settled(double until) {
  std::vector<std::string> names;
  for (std::size_t c = 0; c < settles_at_.size(); ++c)
    if (settles_at_[c] <= until) {
      names.push_back(contact_name(c));
      settles_at_[c] = std::numeric_limits<double>::infinity();
    }
  return names;
}

/// A user event whose function changes its sign with the velocities.
void PhasedMotion::find_jumped_events(const State& before, const State& after) {
  const Model& model = system->model();
  if (model.events.empty()) return;
  const Equations& eqs = system->equations();
  std::vector<Expr> when, inputs{eqs.t};
  constexpr KindSet unknown = all_forces | kind_bit(SymbolKind::acceleration);  // they jump where phases begin
  for (const Event& e : model.events) when.push_back((e.when.kinds() & unknown) != 0 ? Expr(0.0) : e.when);
  inputs.insert(inputs.end(), eqs.q.begin(), eqs.q.end());
  inputs.insert(inputs.end(), eqs.qd.begin(), eqs.qd.end());
  inputs.insert(inputs.end(), eqs.parameters.begin(), eqs.parameters.end());
  inputs.insert(inputs.end(), eqs.qdd.begin(), eqs.qdd.end());
  const Tape tape(when, inputs);
  const auto values = [&](const State& s) {
    std::vector<double> x{s.t};
    x.insert(x.end(), s.q.begin(), s.q.end());
    x.insert(x.end(), s.qd.begin(), s.qd.end());
    x.insert(x.end(), system->parameters().begin(), system->parameters().end());
    x.resize(inputs.size(), std::numeric_limits<double>::quiet_NaN());
    return tape(std::span<const double>(x));
  };
  const std::vector<double> was = values(before), is = values(after);
  std::vector<double> signs = smooth_->event_signs();
  std::vector<double> pending(signs.size(), 0.0);
  for (std::size_t i = 0; i < was.size(); ++i) {
    const Event& e = model.events[i];
    if (!(was[i] * is[i] < 0.0)) continue;
    signs[i] = is[i];
    if ((e.direction == EventDirection::up && is[i] < 0.0) || (e.direction == EventDirection::down && is[i] > 0.0))
      continue;
    // What an event changes comes before what others have to say.
    if (over && !model.events[static_cast<std::size_t>(stopped_by)].changes.empty()) {
      pending[i] = is[i] > 0.0 ? 1.0 : -1.0;
      continue;
    }
    add_event(EventKind::user, after.t, {}, after, before.qd);
    events.back().name = e.name;
    if ((e.action == EventAction::stop || !e.changes.empty()) && !over) {
      over = true, stopped_by = static_cast<int>(i);
      jumped_to_ = after;
      stop = {StopReason::event, fmt::format("event `{}` at t = {}", e.name, number_text(after.t)), {}};
    }
  }
  if (over) signs_ = std::move(signs), pending_ = std::move(pending);
}

/// Onto what holds with these statuses, by the factors of the motion. False: that is for the general projection.
bool PhasedMotion::move_onto(const std::vector<ContactStatus>& statuses, State& state,
                             const Dynamics::ProjectOptions& options_of) {
  const std::shared_ptr<const PhaseSystem> phase = systems_->of(statuses, start);
  Dynamics& dynamics = *phase->dynamics;
  if (dynamics.absent().empty()) return false;
  VectorXd y(dynamics.size());
  y << state.q, state.qd, VectorXd::Zero(dynamics.num_works());
  dynamics.take_sides(state.t, y.data());
  const long projections = dynamics.projections;
  const bool moved = dynamics.choose_rows(state.t, y.data()) && dynamics.keeps_all_rows() &&
                     dynamics.project(state.t, y.data(), options_of).ok;
  dynamics.projections = projections;
  if (!moved) return false;
  state.q = y.head(state.q.size()), state.qd = y.segment(state.q.size(), state.qd.size());
  return true;
}

/// Where expressions switch one-sided constraints may jump, but not into what touches them, and others not at all.
bool PhasedMotion::find_unbroken(const Change& change, const Evaluation& now) {
  const Sizes& sizes = smooth_->dynamics().sizes;
  for (const RowResidual& r : calc_residuals(*system, change.state, now)) {
    const bool position = system->row(r.row).level == Level::position && !r.of_rate;
    // Against what moves, as the start cannot be: by the way so far, where the place itself may be zero.
    const std::vector<double>& near = position ? sizes.near_q : sizes.near_qd;
    const double size = now.values.A.abs_dot(r.row, Eigen::Map<const VectorXd>(near.data(), std::ssize(near)));
    if (r.scaled <= start_tolerance || std::abs(r.value) <= std::max(start_tolerance, options.tolerance) * size)
      continue;
    finish(
        StopReason::contradiction,
        fmt::format("{} the constraint `{}` jumps by {} where an expression in it switches: {} would have to change "
                    "at once",
                    change.when, system->row_name(r.row), number_text(r.value), position ? "positions" : "velocities"),
        system->row(r.row).place);
    return false;
  }
  return true;
}

/// What touches where the phase ends. Nothing where there is none to be found or the motion cannot go on.
std::vector<Contact> PhasedMotion::find_contacts(const Change& change, const Evaluation& now) {
  const State& state = change.state;
  std::optional<NotFinite> not_finite = now.not_finite;
  std::vector<Contact> contacts;
  if (!not_finite) contacts = classify_contacts(*system, state, now, size_, not_finite);
  if (not_finite) {
    finish(StopReason::not_finite, fmt::format("{}: {}", change.when, not_finite->message()));
    return {};
  }
  if (change.broken && !find_unbroken(change, now)) return {};
  const std::vector<double>& near = smooth_->dynamics().sizes.near_q;
  const Eigen::Map<const VectorXd> size(near.data(), std::ssize(near));
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    Contact& contact = contacts[c];
    const Index j = contact.values.row;
    if (contact.values.one_sided && contact.gap < 0.0) {
      const double reach = now.values.A.abs_dot(j, size);
      sums_.penetration = std::max(sums_.penetration, -contact.gap / reach);
      // Up to here no gap was negative, but for what the clock cannot tell.
      const double by_clock = clear_height * eps * std::abs(state.t) * std::abs(contact.rate);
      if (contact.values.level == Level::position &&
          -contact.gap > std::max(start_tolerance, options.tolerance) * reach + by_clock) {
        finish(StopReason::contradiction,
               fmt::format("{}: the gap of `{}` jumps below zero, to {}: what is inside at once has no way out. State "
                           "the surface without a jump",
                           change.when, system->row_name(static_cast<int>(j)), number_text(contact.gap)),
               system->row(static_cast<int>(j)).place);
        return {};
      }
    }
    take_from_phase(change, c, contact);
    if (contact.values.one_sided && touches(contact) && now.values.A.norm(j) <= 16.0 * now.values.A_noise.norm(j)) {
      finish(StopReason::not_unique,
             fmt::format("{}: the gradient of `{}` vanishes where its gap closes: no force can hold it there. "
                         "State it so that it does not (z >= 0 instead of z^3 >= 0)",
                         change.when, system->row_name(static_cast<int>(j))));
      return {};
    }
  }
  return contacts;
}

/// What the phase knows better than the numbers: what acts touches, what has just closed does, what pulls has opened.
void PhasedMotion::take_from_phase(const Change& change, std::size_t c, Contact& contact) {
  const ContactMode& old = change.old[c];
  const bool acted = old.status != ContactStatus::open;
  if (contact.values.one_sided) {
    // Where its surface has broken, or what it is made of has changed, the numbers tell.
    const bool broken = change.broken || std::abs(contact.rate) > std::max(broken_by * contact.rate_tolerance,
                                                                           options.tolerance * contact.rate_size);
    if (acted && !broken) contact.status = ContactStatus::touching;
    if (change.is(c, What::gap)) set_status_by_rate(contact);
    // Velocities are continuous: a constraint on them that is met in a phase is met without a jump.
    if (change.is(c, What::gap) && contact.values.level == Level::velocity) contact.status = ContactStatus::touching;
    if (change.is(c, What::multiplier) || change.is(c, What::sliding_multiplier))
      contact.status = ContactStatus::separating;
  }
  if (!contact.values.has_friction || !acted) return;
  if (old.status == ContactStatus::sticking) {
    contact.direction.resize(0);
    if (!change.is(c, What::cone)) return;
    // The slip begins against the friction that held it.
    const auto& joint = smooth_->dynamics().calc_joint_multipliers();
    VectorXd f(static_cast<Index>(phase_->slip_rows[c].size()));
    for (Index k = 0; k < f.size(); ++k)
      f(k) = joint[static_cast<std::size_t>(phase_->slip_rows[c][static_cast<std::size_t>(k)])];
    if (f.norm() > 0.0) contact.direction = -f.normalized();
  } else if (old.status == ContactStatus::sliding) {
    const double at_rest = std::max(1.0, 1e12 * options.tolerance) * contact.slip_tolerance;
    // One that has only just begun to slide has no slip either, but gains some; all corners of a box come to rest at once.
    const auto slows_down = [&] {
      if (change.qdd.size() == 0) return false;
      const VectorXd s = contact.values.T * change.qdd - contact.values.slip_b;
      double along = 0.0;
      for (Index k = 0; k < s.size(); ++k) along += s(k) * old.direction[static_cast<std::size_t>(k)];
      return along < 0.0;
    };
    if (contact.values.slip.norm() <= at_rest && (change.is(c, What::slip) || slows_down())) {
      contact.direction.resize(0);
    } else if (contact.direction.size() == 0) {
      contact.direction.resize(contact.values.slip.size());
      for (Index k = 0; k < contact.direction.size(); ++k)
        contact.direction(k) = old.direction[static_cast<std::size_t>(k)];
    }
  }
}

/// Where contacts that share what they carry let go together, forces are those that just hold: what each does then, and which way it
/// begins to slip, shows a little later.
void PhasedMotion::look_ahead(const Change& change, std::vector<Contact>& contacts) const {
  const State& state = change.state;
  bool any = false;
  for (std::size_t c = 0; c < contacts.size(); ++c)
    any = any || (change.old[c].status == ContactStatus::sticking && contacts[c].status == ContactStatus::touching &&
                  contacts[c].direction.size() == 0);
  if (!any || change.qdd_held.size() == 0) return;
  const double span = std::min(options.to - state.t, std::max(smooth_->next_step(), state.t - phase_start_.t));
  for (const double part : {1e-6, 1e-5, 1e-4, 1e-3}) {
    const double later = part * span;
    State there{state.t + later, state.q + later * state.qd + 0.5 * later * later * change.qdd_held,
                state.qd + later * change.qdd_held};
    const Evaluation now = system->evaluate(there);
    std::optional<NotFinite> not_finite = now.not_finite;
    if (not_finite) return;
    const std::vector<ContactValues> values = system->evaluate_contacts(there, not_finite);
    if (not_finite) return;
    std::vector<Contact> guess = contacts;
    for (std::size_t c = 0; c < guess.size(); ++c) guess[c].values = values[c];
    const Instant instant = accelerate_with(*system, there, now, guess, quickly());
    if (!instant.has_acceleration() || !instant.contact_trouble.empty()) continue;
    bool changed = false;
    for (std::size_t c = 0; c < contacts.size(); ++c) {
      const Contact& found = instant.contacts[c];
      if (change.old[c].status == ContactStatus::open || contacts[c].status != ContactStatus::touching) continue;
      if (!found.acts() && contacts[c].values.one_sided) contacts[c].status = ContactStatus::separating, changed = true;
      if (found.status == ContactStatus::sliding && contacts[c].direction.size() == 0)
        contacts[c].direction = found.direction, changed = true;
    }
    if (changed) return;
  }
}

/// Where the contact that ended the phase was taken as opening or beginning to slip and does neither, all is left to the instant.
std::optional<Instant> PhasedMotion::decide_next(const Change& change, const Evaluation& now,
                                                 std::vector<Contact>& contacts) {
  const auto& why = change.why;
  std::optional<Instant> instant = decide(change.state, now, contacts, change.when);
  if (!instant || !why || change.jumped) return instant;
  const std::size_t c = why->contact;
  const Contact& contact = instant->contacts[c];
  const VectorXd& qdd = instant->solution.qdd;
  bool wrong = false;
  if (contacts[c].status == ContactStatus::separating && why->what != What::gap) {
    const Index j = contact.values.row;
    const double terms = now.values.A.abs_dot(j, qdd) + std::abs(now.values.b(j));
    wrong = now.values.A.dot(j, qdd) - now.values.b(j) < -small * terms;
    if (wrong) contacts[c].status = ContactStatus::touching;
  }
  if (why->what == What::cone && contact.status == ContactStatus::sliding) {
    const VectorXd s = contact.values.T * qdd - contact.values.slip_b;
    const double terms = (contact.values.T.abs_times(qdd) + contact.values.slip_b.cwiseAbs()).norm();
    wrong = s.dot(contact.direction) < -small * terms;
    if (wrong) contacts[c].direction.resize(0);
  }
  return wrong ? decide(change.state, now, contacts, change.when) : std::move(instant);
}

/// Onto what holds now; the little that is lost by this is lost in impacts.
void PhasedMotion::move_on(Change& change, Evaluation& now, const std::vector<Contact>& contacts) {
  State& state = change.state;
  const double kinetic = 0.5 * state.qd.dot(now.values.M * state.qd);
  // A gap that is left below zero would be found closing a little deeper each time.
  std::vector<ContactStatus> above = statuses();
  bool below = false;
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    const ContactValues& values = contacts[c].values;
    if (!values.one_sided || values.level != Level::position) continue;
    if (contacts[c].gap >= -4.0 * now.residual_noise(values.row)) continue;
    below = true;
    if (above[c] == ContactStatus::open) above[c] = ContactStatus::holding;
  }
  if (below && !move_onto(above, state, {.velocities = false}))
    if (const Projection moved = project(*system, state, ProjectionGoal::any); moved.converged) state.q = moved.state.q;
  phase_ = phase_system();
  bool moved = change.ready = move_onto(statuses(), state, {});
  if (!moved) {
    std::vector<char> present = phase_->dynamics->absent();
    for (std::size_t j = 0; j < present.size(); ++j)
      present[j] = !phase_->dynamics->values().is_absent(static_cast<int>(j));
    const Projection projection = present.empty() ? project(*phase_->system, state, ProjectionGoal::any)
                                                  : project_onto(*phase_->system, state, present, ProjectionGoal::any);
    if ((moved = projection.converged)) state.q = projection.state.q, state.qd = projection.state.qd;
  }
  if (!moved) return;
  const bool constant = phase_->dynamics->facts().mass_is_constant;
  const SparseRows& M = constant ? now.values.M : (now = system->evaluate(state)).values.M;
  const double lost = 0.5 * state.qd.dot(M * state.qd) - kinetic;
  if (!change.settling.contacts.empty()) sums_.impact_lost -= lost;
  sums_.works.ideal += lost;
}

/// With the general solver and all contacts. The motion may be over then.
void PhasedMotion::change_generally(Change& change) {
  Evaluation now = system->evaluate(change.state);
  std::vector<Contact> contacts = find_contacts(change, now);
  if (over) return;
  change.jumped = jump(change.state, now, contacts);
  if (over) return;
  if (!change.jumped) look_ahead(change, contacts);
  std::optional<Instant> instant = decide_next(change, now, contacts);
  if (!instant) return;
  if (change.jumped) change.settling = settle(change.state, now, contacts, *instant);
  if (over) return;
  change.before_moving = change.state.qd;
  set_modes(*instant);
  move_on(change, now, contacts);
}

/// Events of contacts that go on as something else.
void PhasedMotion::tell(const Change& change) {
  std::vector<std::string> released, made, stuck, slipped;
  for (std::size_t c = 0; c < modes_.size(); ++c) {
    const ContactMode& old = change.old[c];
    const ContactStatus was = old.status, is = modes_[c].status;
    if (was != ContactStatus::open && is == ContactStatus::open && !change.jumped) released.push_back(contact_name(c));
    if (was == ContactStatus::open && is != ContactStatus::open && !change.jumped) made.push_back(contact_name(c));
    if (was == ContactStatus::sliding && is == ContactStatus::sticking) stuck.push_back(contact_name(c));
    if (was == ContactStatus::sticking && is == ContactStatus::sliding) slipped.push_back(contact_name(c));
    // Sliding on in the other direction: the slip was zero for a moment.
    if (was == ContactStatus::sliding && is == ContactStatus::sliding && change.is(c, What::slip) &&
        old.direction[0] * modes_[c].direction[0] + old.direction[1] * modes_[c].direction[1] < 0.0)
      slipped.push_back(contact_name(c));
  }
  const auto add = [&](EventKind kind, std::vector<std::string>& names) {
    if (!names.empty()) add_event(kind, change.state.t, std::move(names), change.state, change.end.qd);
  };
  add(EventKind::release, released), add(EventKind::contact, made);
  add(EventKind::stick, stuck), add(EventKind::slip, slipped);
}

bool PhasedMotion::change_phase() {
  Change change{.state = smooth_->end_state(), .old = modes_};
  State& state = change.state;
  change.end = state, change.before_moving = state.qd;
  change.when = fmt::format("at t = {}", short_number(state.t));
  if (smooth_->guard >= 0) change.why = meanings_[static_cast<std::size_t>(smooth_->guard)];
  // Nearer to each other no step can be made.
  const double shortest = 1024.0 * eps * std::max(std::abs(state.t), options.to - start.t);
  if (std::vector<std::string> settled = take_settled(state.t + shortest); !settled.empty())
    add_event(EventKind::contact, state.t, std::move(settled), state, state.qd);
  if (change.why && change.why->what == What::slip) change.qdd = smooth_->sample(state.t).qdd;
  if (!change.why) change.qdd_held = smooth_->sample(state.t).qdd;
  measure(state);
  take_held();
  leave_phase();
  change.broken = smooth_->broken;
  state.t += smooth_->beyond, state.q += smooth_->beyond * state.qd;
  if (change.why && change.why->what == What::friction_solvable) {
    finish(
        StopReason::not_unique,
        fmt::format(
            "{}: with the friction of `{}` the forces have no bound: beyond, Coulomb's law has no or several solutions "
            "(Painlevé)",
            change.when, contact_name(change.why->contact)));
    return false;
  }
  if (change.why && change.why->what == What::gap && jump_plainly(change.why->contact, state))
    change.jumped = change.ready = true;
  else
    change_generally(change);
  if (over && change.jumped) jumped_to_ = state;
  if (over) return change.jumped;
  // Where a phase has come to nothing by a gap that neither closes nor opens, the next one sees beyond rounding. What a controller drives
  // to and fro is counted: gets_on().
  grazes_ = !believed_ && change.why && change.why->what == What::gap && !change.jumped &&
            modes_[change.why->contact].status == ContactStatus::open && state.t - phase_start_.t <= shortest;
  tell(change);
  if (change.jumped) find_jumped_events(change.end, state);
  if (over) return change.jumped;

  for (std::size_t c = 0; c < modes_.size(); ++c)
    if (modes_[c].status == ContactStatus::open) settles_at_[c] = std::numeric_limits<double>::infinity();
  for (const std::size_t c : change.settling.contacts) settles_at_[c] = change.settling.until;
  if (std::vector<std::string> settled = take_settled(state.t + shortest); !settled.empty())
    add_event(EventKind::contact, state.t, std::move(settled), state, change.before_moving);
  double until = options.to;
  for (const double x : settles_at_) until = std::min(until, x);
  const bool at_end = options.to - state.t <= shortest;
  if (at_end) state.t = options.to;
  begin_phase(state, at_end ? options.to + 1.0 : until, change.ready && !at_end);
  if (at_end && !over) t = step_begin = options.to, over = true, stop = {};
  return change.jumped;
}

}  // namespace mechanician
