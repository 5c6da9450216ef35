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
#include "mechanician/model/view.hpp"

namespace mechanician {

/// x' of a coordinate x.
inline Expr dot(const Expr& x) { return derivative_symbol(x); }
/// x'' of a coordinate x.
inline Expr ddot(const Expr& x) { return derivative_symbol(derivative_symbol(x)); }

struct Coordinate {
  std::string name;
  Place place;
  Expr q() const { return coordinate(name); }
  Expr qd() const { return dot(q()); }
  Expr qdd() const { return ddot(q()); }
};

struct Parameter {
  std::string name;
  Expr value;  ///< an expression of other parameters
  Place place;
  Expr symbol() const { return parameter(name); }
};

/// The highest derivative that a constraint mentions.
enum class Level { position, velocity, acceleration };

/// Coulomb friction at a constraint: along the velocity gradients of the slip, at most coefficient·|λ|.
struct Friction {
  Expr coefficient;
  std::vector<Expr> slip;  ///< one or two, linear in the velocities; sticking is where they vanish
  Place place;
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
  Level level() const;
  /// One-sided or with friction: more than a row of A q̈ = b.
  bool is_contact() const { return one_sided || friction; }
};

/// A requirement that is met by a control force instead of a constraint force. One-sided: residual ≥ 0 is what is asked for.
struct Control {
  std::string name;
  Expr residual;
  std::optional<Expr> frequency;  ///< of the error; absent: the bare requirement
  Expr damping = 1.0;             ///< of the error, for requirements on positions
  std::string text;
  Place place;
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
struct Event {
  std::string name;
  Expr when;
  EventDirection direction = EventDirection::both;
  EventAction action = EventAction::record;
  Place place;
};

struct RunSettings {
  std::optional<double> to;
  std::optional<double> every;
  double tolerance = 1e-10;
  std::string method = "auto";
  std::optional<Expr> scale_of_all;  ///< typical size of every coordinate; of single ones:
  std::map<std::string, Expr> scale;
};

/// Start values by name; what is not named is zero.
struct StartValues {
  std::map<std::string, Expr> position = {};
  std::map<std::string, Expr> velocity = {};
  Expr time = 0.0;
};

/// Options of add_constraint and add_control that are not always given.
struct ConstraintOptions {
  std::optional<Expr> weight = std::nullopt;
  std::optional<Expr> restitution = std::nullopt;
  std::optional<Friction> friction = std::nullopt;
  std::string text = {};
  Place place = {};
};
struct ControlOptions {
  std::optional<Expr> frequency = std::nullopt;
  Expr damping = 1.0;
  std::string text = {};
  Place place = {};
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

  std::optional<Expr> kinetic, potential;
  std::vector<std::vector<Expr>> mass;  ///< n×n instead of a kinetic energy; empty if not given
  std::vector<Named> forces;            ///< by coordinate
  std::vector<Named> nonideal;          ///< C by coordinate

  std::vector<Constraint> constraints;
  std::vector<Control> controls;
  std::vector<Actuator> actuators;
  ControlSettings control;
  std::vector<Measured> measured;
  std::vector<Event> events;
  std::vector<Named> outputs;

  StartValues start;
  RunSettings run;
  std::optional<View> view;  ///< what the picture of a motion shows

  /// Places of parts that are no vector, for messages: "kinetic", "potential", "mass", "start.position.x", … What is said of all
  /// members of a family stands under its name without indices.
  std::map<std::string, Place> places;
  /// Of "constraints.rod[3].weight" too; line 0 where it is not known.
  Place place_of(const std::string& path) const;
  SourceText source;

  Expr add_coordinate(std::string name, Place place = {});
  Expr add_parameter(std::string name, Expr value, Place place = {});
  Expr add_unknown(std::string name, std::vector<Expr> depends);
  /// left = right
  void add_constraint(std::string name, const Expr& left, const Expr& right, ConstraintOptions options = {});
  /// left ≥ right
  void add_at_least(std::string name, const Expr& left, const Expr& right, ConstraintOptions options = {});
  /// left ≤ right
  void add_at_most(std::string name, const Expr& left, const Expr& right, ConstraintOptions options = {});
  void add_control(std::string name, const Expr& left, const Expr& right, ControlOptions options = {});
  /// A requirement left ≥ right: control acts only when it must.
  void add_control_at_least(std::string name, const Expr& left, const Expr& right, ControlOptions options = {});
  /// By what it works on (Actuator::work).
  void add_actuator(std::string name, const Expr& on, ActuatorOptions options = {});
  void add_force(const Expr& coordinate, Expr value, Place place = {});
  void add_nonideal(const Expr& coordinate, Expr value, Place place = {});
  void start_at(StartValues values) { start = std::move(values); }

  int num_coordinates() const { return static_cast<int>(coordinates.size()); }
  /// Index of a coordinate by name, or −1.
  int find_coordinate(std::string_view name) const;
};

/// The level of an expression as written.
Level level_of(const Expr& residual);

}  // namespace mechanician
