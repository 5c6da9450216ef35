#pragma once

/// Whether a function comes near zero in a step, by its values at the begin and at some points.

#include <algorithm>
#include <cmath>

namespace mechanician {

/// Far from zero for the little that it changes, or for the little by which it bends. Most are, in most steps.
struct Looked {
  double low, high, bend, begin;

  explicit Looked(double at_begin) : low(at_begin), high(at_begin), bend(0.0), begin(at_begin) {}
  void take(double g) { low = std::min(low, g), high = std::max(high, g); }
  void take_bend(double part, double g, double at_end) {
    bend = std::max(bend, std::abs(g - begin - part * (at_end - begin)));
  }
  bool is_far() const { return low > std::min(3.0 * (high - low), 3.0 * bend + 0.25 * (high - low)); }
};

}  // namespace mechanician
