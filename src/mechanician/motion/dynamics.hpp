#pragma once

/// y' = f(t, y) for y = (q, q̇, works), and the projection of y onto the constraints: the inner loop of a motion.
///
///     M = L Lᵀ,  Z = L⁻¹A_keptᵀ = V [R; 0],  u = Vᵀ L⁻¹(Q + C)
///     q̈ = L⁻ᵀ V [R⁻ᵀ b_kept; u_below],   λ_kept = R⁻¹(R⁻ᵀ b_kept − u_top)
///
/// the minimum of Gauss's function over A q̈ = b (K93 eq. 16). Where M is singular, M + AᵀWA with Q + AᵀWb takes its
/// place: on A q̈ = b both have the same minimum, and it is positive definite exactly where q̈ is unique (U23 lemma 3).
///
/// Which rows are kept (a largest independent set, by column-pivoted QR of unit columns of Z) is chosen at the begin of
/// a step and held through its stages: choosing anew at every stage would make f discontinuous for redundant
/// constraints. The sides of abs, sign, min, max and `if` are held in the same way (switches.hpp). Nothing is allocated
/// after construction; measured rows alone go through the general solver.
///
/// Works: given, ideal, nonideal, control, then one for each constraint row.

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mechanician/compile/compiled_function.hpp"
#include "mechanician/instant/system.hpp"
#include "mechanician/motion/motion_record.hpp"
#include "mechanician/motion/switches.hpp"
#include "mechanician/solve/eigen_kernels.hpp"

namespace mechanician {

/// Rows that act together in one place: all of them on accelerations, fewer in projections.
struct RowSet {
  std::vector<int> candidates;
  int rank = -1;              ///< generic rank; −1: as found at each choice
  std::vector<int> kept;      ///< in pivot order
  std::vector<double> pivot;  ///< |R_ii| of unit columns, in pivot order, one more than kept where there is one
  /// |R_11|/|R_rr| of unit columns: how much rounding is magnified.
  double condition() const;
};

class Dynamics {
 public:
  explicit Dynamics(const System& system);

  /// Compiled code for later motions of the same system: what one of its copies compiles, the others find. Not for
  /// several threads.
  struct KeptCode;
  /// What it is made for, whichever motion needs it first. Parameters that are varied become inputs, the others are built in.
  struct Nominal {
    State state;
    std::vector<double> parameters;
    std::vector<int> varied;
  };
  /// Before anything else is asked of it, and before it is copied.
  void keep_code(const Nominal& nominal);
  /// The values of parameters that the system has now.
  void take_parameters();

  const System& system() const { return *system_; }
  int n() const { return n_; }
  bool depends_on_time() const { return depends_on_time_; }
  int num_constraints() const { return num_constraints_; }
  int num_works() const { return 4 + num_constraints_; }
  int size() const { return 2 * n_ + num_works(); }

  const std::vector<Switch>& switches() const { return switches_; }
  const std::vector<double>& sides() const { return sides_; }
  /// The equations with sides held, and what power is made of (acceleration_program.hpp).
  const Equations& frozen() const { return frozen_; }
  const std::optional<Expr>& given_power() const { return given_power_; }
  bool events_use_acceleration() const { return events_use_qdd_; }
  std::vector<double>& sides() { return sides_; }
  /// Switching functions at a state, with the sides as they are. False where a value is not finite.
  bool calc_switches(double t, const double* y, std::span<double> g);
  /// Sizes of the terms that the switching functions are made of, times eps: what counts as zero.
  void calc_switch_noise(double t, const double* y, std::span<double> noise);
  /// dg/dt along the motion, for the rate dy that rhs() gave, with what rounding there is in it. Nothing where g depends
  /// on reactions, whose rates are not known.
  struct SwitchRate {
    double value = 0.0, noise = 0.0;
  };
  std::optional<SwitchRate> calc_switch_rate(int which, double t, const double* y, const double* dy);

  /// What stands below fraction lines (divisors.hpp).
  const std::vector<Expr>& divisors() const { return divisors_; }
  void calc_divisors(double t, const double* y, std::span<double> values);

  /// For each row that counts (rows_of_sines) the sine of its angle to the rows before it, in the mass metric, times what
  /// is left of its size at the start: one of them vanishes where, and only where, the rank drops. Cheap where the
  /// equations are compiled. Empty where rows have no value.
  std::span<const double> calc_sines(double t, const double* y);
  /// The same at several states at once, each of 2n numbers: those of state k begin at sines[k·rows]. Cheaper than one by
  /// one, and the same bits. False where rows have no value at one of them.
  bool calc_sines_of(std::span<const double> times, const double* states, double* sines);
  const std::vector<int>& rows_of_sines() const { return sine_rows_; }
  /// The same of all rows together, with those that are left out because they depend on others: the smallest pivot of an
  /// orthogonal factorisation that counts. Rows that were chosen may become dependent where the rank does not drop: where
  /// a row that was left out comes in for them.
  double calc_weakest_of_all(double t, const double* y);
  /// By how much the rows have turned since the last call, the largest change over the size.
  double calc_turn(double t, const double* y);
  /// Sizes at a state as those that rows are compared with. Rows that vanish there get theirs as they grow.
  void set_row_sizes(double t, const double* y);
  bool has_growing_rows() const { return std::find(row_grows_.begin(), row_grows_.end(), true) != row_grows_.end(); }
  std::vector<double>& row_sizes() { return row_size_; }  ///< of rows_of_sines(), squared

  RowSet all, positions, velocities;
  /// How much rounding is magnified in accelerations at the state of the last choose_rows().
  double condition() const { return rows_far_ ? 1.0 / weakest_sine_ : all.condition(); }
  /// M is not clearly definite (solve/clear_mass.hpp): M + AᵀWA takes its place. Decided at the first state; a definite M that
  /// comes near to being singular later on changes it.
  bool singular_mass = false;
  /// Chooses the kept rows at a state. False where M, A are not finite or M is no mass matrix.
  bool choose_rows(double t, const double* y);

  /// dy = f(t, y). False where a value is not finite or there is no solution. By the compiled equations where they can
  /// vouch for the answer, else by the robust path.
  bool rhs(double t, const double* y, double* dy);
  /// By orthogonal factorisations, as described above.
  bool rhs_robust(double t, const double* y, double* dy);
  /// Compiles the equations, with the rows that are kept now. To be called once, after choose_rows(); `rows_may_grow`:
  /// this is near a singular state, where rows need not have their usual sizes.
  void compile(double t, const double* y, bool rows_may_grow = false);
  bool is_compiled() const { return static_cast<bool>(fast_); }
  const std::string& path() const { return path_; }  ///< how accelerations are computed, or why not by compiled code
  bool prefer_robust = false;                        ///< near singular states, where digits count
  long robust_evaluations = 0;                       ///< though there is compiled code
  /// Also q̈ alone; M, Q, A, b of the last call are kept for the accessors below.
  std::span<const double> qdd() const { return {qdd_.data(), static_cast<std::size_t>(n_)}; }

  struct ProjectOptions {
    int most_iterations = 8;
    bool positions = true, velocities = true;
    double enough = 1e-17;  ///< what may be left, over max(1, |value|); Newton steps square it
  };
  struct Projected {
    bool ok = false;
    double moved_q = 0.0, moved_qd = 0.0;  ///< largest change over max(1, |value|)
    double phi = 0.0, rate = 0.0;          ///< largest |φ| and |φ̇|, |ψ| before the last correction
  };
  /// Onto the constraints, least in the mass norm.
  Projected project(double t, double* y) { return project(t, y, ProjectOptions{}); }
  Projected project(double t, double* y, const ProjectOptions& options);
  /// project() and then rhs(), in one where both are compiled.
  bool rhs_held(double t, double* y, double* dy, const ProjectOptions& options);
  /// Largest |φ|, |φ̇| and |ψ| at a state, and of measured rows.
  struct Violation {
    double position = 0.0, velocity = 0.0, measured = 0.0;
    double inert = 0.0;   ///< of rows that do not act
    double scaled = 0.0;  ///< largest distance to a constraint over max(1, |q|) or max(1, |q̇|)
  };
  Violation calc_violation(double t, const double* y);
  /// Removes from a velocity-like vector what the constraints forbid at a state on them.
  bool project_tangent(double t, const double* y, double* v);

  /// Of the state of the last rhs(): by how much rows that are not kept miss A q̈ = b, relative to their terms.
  double last_mismatch() const;
  /// Of the state of the last rhs(): the smallest kept row over its size at the start.
  double last_weakest() const;
  /// Of the state of the last rhs(): ½ q̇ᵀM q̇, and the change of energy that errors of relative size 1 in y would make.
  double last_kinetic(const double* y) const;
  double last_energy_scale(const double* y) const;

  /// M, A and residuals at a state; the metric stays what it was until make_metric() takes M (and A) from here.
  bool evaluate_rows(double t, const double* q, const double* qd);
  /// For questions of rank. Where M is singular: the scale of the coordinates, which does not hide rows.
  bool make_metric();
  const double* metric() const { return L_.data(); }  ///< L, n×n by columns, lower triangle
  /// The same with the diagonal of M alone: for each coordinate what a unit of it is, 1/√M_ii. Of the last evaluate_rows().
  void calc_units(double* units) const;
  /// Rows without a gradient from the start on: they never act.
  std::vector<bool> inert;
  double residual_of(int j) const { return rows_[at_residual_ + j]; }  ///< of the last evaluate_rows()
  bool is_zero_row(int j) const { return zero_row_[static_cast<std::size_t>(j)]; }
  /// Size of the terms of row j of A at the start.
  double start_size(int j) const { return start_size_[static_cast<std::size_t>(j)]; }
  /// Row j of A of the last evaluation, dense.
  void copy_row(int j, double* a) const;
  /// The same, entry(coordinate, value) for each that is not zero by structure.
  template <class Do>
  void each_entry(int j, Do&& entry) const {
    for (int l = A_begin_[j]; l < A_begin_[j + 1]; ++l) entry(A_entries_[l].col, last()[last_A_ + A_entries_[l].at]);
  }

  /// All there is to say about a state; qdd_given, where not null, in the place of the pointwise solution (near singular
  /// states, where that is rounding).
  std::optional<Sample> calc_sample(double t, const double* y, const double* qdd_given = nullptr);
  /// `when` of the events of the model. False where a value is not finite.
  bool calc_events(double t, const double* y, std::span<double> when);
  /// Rounding in `when`, and functions that change sign where an expression in an event switches.
  void calc_event_noise(double t, const double* y, std::span<double> noise);
  int num_event_switches() const { return num_event_switches_; }
  bool calc_event_switches(double t, const double* y, std::span<double> g);

  // ---- dynamics_contacts.cpp
  /// A constraint with friction that slides (model.hpp): its friction force is −μ|λ| Tᵀ d, d the direction of the slip,
  /// λ its multiplier with all forces acting. Every contact of the system is one; what is held through a step:
  struct Sliding {
    int row = 0, num_slips = 1;
    double sign = 1.0;                  ///< of λ
    std::array<double, 2> direction{};  ///< of the slip: ±1, or a unit vector that is near
  };
  std::vector<Sliding>& sliding() { return sliding_; }
  /// Along the slips, of the last rhs_robust().
  std::array<double, 2> calc_friction(std::size_t which) const;
  /// Two slips: the direction at a state becomes the one that is held.
  void hold_slip_directions(double t, const double* y);

  /// What stays positive for as long as a phase of a motion with contacts lasts (phases.hpp).
  struct Guards {
    std::vector<Expr> functions;  ///< of t, q, q̇: gaps of open contacts
    std::vector<int> rows;        ///< rows whose multipliers do
    struct Cone {
      int row = 0;
      double sign = 1.0;      ///< of λ of the row
      std::vector<int> slip;  ///< rows that hold the slips
      Expr mu;
    };
    std::vector<Cone> cones;  ///< sticking: μ|λ| − ‖multipliers of the slips‖
  };
  void set_guards(Guards guards);
  /// The functions, multipliers of rows, cones, and for each sliding contact (with |λ|, forwards, and solvable) three.
  int num_guards() const;
  bool calc_guards(double t, const double* y, std::span<double> g, std::span<double> noise);
  /// Actual multipliers by row, of the last rhs_robust().
  const std::vector<double>& calc_joint_multipliers();

  long evaluations = 0, projections = 0;
  long calls = 0;  ///< of rhs(), whatever for: which state the numbers above belong to

 private:
  struct Entry {
    int row, col, at;
  };
  void set_inputs(double t, const double* q, const double* qd);
  bool run(const Tape& tape, std::vector<double>& values);
  bool run(CompiledFunction& function, std::vector<double>& values);
  bool factor_mass(const std::vector<double>& values, int at_A, const RowSet& set, bool loose);
  bool form_qr(const std::vector<double>& values, int at_A, const RowSet& set, std::vector<double>& Z,
               std::vector<double>& tau);
  bool choose(RowSet& set, double t, const double* y);
  void calc_row_weights(const std::vector<double>& values, int at_A);
  void judge_mass(double t, const double* y);
  void calc_typical_sizes(double t, const double* y);
  bool rhs_measured(double t, const double* y, double* dy);
  void by_rows(const std::vector<double>& kept, std::vector<double>& full);
  bool spread(const RowSet& set, std::vector<double>& lambda);
  const std::vector<bool>& zero_rows(double t, const double* y);
  void calc_powers(const double* qd, double* power);
  bool set_output_inputs(double t, const double* y);
  bool solve_generally(double t, const double* y, bool with_noise, Solution& solution);

  /// The compiled equations of motion (compile/acceleration_program.hpp).
  struct Fast;
  /// Copied with what it points to: code is shared, work space is not.
  class FastPointer {
   public:
    FastPointer() = default;
    explicit FastPointer(Fast* fast) : fast_(fast) {}
    FastPointer(const FastPointer& other);
    FastPointer(FastPointer&& other) noexcept : fast_(std::exchange(other.fast_, nullptr)) {}
    FastPointer& operator=(FastPointer other) noexcept {
      std::swap(fast_, other.fast_);
      return *this;
    }
    ~FastPointer();
    explicit operator bool() const { return fast_ != nullptr; }
    Fast* operator->() const { return fast_; }

   private:
    Fast* fast_ = nullptr;
  };
  FastPointer fast_;
  std::shared_ptr<KeptCode> kept_code_;
  std::string path_ = "qr";
  // Rows are chosen when they are asked for: far from singular states compiled code needs no choice.
  bool rows_far_ = false;    ///< far from singular states at the last choice
  bool rows_stale_ = false;  ///< kept rows are those of an earlier state
  double weakest_sine_ = 1.0, chosen_t_ = 0.0;
  std::vector<double> chosen_y_;
  bool choose_rows_now(double t, const double* y);
  void settle_rows();
  std::vector<int> sine_rows_;
  std::vector<double> sines_, row_size_, sines_y_;
  std::vector<bool> row_grows_;
  std::vector<double> turned_from_;
  double sines_t_ = 0.0;
  bool calc_pivots(double t, const double* y, std::span<double> inverse_pivots, std::span<double> sizes);

  void make_fast(double t, const double* y);
  void make_fast_for(double t, const double* y);
  void set_fast_inputs(double t, const double* y);
  /// Where compiled code can vouch for it.
  std::optional<Projected> project_fast(double t, double* y, const ProjectOptions& options);
  bool converge_fast(bool of_positions, double t, double* y, const ProjectOptions& options, Projected& result);
  bool take_acceleration(const double* outputs, int at_powers, double t, const double* y, double* dy);
  bool project_tangent_fast(double t, const double* y, double* v);
  std::vector<double> values_y_, project_before_;
  double values_t_ = 0.0;
  bool values_stale_ = false;  ///< v_ is not of the state of the last rhs()
  /// v_ of the state of the last rhs().
  void refresh_values() const;

  bool add_sliding(double t, const double* y);
  std::array<double, 2> slip_direction(const Sliding& contact, const double* slip) const;
  void calc_sliding_force(const Sliding& contact, const double* values, double* force) const;
  std::vector<double> sliding_lambda_;  ///< of the last add_sliding()
  std::vector<Sliding> sliding_;
  std::vector<int> at_sliding_;  ///< of each among the outputs: [μ | slips | T by rows]
  Tape sliding_tape_, guard_tape_;
  Guards guards_;
  std::vector<double> sliding_values_, guard_values_, guard_bounds_, W_, W_rhs_;
  double sliding_determinant_ = 1.0;
  bool has_nonideal_ = false;  ///< C, or sliding friction

  const System* system_;
  int n_ = 0, m_ = 0, num_constraints_ = 0;
  bool has_C_ = false, needs_reactions_ = false, measured_ = false, mass_constant_ = false, rows_use_velocity_ = false;
  bool any_power_ = false, depends_on_time_ = false;
  std::vector<bool> powerless_;  ///< by row
  bool velocity_rows_nonlinear_ = false;

  // Outputs of the programs: [M | Q | A | b | K̇ | C if it needs no reactions], [M | A | residual | rate].
  Tape rhs_tape_, row_tape_, C_tape_, switch_tape_, switch_rate_tape_, divisor_tape_, output_tape_;
  CompiledFunction rhs_values_, row_values_;  ///< of rhs_tape_ and row_tape_
  std::vector<Entry> M_entries_, A_entries_;
  std::vector<int> A_begin_;  ///< of row j among A_entries_
  int at_Q_ = 0, at_A_ = 0, at_b_ = 0, at_K_ = 0, at_C_ = 0, at_row_A_ = 0, at_residual_ = 0, at_rate_ = 0;

  int num_event_switches_ = 0;
  bool events_use_qdd_ = false;
  std::vector<double> output_values_;
  std::vector<Switch> switches_;
  std::vector<double> sides_;
  std::vector<Expr> divisors_;
  Equations frozen_;  ///< with sides held
  std::optional<Expr> given_power_;

  // Work space.
  std::vector<double> x_, registers_, v_, rows_, Cv_, L_, Z_, tau_, u_, c_, uC_, lambda_, lambda_joint_, qdd_, column_,
      pivot_Z_, G_, S_, weights_, full_, joint_, scratch_;
  std::vector<double> coordinate_scale_;  ///< 1/√ of what each coordinate weighs, typically; empty until it is needed
  std::vector<bool> has_mass_;            ///< somewhere around the first state
  bool mass_judged_ = false;
  std::vector<double> start_size_;  ///< of the rows of A, from the start: what a vanishing row is compared with
  std::vector<bool> zero_row_;
  bool last_is_rows_ = false;  ///< rows_, not v_, was evaluated last
  const std::vector<double>& last() const { return last_is_rows_ ? rows_ : v_; }
  int last_A_ = 0;
  bool L_is_constant_ = false;
};

}  // namespace mechanician
