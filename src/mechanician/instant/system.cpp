#include "mechanician/instant/system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/instant/family_numbers.hpp"
#include "mechanician/large/large_quantities.hpp"
#include "mechanician/large/large_terms.hpp"
#include "mechanician/model/validate.hpp"
#include "mechanician/solve/instant_pattern.hpp"

namespace mechanician {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

/// Where the parts of the dynamics lie among the outputs of its tape.
struct Layout {
  int M, Q, A, b, W, residual, rate, end;
};
Layout layout_of(const Equations& eqs) {
  Layout at{};
  at.M = 0;
  at.Q = at.M + static_cast<int>(eqs.M.entries.size());
  at.A = at.Q + eqs.n();
  at.b = at.A + static_cast<int>(eqs.A.entries.size());
  at.W = at.b + eqs.m();
  at.residual = at.W + static_cast<int>(eqs.measured.size() * eqs.measured.size());
  at.rate = at.residual + eqs.m();
  at.end = at.rate + eqs.m();
  return at;
}

std::vector<Eigen::Index> first_rows(Eigen::Index count, Eigen::Index from = 0) {
  std::vector<Eigen::Index> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), from);
  return rows;
}

std::string named(const Row& row) {
  if (row.is_rate) return fmt::format("the rate of state `{}`", row.name.substr(0, row.name.size() - 1));
  return fmt::format("{} `{}`", row.kind == RowKind::control ? "control requirement" : "constraint", row.name);
}

}  // namespace

SparseRows fill_rows(const SparseExprMatrix& pattern, std::span<const double> values) {
  SparseRows result(0, pattern.cols);
  std::size_t k = 0;
  for (int row = 0; row < pattern.rows; ++row) {
    for (; k < pattern.entries.size() && pattern.entries[k].row == row; ++k)
      result.add(pattern.entries[k].col, values[k]);
    result.end_row();
  }
  return result;
}

State state_of(const StartState& start) {
  const auto vector = [](const std::vector<double>& x) {
    return Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(x.data(), static_cast<Eigen::Index>(x.size())));
  };
  return {start.time, vector(start.q), vector(start.qd)};
}

namespace {

/// Nodes of all terms for each that is derived once, from which terms of single coordinates are worth rolling.
constexpr std::size_t least_repeated = 4;
/// Coordinates from which they are. A chain of 30 bodies, 210 coordinates, is ready in 70 ms by kernels and in 240 written out, but code that
/// is made of the whole takes 7 µs for an acceleration and kernels with the elimination 29, and ten seconds of motion 0.9 s and 1.1 s;
/// with 60 bodies 2.1 s and 2.2 s.
constexpr long least_for_rolling = 400;

/// A copy for kernels, whose terms have all definitions in them; of bodies there are some thirty for each.
FamilyModel without_definitions(FamilyModel& stated) {
  std::vector<FamilyQuantity> definitions = std::move(stated.definitions);
  stated.definitions.clear();
  FamilyModel copy = stated;
  stated.definitions = std::move(definitions);
  return copy;
}

/// What changes while a motion goes on is no number.
bool can_be_rolled(const FamilyModel& model) {
  return model.num_coordinates() >= least_for_rolling &&
         std::none_of(model.scalars.begin(), model.scalars.end(), [](const Parameter& p) { return p.is_input; }) &&
         std::none_of(model.numbers.begin(), model.numbers.end(), [](const NumberFamily& l) { return l.is_input; });
}

/// A model that was built in C++ has been seen by nobody yet.
Model validated(Model model) {
  if (std::vector<Problem> problems = validate(model); !problems.empty())
    throw ModelError(std::move(problems), model.source);
  return model;
}

}  // namespace

/// The equations as flat programs. [t | q | q̇ | parameters] are the inputs of all.
struct System::Written {
  explicit Written(const Model& model);
  Equations eqs;
  Tape dynamics;  ///< M entries, Q, A entries, b, W, residuals, rates
  Tape contacts;  ///< for each contact: restitution, coefficient of friction, slip, T entries, slip_b
  Tape control;   ///< ControlEquations::numbers
  Tape nonideal;  ///< C; further inputs: ideal forces, multipliers
  std::shared_ptr<const InstantPattern> pattern;
};

struct System::Kept {
  std::once_flag once, of_model;
  std::unique_ptr<const Model> model;
  std::unique_ptr<const Written> written;
};

System::Written::Written(const Model& model) : eqs(derive(model)) {
  if (!eqs.unknowns.empty()) {
    std::vector<Problem> problems;
    for (const Expr& u : model.unknowns) {
      problems.push_back(
          {model.place_of("unknown." + u.symbol().name), fmt::format("the function `{}` has no value", u.symbol().name),
           "`equations` prints unknown functions as they are; for numbers, define it in [define] or [parameters]"});
    }
    throw ModelError(std::move(problems), model.source);
  }

  std::vector<Expr> inputs{eqs.t};
  inputs.insert(inputs.end(), eqs.q.begin(), eqs.q.end());
  inputs.insert(inputs.end(), eqs.qd.begin(), eqs.qd.end());
  inputs.insert(inputs.end(), eqs.parameters.begin(), eqs.parameters.end());

  std::vector<Expr> outputs;
  for (const auto& e : eqs.M.entries) outputs.push_back(e.value);
  outputs.insert(outputs.end(), eqs.Q.begin(), eqs.Q.end());
  for (const auto& e : eqs.A.entries) outputs.push_back(e.value);
  outputs.insert(outputs.end(), eqs.b.begin(), eqs.b.end());
  for (const auto& line : eqs.W) outputs.insert(outputs.end(), line.begin(), line.end());
  for (const Row& row : eqs.rows) outputs.push_back(row.level == Level::acceleration ? Expr(0) : row.residual);
  for (const Row& row : eqs.rows) outputs.push_back(row.rate);
  dynamics = Tape(outputs, inputs);

  std::vector<Expr> of_contacts;
  for (const ContactRow& c : eqs.contacts) {
    of_contacts.push_back(c.restitution);
    of_contacts.push_back(c.friction);
    of_contacts.insert(of_contacts.end(), c.slip.begin(), c.slip.end());
    for (const auto& e : c.T.entries) of_contacts.push_back(e.value);
    of_contacts.insert(of_contacts.end(), c.slip_b.begin(), c.slip_b.end());
  }
  contacts = Tape(of_contacts, inputs);
  control = Tape(eqs.control.numbers, inputs);

  inputs.insert(inputs.end(), eqs.ideal.begin(), eqs.ideal.end());
  inputs.insert(inputs.end(), eqs.multipliers.begin(), eqs.multipliers.end());
  nonideal = Tape(eqs.C, inputs);
  const std::vector<double> zeros(std::max(eqs.M.entries.size(), eqs.A.entries.size()), 0.0);
  SparseRows rows = fill_rows(eqs.A, zeros);
  if (eqs.num_control() > 0) rows = rows.select(first_rows(eqs.num_constraints()));
  pattern = std::make_shared<const InstantPattern>(fill_rows(eqs.M, zeros), rows);
}

System::System(Model model, std::vector<double> parameters)
    : System(validated(std::move(model)), std::move(parameters), Checked::already) {
  if (std::vector<Problem> problems = validate_values(this->model(), {parameters_}); !problems.empty())
    throw ModelError(std::move(problems), source());
}

System::System(Model model, std::vector<double> parameters, Checked)
    : parameters_(std::move(parameters)), kept_(std::make_shared<Kept>()) {
  set_written(std::move(model));
}

System::System(FamilyModel stated, Numbers numbers)
    : parameters_(parameter_values(stated)), kept_(std::make_shared<Kept>()) {
  // Kernels pay where they run over members: of families, or of terms that say the same one by one.
  const long count = stated.num_coordinates();
  const bool must = numbers == Numbers::kernels || (numbers == Numbers::automatic && count > most_coordinates);
  if (must || (numbers == Numbers::automatic && count >= least_for_kernels)) {
    std::shared_ptr<LargeSystem> kernels;
    try {
      if (must || is_stated_in_families(stated) || can_be_rolled(stated)) {
        RolledModel rolled = roll_terms(kernel_terms(without_definitions(stated)));
        if (must || is_stated_in_families(stated) || rolled.stated_size >= least_repeated * rolled.size)
          kernels = std::make_shared<LargeSystem>(std::move(rolled));
      }
    } catch (const ModelError&) {
      // What is wrong by itself is said in the same way when it is written out.
      if (numbers == Numbers::kernels || count > most_coordinates) throw;
    }
    if (kernels) families_ = std::make_shared<const FamilyNumbers>(std::move(stated), std::move(kernels));
  }
  if (families_) {
    n_ = families_->kernels()->n(), m_ = families_->kernels()->m();
    return;
  }
  set_written(validated(expand(stated)));
  if (std::vector<Problem> problems = validate_values(model(), {parameters_}); !problems.empty())
    throw ModelError(std::move(problems), source());
}

void System::set_written(Model model) {
  if (parameters_.size() != model.parameters.size())
    throw std::invalid_argument(fmt::format("the model has {}, but {} given",
                                            count_noun(model.parameters.size(), "parameter"), parameters_.size()));
  std::call_once(kept_->of_model, [&] { kept_->model = std::make_unique<const Model>(std::move(model)); });
  std::call_once(kept_->once, [&] { kept_->written = std::make_unique<const Written>(*kept_->model); });
  const Equations& eqs = kept_->written->eqs;
  n_ = eqs.n(), m_ = eqs.num_constraints(), num_control_ = eqs.num_control();
  has_contacts_ = !eqs.contacts.empty(), has_C_ = eqs.has_C, is_staged_ = kept_->model->is_staged();
  for (const Expr& c : eqs.C)
    needs_reactions_ |= c.contains(SymbolKind::ideal_force) || c.contains(SymbolKind::multiplier);
}

const System::Written& System::written() const {
  std::call_once(kept_->once, [&] { kept_->written = std::make_unique<const Written>(model()); });
  return *kept_->written;
}

const Model& System::model() const {
  std::call_once(kept_->of_model, [&] { kept_->model = std::make_unique<const Model>(expand(families_->stated())); });
  return *kept_->model;
}
const Equations& System::equations() const { return written().eqs; }

const std::shared_ptr<LargeSystem>& System::kernels() const {
  static const std::shared_ptr<LargeSystem> none;
  return families_ ? families_->kernels() : none;
}

void System::set_parameters(std::span<const double> values) {
  assert(values.size() == parameters_.size());
  if (families_) {
    written();
    families_.reset();
  }
  std::copy(values.begin(), values.end(), parameters_.begin());
}

std::vector<std::string> System::parameter_names() const {
  constexpr std::size_t most_listed = 10'000;
  if (families_) return mechanician::parameter_names(families_->stated(), most_listed);
  std::vector<std::string> names;
  for (const Parameter& p : model().parameters)
    if (names.size() < most_listed) names.push_back(p.name);
  return names;
}

const RowTraits& System::row(int i) const {
  if (families_) return families_->kernels()->row(i);
  return equations().rows[static_cast<std::size_t>(i)];
}

std::string System::row_name(int i) const {
  if (families_) return families_->kernels()->row_name(i);
  return equations().rows[static_cast<std::size_t>(i)].name;
}

std::string System::coordinate(int i) const {
  if (families_) return families_->stated().name_of(i);
  return equations().coordinates[static_cast<std::size_t>(i)];
}

int System::find_coordinate(std::string_view name) const {
  if (families_) return static_cast<int>(families_->stated().find(name));
  return model().find_coordinate(name);
}

std::vector<std::string> System::output_names() const {
  if (families_) return mechanician::output_names(families_->kernels()->model());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < model().num_columns(); ++i) names.push_back(model().outputs[i].name);
  return names;
}

std::vector<SummaryItem> System::summary() const {
  return families_ ? summary_items(families_->kernels()->model()) : model().summary;
}

StartRules System::start_rules() const {
  if (families_) return families_->stated().start_rules;
  const StartValues& start = model().start;
  StartRules rules;
  rules.assemble = start.assemble, rules.from = start.from;
  for (std::string_view name : start.hold) {
    const bool velocity = name.ends_with('\'');
    if (velocity) name.remove_suffix(1);
    if (const int i = model().find_coordinate(name); i >= 0)
      (velocity ? rules.held_velocities : rules.held_positions).push_back(i);
  }
  for (auto* held : {&rules.held_positions, &rules.held_velocities}) {
    std::sort(held->begin(), held->end());
    held->erase(std::unique(held->begin(), held->end()), held->end());
  }
  return rules;
}

const std::map<std::string, UnitOf>& System::units() const {
  return families_ ? families_->stated().units : model().units;
}

const std::string& System::title() const { return families_ ? families_->stated().title : model().title; }
const SourceText& System::source() const { return families_ ? families_->stated().source : model().source; }
const RunSettings& System::run_settings() const { return families_ ? families_->stated().run : model().run; }

Place System::place_of(const std::string& key) const {
  if (!families_) return model().place_of(key);
  const auto found = families_->stated().places.find(key);
  return found == families_->stated().places.end() ? Place{} : found->second;
}

Place System::place_of_mass() const { return place_of(families_ || model().kinetic ? "kinetic" : "mass"); }

State System::start() const {
  State state;
  if (families_) {
    const LargeSystem::Start start = families_->kernels()->start();
    state = state_of(StartState{start.t, start.q, start.qd});
  } else {
    state = state_of(start_state(model(), {parameters_}));
  }
  set_state_rates(state);
  return state;
}

const std::vector<StateRow>& System::states() const {
  return families_ ? families_->kernels()->states() : equations().states;
}

void System::set_state_rates(State& state) const {
  if (states().empty()) return;
  for (const StateRow& z : states()) state.qd(z.coordinate) = 0.0;
  const Eigen::VectorXd off = evaluate(state).residual;  // z' − rate
  for (const StateRow& z : states()) state.qd(z.coordinate) = -off(z.row);
}

std::vector<int> System::inputs_from_outside() const {
  std::vector<int> numbers;
  if (families_) {
    const FamilyModel& stated = families_->stated();
    int next = 0;
    std::size_t list = 0;
    for (std::size_t i = 0; i <= stated.scalars.size(); ++i) {
      for (; list < stated.numbers.size() && stated.numbers[list].position == i; ++list)
        for (std::size_t k = 0; k < stated.numbers[list].values.size(); ++k, ++next)
          if (stated.numbers[list].is_input) numbers.push_back(next);
      if (i == stated.scalars.size()) break;
      if (stated.scalars[i].is_input) numbers.push_back(next);
      ++next;
    }
    return numbers;
  }
  const std::vector<Parameter>& all = model().parameters;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].is_input) numbers.push_back(static_cast<int>(i));
  return numbers;
}

std::vector<double> System::scale() const {
  const RunSettings& run = run_settings();
  if (!families_)
    return run.scale_of_all || !run.scale.empty() ? start_state(model(), {parameters_}).scale : std::vector<double>{};
  const std::vector<Term>& terms = families_->stated().terms;
  const bool given = run.scale_of_all || std::any_of(terms.begin(), terms.end(),
                                                     [](const Term& term) { return term.kind == TermKind::scale; });
  return given ? families_->kernels()->start().scale : std::vector<double>{};
}

bool System::forces_depend_on(int coordinate) const {
  if (families_) return families_->kernels()->forces_depend_on(coordinate);
  const Equations& eqs = equations();
  const auto i = static_cast<std::size_t>(coordinate);
  const std::vector<Expr> symbols = symbols_of(eqs.Q);
  return std::any_of(symbols.begin(), symbols.end(),
                     [&](const Expr& s) { return same(s, eqs.q[i]) || same(s, eqs.qd[i]); });
}

std::int64_t System::num_operations() const {
  if (families_) return families_->kernels()->num_operations();
  return static_cast<std::int64_t>(written().dynamics.code().size());
}

Evaluation System::evaluate(const State& state) const {
  return families_ ? families_->evaluate(state) : evaluate_written(state);
}

std::vector<double> System::inputs(const State& state) const {
  std::vector<double> x{state.t};
  x.insert(x.end(), state.q.begin(), state.q.end());
  x.insert(x.end(), state.qd.begin(), state.qd.end());
  x.insert(x.end(), parameters_.begin(), parameters_.end());
  return x;
}

NotFinite System::explain_dynamics(int output, std::span<const double> inputs) const {
  const Equations& eqs = equations();
  const Tape& dynamics = written().dynamics;
  const Layout at = layout_of(eqs);
  const auto row = [&](int i) -> const Row& { return eqs.rows[static_cast<std::size_t>(i)]; };
  if (output < at.Q) {
    const auto& e = eqs.M.entries[static_cast<std::size_t>(output)];
    return explain_not_finite(dynamics, output, inputs,
                              fmt::format("the mass matrix entry ({}, {})", coordinate(e.row), coordinate(e.col)),
                              place_of_mass());
  }
  if (output < at.A) {
    const std::string name = coordinate(output - at.Q);
    Place place = place_of(model().potential ? "potential" : "kinetic");
    for (const Named& f : model().forces)
      if (f.name == name) place = f.place;
    return explain_not_finite(dynamics, output, inputs, fmt::format("the given force on `{}`", name), place);
  }
  if (output < at.b) {
    const auto& e = eqs.A.entries[static_cast<std::size_t>(output - at.A)];
    return explain_not_finite(dynamics, output, inputs,
                              fmt::format("the coefficient of {}'' in {}", coordinate(e.col), named(row(e.row))),
                              row(e.row).place);
  }
  if (output < at.W)
    return explain_not_finite(dynamics, output, inputs, fmt::format("b of {}", named(row(output - at.b))),
                              row(output - at.b).place);
  if (output < at.residual) {
    const auto size = static_cast<int>(eqs.measured.size());
    const Row& r = row(eqs.measured[static_cast<std::size_t>((output - at.W) / size)]);
    return explain_not_finite(dynamics, output, inputs, fmt::format("the weight of {}", named(r)), r.place);
  }
  const int i = output < at.rate ? output - at.residual : output - at.rate;
  return explain_not_finite(dynamics, output, inputs,
                            fmt::format("{}{}", output < at.rate ? "" : "the rate of ", named(row(i))), row(i).place);
}

Evaluation System::evaluate_written(const State& state) const {
  const Equations& eqs = equations();
  const Layout at = layout_of(eqs);
  const std::vector<double> x = inputs(state);
  std::vector<double> values(static_cast<std::size_t>(at.end)), bounds(values.size());
  written().dynamics.evaluate_with_bounds(x, values, bounds);

  Evaluation result;
  InstantValues& v = result.values;
  const int n = this->n(), m = num_rows();
  v.M = fill_rows(eqs.M, std::span<const double>(values).subspan(static_cast<std::size_t>(at.M)));
  v.A = fill_rows(eqs.A, std::span<const double>(values).subspan(static_cast<std::size_t>(at.A)));
  v.M_noise = fill_rows(eqs.M, std::span<const double>(bounds).subspan(static_cast<std::size_t>(at.M)));
  v.A_noise = fill_rows(eqs.A, std::span<const double>(bounds).subspan(static_cast<std::size_t>(at.A)));
  const auto segment = [](const std::vector<double>& from, int begin, int size) {
    return Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(from.data() + begin, size));
  };
  v.Q = segment(values, at.Q, n);
  v.Q_noise = segment(bounds, at.Q, n);
  v.b = segment(values, at.b, m);
  v.b_noise = segment(bounds, at.b, m);
  v.b_size = v.b.cwiseAbs().cwiseMax(v.b_noise / eps);
  v.pattern = written().pattern;
  const auto size = static_cast<Eigen::Index>(eqs.measured.size());
  v.W.resize(size, size);
  for (Eigen::Index i = 0; i < size; ++i) {
    v.measured.push_back(eqs.measured[static_cast<std::size_t>(i)]);
    for (Eigen::Index j = 0; j < size; ++j) v.W(i, j) = values[static_cast<std::size_t>(at.W + i * size + j)];
  }
  result.residual = segment(values, at.residual, m);
  result.residual_noise = segment(bounds, at.residual, m);
  result.rate = segment(values, at.rate, m);
  result.rate_noise = segment(bounds, at.rate, m);
  for (int i = 0; i < at.end && !result.not_finite; ++i)
    if (!std::isfinite(values[static_cast<std::size_t>(i)])) result.not_finite = explain_dynamics(i, x);
  // A bound that overflows says nothing, as does one of a quantity at the edge of its domain.
  const auto finite_only = [](auto& noise) {
    noise = noise.unaryExpr([](double e) { return std::isfinite(e) ? e : 0.0; });
  };
  finite_only(v.Q_noise), finite_only(v.b_noise), finite_only(v.b_size);
  for (SparseRows* noise : {&v.M_noise, &v.A_noise})
    for (SparseRows::Entry& e : noise->entries())
      if (!std::isfinite(e.value)) e.value = 0.0;
  if (num_control_ > 0) evaluate_control(x, result);
  return result;
}

/// The rows of the requirements, out of those of the constraints, and what else control is made of.
void System::evaluate_control(std::span<const double> inputs, Evaluation& to) const {
  const Equations& eqs = equations();
  InstantValues& v = to.values;
  ControlValues& c = to.control;
  const std::vector<Eigen::Index> constraints = first_rows(m_), requirements = first_rows(num_control_, m_);
  c.A = v.A.select(requirements), c.b = v.b.tail(num_control_), c.b_size = v.b_size.tail(num_control_);
  v.A = m_ > 0 ? v.A.select(constraints) : SparseRows(0, n_);
  v.A_noise = m_ > 0 ? v.A_noise.select(constraints) : SparseRows(0, n_);
  v.b.conservativeResize(m_), v.b_noise.conservativeResize(m_), v.b_size.conservativeResize(m_);

  const std::vector<double> values = written().control(inputs);
  for (std::size_t i = 0; i < values.size() && !to.not_finite; ++i)
    if (!std::isfinite(values[i]))
      to.not_finite = explain_not_finite(written().control, static_cast<int>(i), inputs, "a number of control",
                                         place_of(eqs.control.actuators.empty() ? "control" : "actuators"));
  fill_control(eqs.control, n_, values, c);
  for (Eigen::Index i = 0; i < c.low.size() && !to.not_finite; ++i)
    if (c.low(i) > c.high(i))
      to.not_finite =
          NotFinite{{},
                    {},
                    {},
                    eqs.control.actuators[static_cast<std::size_t>(i)].place,
                    fmt::format("the limits of the actuator `{}` are {} and {} at this state: no effort is within",
                                eqs.control.actuators[static_cast<std::size_t>(i)].name, short_number(c.low(i)),
                                short_number(c.high(i)))};
}

void fill_control(const ControlEquations& control, int n, std::span<const double> numbers, ControlValues& to) {
  const auto a = static_cast<Eigen::Index>(control.actuators.size()),
             p = static_cast<Eigen::Index>(control.requirements.size());
  constexpr double infinite = std::numeric_limits<double>::infinity();
  std::size_t next = 0;
  to.rows = control.requirements;
  to.E = Eigen::MatrixXd::Zero(n, a);
  for (const auto& e : control.E.entries) to.E(e.row, e.col) = numbers[next++];
  to.low = Eigen::VectorXd::Constant(a, -infinite), to.high = Eigen::VectorXd::Constant(a, infinite);
  for (Eigen::Index i = 0; i < a; ++i)
    if (control.actuators[static_cast<std::size_t>(i)].has_low) to.low(i) = numbers[next++];
  for (Eigen::Index i = 0; i < a; ++i)
    if (control.actuators[static_cast<std::size_t>(i)].has_high) to.high(i) = numbers[next++];
  to.R.resize(a, a);
  for (Eigen::Index i = 0; i < a; ++i)
    for (Eigen::Index k = 0; k < a; ++k) to.R(i, k) = numbers[next++];
  to.weights.resize(p);
  for (double& w : to.weights) w = numbers[next++];
  to.free.resize(control.has_free ? n : 0);
  for (double& z : to.free) z = numbers[next++];
}

std::shared_ptr<const System> System::nominal() const {
  const ControlSettings& control = model().control;
  if (num_control_ == 0 || control.nominal.empty()) return nullptr;
  auto result = std::make_shared<System>(*this);
  std::vector<double> values = parameters_;
  for (const Named& p : control.nominal)
    for (std::size_t i = 0; i < model().parameters.size(); ++i)
      if (model().parameters[i].name == p.name) values[i] = evaluate_constant(p.value, model(), {parameters_});
  result->set_parameters(values);
  return result;
}

std::vector<ContactValues> System::evaluate_contacts(const State& state, std::optional<NotFinite>& not_finite) const {
  std::vector<ContactValues> result;
  if (!has_contacts()) return result;
  const std::vector<double> x = inputs(state);
  const Equations& eqs = equations();
  const std::vector<double> values = written().contacts(std::span<const double>(x));
  for (std::size_t i = 0; i < values.size() && !not_finite; ++i)
    if (!std::isfinite(values[i])) not_finite = explain_contacts(static_cast<int>(i), x);
  std::size_t next = 0;
  for (const ContactRow& c : eqs.contacts) {
    ContactValues v;
    v.row = c.row;
    v.one_sided = row(c.row).one_sided;
    v.level = row(c.row).level;
    v.restitution = values[next++];
    v.has_friction = c.has_friction;
    (c.is_force ? v.limit : v.mu) = values[next++];
    v.bare = row(c.row).bare;
    const auto k = static_cast<Eigen::Index>(c.slip.size());
    v.slip.resize(k), v.slip_b.resize(k);
    for (double& psi : v.slip) psi = values[next++];
    v.T = fill_rows(c.T, std::span<const double>(values).subspan(next));
    next += c.T.entries.size();
    for (double& b : v.slip_b) b = values[next++];
    result.push_back(std::move(v));
  }
  return result;
}

NotFinite System::explain_contacts(int output, std::span<const double> inputs) const {
  int first = 0;
  for (const ContactRow& c : equations().contacts) {
    const int end = first + 2 + static_cast<int>(2 * c.slip.size() + c.T.entries.size());
    if (output < end) {
      const Row& r = equations().rows[static_cast<std::size_t>(c.row)];
      const char* key = output == first ? "restitution" : output == first + 1 ? "friction" : "slip";
      const Place place = place_of(fmt::format("constraints.{}.{}", r.name, key));
      return explain_not_finite(written().contacts, output, inputs, fmt::format("the {} of {}", key, named(r)),
                                place.line > 0 ? place : r.place);
    }
    first = end;
  }
  return {};
}

System::Nonideal System::calc_C(const State& state, const Solution& ideal) const {
  Nonideal result;
  result.C = Eigen::VectorXd::Zero(n());
  if (!has_C_) return result;
  const Tape& nonideal = written().nonideal;
  for (const Expr& s : symbols_of(equations().C)) {
    if (s.symbol().kind != SymbolKind::multiplier) continue;
    for (const Eigen::Index i : ideal.multipliers_undetermined)
      if (row_name(static_cast<int>(i)) == s.symbol().name) result.not_unique.push_back(s.symbol().name);
  }
  if (!result.not_unique.empty()) return result;
  std::vector<double> x = inputs(state);
  if (needs_reactions_) {
    x.insert(x.end(), ideal.Qc_i.begin(), ideal.Qc_i.end());
    x.insert(x.end(), ideal.multipliers.begin(), ideal.multipliers.end());
  }
  x.resize(static_cast<std::size_t>(nonideal.num_inputs()), 0.0);
  const std::vector<double> values = nonideal(std::span<const double>(x));
  for (int i = 0; i < n(); ++i) {
    result.C(i) = values[static_cast<std::size_t>(i)];
    if (std::isfinite(result.C(i)) || result.not_finite) continue;
    Place place;
    for (const Named& c : model().nonideal)
      if (c.name == coordinate(i)) place = c.place;
    result.not_finite =
        explain_not_finite(nonideal, i, x, fmt::format("the non-ideal force on `{}`", coordinate(i)), place);
  }
  return result;
}

}  // namespace mechanician
