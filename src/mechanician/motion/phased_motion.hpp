#pragma once

// A motion with one-sided constraints or friction: smooth phases (phase_model.hpp), and what happens between them.
//
// A phase ends where a gap closes, a multiplier would turn negative, a slip comes to rest or a sticking contact can no
// longer hold: each is the zero of a guard, found on the dense output. Then velocities jump where gaps close
// (impact.hpp) and what each contact does next is decided at that instant (contacts.hpp).
//
// Rebounds that have become slower than the tolerance, measured by the speeds of this motion, or so low or short that
// rounding of positions or of the clock shows are taken as contact; the time at which the infinitely many impacts that
// would follow end, t∞ = t + 2γ/(|φ̈|(1 − e)), is the time of the event.

#include <memory>
#include <vector>

#include "mechanician/instant/accelerate.hpp"
#include "mechanician/motion/integrator_impl.hpp"
#include "mechanician/motion/motion_sums.hpp"
#include "mechanician/motion/phase_model.hpp"

namespace mechanician {

/// What a motion takes over from one that has ended where it begins (staged_motion.hpp).
struct Continuation {
  std::vector<double> event_signs = {}, pending_events = {};  ///< EventSearch::begin()
  std::vector<double> works_before = {};                      ///< Dynamics::ForceSource
  double energy_in_play = 0.0;
  std::optional<Sizes> sizes = {};  ///< nothing: the motion begins here
  double first_step = 0.0;
  int fired = -1;  ///< an event that has just happened: a jump of its function is none
};

class PhasedMotion : public MotionSteps {
 public:
  PhasedMotion(const System& system, State start, MotionOptions options);
  /// With phase systems that others use too.
  PhasedMotion(const System& system, State start, MotionOptions options, PhaseSystems& phases,
               Continuation before = {});

  bool advance() override;
  Sample sample(double t) override;
  const double* state_at(double time) override { return smooth_->state_at(time); }
  Certificate certificate() const override;
  const Statistics& statistics() override;
  bool at_checkpoint() const override { return smooth_ && smooth_->at_checkpoint(); }
  std::vector<double> checkpoint() const override;
  void restore(std::span<const double> from) override;
  bool can_hand_over() const override;
  const Sizes& sizes() const override { return smooth_->sizes(); }
  HandedMotion hand_over() const override { return smooth_->hand_over(); }
  void take_back(const HandedMotion& from) override;
  void take_parameters() override;
  State end_state() const override { return jumped_to_ ? *jumped_to_ : smooth_->end_state(); }
  EnergyLedger ledger() const override;
  std::vector<double> event_signs() const override { return signs_.empty() ? smooth_->event_signs() : signs_; }
  std::vector<double> pending_events() const override { return signs_.empty() ? smooth_->pending_events() : pending_; }
  HeldControl held_control() const override;

 private:
  /// What past phases and impacts have added up to.
  struct Sums : MotionSums {
    double impact_lost = 0.0, impact_friction_lost = 0.0, surface_work = 0.0;
    double penetration = 0.0, optimality = 0.0, complementarity = 0.0;
    long impacts = 0, phases = 0;
  };
  template <class Do>
  static void each_number(Sums& sums, Do&& number);

  // ---- phased_motion.cpp
  std::vector<ContactStatus> statuses() const;
  std::shared_ptr<const PhaseSystem> phase_system() { return systems_->of(statuses(), start); }
  void take_direction(std::size_t c, Contact& contact) const;
  bool mode_goes_on(const State& there, const Eigen::VectorXd& control) const;
  bool find_unique(const State& state);
  /// `ready`: move_onto() has chosen the rows of the phase and moved the state onto them.
  void begin_phase(State state, double until, bool ready = false);
  void make_smooth(const State& state, double until, bool ready = false);
  void leave_phase();
  bool control_goes_on(const State& there);
  std::vector<Contact> contacts_of_phase(const State& there, const Evaluation& now) const;
  bool keeps_modes(const Instant& instant) const;
  bool find_pulling();
  bool find_relieved();
  bool may_be_carried(std::size_t c) const;
  bool carried_goes_on(const State& there);

  // Sampled control: between samples it is a given force, and contacts do what they do with it.
  bool is_sampled() const { return system->equations().control.every.has_value(); }
  /// The number of the sample at a time; nothing: none is due there.
  std::optional<double> sample_due(double time) const;
  /// Takes the sample that is due, if one is. False: there is none, and the motion is over.
  bool take_sample(const State& state, const Evaluation& now, const std::vector<Contact>& contacts,
                   const std::string& when);
  std::optional<std::vector<double>> take_sample_inside(const State& state);
  /// In phases without contacts that act the motion takes its samples by itself.
  void take_held();
  AccelerateOptions quickly() const;
  void add_phase(Sums& sums) const;
  void take_events();
  Sample of_whole(const Sample& of_phase);

  // ---- phase_believed.cpp
  std::vector<Dynamics::Sliding> sliding_of(const PhaseSystem& phase) const;
  void prepare_believed();
  std::optional<Instant> believe_as_here(const State& there);
  Instant believe(const State& there);

  // ---- phase_change.cpp
  struct Settling {
    double until = 0.0;
    std::vector<std::size_t> contacts;
  };
  /// What is known while one phase goes over into the next.
  struct Change {
    State state, end = {};  ///< as it becomes, and where the phase has ended
    std::vector<ContactMode> old;
    std::optional<GuardMeaning> why = {};
    std::string when = {};
    Settling settling = {};
    Eigen::VectorXd before_moving = {};  ///< velocities, after impacts
    Eigen::VectorXd qdd = {};            ///< where the phase has ended, if a slip did that
    Eigen::VectorXd qdd_held = {};       ///< if it could not go on
    bool jumped = false, ready = false;  ///< begin_phase()
    bool broken = false;                 ///< surfaces have: what acted may not touch any longer, or collide
    bool is(std::size_t c, GuardMeaning::What what) const { return why && why->contact == c && why->what == what; }
  };
  /// Impulses below this part of the momentum that their coordinates can have are rounding.
  static constexpr double felt = 1e-9;

  void measure(const State& end);
  std::vector<std::string> take_settled(double until);
  bool change_phase();
  void change_generally(Change& change);
  std::vector<Contact> find_contacts(const Change& change, const Evaluation& now);
  bool find_unbroken(const Change& change, const Evaluation& now);
  void take_from_phase(const Change& change, std::size_t c, Contact& contact);
  void look_ahead(const Change& change, std::vector<Contact>& contacts) const;
  std::optional<Instant> decide_next(const Change& change, const Evaluation& now, std::vector<Contact>& contacts);
  void move_on(Change& change, Evaluation& now, const std::vector<Contact>& contacts);
  void tell(const Change& change);
  void watch_impacts(double time);
  bool gets_on();
  /// A rebound that is not followed.
  bool is_low(double rate, double acceleration, double rate_size, double gap_noise, double time) const;
  bool jump(State& state, Evaluation& now, std::vector<Contact>& contacts);
  std::optional<Instant> decide(const State& state, const Evaluation& now, const std::vector<Contact>& contacts,
                                const std::string& when);
  /// Whether there is an acceleration; if not, the motion is over.
  bool has_acceleration(const Instant& instant, const std::string& when);
  void note_missed(const Instant& instant, const std::string& when);
  bool move_onto(const std::vector<ContactStatus>& statuses, State& state, const Dynamics::ProjectOptions& options);
  Settling settle(const State& state, const Evaluation& now, std::vector<Contact>& contacts, Instant& instant);
  void set_modes(const Instant& instant);
  void add_event(EventKind kind, double time, std::vector<std::string> names, const State& state,
                 const Eigen::VectorXd& before);
  void find_jumped_events(const State& before, const State& after);
  std::string contact_name(std::size_t c) const { return system->row_name(system->equations().contacts[c].row); }

  // ---- phase_impact.cpp
  struct PlainImpact {
    RowSet rows = {};
    double restitution = 0.0;
    Eigen::VectorXd change = {}, impulses = {}, push = {};  ///< of velocities, by row, of positions
  };
  bool is_plain(std::size_t closing, const State& state, const Dynamics& dynamics) const;
  std::optional<PlainImpact> find_plain_impact(std::size_t closing, const State& state);
  bool find_plain_phase(std::size_t closing, const PlainImpact& impact, State& state);
  /// False: not as simple as that, and nothing has changed.
  bool jump_plainly(std::size_t closing, State& state);

  PhasedMotion(const System& system, State start, MotionOptions options, std::unique_ptr<PhaseSystems> own,
               PhaseSystems* phases, Continuation before);
  Dynamics::ForceSource force_source();
  void calc_ideal_forces(const State& state, const Eigen::VectorXd& control, std::span<double> forces) const;
  /// Forces of the ideal case: of the touching contacts without friction. Nothing where they are not known.
  struct Ideal {
    Eigen::VectorXd lambda;
    Evaluation now;
  };
  std::optional<Ideal> find_ideal(const State& state, const Eigen::VectorXd& control) const;
  bool rubs() const;

  std::unique_ptr<PhaseSystems> own_systems_;
  PhaseSystems* systems_;
  std::vector<ContactMode> modes_;
  bool multipliers_unique_ = true;
  bool spreads_ = false;                    ///< Dynamics::Sliding: contacts of this phase do
  std::vector<Eigen::Index> undetermined_;  ///< rows of the phase whose multipliers are not unique where it begins
  State phase_start_;
  double phase_until_ = 0.0;
  std::shared_ptr<const PhaseSystem> phase_;
  std::shared_ptr<const System> believed_;  ///< by the controller
  std::unique_ptr<System> believed_alone_;  ///< the same, as a system that is what it believes
  std::unique_ptr<PhaseSystems> believed_systems_;
  std::unique_ptr<Dynamics> believed_phase_;  ///< with contacts that do there what they do here; null: not known
  struct {
    double since = 0.0;
    int phases = 0;
  } stuck_;  ///< where phases were too short to count
  std::unique_ptr<SmoothMotion> smooth_;
  std::vector<GuardMeaning> meanings_;
  bool change_pending_ = false;
  bool grazes_ = false;             ///< where the phase begins a gap is zero that neither closes nor opens clearly
  bool phase_added_ = false;        ///< the sums hold the phase that has just ended
  double works_then_ = 0.0;         ///< of all so far, where it has
  std::vector<double> settles_at_;  ///< by contact: where its impacts accumulate, if it holds until then; else infinity
  HeldControl held_;                ///< of sampled control
  double sampled_ = -1.0;           ///< the number of the last sample
  bool samples_inside_ = false;     ///< by take_sample_inside(), in this phase
  std::vector<char> missed_noted_;  ///< by requirement
  MotionSize size_;                 ///< q: the way of the last phase; qd: the largest speeds so far
  bool friction_alone_ = false;     ///< all non-ideal work is done by friction against slips of surfaces at rest
  bool impact_lowered_noted_ = false, uniqueness_noted_ = false, shared_noted_ = false;
  Sums sums_;
  Statistics statistics_;
  std::vector<std::string> doubts_;
  double many_since_ = 0.0;
  Continuation before_;
  std::vector<Expr> forces_;             ///< that outputs and events use (list_forces)
  std::optional<State> jumped_to_;       ///< an event has ended the motion where velocities have jumped
  std::vector<double> signs_, pending_;  ///< of events there
};

}  // namespace mechanician
