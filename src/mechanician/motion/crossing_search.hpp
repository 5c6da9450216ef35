#pragma once

/// Singular configurations of the constraints on the way of a motion: steps across them are planned, and for each that was
/// passed it is found whether branches meet there, when, and which constraints are involved.

#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "mechanician/motion/crossing.hpp"
#include "mechanician/motion/motion_view.hpp"

namespace mechanician {

class CrossingSearch {
 public:
  explicit CrossingSearch(const MotionView& view);

  CrossingPredictor predictor;

  /// The step to make from the begin y, k[0] where a step h is wanted; `remaining`: to the end of the run.
  StepPlan plan(double h, double remaining);
  /// Of the last plan: time to the next singular state that is foreseen, or infinity.
  double to_next() const;
  /// Whether one is within reach of some steps h, ahead or behind.
  bool is_near(double h) const;
  /// The same for somebody else, who has no way across.
  bool is_clear(double h) const;

  /// Whether branches meet where the step just made passes.
  bool is_true(const StepPlan& plan);
  /// They do not: what comes near zero soon is a near miss.
  void note_near_miss(const StepPlan& plan) { none_before_ = view_.motion.t + 1.5 * plan.at; }
  /// One event for each singular state of a crossing step: what was foreseen as one group may be several, one after the
  /// other.
  void report(const StepPlan& plan, bool noise_limited);
  /// Singular states that the step has passed unforeseen: close behind another one, beside a switch, in a step of the
  /// implicit method or in one that is long for the constraints. Every sine is looked at along the step.
  void find_passed();
  /// A singular state of the last step at which a constraint on velocities vanishes, because it is not linear in them and they come to
  /// rest: a cone of velocities at its tip. Every direction of the cone leads on from there.
  struct Tip {
    double time;
    int row;
  };
  std::optional<Tip> find_tip();

  /// Samples near the singular state of a crossing step take their acceleration from dense output; on it there is nothing
  /// to project with.
  bool is_near_last(double time) const { return view_.step.crossing && std::abs(time - time_) < reach_; }
  bool is_on_last(double time) const { return is_near_last(time) && std::abs(time - time_) < 1e-3 * view_.step.h; }

  /// The motion has gone on unseen, where nothing is near.
  void forget() { ahead_.clear(), predictor.forget(); }
  long noise_limited = 0;  ///< crossings that were accepted at the level of rounding
  template <class Do>
  void each_number(Do&& number) {
    number(last_), number(none_before_), number(noise_limited);
    predictor.each_number(number);
  }

 private:
  /// Where a zero is looked for, in parts of the step.
  struct Near {
    double low = 0.2, high = 0.75, width = 0.05;
    int row = -1;  ///< of the sines; −1: the weakest
  };
  /// What is known of a singular state: by singular vectors with few rows, by sines with many.
  struct Found {
    double place = 0.0, relative = 0.0;  ///< of the step; smallest singular value over the largest
    CrossingPredictor::Spectrum spectrum{};
  };
  bool is_of_many() const;
  bool is_true_of_many(const StepPlan& plan);
  bool is_small(double left, double largest) const;
  bool locate(double place, const Near& near, Found& found);
  bool report_one(double place, bool turning, bool is_noise_limited, const Near& near);
  std::vector<double> calc_involved(const Found& found, double zero, int& dimension);
  bool find_zero(double& place, CrossingPredictor::Spectrum& s, const Near& near);
  double find_least_sine(double place, const Near& near);
  bool calc_sines_along(std::span<const double> thetas, bool roughly, std::vector<double>& sines);
  int look_along(double begin, double end, double turned);
  bool is_known(double place, double width, const std::vector<double>& looked_at) const;
  void find_passed_by_sines(double begin, double end, int pieces);
  void find_passed_by_vectors(double begin, double end);
  const double* state_of(double theta);
  double time_of(double theta) const { return view_.step.t + theta * view_.step.h; }
  void sort_events();

  MotionView view_;
  std::vector<SingularRoot> ahead_;
  double last_ = -std::numeric_limits<double>::infinity(), none_before_ = last_;
  double time_ = 0.0, reach_ = 0.0;  ///< of the last crossing step
  CrossingPredictor::Split split_;   ///< of split_time_
  double split_time_ = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> y_, sines_, near_sines_, along_t_, along_y_, thetas_;
};

}  // namespace mechanician
