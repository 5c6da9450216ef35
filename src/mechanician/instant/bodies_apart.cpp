#include "mechanician/instant/bodies_apart.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>
#include <vector>

#include "mechanician/expression/differentiate.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/expression/tape.hpp"
#include "mechanician/instant/family_numbers.hpp"
#include "mechanician/instant/joint_starts.hpp"
#include "mechanician/model/bodies.hpp"
#include "mechanician/model/family_model.hpp"

namespace mechanician {

namespace {

/// Of a body or a joint, and not a coordinate of the file.
bool is_of_bodies(const std::string& coordinate) { return coordinate.find('.') != std::string::npos; }

std::unordered_map<std::string, int> numbers_of_coordinates(const System& system) {
  std::unordered_map<std::string, int> numbers;
  for (int i = 0; i < system.n(); ++i) numbers.emplace(system.coordinate(i), i);
  return numbers;
}

bool may_have_joints(const System& system) { return !stays_in_families(system) && !system.source().text.empty(); }

ParameterOverrides alone(ParameterOverrides overrides) {
  overrides[std::string(every_body_by_itself)] = 1.0;
  overrides[nothing_drawn] = 1.0;
  return overrides;
}

FamilyModel read_again(const System& system, const ParameterOverrides& overrides) {
  return read_family_model_text(system.source().text, system.source().file, overrides);
}

}  // namespace

std::optional<BodiesApart> take_apart(const System& system, const State& state, Unmoved unmoved) try {
  if (!may_have_joints(system)) return std::nullopt;
  ParameterOverrides overrides = alone(stated_parameters(system));
  std::vector<StartValue> given;
  const State start = unmoved == Unmoved::in_file ? system.start() : State{};
  for (int i = 0; i < system.n(); ++i) {
    const std::string name = system.coordinate(i);
    if (unmoved == Unmoved::on_tree || state.q(i) != start.q(i)) given.push_back({name, state.q(i)});
    if (unmoved == Unmoved::on_tree || state.qd(i) != start.qd(i)) given.push_back({name + "'", state.qd(i)});
  }
  open_starts(
      given, [](const std::string& name) { return !is_of_bodies(name); },
      [&](const ParameterOverrides& with) { return read_again(system, with).unknown_overrides; }, overrides);
  std::optional<System> read = read_apart(system, overrides);
  if (!read) return std::nullopt;
  BodiesApart apart{std::move(*read), {}};
  const auto numbers = numbers_of_coordinates(apart.system);
  apart.state = apart.system.start();
  apart.state.t = state.t;
  for (int i = 0; i < system.n(); ++i) {
    const std::string name = system.coordinate(i);
    const auto found = numbers.find(name);
    if (found == numbers.end()) continue;
    const bool moved = unmoved == Unmoved::in_file && (state.q(i) != start.q(i) || state.qd(i) != start.qd(i));
    if (moved && is_of_bodies(name) && !overrides.contains(start_parameter(name)) &&
        !overrides.contains(start_parameter(name + "'")))
      return std::nullopt;
    if (unmoved == Unmoved::in_file && is_of_bodies(name)) continue;
    apart.state.q(found->second) = state.q(i), apart.state.qd(found->second) = state.qd(i);
  }
  return apart;
} catch (const ModelError&) {
  return std::nullopt;  // [start] names coordinates that are not there
}

bool is_off_constraints(const System& system, const State& state) {
  constexpr double much = 1e-9;
  const Evaluation now = system.evaluate(state);
  if (now.not_finite) return false;
  for (int i = 0; i < system.m(); ++i) {
    const RowTraits& row = system.row(i);
    if (row.kind == RowKind::control || row.measured || row.bare || row.level > Level::velocity) continue;
    const double r = now.residual(i), allowed = much * std::max(now.values.A.norm(i), 1e-3);
    if (row.one_sided ? r < -allowed : std::abs(r) > allowed || std::abs(now.rate(i)) > allowed) return true;
  }
  return false;
}

bool is_apart_in_file(const System& system) {
  if (!may_have_joints(system)) return false;
  const auto& definitions = system.model().definitions;
  return std::any_of(definitions.begin(), definitions.end(), [](const Named& d) { return d.name == begins_apart; });
}

bool begins_off(const System& system, const State& start) {
  if (is_off_constraints(system, start)) return true;
  if (!is_apart_in_file(system)) return false;
  const State in_file = system.start();
  return start.q == in_file.q && start.qd == in_file.qd;
}

std::optional<System> read_apart(const System& system, ParameterOverrides overrides) try {
  if (!may_have_joints(system)) return std::nullopt;
  FamilyModel model = read_again(system, alone(std::move(overrides)));
  // Without bodies nothing asks for this one.
  for (const std::string& name : model.unknown_overrides)
    if (name == every_body_by_itself) return std::nullopt;
  System apart(std::move(model));
  const auto numbers = numbers_of_coordinates(apart);
  bool same = apart.n() == system.n();
  for (int i = 0; same && i < system.n(); ++i) same = numbers.contains(system.coordinate(i));
  return same ? std::nullopt : std::optional(std::move(apart));
} catch (const ModelError&) {
  return std::nullopt;
}

std::optional<JointsFound> JointsFound::make(const System& system, const System& apart) {
  const Model& model = apart.model();
  const auto numbers = numbers_of_coordinates(apart);
  std::unordered_map<std::string, const Named*> definitions;
  for (const Named& d : model.definitions)
    if (d.name.ends_with(found_of_joints)) definitions.emplace(d.name, &d);
  JointsFound joints;
  joints.n_ = system.n();
  std::vector<Expr> found;
  for (int i = 0; i < system.n(); ++i) {
    const std::string name = system.coordinate(i);
    if (const auto own = numbers.find(name); own != numbers.end()) {
      joints.same_.emplace_back(i, own->second);
      continue;
    }
    const auto d = definitions.find(name + std::string(found_of_joints));
    if (d == definitions.end()) return std::nullopt;
    joints.told_.push_back(i), found.push_back(d->second->value);
  }
  std::vector<Expr> symbols{time_symbol()};
  std::vector<Tangent> rates;
  for (const Coordinate& x : model.coordinates) {
    symbols.push_back(x.q()), symbols.push_back(x.qd());
    rates.push_back({x.q(), x.qd()});
  }
  for (const Parameter& p : model.parameters) symbols.push_back(p.symbol());
  const std::vector<Expr> found_rates = directional(found, rates);
  found.insert(found.end(), found_rates.begin(), found_rates.end());
  joints.tape_ = Tape(found, symbols);
  return joints;
}

State JointsFound::operator()(const State& apart, std::span<const double> parameters) const {
  State state{apart.t, Eigen::VectorXd::Zero(n_), Eigen::VectorXd::Zero(n_)};
  for (const auto& [i, k] : same_) state.q(i) = apart.q(k), state.qd(i) = apart.qd(k);
  std::vector<double> values{apart.t};
  for (Eigen::Index k = 0; k < apart.q.size(); ++k) values.push_back(apart.q(k)), values.push_back(apart.qd(k));
  values.insert(values.end(), parameters.begin(), parameters.end());
  const std::vector<double> found = tape_(std::span<const double>(values));
  for (std::size_t k = 0; k < told_.size(); ++k)
    state.q(told_[k]) = found[k], state.qd(told_[k]) = found[told_.size() + k];
  return state;
}

}  // namespace mechanician
