#include "mechanician/motion/written_equations.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "mechanician/compile/given_power.hpp"
#include "mechanician/equations/mass_rate.hpp"
#include "mechanician/expression/differentiate.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/instant/accelerate.hpp"
#include "mechanician/instant/generic_rows.hpp"
#include "mechanician/motion/divisors.hpp"
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

SparseLists list_rows(const SparsePattern& pattern) {
  SparseLists lists;
  lists.begin.assign(static_cast<std::size_t>(pattern.m) + 1, 0);
  for (const SparseEntry& e : pattern.A) ++lists.begin[static_cast<std::size_t>(e.row) + 1];
  for (std::size_t j = 1; j < lists.begin.size(); ++j) lists.begin[j] += lists.begin[j - 1];
  lists.items.resize(pattern.A.size());
  std::vector<int> next(lists.begin.begin(), lists.begin.end() - 1);
  for (std::size_t s = 0; s < pattern.A.size(); ++s)
    lists.items[static_cast<std::size_t>(next[static_cast<std::size_t>(pattern.A[s].row)]++)] = static_cast<int>(s);
  return lists;
}

/// Where each part lies among all expressions that are frozen together.
struct WrittenEquations::Parts {
  struct Range {
    std::size_t begin = 0, size = 0;
  };
  Range M, Q, A, b, K, C, residual, rate, given, friction;
  std::vector<Expr> all;
  Range add(const std::vector<Expr>& part) {
    const Range range{all.size(), part.size()};
    all.insert(all.end(), part.begin(), part.end());
    return range;
  }
};

WrittenEquations::WrittenEquations(const System& system) : system_(&system) {
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
    SlidingFacts sliding{c.row, static_cast<int>(c.slip.size()), static_cast<int>(friction.size()), {}};
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
  if (!facts_.mass_is_constant) given_power_ = make_given_power(system.model());
  if (given_power_) parts.given = parts.add({*given_power_});
  parts.friction = parts.add(friction);
  for (const Expr& e : parts.all) facts_.depends_on_time |= e.contains(SymbolKind::time);

  Frozen frozen = freeze(parts.all);
  switches_ = std::move(frozen.switches);
  sides.assign(switches_.size(), 1.0);
  for (const Switch& s : switches_) facts_.switches.push_back({s.text, s.is_discontinuous});
  set_programs(parts, frozen.expressions);
  divisors_ = find_divisors(parts.all);
  facts_.num_divisors = static_cast<int>(divisors_.size());
  divisor_tape_ = Tape(divisors_, inputs());
  set_quantities();
  derivatives_ = make_derivatives();

  int most = 0;
  for (const Tape* tape :
       {&C_tape_, &switch_tape_, &switch_rate_tape_, &divisor_tape_, &quantity_tape_, &sliding_tape_})
    most = std::max(most, tape->num_registers());
  registers_.resize(static_cast<std::size_t>(most));
  x_.assign(num_inputs_ + static_cast<std::size_t>(2 * facts_.n + facts_.m), 0.0);
  take_parameters();
}

void WrittenEquations::set_facts() {
  const Equations& eqs = system_->equations();
  EquationFacts& f = facts_;
  f.n = system_->n(), f.m = system_->m(), f.num_constraints = f.m - eqs.num_control();
  f.has_C = eqs.has_C, f.needs_reactions = system_->needs_reactions(), f.measured = !eqs.measured.empty();
  f.pattern.n = f.n, f.pattern.m = f.m;
  for (const auto& e : eqs.M.entries)
    if (e.row >= e.col) f.pattern.M.push_back({e.row, e.col});
  for (const auto& e : eqs.A.entries) f.pattern.A.push_back({e.row, e.col});
  f.row_slots = list_rows(f.pattern);
  for (const Row& row : eqs.rows) {
    assert(!row.one_sided);
    // λ_j (A q̇)_j = 0 on the constraints: φ(q) = 0, and ψ linear and homogeneous in q̇.
    const bool powerless = (row.level == Level::position && !row.rheonomic) ||
                           (row.level == Level::velocity && row.linear && !row.acatastatic);
    f.rows.push_back({row.level, row.kind, row.measured, row.linear, powerless, row.place});
  }
}

std::vector<Expr> WrittenEquations::inputs() const {
  const Equations& eqs = system_->equations();
  std::vector<Expr> all{eqs.t};
  for (const auto* part : {&eqs.q, &eqs.qd, &eqs.parameters}) all.insert(all.end(), part->begin(), part->end());
  for (const Switch& s : switches_) all.push_back(s.side);
  return all;
}

void WrittenEquations::set_programs(const Parts& parts, const std::vector<Expr>& frozen) {
  const Equations& eqs = system_->equations();
  const auto part = [&](const Parts::Range& range) {
    const auto begin = frozen.begin() + static_cast<std::ptrdiff_t>(range.begin);
    return std::vector<Expr>(begin, begin + static_cast<std::ptrdiff_t>(range.size));
  };
  frozen_ = eqs;
  // By place in the lower triangle, for its mirror image too.
  const std::vector<Expr> M = part(parts.M), A = part(parts.A);
  std::size_t lower = 0;
  for (auto& e : frozen_.M.entries)
    if (e.row >= e.col) e.value = M[lower++];
  for (auto& e : frozen_.M.entries)
    if (e.row < e.col) e.value = frozen_.M.at(e.col, e.row);
  for (std::size_t k = 0; k < A.size(); ++k) frozen_.A.entries[k].value = A[k];
  frozen_.Q = part(parts.Q), frozen_.b = part(parts.b), frozen_.C = part(parts.C);
  for (std::size_t j = 0; j < frozen_.rows.size(); ++j) {
    if (frozen_.rows[j].level != Level::acceleration) frozen_.rows[j].residual = frozen[parts.residual.begin + j];
    frozen_.rows[j].rate = frozen[parts.rate.begin + j];
  }
  if (given_power_) given_power_ = frozen[parts.given.begin];

  const std::vector<Expr> in = inputs();
  num_inputs_ = in.size();
  std::vector<Expr> outputs;
  const auto append = [&](const Parts::Range& range) {
    const std::size_t begin = outputs.size();
    const std::vector<Expr> more = part(range);
    outputs.insert(outputs.end(), more.begin(), more.end());
    return begin;
  };
  append(parts.M);
  at_Q_ = append(parts.Q), at_A_ = append(parts.A), at_b_ = append(parts.b), at_K_ = append(parts.K);
  at_C_ = outputs.size();
  if (facts_.has_C && !facts_.needs_reactions) append(parts.C);
  rhs_values_ = compiled(Tape(outputs, in));
  v_.resize(outputs.size());
  outputs.clear();
  append(parts.M);
  at_row_A_ = append(parts.A), at_residual_ = append(parts.residual), at_rate_ = append(parts.rate);
  row_tape_ = Tape(outputs, in);
  row_values_ = compiled(row_tape_);
  rows_.resize(outputs.size());

  std::vector<Expr> in_C = in;
  in_C.insert(in_C.end(), eqs.ideal.begin(), eqs.ideal.end());
  in_C.insert(in_C.end(), eqs.multipliers.begin(), eqs.multipliers.end());
  if (facts_.needs_reactions) C_tape_ = Tape(part(parts.C), in_C);
  C_.resize(parts.C.size);
  sliding_tape_ = Tape(part(parts.friction), in);
  sliding_.resize(parts.friction.size);
  std::vector<Expr> g;
  for (const Switch& s : switches_) g.push_back(s.g);
  switch_tape_ = Tape(g, in_C);
  if (!g.empty() && !facts_.needs_reactions) {
    std::vector<Tangent> along{{eqs.t, 1.0}};
    for (std::size_t i = 0; i < eqs.q.size(); ++i)
      along.push_back({eqs.q[i], eqs.qd[i]}), along.push_back({eqs.qd[i], eqs.qdd[i]});
    std::vector<Expr> in_out = in;
    in_out.insert(in_out.end(), eqs.qdd.begin(), eqs.qdd.end());
    switch_rate_tape_ = Tape(directional(g, along), in_out);
  }
}

void WrittenEquations::set_quantities() {
  const Model& model = system_->model();
  std::vector<Expr> quantities, when;
  for (const Named& o : model.outputs) quantities.push_back(o.value);
  for (const Event& e : model.events) {
    when.push_back(e.when);
    facts_.events.push_back({e.name, e.direction, e.action});
    facts_.events_use_acceleration |= e.when.contains(SymbolKind::acceleration);
  }
  facts_.num_outputs = static_cast<int>(quantities.size());
  quantities.insert(quantities.end(), when.begin(), when.end());
  // Where an event itself has kinks: their zeros, as written (sides put back as signs, inner ones first).
  std::vector<Replacement> sides_as_signs;
  for (const Switch& s : freeze(when).switches) {
    const Expr zero = substitute(s.g, sides_as_signs);
    sides_as_signs.push_back({s.side, sign(zero)});
    quantities.push_back(zero);
    ++facts_.num_event_switches;
  }
  std::vector<Expr> in = inputs();
  in.insert(in.end(), system_->equations().qdd.begin(), system_->equations().qdd.end());
  quantity_tape_ = Tape(quantities, in);
  quantities_.resize(quantities.size());
}

std::string WrittenEquations::divisor_text(int i) const { return to_text(divisors_[static_cast<std::size_t>(i)]); }

void WrittenEquations::take_parameters(std::span<const double> values) {
  std::copy(values.begin(), values.end(), x_.begin() + 1 + 2 * facts_.n);
}

void WrittenEquations::set_inputs(const Point& point) {
  const int n = facts_.n;
  x_[0] = point.t;
  std::copy_n(point.q, n, x_.begin() + 1);
  std::copy_n(point.qd, n, x_.begin() + 1 + n);
  std::copy(sides.begin(), sides.end(), x_.begin() + static_cast<std::ptrdiff_t>(num_inputs_ - sides.size()));
  const auto after = x_.begin() + static_cast<std::ptrdiff_t>(num_inputs_);
  if (point.qdd) {
    std::copy_n(point.qdd, n, after);
    if (point.multipliers) std::copy_n(point.multipliers, facts_.m, after + n);
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
  std::copy(sides.begin(), sides.end(), x_.begin() + static_cast<std::ptrdiff_t>(num_inputs_ - sides.size()));
  rhs_values_(x_.data(), v_.data());
  return is_finite(v_);
}

EquationValues::Numbers WrittenEquations::numbers() const {
  const double* const v = v_.data();
  return {v, v + at_Q_, v + at_A_, v + at_b_, at_C_ < v_.size() ? v + at_C_ : nullptr, v[at_K_]};
}

bool WrittenEquations::evaluate_rows(double t, const double* q, const double* qd) {
  x_[0] = t;
  std::copy_n(q, facts_.n, x_.begin() + 1);
  std::copy_n(qd, facts_.n, x_.begin() + 1 + facts_.n);
  std::copy(sides.begin(), sides.end(), x_.begin() + static_cast<std::ptrdiff_t>(num_inputs_ - sides.size()));
  row_values_(x_.data(), rows_.data());
  return is_finite(rows_);
}

EquationValues::RowNumbers WrittenEquations::row_numbers() const {
  const double* const v = rows_.data();
  return {v, v + at_row_A_, v + at_residual_, v + at_rate_};
}

void WrittenEquations::calc_row_noise(double t, const double* q, const double* qd, std::span<double> noise) {
  set_inputs({t, q, qd});
  std::vector<double> values(rows_.size()), bounds(rows_.size());
  row_tape_.evaluate_with_bounds(inputs_of(row_tape_), values, bounds);
  std::fill(noise.begin(), noise.end(), 0.0);
  for (std::size_t s = 0; s < facts_.pattern.A.size(); ++s)
    if (const double bound = bounds[at_row_A_ + s]; std::isfinite(bound))
      noise[static_cast<std::size_t>(facts_.pattern.A[s].row)] += bound * bound;
  for (double& x : noise) x = std::sqrt(x);
}

const double* WrittenEquations::calc_C(const Point& point) {
  set_inputs(point);
  run(C_tape_, C_);
  return is_finite(C_) ? C_.data() : nullptr;
}

bool WrittenEquations::calc_switches(const Point& point, std::span<double> g) {
  set_inputs(point);
  run(switch_tape_, g);
  return is_finite(g);
}

void WrittenEquations::calc_switch_noise(const Point& point, std::span<double> noise) {
  set_inputs(point);
  std::vector<double> values(noise.size());
  switch_tape_.evaluate_with_bounds(inputs_of(switch_tape_), values, noise);
}

bool WrittenEquations::calc_switch_rates(const Point& point, std::span<double> rates, std::span<double> noise) {
  if (facts_.needs_reactions) return false;
  set_inputs(point);
  switch_rate_tape_.evaluate_with_bounds(inputs_of(switch_rate_tape_), rates, noise);
  return true;
}

void WrittenEquations::calc_divisors(const Point& point, std::span<double> values) {
  set_inputs(point);
  run(divisor_tape_, values);
}

std::span<const double> WrittenEquations::calc_quantities(const Point& point) {
  set_inputs(point);
  run(quantity_tape_, quantities_);
  return quantities_;
}

void WrittenEquations::calc_quantity_noise(const Point& point, std::span<double> noise) {
  set_inputs(point);
  quantity_tape_.evaluate_with_bounds(inputs_of(quantity_tape_), quantities_, noise);
}

std::span<const double> WrittenEquations::calc_sliding(const Point& point) {
  set_inputs(point);
  run(sliding_tape_, sliding_);
  return is_finite(sliding_) ? std::span<const double>(sliding_) : std::span<const double>();
}

EquationValues::Verdict WrittenEquations::judge(const State& state, bool diagnose) {
  AccelerateOptions options{.diagnose = diagnose, .contacts = false};
  if (!absent.empty()) {
    options.rows.emplace();
    for (int j = 0; j < facts_.m; ++j)
      if (!is_absent(j)) options.rows->push_back(j);
  }
  const Instant instant = accelerate(*system_, state, options);
  Verdict verdict;
  if (instant.not_finite) verdict.not_finite = instant.not_finite->message(), verdict.place = instant.not_finite->place;
  verdict.status = instant.solution.status, verdict.consistent = instant.solution.consistent;
  verdict.may_accelerate = instant.has_acceleration();
  for (const RowResidual& r : instant.violations())
    if (!is_absent(r.row)) verdict.off.push_back({r.row, r.value});
  if (instant.diagnosis && !instant.diagnosis->conflicts.empty())
    for (const Eigen::Index j : instant.diagnosis->conflicts.front().rows)
      verdict.conflict.push_back(static_cast<int>(j));
  return verdict;
}

EquationValues::GenericRank WrittenEquations::find_generic_rank(const State& state) {
  const GenericRows found = find_generic_rows(*system_, state, absent);
  return {static_cast<int>(found.rows.size()), found.doubtful};
}

}  // namespace mechanician
