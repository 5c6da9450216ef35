#include "mechanician/large/kernel_equations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/instant/accelerate.hpp"
#include "mechanician/large/large_dynamics.hpp"
#include "mechanician/large/large_instant.hpp"
#include "mechanician/large/large_measures.hpp"
#include "mechanician/model/source_map.hpp"
#include "mechanician/motion/integrator_impl.hpp"
#include "mechanician/motion/kernels.hpp"
#include "mechanician/motion/tolerances.hpp"

namespace mechanician {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr std::size_t most_events = 10'000;

template <class Vector>
bool is_finite(const Vector& x) {
  return kernels::all_finite(static_cast<std::ptrdiff_t>(x.size()), x.data());
}

std::vector<const FamilyQuantity*> outputs_of(const FamilyModel& model) {
  std::vector<const FamilyQuantity*> result;
  for (const FamilyQuantity& output : model.outputs) result.push_back(&output);
  return result;
}

}  // namespace

KernelEquations::KernelEquations(LargeSystem& system)
    : system_(&system), values_(system.make_values()), row_values_(system.make_values()) {
  set_facts();
  set_quantities();
}

void KernelEquations::set_facts() {
  EquationFacts& f = facts_;
  f.n = system_->n(), f.m = f.num_constraints = system_->m();
  f.pattern = pattern_of(*system_);
  f.row_slots = list_rows(f.pattern);
  f.rows.reserve(static_cast<std::size_t>(f.m));
  for (int j = 0; j < f.m; ++j) {
    const LargeSystem::RowKinds& kinds = system_->row_kinds(j);
    f.rows.push_back({kinds.on_positions ? Level::position : Level::velocity, RowKind::constraint, false, kinds.linear,
                      kinds.powerless, kinds.place});
  }
  f.mass_is_constant = system_->mass_is_constant(), f.depends_on_time = system_->depends_on_time();
  sides = system_->sides();
  for (const LargeSystem::SwitchText& s : system_->describe_switches())
    f.switches.push_back({s.text, s.is_discontinuous});
  f.num_divisors = system_->num_divisors();
  residual_.assign(static_cast<std::size_t>(f.m), 0.0), rate_ = residual_;
}

void KernelEquations::set_quantities() {
  const FamilyModel& model = system_->model();
  outputs_.emplace(model, outputs_of(model));
  std::vector<const FamilyQuantity*> whens, kinks;
  for (const FamilyEvent& event : model.events) {
    whens.push_back(&event.when);
    // Where an event itself has kinks: their zeros, as written (sides put back as signs, inner ones first).
    std::vector<Replacement> sides_as_signs;
    for (const Switch& s : freeze(std::span(&event.when.term.body, 1)).switches) {
      const Expr zero = substitute(s.g, sides_as_signs);
      sides_as_signs.push_back({s.side, sign(zero)});
      kinks_.push_back(std::make_unique<FamilyQuantity>(event.when));
      kinks_.back()->term.body = zero;
      kinks.push_back(kinks_.back().get());
    }
  }
  events_.emplace(model, whens), event_kinks_.emplace(model, kinks);
  if (events_->size() > most_events)
    throw ModelError({{model.events.front().when.term.place,
                       fmt::format("the model has {} events; {} are possible", events_->size(), most_events),
                       {}}},
                     model.source);
  EquationFacts& f = facts_;
  f.num_outputs = static_cast<int>(outputs_->size()), f.num_event_switches = static_cast<int>(event_kinks_->size());
  f.events_use_acceleration = events_->has_accelerations();
  std::vector<std::string> names = events_->names();
  for (std::size_t k = 0; k < names.size(); ++k) {
    const FamilyEvent& event = model.events[events_->quantity_of(k)];
    f.events.push_back({std::move(names[k]), event.direction, event.action});
  }
  quantities_.assign(outputs_->size() + events_->size() + event_kinks_->size(), 0.0);
}

bool KernelEquations::evaluate(double t, const double* q, const double* qd) {
  take_sides();
  const auto n = static_cast<std::size_t>(facts_.n);
  system_->evaluate(t, {q, n}, {qd, n}, values_);
  mass_power_ = facts_.mass_is_constant ? 0.0 : system_->calc_mass_power(t, {q, n}, {qd, n});
  return (facts_.mass_is_constant || is_finite(values_.M)) && is_finite(values_.Q) && is_finite(values_.A) &&
         is_finite(values_.b) && std::isfinite(mass_power_);
}

EquationValues::Numbers KernelEquations::numbers() const {
  return {values_.M.data(), values_.Q.data(), values_.A.data(), values_.b.data(), nullptr, mass_power_};
}

bool KernelEquations::evaluate_rows(double t, const double* q, const double* qd) {
  take_sides();
  const auto n = static_cast<std::size_t>(facts_.n);
  system_->evaluate(t, {q, n}, {qd, n}, row_values_);
  system_->evaluate_rows(t, {q, n}, {qd, n}, residual_, rate_);
  return (facts_.mass_is_constant || is_finite(row_values_.M)) && is_finite(row_values_.A) && is_finite(residual_) &&
         is_finite(rate_);
}

EquationValues::RowNumbers KernelEquations::row_numbers() const {
  return {row_values_.M.data(), row_values_.A.data(), residual_.data(), rate_.data()};
}

/// What rounding of the state makes of a row, seen by changing the state by some of it.
void KernelEquations::calc_row_noise(double t, const double* q, const double* qd, std::span<double> noise) {
  take_sides();
  const auto n = static_cast<std::size_t>(facts_.n);
  std::vector<double> moved(q, q + n);
  double largest = 0.0;
  for (const double x : moved) largest = std::max(largest, std::abs(x));
  for (std::size_t i = 0; i < n; ++i)
    moved[i] += (i % 2 == 0 ? 2.0 : -2.0) * eps * std::max(std::abs(moved[i]), 1e-3 * largest);
  LargeSystem::Values here = system_->make_values(), there = system_->make_values();
  system_->evaluate(t, {q, n}, {qd, n}, here);
  system_->evaluate(t, moved, {qd, n}, there);
  std::fill(noise.begin(), noise.end(), 0.0);
  for (std::size_t s = 0; s < here.A.size(); ++s) {
    const double change = std::abs(here.A[s] - there.A[s]) + eps * std::abs(here.A[s]);
    noise[static_cast<std::size_t>(facts_.pattern.A[s].row)] += change * change;
  }
  for (double& x : noise) x = std::sqrt(x);
}

MemberPoint KernelEquations::member_point(const Point& point) {
  return {point.t, point.q, point.qd, point.qdd, sides.data()};
}

bool KernelEquations::calc_switches(const Point& point, std::span<double> g) {
  system_->calc_switches(member_point(point), g, {});
  return is_finite(g);
}

void KernelEquations::calc_switch_noise(const Point& point, std::span<double> noise) {
  std::vector<double> g(noise.size());
  system_->calc_switches(member_point(point), g, noise);
}

bool KernelEquations::calc_switch_rates(const Point& point, std::span<double> rates, std::span<double> noise) {
  system_->calc_switch_rates(member_point(point), rates, noise);
  return true;
}

void KernelEquations::calc_divisors(const Point& point, std::span<double> values) {
  system_->calc_divisors(member_point(point), values);
}

std::span<const SparseEntry> KernelEquations::derivative_pattern() {
  const auto& pattern = system_->derivative_pattern();
  if (derivative_pattern_.size() != pattern.size())
    for (const auto& [row, col] : pattern) derivative_pattern_.push_back({row, col});
  return derivative_pattern_;
}

bool KernelEquations::calc_derivatives(const Point& point, std::span<double> by_q, std::span<double> by_qd) {
  system_->calc_derivatives(member_point(point), point.multipliers, by_q, by_qd);
  return is_finite(by_q) && is_finite(by_qd);
}

std::span<const double> KernelEquations::calc_quantities(const Point& point) {
  const auto n = static_cast<std::size_t>(facts_.n);
  const std::span<const double> q(point.q, n), qd(point.qd, n),
      qdd = point.qdd ? std::span<const double>(point.qdd, n) : std::span<const double>();
  const std::span<double> all(quantities_);
  outputs_->evaluate(point.t, q, qd, qdd, all.first(outputs_->size()));
  events_->evaluate(point.t, q, qd, qdd, all.subspan(outputs_->size(), events_->size()));
  event_kinks_->evaluate(point.t, q, qd, qdd, all.last(event_kinks_->size()));
  return quantities_;
}

/// What rounding of the state does to them.
void KernelEquations::calc_quantity_noise(const Point& point, std::span<double> noise) {
  const auto n = static_cast<std::size_t>(facts_.n);
  moved_.resize(2 * n);
  for (std::size_t i = 0; i < n; ++i) {
    moved_[i] = point.q[i] * (1.0 + (i % 2 == 0 ? 4.0 : -4.0) * eps);
    moved_[n + i] = point.qd[i] * (1.0 + (i % 3 == 0 ? 4.0 : -4.0) * eps);
  }
  const auto there = calc_quantities({.t = point.t, .q = moved_.data(), .qd = moved_.data() + n, .qdd = point.qdd});
  std::copy(there.begin(), there.end(), noise.begin());
  const auto here = calc_quantities(point);
  for (std::size_t i = 0; i < noise.size(); ++i) noise[i] = std::abs(noise[i] - here[i]) + eps * std::abs(here[i]);
}

EquationValues::Verdict KernelEquations::judge(const State& state, bool) {
  const auto n = static_cast<std::size_t>(facts_.n);
  const std::span<const double> q(state.q.data(), n), qd(state.qd.data(), n);
  Verdict verdict;
  system_->settle_sides(state.t, q, qd);
  LargeSystem::Values now = system_->make_values();
  system_->evaluate(state.t, q, qd, now);
  if (!all_finite(now)) verdict.not_finite = system_->explain_not_finite(state.t, q, qd);
  if (!verdict.not_finite.empty()) return verdict;
  const LargeInstant instant = examine(*system_, state.t, q, qd);
  verdict.may_accelerate = instant.has_acceleration;
  verdict.consistent = instant.rows.conflicts.empty();
  if (!instant.rows.conflicts.empty()) verdict.conflict = instant.rows.conflicts.front();
  verdict.status = instant.has_acceleration     ? SolveStatus::solved
                   : !verdict.conflict.empty()  ? SolveStatus::inconsistent
                   : instant.mass_is_indefinite ? SolveStatus::mass_indefinite
                                                : SolveStatus::not_unique;
  verdict.why = instant.why;
  const auto add_names = [&](const char* before, const std::vector<int>& coordinates) {
    constexpr std::size_t most_named = 8;
    for (std::size_t k = 0; k < std::min(coordinates.size(), most_named); ++k)
      verdict.why += (k == 0 ? before : ", ") + quoted(coordinate_name(coordinates[k]));
    if (coordinates.size() > most_named) verdict.why += fmt::format(" and {} others", coordinates.size() - most_named);
  };
  if (!instant.undetermined.empty())
    add_names(": ", instant.undetermined);
  else
    add_names(", in the directions of ", instant.negative);
  if (instant.distance > start_tolerance) verdict.off.push_back({instant.worst_row, instant.violation});
  return verdict;
}

std::vector<std::string> output_names(const FamilyModel& model) {
  return LargeQuantities(model, outputs_of(model)).names();
}

State state_of(const LargeSystem::Start& start) {
  const auto size = static_cast<Eigen::Index>(start.q.size());
  return {start.t, Eigen::Map<const Eigen::VectorXd>(start.q.data(), size),
          Eigen::Map<const Eigen::VectorXd>(start.qd.data(), size)};
}

std::unique_ptr<MotionSteps> make_large_steps(LargeSystem& system, const State& start, const MotionOptions& options) {
  if (start.q.size() != system.n() || start.qd.size() != system.n())
    throw std::invalid_argument("the start does not fit the system");
  if (!(options.to > start.t) || !std::isfinite(options.to))
    throw std::invalid_argument("the end must be later than the start");
  if (!(options.tolerance >= smallest_tolerance && options.tolerance <= largest_tolerance))
    throw std::invalid_argument("the tolerance is below rounding, or too large to mean anything");
  auto motion = std::make_unique<SmoothMotion>(Dynamics(std::make_unique<KernelEquations>(system)), start, options,
                                               SmoothMotion::Phase());
  const RowSet& rows = motion->dynamics().all;
  if (const std::size_t count = rows.candidates.size() - rows.kept.size(); count > 0 && !motion->refusal)
    motion->notes.push_back(fmt::format(
        "{} on others", count == 1 ? "1 constraint row depends" : fmt::format("{} constraint rows depend", count)));
  return motion;
}

}  // namespace mechanician
