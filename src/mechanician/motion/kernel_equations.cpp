#include "mechanician/motion/kernel_equations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <unordered_map>

#include "mechanician/base/text.hpp"
#include "mechanician/equations/switches.hpp"
#include "mechanician/expression/bounded.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/model/source_map.hpp"
#include "mechanician/motion/kernels.hpp"

namespace mechanician {

namespace {

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

KernelEquations::KernelEquations(const System& system)
    : whole_(system),
      system_(whole_.kernels().get()),
      values_(system_->make_values()),
      row_values_(system_->make_values()) {
  set_facts();
  set_quantities();
  set_forces();
}

std::unique_ptr<EquationValues> KernelEquations::clone() const {
  auto copy = std::make_unique<KernelEquations>(whole_);
  copy->sides = sides, copy->absent = absent;
  return copy;
}

void KernelEquations::set_facts() {
  EquationFacts& f = facts_;
  f.n = system_->n(), f.m = f.num_constraints = system_->m();
  f.pattern = system_->pattern();
  f.row_slots = list_rows(f.pattern);
  f.rows.reserve(static_cast<std::size_t>(f.m));
  for (int j = 0; j < f.m; ++j) {
    const RowTraits& row = system_->row(j);
    f.rows.push_back(
        {row.level, row.kind, row.measured, row.linear, row.bare, row.powerless(), row.place, row.is_rate});
  }
  f.states = system_->states();
  f.family_of_state = families_of(f.states, [&](int i) { return system_->model().name_of(i); });
  f.mass_is_constant = system_->mass_is_constant(), f.depends_on_time = system_->depends_on_time();
  f.can_be_narrow = system_->can_be_narrow();
  sides.assign(system_->num_sides(), 1.0);
  for (const LargeSystem::SwitchText& s : system_->describe_switches())
    f.switches.push_back({s.text, s.is_discontinuous, 0.0});
  f.num_divisors = system_->num_divisors();
  residual_.assign(static_cast<std::size_t>(f.m), 0.0), rate_ = residual_;
}

void KernelEquations::set_quantities() {
  const FamilyModel& model = system_->model();
  outputs_.emplace(model, outputs_of(model));
  std::vector<const FamilyQuantity*> whens, kinks;
  std::vector<int> jumps;  ///< by kink: the event that jumps there
  for (const FamilyEvent& event : model.events) {
    whens.push_back(&event.when);
    // Where an event itself has kinks: their zeros, as written (sides put back as signs, inner ones first).
    std::vector<Replacement> sides_as_signs;
    for (const Switch& s : freeze(std::span(&event.when.term.body, 1)).switches) {
      const Expr zero = substitute(s.zero, sides_as_signs);
      sides_as_signs.push_back({s.side, sign(zero)});
      kinks_.push_back(std::make_unique<FamilyQuantity>(event.when));
      kinks_.back()->term.body = zero;
      kinks.push_back(kinks_.back().get());
      jumps.push_back(s.is_discontinuous && !s.is_cut ? static_cast<int>(whens.size()) - 1 : -1);
    }
  }
  events_.emplace(model, whens), event_kinks_.emplace(model, kinks);
  // Members of an event and of what switches in it come in the same order.
  std::vector<int> first(whens.size() + 1, 0);
  for (std::size_t e = 0; e < events_->size(); ++e) ++first[events_->quantity_of(e) + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  for (std::size_t k = 0, begin = 0; k < event_kinks_->size(); ++k) {
    const std::size_t kink = event_kinks_->quantity_of(k);
    if (k > 0 && event_kinks_->quantity_of(k - 1) != kink) begin = k;
    std::vector<int>& where = facts_.event_jumps.emplace_back();
    if (jumps[kink] >= 0) where.push_back(first[static_cast<std::size_t>(jumps[kink])] + static_cast<int>(k - begin));
  }
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

/// Where the forces that outputs use come from.
void KernelEquations::set_forces() {
  if (outputs_->forces().empty()) return;
  std::unordered_map<std::string, int> rows;
  for (int j = 0; j < facts_.m; ++j) rows.emplace(system_->row_name(j), j);
  for (const Expr& symbol : outputs_->forces()) {
    ForceFacts& force = facts_.forces.emplace_back();
    const std::string& name = symbol.symbol().name;
    force.kind = symbol.symbol().kind;
    if ((kind_bit(force.kind) & forces_of_coordinates) != 0)
      force.at = whole_.find_coordinate(name);
    else if (const auto found = rows.find(name); found != rows.end())
      force.at = found->second;
  }
}

bool KernelEquations::evaluate(double t, const double* q, const double* qd) {
  system_->evaluate(at(t, q, qd), values_);
  mass_power_ = facts_.mass_is_constant ? 0.0 : system_->calc_mass_power(at(t, q, qd));
  return (facts_.mass_is_constant || is_finite(values_.M)) && is_finite(values_.Q) && is_finite(values_.A) &&
         is_finite(values_.b) && std::isfinite(mass_power_);
}

EquationValues::Numbers KernelEquations::numbers() const {
  return {values_.M.data(), values_.Q.data(), values_.A.data(), values_.b.data(), nullptr, mass_power_};
}

bool KernelEquations::evaluate_rows(double t, const double* q, const double* qd) {
  system_->evaluate(at(t, q, qd), row_values_);
  system_->evaluate_rows(at(t, q, qd), residual_, rate_);
  return (facts_.mass_is_constant || is_finite(row_values_.M)) && is_finite(row_values_.A) && is_finite(residual_) &&
         is_finite(rate_);
}

EquationValues::RowNumbers KernelEquations::row_numbers() const {
  return {row_values_.M.data(), row_values_.A.data(), residual_.data(), rate_.data()};
}

void KernelEquations::calc_row_noise(double t, const double* q, const double* qd, std::span<double> noise) {
  LargeSystem::Bounded now;
  system_->evaluate_with_bounds(at(t, q, qd), now);
  std::fill(noise.begin(), noise.end(), 0.0);
  for (std::size_t s = 0; s < now.bounds.A.size(); ++s)
    noise[static_cast<std::size_t>(facts_.pattern.A[s].row)] += now.bounds.A[s] * now.bounds.A[s];
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

std::span<const SparseEntry> KernelEquations::derivative_pattern() { return system_->derivative_pattern(); }

bool KernelEquations::calc_derivatives(const Point& point, std::span<double> by_q, std::span<double> by_qd) {
  system_->calc_derivatives(member_point(point), point.multipliers, by_q, by_qd);
  return is_finite(by_q) && is_finite(by_qd);
}

std::span<const double> KernelEquations::calc_quantities(const Point& point) {
  const auto n = static_cast<std::size_t>(facts_.n);
  const std::span<const double> q(point.q, n), qd(point.qd, n),
      qdd = point.qdd ? std::span<const double>(point.qdd, n) : std::span<const double>();
  const std::span<double> all(quantities_);
  outputs_->evaluate(point.t, q, qd, qdd, point.forces, all.first(outputs_->size()));
  events_->evaluate(point.t, q, qd, qdd, nullptr, all.subspan(outputs_->size(), events_->size()));
  event_kinks_->evaluate(point.t, q, qd, qdd, nullptr, all.last(event_kinks_->size()));
  return quantities_;
}

/// On numbers of another kind.
template <class T>
void KernelEquations::calc_quantities_as(const T& t, const T* q, const T* qd, const T* qdd, const T* forces,
                                         std::span<T> all) {
  const T* const none = nullptr;
  outputs_->evaluate_as(t, q, qd, qdd, forces, all.first(outputs_->size()));
  events_->evaluate_as(t, q, qd, qdd, none, all.subspan(outputs_->size(), events_->size()));
  event_kinks_->evaluate_as(t, q, qd, qdd, none, all.last(event_kinks_->size()));
}

void KernelEquations::calc_quantity_noise(const Point& point, const Point& error, std::span<double> noise) {
  const auto n = static_cast<std::size_t>(facts_.n);
  std::vector<Bounded> state(3 * n), values(quantities_.size()), forces(point.forces ? facts_.forces.size() : 0);
  for (std::size_t i = 0; i < n; ++i) {
    state[i] = {point.q[i], error.q[i]}, state[n + i] = {point.qd[i], error.qd[i]};
    if (point.qdd) state[2 * n + i] = {point.qdd[i], error.qdd ? error.qdd[i] : 0.0};
  }
  for (std::size_t k = 0; k < forces.size(); ++k) forces[k] = {point.forces[k], error.forces ? error.forces[k] : 0.0};
  calc_quantities_as(Bounded(point.t, 0.0), state.data(), state.data() + n, point.qdd ? state.data() + 2 * n : nullptr,
                     forces.empty() ? nullptr : forces.data(), std::span(values));
  std::transform(values.begin(), values.end(), noise.begin(), [](const Bounded& b) { return b.error; });
}

bool KernelEquations::bound_switches(const StateBox& box, std::span<Interval> g) {
  system_->bound_switches(box.t, box.q, box.qd, sides.data(), g);
  return true;
}

bool KernelEquations::bound_quantities(const StateBox& box, std::span<Interval> quantities) {
  const std::vector<Interval> forces(facts_.forces.size(), Interval::everything());  // nothing bounds these
  calc_quantities_as(box.t, box.q, box.qd, box.qdd, forces.data(), quantities);
  return true;
}

bool KernelEquations::varies_fast(const StateBox& box) {
  return system_->varies_fast({box.t, box.q, box.qd, nullptr}, sides.data());
}

void KernelEquations::calc_unseen(const StateBox& box, SeenBy shown, UnseenValues& to) {
  system_->calc_unseen({box.t, box.q, box.qd, nullptr}, sides.data(), shown, to);
}

}  // namespace mechanician
