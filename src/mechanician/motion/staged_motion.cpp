#include "mechanician/motion/staged_motion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "mechanician/base/text.hpp"
#include "mechanician/motion/checkpoint_numbers.hpp"
#include "mechanician/motion/step_control.hpp"

namespace mechanician {

namespace {
using Eigen::Index;
using Eigen::VectorXd;

constexpr double checkpoint_version = 1.0;

}  // namespace

StagedMotion::StagedMotion(const System& system_given, State start_given, MotionOptions options_given)
    : StagedMotion(
          system_given, start_given, options_given,
          std::make_unique<StageSystems>(system_given, start_given, system_given.parameters(), std::vector<int>{}),
          nullptr) {}

StagedMotion::StagedMotion(const System& system_given, State start_given, MotionOptions options_given,
                           StageSystems& stages)
    : StagedMotion(system_given, std::move(start_given), options_given, nullptr, &stages) {}

StagedMotion::StagedMotion(const System& system_given, State start_given, MotionOptions options_given,
                           std::unique_ptr<StageSystems> own, StageSystems* stages)
    : MotionSteps(&system_given, std::move(start_given), options_given),
      own_(std::move(own)),
      stages_(stages ? stages : own_.get()),
      parameters_(system_given.parameters()),
      engaged_(engaged_at_start(system_given)),
      changing_(rows_that_change(system_given.model())),
      forces_(list_forces(system_given.model())) {
  const std::vector<Parameter>& parameters = system->model().parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].is_mode) modes_.push_back(static_cast<int>(i));
  sums_.works.constraints = VectorXd::Zero(system->m());
  sums_.works.actuators = VectorXd::Zero(std::ssize(system->equations().control.actuators));
  sums_.contacts.phases = 0;
  storm_since_ = start.t;
  stage_start_ = start;
  begin_stage();
  sums_.ledger.begin(inner_->ledger().kinetic_start(), 0.0);
  if (inner_->refusal) refusal = inner_->refusal, stop = *refusal, over = true;
}

/// From stage_start_, with what before_ says.
void StagedMotion::begin_stage(bool at_end) {
  stage_ = &stages_->of(engaged_);
  stage_->family->set_parameters(parameters_);
  MotionFamily& family = *stage_->family;
  MotionOptions own = options;
  if (at_end) own.to += 1.0;  // nothing is left of the run: it begins, and that is all
  if (sums_.stages > 0) own.first_step = 0.0;
  if (inner_) own.sampled = inner_->held_control();
  if (!own.sampled.from) own.sampled.from = start.t;
  if (family.system().has_contacts()) {
    inner_ = std::make_unique<PhasedMotion>(family.system(), stage_start_, own, family.phases(), before_);
  } else {
    SmoothMotion::Phase phase;
    phase.energy_in_play = before_.energy_in_play, phase.sizes = before_.sizes;
    phase.event_signs = before_.event_signs, phase.pending_events = before_.pending_events;
    phase.fired = before_.fired, phase.forces.works_before = before_.works_before;
    phase.largest_step = sums_.stages > 0 ? (options.to - start.t) / step_control::least_steps : 0.0;
    inner_ = std::make_unique<SmoothMotion>(family.dynamics(), stage_start_, own, std::move(phase));
  }
  stage_added_ = false;
  take_events();
}

void StagedMotion::take_events() {
  for (MotionEvent& event : inner_->events) events.push_back(std::move(event));
  inner_->events.clear();
  for (std::string& note : inner_->notes)
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(std::move(note));
  inner_->notes.clear();
}

bool StagedMotion::advance() {
  if (over) return false;
  if (!stop_requested.empty()) {
    finish(StopReason::callback, stop_requested);
    return false;
  }
  if (change_pending_) {
    change_pending_ = false;
    if (!change()) return stop.reason == StopReason::event;
    step_begin = t;
    return true;
  }
  const bool moved = inner_->advance();
  t = inner_->t, step_begin = inner_->step_begin;
  take_events();
  if (!inner_->over) return moved;
  const int event = inner_->stop.reason == StopReason::event ? inner_->stopped_by : -1;
  if (event >= 0 && !system->model().events[static_cast<std::size_t>(event)].changes.empty()) {
    change_pending_ = true;
    // Nothing has moved where an event follows from another at one instant: its changes are next.
    return moved || advance();
  }
  over = true, stop = inner_->stop, stopped_by = inner_->stopped_by;
  return moved;
}

void StagedMotion::add_stage(Sums& sums) const {
  const Certificate c = inner_->certificate();
  Works works = c.works;
  works.constraints.setZero(sums.works.constraints.size());
  for (Index j = 0; j < c.works.constraints.size(); ++j)
    works.constraints(stage_->row_of[static_cast<std::size_t>(j)]) = c.works.constraints(j);
  sums.add_part(c, works, inner_->ledger());
  ContactCertificate& to = sums.contacts;
  const System& own = stage_->family->system();
  const auto& rough = own.equations().contacts;
  const bool rubs = std::any_of(rough.begin(), rough.end(), [](const ContactRow& k) { return k.has_friction; });
  sums.friction_known &= !own.has_C() && (!rubs || (c.contacts && c.contacts->friction_lost));
  if (!c.contacts) {
    ++to.phases;
    return;
  }
  const ContactCertificate& from = *c.contacts;
  to.impacts += from.impacts, to.phases += from.phases;
  to.impact_lost += from.impact_lost, to.impact_friction_lost += from.impact_friction_lost;
  to.surface_work += from.surface_work, to.penetration = std::max(to.penetration, from.penetration);
  to.optimality = std::max(to.optimality, from.optimality);
  to.complementarity = std::max(to.complementarity, from.complementarity);
  sums.friction_lost += from.friction_lost.value_or(0.0);
}

void StagedMotion::leave_stage() {
  add_stage(sums_);
  stage_added_ = true;
  add(sums_.statistics, inner_->statistics());
  ++sums_.stages;
  for (const std::string& reason : inner_->certificate().reasons)
    if (doubts_.size() < 20 && std::find(doubts_.begin(), doubts_.end(), reason) == doubts_.end())
      doubts_.push_back(reason);
}

EnergyLedger StagedMotion::ledger() const {
  Sums sums = sums_;
  if (!stage_added_) add_stage(sums);
  return sums.ledger;
}

const Statistics& StagedMotion::statistics() {
  statistics_ = sums_.statistics;
  if (!stage_added_) add(statistics_, inner_->statistics());
  return statistics_;
}

Certificate StagedMotion::certificate() const {
  Sums sums = sums_;
  if (!stage_added_) add_stage(sums);
  const Certificate last = inner_->certificate();
  Certificate c = sums.MotionSums::certificate(last);
  c.notes = notes;
  for (const std::string& note : last.notes)
    if (std::find(c.notes.begin(), c.notes.end(), note) == c.notes.end()) c.notes.push_back(note);
  c.reasons = doubts_;
  if (!stage_added_)
    for (const std::string& reason : last.reasons)
      if (std::find(c.reasons.begin(), c.reasons.end(), reason) == c.reasons.end()) c.reasons.push_back(reason);
  c.contacts = sums.contacts;
  const auto& rough = system->equations().contacts;
  if (sums.friction_known &&
      std::any_of(rough.begin(), rough.end(), [](const ContactRow& k) { return k.has_friction; }))
    c.contacts->friction_lost = sums.friction_lost;
  if (!modes_.empty()) c.mode_work = sums.mode_work;
  if (auto reason = sums.find_imbalance(c); reason && c.reasons.empty()) c.reasons.push_back(std::move(*reason));
  c.holds = c.reasons.empty();
  return c;
}

Sample StagedMotion::sample(double time) {
  Sample s = inner_->sample(time);
  const Index constraints = sums_.works.constraints.size();
  const Sample part = s;
  for (const auto field : {&Sample::lambda, &Sample::multipliers, &Sample::power}) {
    (s.*field).setZero(constraints);
    for (Index j = 0; j < (part.*field).size(); ++j)
      (s.*field)(stage_->row_of[static_cast<std::size_t>(j)]) = (part.*field)(j);
  }
  s.works.constraints.setZero(constraints);
  for (Index j = 0; j < part.works.constraints.size(); ++j)
    s.works.constraints(stage_->row_of[static_cast<std::size_t>(j)]) = part.works.constraints(j);
  if (stage_added_)
    s.works = sums_.works;
  else
    add(s.works, sums_.works);
  // Of requirements that are released nobody asks for the error, and without any of them actuators rest.
  if (const Index count = system->num_control(); count > 0) {
    if (part.tau.size() == 0) s.tau.setZero(std::ssize(system->equations().control.actuators));
    s.error.setConstant(count, std::numeric_limits<double>::quiet_NaN());
    Index at = 0;
    for (Index j = 0; j < count; ++j)
      if (engaged_[static_cast<std::size_t>(system->m() + j)]) s.error(j) = part.error(at++);
  }
  // Friction of what is released is zero.
  std::vector<double> normal, friction;
  Index at_normal = 0, at_friction = 0;
  for (const ContactRow& c : system->equations().contacts) {
    if (!c.has_friction) continue;
    const bool there = engaged_[static_cast<std::size_t>(c.row)] != 0;
    if (!system->row(c.row).bare) normal.push_back(there ? part.normal(at_normal++) : 0.0);
    for (std::size_t k = 0; k < c.slip.size(); ++k) friction.push_back(there ? part.friction(at_friction++) : 0.0);
  }
  s.normal = Eigen::Map<const VectorXd>(normal.data(), std::ssize(normal));
  s.friction = Eigen::Map<const VectorXd>(friction.data(), std::ssize(friction));
  s.modes.resize(std::ssize(modes_)), s.engaged.resize(std::ssize(changing_));
  for (std::size_t i = 0; i < modes_.size(); ++i)
    s.modes(static_cast<Index>(i)) = parameters_[static_cast<std::size_t>(modes_[i])];
  for (std::size_t i = 0; i < changing_.size(); ++i)
    s.engaged(static_cast<Index>(i)) = engaged_[static_cast<std::size_t>(changing_[i])] ? 1.0 : 0.0;
  return s;
}

template <class Do>
void StagedMotion::each_number(Sums& s, Do&& number) {
  s.MotionSums::each_number(number);
  ContactCertificate& c = s.contacts;
  number(c.impacts), number(c.phases), number(c.impact_lost), number(c.impact_friction_lost);
  number(c.surface_work), number(c.penetration), number(c.optimality), number(c.complementarity);
  number(s.friction_lost), number(s.mode_work), number(s.friction_known), number(s.stages);
}

std::vector<double> StagedMotion::checkpoint() const {
  std::vector<double> out{checkpoint_version,
                          static_cast<double>(engaged_.size()),
                          static_cast<double>(modes_.size()),
                          static_cast<double>(before_.event_signs.size()),
                          static_cast<double>(before_.works_before.size()),
                          before_.sizes ? 1.0 : 0.0};
  const auto number = [&](auto& x) { out.push_back(static_cast<double>(x)); };
  for (const char x : engaged_) number(x);
  for (const int i : modes_) number(parameters_[static_cast<std::size_t>(i)]);
  number(stage_start_.t);
  for (const double x : stage_start_.q) number(x);
  for (const double x : stage_start_.qd) number(x);
  for (const double x : before_.event_signs) number(x);
  for (const double x : before_.pending_events) number(x);
  for (const double x : before_.works_before) number(x);
  number(before_.energy_in_play), number(before_.first_step), number(before_.fired);
  if (before_.sizes) {
    Sizes sizes = *before_.sizes;
    sizes.each_number(number);
  }
  number(change_pending_), number(stage_added_), number(storm_since_), number(storm_), number(inner_->stopped_by);
  Sums sums = sums_;
  each_number(sums, number);
  const std::vector<double> inner = inner_->checkpoint();
  out.insert(out.end(), inner.begin(), inner.end());
  return out;
}

void StagedMotion::restore(std::span<const double> from) {
  std::size_t at = 0;
  const auto next = [&] {
    if (at >= from.size()) throw std::invalid_argument("the checkpoint is cut off");
    return from[at++];
  };
  const auto number = [&](auto& x) { x = static_cast<std::remove_reference_t<decltype(x)>>(next()); };
  if (next() != checkpoint_version || next() != static_cast<double>(engaged_.size()) ||
      next() != static_cast<double>(modes_.size()))
    throw std::invalid_argument("the checkpoint is of another program version or model");
  const double signs = next(), works = next();
  const bool sized = next() != 0.0;
  if (signs > static_cast<double>(from.size()) || works > static_cast<double>(from.size()) || signs < 0.0 ||
      works < 0.0)
    throw std::invalid_argument("the checkpoint is of another program version or model");
  for (char& x : engaged_) x = next() != 0.0;
  for (const int i : modes_) number(parameters_[static_cast<std::size_t>(i)]);
  number(stage_start_.t);
  for (double& x : stage_start_.q) number(x);
  for (double& x : stage_start_.qd) number(x);
  before_.event_signs.resize(static_cast<std::size_t>(signs)),
      before_.works_before.resize(static_cast<std::size_t>(works));
  for (double& x : before_.event_signs) number(x);
  before_.pending_events.resize(before_.event_signs.size());
  for (double& x : before_.pending_events) number(x);
  for (double& x : before_.works_before) number(x);
  number(before_.energy_in_play), number(before_.first_step), number(before_.fired);
  before_.sizes.reset();
  if (sized) {
    before_.sizes = inner_->sizes();  // of the same lengths
    before_.sizes->each_number(number);
  }
  int stopped = -1;
  bool added = false;
  number(change_pending_), number(added), number(storm_since_), number(storm_), number(stopped);
  each_number(sums_, number);
  over = false, stop = {}, refusal.reset();
  begin_stage();
  inner_->restore(from.subspan(at));
  inner_->events.clear(), inner_->notes.clear();
  inner_->stopped_by = stopped;
  stage_added_ = added;
  t = step_begin = inner_->t;
  if (t >= options.to && !change_pending_) over = true, stop = {};
}

}  // namespace mechanician
