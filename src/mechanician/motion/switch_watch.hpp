#pragma once

/// Where expressions switch (switches.hpp): on which side of each the motion begins, when it comes to another one inside a
/// step, and what holds there.

#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "mechanician/expression/variation.hpp"
#include "mechanician/motion/motion_view.hpp"
#include "mechanician/motion/roots.hpp"
#include "mechanician/motion/zero_ranges.hpp"

namespace mechanician {

/// A table of slope·t + offset: its key tells when its points come (next_break of table_lookup.hpp).
struct PointsOfTime {
  double key = 0.0, slope = 1.0, offset = 0.0;
  friend bool operator==(const PointsOfTime&, const PointsOfTime&) = default;
};
/// The tables of the time among narrow functions.
std::vector<PointsOfTime> points_of_time(const NarrowFunctions& functions, std::span<const Expr> parameters,
                                         std::span<const double> values);

class SwitchWatch {
 public:
  explicit SwitchWatch(const MotionView& view);

  bool any() const { return !g_begin_.empty(); }
  /// Sides at the start; a refusal where there is no motion.
  std::optional<Stop> set_first_sides();
  /// The first switch in the last step, and when; −1: none.
  int find(double& when);
  /// The next switch that only the time decides on, up to `reach` from now.
  struct Clock {
    int which = -1;  ///< −1: none
    double when = 0.0;
  };
  Clock find_clock(double reach) const;
  /// When the next point of a smooth table of the time comes, where its polynomials meet; infinite where there is none.
  double find_point() const;
  /// At the end of the last step: from now on on the other side. Its sides stay those of the step, for its samples, until
  /// take_next_sides(). The reason where the motion cannot go on; not_finite: nothing can be evaluated there.
  std::optional<Stop> turn(int which, double next_step);
  /// Whether constraints jump where the motion begins, on a switch.
  bool is_start_broken();
  /// Where constraints jump, or contacts cannot go on as they did: so much later the state is clearly beyond the switch.
  double beyond() const { return beyond_; }
  /// By the last turn() a guard of the phase has turned negative.
  bool ends_phase() const { return ends_phase_; }
  /// On a switch where the motion begins: as beyond(); else zero.
  double find_start_beyond();
  void take_next_sides();
  void forget_next_sides() { next_sides_.clear(); }
  /// The surfaces of a checkpoint become those of the motion.
  void take_surfaces();
  /// From now on the motion goes along a surface.
  bool slides() const;
  /// The sides from now on.
  std::vector<double>& sides() { return next_sides_.empty() ? view_.dynamics.sides() : next_sides_; }
  const std::vector<double>& sides() const { return next_sides_.empty() ? view_.dynamics.sides() : next_sides_; }
  /// A branch that ends where its guard switches, as in if(t < 1, sqrt(1 - t), 0): steps come ever nearer and find nothing
  /// beyond, but a `bad` state. Within rounding of the switch its side is turned; false where that does not help.
  bool pass_end_of_branch(const BadState& bad);
  /// Nothing has switched just now.
  void set_clear() { std::fill(landing_floor_.begin(), landing_floor_.end(), 0.0); }

  template <class Do>
  void each_number(Do&& number) {
    for (double& x : sides()) number(x);
    for (double& x : landing_floor_) number(x);
    number(control_since_);
    for (double& x : surface_of_) number(x);
    number(many_since_);
  }

 private:
  void calc_noise(double t, const double* y);
  double calc_ahead(std::size_t i, double side);
  double calc_direction(int which, double next_step);
  template <class Evaluate>
  int choose_inner(const Root& root, Evaluate&& evaluate);
  std::optional<Root> find_first();
  std::vector<std::size_t> find_far_control();
  std::optional<Root> find_exit(double end);
  std::optional<Stop> cross(int which, double next_step);
  std::optional<Stop> leave();
  std::vector<double> calc_band();
  double calc_beyond(const std::vector<double>& before);
  bool turns_guards(const std::vector<double>& before, const std::vector<Dynamics::Surface>& along);

  // ---- surface_modes.cpp
  using Surface = Dynamics::Surface;
  std::vector<int> find_twins(int which);
  void align_twins(const Surface& surface);
  bool keeps_surfaces() const;
  enum class Modes { one, none, several, unknown };
  Modes choose_modes(const std::vector<Surface>& active);
  std::optional<Stop> settle_first_surfaces();
  bool is_consistent(const std::vector<Surface>& active, std::vector<int>& modes, bool exchange);
  void set_modes(const std::vector<Surface>& active, const std::vector<int>& modes);
  std::optional<Stop> settle_modes(Modes found, int which);
  void report_control(const std::vector<double>& before);
  void settle_control();
  void settle_control_ahead(double next_step);
  void take_noted_sides();
  void report_changes(const std::vector<Surface>& before);
  void note_surfaces(const std::vector<Surface>& along);
  std::vector<char> turn_others(int which);
  void settle_outer(const std::vector<char>& turned);
  void doubt_sides();
  std::optional<Stop> meet_constraints(int which);
  std::optional<Stop> refuse_many(int which);

  MotionView view_;
  std::vector<PointsOfTime> points_;
  std::vector<double> g_begin_, g_noise_, y_;
  std::vector<double> landing_floor_;  ///< what is left of g at a landing is no return to the side just left
  double control_since_ = std::numeric_limits<double>::lowest();  ///< before, what acts of control was found ahead
  ZeroRanges ranges_;
  std::vector<double> next_sides_;
  std::vector<Surface> next_surfaces_;
  std::vector<double>
      surface_of_;      ///< by switch: the number of the surface that the motion is on from now on, 0: of none
  int leaving_ = -1;    ///< surface that the motion leaves where find() has found something
  bool lost_ = false;   ///< because both sides drive away from it
  bool jumps_ = false;  ///< the function found last does not pass zero but jumps across it
  bool doubted_ = false;
  double beyond_ = 0.0;
  bool ends_phase_ = false;
  double many_since_ = 0.0, passed_t_ = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace mechanician
