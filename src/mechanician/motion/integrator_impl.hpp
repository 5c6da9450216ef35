#pragma once

// A motion without contacts, or one phase of a motion with them. The parts of a step are in integrator_*.cpp.

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mechanician/motion/acceleration_derivatives.hpp"
#include "mechanician/motion/bdf.hpp"
#include "mechanician/motion/crossing.hpp"
#include "mechanician/motion/dop853.hpp"
#include "mechanician/motion/dynamics.hpp"
#include "mechanician/motion/motion_steps.hpp"
#include "mechanician/motion/progress.hpp"
#include "mechanician/motion/roots.hpp"

namespace mechanician {

class SmoothMotion : public MotionSteps {
 public:
  /// What makes a motion one phase of a longer one (phase_model.hpp).
  struct Phase {
    Dynamics::Guards guards;
    std::vector<Dynamics::Sliding> sliding;
    double largest_step = 0.0;  ///< so that nothing is stepped over; 0: a part of the run, which a phase does not know
    /// Where multipliers are not unique no guard can be made of them: whether the phase may still go on at a state.
    std::function<bool(const State&)> may_go_on;
  };
  SmoothMotion(const System& system, State start, MotionOptions options);
  /// Of a system whose dynamics are there already, with the parameters that it has now.
  SmoothMotion(Dynamics dynamics, State start, MotionOptions options, Phase phase);

  bool advance() override;
  Sample sample(double t) override;
  Certificate certificate() const override;
  bool at_checkpoint() const override { return !implicit_ || restart_pending_; }
  std::vector<double> checkpoint() const override;
  void restore(std::span<const double> from) override;
  bool can_hand_over() const override;
  HandedMotion hand_over() const override;
  void take_back(const HandedMotion& from) override;
  /// Statistics with the counts of the parts added.
  const Statistics& statistics() override;

  std::vector<std::string> doubts;  ///< why the certificate does not hold, apart from the numbers
  int guard = -1;                   ///< that ended the phase, by Dynamics::calc_guards
  bool may_not_go_on = false;       ///< the phase ended because of Phase::may_go_on
  State end_state() const;
  const Dynamics& dynamics() const { return dynamics_; }
  Dynamics& dynamics() { return dynamics_; }

 private:
  // ---- integrator_start.cpp
  void begin();
  bool find_rank();
  void doubt_near_rows(RowSet& set);
  bool set_first_sides();
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
  double calc_clock_noise(double h);
  Attempt try_step(double h, const StepPlan& plan);
  bool advance_explicit();
  void see_whether_holding_helps(double h, double error_before, double error);
  void accept(double h, const StepPlan& plan, const Attempt& attempt);
  bool finish_step(double h);
  bool make_dense();
  /// A cubic through both ends, without any evaluation: positions and velocities.
  void rough_state(double theta, double* y);
  bool calc_sines_along(double h, std::span<const double> thetas, bool roughly);
  /// A zero of a divisor in the step just made at which the acceleration has no bound: what it is, and where.
  bool find_pole();
  void settle_end();
  bool pass_guard(int tries);
  /// The state of the last step at a time, unprojected; rate: dy/dt.
  void state_at(double time, double* y, double* rate);
  void fail(StopReason reason, std::string message, Place place = {});
  void fail_not_finite(double time, const double* y, const std::string& otherwise);
  void finish(StopReason reason, std::string message = {});
  void stay();

  // ---- integrator_events.cpp
  /// The first switch in the step just made; −1: none.
  int find_switch(double h, double& when);
  bool turn_side(int which);
  void turn_others(int which);
  void take_next_sides();
  void find_user_events();
  double calc_switch_direction(int which);

  // ---- integrator_guards.cpp
  bool has_guards() const { return dynamics_.num_guards() > 0 || phase_.may_go_on; }
  void begin_guards();
  void find_guard();

  // ---- integrator_crossings.cpp
  /// Where a zero is looked for, in parts of the step.
  struct Near {
    double low = 0.2, high = 0.75, width = 0.05;
    int row = -1;  ///< of the sines; −1: the weakest
  };
  bool find_crossing(double h, double& place, CrossingPredictor::Spectrum& s, const Near& near);
  bool is_true_crossing(double h, const StepPlan& plan);
  bool is_true_crossing_of_many(double h, const StepPlan& plan);
  void report_crossings(double h, const StepPlan& plan, bool noise_limited);
  bool report_crossing(double h, double place, const StepPlan& plan, bool noise_limited, const Near& near);
  double find_least_sine(double h, double place, const Near& near);
  void find_passed_crossings();
  void find_passed_by_vectors(double begin, double end);

  // ---- integrator_bdf.cpp
  bool advance_implicit();
  void begin_implicit();
  void restart_implicit();
  void watch_stiffness(double h);
  /// Whether what is fastest dies away, rather than oscillates.
  bool decays_fast(double scale);
  AccelerationDerivatives* find_derivatives();

  // ---- certificate.cpp
  void watch();
  void watch_progress();
  std::optional<Stop> find_contradiction(double time, const double* y);
  template <class Do>
  void each_number(Do&& number);

  Dynamics dynamics_;
  Phase phase_;
  std::vector<double> guard_begin_, guard_floor_, guard_noise_;
  std::vector<double> guard_clear_;  ///< 1: has been clearly positive in this phase
  long end_call_ = 0;                ///< of rhs() at the end of the step
  Dop853 rk_;
  CrossingPredictor predictor_;
  std::unique_ptr<Bdf> bdf_;
  std::shared_ptr<AccelerationDerivatives> derivatives_;  ///< made when they are first asked for, where they are known
  long bdf_call_ = 0;                                     ///< of rhs(), the last by bdf_

  double h_ = 0.0;       ///< to be tried next
  double step_t_ = 0.0;  ///< begin and length of the last step as computed: the end of the run may lie inside
  double step_h_ = 0.0;
  bool start_almost_ = false;    ///< and is only almost on it
  bool start_singular_ = false;  ///< the first step has still to leave a singular configuration
  bool dense_made_ = false;
  bool implicit_ = false;
  bool last_was_crossing_ = false;
  double crossing_time_ = 0.0;   ///< of the last crossing step
  double crossing_reach_ = 0.0;  ///< samples nearer than this take their acceleration from dense output
  std::vector<SingularRoot> roots_ahead_;
  double last_crossing_ = -std::numeric_limits<double>::infinity();
  double hold_until_ =
      -std::numeric_limits<double>::infinity();  ///< stages are held on the constraints near singular states
  /// Holding stages was in vain lately, with steps of this size.
  double in_vain_until_ = -std::numeric_limits<double>::infinity(), in_vain_step_ = 0.0, in_vain_pause_ = 0.0;
  bool last_held_ = false, last_robust_ = false;
  double bad_t_ = -std::numeric_limits<double>::infinity();  ///< where a stage had no value last
  std::vector<double> bad_y_;
  std::vector<double> pole_values_, divisor_middle_, divisor_largest_;
  double acceleration_integral_ = 0.0;  ///< ∫ max|q̈| dt
  std::string pole_;                    ///< the divisor that find_pole() found
  double guard_passed_t_ = std::numeric_limits<double>::quiet_NaN();
  double clock_noise_ = 0.0, clock_power_ = 0.0, clock_noise_t_ = std::numeric_limits<double>::quiet_NaN();
  bool clock_noted_ = false, passed_noted_ = false;
  double no_crossing_before_ =
      -std::numeric_limits<double>::infinity();  ///< what comes near zero before is a near miss
  Progress progress_;
  double condition_begin_ = 1.0;  ///< smallest over largest pivot at the begin of the step
  int sigma_guard_ = 0;
  double condition_largest_ = 1.0;  ///< seen by the implicit method
  std::vector<double>
      next_sides_;  ///< after a switch at the end of the last step; those of the step stay for its samples
  std::vector<double> sines_along_, along_t_, along_y_, thetas_;
  CrossingPredictor::Split split_;  ///< of split_time_
  double split_time_ = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> y_sample_, rate_sample_, e5_, e3_, scale_, g_begin_, g_noise_, landing_floor_, event_sign_,
      event_noted_;
  int stiff_hits_ = 0, not_stiff_hits_ = 0;
  bool stiffness_noted_ = false;
  double stiff_since_ = 0.0, stiff_pause_until_ = 0.0;
  long stiff_steps_ = 0;
  double explicit_rate_ = 0.0, explicit_step_ = 0.0;  ///< simulated time per evaluation before the change of method
  bool on_trial_ = false, restart_pending_ = false;
  bool last_implicit_ = false;  ///< the last step was
  double trial_since_ = 0.0;
  long trial_evaluations_ = 0;
  int steps_since_restart_ = 0;
  double switches_since_ = 0.0;
  double kinetic_start_ = 0.0, kinetic_ = 0.0;
  double power_error_ = 0.0;  ///< of the given forces, implicit method
  double energy_exchanged_ = 0.0;
  double energy_scale_ = 0.0;  ///< at t
  double balance_largest_ = 0.0, balance_allowed_ = 1e-14;
  Dynamics::Violation violation_;
  long noise_limited_ = 0;
  Statistics statistics_;
  BdfStatistics bdf_before_;
};

}  // namespace mechanician
