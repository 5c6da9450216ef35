#include "mechanician/ensemble/adaptive_runner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

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

/// The integrator of `run`, one motion after the other.
class Alone : public MotionRunner {
 public:
  Alone(const System& system, EnsembleOptions options) : system_(system), options_(options) {}
  void run(const MotionBatch& batch, BatchResult& result) override {
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
      result.outcome[i] = integrator.stop().failed() ? Outcome::failed : c.holds ? Outcome::done : Outcome::suspect;
      result.reason[i] = integrator.stop().message;
      result.violation[i] = std::max(c.position_violation, c.velocity_violation);
      result.balance[i] = c.balance_largest / c.balance_allowed;
    }
  }
  std::unique_ptr<MotionRunner> clone() const override { return std::make_unique<Alone>(*this); }
  int lanes() const override { return 1; }
  int preferred_batch() const override { return 1; }
  std::string_view device() const override { return "cpu"; }

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
  const LaneRunnerResult made =
      make_adaptive_runner(ready.system, ready.start, options, std::make_unique<Alone>(ready.system, options), lanes);
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

TEST(AdaptiveLanes, give_a_motion_the_same_bits_in_any_company) {
  constexpr unsigned seed = 9;
  const Ready ready = read("double_pendulum");
  const EnsembleOptions options{.to = 1.0, .tolerance = 1e-8};
  MotionBatch batch = starts_near(ready, 29, seed);
  for (std::size_t i = 0; i < 29; ++i)
    batch.parameters[5 * i + 4] = 5.0 + 0.3 * static_cast<double>(i);  // g: some end much sooner
  const BatchResult whole = run(ready, batch, options, lanes_of(8));
  const auto same = [&](const BatchResult& part, std::size_t from) {
    EXPECT_EQ(0, std::memcmp(part.q.data(), whole.q.data() + 4 * from, part.q.size() * sizeof(double)));
    EXPECT_EQ(0, std::memcmp(part.qd.data(), whole.qd.data() + 4 * from, part.qd.size() * sizeof(double)));
    for (std::size_t i = 0; i < part.steps.size(); ++i) {
      EXPECT_EQ(part.steps[i], whole.steps[from + i]) << "seed " << seed;
      EXPECT_EQ(part.balance[i], whole.balance[from + i]) << "seed " << seed;
      EXPECT_EQ(part.violation[i], whole.violation[from + i]) << "seed " << seed;
    }
  };
  same(run(ready, batch, options, lanes_of(4)), 0);
  same(run(ready, batch, options, lanes_of(16)), 0);
  MotionBatch part = batch;
  part.count = 10;
  part.q.erase(part.q.begin(), part.q.begin() + 7 * 4), part.q.resize(40);
  part.qd.erase(part.qd.begin(), part.qd.begin() + 7 * 4), part.qd.resize(40);
  part.parameters.erase(part.parameters.begin(), part.parameters.begin() + 7 * 5), part.parameters.resize(50);
  same(run(ready, part, options, lanes_of(8)), 7);
}

/// Every motion is computed as the integrator of `run` would, from its start.
void expect_left(const Ready& ready, const MotionBatch& batch, const EnsembleOptions& options) {
  const BatchResult lanes = run(ready, batch, options);
  BatchResult alone(batch);
  Alone(ready.system, options).run(batch, alone);
  EXPECT_EQ(lanes.q, alone.q);
  EXPECT_EQ(lanes.qd, alone.qd);
  EXPECT_EQ(lanes.t, alone.t);
  EXPECT_EQ(lanes.outcome, alone.outcome);
  EXPECT_EQ(lanes.reason, alone.reason);
  EXPECT_EQ(lanes.served, alone.steps);
}

TEST(AdaptiveLanes, leave_singular_configurations_to_the_single_run) {
  // Ladders of parallelograms pass configurations where bars are in line.
  for (const char* model : {"ladder_1", "ladder_2"}) {
    const Ready ready = read(model);
    expect_left(ready, starts_near(ready, 5, 2), {.to = 3.0, .tolerance = 1e-8});
  }
}

TEST(AdaptiveLanes, leave_starts_off_the_constraints_to_the_single_run) {
  const Ready ready = read("double_pendulum");
  MotionBatch batch = starts_near(ready, 3, 2);
  const EnsembleOptions options{.to = 0.2, .tolerance = 1e-8};
  for (std::size_t i = 0; i < 3; ++i) batch.q[4 * i] += 1e-3;
  expect_left(ready, batch, options);
  const BatchResult result = run(ready, batch, options);
  EXPECT_EQ(result.outcome[0], Outcome::failed);
  EXPECT_NE(result.reason[0].find("violates"), std::string::npos) << result.reason[0];
}

TEST(AdaptiveLanes, leave_poles_to_the_single_run) {
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
  expect_left(ready, starts_near(ready, 4, 1), {.to = 3.0, .tolerance = 1e-8});
  // One that keeps its distance is not left.
  MotionBatch batch = starts_near(ready, 3, 1);
  for (double& v : batch.qd) v = 3.0;
  const BatchResult result = run(ready, batch, {.to = 3.0, .tolerance = 1e-8});
  EXPECT_EQ(result.outcome[0], Outcome::done);
  EXPECT_EQ(result.served[0], 0);
}

TEST(AdaptiveLanes, leave_stiff_motions_to_the_single_run) {
  const Ready ready = make(read_model_text(R"toml(
coordinates = ["x", "y"]
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
force = { x = "-1e6*(x - cos(t)) - 2e5*x'", y = "-y" }
[start]
position = { x = "1", y = "1" }
)toml",
                                           "test.toml"));
  expect_left(ready, starts_near(ready, 2, 1), {.to = 3.0, .tolerance = 1e-6});
}

TEST(AdaptiveLanes, are_for_models_without_events_contacts_and_switches) {
  const EnsembleOptions options{.to = 1.0};
  const auto reason = [&](const Ready& ready) {
    return make_adaptive_runner(ready.system, ready.start, options, std::make_unique<Alone>(ready.system, options))
        .reason;
  };
  EXPECT_EQ(reason(read("bouncing_ball")), "contacts");
  EXPECT_EQ(reason(read("flyball_governor")), "expressions that switch");
  EXPECT_EQ(reason(read("measured_gauges")), "measured constraints");
  EXPECT_EQ(reason(read("wheel_with_massless_coordinate")), "a mass matrix that may be singular");
  EXPECT_EQ(reason(make(read_model_text(R"toml(
coordinates = ["x"]
[dynamics]
kinetic = "x'^2/2"
[events]
zero = { when = "x" }
)toml",
                                        "test.toml"))),
            "events");
}

}  // namespace
}  // namespace mechanician
