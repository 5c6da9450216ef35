#pragma once

/// Events of the model: zeros of `when` inside a step.

#include <span>
#include <vector>

#include "mechanician/motion/motion_view.hpp"
#include "mechanician/motion/roots.hpp"
#include "mechanician/motion/zero_ranges.hpp"

namespace mechanician {

class EventSearch {
 public:
  explicit EventSearch(const MotionView& view);

  bool any() const { return !sign.empty(); }
  /// `before`: by event, with the sign of the side that it was on before the motion went on as this one, 0 where it was on none;
  /// empty: the motion begins. `pending`: have happened already. `fired`: has just happened, and does not by a jump. A value that has jumped to the other side since is an event at the begin (report_pending()).
  void begin(std::span<const double> before = {}, std::span<const double> pending = {}, int fired = -1);
  bool has_pending() const;
  const std::vector<double>& pending() const { return pending_; }
  /// False where one of them stops the motion.
  bool report_pending();
  /// Adds what happens in the last step to the events of the motion, which ends where one of them stops it.
  void find();

  std::vector<double> sign;  ///< `when` of each event, with the sign of the side that it is on
  template <class Do>
  void each_number(Do&& number) {
    for (double& x : sign) number(x);
    for (double& x : noted_) number(x);
    for (double& x : pending_) number(x);
  }

 private:
  void evaluate(double time, std::span<double> when);
  void find_noise(double time, const double* y);
  std::vector<double> find_kinks(double begin, double end);
  std::vector<Root> find_roots(const std::vector<double>& cuts);
  void remove_jumps(std::vector<Root>& roots);
  /// False where the event stops the motion. `y`: the state there.
  bool report(const Root& root, const double* y);
  bool report(const Root& root);

  MotionView view_;
  std::vector<double> noted_;      ///< 1: said that it has no value
  std::vector<double> pending_;    ///< +1, −1: has jumped up or down where the motion begins
  std::vector<double> noise_, y_;  ///< noise_: up to here a value is no sign of a side
  ZeroRanges ranges_;
  std::vector<Root> jumps_;  ///< where events jump in the last step as they are written
};

}  // namespace mechanician
