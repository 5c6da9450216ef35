#include "mechanician/motion/written_equations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "mechanician/compile/given_power.hpp"
#include "mechanician/equations/divisors.hpp"
#include "mechanician/equations/mass_rate.hpp"
#include "mechanician/expression/bounded.hpp"
#include "mechanician/expression/differentiate.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/expression/where_defined.hpp"
#include "mechanician/instant/accelerate.hpp"
#include "mechanician/instant/generic_rows.hpp"
#include "mechanician/motion/kernels.hpp"

namespace mechanician {

namespace {

constexpr KindSet along_the_motion =
    kind_bit(SymbolKind::time) | kind_bit(SymbolKind::coordinate) | kind_bit(SymbolKind::velocity);

}  // namespace

CompiledFunction compiled(const Tape& tape) {
  ProgramBuilder builder(tape.num_inputs());
  std::vector<ProgramBuilder::Value> inputs;
  for (int i = 0; i < tape.num_inputs(); ++i) inputs.push_back(builder.input(i));
  return CompiledFunction(builder.finish(builder.append(tape, inputs)));
}

/// Where each part lies among all expressions that are frozen together.
struct WrittenEquations::Parts {
  struct Range {
    std::size_t begin = 0, size = 0;
  };
  Range M, Q, A, b, K, C, residual, rate, given, friction, control;
  std::vector<Expr> all;
  Range add(const std::vector<Expr>& part) {
    const Range range{all.size(), part.size()};
    all.insert(all.end(), part.begin(), part.end());
    return range;
  }
};

WrittenEquations::WrittenEquations(const System& system) : system_(&system), made_(std::make_shared<Made>()) {
  const Equations& eqs = system.equations();
  set_facts();
  Parts parts;
  std::vector<Expr> M, A, residual, rate, friction;
  for (const auto& e : eqs.M.entries)
    if (e.row >= e.col) M.push_back(e.value);
  for (const auto& e : eqs.A.entries) A.push_back(e.value);
  for (const Row& row : eqs.rows) {
    residual.push_back(row.level == Level::acceleration ? Expr(0) : row.residual);
    rate.push_back(row.rate);
  }
  for (const ContactRow& c : eqs.contacts) {
    if (!c.has_friction) continue;
    SlidingFacts sliding{c.row, static_cast<int>(c.slip.size()), static_cast<int>(friction.size()), {}, c.is_force};
    friction.push_back(c.friction);
    friction.insert(friction.end(), c.slip.begin(), c.slip.end());
    for (const auto& e : c.T.entries) sliding.T.push_back({e.row, e.col}), friction.push_back(e.value);
    facts_.sliding.push_back(std::move(sliding));
  }
  facts_.mass_is_constant =
      std::all_of(M.begin(), M.end(), [](const Expr& e) { return (e.kinds() & along_the_motion) == 0; });
  parts.M = parts.add(M), parts.Q = parts.add(eqs.Q), parts.A = parts.add(A), parts.b = parts.add(eqs.b),
  parts.K = parts.add({mass_rate(eqs)}), parts.C = parts.add(eqs.C);
  parts.residual = parts.add(residual), parts.rate = parts.add(rate);
  if (!facts_.mass_is_constant) made_->given_power = make_given_power(system.model());
  if (made_->given_power) parts.given = parts.add({*made_->given_power});
  parts.friction = parts.add(friction), parts.control = parts.add(eqs.control.numbers);
  for (const Expr& e : parts.all) facts_.depends_on_time |= e.contains(SymbolKind::time);

  Frozen frozen = freeze(parts.all);
  made_->switches = std::move(frozen.switches);
  sides.assign(made_->switches.size(), 1.0);
  for (const Switch& s : made_->switches) facts_.switches.push_back({s.text, s.is_discontinuous, clock_of(s.g)});
  set_control_switches();
  set_programs(parts, frozen.expressions);
  set_narrow(parts, frozen.expressions);
  made_->divisors = find_divisors(parts.all);
  facts_.num_divisors = static_cast<int>(made_->divisors.size());
  made_->below_fractions = Tape(made_->divisors, inputs());
  set_quantities();

  int most = 0;
  for (const Tape* tape : {&made_->C, &made_->switching, &made_->switch_rates, &made_->below_fractions,
                           &made_->quantities, &made_->sliding, &made_->weights, &made_->control})
    most = std::max(most, tape->num_registers());
  registers_.resize(static_cast<std::size_t>(most));
  x_.assign(
      made_->num_inputs + std::max(static_cast<std::size_t>(2 * facts_.n + facts_.m), facts_.n + facts_.forces.size()),
      0.0);
  take_parameters();
}

WrittenEquations::WrittenEquations(const WrittenEquations& others, const System& system) : WrittenEquations(others) {
  assert(&system.equations() == &others.system().equations());
  system_ = &system;
  take_parameters();
}

void WrittenEquations::set_facts() {
  const Equations& eqs = system_->equations();
  EquationFacts& f = facts_;
  f.n = system_->n(), f.m = eqs.m(), f.num_constraints = system_->m();
  f.has_C = eqs.has_C, f.needs_reactions = system_->needs_reactions(), f.measured = eqs.measured;
  f.pattern.n = f.n, f.pattern.m = f.m;
  for (const auto& e : eqs.M.entries)
    if (e.row >= e.col) f.pattern.M.push_back({e.row, e.col});
  for (const auto& e : eqs.A.entries) f.pattern.A.push_back({e.row, e.col});
  f.row_slots = list_rows(f.pattern);
  for (const Row& row : eqs.rows) {
    assert(!row.one_sided);
    f.rows.push_back({row.level, row.kind, row.measured, row.linear, row.bare, !row.measured && row.powerless(),
                      row.place, row.is_rate});
    f.any_bare |= row.bare;
  }
  f.states = eqs.states;
  f.family_of_state = families_of(eqs.states, [&](int i) { return eqs.coordinates[static_cast<std::size_t>(i)]; });
}

/// Limits and one-sided requirements are kinks of the control force: sides tell what acts.
void WrittenEquations::set_control_switches() {
  facts_.control = system_->equations().control;
  facts_.control.numbers.clear(), facts_.control.E.entries.shrink_to_fit();
  const ControlEquations& control = facts_.control;
  const auto add = [&](EquationFacts::ControlSwitch s, std::string text) {
    facts_.control_switches.push_back(std::move(s));
    facts_.switches.push_back({std::move(text), false});
    sides.push_back(1.0);
  };
  if (control.every || !control.nominal.empty()) return;  // then the controller finds what acts by itself
  for (std::size_t i = 0; i < control.actuators.size(); ++i) {
    const ControlEquations::Actuator& a = control.actuators[i];
    for (const bool upper : {false, true})
      if (upper ? a.has_high : a.has_low)
        add({static_cast<int>(i), upper, -1, a.name}, fmt::format("the limit of {}", a.name));
  }
  for (std::size_t j = 0; j < control.requirements.size(); ++j) {
    const std::string name = system_->row_name(system_->m() + static_cast<int>(j));
    if (control.requirements[j].one_sided)
      add({-1, false, static_cast<int>(j), name}, fmt::format("the requirement {}", name));
  }
}

void WrittenEquations::set_sides() {
  const std::size_t count = made_->switches.size();
  std::copy_n(sides.begin(), count, x_.begin() + static_cast<std::ptrdiff_t>(made_->num_inputs - count));
}

std::vector<Expr> WrittenEquations::inputs() const {
  const Equations& eqs = system_->equations();
  std::vector<Expr> all{eqs.t};
  for (const auto* part : {&eqs.q, &eqs.qd, &eqs.parameters}) all.insert(all.end(), part->begin(), part->end());
  for (const Switch& s : made_->switches) all.push_back(s.side);
  return all;
}

void WrittenEquations::set_programs(const Parts& parts, const std::vector<Expr>& frozen) {
  const Equations& eqs = system_->equations();
  const auto part = [&](const Parts::Range& range) {
    const auto begin = frozen.begin() + static_cast<std::ptrdiff_t>(range.begin);
    return std::vector<Expr>(begin, begin + static_cast<std::ptrdiff_t>(range.size));
  };
  made_->frozen = eqs;
  // By place in the lower triangle, for its mirror image too.
  const std::vector<Expr> M = part(parts.M), A = part(parts.A);
  std::size_t lower = 0;
  for (auto& e : made_->frozen.M.entries)
    if (e.row >= e.col) e.value = M[lower++];
  for (auto& e : made_->frozen.M.entries)
    if (e.row < e.col) e.value = made_->frozen.M.at(e.col, e.row);
  for (std::size_t k = 0; k < A.size(); ++k) made_->frozen.A.entries[k].value = A[k];
  made_->frozen.Q = part(parts.Q), made_->frozen.b = part(parts.b), made_->frozen.C = part(parts.C);
  for (std::size_t j = 0; j < made_->frozen.rows.size(); ++j) {
    if (made_->frozen.rows[j].level != Level::acceleration)
      made_->frozen.rows[j].residual = frozen[parts.residual.begin + j];
    made_->frozen.rows[j].rate = frozen[parts.rate.begin + j];
  }
  if (made_->given_power) made_->given_power = frozen[parts.given.begin];

  const std::vector<Expr> in = inputs();
  made_->num_inputs = in.size();
  std::vector<Expr> outputs;
  const auto append = [&](const Parts::Range& range) {
    const std::size_t begin = outputs.size();
    const std::vector<Expr> more = part(range);
    outputs.insert(outputs.end(), more.begin(), more.end());
    return begin;
  };
  append(parts.M);
  made_->at_Q = append(parts.Q), made_->at_A = append(parts.A), made_->at_b = append(parts.b),
  made_->at_K = append(parts.K);
  made_->at_C = outputs.size();
  if (facts_.has_C && !facts_.needs_reactions) append(parts.C);
  rhs_values_ = compiled(Tape(outputs, in));
  v_.resize(outputs.size());
  outputs.clear();
  append(parts.M);
  made_->at_row_A = append(parts.A), made_->at_residual = append(parts.residual), made_->at_rate = append(parts.rate);
  made_->rows = Tape(outputs, in);
  row_values_ = compiled(made_->rows);
  rows_.resize(outputs.size());

  std::vector<Expr> in_C = in;
  in_C.insert(in_C.end(), eqs.ideal.begin(), eqs.ideal.end());
  in_C.insert(in_C.end(), eqs.multipliers.begin(), eqs.multipliers.end());
  if (facts_.needs_reactions) made_->C = Tape(part(parts.C), in_C);
  C_.resize(parts.C.size);
  made_->sliding = Tape(part(parts.friction), in);
  made_->control = Tape(part(parts.control), in);
  made_->frozen.control.numbers = part(parts.control);
  for (std::size_t k = 0; k < made_->frozen.control.E.entries.size(); ++k)
    made_->frozen.control.E.entries[k].value = made_->frozen.control.numbers[k];
  control_.resize(parts.control.size);
  sliding_.resize(parts.friction.size);
  std::vector<Expr> weights;
  for (const auto& line : eqs.W) weights.insert(weights.end(), line.begin(), line.end());
  made_->weights = Tape(weights, in);
  weights_.resize(weights.size());
  std::vector<Expr> g;
  for (const Switch& s : made_->switches) g.push_back(s.g);
  made_->switching = Tape(g, in_C);
  if (!g.empty()) {
    std::vector<Tangent> along{{eqs.t, 1.0}};
    for (std::size_t i = 0; i < eqs.q.size(); ++i)
      along.push_back({eqs.q[i], eqs.qd[i]}), along.push_back({eqs.qd[i], eqs.qdd[i]});
    std::vector<Expr> in_out = in;
    in_out.insert(in_out.end(), eqs.qdd.begin(), eqs.qdd.end());
    std::vector<Expr> rates = directional(g, along);
    for (std::size_t i = 0; i < g.size(); ++i) {
      made_->rate_is_known.push_back(!g[i].contains(SymbolKind::ideal_force) && !g[i].contains(SymbolKind::multiplier));
      if (!made_->rate_is_known[i]) rates[i] = Expr(0);
    }
    made_->switch_rates = Tape(rates, in_out);
  }
}

/// Of what accelerations are made of. What is narrow in a force that depends on reactions must not itself depend on them: nothing bounds these.
void WrittenEquations::set_narrow(const Parts& parts, const std::vector<Expr>& frozen) {
  constexpr KindSet unknown = kind_bit(SymbolKind::ideal_force) | kind_bit(SymbolKind::multiplier);
  std::vector<Expr> outputs;
  for (const Parts::Range* part : {&parts.M, &parts.Q, &parts.A, &parts.b, &parts.friction})
    for (std::size_t i = 0; i < part->size; ++i) outputs.push_back(frozen[part->begin + i]);
  for (std::size_t i = 0; i < parts.C.size; ++i) {
    const Expr& C = frozen[parts.C.begin + i];
    if (!NarrowFunctions(std::span(&C, 1), unknown).any()) continue;
    made_->narrow_C.push_back(static_cast<int>(i));
    outputs.push_back(C);
  }
  outputs = where_defined(outputs);
  made_->narrow = NarrowFunctions(outputs, unknown);
  facts_.can_be_narrow = made_->narrow.any();
  if (!facts_.can_be_narrow) return;
  std::vector<Expr> in = inputs();
  made_->narrow_arguments = Tape(made_->narrow.arguments(), in);
  const Equations& eqs = system_->equations();
  in.insert(in.end(), eqs.ideal.begin(), eqs.ideal.end());
  in.insert(in.end(), eqs.multipliers.begin(), eqs.multipliers.end());
  made_->narrow_outputs = Tape(outputs, in);
}

void WrittenEquations::set_quantities() {
  const Model& model = system_->model();
  std::vector<Expr> quantities, when;
  for (const Named& o : model.outputs) quantities.push_back(o.value);
  for (const Event& e : model.events) {
    when.push_back(e.when);
    const bool forces = (e.when.kinds() & all_forces) != 0;
    facts_.events.push_back({e.name, e.direction, e.action, !e.changes.empty(), forces});
    facts_.events_use_acceleration |= e.when.contains(SymbolKind::acceleration);
    facts_.events_use_forces |= forces;
  }
  facts_.num_outputs = static_cast<int>(quantities.size());
  quantities.insert(quantities.end(), when.begin(), when.end());
  // Where an event itself has kinks: their zeros, as written (sides put back as signs, inner ones first).
  std::vector<Replacement> sides_as_signs;
  const Frozen frozen = freeze(when);
  for (const Switch& s : frozen.switches) {
    const Expr zero = substitute(s.zero, sides_as_signs);
    sides_as_signs.push_back({s.side, sign(zero)});
    quantities.push_back(zero);
    std::vector<int>& jumps = facts_.event_jumps.emplace_back();
    for (std::size_t e = 0; e < when.size() && s.is_discontinuous && !s.is_cut; ++e) {
      const std::vector<Expr> symbols = symbols_of(std::span(&frozen.expressions[e], 1));
      if (std::any_of(symbols.begin(), symbols.end(), [&](const Expr& x) { return same(x, s.side); }))
        jumps.push_back(static_cast<int>(e));
    }
    ++facts_.num_event_switches;
  }
  std::vector<Expr> in = inputs();
  in.insert(in.end(), system_->equations().qdd.begin(), system_->equations().qdd.end());
  for (const Expr& force : list_forces(model)) {
    in.push_back(force);
    facts_.forces.push_back(find_force_facts(force));
  }
  made_->quantities = Tape(quantities, in);
  quantities_.resize(quantities.size());
}

/// Rows are found by their names: a phase of a motion has other ones than the whole (phase_model.hpp).
ForceFacts WrittenEquations::find_force_facts(const Expr& symbol) const {
  const Equations& eqs = system_->equations();
  const std::string& name = symbol.symbol().name;
  ForceFacts force;
  force.kind = symbol.symbol().kind;
  if ((kind_bit(force.kind) & forces_of_coordinates) != 0) {
    force.at = system_->find_coordinate(name);
    return force;
  }
  if ((kind_bit(force.kind) & forces_of_control) != 0) {
    force.at = force.kind == SymbolKind::control_cost && facts_.num_constraints < facts_.m ? 0 : -1;
    if (force.kind == SymbolKind::effort)
      for (std::size_t i = 0; i < eqs.control.actuators.size(); ++i)
        if (eqs.control.actuators[i].name == name) force.at = static_cast<int>(i);
    for (int j = facts_.num_constraints; force.kind == SymbolKind::control_error && j < facts_.m; ++j)
      if (eqs.rows[static_cast<std::size_t>(j)].name == name) force.at = j - facts_.num_constraints;
    return force;
  }
  for (int j = 0; j < facts_.num_constraints; ++j) {
    const std::string& row = eqs.rows[static_cast<std::size_t>(j)].name;
    if (row == name) force.at = j;
    if (row == slip_name(name, 0, 1) || row == slip_name(name, 0, 2)) force.slips[0] = j;
    if (row == slip_name(name, 1, 2)) force.slips[1] = j;
  }
  return force;
}

std::string WrittenEquations::divisor_text(int i) const {
  return to_text(made_->divisors[static_cast<std::size_t>(i)]);
}

void WrittenEquations::take_parameters(std::span<const double> values) {
  std::copy(values.begin(), values.end(), x_.begin() + 1 + 2 * facts_.n);
}

void WrittenEquations::set_inputs(const Point& point) {
  const int n = facts_.n;
  x_[0] = point.t;
  std::copy_n(point.q, n, x_.begin() + 1);
  std::copy_n(point.qd, n, x_.begin() + 1 + n);
  set_sides();
  const auto after = x_.begin() + static_cast<std::ptrdiff_t>(made_->num_inputs);
  if (point.qdd) {
    std::copy_n(point.qdd, n, after);
    if (point.multipliers) std::copy_n(point.multipliers, facts_.m, after + n);
    if (point.forces) std::copy_n(point.forces, facts_.forces.size(), after + n);
  } else if (point.ideal) {
    std::copy_n(point.ideal, n, after);
    std::copy_n(point.multipliers, facts_.num_constraints, after + n);
  } else {
    std::fill(after, x_.end(), 0.0);
  }
}

std::span<const double> WrittenEquations::inputs_of(const Tape& tape) const {
  return std::span<const double>(x_).first(static_cast<std::size_t>(tape.num_inputs()));
}

void WrittenEquations::run(const Tape& tape, std::span<double> values) {
  tape.evaluate<double>(inputs_of(tape), registers_, values);
}

namespace {
bool is_finite(std::span<const double> values) { return kernels::all_finite(std::ssize(values), values.data()); }
}  // namespace

bool WrittenEquations::evaluate(double t, const double* q, const double* qd) {
  x_[0] = t;
  std::copy_n(q, facts_.n, x_.begin() + 1);
  std::copy_n(qd, facts_.n, x_.begin() + 1 + facts_.n);
  set_sides();
  rhs_values_(x_.data(), v_.data());
  return is_finite(v_);
}

EquationValues::Numbers WrittenEquations::numbers() const {
  const double* const v = v_.data();
  return {v,
          v + made_->at_Q,
          v + made_->at_A,
          v + made_->at_b,
          made_->at_C < v_.size() ? v + made_->at_C : nullptr,
          v[made_->at_K]};
}

bool WrittenEquations::evaluate_rows(double t, const double* q, const double* qd) {
  x_[0] = t;
  std::copy_n(q, facts_.n, x_.begin() + 1);
  std::copy_n(qd, facts_.n, x_.begin() + 1 + facts_.n);
  set_sides();
  row_values_(x_.data(), rows_.data());
  return is_finite(rows_);
}

EquationValues::RowNumbers WrittenEquations::row_numbers() const {
  const double* const v = rows_.data();
  return {v, v + made_->at_row_A, v + made_->at_residual, v + made_->at_rate};
}

void WrittenEquations::calc_row_noise(double t, const double* q, const double* qd, std::span<double> noise) {
  set_inputs({t, q, qd});
  std::vector<double> values(rows_.size()), bounds(rows_.size());
  made_->rows.evaluate_with_bounds(inputs_of(made_->rows), values, bounds);
  std::fill(noise.begin(), noise.end(), 0.0);
  for (std::size_t s = 0; s < facts_.pattern.A.size(); ++s)
    if (const double bound = bounds[made_->at_row_A + s]; std::isfinite(bound))
      noise[static_cast<std::size_t>(facts_.pattern.A[s].row)] += bound * bound;
  for (double& x : noise) x = std::sqrt(x);
}

const double* WrittenEquations::calc_C(const Point& point) {
  set_inputs(point);
  run(made_->C, C_);
  return is_finite(C_) ? C_.data() : nullptr;
}

bool WrittenEquations::calc_switches(const Point& point, std::span<double> g) {
  set_inputs(point);
  run(made_->switching, g);
  return is_finite(g);
}

void WrittenEquations::calc_switch_noise(const Point& point, std::span<double> noise) {
  set_inputs(point);
  std::vector<double> values(noise.size());
  made_->switching.evaluate_with_bounds(inputs_of(made_->switching), values, noise);
}

bool WrittenEquations::calc_switch_rates(const Point& point, std::span<double> rates, std::span<double> noise) {
  set_inputs(point);
  made_->switch_rates.evaluate_with_bounds(inputs_of(made_->switch_rates), rates, noise);
  for (std::size_t i = 0; i < rates.size(); ++i)
    if (!made_->rate_is_known[i]) rates[i] = std::numeric_limits<double>::quiet_NaN();
  return true;
}

void WrittenEquations::calc_divisors(const Point& point, std::span<double> values) {
  set_inputs(point);
  run(made_->below_fractions, values);
}

std::span<const double> WrittenEquations::calc_quantities(const Point& point) {
  set_inputs(point);
  run(made_->quantities, quantities_);
  return quantities_;
}

void WrittenEquations::calc_quantity_noise(const Point& point, const Point& error, std::span<double> noise) {
  set_inputs(point);
  const std::span<const double> x = inputs_of(made_->quantities);
  std::vector<Bounded> inputs;
  for (const double value : x) inputs.emplace_back(value, 0.0);
  const auto n = static_cast<std::size_t>(facts_.n);
  for (std::size_t i = 0; i < n; ++i) {
    inputs[1 + i].error += error.q[i], inputs[1 + n + i].error += error.qd[i];
    if (error.qdd) inputs[made_->num_inputs + i].error += error.qdd[i];
  }
  for (std::size_t i = 0; error.forces && i < facts_.forces.size(); ++i)
    inputs[made_->num_inputs + n + i].error += error.forces[i];
  const std::vector<Bounded> values = made_->quantities.operator()<Bounded>(inputs);
  std::transform(values.begin(), values.end(), noise.begin(), [](const Bounded& b) { return b.error; });
}

void WrittenEquations::set_box(const StateBox& box) {
  const auto n = static_cast<std::size_t>(facts_.n);
  box_.resize(x_.size());
  for (std::size_t i = 0; i < x_.size(); ++i) box_[i] = Interval(x_[i]);
  box_[0] = box.t;
  std::copy_n(box.q, n, box_.begin() + 1), std::copy_n(box.qd, n, box_.begin() + 1 + facts_.n);
  const std::size_t held = made_->switches.size();
  for (std::size_t i = 0; i < held; ++i) box_[made_->num_inputs - held + i] = Interval(sides[i]);
  if (box.qdd) std::copy_n(box.qdd, n, box_.begin() + static_cast<std::ptrdiff_t>(made_->num_inputs));
}

void WrittenEquations::run(const Tape& tape, const StateBox& box, std::span<Interval> values) {
  set_box(box);
  const std::span<const Interval> found = room_.evaluate<Interval>(tape, box_);
  std::copy(found.begin(), found.end(), values.begin());
}

bool WrittenEquations::bound_switches(const StateBox& box, std::span<Interval> g) {
  if (facts_.needs_reactions) return false;
  run(made_->switching, box, g);
  return true;
}

bool WrittenEquations::bound_quantities(const StateBox& box, std::span<Interval> quantities) {
  run(made_->quantities, box, quantities);
  return true;
}

bool WrittenEquations::varies_fast(const StateBox& box) {
  set_box(box);
  return made_->narrow.vary_fast(room_.evaluate<Interval>(made_->narrow_arguments, box_));
}

template <class T>
void WrittenEquations::calc_unseen_as(const StateBox& box, UnseenValues& to) {
  const Tape& tape = made_->narrow_outputs;
  set_box(box);
  std::fill(box_.begin() + static_cast<std::ptrdiff_t>(made_->num_inputs), box_.end(), Interval::everything());
  const std::span<const T> values = room_.evaluate<T>(tape, box_);
  auto value = values.begin();
  const auto take = [&](std::vector<double>& part, std::size_t size) {
    part.resize(size);
    for (double& x : part) x = (value++)->unseen;
  };
  take(to.M, facts_.pattern.M.size()), take(to.Q, static_cast<std::size_t>(facts_.n));
  to.size_of_A.resize(facts_.pattern.A.size());
  std::transform(value, value + std::ssize(to.size_of_A), to.size_of_A.begin(),
                 [](const T& x) { return std::max(std::abs(x.range.low), std::abs(x.range.high)); });
  take(to.A, facts_.pattern.A.size()), take(to.b, static_cast<std::size_t>(facts_.m));
  to.friction = 0.0;
  for (std::size_t i = 0; i < sliding_.size(); ++i) to.friction = std::max(to.friction, (value++)->unseen);
  for (const int i : made_->narrow_C) to.Q[static_cast<std::size_t>(i)] += (value++)->unseen;
}

void WrittenEquations::calc_unseen(const StateBox& box, SeenBy shown, UnseenValues& to) {
  with_variation(shown, [&]<class T>(T) { calc_unseen_as<T>(box, to); });
}

std::span<const double> WrittenEquations::calc_weights(const Point& point) {
  set_inputs(point);
  run(made_->weights, weights_);
  return is_finite(weights_) ? std::span<const double>(weights_) : std::span<const double>();
}

std::span<const double> WrittenEquations::calc_sliding(const Point& point) {
  set_inputs(point);
  run(made_->sliding, sliding_);
  return is_finite(sliding_) ? std::span<const double>(sliding_) : std::span<const double>();
}

bool WrittenEquations::calc_control(const Point& point, std::span<const double>& numbers) {
  set_inputs(point);
  run(made_->control, control_);
  numbers = control_;
  return is_finite(control_);
}

EquationValues::GenericRank WrittenEquations::find_generic_rank(const State& state) {
  std::vector<char> left_out = absent;
  if (facts_.any_bare) left_out.resize(static_cast<std::size_t>(facts_.m), 0);
  for (std::size_t j = 0; j < left_out.size(); ++j) left_out[j] |= static_cast<char>(facts_.rows[j].bare);
  const GenericRows found = find_generic_rows(*system_, state, left_out);
  return {static_cast<int>(found.rows.size()), found.doubtful};
}

}  // namespace mechanician
