// Control in the equations of motion (theory: Control).
//
// The rows of requirements are no rows of the factors: those hold the constraints. With N f what a force does under them (respond),
// the programme of solve/control.hpp has as many unknowns as there are actuators or requirements. What acts of it, limits and one-sided
// requirements, is held through a step like the sides of kinks (SwitchWatch), so that f is smooth; the functions that tell where it
// turns are those that would turn it: the effort of an actuator if it were not at its limit, the requirement if it did not act.

#include <algorithm>
#include <cmath>
#include <utility>

#include "mechanician/motion/dynamics.hpp"
#include "mechanician/motion/kernels.hpp"
#include "mechanician/solve/limit_pulls.hpp"

namespace mechanician {

namespace {
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// What may be missing of a requirement that must be met, over the sizes of its terms.
constexpr double met = 1e-6;
}  // namespace

Dynamics::Believed::Believed(const Believed& other)
    : system(other.system), dynamics(other.dynamics ? std::make_unique<Dynamics>(*other.dynamics) : nullptr) {}
Dynamics::Believed& Dynamics::Believed::operator=(Believed other) noexcept {
  system = std::move(other.system), dynamics = std::move(other.dynamics);
  return *this;
}
Dynamics::Believed::~Believed() = default;

const ControlMode& Dynamics::mode_of_sides() {
  ControlMode& mode = control_.mode;
  mode.at_limit.assign(facts().control.actuators.size(), 0);
  mode.held.assign(std::max(facts().control.requirements.size(), control_.stage.programme.rows.size()), 0);
  const std::size_t first = num_expression_switches();
  for (std::size_t i = 0; i < num_control_switches(); ++i) {
    if (sides()[first + i] > 0.0) continue;
    const EquationFacts::ControlSwitch& s = facts().control_switches[i];
    if (s.actuator >= 0)
      mode.at_limit[static_cast<std::size_t>(s.actuator)] = s.upper ? 1 : -1;
    else
      mode.held[static_cast<std::size_t>(s.requirement)] = 1;
  }
  return mode;
}

/// The programme at the state of the last evaluate(), whose acceleration without control is in qdd_.
bool Dynamics::prepare_control(double t, const double* y, const RespondTo& respond_to, const SolveWith& solve_with) {
  ControlRoom& c = control_;
  const EquationValues::Numbers v = values_->numbers();
  std::span<const double> numbers;
  if (!values_->calc_control(point_of(t, y), numbers)) return false;
  fill_control(facts().control, n_, numbers, c.values);
  const Index count = m_ - num_constraints_;
  c.A.setZero(count, n_);
  c.values.b.resize(count);
  for (Index j = 0; j < count; ++j) {
    each_entry(num_constraints_ + static_cast<int>(j), [&](int i, double a) { c.A(j, i) = a; });
    c.values.b(j) = v.b[num_constraints_ + j];
  }
  c.values.b_size = c.values.b.cwiseAbs();
  const bool actuators = c.values.E.cols() > 0;
  if (actuators)
    c.F = c.values.E;
  else
    c.F = c.A.transpose();
  c.units.resize(n_);
  factors_->calc_units(matrices(), c.units.data());
  c.X.resize(n_, c.F.cols());
  for (Index k = 0; k < c.F.cols(); ++k)
    if (!respond_to(c.F.col(k).data(), c.X.col(k).data())) return false;
  c.qdd = Eigen::Map<const VectorXd>(qdd_.data(), n_);
  // Where reactions feel what actuators do, C and friction among them, differences tell; the answer is brought home by repeating it.
  if (actuators && (facts().needs_reactions || !sliding_.empty())) {
    double force = 0.0;
    for (int i = 0; i < n_; ++i) force = std::max(force, std::abs(v.Q[i]));
    times_mass(c.qdd, c.u);
    force = std::max(force, c.u.cwiseAbs().maxCoeff());
    if (!(force > 0.0))
      force = 1.0;  // nothing moves yet: forces are linear in efforts but for C, which is brought home below
    if (c.tau.size() != c.F.cols()) c.tau = VectorXd::Zero(c.F.cols());
    c.u = c.F * c.tau;
    if (!solve_with(c.u.data())) return false;
    const VectorXd here = Eigen::Map<const VectorXd>(qdd_.data(), n_);
    for (Index k = 0; k < c.F.cols(); ++k) {
      const double step = 1e-3 * force / std::max(c.F.col(k).cwiseAbs().maxCoeff(), 1e-300);
      const VectorXd moved = c.u + step * c.F.col(k);
      if (!solve_with(moved.data())) return false;
      c.X.col(k) = (Eigen::Map<const VectorXd>(qdd_.data(), n_) - here) / step;
    }
    c.qdd = here - c.X * c.tau;
  }
  make_control_stage(c.values, c.A, c.X, c.qdd, c.qdd.cwiseAbs(), c.units, c.stage);
  return true;
}

void Dynamics::times_mass(const VectorXd& x, VectorXd& f) const {
  const EquationValues::Numbers v = values_->numbers();
  f.setZero(n_);
  const std::vector<SparseEntry>& M = facts().pattern.M;
  for (std::size_t k = 0; k < M.size(); ++k) {
    const auto [i, j] = M[k];
    f(i) += v.M[k] * x(j);
    if (i != j) f(j) += v.M[k] * x(i);
  }
}

/// Every coordinate can be forced, and all requirements are alike: S μ = r with S = A₂ N A₂ᵀ, and no memory is asked for. False: they are
/// not clearly independent of each other and of the constraints.
bool Dynamics::add_plain_control(const double* y, const RespondTo& respond_to) {
  ControlRoom& c = control_;
  const EquationValues::Numbers v = values_->numbers();
  const Index count = m_ - num_constraints_;
  c.A.setZero(count, n_), c.X.resize(n_, count), c.S.resize(count, count), c.mu.resize(count), c.units.resize(n_);
  c.delta.setZero(n_);
  Eigen::Map<VectorXd> qdd(qdd_.data(), n_);
  c.F.setZero(n_, count);
  for (Index j = 0; j < count; ++j)
    each_entry(num_constraints_ + static_cast<int>(j), [&](int i, double a) { c.A(j, i) = c.F(i, j) = a; });
  factors_->calc_units(matrices(), c.units.data());
  for (Index j = 0; j < count; ++j)
    if (!respond_to(c.F.col(j).data(), c.X.col(j).data())) return false;
  // S = L D Lᵀ, L below the diagonal and D on it.
  constexpr double clearly = 1e-8;
  for (Index j = 0; j < count; ++j) {
    for (Index k = 0; k <= j; ++k) {
      double s = 0.0;
      for (int i = 0; i < n_; ++i) s += c.A(j, i) * c.X(i, k);
      for (Index i = 0; i < k; ++i) s -= c.S(j, i) * c.S(k, i) * c.S(i, i);
      c.S(j, k) = k < j ? s / c.S(k, k) : s;
    }
    double size = 0.0;
    for (int i = 0; i < n_; ++i) size += c.A(j, i) * c.units(i) * c.A(j, i) * c.units(i);
    if (!(c.S(j, j) > clearly * size)) return false;
  }
  for (int round = 0; round < 2; ++round) {  // and once more, for the last digits
    for (Index j = 0; j < count; ++j) {
      double r = v.b[num_constraints_ + j];
      for (int i = 0; i < n_; ++i) r -= c.A(j, i) * (qdd(i) + c.delta(i));
      for (Index k = 0; k < j; ++k) r -= c.S(j, k) * c.mu(k);
      c.mu(j) = r;
    }
    for (Index j = 0; j < count; ++j) c.mu(j) /= c.S(j, j);
    for (Index j = count - 1; j >= 0; --j)
      for (Index k = j + 1; k < count; ++k) c.mu(j) -= c.S(k, j) * c.mu(k);
    for (Index j = 0; j < count; ++j)
      for (int i = 0; i < n_; ++i) c.delta(i) += c.X(i, j) * c.mu(j);
  }
  times_mass(c.delta, c.u);
  c.cost = c.delta.dot(c.u);
  c.power = 0.0;
  for (int i = 0; i < n_; ++i) c.power += y[n_ + i] * c.u(i), qdd(i) += c.delta(i);
  return kernels::all_finite(n_, qdd_.data());
}

bool Dynamics::add_control(double t, const double* y, const RespondTo& respond_to, const SolveWith& solve_with) {
  ControlRoom& c = control_;
  c.missed = c.carries = false;
  if (facts().control.is_plain() && add_plain_control(y, respond_to)) return carry_by_force(y, solve_with);
  const bool actuators = !facts().control.actuators.empty();
  const Eigen::Map<const VectorXd> qd(y + n_, n_);
  Eigen::Map<VectorXd> qdd(qdd_.data(), n_);
  const bool held = !held_control.empty() && held_control.front() != 0.0;
  if (!facts().control.nominal.empty() && !c.alone && !held) {
    if (!believe(t, y)) return false;
    if (actuators) {
      // They do what they are told, within the limits that they have.
      std::span<const double> numbers;
      if (!values_->calc_control(point_of(t, y), numbers)) return false;
      fill_control(facts().control, n_, numbers, c.values);
      c.tau = c.tau.cwiseMax(c.values.low).cwiseMin(c.values.high);
      c.u = c.values.E * c.tau;
      c.cost = c.tau.dot(c.values.R * c.tau);
      c.powers = c.tau.cwiseProduct(c.values.E.transpose() * qd);
    }
    c.power = qd.dot(c.u);
    return solve_with(c.u.data());
  }
  if (held) {
    // What was found at the last sample; actuators push along with the state.
    const Eigen::Map<const VectorXd> kept(held_control.data() + 1, std::ssize(held_control) - 1);
    (actuators ? c.tau : c.u) = kept;
    if (actuators) {
      std::span<const double> numbers;
      if (!values_->calc_control(point_of(t, y), numbers)) return false;
      fill_control(facts().control, n_, numbers, c.values);
      c.u = c.values.E * c.tau;
    }
    set_control_powers(y);
    return solve_with(c.u.data());
  }
  const bool reacts = actuators && (facts().needs_reactions || !sliding_.empty());
  const bool searches = facts().control.every || !facts().control.nominal.empty();
  for (int round = 0;; ++round) {
    const VectorXd before = c.tau;
    if (!prepare_control(t, y, respond_to, solve_with)) return false;
    const ControlProgramme& p = c.stage.programme;
    const VectorXd solution = searches ? solve_control(p).y : solve_control_mode(p, mode_of_sides());
    c.delta = c.stage.space.D * solution;
    c.tau = c.stage.space.T * solution;
    bool refused = false;
    note_missed(solution, refused);
    if (refused) return false;
    if (!reacts) break;
    // Efforts that go to zero are known up to rounding of the forces beside them.
    const double of_forces = 1e-13 * Eigen::Map<const VectorXd>(values_->numbers().Q, n_).cwiseAbs().maxCoeff() /
                             std::max(c.F.cwiseAbs().maxCoeff(), 1e-300);
    if (before.size() == c.tau.size() && (c.tau - before).norm() <= 1e-11 * (c.tau.norm() + before.norm()) + of_forces)
      break;
    if (round == 20) return false;
  }
  if (actuators) {
    c.u = c.values.E * c.tau;
    c.cost = c.tau.dot(c.values.R * c.tau);
    set_control_powers(y);
    return solve_with(c.u.data()) && carry_by_actuators(y, solve_with);
  }
  const auto times_M = [&](const VectorXd& x) {
    VectorXd f;
    times_mass(x, f);
    return f;
  };
  if (c.values.free.size() > 0) {
    // The free force, less what requirements would feel of it; constraints take up what they do.
    VectorXd felt(n_);
    if (!respond_to(c.values.free.data(), felt.data())) return false;
    const VectorXd across = c.stage.space.D * (c.stage.space.T.transpose() * (c.A * felt));
    c.u = times_M(c.delta - across) + c.values.free;
    c.delta += felt - across;
    c.cost = c.delta.dot(times_M(c.delta));
    set_control_powers(y);
    return solve_with(c.u.data()) && carry_by_force(y, solve_with);
  }
  // Constraints do not feel it: only q̈ changes.
  c.u = times_M(c.delta);
  c.cost = c.delta.dot(c.u);
  set_control_powers(y);
  qdd += c.delta;
  return kernels::all_finite(n_, qdd_.data()) && carry_by_force(y, solve_with);
}

void Dynamics::set_control_powers(const double* y) {
  ControlRoom& c = control_;
  const Eigen::Map<const VectorXd> qd(y + n_, n_);
  c.power = qd.dot(c.u);
  if (c.values.E.cols() > 0) c.powers = c.tau.cwiseProduct(c.values.E.transpose() * qd);
}

/// What must be met is met, or limits or contacts are in the way.
void Dynamics::note_missed(const VectorXd& solution, bool& refused) {
  ControlRoom& c = control_;
  const ControlProgramme& p = c.stage.programme;
  const bool limited = !facts().control.actuators.empty() && facts().control.has_limits();
  const VectorXd missing = p.r - p.G * solution;
  const auto count = static_cast<Index>(facts().control.requirements.size());
  const int first = std::min_element(p.rows.begin(), p.rows.begin() + count, [](const auto& a, const auto& b) {
                      return a.priority < b.priority;
                    })->priority;
  c.missed = false;
  for (Index j = 0; j < count; ++j) {
    const ControlProgramme::Row& row = p.rows[static_cast<std::size_t>(j)];
    const double left = row.one_sided ? std::max(0.0, missing(j)) : std::abs(missing(j));
    if (!(left > met * (p.r_size(j) + p.size(j) * solution.norm()))) continue;
    c.missed = true;
    const bool must = row.priority == first && row.weight == 0.0 && !row.one_sided;
    refused |= must && !control_may_miss && !limited;
  }
}

// Contacts that control keeps closed: the force with them as equations would have them pull, and without them would close them. Before all
// requirements comes that they carry nothing.

/// Of all efforts that do not have them pull the ones of least cost: λ is linear in τ, by differences.
bool Dynamics::carry_by_actuators(const double* y, const SolveWith& solve_with) {
  if (carried_.empty()) return true;
  ControlRoom& c = control_;
  const auto count = static_cast<Index>(carried_.size());
  const auto multipliers = [&] {
    const std::vector<double>& all_of = calc_joint_multipliers();
    VectorXd lambda(count);
    for (Index j = 0; j < count; ++j)
      lambda(j) = all_of[static_cast<std::size_t>(carried_[static_cast<std::size_t>(j)])];
    return lambda;
  };
  VectorXd lambda = multipliers();
  c.carries = lambda.maxCoeff() <= 0.0;
  if (!(lambda.minCoeff() < 0.0)) return true;
  const double force = std::max({lambda.cwiseAbs().maxCoeff(), c.u.cwiseAbs().maxCoeff(), 1e-300});
  MatrixXd L(count, c.F.cols());
  for (Index k = 0; k < c.F.cols(); ++k) {
    const double step = force / std::max(c.F.col(k).cwiseAbs().maxCoeff(), 1e-300);
    const VectorXd moved = c.u + step * c.F.col(k);
    if (!solve_with(moved.data())) return false;
    L.col(k) = (multipliers() - lambda) / step;
  }
  ControlProgramme& p = c.stage.programme;
  const Index rows = p.G.rows();
  const int first = std::min_element(p.rows.begin(), p.rows.end(), [](const auto& a, const auto& b) {
                      return a.priority < b.priority;
                    })->priority;
  std::vector<Index> pulling;
  for (Index j = 0; j < count; ++j)
    if (lambda(j) < 0.0) pulling.push_back(j);
  const Index all_rows = rows + std::ssize(pulling);
  p.G.conservativeResize(all_rows, Eigen::NoChange);
  for (VectorXd* x : {&p.r, &p.size, &p.r_size}) x->conservativeResize(all_rows);
  for (const Index j : pulling) {
    const auto row = static_cast<Index>(p.rows.size());
    p.rows.push_back({first - 1, false, 0.0});
    p.G.row(row) = L.row(j) * p.T;
    p.size(row) = (L.row(j).cwiseAbs() * p.T.cwiseAbs()).norm();
  }
  constexpr int most = 20;
  for (int round = 0; round < most; ++round) {
    for (std::size_t i = 0; i < pulling.size(); ++i) {
      const Index row = rows + static_cast<Index>(i), j = pulling[i];
      p.r(row) = L.row(j).dot(c.tau) - lambda(j);
      p.r_size(row) = std::abs(lambda(j)) + L.row(j).cwiseAbs().dot(c.tau.cwiseAbs());
    }
    const VectorXd solution = solve_control_mode(p, mode_of_sides());
    bool refused = false;
    note_missed(solution, refused);
    c.tau = c.stage.space.T * solution;
    c.u = c.values.E * c.tau;
    if (!solve_with(c.u.data())) return false;
    lambda = multipliers();
    double left = 0.0;
    for (const Index j : pulling) left = std::max(left, std::abs(lambda(j)));
    if (left <= 1e-12 * force) break;
  }
  c.cost = c.tau.dot(c.values.R * c.tau);
  set_control_powers(y);
  return true;
}

/// Every coordinate can be forced: what they would pull with, and what other constraints do because of it, is a part of the force. The
/// acceleration stays what it is. With A x = g on these rows and zero on others, M x = Aᵀλ: K of λ = K g on these rows is found column by column.
bool Dynamics::carry_by_force(const double* y, const SolveWith& solve_with) {
  if (carried_.empty()) return true;
  ControlRoom& c = control_;
  const std::vector<double>& lambda = calc_joint_multipliers();
  std::vector<std::size_t> pulling;
  c.carries = true;
  for (const int j : carried_) {
    if (lambda[static_cast<std::size_t>(j)] < 0.0) pulling.push_back(static_cast<std::size_t>(j));
    if (lambda[static_cast<std::size_t>(j)] > 0.0) c.carries = false;
  }
  if (pulling.empty()) return true;
  if (generally_) return false;
  const auto count = static_cast<Index>(pulling.size());
  VectorXd pull(count), zero = VectorXd::Zero(n_), g = VectorXd::Zero(m_), x(n_), of(m_);
  for (Index i = 0; i < count; ++i) pull(i) = lambda[pulling[static_cast<std::size_t>(i)]];
  MatrixXd K(count, count);
  for (Index i = 0; i < count; ++i) {
    const auto row = static_cast<Index>(pulling[static_cast<std::size_t>(i)]);
    g(row) = 1.0;
    if (!respond(zero.data(), g.data(), x.data(), of.data())) return false;
    g(row) = 0.0;
    for (Index k = 0; k < count; ++k) K(k, i) = of(static_cast<Index>(pulling[static_cast<std::size_t>(k)]));
  }
  const VectorXd opening = K.partialPivLu().solve(pull);
  for (Index i = 0; i < count; ++i) g(static_cast<Index>(pulling[static_cast<std::size_t>(i)])) = opening(i);
  if (!respond(zero.data(), g.data(), x.data(), of.data())) return false;
  VectorXd force;
  times_mass(x, force);
  c.u += force;
  c.cost += pull.dot(opening);
  set_control_powers(y);
  return solve_with(c.u.data());
}

/// The force that the controller takes for right, by the system it believes in.
bool Dynamics::believe(double t, const double* y) {
  if (believes) {
    const Instant found = believes({t, Eigen::Map<const VectorXd>(y, n_), Eigen::Map<const VectorXd>(y + n_, n_)});
    if (!found.has_acceleration() || !found.control) return false;
    control_.u = found.solution.Q_control, control_.tau = found.control->tau, control_.cost = found.control->cost;
    return true;
  }
  if (!believed_.dynamics) {
    believed_.system = written()->system().nominal();
    believed_.dynamics = std::make_unique<Dynamics>(*believed_.system);
    believed_.dynamics->control_.alone = true;
    if (!absent().empty()) believed_.dynamics->set_absent(absent());
  }
  Dynamics& d = *believed_.dynamics;
  std::copy(sides().begin(), sides().end(), d.sides().begin());
  d.set_sliding(sliding_);
  if (!d.choose_rows(t, y) || !d.rhs_by_factors(t, y, d.scratch_.data())) return false;
  // Reactions that it believes in may be on other sides of kinks than those that there are.
  constexpr int most = 8;
  std::vector<double> g(d.facts().needs_reactions ? d.num_expression_switches() : 0);
  bool turned = !g.empty();
  for (int round = 0; turned && round < most; ++round) {
    turned = false;
    if (!d.calc_switches(t, y, g)) return false;
    for (std::size_t i = 0; i < g.size(); ++i)
      if (!d.switches()[i].is_discontinuous && g[i] * d.sides()[i] < 0.0) d.sides()[i] *= -1.0, turned = true;
    if (turned && !d.rhs_by_factors(t, y, d.scratch_.data())) return false;
  }
  control_.u = d.control_.u, control_.tau = d.control_.tau, control_.cost = d.control_.cost;
  return true;
}

void Dynamics::calc_control_switches(std::span<double> g) {
  ControlRoom& c = control_;
  const ControlProgramme& p = c.stage.programme;
  ControlMode mode = mode_of_sides();
  const LimitPulls pulls = calc_limit_pulls(p, mode);
  c.is_clear = pulls.is_clear;
  for (std::size_t i = 0; i < g.size(); ++i) {
    const EquationFacts::ControlSwitch& s = facts().control_switches[i];
    if (s.actuator >= 0) {
      const int at = mode.at_limit[static_cast<std::size_t>(s.actuator)];
      g[i] = at == (s.upper ? 1 : -1) ? -at * pulls.along(s.actuator)
             : s.upper                ? p.high(s.actuator) - c.tau(s.actuator)
                                      : c.tau(s.actuator) - p.low(s.actuator);
    } else {
      char& held = mode.held[static_cast<std::size_t>(s.requirement)];
      const char acts = std::exchange(held, 0);
      g[i] = p.G.row(s.requirement).dot(solve_control_mode(p, mode)) - p.r(s.requirement);
      held = acts;
    }
  }
}

bool Dynamics::calc_control_switches_fast(double t, const double* y, std::span<double> g) {
  if (!fast_ || prefer_robust || facts().needs_reactions || !surfaces_.empty() || !fast_->acceleration.num_columns)
    return false;
  fast_->set_inputs(t, y, n_, sides());
  if (!fast_->acceleration.run(fast_->inputs) || !find_efforts(fast_->acceleration)) return false;
  ControlRoom& c = control_;
  const double* const numbers = fast_->acceleration.control_numbers(num_works(), n_);
  ControlMode& mode = c.mode;
  if (!c.open.calc_pulls(mode)) return false;
  c.is_clear = true;
  for (std::size_t i = 0; i < g.size(); ++i) {
    const EquationFacts::ControlSwitch& s = facts().control_switches[i];
    if (s.actuator < 0) {
      g[i] = c.open.excess(s.requirement);
      continue;
    }
    const int at = mode.at_limit[static_cast<std::size_t>(s.actuator)];
    g[i] = at == (s.upper ? 1 : -1) ? -at * c.open.pull(s.actuator)
           : s.upper                ? c.open.high(s.actuator) - c.tau(s.actuator)
                                    : c.tau(s.actuator) - c.open.low(s.actuator);
  }
  // Requirements that act, with one of them let go after the other.
  for (std::size_t i = 0; i < g.size(); ++i) {
    const EquationFacts::ControlSwitch& s = facts().control_switches[i];
    if (s.actuator >= 0 || !mode.held[static_cast<std::size_t>(s.requirement)]) continue;
    char& held = mode.held[static_cast<std::size_t>(s.requirement)];
    held = 0;
    const bool known = c.open.solve(numbers, mode);
    held = 1;
    if (!known) return false;
    g[i] = c.open.excess(s.requirement);
  }
  return true;
}

bool Dynamics::find_efforts(const CompiledPrograms::Acceleration& of) {
  ControlRoom& c = control_;
  c.tau.resize(of.num_columns);
  if (facts().control.every) {
    if (held_control.front() == 0.0) return false;
    std::copy(held_control.begin() + 1, held_control.end(), c.tau.begin());
    return true;
  }
  if (!c.open.solve(of.control_numbers(num_works(), n_), mode_of_sides())) return false;
  std::copy(c.open.efforts().begin(), c.open.efforts().end(), c.tau.begin());
  c.qdd = Eigen::Map<const VectorXd>(of.outputs.data(), n_);
  c.values.low.resize(num_actuators()), c.values.high.resize(num_actuators());
  for (int i = 0; i < num_actuators(); ++i) c.values.low(i) = c.open.low(i), c.values.high(i) = c.open.high(i);
  return true;
}

bool Dynamics::add_efforts(CompiledPrograms::Acceleration& to) {
  if (to.num_columns == 0) return true;
  if (!find_efforts(to)) return false;
  to.add_efforts({control_.tau.data(), static_cast<std::size_t>(control_.tau.size())}, num_works(), n_);
  return true;
}

Dynamics::PassedLimit Dynamics::find_passed_limit() const {
  PassedLimit passed;
  const ControlRoom& c = control_;
  for (Index i = 0; i < c.tau.size() && i < c.values.low.size(); ++i) {
    const double low = c.values.low(i), high = c.values.high(i);
    const double size = std::max(std::isfinite(low) ? std::abs(low) : 0.0, std::isfinite(high) ? std::abs(high) : 0.0);
    const double beyond = std::max(c.tau(i) - high, low - c.tau(i));
    if (beyond > passed.part * size) passed = {static_cast<int>(i), size > 0.0 ? beyond / size : beyond};
  }
  return passed;
}

void Dynamics::settle_control(double t, const double* y) {
  if (num_control_switches() == 0 || !rhs_by_factors(t, y, scratch_.data())) return;
  --evaluations, ++projections;
  const ControlMode mode = solve_control(control_.stage.programme).mode;
  const std::size_t first = num_expression_switches();
  for (std::size_t i = 0; i < num_control_switches(); ++i) {
    const EquationFacts::ControlSwitch& s = facts().control_switches[i];
    const bool acts = s.actuator >= 0 ? mode.at_limit[static_cast<std::size_t>(s.actuator)] == (s.upper ? 1 : -1)
                                      : mode.held[static_cast<std::size_t>(s.requirement)] != 0;
    sides()[first + i] = acts ? -1.0 : 1.0;
  }
}

void Dynamics::hold_control(std::span<const double> efforts) {
  if (held_control.empty()) return;
  held_control.front() = efforts.size() + 1 == held_control.size() ? 1.0 : 0.0;
  if (held_control.front() != 0.0) std::copy(efforts.begin(), efforts.end(), held_control.begin() + 1);
}

bool Dynamics::sample_control(double t, const double* y) {
  if (!facts().control.every) return true;
  const bool actuators = !facts().control.actuators.empty();
  held_control.assign(1 + (actuators ? facts().control.actuators.size() : static_cast<std::size_t>(n_)), 0.0);
  const bool known = rhs_by_factors(t, y, scratch_.data());
  --evaluations, ++projections;
  if (!known) return false;
  const VectorXd& found = actuators ? control_.tau : control_.u;
  std::copy(found.begin(), found.end(), held_control.begin() + 1);
  held_control.front() = 1.0;
  return true;
}

}  // namespace mechanician
