#pragma once

/// The step of DOP853, of single motions and of lanes: what the error of a step counts against, and how long the next one
/// may be (Hairer, Nørsett, Wanner I, sections II.4 and II.10).

#include <algorithm>
#include <cmath>
#include <limits>

namespace mechanician::step_control {

inline constexpr double eps = std::numeric_limits<double>::epsilon();
inline constexpr double safety = 0.9, most_growth = 10.0, least_growth = 0.2;
/// What depends on the time may happen while nothing else does, and events are looked for on samples of a step: then a
/// run has at least so many steps. And others have some too, so that no force and no singular state lies inside a step that is
/// long only because nothing happens before and after.
inline constexpr double least_steps = 100.0, least_steps_anyway = 50.0;

/// Where it is asked whether a motion is stiff, positions and velocities are joined by such a part of the run.
inline constexpr double times_of_stiffness = 20.0;

/// What an error counts against: the tolerance, and what rounding alone puts into the estimate. V: of one number or of
/// several side by side; `typical`: of the motion (Sizes), `size`: |value|, `noise`: see below.
template <class V>
inline __attribute__((always_inline)) void make_scale(double tolerance, const V& typical, const V& size, const V& noise,
                                                      V& scale) {
  scale = tolerance * typical + 2.0 * eps * size + noise;
}
/// Of the rates in a step, the largest velocity or acceleration (in units, Sizes); accelerations are magnified by their
/// condition.
inline double position_noise(double h, double velocity, double of_velocity) {
  return h * (eps * velocity + of_velocity);
}
inline double velocity_noise(double h, double acceleration, double condition) {
  return 2.0 * eps * std::min(condition, 1e10) * h * acceleration;
}
/// Forces in equilibrium leave so many roundings of the largest given one.
inline constexpr double forces_round = 8.0;
/// Of the estimators of orders 5 and 3, each its largest component over the scale. Up to 1: accepted.
inline double error_norm(double five, double three) {
  if (five == 0.0) return 0.0;
  const double ratio = three / five;
  return five / std::sqrt(1.0 + 0.01 * ratio * ratio);
}

/// By how much the next step may be longer than one with this error; and a shorter attempt at the same one.
inline double growth(double error) {
  return error == 0.0 ? most_growth : std::clamp(safety * std::pow(error, -1.0 / 8.0), least_growth, most_growth);
}
inline double shrinkage(double error) { return std::max(least_growth, safety * std::pow(error, -1.0 / 8.0)); }
inline constexpr double without_value = 0.25;  ///< the same where stages had no value
inline constexpr double without_end = 0.5;     ///< and where the error is small, but not the end of the step found

/// After a rejection the next step is not longer than this one was meant to be.
inline double grown(double h, double planned, double error, bool rejected) {
  return rejected ? std::min(std::max(h, planned), h * growth(error)) : h * growth(error);
}
/// A step that was cut, for the end or something on the way, says little about the next one.
inline double next_step(double h, double planned, double grown_step) {
  return h < 0.5 * planned ? std::max(planned, grown_step) : grown_step;
}

/// A step this short is none, unless it is the last; `span`: of the run.
inline bool is_nothing(double h, double t, double span) { return h < 4.0 * eps * std::max(std::abs(t), span * 1e-6); }
/// Where a step ends that was meant to reach `end`: at the end of the run where that is as near as rounding tells.
inline double end_of(double end, double h, double to) {
  return end >= to || std::abs(end - to) <= 4.0 * eps * std::max(std::abs(end), h) ? to : end;
}

/// The first step: norms of y, of its rate and of the change of the rate over a trial step h0, all in tolerances.
template <class Size, class Value>
double calc_norm(int count, double tolerance, Size&& size, Value&& value) {
  double s = 0.0;
  for (int i = 0; i < count; ++i) {
    const double x = value(i) / (tolerance * size(i));
    s += x * x;
  }
  return std::sqrt(s / std::max(count, 1));
}
inline double trial_step(double d0, double d1, double span) {
  return std::min(d0 < 1e-5 || d1 < 1e-5 ? 1e-6 * span : 0.01 * d0 / d1, span);
}
inline double first_step(double tolerance, double h0, double d1, double d2, double t, double span) {
  // Times in which values and rates change by their own size; a step is a part of these that the order tells.
  const double change = std::min(1.0 / (tolerance * d1), 1.0 / std::sqrt(tolerance * d2));
  const double h1 = std::min(change * std::pow(0.01 * tolerance, 1.0 / 8.0), span);
  return std::max(std::min({100.0 * h0, h1, span}), 64.0 * eps * std::max(std::abs(t), std::abs(span)));
}

}  // namespace mechanician::step_control
