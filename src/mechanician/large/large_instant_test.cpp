#include "mechanician/large/large_instant.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "mechanician/instant/accelerate.hpp"
#include "mechanician/large/truss_for_test.hpp"
#include "mechanician/model/read_model.hpp"

namespace mechanician {
namespace {

constexpr const char* chain = R"toml(
coordinates = ["x[1..N]", "y[1..N]", "z[1..N]"]
[parameters]
N = 40
[dynamics]
kinetic = "sum(i = 1..N, (1 + i/100)*0.5*(x[i]'^2 + y[i]'^2 + z[i]'^2))"
potential = "sum(i = 1..N, 9.81*z[i])"
[constraints]
top = "x[1]^2 + y[1]^2 + z[1]^2 = 1"
[constraints.rod]
for = "i = 2..N"
equation = "(x[i] - x[i-1])^2 + (y[i] - y[i-1])^2 + (z[i] - z[i-1])^2 = 1"
[constraints.twice]
for = "i = 1..N/10"
equation = "3*((x[10*i] - x[10*i-1])^2 + (y[10*i] - y[10*i-1])^2 + (z[10*i] - z[10*i-1])^2) = 3"
[constraints.thrice]
for = "i = 1..N/10, k = 1..2"
equation = "(x[10*i-5] - x[10*i-6])^2 + (y[10*i-5] - y[10*i-6])^2 + (z[10*i-5] - z[10*i-6])^2 = 1"
[start.position]
"x[i]" = { for = "i = 1..N", value = "0.6*i" }
"z[i]" = { for = "i = 1..N", value = "-0.8*i" }
[start.velocity]
"y[i]" = { for = "i = 1..N", value = "0.05*i" }
)toml";

/// Straight between two walls: one rod too many, and as far as it goes every rod explains it.
constexpr const char* between_walls = R"toml(
coordinates = ["x[1..N]", "y[1..N]"]
[parameters]
N = 60
[dynamics]
kinetic = "sum(i = 1..N, (x[i]'^2 + y[i]'^2)/2)"
potential = "sum(i = 1..N, 9.81*y[i])"
[constraints]
first = "x[1]^2 + y[1]^2 = 1"
[constraints.rod]
for = "i = 2..N"
equation = "(x[i] - x[i-1])^2 + (y[i] - y[i-1])^2 = 1"
[constraints.last]
for = "i = N..N"
equation = "(N + 1 - x[i])^2 + y[i]^2 = 1"
[start.position]
"x[i]" = { for = "i = 1..N", value = "i" }
)toml";

/// Sliders without mass on springs that hold some of them by a row.
constexpr const char* massless = R"toml(
coordinates = ["x[1..N]", "s[1..N]"]
[parameters]
N = 12
[dynamics]
kinetic = "sum(i = 1..N, (x[i]' + s[i]')^2/2)"
potential = "sum(i = 1..N, x[i]^2)"
[constraints.tied]
for = "i = 1..N-FREE"
equation = "s[i] = 0.5*x[i]"
)toml";

void expect_as_written_out(const std::string& text, const ParameterOverrides& set = {}) {
  const Model model = read_model_text(text, "m.toml", set);
  const ParameterValues parameters = evaluate_parameters(model, set);
  const System written(model, parameters.values);
  const State state = state_of(start_state(model, parameters));
  const Instant expected = accelerate(written, state, {});
  LargeSystem system(read_family_model_text(text, "m.toml", set));
  const auto start = system.start();
  const LargeInstant found = examine(system, start.t, start.q, start.qd);
  const Solution& s = expected.solution;

  ASSERT_EQ(found.has_acceleration, expected.has_acceleration()) << found.why;
  EXPECT_TRUE(found.rows.decided && found.rows.explained);
  EXPECT_EQ(found.rows.rank, s.rank);
  EXPECT_EQ(found.unique, s.unique);
  EXPECT_EQ(found.solvable, s.solvable);
  EXPECT_EQ(found.rows.consistent, s.consistent);
  const auto rows_of = [&](const std::vector<Eigen::Index>& rows) {
    std::vector<std::string> names;
    for (const Eigen::Index row : rows) names.push_back(written.row(static_cast<int>(row)).name);
    return names;
  };
  const auto names_of = [&](const std::vector<int>& rows) {
    std::vector<std::string> names;
    for (const int row : rows) names.push_back(system.row_name(row));
    return names;
  };
  const Diagnosis& d = *expected.diagnosis;
  EXPECT_EQ(names_of(found.rows.redundant), rows_of(d.redundant));
  EXPECT_EQ(names_of(found.rows.multipliers_undetermined), rows_of(d.multipliers_undetermined));
  EXPECT_EQ(found.undetermined, std::vector<int>(d.undetermined.begin(), d.undetermined.end()));
  ASSERT_EQ(found.rows.depends.size(), d.depends.size());
  for (std::size_t k = 0; k < d.depends.size(); ++k) {
    ASSERT_EQ(names_of(found.rows.depends[k].rows), rows_of(d.depends[k].on))
        << system.row_name(found.rows.depends[k].row);
    for (std::size_t i = 0; i < d.depends[k].on.size(); ++i)
      EXPECT_NEAR(found.rows.depends[k].coefficients[i], d.depends[k].coefficients[i],
                  1e-9 * (1 + std::abs(d.depends[k].coefficients[i])));
  }
  ASSERT_EQ(found.rows.conflicts.size(), d.conflicts.size());
  for (std::size_t k = 0; k < d.conflicts.size(); ++k)
    EXPECT_EQ(names_of(found.rows.conflicts[k]), rows_of(d.conflicts[k].rows));
  EXPECT_EQ(found.a.empty(), !s.a.has_value());
  if (!found.has_acceleration) return;
  const double size = 1 + s.qdd.cwiseAbs().maxCoeff(), force = 1 + s.Qc.cwiseAbs().maxCoeff(),
               pull = 1 + s.multipliers.cwiseAbs().maxCoeff();
  for (Eigen::Index i = 0; i < s.qdd.size(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    EXPECT_NEAR(found.qdd[k], s.qdd(i), 1e-9 * size);
    EXPECT_NEAR(found.constraint_force[k], s.Qc(i), 1e-9 * force);
    if (s.a) {
      EXPECT_NEAR(found.a[k], (*s.a)(i), 1e-12 * size);
    }
  }
  for (Eigen::Index j = 0; j < s.multipliers.size(); ++j)
    EXPECT_NEAR(found.multipliers[static_cast<std::size_t>(j)], s.multipliers(j), 1e-8 * pull)
        << system.row_name(static_cast<int>(j));
  ASSERT_EQ(found.gaussian.has_value(), s.gaussian.has_value());
  if (s.gaussian) {
    EXPECT_NEAR(*found.gaussian, *s.gaussian, 1e-9 * (1 + *s.gaussian));
  }
  EXPECT_LT(found.row_residual, 1e-12);
  EXPECT_LT(found.force_residual, 1e-12);
  EXPECT_NEAR(found.violation, expected.constraint_residual, 1e-13);
}

TEST(LargeInstant, AChainWithRodsTwiceAndThreeTimesIsThatOfTheModelWrittenOut) {
  expect_as_written_out(chain);
  expect_as_written_out(std::string(chain).replace(std::string(chain).find("0.05*i"), 6, "0"));
}

TEST(LargeInstant, ATrussIsThatOfTheModelWrittenOut) {
  for (const double K : {3.0, 5.0}) expect_as_written_out(truss_for_test, {{"K", K}});
}

TEST(LargeInstant, AStraightChainBetweenWallsIsThatOfTheModelWrittenOut) {
  for (const double N : {5.0, 60.0}) expect_as_written_out(between_walls, {{"N", N}});
}

TEST(LargeInstant, ContradictionsAreThoseOfTheModelWrittenOut) {
  const std::string text =
      std::string(chain).replace(std::string(chain).find("= 1\"\n[start"), 4, "= 1 + if(i == 2 and k == 2, t^2, 0)\"");
  expect_as_written_out(text);
  LargeSystem system(read_family_model_text(text, "m.toml", {}));
  const auto start = system.start();
  // The rod, its two copies, and the copy that moves: three sets of two with it.
  EXPECT_EQ(examine(system, start.t, start.q, start.qd).rows.conflicts.size(), 2u);
}

TEST(LargeInstant, CoordinatesWithoutMassAreAsInTheModelWrittenOut) {
  for (const char* free : {"0", "3"}) {
    std::string text = massless;
    text.replace(text.find("FREE"), 4, free);
    expect_as_written_out(text);
    // A force where nothing holds against it.
    text.replace(text.find("x[i]^2)"), 7, "x[i]^2 + 2*s[i])");
    expect_as_written_out(text);
  }
}

TEST(LargeInstant, AFinderIsAskedWhereTheRankIsTooNear) {
  // A rod that is turned out of the direction of another by 3·10⁻¹⁰.
  const std::string text = std::string(chain) +
                           "[constraints.nearly]\nfor = \"i = 7..7\"\nequation = \"(x[i] - x[i-1])^2 + (y[i] - "
                           "y[i-1])^2 + (z[i] - z[i-1])^2 + 3e-10*x[i+5] = 1 + 3e-10*7.2\"\n";
  LargeSystem system(read_family_model_text(text, "m.toml", {}));
  const auto start = system.start();
  const LargeInstant alone = examine(system, start.t, start.q, start.qd);
  EXPECT_FALSE(alone.rows.decided);
  EXPECT_FALSE(alone.has_acceleration);
  int asked = 0;
  std::size_t answer = 0;
  const SparseRankFinder finder = [&](const SparsePattern&, std::span<const double>, std::span<const double>) {
    ++asked;
    return std::vector<SparseDependence>(answer);
  };
  answer = alone.rows.redundant.size() + 1;
  EXPECT_FALSE(examine(system, start.t, start.q, start.qd, finder).rows.decided);
  answer = alone.rows.redundant.size();
  const LargeInstant agreed = examine(system, start.t, start.q, start.qd, finder);
  EXPECT_TRUE(agreed.rows.decided && agreed.rank_by_finder && agreed.has_acceleration) << agreed.why;
  EXPECT_EQ(asked, 2);
}

}  // namespace
}  // namespace mechanician
