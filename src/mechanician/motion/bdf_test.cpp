#include "mechanician/motion/bdf.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

namespace mechanician {
namespace {

using In = std::span<const double>;
using Out = std::span<double>;
using Vector = std::vector<double>;

constexpr double eps = std::numeric_limits<double>::epsilon();

/// The oracle where there is no closed form: explicit Runge–Kutta steps of order 4 in extended precision, two halves
/// against a whole, extrapolated, with an error per step of 1e-15.
template <std::size_t n, class F>
std::array<long double, n> reference(F&& f, long double t, std::array<long double, n> y, long double end) {
  using Y = std::array<long double, n>;
  const auto plus = [](const Y& a, long double s, const Y& b) {
    Y c{};
    for (std::size_t i = 0; i < n; ++i) c[i] = a[i] + s * b[i];
    return c;
  };
  const auto classical = [&](long double at, const Y& from, long double h) {
    const Y k1 = f(at, from), k2 = f(at + h / 2, plus(from, h / 2, k1)), k3 = f(at + h / 2, plus(from, h / 2, k2)),
            k4 = f(at + h, plus(from, h, k3));
    return plus(plus(plus(plus(from, h / 6, k1), h / 3, k2), h / 3, k3), h / 6, k4);
  };
  long double h = 1e-6L;
  while (t < end) {
    if (t + h > end) h = end - t;
    const Y whole = classical(t, y, h), half = classical(t + h / 2, classical(t, y, h / 2), h / 2);
    long double error = 0;
    for (std::size_t i = 0; i < n; ++i)
      error = std::max(error, std::abs(half[i] - whole[i]) / 15 / std::max(1.0L, std::abs(half[i])));
    if (error <= 1e-15L) {
      t = h == end - t ? end : t + h;
      y = plus(half, 1.0L / 15, plus(half, -1.0L, whole));
    }
    h *= std::min(2.0L, std::max(0.3L, 0.9L * std::pow(1e-15L / std::max(error, 1e-25L), 0.2L)));
  }
  return y;
}

/// Steps to the end; `look` is called after each step.
template <class Look>
void run(Bdf& bdf, double end, Look&& look) {
  while (bdf.t() < end) {
    ASSERT_EQ(bdf.step(end), Bdf::Outcome::stepped) << bdf.reason();
    ASSERT_GT(bdf.t(), bdf.step_begin());
    ASSERT_LT(bdf.statistics().steps, 200'000);
    look(bdf.t(), bdf.y());
  }
}

/// Largest error at any step, relative to max(1, |value|).
template <class Exact>
double worst_error(Bdf& bdf, double end, Exact&& exact) {
  double worst = 0.0;
  run(bdf, end, [&](double t, In y) {
    const Vector expected = exact(t);
    for (std::size_t i = 0; i < expected.size(); ++i)
      worst = std::max(worst, std::abs(y[i] - expected[i]) / std::max(1.0, std::abs(expected[i])));
  });
  return worst;
}

/// q̈ = −k(q − sin t) − c(q̇ − cos t) − sin t: whatever k and c, q = sin t is a motion.
BdfProblem spring_and_damper(double k, double c) {
  return {.size = 2, .num_dynamic = 2, .num_positions = 1, .rhs = [k, c](double t, In y, Out dy) {
            dy[0] = y[1];
            dy[1] = -k * (y[0] - std::sin(t)) - c * (y[1] - std::cos(t)) - std::sin(t);
            return true;
          }};
}
Vector sine(double t) { return {std::sin(t), std::cos(t)}; }

/// Eigenvalues −1 and −1000.
BdfProblem two_rates() {
  return {.size = 2, .num_dynamic = 2, .rhs = [](double, In y, Out dy) {
            dy[0] = 998.0 * y[0] + 1998.0 * y[1];
            dy[1] = -999.0 * y[0] - 1999.0 * y[1];
            return true;
          }};
}
Vector two_rates_from_one(double t) {
  return {2.0 * std::exp(-t) - std::exp(-1000.0 * t), -std::exp(-t) + std::exp(-1000.0 * t)};
}

BdfProblem oscillator() {
  return {.size = 2, .num_dynamic = 2, .num_positions = 1, .rhs = [](double, In y, Out dy) {
            dy[0] = y[1];
            dy[1] = -y[0];
            return true;
          }};
}

// Measured over 65 tolerances from 1e-4 to 1e-12: two rates 6.4 in the mean and 47 at worst, spring and damper 2.5 and 7.5.
TEST(Bdf, the_error_of_a_stiff_motion_follows_the_tolerance) {
  double first = 0.0, last = 0.0;
  for (const double tolerance : {1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11}) {
    SCOPED_TRACE(tolerance);
    Bdf rates(two_rates(), {.tolerance = tolerance});
    rates.start(0.0, Vector{1.0, 0.0});
    const double error = worst_error(rates, 10.0, two_rates_from_one);
    EXPECT_LT(error, 60.0 * tolerance);
    EXPECT_GT(error, 0.3 * tolerance);

    Bdf spring(spring_and_damper(1e8, 1e6), {.tolerance = tolerance});
    spring.start(0.0, Vector{0.0, 1.0});
    EXPECT_LT(worst_error(spring, 10.0, sine), 15.0 * tolerance);
    EXPECT_LT(spring.statistics().evaluations, 2000);
    if (tolerance == 1e-4) first = error;
    last = error;
  }
  EXPECT_LT(last, 1e-6 * first);
}

TEST(Bdf, a_strongly_damped_stiff_spring_let_go_comes_back_along_its_closed_form) {
  const double k = 1e8, c = 1e6, fast = -c / 2 - std::sqrt(c * c / 4 - k), slow = k / fast;
  const BdfProblem problem{.size = 2, .num_dynamic = 2, .num_positions = 1, .rhs = [=](double, In y, Out dy) {
                             dy[0] = y[1];
                             dy[1] = -k * y[0] - c * y[1];
                             return true;
                           }};
  const auto exact = [=](double t) {
    const double a = -fast / (slow - fast), b = slow / (slow - fast);
    return Vector{a * std::exp(slow * t) + b * std::exp(fast * t),
                  a * slow * std::exp(slow * t) + b * fast * std::exp(fast * t)};
  };
  for (const double tolerance : {1e-4, 1e-7, 1e-10}) {
    SCOPED_TRACE(tolerance);
    Bdf bdf(problem, {.tolerance = tolerance});
    bdf.start(0.0, Vector{1.0, 0.0});
    EXPECT_LT(worst_error(bdf, 0.1, exact), 200.0 * tolerance);  // measured 3, 10, 60
    EXPECT_LT(bdf.statistics().steps, 1500);
  }
}

// Without the filter of the error estimate some of these take a million evaluations.
TEST(Bdf, starts_anywhere_on_a_stiff_motion_without_being_caught_at_low_order) {
  for (const double k_over_c : {1.0, 100.0, 1000.0})
    for (int i = 0; i < 10; ++i) {
      SCOPED_TRACE(testing::Message() << "k/c = " << k_over_c << ", start " << i);
      const double t = 0.7 * i, off = i % 2 == 0 ? 0.0 : 1e-10;
      Bdf bdf(spring_and_damper(k_over_c * 1e7, 1e7), {.tolerance = 1e-10});
      bdf.start(t, Vector{std::sin(t) + off, std::cos(t)});
      run(bdf, t + 5.0, [](double, In) {});
      EXPECT_LT(bdf.statistics().evaluations, 2000);  // measured at most 680
      EXPECT_GE(bdf.order(), 3);
      EXPECT_NEAR(bdf.y()[0], std::sin(t + 5.0), 30e-10);
      EXPECT_NEAR(bdf.y()[1], std::cos(t + 5.0), 30e-10);
    }
}

// k/c = 5000 makes 5e-11 of the rounding of the time at t = 50. Without regard to that: more than a million steps.
TEST(Bdf, a_tolerance_below_rounding_costs_no_endless_steps) {
  for (const double tolerance : {1e-13, 1e-14, 1e-15}) {
    SCOPED_TRACE(tolerance);
    Bdf bdf(spring_and_damper(1e8, 2e4), {.tolerance = tolerance});
    bdf.start(0.0, Vector{0.0, 1.0});
    EXPECT_LT(worst_error(bdf, 50.0, sine), 2e-11);
    EXPECT_LT(bdf.statistics().steps, 30'000);
  }
}

TEST(Bdf, van_der_pol_s_oscillator_passes_its_jump) {
  const long double mu = 1000.0L;
  const auto f = [&](long double, const std::array<long double, 2>& y) {
    return std::array<long double, 2>{y[1], mu * (1 - y[0] * y[0]) * y[1] - y[0]};
  };
  // Near the fold at 1, on the slow branch: the jump to −2 comes at t ≈ 10.
  const double rate = 1.1 / (1000.0 * (1.0 - 1.21));
  const auto expected = reference<2>(f, 0.0L, {1.1L, static_cast<long double>(rate)}, 20.0L);
  ASSERT_LT(expected[0], -1.9L);
  for (const double tolerance : {1e-6, 1e-9, 1e-11}) {
    SCOPED_TRACE(tolerance);
    Bdf bdf({.size = 2,
             .num_dynamic = 2,
             .num_positions = 1,
             .rhs =
                 [](double, In y, Out dy) {
                   dy[0] = y[1];
                   dy[1] = 1000.0 * (1.0 - y[0] * y[0]) * y[1] - y[0];
                   return true;
                 }},
            {.tolerance = tolerance});
    bdf.start(0.0, Vector{1.1, rate});
    run(bdf, 20.0, [](double, In) {});
    EXPECT_NEAR(bdf.y()[0], static_cast<double>(expected[0]), 100.0 * tolerance);
    EXPECT_NEAR(bdf.y()[1], static_cast<double>(expected[1]), 100.0 * tolerance);
    EXPECT_LT(bdf.statistics().steps, 3000);
  }
}

TEST(Bdf, robertson_s_reactions_at_40) {
  const auto f = [](long double, const std::array<long double, 3>& y) {
    const long double r1 = 0.04L * y[0], r2 = 1e4L * y[1] * y[2], r3 = 3e7L * y[1] * y[1];
    return std::array<long double, 3>{-r1 + r2, r1 - r2 - r3, r3};
  };
  const auto expected = reference<3>(f, 0.0L, {1.0L, 0.0L, 0.0L}, 40.0L);
  EXPECT_NEAR(static_cast<double>(expected[0]), 0.71582706872, 1e-10);  // well-known digits
  for (const double tolerance : {1e-6, 1e-8, 1e-10, 1e-12}) {
    SCOPED_TRACE(tolerance);
    Bdf bdf({.size = 3,
             .num_dynamic = 3,
             .rhs =
                 [](double, In y, Out dy) {
                   const double r1 = 0.04 * y[0], r2 = 1e4 * y[1] * y[2], r3 = 3e7 * y[1] * y[1];
                   dy[0] = -r1 + r2, dy[1] = r1 - r2 - r3, dy[2] = r3;
                   return true;
                 }},
            {.tolerance = tolerance});
    bdf.start(0.0, Vector{1.0, 0.0, 0.0});
    run(bdf, 40.0, [](double, In) {});
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_NEAR(bdf.y()[i], static_cast<double>(expected[i]), 100.0 * tolerance) << i;
  }
}

// A bead 1 on a circle of radius 1, a bead 2 tied to it by a stiff spring and damper, gravity downwards.
constexpr double tie_k = 1e6, tie_c = 4e3, gravity = 9.81;

bool tied_beads(double, In y, Out dy) {
  const double x1 = y[0], y1 = y[1], x2 = y[2], y2 = y[3];
  const double fx = tie_k * (x2 - x1) + tie_c * (y[6] - y[4]), fy = tie_k * (y2 - y1) + tie_c * (y[7] - y[5]);
  // A q̈ = b with A = (x1, y1), b = −|v|²: least correction of the free acceleration.
  const double a1 = fx, a2 = fy - gravity, s = -(y[4] * y[4] + y[5] * y[5] + a1 * x1 + a2 * y1) / (x1 * x1 + y1 * y1);
  for (int i = 0; i < 4; ++i) dy[i] = y[4 + i];
  dy[4] = a1 + s * x1, dy[5] = a2 + s * y1, dy[6] = -fx, dy[7] = -fy - gravity;
  return true;
}

bool onto_circle(double, Out y) {
  const double r = std::hypot(y[0], y[1]);
  y[0] /= r, y[1] /= r;
  const double along = y[0] * y[4] + y[1] * y[5];
  y[4] -= along * y[0], y[5] -= along * y[1];
  return true;
}

TEST(Bdf, a_constraint_holds_to_rounding_after_every_step) {
  const auto in_angle = [](long double, const std::array<long double, 6>& z) {
    const long double x1 = std::sin(z[0]), y1 = -std::cos(z[0]), u1 = -y1 * z[1], v1 = x1 * z[1];
    const long double fx = tie_k * (z[2] - x1) + tie_c * (z[4] - u1), fy = tie_k * (z[3] - y1) + tie_c * (z[5] - v1);
    return std::array<long double, 6>{z[1], -y1 * fx + x1 * (fy - gravity), z[4], z[5], -fx, -fy - gravity};
  };
  const auto expected = reference<6>(in_angle, 0.0L, {1.0L, 0.0L, std::sin(1.0L), -std::cos(1.0L), 0.0L, 0.0L}, 2.0L);

  for (const double tolerance : {1e-5, 1e-8, 1e-11}) {
    SCOPED_TRACE(tolerance);
    Bdf bdf({.size = 8, .num_dynamic = 8, .num_positions = 4, .rhs = tied_beads, .project = onto_circle},
            {.tolerance = tolerance});
    Vector start{std::sin(1.0), -std::cos(1.0), std::sin(1.0), -std::cos(1.0), 0.0, 0.0, 0.0, 0.0};
    onto_circle(0.0, start);
    bdf.start(0.0, start);
    double position = 0.0, velocity = 0.0;
    run(bdf, 2.0, [&](double, In y) {
      position = std::max(position, std::abs(std::hypot(y[0], y[1]) - 1.0));
      velocity = std::max(velocity, std::abs(y[0] * y[4] + y[1] * y[5]));
    });
    EXPECT_LT(position, 4.0 * eps);
    EXPECT_LT(velocity, 4.0 * eps * 5.0);  // speeds up to 5
    EXPECT_EQ(bdf.statistics().projections, bdf.statistics().steps + bdf.statistics().error_failures);
    EXPECT_NEAR(bdf.y()[0], static_cast<double>(std::sin(expected[0])), 300.0 * tolerance);
    EXPECT_NEAR(bdf.y()[1], static_cast<double>(-std::cos(expected[0])), 300.0 * tolerance);
    EXPECT_NEAR(bdf.y()[2], static_cast<double>(expected[2]), 300.0 * tolerance);
    EXPECT_NEAR(bdf.y()[7], static_cast<double>(expected[5]), 300.0 * tolerance);
    EXPECT_LT(bdf.statistics().steps, 5000);
  }
}

TEST(Bdf, quadratures_are_as_accurate_as_the_motion_and_do_not_shorten_its_steps) {
  // ∫ 20 q̇² and ∫ q beside the driven spring.
  BdfProblem with = spring_and_damper(1e6, 1e4);
  with.size = 4;
  with.rhs = [plain = with.rhs](double t, In y, Out dy) {
    plain(t, y, dy);
    dy[2] = 20.0 * y[1] * y[1];
    dy[3] = y[0];
    return true;
  };
  for (const double tolerance : {1e-5, 1e-8, 1e-11}) {
    SCOPED_TRACE(tolerance);
    Bdf plain(spring_and_damper(1e6, 1e4), {.tolerance = tolerance}), more(with, {.tolerance = tolerance});
    plain.start(0.0, Vector{0.0, 1.0});
    more.start(0.0, Vector{0.0, 1.0, 0.0, 0.0});
    run(plain, 10.0, [](double, In) {});
    run(more, 10.0, [](double, In) {});
    EXPECT_NEAR(more.y()[2], 10.0 * (10.0 + std::sin(10.0) * std::cos(10.0)), 100.0 * 20.0 * tolerance);
    EXPECT_NEAR(more.y()[3], 1.0 - std::cos(10.0), 100.0 * tolerance);
    EXPECT_LE(more.statistics().steps, 1.05 * static_cast<double>(plain.statistics().steps));
    // They cost an evaluation a step, at its end, and that is known afterwards.
    EXPECT_LE(more.statistics().evaluations,
              1.05 * static_cast<double>(plain.statistics().evaluations + more.statistics().steps) + 10.0);
    EXPECT_EQ(more.rates()[2], 20.0 * more.y()[1] * more.y()[1]);
    EXPECT_TRUE(plain.rates().empty());
  }
}

TEST(Bdf, ends_exactly_at_a_stop_time) {
  Bdf bdf(oscillator(), {.tolerance = 1e-8});
  bdf.start(0.0, Vector{1.0, 0.0});
  for (int i = 1; i <= 30; ++i) {
    const double stop = 0.1 * i;
    while (bdf.t() < stop) ASSERT_EQ(bdf.step(stop), Bdf::Outcome::stepped);
    EXPECT_EQ(bdf.t(), stop);
    EXPECT_NEAR(bdf.y()[0], std::cos(stop), 1e-6);
  }
  // One unit in the last place, in the middle of a run and right after a start.
  for (const bool restart : {false, true}) {
    const double from = bdf.t(), next = std::nextafter(from, 10.0);
    if (restart) bdf.start(from, Vector(bdf.y().begin(), bdf.y().end()));
    ASSERT_EQ(bdf.step(next), Bdf::Outcome::stepped) << bdf.reason();
    EXPECT_EQ(bdf.t(), next);
    EXPECT_NEAR(bdf.y()[0], std::cos(next), 1e-6);
  }
  ASSERT_EQ(bdf.step(5.0), Bdf::Outcome::stepped);
}

TEST(Bdf, never_steps_further_than_allowed) {
  Bdf bdf(oscillator(), {.tolerance = 1e-3, .largest_step = 0.01, .first_step = 0.001});
  bdf.start(0.0, Vector{1.0, 0.0});
  ASSERT_EQ(bdf.step(1.0), Bdf::Outcome::stepped);
  EXPECT_NEAR(bdf.last_step(), 0.001, 1e-15);
  run(bdf, 1.0, [&](double, In) { EXPECT_LE(bdf.last_step(), 0.01 * (1.0 + 4.0 * eps)); });
}

TEST(Bdf, values_between_steps_are_as_accurate_as_those_at_steps) {
  for (const double tolerance : {1e-5, 1e-8, 1e-11}) {
    SCOPED_TRACE(tolerance);
    Bdf bdf(spring_and_damper(1e6, 1e5), {.tolerance = tolerance});
    bdf.start(0.0, Vector{0.0, 1.0});
    Vector y(2), rate(2), before(bdf.y().begin(), bdf.y().end());
    EXPECT_TRUE(bdf.interpolate(0.0, y));
    EXPECT_EQ(y, before);
    EXPECT_FALSE(bdf.interpolate_rate(0.0, rate));
    double worst = 0.0, worst_rate = 0.0;
    run(bdf, 10.0, [&](double t, In now) {
      const double from = bdf.step_begin(), h = t - from;
      ASSERT_TRUE(bdf.interpolate(from, y));  // continuous
      EXPECT_NEAR(y[0], before[0], 8.0 * eps);
      EXPECT_NEAR(y[1], before[1], 8.0 * eps);
      for (const double part : {0.1, 0.5, 0.9}) {
        const double at = from + part * h;
        ASSERT_TRUE(bdf.interpolate(at, y) && bdf.interpolate_rate(at, rate));
        worst = std::max({worst, std::abs(y[0] - std::sin(at)), std::abs(y[1] - std::cos(at))});
        worst_rate = std::max(worst_rate, std::abs(rate[0] - std::cos(at)) * h);
      }
      ASSERT_TRUE(bdf.interpolate(t, y));
      EXPECT_EQ(y[0], now[0]);
      before.assign(now.begin(), now.end());
    });
    EXPECT_LT(worst, 50.0 * tolerance);
    EXPECT_LT(worst_rate, 100.0 * tolerance);  // one division by h is lost
    EXPECT_FALSE(bdf.interpolate(std::nextafter(bdf.step_begin(), 0.0), y));
    EXPECT_FALSE(bdf.interpolate(10.1, y));
    EXPECT_FALSE(bdf.interpolate_rate(10.1, y));
  }
}

TEST(Bdf, projected_values_lie_on_the_polynomial) {
  Bdf bdf({.size = 8, .num_dynamic = 8, .num_positions = 4, .rhs = tied_beads, .project = onto_circle},
          {.tolerance = 1e-5});
  Vector before{1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0}, y(8);
  bdf.start(0.0, before);
  run(bdf, 1.0, [&](double, In now) {
    ASSERT_TRUE(bdf.interpolate(bdf.step_begin(), y));
    for (std::size_t i = 0; i < 8; ++i) EXPECT_NEAR(y[i], before[i], 100.0 * eps * 5.0) << i;
    before.assign(now.begin(), now.end());
  });
}

TEST(Bdf, the_same_start_gives_the_same_bits) {
  const BdfProblem problem{.size = 8, .num_dynamic = 8, .num_positions = 4, .rhs = tied_beads, .project = onto_circle};
  const Vector start{1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0};
  Bdf one(problem, {.tolerance = 1e-7}), used(problem, {.tolerance = 1e-7});
  one.start(0.25, start);
  used.start(0.0, Vector{0.0, 1.0, 0.0, 1.0, 0.5, 0.0, 0.5, 0.0});  // something else first
  for (int i = 0; i < 137; ++i) ASSERT_EQ(used.step(50.0), Bdf::Outcome::stepped);
  used.start(0.25, start);
  for (int i = 0; i < 300; ++i) {
    ASSERT_EQ(one.step(3.0), Bdf::Outcome::stepped);
    ASSERT_EQ(used.step(3.0), Bdf::Outcome::stepped);
    ASSERT_EQ(one.t(), used.t());
    for (std::size_t j = 0; j < 8; ++j) ASSERT_EQ(one.y()[j], used.y()[j]) << "step " << i << " component " << j;
    // Looking at values between steps changes nothing.
    Vector y(8);
    ASSERT_TRUE(used.interpolate(0.5 * (used.step_begin() + used.t()), y));
    if (one.t() == 3.0) break;
  }
}

TEST(Bdf, counts_over_all_starts) {
  long calls = 0;
  BdfProblem counted = two_rates();
  counted.rhs = [&calls, f = counted.rhs](double t, In y, Out dy) { return ++calls, f(t, y, dy); };
  Bdf counting(counted, {.tolerance = 1e-6});
  long steps = 0;
  for (int i = 0; i < 3; ++i) {
    counting.start(0.0, Vector{1.0, 0.0});
    EXPECT_EQ(counting.order(), 0);
    EXPECT_EQ(counting.last_step(), 0.0);
    EXPECT_EQ(counting.next_step(), 0.0);
    run(counting, 1.0, [&](double, In) { ++steps; });
    EXPECT_GE(counting.order(), 1);
    EXPECT_GT(counting.next_step(), 0.0);
  }
  const BdfStatistics s = counting.statistics();
  EXPECT_EQ(s.steps, steps);
  EXPECT_EQ(s.evaluations, calls);
  EXPECT_GE(s.jacobians, 3);
  EXPECT_GE(s.factorisations, s.jacobians);
  EXPECT_EQ(s.projections, 0);
}

TEST(Bdf, says_where_the_right_side_ends) {
  // No value beyond t = 1.
  Bdf wall({.size = 1, .num_dynamic = 1, .rhs = [](double t, In y, Out dy) { return dy[0] = -y[0], t <= 1.0; }},
           {.tolerance = 1e-6});
  wall.start(0.0, Vector{1.0});
  while (wall.step(2.0) == Bdf::Outcome::stepped) ASSERT_LE(wall.t(), 1.0);
  EXPECT_EQ(wall.failure(), Bdf::Failure::not_finite);
  EXPECT_GT(wall.t(), 1.0 - 1e-9);
  EXPECT_NEAR(wall.y()[0], std::exp(-1.0), 1e-4);
  EXPECT_NE(wall.reason().find("no finite acceleration, however short the step, at t = "), std::string::npos)
      << wall.reason();
  EXPECT_EQ(wall.step(2.0), Bdf::Outcome::failed);  // still
  wall.start(0.0, Vector{1.0});                     // but a new start helps
  EXPECT_EQ(wall.failure(), Bdf::Failure::none);
  EXPECT_TRUE(wall.reason().empty());
  EXPECT_EQ(wall.step(2.0), Bdf::Outcome::stepped);

  // Not at the start either; and values that are not finite count as none.
  Bdf nothing({.size = 1, .num_dynamic = 1, .rhs = [](double, In, Out dy) { return dy[0] = std::nan(""), true; }}, {});
  nothing.start(0.0, Vector{1.0});
  EXPECT_EQ(nothing.step(1.0), Bdf::Outcome::failed);
  EXPECT_EQ(nothing.failure(), Bdf::Failure::not_finite);
  EXPECT_EQ(nothing.reason(), "the start has no finite acceleration at t = 0");
  EXPECT_EQ(nothing.t(), 0.0);
  EXPECT_EQ(nothing.y()[0], 1.0);
}

TEST(Bdf, stops_before_a_value_runs_away) {
  Bdf bdf({.size = 1, .num_dynamic = 1, .rhs = [](double, In y, Out dy) { return dy[0] = y[0] * y[0], true; }},
          {.tolerance = 1e-8});
  bdf.start(0.0, Vector{1.0});  // y = 1/(1 − t)
  int steps = 0;
  while (bdf.step(2.0) == Bdf::Outcome::stepped) ASSERT_LT(++steps, 20'000);
  EXPECT_NE(bdf.failure(), Bdf::Failure::none);
  EXPECT_FALSE(bdf.reason().empty());
  EXPECT_NEAR(bdf.t(), 1.0, 1e-5);
}

TEST(Bdf, a_step_into_a_forbidden_region_is_repeated_shorter) {
  // √y has no value below zero; the motion tends to y = 0.04, but a long first step overshoots.
  int refused = 0;
  Bdf bdf({.size = 1,
           .num_dynamic = 1,
           .rhs =
               [&refused](double, In y, Out dy) {
                 if (y[0] < 0.0) return ++refused, false;
                 dy[0] = 1000.0 * (0.2 - std::sqrt(y[0]));
                 return true;
               }},
          {.tolerance = 1e-6, .first_step = 0.01});
  bdf.start(0.0, Vector{4.0});
  run(bdf, 1.0, [](double, In) {});
  EXPECT_GT(refused, 0);
  EXPECT_NEAR(bdf.y()[0], 0.04, 1e-5);
}

TEST(Bdf, says_when_the_constraints_cannot_be_reached) {
  Bdf bdf({.size = 8,
           .num_dynamic = 8,
           .num_positions = 4,
           .rhs = tied_beads,
           .project = [](double t, Out y) { return t <= 0.5 && onto_circle(t, y); }},
          {.tolerance = 1e-6});
  bdf.start(0.0, Vector{1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0});
  while (bdf.step(1.0) == Bdf::Outcome::stepped) ASSERT_LE(bdf.t(), 0.5);
  EXPECT_EQ(bdf.failure(), Bdf::Failure::projection);
  EXPECT_GT(bdf.t(), 0.5 - 1e-6);
  EXPECT_GT(bdf.statistics().projection_failures, 0);
  EXPECT_NE(bdf.reason().find("the constraints cannot be reached, however short the step, at t = 0."),
            std::string::npos)
      << bdf.reason();
}

TEST(Bdf, what_a_callback_throws_comes_through) {
  Bdf bdf({.size = 1,
           .num_dynamic = 1,
           .rhs =
               [](double t, In y, Out dy) {
                 if (t > 0.5) throw std::domain_error("half");
                 return dy[0] = -y[0], true;
               }},
          {.tolerance = 1e-6});
  bdf.start(0.0, Vector{1.0});
  EXPECT_THROW(
      {
        while (bdf.step(1.0) == Bdf::Outcome::stepped) {
        }
      },
      std::domain_error);
  EXPECT_EQ(bdf.step(1.0), Bdf::Outcome::failed);
}

TEST(Bdf, with_order_2_long_steps_pass_over_fast_oscillations_that_are_hardly_damped) {
  // Mass 1 follows mass 2 on a spring of frequency 10⁴ with 1 % damping, and is let go 10⁻⁶ beside it.
  const double w = 1e4, z = 0.01;
  const BdfProblem problem{.size = 4, .num_dynamic = 4, .num_positions = 2, .rhs = [=](double, In y, Out dy) {
                             dy[0] = y[2], dy[1] = y[3];
                             dy[2] = -w * w * (y[0] - y[1]) - 2.0 * z * w * (y[2] - y[3]) - y[1];
                             dy[3] = -y[1];
                             return true;
                           }};
  Bdf bdf(problem, {.tolerance = 1e-5, .largest_order = 2});
  bdf.start(0.0, Vector{1.0 + 1e-6, 1.0, 0.0, 0.0});
  run(bdf, 10.0, [](double, In) {});
  EXPECT_LT(bdf.statistics().steps, 10'000);  // 10⁵ radians of the fast oscillation
  EXPECT_NEAR(bdf.y()[0], std::cos(10.0), 1e-2);
  EXPECT_NEAR(bdf.y()[2], -std::sin(10.0), 1e-2);
}

TEST(Bdf, can_be_moved) {
  Bdf first(oscillator(), {.tolerance = 1e-6});
  first.start(0.0, Vector{1.0, 0.0});
  ASSERT_EQ(first.step(1.0), Bdf::Outcome::stepped);
  Bdf second(std::move(first));
  run(second, 1.0, [](double, In) {});
  EXPECT_NEAR(second.y()[0], std::cos(1.0), 1e-4);
}

TEST(Bdf, refuses_problems_and_options_without_sense) {
  const auto refused = [](BdfProblem problem, BdfOptions options) {
    EXPECT_THROW(Bdf(std::move(problem), options), std::invalid_argument);
  };
  BdfProblem problem = oscillator();
  problem.rhs = nullptr;
  refused(problem, {});
  for (const auto [size, dynamic, positions] : {std::array{0, 0, 0}, {2, 3, 0}, {2, 2, 2}, {2, -1, 0}, {2, 2, -1}}) {
    problem = oscillator();
    problem.size = size, problem.num_dynamic = dynamic, problem.num_positions = positions;
    refused(problem, {});
  }
  refused(oscillator(), {.tolerance = 0.0});
  refused(oscillator(), {.tolerance = std::nan("")});
  refused(oscillator(), {.largest_step = -1.0});
  refused(oscillator(), {.first_step = -1.0});
  refused(oscillator(), {.largest_order = 6});
}

}  // namespace
}  // namespace mechanician
