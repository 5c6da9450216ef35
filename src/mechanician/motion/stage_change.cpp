// Between two stages: what an event changes, and the velocities that follow from it.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/expression/tape.hpp"
#include "mechanician/instant/project.hpp"
#include "mechanician/motion/staged_motion.hpp"

namespace mechanician {

namespace {
using Eigen::Index;
using Eigen::VectorXd;

/// Rates below this part of the velocities are rounding: they jump nowhere.
constexpr double no_jump = 1e-12;
/// So many changes within this part of the run do not come to an end.
constexpr long many_changes = 1000;
constexpr double short_while = 1e-6;

/// Of velocities, the row that is furthest off; null where none is by more than rounding.
const RowResidual* find_worst(const std::vector<RowResidual>& residuals, const System& system) {
  const RowResidual* worst = nullptr;
  for (const RowResidual& r : residuals) {
    const bool of_velocity = r.of_rate || system.row(r.row).level == Level::velocity;
    if (of_velocity && r.scaled > no_jump && (!worst || r.scaled > worst->scaled)) worst = &r;
  }
  return worst;
}

}  // namespace

double StagedMotion::calc_potential(const State& state) const {
  const Model& model = system->model();
  if (!model.potential) return 0.0;
  const Equations& eqs = system->equations();
  std::vector<Expr> inputs{eqs.t};
  inputs.insert(inputs.end(), eqs.q.begin(), eqs.q.end()),
      inputs.insert(inputs.end(), eqs.parameters.begin(), eqs.parameters.end());
  std::vector<double> x{state.t};
  x.insert(x.end(), state.q.begin(), state.q.end()), x.insert(x.end(), parameters_.begin(), parameters_.end());
  return Tape(std::vector<Expr>{*model.potential}, inputs)(std::span<const double>(x))[0];
}

/// One after the other. Names of the rows that were released or engaged by it.
std::vector<std::string> StagedMotion::make_changes(const Event& event, const Sample& at) {
  const Model& model = system->model();
  const Equations& eqs = system->equations();
  std::vector<std::string> names;
  for (const EventChange& change : event.changes) {
    if (change.what == EventChange::What::set) {
      std::vector<Expr> inputs{eqs.t};
      std::vector<double> x{at.t};
      for (const auto* part : {&eqs.q, &eqs.qd, &eqs.qdd, &eqs.parameters})
        inputs.insert(inputs.end(), part->begin(), part->end());
      for (const VectorXd* part : {&at.q, &at.qd, &at.qdd}) x.insert(x.end(), part->begin(), part->end());
      x.insert(x.end(), parameters_.begin(), parameters_.end());
      const Tape tape(std::vector<Expr>{change.value}, inputs);
      const double value = tape(std::span<const double>(x))[0];
      if (!std::isfinite(value)) {
        finish(StopReason::not_finite,
               fmt::format("at t = {}: event `{}` gives `{}` no finite value: {}", short_number(at.t), event.name,
                           change.name, to_text(change.value)),
               change.place);
        return names;
      }
      for (std::size_t i = 0; i < model.parameters.size(); ++i)
        if (model.parameters[i].name == change.name) parameters_[i] = value;
      continue;
    }
    const char now = change.what == EventChange::What::engage;
    std::size_t j = 0;
    const auto look = [&](const auto& rows) {
      for (const auto& row : rows) {
        if (row.name == change.name && engaged_[j] != now) engaged_[j] = now, names.push_back(row.name);
        ++j;
      }
    };
    look(model.constraints);
    j += model.states.size();
    look(model.controls);
  }
  return names;
}

/// What is off by no more than the motion is known is moved onto the constraints.
bool StagedMotion::meet_positions(const System& stage, const Sizes& sizes, State& state, Evaluation& now,
                                  const std::string& when) {
  const Eigen::Map<const VectorXd> near(sizes.near_q.data(), std::ssize(sizes.near_q));
  const std::vector<RowResidual> residuals = calc_residuals(stage, state, now);
  const RowResidual* worst = nullptr;
  bool off = false;
  for (const RowResidual& r : residuals) {
    if (r.of_rate || stage.row(r.row).level != Level::position || !(r.scaled > start_tolerance)) continue;
    off = true;
    if (std::abs(r.value) > start_tolerance * now.values.A.abs_dot(r.row, near) && (!worst || r.scaled > worst->scaled))
      worst = &r;
  }
  if (worst) {
    finish(StopReason::projection,
           fmt::format("{}, and positions do not satisfy constraint `{}`: it is off by {}. Velocities can jump where "
                       "something is engaged or changed, positions cannot",
                       when, stage.row_name(worst->row), number_text(worst->value)),
           stage.row(worst->row).place);
    return false;
  }
  if (!off) return true;
  if (const Projection moved = project(stage, state, ProjectionGoal::any); moved.converged) {
    state.q = moved.state.q;
    now = stage.evaluate(state);
  }
  return true;
}

/// The law of impacts without restitution, for all rows that hold.
bool StagedMotion::meet_velocities(const Stage& next, const std::vector<std::string>& changed, State& state,
                                   Evaluation& now, const std::string& when) {
  const System& stage = next.family->system();
  constexpr int most_rounds = 20;  // rows that are not linear in the velocities take more than one
  for (int round = 0; round < most_rounds; ++round) {
    const std::vector<RowResidual> residuals = calc_residuals(stage, state, now);
    const RowResidual* const worst = find_worst(residuals, stage);
    int off = worst ? worst->row : -1;
    std::optional<NotFinite> not_finite;
    std::vector<Contact> contacts;
    if (stage.has_contacts()) contacts = classify_contacts(stage, state, now, size_of(state, now), not_finite);
    for (Contact& c : contacts) {
      c.values.restitution = 0.0;
      if (c.status != ContactStatus::impact) continue;
      // What closes by itself is an impact of its own, in the stage that begins.
      if (std::find(changed.begin(), changed.end(), stage.row_name(c.values.row)) != changed.end())
        off = c.values.row;
      else
        c.status = ContactStatus::separating;
    }
    if (off < 0) return true;
    const Impact impact = calc_impact(stage, state, now, contacts);
    if (not_finite || impact.status != SolveStatus::solved || !impact.trouble.empty()) {
      finish(impact.status == SolveStatus::inconsistent ? StopReason::contradiction : StopReason::not_unique,
             fmt::format("{}, and no velocities satisfy constraint `{}` and the others: {}", when, stage.row_name(off),
                         impact.trouble.empty() ? describe(impact.status) : impact.trouble),
             stage.row(off).place);
      return false;
    }
    // Rates of states follow what has changed, and nothing strikes.
    const bool strikes = !stage.row(off).is_rate || std::any_of(residuals.begin(), residuals.end(), [&](const auto& r) {
      return !stage.row(r.row).is_rate && (r.of_rate || stage.row(r.row).level == Level::velocity) &&
             r.scaled > no_jump;
    });
    if (round == 0 && strikes) ++sums_.contacts.impacts;
    sums_.contacts.impact_lost += impact.energy_lost, sums_.contacts.impact_friction_lost += impact.friction_lost;
    sums_.contacts.surface_work += impact.surface_work;
    const VectorXd before = state.qd, sum = before + impact.qd_after;
    state.qd = impact.qd_after;
    double works = 0.0;
    for (Index j = 0; j < now.values.A.rows(); ++j) {
      const double work = 0.5 * impact.impulses(j) * now.values.A.dot(j, sum);
      works += work;
      sums_.works.ideal += work, sums_.works.constraints(next.row_of[static_cast<std::size_t>(j)]) += work;
    }
    sums_.works.nonideal += 0.5 * (state.qd - before).dot(now.values.M * sum) - works;
    now = stage.evaluate(state);
  }
  finish(StopReason::projection, fmt::format("{}, and no velocities were found that satisfy the constraints", when));
  return false;
}

bool StagedMotion::watch_storm(const std::string& event, double time) {
  if (time - storm_since_ > short_while * (options.to - start.t))
    storm_since_ = time, storm_ = 0, storm_events_.clear();
  if (std::find(storm_events_.begin(), storm_events_.end(), event) == storm_events_.end())
    storm_events_.push_back(event);
  if (++storm_ < many_changes) return true;
  finish(StopReason::step_too_small,
         fmt::format("at t = {}: {} changes since t = {}, and no end of them: {} {}", short_number(time), storm_,
                     short_number(storm_since_), quote_list(storm_events_),
                     storm_events_.size() == 1 ? "happens again and again by what it changes"
                                               : "happen again and again by what they change"),
         system->place_of("events." + event));
  return false;
}

bool StagedMotion::change() {
  const auto number = static_cast<std::size_t>(inner_->stopped_by);
  const Event& event = system->model().events[number];
  State state = inner_->end_state();
  const std::string when = fmt::format("event `{}` at t = {}", event.name, short_number(state.t));
  Sample at = inner_->sample(state.t);
  at.q = state.q, at.qd = state.qd;
  const double potential = calc_potential(state);
  const double kinetic = 0.5 * state.qd.dot(stage_->family->system().evaluate(state).values.M * state.qd);
  const std::vector<double> signs = inner_->event_signs(), pending = inner_->pending_events(), parameters = parameters_;
  const std::vector<char> engaged = engaged_;
  const Sizes sizes = inner_->sizes();
  leave_stage();
  t = step_begin = state.t;
  if (!watch_storm(event.name, state.t)) return false;
  std::vector<std::string> names = make_changes(event, at);
  // A motion that ends here has not gone on.
  const auto go_back = [&] {
    engaged_ = engaged, parameters_ = parameters;
    stage_->family->set_parameters(parameters_);
    return false;
  };
  if (over) return go_back();

  Stage& next = stages_->of(engaged_);
  next.family->set_parameters(parameters_);
  const System& stage = next.family->system();
  Evaluation now = stage.evaluate(state);
  if (now.not_finite) {
    finish(StopReason::not_finite, fmt::format("{}: {}", when, now.not_finite->message()), now.not_finite->place);
    return go_back();
  }
  // Masses that have changed: the limit of what ½ q̇ᵀṀ q̇ does.
  const double heavier = 0.5 * state.qd.dot(now.values.M * state.qd) - kinetic;
  if (!meet_positions(stage, sizes, state, now, when)) return go_back();
  sums_.works.given += heavier;
  sums_.mode_work += heavier + calc_potential(state) - potential;
  if (!meet_velocities(next, names, state, now, when)) return go_back();

  for (auto e = events.rbegin(); e != events.rend(); ++e)
    if (e->kind == EventKind::user && e->name == event.name) {
      e->constraints = std::move(names), e->qd_after = state.qd;
      break;
    }
  before_ = {.event_signs = signs,
             .pending_events = pending,
             .works_before = std::vector<double>(forces_.size(), 0.0),
             .energy_in_play = sums_.ledger.in_play(),
             .sizes = sizes,
             .fired = static_cast<int>(number)};
  for (std::size_t i = 0; i < forces_.size(); ++i) {
    const Symbol& s = forces_[i].symbol();
    for (Index j = 0; s.kind == SymbolKind::work && j < sums_.works.constraints.size(); ++j)
      if (system->row_name(static_cast<int>(j)) == s.name) before_.works_before[i] = sums_.works.constraints(j);
  }
  stage_start_ = state;
  // Nearer to each other no step can be made.
  const bool at_end = options.to - state.t <= 1024.0 * std::numeric_limits<double>::epsilon() *
                                                  std::max(std::abs(state.t), options.to - start.t);
  begin_stage(at_end);
  if (inner_->refusal) {
    finish(inner_->refusal->reason, fmt::format("{}: {}", when, inner_->refusal->message), inner_->refusal->place);
    return false;
  }
  if (event.action != EventAction::stop) {
    if (at_end) finish(StopReason::reached_end);
    return !at_end;
  }
  finish(StopReason::event, fmt::format("event `{}` at t = {}", event.name, number_text(state.t)));
  stopped_by = static_cast<int>(number);
  return false;
}

}  // namespace mechanician
