#pragma once

/// Bounds of the states of a piece of a step, from samples of it.

#include <algorithm>
#include <cmath>
#include <vector>

#include "mechanician/motion/equation_values.hpp"
#include "mechanician/motion/last_step.hpp"
#include "mechanician/motion/sizes.hpp"

namespace mechanician {

/// Between three samples a number leaves their range by less than what they bend, and a part of what they change.
inline Interval bound_between(double begin, double middle, double end, double more = 0.0) {
  const double margin = std::abs(begin - 2.0 * middle + end) + 0.125 * std::abs(end - begin) + more;
  return {std::min({begin, middle, end}) - margin, std::max({begin, middle, end}) + margin};
}
/// The same of a whole step, by its ends and the rates there alone: lanes too.
inline Interval bound_step(double h, double begin, double end, double rate_begin, double rate_end) {
  return bound_between(begin, 0.5 * (begin + end) + 0.125 * h * (rate_begin - rate_end), end);
}

/// A state inside a step, by dense output.
struct StateInStep {
  double t = 0.0;
  std::vector<double> y, rate;

  void set(LastStep& step, double time, bool with_rate) {
    t = time;
    // Dense output writes all of the state, works included.
    y.resize(step.rk.y.size());
    if (with_rate) rate.resize(step.rk.y.size());
    step.state_at(time, y.data(), with_rate ? rate.data() : nullptr);
  }
};

/// [q | q̇ | q̈] between three states.
class StepBox {
 public:
  explicit StepBox(int n) : n_(static_cast<std::size_t>(n)) {}
  /// `slack`: how far states may be off the dense output, over the sizes that they have.
  StateBox make(const StateInStep& a, const StateInStep& m, const StateInStep& b, bool with_rates, double slack = 0.0,
                const Sizes* sizes = nullptr);
  /// Of a whole step, roughly, without any evaluation.
  StateBox make(LastStep& step);

 private:
  StateBox at(const Interval& t, bool with_rates) const;
  std::size_t n_;
  std::vector<Interval> box_;
  StateInStep begin_, middle_, end_;
};

}  // namespace mechanician
