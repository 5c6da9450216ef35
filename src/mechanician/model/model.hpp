#pragma once

/// A mechanical system and its constraints, as stated.
///
/// A Model is a plain value: coordinates, parameters, energies or matrices, constraints, start values. It comes from a
/// file (read_model.hpp) or is built in C++ with the functions below; both end in the same checks (validate.hpp).
///
///     Model model;
///     const Expr x = model.add_coordinate("x"), y = model.add_coordinate("y");
///     const Expr m = model.add_parameter("m", 2.0);
///     const Expr g = model.add_parameter("g", 9.81), L = model.add_parameter("L", 1.0);
///     model.kinetic   = m / 2 * (pow(dot(x), 2) + pow(dot(y), 2));
///     model.potential = m * g * y;
///     model.add_constraint("rod", x * x + y * y, L * L);
///     model.start_at({.position = {{"x", 1.0}}});
///
/// Expressions are kept as they were written: the kind of a constraint (position, velocity, acceleration) is the
/// highest derivative that occurs in it, before any simplification.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "mechanician/base/diagnostic.hpp"
#include "mechanician/expression/expression.hpp"
#include "mechanician/expression/table.hpp"
#include "mechanician/model/view.hpp"

namespace mechanician {

/// x' of a coordinate x.
inline Expr dot(const Expr& x) { return derivative_symbol(x); }
/// x'' of a coordinate x.
inline Expr ddot(const Expr& x) { return derivative_symbol(derivative_symbol(x)); }

struct Coordinate {
  std::string name;
  Place place;
  bool is_state = false;  ///< of first order: Model::states says its velocity
  Expr q() const { return coordinate(name); }
  Expr qd() const { return dot(q()); }
  Expr qdd() const { return ddot(q()); }
};

struct Parameter {
  std::string name;
  Expr value;  ///< an expression of other parameters
  Place place;
  bool is_input = false;  ///< may be set from outside while a motion goes on
  bool is_mode = false;   ///< events may change it
  Expr symbol() const { return parameter(name); }
};

/// The highest derivative that a constraint mentions.
enum class Level { position, velocity, acceleration };

/// Friction at a constraint, along the velocity gradients of the slip: at most coefficient·|λ| (Coulomb), or at most a force of its own.
struct Friction {
  Expr coefficient;
  std::vector<Expr> slip;  ///< one or two, linear in the velocities; sticking is where they vanish
  Place place;
  bool is_force = false;  ///< the coefficient is the largest force itself
};

/// φ(q, t) = 0, ψ(q, q̇, t) = 0 or an equation linear in q̈; the residual is left − right. One-sided: residual ≥ 0 is
/// what holds, and the residual is left − right of `left >= right` and right − left of `left <= right`.
struct Constraint {
  std::string name;
  Expr residual;
  bool one_sided = false;
  std::optional<Expr> weight;       ///< measured: 1/variance
  std::optional<Expr> restitution;  ///< of impacts, for one-sided constraints on positions; absent: 0
  std::optional<Friction> friction;
  std::string text;  ///< as written, for messages
  Place place;
  bool engaged = true;  ///< at the start
  bool bare = false;    ///< no equation, residual 0: friction with a limit of its own and nothing else
  Level level() const;
  /// One-sided or with friction: more than a row of A q̈ = b.
  bool is_contact() const { return one_sided || friction; }
};

/// z of first order: z' = rate(q, q', z, t). It is a coordinate without mass that nothing pushes: no force acts on it, and where no
/// constraint mentions it, it acts on nothing but through expressions. Its velocity is what the rate says, and may jump with it.
struct StateVariable {
  std::string name;  ///< of its coordinate
  Expr rate;         ///< without accelerations and without velocities of states
  std::string text;  ///< as written, for messages
  Place place;
};

/// A requirement that is met by a control force instead of a constraint force. One-sided: residual ≥ 0 is what is asked for.
struct Control {
  std::string name;
  Expr residual;
  std::optional<Expr> frequency;  ///< of the error; absent: the bare requirement
  Expr damping = 1.0;             ///< of the error, for requirements on positions
  std::string text;
  Place place;
  bool engaged = true;  ///< at the start
  bool one_sided = false;
  int priority = 1;            ///< lower ones first
  std::optional<Expr> weight;  ///< soft: what cannot be met is missed in the sense of least squares
  std::optional<Expr> law;     ///< of error_symbol() and its derivatives, = 0, in the place of frequency and damping
  Level level() const;
};

/// The error of a requirement, in its law: e, e', e''.
Expr error_symbol();

/// What can be forced: a generalised force for each unit of its effort τ. Models without actuators can force every coordinate.
struct Actuator {
  std::string name;
  /// What it works on: its gradient by accelerations where there are some in it, else by velocities, else by coordinates, is the
  /// force for each unit of τ.
  Expr work;
  std::optional<Expr> low, high;  ///< limits of τ
  std::optional<Expr> cost;       ///< of τ²; absent: 1
  Place place;
};

/// One weight matrix for several measured constraints.
struct Measured {
  std::vector<std::string> constraints;
  std::vector<std::vector<Expr>> weight;
  Place place;
};

/// A named expression of the model: a definition, an output, a force component.
struct Named {
  std::string name;
  Expr value;
  Place place;
};

/// What is said of control as a whole.
struct ControlSettings {
  std::vector<std::vector<Expr>> cost;  ///< R by rows, in the order of the actuators; empty: of single actuators
  std::vector<Named> free;              ///< by coordinate: a force that requirements are cleared of
  std::optional<double> every;          ///< sampled: τ is held from start + k·every on
  std::optional<Expr> gain, layer;      ///< of the term that makes it robust; both or none
  std::vector<Named> nominal;           ///< parameters that the controller believes
  Place place;
};

enum class EventDirection { up, down, both };
enum class EventAction { record, stop };
/// What an event does to the system.
struct EventChange {
  enum class What { release, engage, set } what = What::release;
  std::string name;  ///< of a constraint or requirement; of a mode
  Expr value = 0.0;  ///< of the mode, at the instant of the event
  Place place = {};
};
struct Event {
  std::string name;
  Expr when;
  EventDirection direction = EventDirection::both;
  EventAction action = EventAction::record;
  Place place;
  std::vector<EventChange> changes = {};  ///< one after the other
};

struct RunSettings {
  std::optional<double> to;
  std::optional<double> every;
  double tolerance = 1e-10;
  std::string method = "auto";
  std::optional<Expr> scale_of_all;  ///< typical size of every coordinate; of single ones:
  std::map<std::string, Expr> scale;
};

/// A result that a motion goes on from: its last row, or the one at a time.
struct StartFrom {
  std::string file;  ///< in the folder of the model or below
  std::optional<double> at = std::nullopt;
  Place place = {};
};

/// Start values by name; what is not named is zero.
struct StartValues {
  std::map<std::string, Expr> position = {};
  std::map<std::string, Expr> velocity = {};
  Expr time = 0.0;
  std::vector<std::string> hold = {};  ///< "x", "x'": what stays where it is when a start is moved onto the constraints
  bool assemble = false;               ///< such a start is moved there
  std::optional<StartFrom> from = std::nullopt;
};

/// What is said of a start beside its values; coordinates by number, each list in order.
struct StartRules {
  std::vector<int> held_positions = {}, held_velocities = {};
  bool assemble = false;
  std::optional<StartFrom> from = std::nullopt;
  bool holds() const { return !held_positions.empty() || !held_velocities.empty(); }
};

/// One number of a quantity over a whole motion.
enum class SummaryKind { max, min, mean, rms, integral, time_of_max, time_of_min };
struct SummaryItem {
  std::string name;
  SummaryKind kind = SummaryKind::max;
  Place place = {};
};

/// What a number of a file or of the command line is in: 1 of it is `factor` in SI.
struct UnitOf {
  std::string text;
  double factor = 1.0;
};

/// Options of add_constraint and add_control that are not always given.
struct ConstraintOptions {
  std::optional<Expr> weight = std::nullopt;
  std::optional<Expr> restitution = std::nullopt;
  std::optional<Friction> friction = std::nullopt;
  std::string text = {};
  Place place = {};
  bool engaged = true;
};
struct ControlOptions {
  std::optional<Expr> frequency = std::nullopt;
  Expr damping = 1.0;
  std::string text = {};
  Place place = {};
  bool engaged = true;
  int priority = 1;
  std::optional<Expr> weight = std::nullopt;
  std::optional<Expr> law = std::nullopt;
};
struct ActuatorOptions {
  std::optional<Expr> low = std::nullopt, high = std::nullopt, cost = std::nullopt;
  Place place = {};
};

struct Model {
  std::string title;
  std::vector<Coordinate> coordinates;
  std::vector<Parameter> parameters;
  std::vector<Named> definitions;
  std::vector<Expr> unknowns;  ///< functions without a value
  std::vector<Table> tables;   ///< functions given by data

  std::optional<Expr> kinetic, potential;
  std::vector<std::vector<Expr>> mass;  ///< n×n instead of a kinetic energy; empty if not given
  std::vector<Named> forces;            ///< by coordinate
  std::vector<Named> nonideal;          ///< C by coordinate

  std::vector<Constraint> constraints;
  std::vector<StateVariable> states;  ///< rows after those of the constraints
  std::vector<Control> controls;
  std::vector<Actuator> actuators;
  ControlSettings control;
  std::vector<Measured> measured;
  std::vector<Event> events;
  /// Columns of the result; the last ones, as many as there are in `summary`, are none: they are what these are about.
  std::vector<Named> outputs;
  std::vector<SummaryItem> summary;
  std::size_t num_columns() const { return outputs.size() - summary.size(); }  ///< of outputs

  StartValues start;
  RunSettings run;
  std::optional<View> view;  ///< what the picture of a motion shows

  /// Places of parts that are no vector, for messages: "kinetic", "potential", "mass", "start.position.x", … What is said of all
  /// members of a family stands under its name without indices.
  std::map<std::string, Place> places;
  /// Of parameters and coordinates; families by name. All numbers of the model are in SI.
  std::map<std::string, UnitOf> units;
  /// Of "constraints.rod[3].weight" too; line 0 where it is not known.
  Place place_of(const std::string& path) const;
  SourceText source;

  Expr add_coordinate(std::string name, Place place = {});
  Expr add_parameter(std::string name, Expr value, Place place = {});
  /// A parameter that may be set while a motion goes on (Integrator::set_input).
  Expr add_input(std::string name, Expr value, Place place = {});
  /// A state of first order; its rate, which may mention it, follows by set_rate().
  Expr add_state(std::string name, Expr start = 0.0, Place place = {});
  void set_rate(const Expr& state, Expr rate, std::string text = {}, Place place = {});
  /// A parameter that events may change.
  Expr add_mode(std::string name, Expr value, Place place = {});
  Expr add_unknown(std::string name, std::vector<Expr> depends);
  /// left = right
  void add_constraint(std::string name, const Expr& left, const Expr& right, ConstraintOptions options = {});
  /// left ≥ right
  void add_at_least(std::string name, const Expr& left, const Expr& right, ConstraintOptions options = {});
  /// left ≤ right
  void add_at_most(std::string name, const Expr& left, const Expr& right, ConstraintOptions options = {});
  /// Friction with a limit of its own along a slip, and nothing else: a brake.
  void add_brake(std::string name, Friction friction, ConstraintOptions options = {});
  void add_control(std::string name, const Expr& left, const Expr& right, ControlOptions options = {});
  /// A requirement left ≥ right: control acts only when it must.
  void add_control_at_least(std::string name, const Expr& left, const Expr& right, ControlOptions options = {});
  /// By what it works on (Actuator::work).
  void add_actuator(std::string name, const Expr& on, ActuatorOptions options = {});
  void add_force(const Expr& coordinate, Expr value, Place place = {});
  void add_nonideal(const Expr& coordinate, Expr value, Place place = {});
  /// A column of the result.
  void add_output(std::string name, Expr value, Place place = {});
  /// One number for a whole motion.
  void add_summary(std::string name, SummaryKind kind, Expr value, Place place = {});
  void start_at(StartValues values) { start = std::move(values); }

  int num_coordinates() const { return static_cast<int>(coordinates.size()); }
  /// Index of a coordinate by name, or −1.
  int find_coordinate(std::string_view name) const;
  /// Whether events change the system, or could: modes, constraints and requirements that are released or engaged.
  bool is_staged() const;
};

/// The level of an expression as written.
Level level_of(const Expr& residual);

}  // namespace mechanician
