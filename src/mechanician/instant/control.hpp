#pragma once

/// Control at an instant (theory: Control; solve/control.hpp): which force meets the requirements, beside the constraints that act.

#include <functional>

#include "mechanician/instant/accelerate.hpp"

namespace mechanician {

/// The instant with a force added to the given ones, and nothing asked of control. `guess`: contacts in the place of those that there are.
using Plant = std::function<Instant(const Eigen::VectorXd& u, const AccelerateOptions& options,
                                    const std::vector<Contact>* guess)>;

/// The programme of an instant. A: rows of the requirements, X = N F with F the columns of the actuators or, without, Aᵀ; qdd: the
/// acceleration without control, `terms`: sizes of what it is made of; `units`: what makes coordinates comparable.
struct ControlStage {
  ControlSpace space;
  ControlProgramme programme;
};
void make_control_stage(const ControlValues& control, const Eigen::MatrixXd& A, const Eigen::MatrixXd& X,
                        const Eigen::VectorXd& qdd, const Eigen::VectorXd& terms, const Eigen::VectorXd& units,
                        ControlStage& to);

/// What the controller believes at a state (System::nominal()). Contacts do there what that model has them do, but where both models say the
/// same of gaps and slips they are those of the system: which of them touch and slip is known better there.
Instant accelerate_believed(const System& believed, const State& state, const std::vector<Contact>& contacts);

/// `now`: evaluated at the state of the plant; `contacts`: of it, by geometry alone.
Instant accelerate_with_control(const System& system, const Evaluation& now, const AccelerateOptions& options,
                                const std::vector<Contact>& contacts, const Plant& plant);

}  // namespace mechanician
