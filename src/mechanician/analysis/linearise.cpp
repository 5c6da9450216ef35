#include "mechanician/analysis/linearise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/instant/accelerate.hpp"

namespace mechanician {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
/// What an acceleration may come to where forces balance, as a part of what they would do one by one: a state is given with some ten
/// digits.
constexpr double balanced = 1e-9;
/// Distances to constraints, over the extent, that are left where moving onto them has come to no end.
constexpr double off_constraints = 1e-9;
/// Unknowns up to which the inverse of F_z is formed for bounds of rounding: beyond, bounds are a few eps of each entry.
constexpr int most_for_bounds = 800;

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

[[noreturn]] void refuse_name(const std::string& what, const std::string& name, const std::vector<std::string>& known) {
  const std::string near = nearest(name, known);
  throw std::invalid_argument(fmt::format("there is no {} `{}`{}", what, name,
                                          !near.empty()   ? fmt::format("; did you mean `{}`?", near)
                                          : known.empty() ? "; the model has none"
                                                          : fmt::format("; there are {}", quote_list(known))));
}

std::vector<std::string> coordinate_names(const System& system) {
  std::vector<std::string> names;
  for (int i = 0; i < std::min(system.n(), 10'000); ++i) names.push_back(system.coordinate(i));
  return names;
}

/// x, x', x'' or an output of the model.
Expr output_of(const System& system, const std::string& name) {
  const Model& model = system.model();
  for (const Named& o : model.outputs)
    if (o.name == name) return o.value;
  const std::size_t primes = name.size() - std::min(name.find_last_not_of('\'') + 1, name.size());
  const int i = system.find_coordinate(name.substr(0, name.size() - primes));
  if (i < 0 || primes > 2) {
    std::vector<std::string> known = system.output_names();
    const auto coordinates = coordinate_names(system);
    known.insert(known.end(), coordinates.begin(), coordinates.end());
    refuse_name("output or coordinate", name, known);
  }
  const Coordinate& x = model.coordinates[static_cast<std::size_t>(i)];
  return primes == 0 ? x.q() : primes == 1 ? x.qd() : x.qdd();
}

/// Whether an output is made of what a linearisation knows.
void check_output(const Equations& eqs, const std::string& name, const Expr& output) {
  constexpr KindSet known = kind_bit(SymbolKind::time) | kind_bit(SymbolKind::coordinate) |
                            kind_bit(SymbolKind::velocity) | kind_bit(SymbolKind::acceleration) |
                            kind_bit(SymbolKind::parameter);
  const bool reactions = (output.kinds() & ~known) != 0;
  for (const Expr& s : reactions ? symbols_of(std::span(&output, 1)) : std::vector<Expr>()) {
    const auto is_there = [&](const std::vector<Expr>& list) {
      return std::any_of(list.begin(), list.end(), [&](const Expr& e) { return same(e, s); });
    };
    if ((kind_bit(s.symbol().kind) & known) != 0) continue;
    if (eqs.has_C || !eqs.contacts.empty() || !(is_there(eqs.ideal) || is_there(eqs.multipliers)))
      throw std::invalid_argument(fmt::format(
          "the output `{}` uses forces that are not linearised here: with contacts or [nonideal] forces outputs are "
          "of t, coordinates, velocities, accelerations and parameters",
          name));
  }
}

/// Why there is no derivative of what control does; empty: there is one.
std::string control_not_linear(Dynamics& dynamics) {
  const EquationFacts& facts = dynamics.facts();
  const ControlEquations& control = facts.control;
  if (facts.num_constraints == facts.m || control.is_plain()) return {};
  if (control.every) return "control is sampled: between samples nothing is linear in the state";
  if (!control.nominal.empty()) return "control by a model of its own ([nominal]) is not linearised";
  if (control.has_free) return "a free control force is not linearised: give it as a force";
  if (std::any_of(control.requirements.begin(), control.requirements.end(), [](const auto& r) { return r.one_sided; }))
    return "one-sided requirements of control are not linearised";
  if (control.actuators.size() != control.requirements.size())
    return fmt::format(
        "control of {} requirements by {} actuators is not linearised: where as many push as are asked for, it is",
        control.requirements.size(), control.actuators.size());
  if (facts.needs_reactions) return "actuators beside [nonideal] forces of reactions are not linearised";
  for (std::size_t i = 0; i < dynamics.num_control_switches(); ++i)
    if (dynamics.sides()[dynamics.num_expression_switches() + i] < 0.0)
      return fmt::format("actuator `{}` is at its limit: the requirements are not met here",
                         facts.control_switches[i].name);
  return {};
}

/// Sum of entries times rows of X, a row for each row of F.
void add_product(const BoundedEntries& entries, const Eigen::MatrixXd& X, const Eigen::MatrixXd& X_noise, RowMajor& to,
                 RowMajor* noise) {
  if (X.cols() == 0) return;  // Eigen has no rows of nothing: they are pointers beside null
  const RowMajor rows = X, rows_noise = X_noise;
  for (const BoundedEntry& e : entries) {
    to.row(e.row) += e.value * rows.row(e.col);
    if (!noise) continue;
    noise->row(e.row) +=
        (e.noise + eps * std::abs(e.value)) * rows.row(e.col).cwiseAbs() + std::abs(e.value) * rows_noise.row(e.col);
  }
}

}  // namespace

struct Lineariser::Phase {
  std::optional<PhaseSystem> contacts;  ///< none: the system has none
  std::unique_ptr<Dynamics> own;
  std::unique_ptr<ImplicitEquations> equations;
  std::vector<ContactStatus> statuses;
  Eigen::MatrixXd inverse;  ///< |F_z⁻¹|, where it is formed
  Eigen::VectorXd a_size, jerk,
      jerk_size;  ///< what accelerations are the differences of; their rates, and the same of them

  Dynamics& dynamics() { return contacts ? *contacts->dynamics : *own; }
  const System& system(const System& whole) const { return contacts ? *contacts->system : whole; }
  /// |F_z⁻¹| x for x ≥ 0, or something larger.
  Eigen::VectorXd magnify(const Eigen::VectorXd& x) const {
    if (inverse.size() > 0) return inverse * x;
    return Eigen::VectorXd::Constant(x.size(), x.maxCoeff());
  }
};

Lineariser::Lineariser(const System& system, LineariseOptions options)
    : system_(system.kernels() ? std::make_shared<System>(system.model(), system.parameters(), System::Checked::already)
                               : std::make_shared<System>(system)),
      options_(std::move(options)) {
  for (const std::string& name : options_.inputs) {
    inputs_.push_back(find_parameter(*system_, name));
    if (inputs_.back() >= 0) continue;
    std::vector<std::string> known;
    for (const Parameter& p : system_->model().parameters) known.push_back(p.name);
    refuse_name("parameter", name, known);
  }
  for (const std::string& name : options_.states) {
    const bool velocity = name.ends_with('\'');
    const int i = system_->find_coordinate(velocity ? name.substr(0, name.size() - 1) : name);
    if (i < 0) refuse_name("coordinate", name, coordinate_names(*system_));
    (velocity ? wanted_v_ : wanted_).push_back(i);
  }
  for (const std::string& name : options_.outputs) {
    outputs_.push_back(output_of(*system_, name));
    check_output(system_->equations(), name, outputs_.back());
  }
}

Lineariser::~Lineariser() = default;

void Lineariser::set_parameters(std::span<const double> values) {
  system_->set_parameters(values);
  if (system_->has_contacts()) {
    phases_.clear();
    return;
  }
  for (auto& [statuses, phase] : phases_) {
    phase->dynamics().take_parameters();
    phase->equations->take_parameters();
  }
}

/// Contacts that act here as equations.
Lineariser::Phase& Lineariser::phase_of(const State& state, Linearisation& to) {
  std::vector<ContactStatus> statuses;
  std::vector<Dynamics::Sliding> sliding;
  std::vector<Contact> contacts;
  if (system_->has_contacts()) {
    contacts = accelerate(*system_, state, {.diagnose = false}).contacts;
    std::map<std::string_view, std::vector<std::string>> acting;
    std::vector<std::string> idle, brakes;
    for (const Contact& c : contacts) {
      statuses.push_back(c.acts() ? c.status : ContactStatus::open);
      const std::string name = system_->row_name(c.values.row);
      if (c.status == ContactStatus::sliding && system_->row(c.values.row).bare)
        brakes.push_back(name);
      else if (c.acts())
        acting[name_of(c.status)].push_back(name);
      if (c.acts() ? c.values.one_sided && c.normal == 0.0 : c.status != ContactStatus::open) idle.push_back(name);
    }
    for (const Contact& c : contacts)
      if (c.status == ContactStatus::sliding && c.values.slip.norm() <= c.slip_tolerance)
        to.notes.push_back(fmt::format("`{}` begins to slide: the derivatives are those of friction that does not turn",
                                       system_->row_name(c.values.row)));
    for (const auto& [status, names] : acting)
      to.notes.push_back(fmt::format("{}: {} and counted as {}", quote_list(names), status,
                                     names.size() == 1 ? "an equation" : "equations"));
    if (!brakes.empty())
      to.notes.push_back(fmt::format("{}: sliding, with a force that does not turn", quote_list(brakes)));
    if (!idle.empty())
      to.notes.push_back(fmt::format("{} without a force: deviations to the other side are not seen",
                                     quote_list(idle) + (idle.size() == 1 ? " touches" : " touch")));
  }
  auto& phase = phases_[statuses];
  if (!phase) {
    phase = std::make_unique<Phase>();
    phase->statuses = statuses;
    if (system_->has_contacts())
      phase->contacts = make_phase_system(*system_, statuses);
    else
      phase->own = std::make_unique<Dynamics>(*system_);
  }
  for (std::size_t c = 0; c < statuses.size(); ++c) {
    if (statuses[c] != ContactStatus::sliding) continue;
    Dynamics::Sliding s{.row = phase->contacts->rows[c], .num_slips = static_cast<int>(contacts[c].direction.size())};
    s.sign = !contacts[c].values.one_sided && contacts[c].normal < 0.0 ? -1.0 : 1.0;
    for (Eigen::Index k = 0; k < contacts[c].direction.size(); ++k)
      s.direction[static_cast<std::size_t>(k)] = contacts[c].direction(k);
    sliding.push_back(s);
  }
  if (!sliding.empty()) phase->dynamics().set_sliding(sliding), phase->equations.reset();
  if (!phase->equations) phase->equations = std::make_unique<ImplicitEquations>(phase->dynamics(), inputs_, outputs_);
  return *phase;
}

/// Sides, rows and the state itself, moved onto the constraints to the last digits.
bool Lineariser::choose_rows(Phase& phase, Linearisation& to, std::vector<double>& y, bool quick) const {
  Dynamics& dynamics = phase.dynamics();
  const double t = to.state.t;
  // States of first order change as their rates say, whatever was given: at rest is where these vanish.
  dynamics.set_state_rates(t, y.data());
  dynamics.take_sides(t, y.data());
  if (dynamics.num_control_switches() > 0 && dynamics.choose_rows(t, y.data())) dynamics.settle_control(t, y.data());
  const auto refuse = [&](std::string text, Place place = {}) {
    to.refusal = std::move(text), to.place = place;
    return false;
  };
  if (!dynamics.choose_rows(t, y.data())) return refuse("the equations have no finite value here, or no mass matrix");
  if (dynamics.is_weighed())
    return refuse("measured constraints that depend on others: what weights do to them is not linearised");
  const System& system = phase.system(*system_);
  if (const std::string why = control_not_linear(dynamics); !why.empty()) return refuse(why);
  const auto generic = quick ? EquationValues::GenericRank{} : dynamics.values().find_generic_rank(to.state);
  const auto& kept = dynamics.rows_that_act();
  if (generic.rank && *generic.rank > static_cast<int>(kept.size())) {
    std::vector<std::string> lost;
    Place place;
    for (int j = 0; j < system.m(); ++j)
      if (!std::binary_search(kept.begin(), kept.end(), j))
        lost.push_back(system.row_name(j)), place = place.line > 0 ? place : system.row(j).place;
    return refuse(
        fmt::format("a singular configuration: the constraints have rank {} here and {} near by (here {} {} on "
                    "the others); there is no linear motion at a point where branches meet",
                    kept.size(), *generic.rank, quote_list(lost), lost.size() == 1 ? "depends" : "depend"),
        place);
  }
  // What is on the constraints up to rounding stays as it is given: zeros stay zeros.
  if (!kept.empty() && dynamics.calc_violation(t, y.data()).scaled > 16.0 * eps) {
    dynamics.project(t, y.data());
    if (!dynamics.choose_rows(t, y.data()) || !(dynamics.calc_violation(t, y.data()).scaled <= off_constraints))
      return refuse("no state on the constraints is found next to this one");
  }
  // On a kink there are two derivatives.
  std::vector<double> g(dynamics.sides().size()), noise(g.size());
  if (!g.empty() && dynamics.calc_switches(t, y.data(), g)) {
    dynamics.calc_switch_noise(t, y.data(), noise);
    for (std::size_t k = 0; k < g.size(); ++k) {
      if (!(std::abs(g[k]) <= noise[k])) continue;
      const SwitchFacts& s = dynamics.switches()[k];
      to.notes.push_back(fmt::format("{} switches here: the derivatives are those of one side{}", s.text,
                                     s.is_discontinuous ? ", and a value jumps" : ""));
      if (s.is_discontinuous) to.jumps.push_back(s.text);
    }
  }
  return true;
}

/// An input may act on forces and on rows whose velocities follow it at once.
bool Lineariser::refuse_inputs(const Phase& phase, const TangentSpace& space, Linearisation& to) const {
  const ImplicitEquations& eqs = *phase.equations;
  const System& system = phase.system(*system_);
  const auto refuse = [&](int row, int input, const char* why) {
    to.refusal =
        fmt::format("the input `{}` moves the constraint `{}`: {}; an input may be in forces, or in rates of states",
                    options_.inputs[static_cast<std::size_t>(input)], system.row_name(row), why);
    to.place = system.row(row).place;
    return true;
  };
  if (!eqs.moved_rows().empty())
    return refuse(eqs.moved_rows().front().row, eqs.moved_rows().front().col,
                  "its velocity and acceleration would be inputs too");
  // ψ_u u̇ in the row of accelerations: does anything but the acceleration that follows depend on it?
  for (const BoundedEntry& e : eqs.rate(ImplicitEquations::by_inputs)) {
    if (e.value == 0.0) continue;
    std::vector<double> r(static_cast<std::size_t>(eqs.num_unknowns()), 0.0);
    r[static_cast<std::size_t>(eqs.n() + e.row)] = e.value;
    eqs.solve(r.data());
    double size = 0.0, seen = 0.0;
    for (int i = 0; i < eqs.n(); ++i) size = std::max(size, std::abs(r[static_cast<std::size_t>(i)]));
    for (const int j : space.velocities) seen = std::max(seen, std::abs(r[static_cast<std::size_t>(j)]));
    for (const BoundedEntry& o : eqs.output(ImplicitEquations::by_unknowns))
      seen = std::max(seen, std::abs(o.value * r[static_cast<std::size_t>(o.col)]));
    if (seen > 1e-10 * size) return refuse(e.row, e.col, "accelerations would depend on its rate");
  }
  return false;
}

void Lineariser::fill(const Phase& phase, const TangentSpace& space, Linearisation& to) const {
  const ImplicitEquations& eqs = *phase.equations;
  const Eigen::Index n = eqs.n(), size = eqs.num_unknowns(), p = static_cast<Eigen::Index>(space.positions.size()),
                     v = static_cast<Eigen::Index>(space.velocities.size()), s = p + v,
                     inputs = static_cast<Eigen::Index>(inputs_.size()), all = s + inputs;
  const bool with_bounds = size <= most_for_bounds;
  RowMajor right = RowMajor::Zero(size, all), noise = RowMajor::Zero(with_bounds ? size : 0, all);
  add_product(eqs.F(ImplicitEquations::by_q), space.q, space.q_noise, right, with_bounds ? &noise : nullptr);
  add_product(eqs.F(ImplicitEquations::by_qd), space.qd, space.qd_noise, right, with_bounds ? &noise : nullptr);
  for (const BoundedEntry& e : eqs.F(ImplicitEquations::by_inputs)) right(e.row, s + e.col) += e.value;
  const Eigen::MatrixXd noise_by_q = noise.topLeftCorner(with_bounds ? n : 0, p);

  // δz of each column.
  Eigen::MatrixXd z = -right;
  for (Eigen::Index c = 0; c < all; ++c) eqs.solve(z.col(c).data());
  Eigen::MatrixXd z_noise;
  if (with_bounds && all > 0) {
    for (const BoundedEntry& e : eqs.F(ImplicitEquations::by_unknowns))
      noise.row(e.row) += (e.noise + eps * std::abs(e.value)) * z.row(e.col).cwiseAbs();
    const Eigen::MatrixXd wrong = noise;
    z_noise = phase.inverse * wrong;
  } else {
    z_noise = 8.0 * eps * z.cwiseAbs();
  }

  to.A.resize(s, s), to.A_noise.resize(s, s), to.B.resize(s, inputs);
  for (Eigen::Index r = 0; r < s; ++r) {
    const bool of_position = r < p;
    const Eigen::Index i =
        of_position ? space.positions[static_cast<std::size_t>(r)] : space.velocities[static_cast<std::size_t>(r - p)];
    const auto& values = of_position ? space.qd : z;
    const auto& bounds = of_position ? space.qd_noise : z_noise;
    to.A.row(r) = values.row(i).head(s), to.A_noise.row(r) = bounds.row(i).head(s);
    if (inputs > 0) to.B.row(r) = values.row(i).tail(inputs);
  }
  to.q = space.q.leftCols(s), to.qd = space.qd.leftCols(s);
  to.q_inputs = space.q.rightCols(inputs);

  const auto outputs = static_cast<Eigen::Index>(outputs_.size());
  RowMajor by_all = RowMajor::Zero(outputs, all);
  add_product(eqs.output(ImplicitEquations::by_q), space.q, space.q_noise, by_all, nullptr);
  add_product(eqs.output(ImplicitEquations::by_qd), space.qd, space.qd_noise, by_all, nullptr);
  add_product(eqs.output(ImplicitEquations::by_unknowns), z, z_noise, by_all, nullptr);
  for (const BoundedEntry& e : eqs.output(ImplicitEquations::by_inputs)) by_all(e.row, s + e.col) += e.value;
  to.C.resize(outputs, s), to.D.resize(outputs, inputs);
  if (outputs > 0) to.C = by_all.leftCols(s), to.D = by_all.rightCols(inputs);
  to.outputs = Eigen::Map<const Eigen::VectorXd>(eqs.outputs().data(), outputs);

  if (p > 0 && space.positions == space.velocities) {
    RowMajor MT = RowMajor::Zero(n, p), MT_noise = MT;
    const RowMajor T = space.q.leftCols(p), T_noise = space.q_noise.leftCols(p);
    for (const BoundedEntry& e : eqs.F(ImplicitEquations::by_unknowns)) {
      if (e.row >= n || e.col >= n) continue;
      MT.row(e.row) -= e.value * T.row(e.col);
      MT_noise.row(e.row) +=
          (e.noise + eps * std::abs(e.value)) * T.row(e.col).cwiseAbs() + std::abs(e.value) * T_noise.row(e.col);
    }
    const Eigen::MatrixXd left = T.transpose(), left_abs = left.cwiseAbs(),
                          left_noise = eps * left_abs + T_noise.transpose(), of_mass = MT,
                          of_force = right.topRows(n).leftCols(p);
    const Eigen::MatrixXd mass_noise = MT_noise;
    Eigen::MatrixXd force_noise = 8.0 * eps * of_force.cwiseAbs();
    if (with_bounds) force_noise = noise_by_q;
    to.M = left * of_mass, to.M_noise = left_abs * mass_noise + left_noise * of_mass.cwiseAbs();
    to.K = -(left * of_force), to.K_noise = left_abs * force_noise + left_noise * of_force.cwiseAbs();
    to.force_size = left_abs * Eigen::Map<const Eigen::VectorXd>(eqs.sizes().data(), n);
  }
}

/// How fast accelerations change, and what they and this are small against.
void Lineariser::find_rates(Phase& phase, const std::vector<double>& y) const {
  const ImplicitEquations& eqs = *phase.equations;
  const int n = eqs.n();
  const Eigen::Index size = eqs.num_unknowns();
  phase.inverse.resize(0, 0);
  if (size <= most_for_bounds) {
    phase.inverse.setIdentity(size, size);
    for (Eigen::Index c = 0; c < size; ++c) eqs.solve(phase.inverse.col(c).data());
    phase.inverse = phase.inverse.cwiseAbs().eval();
  }
  const Eigen::Map<const Eigen::VectorXd> sizes(eqs.sizes().data(), size);
  phase.a_size = phase.magnify(sizes);
  phase.jerk = Eigen::VectorXd::Zero(size);
  Eigen::VectorXd terms = phase.jerk;
  // Accelerations that balance are rounding, and so is what they do.
  const auto add = [&](ImplicitEquations::Part part, const double* x) {
    for (const BoundedEntry& e : eqs.F(part)) {
      const double x_size = std::abs(x[e.col]) + (part == ImplicitEquations::by_qd ? phase.a_size(e.col) : 0.0);
      phase.jerk(e.row) -= e.value * x[e.col];
      terms(e.row) += (std::abs(e.value) + e.noise / balanced) * x_size;
    }
  };
  const double one = 1.0;
  add(ImplicitEquations::by_q, y.data() + n), add(ImplicitEquations::by_qd, eqs.unknowns().data());
  add(ImplicitEquations::by_t, &one);
  eqs.solve(phase.jerk.data());
  phase.jerk_size = phase.magnify(terms) + phase.a_size;
}

/// Rest, a steady motion, or neither.
void Lineariser::judge(const Phase& phase, const std::vector<double>& y, Linearisation& to) const {
  const ImplicitEquations& eqs = *phase.equations;
  const int n = eqs.n();
  const double *q = y.data(), *qd = q + n, *qdd = eqs.unknowns().data();
  const auto p = to.positions.size(), v = to.velocities.size();
  to.qdd = Eigen::Map<const Eigen::VectorXd>(qdd, n);
  to.qdd_size = phase.a_size.head(n);
  to.multipliers = Eigen::VectorXd::Zero(system_->m());
  for (int j = 0; j < eqs.num_constraints(); ++j) {
    const int row = phase.contacts ? phase.contacts->row_of[static_cast<std::size_t>(j)] : j;
    if (row >= 0) to.multipliers(row) = eqs.unknowns()[static_cast<std::size_t>(n + j)];
  }
  to.drift.resize(static_cast<Eigen::Index>(p + v));
  for (std::size_t k = 0; k < p; ++k) to.drift(static_cast<Eigen::Index>(k)) = qd[to.positions[k]];
  for (std::size_t k = 0; k < v; ++k) to.drift(static_cast<Eigen::Index>(p + k)) = qdd[to.velocities[k]];

  double extent = 0.0;
  for (int i = 0; i < n; ++i) extent = std::max(extent, std::abs(q[i]));
  bool rests = true, is_steady = true;
  for (const int i : to.positions) rests &= std::abs(qd[i]) <= balanced * std::sqrt(phase.a_size(i) * extent);
  for (const int i : to.velocities) rests &= std::abs(qdd[i]) <= balanced * phase.a_size(i);
  // States that nothing depends on but others of that kind (where a wheel is, where it heads) may change as they like.
  std::vector<char> counts(p + v, 1);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t j = 0; j < p + v; ++j) {
      const auto acts = [&](std::size_t i) {
        const auto r = static_cast<Eigen::Index>(i), c = static_cast<Eigen::Index>(j);
        return counts[i] && std::abs(to.A(r, c)) > 4.0 * to.A_noise(r, c);
      };
      bool any = false;
      for (std::size_t i = 0; counts[j] && !any && i < p + v; ++i) any = acts(i);
      if (counts[j] && !any) counts[j] = 0, changed = true;
    }
  }
  for (std::size_t k = 0; k < p; ++k)
    if (const int i = to.positions[k]; counts[k]) is_steady &= std::abs(qdd[i]) <= balanced * phase.a_size(i);
  for (std::size_t k = 0; k < v; ++k) {
    const int i = to.velocities[k];
    is_steady &= std::abs(qdd[i]) <= balanced * phase.a_size(i);
    if (counts[p + k]) is_steady &= std::abs(phase.jerk(i)) <= balanced * phase.jerk_size(i);
  }
  to.at = rests ? Linearisation::At::rest : is_steady ? Linearisation::At::steady : Linearisation::At::moving;
}

Linearisation Lineariser::at(const State& given, bool quick) {
  Linearisation to;
  to.state = given;
  const auto n = static_cast<std::size_t>(system_->n());
  if (2 * n > static_cast<std::size_t>(most_states) + 2 * static_cast<std::size_t>(system_->m())) {
    to.refusal = fmt::format(
        "{} coordinates: matrices are dense and made up to {} states; a model of fewer members, "
        "for example --set N=100, tells the lowest modes",
        n, most_states);
    return to;
  }
  Phase& phase = phase_of(given, to);
  Dynamics& dynamics = phase.dynamics();
  std::vector<double> y(static_cast<std::size_t>(dynamics.size()), 0.0);
  std::copy(given.q.begin(), given.q.end(), y.begin());
  std::copy(given.qd.begin(), given.qd.end(), y.begin() + given.q.size());
  if (!choose_rows(phase, to, y, quick)) return to;
  std::copy_n(y.begin(), n, to.state.q.begin()),
      std::copy_n(y.begin() + static_cast<std::ptrdiff_t>(n), n, to.state.qd.begin());
  to.depends_on_time = dynamics.facts().depends_on_time;

  ImplicitEquations& eqs = *phase.equations;
  std::vector<int> kept = dynamics.rows_that_act();
  for (int j = dynamics.num_constraints(); j < eqs.m(); ++j) kept.push_back(j);
  if (!eqs.evaluate(given.t, y.data(), kept)) {
    to.refusal = "a derivative of the equations has no finite value here, or the accelerations are not determined";
    return to;
  }
  std::vector<char> has_mass(n, 0);
  for (const BoundedEntry& e : eqs.F(ImplicitEquations::by_unknowns))
    if (e.row < eqs.n() && e.row == e.col && e.value != 0.0) has_mass[static_cast<std::size_t>(e.row)] = 1;
  find_rates(phase, y);
  std::vector<char> idle(n, 1);
  for (const auto* entries : {&eqs.F(ImplicitEquations::by_q), &eqs.rate(ImplicitEquations::by_q)})
    for (const BoundedEntry& e : *entries)
      if (std::abs(e.value) > e.noise) idle[static_cast<std::size_t>(e.col)] = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    if (idle[i] && (std::abs(eqs.unknowns()[i]) > balanced * phase.a_size(k) ||
                    std::abs(phase.jerk(k)) > balanced * phase.jerk_size(k)))
      idle[i] = 2;
  }
  std::vector<int> nonholonomic;
  const auto& facts = dynamics.facts();
  for (const int j : dynamics.velocities.candidates)
    if (facts.rows[static_cast<std::size_t>(j)].level == Level::velocity &&
        !dynamics.rows_off()[static_cast<std::size_t>(j)])
      nonholonomic.push_back(j);
  const TangentSpace space = find_tangent_space(eqs, {.positions = dynamics.positions.kept,
                                                      .nonholonomic = nonholonomic,
                                                      .rank = static_cast<int>(dynamics.velocities.kept.size()),
                                                      .units = dynamics.factors().typical_units(),
                                                      .has_mass = has_mass,
                                                      .idle = idle,
                                                      .wanted = wanted_,
                                                      .wanted_v = wanted_v_,
                                                      .num_inputs = static_cast<int>(inputs_.size())});
  if (space.not_independent >= 0) {
    to.refusal = fmt::format("--states: `{}{}` is not independent of the other states that are asked for here",
                             system_->coordinate(space.not_independent), space.not_independent_v ? "'" : "");
    return to;
  }
  if (!options_.quasi_static && refuse_inputs(phase, space, to)) return to;
  to.positions = space.positions, to.velocities = space.velocities;
  for (const int i : space.positions) to.states.push_back(system_->coordinate(i));
  for (const int i : space.velocities) to.states.push_back(system_->coordinate(i) + "'");
  fill(phase, space, to);
  judge(phase, y, to);
  return to;
}

}  // namespace mechanician
