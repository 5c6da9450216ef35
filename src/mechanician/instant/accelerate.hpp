#pragma once

/// One instant of a system: acceleration, forces, and what is to be said about the constraints there.
///
/// C may depend on the ideal forces, so the instant is solved in two stages: with C = 0, then with C of those forces.
/// One-sided constraints and friction (contacts.hpp): the ideal forces are those of the programme without C and without
/// friction; everything else that the contacts do is non-ideal force.
///
/// Control (control.hpp) finds the force that meets the requirements; constraints, contacts and C are then solved with it as a given
/// force.

#include <optional>
#include <string>
#include <vector>

#include "mechanician/instant/contacts.hpp"
#include "mechanician/instant/impact.hpp"
#include "mechanician/instant/system.hpp"
#include "mechanician/solve/control.hpp"
#include "mechanician/solve/diagnosis.hpp"
#include "mechanician/solve/form.hpp"
#include "mechanician/solve/parts.hpp"

namespace mechanician {

struct AccelerateOptions {
  Form form = Form::automatic;
  bool diagnose = true;  ///< dependence, conflicts: not wanted in an inner loop
  bool parts = false;    ///< the parts in which the papers explain the motion
  /// False: one-sided constraints must not be there, and friction is left out. For one phase of a motion.
  bool contacts = true;
  /// Without contacts: the rows that act, increasing; nothing: all of them.
  std::optional<std::vector<Eigen::Index>> rows = {};
  bool believed = false;  ///< this is the system that the controller believes in
  /// Sampled control between its samples: efforts of actuators, or else the force by coordinate. Nothing: control is found here.
  std::optional<Eigen::VectorXd> held = {};
};

/// How far a constraint is from being satisfied.
struct RowResidual {
  int row = 0;
  bool of_rate = false;  ///< φ̇ instead of φ
  double value = 0.0;
  /// Distance to the constraint over the largest coordinate or velocity, in units (motion/sizes.hpp); what is compared with start_tolerance.
  double scaled = 0.0;
};

/// Start states that are further off than this are refused.
inline constexpr double start_tolerance = 1e-8;

/// What control does at an instant.
struct InstantControl {
  Eigen::VectorXd tau;                ///< by actuator; empty where every coordinate can be forced
  double cost = 0.0;                  ///< τᵀR τ, or Δq̈ᵀM Δq̈
  Eigen::VectorXd error, error_rate;  ///< by requirement
  Eigen::VectorXd missing;            ///< by requirement: of its row of A q̈ = b
  std::vector<char> met;
  ControlMode mode;
  std::vector<ControlAnswer::Refusal> refused;
  /// Of A₂ N E, the accelerations that the requirements feel of actuators; without these of A₂ N A₂ᵀ.
  int rank = 0;
  std::vector<char> influenced;  ///< by requirement: whether its row of that is there
};

struct Instant {
  State state;
  InstantValues values;  ///< of the constraints; Q without the control force
  Solution solution;
  std::optional<Diagnosis> diagnosis;
  std::optional<Parts> parts;
  /// Constraints and their rates at this state; control requirements and measured rows are not among them.
  std::vector<RowResidual> residuals;
  double constraint_residual = 0.0;  ///< largest absolute value of them

  std::optional<InstantControl> control;

  std::optional<NotFinite> not_finite;
  /// multiplier(NAME) in [nonideal] that are not unique here.
  std::vector<std::string> multiplier_not_unique;

  /// One-sided constraints and constraints with friction.
  std::vector<Contact> contacts;
  std::vector<Eigen::Index> acting;  ///< rows that act here: all but those of contacts that do not; increasing
  Optimality optimality;             ///< of the programme with one-sided constraints
  std::optional<Impact> impact;      ///< velocities have to jump: there is no acceleration
  std::string contact_trouble;       ///< Coulomb's law has no or several solutions here
  bool uniqueness_unknown = false;   ///< too many contacts with friction to rule out further solutions
  std::string shared;                ///< contacts share what they carry in one of many ways: what is to be said of it
  std::vector<Eigen::Index> contact_conflict;  ///< rows that cannot hold together

  bool has_acceleration() const {
    return !not_finite && !impact && contact_trouble.empty() && multiplier_not_unique.empty() &&
           solution.has_acceleration();
  }
  /// An acceleration, or where it is not unique what is determined of it.
  bool has_some_acceleration() const {
    return has_acceleration() || (solution.status == SolveStatus::not_unique && solution.qdd.size() > 0);
  }
  /// Residuals above start_tolerance.
  std::vector<RowResidual> violations() const;
};

Instant accelerate(const System& system, const State& state, const AccelerateOptions& options = {});

/// With contacts as the caller says, at a state that was evaluated: which touch, and which way they slip.
Instant accelerate_with(const System& system, const State& state, const Evaluation& now, std::vector<Contact> contacts,
                        const AccelerateOptions& options = {});

/// The largest part of its terms that is missing in a line of M q̈ = Q + Qᶜ + Q_control or of the rows that act; there must be
/// an acceleration. A line without terms of its own has rounding of the others: a thousandth of the largest counts as its own.
double calc_solution_residual(const Instant& instant);

/// Which requirements nothing can meet at an instant, and what is missing of them.
std::string describe_unmet(const System& system, const Instant& instant);

/// φ, φ̇ and ψ of the constraints at an evaluated state.
std::vector<RowResidual> calc_residuals(const System& system, const State& state, const Evaluation& now);

}  // namespace mechanician
