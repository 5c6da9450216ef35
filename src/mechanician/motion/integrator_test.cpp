#include "mechanician/motion/integrator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <stdexcept>

#include "mechanician/motion/motion_for_test.hpp"

namespace mechanician {
namespace {

using std::numbers::pi;
constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();

/// x = sin t
Loaded sine(const std::string& more = "") { return line("-x", "velocity = { x = 1 }", more); }

std::vector<double> times_of(const Integrator& integrator, const std::string& name) {
  std::vector<double> times;
  for (const MotionEvent& e : integrator.events())
    if (e.name == name) times.push_back(e.time);
  return times;
}

// ---- options, ends, steps

TEST(Integrator, options_that_make_no_sense_are_refused) {
  const Loaded model = sine();
  const auto with = [&](const MotionOptions& options) { Integrator(model.system, model.start, options); };
  EXPECT_NO_THROW(with({.to = 1.0}));
  for (const double to : {0.0, -1.0, nan, inf}) EXPECT_THROW(with({.to = to}), std::invalid_argument) << to;
  for (const double tolerance : {0.0, -1e-6, 0.2, nan, inf})
    EXPECT_THROW(with({.to = 1.0, .tolerance = tolerance}), std::invalid_argument) << tolerance;
  for (const double step : {-1.0, nan}) {
    EXPECT_THROW(with({.to = 1.0, .first_step = step}), std::invalid_argument) << step;
    EXPECT_THROW(with({.to = 1.0, .largest_step = step}), std::invalid_argument) << step;
  }
  State wrong = model.start;
  wrong.q.resize(2);
  EXPECT_THROW(Integrator(model.system, wrong, {.to = 1.0}), std::invalid_argument);
}

TEST(Integrator, errors_follow_the_tolerance) {
  // Two oscillators, the first of which drives the second in resonance: x = sin t, y″ = −y + x′, y = t/2·sin t.
  const Loaded model(R"toml(
coordinates = ["x", "y"]
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
force = { x = "-x", y = "-y + x'" }
[start]
velocity = { x = 1 }
)toml");
  double last = 1.0;
  for (const double tolerance : {1e-4, 1e-6, 1e-8, 1e-10, 1e-12}) {  // steps are made at no looser one
    for (const Method method : {Method::dop853, Method::automatic}) {
      Integrator integrator = model.integrator({.to = 100.0, .tolerance = tolerance, .method = method});
      const Sample end = run_to_end(integrator);
      ASSERT_EQ(integrator.stop().reason, StopReason::reached_end);
      EXPECT_EQ(end.t, 100.0);
      const double error =
          std::max(std::abs(end.q(0) - std::sin(100.0)), std::abs(end.q(1) - 50.0 * std::sin(100.0)) / 50.0);
      EXPECT_LT(error, 30.0 * tolerance) << "tolerance " << tolerance;
      if (method == Method::automatic) {
        EXPECT_LT(error, 0.1 * last) << "tolerance " << tolerance;
        last = error;
      }
    }
  }
}

TEST(Integrator, steps_join_and_end_exactly_at_the_end) {
  for (const char* name : {"pendulum_90", "ladder_1_forward", "dry_friction"}) {
    SCOPED_TRACE(name);
    const Loaded model = load_case(name);
    Integrator integrator = model.integrator({.to = 1.7, .tolerance = 1e-8});
    EXPECT_EQ(integrator.t(), model.start.t);
    EXPECT_EQ(integrator.step_begin(), model.start.t);
    double last = model.start.t;
    while (integrator.advance()) {
      EXPECT_EQ(integrator.step_begin(), last);
      EXPECT_GT(integrator.t(), last);
      last = integrator.t();
    }
    EXPECT_EQ(last, 1.7);
    EXPECT_TRUE(integrator.over());
    EXPECT_FALSE(integrator.advance());
    EXPECT_EQ(integrator.stop().reason, StopReason::reached_end);
    EXPECT_TRUE(integrator.stop().message.empty());
  }
}

TEST(Integrator, the_first_and_the_largest_step_are_as_asked) {
  const Loaded model = sine();
  for (const Method method : {Method::dop853, Method::bdf}) {
    Integrator integrator = model.integrator({.to = 3.0, .tolerance = 1e-5, .method = method, .largest_step = 0.07});
    while (integrator.advance()) EXPECT_LE(integrator.t() - integrator.step_begin(), 0.07 * (1.0 + 1e-12));
    EXPECT_GE(integrator.statistics().steps, 42);
  }
  Integrator first = model.integrator({.to = 3.0, .first_step = 0.01});
  first.advance();
  EXPECT_EQ(first.t(), 0.01);
  Integrator too_long = model.integrator({.to = 3.0, .first_step = 100.0});
  too_long.advance();
  EXPECT_LE(too_long.t(), 3.0);
  run_to_end(too_long);
  EXPECT_NEAR(too_long.sample(3.0).q(0), std::sin(3.0), 1e-9);
}

TEST(Integrator, samples_outside_the_last_step_are_those_of_its_ends) {
  const Loaded model = sine();
  Integrator integrator = model.integrator({.to = 3.0});
  integrator.advance(), integrator.advance();
  EXPECT_TRUE(same_bits(numbers_of(integrator.sample(100.0)), numbers_of(integrator.sample(integrator.t()))));
  EXPECT_TRUE(same_bits(numbers_of(integrator.sample(-1.0)), numbers_of(integrator.sample(integrator.step_begin()))));
}

TEST(Integrator, sampling_does_not_change_the_motion) {
  for (const char* name :
       {"pendulum_90", "ladder_1_forward", "tent", "stiff_slow", "stiff_spring", "measured_ropes", "rough_hoop"}) {
    SCOPED_TRACE(name);
    const Loaded model = load_case(name);
    const MotionOptions options{.to = 1.0, .tolerance = 1e-4};
    Integrator quiet = model.integrator(options), sampled = model.integrator(options);
    while (quiet.advance()) {
      ASSERT_TRUE(sampled.advance());
      for (const double theta : {0.1, 0.6, 1.0})
        sampled.sample(sampled.step_begin() + theta * (sampled.t() - sampled.step_begin()));
      ASSERT_EQ(quiet.t(), sampled.t());
    }
    EXPECT_TRUE(same_bits(numbers_of(quiet.sample(1.0)), numbers_of(sampled.sample(1.0))));
  }
}

TEST(Integrator, stops_where_it_is_asked_to) {
  const Loaded model = sine();
  for (const Method method : {Method::dop853, Method::bdf}) {
    Integrator integrator = model.integrator({.to = 3.0, .method = method});
    integrator.advance();
    const double t = integrator.t();
    integrator.request_stop("enough");
    EXPECT_FALSE(integrator.advance());
    EXPECT_EQ(integrator.t(), t);
    EXPECT_EQ(integrator.stop().reason, StopReason::callback);
    EXPECT_EQ(integrator.stop().message, "enough");
    EXPECT_FALSE(integrator.stop().failed());
  }
}

// ---- starts

struct Refused {
  const char *name, *toml, *says;
  StopReason reason;
};

TEST(Integrator, starts_that_cannot_go_on_are_refused_with_the_reason) {
  const Refused table[] = {
      {"off the constraint", R"toml(
coordinates = ["x", "y"]
[dynamics]
kinetic = "x'^2 + y'^2"
[constraints]
rod = "x^2 + y^2 = 1"
[start]
position = { x = 1.1 }
)toml",
       "rod", StopReason::projection},
      {"velocity off the constraint", R"toml(
coordinates = ["x", "y"]
[dynamics]
kinetic = "x'^2 + y'^2"
[constraints]
blade = "x' = y"
[start]
velocity = { x = 1 }
)toml",
       "blade", StopReason::projection},
      {"contradiction", R"toml(
coordinates = ["x"]
[dynamics]
kinetic = "x'^2"
[constraints]
a = "x = t^2"
b = "x = 0"
)toml",
       "contradict", StopReason::contradiction},
      {"not unique", R"toml(
coordinates = ["x", "y"]
[dynamics]
mass = { x = 1, y = 0 }
)toml",
       "determine", StopReason::not_unique},
      {"not finite", R"toml(
coordinates = ["x"]
[dynamics]
kinetic = "x'^2"
force = { x = "sqrt(x - 1)" }
)toml",
       "sqrt(x - 1)", StopReason::not_finite},
  };
  for (const Refused& c : table) {
    SCOPED_TRACE(c.name);
    const Loaded model(c.toml);
    Integrator integrator = model.integrator({.to = 1.0});
    ASSERT_TRUE(integrator.refusal());
    EXPECT_EQ(integrator.refusal()->reason, c.reason);
    EXPECT_NE(integrator.refusal()->message.find(c.says), std::string::npos) << integrator.refusal()->message;
    EXPECT_TRUE(integrator.over());
    EXPECT_FALSE(integrator.advance());
    EXPECT_TRUE(integrator.stop().failed());
    EXPECT_EQ(integrator.stop().message, integrator.refusal()->message);
  }
}

TEST(Integrator, a_start_off_by_rounding_is_brought_onto_the_constraints_with_a_note) {
  const Loaded model(R"toml(
coordinates = ["x", "y"]
[dynamics]
kinetic = "x'^2 + y'^2"
[constraints]
rod = "x^2 + y^2 = 1"
[start]
position = { x = 0.6, y = 0.8000000001 }
)toml");
  Integrator integrator = model.integrator({.to = 1.0});
  ASSERT_FALSE(integrator.refusal());
  ASSERT_EQ(integrator.notes().size(), 1u);
  EXPECT_NE(integrator.notes()[0].find("moved onto the constraints"), std::string::npos);
  EXPECT_LT(integrator.sample(0.0).residual, 1e-15);
}

// ---- user events

TEST(Integrator, events_are_found_in_the_directions_asked_for) {
  const Loaded model = sine(R"toml(
[events]
any  = { when = "x" }
up   = { when = "x", direction = "up" }
down = { when = "x", direction = "down" }
top  = { when = "x'", direction = "down" }
half = { when = "x - 1/2" }
clock = { when = "t - 7.5" }
never = { when = "x - 1.001" }
)toml");
  for (const Method method : {Method::dop853, Method::bdf})
    for (const double tolerance : {1e-5, 1e-8, 1e-11}) {
      SCOPED_TRACE(testing::Message() << name_of(method) << ", tolerance " << tolerance);
      Integrator integrator = model.integrator({.to = 10.0, .tolerance = tolerance, .method = method});
      run_to_end(integrator);
      // The error of a time is that of the motion, of speed up to 1 there.
      const double allowed = (method == Method::bdf ? 1000.0 : 50.0) * tolerance;
      const auto expect = [&](const char* name, std::vector<double> exact, double flat = 1.0) {
        const std::vector<double> found = times_of(integrator, name);
        ASSERT_EQ(found.size(), exact.size()) << name;
        for (std::size_t i = 0; i < exact.size(); ++i) EXPECT_NEAR(found[i], exact[i], flat * allowed) << name;
      };
      expect("any", {pi, 2 * pi, 3 * pi});
      expect("up", {2 * pi});
      expect("down", {pi, 3 * pi});
      expect("top", {pi / 2, 5 * pi / 2});
      expect("half", {pi / 6, 5 * pi / 6, 13 * pi / 6, 17 * pi / 6});
      expect("never", {});
      ASSERT_EQ(times_of(integrator, "clock").size(), 1u);
      EXPECT_NEAR(times_of(integrator, "clock")[0], 7.5, 1e-14);
      const auto& events = integrator.events();
      EXPECT_TRUE(
          std::is_sorted(events.begin(), events.end(), [](const auto& a, const auto& b) { return a.time < b.time; }));
      for (const MotionEvent& e : events) {
        EXPECT_EQ(e.kind, EventKind::user);
        EXPECT_NEAR(e.q(0), std::sin(e.time), 2.0 * allowed);
        EXPECT_NEAR(e.qd_after(0), std::cos(e.time), 2.0 * allowed);
        EXPECT_EQ(e.qd_before, e.qd_after);
      }
    }
}

TEST(Integrator, several_events_of_one_step_come_in_their_order) {
  // x = t: a polynomial, made in steps as long as are allowed where there are events, a hundredth of the whole.
  const Loaded model = line("0", "velocity = { x = 1 }", R"toml(
[events]
c = { when = "x - 2" }
a = { when = "x - 1" }
b = { when = "(x - 1.5)*(x - 1.5001)" }
)toml");
  Integrator integrator = model.integrator({.to = 1000.0, .first_step = 10.0});
  integrator.advance();
  ASSERT_EQ(integrator.events().size(), 4u);
  const std::pair<const char*, double> expected[] = {{"a", 1.0}, {"b", 1.5}, {"b", 1.5001}, {"c", 2.0}};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(integrator.events()[i].name, expected[i].first);
    EXPECT_NEAR(integrator.events()[i].time, expected[i].second, 1e-10);
  }
}

TEST(Integrator, an_event_that_stops_ends_the_motion_and_what_comes_later_in_the_step_is_not_reported) {
  const Loaded model = line("0", "velocity = { x = 1 }", R"toml(
[events]
early = { when = "x - 0.9" }
wrong_way = { when = "x - 0.95", direction = "down", do = "stop" }
stop  = { when = "x - 1", direction = "up", do = "stop" }
late  = { when = "x - 1.1" }
)toml");
  for (const Method method : {Method::dop853, Method::bdf}) {
    Integrator integrator = model.integrator({.to = 100.0, .method = method});
    const Sample end = run_to_end(integrator);
    EXPECT_EQ(integrator.stop().reason, StopReason::event);
    EXPECT_FALSE(integrator.stop().failed());
    EXPECT_NE(integrator.stop().message.find("`stop`"), std::string::npos) << integrator.stop().message;
    EXPECT_NEAR(integrator.t(), 1.0, 1e-9);
    EXPECT_NEAR(end.q(0), 1.0, 1e-9);
    ASSERT_EQ(integrator.events().size(), 2u);
    EXPECT_EQ(integrator.events()[0].name, "early");
    EXPECT_EQ(integrator.events()[1].name, "stop");
    EXPECT_EQ(integrator.events()[1].time, integrator.t());
    EXPECT_FALSE(integrator.advance());
  }
}

TEST(Integrator, a_zero_at_the_start_is_no_event_but_its_return_is) {
  const Loaded model = sine("[events]\nzero = { when = \"x\" }\n");
  Integrator integrator = model.integrator({.to = 4.0});
  run_to_end(integrator);
  ASSERT_EQ(integrator.events().size(), 1u);
  EXPECT_NEAR(integrator.events()[0].time, pi, 1e-8);
}

TEST(Integrator, events_just_before_the_end_are_found_and_just_after_it_are_not) {
  const Loaded model = line("0", "velocity = { x = 1 }", R"toml(
[events]
before = { when = "x - 0.999999999" }
after  = { when = "x - 1.000000001" }
)toml");
  Integrator integrator = model.integrator({.to = 1.0});
  run_to_end(integrator);
  EXPECT_EQ(times_of(integrator, "before").size(), 1u);
  EXPECT_EQ(times_of(integrator, "after").size(), 0u);
}

TEST(Integrator, events_may_ask_for_accelerations_and_constrained_coordinates) {
  // A bead on a circle, uniform: x″ = −x.
  const Loaded model(R"toml(
coordinates = ["x", "y"]
[dynamics]
kinetic = "x'^2 + y'^2"
[constraints]
circle = "x^2 + y^2 = 1"
[start]
position = { x = 1 }
velocity = { y = 1 }
[events]
turn = { when = "x'' - 0.5" }
)toml");
  Integrator integrator = model.integrator({.to = 3.0, .tolerance = 1e-10});
  run_to_end(integrator);
  ASSERT_EQ(integrator.events().size(), 1u);
  EXPECT_NEAR(integrator.events()[0].time, 2 * pi / 3, 1e-8);
  EXPECT_NEAR(integrator.events()[0].q.norm(), 1.0, 1e-15);
}

// ---- what has no value, no solution

struct Undefined {
  const char* name;
  std::string force, start;
  double when;                    ///< the motion ends here
  std::vector<const char*> says;  ///< sub-expression and operands
};

TEST(Integrator, a_value_that_is_not_finite_is_named_with_its_operands_time_and_place) {
  const Undefined table[] = {
      {"root", "sqrt(1 - x)", "velocity = { x = 1 }", 0.7613055810, {"sqrt(1 - x)", "`sqrt` of -"}},
      {"logarithm",
       "log(x) + 0*x",
       "position = { x = 1 }\nvelocity = { x = -2 }",
       0.4735706850,
       {"log(x)", "`log` of -"}},
      {"division by zero", "if(t < 1, 1, 1/max(1 - t, 0))", "time = 0", 1.0, {"1/max(1 - t, 0)", "divided by zero"}},
      {"arc sine", "asin(t)", "time = 0", 1.0, {"asin(t)", "`asin` of 1.00"}},
      {"power", "(1 - t)^1.5", "time = 0", 1.0, {"(1 - t)^1.5"}},
  };
  for (const Undefined& c : table)
    for (const Method method : {Method::dop853, Method::bdf}) {
      SCOPED_TRACE(testing::Message() << c.name << ", " << name_of(method));
      const Loaded model = line(c.force, c.start);
      Integrator integrator = model.integrator({.to = 3.0, .tolerance = 1e-9, .method = method});
      ASSERT_FALSE(integrator.refusal());
      while (integrator.advance()) ASSERT_LT(integrator.statistics().steps, 20000);
      const Stop& stop = integrator.stop();
      EXPECT_EQ(stop.reason, StopReason::not_finite) << stop.message;
      EXPECT_NEAR(integrator.t(), c.when, 1e-3);
      for (const char* words : c.says) EXPECT_NE(stop.message.find(words), std::string::npos) << stop.message;
      EXPECT_NE(stop.message.find("at t = "), std::string::npos) << stop.message;
      EXPECT_NE(stop.message.find("x = "), std::string::npos) << stop.message;
      EXPECT_EQ(stop.place.line, 4) << stop.message;
      EXPECT_TRUE(integrator.sample(integrator.t()).q.allFinite());
    }
}

TEST(Integrator, a_nonideal_force_of_reactions_that_is_not_finite_is_named) {
  // ideal(y) = 1 − t.
  const Loaded model(R"toml(
coordinates = ["x", "y"]
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
force = { y = "t - 1" }
[constraints]
table = "y = 0"
[nonideal]
x = "-sqrt(ideal(y))"
[start]
velocity = { x = 5 }
)toml");
  Integrator integrator = model.integrator({.to = 3.0, .tolerance = 1e-9});
  run_to_end(integrator);
  EXPECT_EQ(integrator.stop().reason, StopReason::not_finite);
  EXPECT_NEAR(integrator.t(), 1.0, 1e-9);
  EXPECT_NE(integrator.stop().message.find("sqrt(ideal(y))"), std::string::npos) << integrator.stop().message;
  EXPECT_EQ(integrator.stop().place.line, 9);
}

struct Contradiction {
  const char *name, *toml;
  double when;
};

TEST(Integrator, constraints_that_come_to_contradict_each_other_end_the_motion_there) {
  const Contradiction table[] = {
      {"positions", "[constraints]\na = \"x + y = 1\"\nb = \"x + y = 1 + max(t - 1, 0)^3\"\n", 1.0},
      {"velocities", "[constraints]\na = \"x' + y' = 0\"\nb = \"x' + y' = max(t - 1, 0)^2\"\n", 1.0},
      {"accelerations", "[constraints]\na = \"x'' = 0\"\nb = \"x'' = max(t - 1, 0)\"\n", 1.0},
      {"constraint and control", "[constraints]\na = \"x = 1\"\n[control.b]\nequation = \"x = 1 + max(t - 1, 0)^3\"\n",
       1.0},
      {"two controls", "[control.a]\nequation = \"x = 1\"\n[control.b]\nequation = \"x = 1 + max(t - 1, 0)^3\"\n", 1.0},
      {"a jump", "[constraints]\na = \"x = 1\"\nb = \"2*x = if(t < 1, 2, 3)\"\n", 1.0},
      {"no freedom", "[constraints]\na = \"x = 1\"\nc = \"y = 0\"\nb = \"x*y = max(t - 1, 0)^3\"\n", 1.0},
  };
  for (const Contradiction& c : table)
    for (const Method method : {Method::dop853, Method::bdf}) {
      SCOPED_TRACE(testing::Message() << c.name << ", " << name_of(method));
      const Loaded model(std::string_view("coordinates = [\"x\", \"y\"]\n[dynamics]\nkinetic = \"x'^2 + y'^2\"\n" +
                                          std::string(c.toml) + "[start]\nposition = { x = 1 }\n"));
      Integrator integrator = model.integrator({.to = 2.0, .tolerance = 1e-8, .method = method});
      ASSERT_FALSE(integrator.refusal()) << integrator.refusal()->message;
      run_to_end(integrator);
      EXPECT_EQ(integrator.stop().reason, StopReason::contradiction) << integrator.stop().message;
      EXPECT_NEAR(integrator.t(), c.when, 0.02);
      EXPECT_NE(integrator.stop().message.find("`b`"), std::string::npos) << integrator.stop().message;
    }
}

TEST(Integrator, constraints_that_no_state_satisfies_any_more_end_the_motion) {
  // Two rods between pins that move apart: taut at t = 1.
  const Loaded model(R"toml(
coordinates = ["x", "y"]
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
[constraints]
left  = "x^2 + y^2 = 1"
right = "(x - 1 - t)^2 + y^2 = 1"
[start]
position = { x = 0.5, y = 0.8660254037844386 }
velocity = { x = 0.5, y = -0.2886751345948129 }
)toml");
  for (const Method method : {Method::dop853, Method::bdf}) {
    SCOPED_TRACE(name_of(method));
    Integrator integrator = model.integrator({.to = 2.0, .tolerance = 1e-8, .method = method});
    ASSERT_FALSE(integrator.refusal()) << integrator.refusal()->message;
    while (integrator.advance()) ASSERT_LT(integrator.statistics().steps, 20000);
    EXPECT_TRUE(integrator.stop().failed()) << integrator.stop().message;
    EXPECT_NEAR(integrator.t(), 1.0, 0.01);
    EXPECT_FALSE(integrator.stop().message.empty());
  }
}

TEST(Integrator, a_mass_that_vanishes_without_a_constraint_ends_the_motion) {
  const Loaded model(R"toml(
coordinates = ["x"]
[dynamics]
mass = { x = "1 - t" }
force = { x = "1" }
)toml");
  Integrator integrator = model.integrator({.to = 2.0, .tolerance = 1e-8});
  while (integrator.advance()) ASSERT_LT(integrator.statistics().steps, 20000);
  EXPECT_TRUE(integrator.stop().failed());
  EXPECT_NEAR(integrator.t(), 1.0, 1e-6);
}

// ---- stiffness

TEST(Integrator, stiff_motions_are_noticed_and_given_to_bdf) {
  const Loaded model = load_case("stiff_slow");
  Integrator automatic = model.integrator({.to = 10.0, .tolerance = 1e-8});
  const Sample end = run_to_end(automatic);
  ASSERT_EQ(automatic.stop().reason, StopReason::reached_end);
  EXPECT_NEAR(end.q(0), std::cos(10.0), 1e-6);
  ASSERT_EQ(automatic.notes().size(), 1u);
  EXPECT_NE(automatic.notes()[0].find("changed from dop853 to bdf"), std::string::npos);
  EXPECT_GT(automatic.statistics().jacobians, 0);
  EXPECT_LT(automatic.statistics().steps, 3000);
  EXPECT_TRUE(automatic.certificate().holds);

  Integrator forced = model.integrator({.to = 10.0, .tolerance = 1e-8, .method = Method::bdf});
  EXPECT_NEAR(run_to_end(forced).q(0), std::cos(10.0), 1e-6);
  EXPECT_TRUE(forced.notes().empty());

  Integrator told = model.integrator({.to = 0.02, .tolerance = 1e-8, .method = Method::dop853});
  EXPECT_NEAR(run_to_end(told).q(0), std::cos(0.02), 1e-6);
  ASSERT_EQ(told.notes().size(), 1u);
  EXPECT_NE(told.notes()[0].find("stiff"), std::string::npos);
  EXPECT_EQ(told.statistics().jacobians, 0);
}

TEST(Integrator, what_is_not_stiff_stays_explicit) {
  for (const char* name : {"pendulum_90", "kepler_0.9", "ladder_1_forward", "rolling_disk"}) {
    const Loaded model = load_case(name);
    Integrator integrator = model.integrator({.to = 3.0, .tolerance = 1e-8});
    run_to_end(integrator);
    EXPECT_EQ(integrator.statistics().jacobians, 0) << name;
    EXPECT_TRUE(integrator.notes().empty()) << name;
  }
}

TEST(Integrator, bdf_holds_constraints_as_the_explicit_method_does) {
  const Loaded model = load_case("pendulum_90");
  Integrator bdf = model.integrator({.to = 2.0, .tolerance = 1e-9, .method = Method::bdf}),
             dop853 = model.integrator({.to = 2.0, .tolerance = 1e-12, .method = Method::dop853});
  const Sample a = run_to_end(bdf), b = run_to_end(dop853);
  EXPECT_LT((a.q - b.q).norm(), 1e-6);
  EXPECT_LT(bdf.certificate().position_violation, 1e-14);
  EXPECT_GT(bdf.statistics().jacobians, 0);
}

}  // namespace
}  // namespace mechanician
