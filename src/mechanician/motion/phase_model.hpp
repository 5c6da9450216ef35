#pragma once

/// A motion with contacts is a sequence of phases. In each of them every contact does one thing, and what is left is a
/// smooth motion under two-sided constraints: contacts that hold are equations, sticking ones have equations for their
/// slips too, sliding ones have friction (Dynamics), open ones are absent.

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "mechanician/instant/contacts.hpp"
#include "mechanician/motion/dynamics.hpp"

namespace mechanician {

/// What a contact does in a phase: open, holding, sticking or sliding.
struct ContactMode {
  ContactStatus status = ContactStatus::open;
  double sign = 1.0;                  ///< of the multiplier of a two-sided constraint with friction
  std::array<double, 2> direction{};  ///< of the slip, where it slides
  bool carried = false;               ///< it holds because control keeps it closed, and pushes nothing
};

/// The system of a phase, good for all phases in which the contacts have the same statuses. Large systems have one for all
/// phases, with rows that are left out: a change of phase derives nothing.
struct PhaseSystem {
  std::shared_ptr<System> system;           ///< of its own, or of all phases: dynamics->absent() are left out
  std::vector<int> row_of;                  ///< row of the whole system for each constraint row; −1: of a slip
  std::vector<std::vector<int>> slip_rows;  ///< by contact: rows of the slips, where it sticks
  std::vector<int> rows;                    ///< by contact: its row, −1 where it is open
  std::unique_ptr<Dynamics> dynamics;       ///< to be copied for each phase
  std::shared_ptr<const Tape> gaps = {};    ///< Dynamics::Guards::contacts, where PhaseSystems has made it
};

PhaseSystem make_phase_system(const System& whole, const std::vector<ContactStatus>& statuses);

/// The systems of all phases that have been met.
class PhaseSystems {
 public:
  /// `whole` must stay where it is. With `nominal`, code that is compiled for a phase is kept for later ones, of motions
  /// with other parameters too.
  explicit PhaseSystems(const System& whole, std::optional<Dynamics::Nominal> nominal = {});
  ~PhaseSystems();

  /// `start`: of the motion. What is typical of large systems is measured there, or at the nominal state.
  std::shared_ptr<const PhaseSystem> of(const std::vector<ContactStatus>& statuses, const State& start);
  void set_parameters(std::span<const double> values);
  /// Of a contact at a state.
  double restitution(std::size_t contact, const State& state) const;

 private:
  const System* whole_;
  std::optional<Dynamics::Nominal> nominal_;
  std::map<std::vector<ContactStatus>, std::shared_ptr<PhaseSystem>> systems_;
  struct AllRows;
  void make_all_rows(const State& start);
  std::unique_ptr<AllRows> all_;      ///< where systems are large
  std::shared_ptr<const Tape> gaps_;  ///< and coefficients of friction
  std::optional<Tape> restitutions_;
  bool asked_ = false;
};

/// What the phase lasts for; guards on multipliers only with `with_multipliers`.
Dynamics::Guards make_guards(const System& whole, const PhaseSystem& phase, const std::vector<ContactMode>& modes,
                             bool with_multipliers);
/// Which contact a guard belongs to and what it says.
struct GuardMeaning {
  enum class What { gap, multiplier, cone, sliding_multiplier, slip, friction_solvable } what = What::gap;
  std::size_t contact = 0;
};
std::vector<GuardMeaning> guard_meanings(const System& whole, const PhaseSystem& phase,
                                         const std::vector<ContactMode>& modes, bool with_multipliers);

}  // namespace mechanician
