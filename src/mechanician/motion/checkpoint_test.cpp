// A motion that is taken up again from a checkpoint goes on with the same bits.

#include <gtest/gtest.h>

#include <stdexcept>

#include "mechanician/motion/motion_for_test.hpp"

namespace mechanician {
namespace {

/// Everything that is seen of a motion after a step.
struct Seen {
  double begin = 0.0, end = 0.0;
  std::vector<double> at_end, state_at_end, inside;
  std::size_t events = 0, notes = 0;
  std::vector<double> checkpoint;  ///< empty where there is none
};

std::vector<double> state_numbers(const Sample& s) {
  std::vector<double> x{s.t, s.works.given, s.works.ideal, s.works.nonideal, s.works.control};
  for (const Eigen::VectorXd* v : {&s.q, &s.qd, &s.works.constraints}) x.insert(x.end(), v->begin(), v->end());
  return x;
}

Seen look(Integrator& integrator) {
  Seen seen;
  seen.begin = integrator.step_begin(), seen.end = integrator.t();
  seen.inside = numbers_of(integrator.sample(0.7 * seen.begin + 0.3 * seen.end));
  const Sample end = integrator.sample(seen.end);
  seen.at_end = numbers_of(end), seen.state_at_end = state_numbers(end);
  seen.events = integrator.events().size(), seen.notes = integrator.notes().size();
  if (integrator.at_checkpoint()) seen.checkpoint = integrator.checkpoint();
  return seen;
}

std::vector<double> numbers_of(const Integrator& integrator) {
  const Statistics& s = integrator.statistics();
  const Certificate c = integrator.certificate();
  std::vector<double> x;
  for (const long count :
       {s.steps, s.rejected, s.evaluations, s.projections, s.jacobians, s.crossings, s.switches, s.restarts})
    x.push_back(static_cast<double>(count));
  x.insert(x.end(), {c.position_violation, c.velocity_violation, c.measured_residual, c.kinetic_start, c.kinetic_end,
                     c.works.given, c.works.ideal, c.works.nonideal, c.works.control, c.balance, c.balance_largest,
                     c.balance_allowed, c.holds ? 1.0 : 0.0});
  x.insert(x.end(), c.works.constraints.begin(), c.works.constraints.end());
  for (const MotionEvent& e : integrator.events()) {
    x.insert(x.end(), {e.time, static_cast<double>(e.kind), e.sigma, static_cast<double>(e.dimension)});
    x.insert(x.end(), e.q.begin(), e.q.end());
    x.insert(x.end(), e.qd_before.begin(), e.qd_before.end());
  }
  return x;
}

struct Case {
  std::string name;
  MotionOptions options;
  int every = 1;                                              ///< checkpoints tried
  int crossings = 0, switches = 0, events = 0, restarts = 0;  ///< at least so many happen
};
std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }

class CheckpointTest : public testing::TestWithParam<Case> {};

TEST_P(CheckpointTest, the_motion_goes_on_with_the_same_bits_from_every_checkpoint) {
  const Case& c = GetParam();
  const Loaded model = load_case(c.name);
  Integrator whole = model.integrator(c.options);
  ASSERT_FALSE(whole.refusal());
  std::vector<Seen> steps{look(whole)};
  while (whole.advance()) steps.push_back(look(whole));
  ASSERT_FALSE(whole.stop().failed()) << whole.stop().message;
  EXPECT_GE(whole.statistics().crossings, c.crossings);
  EXPECT_GE(whole.statistics().switches, c.switches);
  EXPECT_GE(static_cast<int>(whole.events().size()), c.events);
  EXPECT_GE(whole.statistics().restarts, c.restarts);

  int tried = 0, count = 0;
  for (std::size_t from = 0; from < steps.size(); ++from) {
    if (steps[from].checkpoint.empty() || steps[from].end >= c.options.to || count++ % c.every != 0) continue;
    ++tried;
    SCOPED_TRACE(testing::Message() << "restored at t = " << steps[from].end << ", step " << from);
    const auto restored = [&] {
      Integrator fresh = model.integrator(c.options);
      fresh.restore(steps[from].checkpoint,
                    {whole.events().begin(), whole.events().begin() + static_cast<std::ptrdiff_t>(steps[from].events)},
                    {whole.notes().begin(), whole.notes().begin() + static_cast<std::ptrdiff_t>(steps[from].notes)});
      return fresh;
    };
    Integrator there = restored();
    ASSERT_EQ(there.t(), steps[from].end);
    // At a switch accelerations and forces jump: after the restart they are those of the new side.
    ASSERT_TRUE(same_bits(state_numbers(there.sample(there.t())), steps[from].state_at_end));
    Integrator again = restored();
    std::size_t at = from;
    while (again.advance()) {
      ASSERT_LT(++at, steps.size());
      const Seen seen = look(again);
      ASSERT_EQ(seen.end, steps[at].end) << "step " << at;
      ASSERT_TRUE(same_bits(seen.at_end, steps[at].at_end)) << "step " << at;
      ASSERT_TRUE(same_bits(seen.inside, steps[at].inside)) << "step " << at;
      ASSERT_TRUE(same_bits(seen.checkpoint, steps[at].checkpoint)) << "step " << at;
    }
    EXPECT_EQ(at + 1, steps.size());
    EXPECT_EQ(again.notes(), whole.notes());
    EXPECT_EQ(again.stop().reason, whole.stop().reason);
    ASSERT_TRUE(same_bits(numbers_of(again), numbers_of(whole)));
  }
  EXPECT_GE(tried, 2);
}

INSTANTIATE_TEST_SUITE_P(
    cases, CheckpointTest,
    testing::Values(
        Case{"pendulum_90", {.to = 4.0, .tolerance = 1e-8}},
        Case{"frame_that_turns", {.to = 3.0, .tolerance = 1e-8}, 2},
        Case{"rolling_disk", {.to = 1.0, .tolerance = 1e-8}, 2},
        Case{"pendulum_redundant", {.to = 2.0, .tolerance = 1e-8}},
        Case{"rough_hoop_multiplier", {.to = 1.0, .tolerance = 1e-8}, 2},
        Case{"wheel_without_mass", {.to = 1.0, .tolerance = 1e-8}, 2},
        Case{"control_ring", {.to = 1.0, .tolerance = 1e-7}, 3}, Case{"measured_ropes", {.to = 1.0, .tolerance = 1e-8}},
        Case{.name = "ladder_1_forward", .options = {.to = 2.0, .tolerance = 1e-8}, .crossings = 2},
        Case{.name = "ladder_2_swing", .options = {.to = 2.0, .tolerance = 1e-10}, .every = 4, .crossings = 2},
        Case{.name = "parallelogram_from_flat", .options = {.to = 1.0, .tolerance = 1e-8}},
        Case{.name = "dry_friction", .options = {.to = 7.0, .tolerance = 1e-9}, .switches = 3},
        Case{.name = "tent", .options = {.to = 5.0, .tolerance = 1e-9}, .switches = 4},
        Case{.name = "wire_with_jump", .options = {.to = 3.0, .tolerance = 1e-8}, .every = 3, .switches = 1},
        Case{.name = "pendulum_passages", .options = {.to = 3.0, .tolerance = 1e-8}, .every = 3, .events = 3},
        Case{.name = "events_at_switches", .options = {.to = 2.0, .tolerance = 1e-8}, .switches = 1, .events = 1},
        Case{.name = "stiff_slow", .options = {.to = 2.0, .tolerance = 1e-8}, .every = 4, .restarts = 1},
        Case{.name = "kepler_0.9",
             .options = {.to = 30.0, .tolerance = 1e-9, .method = Method::bdf},
             .every = 1,
             .restarts = 2},
        Case{.name = "dry_friction",
             .options = {.to = 7.0, .tolerance = 1e-9, .method = Method::bdf},
             .switches = 3,
             .restarts = 4}),
    [](const auto& param_info) {
      std::string name = param_info.param.name;
      for (char& letter : name)
        if (letter == '.') letter = '_';
      return name + (param_info.param.options.method == Method::bdf ? "_by_bdf" : "");
    });

TEST(Checkpoint, exists_after_every_explicit_step_and_only_at_fresh_starts_of_the_implicit_method) {
  const Loaded model = load_case("kepler_0.9");
  Integrator explicit_one = model.integrator({.to = 1.0});
  EXPECT_TRUE(explicit_one.at_checkpoint());
  while (explicit_one.advance()) EXPECT_TRUE(explicit_one.at_checkpoint());
  Integrator implicit_one = model.integrator({.to = 1.0, .method = Method::bdf});
  EXPECT_TRUE(implicit_one.at_checkpoint());
  int kept = 0;
  while (implicit_one.advance()) kept += implicit_one.at_checkpoint();
  EXPECT_LT(kept, 2);
}

TEST(Checkpoint, of_another_model_or_damaged_is_refused) {
  const Loaded pendulum = load_case("pendulum_90"), free_body = load_case("free_body");
  Integrator running = pendulum.integrator({.to = 1.0});
  running.advance();
  const std::vector<double> good = running.checkpoint();
  const auto restore = [&](const Loaded& model, const std::vector<double>& from) {
    Integrator fresh = model.integrator({.to = 1.0});
    fresh.restore(from, {}, {});
  };
  EXPECT_NO_THROW(restore(pendulum, good));
  EXPECT_THROW(restore(free_body, good), std::invalid_argument);
  EXPECT_THROW(restore(pendulum, {}), std::invalid_argument);
  std::vector<double> bad = good;
  bad.pop_back();
  EXPECT_THROW(restore(pendulum, bad), std::invalid_argument);
  bad = good;
  bad.push_back(0.0);
  EXPECT_THROW(restore(pendulum, bad), std::invalid_argument);
  bad = good;
  bad[0] += 1.0;
  EXPECT_THROW(restore(pendulum, bad), std::invalid_argument);
}

TEST(Checkpoint, of_the_end_is_over_at_once) {
  const Loaded pendulum = load_case("pendulum_90");
  Integrator whole = pendulum.integrator({.to = 1.0});
  const Sample end = run_to_end(whole);
  Integrator again = pendulum.integrator({.to = 1.0});
  again.restore(whole.checkpoint(), whole.events(), whole.notes());
  EXPECT_FALSE(again.advance());
  EXPECT_EQ(again.stop().reason, StopReason::reached_end);
  EXPECT_TRUE(same_bits(numbers_of(again.sample(1.0)), numbers_of(end)));
}

}  // namespace
}  // namespace mechanician
