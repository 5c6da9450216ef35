#include "mechanician/motion/motion.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <thread>

#include "mechanician/motion/motion_for_test.hpp"

namespace mechanician {

Loaded load_case(const std::string& name) {
  return Loaded(read_model(std::filesystem::path(MECHANICIAN_SOURCE_DIR) / "tests" / "motions" / (name + ".toml")));
}

namespace {

struct Case {
  std::string name;
  MotionOptions options;
};
std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }

class MotionTest : public testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(cases, MotionTest,
                         testing::Values(Case{"pendulum_90", {.to = 3.0, .tolerance = 1e-9}},
                                         Case{"pendulum_on_shaking_pivot", {.to = 2.0, .tolerance = 1e-8}},
                                         Case{"rough_hoop", {.to = 0.7, .tolerance = 1e-8}},
                                         Case{"viviani_redundant", {.to = 2.0, .tolerance = 1e-8}},
                                         Case{"ladder_1_forward", {.to = 2.0, .tolerance = 1e-9}},
                                         Case{"parallelogram_from_flat", {.to = 1.0, .tolerance = 1e-8}},
                                         Case{"tent", {.to = 5.0, .tolerance = 1e-9}},
                                         Case{"wire_with_jump", {.to = 2.0, .tolerance = 1e-8}},
                                         Case{"measured_ropes", {.to = 1.0, .tolerance = 1e-8}},
                                         Case{"stiff_slow", {.to = 1.0, .tolerance = 1e-7}},
                                         Case{"pendulum_in_honey",
                                              {.to = 3.0, .tolerance = 1e-7, .method = Method::bdf}}),
                         [](const auto& param_info) { return param_info.param.name; });

TEST_P(MotionTest, is_sampled_anywhere_in_any_order_with_the_bits_of_the_integrator) {
  const Case& c = GetParam();
  const Loaded model = load_case(c.name);
  struct Expected {
    double t;
    std::vector<double> numbers;
  };
  std::vector<Expected> expected;
  std::vector<double> times{model.start.t};
  Integrator integrator = model.integrator(c.options);
  expected.push_back({model.start.t, numbers_of(integrator.sample(model.start.t))});
  while (integrator.advance()) {
    times.push_back(integrator.t());
    for (const double theta : {0.11, 0.5, 0.93}) {
      const double t = integrator.step_begin() + theta * (integrator.t() - integrator.step_begin());
      if (t > integrator.step_begin() && t < integrator.t()) expected.push_back({t, numbers_of(integrator.sample(t))});
    }
    expected.push_back({integrator.t(), numbers_of(integrator.sample(integrator.t()))});
  }
  const Motion motion = integrate(model.system, model.start, c.options);
  EXPECT_EQ(motion.times(), times);
  EXPECT_EQ(motion.begin(), model.start.t);
  EXPECT_EQ(motion.end(), c.options.to);
  EXPECT_EQ(motion.stop().reason, StopReason::reached_end);
  EXPECT_EQ(motion.statistics().steps, integrator.statistics().steps);
  EXPECT_EQ(motion.events().size(), integrator.events().size());
  EXPECT_EQ(motion.notes(), integrator.notes());

  // At most 300 of them: forwards, then in random order.
  if (expected.size() > 300) {
    const std::size_t every = expected.size() / 300 + 1;
    std::vector<Expected> fewer;
    for (std::size_t i = 0; i < expected.size(); i += every) fewer.push_back(expected[i]);
    expected = std::move(fewer);
  }
  const unsigned seed = 5;
  std::mt19937_64 random(seed);
  for (int round = 0; round < 2; ++round) {
    for (const Expected& e : expected)
      ASSERT_TRUE(same_bits(numbers_of(motion.sample(e.t)), e.numbers))
          << "at t = " << e.t << ", round " << round << ", seed " << seed;
    std::shuffle(expected.begin(), expected.end(), random);
    expected.resize(std::min<std::size_t>(expected.size(), 60));
  }
}

TEST_P(MotionTest, steps_have_the_same_ends_whatever_was_sampled_before) {
  const Case& c = GetParam();
  const Loaded model = load_case(c.name);
  const Motion motion = integrate(model.system, model.start, c.options);
  const std::vector<double> start = numbers_of(motion.sample(motion.begin()));
  const std::size_t last = std::min<std::size_t>(motion.times().size() - 1, 12);
  for (std::size_t i = 1; i <= last; ++i) {
    const double t0 = motion.times()[i - 1], t1 = motion.times()[i];
    const std::vector<double> fresh = numbers_of(integrate(model.system, model.start, c.options).sample(t0));
    motion.sample(0.5 * (t0 + t1));  // the worker is in the step after t0
    EXPECT_TRUE(same_bits(numbers_of(motion.sample(t0)), fresh)) << "at t = " << t0;
  }
  motion.sample(0.5 * (motion.times()[0] + motion.times()[1]));
  EXPECT_TRUE(same_bits(numbers_of(motion.sample(motion.begin())), start));
}

TEST(Motion, samples_of_different_threads_do_not_disturb_each_other) {
  const Loaded model = load_case("pendulum_90");
  const Motion motion = integrate(model.system, model.start, {.to = 3.0, .tolerance = 1e-8});
  std::vector<double> times;
  std::vector<std::vector<double>> expected;
  for (int i = 0; i < 40; ++i) {
    times.push_back(3.0 * ((i * 17) % 40) / 40.0);
    expected.push_back(numbers_of(motion.sample(times.back())));
  }
  std::vector<int> wrong(3, 0);
  std::vector<std::thread> threads;
  for (std::size_t k = 0; k < wrong.size(); ++k)
    threads.emplace_back([&, k, copy = motion] {
      for (std::size_t i = 0; i < times.size(); ++i) {
        const std::size_t at = (i * (k + 3) + k) % times.size();
        wrong[k] += !same_bits(numbers_of(copy.sample(times[at])), expected[at]);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(3, 0));
}

TEST(Motion, is_known_only_between_its_ends) {
  const Loaded model = load_case("pendulum_90");
  const Motion motion = integrate(model.system, model.start, {.to = 1.0});
  EXPECT_NO_THROW(motion.sample(0.0));
  EXPECT_NO_THROW(motion.sample(1.0));
  for (const double t : {-1e-12, std::nextafter(1.0, 2.0), std::numeric_limits<double>::quiet_NaN(),
                         std::numeric_limits<double>::infinity()})
    EXPECT_THROW(motion.sample(t), std::out_of_range) << t;
  try {
    motion.sample(2.5);
  } catch (const std::out_of_range& e) {
    EXPECT_NE(std::string(e.what()).find("2.5"), std::string::npos) << e.what();
  }
}

TEST(Motion, is_sampled_near_its_closed_form) {
  // A particle on a circle without forces: uniform motion.
  const Loaded model(R"toml(
coordinates = ["x", "y"]
[dynamics]
kinetic = "x'^2 + y'^2"
[constraints]
circle = "x^2 + y^2 = 4"
[start]
position = { x = 2 }
velocity = { y = 3 }
)toml");
  for (const double tolerance : {1e-5, 1e-8, 1e-11}) {
    const Motion motion = integrate(model.system, model.start, {.to = 10.0, .tolerance = tolerance});
    for (int i = 0; i <= 100; ++i) {
      const double t = 0.1 * i;
      const Sample s = motion.sample(t);
      const double angle = 1.5 * t;
      EXPECT_NEAR(s.q(0), 2.0 * std::cos(angle), 100.0 * tolerance);
      EXPECT_NEAR(s.q(1), 2.0 * std::sin(angle), 100.0 * tolerance);
      EXPECT_NEAR(s.qd(0), -3.0 * std::sin(angle), 100.0 * tolerance);
      // 2m·λ·r = −m v²/r·e_r with m = 2: λ = −m v²/(2 r²).
      EXPECT_NEAR(s.lambda(0), -2.0 * 9.0 / 8.0, 200.0 * tolerance);
      EXPECT_LT(s.residual, 1e-14);
    }
  }
}

TEST(Motion, the_callback_sees_every_step_and_may_stop_the_run) {
  const Loaded model = load_case("pendulum_90");
  std::vector<double> seen;
  const Motion whole = integrate(model.system, model.start, {.to = 2.0}, [&](Integrator& at) {
    seen.push_back(at.t());
    return true;
  });
  ASSERT_GT(seen.size(), 5u);
  seen.insert(seen.begin(), 0.0);
  EXPECT_EQ(whole.times(), seen);

  int calls = 0;
  const Motion cut = integrate(model.system, model.start, {.to = 2.0}, [&](Integrator&) { return ++calls < 4; });
  EXPECT_EQ(calls, 4);
  EXPECT_EQ(cut.stop().reason, StopReason::callback);
  EXPECT_FALSE(cut.stop().failed());
  EXPECT_FALSE(cut.stop().message.empty());
  ASSERT_EQ(cut.times().size(), 5u);
  EXPECT_EQ(cut.end(), seen[4]);
  EXPECT_TRUE(same_bits(numbers_of(cut.sample(cut.end())), numbers_of(whole.sample(cut.end()))));
  EXPECT_THROW(cut.sample(2.0), std::out_of_range);
}

TEST(Motion, a_callback_that_stops_at_the_end_changes_nothing) {
  const Loaded model = load_case("pendulum_90");
  const Motion motion = integrate(model.system, model.start, {.to = 0.5}, [](Integrator& at) { return at.t() < 0.5; });
  EXPECT_EQ(motion.stop().reason, StopReason::reached_end);
  EXPECT_EQ(motion.end(), 0.5);
}

TEST(Motion, ends_at_an_event_that_stops_it) {
  const Loaded model(R"toml(
coordinates = ["x"]
[dynamics]
kinetic = "x'^2/2"
force = { x = "-x" }
[start]
velocity = { x = 1 }
[events]
half = { when = "x - 0.5", do = "stop" }
)toml");
  const Motion motion = integrate(model.system, model.start, {.to = 5.0, .tolerance = 1e-11});
  EXPECT_EQ(motion.stop().reason, StopReason::event);
  EXPECT_NEAR(motion.end(), std::asin(0.5), 1e-10);
  EXPECT_NEAR(motion.sample(motion.end()).q(0), 0.5, 1e-12);
  EXPECT_NEAR(motion.sample(0.3).q(0), std::sin(0.3), 1e-10);
  EXPECT_THROW(motion.sample(motion.end() + 1e-3), std::out_of_range);
}

TEST(Motion, that_is_refused_has_only_its_start) {
  const Loaded model = load_case("rest_on_flat_ladder");
  const Motion motion = integrate(model.system, model.start, {.to = 1.0});
  EXPECT_EQ(motion.stop().reason, StopReason::not_unique);
  EXPECT_TRUE(motion.stop().failed());
  EXPECT_EQ(motion.end(), motion.begin());
  EXPECT_EQ(motion.times().size(), 1u);
  EXPECT_EQ(motion.sample(motion.begin()).q, model.start.q);
}

}  // namespace
}  // namespace mechanician
