#include "mechanician/ensemble/start_lanes.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <random>

#include "mechanician/base/trials_for_test.hpp"
#include "mechanician/ensemble/varied_system.hpp"
#include "mechanician/instant/project.hpp"
#include "mechanician/model/read_model.hpp"
#include "mechanician/motion/random_model_for_test.hpp"

namespace mechanician {
namespace {

/// Starts near one of a model, off its constraints.
struct Starts {
  const System& system;
  double t = 0.0;
  int count = 0;
  std::vector<double> parameters, q, qd;

  Starts(const System& s, const State& near, int size, double far, unsigned seed, bool vary_parameters)
      : system(s), t(near.t), count(size) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(-far, far);
    for (int k = 0; k < count; ++k) {
      for (const double p : s.parameters())
        parameters.push_back(vary_parameters ? p * (1.0 + 0.1 * uniform(random)) : p);
      for (const double x : near.q) q.push_back(x + uniform(random));
      for (const double x : near.qd) qd.push_back(x + uniform(random));
    }
  }
  State state(int k) const {
    const auto n = system.n();
    return {t, Eigen::Map<const Eigen::VectorXd>(q.data() + k * n, n),
            Eigen::Map<const Eigen::VectorXd>(qd.data() + k * n, n)};
  }
};

std::vector<int> numbers(int count) {
  std::vector<int> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

struct Tally {
  int starts = 0, moved = 0, not_converged = 0, lost = 0;
  double worst = 0.0;
  void print(const std::string& what) const {
    fmt::print("{}: {} of {} starts moved in lanes, {} cannot be moved, {} elsewhere, largest difference {:.2g}\n",
               what, moved, starts, not_converged, lost, worst);
  }
};

/// Lanes against project(), one by one.
void compare(const System& system, const State& near, double far, unsigned seed, Tally& tally, int count = 10,
             bool vary_parameters = false) {
  const Starts given(system, near, count, far, seed, vary_parameters);
  Starts moved = given;
  StartLanes lanes(system, near,
                   vary_parameters ? numbers(static_cast<int>(system.parameters().size())) : std::vector<int>{});
  std::vector<int> left = numbers(count);
  lanes.move(given.t, left, moved.parameters.data(), moved.q.data(), moved.qd.data());
  VariedSystem varied(system);
  const auto num = system.parameters().size();
  for (int k = 0; k < count; ++k) {
    const bool done = std::find(left.begin(), left.end(), k) == left.end();
    const Projection one =
        project(varied.with(std::span(given.parameters).subspan(static_cast<std::size_t>(k) * num, num)),
                given.state(k), ProjectionGoal::nearest, held_by(system.start_rules()));
    ++tally.starts, tally.moved += done, tally.not_converged += !one.converged;
    const State got = moved.state(k), was = given.state(k);
    if (!done) {
      EXPECT_TRUE(got.q == was.q && got.qd == was.qd) << "seed " << seed << ", start " << k;
      continue;
    }
    // Seldom, lanes find a way where project() does not.
    if (!one.converged) {
      ++tally.lost;
      continue;
    }
    const double size = std::max({1.0, one.state.q.cwiseAbs().maxCoeff(), one.state.qd.cwiseAbs().maxCoeff()});
    const double off =
        std::max((got.q - one.state.q).cwiseAbs().maxCoeff(), (got.qd - one.state.qd).cwiseAbs().maxCoeff()) / size;
    // A start that is moved many times as far as it was put off magnifies rounding as much.
    EXPECT_LT(off, 1e-11 * std::max(1.0, one.moved / far)) << "seed " << seed << ", start " << k;
    tally.worst = std::max(tally.worst, off);
  }
}

TEST(StartLanes, what_is_held_stays_to_the_bit_and_the_rest_moves_as_project_moves_it) {
  const System crank(read_family_model_text(R"toml(
coordinates = ["crank", "rod", "slider"]
[parameters]
r = 1.0
L = 2.5
[dynamics]
kinetic = "crank'^2/2 + rod'^2 + 3*slider'^2/2 + 0.4*crank'*slider' + 0.2*rod'*slider'"
[constraints]
along  = "r*cos(crank) + L*cos(rod) = slider"
across = "r*sin(crank) = L*sin(rod)"
[start]
position = { crank = 0.7, rod = 0.26, slider = 3.18 }
hold = ["crank", "crank'"]
)toml",
                                            "crank.toml"));
  Tally tally;
  compare(crank, crank.start(), 0.2, 3, tally, 40, true);
  EXPECT_EQ(tally.moved, tally.starts);
  const Starts given(crank, crank.start(), 12, 0.2, 4, false);
  Starts moved = given;
  StartLanes lanes(crank, crank.start(), {});
  std::vector<int> left = numbers(12);
  lanes.move(0.0, left, moved.parameters.data(), moved.q.data(), moved.qd.data());
  EXPECT_TRUE(left.empty());
  for (int k = 0; k < 12; ++k) {
    EXPECT_EQ(moved.state(k).q(0), given.state(k).q(0));
    EXPECT_EQ(moved.state(k).qd(0), given.state(k).qd(0));
  }
  // Random models with some coordinates held.
  for (unsigned seed = 1; seed <= num_trials(40); ++seed) {
    std::mt19937 random(seed);
    Features with;
    with.holonomic = 1 + static_cast<int>(random() % 2), with.nonholonomic = static_cast<int>(random() % 2);
    const RandomSystem made(seed, with);
    if (!made.good() || made.system.n() < 4) continue;
    Model model = made.system.model();
    model.start.hold = {model.coordinates[random() % model.coordinates.size()].name,
                        model.coordinates[random() % model.coordinates.size()].name + "'"};
    compare(System(model, made.system.parameters()), made.state(), 0.01, seed, tally, 6);
  }
  tally.print("with some held");
  EXPECT_GT(tally.moved, tally.starts * 8 / 10);
}

TEST(StartLanes, MoveStartsOfRandomModelsAsProjectDoes) {
  for (const double far : {1e-3, 0.03, 0.3}) {
    Tally tally;
    for (unsigned seed = 1; seed <= num_trials(100); ++seed) {
      std::mt19937 random(seed);
      Features with;
      with.rheonomic = random() % 2, with.matrices = random() % 2;
      with.holonomic = static_cast<int>(random() % 4), with.nonholonomic = static_cast<int>(random() % 3);
      with.nonlinear = random() % 2, with.redundant = static_cast<int>(random() % 2);
      with.singular_mass = random() % 4 == 0, with.acceleration = random() % 4 == 0;
      with.control = static_cast<int>(random() % 2), with.measured = random() % 4 == 0;
      const RandomSystem made(seed, with);
      if (made.good() && made.system.m() > 0) compare(made.system, made.state(), far, seed, tally, 6);
    }
    tally.print(fmt::format("random models, {} away", far));
    EXPECT_GT(tally.moved, tally.starts * 9 / 10);
    EXPECT_LE(tally.lost, tally.starts / 100);
  }
}

TEST(StartLanes, MoveStartsOfTheGalleryAsProjectDoes) {
  for (const bool vary_parameters : {false, true})
    for (const double far : {1e-3, 0.1}) {
      Tally all;
      for (const auto& entry : std::filesystem::directory_iterator(MECHANICIAN_SOURCE_DIR "/models")) {
        if (entry.path().extension() != ".toml") continue;
        Model model = read_model(entry.path());
        if (model.coordinates.size() > 40 || model.constraints.empty() || !model.unknowns.empty()) continue;
        const ParameterValues parameters = evaluate_parameters(model);
        const State start = state_of(start_state(model, parameters));
        SCOPED_TRACE(entry.path().filename());
        const System system(std::move(model), parameters.values);
        Tally tally;
        compare(system, start, far, 7, tally, 6, vary_parameters);
        tally.print(entry.path().filename());
        all.starts += tally.starts, all.moved += tally.moved, all.worst = std::max(all.worst, tally.worst),
                                                              all.not_converged += tally.not_converged,
                                                              all.lost += tally.lost;
      }
      all.print(fmt::format("gallery, {} away{}", far, vary_parameters ? ", with other parameters" : ""));
      EXPECT_GT(all.moved, (all.starts - all.not_converged) * 8 / 10);  // of those that can be moved
      EXPECT_EQ(all.lost, 0);
    }
}

TEST(StartLanes, FindTheWayOfProjectFarFromTheConstraints) {
  // The second angle half a radian away: the nearest point is one of many, and found by shortened steps.
  Model model = read_model(MECHANICIAN_SOURCE_DIR "/models/arm7.toml");
  const ParameterValues parameters = evaluate_parameters(model);
  State start = state_of(start_state(model, parameters));
  const System system(std::move(model), parameters.values);
  start.q(1) = 0.0;
  Tally tally;
  compare(system, start, 0.1, 3, tally, static_cast<int>(num_trials(25)));
  tally.print("arm far away");
  EXPECT_GE(10 * tally.moved, 9 * tally.starts);
}

TEST(StartLanes, MoveAStartAlikeWhoeverIsMovedWithIt) {
  Model model = read_model(MECHANICIAN_SOURCE_DIR "/models/four_bar.toml");
  const ParameterValues parameters = evaluate_parameters(model);
  const State start = state_of(start_state(model, parameters));
  const System system(std::move(model), parameters.values);
  const Starts given(system, start, 11, 0.05, 5, false);
  Starts together = given, alone = given;
  StartLanes lanes(system, start, {});
  std::vector<int> left = numbers(given.count);
  lanes.move(given.t, left, together.parameters.data(), together.q.data(), together.qd.data());
  EXPECT_TRUE(left.empty());
  for (int k = given.count - 1; k >= 0; --k) {
    left = {k};
    lanes.move(given.t, left, alone.parameters.data(), alone.q.data(), alone.qd.data());
  }
  EXPECT_EQ(alone.q, together.q);
  EXPECT_EQ(alone.qd, together.qd);
}

}  // namespace
}  // namespace mechanician
