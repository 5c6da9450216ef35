#pragma once

/// The end of a phase: the first time in a step at which one of its guards turns negative (Dynamics::calc_guards), or at
/// which the phase may not go on.

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "mechanician/motion/motion_view.hpp"

namespace mechanician {

class PhaseGuards {
 public:
  /// may_go_on: where multipliers are not unique no guard can be made of them: whether the phase may still go on at a
  /// state. May be empty.
  /// grazes: a gap has just come to zero and goes on there, kept by others or about to open: its sign is rounding.
  PhaseGuards(const MotionView& view, std::function<bool(const State&)> may_go_on, bool grazes)
      : view_(view), may_go_on_(std::move(may_go_on)), grazes_(grazes) {}

  bool any() const { return view_.dynamics.num_guards() > 0 || may_go_on_; }
  void begin();
  /// Clearly, where the phase has begun.
  bool begin_negative() const { return begin_negative_; }
  struct End {
    double t = 0.0;
    int guard = -1;  ///< by Dynamics::calc_guards; −1: the phase may not go on
  };
  /// In the last step, up to the time of the motion.
  std::optional<End> find();
  /// Nothing is near zero.
  void set_clear();

  template <class Do>
  void each_number(Do&& number) {
    for (double& x : floor_) number(x);
    for (double& x : clear_) number(x);
  }

 private:
  void make_state(double time, bool held, bool velocities = true);
  void add_errors();
  std::optional<End> find_negative(std::size_t from, std::size_t to, double end);
  std::optional<End> find_forbidden(double end);
  std::optional<double> find_lost(double end);

  MotionView view_;
  std::function<bool(const State&)> may_go_on_;
  std::vector<double> begin_, noise_, y_, now_;
  bool grazes_ = false, begin_negative_ = false;
  bool gaps_move_ = false;     ///< some depend on velocities
  std::vector<double> floor_;  ///< what rounding leaves below zero where a guard begins there is no end
  std::vector<double> clear_;  ///< 1: has been clearly positive in this phase
};

}  // namespace mechanician
