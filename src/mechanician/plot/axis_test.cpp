#include "mechanician/plot/axis.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

namespace mechanician {
namespace {

/// A label as a person reads it, without looking at the tick it belongs to.
double read(const RichText& label) {
  std::string text;
  double power = 1.0;
  for (const TextRun& run : label) {
    std::string piece = run.text;
    for (std::size_t at; (at = piece.find("\u2212")) != std::string::npos;) piece.replace(at, 3, "-");
    if (run.raised)
      power = std::stod(piece);
    else
      text += piece;
  }
  return label.size() > 1 ? std::pow(std::stod(text), power) : std::stod(text);
}

/// ×10ⁿ + c, as it stands at the end of an axis.
struct Factor {
  double power = 1.0, constant = 0.0;
};
Factor read_factor(const RichText& factor) {
  Factor f;
  for (std::size_t i = 0; i < factor.size(); ++i) {
    if (factor[i].raised) f.power = read({{"10", false}, factor[i]});
    const std::string& text = factor[i].text;
    if (const auto plus = text.find("+ "); plus != std::string::npos) f.constant = std::stod(text.substr(plus + 2));
    if (const auto minus = text.find("\u2212 "); minus != std::string::npos)
      f.constant = -std::stod(text.substr(minus + 4));
  }
  return f;
}

TEST(Axis, labels_read_as_the_values_they_stand_at) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(-30, 30), unit(-1, 1), share(-12, 0);
  for (int round = 0; round < 20000; ++round) {
    const double middle = unit(random) * std::pow(10, exponent(random));
    const double size = std::abs(middle) * std::pow(10, share(random)) + 1e-40;
    const int most = 2 + round % 20;
    const Axis axis = make_axis({middle - size / 2, middle + size / 2}, false, most);
    SCOPED_TRACE(testing::Message() << "round " << round << " middle " << middle << " size " << size);
    ASSERT_GE(axis.ticks.size(), 2u);
    ASSERT_LE(axis.ticks.size(), static_cast<std::size_t>(most) + 3);
    const Factor factor = read_factor(axis.factor);
    // Rounding of the middle, and nothing that could be seen on the axis.
    const double tolerance = 1e-9 * size + 8 * 2.2e-16 * std::abs(middle);
    for (const Tick& tick : axis.ticks) {
      ASSERT_GE(tick.value, middle - size / 2 - tolerance);
      ASSERT_LE(tick.value, middle + size / 2 + tolerance);
      ASSERT_NEAR(read(tick.label) * factor.power + factor.constant, tick.value, tolerance);
      ASSERT_LE(tick.label.front().text.size(), 11u) << tick.label.front().text;
    }
  }
}

TEST(Axis, ticks_are_one_two_or_five_times_a_power_of_ten_apart) {
  for (double size = 1e-3; size < 1e4; size *= 1.37) {
    const Axis axis = make_axis({0.0, size}, false, 6);
    ASSERT_GE(axis.ticks.size(), 2u);
    const double step = axis.ticks[1].value - axis.ticks[0].value;
    const double mantissa = step / std::pow(10, std::floor(std::log10(step) + 1e-9));
    EXPECT_LT(std::min({std::abs(mantissa - 1), std::abs(mantissa - 2), std::abs(mantissa - 5)}), 1e-9) << step;
  }
}

TEST(Axis, a_logarithmic_one_has_powers_of_ten) {
  const Axis axis = make_axis({3e-9, 2e4}, true, 20);
  ASSERT_EQ(axis.ticks.size(), 13u);
  for (std::size_t i = 0; i < axis.ticks.size(); ++i) {
    const double wanted = std::pow(10.0, static_cast<double>(i) - 8);
    EXPECT_NEAR(axis.ticks[i].value / wanted, 1.0, 1e-12);
    EXPECT_NEAR(read(axis.ticks[i].label) / wanted, 1.0, 1e-12);
  }
  EXPECT_NEAR(axis.place(3e-9), 0.0, 1e-12);
  EXPECT_NEAR(axis.place(2e4), 1.0, 1e-12);
  EXPECT_NEAR(axis.place(std::sqrt(3e-9 * 2e4)), 0.5, 1e-12);
}

TEST(Axis, less_than_a_decade_has_round_numbers_too) {
  const Axis axis = make_axis({2.1, 7.4}, true, 5);
  EXPECT_GE(axis.ticks.size(), 2u);
  for (const Tick& tick : axis.ticks) EXPECT_NEAR(read(tick.label), tick.value, 1e-12);
}

TEST(Axis, the_largest_numbers_have_a_place) {
  const Axis axis = make_axis(widened({-1e308, 1e308}, false, 0.0), false, 5);
  EXPECT_NEAR(axis.place(0.0), 0.5, 1e-12);
  EXPECT_FALSE(axis.ticks.empty());
}

TEST(Range, of_no_size_is_widened) {
  for (const double value : {0.0, 1.0, -3e-9, 7e200, 1e-320}) {
    const Range range = widened({value, value}, false, 0.0);
    EXPECT_LT(range.low, range.high);
    EXPECT_LE(range.low, value);
    EXPECT_GE(range.high, value);
  }
  const Range logarithmic = widened({1e-5, 1e-5}, true, 0.0);
  EXPECT_LT(logarithmic.low, 1e-5);
  EXPECT_GT(logarithmic.low, 0.0);
}

TEST(Range, leaves_out_what_has_no_place) {
  RangeFinder finder(true);
  for (const double value : {-1.0, 0.0, std::nan(""), HUGE_VAL}) finder.add(value);
  EXPECT_TRUE(finder.empty());
  finder.add(3.0);
  finder.add(2.0);
  EXPECT_EQ(finder.range().low, 2.0);
  EXPECT_EQ(finder.range().high, 3.0);
}

}  // namespace
}  // namespace mechanician
