#include "mechanician/model/validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/degree.hpp"
#include "mechanician/expression/family_name.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/model/names.hpp"
#include "mechanician/model/parameters_internal.hpp"
#include "mechanician/model/source_map.hpp"
#include "mechanician/model/validate_internal.hpp"

namespace mechanician {

namespace {

constexpr KindSet of_parameters = kind_bit(SymbolKind::parameter);
constexpr KindSet of_time = of_parameters | kind_bit(SymbolKind::time);
constexpr KindSet of_positions = of_time | kind_bit(SymbolKind::coordinate) | kind_bit(SymbolKind::unknown);
constexpr KindSet of_velocities = of_positions | kind_bit(SymbolKind::velocity);
constexpr KindSet of_motion = of_velocities | kind_bit(SymbolKind::acceleration);
constexpr KindSet of_reactions = of_velocities | kind_bit(SymbolKind::ideal_force) | kind_bit(SymbolKind::multiplier);
constexpr KindSet of_forces = of_motion | all_forces;

constexpr auto of_change = "it is made of the state at that instant, of parameters and of modes; no forces";

/// An expression of the model with what may stand in it.
struct Part {
  Expr f;
  std::string what;
  Place place;
  KindSet allowed;
  std::string hint;
};

std::string_view kind_in_words(SymbolKind kind) {
  switch (kind) {
    case SymbolKind::time:
      return "the time";
    case SymbolKind::coordinate:
      return "the coordinate";
    case SymbolKind::velocity:
      return "the velocity";
    case SymbolKind::acceleration:
      return "the acceleration";
    case SymbolKind::parameter:
      return "the parameter";
    case SymbolKind::ideal_force:
      return "the ideal force";
    case SymbolKind::multiplier:
      return "the multiplier";
    case SymbolKind::constraint_force:
      return "the constraint force";
    case SymbolKind::control_force:
      return "the control force";
    case SymbolKind::friction:
      return "the friction";
    case SymbolKind::power:
      return "the power";
    case SymbolKind::work:
      return "the work";
    case SymbolKind::effort:
      return "the effort";
    case SymbolKind::control_error:
      return "the error";
    case SymbolKind::control_cost:
      return "what control costs,";
    case SymbolKind::unknown:
      return "the unknown function";
  }
  return "";
}

class Validator {
 public:
  /// `whole`: all members of families are there.
  Validator(const Model& model, const Unreadable& unreadable, bool whole)
      : model_(model), unreadable_(unreadable), whole_(whole) {}

  std::vector<Problem> validate() {
    check_names();
    check_coordinates();
    check_held();
    check_energies();
    collect_parts();
    check_parts();
    check_constraints();
    check_states();
    for (Problem& p : validate_contacts(model_)) problems_.push_back(std::move(p));
    check_controls();
    check_measured();
    check_changes();
    check_start_names();
    check_run();
    return std::move(problems_);
  }

 private:
  void report(const Place& place, std::string message, std::string hint = {}) {
    if (problems_.size() < 1000) problems_.push_back({place, std::move(message), std::move(hint)});
  }
  Place place(const std::string& path, Place fallback = {}) const { return place_in(model_, path, fallback); }

  // ---- names

  void check_names() {
    struct Known {
      NameKind kind;
      Place place;
    };
    std::unordered_map<std::string, Known> known;
    const auto add = [&](const std::string& name, NameKind kind, const Place& at) {
      check_name(name, in_words(kind), at);
      if (is_reserved(name))
        report(at,
               fmt::format("{} cannot be the name of {} {}", mechanician::quoted(name), article(kind), in_words(kind)),
               name == "t"    ? "t is the time"
               : name == "pi" ? "pi is a number"
                              : fmt::format("{} is part of the language", name));
      const auto [first, fresh] = known.emplace(name, Known{kind, at});
      if (fresh) return;
      const std::string where =
          first->second.place.line > 0 ? fmt::format("the first is in line {}", first->second.place.line) : "";
      if (first->second.kind == kind)
        report(at, fmt::format("the {} {} is given twice", in_words(kind), mechanician::quoted(name)), where);
      else
        report(at,
               fmt::format("{} stands for two things: {} {} and {} {}", mechanician::quoted(name),
                           article(first->second.kind), in_words(first->second.kind), article(kind), in_words(kind)),
               where);
    };
    for (const Coordinate& c : model_.coordinates)
      add(c.name, c.is_state ? NameKind::state : NameKind::coordinate, c.place);
    for (const Parameter& p : model_.parameters)
      add(p.name, p.is_input ? NameKind::input : NameKind::parameter, p.place);
    for (const Named& d : model_.definitions) add(d.name, NameKind::definition, d.place);
    for (const Expr& u : model_.unknowns) add(u.symbol().name, NameKind::unknown, place("unknown." + u.symbol().name));
    std::string last;  // of several columns the table is one
    for (const Table& t : model_.tables) {
      const std::string name = t.name().substr(0, t.name().find('.'));
      if (name == t.name() || name != last) add(name, NameKind::table, place("tables." + name));
      last = name;
    }

    // Constraints and requirements are told apart by name in the results.
    std::unordered_map<std::string, Place> rows;
    const auto add_row = [&](const std::string& name, std::string_view what, const Place& at) {
      check_name(name, what, at);
      const auto [first, fresh] = rows.emplace(name, at);
      if (!fresh)
        report(at, fmt::format("{} is the name of two constraints or requirements", mechanician::quoted(name)),
               first->second.line > 0 ? fmt::format("the first is in line {}", first->second.line) : "");
    };
    for (const Constraint& c : model_.constraints)
      add_row(c.name, "constraint", place("constraints." + c.name, c.place));
    for (const Control& c : model_.controls)
      add_row(c.name, "control requirement", place("control." + c.name, c.place));
    std::unordered_map<std::string, Place> actuators;
    for (const Actuator& a : model_.actuators) {
      const Place at = place("actuators." + a.name, a.place);
      check_name(a.name, "actuator", at);
      if (!actuators.emplace(a.name, at).second)
        report(at, fmt::format("the actuator {} is given twice", mechanician::quoted(a.name)));
    }
    for (const Event& e : model_.events) check_name(e.name, "event", place("events." + e.name, e.place));
    for (const SummaryItem& s : model_.summary) {
      check_name(s.name, "summary", place("summary." + s.name, s.place));
      for (std::size_t i = 0; i < model_.num_columns(); ++i)
        if (model_.outputs[i].name == s.name)
          report(place("summary." + s.name, s.place),
                 fmt::format("{} is an output and a number of [summary]", mechanician::quoted(s.name)),
                 "take another name for one of them");
    }
    for (std::size_t i = 0; i < model_.num_columns(); ++i) {
      const Named& o = model_.outputs[i];
      const Place at = place("outputs." + o.name, o.place);
      check_name(o.name, "output", at);
      const auto found = known.find(o.name);
      const bool coordinate = found != known.end() && is_moving(found->second.kind);
      const auto parameter = std::find_if(model_.parameters.begin(), model_.parameters.end(),
                                          [&](const Parameter& p) { return p.is_mode && p.name == o.name; });
      if (parameter != model_.parameters.end())
        report(at, fmt::format("the output {} would be a second column of that name", mechanician::quoted(o.name)),
               "results have the mode as a column anyway: take another name");
      if (coordinate || is_result_column(o.name))
        report(at, fmt::format("the output {} would be a second column of that name", mechanician::quoted(o.name)),
               fmt::format("results have the {} as a column anyway: take another name",
                           coordinate      ? in_words(found->second.kind)
                           : o.name == "t" ? "time"
                                           : o.name));
    }
  }

  static std::string_view article(NameKind kind) {
    return kind == NameKind::unknown || kind == NameKind::input ? "an" : "a";
  }

  /// x[3], net[1,-2]: a member of a family.
  static bool is_member_name(std::string_view name) {
    const std::size_t open = name.rfind('[');
    if (open == std::string_view::npos || !name.ends_with(']') || !is_name(name.substr(0, open))) return false;
    const std::string_view indices = name.substr(open + 1, name.size() - open - 2);
    return !indices.empty() && indices.find_first_not_of("0123456789,-") == std::string_view::npos;
  }

  void check_name(const std::string& name, std::string_view what, const Place& at) {
    if (!is_name(name) && !is_member_name(name))
      report(at,
             fmt::format("{} cannot be the name of a{} {}", mechanician::quoted(name),
                         what.find_first_of("aeiou") == 0 ? "n" : "", what),
             "a name is a letter or _, then letters, digits and _");
  }

  /// Of a model that is built in C++; a file is read with its coordinates at hand.
  void check_held() {
    for (std::string name : model_.start.hold) {
      if (name.ends_with('\'')) name.pop_back();
      const auto is_it = [&](const Named& d) { return d.name == name; };
      if (model_.find_coordinate(name) < 0 && std::none_of(model_.definitions.begin(), model_.definitions.end(), is_it))
        report(place("start.hold"),
               fmt::format("{} is no coordinate and no definition, and cannot be held", mechanician::quoted(name)), "");
    }
  }

  void check_coordinates() {
    const int n = model_.num_coordinates();
    if (n == 0 && !unreadable_.covers("coordinates") && !unreadable_.touches("states"))
      report(place("coordinates"), "the model has no coordinates",
             "they are listed at the top: coordinates = [\"x\", \"y\"]");
    if (n > most_coordinates)
      report(place("coordinates"), fmt::format("the model has {} coordinates; {} are possible", n, most_coordinates));
  }

  // ---- energies

  void check_energies() {
    const bool has_mass = !model_.mass.empty();
    const std::string choice = "kinetic = \"m/2*x'^2\" or mass = { x = \"m\" }";
    if (model_.kinetic && has_mass)
      report(place("mass"), "both `kinetic` and `mass` are given",
             "the mass matrix follows from the kinetic energy: leave one out");
    const bool any_moving = std::any_of(model_.coordinates.begin(), model_.coordinates.end(),
                                        [](const Coordinate& c) { return !c.is_state; });
    if (!model_.kinetic && !has_mass && any_moving && !unreadable_.covers("dynamics.kinetic") &&
        !unreadable_.covers("dynamics.mass")) {
      if (model_.places.contains("dynamics"))
        report(place("dynamics"), "[dynamics] has neither `kinetic` nor `mass`", "give one of them: " + choice);
      else
        report({}, "the model has no [dynamics]", "it needs a section [dynamics] with " + choice);
    }
    const auto n = static_cast<std::size_t>(model_.num_coordinates());
    if (has_mass &&
        std::any_of(model_.mass.begin(), model_.mass.end(), [&](const auto& row) { return row.size() != n; }))
      report(place("mass"), "a row of `mass` has the wrong length",
             fmt::format("there are {}", count_noun(n, "coordinate")));
    else if (has_mass && model_.mass.size() != n)
      report(place("mass"), fmt::format("`mass` has {}", count_noun(model_.mass.size(), "row")),
             fmt::format("there are {}", count_noun(n, "coordinate")));
    if (model_.kinetic && !model_.kinetic->contains(SymbolKind::acceleration) && !model_.kinetic->is_condition() &&
        !has_degree_at_most(*model_.kinetic, SymbolKind::velocity, 2))
      report(place("kinetic"), "the kinetic energy is not quadratic in the velocities",
             "it may have terms of degree 0, 1 and 2 in them");
  }

  // ---- what expressions may contain

  void add(Expr f, std::string what, const Place& at, KindSet allowed, std::string hint = {}) {
    if (!f.is_constant()) parts_.push_back({std::move(f), std::move(what), at, allowed, std::move(hint)});
  }

  void collect_parts() {
    const std::string to_force = "forces that depend on velocities stand under force",
                      no_acceleration = "accelerations can stand in constraints and outputs only";
    for (const Parameter& p : model_.parameters)
      add(p.value, fmt::format("the parameter {}", mechanician::quoted(p.name)), place("parameters." + p.name, p.place),
          of_parameters, "a parameter is made of numbers and other parameters");
    for (const Named& d : model_.definitions)
      add(d.value, fmt::format("the definition {}", mechanician::quoted(d.name)), place("define." + d.name, d.place),
          of_forces);
    if (model_.kinetic) add(*model_.kinetic, "the kinetic energy", place("kinetic"), of_velocities, no_acceleration);
    if (model_.potential) add(*model_.potential, "the potential energy", place("potential"), of_positions, to_force);
    for (std::size_t i = 0; i < model_.mass.size(); ++i)
      for (std::size_t j = 0; j < model_.mass[i].size(); ++j)
        if (!model_.mass[i][j].is_constant())
          add(model_.mass[i][j], "the mass matrix", place(fmt::format("mass.{}.{}", i, j), place("mass")), of_positions,
              to_force);
    for (const Named& f : model_.forces) {
      check_coordinate(f.name, "a force", f.place);
      add(f.value, fmt::format("the force on {}", mechanician::quoted(f.name)), f.place, of_velocities,
          no_acceleration);
    }
    for (const Named& f : model_.nonideal) {
      check_coordinate(f.name, "a nonideal force", f.place);
      add(f.value, fmt::format("the nonideal force on {}", mechanician::quoted(f.name)), f.place, of_reactions,
          no_acceleration);
    }
    for (const Constraint& c : model_.constraints) {
      add(c.residual, fmt::format("the constraint {}", mechanician::quoted(c.name)), c.place, of_motion);
      if (c.weight)
        add(*c.weight, fmt::format("the weight of {}", mechanician::quoted(c.name)),
            place("constraints." + c.name + ".weight", c.place), of_velocities, no_acceleration);
      if (c.restitution)
        add(*c.restitution, fmt::format("the restitution of {}", mechanician::quoted(c.name)),
            place("constraints." + c.name + ".restitution", c.place), of_positions,
            "it may depend on coordinates, parameters and t");
      if (!c.friction) continue;
      add(c.friction->coefficient, fmt::format("the friction of {}", mechanician::quoted(c.name)), c.friction->place,
          of_velocities, no_acceleration);
      for (std::size_t k = 0; k < c.friction->slip.size(); ++k)
        add(c.friction->slip[k], fmt::format("the slip of {}", mechanician::quoted(c.name)), slip_place(model_, c, k),
            of_velocities, no_acceleration);
    }
    for (const StateVariable& z : model_.states)
      add(z.rate, fmt::format("the rate of {}", mechanician::quoted(z.name)), z.place, of_velocities,
          "a rate is made of positions, velocities, states and t");
    for (const Control& c : model_.controls) {
      add(c.residual, fmt::format("the control requirement {}", mechanician::quoted(c.name)), c.place, of_motion);
      const std::string hint = "it may depend on parameters and t";
      if (c.frequency)
        add(*c.frequency, fmt::format("the frequency of {}", mechanician::quoted(c.name)),
            place("control." + c.name + ".frequency", c.place), of_time, hint);
      add(c.damping, fmt::format("the damping of {}", mechanician::quoted(c.name)),
          place("control." + c.name + ".damping", c.place), of_time, hint);
      if (c.weight)
        add(*c.weight, fmt::format("the weight of {}", mechanician::quoted(c.name)),
            place("control." + c.name + ".weight", c.place), of_velocities, no_acceleration);
      if (c.law) {
        const Expr e = error_symbol();
        const std::vector<Replacement> of_error{
            {e, 1.0}, {derivative_symbol(e), 1.0}, {derivative_symbol(derivative_symbol(e)), 1.0}};
        add(substitute(*c.law, of_error), fmt::format("the law of {}", mechanician::quoted(c.name)),
            place("control." + c.name + ".law", c.place), of_time,
            "it is made of the error e, its derivatives, t and parameters");
      }
    }
    collect_actuators(no_acceleration);
    for (const Measured& m : model_.measured)
      for (const auto& row : m.weight)
        for (const Expr& w : row) add(w, "the weight in [measured]", m.place, of_velocities, no_acceleration);
    for (const Event& e : model_.events) {
      add(e.when, fmt::format("the event {}", mechanician::quoted(e.name)), e.place, of_forces);
      for (const EventChange& c : e.changes)
        add(c.value, fmt::format("the new value of {}", mechanician::quoted(c.name)), c.place, of_motion, of_change);
    }
    for (std::size_t i = 0; i < model_.outputs.size(); ++i) {
      const Named& o = model_.outputs[i];
      add(o.value,
          fmt::format("{} {}", i < model_.num_columns() ? "the output" : "the summary", mechanician::quoted(o.name)),
          o.place, of_forces);
    }
    const std::string of_start = "a start value is made of numbers and parameters";
    add(model_.start.time, "`start.time`", place("start.time"), of_parameters, of_start);
    for (const auto& [name, f] : model_.start.position)
      add(f,
          is_state(name) ? fmt::format("the start of the state {}", mechanician::quoted(name))
                         : mechanician::quoted("start.position." + name),
          place("start.position." + name), of_parameters, of_start);
    for (const auto& [name, f] : model_.start.velocity)
      add(f, mechanician::quoted("start.velocity." + name), place("start.velocity." + name), of_parameters, of_start);
    const std::string of_scale = "a scale is made of numbers and parameters";
    if (model_.run.scale_of_all)
      add(*model_.run.scale_of_all, "`run.scale`", place("run.scale"), of_parameters, of_scale);
    for (const auto& [name, f] : model_.run.scale)
      add(f, mechanician::quoted("run.scale." + name), place("run.scale." + name), of_parameters, of_scale);
  }

  void collect_actuators(const std::string& no_acceleration) {
    for (const Actuator& a : model_.actuators) {
      const std::string name = mechanician::quoted(a.name), path = "actuators." + a.name;
      add(a.work, fmt::format("the actuator {}", name), a.place, of_motion);
      if (a.low)
        add(*a.low, fmt::format("the limit of {}", name), place(path + ".low", a.place), of_velocities,
            no_acceleration);
      if (a.high)
        add(*a.high, fmt::format("the limit of {}", name), place(path + ".high", a.place), of_velocities,
            no_acceleration);
      if (a.cost)
        add(*a.cost, fmt::format("the cost of {}", name), place(path + ".cost", place("control.cost", a.place)),
            of_velocities, no_acceleration);
    }
    const ControlSettings& control = model_.control;
    for (const auto& row : control.cost)
      for (const Expr& f : row) add(f, "the cost of control", place("control.cost"), of_velocities, no_acceleration);
    for (const Named& z : control.free) {
      check_coordinate(z.name, "a free control force", z.place);
      add(z.value, fmt::format("the free control force on {}", mechanician::quoted(z.name)), z.place, of_velocities,
          no_acceleration);
    }
    if (control.gain)
      add(*control.gain, "the gain of `robust`", place("control.robust.gain"), of_time,
          "it may depend on parameters and t");
    if (control.layer)
      add(*control.layer, "the layer of `robust`", place("control.robust.layer"), of_time,
          "it may depend on parameters and t");
    for (const Named& p : control.nominal)
      add(p.value, fmt::format("the nominal value of {}", mechanician::quoted(p.name)), p.place, of_parameters,
          "it is made of numbers and parameters");
  }

  void check_coordinate(const std::string& name, std::string_view what, const Place& at) {
    if (is_state(name))
      return report(at, fmt::format("{} acts on {}, which is a state", what, mechanician::quoted(name)),
                    "a state has no mass that a force could move: its rate says how it changes");
    if (coordinate_names().contains(name)) return;
    report(at, fmt::format("{} acts on {}, which is no coordinate", what, mechanician::quoted(name)));
  }

  bool is_state(const std::string& name) {
    if (!states_known_) {
      for (const Coordinate& c : model_.coordinates)
        if (c.is_state) states_.insert(c.name);
      for (const Coordinate& c : model_.coordinates)  // what is both is said once
        if (!c.is_state) states_.erase(c.name);
    }
    states_known_ = true;
    return states_.contains(name);
  }

  const std::unordered_set<std::string>& coordinate_names() {
    if (coordinates_.empty())
      for (const Coordinate& c : model_.coordinates) coordinates_.insert(c.name);
    return coordinates_;
  }

  void check_parts() {
    for (const Part& p : parts_) {
      if (p.f.is_condition())
        report(p.place, fmt::format("{} is a condition, not a number", p.what), "use if(condition, then, else)");
      if ((p.f.kinds() & ~p.allowed) == 0) continue;
      for (const Expr& s : symbols_of(std::span(&p.f, 1))) {
        const SymbolKind kind = s.symbol().kind;
        if ((kind_bit(kind) & p.allowed) != 0) continue;
        const bool reaction = (kind_bit(kind) & all_forces) != 0;
        const bool time = kind == SymbolKind::time;
        report(
            p.place,
            fmt::format("{} contains {}{}", p.what, kind_in_words(kind),
                        time ? "" : " `" + symbol_text(s.symbol()) + "`"),
            reaction && p.hint != of_change
                ? "forces can stand in [outputs], [events] and [view], ideal() and multiplier() in [nonideal] too, and "
                  "in definitions that only these use"
                : p.hint);
        break;
      }
    }
    check_symbols();
  }

  /// Every symbol belongs to the model. One look at all expressions together decides; only if something is wrong is
  /// each looked at by itself.
  void check_symbols() {
    std::unordered_set<std::string> parameters, constraints, unknowns, requirements, actuators;
    for (const Control& c : model_.controls) requirements.insert(c.name);
    for (const Actuator& a : model_.actuators) actuators.insert(a.name);
    for (const Parameter& p : model_.parameters) parameters.insert(p.name);
    for (const Constraint& c : model_.constraints) constraints.insert(c.name);
    for (const Expr& u : model_.unknowns) unknowns.insert(u.symbol().name);
    const auto is_known = [&](const Symbol& s) {
      switch (s.kind) {
        case SymbolKind::time:
          return true;
        case SymbolKind::parameter:
          return parameters.contains(s.name);
        case SymbolKind::multiplier:
        case SymbolKind::friction:
        case SymbolKind::power:
        case SymbolKind::work:
          return has_row(constraints, s.name) || unreadable_.covers("constraints." + s.name);
        case SymbolKind::effort:
          return has_row(actuators, s.name) || unreadable_.covers("actuators." + s.name);
        case SymbolKind::control_error:
          return has_row(requirements, s.name) || unreadable_.covers("control." + s.name);
        case SymbolKind::control_cost:
          return !model_.controls.empty() || unreadable_.covers("control");
        case SymbolKind::unknown:
          return unknowns.contains(s.name);
        default:
          return coordinate_names().contains(s.name);
      }
    };
    std::vector<Expr> all;
    for (const Part& p : parts_) all.push_back(p.f);
    const std::vector<Expr> symbols = symbols_of(all);
    if (std::all_of(symbols.begin(), symbols.end(), [&](const Expr& s) { return is_known(s.symbol()); })) return;
    for (const Part& p : parts_)
      for (const Expr& s : symbols_of(std::span(&p.f, 1)))
        if (!is_known(s.symbol()))
          report(p.place, fmt::format("{} contains {} {}, which the model does not have", p.what,
                                      kind_in_words(s.symbol().kind), mechanician::quoted(symbol_text(s.symbol()))));
  }

  /// Where not all members are there, one of the family will do: which there are was asked when the text was read.
  bool has_row(const std::unordered_set<std::string>& rows, const std::string& name) const {
    if (rows.contains(name)) return true;
    const std::size_t open = family_of(name).size();
    return !whole_ && open < name.size() && std::any_of(rows.begin(), rows.end(), [&](const std::string& row) {
      return row.compare(0, open + 1, name, 0, open + 1) == 0;
    });
  }

  // ---- what events change, and forces that are there

  void check_changes() {
    std::unordered_set<std::string> rows, modes, measured;
    for (const Constraint& c : model_.constraints) rows.insert(c.name);
    for (const Control& c : model_.controls) rows.insert(c.name);
    for (const Parameter& p : model_.parameters)
      if (p.is_mode) modes.insert(p.name);
    for (const Measured& m : model_.measured) measured.insert(m.constraints.begin(), m.constraints.end());
    const std::string of_measured = "its weight is joined with those of others, which do not go on without it";
    for (const Event& e : model_.events)
      for (const EventChange& c : e.changes) {
        const bool set = c.what == EventChange::What::set;
        if (set && !modes.contains(c.name))
          report(c.place, fmt::format("there is no mode {}", mechanician::quoted(c.name)),
                 "what events may change stands in [modes], with the value that it begins with");
        if (!set && !has_row(rows, c.name) && !unreadable_.covers("constraints." + c.name) &&
            !unreadable_.covers("control." + c.name))
          report(c.place, fmt::format("there is no constraint or control requirement {}", mechanician::quoted(c.name)),
                 "constraints and control requirements can be released and engaged");
        if (!set && measured.contains(c.name))
          report(c.place, fmt::format("{} stands in [measured] and cannot be released", mechanician::quoted(c.name)),
                 of_measured);
      }
    for (const Constraint& c : model_.constraints)
      if (!c.engaged && measured.contains(c.name))
        report(c.place, fmt::format("{} stands in [measured] and cannot be released", mechanician::quoted(c.name)),
               of_measured);
    // A parameter keeps its value.
    for (const Parameter& p : model_.parameters)
      for (const Expr& s : modes.empty() ? std::vector<Expr>{} : symbols_of(std::span(&p.value, 1)))
        if (!p.is_mode && modes.contains(s.symbol().name))
          report(place("parameters." + p.name, p.place),
                 fmt::format("the parameter {} is made of the mode {}", mechanician::quoted(p.name),
                             mechanician::quoted(s.symbol().name)),
                 "a parameter keeps its value; what changes with a mode stands in [define]");
    std::unordered_map<std::string, const Constraint*> known;
    for (const Constraint& c : model_.constraints) known.emplace(c.name, &c);
    const auto check = [&](const Expr& f, const Place& at) {
      if ((f.kinds() & forces_of_constraints) == 0) return;
      for (const Expr& s : symbols_of(std::span(&f, 1))) {
        const auto found = known.find(s.symbol().name);
        if ((kind_bit(s.symbol().kind) & forces_of_constraints) == 0 || found == known.end()) continue;
        const bool friction = s.symbol().kind == SymbolKind::friction;
        if (friction && !found->second->friction)
          report(at, fmt::format("the constraint {} has no friction", mechanician::quoted(found->first)),
                 "friction(NAME) is of constraints with friction or friction_force");
        if (!friction && found->second->bare)
          report(at, fmt::format("{} is friction alone, and has no multiplier", mechanician::quoted(found->first)),
                 "of a brake there is friction(NAME)");
      }
    };
    for (const Named& o : model_.outputs) check(o.value, o.place);
    for (const Event& e : model_.events) check(e.when, e.place);
    for (const Named& d : model_.definitions) check(d.value, d.place);
  }

  // ---- rows

  void check_row(const Expr& residual, const std::string& what, const Place& at) {
    constexpr KindSet moving =
        kind_bit(SymbolKind::coordinate) | kind_bit(SymbolKind::velocity) | kind_bit(SymbolKind::acceleration);
    if ((residual.kinds() & moving) == 0)
      report(at, fmt::format("{} mentions no coordinate", what),
             "an equation of numbers, parameters and t does not constrain the motion");
    if (residual.contains(SymbolKind::acceleration) && !has_degree_at_most(residual, SymbolKind::acceleration, 1))
      report(at, fmt::format("{} is not linear in the accelerations", what));
  }

  void check_constraints() {
    for (const Constraint& c : model_.constraints)
      if (!c.bare) check_row(c.residual, fmt::format("the constraint {}", mechanician::quoted(c.name)), c.place);
  }

  /// The first velocity of a state in an expression, or nothing.
  std::optional<std::string> state_velocity_in(const Expr& f) {
    if (model_.states.empty() || !f.contains(SymbolKind::velocity)) return std::nullopt;
    for (const Expr& s : symbols_of(std::span(&f, 1)))
      if (s.symbol().kind == SymbolKind::velocity && is_state(s.symbol().name)) return symbol_text(s.symbol());
    return std::nullopt;
  }

  void check_states() {
    if (model_.kinetic)
      if (const auto found = state_velocity_in(*model_.kinetic))
        report(place("kinetic"),
               fmt::format("the kinetic energy contains {}, the rate of a state", mechanician::quoted(*found)),
               "a state has no mass; it may stand in masses itself");
    for (std::size_t i = 0; i < model_.mass.size() && i < model_.coordinates.size(); ++i)
      for (std::size_t j = 0; j < model_.mass[i].size() && j < model_.coordinates.size(); ++j)
        if (!model_.mass[i][j].is_zero())
          for (const std::size_t k : {i, j})
            if (const Coordinate& c = model_.coordinates[k]; c.is_state) {
              report(place(fmt::format("mass.{}.{}", i, j), place("mass")),
                     fmt::format("`mass` has an entry for {}, which is a state", mechanician::quoted(c.name)),
                     "a state has no mass");
              break;
            }
    std::unordered_set<std::string> rated;
    for (const StateVariable& z : model_.states) {
      const Place at = place("states." + z.name, z.place);
      if (!coordinate_names().contains(z.name))
        report(at, fmt::format("a rate is given for {}, which is no state", mechanician::quoted(z.name)));
      if (!rated.insert(z.name).second)
        report(at, fmt::format("the state {} has two rates", mechanician::quoted(z.name)));
      if (const auto found = state_velocity_in(z.rate))
        report(z.place,
               fmt::format("the rate of {} contains {}, the rate of a state", mechanician::quoted(z.name),
                           mechanician::quoted(*found)),
               "write what it is instead; a definition can hold it for both");
    }
    for (const auto& [name, f] : model_.start.velocity)
      if (is_state(name))
        report(place("start.velocity." + name),
               fmt::format("a start velocity is given for {}, which is a state", mechanician::quoted(name)),
               "its rate says how it changes from the start on");
  }

  void check_controls() {
    for (const Control& c : model_.controls) {
      check_row(c.residual, fmt::format("the control requirement {}", mechanician::quoted(c.name)), c.place);
      if (c.level() != Level::position && !c.damping.is_constant(1.0))
        report(place("control." + c.name + ".damping", c.place), "a requirement with velocities has no damping",
               "its error follows e' + frequency*e = 0");
      if (c.level() == Level::acceleration && c.frequency)
        report(place("control." + c.name + ".frequency", c.place), "a requirement with accelerations has no frequency",
               "it is used as it stands");
      if (c.law && (c.frequency || !c.damping.is_constant(1.0)))
        report(place("control." + c.name + ".law", c.place), "a requirement has a law or a frequency, not both",
               "the law says all there is to say of the error");
      if (c.priority < 1) report(place("control." + c.name, c.place), "`priority` is a whole number from 1 on");
      if (c.one_sided && !c.law && !c.frequency && c.level() != Level::acceleration)
        report(c.place, "a one-sided requirement needs a frequency or a law",
               "it acts so that e'' + 2*damping*frequency*e' + frequency^2*e >= 0");
      if (c.law && model_.control.gain && c.level() == Level::position)
        report(place("control.robust", c.place),
               fmt::format("`robust` cannot stand beside the law of {}", mechanician::quoted(c.name)),
               "its term drives to e' + frequency*e = 0, and a law of e'' has no such surface: give a frequency and a "
               "damping instead, or leave out `robust`");
    }
    check_actuators();
  }

  void check_actuators() {
    for (const Actuator& a : model_.actuators) {
      const SymbolKind kind = a.work.contains(SymbolKind::acceleration) ? SymbolKind::acceleration
                              : a.work.contains(SymbolKind::velocity)   ? SymbolKind::velocity
                                                                        : SymbolKind::coordinate;
      if (!a.work.contains(kind) && !unreadable_.covers("actuators." + a.name))
        report(a.place, fmt::format("the actuator {} acts on no coordinate", mechanician::quoted(a.name)));
      if (kind != SymbolKind::coordinate && !has_degree_at_most(a.work, kind, 1))
        report(a.place, fmt::format("what the actuator {} does is not linear", mechanician::quoted(a.name)));
    }
    const ControlSettings& control = model_.control;
    const std::size_t count = model_.actuators.size();
    const bool square =
        control.cost.size() == count &&
        std::all_of(control.cost.begin(), control.cost.end(), [&](const auto& row) { return row.size() == count; });
    if (!control.cost.empty() && !square)
      report(place("control.cost"), fmt::format("the cost is no matrix of {0} × {0}", count),
             "it has a row and a column for each actuator, in their order");
    if (square)
      for (std::size_t i = 0; i < count; ++i)
        for (std::size_t k = 0; k < i; ++k)
          if (!same(simplify(control.cost[i][k]), simplify(control.cost[k][i])))
            return report(place("control.cost"), "the cost is not symmetric",
                          fmt::format("the entries for {} and {} differ", mechanician::quoted(model_.actuators[k].name),
                                      mechanician::quoted(model_.actuators[i].name)));
    if (!model_.actuators.empty() && !control.free.empty())
      report(place("control.free", control.free.front().place), "`free` beside actuators",
             "a free force acts on every coordinate: it is for models without [actuators]");
    const bool no_requirement = model_.controls.empty() && !unreadable_.covers("control");
    if (no_requirement && !model_.actuators.empty())
      report(place("actuators", model_.actuators.front().place), "there are actuators but no requirement",
             "give what they are to do, as [control.NAME] with an equation; a force that is known is a `force`");
    if (no_requirement && (control.every || control.gain || !control.nominal.empty() || !control.free.empty()))
      report(place(!control.nominal.empty() ? "nominal" : "control"), "there is nothing to control",
             "give a requirement, as [control.NAME] with an equation");
    std::vector<std::string> names;
    for (const Parameter& p : model_.parameters) names.push_back(p.name);
    for (const Named& p : control.nominal)
      if (std::find(names.begin(), names.end(), p.name) == names.end() && !unreadable_.covers("parameters." + p.name))
        report(p.place, fmt::format("{} is no parameter", mechanician::quoted(p.name)),
               "[nominal] gives values that the controller believes parameters to have");
  }

  void check_measured() {
    std::map<std::string, const Constraint*> known;
    std::vector<std::string> names;
    for (const Constraint& c : model_.constraints) known.emplace(c.name, &c), names.push_back(c.name);
    std::unordered_set<std::string> seen;
    for (const Measured& m : model_.measured) {
      for (const std::string& name : m.constraints) {
        const Place at = place("measured." + name, m.place);
        if (!seen.insert(name).second)
          report(at, fmt::format("the constraint {} is measured twice", mechanician::quoted(name)));
        const auto found = known.find(name);
        if (found == known.end()) {
          if (unreadable_.covers("constraints." + name)) continue;
          if (model_.find_coordinate(name) >= 0 || model_.find_coordinate(name.substr(0, name.find('\''))) >= 0) {
            report(at,
                   fmt::format("the weight would join constraints and the equation of motion of {}",
                               mechanician::quoted(name)),
                   "equations of motion hold exactly: W is block-diagonal, and [measured] names constraints alone");
            continue;
          }
          const std::string near = nearest(name, names);
          report(at, fmt::format("there is no constraint {}", mechanician::quoted(name)),
                 near.empty() ? "" : fmt::format("did you mean `{}`?", near));
        } else if (found->second->weight) {
          report(at, fmt::format("the constraint {} has a weight of its own", mechanician::quoted(name)),
                 "give it there or in [measured]");
        }
      }
      const std::size_t n = m.constraints.size();
      const bool square = m.weight.size() == n && std::all_of(m.weight.begin(), m.weight.end(),
                                                              [&](const auto& row) { return row.size() == n; });
      if (!square)
        report(m.place, fmt::format("the weight of {} has {} × {} entries", count_noun(n, "constraint"), n, n));
      if (n == 0) report(m.place, "[measured] names no constraint");
    }
  }

  // ---- start and run

  void check_start_names() {
    for (const auto* values : {&model_.start.position, &model_.start.velocity})
      for (const auto& [name, f] : *values)
        if (!coordinate_names().contains(name))
          report({}, fmt::format("a start value is given for {}, which is no coordinate", mechanician::quoted(name)));
    for (const auto& [name, f] : model_.run.scale)
      if (!coordinate_names().contains(name))
        report({}, fmt::format("a scale is given for {}, which is no coordinate", mechanician::quoted(name)));
  }

  void check_run() {
    const RunSettings& run = model_.run;
    if (run.to && !std::isfinite(*run.to)) report(place("run.to"), "`run.to` must be a finite number");
    if (run.every && !(*run.every > 0.0 && std::isfinite(*run.every)))
      report(place("run.every"), "`run.every` must be positive", "it is the time between two rows of the result");
    if (!(run.tolerance > 0.0 && run.tolerance < 1.0))
      report(place("run.tolerance"), "`run.tolerance` must lie between 0 and 1", "for example 1e-10");
    if (run.method != "auto" && run.method != "dop853" && run.method != "bdf") {
      const std::string near = nearest(run.method, std::vector<std::string>{"auto", "dop853", "bdf"});
      report(place("run.method"), fmt::format("there is no method {}", mechanician::quoted(run.method)),
             near.empty() ? "it is auto, dop853 or bdf" : fmt::format("did you mean `{}`?", near));
    }
  }

  const Model& model_;
  const Unreadable& unreadable_;
  bool whole_;
  std::vector<Problem> problems_;
  std::vector<Part> parts_;
  std::unordered_set<std::string> coordinates_, states_;
  bool states_known_ = false;
};

}  // namespace

std::vector<Problem> validate_structure(const Model& model, const Unreadable& unreadable, bool whole) {
  return Validator(model, unreadable, whole).validate();
}

std::vector<Problem> validate(const Model& model) {
  std::vector<Problem> problems = validate_structure(model, {}, true);
  // Of a family not all members are looked at, but each has its rate there.
  std::unordered_set<std::string> rated;
  for (const StateVariable& z : model.states) rated.insert(z.name);
  for (const Coordinate& c : model.coordinates)
    if (c.is_state && !rated.contains(c.name))
      problems.push_back({c.place, fmt::format("the state {} has no rate", mechanician::quoted(c.name)), {}});
  ParameterEvaluation parameters = try_evaluate_parameters(model, {});
  for (Problem& p : parameters.problems) problems.push_back(std::move(p));
  // Values mean something only where the structure is sound.
  if (problems.empty()) problems = validate_values(model, parameters.values);
  return problems;
}

bool is_result_column(std::string_view name) {
  return name == "t" || name == "residual" || name == "work_given" || name == "work_ideal" || name == "work_nonideal" ||
         name == "work_control";
}

}  // namespace mechanician
