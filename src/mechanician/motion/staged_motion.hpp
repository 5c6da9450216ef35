#pragma once

// A motion whose system events change: stages one after the other (stage_model.hpp), and what happens between them.
//
// An event that changes the system ends a stage where it happens. Its changes are made one after the other; modes take the values that their
// expressions have at that instant. Then positions must satisfy what is engaged, and velocities jump onto it: to those nearest in the
// mass norm, as in an impact without restitution (impact.hpp). What is continuous goes on: positions, velocities where nothing was
// engaged, works, typical sizes. An event whose function has changed its sign by what another one did happens at the same instant.

#include <memory>
#include <string>
#include <vector>

#include "mechanician/motion/phased_motion.hpp"
#include "mechanician/motion/stage_model.hpp"

namespace mechanician {

class StagedMotion : public MotionSteps {
 public:
  StagedMotion(const System& system, State start, MotionOptions options);
  /// With systems that others use too.
  StagedMotion(const System& system, State start, MotionOptions options, StageSystems& stages);

  bool advance() override;
  Sample sample(double t) override;
  Certificate certificate() const override;
  const Statistics& statistics() override;
  bool at_checkpoint() const override { return inner_->at_checkpoint(); }
  std::vector<double> checkpoint() const override;
  void restore(std::span<const double> from) override;
  const Sizes& sizes() const override { return inner_->sizes(); }
  void take_parameters() override { inner_->take_parameters(); }
  State end_state() const override { return inner_->end_state(); }
  EnergyLedger ledger() const override;
  std::vector<double> event_signs() const override { return inner_->event_signs(); }
  std::vector<double> pending_events() const override { return inner_->pending_events(); }

 private:
  /// What past stages, and what happened between them, have added up to.
  struct Sums : MotionSums {
    ContactCertificate contacts;
    double friction_lost = 0.0, mode_work = 0.0;
    bool friction_known = true;
    long stages = 0;
  };
  template <class Do>
  static void each_number(Sums& sums, Do&& number);

  StagedMotion(const System& system, State start, MotionOptions options, std::unique_ptr<StageSystems> own,
               StageSystems* stages);
  void begin_stage(bool at_end = false);
  void leave_stage();
  void add_stage(Sums& sums) const;
  void take_events();
  /// Makes the changes of the event that has ended the stage. False: the motion is over.
  bool change();
  std::vector<std::string> make_changes(const Event& event, const Sample& at);
  bool meet_positions(const System& system, const Sizes& sizes, State& state, Evaluation& now, const std::string& when);
  /// `changed`: rows that were released or engaged.
  bool meet_velocities(const Stage& stage, const std::vector<std::string>& changed, State& state, Evaluation& now,
                       const std::string& when);
  bool watch_storm(const std::string& event, double time);
  double calc_potential(const State& state) const;

  std::unique_ptr<StageSystems> own_;
  StageSystems* stages_;
  std::vector<double> parameters_;  ///< of the whole system, as they are now
  std::vector<char> engaged_;       ///< by row
  std::vector<int> modes_, changing_;
  std::vector<Expr> forces_;  ///< that outputs and events use (list_forces)
  Stage* stage_ = nullptr;
  State stage_start_;
  Continuation before_;  ///< of the stage
  std::unique_ptr<MotionSteps> inner_;
  bool change_pending_ = false, stage_added_ = false;
  Sums sums_;
  Statistics statistics_;
  std::vector<std::string> doubts_;
  double storm_since_ = 0.0;  ///< where the changes began that are counted
  long storm_ = 0;
  std::vector<std::string> storm_events_;
};

}  // namespace mechanician
