#include "mechanician/instant/held_quantities.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mechanician/expression/differentiate.hpp"
#include "mechanician/model/held_quantity.hpp"

namespace mechanician {

namespace {

Expr rate_of(const Model& model, const Expr& g) {
  Expr rate = derivative(g, time_symbol());
  for (const Coordinate& x : model.coordinates) rate = rate + derivative(g, x.q()) * x.qd();
  return rate;
}

}  // namespace

std::vector<std::string> held_quantities(const System& system) {
  // The members of large systems are not made for nothing.
  if (system.kernels() && system.place_of(std::string(held_quantity)).line == 0) return {};
  std::vector<std::string> found;
  const Model& model = system.model();
  for (const std::string& name : model.start.hold)
    if (model.find_coordinate(name.ends_with('\'') ? name.substr(0, name.size() - 1) : name) < 0) found.push_back(name);
  return found;
}

HoldingSystem hold_quantities(const System& system, const State& given, const std::vector<std::string>& names) {
  HoldingSystem holding;
  Model model = system.model();
  holding.first = static_cast<int>(model.constraints.size()), holding.count = static_cast<int>(names.size());
  const std::size_t num_parameters = model.parameters.size();
  std::vector<double> values = system.parameters();
  std::vector<bool> is_given;
  for (const std::string& name : names) {
    const bool rate = name.ends_with('\'');
    const std::string own = rate ? name.substr(0, name.size() - 1) : name;
    const auto g =
        std::find_if(model.definitions.begin(), model.definitions.end(), [&](const Named& d) { return d.name == own; });
    // Names that no file can have.
    Parameter target{.name = fmt::format("held {}", name), .value = 0.0, .place = {}};
    Constraint row;
    row.name = target.name;
    // Where a start was moved before, its file says what is held.
    const std::string given_name = own + (rate ? ".held_rate" : ".held");
    const auto as_given = std::find_if(model.definitions.begin(), model.definitions.end(),
                                       [&](const Named& d) { return d.name == given_name; });
    is_given.push_back(as_given != model.definitions.end());
    row.residual = (rate ? rate_of(model, g->value) : g->value) - (is_given.back() ? as_given->value : target.symbol());
    row.place = model.place_of("start.hold");
    model.constraints.push_back(std::move(row));
    model.parameters.push_back(std::move(target));
    values.push_back(0.0);
  }
  holding.system = std::make_shared<System>(std::move(model), values, System::Checked::already);
  const Evaluation now = holding.system->evaluate(given);
  holding.not_finite = now.not_finite;
  for (int k = 0; k < holding.count; ++k) {
    if (!is_given[static_cast<std::size_t>(k)])
      values[num_parameters + static_cast<std::size_t>(k)] = now.residual(holding.first + k);
    if (holding.system->row(holding.first + k).level == Level::position)
      holding.of_positions.push_back(holding.first + k);
  }
  holding.system->set_parameters(values);
  return holding;
}

}  // namespace mechanician
