#pragma once

/// What of a model is written as C, counted and in order: for the C itself and for what is packed around it.

#include <algorithm>
#include <string>
#include <vector>

#include "mechanician/equations/switches.hpp"
#include "mechanician/instant/system.hpp"

namespace mechanician {

/// Throws std::invalid_argument: C cannot do it, and why.
[[noreturn]] void refuse_export(const std::string& what);

struct CFacts {
  /// Throws std::invalid_argument for what C cannot do, which it names.
  CFacts(const System& system, const State& start);

  const System& system;
  Equations eqs;  ///< with sides held, where something switches
  const Model& model;
  State start;

  int num_coordinates = 0;  ///< with a mass or held by rows; behind them the states of first order
  int num_states = 0;
  std::vector<int> coordinates;  ///< of the equations, in that order
  std::vector<int> rows;         ///< of the equations: constraints, then control; without rates of states
  int num_constraints = 0;       ///< of these
  /// By row of the equations.
  enum Level { position, velocity, acceleration, control, rate };
  std::vector<Level> levels;

  struct Contact {
    int row = 0, first_slip = 0, num_slips = 0, first_guard = 0;
    bool one_sided = false, of_velocity = false, bare = false, limited = false;
    std::string name;
  };
  std::vector<Contact> contacts;
  int num_slips = 0, num_guards = 0;
  std::vector<std::string> slip_names, guard_names;
  bool switches = false;           ///< contacts, or events that change something
  std::vector<int> modes;          ///< parameters that events may set
  std::vector<int> changing_rows;  ///< that events may release or engage

  std::vector<int> inputs;  ///< parameters that may be set while a motion goes on
  /// By parameter: the name of an input that is an expression until it is set; then the parameter that says so.
  std::vector<std::string> open_input;
  std::vector<int> given_flag;     ///< −1: none
  std::vector<char> is_flag;       ///< by parameter: it says that an input is set
  std::vector<Expr> input_values;  ///< what inputs are at a state, in the order of `inputs`
  std::vector<char> is_derived;    ///< by parameter: its value is made of others
  std::vector<Expr> derived;       ///< of independent parameters
  std::vector<char>
      is_structural;  ///< by parameter: it says how many there are of something, and cannot be changed any more
  std::vector<std::string> output_names;
  std::vector<Expr> outputs, events;
  /// Accelerations and forces that outputs, events and changes use.
  std::vector<Expr> extensions;

  std::vector<Switch> sides;      ///< what switches, inner before outer
  std::vector<char> is_of_time;   ///< of these: time and parameters alone decide
  std::vector<Expr> turns;        ///< what their functions go through turns with, in units of a part of one
  std::vector<Expr> state_rates;  ///< of states of first order, in the order of `coordinates`
  bool depends_on_time = false;
  bool starts_as_stated = true;  ///< else the start is that of numbers

  int n() const { return eqs.n(); }
  int m() const { return eqs.m(); }
  int num_motion() const { return 2 * num_coordinates + num_states; }
  bool has_control() const { return eqs.num_control() > 0; }
  bool has_samples() const { return has_control() && eqs.control.every.has_value(); }
  bool has_events() const { return switches || !events.empty() || !sides.empty(); }
  /// Dense output belongs to a step, and is not made where it is asked for.
  bool keeps_dense() const { return has_events() || has_samples(); }
  /// Rows that a state can be brought back onto.
  static bool is_held(Level level) { return level == position || level == velocity; }
  bool projects() const { return std::any_of(levels.begin(), levels.end(), is_held); }
  /// Whether a step across a singular configuration may end beyond the time that is asked for.
  bool leaps() const { return projects() && !keeps_dense(); }
  /// What samples hold: efforts, or else forces by coordinate.
  int num_held() const { return eqs.control.actuators.empty() ? n() : static_cast<int>(eqs.control.actuators.size()); }
  /// How modes and sides of a motion m are handed to @pack.
  std::string held_values() const {
    return std::string(switches ? "m->d.mode" : "0") + (sides.empty() ? ", 0" : ", m->side");
  }
  /// Whether C is made of forces of constraints.
  bool needs_reactions() const;
  std::vector<Expr> side_symbols() const;
  /// Sides at [t | q | q̇ | parameters].
  std::vector<double> first_sides(const std::vector<double>& at_start) const;

 private:
  template <class Do>
  void each_expression(Do&& visit);
  void hold_sides();
  void find_turns(const std::vector<Expr>& g);
  void count_rows();
  void count_contacts();
  void check_control() const;
  void find_parameters();
  void derive_parameters();
  void find_quantities();
};

}  // namespace mechanician
