#include "mechanician/model/model.hpp"

#include <algorithm>
#include <utility>

namespace mechanician {

Level level_of(const Expr& residual) {
  if (residual.contains(SymbolKind::acceleration)) return Level::acceleration;
  if (residual.contains(SymbolKind::velocity)) return Level::velocity;
  return Level::position;
}

Level Constraint::level() const { return level_of(residual); }
Level Control::level() const { return level_of(residual); }

Expr Model::add_coordinate(std::string name, Place place) {
  coordinates.push_back({std::move(name), place});
  return coordinates.back().q();
}

Expr Model::add_parameter(std::string name, Expr value, Place place) {
  parameters.push_back({std::move(name), std::move(value), place});
  return parameters.back().symbol();
}

Expr Model::add_mode(std::string name, Expr value, Place place) {
  parameters.push_back({std::move(name), std::move(value), place, false, true});
  return parameters.back().symbol();
}

Expr Model::add_input(std::string name, Expr value, Place place) {
  parameters.push_back({std::move(name), std::move(value), place, true});
  return parameters.back().symbol();
}

Expr Model::add_state(std::string name, Expr start_value, Place place) {
  if (!start_value.is_zero()) start.position.insert_or_assign(name, std::move(start_value));
  coordinates.push_back({std::move(name), place, true});
  return coordinates.back().q();
}

void Model::set_rate(const Expr& state, Expr rate, std::string text, Place place) {
  states.push_back({state.symbol().name, std::move(rate), std::move(text), place});
}

Expr Model::add_unknown(std::string name, std::vector<Expr> depends) {
  unknowns.push_back(unknown_function(std::move(name), std::move(depends)));
  return unknowns.back();
}

namespace {

Constraint make_constraint(std::string name, Expr residual, bool one_sided, ConstraintOptions options) {
  return {.name = std::move(name),
          .residual = std::move(residual),
          .one_sided = one_sided,
          .weight = std::move(options.weight),
          .restitution = std::move(options.restitution),
          .friction = std::move(options.friction),
          .text = std::move(options.text),
          .place = options.place,
          .engaged = options.engaged};
}

Expr difference(const Expr& a, const Expr& b) { return b.is_zero() ? a : a - b; }

}  // namespace

void Model::add_constraint(std::string name, const Expr& left, const Expr& right, ConstraintOptions options) {
  constraints.push_back(make_constraint(std::move(name), difference(left, right), false, std::move(options)));
}

void Model::add_at_least(std::string name, const Expr& left, const Expr& right, ConstraintOptions options) {
  constraints.push_back(make_constraint(std::move(name), difference(left, right), true, std::move(options)));
}

void Model::add_at_most(std::string name, const Expr& left, const Expr& right, ConstraintOptions options) {
  constraints.push_back(make_constraint(std::move(name), difference(right, left), true, std::move(options)));
}

void Model::add_brake(std::string name, Friction friction, ConstraintOptions options) {
  friction.is_force = true;
  options.friction = std::move(friction);
  constraints.push_back(make_constraint(std::move(name), Expr(0.0), false, std::move(options)));
  constraints.back().bare = true;
}

void Model::add_control(std::string name, const Expr& left, const Expr& right, ControlOptions options) {
  Control c;
  c.name = std::move(name), c.residual = difference(left, right);
  c.frequency = std::move(options.frequency), c.damping = std::move(options.damping);
  c.text = std::move(options.text), c.place = options.place;
  c.priority = options.priority, c.weight = std::move(options.weight), c.law = std::move(options.law);
  c.engaged = options.engaged;
  controls.push_back(std::move(c));
}

void Model::add_control_at_least(std::string name, const Expr& left, const Expr& right, ControlOptions options) {
  add_control(std::move(name), left, right, std::move(options));
  controls.back().one_sided = true;
}

void Model::add_actuator(std::string name, const Expr& on, ActuatorOptions options) {
  actuators.push_back(
      {std::move(name), on, std::move(options.low), std::move(options.high), std::move(options.cost), options.place});
}

Expr error_symbol() { return make_symbol(SymbolKind::coordinate, "e"); }

void Model::add_force(const Expr& coordinate, Expr value, Place place) {
  forces.push_back({coordinate.symbol().name, std::move(value), place});
}

void Model::add_output(std::string name, Expr value, Place place) {
  outputs.insert(outputs.begin() + static_cast<std::ptrdiff_t>(num_columns()),
                 {std::move(name), std::move(value), place});
}

void Model::add_summary(std::string name, SummaryKind kind, Expr value, Place place) {
  outputs.push_back({name, std::move(value), place});
  summary.push_back({std::move(name), kind, place});
}

void Model::add_nonideal(const Expr& coordinate, Expr value, Place place) {
  nonideal.push_back({coordinate.symbol().name, std::move(value), place});
}

Place Model::place_of(const std::string& path) const {
  if (const auto found = places.find(path); found != places.end()) return found->second;
  std::string family;
  bool inside = false;
  for (const char c : path) {
    inside = c == '[' || (inside && c != ']');
    if (!inside && c != ']') family += c;
  }
  const auto found = family == path ? places.end() : places.find(family);
  return found == places.end() ? Place{} : found->second;
}

bool Model::is_staged() const {
  return std::any_of(parameters.begin(), parameters.end(), [](const Parameter& p) { return p.is_mode; }) ||
         std::any_of(constraints.begin(), constraints.end(), [](const Constraint& c) { return !c.engaged; }) ||
         std::any_of(controls.begin(), controls.end(), [](const Control& c) { return !c.engaged; }) ||
         std::any_of(events.begin(), events.end(), [](const Event& e) { return !e.changes.empty(); });
}

int Model::find_coordinate(std::string_view name) const {
  for (std::size_t i = 0; i < coordinates.size(); ++i)
    if (coordinates[i].name == name) return static_cast<int>(i);
  return -1;
}

}  // namespace mechanician
