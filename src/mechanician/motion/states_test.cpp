/// States of first order: against closed forms, exponentials of matrices, what is put in by hand, and the model written out.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "mechanician/base/trials_for_test.hpp"
#include "mechanician/model/family_model.hpp"
#include "mechanician/motion/integrator.hpp"

namespace mechanician {
namespace {

using Matrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
using Vector = Eigen::Matrix<long double, Eigen::Dynamic, 1>;

/// exp(A), by a series of A/2ᵏ that is squared k times, in extended precision.
Matrix exponential(const Matrix& A) {
  const long double size = A.cwiseAbs().rowwise().sum().maxCoeff();
  const int halvings = std::max(0, static_cast<int>(std::ceil(std::log2(size / 0.25L))));
  const Matrix small = A / std::pow(2.0L, halvings);
  Matrix term = Matrix::Identity(A.rows(), A.cols()), sum = term;
  for (int k = 1; k < 30; ++k) {
    term = term * small / static_cast<long double>(k);
    sum += term;
  }
  for (int k = 0; k < halvings; ++k) sum = sum * sum;
  return sum;
}

struct Made {
  std::vector<Sample> samples;
  Stop stop;
  Certificate certificate;
  std::vector<MotionEvent> events;
};

Made run(const System& system, State start, MotionOptions options, const std::vector<double>& times) {
  Integrator integrator(system, std::move(start), options);
  EXPECT_FALSE(integrator.refusal()) << integrator.refusal()->message;
  Made result;
  std::size_t next = 0;
  while (integrator.advance())
    for (; next < times.size() && times[next] <= integrator.t(); ++next)
      if (times[next] >= integrator.step_begin()) result.samples.push_back(integrator.sample(times[next]));
  result.stop = integrator.stop(), result.certificate = integrator.certificate(), result.events = integrator.events();
  return result;
}

System read(const std::string& text, System::Numbers numbers = System::Numbers::automatic) {
  return System(read_family_model_text(text, "states.toml"), numbers);
}

Made run_text(const std::string& text, double to, double tolerance, const std::vector<double>& times,
              Method method = Method::automatic) {
  const System system = read(text);
  Made result =
      run(system, system.start(), {.to = to, .tolerance = tolerance, .method = method, .scale = system.scale()}, times);
  EXPECT_FALSE(result.stop.failed()) << result.stop.message;
  EXPECT_TRUE(result.certificate.holds) << (result.certificate.reasons.empty() ? ""
                                                                               : result.certificate.reasons.front());
  EXPECT_EQ(result.samples.size(), times.size());
  return result;
}

class States : public testing::TestWithParam<Method> {};

TEST_P(States, a_capacitor_is_charged_as_the_closed_form_says) {
  const double tolerance = GetParam() == Method::bdf ? 1e-8 : 1e-11;
  const Made r = run_text(
      "[parameters]\nR = 2e3\nC = 1e-6\n[inputs]\nU = 12\n[states]\nv = { rate = \"(U - v)/(R*C)\", start = 1 }\n",
      0.02, tolerance, {0.001, 0.004, 0.02}, GetParam());
  for (const Sample& s : r.samples) {
    EXPECT_NEAR(s.q(0), 12.0 - 11.0 * std::exp(-s.t / 2e-3), 100.0 * tolerance * 12.0) << s.t;
    EXPECT_NEAR(s.qd(0), 11.0 / 2e-3 * std::exp(-s.t / 2e-3), 1e3 * tolerance * 6000.0) << s.t;
  }
}

TEST_P(States, a_filter_of_second_order_follows_a_sine) {
  // y' = w, w' = ω²(u − y) − 2ζω w, u = sin 3t: a steady answer and what dies out.
  const double tolerance = GetParam() == Method::bdf ? 1e-8 : 1e-11;
  const Made r = run_text("[states]\ny = { rate = \"w\" }\nw = { rate = \"25*(sin(3*t) - y) - 4*w\", start = 2 }\n",
                          3.0, tolerance, {0.1, 1.0, 3.0}, GetParam());
  Matrix A(4, 4);  // y, w, sin 3t, cos 3t
  A << 0, 1, 0, 0, -25, -4, 25, 0, 0, 0, 0, 3, 0, 0, -3, 0;
  for (const Sample& s : r.samples) {
    const Vector x = exponential(A * static_cast<long double>(s.t)) * Vector{{0, 2, 0, 1}};
    EXPECT_NEAR(s.q(0), static_cast<double>(x(0)), 200.0 * tolerance) << s.t;
    EXPECT_NEAR(s.q(1), static_cast<double>(x(1)), 200.0 * tolerance) << s.t;
  }
}

/// A motor with its current, and a controller with an integral.
constexpr const char* motor =
    "coordinates = [\"th\"]\n[parameters]\nJ = 0.02\nd = 0.01\nR = 1.2\nL = 0.004\nk = 0.3\nKp = 2.0\nKi = 9.0\n"
    "[inputs]\ntarget = 1.5\n"
    "[define]\ne = \"target - th\"\nU = \"Kp*e + Ki*I - 0.15*th'\"\n"
    "[dynamics]\nkinetic = \"J/2*th'^2\"\nforce = { th = \"k*i - d*th'\" }\n"
    "[states]\ni = { rate = \"(U - R*i - k*th')/L\", start = 0.2 }\nI = { rate = \"e\" }\n"
    "[start]\nposition = { th = 0.1 }\nvelocity = { th = -1 }\n";

TEST_P(States, a_motor_under_control_is_the_exponential_of_its_matrix) {
  const double tolerance = GetParam() == Method::bdf ? 1e-8 : 1e-11;
  const Made r = run_text(motor, 4.0, tolerance, {0.01, 0.5, 4.0}, GetParam());
  const long double J = 0.02L, d = 0.01L, R = 1.2L, L = 0.004L, k = 0.3L, Kp = 2.0L, Ki = 9.0L, target = 1.5L;
  Matrix A = Matrix::Zero(5, 5);  // th, th', i, I, 1
  A(0, 1) = 1;
  A(1, 1) = -d / J, A(1, 2) = k / J;
  A(2, 0) = -Kp / L, A(2, 1) = (-0.15L - k) / L, A(2, 2) = -R / L, A(2, 3) = Ki / L, A(2, 4) = Kp * target / L;
  A(3, 0) = -1, A(3, 4) = target;
  for (const Sample& s : r.samples) {
    const Vector x = exponential(A * static_cast<long double>(s.t)) * Vector{{0.1L, -1, 0.2L, 0, 1}};
    EXPECT_NEAR(s.q(0), static_cast<double>(x(0)), 300.0 * tolerance) << s.t;
    EXPECT_NEAR(s.qd(0), static_cast<double>(x(1)), 3000.0 * tolerance) << s.t;
    EXPECT_NEAR(s.q(1), static_cast<double>(x(2)), 3000.0 * tolerance) << s.t;
    EXPECT_NEAR(s.q(2), static_cast<double>(x(3)), 300.0 * tolerance) << s.t;
  }
}
/// Ends as published in the Test Set for Initial Value Problem Solvers.
TEST_P(States, reactions_over_eleven_powers_of_ten_of_time_have_ten_digits_each) {
  const Made r = run_text(
      "[states]\ny1 = { rate = \"-0.04*y1 + 1e4*y2*y3\", start = 1 }\n"
      "y2 = { rate = \"0.04*y1 - 1e4*y2*y3 - 3e7*y2^2\" }\ny3 = { rate = \"3e7*y2^2\" }\n"
      "[run]\nscale = { y1 = 1e-8, y2 = 1e-13, y3 = 1 }\n",
      1e11, 1e-13, {1e11}, GetParam());
  const double exact[] = {0.2083340149701255e-07, 0.8333360770334713e-13, 0.9999999791665050};
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(r.samples[0].q(i) / exact[i], 1.0, 1e-10) << i;
}

TEST_P(States, what_rounding_does_to_the_time_matters_only_where_rates_depend_on_it) {
  const Made r = run_text(
      "[states]\ny1 = { rate = \"y2\", start = 2 }\ny2 = { rate = \"((1 - y1^2)*y2 - y1)/1e-6\" }\n"
      "[run]\nscale = 1\n",
      2.0, 1e-13, {2.0}, GetParam());  // two jumps, of millionths each
  EXPECT_NEAR(r.samples[0].q(0), 0.1706167732170483e1, 1e-10);
  EXPECT_NEAR(r.samples[0].q(1), -0.8928097010247975, 1e-10);
}

INSTANTIATE_TEST_SUITE_P(methods, States, testing::Values(Method::automatic, Method::bdf));

/// Where derivatives are found by differences.
TEST(states, stiff_ones_beside_sliding_friction_are_those_of_the_explicit_method) {
  const std::string text =
      "coordinates = [\"x\", \"y\"]\n[states]\ni = { rate = \"(5 - 1e3*i - 0.3*x')/0.01\", start = 0.1 }\n"
      "w = { rate = \"-1e3*(w - i)\" }\n[dynamics]\nkinetic = \"x'^2 + y'^2\"\npotential = \"20*y\"\n"
      "force = { x = \"2e4*w - 0.5*x'\" }\n[constraints.floor]\nequation = \"y = 0\"\nfriction = 0.2\nslip = \"x'\"\n"
      "[start]\nposition = { x = 0, y = 0 }\nvelocity = { x = 3, y = 0 }\n";
  const Made stiff = run_text(text, 0.2, 1e-10, {0.2}, Method::bdf),
             plain = run_text(text, 0.2, 1e-10, {0.2}, Method::dop853);
  for (int i = 0; i < 4; ++i)
    EXPECT_NEAR(stiff.samples[0].q(i), plain.samples[0].q(i), 1e-7 * std::abs(plain.samples[0].q(i))) << i;
  EXPECT_NEAR(stiff.samples[0].qd(2), plain.samples[0].qd(2), 1e-4);  // 1e5 times what i is off by
}

TEST(states, work_and_energy_are_those_of_the_coordinates_alone) {
  const Made r = run_text(motor, 2.0, 1e-11, {2.0});
  const Sample& s = r.samples.front();
  EXPECT_EQ(s.works.ideal, 0.0);
  for (const double x : s.works.constraints) EXPECT_EQ(x, 0.0);
  EXPECT_NEAR(s.works.given, 0.01 * (s.qd(0) * s.qd(0) - 1.0), 1e-9);  // the motion is stiff
}

TEST(states, a_mass_that_depends_on_a_state_keeps_its_momentum) {
  // d/dt (m(z) x') = 0 with m = 1 + z, and z pushes nothing though the energy depends on it.
  const Made r = run_text(
      "coordinates = [\"x\"]\n[dynamics]\nkinetic = \"(1 + z)/2*x'^2\"\n[states]\nz = { rate = \"0.5*z\", start = 1 }\n"
      "[start]\nvelocity = { x = 3 }\n",
      2.0, 1e-11, {1.0, 2.0});
  for (const Sample& s : r.samples) EXPECT_NEAR(s.qd(0), 6.0 / (1.0 + std::exp(0.5 * s.t)), 1e-9) << s.t;
}

TEST(states, a_spring_of_a_state_moves_the_mass_and_not_the_state) {
  // x'' = −z x, z = e^t: y'' = −e^t y; against the same with the state put in by hand.
  const std::string start = "[start]\nposition = { x = 1 }\n[dynamics]\nkinetic = \"x'^2/2\"\n";
  const Made by_state = run_text(
      "coordinates = [\"x\"]\n" + start + "potential = \"z/2*x^2\"\n[states]\nz = { rate = \"z + 0*x'\", start = 1 }\n",
      3.0, 1e-12, {1.0, 3.0});
  const Made by_hand =
      run_text("coordinates = [\"x\"]\n" + start + "potential = \"exp(t)/2*x^2\"\n", 3.0, 1e-12, {1.0, 3.0});
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_NEAR(by_state.samples[k].q(0), by_hand.samples[k].q(0), 1e-9);
    EXPECT_NEAR(by_state.samples[k].qd(0), by_hand.samples[k].qd(0), 1e-9);
  }
}

// ---- rates that jump

TEST(states, an_integral_that_is_held_at_a_limit_is_piecewise_exact) {
  // I' = e while I < 1, then nothing: e = 2 − t turns the integral round at t = 2, but it has stopped at 1 before.
  const Made r = run_text("[define]\ne = \"2 - t\"\n[states]\nI = { rate = \"if(I < 1 or e < 0, e, 0)\" }\n", 4.0,
                          1e-11, {0.5, 1.0, 3.0, 4.0});
  // 2t − t²/2 = 1 at t = 2 − √2; from t = 2 on it goes down.
  for (const Sample& s : r.samples) {
    const double up = std::min(1.0, 2.0 * s.t - s.t * s.t / 2.0), down = 1.0 - (s.t - 2.0) * (s.t - 2.0) / 2.0;
    EXPECT_NEAR(s.q(0), s.t < 2.0 - std::sqrt(2.0) ? up : s.t < 2.0 ? 1.0 : down, 1e-9) << s.t;
  }
}

TEST(states, a_rate_that_switches_with_time_and_motion_is_piecewise_exact) {
  // A body at constant speed; the rate is the sign of where it is: z = |x − 1| up to a constant, and jumps with time beside.
  const Made r = run_text(
      "coordinates = [\"x\"]\n[dynamics]\nkinetic = \"x'^2/2\"\n[start]\nvelocity = { x = 1 }\n"
      "[states]\nz = { rate = \"sign(x - 1) + if(t < 1.5, 0, 3)\", start = 1 }\nw = { rate = \"-z*w\", start = 1 }\n",
      3.0, 1e-11, {0.5, 1.25, 2.5, 3.0});
  const auto z = [](double t) { return std::abs(t - 1.0) + std::max(0.0, 3.0 * (t - 1.5)); };
  const auto integral = [](double t) {
    const double a = std::min(t, 1.0), b = std::max(0.0, t - 1.0), c = std::max(0.0, t - 1.5);
    return a - a * a / 2.0 + b * b / 2.0 + 1.5 * c * c;
  };
  for (const Sample& s : r.samples) {
    EXPECT_NEAR(s.q(1), z(s.t), 1e-10) << s.t;
    EXPECT_NEAR(s.q(2), std::exp(-integral(s.t)), 1e-10) << s.t;
  }
}

TEST(states, two_point_control_with_a_band_is_piecewise_exact) {
  // A heater that is switched by a clock of its own: T' = −T + u, u = 2 in every first half of a second.
  const Made r =
      run_text("[states]\nT = { rate = \"if(mod(t, 1) < 0.5, 2, 0) - T\" }\n", 5.0, 1e-11, {0.5, 1.0, 4.25, 5.0});
  double T = 0.0;
  const auto at = [&](double to) {
    T = 0.0;
    for (double t = 0.0; t < to;) {
      const double end = std::min(to, t + 0.5), u = std::fmod(t, 1.0) < 0.5 ? 2.0 : 0.0;
      T = u + (T - u) * std::exp(-(end - t)), t = end;
    }
    return T;
  };
  for (const Sample& s : r.samples) EXPECT_NEAR(s.q(0), at(s.t), 1e-9) << s.t;
}

TEST(states, a_thermostat_without_a_band_holds_its_temperature) {
  // T' = 3 − T below 1 and −T above: both sides drive to T = 1, where the mean of the rates is zero (Filippov). From t = 2 on the
  // heater is too weak, and the temperature leaves.
  const Made r = run_text("[states]\nT = { rate = \"if(T < 1, if(t < 2, 3, 0.5), 0) - T\" }\nw = { rate = \"T\" }\n",
                          4.0, 1e-11, {0.2, 1.0, 1.9, 3.0, 4.0});
  const double reached = std::log(1.5);
  for (const Sample& s : r.samples) {
    const double T = s.t < reached ? 3.0 * (1.0 - std::exp(-s.t))
                     : s.t < 2.0   ? 1.0
                                   : 0.5 + 0.5 * std::exp(-(s.t - 2.0));
    EXPECT_NEAR(s.q(0), T, 1e-9) << s.t;
    if (s.t > reached && s.t < 2.0) {
      EXPECT_NEAR(s.qd(0), 0.0, 1e-9) << s.t;
      EXPECT_NEAR(s.q(1), 3.0 * (reached - 1.0 + std::exp(-reached)) + s.t - reached, 1e-9) << s.t;
    }
  }
}

TEST(states, conditional_integration_slides_along_its_limit) {
  const Made r = run_text(
      "[define]\ne = \"1 - t\"\nu = \"0.5*e + I\"\n[states]\nI = { rate = \"if(u < 1, e, 0)\", start = 0.4 }\n", 1.5,
      1e-11, {0.1, 0.5, 1.4});
  // u = e/2 + I with e = 1 − t: inside u' = e − 1/2, outside u' = −1/2. From 0.9 it comes to 1 where 0.9 + t/2 − t²/2 = 1, and
  // slides with u = 1, I = 1 − e/2 until e = 1/2, when the rate inside no longer drives out.
  const double t1 = 0.5 - std::sqrt(0.25 - 0.2);
  for (const Sample& s : r.samples) {
    const double t = s.t, I = t < t1    ? 0.4 + t - t * t / 2.0
                              : t < 0.5 ? 1.0 - (1.0 - t) / 2.0
                                        : 0.75 + (t - 0.5) - (t * t - 0.25) / 2.0;
    EXPECT_NEAR(s.q(0), I, 1e-9) << t;
  }
}

// ---- states in constraints

TEST(states, a_constraint_with_a_state_is_the_one_with_its_value) {
  // x = z, z' = −z + sin t: z in closed form, and the force is m x''.
  const Made r = run_text(
      "coordinates = [\"x\"]\n[dynamics]\nkinetic = \"3/2*x'^2\"\nforce = { x = \"-2*x'\" }\n[constraints]\nfollow = "
      "\"x = z\"\n"
      "[states]\nz = { rate = \"sin(t) - z\", start = 0.5 }\n[start]\nposition = { x = 0.5 }\nvelocity = { x = -0.5 "
      "}\n",
      4.0, 1e-11, {1.0, 4.0});
  for (const Sample& s : r.samples) {
    const double e = std::exp(-s.t), z = (std::sin(s.t) - std::cos(s.t)) / 2.0 + e,
                 zd = (std::cos(s.t) + std::sin(s.t)) / 2.0 - e, zdd = (std::cos(s.t) - std::sin(s.t)) / 2.0 + e;
    EXPECT_NEAR(s.q(0), z, 1e-9) << s.t;
    EXPECT_NEAR(s.qd(0), zd, 1e-9) << s.t;
    EXPECT_NEAR(s.lambda(0), 3.0 * zdd + 2.0 * zd, 1e-8) << s.t;
  }
}

TEST(states, a_constraint_whose_state_follows_velocities_is_the_one_on_velocities) {
  // x = z, z' = −y' x: by hand x' = −y' x, a nonholonomic constraint on x and y.
  const std::string head =
      "coordinates = [\"x\", \"y\"]\n[dynamics]\nkinetic = \"(x'^2 + 2*y'^2)/2\"\nforce = { x = \"sin(t)\", y = \"1 - "
      "y\" }\n"
      "[start]\nposition = { x = 1 }\nvelocity = { x = -2, y = 2 }\n";
  const Made by_state = run_text(head + "[constraints]\nc = \"x = z\"\n[states]\nz = { rate = \"-y'*x\", start = 1 }\n",
                                 3.0, 1e-11, {1.0, 2.0, 3.0});
  const Made by_hand = run_text(head + "[constraints]\nc = \"x' = -y'*x\"\n", 3.0, 1e-11, {1.0, 2.0, 3.0});
  for (std::size_t k = 0; k < 3; ++k) {
    for (int i = 0; i < 2; ++i) {
      EXPECT_NEAR(by_state.samples[k].q(i), by_hand.samples[k].q(i), 1e-8);
      EXPECT_NEAR(by_state.samples[k].qd(i), by_hand.samples[k].qd(i), 1e-8);
    }
    EXPECT_NEAR(by_state.samples[k].lambda(0), by_hand.samples[k].lambda(0), 1e-7);
  }
}

// ---- contacts

TEST(states, an_impact_changes_rates_without_an_impulse) {
  // A ball that bounces, a filter of its height, and the way it has gone: z' = (y')² jumps by nothing, s' = y' does.
  const std::string ball =
      "coordinates = [\"y\"]\n[dynamics]\nkinetic = \"y'^2/2\"\npotential = \"10*y\"\n"
      "[constraints]\nfloor = { equation = \"y >= 0\", restitution = 0.5 }\n[start]\nposition = { y = 1.25 }\n";
  const Made with = run_text(ball +
                                 "[states]\ns = { rate = \"y'\" }\nf = { rate = \"4*(y - f)\", start = 1.25 }\n"
                                 "w = { rate = \"y'^2\" }\n",
                             2.0, 1e-11, {0.25, 0.75, 1.5, 2.0});
  const Made without = run_text(ball, 2.0, 1e-11, {0.25, 0.75, 1.5, 2.0});
  EXPECT_EQ(with.events.size(), without.events.size());
  for (std::size_t k = 0; k < 4; ++k) {
    const Sample &a = with.samples[k], &b = without.samples[k];
    EXPECT_NEAR(a.q(0), b.q(0), 1e-10);
    EXPECT_NEAR(a.qd(0), b.qd(0), 1e-9);
    EXPECT_NEAR(a.q(1), b.q(0) - 1.25, 1e-9);  // s is the way
    EXPECT_NEAR(a.qd(1), b.qd(0), 1e-9);
    EXPECT_NEAR(a.works.given, b.works.given, 1e-9);
  }
  // Up to the first impact, at t = 0.5: ∫ (10 t)² dt; then up and down with half the speed, at t = 1, and so on.
  EXPECT_NEAR(with.samples[0].q(3), 100.0 * std::pow(0.25, 3) / 3.0, 1e-9);
  EXPECT_NEAR(with.samples[1].q(3), 100.0 * std::pow(0.5, 3) / 3.0 + 100.0 * std::pow(0.25, 3) / 3.0, 1e-8);
  EXPECT_EQ(with.certificate.contacts->impacts, without.certificate.contacts->impacts);
}

// ---- families

/// A rod of N pieces with ends at zero: T[k] is a sum of exact modes.
std::string heat(int count, bool written) {
  std::string text = "[parameters]\nN = " + std::to_string(count) + "\n[states]\n";
  if (!written)
    return text +
           "\"T[1]\" = { rate = \"(N+1)^2*(T[2] - 2*T[1])\", start = \"sin(pi/(N+1)) + sin(2*pi/(N+1))\" }\n"
           "\"T[k]\" = { for = \"k = 2..N-1\", rate = \"(N+1)^2*(T[k-1] - 2*T[k] + T[k+1])\", "
           "start = \"sin(pi*k/(N+1)) + sin(2*pi*k/(N+1))\" }\n"
           "\"T[N]\" = { rate = \"(N+1)^2*(T[N-1] - 2*T[N])\", start = \"sin(pi*N/(N+1)) + sin(2*pi*N/(N+1))\" }\n";
  for (int k = 1; k <= count; ++k) {
    const std::string i = std::to_string(k);
    text += "T" + i + " = { rate = \"(N+1)^2*(" + (k > 1 ? "T" + std::to_string(k - 1) : "0") + " - 2*T" + i + " + " +
            (k < count ? "T" + std::to_string(k + 1) : "0") + ")\", start = \"sin(pi*" + i + "/(N+1)) + sin(2*pi*" + i +
            "/(N+1))\" }\n";
  }
  return text;
}

class HeatLine : public testing::TestWithParam<int> {};

TEST_P(HeatLine, is_the_sum_of_its_modes) {
  const int count = GetParam();
  const double to = count > 100 ? 0.02 : 0.1, tolerance = 1e-8;
  const System system = read(heat(count, false));
  EXPECT_EQ(system.num_states(), count);
  EXPECT_EQ(static_cast<bool>(system.kernels()), count >= System::least_for_kernels);
  const Made r = run(system, system.start(), {.to = to, .tolerance = tolerance}, {to});
  ASSERT_FALSE(r.stop.failed()) << r.stop.message;
  ASSERT_EQ(r.samples.size(), 1u);
  const auto decay = [&](int mode) {
    const double s = 2.0 * (count + 1) * std::sin(mode * std::numbers::pi / (2.0 * (count + 1)));
    return std::exp(-s * s * to);
  };
  double worst = 0.0;
  for (int k = 1; k <= count; ++k) {
    const double x = std::numbers::pi * k / (count + 1);
    worst = std::max(worst, std::abs(r.samples[0].q(k - 1) - std::sin(x) * decay(1) - std::sin(2.0 * x) * decay(2)));
  }
  EXPECT_LT(worst, 1e-6);
}
INSTANTIATE_TEST_SUITE_P(sizes, HeatLine, testing::Values(3, 30, 300, 3000));

TEST(states, a_family_is_the_model_written_out) {
  for (const int count : {3, 30}) {
    const Made by_family = run_text(heat(count, false), 0.05, 1e-10, {0.05}),
               written = run_text(heat(count, true), 0.05, 1e-10, {0.05});
    EXPECT_LT((by_family.samples[0].q - written.samples[0].q).cwiseAbs().maxCoeff(), 1e-9) << count;
  }
  const System kernels = read(heat(80, false), System::Numbers::kernels),
               plain = read(heat(80, false), System::Numbers::written_out);
  State state = kernels.start();
  state.q.setRandom();
  State other = state;
  kernels.set_state_rates(state), plain.set_state_rates(other);
  EXPECT_LT((state.qd - other.qd).cwiseAbs().maxCoeff(), 1e-10 * other.qd.cwiseAbs().maxCoeff());
}

/// Masses on springs, each with a current of its own, all at rest and at zero.
std::string driven_chain(int count) {
  return "coordinates = [\"x[1..N]\"]\n[parameters]\nN = " + std::to_string(count) +
         "\n[dynamics]\nkinetic = \"sum(i = 1..N, x[i]'^2/2)\"\n"
         "potential = \"sum(i = 2..N, (x[i] - x[i-1])^2/2) + x[1]^2/2\"\n[dynamics.force]\n"
         "\"x[i]\" = { for = \"i = 1..N\", value = \"c[i]\" }\n"
         "[states]\n\"c[k]\" = { for = \"k = 1..N\", rate = \"k/N*sin(t) - c[k] - 0.5*x[k]'\" }\n";
}

TEST(states, of_masses_from_rest_are_the_same_by_kernels_and_written_out) {
  const System kernels = read(driven_chain(70), System::Numbers::kernels),
               written = read(driven_chain(70), System::Numbers::written_out);
  const Made a = run(kernels, kernels.start(), {.to = 4.0, .tolerance = 1e-10}, {2.0, 4.0}),
             b = run(written, written.start(), {.to = 4.0, .tolerance = 1e-10}, {2.0, 4.0});
  for (const Made* made : {&a, &b}) {
    ASSERT_FALSE(made->stop.failed()) << made->stop.message;
    ASSERT_TRUE(made->certificate.holds);
  }
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_LT((a.samples[k].q - b.samples[k].q).cwiseAbs().maxCoeff(), 1e-8);
    EXPECT_LT((a.samples[k].qd - b.samples[k].qd).cwiseAbs().maxCoeff(), 1e-8);
  }
}

TEST(states, a_chain_of_states_that_begins_at_zero_reaches_its_end) {
  // The last of thirty feels the first only after thirty steps of derivation; against the exponential of its matrix.
  const int count = 30;
  std::string text = "[states]\n";
  Matrix A = Matrix::Zero(count + 1, count + 1);
  for (int k = 0; k < count; ++k) {
    text += fmt::format("T{} = {{ rate = \"100*({} - 2*T{} + {})\" }}\n", k, k > 0 ? fmt::format("T{}", k - 1) : "1", k,
                        k + 1 < count ? fmt::format("T{}", k + 1) : "0");
    A(k, k) = -200.0L, A(k, k > 0 ? k - 1 : count) = 100.0L;
    if (k + 1 < count) A(k, k + 1) = 100.0L;
  }
  const Made r = run_text(text, 1.0, 1e-10, {0.1, 1.0});
  Vector start = Vector::Zero(count + 1);
  start(count) = 1;
  for (const Sample& s : r.samples) {
    const Vector x = exponential(A * static_cast<long double>(s.t)) * start;
    for (int k = 0; k < count; ++k) EXPECT_NEAR(s.q(k), static_cast<double>(x(k)), 1e-8) << s.t << " " << k;
  }
}

// ---- random linear systems

TEST(states, random_linear_systems_are_exponentials_of_their_matrices) {
  const auto trials = static_cast<int>(num_trials(12));
  for (int trial = 0; trial < trials; ++trial) {
    const unsigned seed = 20261117u + static_cast<unsigned>(trial);
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> number(-1.0, 1.0);
    std::uniform_int_distribution<int> size(1, 3);
    const int n = size(random), s = size(random), all = 2 * n + s;
    // x'' = F (x, x', z), z' = G (x, x', z), in random units of the states.
    Eigen::MatrixXd B(n + s, all);
    for (double& b : B.reshaped()) b = number(random);
    std::vector<double> unit;
    for (int k = 0; k < s; ++k) unit.push_back(std::pow(10.0, std::round(6.0 * number(random))));
    const auto name = [&](int i) {
      return i < n       ? "x" + std::to_string(i)
             : i < 2 * n ? "x" + std::to_string(i - n) + "'"
                         : "z" + std::to_string(i - 2 * n);
    };
    const auto value = [](double x) { return fmt::format("{:.17g}", x); };
    const auto scale = [&](int i) { return i < 2 * n ? 1.0 : unit[static_cast<std::size_t>(i - 2 * n)]; };
    const auto form = [&](int row, double factor) {
      std::string text;
      for (int i = 0; i < all; ++i)
        text += fmt::format("{}({})*{}", i ? " + " : "", value(B(row, i) * factor / scale(i)), name(i));
      return text;
    };
    std::string text = "coordinates = [", kinetic, force, position, velocity, states;
    Vector start = Vector::Zero(all);
    for (int i = 0; i < n; ++i) {
      const double m = 1.0 + std::abs(number(random));
      text += fmt::format("{}\"x{}\"", i ? ", " : "", i);
      kinetic += fmt::format("{}{}/2*x{}'^2", i ? " + " : "", value(m), i);
      force += fmt::format("{}x{} = \"{}\"", i ? ", " : "", i, form(i, m));
      const double x = number(random), v = number(random);
      start(i) = x, start(n + i) = v;
      position += fmt::format("{}x{} = {}", i ? ", " : "", i, value(x));
      velocity += fmt::format("{}x{} = {}", i ? ", " : "", i, value(v));
    }
    for (int k = 0; k < s; ++k) {
      const double z = number(random);
      start(2 * n + k) = z;
      states +=
          fmt::format("z{} = {{ rate = \"{}\", start = {} }}\n", k, form(n + k, unit[static_cast<std::size_t>(k)]),
                      value(z * unit[static_cast<std::size_t>(k)]));
    }
    text += "]\n[dynamics]\nkinetic = \"" + kinetic + "\"\nforce = { " + force + " }\n[states]\n" + states +
            "[start]\nposition = { " + position + " }\nvelocity = { " + velocity + " }\n";
    Matrix A = Matrix::Zero(all, all);
    for (int i = 0; i < n; ++i) A(i, n + i) = 1;
    A.bottomRows(n + s) = B.cast<long double>();
    const Vector end = exponential(A * 2.0L) * start;
    const double size_of_end = static_cast<double>(end.cwiseAbs().maxCoeff());
    const Made r = run_text(text, 2.0, 1e-11, {2.0});
    for (int i = 0; i < n + s; ++i)
      EXPECT_NEAR(r.samples[0].q(i) / scale(i < n ? i : n + i), static_cast<double>(end(i < n ? i : n + i)),
                  1e-8 * std::max(1.0, size_of_end))
          << "seed " << seed << ", " << i << "\n"
          << text;
  }
}

// ---- built in C++, checkpoints, inputs

TEST(states, a_model_built_in_cpp_is_the_one_of_the_file) {
  Model model;
  const Expr x = model.add_coordinate("x"), i = model.add_state("i", 0.5), U = model.add_input("U", 3.0);
  model.kinetic = pow(dot(x), 2);
  model.add_force(x, i - x);
  model.set_rate(i, U - 2.0 * i - dot(x));
  const System built(model, {3.0});
  const System of_file = read(
      "coordinates = [\"x\"]\n[inputs]\nU = 3\n[dynamics]\nkinetic = \"x'^2\"\nforce = { x = \"i - x\" }\n"
      "[states]\ni = { rate = \"U - 2*i - x'\", start = 0.5 }\n");
  EXPECT_EQ(built.start().qd(1), 2.0);
  const Made a = run(built, built.start(), {.to = 2.0}, {2.0}), b = run(of_file, of_file.start(), {.to = 2.0}, {2.0});
  EXPECT_EQ(a.samples[0].q, b.samples[0].q);
}

TEST(states, a_start_with_any_velocity_of_a_state_is_the_start) {
  const System system = read(motor);
  State wrong = system.start();
  wrong.qd(1) = 77.0;
  const Made a = run(system, wrong, {.to = 1.0}, {1.0}), b = run(system, system.start(), {.to = 1.0}, {1.0});
  EXPECT_EQ(a.samples[0].q, b.samples[0].q);
}

TEST(states, a_checkpoint_gives_the_same_bits) {
  const System system = read(std::string(motor) + "[events]\nhalf = { when = \"i - 0.5\" }\n");
  Integrator whole(system, system.start(), {.to = 2.0}), again(system, system.start(), {.to = 2.0});
  for (int k = 0; k < 20; ++k) whole.advance();
  again.restore(whole.checkpoint(), whole.events(), whole.notes());
  while (whole.advance()) {
  }
  while (again.advance()) {
  }
  EXPECT_EQ(whole.sample(2.0).q, again.sample(2.0).q);
  EXPECT_EQ(whole.statistics().steps, again.statistics().steps);
}

class Inputs : public testing::TestWithParam<const char*> {};

/// Changed at t = 1 from outside, and by `if` in the model.
TEST_P(Inputs, set_from_outside_are_those_that_switch_by_themselves) {
  const std::string rest = GetParam();
  const System outside = read(rest + "[inputs]\nU = 2\n");
  Integrator integrator(outside, outside.start(), {.to = 3.0, .tolerance = 1e-11, .largest_step = 1.0 / 64.0});
  std::vector<Sample> samples;
  double next = 1.5;
  bool changed = false;
  EXPECT_EQ(integrator.input("U"), 2.0);
  double when = 0.0;
  while (integrator.advance()) {
    for (; next <= integrator.t(); next += 0.5) samples.push_back(integrator.sample(next));
    if (!changed && integrator.t() >= 1.0) integrator.set_input("U", -3.0), changed = true, when = integrator.t();
  }
  ASSERT_FALSE(integrator.stop().failed()) << integrator.stop().message;
  EXPECT_TRUE(integrator.certificate().holds);
  EXPECT_EQ(integrator.input("U"), -3.0);
  const System same = read(rest + "[define]\nU = \"if(t < " + fmt::format("{:.17g}", when) + ", 2, -3)\"\n");
  const Made r = run(same, same.start(), {.to = 3.0, .tolerance = 1e-11}, {1.5, 2.0, 2.5, 3.0});
  ASSERT_EQ(samples.size(), 4u);
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_LT((samples[k].q - r.samples[k].q).cwiseAbs().maxCoeff(), 1e-9) << k;
    EXPECT_LT((samples[k].qd - r.samples[k].qd).cwiseAbs().maxCoeff(), 1e-8) << k;
    EXPECT_NEAR(samples[k].works.given, r.samples[k].works.given, 1e-8) << k;
  }
}
INSTANTIATE_TEST_SUITE_P(
    models, Inputs,
    testing::Values(
        "coordinates = [\"x\"]\n[dynamics]\nkinetic = \"x'^2/2\"\nforce = { x = \"i - x'\" }\n"
        "[states]\ni = { rate = \"U - i - x'\" }\n",
        "coordinates = [\"x\", \"y\"]\n[dynamics]\nkinetic = \"(x'^2 + y'^2)/2\"\nforce = { x = \"U\" }\npotential = "
        "\"9.81*y\"\n"
        "[constraints]\nrod = \"x^2 + y^2 = 1\"\n[start]\nposition = { y = -1 }\n",
        "coordinates = [\"y\"]\n[dynamics]\nkinetic = \"y'^2/2\"\nforce = { y = \"-10 + 2*U\" }\n"
        "[constraints]\nfloor = { equation = \"y >= 0\", restitution = 0.5 }\n[start]\nposition = { y = 0.4 }\n"));

TEST(inputs, that_are_not_there_are_refused_by_name) {
  const System system =
      read("[inputs]\nU = 1\n[parameters]\np = 2\ndouble = \"2*U\"\n[states]\nz = { rate = \"U - p*z\" }\n");
  Integrator integrator(system, system.start(), {.to = 1.0});
  EXPECT_THROW(integrator.set_input("p", 1.0), std::invalid_argument);
  EXPECT_THROW(integrator.set_input("U", std::nan("")), std::invalid_argument);
  EXPECT_THROW(integrator.set_input("U", 2.0), std::invalid_argument);  // `double` is made of it
}

TEST(inputs, a_constraint_that_no_longer_holds_ends_the_motion) {
  const System system =
      read("coordinates = [\"x\"]\n[inputs]\na = 0\n[dynamics]\nkinetic = \"x'^2/2\"\n[constraints]\nc = \"x = a\"\n");
  Integrator integrator(system, system.start(), {.to = 1.0});
  integrator.advance();
  integrator.set_input("a", 0.5);
  EXPECT_FALSE(integrator.advance());
  EXPECT_EQ(integrator.stop().reason, StopReason::contradiction);
  EXPECT_NE(integrator.stop().message.find("`c`"), std::string::npos) << integrator.stop().message;
}

}  // namespace
}  // namespace mechanician
