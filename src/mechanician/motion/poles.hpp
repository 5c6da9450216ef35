#pragma once

/// Places where the acceleration has no bound: zeros of what stands below fraction lines (divisors.hpp) inside a step.

#include <string>
#include <vector>

#include "mechanician/motion/motion_view.hpp"

namespace mechanician {

class PoleWatch {
 public:
  explicit PoleWatch(const MotionView& view);

  /// Whether there is one in the last step; `at`: where.
  bool find(BadState& at);
  const std::string& divisor() const { return found_; }  ///< of the last one that was found
  /// After a step was accepted.
  void add_step();

  std::vector<double> largest;         ///< of each divisor, so far
  double acceleration_integral = 0.0;  ///< ∫ max|q̈| dt
  template <class Do>
  void each_number(Do&& number) {
    for (double& x : largest) number(x);
    number(acceleration_integral);
  }

 private:
  double calc_divisor(std::size_t i, double theta);
  /// Where divisor i is zero, near sample k of the last step; nothing where it is not.
  bool find_zero(std::size_t i, int k, double largest_here, double& place);
  bool is_unbounded(std::size_t i, double place);
  double value(int k, std::size_t i) const { return values_[static_cast<std::size_t>(k) * largest.size() + i]; }
  double calc_acceleration(const std::vector<double>& rate) const;

  MotionView view_;
  std::vector<double> values_, now_, y_, rate_;
  std::string found_;
};

}  // namespace mechanician
