#pragma once

/// [summary] of a motion, step by step: which quantities are followed, and how they are had at a time. Those that are functions of the
/// state need no forces there.

#include <memory>
#include <span>
#include <vector>

#include "mechanician/expression/tape.hpp"
#include "mechanician/expression/variation.hpp"
#include "mechanician/motion/motion_steps.hpp"
#include "mechanician/motion/summary_watch.hpp"

namespace mechanician {

class SummaryLook {
 public:
  /// Null where nothing is asked for.
  static std::unique_ptr<SummaryLook> make(const System& system, const MotionOptions& options, double start);

  /// At the last step, as far as it belongs to the run.
  void look(MotionSteps& steps);
  std::vector<SummaryValue> values() const { return watch_.values(); }

  /// For checkpoints.
  std::size_t num_numbers() const { return watch_.num_numbers(); }
  void save(std::vector<double>& to) const { watch_.save(to); }
  void restore(std::span<const double> from) { watch_.restore(from); }

 private:
  SummaryLook(SummaryWatch watch, std::vector<std::size_t> from_end)
      : watch_(std::move(watch)), from_end_(std::move(from_end)) {}
  void take_tape(const System& system);
  void calc(MotionSteps& steps, double t, std::span<double> f);
  void bound(MotionSteps& steps, double begin, double end, std::span<SummaryWatch::Unseen> f);

  SummaryWatch watch_;
  std::vector<std::size_t> from_end_;  ///< by item, of Sample::outputs
  Tape tape_;                          ///< of [t | q | q̇ | parameters]; no outputs where something else is asked for
  bool can_hide_ = false;              ///< something of it where points do not show it
  std::vector<double> inputs_, registers_, states_;
  std::vector<Interval> box_;
  BoxRoom room_;
};

}  // namespace mechanician
