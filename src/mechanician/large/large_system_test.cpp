#include "mechanician/large/large_system.hpp"

#include <gtest/gtest.h>

#include <random>

#include "mechanician/expression/tape.hpp"
#include "mechanician/instant/accelerate.hpp"
#include "mechanician/model/read_model.hpp"

namespace mechanician {
namespace {

/// Families as loops against the same model written out: M, Q, A and b at random states, to rounding.
void expect_same(const std::string& text, int n, int m) {
  SCOPED_TRACE(text);
  Model written = read_model_text(text, "m.toml");
  const ParameterValues parameters = evaluate_parameters(written);
  const StartState start = start_state(written, parameters);
  const System system(std::move(written), parameters.values);
  LargeSystem large(read_family_model_text(text, "m.toml"));
  ASSERT_EQ(large.n(), n);
  ASSERT_EQ(large.m(), m);
  ASSERT_EQ(system.n(), n);
  ASSERT_EQ(system.m(), m);
  for (int i = 0; i < n; ++i) EXPECT_EQ(large.model().name_of(i), system.coordinate(i));
  for (int j = 0; j < m; ++j) EXPECT_EQ(large.row_name(j), system.row(j).name);
  EXPECT_EQ(large.start().q, start.q);
  EXPECT_EQ(large.start().qd, start.qd);
  LargeSystem::Values values = large.make_values();
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> any(-1.0, 1.0);
    State state{any(random), Eigen::VectorXd(n), Eigen::VectorXd(n)};
    for (int i = 0; i < n; ++i) state.q(i) = any(random), state.qd(i) = any(random);
    const Instant instant = accelerate(system, state, {.diagnose = false});
    large.evaluate(state.t, {state.q.data(), static_cast<std::size_t>(n)},
                   {state.qd.data(), static_cast<std::size_t>(n)}, values);
    Eigen::MatrixXd M = Eigen::MatrixXd::Zero(n, n), A = Eigen::MatrixXd::Zero(m, n);
    for (std::size_t k = 0; k < values.M.size(); ++k) {
      const auto [row, col] = large.M_pattern()[k];
      ASSERT_GE(row, col);
      M(row, col) = M(col, row) = values.M[k];
    }
    for (std::size_t k = 0; k < values.A.size(); ++k)
      A(large.A_pattern()[k].row, large.A_pattern()[k].col) += values.A[k];
    const auto same = [&](const Eigen::MatrixXd& found, const Eigen::MatrixXd& expected, const char* what) {
      EXPECT_LE((found - expected).cwiseAbs().maxCoeff(), 1e-13 * (1.0 + expected.cwiseAbs().maxCoeff()))
          << what << ", seed " << seed;
    };
    same(M, instant.values.M.to_dense(), "M");
    same(A, instant.values.A.to_dense(), "A");
    same(Eigen::Map<const Eigen::VectorXd>(values.Q.data(), n), instant.values.Q, "Q");
    same(Eigen::Map<const Eigen::VectorXd>(values.b.data(), m), instant.values.b, "b");

    // Rows and what the changing mass adds to the power, from the equations as they are written out.
    const Equations& eqs = system.equations();
    std::vector<Expr> symbols{eqs.t}, outputs;
    symbols.insert(symbols.end(), eqs.q.begin(), eqs.q.end());
    symbols.insert(symbols.end(), eqs.qd.begin(), eqs.qd.end());
    symbols.insert(symbols.end(), eqs.parameters.begin(), eqs.parameters.end());
    for (const Row& row : eqs.rows) outputs.push_back(row.residual);
    for (const Row& row : eqs.rows) outputs.push_back(row.level == Level::position ? row.rate : row.residual);
    std::vector<double> inputs{state.t};
    inputs.insert(inputs.end(), state.q.begin(), state.q.end());
    inputs.insert(inputs.end(), state.qd.begin(), state.qd.end());
    inputs.insert(inputs.end(), parameters.values.begin(), parameters.values.end());
    const std::vector<double> expected = Tape(outputs, symbols)(std::span<const double>(inputs));
    std::vector<double> residual(static_cast<std::size_t>(m)), rate(residual);
    large.evaluate_rows(state.t, {state.q.data(), static_cast<std::size_t>(n)},
                        {state.qd.data(), static_cast<std::size_t>(n)}, residual, rate);
    for (int j = 0; j < m; ++j) {
      EXPECT_NEAR(residual[static_cast<std::size_t>(j)], expected[static_cast<std::size_t>(j)], 1e-13);
      EXPECT_NEAR(rate[static_cast<std::size_t>(j)], expected[static_cast<std::size_t>(m + j)], 1e-13);
      EXPECT_EQ(large.is_position_row(j), eqs.rows[static_cast<std::size_t>(j)].level == Level::position);
    }
    // ½ q̇ᵀ(dM/dt)q̇ by a difference of M along the motion.
    constexpr double h = 1e-6;
    const auto M_at = [&](double tau) {
      const Eigen::VectorXd q = state.q + tau * state.qd;
      LargeSystem::Values there = large.make_values();
      large.evaluate(state.t + tau, {q.data(), static_cast<std::size_t>(n)},
                     {state.qd.data(), static_cast<std::size_t>(n)}, there);
      double sum = 0.0;
      for (std::size_t k = 0; k < there.M.size(); ++k) {
        const auto [row, col] = large.M_pattern()[k];
        sum += (row == col ? 0.5 : 1.0) * there.M[k] * state.qd(row) * state.qd(col);
      }
      return sum;
    };
    EXPECT_NEAR(large.calc_mass_power(state.t, {state.q.data(), static_cast<std::size_t>(n)},
                                      {state.qd.data(), static_cast<std::size_t>(n)}),
                (M_at(h) - M_at(-h)) / (2 * h), 1e-7);
  }
}

TEST(LargeSystem, OfAChainIsTheOneWrittenOut) {
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
)toml",
              21, 7);
}

TEST(LargeSystem, OfTermsOfAllKindsIsTheOneWrittenOut) {
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

TEST(LargeSystem, OfANetIsTheOneWrittenOut) {
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

TEST(LargeSystem, SaysWhichMemberIsWrong) {
  const auto refusal = [](const std::string& text) -> std::string {
    try {
      LargeSystem system(read_family_model_text(text, "m.toml"));
      system.start();
    } catch (const ModelError& e) {
      const Problem& p = e.problems().front();
      return std::to_string(p.place.line) + " " + p.message;
    }
    return "accepted";
  };
  const std::string top = "coordinates = [\"x[1..N]\"]\n[parameters]\nN = 1000000\n[dynamics]\n",
                    kinetic = "kinetic = \"sum(i = 1..N, x[i]'^2)\"\n";
  EXPECT_EQ(refusal(top + kinetic), "accepted");
  EXPECT_EQ(refusal(top + "kinetic = \"sum(i = 1..N, x[i+1]'^2)\"\n"), "5 `x` has no member 1000001 for i = 1000000");
  EXPECT_EQ(refusal(top + kinetic + "[constraints.rod]\nfor = \"i = 1..N\"\nequation = \"x[i] = x[i-1]\"\n"),
            "8 `x` has no member 0 for i = 1");
  EXPECT_EQ(refusal(top + kinetic + "potential = \"sum(i = 1..N, x[i/2])\"\n"),
            "6 an index of `x`: this is 0.5, and must be a whole number for i = 1");
  EXPECT_EQ(refusal(top + "kinetic = \"sum(i = 1..N, x[i]'^4)\"\n"),
            "5 the kinetic energy is not quadratic in the velocities");
  EXPECT_EQ(refusal(top + "kinetic = \"sum(i = 1..N, x[i]')^2\"\n"),
            "5 a sum may be multiplied by numbers and parameters only beyond 100,000 coordinates");
  EXPECT_EQ(refusal(top + kinetic + "potential = \"sum(i = 1..M, x[i])\"\n"), "6 unknown name `M`");
  EXPECT_EQ(refusal(top + kinetic + "[constraints]\nfloor = \"x[1] >= 0\"\n"),
            "7 one-sided constraints are not supported beyond 100,000 coordinates yet");
  EXPECT_EQ(refusal(top + kinetic + "[nonideal]\n\"x[1]\" = 1\n"),
            "6 [nonideal] is not supported beyond 100,000 coordinates yet");
  EXPECT_EQ(refusal(top + kinetic + "[start.position]\n\"x[i]\" = { for = \"i = 0..3\", value = 1 }\n"),
            "7 `x[0]` is no coordinate");
}

}  // namespace
}  // namespace mechanician
