#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "mechanician/equations/switches.hpp"
#include "mechanician/instant/both_for_test.hpp"
#include "mechanician/motion/acceleration_derivatives.hpp"
#include "mechanician/motion/integrator.hpp"

namespace mechanician {
namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

/// Rods, one driven, with drag and springs between neighbours' neighbours.
constexpr const char* chain = R"toml(
coordinates = ["x[1..N]", "y[1..N]"]
[parameters]
N = 30
[dynamics]
kinetic = "sum(i = 1..N, (1 + i/N)/2*(x[i]'^2 + y[i]'^2))"
potential = "sum(i = 1..N, 9.81*y[i]) + sum(i = 3..N, 5*(hypot(x[i] - x[i-2], y[i] - y[i-2]) - 1.5)^2)"
[dynamics.force]
"x[i]" = { for = "i = 1..N", value = "-0.1*x[i]'*abs(x[i]') + 0.2*sin(t)*y[i]" }
[constraints]
top = "(x[1] - sin(t)/4)^2 + y[1]^2 = 1"
[constraints.rod]
for = "i = 2..N"
equation = "(x[i] - x[i-1])^2 + (y[i] - y[i-1])^2 = 1"
)toml";

/// Masses that couple and depend on positions, a blade, one row twice.
constexpr const char* mixed = R"toml(
coordinates = ["s[1..N]", "a[1..N]"]
[parameters]
N = 25
[dynamics]
kinetic = "sum(i = 1..N, (s[i]'^2 + (1 + s[i]^2)*a[i]'^2)/2) + sum(i = 2..N, 0.2*cos(a[i])*s[i]'*s[i-1]')"
potential = "sum(i = 1..N, 3*sin(a[i])*s[i] + s[i]^2)"
[constraints.linked]
for = "i = 2..N"
equation = "a[i] - a[i-1] = 0.3*sin(s[i]) - 0.3*sin(s[i-1])"
[constraints.again]
for = "i = 3..3"
equation = "2*a[i] - 2*a[i-1] = 0.6*sin(s[i]) - 0.6*sin(s[i-1])"
[constraints]
blade = "s[1]' = cos(a[2])*s[2]'"
)toml";

/// Quaternions: singular masses.
constexpr const char* bodies = R"toml(
coordinates = ["a[1..N]", "b[1..N]", "c[1..N]", "d[1..N]"]
[parameters]
N = 10
[dynamics]
kinetic = "sum(i = 1..N, 2*(1*(-b[i]*a[i]' + a[i]*b[i]' + d[i]*c[i]' - c[i]*d[i]')^2 + 2*(-c[i]*a[i]' - d[i]*b[i]' + a[i]*c[i]' + b[i]*d[i]')^2 + 3*(-d[i]*a[i]' + c[i]*b[i]' - b[i]*c[i]' + a[i]*d[i]')^2))"
potential = "sum(i = 1..N, a[i]*b[i]) + sum(i = 2..N, c[i]*d[i-1])"
[constraints.unit]
for = "i = 1..N"
equation = "a[i]^2 + b[i]^2 + c[i]^2 + d[i]^2 = 1"
)toml";

TEST(FamiliesDerivatives, are_those_of_the_model_written_out) {
  for (const char* text : {chain, mixed, bodies})
    for (unsigned seed = 1; seed <= 5; ++seed) {
      SCOPED_TRACE(testing::Message() << text << "seed " << seed);
      const Both both(text);
      Dynamics kernels(both.kernels), written(both.written);
      const int n = kernels.n();
      std::mt19937 random(seed);
      const auto number = [&] { return std::uniform_real_distribution<double>(-1.0, 1.0)(random); };
      std::vector<double> y(static_cast<std::size_t>(kernels.size()), 0.0), direction(static_cast<std::size_t>(2 * n));
      const double t = number();
      for (int i = 0; i < 2 * n; ++i) y[static_cast<std::size_t>(i)] = number();
      for (double& x : direction) x = number();
      for (Dynamics* dynamics : {&kernels, &written}) {
        std::vector<double> g(dynamics->sides().size());
        for (int round = 0; round < 3; ++round)
          if (!dynamics->calc_switches(t, y.data(), g) || !update_sides(g, dynamics->sides())) break;
        ASSERT_TRUE(dynamics->choose_rows(t, y.data()));
      }
      AccelerationDerivatives one(kernels), other(written);
      const std::span<const double> state = std::span(y).first(static_cast<std::size_t>(2 * n));
      ASSERT_TRUE(one.linearise(t, state, {}) && other.linearise(t, state, {}));
      std::vector<double> a(static_cast<std::size_t>(n)), b = a;
      ASSERT_TRUE(one.factor(0.0) && other.factor(0.0));
      one.apply(direction.data(), direction.data() + n, a.data());
      other.apply(direction.data(), direction.data() + n, b.data());
      double largest = 0.0, difference = 0.0;
      for (std::size_t i = 0; i < a.size(); ++i)
        largest = std::max(largest, std::abs(b[i])), difference = std::max(difference, std::abs(a[i] - b[i]));
      const double condition = std::pow(std::max(written.all.condition(), 10.0), 2);
      EXPECT_LT(difference, 1e4 * eps * condition * (1.0 + largest));
      for (const double gamma : {1e-3, 1.0}) {
        std::vector<double> r = direction, s = direction;
        ASSERT_TRUE(one.factor(gamma) && other.factor(gamma));
        one.solve(r), other.solve(s);
        largest = difference = 0.0;
        for (std::size_t i = 0; i < r.size(); ++i)
          largest = std::max(largest, std::abs(s[i])), difference = std::max(difference, std::abs(r[i] - s[i]));
        EXPECT_LT(difference, 1e6 * eps * condition * (1.0 + largest)) << gamma;
      }
    }
}

/// Masses in a row between walls, springs k and dampers c between neighbours: each mode by itself is an oscillator with
/// kμ and cμ, μ = 4 sin²(jπ/2(N + 1)).
TEST(FamiliesDerivatives, carry_a_stiff_chain_of_5000_masses_along_its_closed_form) {
  constexpr int N = 5000;
  constexpr double k = 1e4, c = 1e5;
  const std::string text = R"toml(
coordinates = ["x[1..N]"]
[parameters]
N = 5000
k = 1e4
c = 1e5
[dynamics]
kinetic = "sum(i = 1..N, x[i]'^2/2)"
potential = "k/2*x[1]^2 + k/2*x[N]^2 + sum(i = 2..N, k/2*(x[i] - x[i-1])^2)"
[dynamics.force]
"x[i]" = { for = "i = 2..N-1", value = "c*(x[i+1]' - 2*x[i]' + x[i-1]')" }
"x[1]" = "c*(x[2]' - 2*x[1]')"
"x[N]" = "c*(x[N-1]' - 2*x[N]')"
)toml";
  const System system(read_family_model_text(text, "m.toml"), System::Numbers::kernels);
  const int modes[] = {1, 40, 900, 4000};
  State start{0.0, Eigen::VectorXd::Zero(N), Eigen::VectorXd::Zero(N)};
  const auto shape = [&](int mode, int i) { return std::sin(mode * (i + 1) * std::numbers::pi / (N + 1)); };
  for (const int mode : modes)
    for (int i = 0; i < N; ++i) start.q(i) += shape(mode, i);
  const auto expected_at = [&](double t) {
    Eigen::VectorXd q = Eigen::VectorXd::Zero(N);
    for (const int mode : modes) {
      const double mu = 4.0 * std::pow(std::sin(mode * std::numbers::pi / (2.0 * (N + 1))), 2);
      const std::complex<double> root = std::sqrt(std::complex<double>(c * c * mu * mu / 4 - k * mu)),
                                 fast = -c * mu / 2 - root, slow = k * mu / fast;
      const std::complex<double> value = (fast * std::exp(slow * t) - slow * std::exp(fast * t)) / (fast - slow);
      for (int i = 0; i < N; ++i) q(i) += value.real() * shape(mode, i);
    }
    return q;
  };
  for (const Method method : {Method::bdf, Method::automatic}) {
    const double tolerance = 1e-7;
    Integrator motion(system, start, {.to = 10.0, .tolerance = tolerance, .method = method});
    while (motion.advance()) {
    }
    ASSERT_EQ(motion.stop().reason, StopReason::reached_end) << motion.stop().message;
    EXPECT_LT((motion.sample(10.0).q - expected_at(10.0)).cwiseAbs().maxCoeff(), 100.0 * tolerance);
    EXPECT_LT(motion.statistics().steps, 4000);  // stability alone would ask the explicit method for 10⁶
    EXPECT_TRUE(motion.certificate().holds);
  }
}

}  // namespace
}  // namespace mechanician
