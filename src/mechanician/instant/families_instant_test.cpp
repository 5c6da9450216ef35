// Instants of families from kernels against those of the same model written out.

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <tuple>

#include "mechanician/base/trials_for_test.hpp"
#include "mechanician/instant/accelerate.hpp"
#include "mechanician/instant/both_for_test.hpp"
#include "mechanician/instant/project.hpp"
#include "mechanician/instant/truss_for_test.hpp"

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

void expect_near(const Eigen::VectorXd& found, const Eigen::VectorXd& expected, double tolerance, const char* what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  if (found.size() == 0) return;
  EXPECT_LE((found - expected).cwiseAbs().maxCoeff(), tolerance * (1.0 + expected.cwiseAbs().maxCoeff())) << what;
}

void expect_same_diagnosis(const Diagnosis& g, const Diagnosis& d) {
  EXPECT_EQ(g.redundant, d.redundant);
  EXPECT_EQ(g.multipliers_undetermined, d.multipliers_undetermined);
  EXPECT_EQ(g.undetermined, d.undetermined);
  EXPECT_EQ(g.zero_rows, d.zero_rows);
  EXPECT_TRUE(g.depends_complete);
  ASSERT_EQ(g.depends.size(), d.depends.size());
  for (std::size_t k = 0; k < d.depends.size(); ++k) {
    ASSERT_EQ(g.depends[k].on, d.depends[k].on) << d.depends[k].row;
    for (std::size_t i = 0; i < d.depends[k].on.size(); ++i)
      EXPECT_NEAR(g.depends[k].coefficients[i], d.depends[k].coefficients[i],
                  1e-8 * (1 + std::abs(d.depends[k].coefficients[i])));
  }
  ASSERT_EQ(g.conflicts.size(), d.conflicts.size());
  for (std::size_t k = 0; k < d.conflicts.size(); ++k) EXPECT_EQ(g.conflicts[k].rows, d.conflicts[k].rows);
}

/// All that an instant says, from kernels and written out, at the start or `moved` from it by chance.
void expect_as_written_out(const std::string& text, const ParameterOverrides& set = {}, double moved = 0.0,
                           unsigned seed = 1) {
  const Both both(text, set);
  State state = both.start;
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> any(-1.0, 1.0);
  for (int i = 0; i < both.written.n(); ++i) state.q(i) += moved * any(random), state.qd(i) += moved * any(random);
  const Instant expected = accelerate(both.written, state, {.parts = true}),
                found = accelerate(both.kernels, state, {.parts = true});
  const Solution &s = expected.solution, &f = found.solution;

  ASSERT_EQ(f.status, s.status) << describe(f.status) << ", expected: " << describe(s.status);
  EXPECT_EQ(f.rank, s.rank);
  EXPECT_EQ(std::tuple(f.unique, f.solvable, f.consistent, f.rank_doubtful, f.mass.kind, f.multipliers_unique),
            std::tuple(s.unique, s.solvable, s.consistent, s.rank_doubtful, s.mass.kind, s.multipliers_unique));
  expect_same_diagnosis(*found.diagnosis, *expected.diagnosis);
  ASSERT_EQ(found.residuals.size(), expected.residuals.size());
  for (std::size_t k = 0; k < found.residuals.size(); ++k) {
    const RowResidual &r = found.residuals[k], &e = expected.residuals[k];
    EXPECT_EQ(std::tuple(r.row, r.of_rate), std::tuple(e.row, e.of_rate));
    EXPECT_NEAR(r.value, e.value, 1e-12 * (1.0 + std::abs(e.value)));
    EXPECT_NEAR(r.scaled, e.scaled, 1e-12 + 1e-6 * e.scaled);
  }
  ASSERT_EQ(f.a.has_value(), s.a.has_value());
  if (s.a) expect_near(*f.a, *s.a, 1e-12, "a");
  if (!s.has_acceleration()) return;
  expect_near(f.qdd, s.qdd, 1e-9, "q̈");
  expect_near(f.Qc, s.Qc, 1e-9, "Qᶜ");
  expect_near(f.multipliers, s.multipliers, 1e-8, "λ");
  ASSERT_EQ(f.gaussian.has_value(), s.gaussian.has_value());
  if (s.gaussian) {
    EXPECT_NEAR(*f.gaussian, *s.gaussian, 1e-9 * (1 + *s.gaussian));
  }
  EXPECT_LT(calc_solution_residual(found), 1e-11);
  expect_near(found.parts->acceleration_null, expected.parts->acceleration_null, 1e-8, "the part on N(A)");
  expect_near(found.parts->force_range, expected.parts->force_range, 1e-8, "the part of Qᶜ across N(A)");

  const Projection to = project(both.written, state), there = project(both.kernels, state);
  ASSERT_EQ(there.converged, to.converged);
  EXPECT_EQ(there.unmet, to.unmet);
  if (!to.converged) return;
  expect_near(there.state.q, to.state.q, 1e-7, "the nearest position");
  expect_near(there.state.qd, to.state.qd, 1e-7, "the nearest velocity");
}

TEST(FamiliesInstant, AChainWithRodsTwiceAndThreeTimesIsThatOfTheModelWrittenOut) {
  expect_as_written_out(chain);
  expect_as_written_out(std::string(chain).replace(std::string(chain).find("0.05*i"), 6, "0"));
}

TEST(FamiliesInstant, ATrussIsThatOfTheModelWrittenOut) {
  for (const double K : {3.0, 5.0}) expect_as_written_out(truss_for_test, {{"K", K}});
}

TEST(FamiliesInstant, AStraightChainBetweenWallsIsThatOfTheModelWrittenOut) {
  for (const double N : {5.0, 60.0}) expect_as_written_out(between_walls, {{"N", N}});
}

TEST(FamiliesInstant, ContradictionsAreThoseOfTheModelWrittenOut) {
  const std::string text =
      std::string(chain).replace(std::string(chain).find("= 1\"\n[start"), 4, "= 1 + if(i == 2 and k == 2, t^2, 0)\"");
  expect_as_written_out(text);
  // The rod, its two copies, and the copy that moves: three sets of two with it.
  const Both both(text);
  EXPECT_EQ(accelerate(both.kernels, both.start).diagnosis->conflicts.size(), 2u);
}

TEST(FamiliesInstant, CoordinatesWithoutMassAreAsInTheModelWrittenOut) {
  for (const char* free : {"0", "3"}) {
    std::string text = massless;
    text.replace(text.find("FREE"), 4, free);
    expect_as_written_out(text);
    // A force where nothing holds against it.
    text.replace(text.find("x[i]^2)"), 7, "x[i]^2 + 2*s[i])");
    expect_as_written_out(text);
  }
}

/// A model of families by chance: masses that may couple and move, potentials, forces with kinks and lists, rows of all kinds
/// that kernels can say, some of them twice. Everything grows with N.
std::string random_model(unsigned seed) {
  std::mt19937_64 random(seed);
  const auto chance = [&](unsigned of) { return random() % of == 0; };
  const auto one_of = [&](const std::vector<std::string>& texts) { return texts[random() % texts.size()]; };
  const auto text_of = [](const std::string& name, const std::string& value) {
    return name + " = \"" + value + "\"\n";
  };
  const auto family = [](const std::string& name, const std::string& range, const std::string& value) {
    return "\"" + name + "\" = { for = \"" + range + "\", value = \"" + value + "\" }\n";
  };
  const auto rows = [](const std::string& name, const std::string& range, const std::string& equation) {
    return "[constraints." + name + "]\nfor = \"" + range + "\"\nequation = \"" + equation + "\"\n";
  };
  std::string text =
      "coordinates = [\"u\", \"x[1..N]\", \"y[1..N]\"]\n[parameters]\nN = 3\nk = 1.5\nw = [1, 2.5, 0.5]\n";
  text += "[define]\n" + family("len[i]", "i = 2..N", "(x[i] - x[i-1])^2 + (y[i] - y[i-1])^2");
  text += "[dynamics]\n";
  text += text_of("kinetic", "u'^2/2 + sum(i = 1..N, " + one_of({"1", "(1 + i/N)", "(2 + sin(y[i]))", "w[2]"}) +
                                 "*(x[i]'^2 + y[i]'^2)/2)" +
                                 (chance(2) ? " + sum(i = 2..N, 0.1*cos(x[i])*x[i]'*y[i-1]')" : "") +
                                 (chance(3) ? " + 0.05*u'*x[1]'" : ""));
  text += text_of("potential", "k*u^2 + sum(i = 1..N, " + one_of({"9.81*y[i]", "y[i]^2/2 + cos(x[i])", "w[3]*y[i]^4"}) +
                                   ")" + (chance(2) ? " + 2*sum(i = 2..N, (x[i] - x[i-1] - 1)^2)" : ""));
  if (chance(2))
    text += "[dynamics.force]\n" +
            family("y[i]", "i = 1..N",
                   one_of({"-0.3*y[i]'", "-sign(x[i])*i/N", "if(x[i] > 2.5, k, w[1])*sin(t)", "-abs(y[i]')*y[i]'"}));
  text += "[constraints]\n";
  text += text_of("top", one_of({"x[1]^2 + y[1]^2 = 1", "x[1] = 1 + 0*t", "(x[1] - u)^2 + y[1]^2 = 1"}));
  const std::string kind = one_of({"rod", "tie", "blade"});
  const std::string equation = kind == "rod"   ? "len[i] = 1"
                               : kind == "tie" ? "y[i] - 0.2*sin(x[i]) = y[i-1] - 0.2*sin(x[i-1])"
                                               : "x[i]'*sin(y[i-1]) = y[i]'*cos(x[i-1])";
  text += rows(kind, "i = 2..N", equation);
  if (chance(3)) text += rows("again", "i = 2..2", equation);
  return text + "[start.position]\n" + family("x[i]", "i = 1..N", "i") + "[start.velocity]\nu = 0.25\n";
}

TEST(FamiliesInstant, RandomModelsAreThoseWrittenOut) {
  for (unsigned seed = 1; seed <= num_trials(40); ++seed) {
    const std::string text = random_model(seed);
    for (const double N : {3.0, 30.0, 300.0}) {
      if (N == 300.0 && seed % 8 != 0) continue;
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", N = " << N << "\n" << text);
      expect_as_written_out(text, {{"N", N}});
      expect_as_written_out(text, {{"N", N}}, 1e-3, seed);
    }
  }
}

/// A rod that is turned out of the direction of another by 3·10⁻¹⁰: too near to tell, or not, as written out.
TEST(FamiliesInstant, ARankThatIsNearIsThatOfTheModelWrittenOut) {
  const Both both(std::string(chain) +
                  "[constraints.nearly]\nfor = \"i = 7..7\"\nequation = \"(x[i] - x[i-1])^2 + (y[i] - "
                  "y[i-1])^2 + (z[i] - z[i-1])^2 + 3e-10*x[i+5] = 1 + 3e-10*7.2\"\n");
  const Instant found = accelerate(both.kernels, both.start), expected = accelerate(both.written, both.start);
  EXPECT_EQ(found.diagnosis->rank_doubtful, expected.diagnosis->rank_doubtful);
  EXPECT_EQ(found.diagnosis->rank, expected.diagnosis->rank);
}

}  // namespace
}  // namespace mechanician
