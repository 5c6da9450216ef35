#pragma once

// A motion without contacts, or one phase of a motion with them: its steps, and what puts its parts together.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mechanician/motion/acceleration_derivatives.hpp"
#include "mechanician/motion/clock_noise.hpp"
#include "mechanician/motion/crossing_search.hpp"
#include "mechanician/motion/energy_ledger.hpp"
#include "mechanician/motion/event_search.hpp"
#include "mechanician/motion/last_step.hpp"
#include "mechanician/motion/motion_view.hpp"
#include "mechanician/motion/narrow_watch.hpp"
#include "mechanician/motion/phase_guards.hpp"
#include "mechanician/motion/poles.hpp"
#include "mechanician/motion/progress.hpp"
#include "mechanician/motion/stage_hold.hpp"
#include "mechanician/motion/switch_watch.hpp"

namespace mechanician {

class SmoothMotion : public MotionSteps {
 public:
  /// What makes a motion one phase of a longer one (phase_model.hpp).
  struct Phase {
    Dynamics::Guards guards;
    std::vector<Dynamics::Sliding> sliding;
    double energy_in_play = 0.0;  ///< before it
    std::optional<Sizes> sizes;   ///< of the motion so far; nothing: it begins here
    double largest_step = 0.0;  ///< so that nothing is stepped over; 0: a part of the run, which a phase does not know
    std::vector<double> event_signs = {}, pending_events = {};  ///< EventSearch::begin()
    int fired = -1;
    Dynamics::ForceSource forces = {};
    bool ready = false;  ///< rows are chosen, all of them, and the start is on them
    /// Contacts may be in the way of requirements of control: what is missed is for may_go_on() to look at.
    bool control_may_miss = false;
    std::vector<int> carried = {};                            ///< Dynamics::set_carried()
    std::function<Instant(const State&)> believes = nullptr;  ///< Dynamics::believes
    bool passes = false;                                      ///< it is over as it begins, by an impact
    bool grazes = false;                                      ///< PhaseGuards
    bool judged = false;  ///< that there is an acceleration at the start, and that it is on the constraints, is known
    /// Where multipliers are not unique no guard can be made of them, nor of what control would rather have contacts do: whether the phase
    /// may still go on at a state.
    std::function<bool(const State&)> may_go_on;
    /// Sampled control where contacts act: what is held from this state on; nothing: the phase ends there. Null: the motion knows by itself.
    std::function<std::optional<std::vector<double>>(const State&)> take_sample;
  };
  SmoothMotion(const System& system, State start, MotionOptions options);
  /// Of a system whose dynamics are there already, with the parameters that it has now.
  SmoothMotion(Dynamics dynamics, State start, MotionOptions options, Phase phase);

  bool advance() override;
  Sample sample(double t) override;
  std::span<const double> sample_later(double t) override;
  Sample complete_sample(double t, std::span<const double> y) override;
  const double* state_at(double t) override;
  Certificate certificate() const override;
  EnergyLedger ledger() const override { return ledger_; }
  std::vector<double> event_signs() const override { return events_inside_.sign; }
  std::vector<double> pending_events() const override { return events_inside_.pending(); }
  HeldControl held_control() const override;
  /// Whether control does not meet all that is asked for at a state of the last step.
  bool misses_requirement(const State& state);
  bool at_checkpoint() const override { return !implicit_ || restart_pending_; }
  bool is_implicit() const { return implicit_; }
  std::vector<double> checkpoint() const override;
  void restore(std::span<const double> from) override;
  bool can_hand_over() const override;
  const Sizes& sizes() const override { return dynamics_.sizes; }
  HandedMotion hand_over() const override;
  void take_back(const HandedMotion& from) override;
  void take_parameters() override;
  /// Statistics with the counts of the parts added.
  const Statistics& statistics() override;

  std::vector<std::string> doubts;  ///< why the certificate does not hold, apart from the numbers
  int guard = -1;                   ///< that ended the phase, by Dynamics::calc_guards
  bool may_not_go_on = false;       ///< the phase ended because of Phase::may_go_on
  double beyond = 0.0;              ///< it ended on a switch: so much later the state is beyond; 0: it did not
  bool broken = false;              ///< because constraints jump there
  State end_state() const override;
  double next_step() const { return h_; }
  const Dynamics& dynamics() const { return dynamics_; }
  Dynamics& dynamics() { return dynamics_; }

 private:
  bool place(double time);
  Sample without_forces(double time, const double* y) const;
  // ---- integrator_start.cpp
  void begin();
  bool find_rank();
  void note_forces();
  void doubt_near_rows(RowSet& set);
  double choose_first_step();
  bool start_on_singular();

  // ---- integrator_step.cpp
  struct Attempt {
    bool finite = false;
    double error = 0.0;  ///< ≤ 1: accepted
    bool branch_lost = false;
    bool noise_limited = false;
    bool robust = false;  ///< stages were computed by the robust path
  };
  Attempt try_step(double h, const StepPlan& plan);
  bool advance_explicit();
  void accept(double h, const StepPlan& plan, const Attempt& attempt);
  bool finish_step(double h);
  void settle_end();
  void look_inside();
  bool turn_side(int which);
  void fail_not_finite(double time, const double* y, const std::string& otherwise);
  void stay();

  // ---- integrator_bdf.cpp
  bool advance_implicit();
  bool go_back_to(const NarrowWatch::Place& place);
  void begin_implicit();
  void restart_implicit();
  /// whole_: y of the implicit method with the rates of states, which are no components of that.
  bool make_whole(double time, std::span<const double> y);
  void leave_out_rates(std::span<double> y) const;
  void watch_stiffness(double h);
  /// Sampled control: the time of the next sample; never where it is not sampled.
  double next_sample() const;
  bool is_sample_due() const;
  /// Whether what is fastest dies away, rather than oscillates.
  bool decays_fast(double scale);
  AccelerationDerivatives* find_derivatives();

  // ---- certificate.cpp
  void watch();
  void calc_dissipation();
  void watch_progress();
  void go_on_from_here();
  std::optional<Stop> find_contradiction(double time, const double* y);
  template <class Do>
  void each_number(Do&& number);

  Dynamics dynamics_;
  Phase phase_;
  LastStep step_;
  Statistics statistics_;
  MotionView view_{*this, dynamics_, step_, statistics_, doubts};
  CrossingSearch crossings_;
  SwitchWatch switches_;
  EventSearch events_inside_;
  PhaseGuards guards_;
  PoleWatch poles_;
  NarrowWatch narrow_;
  StageHold hold_;
  ClockNoise clock_;
  BadState bad_;  ///< a stage without a value, or a pole
  Progress progress_;
  EnergyLedger ledger_;
  Dynamics::Violation violation_;

  double h_ = 0.0;                ///< to be tried next
  double samples_from_ = 0.0;     ///< the time that samples of control count from
  bool start_almost_ = false;     ///< and is only almost on it
  bool start_singular_ = false;   ///< the first step has still to leave a singular configuration
  double dissipation_ = 0.0;      ///< power, where the balance is in doubt
  double error_ = 1.0;            ///< of the last step, in tolerances
  long end_call_ = 0;             ///< of rhs() at the end of the step
  double condition_begin_ = 1.0;  ///< smallest over largest pivot at the begin of the step
  int sigma_guard_ = 0;
  int points_left_ = 0, patience_ = 4;  ///< steps that end at the next point of a table, now and after the next failure
  bool passed_noted_ = false, limit_noted_ = false;
  std::vector<double> y_sample_, rate_sample_, placed_before_, e5_, e3_, scale_;

  bool implicit_ = false;
  std::shared_ptr<AccelerationDerivatives> derivatives_;  ///< made when they are first asked for, where they are known
  long bdf_call_ = 0;                                     ///< of rhs(), the last by the implicit method
  double condition_largest_ = 1.0;                        ///< seen by the implicit method
  double power_error_ = 0.0;                              ///< of the given forces, implicit method
  int stiff_hits_ = 0, not_stiff_hits_ = 0;
  bool stiffness_noted_ = false;
  double stiff_since_ = 0.0, stiff_pause_until_ = 0.0;
  long stiff_steps_ = 0;
  double explicit_rate_ = 0.0, explicit_step_ = 0.0;  ///< simulated time per evaluation before the change of method
  bool on_trial_ = false, restart_pending_ = false;
  double trial_since_ = 0.0;
  long trial_evaluations_ = 0;
  int steps_since_restart_ = 0;
  double narrow_step_ =
      0.0;  ///< the implicit method is near something narrow, and may go so far; 0: as far as it likes
  BdfStatistics bdf_before_;
  std::vector<double> whole_, whole_rate_;  ///< of make_whole(), and f of the last one
};

}  // namespace mechanician
