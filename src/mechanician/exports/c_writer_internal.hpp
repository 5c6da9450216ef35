#pragma once

/// The source of a model as C, part by part; each part needs those before it.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "mechanician/compile/acceleration_program.hpp"
#include "mechanician/compile/projection_program.hpp"
#include "mechanician/exports/c_model.hpp"
#include "mechanician/exports/c_pool.hpp"
#include "mechanician/exports/c_printer.hpp"
#include "mechanician/exports/c_text.hpp"

namespace mechanician {

class CWriter {
 public:
  /// `compact`: of long models the general projection does; accelerations are what time goes to.
  CWriter(const CFacts& facts, std::string name, bool tangents, bool compact);

  CSources write();

 private:
  // c_layout.cpp
  /// Sizes, and what rows and contacts are.
  void make_facts();
  /// The inputs of all programs: [t | q | q̇ | parameters], with the rates of states in the places of their velocities.
  void make_pack();
  /// M, A, Q, b and what contacts and control say beyond: where pivots are not to be trusted, for forces, and for what changes on the way.
  void make_numbers();
  void make_functions();
  /// What switches, and how fast.
  void make_switches();

  // c_solvers.cpp
  void make_solvers();
  void make_general_solver();

  // c_control_parts.cpp
  void make_control_facts();
  /// What control is made of, from the numbers that begin at `first`.
  std::string control_numbers(std::size_t first) const;
  void make_control();

  // c_steps.cpp
  void make_motion();
  void make_projections();
  /// By straight-line code, with the general one behind it.
  void make_projection(ProjectionOf what, std::string_view which, std::string_view moved);
  void make_steps();
  /// With the bits of the engine's fixed steps.
  void make_step_of_the_engine();

  bool make_tangents();

  int n() const { return facts_.n(); }
  int m() const { return facts_.m(); }
  std::size_t num_inputs() const {
    return 1 + 2 * static_cast<std::size_t>(n()) + eqs_.parameters.size() + facts_.sides.size();
  }
  bool has_events() const { return facts_.has_events(); }
  bool has_control() const { return facts_.has_control(); }
  /// Whether rows follow from others wherever the system can be, which solutions of all rows have to know.
  bool has_following() const { return solves_generally_ && !has_control() && !options_.dropped.empty(); }
  /// Whether there is something to project onto.
  bool projects() const { return facts_.projects(); }
  bool has_free_rate() const {
    return !facts_.sides.empty() && !facts_.switches && (facts_.num_states > 0 || facts_.has_samples());
  }
  /// Modes and sides of a motion, for @pack.
  std::string mode_values() const { return facts_.held_values(); }
  ProgramOptions extended() const {
    ProgramOptions options;
    options.sides = facts_.extensions;
    return options;
  }

  /// `alike`: see CPool.
  void add(const Program& program, std::string_view name, std::size_t alike = 0);
  void add_text(std::string_view text) { code_ += with_prefix(text, prefix_); }
  void add_function(std::string_view name, std::vector<Expr> functions, const ProgramOptions& options = {});

  const CFacts& facts_;
  const Equations& eqs_;
  std::string name_, prefix_;
  bool tangents_ = false, compact_ = false;
  ProgramOptions options_, step_options_;
  AccelerationProgram acceleration_;
  bool needs_reactions_ = false, solves_generally_ = false, has_program_ = false;
  int largest_ = 0;
  CTables tables_;
  CPool pool_{prefix_, tables_};
  std::string code_;
};

}  // namespace mechanician
