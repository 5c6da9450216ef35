// Events: none is so short that a step leaps over it, and what is zero up to what is known of it makes none.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "mechanician/base/trials_for_test.hpp"
#include "mechanician/motion/integrator.hpp"
#include "mechanician/motion/motion_for_test.hpp"

namespace mechanician {
namespace {

/// A mass on a line that moves by itself; N of them, which are not written out.
std::string free_masses(int count, const std::string& events) {
  return fmt::format(R"toml(
coordinates = ["x[1..{}]"]
[dynamics]
kinetic = "sum(i = 1..{}, x[i]'^2/2)"
[start.velocity]
"x[i]" = {{ for = "i = 1..{}", value = 1 }}
[events]
{}
)toml",
                     count, count, count, events);
}

TEST(EventSearch, no_event_is_too_short_to_be_found) {
  const char* const forms[] = {"exp(-((x - {0})/{1})^2) - 0.5",
                               "{1}^2*0.6931471805599453 - (x - {0})^2",
                               "if(abs(x - {0}) < {1}*0.8325546111576977, 1, -1)",
                               "max(0.5, min(1.5, 1 + (1 - ((x - {0})/{1})^2/0.6931471805599453)/2)) - 1",
                               "1/(1 + ((x - {0})/{1})^2/0.6931471805599453) - 0.5",
                               "0.5 - tanh(((x - {0})/{1})^2*0.7925)"};
  for (unsigned seed = 0; seed < num_trials(120); ++seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> part(0.0, 1.0);
    const double where = 1.0 + 98.0 * part(random), width = std::pow(10.0, -5.0 + 5.0 * part(random));
    const char* const form = forms[seed % std::size(forms)];
    const std::string when = fmt::format(fmt::runtime(form), where, width);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << when);
    const Loaded model = line("0", "velocity = { x = 1 }", "[events]\nin = { when = \"" + when + "\" }\n");
    Integrator integrator = model.integrator({.to = 100.0, .tolerance = 1e-9});
    run_to_end(integrator);
    ASSERT_EQ(integrator.events().size(), 2u);
    const double half =
        seed % std::size(forms) == 5 ? std::sqrt(std::atanh(0.5) / 0.7925) * width : 0.8325546111576977 * width;
    // At the end of a step it is known of x, and so of the time, up to the tolerance only whether it has passed.
    const double known = 1e-9 * where + 1e-9;
    EXPECT_NEAR(integrator.events()[0].time, where - half, known);
    EXPECT_NEAR(integrator.events()[1].time, where + half, known);
  }
}

TEST(EventSearch, no_event_of_a_family_is_too_short_to_be_found) {
  for (const auto& [count, numbers] :
       {std::pair(3, System::Numbers::written_out), {3, System::Numbers::kernels}, {1001, System::Numbers::kernels}}) {
    const std::string text = free_masses(count, fmt::format(R"toml(
one = {{ when = "exp(-((x[2] - 51.2345)/0.01)^2) - 0.5", do = "stop" }}
[events.all]
for = "i = {}..{}"
when = "exp(-((x[i] - 20.123)/0.001)^2) - 0.5"
direction = "up"
)toml",
                                                            count, count));
    const System system(read_family_model_text(text, "test.toml"), numbers);
    Integrator integrator(system, system.start(), {.to = 100.0, .tolerance = 1e-9});
    while (integrator.advance()) {
    }
    EXPECT_EQ(integrator.stop().reason, StopReason::event) << count;
    EXPECT_NEAR(integrator.t(), 51.2345 - 0.01 * std::sqrt(std::log(2.0)), 1e-8);
    ASSERT_EQ(integrator.events().size(), 2u);
    EXPECT_NEAR(integrator.events()[0].time, 20.123 - 0.001 * std::sqrt(std::log(2.0)), 1e-8);
  }
}

/// Switches of forces are found in the same way: a push of 1 for a width of w gives v² = 1 + 2w.
TEST(EventSearch, no_switch_is_too_short_to_be_found) {
  for (unsigned seed = 0; seed < num_trials(40); ++seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> part(0.0, 1.0);
    const double where = 1.0 + 90.0 * part(random), width = std::pow(10.0, -4.0 + 4.0 * part(random));
    const Loaded model = line(fmt::format("if(abs(x - {}) < {}, 1, 0)", where, 0.5 * width), "velocity = { x = 1 }");
    Integrator integrator = model.integrator({.to = 95.0, .tolerance = 1e-9});
    EXPECT_NEAR(run_to_end(integrator).qd(0), std::sqrt(1.0 + 2.0 * width), 1e-8) << "seed " << seed;
  }
}

/// A crank that a cylinder brings to rest: from then on its velocity is rounding.
TEST(EventSearch, what_is_zero_up_to_rounding_makes_no_events) {
  const Loaded model(R"toml(
coordinates = ["a"]
[define]
s = "min(t/4, 1)"
[dynamics]
kinetic = "a'^2/2"
[constraints]
cylinder = "hypot(2.6*cos(a) - 0.4, 2.6*sin(a) + 0.8) = 2.78 + 0.5*s^3*(10 - 15*s + 6*s^2)"
[start]
position = { a = 0.5 }
[events]
peak = { when = "cos(a)*a'", direction = "down" }
speed = { when = "a'" }
)toml");
  State start = model.start;
  // On the constraint: 2.78 from (0.4, −0.8) to the end of the crank.
  double low = 0.0, high = 1.5;
  for (int k = 0; k < 100; ++k) {
    const double a = 0.5 * (low + high), r = std::hypot(2.6 * std::cos(a) - 0.4, 2.6 * std::sin(a) + 0.8);
    (r < 2.78 ? low : high) = a;
  }
  start.q(0) = low;
  for (const double tolerance : {1e-6, 1e-9, 1e-12}) {
    Integrator integrator(model.system, start, {.to = 40.0, .tolerance = tolerance});
    run_to_end(integrator);
    ASSERT_EQ(integrator.stop().reason, StopReason::reached_end) << integrator.stop().message;
    EXPECT_TRUE(integrator.events().empty()) << integrator.events().size() << " events at tolerance " << tolerance;
  }
}

/// Hanging masses at rest, and such that were brought to rest by damping: nothing that is left of their motion is an event.
TEST(EventSearch, what_rests_makes_no_events) {
  for (unsigned seed = 0; seed < num_trials(60); ++seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> part(0.0, 1.0);
    const double length = 0.5 + part(random), swing = seed % 2 == 0 ? 0.0 : 0.5 * part(random);
    const Loaded model(fmt::format(R"toml(
coordinates = ["x", "y", "u", "v"]
[dynamics]
kinetic = "(x'^2 + y'^2 + u'^2 + v'^2)/2"
potential = "9.81*(y + v)"
force = {{ x = "-8*x'", y = "-8*y'", u = "-8*u'", v = "-8*v'" }}
[constraints]
first = "x^2 + y^2 = {0}^2"
second = "(u - x)^2 + (v - y)^2 = 1"
[start]
position = {{ x = "{0}*sin({1})", y = "-{0}*cos({1})", u = "{0}*sin({1})", v = "-1 - {0}*cos({1})" }}
[events]
still = {{ when = "x'" }}
down = {{ when = "y' + v'" }}
across = {{ when = "u*v' - v*u'" }}
)toml",
                                   length, swing));
    Integrator integrator = model.integrator({.to = 200.0, .tolerance = 1e-8});
    run_to_end(integrator);
    ASSERT_EQ(integrator.stop().reason, StopReason::reached_end) << integrator.stop().message;
    // Swings that are strongly damped come to rest after a few passes.
    EXPECT_LE(integrator.events().size(), swing == 0.0 ? 0u : 40u) << "seed " << seed;
  }
}

}  // namespace
}  // namespace mechanician
