#include "mechanician/ensemble/sweep.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <stdexcept>

#include "mechanician/ensemble/make_runner.hpp"
#include "mechanician/ensemble/single_runner.hpp"
#include "mechanician/model/read_model.hpp"

namespace mechanician {
namespace {

/// A pendulum whose rod is made of another parameter, and whose start is made of the rod.
constexpr const char* pendulum = R"toml(
coordinates = ["x", "y"]
[parameters]
half = 0.5
L = "2*half"
g = 9.81
m = 1.0
[dynamics]
kinetic = "m/2*(x'^2 + y'^2)"
potential = "m*g*y"
[constraints]
rod = "x^2 + y^2 = L^2"
[start]
position = { x = "0.6*L", y = "-0.8*L" }
[outputs]
height = "y/L"
push = "m*y''"
)toml";

System make_system(const char* text) {
  Model model = read_model_text(text, "test.toml");
  const ParameterValues values = evaluate_parameters(model);
  return System(std::move(model), values.values);
}

std::string message_of(const auto& f) {
  try {
    f();
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return {};
}

/// Of one sample; why the motion cannot begin.
std::string make_start(SampleStarts& starts, const std::vector<double>& sample, std::vector<double>& p,
                       std::vector<double>& q, std::vector<double>& qd) {
  std::string trouble;
  starts.make(sample, 1, p.data(), q.data(), qd.data(), &trouble);
  return trouble;
}

TEST(SampleStarts, WorksOutWhatIsMadeOfAVariedParameter) {
  const System system = make_system(pendulum);
  SampleStarts starts(system, {"half"}, {});
  EXPECT_EQ(starts.changing(), (std::vector<int>{0, 1}));
  std::vector<double> p(4), q(2), qd(2);
  EXPECT_EQ(make_start(starts, {2.0}, p, q, qd), "");
  EXPECT_EQ(p, (std::vector<double>{2.0, 4.0, 9.81, 1.0}));
  EXPECT_DOUBLE_EQ(q[0], 2.4);
  EXPECT_DOUBLE_EQ(q[1], -3.2);
}

TEST(SampleStarts, MovesAVariedStartOntoTheConstraintsUnlessItIsToStay) {
  const System system = make_system(pendulum);
  std::vector<double> p(4), q(2), qd(2);
  SampleStarts moved(system, {"x", "y'"}, {});
  EXPECT_EQ(make_start(moved, {0.7, 1.0}, p, q, qd), "");
  EXPECT_NEAR(std::hypot(q[0], q[1]), 1.0, 1e-14);
  EXPECT_NEAR(q[0] * qd[0] + q[1] * qd[1], 0.0, 1e-14);
  SampleStarts given(system, {"x", "y'"}, {.as_given = true});
  EXPECT_EQ(make_start(given, {0.7, 1.0}, p, q, qd), "");
  EXPECT_EQ(q, (std::vector<double>{0.7, -0.8}));
  EXPECT_EQ(qd, (std::vector<double>{0.0, 1.0}));
}

TEST(SampleStarts, SaysWhyAMotionCannotBegin) {
  const System system = make_system(pendulum);
  std::vector<double> p(4), q(2), qd(2);
  SampleStarts starts(system, {"L", "y"}, {.position = {{"x", 0.0}}});
  // The middle of the circle has no nearest point on it.
  EXPECT_NE(make_start(starts, {1.0, 0.0}, p, q, qd).find("rod"), std::string::npos);
}

TEST(SampleStarts, RefusesNamesAndSizes) {
  const System system = make_system(pendulum);
  EXPECT_NE(message_of([&] { SampleStarts(system, {"lenght"}, {}); }).find("neither a parameter"), std::string::npos);
  const System family = make_system(R"toml(
coordinates = ["x[1..N]"]
[parameters]
N = 3
k = 2.0
[dynamics]
kinetic = "sum(i = 1..N, x[i]'^2/2)"
potential = "sum(i = 1..N, k*x[i]^2/2)"
)toml");
  EXPECT_NE(message_of([&] { SampleStarts(family, {"N"}, {}); }).find("how many members"), std::string::npos);
  EXPECT_EQ(message_of([&] { SampleStarts(family, {"k", "x[2]"}, {}); }), "");
}

TEST(KeptValues, AreThoseOfTheInstant) {
  const System system = make_system(pendulum);
  KeptValues kept(system, {"height", "push", "lambda(*)", "x''"});
  EXPECT_EQ(kept.names(), (std::vector<std::string>{"height", "push", "x''", "lambda(rod)"}));
  const double p[] = {0.5, 1.0, 9.81, 2.0}, q[] = {0.0, -1.0}, qd[] = {3.0, 0.0};
  double values[4];
  kept.calc(p, 0.0, q, qd, nullptr, values);
  // Lowest point: y'' = v²/L, tension m (g + v²/L) = −2 λ L.
  EXPECT_DOUBLE_EQ(values[0], -1.0);
  EXPECT_NEAR(values[1], 18.0, 1e-12);
  EXPECT_NEAR(values[2], 0.0, 1e-12);
  EXPECT_NEAR(values[3], -(9.81 + 9.0) * 2.0 / 2.0, 1e-12);
  EXPECT_NE(message_of([&] { KeptValues(system, {"hight"}); }).find("did you mean `height`"), std::string::npos);
}

TEST(SingleRunner, HasTheFixedStepsOfTheLanes) {
  const System system = make_system(pendulum);
  const EnsembleOptions options{.method = EnsembleMethod::rk4, .step = 1e-3, .to = 0.5};
  MotionBatch batch{.count = 1,
                    .num_parameters = 4,
                    .n = 2,
                    .t = 0.0,
                    .parameters = {0.5, 1.0, 9.81, 1.0},
                    .q = {0.6, -0.8},
                    .qd = {0.0, 0.0}};
  BatchResult one(batch), lanes(batch);
  SingleRunner(system, {0.0, Eigen::Vector2d(0.6, -0.8), Eigen::Vector2d::Zero()}, options).run(batch, one);
  make_runner(system, {0.0, Eigen::Vector2d(0.6, -0.8), Eigen::Vector2d::Zero()}, options, {.device = Device::cpu})
      ->run(batch, lanes);
  ASSERT_EQ(one.outcome[0], Outcome::done) << one.reason[0];
  ASSERT_EQ(lanes.outcome[0], Outcome::done) << lanes.reason[0];
  EXPECT_EQ(one.steps, lanes.steps);
  for (int i = 0; i < 2; ++i) {
    EXPECT_NEAR(one.q[i], lanes.q[i], 1e-12);
    EXPECT_NEAR(one.qd[i], lanes.qd[i], 1e-12);
  }
}

TEST(Work, HandsOutWhatIsLeft) {
  Work work(20, {{12, 4}, {0, 3}, {5, 2}}, 5);
  EXPECT_EQ(work.left(), 11);
  std::vector<std::pair<std::int64_t, std::int64_t>> got;
  while (const auto range = work.next()) got.emplace_back(range->first, range->count);
  EXPECT_EQ(got, (std::vector<std::pair<std::int64_t, std::int64_t>>{{3, 2}, {7, 3}, {10, 2}, {16, 4}}));
  EXPECT_EQ(work.left(), 0);
}

TEST(Sweep, GivesTheSameBitsForAnyNumberOfThreadsAndAnyBlocks) {
  const System system = make_system(pendulum);
  const auto plan = std::make_shared<SamplePlan>(
      std::vector<Variation>{parse_variation("g=normal(9.81,0.5)"), parse_variation("m=1,-1")},
      SampleOptions{.count = 12, .seed = 3});
  const EnsembleOptions options{.to = 0.3};
  std::map<std::int64_t, std::vector<double>> first;
  for (const auto& [threads, block] : {std::pair{1, 4}, {2, 4}, {3, 7}}) {
    const BlockMaker maker(
        system, plan, SampleStarts(system, plan->names(), {}), {"height"},
        make_runner(system, {0.0, Eigen::Vector2d(0.6, -0.8), Eigen::Vector2d::Zero()}, options, {}));
    Work work(plan->count(), {}, block);
    std::map<std::int64_t, std::vector<double>> rows;
    const SweepEnd end = run_sweep(
        maker, work, {.threads = threads, .motions = plan->count()},
        [&](const SweepBlock& b) {
          for (int i = 0; i < b.result.count; ++i) {
            const auto at = static_cast<std::size_t>(i);
            rows[b.first + i] = {b.samples[2 * at], b.result.t[at], b.result.q[2 * at], b.result.qd[2 * at + 1],
                                 static_cast<double>(b.result.outcome[at])};
            if (b.result.outcome[at] != Outcome::failed) rows[b.first + i].push_back(b.kept[at]);
          }
        },
        [](const SweepProgress&) { return true; });
    EXPECT_EQ(rows.size(), 24u);
    // Masses below zero fail, and stop no other.
    EXPECT_EQ(end.counts.failed, 12);
    EXPECT_EQ(end.counts.motions, 24);
    if (first.empty()) first = rows;
    EXPECT_EQ(rows, first) << threads << " threads, blocks of " << block;
  }
}

TEST(Sweep, StopsWhenItIsTold) {
  const System system = make_system(pendulum);
  const auto plan =
      std::make_shared<SamplePlan>(std::vector<Variation>{parse_variation("g=1:9:1000000")}, SampleOptions{});
  const BlockMaker maker(
      system, plan, SampleStarts(system, plan->names(), {}), {},
      make_runner(system, {0.0, Eigen::Vector2d(0.6, -0.8), Eigen::Vector2d::Zero()}, {.to = 0.1}, {}));
  Work work(plan->count(), {}, 4);
  std::int64_t got = 0;
  const SweepEnd end = run_sweep(
      maker, work, {.threads = 2, .motions = plan->count()}, [&](const SweepBlock& b) { got += b.result.count; },
      [&](const SweepProgress& p) { return p.now.motions < 20; });
  EXPECT_TRUE(end.interrupted);
  EXPECT_EQ(end.counts.motions, got);
  EXPECT_LT(got, 200);
}

}  // namespace
}  // namespace mechanician
