#pragma once

/// y' = f(t, y) for y = (q, q̇, works), and the projection of y onto the constraints: the inner loop of a motion.
///
/// Numbers come from EquationValues, solutions from CompiledPrograms where these vouch for them, else from KktFactors:
/// this class knows which rows act, and puts the two together.
///
/// Which rows are kept (a largest independent set) is chosen at the begin of a step and held through its stages: choosing
/// anew at every stage would make f discontinuous for redundant constraints. The sides of abs, sign, min, max and `if`
/// are held in the same way (switches.hpp). Nothing is allocated after construction, but where measured rows depend on others.
///
/// Works: given, ideal, nonideal, control, then one for each constraint row.

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mechanician/instant/control.hpp"
#include "mechanician/instant/system.hpp"
#include "mechanician/motion/compiled_programs.hpp"
#include "mechanician/motion/copied.hpp"
#include "mechanician/motion/equation_values.hpp"
#include "mechanician/motion/kkt_factors.hpp"
#include "mechanician/motion/motion_record.hpp"
#include "mechanician/motion/open_control.hpp"
#include "mechanician/motion/sizes.hpp"
#include "mechanician/solve/eigen_decompositions.hpp"

namespace mechanician {

class Dynamics {
 public:
  explicit Dynamics(const System& system);
  explicit Dynamics(std::unique_ptr<EquationValues> values);
  Dynamics(std::unique_ptr<EquationValues> values, std::unique_ptr<KktFactors> factors);

  /// What compiled code of a family of motions is made for, whichever motion needs it first.
  struct Nominal {
    State state;
    std::vector<double> parameters;
    std::vector<int> varied;
  };
  /// Before anything else is asked of it, and before it is copied.
  void keep_code(const Nominal& nominal);
  /// The values of parameters that the system has now.
  void take_parameters();

  const EquationFacts& facts() const { return values_->facts(); }
  EquationValues& values() const { return *values_; }
  KktFactors& factors() const { return *factors_; }
  /// The equations where they are written out; else null.
  const WrittenEquations* written() const { return dynamic_cast<const WrittenEquations*>(&*values_); }
  int n() const { return n_; }
  int num_constraints() const { return num_constraints_; }
  int num_actuators() const { return static_cast<int>(facts().control.actuators.size()); }
  int num_works() const { return 4 + num_constraints_ + num_actuators(); }
  int size() const { return 2 * n_ + num_works(); }

  const std::vector<SwitchFacts>& switches() const { return facts().switches; }
  const std::vector<double>& sides() const { return values_->sides; }
  std::vector<double>& sides() { return values_->sides; }
  /// Switching functions at a state, with the sides as they are. False where a value is not finite.
  bool calc_switches(double t, const double* y, std::span<double> g);
  /// The sides of a state away from switches, as far as they do not depend on reactions.
  void take_sides(double t, const double* y);
  /// Sizes of the terms that the switching functions are made of, times eps: what counts as zero.
  void calc_switch_noise(double t, const double* y, std::span<double> noise);
  /// dg/dt along the motion, for the rate dy that rhs() gave, with what rounding there is in it. Nothing, or not a number, where g
  /// depends on reactions, whose rates are not known.
  struct SwitchRate {
    double value = 0.0, noise = 0.0;
  };
  bool calc_switch_rates(double t, const double* y, const double* dy, std::span<double> rates, std::span<double> noise);
  std::optional<SwitchRate> calc_switch_rate(int which, double t, const double* y, const double* dy);
  /// What stands below fraction lines (divisors.hpp).
  void calc_divisors(double t, const double* y, std::span<double> values);

  // ---- dynamics_sines.cpp
  /// For each row that counts (rows_of_sines) the sine of its angle to rows before it, in the mass metric, times what
  /// is left of its size at the start: one of them vanishes where, and only where, the rank drops. Cheap where the
  /// equations are compiled. Empty where rows have no value.
  std::span<const double> calc_sines(double t, const double* y);
  /// The same at several states at once, each of 2n numbers: those of state k begin at sines[k·rows]. Cheaper than one by
  /// one, and the same bits. False where rows have no value at one of them.
  bool calc_sines_of(std::span<const double> times, const double* states, double* sines);
  const std::vector<int>& rows_of_sines() const { return sine_rows_; }
  /// The same of all rows together, with those that are left out because they depend on others: the smallest pivot that
  /// counts. Rows that were chosen may become dependent where the rank does not drop: where a row that was left out comes
  /// in for them.
  double calc_weakest_of_all(double t, const double* y);
  /// By how much the rows have turned since the last call, the largest change over the size.
  double calc_turn(double t, const double* y);
  /// Sizes at a state as those that rows are compared with. Rows that vanish there get theirs as they grow.
  void set_row_sizes(double t, const double* y);
  bool has_growing_rows() const { return std::find(row_grows_.begin(), row_grows_.end(), true) != row_grows_.end(); }
  std::vector<double>& row_sizes() { return row_size_; }  ///< of rows_of_sines(), squared

  /// Of the motion so far; begun where rows are chosen first.
  Sizes sizes;
  /// For Sizes::begin().
  const std::vector<int>& state_groups() const { return state_groups_; }
  /// A state, and the forces there, are seen by them.
  void size_forces(double t, const double* y);
  /// The forces of the state of the last rhs() are.
  void size_forces() { sizes.set_forces(numbers_of_last().Q); }

  // ---- dynamics_rows.cpp
  RowSet all, positions, velocities;
  /// Rows that are not there, one flag for each: a phase of a motion with contacts. Nothing slides. Before anything is chosen.
  void set_absent(std::vector<char> absent);
  /// The flags; empty: all rows are there.
  const std::vector<char>& absent() const { return values_->absent; }
  /// Sizes of rows and weights of coordinates, for this and copies of it: else they are those of the first state.
  void measure(const State& state);
  /// Of the last choice: none depends on others.
  bool keeps_all_rows() { return settle_rows(), !weighed_ && all.kept.size() == all.candidates.size(); }
  /// How much rounding is magnified in accelerations at the state of the last choose_rows().
  double condition() const { return rows_far_ ? 1.0 / weakest_sine_ : all.condition(); }
  bool singular_mass() const { return factors_->singular_mass; }
  /// Chooses the kept rows at a state. False where M, A are not finite or M is no mass matrix.
  bool choose_rows(double t, const double* y);
  /// Measured rows depend on others: what they can attain is to be found at each state (dynamics_measured.cpp).
  bool is_weighed() const { return weighed_; }
  /// Those whose multipliers A q̈ = b determines, of the last choice.
  const std::vector<int>& rows_that_act() const { return weighed_ ? measured_.exact.kept : all.kept; }
  /// Rows without a gradient from the start on: they never act.
  std::vector<char> inert;
  bool is_zero_row(int j) const { return zero_row_[static_cast<std::size_t>(j)]; }
  /// Zero or inert, of the last choice.
  const std::vector<char>& rows_off() const { return off_; }
  /// Size of the terms of row j of A at the start.
  double start_size(int j) const { return start_size_[static_cast<std::size_t>(j)]; }

  // ---- dynamics.cpp
  /// dy = f(t, y). False where a value is not finite or there is no solution. By the compiled equations where they can
  /// vouch for the answer, else by the factors.
  bool rhs(double t, const double* y, double* dy);
  bool rhs_by_factors(double t, const double* y, double* dy);
  /// Compiles the equations, with the rows that are kept now. To be called once, after choose_rows(); `rows_may_grow`:
  /// this is near a singular state, where rows need not have their usual sizes.
  void compile(double t, const double* y, bool rows_may_grow = false);
  bool is_compiled() const { return static_cast<bool>(fast_); }
  const std::string& path() const { return path_; }  ///< how accelerations are computed, or why not by compiled code
  bool prefer_robust = false;                        ///< near singular states, where digits count
  long robust_evaluations = 0;                       ///< that the quick way could not vouch for, or was not asked for
  bool has_quick_way() const { return fast_ || factors_->is_sparse(); }
  /// By row, zero of rows that are not kept, with everything that acts; of the last rhs_by_factors().
  const std::vector<double>& kept_multipliers() const { return has_nonideal_ ? lambda_joint_ : lambda_; }
  std::span<const double> qdd() const { return {qdd_.data(), static_cast<std::size_t>(n_)}; }

  // ---- dynamics_project.cpp
  struct ProjectOptions {
    int most_iterations = 8;
    bool positions = true, velocities = true;
    double enough = 1e-17;  ///< what may be left, over what is near; Newton steps square it
  };
  struct Projected {
    bool ok = false;
    double moved_q = 0.0, moved_qd = 0.0;  ///< largest change over what is near (Sizes)
    double phi = 0.0, rate = 0.0;          ///< largest |φ| and |φ̇|, |ψ| before the last correction
  };
  /// Onto the constraints, least in the mass norm.
  Projected project(double t, double* y) { return project(t, y, ProjectOptions{}); }
  Projected project(double t, double* y, const ProjectOptions& options);
  /// How much rounding of a state may come to in q and q̇ once it is projected: nothing to speak of, but near singular states,
  /// where a weak row of sine s leaves eps/s in positions and eps/s² in velocities. Zero where that is far below `enough`.
  void calc_projection_noise(double t, const double* y, double enough, std::span<double> noise);
  /// project() and then rhs(), in one where both are compiled.
  bool rhs_held(double t, double* y, double* dy, const ProjectOptions& options);
  /// Largest |φ|, |φ̇| and |ψ| at a state, and of measured rows.
  struct Violation {
    double position = 0.0, velocity = 0.0, measured = 0.0;
    double inert = 0.0;   ///< of rows that do not act
    double scaled = 0.0;  ///< largest distance to a constraint over the extent or the speed (Sizes)
  };
  Violation calc_violation(double t, const double* y);
  /// Velocities of states become what their rates say there, with the sides as they are. False where a rate has no value.
  bool set_state_rates(double t, double* y);
  /// Removes from a velocity-like vector what the constraints forbid at a state on them.
  bool project_tangent(double t, const double* y, double* v);

  /// Of the state of the last rhs(): by how much rows that are not kept miss A q̈ = b, relative to their terms.
  double last_mismatch();
  /// Of the state of the last rhs(): the smallest kept row over its size at the start.
  double last_weakest();
  /// Of the state of the last rhs(): ½ q̇ᵀM q̇, and the change of energy that errors of relative size 1 in y would make.
  double last_kinetic(const double* y);
  double last_energy_scale(const double* y);

  /// M, A and residuals at a state, for matrices() and the two below.
  bool evaluate_rows(double t, const double* q, const double* qd);
  double residual_of(int j) const { return values_->row_numbers().residual[j]; }
  /// M and A of the last evaluation, whichever it was.
  KktFactors::Matrices matrices() const { return last_; }
  /// entry(coordinate, value) for each entry of row j of A there.
  template <class Do>
  void each_entry(int j, Do&& entry) const {
    const EquationFacts& f = facts();
    for (const int* s = f.row_slots.first(j); s != f.row_slots.last(j); ++s) entry(f.pattern.A[*s].col, last_.A[*s]);
  }
  /// Row j of A there, dense.
  void copy_row(int j, double* a) const;

  // ---- dynamics_sample.cpp
  /// All there is to say about a state; qdd_given, where not null, in the place of the pointwise solution (near singular
  /// states, where that is rounding).
  std::optional<Sample> calc_sample(double t, const double* y, const double* qdd_given = nullptr);
  /// Whether calc_sample() is a function of the state alone now: no rows are left out, nothing is held through the step.
  bool has_plain_samples() const;
  /// Then: whether it finds everything at a state, as far as compiled code can tell. If so complete_sample() has the same bits, whatever the motion
  /// has come to since.
  bool finds_sample_later(double t, const double* y);
  std::optional<Sample> complete_sample(double t, const double* y);
  /// Where forces that outputs and events use come from, besides this phase of the motion. By facts().forces.
  struct ForceSource {
    std::vector<double> works_before = {};  ///< of work(NAME): what was done before; empty: nothing
    /// Puts ideal(x) and power(NAME) in their places, where those of the ideal case are not what this phase knows. Null: it knows them.
    std::function<void(const State&, const Eigen::VectorXd& control, std::span<double> forces)> ideal = nullptr;
  };
  void set_force_source(ForceSource source) { force_source_ = std::move(source); }
  /// `when` of the events of the model. False where a value is not finite.
  bool calc_events(double t, const double* y, std::span<double> when);
  /// What is not known of `when`: by rounding, and because the state is known up to `tolerance` over typical sizes only.
  void calc_event_noise(double t, const double* y, double tolerance, std::span<double> noise);
  /// What `when` lies between where the state does. False: not known.
  bool bound_events(const StateBox& box, std::span<Interval> when);
  bool bound_switches(const StateBox& box, std::span<Interval> g);
  /// Functions that change sign where an expression in an event switches.
  int num_event_switches() const { return facts().num_event_switches; }
  bool calc_event_switches(double t, const double* y, std::span<double> g);

  // ---- dynamics_control.cpp
  /// Of the last rhs_by_factors(); empty where nothing is controlled.
  const Eigen::VectorXd& control_force() const { return control_.u; }
  std::size_t num_control_switches() const { return facts().control_switches.size(); }
  /// Of the switches, those of expressions.
  std::size_t num_expression_switches() const { return facts().switches.size() - num_control_switches(); }
  /// What acts at a state, found anew: the sides of limits and one-sided requirements.
  void settle_control(double t, const double* y);
  /// Whether what acts can be told by more than thresholds (LimitPulls), of the last calc_switches().
  bool control_is_clear() const { return control_.is_clear; }
  /// Requirements that cannot be met are missed, rather than that there is no acceleration.
  bool control_may_miss = false;
  /// Whether one was, of the last rhs_by_factors().
  bool misses_requirement() const { return control_.missed; }
  /// What the controller takes for right, where contacts do in the model that it believes in what they need not do here. Null: there are none.
  std::function<Instant(const State&)> believes;
  /// Rows of contacts that control keeps closed: it presses just so much that they do not pull.
  void set_carried(std::vector<int> rows) { carried_ = std::move(rows); }
  /// Whether it did so with all of them, of the last rhs_by_factors().
  bool carries() const { return control_.carries; }
  /// The actuator whose effort was furthest beyond a limit, by that part of the limits; −1: none was.
  struct PassedLimit {
    int actuator = -1;
    double part = 0.0;
  };
  PassedLimit find_passed_limit() const;
  /// Sampled control: what is held from now on. Where it is not sampled, nothing. False: there is none.
  bool sample_control(double t, const double* y);
  /// [whether there is a sample | τ, or without actuators u]; empty where control is not sampled.
  std::vector<double> held_control;
  void hold_control(std::span<const double> efforts);
  std::optional<double> control_every() const { return facts().control.every; }

  // ---- dynamics_surfaces.cpp
  /// Where the motion goes on along g = 0 of switches.
  struct Surface {
    std::vector<int> switches;  ///< with one g, up to its sign: their sides turn together
    double share = 0.0;         ///< α: of the field with these sides turned, of the last calc_shares()
  };
  const std::vector<Surface>& surfaces() const { return surfaces_; }
  /// From now on rhs() and samples are those along these surfaces; `sides` are those of one side of each.
  void set_surfaces(std::vector<Surface> surfaces);
  /// False where they are not determined.
  bool calc_shares(double t, const double* y) { return calc_shares(t, y, false); }
  /// By how much both sides together drive to a surface; negative: away. Of the last calc_shares().
  double attraction(std::size_t surface) const {
    const auto i = static_cast<Eigen::Index>(surface);
    return sides()[static_cast<std::size_t>(surfaces_[surface].switches.front())] * surface_jumps_(i, i);
  }
  /// Velocities onto g = 0, along the jumps of the acceleration. False where that is not possible.
  bool hold_on_surfaces(double t, double* y);
  /// Whether each adds its own jump to the acceleration.
  bool surfaces_add_up(double t, const double* y);

  // ---- dynamics_contacts.cpp
  /// A constraint with friction that slides (model.hpp): its friction force is −μ|λ| Tᵀ d, d the direction of the slip,
  /// λ its multiplier with all forces acting; or −F Tᵀ d, where it has a largest force F of its own. Every contact of the system is one; what is held through a step:
  struct Sliding {
    int row = 0, num_slips = 1;
    double sign = 1.0;                  ///< of λ
    std::array<double, 2> direction{};  ///< of the slip: ±1, or a unit vector that is near
    bool shares =
        false;  ///< with others, in any way, to the same effect: where the row is left out, its friction is too
    bool spreads = false;  ///< shares it with others, each way rubs differently, and the least forces are taken
    double begins = 1.0;   ///< 1: it has not had a clear slip yet in this phase
  };
  std::vector<Sliding>& sliding() { return sliding_; }
  bool has_sliding() const { return !sliding_.empty(); }
  void set_sliding(std::vector<Sliding> sliding);
  /// Along the slips, of the last rhs_by_factors(). `share`: the multiplier of one that shares its force.
  std::array<double, 2> calc_friction(std::size_t which, double share) const;
  /// Two slips: the direction at a state becomes the one that is held.
  void hold_slip_directions(double t, const double* y);

  /// What stays positive for as long as a phase of a motion with contacts lasts (phase_model.hpp).
  struct Guards {
    std::shared_ptr<const Tape> contacts;  ///< of [t | q | q̇ | parameters]: gaps, then μ of all contacts
    std::vector<int> gaps;                 ///< of open contacts, by output
    std::vector<int> rows;                 ///< rows whose multipliers do
    struct Cone {
      int row = 0;
      double sign = 1.0;      ///< of λ of the row
      std::vector<int> slip;  ///< rows that hold the slips
      int mu = 0;             ///< by output
      bool is_force = false;  ///< it is the largest force, and not a coefficient
    };
    std::vector<Cone> cones;  ///< sticking: μ|λ|, or the largest force, − ‖multipliers of the slips‖
  };
  void set_guards(Guards guards);
  /// The gaps, multipliers of rows, cones, and for each sliding contact (with |λ|, forwards, and solvable) three. Where `g` has
  /// room for the gaps alone, these alone: they need no forces. `noise` may be empty.
  int num_guards() const;
  std::size_t num_gaps() const { return guards_.gaps.size(); }
  bool calc_guards(double t, const double* y, std::span<double> g, std::span<double> noise);
  /// Whether gaps stay above `floor` in a box, as far as samples do not show them (expression/variation.hpp).
  bool gaps_are_seen(const StateBox& box, SeenBy shown, std::span<const double> floor);
  /// Actual multipliers by row, of the last rhs_by_factors().
  const std::vector<double>& calc_joint_multipliers();

  long evaluations = 0, projections = 0;
  long calls = 0;  ///< of rhs(), whatever for: which state the numbers above belong to

 private:
  using Point = EquationValues::Point;
  Point point_of(double t, const double* y) const { return {t, y, y + n_}; }
  /// With reactions where switching functions use them; false: there are none.
  bool set_reactions(Point& point, const double* y);
  bool evaluate(double t, const double* y);
  bool add_force(const double* force);
  void refine_states();
  /// q̈, multipliers, C and friction with a force beside the given ones; null: none. Of the last evaluate(), factored.
  bool solve_constraints(double t, const double* y, const double* more);
  bool add_nonideal(double t, const double* y);
  bool rhs_generally(double t, const double* y, double* dy);
  /// With the sides as they are, surfaces or not.
  bool rhs_aside(double t, const double* y, double* dy);
  bool rhs_by_factors_aside(double t, const double* y, double* dy);
  bool rhs_along(double t, const double* y, bool by_factors, double* dy);
  struct Corner {
    std::vector<double> dy, rates, noise, qdd, lambda, full, joint;
  };
  void turn(const Surface& surface);
  void move_along(double share, const Corner& from, const Corner& to, double* y) const;
  bool calc_corner(double t, const double* y, bool by_factors, Corner& corner);
  bool calc_corners(double t, const double* y, bool by_factors);
  bool calc_shares(double t, const double* y, bool by_factors);
  bool solve_surfaces(const Eigen::VectorXd& right, Eigen::VectorXd& x) const;
  template <class Do>
  bool with_sides_between(const Eigen::VectorXd& shares, Do&& something);
  bool prepare_many(double t, const double* y, bool afresh);
  Eigen::VectorXd solve_many(const Eigen::VectorXd& right) const;
  bool calc_shares_of_many(double t, const double* y, bool by_factors);
  bool find_whether_weighed(const KktFactors::Matrices& at);
  bool weigh(double t, const double* y);
  /// What a force does, and a right-hand side: x and λ with all rows that act. Of the last evaluate(), factored.
  bool respond(const double* f, const double* g, double* x, double* lambda);
  void spread(std::vector<double>& lambda);
  void calc_powers(const double* qd, double* power);
  double calc_row_rate(int j, const double* v) const;
  double calc_row_norm(int j, const double* A) const;
  /// The general solver at a state, for more than one question.
  struct General;
  bool solve_generally(double t, const double* y, bool with_noise, Solution& solution, General* general = nullptr,
                       const double* more = nullptr);
  bool add_sliding_generally(double t, const double* y, General& general);
  bool split_forces(const double* y, bool qdd_given, Sample& s);
  /// Accelerations, forces, multipliers and powers of a state.
  std::optional<Sample> calc_reactions(double t, const double* y, const double* qdd_given);
  std::optional<Sample> calc_reactions_along(double t, const double* y);
  /// facts().forces of a sample, whose state is that of the last rhs_by_factors().
  void calc_forces(const double* y, const Sample& s);
  void calc_force_noise(const double* y, double tolerance, std::span<double> noise);
  double calc_friction_size(const ForceFacts& force);
  bool set_output_point(double t, const double* y, Point& point);

  // dynamics_control.cpp
  using RespondTo = std::function<bool(const double* force, double* qdd)>;
  using SolveWith = std::function<bool(const double* force)>;
  bool add_control(double t, const double* y, const RespondTo& respond_to, const SolveWith& solve_with);
  bool add_plain_control(const double* y, const RespondTo& respond_to);
  void times_mass(const Eigen::VectorXd& x, Eigen::VectorXd& f) const;
  bool prepare_control(double t, const double* y, const RespondTo& respond_to, const SolveWith& solve_with);
  bool carry_by_actuators(const double* y, const SolveWith& solve_with);
  bool carry_by_force(const double* y, const SolveWith& solve_with);
  void set_control_powers(const double* y);
  void note_missed(const Eigen::VectorXd& solution, bool& refused);
  const ControlMode& mode_of_sides();
  /// Functions that change sign where what acts does, of the last add_control().
  void calc_control_switches(std::span<double> g);
  /// The same at a state, by compiled code; false: not vouched for.
  bool calc_control_switches_fast(double t, const double* y, std::span<double> g);
  /// Control that compiled code left open, for what acts now. False: by the factors.
  bool find_efforts(const CompiledPrograms::Acceleration& of);
  bool add_efforts(CompiledPrograms::Acceleration& to);
  bool believe(double t, const double* y);

  void find_zero_rows(double t, const double* y);
  void find_typical_weights(double t, const double* y);
  bool choose_rows_now(double t, const double* y);
  void settle_rows();
  bool calc_pivots(double t, const double* y, std::span<double> inverse_pivots, std::span<double> sizes);

  void make_fast(double t, const double* y);
  bool take_acceleration(const double* outputs, int at_powers, double t, const double* y, double* dy);
  /// Where compiled code can vouch for it.
  std::optional<Projected> project_fast(double t, double* y, const ProjectOptions& options);
  bool converge_fast(bool of_positions, double t, double* y, const ProjectOptions& options, Projected& result);
  bool project_tangent_fast(double t, const double* y, double* v);
  double newton_step(const RowSet& set, double* x, bool velocity, double& largest_residual);
  bool converge(const RowSet& set, bool velocity, double t, double* y, const ProjectOptions& options, double& moved,
                double& before);
  /// Up to the rounding of each row in the size of its terms. Of the last evaluate_rows().
  bool is_on(const RowSet& set, const double* q) const;
  /// The numbers of the state of the last rhs(), where compiled code has made none.
  EquationValues::Numbers numbers_of_last();

  void list_candidates();
  void size_sliding();
  bool evaluate_sliding(double t, const double* y);
  bool add_sliding(double t, const double* y);
  /// respond_to(w): x and λ of the force in column_.
  template <class Respond>
  bool add_sliding_with(double t, const double* y, Respond&& respond_to);
  template <class Respond>
  bool add_sliding_series(Respond&& respond_to);
  bool solve_sliding(int count);
  /// How fast the slip of a contact would be if nothing in it cancelled.
  double slip_speed(std::size_t which) const;
  std::array<double, 2> slip_direction(const Sliding& contact, const double* slip) const;
  void add_sliding_force(std::size_t which, double lambda);
  const SlidingFacts& sliding_facts(std::size_t which) const;
  const double* slips_of(std::size_t which) const;

  Copied<EquationValues> values_;
  Copied<KktFactors> factors_;
  Copied<CompiledPrograms> fast_;
  std::shared_ptr<KeptCode> kept_code_;
  std::string path_ = "qr";

  int n_ = 0, m_ = 0, num_constraints_ = 0;
  std::vector<int> state_groups_;
  bool any_power_ = false, has_nonideal_ = false;  ///< C, or sliding friction
  bool velocity_rows_nonlinear_ = false;

  // The last solution: q̈, multipliers without C by row (those of least norm in full_), with everything, Aᵀλ.
  std::vector<double> qdd_, lambda_, full_, lambda_joint_, joint_, ideal_;
  KktFactors::Matrices last_{};  ///< of the last evaluation
  std::vector<double> rows_y_;   ///< [t | q | q̇ | sides] of the last evaluate_rows(): often asked for again
  std::vector<double> values_y_, project_before_;
  double values_t_ = 0.0;
  bool values_stale_ = false;  ///< numbers are not of the state of the last rhs()
  // Work space.
  std::vector<Interval> bounds_of_quantities_, guard_box_;
  BoxRoom guard_room_;
  std::vector<double> scratch_, column_, row_scratch_, force_lambda_;
  ForceSource force_source_;
  std::vector<double> forces_, event_qdd_;  ///< of the last calc_forces(), set_output_point()

  // Measured rows that depend on others.
  bool weighed_ = false, weighing_known_ = false;
  bool generally_ = false;  ///< the last rhs_by_factors() went through the general solver
  struct Measured {
    RowSet exact;               ///< the rows without a weight
    std::vector<int> rows;      ///< those with one that act
    Eigen::MatrixXd X, Lambda;  ///< n×w, m×w: what unit forces along these do, exact rows held
    Eigen::VectorXd D;          ///< w: makes them rows of unit size
    Eigen::MatrixXd V;          ///< w×r: D A X D = V E Vᵀ, what is not zero of it
    Eigen::VectorXd E;          ///< r
    std::vector<double> b;      ///< m: with what they can attain
  } measured_;

  // Rows are chosen when they are asked for: far from singular states compiled code needs no choice.
  bool rows_far_ = false;    ///< far from singular states at the last choice
  bool rows_stale_ = false;  ///< kept rows are those of an earlier state
  double weakest_sine_ = 1.0, chosen_t_ = 0.0;
  std::vector<double> chosen_y_;
  std::vector<double> start_size_;  ///< of the rows of A, from the start: what a vanishing row is compared with
  std::vector<char> zero_row_, off_;
  bool typical_known_ = false;
  std::vector<int> sine_rows_;
  std::vector<double> sines_, row_size_, sines_y_, inverse_pivots_, pivot_sizes_;
  std::vector<bool> row_grows_;
  std::vector<double> turned_from_;
  double sines_t_ = 0.0;

  // Control, of the last rhs_by_factors().
  struct ControlRoom {
    ControlValues values;
    Eigen::MatrixXd A, F, X, S;
    Eigen::VectorXd mu, units, qdd, u, tau, delta, powers;
    ControlStage stage;
    ControlMode mode;
    OpenEfforts open;
    double cost = 0.0, power = 0.0;
    bool missed = false;
    bool carries = false;
    bool is_clear = true;
    bool alone = false;  ///< without what is held, and what the controller believes
  } control_;
  /// The system that the controller believes in.
  struct Believed {
    std::shared_ptr<const System> system;
    std::unique_ptr<Dynamics> dynamics;
    Believed() = default;
    Believed(const Believed& other);
    Believed(Believed&&) noexcept = default;
    Believed& operator=(Believed other) noexcept;
    ~Believed();
  } believed_;

  std::vector<Surface> surfaces_;
  std::vector<Corner>
      corners_;  ///< of the last calc_corners(): as the sides are, then one surface turned after the other
  Eigen::MatrixXd surface_jumps_;  ///< of dg_j/dt where surface i is turned
  Eigen::PartialPivLU<Eigen::MatrixXd> surface_lu_;
  std::map<int, std::vector<double>>
      jumps_by_switch_;          ///< of all rates, by the first switch of a surface, times its side
  bool surfaces_alone_ = false;  ///< surface_jumps_ is diagonal, and surface_lu_ not made
  bool between_ = false;         ///< many surfaces: sides that lie in between give their mean, with surface_lu_

  std::vector<Sliding> sliding_;
  std::vector<int> carried_;
  Guards guards_;
  std::vector<double> sliding_values_, sliding_lambda_, sliding_term_, W_, response_, sum_, guard_values_,
      guard_bounds_, guard_inputs_, guard_registers_;
  std::vector<int> coulomb_;  ///< of sliding_: those whose friction follows a multiplier
  double sliding_determinant_ = 1.0;
};

}  // namespace mechanician
