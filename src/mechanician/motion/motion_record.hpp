#pragma once

/// What a motion consists of when it is looked at from outside: samples, events, counts, and why it ended.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mechanician/base/diagnostic.hpp"
#include "mechanician/solve/eigen_kernels.hpp"

namespace mechanician {

enum class Method { automatic, dop853, bdf };

/// "auto", "dop853", "bdf"; nothing for any other word.
std::optional<Method> method_of(std::string_view name);
std::string_view name_of(Method method);

/// Work done since the start. ½ q̇ᵀM q̇ − (its value at the start) = given + ideal + nonideal + control.
struct Works {
  double given = 0.0;  ///< of Q, with ½ q̇ᵀṀ q̇: for energies without explicit time, the work of the forces proper
  double ideal = 0.0, nonideal = 0.0, control = 0.0;
  Eigen::VectorXd constraints;  ///< by constraint row: ∫ λ_j (A q̇)_j dt
  Eigen::VectorXd actuators;    ///< of `control`: ∫ τ_k E_kᵀq̇ dt
};
/// Actuators that are not there do nothing.
void add(Works& to, const Works& from);

/// Everything that is known of the motion at one time.
struct Sample {
  double t = 0.0;
  Eigen::VectorXd q, qd, qdd;       ///< n
  Eigen::VectorXd Qc, Qc_i, Qc_ni;  ///< n, force of the constraints and its parts
  Eigen::VectorXd Q_control;        ///< n
  Eigen::VectorXd tau, error;       ///< efforts of actuators, errors of the requirements of control
  double cost = 0.0;                ///< of control
  Eigen::VectorXd lambda;           ///< constraint rows: multipliers, least norm where not unique
  Eigen::VectorXd power;            ///< constraint rows: λ_j (A q̇)_j
  Eigen::VectorXd multipliers;      ///< constraint rows: actual ones, with everything that acts
  Eigen::VectorXd normal;           ///< constraints with friction: actual multipliers
  Eigen::VectorXd friction;         ///< their friction along their slips, one after the other
  Eigen::VectorXd outputs;          ///< [outputs] of the model, in order; then what its [summary] is about
  double residual = 0.0;            ///< largest |φ|, |φ̇|, |ψ| of the constraints
  Eigen::VectorXd modes;            ///< [modes] of the model, in order
  Eigen::VectorXd engaged;          ///< 1 or 0: rows that can be released, in order
  Works works;
};

/// sliding_begins, sliding_ends: along a surface where an expression switches, which is the name of the event.
/// saturated, released: an actuator comes to a limit, leaves it; acts, rests: a one-sided requirement of control.
enum class EventKind {
  impact,
  release,
  contact,
  stick,
  slip,
  singular,
  user,
  sliding_begins,
  sliding_ends,
  saturated,
  released,
  acts,
  rests,
};
std::string_view name_of(EventKind kind);

struct MotionEvent {
  double time = 0.0;
  EventKind kind = EventKind::user;
  std::string name;                      ///< of the event in the model, where it has one
  std::vector<std::string> constraints;  ///< that take part
  Eigen::VectorXd q, qd_before, qd_after;

  // singular: the rank of A drops here.
  double sigma = 0.0;          ///< smallest singular value found near the crossing, over the largest
  int dimension = 0;           ///< by how much the rank drops
  bool turning = false;        ///< the singular value turns back instead of passing through zero
  bool noise_limited = false;  ///< the step over it was accepted at the level of rounding
};

enum class StopReason {
  reached_end,
  event,           ///< a user event with do = "stop"
  callback,        ///< the caller asked for it
  not_finite,      ///< a value is infinite or undefined
  step_too_small,  ///< the error test cannot be met
  contradiction,   ///< the constraints came to contradict each other
  not_unique,      ///< the acceleration is no longer determined
  sliding,         ///< along a surface where an expression switches, in a way that is not determined
  projection,      ///< the constraints could not be held
};

struct Stop {
  StopReason reason = StopReason::reached_end;
  std::string message;  ///< in words, with the time; empty for reached_end
  Place place;          ///< in the model file, where there is one
  bool failed() const {
    return reason != StopReason::reached_end && reason != StopReason::event && reason != StopReason::callback;
  }
};

struct Statistics {
  long steps = 0, rejected = 0;
  long evaluations = 0;  ///< accelerations, all stages of accepted and rejected steps
  long robust = 0;       ///< of them by orthogonal factorisations, where compiled code could not vouch for its answer
  long projections = 0;  ///< evaluations of the constraints for projection and prediction
  long jacobians = 0;    ///< of the implicit method
  long crossings = 0, switches = 0, restarts = 0;
};
void add(Statistics& to, const Statistics& from);

/// A number of [summary]: of the motion from its start; not a number where its quantity has no value.
struct SummaryValue {
  std::string name;
  double value = 0.0;
};

/// What there is to say of a motion with one-sided constraints or friction.
struct ContactCertificate {
  long impacts = 0, phases = 1;
  double impact_lost = 0.0;           ///< energy, by restitution below 1
  double impact_friction_lost = 0.0;  ///< energy, by friction during impacts
  /// Energy, by friction in all, impacts included; unknown where [nonideal] forces act too or surfaces move along.
  std::optional<double> friction_lost;
  double surface_work = 0.0;  ///< done by constraints that move, during impacts
  double penetration = 0.0;   ///< largest −φ of a one-sided constraint, over Σ |φ_q| of what is near (sizes.hpp)
  double optimality = 0.0;    ///< largest relative residual of the conditions of the minimum, where phases begin
  double complementarity = 0.0;  ///< there, the largest of the lesser of force and opening acceleration, relative
};

/// How far the motion can be trusted.
struct Certificate {
  bool holds = true;
  std::vector<std::string> reasons;  ///< why it does not
  double position_violation = 0.0;   ///< largest |φ| at a step or sample
  double velocity_violation = 0.0;   ///< largest |φ̇|, |ψ|
  double measured_residual = 0.0;    ///< largest |left − right| of measured rows; not held, only reported
  double kinetic_start = 0.0, kinetic_end = 0.0;  ///< ½ q̇ᵀM q̇
  Works works;
  double balance = 0.0;                ///< kinetic_end − kinetic_start − works: zero for the exact motion
  double balance_largest = 0.0;        ///< largest |balance| at any step
  double balance_allowed = 0.0;        ///< what the tolerance and the number of steps explain
  std::optional<double> global_error;  ///< from a second run at a tighter tolerance, relative to typical sizes
  std::vector<std::string> notes;      ///< e.g. that the method was changed
  std::optional<ContactCertificate> contacts;
  /// Energy that changes of modes have put in, of models with modes.
  std::optional<double> mode_work;
  std::string path;  ///< how accelerations were computed: "ldlt", compiled, or why not
};

}  // namespace mechanician
