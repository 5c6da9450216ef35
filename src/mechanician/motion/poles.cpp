#include "mechanician/motion/poles.hpp"

#include <algorithm>
#include <cmath>

namespace mechanician {

namespace {
constexpr int pieces = 4;
constexpr double small = 0.2, none = 1e-6, unbounded = 1e3;
}  // namespace

PoleWatch::PoleWatch(const MotionView& view) : view_(view) {
  const auto count = static_cast<std::size_t>(view.dynamics.facts().num_divisors);
  largest.assign(count, 0.0), now_ = largest, values_.assign(count * (pieces + 1), 0.0);
  y_.assign(static_cast<std::size_t>(view.dynamics.size()), 0.0), rate_ = y_;
}

double PoleWatch::calc_acceleration(const std::vector<double>& rate) const {
  double most = 0.0;
  for (int i = view_.dynamics.n(); i < 2 * view_.dynamics.n(); ++i) most = std::max(most, std::abs(rate[i]));
  return most;
}

void PoleWatch::add_step() { acceleration_integral += view_.step.h * calc_acceleration(view_.step.rk.k[12]); }

double PoleWatch::calc_divisor(std::size_t i, double theta) {
  view_.step.rough_state(theta, y_.data());
  view_.dynamics.calc_divisors(view_.step.t + theta * view_.step.h, y_.data(), now_);
  return now_[i];
}

bool PoleWatch::find_zero(std::size_t i, int k, double largest_here, double& place) {
  double low = static_cast<double>(k) / pieces, high = static_cast<double>(k + 1) / pieces;
  const double here = std::abs(value(k, i));
  if (k < pieces && value(k, i) * value(k + 1, i) < 0.0) {
    for (int round = 0; round < 60; ++round) {
      place = 0.5 * (low + high);
      (calc_divisor(i, place) * value(k, i) > 0.0 ? low : high) = place;
    }
    return true;
  }
  if (!(here < small * largest_here) ||
      !(k > 0 ? here < std::abs(value(k - 1, i)) : std::abs(calc_divisor(i, 1e-3)) < here) ||
      !(k < pieces ? here < std::abs(value(k + 1, i)) : std::abs(calc_divisor(i, 1.0 - 1e-3)) < here))
    return false;
  // A minimum, inside or between the ends and the samples next to them.
  low = std::max(0.0, static_cast<double>(k - 1) / pieces), high = std::min(1.0, high);
  for (int round = 0; round < 60; ++round) {
    const double a = low + (high - low) / 3.0, b = high - (high - low) / 3.0;
    const bool left = std::abs(calc_divisor(i, a)) < std::abs(calc_divisor(i, b));
    (left ? high : low) = left ? b : a;
  }
  place = 0.5 * (low + high);
  return std::abs(calc_divisor(i, place)) <= none * largest_here;
}

/// sin(x)/x has a zero below the line and no pole: what counts is that the acceleration has no bound, beside the zero or on
/// the way to it.
bool PoleWatch::is_unbounded(std::size_t i, double place) {
  LastStep& step = view_.step;
  const double at_end =
      std::max(calc_acceleration(step.rk.k[12]), step.implicit ? 0.0 : calc_acceleration(step.rk.k[0]));
  double beside = std::numeric_limits<double>::infinity();
  for (const double away : {-1e-5, 1e-5}) {
    step.rough_state(place + away, y_.data());
    if (view_.dynamics.rhs(step.t + (place + away) * step.h, y_.data(), rate_.data()))
      beside = std::min(beside, calc_acceleration(rate_));
  }
  const bool on_the_way = std::min(std::abs(value(0, i)), std::abs(value(pieces, i))) <= none * largest[i] &&
                          at_end * (step.t - view_.motion.start.t) >= unbounded * acceleration_integral;
  return beside > unbounded * at_end || on_the_way;
}

bool PoleWatch::find(BadState& at) {
  const std::size_t count = largest.size();
  LastStep& step = view_.step;
  if (count == 0 || !(step.h > 0.0)) return false;
  for (int k = 0; k <= pieces; ++k) {
    step.rough_state(static_cast<double>(k) / pieces, y_.data());
    view_.dynamics.calc_divisors(step.t + step.h * k / pieces, y_.data(), {values_.data() + k * count, count});
  }
  for (std::size_t i = 0; i < count; ++i) {
    double here = 0.0, place = 0.0;
    for (int k = 0; k <= pieces; ++k) here = std::max(here, std::abs(value(k, i)));
    largest[i] = std::max(largest[i], here);
    for (int k = 0; k <= pieces; ++k) {
      if (!find_zero(i, k, here, place) || !is_unbounded(i, place)) continue;
      step.rough_state(place, y_.data());
      at.note(step.t + place * step.h, y_.data(), view_.dynamics.n());
      found_ = view_.dynamics.values().divisor_text(static_cast<int>(i));
      return true;
    }
  }
  return false;
}

}  // namespace mechanician
