// Nothing narrow is stepped over, as a law: random barriers, wells, steps and bumps of widths from 1e-6 to 1, alone or several, as
// potentials, forces, masses and constraints, in one coordinate or beside others. Energy is conserved, so where the motion goes is known
// exactly: over what is lower than its energy, with the speed it had, and back from what is higher.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "mechanician/base/trials_for_test.hpp"
#include "mechanician/motion/dynamics.hpp"
#include "mechanician/motion/motion_for_test.hpp"

namespace mechanician {
namespace {

/// A bump of height 1 and width about 1 around 0, as a text of z and as a function; beyond `reach` it is nothing.
struct Shape {
  const char* text;
  double (*value)(double);
  double reach;
  bool cancels = false;  ///< far away it is a difference of large numbers: times a large mass its rounding counts
};
const Shape shapes[] = {
    {"exp(-({0})^2)", [](double z) { return std::exp(-z * z); }, 6.0},
    {"(1 - tanh({0})^2)", [](double z) { return 1.0 - std::tanh(z) * std::tanh(z); }, 18.0},
    {"1/(1 + ({0})^4)", [](double z) { return 1.0 / (1.0 + z * z * z * z); }, 3e3},
    {"(tanh({0} + 2) - tanh({0} - 2))/(2*tanh(2))",
     [](double z) { return (std::tanh(z + 2.0) - std::tanh(z - 2.0)) / (2.0 * std::tanh(2.0)); }, 18.0},
    {"(1 - tanh(2*(({0})^2 - 2)))/(1 + tanh(4))",
     [](double z) { return (1.0 - std::tanh(2.0 * (z * z - 2.0))) / (1.0 + std::tanh(4.0)); }, 4.0},
    {"exp(-sqrt(1 + 4*({0})^2) + 1)", [](double z) { return std::exp(1.0 - std::sqrt(1.0 + 4.0 * z * z)); }, 20.0},
    {"(1 + ({0})^2)^(-3)", [](double z) { return std::pow(1.0 + z * z, -3.0); }, 500.0},
    {"(hypot({0} - 1, 0.1) + hypot({0} + 1, 0.1) - 2*sqrt(({0})^2 + 0.01))/(2*sqrt(1.01) - 0.2)",
     [](double z) {
       return (std::hypot(z - 1.0, 0.1) + std::hypot(z + 1.0, 0.1) - 2.0 * std::hypot(z, 0.1)) /
              (2.0 * std::sqrt(1.01) - 0.2);
     },
     300.0, true},
    {"2*atan(exp(-({0})^2))*2/pi", [](double z) { return 4.0 / M_PI * std::atan(std::exp(-z * z)); }, 6.0},
};

class Maker {
 public:
  explicit Maker(unsigned seed) : random_(seed) {}
  double between(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_); }
  double in_powers(double low, double high) { return std::exp(between(std::log(low), std::log(high))); }
  int below(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }

 private:
  std::mt19937_64 random_;
};

/// A particle that moves from 0 with a speed, and what lies on its way.
struct Course {
  struct Thing {
    const Shape* shape;
    double place, width, height;  ///< height: in kinetic energies of the start
  };
  std::vector<Thing> things;
  double speed = 1.0, to = 0.0;

  std::string sum(const std::string& x, double unit) const {
    std::string text;
    for (const Thing& thing : things)
      text += fmt::format("{}({:.17g})*{}", text.empty() ? "" : " + ", thing.height * unit,
                          fmt::format(fmt::runtime(thing.shape->text),
                                      fmt::format("(({} - {:.17g})/{:.17g})", x, thing.place, thing.width)));
    return text;
  }
  /// The first that is higher than the energy; null: none.
  const Thing* turning() const {
    for (const Thing& thing : things)
      if (thing.height > 1.0) return &thing;
    return nullptr;
  }
};

Course make_course(Maker& make) {
  Course course;
  course.speed = make.in_powers(0.01, 100.0);
  const int count = 1 + make.below(3);
  double place = 0.0;
  for (int i = 0; i < count; ++i) {
    const Shape& shape = shapes[make.below(std::size(shapes))];
    const double width = make.in_powers(1e-6, std::min(1.0, 10.0 / shape.reach));
    place += shape.reach * width + make.in_powers(3.0, 60.0) + shape.reach * width;
    const double height = make.below(4) == 0   ? -make.in_powers(0.1, 3.0)
                          : make.below(2) == 0 ? make.between(0.1, 0.9)
                                               : make.between(1.1, 3.0);
    course.things.push_back({&shape, place, width, height});
  }
  course.to = 2.0 * (place + 5.0) / course.speed;
  return course;
}

struct Ended {
  double x, v;
  std::string doubt;  ///< why the certificate does not hold; empty: it does
};
Ended run(const std::string& toml, double to, double tolerance, Method method = Method::automatic) {
  const Loaded model(toml);
  Integrator motion = model.integrator({.to = to, .tolerance = tolerance, .method = method});
  const Sample end = run_to_end(motion);
  EXPECT_EQ(motion.stop().reason, StopReason::reached_end) << motion.stop().message << toml;
  const Certificate c = motion.certificate();
  return {end.q(model.at("x")), end.qd(model.at("x")), c.holds ? "" : c.reasons.front()};
}

std::string text_of(const std::string& coordinates, const std::string& kinetic, const std::string& rest,
                    const std::string& velocity, const std::string& position = "") {
  return fmt::format(
      "coordinates = [{}]\n[dynamics]\nkinetic = \"{}\"\n{}\n[start]\nvelocity = {{ {} }}\nposition = {{ {} }}\n",
      coordinates, kinetic, rest, velocity, position);
}

/// ∫ f(z) dz where f comes to nothing beyond so many widths.
double integrate(const std::function<double(double)>& f, double reach) {
  constexpr int pieces = 4000;
  const double end = std::asinh(4.0 * reach);
  double sum = 0.0;  // by the trapezoidal rule, whose ends are nothing
  for (int k = -pieces; k <= pieces; ++k) sum += f(std::sinh(end * k / pieces)) * std::cosh(end * k / pieces);
  return sum * end / pieces;
}

/// Back with the speed it had; or on with it, later by what `late` says of each thing, in ways.
void expect_course(const Course& course, const Ended& end, double tolerance, const std::string& of,
                   const std::function<double(const Course::Thing&)>& late) {
  const Course::Thing* turning = course.turning();
  const double off = std::max(1e-6, 3e3 * tolerance);
  if (turning) {
    EXPECT_NEAR(end.v, -course.speed, off * course.speed) << of;
    EXPECT_LT(end.x, turning->place) << of;
  } else {
    double x = course.speed * course.to;
    for (const Course::Thing& thing : course.things) x -= late(thing);
    EXPECT_NEAR(end.v, course.speed, off * course.speed) << of;
    EXPECT_NEAR(end.x, x, off * course.speed * course.to) << of;
  }
  EXPECT_EQ(end.doubt, "") << of;
}

constexpr double tolerances[] = {1e-6, 1e-8, 1e-10};

/// From v² = v₀²(1 − h g(z)).
double late_by_height(const Course::Thing& thing) {
  return thing.width *
         integrate([&](double z) { return 1.0 / std::sqrt(1.0 - thing.height * thing.shape->value(z)) - 1.0; },
                   thing.shape->reach);
}

TEST(Narrow, barriers_of_random_shapes_turn_back_or_let_pass) {
  for (unsigned seed = 0; seed < num_trials(600) && !testing::Test::HasFailure(); ++seed) {
    Maker make(seed);
    const Course course = make_course(make);
    const double mass = make.in_powers(0.1, 10.0), tolerance = tolerances[make.below(3)];
    const std::string energy = course.sum("x", 0.5 * mass * course.speed * course.speed);
    const bool beside = make.below(3) == 0;
    const std::string toml =
        text_of(beside ? "\"x\", \"y\"" : "\"x\"", fmt::format("{:.17g}*x'^2/2{}", mass, beside ? " + y'^2/2" : ""),
                fmt::format("potential = \"{}{}\"", energy, beside ? " + y^2/2" : ""),
                fmt::format("x = {:.17g}", course.speed), beside ? "y = 1" : "");
    expect_course(course, run(toml, course.to, tolerance), tolerance, fmt::format("seed {}: {}", seed, toml),
                  late_by_height);
  }
}

/// On a wire that bends upwards, under gravity: height is energy.
TEST(Narrow, bumps_of_wires_turn_back_or_let_pass) {
  for (unsigned seed = 0; seed < num_trials(150) && !testing::Test::HasFailure(); ++seed) {
    Maker make(seed);
    Course course = make_course(make);
    constexpr double gravity = 9.81, steepest = 100.0;
    const double unit = 0.5 * course.speed * course.speed / gravity, tolerance = tolerances[make.below(2)];
    for (Course::Thing& thing : course.things)
      thing.width = std::max(thing.width, unit * std::abs(thing.height) / steepest),
      thing.height = thing.height < 0.0 ? std::max(thing.height, -0.9) : thing.height;
    double place = 0.0;
    for (Course::Thing& thing : course.things) {
      place += 2.0 * thing.shape->reach * thing.width + 3.0;
      thing.place = place;
    }
    std::string toml = text_of("\"x\", \"y\"", "x'^2/2 + y'^2/2", fmt::format("potential = \"{:.17g}*y\"", gravity),
                               fmt::format("x = {:.17g}", course.speed));
    toml += fmt::format("[constraints]\nwire = \"y = {}\"\n", course.sum("x", unit));
    const auto late = [&](const Course::Thing& thing) {
      return thing.width *
             integrate(
                 [&](double z) {
                   constexpr double d = 1e-5;
                   const double slope = unit * thing.height / thing.width *
                                        (thing.shape->value(z + d) - thing.shape->value(z - d)) / (2.0 * d);
                   return std::sqrt((1.0 + slope * slope) / (1.0 - thing.height * thing.shape->value(z))) - 1.0;
                 },
                 thing.shape->reach);
    };
    // The way up takes its time too.
    course.to = 2.5 * (place + 5.0) / course.speed;
    for (const Course::Thing& thing : course.things)
      course.to += (thing.height > 1.0 ? 20.0 * unit * thing.height : std::max(late(thing), 0.0)) / course.speed;
    expect_course(course, run(toml, course.to, tolerance), tolerance, fmt::format("seed {}: {}", seed, toml), late);
  }
}

/// Where the mass is large the motion is slow, and keeps its energy.
TEST(Narrow, masses_that_grow_hold_up) {
  for (unsigned seed = 0; seed < num_trials(150) && !testing::Test::HasFailure(); ++seed) {
    Maker make(seed);
    Course course = make_course(make);
    for (Course::Thing& thing : course.things) {
      if (thing.shape->cancels) thing.shape = &shapes[0];
      thing.height = -make.in_powers(1.0, std::min(1e6, 30.0 / thing.width));
    }
    const double tolerance =
        tolerances[1 + make.below(2)];  // what is slow where it is heavy has a small part of the speed
    const std::string toml = text_of("\"x\"", fmt::format("(1 - ({}))*x'^2/2", course.sum("x", 1.0)), "",
                                     fmt::format("x = {:.17g}", course.speed));
    const auto late = [](const Course::Thing& thing) {
      return thing.width *
             integrate([&](double z) { return std::sqrt(1.0 - thing.height * thing.shape->value(z)) - 1.0; },
                       thing.shape->reach);
    };
    double held_up = 0.0;
    for (const Course::Thing& thing : course.things) held_up += late(thing);
    course.to += held_up / course.speed;
    expect_course(course, run(toml, course.to, tolerance), tolerance, fmt::format("seed {}: {}", seed, toml), late);
  }
}

/// Pulses of time, and forces that switch on for a moment or along a little way: ∫F dt and ∫F dx are known.
TEST(Narrow, pulses_push) {
  for (unsigned seed = 0; seed < num_trials(150) && !testing::Test::HasFailure(); ++seed) {
    Maker make(seed);
    const double width = make.in_powers(1e-6, 1.0), at = make.between(20.0, 80.0), push = make.between(0.2, 3.0),
                 tolerance = tolerances[make.below(3)];
    const int kind = make.below(5);
    const double height = push / width;
    const char* const forces[] = {"{0}*exp(-((t - {1})/{2})^2)/sqrt(pi)", "{0}*if(abs(t - {1}) < {2}, 1/2, 0)",
                                  "{0}*if((t - {1})^2 < {2}^2, 1/2, 0)", "{0}*if(abs(x - {1}) < {2}, 1/2, 0)",
                                  "{0}*if((x - {1})^2 < {2}^2, 1/2, 0)"};
    const std::string toml = text_of(
        "\"x\"", "x'^2/2",
        fmt::format("force = {{ x = \"{}\" }}", fmt::format(fmt::runtime(forces[kind]), height, at, width)), "x = 1");
    const Ended end = run(toml, 100.0, tolerance);
    const double expected = kind < 3 ? 1.0 + push : std::sqrt(1.0 + 2.0 * push);
    EXPECT_NEAR(end.v, expected, std::max(1e-6, 1e3 * tolerance)) << "seed " << seed << ": " << toml;
    EXPECT_EQ(end.doubt, "") << "seed " << seed << ": " << toml;
  }
}

TEST(Narrow, the_implicit_method_steps_over_nothing) {
  for (unsigned seed = 0; seed < num_trials(60) && !testing::Test::HasFailure(); ++seed) {
    Maker make(seed);
    const Course course = make_course(make);
    constexpr double tolerance = 1e-8;
    const std::string toml = text_of(
        "\"x\"", "x'^2/2", fmt::format("potential = \"{}\"", course.sum("x", 0.5 * course.speed * course.speed)),
        fmt::format("x = {:.17g}", course.speed));
    const Ended end = run(toml, course.to, tolerance, Method::bdf);
    EXPECT_NEAR(end.v, course.turning() ? -course.speed : course.speed, 1e-3 * course.speed)
        << "seed " << seed << ": " << toml;
  }
}

/// Of a thousand particles one is turned back.
TEST(Narrow, members_of_families_are_not_stepped_over) {
  for (const double width : {1e-2, 1e-4, 1e-6}) {
    const System system(read_family_model_text(fmt::format(R"toml(
coordinates = ["x[1..N]"]
[parameters]
N = 1001
w = {}
[dynamics]
kinetic = "sum(i = 1..N, x[i]'^2/2)"
potential = "sum(i = 1..N, 0.25*(1 + 2*exp(-(i - 700)^2))*exp(-((x[i] - 50)/w)^2))"
[start.velocity]
"x[i]" = {{ for = "i = 1..N", value = 1 }}
)toml",
                                                           width),
                                               "m.toml"),
                        System::Numbers::kernels);
    Integrator motion(system, system.start(), {.to = 100.0, .tolerance = 1e-8});
    const Sample end = run_to_end(motion);
    ASSERT_EQ(motion.stop().reason, StopReason::reached_end) << motion.stop().message;
    EXPECT_TRUE(motion.certificate().holds);
    for (Eigen::Index i = 0; i < end.qd.size(); ++i) ASSERT_NEAR(end.qd(i), i == 699 ? -1.0 : 1.0, 1e-5) << i;
  }
}

/// A floor with a spike: what flies lower than its tip hits it, also a little lower where the tip is a kink, or where another one of the same
/// step follows.
TEST(Narrow, floors_with_spikes_are_hit) {
  const char* const spikes[] = {"{0}*exp(-((x - 37)/{1})^2)",
                                "max(0, {0}*(1 - abs(x - 37)/{1}))",
                                "{0}*max(0, 1 - abs((x - 37)/{1}))",
                                "if(abs(x - 37) < {1}, {0}, 0)",
                                "{0}*if((x - 37)^2 < {1}^2, 1, 0)",
                                "{0}*(1 - min(1, abs(x - 37)/{1}))",
                                "f(x)",
                                "{0} + f(x) - {0}",
                                "{0}*max(0, 1 - mod(x + 63, 100)/{1})",
                                "max(f(x), 3*(x - 38))"};
  const char* const interpolations[] = {"linear", "monotone", "steps"};
  for (unsigned seed = 0; seed < num_trials(120) && !testing::Test::HasFailure(); ++seed) {
    Maker make(seed);
    const int kind = make.below(10);
    // Behind a face that is upright, a steep one is within the tolerance of being passed.
    const double width = make.in_powers(kind == 8 ? 1e-2 : 1e-6, 0.3),
                 height = make.below(2) == 0 ? make.between(0.9, 0.99) : make.between(1.01, 1.1);
    std::string toml = text_of("\"x\", \"y\"", "x'^2/2 + y'^2/2", "", "x = 1", "y = 1");
    toml += fmt::format("[constraints]\nfloor = {{ equation = \"y >= {}\", restitution = 1 }}\n",
                        fmt::format(fmt::runtime(spikes[kind]), height, width));
    toml += fmt::format(
        "[tables.f]\npoints = [[-300, 0], [{0}, 0], [37, {2}], [{1}, 0], [300, 0]]\ninterpolation = \"{3}\"\n",
        37.0 - width, 37.0 + width, height, interpolations[make.below(3)]);
    const Loaded model(toml);
    Integrator motion = model.integrator({.to = 100.0, .tolerance = 1e-8});
    const Sample end = run_to_end(motion);
    // What jumps stops the motion.
    const bool hits = height > 1.0 || kind == 9;
    if (!hits) {
      EXPECT_EQ(motion.stop().reason, StopReason::reached_end)
          << "seed " << seed << ": " << motion.stop().message << toml;
    }
    EXPECT_EQ(motion.stop().reason == StopReason::reached_end && end.qd(0) > 0.999 && motion.events().empty(), !hits)
        << "seed " << seed << ": " << toml;
  }
}

/// What is not narrow takes the steps that it took: nothing is looked for, and nothing costs.
TEST(Narrow, models_without_narrow_functions_know_nothing_of_it) {
  const Loaded plain("coordinates = [\"x\"]\n[dynamics]\nkinetic = \"x'^2/2\"\npotential = \"sin(x)^2 + x^4\"\n");
  EXPECT_FALSE(Dynamics(plain.system).facts().can_be_narrow);
  const Loaded narrow("coordinates = [\"x\"]\n[dynamics]\nkinetic = \"x'^2/2\"\npotential = \"exp(x)\"\n");
  EXPECT_TRUE(Dynamics(narrow.system).facts().can_be_narrow);
}

}  // namespace
}  // namespace mechanician
