#pragma once

/// Where inside a step functions of the state may pass zero.
///
/// The states of a step lie between bounds that its dense output tells, and so do the functions (expression/interval.hpp). Where
/// the bounds of a function leave out zero, it has no zero, however fast it may vary; where they do not, the piece is halved. What
/// is left is so short that samples show what happens, or so near to zero all along that nothing can be said without them.
///
/// Cost: one evaluation on intervals for a step in which nothing comes near zero, some thirty for each zero.

#include <functional>
#include <span>
#include <vector>

#include "mechanician/motion/step_box.hpp"

namespace mechanician {

class ZeroRanges {
 public:
  struct Range {
    double from, to;
  };
  /// False: nothing is known.
  using Bound = std::function<bool(const StateBox&, std::span<Interval>)>;

  ZeroRanges(LastStep& step, int n) : step_(step), box_(n) {}
  /// Between two times of the step. Sides: signs that the functions have at the begin, 0 where they have none; |f| up to `floor` counts as
  /// zero. `slack`: how far states may be off the dense output, over the sizes that they have. By time; valid until the next call.
  struct Question {
    double from, to;
    std::span<const double> sides, floor;
    std::span<const double> rest =
        {};  ///< the same of the step as a whole, as where everything rests; empty: as `floor`
    double slack = 0.0;
    const Sizes* sizes = nullptr;  ///< with slack
    bool with_rates = false;       ///< accelerations count
  };
  std::span<const Range> find(const Question& question, const Bound& bound);

 private:
  bool may_vanish(bool whole);
  void look(const StateInStep& a, const StateInStep& b, int depth);
  void add(double from, double to);

  LastStep& step_;
  const Question* question_ = nullptr;
  const Bound* bound_ = nullptr;
  int pieces_ = 0;
  std::vector<StateInStep> states_;  ///< begin, end, then the middles by depth
  StepBox box_;
  std::vector<Interval> bounds_;
  std::vector<double> expected_;
  std::vector<Range> found_;
};

}  // namespace mechanician
