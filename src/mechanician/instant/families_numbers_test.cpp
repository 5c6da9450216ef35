// Numbers of families from kernels against those of the same model written out.

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <tuple>

#include "mechanician/instant/both_for_test.hpp"
#include "mechanician/instant/family_numbers.hpp"
#include "mechanician/instant/rolled_bodies_for_test.hpp"
#include "mechanician/large/large_system.hpp"

namespace mechanician {
namespace {

void expect_same_words(const System& kernels, const System& written) {
  for (int i = 0; i < written.n(); ++i) {
    EXPECT_EQ(kernels.coordinate(i), written.coordinate(i));
    EXPECT_EQ(kernels.find_coordinate(written.coordinate(i)), i);
    EXPECT_EQ(kernels.forces_depend_on(i), written.forces_depend_on(i)) << kernels.coordinate(i);
  }
  for (int j = 0; j < written.m(); ++j) {
    EXPECT_EQ(kernels.row_name(j), written.row_name(j));
    const RowTraits &a = kernels.row(j), &b = written.row(j);
    EXPECT_EQ(std::tuple(a.level, a.kind, a.one_sided, a.measured, a.linear, a.text, a.place.line),
              std::tuple(b.level, b.kind, b.one_sided, b.measured, b.linear, b.text, b.place.line));
    EXPECT_EQ(std::tuple(a.rheonomic, a.acatastatic), std::tuple(b.rheonomic, b.acatastatic));
  }
  EXPECT_EQ(kernels.parameters(), written.parameters());
  EXPECT_EQ(kernels.parameter_names(), written.parameter_names());
  EXPECT_EQ(kernels.output_names(), written.output_names());
  EXPECT_EQ(kernels.start().q, written.start().q);
  EXPECT_EQ(kernels.start().qd, written.start().qd);
  EXPECT_EQ(kernels.scale(), written.scale());
}

/// M, Q, A, b, residuals and rates at random states, to the rounding that both say there may be.
void expect_same(const std::string& text, int n, int m, const ParameterOverrides& set = {}) {
  SCOPED_TRACE(text);
  const Both both(text, set);
  const System &written = both.written, &kernels = both.kernels;
  ASSERT_TRUE(kernels.kernels() && !written.kernels());
  for (const System* system : {&written, &kernels}) ASSERT_EQ(std::tuple(system->n(), system->m()), std::tuple(n, m));
  expect_same_words(kernels, written);
  LargeSystem& large = *kernels.kernels();
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> any(-1.0, 1.0);
    State state{any(random), Eigen::VectorXd(n), Eigen::VectorXd(n)};
    for (int i = 0; i < n; ++i) state.q(i) = any(random), state.qd(i) = any(random);
    const Evaluation expected = written.evaluate(state), found = kernels.evaluate(state);
    ASSERT_FALSE(expected.not_finite || found.not_finite);
    const auto same = [&](const Eigen::MatrixXd& x, const Eigen::MatrixXd& y, const Eigen::MatrixXd& x_noise,
                          const Eigen::MatrixXd& y_noise, const char* what) {
      EXPECT_LE((x - y).cwiseAbs().maxCoeff(), 1e-13 * (1.0 + y.cwiseAbs().maxCoeff())) << what << ", seed " << seed;
      // Bounds are of the same kind: neither hides what the other shows.
      EXPECT_LE(x_noise.maxCoeff(), 1e-12 * (1.0 + y.cwiseAbs().maxCoeff())) << what << ", seed " << seed;
      const Eigen::MatrixXd room = x_noise + y_noise;
      EXPECT_TRUE(((x - y).cwiseAbs().array() <= 2.0 * room.array() + 1e-18).all()) << what << ", seed " << seed;
    };
    const InstantValues &v = found.values, &w = expected.values;
    same(v.M.to_dense(), w.M.to_dense(), v.M_noise.to_dense(), w.M_noise.to_dense(), "M");
    same(v.A.to_dense(), w.A.to_dense(), v.A_noise.to_dense(), w.A_noise.to_dense(), "A");
    same(v.Q, w.Q, v.Q_noise, w.Q_noise, "Q");
    same(v.b, w.b, v.b_noise, w.b_noise, "b");
    same(found.residual, expected.residual, found.residual_noise, expected.residual_noise, "residual");
    same(found.rate, expected.rate, found.rate_noise, expected.rate_noise, "rate");

    // ½ q̇ᵀ(dM/dt)q̇ by a difference of M along the motion.
    constexpr double h = 1e-6;
    const auto kinetic_at = [&](double tau) {
      const State there{state.t + tau, state.q + tau * state.qd, state.qd};
      return 0.5 * state.qd.dot(kernels.evaluate(there).values.M * state.qd);
    };
    const auto size = static_cast<std::size_t>(n);
    const std::span<const double> q(state.q.data(), size), qd(state.qd.data(), size);
    const std::vector<double> sides = large.sides_at(state.t, q, qd);
    EXPECT_NEAR(large.calc_mass_power({state.t, q, qd, sides}), (kinetic_at(h) - kinetic_at(-h)) / (2 * h), 1e-7);
    // The same without bounds.
    LargeSystem::Values values = large.make_values();
    large.evaluate({state.t, q, qd, sides}, values);
    for (std::size_t k = 0; k < values.M.size(); ++k) {
      const auto [row, col] = large.pattern().M[k];
      ASSERT_GE(row, col);
      EXPECT_NEAR(values.M[k], v.M(row, col), 1e-15 * (1.0 + std::abs(values.M[k])));
      EXPECT_EQ(v.M(row, col), v.M(col, row));
    }
    for (int i = 0; i < n; ++i)
      EXPECT_NEAR(values.Q[static_cast<std::size_t>(i)], v.Q(i), 1e-13 * (1.0 + std::abs(v.Q(i))));
  }
}

TEST(FamilyNumbers, OfAChainIsTheOneWrittenOut) {
  expect_same(R"toml(
coordinates = ["x[1..N]", "y[1..N]", "z[1..N]"]
[parameters]
N = 7
[dynamics]
kinetic = "sum(i = 1..N, 0.5*(x[i]'^2 + y[i]'^2 + z[i]'^2))"
potential = "sum(i = 1..N, 9.81*z[i])"
[constraints]
top = "x[1]^2 + y[1]^2 + z[1]^2 = 1"
[constraints.rod]
for = "i = 2..N"
equation = "(x[i] - x[i-1])^2 + (y[i] - y[i-1])^2 + (z[i] - z[i-1])^2 = 1"
[start.position]
"x[i]" = { for = "i = 1..N", value = "0.6*i" }
"z[i]" = { for = "i = 1..N", value = "-0.8*i" }
[run.scale]
"x[i]" = { for = "i = 2..N", value = "i/N" }
"y[1]" = 1e-3
)toml",
              21, 7);
}

TEST(FamilyNumbers, OfTermsOfAllKindsIsTheOneWrittenOut) {
  // Masses that couple and move, sums in sums, lists, forces with velocities, time, a single coordinate beside families, one
  // coordinate twice in a member.
  expect_same(R"toml(
coordinates = ["phi", "x[0..N]", "u[1..3, -1..1]"]
[parameters]
N = 6
k = "N/2"
m = [1.5, 2, 3, 4, 5, 6, 7]
[define]
spin = "phi'*sin(phi)"
[dynamics]
kinetic = "2*sum(i = 0..N, m[i+1]/2*x[i]'^2) + (1 + phi^2)*phi'^2/2 + sum(i = 1..N, (2 + sin(x[i]))*x[i]'*x[i-1]'/8) + sum(i = 1..3, j = -1..1, u[i,j]'^2*(1 + i)/2) + sum(i = 1..N, x[i]'*t)"
potential = "k*sum(i = 1..N, sum(j = i..N, (x[j] - x[i-1])^2)) + cos(phi) - sum(i = 1..3, u[i,0]^4)"
[dynamics.force]
"x[i]" = { for = "i = 1..N", value = "-i*x[i]'*x[i-1] + m[i]*sin(t) + spin" }
phi = "-phi'^3"
"u[2,1]" = "1"
[constraints]
first = "x[0] = sin(t)"
[constraints.pair]
for = "i = 1..3, j = i..3"
equation = "u[i,-1]*u[j,0] = 0.1*j*t"
[constraints.blade]
for = "i = 1..N"
equation = "x[i]'*cos(phi) = x[N-i]'*sin(phi)*m[i]"
[start.position]
"u[i,j]" = { for = "i = 1..3, j = -1..1", value = "i*10 + j" }
phi = "k"
[start.velocity]
"x[3]" = "m[2]"
)toml",
              17, 13);
}

TEST(FamilyNumbers, OfANetIsTheOneWrittenOut) {
  expect_same(R"toml(
coordinates = ["x[1..K, 1..K]", "y[1..K, 1..K]"]
[parameters]
K = 4
[dynamics]
kinetic = "sum(i = 1..K, j = 1..K, (x[i,j]'^2 + y[i,j]'^2)/2)"
[constraints.across]
for = "i = 1..K-1, j = 1..K"
equation = "(x[i+1,j] - x[i,j])^2 + (y[i+1,j] - y[i,j])^2 = 1"
[constraints.down]
for = "i = 1..K, j = 1..K-1"
equation = "(x[i,j+1] - x[i,j])^2 + (y[i,j+1] - y[i,j])^2 = 1"
[start.position]
"x[i,j]" = { for = "i = 1..K, j = 1..K", value = "i" }
"y[i,j]" = { for = "i = 1..K, j = 1..K", value = "j" }
)toml",
              32, 24);
}

/// Where nothing decides a side the equations are as they are written, too: sign(0) = 0.
TEST(FamilyNumbers, KinksAreAsWrittenAlsoWhereTheySwitch) {
  const Both both(R"toml(
coordinates = ["x[1..N]"]
[parameters]
N = 5
[dynamics]
kinetic = "sum(i = 1..N, x[i]'^2/2)"
potential = "sum(i = 1..N, abs(x[i]))"
[dynamics.force]
"x[i]" = { for = "i = 1..N", value = "-3*sign(x[i]') + max(x[i], 0.5*i - 1) + if(x[i] >= 0, 10, 20)" }
)toml");
  for (const double x : {0.0, -1.0, 0.5}) {
    State state{0.0, Eigen::VectorXd::Constant(5, x), Eigen::VectorXd::LinSpaced(5, -2.0, 2.0)};
    EXPECT_EQ(both.kernels.evaluate(state).values.Q, both.written.evaluate(state).values.Q) << x;
  }
}

TEST(FamilyNumbers, ACopyServesOnItsOwnAndOtherParametersAreThoseOfEquationsWrittenOut) {
  constexpr const char* text = R"toml(
coordinates = ["x[1..N]"]
[parameters]
N = 3
k = 2
m = [1, 2, 3]
[dynamics]
kinetic = "sum(i = 1..N, m[i]*x[i]'^2/2)"
potential = "sum(i = 1..N, k*x[i]^2/2)"
)toml";
  std::optional<System> copy;
  {
    const System first(read_family_model_text(text, "m.toml", {{"k", 5.0}}), System::Numbers::kernels);
    copy = first;
  }
  ASSERT_TRUE(copy->kernels());
  const State state{0.0, Eigen::VectorXd::Ones(3), Eigen::VectorXd::Zero(3)};
  EXPECT_EQ(copy->evaluate(state).values.Q(0), -5.0);
  std::vector<double> values = copy->parameters();
  EXPECT_EQ(values, (std::vector<double>{3, 5, 1, 2, 3}));
  values[1] = 7.0;
  copy->set_parameters(values);
  EXPECT_FALSE(copy->kernels());
  EXPECT_EQ(copy->evaluate(state).values.Q(0), -7.0);
}

TEST(FamilyNumbers, OfBodiesThatAreAlikeAreThoseOfEachByItself) {
  for (const int count : {3, 30}) {
    expect_same(chain_of_balls, 7 * count, 4 * count, {{"N", static_cast<double>(count)}});
    expect_same(chain_of_hinges, 3 * count, 2 * count, {{"N", static_cast<double>(count)}});
  }
}

/// Exponents are no data; neither are signs, states beside coordinates, or names that are left alone.
TEST(FamilyNumbers, OfTermsThatDifferInMoreThanNumbersAreTheirOwn) {
  expect_same(R"toml(
coordinates = ["a", "b", "c", "d", "e", "f"]
[parameters]
k = [3.5, 4.5, 5.5]
g = 7.25
[states]
z = { rate = "-z + a" }
w = { rate = "-2.5*w + b" }
[dynamics]
kinetic   = "3.5*a'^2 + 4.5*b'^2 - (-5.5)*c'^2 + (1 + a^2)*d'^2/2 + (1 + b^2)*e'^2/2 + f'^2*(2 + sin(f))"
potential = "5.25*a^3 + 6.25*b^4 + 7.25*c^3 - 8.25*(a*b) + 9.25*(b*c) + k[1]*d^2 + k[3]*e^2 + g*f + z*d + a*e"
[dynamics.force]
a = "-5.5*a'*abs(a')"
b = "-6.5*b'*abs(b')"
c = "7.5*a"
[constraints]
one   = "a^2 + 5.75*b = 6.75"
two   = "b^2 + 6.75*c = 7.75"
three = "d^3 + 5.75*e = 6.75"
four  = "d' = 5.75*f' + t"
five  = "e' = 6.75*d' + t"
)toml",
              8, 7);
}

/// What is written member by member comes from kernels where so much of it is alike, and everything else is there as before.
TEST(FamilyNumbers, AreThoseOfKernelsWhereBodiesAreMany) {
  const auto read = [](const std::string& text, double count) {
    return System(read_family_model_text(text, "m.toml", {{"N", count}}));
  };
  EXPECT_FALSE(read(chain_of_balls, 3).kernels());
  const System many = read(chain_of_balls, 60);
  EXPECT_TRUE(many.kernels() && !stays_in_families(many));
  EXPECT_EQ(many.equations().n(), 420);
  // Contacts are written out.
  const System touching = read(chain_of_balls +
                                   "[contacts.c]\nsphere = { on = \"link[N]\", radius = 0.01 }\n"
                                   "plane = { at = [0, 0, -9], normal = [0, 0, 1] }\n",
                               60);
  EXPECT_TRUE(!touching.kernels() && touching.has_contacts());
}

}  // namespace
}  // namespace mechanician
