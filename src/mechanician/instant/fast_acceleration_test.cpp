// The generated programs against the robust path: wherever they vouch for their answer, it is the same.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <random>

#include "mechanician/compile/acceleration_program.hpp"
#include "mechanician/compile/given_power.hpp"
#include "mechanician/compile/projection_program.hpp"
#include "mechanician/expression/differentiate.hpp"
#include "mechanician/instant/accelerate.hpp"
#include "mechanician/model/read_model.hpp"
#include "mechanician/motion/random_model_for_test.hpp"
#include "mechanician/solve/eigen_decompositions.hpp"
#include "mechanician/solve/factorisation.hpp"

namespace mechanician {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

#if defined(MECHANICIAN_SANITIZED)
constexpr unsigned fewer = 40;
#else
constexpr unsigned fewer = 1;
#endif

std::vector<double> inputs_of(const State& state, const std::vector<double>& parameters) {
  std::vector<double> x{state.t};
  x.insert(x.end(), state.q.begin(), state.q.end());
  x.insert(x.end(), state.qd.begin(), state.qd.end());
  x.insert(x.end(), parameters.begin(), parameters.end());
  return x;
}

std::vector<double> evaluate(const Program& program, const std::vector<double>& inputs) {
  std::vector<double> registers(static_cast<std::size_t>(program.num_registers())),
      values(static_cast<std::size_t>(program.num_outputs()));
  program.evaluate(inputs.data(), registers.data(), values.data());
  return values;
}

/// Rows that the orthogonal factorisation leaves out at a state.
void leave_out(const Factorisation& factors, ProgramOptions& options) {
  const RowFactor& rows = factors.rows;
  for (std::size_t k = static_cast<std::size_t>(rows.rank); k < rows.order.size(); ++k) {
    const auto j = rows.order[k];
    (rows.zero_row[static_cast<std::size_t>(j)] ? options.inert : options.dropped).push_back(static_cast<int>(j));
  }
}

/// Condition of the rows in the mass metric times that of the mass matrix in units of its own diagonal.
double condition_of(const Factorisation& f) {
  double kappa = f.rows.condition;
  if (f.definite) {
    const VectorXd s = f.M.diagonal().cwiseSqrt().cwiseInverse();
    const VectorXd values =
        Eigen::SelfAdjointEigenSolver<MatrixXd>(MatrixXd(s.asDiagonal() * f.M * s.asDiagonal()), Eigen::EigenvaluesOnly)
            .eigenvalues();
    return kappa * values.maxCoeff() / values.minCoeff();
  }
  if (f.Mhat_R.rows() > 0) {
    const VectorXd d = f.Mhat_R.diagonal().cwiseAbs();
    kappa *= std::max(1.0, f.M_scaled.norm() / std::pow(d.minCoeff(), 2));
  }
  return kappa;
}

/// What errors of q̈ are relative to, in units of the square root of the masses.
struct Measure {
  VectorXd unit;  ///< by coordinate
  double size = 0.0;
};
Measure measure_of(const Factorisation& f, const InstantValues& v, const VectorXd& qdd) {
  Measure m;
  m.unit = f.definite ? VectorXd(f.M.diagonal().cwiseSqrt()) : VectorXd(f.s.cwiseInverse());
  const VectorXd force = v.C.size() ? VectorXd(v.Q + v.C) : v.Q;
  m.size = m.unit.cwiseProduct(qdd).norm() + force.cwiseQuotient(m.unit).norm() +
           (f.definite ? (f.L.triangularView<Eigen::Lower>().solve(force)).norm() : 0.0);
  return m;
}

struct Tally {
  int models = 0, without = 0, states = 0, vouched = 0;
  double worst = 0.0, worst_lambda = 0.0, worst_power = 0.0;
  std::map<std::string, int> reasons, needless;  ///< why there is no program; the same where there is an acceleration
  void print(const std::string& name) const {
    fmt::print("{}: {} models, {} without a program; {} states with an acceleration, {} not vouched for\n", name,
               models, without, states, states - vouched);
    fmt::print("  largest error of q̈ {:.2g} × condition, multipliers {:.2g} × condition², powers {:.2g} × condition²\n",
               worst, worst_lambda, worst_power);
    for (const auto& [reason, count] : reasons) {
      const auto found = needless.find(reason);
      fmt::print("  {:>6} × {} ({} with an acceleration)\n", count, reason,
                 found == needless.end() ? 0 : found->second);
    }
  }
};

/// Whether every row holds up to 1e-11 of the accelerations that are there with and without constraints.
bool holds(const InstantValues& v, const std::vector<double>& qdd) {
  for (Index j = 0; j < v.A.rows(); ++j) {
    double off = v.b(j), size = std::abs(v.b(j));
    for (Index i = 0; i < v.A.cols(); ++i) {
      const double x = qdd[static_cast<std::size_t>(i)];
      off -= v.A(j, i) * x;
      size += std::abs(v.A(j, i)) * (std::abs(x) + (v.M(i, i) > 0 ? std::abs(v.Q(i)) / v.M(i, i) : 0.0));
    }
    if (std::abs(off) > 1e-11 * size) return false;
  }
  return true;
}

/// Errors of a vouched answer must stay below this times the condition number.
constexpr double promised = 1e-12;

/// How much larger efforts may be than what requirements ask for: sizes of rows and columns over the least that A₂NE does, in
/// the mass metric.
double magnify_by_actuators(const System& system, const Instant& at, const State& state) {
  const Evaluation now = system.evaluate(state);
  const MatrixXd& E = now.control.E;
  if (system.num_control() == 0 || E.cols() == 0) return 1.0;
  InstantValues plant = at.values;
  plant.C.resize(0), plant.b_noise.resize(0), plant.b_size.resize(0);
  plant.b.setZero(plant.A.rows());
  const Factorisation factors = factor_dense(plant);
  const VectorXd unit =
      factors.definite ? VectorXd(factors.M.diagonal().cwiseSqrt()) : VectorXd(factors.s.cwiseInverse());
  MatrixXd X(E.rows(), E.cols());
  for (Index k = 0; k < E.cols(); ++k) plant.Q = E.col(k), X.col(k) = solve(factors, plant).qdd;
  const Eigen::LLT<MatrixXd> R(now.control.R);
  const MatrixXd A = now.control.A.to_dense(), G = R.matrixL().solve(MatrixXd((A * X).transpose())).transpose();
  const double rows = (A * unit.cwiseInverse().asDiagonal()).norm(),
               columns = R.matrixL().solve(MatrixXd((unit.cwiseInverse().asDiagonal() * E).transpose())).norm();
  const VectorXd sines = Eigen::JacobiSVD<MatrixXd>(G).singularValues();
  return std::max(1.0, rows * columns / sines.minCoeff());
}

void compare(const System& system, const AccelerationProgram& made, const std::vector<double>& inputs,
             const State& state, Tally& tally) {
  const std::vector<double> got = evaluate(made.program, inputs);
  const bool vouched = got[static_cast<std::size_t>(made.at_vouch)] > 0.0;
  const Instant want = accelerate(system, state, {.diagnose = false});
  if (!want.has_acceleration()) {
    // Where contradictions are smaller than what rounding leaves open in a program, the robust path may be stricter.
    const bool negligible = want.solution.status == SolveStatus::inconsistent && holds(want.values, got);
    EXPECT_FALSE(vouched && !negligible) << "the robust path has no acceleration: " << describe(want.solution.status);
    return;
  }
  ++tally.states;
  if (!vouched) return;
  ++tally.vouched;
  // Requirements of control magnify rounding as constraints do.
  InstantValues joint = want.values;
  if (const Evaluation now = system.evaluate(state); system.num_control() > 0) {
    for (Index j = 0; j < now.control.A.rows(); ++j) {
      for (const SparseRows::Entry& e : now.control.A.row(j)) joint.A.add(e.col, e.value);
      joint.A.end_row();
    }
    joint.A_noise = SparseRows(), joint.b_noise.resize(0), joint.b_size.resize(0);
    joint.pattern.reset(), joint.pattern_rows.clear();
    VectorXd b(joint.A.rows());
    b << want.values.b, now.control.b;
    joint.b = b;
  }
  const Factorisation f = factor_dense(joint);
  const double kappa = condition_of(f) * magnify_by_actuators(system, want, state);
  const Measure measure = measure_of(f, want.values, want.solution.qdd);
  const auto part = [&](int begin, int size) { return VectorXd(Eigen::Map<const VectorXd>(got.data() + begin, size)); };
  const VectorXd qdd = part(0, system.n());
  const double error = (qdd - want.solution.qdd).cwiseProduct(measure.unit).norm();
  if (measure.size > 0.0) {
    EXPECT_LT(error, promised * kappa * measure.size)
        << "condition " << kappa << ", program " << qdd.transpose() << ", robust " << want.solution.qdd.transpose();
    tally.worst = std::max(tally.worst, error / (kappa * measure.size));
  }

  const int num_constraints = system.m();
  if (made.num_multipliers > 0) {
    const VectorXd& lambda = want.solution.multipliers;
    const VectorXd mine = part(made.at_multipliers, made.num_multipliers);
    // Multipliers by what they do: λ_j a_j in the mass metric, against all of that.
    double off = 0.0, size = measure.size;
    for (Index j = 0; j < lambda.size(); ++j) {
      const double a = want.values.A.to_dense().row(j).transpose().cwiseQuotient(measure.unit).norm();
      off = std::max(off, a * std::abs(lambda(j) - mine(j)));
      size = std::max(size, a * std::abs(lambda(j)));
    }
    if (size > 0.0) {
      EXPECT_LT(off, promised * kappa * kappa * size) << mine.transpose() << " instead of " << lambda.transpose();
      tally.worst_lambda = std::max(tally.worst_lambda, off / (kappa * kappa * size));
    }
  }
  if (made.num_powers > 0) {
    const Equations& eqs = system.equations();
    // ½ q̇ᵀṀ q̇ by the gradient of each entry of M.
    std::vector<Expr> symbols = eqs.q, terms;
    symbols.push_back(eqs.t);
    Expr rate = 0;
    for (const auto& e : eqs.M.entries) {
      const std::vector<Expr> d = gradient(e.value, symbols);
      for (std::size_t i = 0; i < symbols.size(); ++i)
        rate += 0.5 * eqs.qd[static_cast<std::size_t>(e.row)] * eqs.qd[static_cast<std::size_t>(e.col)] * d[i] *
                (i < eqs.qd.size() ? eqs.qd[i] : Expr(1.0));
    }
    std::vector<Expr> all{eqs.t};
    all.insert(all.end(), eqs.q.begin(), eqs.q.end());
    all.insert(all.end(), eqs.qd.begin(), eqs.qd.end());
    all.insert(all.end(), eqs.parameters.begin(), eqs.parameters.end());
    const std::vector<double> x = inputs_of(state, system.parameters());
    const double mass_rate = Tape(std::vector<Expr>{rate}, all)(std::span<const double>(x))[0];
    const VectorXd rates = want.values.A * state.qd;
    const auto num_actuators = static_cast<int>(eqs.control.actuators.size());
    VectorXd power = VectorXd::Zero(4 + num_constraints + num_actuators);
    power(0) = mass_rate + state.qd.dot(want.values.Q);
    for (int j = 0; j < num_constraints; ++j) {
      const RowTraits& row = system.row(j);
      const bool powerless = (row.level == Level::position && !row.rheonomic) ||
                             (row.level == Level::velocity && row.linear && !row.acatastatic);
      if (!powerless) power(1) += power(4 + j) = want.solution.multipliers(j) * rates(j);
    }
    power(2) = state.qd.dot(want.solution.Qc_ni);
    power(3) = state.qd.dot(want.solution.Q_control);
    if (num_actuators > 0)
      power.tail(num_actuators) =
          want.control->tau.cwiseProduct(system.evaluate(state).control.E.transpose() * state.qd);
    const VectorXd mine = part(made.at_powers, made.num_powers);
    const double speed = state.qd.cwiseProduct(measure.unit).norm();
    const double size =
        measure.size * speed + power.cwiseAbs().maxCoeff() + std::abs(mass_rate) + state.qd.squaredNorm();
    if (size > 0.0) {
      EXPECT_LT((mine - power).norm(), promised * kappa * kappa * size)
          << mine.transpose() << " instead of " << power.transpose();
      tally.worst_power = std::max(tally.worst_power, (mine - power).norm() / (kappa * kappa * size));
    }
  }
}

struct Ways {
  bool built_in = true, refine = false, check_rows = false, short_power = true;
};

/// A program made at the first state, compared at all of them.
void compare(const System& system, const std::vector<State>& states, const Ways& ways, Tally& tally) {
  ++tally.models;
  AccelerationOptions options;
  if (ways.built_in) options.parameters = system.parameters();
  options.refine = ways.refine, options.check_rows = ways.check_rows;
  options.powers = options.multipliers = true;
  if (ways.short_power) options.given_power = make_given_power(system.model());
  const std::vector<double> none;
  const auto inputs = [&](const State& s) { return inputs_of(s, ways.built_in ? none : system.parameters()); };
  options.reference = inputs(states[0]);
  const Evaluation now = system.evaluate(states[0]);
  if (!now.not_finite) {
    const Factorisation f = factor_dense(now.values);
    leave_out(f, options);
    options.singular_mass = !f.definite;
  }
  const AccelerationProgramResult result = make_acceleration_program(system.equations(), options);
  if (!result.made) {
    ++tally.without;
    ++tally.reasons[result.reason];
    if (accelerate(system, states[0], {.diagnose = false}).has_acceleration()) ++tally.needless[result.reason];
    return;
  }
  for (const State& s : states) {
    compare(system, *result.made, inputs(s), s, tally);
    if (!options.inert.empty()) break;  // rows that are zero at the first state need not be so elsewhere
  }
}

/// Every model file of a folder, at its start and a little beside it.
void compare_folder(const std::string& folder, Tally& tally) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(MECHANICIAN_SOURCE_DIR) / folder))
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  ASSERT_FALSE(files.empty());
  std::mt19937_64 random(7);
  for (std::size_t i = 0; i < files.size(); i += fewer == 1 ? 1 : 5) {
    const auto& file = files[i];
    SCOPED_TRACE(file.filename().string());
    std::optional<System> system;
    std::vector<State> states;
    try {
      Model model = read_model(file);
      const ParameterValues parameters = evaluate_parameters(model);
      states.push_back(state_of(start_state(model, parameters)));
      system.emplace(std::move(model), parameters.values);
    } catch (const std::exception&) {
      continue;  // a case that is to be refused
    }
    if (system->has_contacts()) continue;  // the program is for rows that hold
    if (fewer > 1 && system->n() > 12) continue;
    for (const double far : {1e-9, 1e-3, 0.3}) {
      State s = states[0];
      for (double& x : s.q) x += far * std::uniform_real_distribution<double>(-1, 1)(random);
      for (double& x : s.qd) x += far * std::uniform_real_distribution<double>(-1, 1)(random);
      states.push_back(s);
    }
    for (const Ways& ways :
         {Ways{}, Ways{.built_in = false, .short_power = false}, Ways{.refine = true}, Ways{.check_rows = true}})
      compare(*system, states, ways, tally);
  }
}

TEST(FastAcceleration, is_that_of_the_robust_path_on_all_cases) {
  for (const char* folder : {"tests/cases", "tests/cases_generated", "tests/motions", "models"}) {
    Tally tally;
    compare_folder(folder, tally);
    tally.print(folder);
    EXPECT_GT(tally.vouched, tally.states / 2);
  }
}

TEST(FastAcceleration, is_that_of_the_robust_path_on_random_models) {
  Tally tally, off_constraints;
  for (unsigned seed = 1; seed <= 4000 / fewer; ++seed) {
    std::mt19937 random(seed);
    const auto yes = [&](unsigned one_in) { return random() % one_in == 0; };
    Features with;
    with.matrices = yes(3), with.rheonomic = yes(2);
    with.holonomic = static_cast<int>(random() % 4), with.nonholonomic = static_cast<int>(random() % 3);
    with.nonlinear = yes(2), with.redundant = static_cast<int>(random() % 2);
    with.singular_mass = yes(3), with.acceleration = yes(4), with.nonideal = yes(2), with.reactions = yes(4);
    with.control = static_cast<int>(random() % 3);
    if (with.control > 0) {
      if (yes(2)) with.actuators = with.control + static_cast<int>(random() % 2);
      with.coupled_cost = with.actuators > 0 && yes(2);
      with.free_force = with.actuators == 0 && yes(2);
      with.nominal = yes(2);
    }
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::optional<RandomSystem> made;
    try {
      made.emplace(seed, with);
    } catch (const std::exception&) {
      continue;
    }
    if (!made->good()) continue;
    const Ways ways{.built_in = yes(2), .refine = yes(3), .check_rows = yes(3), .short_power = yes(2)};
    compare(made->system, {made->state()}, ways, tally);
    State beside = made->state();
    for (double& x : beside.q) x += std::uniform_real_distribution<double>(-0.1, 0.1)(random);
    compare(made->system, {made->state(), beside}, ways, off_constraints);
  }
  tally.print("random models, on their constraints");
  off_constraints.print("the same and beside them");
  EXPECT_GT(tally.vouched, tally.states * 9 / 10);
}

/// Equations whose entries are parameters: any numbers at all, to be put in when the program runs.
struct NumberModel {
  Equations eqs;
  InstantValues values;
  std::vector<double> parameters;

  Expr add(double value) {
    parameters.push_back(value);
    eqs.parameters.push_back(parameter("p" + std::to_string(parameters.size())));
    return eqs.parameters.back();
  }
  NumberModel(const MatrixXd& M, const VectorXd& Q, const MatrixXd& A, const VectorXd& b, const VectorXd& C) {
    values.M = M, values.Q = Q, values.A = A, values.b = b, values.C = C;
    const int n = static_cast<int>(M.rows()), m = static_cast<int>(A.rows());
    eqs.M.rows = eqs.M.cols = eqs.A.cols = n, eqs.A.rows = m;
    for (int i = 0; i < n; ++i) {
      const Expr q = coordinate("x" + std::to_string(i));
      eqs.coordinates.push_back("x" + std::to_string(i));
      eqs.q.push_back(q), eqs.qd.push_back(derivative_symbol(q)), eqs.qdd.push_back(derivative_symbol(eqs.qd.back()));
      eqs.Q.push_back(add(Q(i)));
      eqs.C.push_back(add(C(i)));
    }
    eqs.has_C = true;
    MatrixXd at = MatrixXd::Constant(n, n, -1);
    std::vector<Expr> lower;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j)
        if (M(i, j) != 0.0) at(i, j) = static_cast<double>(lower.size()), lower.push_back(add(M(i, j)));
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        if (const double k = at(std::max(i, j), std::min(i, j)); k >= 0)
          eqs.M.entries.push_back({i, j, lower[static_cast<std::size_t>(k)]});
    for (int j = 0; j < m; ++j) {
      for (int i = 0; i < n; ++i)
        if (A(j, i) != 0.0) eqs.A.entries.push_back({j, i, add(A(j, i))});
      eqs.b.push_back(add(b(j)));
      eqs.rows.push_back({});
    }
  }
};

struct Answer {
  bool made = false, vouched = false;
  VectorXd qdd;
};
Answer fast(const NumberModel& model, const Factorisation& f, bool refine) {
  AccelerationOptions options;
  options.refine = refine;
  leave_out(f, options);
  options.singular_mass = !f.definite;
  const AccelerationProgramResult result = make_acceleration_program(model.eqs, options);
  if (!result.made) return {};
  std::vector<double> inputs(static_cast<std::size_t>(1 + 2 * model.eqs.n()), 0.0);
  inputs.insert(inputs.end(), model.parameters.begin(), model.parameters.end());
  const std::vector<double> got = evaluate(result.made->program, inputs);
  return {true, got[static_cast<std::size_t>(result.made->at_vouch)] > 0.0,
          Eigen::Map<const VectorXd>(got.data(), model.eqs.n())};
}

/// A sparse system with rows at chosen angles, redundant rows, masses of chosen ratio.
struct Numeric {
  double angle = 1.0;       ///< of one row to the span of the others
  double mass_ratio = 1.0;  ///< of the largest and the smallest
  int redundant = 0, massless = 0;
  bool coupled = true;
};
NumberModel make_numeric(std::mt19937_64& random, const Numeric& with) {
  const auto real = [&] { return std::uniform_real_distribution<double>(-1, 1)(random); };
  const int n = 2 + static_cast<int>(random() % 9) + with.massless,
            rank = 1 + static_cast<int>(random() % static_cast<unsigned>(n - 1 - with.massless)) + with.massless;
  MatrixXd M = MatrixXd::Zero(n, n), A = MatrixXd::Zero(rank, n);
  for (int i = with.massless; i < n; ++i) M(i, i) = std::pow(with.mass_ratio, real() / 2);
  if (with.coupled)
    for (int k = with.massless; k + 1 < n; ++k) {
      const int i = k, j = k + 1;
      const double c = 0.4 * real() * std::sqrt(M(i, i) * M(j, j));
      M(i, j) += c, M(j, i) += c;
    }
  for (int j = 0; j < rank; ++j) {
    A(j, j) = real() < 0 ? -1.0 : 1.0;
    for (int k = 0; k < 3; ++k) A(j, static_cast<int>(random() % static_cast<unsigned>(n))) += real();
  }
  if (with.angle < 1.0 && rank > 1) A.row(rank - 1) = A.row(0) + with.angle * A.row(rank - 1);
  MatrixXd S = MatrixXd::Zero(rank + with.redundant, rank);
  S.topRows(rank).setIdentity();
  for (int k = 0; k < with.redundant; ++k)
    for (int c = 0; c < 2; ++c) S(rank + k, static_cast<int>(random() % static_cast<unsigned>(rank))) += real();
  VectorXd b(rank), Q(n), C(n);
  for (double& x : b) x = real();
  for (double& x : Q) x = real();
  for (double& x : C) x = real();
  if (with.angle < 1.0 && rank > 1) b(rank - 1) = b(0) + with.angle * b(rank - 1);
  return {M, Q, S * A, S * b, C};
}

TEST(FastAcceleration, is_that_of_the_robust_path_on_random_numbers) {
  for (const bool refine : {false, true}) {
    int count = 0, vouched = 0, without = 0;
    double worst = 0.0;
    for (unsigned seed = 1; seed <= 6000 / fewer; ++seed) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed);
      std::mt19937_64 random(seed);
      Numeric with;
      with.angle = random() % 2 ? 1.0 : std::pow(10.0, -std::uniform_real_distribution<double>(0, 3)(random));
      with.mass_ratio = std::pow(10.0, std::uniform_real_distribution<double>(0, 6)(random));
      with.redundant = static_cast<int>(random() % 3),
      with.massless = random() % 3 == 0 ? 1 + static_cast<int>(random() % 2) : 0;
      with.coupled = random() % 2;
      const NumberModel model = make_numeric(random, with);
      const Factorisation f = factor(model.values);
      const Solution want = solve(f, model.values);
      if (!want.has_acceleration()) continue;
      const Answer got = fast(model, f, refine);
      ++count, vouched += got.vouched, without += !got.made;
      if (!got.vouched) continue;
      const double kappa = condition_of(f);
      const Measure measure = measure_of(f, model.values, want.qdd);
      const double error = (got.qdd - want.qdd).cwiseProduct(measure.unit).norm() / measure.size;
      EXPECT_LT(error, promised * kappa) << "condition " << kappa;
      worst = std::max(worst, error / kappa);
    }
    fmt::print(
        "random numbers{}: {} systems, {} without a program, {} more not vouched for, largest error {:.2g} × "
        "condition\n",
        refine ? ", refined" : "", count, without, count - vouched - without, worst);
    EXPECT_GT(vouched, count * 9 / 10);
  }
}

TEST(FastAcceleration, in_the_grey_zone_is_right_or_not_vouched_for) {
  for (const bool refine : {false, true})
    for (const double ratio : {1.0, 1e12})
      for (int exponent = 1; exponent <= 15; ++exponent) {
        int count = 0, vouched = 0;
        double worst = 0.0;
        for (unsigned seed = 1; seed <= 200 / fewer; ++seed) {
          SCOPED_TRACE(::testing::Message() << "seed " << seed << ", angle 1e-" << exponent << ", masses " << ratio);
          std::mt19937_64 random(seed);
          Numeric with;
          with.angle = std::pow(10.0, -exponent), with.mass_ratio = ratio, with.coupled = seed % 2;
          with.redundant = seed % 3 == 0;
          const NumberModel model = make_numeric(random, with);
          const Factorisation f = factor(model.values);
          const Solution want = solve(f, model.values);
          const Answer got = fast(model, f, refine);
          if (!want.has_acceleration()) {
            const bool good = got.vouched && holds(model.values, {got.qdd.begin(), got.qdd.end()});
            EXPECT_FALSE(got.vouched && !good) << describe(want.status);
            continue;
          }
          ++count, vouched += got.vouched;
          if (!got.vouched) continue;
          const double kappa = condition_of(f);
          const Measure measure = measure_of(f, model.values, want.qdd);
          const double error = (got.qdd - want.qdd).cwiseProduct(measure.unit).norm() / measure.size;
          // Which of two nearly equal rows is left out decides as much as dropped rows are allowed to be off.
          const double choice = f.rows.num_dropped() > 0 ? 4.0 * ProgramOptions{}.dropped_tolerance : 0.0;
          EXPECT_LT(error, promised * kappa + choice) << "condition " << kappa;
          worst = std::max(worst, error / kappa);
        }
        fmt::print("angle 1e-{:02}, masses {:5.0e}{}: {} of {} vouched for, largest error {:.2g} × condition\n",
                   exponent, ratio, refine ? ", refined" : "", vouched, count, worst);
      }
}

TEST(FastAcceleration, near_a_flat_parallelogram_is_right_or_not_vouched_for) {
  // Two four-bar linkages side by side: flat, the rank of their five constraints falls to three.
  Model model = read_model(std::filesystem::path(MECHANICIAN_SOURCE_DIR) / "models" / "ladder_2.toml");
  const ParameterValues parameters = evaluate_parameters(model);
  const State start = state_of(start_state(model, parameters));
  const System system(std::move(model), parameters.values);
  std::vector<State> states{start};
  for (int exponent = 0; exponent <= 16; ++exponent) {
    State s = start;
    const double angle = std::pow(10.0, -exponent);
    for (int k = 0; k < 3; ++k) {
      s.q(k) = k + std::cos(angle), s.q(3 + k) = std::sin(angle);
      s.qd(k) = -std::sin(angle), s.qd(3 + k) = std::cos(angle);
    }
    states.push_back(s);
  }
  for (const bool refine : {false, true}) {
    Tally tally;
    compare(system, states, {.refine = refine}, tally);
    tally.print(refine ? "parallelogram, refined" : "parallelogram");
    EXPECT_GE(tally.vouched, refine ? 6 : 4);
    EXPECT_LT(tally.vouched, tally.states);
  }
}

TEST(FastProjection, is_the_newton_step_of_least_mass_norm_on_random_models) {
  int count = 0, vouched = 0;
  double worst = 0.0;
  for (unsigned seed = 1; seed <= 1000 / fewer; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    Features with;
    with.rheonomic = random() % 2;
    with.holonomic = 1 + static_cast<int>(random() % 3), with.nonholonomic = static_cast<int>(random() % 3);
    with.nonlinear = random() % 2;
    RandomModel made = ModelMaker(seed, with).make();
    State state = made.state;
    for (double& x : state.q) x += std::uniform_real_distribution<double>(-0.1, 0.1)(random);
    for (double& x : state.qd) x += std::uniform_real_distribution<double>(-0.1, 0.1)(random);
    const System system(std::move(made.model), {});
    const Evaluation now = system.evaluate(state);
    for (const ProjectionOf what : {ProjectionOf::positions, ProjectionOf::velocities}) {
      ProgramOptions options;
      options.parameters = system.parameters();
      const ProjectionProgramResult result = make_projection_program(system.equations(), what, options);
      ASSERT_TRUE(result.made) << result.reason;
      const std::vector<double> got = evaluate(result.made->program, inputs_of(state, {}));
      const auto m = static_cast<Index>(result.made->rows.size());
      MatrixXd A(m, system.n());
      VectorXd r(m);
      for (Index k = 0; k < m; ++k) {
        const int j = result.made->rows[static_cast<std::size_t>(k)];
        A.row(k) = now.values.A.to_dense().row(j);
        const bool rate = what == ProjectionOf::velocities && system.row(j).level == Level::position;
        r(k) = rate ? now.rate(j) : now.residual(j);
        EXPECT_NEAR(got[static_cast<std::size_t>(result.made->at_residuals + k)], r(k), 1e-13 * (1.0 + std::abs(r(k))));
      }
      ++count;
      if (!(got[static_cast<std::size_t>(result.made->at_vouch)] > 0.0)) continue;
      ++vouched;
      // δ = −L⁻ᵀ (A L⁻ᵀ)⁺ r
      const MatrixXd L = Eigen::LLT<MatrixXd>(now.values.M.to_dense()).matrixL();
      const MatrixXd B = L.triangularView<Eigen::Lower>().solve(A.transpose()).transpose();
      const Eigen::JacobiSVD<MatrixXd> svd(B, Eigen::ComputeThinU | Eigen::ComputeThinV);
      const VectorXd y = svd.solve(-r), want = L.transpose().triangularView<Eigen::Upper>().solve(y);
      const double kappa = svd.singularValues()(0) / svd.singularValues()(m - 1) * 100.0;
      const double error = (want - Eigen::Map<const VectorXd>(got.data(), system.n())).norm() / want.norm();
      EXPECT_LT(error, promised * kappa);
      worst = std::max(worst, error / kappa);
    }
  }
  fmt::print("projections: {} of {} vouched for, largest error {:.2g} × 100 κ\n", vouched, count, worst);
  EXPECT_GT(vouched, count * 95 / 100);
}

}  // namespace
}  // namespace mechanician
