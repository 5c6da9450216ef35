#include "mechanician/ensemble/sample_starts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/instant/held_quantities.hpp"
#include "mechanician/instant/joint_starts.hpp"
#include "mechanician/instant/project.hpp"
#include "mechanician/model/dependency_order.hpp"
#include "mechanician/model/read_model.hpp"
#include "mechanician/model/validate.hpp"

namespace mechanician {

namespace {

std::size_t index_of(const Model& model, const std::string& coordinate) {
  const int i = model.find_coordinate(coordinate);
  if (i >= 0) return static_cast<std::size_t>(i);
  throw std::invalid_argument(fmt::format("the model has no coordinate `{}`", coordinate));
}

/// What an expression without symbols, or of parameters alone, is made of.
std::vector<std::size_t> parameters_of(const Expr& f, const std::map<std::string, std::size_t>& index) {
  std::vector<std::size_t> result;
  for (const Expr& s : symbols_of(std::span(&f, 1)))
    if (s.symbol().kind == SymbolKind::parameter)
      if (const auto found = index.find(s.symbol().name); found != index.end()) result.push_back(found->second);
  return result;
}

/// Whether the checks of values could say anything new for other parameters.
bool values_matter(const Model& model) {
  const auto varies = [](const Expr& e) { return !e.is_constant(); };
  if (!model.mass.empty() || !model.measured.empty()) return true;
  for (const Constraint& c : model.constraints)
    if ((c.weight && varies(*c.weight)) || (c.restitution && varies(*c.restitution)) ||
        (c.friction && varies(c.friction->coefficient)))
      return true;
  for (const Control& c : model.controls)
    if ((c.frequency && varies(*c.frequency)) || varies(c.damping)) return true;
  return false;
}

bool same_models(const Model& a, const Model& b) {
  if (a.coordinates.size() != b.coordinates.size() || a.constraints.size() != b.constraints.size() ||
      a.controls.size() != b.controls.size() || a.parameters.size() != b.parameters.size() ||
      a.outputs.size() != b.outputs.size() || a.forces.size() != b.forces.size() ||
      a.nonideal.size() != b.nonideal.size())
    return false;
  const auto same_optional = [](const std::optional<Expr>& x, const std::optional<Expr>& y) {
    return x.has_value() == y.has_value() && (!x || same(*x, *y));
  };
  const auto same_named = [](const std::vector<Named>& x, const std::vector<Named>& y) {
    return std::equal(x.begin(), x.end(), y.begin(),
                      [](const Named& u, const Named& v) { return same(u.value, v.value); });
  };
  const auto same_rows = [](const auto& x, const auto& y) {
    return std::equal(x.begin(), x.end(), y.begin(),
                      [](const auto& u, const auto& v) { return same(u.residual, v.residual); });
  };
  return same_optional(a.kinetic, b.kinetic) && same_optional(a.potential, b.potential) &&
         same_named(a.forces, b.forces) && same_named(a.nonideal, b.nonideal) && same_named(a.outputs, b.outputs) &&
         same_rows(a.constraints, b.constraints) && same_rows(a.controls, b.controls);
}

}  // namespace

std::optional<std::string> find_size(const Model& model, const std::vector<std::string>& names,
                                     const ParameterOverrides& parameters) {
  // A range of indices has two dots; without one nothing has a size.
  if (model.source.text.find("..") == std::string::npos) return std::nullopt;
  for (const std::string& name : names) {
    const auto found = std::find_if(model.parameters.begin(), model.parameters.end(),
                                    [&](const Parameter& p) { return p.name == name; });
    if (found == model.parameters.end()) continue;
    ParameterOverrides other = parameters;
    other[name] = evaluate_constant(found->symbol(), model, evaluate_parameters(model, parameters)) + 1.0;
    try {
      if (!same_models(model, read_model_text(model.source.text, model.source.file, other))) return name;
    } catch (const ModelError&) {
      return name;
    }
  }
  return std::nullopt;
}

SampleStarts::SampleStarts(const System& system, const std::vector<std::string>& names, const StartOverrides& overrides)
    : system_(system), as_given_(overrides.as_given) {
  const Model& model = system.model();
  std::map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < model.parameters.size(); ++i) index.emplace(model.parameters[i].name, i);

  std::vector<bool> varies(model.parameters.size(), false);
  for (const std::string& name : names) {
    const bool primed = name.ends_with('\'');
    if (const auto found = index.find(name); found != index.end()) {
      targets_.push_back({Target::Kind::parameter, found->second});
      varies[found->second] = true;
    } else if (const int i = model.find_coordinate(primed ? name.substr(0, name.size() - 1) : name); i >= 0) {
      targets_.push_back({primed ? Target::Kind::velocity : Target::Kind::position, static_cast<std::size_t>(i)});
    } else {
      std::vector<std::string> known;
      for (const Parameter& p : model.parameters) known.push_back(p.name);
      for (const Coordinate& c : model.coordinates) known.push_back(c.name), known.push_back(c.name + "'");
      const std::string near = nearest(name, known);
      throw std::invalid_argument(
          fmt::format("`{}` is neither a parameter nor a coordinate nor a velocity of the model{}", name,
                      near.empty() ? "" : fmt::format("; did you mean `{}`?", near)));
    }
  }
  if (const auto size = find_size(model, names, overrides.parameters))
    throw std::invalid_argument(
        fmt::format("`{}` says how many members there are: it cannot vary from motion to motion", *size));

  fixed_ = evaluate_parameters(model, overrides.parameters).values;

  // Parameters that are made of varied ones, in the order in which they can be worked out.
  std::vector<std::vector<int>> needs(model.parameters.size());
  for (std::size_t i = 0; i < needs.size(); ++i) {
    if (varies[i] || overrides.parameters.contains(model.parameters[i].name)) continue;
    for (const std::size_t j : parameters_of(model.parameters[i].value, index)) needs[i].push_back(static_cast<int>(j));
  }
  std::vector<Expr> symbols;
  for (const Parameter& p : model.parameters) symbols.push_back(p.symbol());
  std::vector<bool> changes = varies;
  int most_registers = 0;
  for (const int i : dependency_order(needs).order) {
    const auto at = static_cast<std::size_t>(i);
    if (std::none_of(needs[at].begin(), needs[at].end(), [&](int j) { return changes[static_cast<std::size_t>(j)]; }))
      continue;
    changes[at] = true;
    made_.emplace_back(at, Tape(std::span(&model.parameters[at].value, 1), symbols));
    most_registers = std::max(most_registers, made_.back().second.num_registers());
  }
  for (std::size_t i = 0; i < changes.size(); ++i)
    if (changes[i]) changing_.push_back(static_cast<int>(i));
  check_values_ = values_matter(model) && std::find(changes.begin(), changes.end(), true) != changes.end();

  if (!overrides.time)
    for (const std::size_t j : parameters_of(model.start.time, index))
      if (changes[j])
        throw std::invalid_argument(
            fmt::format("the start time is made of `{}`: all motions begin at one time; --time says which",
                        model.parameters[j].name));
  time_ = overrides.time ? *overrides.time : evaluate_constant(model.start.time, model, {fixed_});

  std::vector<Expr> start;
  for (const auto* values : {&model.start.position, &model.start.velocity})
    for (const Coordinate& c : model.coordinates) {
      const auto found = values->find(c.name);
      start.push_back(found == values->end() ? Expr(0.0) : found->second);
    }
  start_ = Tape(start, symbols);
  registers_.resize(static_cast<std::size_t>(std::max(most_registers, start_.num_registers())));
  values_.resize(start.size());
  for (const auto& [name, value] : overrides.position) given_q_.emplace_back(index_of(model, name), value);
  for (const auto& [name, value] : overrides.velocity) given_qd_.emplace_back(index_of(model, name), value);
  state_.t = time_;
  state_.q = state_.qd = Eigen::VectorXd::Zero(system.n());

  has_states_ = system.num_states() > 0;
  if (has_states_)
    for (std::size_t i = 0; i < targets_.size(); ++i)
      for (const StateRow& z : system.states())
        if (targets_[i].kind == Target::Kind::velocity && targets_[i].index == static_cast<std::size_t>(z.coordinate))
          throw std::invalid_argument(fmt::format("`{}` cannot vary: it is what the rate of the state says", names[i]));
  const bool has_rows = system.m() > system.num_states();
  if (as_given_ || (!has_rows && !is_apart_in_file(system))) return;
  // Which rows compiled code uses is decided at the start of the model, so that a motion does not depend on another.
  State nominal = state_;
  place(fixed_.data(), nominal.q.data(), nominal.qd.data());
  moved_ = true;
  if (has_rows && system.n() <= most_in_lanes && !has_states_) lanes_.emplace(system, nominal, changing_);
  take_apart(names, overrides);
}

/// Starts of joints are parameters here (open_starts); a start of the first body of a tree by its name is not, and moves all that hangs on it.
void SampleStarts::take_apart(const std::vector<std::string>& names, const StartOverrides& overrides) {
  const Model& model = system_.system().model();
  if (!ties_bodies(model.places) && !is_apart_in_file(system_.system())) return;
  const auto moves_bodies = [](const auto& targets) {
    return std::any_of(targets.begin(), targets.end(),
                       [](const auto& x) { return x.first.find('.') != std::string::npos; });
  };
  if (moves_bodies(overrides.position) || moves_bodies(overrides.velocity)) return;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (targets_[i].kind != Target::Kind::parameter && names[i].find('.') != std::string::npos) return;
  const std::optional<System> apart = read_apart(system_.system(), overrides.parameters);
  if (!apart || !(joints_ = JointsFound::make(system_.system(), *apart))) return;
  apart_.push_back(SampleStarts(*apart, names, overrides));
}

/// Those of left_ that are off the constraints; they leave it.
void SampleStarts::move_apart(std::span<const double> samples, const double* parameters, double* q, double* qd) {
  const std::size_t n = values_.size() / 2, num = fixed_.size();
  SampleStarts& apart = apart_.front();
  const auto n_apart = static_cast<std::size_t>(apart.state_.q.size());
  const auto with = [&](std::size_t at) -> const System& { return system_.with({parameters + at * num, num}); };
  std::vector<int> off;
  const bool all = is_apart_in_file(system_.system());
  for (const int row : left_) {
    const auto at = static_cast<std::size_t>(row);
    state_.t = time_;
    std::copy_n(q + at * n, n, state_.q.begin()), std::copy_n(qd + at * n, n, state_.qd.begin());
    if (all || is_off_constraints(with(at), state_)) off.push_back(row);
  }
  std::vector<double> chosen, values(off.size() * apart.fixed_.size()), x(off.size() * n_apart), v(x.size());
  std::vector<std::string> problems(off.size());
  for (const int row : off) {
    const auto sample = samples.subspan(static_cast<std::size_t>(row) * targets_.size(), targets_.size());
    chosen.insert(chosen.end(), sample.begin(), sample.end());
  }
  apart.make(chosen, static_cast<int>(off.size()), values.data(), x.data(), v.data(), problems.data());
  for (std::size_t k = 0; k < off.size(); ++k) {
    const auto at = static_cast<std::size_t>(off[k]);
    if (!problems[k].empty()) continue;
    State there{time_, apart.state_.q, apart.state_.qd};
    std::copy_n(x.data() + k * n_apart, n_apart, there.q.begin());
    std::copy_n(v.data() + k * n_apart, n_apart, there.qd.begin());
    const State found = (*joints_)(there, {values.data() + k * apart.fixed_.size(), apart.fixed_.size()});
    if (is_off_constraints(with(at), found)) continue;
    std::copy(found.q.begin(), found.q.end(), q + at * n);
    std::copy(found.qd.begin(), found.qd.end(), qd + at * n);
    std::erase(left_, off[k]);
  }
}

std::string SampleStarts::set_parameters(std::span<const double> sample, double* parameters) {
  const Model& model = system_.system().model();
  const std::span values(parameters, fixed_.size());
  std::copy(fixed_.begin(), fixed_.end(), parameters);
  for (std::size_t i = 0; i < targets_.size(); ++i)
    if (targets_[i].kind == Target::Kind::parameter) parameters[targets_[i].index] = sample[i];
  for (const auto& [at, tape] : made_) {
    tape.evaluate<double>(values, std::span(registers_).first(static_cast<std::size_t>(tape.num_registers())),
                          std::span(&parameters[at], 1));
    if (!std::isfinite(parameters[at]))
      return fmt::format("the parameter `{}` is not finite", model.parameters[at].name);
  }
  if (check_values_)
    if (const auto problems = validate_values(model, {{parameters, parameters + fixed_.size()}}); !problems.empty())
      return problems.front().message;
  return {};
}

/// Where the model and what holds for all motions put the start.
void SampleStarts::place(const double* parameters, double* q, double* qd) {
  const std::size_t n = values_.size() / 2;
  start_.evaluate<double>(std::span(parameters, fixed_.size()),
                          std::span(registers_).first(static_cast<std::size_t>(start_.num_registers())), values_);
  std::copy_n(values_.begin(), n, q);
  std::copy_n(values_.begin() + static_cast<std::ptrdiff_t>(n), n, qd);
  for (const auto& [i, value] : given_q_) q[i] = value;
  for (const auto& [i, value] : given_qd_) qd[i] = value;
}

/// What compiled code leaves.
std::string SampleStarts::project_start(std::span<const double> parameters, double* q, double* qd) {
  const System& system = system_.with(parameters);
  std::copy_n(q, system.n(), state_.q.begin());
  std::copy_n(qd, system.n(), state_.qd.begin());
  const Projection projected = mechanician::project_start(system, state_);
  if (!projected.converged) {
    std::vector<std::string> names;
    for (const int j : projected.unmet) names.push_back(system.row_name(j));
    const bool holds = system.start_rules().holds() || !held_quantities(system).empty();
    const std::string held = holds && !projected.not_finite ? " with what [start] holds" : "";
    if (projected.not_finite)
      return "the start cannot be moved onto the constraints: " + projected.not_finite->message();
    return fmt::format("the start cannot be moved onto the constraints{}{}{}", held,
                       names.empty() ? "" : ": there is no state nearby that meets ",
                       names.empty() ? "" : quote_list(names, 4));
  }
  std::copy(projected.state.q.begin(), projected.state.q.end(), q);
  std::copy(projected.state.qd.begin(), projected.state.qd.end(), qd);
  return {};
}

void SampleStarts::make(std::span<const double> samples, int count, double* parameters, double* q, double* qd,
                        std::string* trouble) {
  const auto finite = [](double x) { return std::isfinite(x); };
  const std::size_t n = values_.size() / 2, num = fixed_.size();
  left_.clear();
  for (int row = 0; row < count; ++row) {
    const auto at = static_cast<std::size_t>(row);
    const std::span<const double> sample = samples.subspan(at * targets_.size(), targets_.size());
    double *const p = parameters + at * num, *const x = q + at * n, *const v = qd + at * n;
    trouble[at] = set_parameters(sample, p);
    place(p, x, v);
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      if (targets_[i].kind == Target::Kind::position) x[targets_[i].index] = sample[i];
      if (targets_[i].kind == Target::Kind::velocity) v[targets_[i].index] = sample[i];
    }
    if (!trouble[at].empty()) continue;
    if (has_states_) {
      const System& system = system_.with({p, num});
      std::copy_n(x, n, state_.q.begin()), std::copy_n(v, n, state_.qd.begin());
      system.set_state_rates(state_);
      std::copy_n(state_.qd.begin(), n, v);
    }
    if (std::all_of(x, x + n, finite) && std::all_of(v, v + n, finite))
      left_.push_back(row);
    else
      trouble[at] = "a start value is not finite";
  }
  if (!moved_) return;
  if (!apart_.empty()) move_apart(samples, parameters, q, qd);
  if (lanes_) lanes_->move(time_, left_, parameters, q, qd);
  for (const int row : left_) {
    const auto at = static_cast<std::size_t>(row);
    trouble[at] = project_start({parameters + at * num, num}, q + at * n, qd + at * n);
  }
}

}  // namespace mechanician
