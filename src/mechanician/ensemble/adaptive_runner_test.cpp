#include "mechanician/ensemble/adaptive_runner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <span>

#include "mechanician/instant/project.hpp"
#include "mechanician/model/parameters.hpp"
#include "mechanician/model/read_model.hpp"
#include "mechanician/motion/integrator.hpp"

namespace mechanician {
namespace {

struct Ready {
  System system;
  State start;
};

Ready make(Model model) {
  const ParameterValues parameters = evaluate_parameters(model);
  State start = state_of(start_state(model, parameters));
  return {System(std::move(model), parameters.values), std::move(start)};
}
Ready read(const std::string& name) {
  return make(read_model(std::string(MECHANICIAN_SOURCE_DIR) + "/models/" + name + ".toml"));
}

/// The integrator of `run`, one motion after the other, each of a system of its own.
class Alone {
 public:
  Alone(const System& system, EnsembleOptions options) : system_(system), options_(options) {}
  void run(const MotionBatch& batch, BatchResult& result) const {
    const auto n = static_cast<std::size_t>(batch.n), p = static_cast<std::size_t>(batch.num_parameters);
    for (std::size_t i = 0; i < static_cast<std::size_t>(batch.count); ++i) {
      const auto from = batch.parameters.begin() + static_cast<std::ptrdiff_t>(i * p);
      const System system(system_.model(), {from, from + static_cast<std::ptrdiff_t>(p)}, System::Checked::already);
      const State start{batch.t, Eigen::Map<const Eigen::VectorXd>(batch.q.data() + i * n, batch.n),
                        Eigen::Map<const Eigen::VectorXd>(batch.qd.data() + i * n, batch.n)};
      Integrator integrator(system, start,
                            {.to = options_.to, .tolerance = options_.tolerance, .method = options_.adaptive});
      if (integrator.refusal()) {
        result.reason[i] = integrator.refusal()->message;
        continue;
      }
      while (integrator.advance()) {
      }
      const Sample end = integrator.sample(integrator.t());
      std::copy(end.q.begin(), end.q.end(), result.q.begin() + static_cast<std::ptrdiff_t>(i * n));
      std::copy(end.qd.begin(), end.qd.end(), result.qd.begin() + static_cast<std::ptrdiff_t>(i * n));
      result.t[i] = end.t, result.steps[i] = integrator.statistics().steps;
      const Certificate c = integrator.certificate();
      result.outcome[i] = integrator.stop().failed()                      ? Outcome::failed
                          : !c.holds                                      ? Outcome::suspect
                          : integrator.stop().reason == StopReason::event ? Outcome::stopped
                                                                          : Outcome::done;
      result.reason[i] = integrator.stop().message;
      result.events[i] = static_cast<std::int64_t>(integrator.events().size());
      result.violation[i] = std::max(c.position_violation, c.velocity_violation);
      result.balance[i] = c.balance_largest / c.balance_allowed;
    }
  }

 private:
  System system_;
  EnsembleOptions options_;
};

/// Starts whose velocities differ from the model's by a few per cent, on the constraints; the first is the model's.
MotionBatch starts_near(const Ready& ready, int count, unsigned seed) {
  MotionBatch batch;
  batch.count = count, batch.n = ready.system.n(),
  batch.num_parameters = static_cast<int>(ready.system.parameters().size());
  batch.t = ready.start.t;
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-0.05, 0.05);
  for (int k = 0; k < count; ++k) {
    State state = ready.start;
    if (k > 0) {
      for (Eigen::Index i = 0; i < state.qd.size(); ++i)
        state.qd(i) += uniform(random) * std::max(0.1, std::abs(state.qd(i)));
      state = project(ready.system, state).state;
    }
    batch.q.insert(batch.q.end(), state.q.begin(), state.q.end());
    batch.qd.insert(batch.qd.end(), state.qd.begin(), state.qd.end());
    batch.parameters.insert(batch.parameters.end(), ready.system.parameters().begin(), ready.system.parameters().end());
  }
  return batch;
}

BatchResult run(const Ready& ready, const MotionBatch& batch, const EnsembleOptions& options,
                const LaneOptions& lanes = {}) {
  const LaneRunnerResult made = make_adaptive_runner(ready.system, ready.start, options, lanes);
  EXPECT_TRUE(made.made) << made.reason;
  BatchResult result(batch);
  if (made.made) made.made->run(batch, result);
  return result;
}

LaneOptions lanes_of(int lanes) {
  LaneOptions options;
  options.code.lanes = lanes;
  return options;
}

struct Case {
  const char* model;
  double to;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.model; }

class AdaptiveLanes : public testing::TestWithParam<Case> {};

TEST_P(AdaptiveLanes, take_the_steps_of_single_runs) {
  constexpr unsigned seed = 5;
  const Ready ready = read(GetParam().model);
  const EnsembleOptions options{.to = GetParam().to, .tolerance = 1e-8};
  const MotionBatch batch = starts_near(ready, 11, seed);
  const BatchResult lanes = run(ready, batch, options);
  BatchResult alone(batch);
  Alone(ready.system, options).run(batch, alone);
  const auto n = static_cast<std::size_t>(batch.n);
  for (std::size_t i = 0; i < 11; ++i) {
    EXPECT_EQ(lanes.outcome[i], Outcome::done) << "seed " << seed << " motion " << i << ' ' << lanes.reason[i];
    EXPECT_EQ(lanes.served[i], 0) << "seed " << seed << " motion " << i;
    EXPECT_EQ(lanes.t[i], alone.t[i]);
    EXPECT_EQ(lanes.steps[i], alone.steps[i]) << "seed " << seed << " motion " << i;
    // Rounding that grows along the motion; the error of either run is a thousand times larger.
    for (std::size_t j = 0; j < n; ++j)
      EXPECT_NEAR(lanes.q[i * n + j], alone.q[i * n + j], 1e-11 * std::max(1.0, std::abs(alone.q[i * n + j])));
    EXPECT_LE(lanes.violation[i], std::max(1e-12, 10.0 * alone.violation[i]));  // both are rounding
    EXPECT_LT(lanes.balance[i], 1.0);
    if (alone.balance[i] > 1e-3) {
      EXPECT_NEAR(lanes.balance[i], alone.balance[i], 0.05 * alone.balance[i]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, AdaptiveLanes,
                         testing::Values(Case{"rolling_disk", 2.0}, Case{"squeezer", 0.03}, Case{"four_bar", 1.0},
                                         Case{"double_pendulum", 2.0}, Case{"car_axis", 0.5},
                                         Case{"kapitza_pendulum", 0.3}, Case{"peaucellier", 2.0},
                                         Case{"ball_on_turntable", 2.0}, Case{"three_rods", 1.0}),
                         [](const auto& named) { return std::string(named.param.model); });

/// Some motions of a batch.
MotionBatch part_of(const MotionBatch& batch, int from, int count) {
  MotionBatch part = batch;
  const auto cut = [&](std::vector<double>& x, int width) {
    x.erase(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(from) * width);
    x.resize(static_cast<std::size_t>(count) * static_cast<std::size_t>(width));
  };
  part.count = count;
  cut(part.q, batch.n), cut(part.qd, batch.n), cut(part.parameters, batch.num_parameters);
  return part;
}

/// The same bits over other numbers of lanes, and in other company.
void expect_same_bits(const Ready& ready, const MotionBatch& batch, const EnsembleOptions& options) {
  const BatchResult whole = run(ready, batch, options, lanes_of(8));
  const auto n = static_cast<std::size_t>(batch.n);
  const auto same = [&](const BatchResult& part, std::size_t from) {
    EXPECT_EQ(0, std::memcmp(part.q.data(), whole.q.data() + n * from, part.q.size() * sizeof(double)));
    EXPECT_EQ(0, std::memcmp(part.qd.data(), whole.qd.data() + n * from, part.qd.size() * sizeof(double)));
    for (std::size_t i = 0; i < part.steps.size(); ++i) {
      EXPECT_EQ(part.t[i], whole.t[from + i]) << "motion " << from + i;
      EXPECT_EQ(part.outcome[i], whole.outcome[from + i]) << "motion " << from + i;
      EXPECT_EQ(part.reason[i], whole.reason[from + i]) << "motion " << from + i;
      EXPECT_EQ(part.steps[i], whole.steps[from + i]) << "motion " << from + i;
      EXPECT_EQ(part.served[i], whole.served[from + i]) << "motion " << from + i;
      EXPECT_EQ(part.events[i], whole.events[from + i]) << "motion " << from + i;
      EXPECT_EQ(0, std::memcmp(&part.balance[i], &whole.balance[from + i], sizeof(double))) << "motion " << from + i;
      EXPECT_EQ(0, std::memcmp(&part.violation[i], &whole.violation[from + i], sizeof(double)))
          << "motion " << from + i;
    }
  };
  same(run(ready, batch, options, lanes_of(4)), 0);
  same(run(ready, batch, options, lanes_of(16)), 0);
  const int third = batch.count / 3;
  same(run(ready, part_of(batch, third, third), options, lanes_of(8)), static_cast<std::size_t>(third));
  // By a runner that has run others before.
  const LaneRunnerResult made = make_adaptive_runner(ready.system, ready.start, options, lanes_of(4));
  ASSERT_TRUE(made.made) << made.reason;
  const MotionBatch last = part_of(batch, batch.count - third, third), one = part_of(batch, 1, 1);
  BatchResult of_last(last), of_one(one);
  made.made->run(last, of_last);
  same(of_last, static_cast<std::size_t>(batch.count - third));
  made.made->clone()->run(one, of_one);
  same(of_one, 1);
}

TEST(AdaptiveLanes, give_a_motion_the_same_bits_in_any_company) {
  const Ready ready = read("double_pendulum");
  MotionBatch batch = starts_near(ready, 29, 9);
  for (std::size_t i = 0; i < 29; ++i)
    batch.parameters[5 * i + 4] = 5.0 + 0.3 * static_cast<double>(i);  // g: some end much sooner
  expect_same_bits(ready, batch, {.to = 1.0, .tolerance = 1e-8});
}

/// Ends, outcomes and events are those of the integrator of `run`; what the two differ by is their errors, which the tolerance
/// explains, times what the motion makes of them.
void expect_like_alone(const Ready& ready, const MotionBatch& batch, const EnsembleOptions& options,
                       double growth = 1e3) {
  const BatchResult lanes = run(ready, batch, options);
  BatchResult alone(batch);
  Alone(ready.system, options).run(batch, alone);
  const auto n = static_cast<std::size_t>(batch.n);
  for (std::size_t i = 0; i < lanes.steps.size(); ++i) {
    EXPECT_EQ(lanes.outcome[i], alone.outcome[i])
        << "motion " << i << ": " << lanes.reason[i] << " / " << alone.reason[i];
    EXPECT_EQ(lanes.reason[i].empty(), alone.reason[i].empty())
        << "motion " << i << ": " << lanes.reason[i] << " / " << alone.reason[i];
    EXPECT_EQ(lanes.events[i], alone.events[i]) << "motion " << i;
    EXPECT_NEAR(lanes.t[i], alone.t[i], growth * options.tolerance * std::max(1.0, alone.t[i])) << "motion " << i;
    EXPECT_GT(lanes.served[i], 0) << "motion " << i;
    for (std::size_t j = 0; j < n; ++j)
      EXPECT_NEAR(lanes.q[i * n + j], alone.q[i * n + j],
                  growth * options.tolerance * std::max(1.0, std::abs(alone.q[i * n + j])))
          << "motion " << i << " coordinate " << j;
    EXPECT_LE(lanes.violation[i], std::max(1e-11, 10.0 * alone.violation[i])) << "motion " << i;
    if (alone.outcome[i] == Outcome::done) {
      EXPECT_LE(lanes.balance[i], 1.0) << "motion " << i;
    }
  }
}

TEST(AdaptiveLanes, have_singular_configurations_served) {
  // Ladders of parallelograms pass configurations where bars are in line.
  for (const char* model : {"ladder_1", "ladder_2"}) {
    const Ready ready = read(model);
    const MotionBatch batch = starts_near(ready, 9, 2);
    const EnsembleOptions options{.to = 6.0, .tolerance = 1e-8};
    expect_like_alone(ready, batch, options, 1e4);
    expect_same_bits(ready, batch, options);
  }
  // Some way from them the motion is back in its lane.
  const Ready ready = read("ladder_1");
  const BatchResult result = run(ready, starts_near(ready, 4, 2), {.to = 6.0, .tolerance = 1e-8});
  for (std::size_t i = 0; i < 4; ++i) EXPECT_LT(result.served[i], 2 * result.steps[i] / 3) << "motion " << i;
}

TEST(AdaptiveLanes, get_past_what_is_nearly_singular) {
  // A four-bar linkage whose coupler is a little too long or too short to be flat: a single run that takes over too near to that finds
  // no way on.
  const Ready ready = make(read_model_text(R"toml(
coordinates = ["x1", "y1", "x2", "y2"]
[parameters]
eps = 1e-4
[dynamics]
kinetic = "(x1'^2 + y1'^2 + x2'^2 + y2'^2)/2"
potential = "9.81*(y1 + y2)"
[constraints]
first = "x1^2 + y1^2 = 1"
second = "(x2 - 1)^2 + y2^2 = 1"
coupler = "(x2 - x1)^2 + (y2 - y1)^2 = (1 + eps)^2"
[start]
position = { y1 = 1, x2 = 1, y2 = 1 }
velocity = { x1 = 1, x2 = 1 }
)toml",
                                           "test.toml"));
  constexpr unsigned seed = 3;
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1e-5, 1e-5);
  MotionBatch batch = starts_near(ready, 48, seed);
  System system = ready.system;
  for (std::size_t i = 0; i < static_cast<std::size_t>(batch.count); ++i) {
    batch.parameters[i] = uniform(random);
    system.set_parameters(std::span(&batch.parameters[i], 1));
    const State start = project(system, ready.start).state;
    std::copy(start.q.begin(), start.q.end(), batch.q.begin() + static_cast<std::ptrdiff_t>(4 * i));
    std::copy(start.qd.begin(), start.qd.end(), batch.qd.begin() + static_cast<std::ptrdiff_t>(4 * i));
  }
  const EnsembleOptions options{.to = 3.0, .tolerance = 1e-9};
  const BatchResult lanes = run(ready, batch, options);
  BatchResult alone(batch);
  Alone(ready.system, options).run(batch, alone);
  for (std::size_t i = 0; i < static_cast<std::size_t>(batch.count); ++i) {
    EXPECT_EQ(lanes.outcome[i], Outcome::done) << "seed " << seed << ", eps " << batch.parameters[i] << lanes.reason[i];
    EXPECT_EQ(alone.outcome[i], Outcome::done) << "seed " << seed << ", eps " << batch.parameters[i] << alone.reason[i];
  }
}

TEST(AdaptiveLanes, leave_starts_off_the_constraints_to_the_single_run) {
  const Ready ready = read("double_pendulum");
  MotionBatch batch = starts_near(ready, 3, 2);
  const EnsembleOptions options{.to = 0.2, .tolerance = 1e-8};
  for (std::size_t i = 0; i < 3; ++i) batch.q[4 * i] += 1e-3;
  const BatchResult result = run(ready, batch, options);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(result.outcome[i], Outcome::failed);
    EXPECT_NE(result.reason[i].find("violates"), std::string::npos) << result.reason[i];
  }
}

TEST(AdaptiveLanes, have_poles_served) {
  // A body falls into a centre of attraction; a single run says where it stops.
  const Ready ready = make(read_model_text(R"toml(
coordinates = ["x"]
[dynamics]
kinetic = "x'^2/2"
force = { x = "-1/x^2" }
[start]
position = { x = "1" }
)toml",
                                           "test.toml"));
  const BatchResult falls = run(ready, starts_near(ready, 4, 1), {.to = 3.0, .tolerance = 1e-8});
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(falls.outcome[i], Outcome::failed);
    EXPECT_NE(falls.reason[i].find("singularity"), std::string::npos) << falls.reason[i];
  }
  // From rest at 1 it takes π/(2 √2).
  EXPECT_NEAR(falls.t[0], 1.1107207345395915, 1e-6);
  // One that keeps its distance is not left.
  MotionBatch batch = starts_near(ready, 3, 1);
  for (double& v : batch.qd) v = 3.0;
  const BatchResult result = run(ready, batch, {.to = 3.0, .tolerance = 1e-8});
  EXPECT_EQ(result.outcome[0], Outcome::done);
  EXPECT_EQ(result.served[0], 0);
}

TEST(AdaptiveLanes, have_stiff_motions_served) {
  const Ready ready = make(read_model_text(R"toml(
coordinates = ["x", "y"]
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
force = { x = "-1e6*(x - cos(t)) - 2e5*x'", y = "-y" }
[start]
position = { x = "1", y = "1" }
)toml",
                                           "test.toml"));
  expect_like_alone(ready, starts_near(ready, 2, 1), {.to = 3.0, .tolerance = 1e-6});
}

TEST(AdaptiveLanes, are_not_for_every_model) {
  const EnsembleOptions options{.to = 1.0};
  const auto reason = [&](const Ready& ready) {
    return make_adaptive_runner(ready.system, ready.start, options).reason;
  };
  EXPECT_EQ(reason(read("rough_wire_bead")), "friction of two-sided constraints");
  EXPECT_EQ(reason(read("measured_gauges")), "measured constraints");
  EXPECT_EQ(reason(read("wheel_with_massless_coordinate")), "a mass matrix that may be singular");
  EXPECT_EQ(reason(make(read_model_text(R"toml(
coordinates = ["x"]
[dynamics]
kinetic = "x'^2/2"
[events]
turns = { when = "x''" }
)toml",
                                        "test.toml"))),
            "events that use accelerations");
}

// ---- Events, contacts and switches.

/// Many values of a parameter, evenly between two.
MotionBatch with_parameter(const Ready& ready, int count, std::size_t which, double from, double to) {
  MotionBatch batch = starts_near(ready, 1, 1);
  batch.count = count;
  const std::vector<double> q = batch.q, qd = batch.qd, p = batch.parameters;
  for (int k = 0; k < count; ++k) {
    if (k > 0) {
      batch.q.insert(batch.q.end(), q.begin(), q.end());
      batch.qd.insert(batch.qd.end(), qd.begin(), qd.end());
      batch.parameters.insert(batch.parameters.end(), p.begin(), p.end());
    }
    batch.parameters[static_cast<std::size_t>(k) * p.size() + which] = from + (to - from) * k / std::max(1, count - 1);
  }
  return batch;
}

TEST(AdaptiveLanes, have_narrow_barriers_served) {
  const Ready ready = make(read_model_text(R"toml(
coordinates = ["x", "y"]
[parameters]
h = 1
w = 1e-3
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
potential = "h*exp(-((x - 3)/w)^2) + y^2/2"
[start]
position = { y = 1 }
velocity = { x = 1 }
)toml",
                                           "test.toml"));
  const EnsembleOptions options{.to = 10.0, .tolerance = 1e-8};
  const MotionBatch batch = with_parameter(ready, 9, 0, 0.1, 0.9);
  expect_like_alone(ready, batch, options);
  expect_same_bits(ready, batch, options);
  const BatchResult result = run(ready, batch, options);
  for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR(result.qd[2 * i], i < 4 ? 1.0 : -1.0, 1e-6) << "motion " << i;
}

constexpr const char* pendulum = R"toml(
coordinates = ["a"]
[parameters]
g = 9.81
L = 1.0
[dynamics]
kinetic = "L^2/2*a'^2"
potential = "-g*L*cos(a)"
[start]
position = { a = "1.2" }
[events]
)toml";

/// Of a pendulum of length L that swings by 1.2: 2π √(L/g)/agm(1, cos 0.6).
double period(double L) {
  double a = 1.0, b = std::cos(0.6);
  while (std::abs(a - b) > 1e-15) {
    const double mean = 0.5 * (a + b);
    b = std::sqrt(a * b), a = mean;
  }
  return 2.0 * 3.141592653589793 * std::sqrt(L / 9.81) / a;
}

TEST(AdaptiveLanes, count_events_that_are_passed) {
  const Ready ready = make(read_model_text(
      std::string(pendulum) + "both = { when = \"a\" }\nup = { when = \"a\", direction = \"up\" }\n", "test.toml"));
  const EnsembleOptions options{.to = 10.0, .tolerance = 1e-9};
  const MotionBatch batch = with_parameter(ready, 31, 1, 0.5, 2.0);
  const BatchResult result = run(ready, batch, options);
  for (std::size_t i = 0; i < 31; ++i) {
    const double T = period(batch.parameters[2 * i + 1]);
    EXPECT_EQ(result.outcome[i], Outcome::done) << result.reason[i];
    EXPECT_EQ(result.events[i], std::floor(10.0 / T + 0.75) * 1 + std::floor(10.0 / T + 0.25) * 2)
        << "L = " << batch.parameters[2 * i + 1];
    EXPECT_EQ(result.served[i], 0);
  }
  expect_same_bits(ready, batch, options);
}

TEST(AdaptiveLanes, stop_at_events_that_stop) {
  const Ready ready = make(read_model_text(
      std::string(pendulum) + "third = { when = \"a\", direction = \"up\", do = \"stop\" }\n", "test.toml"));
  const EnsembleOptions options{.to = 10.0, .tolerance = 1e-10};
  const MotionBatch batch = with_parameter(ready, 24, 1, 0.5, 2.0);
  const BatchResult result = run(ready, batch, options);
  for (std::size_t i = 0; i < 24; ++i) {
    EXPECT_EQ(result.outcome[i], Outcome::stopped) << result.reason[i];
    EXPECT_NEAR(result.t[i], 0.75 * period(batch.parameters[2 * i + 1]), 1e-9) << "L = " << batch.parameters[2 * i + 1];
    EXPECT_EQ(result.events[i], 1);
    EXPECT_GT(result.served[i], 0);
    EXPECT_LT(result.served[i], result.steps[i] / 2);
  }
  expect_same_bits(ready, batch, options);
}

TEST(AdaptiveLanes, have_events_that_are_nearly_touched_served) {
  // The pendulum turns at −1.2: just short of one event and just beyond the other.
  const Ready ready = make(read_model_text(
      std::string(pendulum) + "short_of = { when = \"a + 1.2000001\" }\nbeyond = { when = \"a + 1.1999999\" }\n",
      "test.toml"));
  expect_like_alone(ready, with_parameter(ready, 8, 1, 0.5, 2.0), {.to = 5.0, .tolerance = 1e-10}, 1e4);
}

TEST(AdaptiveLanes, have_impacts_served) {
  const Ready ready = read("bouncing_ball");
  const double g = 9.81, h = 2.0;
  const MotionBatch batch = with_parameter(ready, 20, 2, 0.3, 0.9);
  // In flight after some impacts.
  const EnsembleOptions flight{.to = 1.3, .tolerance = 1e-10};
  const BatchResult flying = run(ready, batch, flight);
  for (std::size_t i = 0; i < 20; ++i) {
    const double e = batch.parameters[4 * i + 2];
    double t = std::sqrt(2.0 * h / g), v = e * std::sqrt(2.0 * g * h);
    int impacts = 1;
    for (; v >= 1e-3 && t + 2.0 * v / g < 1.3; ++impacts) t += 2.0 * v / g, v *= e;
    if (v < 1e-3) continue;  // about to rest
    const double tau = 1.3 - t;
    EXPECT_EQ(flying.outcome[i], Outcome::done) << flying.reason[i];
    EXPECT_EQ(flying.events[i], impacts) << "e = " << e;
    EXPECT_NEAR(flying.q[i], v * tau - 0.5 * g * tau * tau, 1e-8) << "e = " << e;
    EXPECT_LT(flying.served[i], flying.steps[i]) << "e = " << e;
  }
  expect_same_bits(ready, batch, flight);
  // At rest at the end of infinitely many; the time is that of the event, so: not at rest before, at rest after.
  for (const double part : {0.999, 1.001}) {
    const double e = 0.6, settled = std::sqrt(2.0 * h / g) * (1.0 + e) / (1.0 - e);
    const MotionBatch one = with_parameter(ready, 1, 2, e, e);
    const BatchResult end = run(ready, one, {.to = part * settled, .tolerance = 1e-10});
    EXPECT_EQ(end.outcome[0], Outcome::done) << end.reason[0];
    EXPECT_NEAR(end.q[0], 0.0, 1e-4);
    EXPECT_EQ(end.qd[0] == 0.0, part > 1.0) << end.qd[0];
  }
  expect_like_alone(ready, batch, {.to = 2.5, .tolerance = 1e-8}, 1e4);
}

TEST(AdaptiveLanes, have_contacts_served_with_constraints_and_friction) {
  // A pendulum on a string that goes slack, and a ladder that leaves its wall.
  for (const char* model : {"string_pendulum", "ladder_leaves_wall"}) {
    const Ready ready = read(model);
    expect_like_alone(ready, starts_near(ready, 5, 4), {.to = 1.5, .tolerance = 1e-8}, 1e4);
  }
}

TEST(AdaptiveLanes, have_switches_served) {
  // A spring that is harder on one side.
  const Ready ready = make(read_model_text(R"toml(
coordinates = ["x"]
[parameters]
k = 4.0
[dynamics]
kinetic = "x'^2/2"
force = { x = "-x - k*max(x, 0)" }
[start]
position = { x = "1" }
)toml",
                                           "test.toml"));
  // Half a swing on either side: π/√(1 + k) + π. Whole swings bring it back.
  const MotionBatch batch = with_parameter(ready, 17, 0, 0.5, 8.0);
  const EnsembleOptions options{.to = 9.0, .tolerance = 1e-10};
  const BatchResult result = run(ready, batch, options);
  for (std::size_t i = 0; i < 17; ++i) {
    const double hard = std::sqrt(1.0 + batch.parameters[i]), pi = 3.141592653589793;
    double t = std::fmod(9.0 + 0.5 * pi / hard, pi / hard + pi);  // since x rose through zero, at full speed `hard`
    const double x = t < pi / hard ? std::sin(hard * t) : -hard * std::sin(t - pi / hard);
    EXPECT_EQ(result.outcome[i], Outcome::done) << result.reason[i];
    EXPECT_NEAR(result.q[i], x, 1e-7) << "k = " << batch.parameters[i];
    EXPECT_GT(result.served[i], 0);
    EXPECT_LT(result.served[i], result.steps[i] / 2);
  }
  expect_same_bits(ready, batch, options);
}

}  // namespace
}  // namespace mechanician
