#include "mechanician/motion/summary_watch.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "mechanician/model/read_model.hpp"
#include "mechanician/motion/motion.hpp"

namespace mechanician {
namespace {

constexpr double pi = std::numbers::pi;

std::vector<SummaryItem> every_kind() {
  std::vector<SummaryItem> items;
  for (const SummaryKind kind : {SummaryKind::max, SummaryKind::min, SummaryKind::mean, SummaryKind::rms,
                                 SummaryKind::integral, SummaryKind::time_of_max, SummaryKind::time_of_min})
    items.push_back({"a", kind});
  return items;
}

/// All kinds of one function, over steps of random length.
std::vector<double> summarise(const std::function<double(double)>& f, double end, unsigned seed, double longest = 0.7) {
  SummaryWatch watch(every_kind(), 0.0, 1e-10);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> length(0.01, longest);
  for (double t = 0.0; t < end;) {
    const double next = std::min(end, t + length(random));
    watch.look(t, next, [&](double time, std::span<double> to) { std::fill(to.begin(), to.end(), f(time)); });
    t = next;
  }
  std::vector<double> values;
  for (const SummaryValue& v : watch.values()) values.push_back(v.value);
  return values;
}

TEST(SummaryWatch, an_oscillation_has_the_extremes_and_integrals_of_its_closed_form) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> draw(0.5, 3.0);
    const double a = draw(random), b = draw(random), w = draw(random), end = 10.0 + draw(random);
    const auto v = summarise([&](double t) { return a * std::cos(w * t) + b * std::sin(w * t) + 0.3; }, end, seed);
    const double r = std::hypot(a, b), phase = std::atan2(b, a);
    EXPECT_NEAR(v[0], r + 0.3, 1e-14 * r) << seed;
    EXPECT_NEAR(v[1], 0.3 - r, 1e-14 * r) << seed;
    const double integral = (a * std::sin(w * end) + b * (1 - std::cos(w * end))) / w;
    EXPECT_NEAR(v[4], integral + 0.3 * end, 1e-13 * r * end) << seed;
    EXPECT_NEAR(v[2], (integral + 0.3 * end) / end, 1e-13 * r) << seed;
    // ∫ r² cos²(w t − phase) = r²/2 (T + (sin 2(wT − phase) + sin 2 phase)/(2w))
    const double squares = r * r / 2 * (end + (std::sin(2 * (w * end - phase)) + std::sin(2 * phase)) / (2 * w)) +
                           0.6 * integral + 0.09 * end;
    EXPECT_NEAR(v[3], std::sqrt(squares / end), 1e-13 * r) << seed;
    EXPECT_NEAR(v[5], phase / w, 1e-9) << seed;  // the first of several
    EXPECT_NEAR(v[6], (phase + pi) / w, 1e-9) << seed;
  }
}

TEST(SummaryWatch, an_item_may_begin_later_than_the_motion) {
  // 1/(t − 1) has no value before it is looked at; the second item is looked at from the start on.
  SummaryWatch watch({{"late", SummaryKind::max}, {"all", SummaryKind::max}, {"mean", SummaryKind::mean}}, 0.0, 1e-10,
                     {2.3, 0.0, 2.3});
  for (const auto& [begin, end] : {std::pair(0.0, 1.0), {1.0, 2.0}, {2.0, 3.0}, {3.0, 4.0}}) {
    watch.look(begin, end, [&](double t, std::span<double> f) { f[0] = 1.0 / (t - 1), f[1] = std::exp(-t), f[2] = t; });
    if (end < 2.3) {
      EXPECT_TRUE(std::isnan(watch.values()[0].value));
    }
  }
  EXPECT_NEAR(watch.values()[0].value, 1 / 1.3, 1e-14);
  EXPECT_NEAR(watch.values()[1].value, 1.0, 1e-15);
  EXPECT_NEAR(watch.values()[2].value, (2.3 + 4.0) / 2, 1e-14);
  EXPECT_TRUE(watch.take_notes().empty());
}

TEST(SummaryWatch, kinks_and_jumps_count_on_both_sides) {
  // −|t − c| has its maximum at the kink; a jump to 5 at c is on its upper side there.
  for (unsigned seed = 1; seed <= 10; ++seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> draw(1.0, 4.0);
    const double c = draw(random);
    const auto kink = summarise([&](double t) { return 2.0 - std::abs(t - c); }, 5.0, seed);
    EXPECT_NEAR(kink[0], 2.0, 2e-11) << seed;
    EXPECT_NEAR(kink[5], c, 1e-9) << seed;
    EXPECT_NEAR(kink[4], 10.0 - c * c / 2 - (5 - c) * (5 - c) / 2, 1e-11) << seed;
    const auto jump = summarise([&](double t) { return t < c ? t : 5.0 - t; }, 5.0, seed);
    EXPECT_NEAR(jump[0], std::max(c, 5.0 - c), 2e-11) << seed;
    EXPECT_NEAR(jump[4], c * c / 2 + (5 - c) * (5 - c) / 2, 1e-11) << seed;
  }
}

TEST(SummaryWatch, a_quantity_without_a_value_has_no_summary_and_is_named_once) {
  SummaryWatch watch(every_kind(), 0.0, 1e-10);
  for (int k = 0; k < 3; ++k)
    watch.look(k, k + 1.0, [](double t, std::span<double> to) { std::fill(to.begin(), to.end(), std::sqrt(1.5 - t)); });
  for (const SummaryValue& v : watch.values()) EXPECT_TRUE(std::isnan(v.value));
  EXPECT_EQ(watch.take_notes().size(), every_kind().size());
  EXPECT_TRUE(watch.take_notes().empty());
}

/// A system of a text, at its start.
struct Case {
  System system;
  State start;
  explicit Case(const std::string& text) : system(read_family_model_text(text, "test.toml")), start(system.start()) {}
};

double value_of(const std::vector<SummaryValue>& values, const std::string& name) {
  for (const SummaryValue& v : values)
    if (v.name == name) return v.value;
  ADD_FAILURE() << name << " is not there";
  return 0.0;
}

constexpr const char* oscillator = R"toml(
coordinates = ["x"]
[dynamics]
kinetic = "x'^2/2"
potential = "2*x^2"
[start]
position = { x = 1 }
velocity = { x = 0.6 }
[outputs]
twice = "2*x"
[summary]
high = { max = "x" }
low  = { min = "x" }
fast = { max = "x'" }
hard = { max = "abs(x'')" }
when = { time_of_max = "x" }
area = { integral = "x" }
size = { rms = "x" }
far  = { mean = "abs(x)" }
)toml";

TEST(Summary, of_an_oscillator_is_that_of_its_closed_form) {
  const Case c(oscillator);
  const double end = 7.3, r = std::hypot(1.0, 0.3), phase = std::atan2(0.3, 1.0);
  const Motion motion = integrate(c.system, c.start, {.to = end, .tolerance = 1e-12});
  const auto& v = motion.summary();
  EXPECT_NEAR(value_of(v, "high"), r, 1e-10);
  EXPECT_NEAR(value_of(v, "low"), -r, 1e-10);
  EXPECT_NEAR(value_of(v, "fast"), 2 * r, 1e-10);
  EXPECT_NEAR(value_of(v, "hard"), 4 * r, 1e-9);
  EXPECT_NEAR(value_of(v, "when"), phase / 2, 1e-6);
  EXPECT_NEAR(value_of(v, "area"), r * (std::sin(2 * end - phase) + std::sin(phase)) / 2, 1e-9);
  const double squares = r * r / 2 * (end + (std::sin(2 * (2 * end - phase)) + std::sin(2 * phase)) / 4);
  EXPECT_NEAR(value_of(v, "size"), std::sqrt(squares / end), 1e-10);
  // ∫ |cos| over half a period is 2; the rest by the zeros.
  double sum = 0.0;
  for (int k = 0; k < 400000; ++k) sum += std::abs(r * std::cos(2 * end * (k + 0.5) / 400000 - phase));
  EXPECT_NEAR(value_of(v, "far"), sum / 400000, 1e-8);
  // Outputs are what they were: what is summed up is no column.
  EXPECT_EQ(c.system.output_names(), std::vector<std::string>{"twice"});
}

TEST(Summary, agrees_with_very_fine_samples_of_a_double_pendulum) {
  const Case c(R"toml(
coordinates = ["a", "b"]
[dynamics]
kinetic = "a'^2 + b'^2/2 + a'*b'*cos(a - b)"
potential = "-2*9.81*cos(a) - 9.81*cos(b)"
[start]
position = { a = 1.2, b = 0.7 }
[outputs]
f = "sin(a)*b'"
[summary]
high = { max = "sin(a)*b'" }
area = { integral = "sin(a)*b'" }
)toml");
  const Motion motion = integrate(c.system, c.start, {.to = 3.0, .tolerance = 1e-11});
  constexpr int count = 30000;
  double high = -1e300, area = 0.0;
  for (int k = 0; k <= count; ++k) {
    const double f = motion.sample(3.0 * k / count).outputs(0);
    high = std::max(high, f);
    area += f * (k == 0 || k == count ? 1.0 : k % 2 ? 4.0 : 2.0) / 3.0 * 3.0 / count;
  }
  EXPECT_NEAR(value_of(motion.summary(), "area"), area, 1e-9);
  EXPECT_GE(value_of(motion.summary(), "high"), high - 1e-12);
  EXPECT_LE(value_of(motion.summary(), "high"), high + 1e-5);
}

/// Peaks that lie between all samples of a step, by functions and by kinks.
TEST(Summary, of_quantities_that_are_narrow) {
  for (const double width : {1e-1, 1e-3, 1e-5, 1e-7})
    for (const char* const peak :
         {"exp(-((x - 37.1)/{0})^2)", "max(0, 1 - abs(x - 37.1)/{0})", "if(abs(x - 37.1) < {0}, 1, 0)",
          "1/(1 + ((x - 37.1)/{0})^4)", "0.5 + 0.5*tanh(3 - (x - 37.1)^2/{0}^2)"}) {
      const std::string f = fmt::format(fmt::runtime(peak), width);
      const Case model(fmt::format(R"toml(
coordinates = ["x"]
[dynamics]
kinetic = "x'^2/2"
[start]
velocity = {{ x = 1 }}
[summary]
most = {{ max = "{0}" }}
least = {{ min = "-({0})" }}
when = {{ time_of_max = "{0}" }}
sum = {{ integral = "{0}" }}
)toml",
                                   f));
      const std::vector<SummaryValue> values =
          integrate(model.system, model.start, {.to = 100.0, .tolerance = 1e-8}).summary();
      ASSERT_EQ(values.size(), 4u);
      EXPECT_NEAR(values[0].value, peak[0] == '0' ? 0.5 + 0.5 * std::tanh(3.0) : 1.0, 1e-8) << f;
      EXPECT_NEAR(values[1].value, -values[0].value, 1e-8) << f;
      EXPECT_NEAR(values[2].value, 37.1, 1.001 * width) << f;
      const double area = peak[0] == 'e'   ? std::sqrt(pi)
                          : peak[0] == 'm' ? 1.0
                          : peak[0] == 'i' ? 2.0
                          : peak[0] == '1' ? pi / std::sqrt(2.0)
                                           : values[3].value / width;
      EXPECT_NEAR(values[3].value, area * width, 1e-7 * width + 1e-11) << f;
      EXPECT_GT(values[3].value, 0.99 * width) << f;
    }
}

TEST(Summary, of_a_bouncing_ball_counts_both_sides_of_impacts) {
  const Case c(R"toml(
coordinates = ["y"]
[dynamics]
kinetic = "y'^2/2"
potential = "10*y"
[constraints]
floor = { equation = "y >= 0", restitution = 0.5 }
[start]
position = { y = 1.25 }
[summary]
down = { min = "y'" }
up   = { max = "y'" }
high = { max = "if(t > 0.6, y, 0)" }
)toml");
  // It falls for 0.5 s to a speed of 5, and rises with 2.5 to 0.3125 at t = 0.75.
  const Motion motion = integrate(c.system, c.start, {.to = 0.9, .tolerance = 1e-11});
  EXPECT_NEAR(value_of(motion.summary(), "down"), -5.0, 1e-9);
  EXPECT_NEAR(value_of(motion.summary(), "up"), 2.5, 1e-9);
  EXPECT_NEAR(value_of(motion.summary(), "high"), 0.3125, 1e-9);
}

TEST(Summary, is_the_same_to_the_bit_after_a_checkpoint) {
  const Case c(oscillator);
  const MotionOptions options{.to = 9.0, .tolerance = 1e-9};
  Integrator whole(c.system, c.start, options), first(c.system, c.start, options);
  while (whole.advance()) {
  }
  for (int k = 0; k < 6; ++k) first.advance();
  Integrator second(c.system, c.start, options);
  second.restore(first.checkpoint(), {}, {});
  while (second.advance()) {
  }
  const auto a = whole.summary(), b = second.summary();
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t k = 0; k < a.size(); ++k) EXPECT_EQ(a[k].value, b[k].value) << a[k].name;
}

TEST(Summary, of_a_family_has_a_number_for_each_member_written_out_and_by_kernels) {
  const std::string text = R"toml(
coordinates = ["x[1..5]"]
[dynamics]
kinetic = "sum(i = 1..5, x[i]'^2/2)"
potential = "sum(i = 1..5, i^2*x[i]^2/2)"
[start.position]
"x[i]" = { for = "i = 1..5", value = "1/i" }
[summary]
"peak[i]" = { for = "i = 1..5", max = "i*x[i]'" }
all = { max = "sum(i = 1..5, x[i]^2)" }
)toml";
  for (const System::Numbers numbers : {System::Numbers::written_out, System::Numbers::kernels}) {
    const System system(read_family_model_text(text, "test.toml"), numbers);
    Integrator integrator(system, system.start(), {.to = 20.0, .tolerance = 1e-11});
    while (integrator.advance()) {
    }
    const auto values = integrator.summary();
    ASSERT_EQ(values.size(), 6u);
    for (int i = 1; i <= 5; ++i) EXPECT_NEAR(value_of(values, "peak[" + std::to_string(i) + "]"), i, 1e-8);
    EXPECT_NEAR(value_of(values, "all"), 1 + 1 / 4. + 1 / 9. + 1 / 16. + 1 / 25., 1e-9);
  }
}

TEST(Summary, of_a_multiplier_is_the_largest_tension_of_a_pendulum) {
  // From rest at 90 degrees the tension is 3mg at the lowest point; it is twice the multiplier times L.
  const Case c(R"toml(
coordinates = ["x", "y"]
[dynamics]
kinetic = "(x'^2 + y'^2)"
potential = "20*y"
[constraints]
rod = "x^2 + y^2 = 4"
[start]
position = { x = 2 }
[summary]
pull = { max = "-multiplier(rod)" }
when = { time_of_max = "-multiplier(rod)" }
low  = { time_of_min = "y" }
)toml");
  const Motion motion = integrate(c.system, c.start, {.to = 3.0, .tolerance = 1e-11});
  EXPECT_NEAR(value_of(motion.summary(), "pull"), 3.0 * 20.0 / (2.0 * 2.0), 1e-8);
  EXPECT_NEAR(value_of(motion.summary(), "when"), value_of(motion.summary(), "low"), 1e-4);
}

TEST(Summary, an_integral_is_the_state_that_has_it_as_its_rate) {
  const Case c(R"toml(
coordinates = ["x", "y"]
[dynamics]
kinetic = "x'^2/2 + y'^2/2"
potential = "x^4 + x*y^2 + y^4/4"
[states]
area = { rate = "abs(x)*y", start = 0 }
[start]
position = { x = 1, y = 0.4 }
velocity = { y = 0.3 }
[summary]
sum = { integral = "abs(x)*y" }
)toml");
  Integrator integrator(c.system, c.start, {.to = 6.0, .tolerance = 1e-11});
  while (integrator.advance()) {
  }
  EXPECT_NEAR(value_of(integrator.summary(), "sum"), integrator.sample(6.0).q(2), 1e-9);
}

TEST(Summary, of_a_model_built_in_cpp) {
  Model model;
  const Expr x = model.add_coordinate("x");
  model.kinetic = pow(dot(x), 2) / 2;
  model.potential = pow(x, 2) / 2;
  model.add_summary("high", SummaryKind::max, x);
  model.add_output("double", 2 * x);
  model.start_at({.velocity = {{"x", 3.0}}});
  const System system(model, {});
  const Motion motion = integrate(system, system.start(), {.to = 5.0});
  EXPECT_NEAR(value_of(motion.summary(), "high"), 3.0, 1e-8);
  EXPECT_EQ(system.output_names(), std::vector<std::string>{"double"});
}

}  // namespace
}  // namespace mechanician
