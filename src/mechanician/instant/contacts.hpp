#pragma once

/// One-sided constraints and friction at an instant (K93, conclusion 8).
///
///     minimise ½ q̈ᵀM q̈ − q̈ᵀ(Q + C)  over A q̈ = b and N q̈ ≥ d of the touching one-sided constraints
///
/// What is zero is measured by the motion's own sizes s of positions and v of velocities (MotionSize), never by a unit: a
/// one-sided constraint φ ≥ 0 has no gap where φ is at most 1e-9·Σ|∂φ/∂q_i| s_i, or rounding, and touches where
/// |φ̇| ≤ 1e-9·(Σ|∂φ/∂q_i| v_i + |φ_t|) too, ψ ≥ 0 where |ψ| is as small as that. At φ ≤ 0 with φ̇ < 0 there is an impact
/// (impact.hpp) and no acceleration. Friction: Coulomb's law with the actual multiplier (coulomb.hpp), where slips count as
/// zero below the same part of their terms.

#include <string>
#include <vector>

#include "mechanician/instant/system.hpp"
#include "mechanician/solve/coulomb.hpp"
#include "mechanician/solve/one_sided.hpp"

namespace mechanician {

enum class ContactStatus {
  open,        ///< φ > 0
  separating,  ///< φ = 0, φ̇ > 0
  impact,      ///< φ ≤ 0, φ̇ < 0: velocities have to jump
  touching,    ///< φ = 0, φ̇ = 0, and not solved yet
  leaving,     ///< touching, and φ̈ > 0
  holding,     ///< touching, and it stays; two-sided constraints without a slip do always
  sticking,    ///< holding, and the slip stays zero
  sliding,     ///< holding, and the slip does not
};
std::string_view name_of(ContactStatus status);

/// A constraint that is one-sided or has friction, at a state.
struct Contact {
  ContactValues values;
  double gap = 0.0;        ///< φ; zero for constraints on velocities
  double rate = 0.0;       ///< φ̇ or ψ
  double rate_size = 0.0;  ///< what rates of this contact are small or large against
  double gap_tolerance = 0.0, rate_tolerance = 0.0, slip_tolerance = 0.0;
  ContactStatus status = ContactStatus::open;
  /// Of the slip, a unit vector; empty where it does not slip (yet).
  Eigen::VectorXd direction;

  // Once solved.
  double normal = 0.0;            ///< the actual multiplier
  double gap_acceleration = 0.0;  ///< φ̈ or dψ/dt
  Eigen::VectorXd friction;       ///< along the slips

  bool acts() const {
    return status == ContactStatus::holding || status == ContactStatus::sticking || status == ContactStatus::sliding;
  }
};

/// How far and how fast each coordinate moves, for what is to count as zero.
struct MotionSize {
  Eigen::VectorXd q, qd;
};
/// 1/√ of what coordinates weigh at a state (compile/row_weights.hpp): what makes them comparable.
Eigen::VectorXd calc_units(const InstantValues& values);
/// Speeds of what is at rest, in these units, count against no less: a thousandth of what the forces would give over the
/// extent of the state, whichever way they were turned.
double calc_rest_speed(const State& state, const InstantValues& values, const Eigen::VectorXd& units);
/// Where the state is all that is known: its largest coordinate and its largest velocity in these units, for all of them.
/// `states`: of first order, which are of kinds of their own.
MotionSize size_of(const State& state, const Evaluation& now, std::span<const StateRow> states = {});

/// By geometry alone: open, separating, impact or touching, and the directions of the slips.
std::vector<Contact> classify_contacts(const System& system, const State& state, const Evaluation& now,
                                       const MotionSize& size, std::optional<NotFinite>& not_finite);

struct ContactSolution {
  SolveStatus status = SolveStatus::solved;
  /// Coulomb's law has no or several solutions, or the programme none: what is to be said of it. Empty: all is well.
  std::string trouble;
  std::vector<Contact> contacts;     ///< with their statuses decided
  std::vector<Eigen::Index> acting;  ///< rows that act as equalities, increasing
  /// Without friction: all there is to say, by rows of the system.
  std::optional<Solution> solution;
  Eigen::VectorXd qdd;                 ///< n
  Eigen::VectorXd multipliers;         ///< m: actual ones, with C and friction
  Eigen::VectorXd friction_force;      ///< n; zeros without friction
  std::vector<Eigen::Index> conflict;  ///< rows that cannot hold together
  Optimality optimality;
  bool uniqueness_unknown = false;  ///< too many contacts with friction to rule out further solutions
  std::string shared;               ///< CoulombSolution::Count::shared: what is to be said of it
};

/// The touching contacts as given (a caller may know better than classify_contacts what touches and slips), all others
/// absent. `C` may be empty.
struct ContactOptions {
  bool friction = true;
};
ContactSolution solve_contacts(const System& system, const InstantValues& values, std::vector<Contact> contacts,
                               const Eigen::VectorXd& C, const ContactOptions& options = {});

/// Contacts that act as their statuses say (holding, sticking, sliding): may they go on doing so (CoulombAnswer::violation), and
/// is the acceleration the only one? Far cheaper than solve_contacts where there is friction.
std::optional<CoulombAnswer> solve_contact_mode(const System& system, const InstantValues& values,
                                                const std::vector<Contact>& contacts, const Eigen::VectorXd& C);

/// Rows of equalities and of the contacts for which `which` is true.
template <class Which>
std::vector<Eigen::Index> rows_with(const System& system, const std::vector<Contact>& contacts, Which&& which) {
  std::vector<Eigen::Index> rows;
  std::size_t c = 0;
  for (int j = 0; j < system.m(); ++j) {
    const bool is_contact = c < contacts.size() && contacts[c].values.row == j;
    if (is_contact && contacts[c].values.bare) {
      ++c;
      continue;
    }
    if (!is_contact || !contacts[c].values.one_sided || which(contacts[c])) rows.push_back(j);
    c += is_contact;
  }
  return rows;
}

}  // namespace mechanician
