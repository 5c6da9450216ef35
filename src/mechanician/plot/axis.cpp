#include "mechanician/plot/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace mechanician {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr const char* minus = "\u2212";

int decade(double x) { return static_cast<int>(std::floor(std::log10(x))); }

/// 10^k without the rounding of a chain of products, as far as doubles go.
double ten_to(int k) { return k >= 0 ? std::pow(10.0, k) : 1.0 / std::pow(10.0, -k); }

/// k · mantissa · 10^exponent: a step of 1, 2 or 5 times a power of ten.
struct Step {
  int mantissa = 1, exponent = 0;
  double value() const { return exponent >= 0 ? mantissa * ten_to(exponent) : mantissa / ten_to(-exponent); }
  double times(double k) const {
    return exponent >= 0 ? k * mantissa * ten_to(exponent) : k * mantissa / ten_to(-exponent);
  }
};

Step nice_step(double least) {
  Step step{1, decade(least)};
  if (step.value() < least * (1 - 1e-9)) step.mantissa = 2;
  if (step.value() < least * (1 - 1e-9)) step.mantissa = 5;
  if (step.value() < least * (1 - 1e-9)) step = {1, step.exponent + 1};
  return step;
}

RichText power_of_ten(int exponent) {
  return {{"10", false}, {exponent < 0 ? fmt::format("{}{}", minus, -exponent) : fmt::format("{}", exponent), true}};
}

void append(RichText& text, RichText more) { text.insert(text.end(), more.begin(), more.end()); }

Axis linear_axis(Range range, int most) {
  Axis axis;
  axis.range = range;
  const double largest = std::max(std::abs(range.low), std::abs(range.high));

  // A constant that takes up most digits of all labels is taken out, rounded so that it is short.
  double offset = 0.0;
  int offset_exponent = 0;
  if (range.size() < 5e-4 * largest) {
    offset_exponent = decade(range.size()) + 1;
    const double unit = ten_to(std::abs(offset_exponent));
    const double middle = (range.low + range.high) / 2;
    offset = offset_exponent >= 0 ? std::round(middle / unit) * unit : std::round(middle * unit) / unit;
  }
  // One tick alone says nothing of the scale: at least two.
  Step step;
  double first = 0.0, last = 0.0;
  for (int parts = std::max(most, 2), limit = parts + 16; parts < limit; ++parts) {
    step = nice_step(range.size() / parts);
    first = std::ceil((range.low - offset) / step.value() - 1e-9);
    last = std::floor((range.high - offset) / step.value() + 1e-9);
    if (last > first) break;
  }
  const double reach = std::max(std::abs(step.times(first)), std::abs(step.times(last)));
  int exponent = reach > 0 ? decade(reach * (1 + 1e-9)) : 0;
  if (exponent < 5 && exponent > -3) exponent = 0;
  const int decimals = std::max(0, exponent - step.exponent);
  for (double k = first; k <= last && axis.ticks.size() < 1000; ++k) {
    // mantissa·k·10^(step.exponent − exponent) has the digits of an integer.
    const Step shown{step.mantissa, step.exponent - exponent};
    axis.ticks.push_back({step.times(k) + offset, {{signed_number(shown.times(k), decimals), false}}});
  }
  const int parts = step.mantissa == 1 ? 5 : step.mantissa == 2 ? 4 : 5;
  for (double k = std::ceil((range.low - offset) / step.value() * parts); k <= last * parts + parts - 1; ++k) {
    const double value = step.times(k / parts) + offset;
    if (value <= range.high && std::fmod(k, parts) != 0.0 && axis.minor.size() < 5000) axis.minor.push_back(value);
  }
  if (exponent != 0) {
    axis.factor.push_back({"\u00D7", false});
    append(axis.factor, power_of_ten(exponent));
  }
  if (offset != 0.0) {
    // Digits of the offset as they stand in it, none after the place it was rounded to.
    const int size = decade(std::abs(offset));
    const std::string number = size < 7 && size >= -4
                                   ? fmt::format("{:.{}f}", std::abs(offset), std::max(0, -offset_exponent))
                                   : fmt::format("{:.{}e}", std::abs(offset), std::max(0, size - offset_exponent));
    axis.factor.push_back({fmt::format("{} {}", offset < 0 ? minus : "+", number), false});
    if (axis.factor.size() > 1) axis.factor.back().text.insert(0, " ");
  }
  return axis;
}

Axis log_axis(Range range, int most) {
  Axis axis;
  axis.range = range;
  axis.log = true;
  const double low = std::log10(range.low), high = std::log10(range.high);
  const int first = static_cast<int>(std::ceil(low - 1e-9)), last = static_cast<int>(std::floor(high + 1e-9));
  if (last - first < 1) {
    // Hardly a decade: round numbers as on any axis, where they come out.
    Axis linear = linear_axis(range, most);
    axis.ticks = std::move(linear.ticks);
    axis.minor = std::move(linear.minor);
    axis.factor = std::move(linear.factor);
    return axis;
  }
  const int every =
      std::max(1, static_cast<int>(std::ceil((last - first + 1) / static_cast<double>(std::max(most, 2)))));
  const bool plain = first >= -2 && last <= 4;
  for (int k = first; k <= last; ++k) {
    if (k % every == 0)
      axis.ticks.push_back(
          {ten_to(k), plain ? RichText{{fmt::format("{:.{}f}", ten_to(k), std::max(0, -k)), false}} : power_of_ten(k)});
    else
      axis.minor.push_back(ten_to(k));
  }
  if (every == 1)
    for (int k = first - 1; k <= last; ++k)
      for (int m = 2; m < 10; ++m) {
        const double value = Step{m, k}.value();
        if (value >= range.low && value <= range.high) axis.minor.push_back(value);
      }
  return axis;
}

}  // namespace

std::string signed_number(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", std::abs(value), decimals);
  const bool zero = text.find_first_not_of("0.") == std::string::npos;
  return std::signbit(value) && !zero ? minus + text : text;
}

double Axis::place(double value) const {
  if (log) return std::log(value / range.low) / std::log(range.high / range.low);
  // Halves, so that a range from −1e308 to 1e308 has a size.
  return (value / 2 - range.low / 2) / (range.high / 2 - range.low / 2);
}

void RangeFinder::add(double value) {
  if (!std::isfinite(value) || (log_ && !(value > 0.0))) return;
  if (!any_) range_ = {value, value};
  any_ = true;
  range_.low = std::min(range_.low, value);
  range_.high = std::max(range_.high, value);
}

Range widened(Range range, bool log, double margin) {
  constexpr double most = 1e300;  // beyond, sizes of ranges overflow
  if (log) {
    range.low = std::max(range.low, 1e-300);
    range.high = std::max(std::min(range.high, most), range.low);
    if (range.high < range.low * (1 + 64 * eps)) return {range.low / 2, range.high * 2};
    const double part = std::pow(range.high / range.low, margin);
    return {range.low / part, range.high * part};
  }
  range.low = std::clamp(range.low, -most, most);
  range.high = std::clamp(range.high, -most, most);
  const double largest = std::max(std::abs(range.low), std::abs(range.high));
  if (!(range.size() > 64 * eps * largest) || largest < 1e-290) {
    const double half = largest < 1e-290 ? 1.0 : 0.1 * largest;
    const double middle = largest < 1e-290 ? 0.0 : (range.low + range.high) / 2;
    return {middle - half, middle + half};
  }
  const double part = margin * range.size();
  return {range.low - part, range.high + part};
}

Axis make_axis(Range range, bool log, int most) { return log ? log_axis(range, most) : linear_axis(range, most); }

}  // namespace mechanician
