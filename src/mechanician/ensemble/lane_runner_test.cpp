#include "mechanician/ensemble/lane_runner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <stdexcept>

#include "mechanician/ensemble/robust_step.hpp"
#include "mechanician/model/parameters.hpp"
#include "mechanician/model/read_model.hpp"

namespace mechanician {
namespace {

struct Ready {
  System system;
  State start;
};

Ready make(const std::string& toml) {
  Model model = read_model_text(toml, "test.toml");
  const ParameterValues parameters = evaluate_parameters(model);
  State start = state_of(start_state(model, parameters));
  return {System(std::move(model), parameters.values), std::move(start)};
}

/// `scale` says nothing about the motion: the row holds whatever its size.
constexpr const char* pendulum = R"toml(
coordinates = ["x", "y"]
[parameters]
g = 9.81
small = 1.0
until = -1.0
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
potential = "g*y"
force = { x = "0.2*cos(3*t)" }
[constraints]
rod = "if(t < until, small, 1)*(x^2 + y^2 - 1) = 0"
[start]
position = { x = "0.6", y = "-0.8" }
)toml";

/// Pendulums at several angles, with several parameters.
MotionBatch batch_of(const Ready& ready, int count) {
  MotionBatch batch;
  batch.count = count, batch.n = 2, batch.num_parameters = 3;
  for (int i = 0; i < count; ++i) {
    const double angle = 0.1 + 0.05 * i;
    batch.q.insert(batch.q.end(), {std::sin(angle), -std::cos(angle)});
    batch.qd.insert(batch.qd.end(), {0.3 * std::cos(angle), 0.3 * std::sin(angle)});
    std::vector<double> parameters = ready.system.parameters();
    parameters[0] += 0.01 * i;
    batch.parameters.insert(batch.parameters.end(), parameters.begin(), parameters.end());
  }
  return batch;
}

const EnsembleOptions fixed{.method = EnsembleMethod::rk4, .step = 1e-3, .to = 0.1005};

BatchResult run(const Ready& ready, const MotionBatch& batch, const LaneOptions& lanes = {}) {
  const LaneRunnerResult made = make_lane_runner(ready.system, ready.start, fixed, lanes);
  EXPECT_TRUE(made.made) << made.reason;
  BatchResult result(batch);
  made.made->run(batch, result);
  return result;
}

void expect_same_bits(const BatchResult& a, const BatchResult& b) {
  EXPECT_EQ(0, std::memcmp(a.q.data(), b.q.data(), a.q.size() * sizeof(double)));
  EXPECT_EQ(0, std::memcmp(a.qd.data(), b.qd.data(), a.qd.size() * sizeof(double)));
  EXPECT_EQ(0, std::memcmp(a.violation.data(), b.violation.data(), a.violation.size() * sizeof(double)));
  EXPECT_EQ(a.t, b.t);
  EXPECT_EQ(a.steps, b.steps);
  EXPECT_EQ(a.served, b.served);
  EXPECT_EQ(a.outcome, b.outcome);
  EXPECT_EQ(a.reason, b.reason);
}

/// The motions of `batch` in another order.
MotionBatch reordered(const MotionBatch& batch, const std::vector<int>& order) {
  MotionBatch other = batch;
  other.count = static_cast<int>(order.size());
  other.q.clear(), other.qd.clear(), other.parameters.clear();
  const auto append = [&](std::vector<double>& to, const std::vector<double>& from, int width, int i) {
    to.insert(to.end(), from.begin() + i * width, from.begin() + (i + 1) * width);
  };
  for (const int i : order)
    append(other.q, batch.q, batch.n, i), append(other.qd, batch.qd, batch.n, i),
        append(other.parameters, batch.parameters, batch.num_parameters, i);
  return other;
}

TEST(LaneRunner, computes_what_the_robust_path_does_with_the_same_steps) {
  const Ready ready = make(pendulum);
  const MotionBatch batch = batch_of(ready, 21);
  const BatchResult result = run(ready, batch);
  for (int i = 0; i < batch.count; ++i) {
    const auto k = static_cast<std::size_t>(i);
    RobustStep step(ready.system, {batch.parameters.begin() + 3 * i, batch.parameters.begin() + 3 * (i + 1)});
    double x[] = {batch.q[2 * k], batch.q[2 * k + 1], batch.qd[2 * k], batch.qd[2 * k + 1]};
    for (int s = 0; s < 100; ++s) ASSERT_TRUE(step.advance(1e-3 * s, 1e-3, x));
    ASSERT_TRUE(step.advance(0.1, 0.0005, x));
    EXPECT_EQ(result.outcome[k], Outcome::done);
    EXPECT_EQ(result.t[k], 0.1005);
    EXPECT_EQ(result.steps[k], 101);
    EXPECT_EQ(result.served[k], 0);
    for (std::size_t j = 0; j < 2; ++j) {
      EXPECT_NEAR(result.q[2 * k + j], x[j], 1e3 * 2.3e-16);
      EXPECT_NEAR(result.qd[2 * k + j], x[2 + j], 1e4 * 2.3e-16);
    }
    EXPECT_LT(result.violation[k], 1e-9);
    EXPECT_GE(result.violation[k], std::abs(x[0] * x[0] + x[1] * x[1] - 1.0) - 1e-13);
  }
}

TEST(LaneRunner, gives_a_motion_the_same_bits_in_any_company) {
  const Ready ready = make(pendulum);
  MotionBatch batch = batch_of(ready, 37);
  // Two of them need the robust path, one of them for a while.
  batch.parameters[3 * 5 + 1] = 1e-8, batch.parameters[3 * 5 + 2] = 10.0;
  batch.parameters[3 * 20 + 1] = 1e-8, batch.parameters[3 * 20 + 2] = 0.03;
  const BatchResult whole = run(ready, batch);
  for (const int lanes : {1, 4, 8, 16})
    for (const int block : {1, 7, 1000}) {
      LaneOptions options;
      options.code.lanes = lanes, options.steps_of_a_block = block;
      options.code.tier = lanes == 8 ? TierPolicy::automatic : TierPolicy::quick, options.code.background = false;
      expect_same_bits(whole, run(ready, batch, options));
    }
  constexpr unsigned seed = 3;
  std::vector<int> order(37);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(seed));
  const BatchResult shuffled = run(ready, reordered(batch, order));
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::size_t j = 0; j < 2; ++j) {
      const auto from = static_cast<std::size_t>(order[i]);
      EXPECT_EQ(shuffled.q[2 * i + j], whole.q[2 * from + j]) << "seed " << seed;
      EXPECT_EQ(shuffled.qd[2 * i + j], whole.qd[2 * from + j]) << "seed " << seed;
      EXPECT_EQ(shuffled.served[i], whole.served[from]) << "seed " << seed;
    }
}

TEST(LaneRunner, serves_what_is_not_vouched_for_and_takes_it_back) {
  const Ready ready = make(pendulum);
  MotionBatch batch = batch_of(ready, 9);
  const BatchResult plain = run(ready, batch);
  // The row of one motion is too small to tell from rounding until t = 0.03: stages of 30 steps are before that.
  batch.parameters[3 * 4 + 1] = 1e-8, batch.parameters[3 * 4 + 2] = 0.0301;
  const BatchResult result = run(ready, batch);
  for (std::size_t i = 0; i < 9; ++i) {
    EXPECT_EQ(result.outcome[i], Outcome::done);
    EXPECT_EQ(result.steps[i], 101);
    EXPECT_EQ(result.served[i], i == 4 ? 31 : 0);
    for (std::size_t j = 0; j < 2; ++j) {
      if (i == 4) {
        EXPECT_NEAR(result.q[2 * i + j], plain.q[2 * i + j], 1e-12);
      } else {
        EXPECT_EQ(result.q[2 * i + j], plain.q[2 * i + j]);
      }
    }
  }
}

TEST(LaneRunner, lets_a_motion_fail_alone) {
  const Ready ready = make(R"toml(
coordinates = ["x", "y"]
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
force = { x = "-sqrt(x)" }
[constraints]
level = "y = 0"
[start]
position = { x = "1" }
)toml");
  MotionBatch batch;
  batch.count = 10, batch.n = 2;
  for (int i = 0; i < 10; ++i) {
    batch.q.insert(batch.q.end(), {i == 3 ? 0.01 : 1.0, 0.0});
    batch.qd.insert(batch.qd.end(), {i == 3 ? -1.0 : 0.0, 0.0});
  }
  const BatchResult result = run(ready, batch);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(result.outcome[i], i == 3 ? Outcome::failed : Outcome::done);
    EXPECT_EQ(result.reason[i].empty(), i != 3);
    if (i != 3) continue;
    EXPECT_NEAR(result.t[i], 0.01, 2e-3);
    EXPECT_GE(result.q[2 * i], 0.0);
    EXPECT_LT(result.q[2 * i], 2e-3);
  }
}

TEST(LaneRunner, builds_in_what_does_not_vary_and_says_where_it_does) {
  const Ready ready = make(pendulum);
  MotionBatch batch = batch_of(ready, 5);
  const BatchResult all = run(ready, batch);
  LaneOptions one;
  one.varied = std::vector<int>{0};
  const BatchResult built_in = run(ready, batch, one);
  for (std::size_t i = 0; i < all.q.size(); ++i) EXPECT_NEAR(all.q[i], built_in.q[i], 1e-13);
  batch.parameters[3 * 2 + 1] = 2.0;
  EXPECT_THROW(run(ready, batch, one), std::invalid_argument);
}

TEST(LaneRunner, is_for_models_that_steps_of_fixed_size_can_follow) {
  const Ready stops = make(std::string(pendulum) + "[events]\nlow = { when = \"x\", do = \"stop\" }\n");
  EXPECT_FALSE(make_lane_runner(stops.system, stops.start, fixed).made);
  const Ready contact = make(R"toml(
coordinates = ["y"]
[dynamics]
kinetic = "y'^2/2"
potential = "9.81*y"
[constraints]
floor = "y >= 0"
[start]
position = { y = "1" }
)toml");
  const LaneRunnerResult made = make_lane_runner(contact.system, contact.start, fixed);
  EXPECT_FALSE(made.made);
  EXPECT_EQ(made.reason, "contacts need an adaptive method");
}

}  // namespace
}  // namespace mechanician
