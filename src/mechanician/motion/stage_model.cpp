#include "mechanician/motion/stage_model.hpp"

#include <algorithm>

#include "mechanician/expression/simplify.hpp"

namespace mechanician {

Model engaged_model(const Model& whole, const std::vector<char>& engaged) {
  Model model = whole;
  model.constraints.clear(), model.controls.clear();
  std::vector<Replacement> absent;
  std::size_t j = 0;
  for (const Constraint& c : whole.constraints) {
    if (engaged[j++])
      model.constraints.push_back(c);
    else
      absent.push_back({make_symbol(SymbolKind::multiplier, c.name), Expr(0)});
  }
  j += whole.states.size();
  for (const Control& c : whole.controls)
    if (engaged[j++]) model.controls.push_back(c);
  if (model.controls.empty()) model.actuators.clear(), model.control = {};  // nothing is asked of them
  // Forces of the ideal case, of what is there.
  for (Named& force : model.nonideal) force.value = substitute(force.value, absent);
  return model;
}

std::vector<char> engaged_at_start(const Model& model) {
  std::vector<char> engaged;
  for (const Constraint& c : model.constraints) engaged.push_back(c.engaged);
  engaged.insert(engaged.end(), model.states.size(), 1);
  for (const Control& c : model.controls) engaged.push_back(c.engaged);
  return engaged;
}

std::vector<char> engaged_at_start(const System& system) {
  return system.engaged_instead().empty() ? engaged_at_start(system.model()) : system.engaged_instead();
}

std::vector<int> rows_that_change(const Model& model) {
  std::vector<char> changes = engaged_at_start(model);
  for (char& x : changes) x = !x;
  std::map<std::string, std::size_t> rows;
  std::size_t row = 0;
  for (const Constraint& c : model.constraints) rows.emplace(c.name, row++);
  row += model.states.size();
  for (const Control& c : model.controls) rows.emplace(c.name, row++);
  for (const Event& e : model.events)
    for (const EventChange& c : e.changes)
      if (const auto found = rows.find(c.name); c.what != EventChange::What::set && found != rows.end())
        changes[found->second] = 1;
  std::vector<int> list;
  for (std::size_t j = 0; j < changes.size(); ++j)
    if (changes[j]) list.push_back(static_cast<int>(j));
  return list;
}

std::vector<std::string> names_that_change(const Model& model) {
  std::vector<std::string> names;
  const std::size_t constraints = model.constraints.size(), states = model.states.size();
  for (const int row : rows_that_change(model)) {
    const auto j = static_cast<std::size_t>(row);
    names.push_back(j < constraints ? model.constraints[j].name : model.controls[j - constraints - states].name);
  }
  return names;
}

System system_at_start(const System& system) {
  if (!system.is_staged()) return system;
  const std::vector<char> engaged = engaged_at_start(system);
  if (std::all_of(engaged.begin(), engaged.end(), [](char x) { return x != 0; })) return system;
  return System(engaged_model(system.model(), engaged), system.parameters(), System::Checked::already);
}

void set_stage(System& whole, const Sample& there) {
  if (!whole.is_staged()) return;
  const Model& model = whole.model();
  std::vector<double> values = whole.parameters();
  Eigen::Index next = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (model.parameters[i].is_mode && next < there.modes.size()) values[i] = there.modes(next++);
  whole.set_parameters(values);
  std::vector<char> engaged = engaged_at_start(whole);
  const std::vector<int> rows = rows_that_change(model);
  for (std::size_t k = 0; k < rows.size() && static_cast<Eigen::Index>(k) < there.engaged.size(); ++k)
    engaged[static_cast<std::size_t>(rows[k])] = there.engaged(static_cast<Eigen::Index>(k)) != 0.0;
  whole.set_engaged(std::move(engaged));
}

System system_in_stage(const System& whole, const Sample& there) {
  System system = whole;
  set_stage(system, there);
  return system_at_start(system);
}

StageSystems::StageSystems(const System& whole, State nominal, std::vector<double> parameters_given,
                           std::vector<int> varied)
    : whole_(&whole),
      nominal_(std::move(nominal)),
      parameters_(std::move(parameters_given)),
      varied_(std::move(varied)) {
  const std::vector<Parameter>& parameters = whole.model().parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (const int number = static_cast<int>(i);
        parameters[i].is_mode && std::find(varied_.begin(), varied_.end(), number) == varied_.end())
      varied_.push_back(number);
  std::sort(varied_.begin(), varied_.end());
}

Stage& StageSystems::of(const std::vector<char>& engaged) {
  const auto found = stages_.find(engaged);
  if (found != stages_.end()) return found->second;
  Stage stage;
  for (std::size_t j = 0; j < engaged.size(); ++j)
    if (engaged[j]) stage.row_of.push_back(static_cast<int>(j));
  stage.family = std::make_unique<MotionFamily>(
      System(engaged_model(whole_->model(), engaged), parameters_, System::Checked::already), nominal_, varied_);
  return stages_.emplace(engaged, std::move(stage)).first->second;
}

}  // namespace mechanician
