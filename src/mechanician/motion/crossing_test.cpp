#include "mechanician/motion/crossing.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "mechanician/motion/motion_for_test.hpp"

namespace mechanician {
namespace {

using std::numbers::pi;
constexpr double eps = std::numeric_limits<double>::epsilon();

// ---- the plan of a step

struct Plan {
  const char* name;
  std::vector<SingularRoot> roots;
  double remaining;
  double h;  ///< expected, where a step of 1 is wanted
  bool crossing, turning;
  double at;
};

TEST(PlanStep, puts_the_singular_state_into_the_gap_between_the_stages) {
  const double place = crossing_place, far = 100.0;
  // Distances in steps: a group of roots is crossed at 0.4667 of a step no longer than 1.02 times what is wanted
  // (and 1.277 times the distance to the next group), else the step ends so that the next one crosses.
  const Plan table[] = {
      {"nothing ahead", {}, far, 1.0, false, false, 0.0},
      {"far ahead", {{1.36}}, far, 1.0, false, false, 0.0},
      {"within", {{0.4}}, far, 0.4 / place, true, false, 0.4},
      {"at the edge", {{0.475}}, far, 0.475 / place, true, false, 0.475},
      {"too far to cross now", {{0.6}}, far, 0.6 - place * 0.85, false, false, 0.0},
      {"beyond the step but not far", {{1.3}}, far, 1.3 - place * 0.85, false, false, 0.0},
      {"very near", {{0.01}}, far, 0.01 / place, true, false, 0.01},
      {"turning back", {{0.3, true}}, far, 0.3 / place, true, true, 0.3},
      {"two together", {{0.40}, {0.44}}, far, 0.42 / place, true, false, 0.42},
      {"one of two turns", {{0.40, true}, {0.44, false}}, far, 0.42 / place, true, false, 0.42},
      {"two apart", {{0.3}, {0.6}}, far, 0.3 - place * 0.85 * 1.277 * 0.3, false, false, 0.0},
      {"two apart, near", {{0.05}, {0.15}}, far, 0.05 / place, true, false, 0.05},
      {"the end comes first", {{0.4}}, 0.3, 0.3, false, false, 0.0},
      {"the end lies in the crossing", {{0.4}}, 0.35, 0.4 / place, true, false, 0.4},
  };
  for (const Plan& c : table) {
    SCOPED_TRACE(c.name);
    for (const double unit : {1.0, 1e-3, 50.0}) {
      std::vector<SingularRoot> roots = c.roots;
      for (SingularRoot& root : roots) root.tau *= unit;
      const StepPlan plan = plan_step(roots, unit, c.remaining * unit);
      EXPECT_NEAR(plan.h, c.h * unit, 16.0 * eps * unit);
      EXPECT_EQ(plan.crossing, c.crossing);
      if (c.crossing) {
        EXPECT_EQ(plan.turning, c.turning);
        EXPECT_NEAR(plan.at, c.at * unit, 16.0 * eps * unit);
      }
    }
  }
}

TEST(PlanStep, no_stage_comes_near_a_singular_state_whatever_lies_ahead) {
  const double nodes[] = {0.0, 0.0526, 0.0789, 0.1184, 0.2816, 1.0 / 3, 0.25, 0.3077, 0.6513, 0.6, 0.8571, 1.0};
  const unsigned seed = 3;
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> draw(0.0, 1.0);
  for (int trial = 0; trial < 20000; ++trial) {
    std::vector<SingularRoot> roots(1 + random() % 2);
    for (SingularRoot& root : roots) root.tau = std::pow(10.0, -3.0 * draw(random)) * 2.0;
    std::sort(roots.begin(), roots.end(), [](const auto& a, const auto& b) { return a.tau < b.tau; });
    const double h = 0.1 + draw(random), remaining = 0.1 + 20.0 * draw(random);
    const StepPlan plan = plan_step(roots, h, remaining);
    ASSERT_GT(plan.h, 0.0) << "seed " << seed << ", trial " << trial;
    ASSERT_LE(plan.h, 1.02 * h * (1.0 + 4.0 * eps)) << "seed " << seed << ", trial " << trial;
    if (!plan.crossing) {
      // Ends before the first, with room for the crossing step.
      if (roots[0].tau < 1.35 * h && remaining >= 0.8 * roots[0].tau) {
        EXPECT_LT(plan.h, roots[0].tau) << "seed " << seed << ", trial " << trial;
      }
      continue;
    }
    EXPECT_NEAR(plan.at / plan.h, crossing_place, 1e-9);
    if (roots.size() > 1 && roots[1].tau <= roots[0].tau + 0.2 * h) continue;
    for (const double node : nodes)
      EXPECT_GT(std::abs(node - roots[0].tau / plan.h), 0.13) << "seed " << seed << ", trial " << trial;
  }
}

// ---- prediction

/// A parallelogram of unit cranks and unit coupler that turns uniformly: flat at 0 and π.
const char* parallelogram = R"toml(
coordinates = ["x0", "y0", "x1", "y1"]
[dynamics]
kinetic = "(x0'^2 + y0'^2)/2 + (x1'^2 + y1'^2)/2"
[constraints]
crank0 = "x0^2 + y0^2 = 1"
crank1 = "(x1 - 1)^2 + y1^2 = 1"
coupler = "(x1 - x0)^2 + (y1 - y0)^2 = 1"
[start]
position = { y0 = 1, x1 = 1, y1 = 1 }
velocity = { x0 = -2, x1 = -2 }
)toml";

/// Its exact state at an angle, turning with rate w.
struct Turning {
  std::vector<double> y, qdd;
};
Turning turning(double angle, double w, int size) {
  const double c = std::cos(angle), s = std::sin(angle);
  Turning now{std::vector<double>(static_cast<std::size_t>(size), 0.0), {}};
  const double q[] = {c, s, 1.0 + c, s}, qd[] = {-w * s, w * c, -w * s, w * c};
  std::copy(q, q + 4, now.y.begin());
  std::copy(qd, qd + 4, now.y.begin() + 4);
  now.qdd = {-w * w * c, -w * w * s, -w * w * c, -w * w * s};
  return now;
}

TEST(CrossingPredictor, foresees_the_flat_position_of_a_parallelogram) {
  const Loaded model(parallelogram);
  Dynamics dynamics(model.system);
  CrossingPredictor predictor(dynamics);
  const std::vector<double> start = y_of(model.start, dynamics.size());
  ASSERT_TRUE(dynamics.choose_rows(0.0, start.data()));
  for (RowSet* set : {&dynamics.all, &dynamics.positions, &dynamics.velocities}) set->rank = 3;
  dynamics.compile(0.0, start.data());
  for (const double w : {2.0, -0.3, 50.0})
    for (const double before : {0.5, 0.2, 0.05, 1e-3, 1e-5}) {
      SCOPED_TRACE(testing::Message() << "rate " << w << ", " << before << " before");
      const Turning now = turning(pi - std::copysign(before, w), w, dynamics.size());
      ASSERT_TRUE(dynamics.choose_rows(0.0, now.y.data()));
      const double exact = before / std::abs(w);
      // With the step in which it would be crossed, and with a longer one.
      for (const double h : {exact / crossing_place, 1.3 * exact}) {
        const auto& roots = predictor.predict(0.0, now.y.data(), now.qdd.data(), h);
        ASSERT_FALSE(roots.empty());
        EXPECT_NEAR(roots.front().tau, exact, 0.05 * h);
        EXPECT_FALSE(roots.front().turning);
      }
      // The sine falls in proportion to the distance.
      EXPECT_LT(predictor.smallest(), 1.1 * before);
      EXPECT_GT(predictor.smallest(), 0.1 * before);
    }
  // Nothing near the upright position.
  const Turning up = turning(pi / 2 + 0.1, 2.0, dynamics.size());
  ASSERT_TRUE(dynamics.choose_rows(0.0, up.y.data()));
  const auto& roots = predictor.predict(0.0, up.y.data(), up.qdd.data(), 0.1);
  EXPECT_TRUE(roots.empty() || roots.front().tau > 0.3);
}

TEST(CrossingPredictor, decomposes_the_scaled_rows) {
  const Loaded model(parallelogram);
  Dynamics dynamics(model.system);
  CrossingPredictor predictor(dynamics);
  const Turning now = turning(0.7, 1.0, dynamics.size());
  ASSERT_TRUE(dynamics.choose_rows(0.0, now.y.data()));
  dynamics.compile(0.0, now.y.data());
  CrossingPredictor::Spectrum s;
  ASSERT_TRUE(predictor.calc_spectrum(0.0, now.y.data(), s));
  ASSERT_EQ(s.sigma.size(), 3);
  // Unit columns: Σσ² = 3. UᵀU = VᵀV = I. M = 1 here, so that Aᵀ D = U S Vᵀ.
  EXPECT_NEAR(s.sigma.squaredNorm(), 3.0, 64.0 * eps);
  EXPECT_LT((s.U.transpose() * s.U - Eigen::Matrix3d::Identity()).cwiseAbs().maxCoeff(), 64.0 * eps);
  EXPECT_LT((s.V.transpose() * s.V - Eigen::Matrix3d::Identity()).cwiseAbs().maxCoeff(), 64.0 * eps);
  Eigen::MatrixXd A = model.system
                          .evaluate({0.0, Eigen::Map<const Eigen::VectorXd>(now.y.data(), 4),
                                     Eigen::Map<const Eigen::VectorXd>(now.y.data() + 4, 4)})
                          .values.A.to_dense();
  EXPECT_LT((A.transpose() * s.D.asDiagonal() - s.U * s.sigma.asDiagonal() * s.V.transpose()).cwiseAbs().maxCoeff(),
            64.0 * eps);
  EXPECT_GE(s.sigma(0), s.sigma(1));
  EXPECT_GE(s.sigma(1), s.sigma(2));
}

TEST(CrossingPredictor, a_weak_singular_value_followed_by_its_vectors_changes_sign_at_the_crossing) {
  const Loaded model(parallelogram);
  Dynamics dynamics(model.system);
  CrossingPredictor predictor(dynamics);
  const Turning before = turning(pi - 0.05, 1.0, dynamics.size()), after = turning(pi + 0.05, 1.0, dynamics.size());
  ASSERT_TRUE(dynamics.choose_rows(0.0, before.y.data()));
  dynamics.compile(0.0, before.y.data());
  CrossingPredictor::Spectrum s;
  ASSERT_TRUE(predictor.calc_spectrum(0.0, before.y.data(), s));
  double here = 0.0, there = 0.0;
  ASSERT_TRUE(predictor.calc_signed(0.0, before.y.data(), s, 2, here));
  ASSERT_TRUE(predictor.calc_signed(0.0, after.y.data(), s, 2, there));
  EXPECT_NEAR(here, s.sigma(2), 64.0 * eps);
  EXPECT_NEAR(there, -here, 0.1 * here);
}

// ---- motions

std::vector<MotionEvent> singular_events(const Integrator& integrator) {
  std::vector<MotionEvent> events;
  for (const MotionEvent& e : integrator.events())
    if (e.kind == EventKind::singular) events.push_back(e);
  return events;
}

TEST(Crossing, a_parallelogram_turns_uniformly_through_its_flat_positions) {
  const Loaded model(parallelogram);
  for (const double tolerance : {1e-4, 1e-6, 1e-8, 1e-10, 1e-12}) {
    SCOPED_TRACE(tolerance);
    Integrator integrator = model.integrator({.to = 10.0, .tolerance = tolerance});
    const Sample end = run_to_end(integrator);
    ASSERT_EQ(integrator.stop().reason, StopReason::reached_end) << integrator.stop().message;
    const double allowed = std::max(100.0 * tolerance, 1e-9), angle = pi / 2 + 20.0;
    EXPECT_NEAR(end.q(0), std::cos(angle), allowed);
    EXPECT_NEAR(end.q(3), std::sin(angle), allowed);
    const auto events = singular_events(integrator);
    ASSERT_EQ(events.size(), 6u);
    EXPECT_EQ(integrator.statistics().crossings, 6);
    for (std::size_t k = 0; k < events.size(); ++k) {
      const MotionEvent& e = events[k];
      EXPECT_NEAR(e.time, (pi / 2 + pi * static_cast<double>(k)) / 2.0, allowed);
      EXPECT_NEAR(std::abs(e.q(0)), 1.0, allowed);
      EXPECT_NEAR(e.q(1), 0.0, allowed);
      EXPECT_EQ(e.dimension, 1);
      EXPECT_LT(e.sigma, std::max(1e-6, 100.0 * tolerance));
      EXPECT_FALSE(e.turning);
      EXPECT_EQ(e.constraints.size(), 3u);
    }
    const Certificate certificate = integrator.certificate();
    EXPECT_TRUE(certificate.holds) << certificate.reasons[0];
    EXPECT_LT(certificate.position_violation, 1e-13);
  }
}

TEST(Crossing, samples_around_a_crossing_are_as_good_as_elsewhere) {
  const Loaded model(parallelogram);
  Integrator integrator = model.integrator({.to = 2.0, .tolerance = 1e-9});
  while (integrator.advance())
    for (int k = 0; k <= 40; ++k) {
      const double t = integrator.step_begin() + k / 40.0 * (integrator.t() - integrator.step_begin());
      const Sample s = integrator.sample(t);
      const double angle = pi / 2 + 2.0 * t;
      EXPECT_NEAR(s.q(0), std::cos(angle), 1e-7);
      EXPECT_NEAR(s.qd(0), -2.0 * std::sin(angle), 1e-6);
      EXPECT_NEAR(s.qdd(0), -4.0 * std::cos(angle), 1e-4) << "at t = " << t;
      // The force keeps both points on their circles; multipliers are not unique at the crossing, the force is.
      EXPECT_NEAR(s.Qc(0), -4.0 * std::cos(angle), 1e-4) << "at t = " << t;
      EXPECT_LT(s.residual, 1e-6);
    }
}

TEST(Crossing, a_row_that_vanishes_for_an_instant_is_crossed_and_reported) {
  // Bernoulli's lemniscate at unit speed: a quarter is 1.31102877714605990523 long (half the lemniscate constant).
  const double quarter = 1.31102877714605990523;
  const Loaded model(R"toml(
coordinates = ["x", "y"]
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
[constraints]
lemniscate = "(x^2 + y^2)^2 = x^2 - y^2"
[start]
position = { x = 1 }
velocity = { y = 1 }
)toml");
  for (const double tolerance : {1e-5, 1e-8, 1e-11}) {
    SCOPED_TRACE(tolerance);
    Integrator integrator = model.integrator({.to = 4.0 * quarter, .tolerance = tolerance});
    const Sample end = run_to_end(integrator);
    ASSERT_EQ(integrator.stop().reason, StopReason::reached_end) << integrator.stop().message;
    const double allowed = std::max(1000.0 * tolerance, 1e-8);
    EXPECT_NEAR(end.q(0), 1.0, allowed);
    EXPECT_NEAR(end.q(1), 0.0, allowed);
    const auto events = singular_events(integrator);
    ASSERT_EQ(events.size(), 2u);
    EXPECT_NEAR(events[0].time, quarter, allowed);
    EXPECT_NEAR(events[1].time, 3.0 * quarter, allowed);
    EXPECT_EQ(events[0].constraints, std::vector<std::string>{"lemniscate"});
    EXPECT_LT(events[0].q.norm(), allowed);
  }
}

TEST(Crossing, is_none_where_a_row_that_was_left_out_stands_in) {
  // `turning` becomes parallel to `first` at t = π/2; the plane stays held by `slanted`, which depends on them elsewhere.
  const Loaded model(R"toml(
coordinates = ["x", "y", "z"]
[dynamics]
kinetic = "(x'^2 + y'^2 + z'^2)/2"
potential = "9.81*z"
[constraints]
first = "x = 0"
turning = "x*cos(t + pi/2) + y*sin(t + pi/2) = 0"
slanted = "0.8*x + 0.6*y = 0"
)toml");
  for (const bool stands_in : {true, false}) {
    Model other = model.system.model();
    if (!stands_in) other.constraints.pop_back();  // now the rank does drop
    const Loaded now(std::move(other));
    Integrator integrator = now.integrator({.to = 3.0});
    while (integrator.advance()) {
    }
    EXPECT_EQ(integrator.t(), 3.0);
    ASSERT_EQ(integrator.events().size(), stands_in ? 0u : 1u);
    if (!stands_in) {
      EXPECT_NEAR(integrator.events().front().time, 1.5707963267948966, 1e-9);
    }
    const Sample end = integrator.sample(3.0);
    EXPECT_NEAR(end.q(0), 0.0, 1e-12);
    EXPECT_NEAR(end.q(1), 0.0, 1e-12);
    EXPECT_NEAR(end.q(2), -9.81 * 4.5, 1e-9);
  }
}

TEST(Crossing, two_mechanisms_that_cross_at_different_times_are_both_reported) {
  const char* text = R"toml(
coordinates = ["x0", "y0", "x1", "y1", "u0", "v0", "u1", "v1"]
[dynamics]
kinetic = "(x0'^2 + y0'^2 + x1'^2 + y1'^2 + u0'^2 + v0'^2 + u1'^2 + v1'^2)/2"
[constraints]
a0 = "x0^2 + y0^2 = 1"
a1 = "(x1 - 1)^2 + y1^2 = 1"
a2 = "(x1 - x0)^2 + (y1 - y0)^2 = 1"
b0 = "u0^2 + v0^2 = 1"
b1 = "(u1 - 1)^2 + v1^2 = 1"
b2 = "(u1 - u0)^2 + (v1 - v0)^2 = 1"
[start]
position = { y0 = 1, x1 = 1, y1 = 1, v0 = 1, u1 = 1, v1 = 1 }
)toml";
  // Rates of the second: equal (both at once) and unequal.
  for (const double rate : {2.0, 1.3, 1.9, 2.0001, 2.001, 2.01}) {
    SCOPED_TRACE(rate);
    Loaded model(text);
    for (const char* name : {"x0", "x1"}) model.start.qd(model.at(name)) = -2.0;
    for (const char* name : {"u0", "u1"}) model.start.qd(model.at(name)) = -rate;
    Integrator integrator = model.integrator({.to = 3.0, .tolerance = 1e-9});
    const Sample end = run_to_end(integrator);
    ASSERT_EQ(integrator.stop().reason, StopReason::reached_end) << integrator.stop().message;
    EXPECT_NEAR(end.q(0), std::cos(pi / 2 + 6.0), 1e-7);
    EXPECT_NEAR(end.q(4), std::cos(pi / 2 + 3.0 * rate), 1e-7);
    std::vector<double> exact;
    for (const double w : {2.0, rate})
      for (double angle = pi / 2; angle < 3.0 * w; angle += pi) exact.push_back(angle / w);
    int dimensions = 0;
    for (const MotionEvent& e : singular_events(integrator)) {
      dimensions += e.dimension;
      double nearest = 1.0;
      for (const double t : exact) nearest = std::min(nearest, std::abs(t - e.time));
      EXPECT_LT(nearest, 1e-6) << "event at " << e.time;
    }
    EXPECT_EQ(dimensions, static_cast<int>(exact.size()));
    EXPECT_TRUE(integrator.certificate().holds);
  }
}

TEST(Crossing, every_singular_state_of_a_step_that_is_long_for_the_constraints_is_reported) {
  // Without forces the angles are linear in time, and a few steps take the cranks round several times.
  Loaded model(R"toml(
coordinates = ["p", "r", "s"]
[dynamics]
mass = { p = "1", r = "0.1", s = "1" }
[constraints]
along = "cos(p) + 2*cos(r) - cos(s) = 2"
across = "sin(p) + 2*sin(r) - sin(s) = 0"
[start]
position = { p = 0.3, s = 0.3 }
velocity = { p = 7, s = 7 }
)toml");
  for (const double tolerance : {1e-3, 1e-6, 1e-9, 1e-12}) {
    SCOPED_TRACE(tolerance);
    Integrator integrator = model.integrator({.to = 4.0, .tolerance = tolerance});
    run_to_end(integrator);
    const auto events = singular_events(integrator);
    ASSERT_EQ(events.size(), 9u);
    for (std::size_t k = 0; k < events.size(); ++k)
      EXPECT_NEAR(events[k].time, (static_cast<double>(k + 1) * pi - 0.3) / 7.0, std::max(10.0 * tolerance, 1e-9));
  }
}

TEST(Crossing, beside_a_switch_and_with_the_implicit_method_singular_states_are_reported) {
  const auto uniform = [](const char* force) {
    return fmt::format(R"toml(
coordinates = ["x0", "y0", "x1", "y1"]
[dynamics]
kinetic = "(x0'^2 + y0'^2 + x1'^2 + y1'^2)/2"
force = {{ x0 = "{}" }}
[constraints]
crank0 = "x0^2 + y0^2 = 1"
crank1 = "(x1 - 1)^2 + y1^2 = 1"
coupler = "(x1 - x0)^2 + (y1 - y0)^2 = 1"
[start]
position = {{ y0 = 1, x1 = 1, y1 = 1 }}
velocity = {{ x0 = 2, x1 = 2 }}
)toml",
                       force);
  };
  // The same force on both sides of the switch, which lies just behind and just before the flat position.
  for (const char* force : {"0", "if(y0 > -0.001, x0*1e-9, x0/1e9)", "if(y0 > 0.01, x0*1e-9, x0/1e9)"})
    for (const Method method : {Method::dop853, Method::bdf}) {
      SCOPED_TRACE(testing::Message() << force << " " << name_of(method));
      const Loaded model(uniform(force));
      Integrator integrator = model.integrator({.to = 3.0, .tolerance = 1e-8, .method = method});
      run_to_end(integrator);
      EXPECT_EQ(integrator.stop().reason, StopReason::reached_end) << integrator.stop().message;
      const auto events = singular_events(integrator);
      ASSERT_EQ(events.size(), 2u);
      EXPECT_NEAR(events[0].time, pi / 4, 1e-6);
      EXPECT_NEAR(events[1].time, 3 * pi / 4, 1e-6);
    }
}

TEST(Crossing, a_row_that_vanishes_at_the_start_is_seen_when_it_vanishes_again) {
  // Thrown up along one of two lines that cross, from where they cross: back there after 2 v/g.
  const Loaded model(R"toml(
coordinates = ["x", "y"]
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[constraints]
cross = "x*y = 0"
[start]
velocity = { y = 2 }
)toml");
  for (const double tolerance : {1e-4, 1e-6, 1e-8, 1e-10, 1e-12}) {
    SCOPED_TRACE(tolerance);
    Integrator integrator = model.integrator({.to = 1.0, .tolerance = tolerance});
    run_to_end(integrator);
    const auto events = singular_events(integrator);
    ASSERT_EQ(events.size(), 2u);
    EXPECT_NEAR(events[1].time, 4.0 / 9.81, 1e-6);
  }
}

TEST(Crossing, a_crank_that_turns_back_before_the_flat_position_meets_nothing_singular) {
  // A parallelogram as a pendulum: from just below the flat position to just below it on the other side.
  Loaded model(R"toml(
coordinates = ["x0", "y0", "x1", "y1"]
[dynamics]
kinetic = "(x0'^2 + y0'^2)/2 + (x1'^2 + y1'^2)/2"
potential = "9.81*(y0 + y1)"
[constraints]
crank0 = "x0^2 + y0^2 = 1"
crank1 = "(x1 - 1)^2 + y1^2 = 1"
coupler = "(x1 - x0)^2 + (y1 - y0)^2 = 1"
)toml");
  const double angle = -0.02;
  model.start.q << std::cos(angle), std::sin(angle), 1.0 + std::cos(angle), std::sin(angle);
  Integrator integrator = model.integrator({.to = 5.0, .tolerance = 1e-9});
  run_to_end(integrator);
  EXPECT_EQ(integrator.stop().reason, StopReason::reached_end) << integrator.stop().message;
  EXPECT_TRUE(singular_events(integrator).empty());
  const Sample end = integrator.sample(5.0);
  // Still the parallelogram: both cranks parallel.
  EXPECT_NEAR(end.q(2) - end.q(0), 1.0, 1e-7);
  EXPECT_TRUE(integrator.certificate().holds);
}

// ---- redundant for good, and starts where nothing is determined

TEST(Crossing, mechanisms_that_are_redundant_for_good_are_neither_refused_nor_singular) {
  for (const char* name :
       {"three_cranks", "three_cranks_from_rest", "bricard", "viviani_redundant", "pendulum_redundant"}) {
    SCOPED_TRACE(name);
    Loaded model = load_case(name);
    // Not as far as the flat position of the cranks, which is singular.
    Integrator integrator = model.integrator({.to = 0.15, .tolerance = 1e-8});
    ASSERT_FALSE(integrator.refusal()) << integrator.refusal()->message;
    run_to_end(integrator);
    EXPECT_EQ(integrator.stop().reason, StopReason::reached_end) << integrator.stop().message;
    EXPECT_TRUE(singular_events(integrator).empty());
    EXPECT_TRUE(integrator.certificate().holds);
    // From rest it is as redundant as in motion.
    model.start.qd.setZero();
    EXPECT_FALSE(model.integrator({.to = 0.15}).refusal());
  }
}

TEST(Crossing, a_start_at_rest_where_motions_branch_off_is_refused_with_the_reason) {
  Loaded model(parallelogram);
  model.start.q << 1.0, 0.0, 2.0, 0.0;
  model.start.qd.setZero();
  const Integrator integrator = model.integrator({.to = 1.0});
  ASSERT_TRUE(integrator.refusal());
  EXPECT_EQ(integrator.refusal()->reason, StopReason::not_unique);
  for (const char* words : {"singular", "branch", "at rest", "from 3 to 2"})
    EXPECT_NE(integrator.refusal()->message.find(words), std::string::npos) << integrator.refusal()->message;
}

TEST(Crossing, a_start_in_motion_where_motions_branch_off_takes_the_branch_of_its_velocity) {
  Loaded model(parallelogram);
  model.start.q << 1.0, 0.0, 2.0, 0.0;
  // Both cranks turn alike: the parallelogram.
  model.start.qd << 0.0, 2.0, 0.0, 2.0;
  Integrator parallel = model.integrator({.to = 1.0, .tolerance = 1e-9});
  ASSERT_FALSE(parallel.refusal()) << parallel.refusal()->message;
  const Sample end = run_to_end(parallel);
  ASSERT_EQ(parallel.stop().reason, StopReason::reached_end) << parallel.stop().message;
  EXPECT_NEAR(end.q(0), std::cos(2.0), 1e-7);
  EXPECT_NEAR(end.q(3), std::sin(2.0), 1e-7);
  // The antiparallelogram does not exist for a coupler as long as the cranks: only the second crank turns, about the
  // first.
  model.start.qd << 0.0, 0.0, 0.0, 2.0;
  Integrator folded = model.integrator({.to = 0.5, .tolerance = 1e-9});
  ASSERT_FALSE(folded.refusal()) << folded.refusal()->message;
  const Sample rhombus = run_to_end(folded);
  ASSERT_EQ(folded.stop().reason, StopReason::reached_end) << folded.stop().message;
  EXPECT_NEAR(rhombus.q(0), 1.0, 1e-7);
  EXPECT_NEAR(rhombus.q(3), std::sin(1.0), 1e-7);
  // Neither: on no branch.
  model.start.qd << 0.0, 1.0, 0.0, 2.5;
  Integrator lost = model.integrator({.to = 0.5, .tolerance = 1e-9});
  if (!lost.refusal()) run_to_end(lost);
  EXPECT_TRUE(lost.stop().failed());
  EXPECT_FALSE(lost.stop().message.empty());
}

TEST(Crossing, one_mechanism_at_rest_on_its_bifurcation_beside_one_in_motion_is_refused_or_stays_at_rest) {
  Loaded model(R"toml(
coordinates = ["x0", "y0", "x1", "y1", "u0", "v0", "u1", "v1"]
[dynamics]
kinetic = "(x0'^2 + y0'^2 + x1'^2 + y1'^2 + u0'^2 + v0'^2 + u1'^2 + v1'^2)/2"
[constraints]
a0 = "x0^2 + y0^2 = 1"
a1 = "(x1 - 1)^2 + y1^2 = 1"
a2 = "(x1 - x0)^2 + (y1 - y0)^2 = 1"
b0 = "u0^2 + v0^2 = 1"
b1 = "(u1 - 1)^2 + v1^2 = 1"
b2 = "(u1 - u0)^2 + (v1 - v0)^2 = 1"
[start]
position = { y0 = 1, x1 = 1, y1 = 1, u0 = 1, u1 = 2 }
velocity = { x0 = -2, x1 = -2 }
)toml");
  Integrator integrator = model.integrator({.to = 2.0, .tolerance = 1e-9});
  if (integrator.refusal()) {
    EXPECT_EQ(integrator.refusal()->reason, StopReason::not_unique);
    EXPECT_NE(integrator.refusal()->message.find("branch"), std::string::npos) << integrator.refusal()->message;
    return;
  }
  const Sample end = run_to_end(integrator);
  ASSERT_EQ(integrator.stop().reason, StopReason::reached_end) << integrator.stop().message;
  EXPECT_NEAR(end.q(0), std::cos(pi / 2 + 4.0), 1e-7);
  EXPECT_NEAR(end.q(4), 1.0, 1e-9);
  EXPECT_NEAR(end.q(6), 2.0, 1e-9);
}

}  // namespace
}  // namespace mechanician
