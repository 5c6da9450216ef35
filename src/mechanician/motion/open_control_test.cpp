// Control that compiled code leaves open: the same accelerations, works and switches as by the factors, and the motions that follow.
#include "mechanician/motion/open_control.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/SVD>
#include <array>
#include <cmath>
#include <random>
#include <string>

#include "mechanician/base/trials_for_test.hpp"
#include "mechanician/instant/accelerate.hpp"
#include "mechanician/motion/dynamics.hpp"
#include "mechanician/motion/motion_for_test.hpp"

namespace mechanician {
namespace {

constexpr unsigned seed = 20261118;
constexpr std::array names{"x", "y", "z"};

/// What there is of control: limits, costs that mix, weights, priorities, one-sided requirements; beside constraints and a force of
/// theirs.
std::string make_model(std::mt19937& random, int trial) {
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  const int n = 2 + trial % 2, actuators = trial % 5, requirements = 1 + (trial / 2) % 3;
  std::string text = fmt::format("coordinates = [\"x\", \"y\"{}]\n[dynamics]\n", n == 3 ? ", \"z\"" : "");
  text += fmt::format("kinetic = \"(x'^2 + 2*y'^2 + cos(x - y)*x'*y'{})/2\"\n", n == 3 ? " + z'^2 + 0.5*y'*z'" : "");
  text += "potential = \"(x^2 + y^2)/4 + 0.3*sin(x*y)\"\n";
  if (trial % 4 == 3) {
    text += fmt::format("[constraints]\nrow = \"x + y*y/4{} = 0.2*sin(t)\"\n", n == 3 ? " + z" : "");
    if (trial % 8 == 7) text += "[nonideal]\nx = \"-0.1*x' + 0.05*y\"\n";
  }
  if (actuators > 0) text += "[actuators]\n";
  for (int k = 0; k < actuators; ++k) {
    text += fmt::format("a{} = {{ limit = [{}, \"{} + 0.1*sin(t)\"]", k, -0.2 - std::abs(unit(random)),
                        0.3 + std::abs(unit(random)));
    for (int i = 0; i < n; ++i) text += fmt::format(", {} = \"{} + 0.2*sin(x)\"", names[i], unit(random));
    text += " }\n";
  }
  for (int j = 0; j < requirements; ++j) {
    text += fmt::format("[control.r{}]\nequation = \"{} + {}*{} {} {}*sin({}*t) + {}\"\nfrequency = {}\n", j,
                        names[j % n], 0.3 * unit(random), names[(j + 1) % n], trial % 7 == 5 && j == 0 ? ">=" : "=",
                        0.8 + 0.4 * unit(random), 1.5 + unit(random), 0.3 * unit(random), 2.0 + unit(random));
    if (trial % 3 == 0) text += fmt::format("weight = {}\n", 1.0 + 0.5 * unit(random));
    if (trial % 3 == 1) text += fmt::format("priority = {}\n", 1 + j);
  }
  if (actuators == 2) text += "[control]\ncost = [[1.0, 0.3], [0.3, 2.0]]\n";
  return text;
}

/// Of what efforts that are at no limit do to the requirements, each in its units; and of constraints.
double calc_condition(const System& system, const State& state, const ControlMode& mode) {
  const Evaluation now = system.evaluate(state);
  const Eigen::Index n = system.n();
  Eigen::MatrixXd K = Eigen::MatrixXd::Zero(n + now.values.A.rows(), n + now.values.A.rows());
  for (Eigen::Index i = 0; i < n; ++i) K.col(i).head(n) = now.values.M * Eigen::VectorXd::Unit(n, i);
  for (Eigen::Index j = 0; j < now.values.A.rows(); ++j)
    for (const SparseRows::Entry& e : now.values.A.row(j)) K(n + j, e.col) = K(e.col, n + j) = e.value;
  const Eigen::MatrixXd N = K.inverse().topLeftCorner(n, n);
  Eigen::MatrixXd A = Eigen::MatrixXd::Zero(now.control.A.rows(), n);
  for (Eigen::Index j = 0; j < A.rows(); ++j)
    for (const SparseRows::Entry& e : now.control.A.row(j)) A(j, e.col) = e.value;
  Eigen::MatrixXd F(n, 0);
  if (now.control.E.cols() == 0) F = A.transpose();
  for (Eigen::Index k = 0; k < now.control.E.cols(); ++k) {
    if (mode.at_limit[static_cast<std::size_t>(k)] != 0) continue;
    F.conservativeResize(Eigen::NoChange, F.cols() + 1);
    F.rightCols(1) = now.control.E.col(k);
  }
  const auto spread = [](const Eigen::MatrixXd& of) {
    const Eigen::VectorXd s = Eigen::JacobiSVD<Eigen::MatrixXd>(of).singularValues();
    return s.size() > 0 ? s(0) / std::max(s(s.size() - 1), 1e-12 * s(0)) : 1.0;
  };
  return spread(K) * (F.cols() > 0 ? spread(A * N * F) : 1.0);
}

TEST(OpenControl, is_what_the_factors_say) {
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  int compiled = 0, states = 0, acting = 0, missing = 0;
  for (int trial = 0; trial < static_cast<int>(num_trials(400)); ++trial) {
    std::mt19937 random(seed + static_cast<unsigned>(trial));
    const std::string text = make_model(random, trial);
    SCOPED_TRACE(fmt::format("seed {}, trial {}\n{}", seed, trial, text));
    const Loaded loaded(text);
    Dynamics d(loaded.system);
    for (int s = 0; s < 6; ++s) {
      State state = loaded.start;
      state.t = 2.0 + unit(random);
      for (double& q : state.q) q = 1.5 * unit(random);
      for (double& v : state.qd) v = unit(random);
      std::vector<double> y = y_of(state, d.size()), dy(y.size()), by_factors(y.size());
      d.take_sides(state.t, y.data());
      if (!d.choose_rows(state.t, y.data())) continue;
      d.settle_control(state.t, y.data());
      if (s == 0) d.compile(state.t, y.data());
      const long robust = d.robust_evaluations;
      if (!d.rhs(state.t, y.data(), dy.data())) continue;
      const bool quick = d.is_compiled() && d.robust_evaluations == robust;
      std::vector<double> g(d.sides().size()), g_by_factors(g.size());
      ASSERT_TRUE(d.calc_switches(state.t, y.data(), g));
      d.prefer_robust = true;
      ASSERT_TRUE(d.calc_switches(state.t, y.data(), g_by_factors));
      ASSERT_TRUE(d.rhs_by_factors(state.t, y.data(), by_factors.data()));
      d.prefer_robust = false;
      ++states, compiled += quick;
      missing += d.misses_requirement();
      if (!quick) continue;
      const Instant now = accelerate(loaded.system, state, {.diagnose = false});
      ASSERT_TRUE(now.control);
      for (const double side : d.sides()) acting += side < 0.0;
      double size = 1.0 + now.solution.qdd.cwiseAbs().maxCoeff() + now.solution.Q_control.cwiseAbs().maxCoeff();
      if (now.control->tau.size() > 0) size += now.control->tau.cwiseAbs().maxCoeff();
      const double allowed = 1e-12 * size * calc_condition(loaded.system, state, now.control->mode);
      for (std::size_t i = 0; i < dy.size(); ++i) EXPECT_NEAR(dy[i], by_factors[i], allowed * (1.0 + size)) << i;
      for (int i = 0; i < d.n(); ++i)
        EXPECT_NEAR(dy[static_cast<std::size_t>(d.n() + i)], now.solution.qdd(i), allowed) << names[i];
      // What would be if something did not act may have a condition of its own.
      for (std::size_t i = 0; i < g.size(); ++i)
        EXPECT_NEAR(g[i], g_by_factors[i], 1e3 * allowed * (1.0 + std::abs(g_by_factors[i]))) << i;
    }
    if (HasFailure()) break;
  }
  // Most are by compiled code, and the law was tried.
  EXPECT_GT(compiled, 3 * states / 4) << compiled << " of " << states;
  EXPECT_GT(acting, states / 4);
  EXPECT_GT(missing, states / 10);
}

/// Steps of fourth order with the general solver's accelerations, from event to event.
State move_generally(const Loaded& loaded, State state, const std::vector<double>& times) {
  const auto rate = [&](const State& at) {
    const Instant now = accelerate(loaded.system, at, {.diagnose = false});
    EXPECT_TRUE(now.has_acceleration());
    return now.solution.qdd;
  };
  for (const double end : times) {
    const int steps = 1 + static_cast<int>(std::ceil((end - state.t) / 2e-3));
    const double h = (end - state.t) / steps;
    for (int k = 0; k < steps; ++k) {
      const auto ahead = [&](double part, const Eigen::VectorXd& qd, const Eigen::VectorXd& qdd) {
        return State{state.t + part * h, state.q + part * h * qd, state.qd + part * h * qdd};
      };
      const Eigen::VectorXd a1 = rate(state);
      const State s2 = ahead(0.5, state.qd, a1);
      const Eigen::VectorXd a2 = rate(s2);
      const State s3 = ahead(0.5, s2.qd, a2);
      const Eigen::VectorXd a3 = rate(s3);
      const State s4 = ahead(1.0, s3.qd, a3);
      const Eigen::VectorXd a4 = rate(s4);
      state = ahead(1.0, (state.qd + 2.0 * s2.qd + 2.0 * s3.qd + s4.qd) / 6.0, (a1 + 2.0 * a2 + 2.0 * a3 + a4) / 6.0);
    }
  }
  return state;
}

// What c does to the requirements keeps its sign: where it did not, and they are missed, the effort would jump from one limit to the other.
TEST(OpenControl, motions_through_limits_are_those_of_the_general_solver) {
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  std::size_t saturated = 0, released = 0;
  int compiled = 0;
  constexpr int trials = sanitized ? 2 : 12;
  for (int trial = 0; trial < trials; ++trial) {
    std::mt19937 random(seed + static_cast<unsigned>(trial));
    const double low = -0.6 - 0.3 * unit(random), high = 0.6 + 0.3 * unit(random);
    const std::string text = fmt::format(
        "coordinates = [\"x\", \"y\"]\n[dynamics]\nkinetic = \"(x'^2 + 2*y'^2 + cos(x - y)*x'*y')/2\"\n"
        "potential = \"(x^2 + y^2)/4\"\nforce = {{ x = \"-0.5*x'\", y = \"-0.5*y'\" }}\n[actuators]\n"
        "a = {{ x = \"1\", limit = [{}, {}] }}\nb = {{ y = \"1\", limit = {}, cost = 2 }}\n"
        "c = {{ x = \"{}\", y = \"0.5 + 0.1*x\", limit = 0.5 }}\n[control.r]\nequation = \"x + 0.3*y = {}*sin(2*t)\"\n"
        "frequency = 3.0\n{}",
        low, high, 0.5 + 0.2 * unit(random), 0.8 + 0.2 * unit(random), 0.5 + 0.1 * unit(random),
        trial % 2 ? "[control.s]\nequation = \"y = 0.2*cos(t)\"\nfrequency = 2.0\npriority = 2\n" : "");
    SCOPED_TRACE(fmt::format("seed {}, trial {}\n{}", seed, trial, text));
    const Loaded loaded(text);
    Integrator motion = loaded.integrator({.to = 3.0, .tolerance = 1e-11});
    const Sample end = run_to_end(motion);
    ASSERT_EQ(motion.stop().reason, StopReason::reached_end) << motion.stop().message;
    compiled += motion.statistics().robust < motion.statistics().evaluations / 10;
    std::vector<double> times;
    for (const MotionEvent& e : motion.events()) {
      if (times.empty() || e.time > times.back()) times.push_back(e.time);
      saturated += e.kind == EventKind::saturated, released += e.kind == EventKind::released;
    }
    times.push_back(3.0);
    const State other = move_generally(loaded, loaded.start, times);
    EXPECT_LE((other.q - end.q).norm(), 2e-9);
    EXPECT_LE((other.qd - end.qd).norm(), 2e-9);
    if (HasFailure()) break;
  }
  EXPECT_GT(saturated, static_cast<std::size_t>(trials));
  EXPECT_GT(released, static_cast<std::size_t>(trials));
  EXPECT_GE(compiled, trials - 1);
}

}  // namespace
}  // namespace mechanician
