#pragma once

/// The part of exported C that is the same for every model: steps, projection, what to do where pivots are not to be trusted, what changes on the
/// way. @ stands for the prefix, words in capitals for what depends on the kind of model.

#include <string_view>

namespace mechanician {

// c_linear.cpp
/// Gauss and Jordan with complete pivoting, and what is determined.
std::string_view c_elimination();
/// [M A'; A 0] for the rows that act.
std::string_view c_rows();
/// How contacts share what they hold.
std::string_view c_shared_friction();
/// Accelerations where straight-line code does not vouch for its answer; projection likewise.
std::string_view c_general_solver();
std::string_view c_least_norm();
std::string_view c_general_projection();
std::string_view c_following_rows();

// c_control_search.cpp
/// Least squares, one after the other, in few unknowns; `c_control_limits` stands in its place where there are limits.
std::string_view c_control_algebra();
std::string_view c_control_limits();
/// Which limits and one-sided requirements act.
std::string_view c_control_search();

// c_control.cpp
/// The control force beside the constraints that act; `c_control_free` stands in its places where there is a free one.
std::string_view c_control_force();
std::string_view c_control_free(std::string_view place);
/// What it changes.
std::string_view c_control_steer();
/// The same of a sample that is held.
std::string_view c_control_held();

// c_runtime.cpp
/// What errors count against.
std::string_view c_sizes();
/// y' of a motion.
std::string_view c_rate();
/// Runge and Kutta's step with the bits of the engine; of any y; with events inside it.
std::string_view c_classical_step();
std::string_view c_fixed_step();
std::string_view c_fixed_step_with_events();
/// The same between samples of control.
std::string_view c_sampled_steps();
/// Dormand and Prince's steps of order 8 with projection and dense output; `c_leap` stands in them where a step may end beyond the time asked for.
std::string_view c_leap();
/// Where a singular configuration is ahead; what is planned then.
std::string_view c_look_ahead();
std::string_view c_plan();
std::string_view c_adaptive_step();

// c_events.cpp
/// The state within the last step; what ends or happens there.
std::string_view c_state_at();
std::string_view c_events();

// c_order.cpp
/// The same with contacts; an order of elimination for what they do; solved by it.
std::string_view c_contact_matrix();
std::string_view c_order();
std::string_view c_contact_rows();
/// The orders of a motion.
std::string_view c_orders();

// c_reduction.cpp
/// Modes of contacts in the few unknowns that tell them apart.
std::string_view c_reduction();

// c_contacts.cpp
/// Which rows act.
std::string_view c_acting();
/// Which contacts hold, stick and slide.
std::string_view c_contact_law();
/// What the rounding of a state at rest is seen against.
std::string_view c_floor();
/// Velocities that jump.
std::string_view c_impacts();

// c_switching.cpp
/// From one phase to the next.
std::string_view c_phases();
/// What a phase lasts for.
std::string_view c_guards();

}  // namespace mechanician
