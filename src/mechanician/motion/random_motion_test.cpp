// Random models, moved: motions at different tolerances and by different methods agree, and agree with reductions.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "mechanician/motion/motion_for_test.hpp"
#include "mechanician/motion/random_model_for_test.hpp"

namespace mechanician {
namespace {

struct Outcome {
  double t = 0.0;
  Eigen::VectorXd q;
  Stop stop;
  bool holds = false;
  long crossings = 0;
  std::string reason;
};

Outcome move(const System& system, const State& start, const MotionOptions& options) {
  Integrator integrator(system, start, options);
  long steps = 0;
  while (steps++ < 20'000 && integrator.advance()) {
  }
  const Certificate certificate = integrator.certificate();
  return {integrator.t(),
          integrator.sample(integrator.t()).q,
          integrator.stop(),
          certificate.holds,
          integrator.statistics().crossings,
          certificate.reasons.empty() ? "" : certificate.reasons[0]};
}

double distance(const Outcome& a, const Outcome& b) {
  return (a.q - b.q).cwiseAbs().cwiseQuotient(b.q.cwiseAbs().cwiseMax(1.0)).maxCoeff();
}

TEST(RandomMotion, of_smooth_systems_of_every_kind_is_the_same_at_all_tolerances) {
  const Features kinds[] = {
      {.holonomic = 0},
      {.holonomic = 2},
      {.matrices = true, .rheonomic = true},
      {.rheonomic = true, .holonomic = 2},
      {.holonomic = 1, .nonholonomic = 1},
      {.rheonomic = true, .holonomic = 0, .nonholonomic = 2, .nonlinear = true},
      {.rheonomic = true, .holonomic = 2, .nonholonomic = 1, .redundant = 1},
      {.rheonomic = true, .holonomic = 1, .nonholonomic = 1, .redundant = 1, .singular_mass = true},
      {.rheonomic = true, .holonomic = 1, .acceleration = true},
      {.rheonomic = true, .holonomic = 2, .reactions = true},
      {.rheonomic = true, .holonomic = 1, .nonholonomic = 1, .reactions = true, .control = 1}};
  for (std::size_t kind = 0; kind < std::size(kinds); ++kind)
    for (unsigned seed = 1; seed <= 2; ++seed) {
      SCOPED_TRACE(testing::Message() << "kind " << kind << ", seed " << seed);
      const RandomSystem random(seed, kinds[kind]);
      if (!random.good()) continue;
      const double to = random.state().t + 1.0;
      const Outcome fine = move(random.system, random.state(), {.to = to, .tolerance = 1e-10}),
                    coarse = move(random.system, random.state(), {.to = to, .tolerance = 1e-6}),
                    implicit =
                        move(random.system, random.state(), {.to = to, .tolerance = 1e-6, .method = Method::bdf});
      for (const Outcome* outcome : {&fine, &coarse, &implicit}) {
        ASSERT_EQ(outcome->stop.reason, StopReason::reached_end) << outcome->stop.message;
        EXPECT_TRUE(outcome->holds) << outcome->reason;
      }
      EXPECT_LT(distance(coarse, fine), 1e-3);
      EXPECT_LT(distance(implicit, fine), 1e-3);
    }
}

/// Text of a model whose forces have kinks and jumps.
class KinkedModel {
 public:
  explicit KinkedModel(unsigned seed) : random_(seed) {}

  Loaded make() {
    std::string text = "coordinates = [\"x\", \"y\", \"z\"]\n[dynamics]\nkinetic = \"(x'^2 + 2*y'^2 + z'^2)/2\"\n";
    const std::string fx = fmt::format("-x - 0.1*x' + {}*{}", number(), kink()),
                      fy = fmt::format("-2*y + {}*{}", number(), kink()),
                      fz = fmt::format("-z - 0.2*z' + {}*{} + {}*{}", number(), kink(), number(), kink());
    text += fmt::format("force = {{ x = \"{}\", y = \"{}\", z = \"{}\" }}\n", fx, fy, fz);
    const auto constraint = random_() % 4;
    if (constraint == 1) text += "[constraints]\nw = \"z = x*abs(x)/2 + y\"\n";
    if (constraint == 2) text += "[constraints]\nw = \"z' = x' + 0.3*abs(y)*y'\"\n";
    if (constraint == 3)
      text += "[constraints]\nw = \"z = 0.5*sin(x) + 0.2*max(y, 0)^3\"\n[nonideal]\nx = \"-0.2*abs(ideal(z))*x'\"\n";
    Loaded model(text);
    const double vx = draw(-1.0, 1.0), vy = draw(-1.0, 1.0), vz[] = {0.0, vy, vx, 0.5 * vx};
    model.start.qd << vx, vy, vz[constraint];
    return model;
  }

 private:
  double draw(double from, double to) { return std::uniform_real_distribution<double>(from, to)(random_); }
  std::string number() { return fmt::format("{:.3f}", draw(-1.5, 1.5)); }
  char variable() { return "xyz"[random_() % 3]; }
  std::string argument() {
    const char a = variable(), b = variable();
    const std::string c = number();
    switch (random_() % 5) {
      case 0:
        return fmt::format("{} - ({})", a, c);
      case 1:
        return fmt::format("{}' - ({})", a, c);
      case 2:
        return fmt::format("{} + {}*{}", a, c, b);
      case 3:
        return fmt::format("sin(3*t) - ({})", c);
      default:
        return fmt::format("{}*{} - ({})", a, b, c);
    }
  }
  std::string kink() {
    const std::string g = argument(), h = argument(), a = number(), b = number();
    switch (random_() % 7) {
      case 0:
        return fmt::format("abs({})", g);
      case 1:
        return fmt::format("sign({})", g);
      case 2:
        return fmt::format("max({}, {})", g, a);
      case 3:
        return fmt::format("min({}, {})", g, h);
      case 4:
        return fmt::format("if({} < {}, {}, 0.5)", g, a, b);
      case 5:
        return fmt::format("abs(abs({}) - 0.5)", g);
      default:
        return fmt::format("if({} > 0 and {} < 0.5, {}, {})", g, h, a, b);
    }
  }

  std::mt19937_64 random_;
};

TEST(RandomMotion, with_kinks_and_jumps_is_the_same_at_all_tolerances_or_slides_at_the_same_time) {
  int moved = 0;
  for (unsigned seed = 1; seed <= 36; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Loaded model = KinkedModel(seed).make();
    const Outcome fine = move(model.system, model.start, {.to = 3.0, .tolerance = 1e-10}),
                  coarse = move(model.system, model.start, {.to = 3.0, .tolerance = 1e-6}),
                  implicit = move(model.system, model.start, {.to = 3.0, .tolerance = 1e-7, .method = Method::bdf});
    EXPECT_TRUE(fine.stop.reason == StopReason::reached_end || fine.stop.reason == StopReason::sliding)
        << fine.stop.message;
    for (const Outcome* other : {&coarse, &implicit}) {
      EXPECT_EQ(other->stop.reason, fine.stop.reason) << other->stop.message << "\n" << fine.stop.message;
      EXPECT_NEAR(other->t, fine.t, 1e-2);
      if (fine.stop.reason == StopReason::reached_end) {
        EXPECT_LT(distance(*other, fine), 1e-3);
        EXPECT_TRUE(other->holds) << other->reason;
      }
    }
    moved += fine.stop.reason == StopReason::reached_end;
  }
  EXPECT_GT(moved, 18);
}

/// θ of a parallelogram whose pivots shake: θ″ = (Ẍ sin θ − g cos θ)/a; extended precision, steps of 4·10⁻⁴.
struct Reduction {
  long double a, g, amplitude, frequency, angle, rate;
  long crossings = 0;  ///< of the flat positions
  void move(long double to) {
    const int steps = 10'000;
    const long double h = to / steps;
    const auto f = [&](long double t, long double x) {
      return (-amplitude * frequency * frequency * std::sin(frequency * t) * std::sin(x) - g * std::cos(x)) / a;
    };
    for (int k = 0; k < steps; ++k) {
      const long double t = k * h, before = angle;
      const long double v1 = rate, a1 = f(t, angle), v2 = rate + h / 2 * a1, a2 = f(t + h / 2, angle + h / 2 * v1),
                        v3 = rate + h / 2 * a2, a3 = f(t + h / 2, angle + h / 2 * v2), v4 = rate + h * a3,
                        a4 = f(t + h, angle + h * v3);
      angle += h / 6 * (v1 + 2 * v2 + 2 * v3 + v4), rate += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
      crossings +=
          std::floor(before / std::numbers::pi_v<long double>) != std::floor(angle / std::numbers::pi_v<long double>);
    }
  }
};

TEST(RandomMotion, of_parallelograms_through_their_flat_positions_is_that_of_their_angle) {
  long crossings = 0;
  for (unsigned seed = 1; seed <= 15; ++seed) {
    std::mt19937_64 random(seed);
    const auto draw = [&](double from, double to) { return std::uniform_real_distribution<double>(from, to)(random); };
    const double a = draw(0.3, 2.0), d = seed % 5 == 0 ? a : draw(0.3, 3.0),
                 amplitude = seed % 2 == 0 ? draw(0.0, 0.5) : 0.0, frequency = draw(0.5, 4.0), angle = draw(-3.0, 3.0),
                 rate = draw(-8.0, 8.0), m0 = draw(0.3, 3.0), m1 = draw(0.3, 3.0);
    const std::string pivot = fmt::format("{:.17g}*sin({:.17g}*t)", amplitude, frequency);
    Loaded model(
        fmt::format(R"toml(
coordinates = ["x0", "y0", "x1", "y1"]
[dynamics]
kinetic = "{0}*(x0'^2 + y0'^2)/2 + {1}*(x1'^2 + y1'^2)/2"
potential = "9.81*({0}*y0 + {1}*y1)"
[constraints]
crank0 = "(x0 - {2})^2 + y0^2 = {3:.17g}"
crank1 = "(x1 - {4:.17g} - {2})^2 + y1^2 = {3:.17g}"
coupler = "(x1 - x0)^2 + (y1 - y0)^2 = {5:.17g}"
{6}
)toml",
                    m0, m1, pivot, a * a, d, d * d,
                    seed % 3 == 0 ? fmt::format("again = \"sqrt((x1 - x0)^2 + (y1 - y0)^2) = {:.17g}\"", d) : ""));
    const double c = a * std::cos(angle), s = a * std::sin(angle), moving = amplitude * frequency;
    model.start.q << c, s, d + c, s;
    model.start.qd << moving - s * rate, c * rate, moving - s * rate, c * rate;
    Reduction exact{a, 9.81L, amplitude, frequency, angle, rate};
    exact.move(4.0L);
    crossings += exact.crossings;
    for (const double tolerance : {1e-5, 1e-9}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", tolerance " << tolerance);
      const Outcome found = move(model.system, model.start, {.to = 4.0, .tolerance = tolerance});
      ASSERT_EQ(found.stop.reason, StopReason::reached_end) << found.stop.message;
      EXPECT_TRUE(found.holds) << found.reason;
      const double x = amplitude * std::sin(4.0 * frequency) + a * static_cast<double>(std::cos(exact.angle));
      EXPECT_NEAR(found.q(0), x, 1e3 * tolerance);
      EXPECT_NEAR(found.q(2) - found.q(0), d, 1e3 * tolerance);
      EXPECT_EQ(found.crossings, exact.crossings);
    }
  }
  EXPECT_GT(crossings, 40);
}

}  // namespace
}  // namespace mechanician
