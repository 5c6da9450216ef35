#pragma once

/// Control as a part of a program (theory: Control), where its force follows at once (ControlEquations::is_direct): with N f what a
/// force f does under the constraints, F the columns of the actuators or, without any, A₂ᵀ,
///
///     G = A₂ N F,   S = G R⁻¹Gᵀ,   τ = R⁻¹Gᵀ S⁻¹(b₂ − A₂ q̈₁)          u = F τ, or without actuators M N F τ, where R = G
///
/// Requirements that lie close to what constraints and earlier ones decide are not vouched for.
///
/// Where limits, weights, priorities or one-sided requirements decide, control is left open: what a unit of each effort does, and the
/// numbers that whoever chooses efforts needs (motion/open_control.hpp).

#include "mechanician/compile/kkt_draft.hpp"

namespace mechanician {

struct DraftControl {
  std::vector<Number> u;       ///< the control force
  std::vector<Number> tau;     ///< of actuators
  std::vector<Number> qdd;     ///< what it adds to the acceleration
  std::vector<Number> lambda;  ///< and to the multipliers of kept rows, as scaled
};

struct OpenControl {
  struct Column {
    std::vector<Number> u, qdd, lambda;  ///< as above, of a unit of effort
  };
  std::vector<Column> columns;  ///< by actuator, or without any by requirement: of N A₂ᵀ
  /// [G by rows | b₂ − A₂ q̈ without efforts | squares of what rows of G could be at most, in units of cost | limits, R and weights as
  /// ControlEquations::numbers has them].
  std::vector<Number> numbers;
};
/// `qdd`: without control.
OpenControl draft_open_control(KktDraft& draft, const Equations& eqs, const std::vector<Number>& qdd);
DraftControl draft_control(KktDraft& draft, const Equations& eqs, const std::vector<Number>& qdd, long most_steps);

/// What the controller takes for right by the model in which it believes ([nominal]), at the state as it is: u and τ. `problem`: why
/// there is no program for that.
DraftControl draft_believed_control(KktDraft& draft, const Equations& eqs, const ProgramOptions& options,
                                    std::string& problem);

}  // namespace mechanician
