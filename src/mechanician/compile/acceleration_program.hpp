#pragma once

/// The explicit equation of motion as one straight-line program: q̈, and on request powers and multipliers, from time,
/// coordinates and velocities, with the elimination of the constraints inside (elimination.hpp).
///
///     M q̈ = Q + C + Aᵀλ,   A q̈ = b;      singular M: M + AᵀWA and Q + AᵀWb in the places of M and Q (U23 lemma 3)
///
///     inputs   [t | q | q̇ | parameters, unless built in | sides of switches]
///     outputs  [q̈ (n) | powers | multipliers | q̇, where it is held (n) | efforts of control | open control | vouch]
///
/// There is no branch in it. Whether the answer can be trusted is its last output: vouch > 0. It is not where
///   - the multipliers are so large beside the accelerations, with and without constraints, that rounding in A q̈ = b
///     exceeds about 1e-12 of these (nearly dependent rows, from a condition number of some 10³ on); with refinement: where
///     the step of refinement is larger than 1e-6, from some 10⁵ on;
///   - a row lies within an angle of 10⁻⁵ of the span of others, or has shrunk to a millionth of its size at the
///     reference state, where it may be rounding of its own terms;
///   - the mass matrix is not positive definite by a factor of 10¹⁰, or not symmetric;
///   - a dropped row is not dependent on the others after all, or contradicts them;
///   - anything is infinite or not a number.
/// The robust path (solve/, accelerate()) answers then. Where vouched, the error of q̈ is below 1e-12 × condition, relative
/// to the accelerations with and without constraints (measured: 2.2e-13 at most). Dropped rows add up to about
/// 4 × dropped_tolerance: which of two nearly equal rows is kept decides that much.
///
/// Dependent rows are left out by the caller, who knows them from an orthogonal factorisation at some state: which
/// rows are dependent belongs to the structure of a model and does not change along a motion, except at singular states.

#include <optional>
#include <string>
#include <vector>

#include "mechanician/compile/program.hpp"
#include "mechanician/equations/equations.hpp"

namespace mechanician {

struct ProgramOptions {
  /// Values that are built in; without, parameters are inputs (for sweeps).
  std::optional<std::vector<double>> parameters;
  std::vector<int> varied;  ///< of the parameters that have values: these are inputs all the same, in this order
  std::vector<Expr> sides;  ///< symbols that are further inputs, in this order
  /// Rows that depend on others: they get λ = 0 (or their share, where it matters) and are watched.
  std::vector<int> dropped;
  std::vector<int> inert;   ///< rows without a gradient: left out; only b is watched, which has to vanish too
  std::vector<int> open;    ///< one-sided rows that do not act: left out; vouched for where they are clearly above zero
  std::vector<int> brakes;  ///< Equations::contacts without a row of their own: vouched for where they clearly slip
  /// A dropped row may be independent, or contradict the others, by so much.
  double dropped_tolerance = 1e-12;
  /// Inputs of the program at a state where the rows have their usual size; empty: shrinking rows are not noticed.
  std::vector<double> reference;
  bool singular_mass = false;  ///< M may be singular though no diagonal entry vanishes identically
  /// The last two rows share a division: its time is what short programs wait for.
  bool joint_pivots = false;
  /// vouch tells of the pivots alone: what else there is to watch is watched at a state nearby.
  bool vouch_for_pivots = false;
  /// vouch is compared with zero and used for nothing else: the least of many margins, for ProgramBuilder::is_positive. With
  /// joint_pivots and a reference where they are far from dependent, two rows are solved for by Cramer's rule.
  bool compared = false;
  bool refine = false;  ///< one step of refinement: a hundred times the condition for half as many steps again
  long most_steps = 20'000;
};

struct AccelerationOptions : ProgramOptions {
  /// What power is made of if not of ½ q̇ᵀṀ q̇ + q̇ᵀQ: the same, shorter. For M and Q of energies T = T₂ + T₁ + T₀ (by
  /// degree in q̇) and V it is q̇ᵀ(F − V_q + T₀_q) − (T₂ + T₁)_t.
  std::optional<Expr> given_power;
  /// As the works of a motion: given, ideal, nonideal, control, then one for each constraint row and each actuator.
  bool powers = false;
  /// τ of the actuators, or without them the control force by coordinate.
  bool efforts = false;
  /// Control that has to be searched for is left open (control_draft.hpp): q̈ and powers are those without efforts.
  bool open_control = false;
  /// λ of C = 0, of constraints; least norm where dropped rows leave a choice.
  bool multipliers = false;
  /// Velocities are brought onto the constraints first, least in the mass norm, and q̈ is that of the result: one
  /// elimination for both. For rows that are linear in velocities, none of them of accelerations alone.
  bool hold_velocities = false;
  bool check_rows = false;  ///< also that the rows hold: guards against mistakes in this code, not against rounding
};

struct AccelerationProgram {
  Program program;
  std::string path;        ///< "ldlt", "ldlt, singular mass", …
  std::vector<int> order;  ///< of elimination: coordinates, row j as n + j
  int n = 0;
  int at_powers = 0, num_powers = 0, at_multipliers = 0, num_multipliers = 0, at_velocities = 0, at_efforts = 0,
      num_efforts = 0, at_vouch = 0;
  /// Where it is left open: [q̈ and powers of a unit of each effort, of one after the other | numbers of OpenControl].
  int at_control = 0, num_columns = 0;
  int num_equation_steps = 0, num_elimination_steps = 0;  ///< M Q A b C, and the rest
};

struct AccelerationProgramResult {
  std::optional<AccelerationProgram> made;
  std::string reason;  ///< why not, in words
};

/// `eqs`: as derived, or with kinks frozen (the symbols of sides among options.sides). No program for measured rows, for
/// multiplier() where dropped rows leave a choice, for control that has to be searched for, and beyond options.most_steps.
AccelerationProgramResult make_acceleration_program(const Equations& eqs, const AccelerationOptions& options);

}  // namespace mechanician
