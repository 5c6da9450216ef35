// Chains of rigid bodies with quaternions, whose masses are singular at every state, by sparse elimination.

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <random>

#include "mechanician/base/trials_for_test.hpp"
#include "mechanician/instant/accelerate.hpp"
#include "mechanician/instant/both_for_test.hpp"
#include "mechanician/motion/dynamics.hpp"
#include "mechanician/motion/integrator.hpp"

namespace mechanician {
namespace {

/// Rods along their third axes, each hung from the end of the one before.
constexpr const char* rods = R"toml(
coordinates = ["x[1..N]", "y[1..N]", "z[1..N]", "a[1..N]", "b[1..N]", "c[1..N]", "d[1..N]"]
[parameters]
N = 5
m = 1.0
l = 1.0
J = 0.3
[dynamics]
kinetic = """sum(i = 1..N, m*(x[i]'^2 + y[i]'^2 + z[i]'^2)/2 +
  2*J*(a[i]*b[i]' - b[i]*a[i]' + d[i]*c[i]' - c[i]*d[i]')^2 + 3*J*(a[i]*c[i]' - c[i]*a[i]' + b[i]*d[i]' - d[i]*b[i]')^2 +
  0.02*J*(a[i]*d[i]' - d[i]*a[i]' + c[i]*b[i]' - b[i]*c[i]')^2)"""
potential = "sum(i = 1..N, 9.81*m*l*z[i])"
[constraints]
nail_x = "x[1] + 2*l*(b[1]*d[1] + a[1]*c[1]) = 0"
nail_y = "y[1] + 2*l*(c[1]*d[1] - a[1]*b[1]) = 0"
nail_z = "z[1] + l*(a[1]^2 - b[1]^2 - c[1]^2 + d[1]^2) = 0"
[constraints.unit]
for = "i = 1..N"
equation = "a[i]^2 + b[i]^2 + c[i]^2 + d[i]^2 = 1"
[constraints.joint_x]
for = "i = 2..N"
equation = "x[i] + 2*l*(b[i]*d[i] + a[i]*c[i]) = x[i-1] - 2*l*(b[i-1]*d[i-1] + a[i-1]*c[i-1])"
[constraints.joint_y]
for = "i = 2..N"
equation = "y[i] + 2*l*(c[i]*d[i] - a[i]*b[i]) = y[i-1] - 2*l*(c[i-1]*d[i-1] - a[i-1]*b[i-1])"
[constraints.joint_z]
for = "i = 2..N"
equation = "z[i] + l*(a[i]^2 - b[i]^2 - c[i]^2 + d[i]^2) = z[i-1] - l*(a[i-1]^2 - b[i-1]^2 - c[i-1]^2 + d[i-1]^2)"
[start.position]
"z[i]" = { for = "i = 1..N", value = "l*(1 - 2*i)" }
"a[i]" = { for = "i = 1..N", value = "1" }
)toml";

/// Any orientations and spins, now and then those in which pivots hide the zero; on the joints, and moving with them.
State random_state(int count, double l, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  State state{0.0, Eigen::VectorXd(7 * count), Eigen::VectorXd(7 * count)};
  Eigen::Vector3d at = Eigen::Vector3d::Zero(), speed = Eigen::Vector3d::Zero();
  for (int i = 0; i < count; ++i) {
    Eigen::Vector4d e(normal(random), normal(random), normal(random), normal(random));
    const unsigned kind = static_cast<unsigned>(random() % 8);
    if (kind == 0) e = Eigen::Vector4d::Unit(static_cast<int>(random() % 4));
    if (kind == 1) e = e.cwiseProduct(Eigen::Vector4d(1.0, 1e-2, 1e-4, 1e-6));
    e.normalize();
    const Eigen::Quaterniond turn(e(0), e(1), e(2), e(3));
    const Eigen::Vector3d w(normal(random), normal(random), normal(random));
    const Eigen::Quaterniond rate = turn * Eigen::Quaterniond(0.0, w(0), w(1), w(2));
    const Eigen::Vector3d half = l * (turn * Eigen::Vector3d::UnitZ()),
                          turning = l * (turn * w.cross(Eigen::Vector3d::UnitZ()));
    const Eigen::Vector3d x = at - half, v = speed - turning;
    at = x - half, speed = v - turning;
    const double q[7] = {x(0), x(1), x(2), e(0), e(1), e(2), e(3)};
    const double qd[7] = {v(0), v(1), v(2), rate.w() / 2, rate.x() / 2, rate.y() / 2, rate.z() / 2};
    for (int c = 0; c < 7; ++c) state.q(c * count + i) = q[c], state.qd(c * count + i) = qd[c];
  }
  return state;
}

TEST(FamiliesBodies, accelerate_as_those_that_are_written_out) {
  constexpr unsigned seed = 5;
  std::mt19937_64 random(seed);
  for (const double length : {1.0, 1e-3, 1e3})
    for (const double mass : {1.0, 1e-4, 1e4}) {
      const ParameterOverrides overrides{{"m", mass}, {"l", length}, {"J", 0.3 * mass * length * length}};
      const Both both(rods, overrides);
      const auto n = static_cast<std::size_t>(both.written.n());
      for (unsigned trial = 0; trial < num_trials(50); ++trial) {
        SCOPED_TRACE(testing::Message() << "seed " << seed << ", length " << length << ", mass " << mass << ", trial "
                                        << trial);
        const State state = random_state(5, length, random);
        const Instant instant = accelerate(both.written, state, {.diagnose = false}),
                      found = accelerate(both.kernels, state, {.diagnose = false});
        ASSERT_TRUE(instant.has_acceleration() && found.has_acceleration());
        EXPECT_EQ(found.solution.mass.kind, MassKind::semidefinite);
        EXPECT_TRUE(found.solution.unique);
        // As a motion finds them.
        Dynamics dynamics(both.kernels);
        std::vector<double> y(static_cast<std::size_t>(dynamics.size())), rate(y.size());
        std::copy(state.q.begin(), state.q.end(), y.begin());
        std::copy(state.qd.begin(), state.qd.end(), y.begin() + static_cast<std::ptrdiff_t>(n));
        ASSERT_TRUE(dynamics.choose_rows(0.0, y.data()) && dynamics.rhs(0.0, y.data(), rate.data()));
        const std::span<const double> qdd = dynamics.qdd();
        // Places in units of the length.
        double size = 1.0, off = 0.0;
        for (std::size_t i = 0; i < n; ++i) {
          const double unit = i < 15 ? length : 1.0, expected = instant.solution.qdd(static_cast<Eigen::Index>(i));
          size = std::max(size, std::abs(expected) / unit),
          off = std::max(off, std::abs(found.solution.qdd(static_cast<Eigen::Index>(i)) - expected) / unit);
          if (length == 1.0) off = std::max(off, std::abs(qdd[i] - expected));
        }
        EXPECT_LT(off, 1e-9 * size);
      }
    }
}

TEST(FamiliesBodies, move_as_those_that_are_written_out) {
  constexpr unsigned seed = 6;
  std::mt19937_64 random(seed);
  const Both both(rods);
  const auto n = static_cast<std::size_t>(both.written.n());
  for (unsigned trial = 0; trial < num_trials(20); ++trial) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", trial " << trial);
    const State start = random_state(5, 1.0, random);
    Integrator integrator(both.written, start, {.to = 0.2, .tolerance = 1e-11});
    while (integrator.advance()) {
    }
    ASSERT_FALSE(integrator.stop().failed()) << integrator.stop().message;
    Integrator motion(both.kernels, start, {.to = 0.2, .tolerance = 1e-11});
    while (motion.advance()) {
    }
    ASSERT_FALSE(motion.stop().failed()) << motion.stop().message;
    const Sample found = motion.sample(0.2), expected = integrator.sample(0.2);
    for (std::size_t i = 0; i < n; ++i)
      EXPECT_NEAR(found.q(static_cast<Eigen::Index>(i)), expected.q(static_cast<Eigen::Index>(i)), 1e-7);
    // Elimination serves, but for the one or other state in which a mass all but vanishes.
    EXPECT_LE(motion.statistics().robust, motion.statistics().evaluations / 20);
  }
}

}  // namespace
}  // namespace mechanician
