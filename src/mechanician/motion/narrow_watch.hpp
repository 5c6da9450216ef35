#pragma once

/// What a step may have leapt over: forces, masses and constraints that vary in a small part of it (expression/variation.hpp).
///
/// The states of a step lie between bounds, and so does what narrow functions are functions of. Where these go through few turns
/// the stages have seen them; where what they can be anywhere in the step is nothing against the tolerance, there is nothing to be
/// seen. Else the step is halved until one of both is so of each piece, and of pieces in which there is something, accelerations
/// are compared with those of dense output.
///
/// Cost: bounds of the arguments for each step; where a function varies fast, bounds of the equations; where there is something, a few of
/// these for each halving and three accelerations for each piece. Nothing for models without such functions.

#include <limits>
#include <optional>
#include <vector>

#include "mechanician/motion/motion_view.hpp"
#include "mechanician/motion/step_box.hpp"

namespace mechanician {

class NarrowWatch {
 public:
  explicit NarrowWatch(const MotionView& view)
      : view_(view), any_(view.dynamics.facts().can_be_narrow), box_(view.dynamics.n()) {}

  /// Once guards are known.
  void begin();
  /// Up to `from` the step is right; what comes then takes steps of some `length`.
  struct Place {
    double from, length;
  };
  /// In the last step; nothing: it has seen all.
  std::optional<Place> find();

 private:
  void set_allowed();
  void allow_stiffness();
  /// Whether what may vary unseen in a box changes velocities by nothing that counts.
  bool is_nothing(const StateBox& box, SeenBy shown);
  bool sees_gaps(const StateBox& box, SeenBy shown) {
    return !any_gaps_ || view_.dynamics.gaps_are_seen(box, shown, gap_floor_);
  }
  std::optional<Place> look();
  /// Of the piece between the states a_, m_ and b_. False: accelerations are not those of the step.
  bool compare();
  bool is_at_pole(double from, double to);
  bool add_difference(const StateInStep& state);
  enum class Gaps { open, unclear, close_for_a_moment };
  Gaps look_at_gaps();

  MotionView view_;
  bool any_, any_gaps_ = false;  ///< equations, and gaps, can be narrow
  bool doubted_ = false;
  StepBox box_;
  UnseenValues unseen_;
  struct Piece {
    double from, to;
  };
  std::vector<Piece> pieces_;  ///< still to be looked at, the last first
  StateInStep a_, m_, b_;
  double acceleration_ = 0.0;                                        ///< in units
  std::vector<double> allowed_, missed_, in_piece_, rate_, effect_;  ///< by coordinate
  std::vector<double> gaps_, gap_begin_, gap_end_;  ///< at three states, and where the step begins and ends
  std::vector<double> gap_floor_;  ///< from where on they count as closed; closed: are, from some time on
  static constexpr double closed = -std::numeric_limits<double>::infinity();
};

}  // namespace mechanician
