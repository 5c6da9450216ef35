// Impacts that accumulate, at every scale of length, mass and time and wherever the floor is: they come to an end, at the
// time that a geometric series says.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "mechanician/base/trials_for_test.hpp"
#include "mechanician/motion/integrator.hpp"
#include "mechanician/motion/motion_for_test.hpp"

namespace mechanician {
namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

/// A gap that falls from d with the rate u under the acceleration −a: when it closes first, how fast, and when for good.
struct Bounces {
  double d, u, a, e;
  double first_rate() const { return std::sqrt(u * u + 2.0 * a * d); }
  double first() const { return (u + first_rate()) / a; }
  /// After the k-th impact (from 1) it opens with e^k of the first rate; k-th impact at:
  double impact(int k) const {
    double sum = 0.0;
    for (int i = 1; i < k; ++i) sum += std::pow(e, i);
    return first() + 2.0 * first_rate() / a * sum;
  }
  double last() const { return first() + 2.0 * first_rate() / a * e / (1.0 - e); }
  /// What an error of the gap by `noise` and of the clock by `tick` make of last(): the rebounds that are followed are
  /// at least 100 times as high as the one, 1e5 times as long as the other.
  double allowed(double noise, double tick, double tolerance) const {
    const double slowest = std::max(std::sqrt(2.0 * a * 100.0 * noise), tolerance * first_rate());
    return (16.0 * tick + 8.0 * noise / slowest + 1e-13 * last()) / (1.0 - e);
  }
};

struct Random {
  explicit Random(unsigned seed) : engine(seed) {}
  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine); }
  double power(double low, double high) { return std::pow(10.0, uniform(low, high)); }
  int whole(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine); }
  double sign() { return whole(0, 1) ? 1.0 : -1.0; }
  std::mt19937 engine;
};

/// What must be true of the events of one contact. `gap` and `rate` at an event, before and after; their roundings.
struct Expected {
  std::string name;
  Bounces bounces;
  double begin, noise, tick;
};

template <class Gap, class Rate>
void check_events(const Integrator& integrator, const Expected& want, double tolerance, Gap&& gap, Rate&& rate) {
  const Bounces& b = want.bounces;
  int impacts = 0, contacts = 0;
  double last_after = -1.0;
  for (const MotionEvent& event : integrator.events()) {
    if (std::find(event.constraints.begin(), event.constraints.end(), want.name) == event.constraints.end()) continue;
    if (event.kind == EventKind::contact) {
      ++contacts;
      EXPECT_NEAR(event.time - want.begin, b.last(), b.allowed(want.noise, want.tick, tolerance)) << impacts;
    }
    if (event.kind != EventKind::impact) continue;
    EXPECT_EQ(contacts, 0) << "an impact after the last contact";
    ++impacts;
    if (impacts <= 5) {
      EXPECT_NEAR(event.time - want.begin, b.impact(impacts), b.allowed(want.noise, want.tick, tolerance)) << impacts;
    }
    const double before = rate(event, event.qd_before), after = rate(event, event.qd_after);
    const double reach = 32.0 * (want.noise + b.first_rate() * want.tick), slack = 2.0 * b.a * reach;
    EXPECT_GE(gap(event), -reach) << impacts;
    // The energy above the floor: less by e² in the impact, no more when it comes back.
    EXPECT_NEAR(after, -b.e * before, 1e-13 * b.first_rate()) << impacts;
    if (impacts > 1) {
      EXPECT_LE(before * before, last_after * last_after * (1.0 + 1e-12) + slack) << impacts;
    }
    last_after = after;
  }
  EXPECT_EQ(contacts, 1);
  EXPECT_GT(impacts, 0);
  EXPECT_LE(impacts, 2.0 + std::log(tolerance) / std::log(b.e));
}

TEST(Settling, of_a_ball_on_a_floor_of_any_place_slope_speed_and_scale) {
  Loaded ball(R"model(
coordinates = ["x", "y"]
[parameters]
m = 1.0
g = 9.81
e = 0.5
a = 0.0
f = 1.0
w = 0.0
s = 1.0
mu = 0.0
belt = 0.0
[dynamics]
kinetic = "m/2*(x'^2 + y'^2)"
potential = "m*g*y"
[constraints.floor]
equation = "s*(x*sin(a) + y*cos(a)) >= s*(f + w*t)"
restitution = "e"
friction = "mu"
slip = "x'*cos(a) - y'*sin(a) - belt"
)model");
  const double tolerance = 1e-9;
  for (unsigned seed = 1; seed <= num_trials(1000); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    const bool ordinary = seed % 3 == 0;  // unit scales and whole numbers
    const double L = ordinary ? 1.0 : random.power(-9, 9), T = ordinary ? 1.0 : random.power(-9, 9);
    const double m = ordinary ? 1.0 : random.power(-9, 9), g = L / (T * T) * random.uniform(0.5, 10.0);
    const double e = random.uniform(0.02, 0.9);
    const double a = seed % 4 < 2 ? 0.0 : random.uniform(-1.2, 1.2),
                 w = seed % 5 < 3 ? 0.0 : L / T * random.uniform(-1, 1);
    const double f = ordinary             ? random.whole(-9, 9)
                     : random.whole(0, 4) ? L * random.sign() * random.power(-9, 5)
                                          : 0.0;
    const double s = seed % 7 < 4 ? 1.0 : random.power(-9, 9);
    const bool rough = seed % 6 == 5;
    ball.system.set_parameters(std::vector<double>{m, g, e, a, f, w, s, rough ? random.uniform(0.1, 1.0) : 0.0,
                                                   rough ? L / T * random.uniform(-1, 1) : 0.0});
    State start = ball.start;
    start.t = ordinary || seed % 2 ? 0.0 : T * random.uniform(-2.0, 2.0);
    const double along = L * random.uniform(-1, 1), across = f + w * start.t + L * random.uniform(0.2, 2.0);
    start.q << along * std::cos(a) + across * std::sin(a), across * std::cos(a) - along * std::sin(a);
    start.qd << L / T * random.uniform(-1, 1), L / T * random.uniform(-1, 1);
    const auto gap = [&](double t, const Eigen::VectorXd& q) {
      return q(0) * std::sin(a) + q(1) * std::cos(a) - (f + w * t);
    };
    const auto rate = [&](const Eigen::VectorXd& qd) { return qd(0) * std::sin(a) + qd(1) * std::cos(a) - w; };
    const Bounces bounces{gap(start.t, start.q), rate(start.qd), g * std::cos(a), e};
    const MotionOptions options{.to = start.t + random.uniform(1.05, 2.0) * bounces.last(), .tolerance = tolerance};
    Integrator integrator(ball.system, start, options);
    const Sample last = run_to_end(integrator);
    ASSERT_FALSE(integrator.stop().failed()) << integrator.stop().message;
    ASSERT_EQ(last.t, options.to);
    // Along the floor it moves too.
    const double far = std::max(last.q.cwiseAbs().maxCoeff(), start.q.cwiseAbs().maxCoeff());
    const double noise = 4.0 * eps * (far + std::abs(f) + std::abs(w * last.t)),
                 tick = eps * std::max(std::abs(start.t), std::abs(last.t));
    check_events(
        integrator, {"floor", bounces, start.t, noise, tick}, tolerance,
        [&](const MotionEvent& event) { return gap(event.time, event.q); },
        [&](const MotionEvent&, const Eigen::VectorXd& qd) { return rate(qd); });
    EXPECT_NEAR(gap(last.t, last.q), 0.0, 8.0 * noise);
    EXPECT_NEAR(rate(last.qd), 0.0, 32.0 * eps * (last.qd.norm() + std::abs(w)));
    if (testing::Test::HasFailure()) {
      fmt::print("seed {}: L {} T {} m {} g {} e {} a {} f {} w {} s {} rough {} start {} to {}\n", seed, L, T, m, g, e,
                 a, f, w, s, rough, start.t, options.to);
      return;
    }
  }
}

TEST(Settling, of_several_balls_that_come_to_rest_one_after_the_other) {
  Loaded balls(R"model(
coordinates = ["y[1..3]"]
[parameters]
g = 9.81
m = [1.0, 1.0, 1.0]
e = [0.5, 0.5, 0.5]
f = [1.0, 1.0, 1.0]
[dynamics]
kinetic = "sum(i = 1..3, m[i]/2*y[i]'^2)"
potential = "sum(i = 1..3, m[i]*g*y[i])"
[constraints.floor]
for = "i = 1..3"
equation = "y[i] >= f[i]"
restitution = "e[i]"
)model");
  const double tolerance = 1e-9;
  for (unsigned seed = 1; seed <= num_trials(100); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    const double L = random.power(-9, 9), T = random.power(-9, 9), g = L / (T * T) * random.uniform(0.5, 10.0);
    const double mass = random.power(-9, 9);
    std::vector<double> p{g};
    for (int i = 0; i < 3; ++i) p.push_back(mass * random.power(-2, 2));
    for (int i = 0; i < 3; ++i) p.push_back(random.uniform(0.02, 0.8));
    for (int i = 0; i < 3; ++i) p.push_back(L * random.sign() * random.power(-6, 3));
    ASSERT_EQ(p.size(), balls.parameters.size());
    balls.system.set_parameters(p);
    State start = balls.start;
    std::vector<Bounces> bounces;
    double last = 0.0;
    for (int i = 0; i < 3; ++i) {
      const double f = p[static_cast<std::size_t>(7 + i)];
      // Two of them fall side by side: impacts, and their end, at the same time.
      start.q(i) = i == 2 && seed % 4 == 0 ? start.q(1) : f + L * random.uniform(0.2, 2.0);
      if (i == 2 && seed % 4 == 0) p[9] = p[8], p[6] = p[5], balls.system.set_parameters(p);
      bounces.push_back({start.q(i) - p[static_cast<std::size_t>(7 + i)], 0.0, g, p[static_cast<std::size_t>(4 + i)]});
      last = std::max(last, bounces.back().last());
    }
    Integrator integrator(balls.system, start, {.to = 1.2 * last, .tolerance = tolerance});
    run_to_end(integrator);
    ASSERT_FALSE(integrator.stop().failed()) << integrator.stop().message;
    for (int i = 0; i < 3; ++i) {
      const double f = p[static_cast<std::size_t>(7 + i)];
      check_events(
          integrator,
          {fmt::format("floor[{}]", i + 1), bounces[static_cast<std::size_t>(i)], 0.0,
           4.0 * eps * std::max(std::abs(f), std::abs(start.q(i))), eps * 1.2 * last},
          tolerance, [&](const MotionEvent& event) { return event.q(i) - f; },
          [&](const MotionEvent&, const Eigen::VectorXd& qd) { return qd(i); });
    }
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Settling, of_a_ball_on_a_body_that_is_pushed_from_below) {
  // The gap falls with the push over the mass of the body, whatever the two weigh; then they move together.
  Loaded pair(R"model(
coordinates = ["y", "z"]
[parameters]
m = 1.0
M = 1.0
g = 9.81
F = 5.0
e = 0.5
d = 1.0
[dynamics]
kinetic = "m/2*y'^2 + M/2*z'^2"
potential = "m*g*y + M*g*z"
force = { z = "F" }
[constraints.top]
equation = "y - z >= d"
restitution = "e"
)model");
  const double tolerance = 1e-9;
  for (unsigned seed = 1; seed <= num_trials(200); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    const double L = random.power(-9, 9), T = random.power(-9, 9), g = L / (T * T) * random.uniform(0.0, 2.0);
    const double M = random.power(-9, 9), m = M * random.power(-6, 3), a = L / (T * T) * random.uniform(0.5, 5.0);
    const double e = random.uniform(0.02, 0.9), d = L * random.sign() * random.power(-3, 2);
    pair.system.set_parameters(std::vector<double>{m, M, g, M * a, e, d});
    State start = pair.start;
    start.q(1) = L * random.uniform(-1, 1), start.q(0) = start.q(1) + d + L * random.uniform(0.2, 2.0);
    start.qd << L / T * random.uniform(-1, 1), L / T * random.uniform(-1, 1);
    const Bounces bounces{start.q(0) - start.q(1) - d, start.qd(0) - start.qd(1), a, e};
    Integrator integrator(pair.system, start, {.to = 1.3 * bounces.last(), .tolerance = tolerance});
    const Sample last = run_to_end(integrator);
    ASSERT_FALSE(integrator.stop().failed()) << integrator.stop().message;
    double far = std::abs(d);
    for (const MotionEvent& event : integrator.events()) far = std::max(far, event.q.cwiseAbs().maxCoeff());
    const double noise = 8.0 * eps * far;
    check_events(
        integrator, {"top", bounces, 0.0, noise, eps * last.t}, tolerance,
        [&](const MotionEvent& event) { return event.q(0) - event.q(1) - d; },
        [&](const MotionEvent&, const Eigen::VectorXd& qd) { return qd(0) - qd(1); });
    EXPECT_NEAR(last.q(0) - last.q(1), d, 8.0 * noise);
    EXPECT_NEAR(last.qdd(0), M * a / (m + M) - g, 1e-9 * (a + g));
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Settling, in_a_wedge_ends_in_its_corner_wherever_that_is) {
  // Bounces on both sides shrink together, the same ones wherever the corner is. Computed with 120 digits the 927th impact
  // is at 1.5134765327, at a speed of 1.8e-7; how near to it they are followed is a matter of rounding.
  for (const double place : {0.0, 1.0, -7.0, 1000.0}) {
    SCOPED_TRACE(place);
    const Loaded ball(fmt::format(R"model(
coordinates = ["x", "y"]
[parameters]
X = {}
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[constraints.l]
equation = "(x - X)*0.9396926207859083 + (y - X)*0.3420201433256688 >= 0"
restitution = 0.4
[constraints.r]
equation = "-(x - X)*0.6427876096865393 + (y - X)*0.766044443118978 >= 0"
restitution = 0.8
[start]
position = {{ x = "X + 0.1", y = "X + 1" }}
)model",
                                  place));
    Integrator integrator = ball.integrator({.to = 10.0, .tolerance = 1e-10});
    const Sample last = run_to_end(integrator);
    ASSERT_FALSE(integrator.stop().failed()) << integrator.stop().message;
    EXPECT_NEAR(last.q(0), place, 1e-12 * std::max(1.0, std::abs(place)));
    EXPECT_LE(last.qd.norm(), 1e-30);
    EXPECT_EQ(integrator.events().back().kind, EventKind::contact);
    EXPECT_NEAR(integrator.events().back().time, 1.5134765327,
                1e-7 + 40.0 * std::sqrt(100.0 * 4.0 * eps * std::abs(place) / 9.81));
  }
}

}  // namespace
}  // namespace mechanician
