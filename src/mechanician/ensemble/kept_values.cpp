#include "mechanician/ensemble/kept_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "mechanician/base/patterns.hpp"
#include "mechanician/base/text.hpp"
#include "mechanician/ensemble/single_runner.hpp"
#include "mechanician/instant/accelerate.hpp"
#include "mechanician/motion/stage_model.hpp"

namespace mechanician {

KeptValues::KeptValues(const System& system, const std::vector<std::string>& patterns) : system_(system) {
  const Model& model = system.model();
  std::vector<std::string> known;
  std::vector<Source> sources;
  const auto offer = [&](std::string name, Source::Of of, int index, int slip = 0, int in_sample = -1) {
    known.push_back(std::move(name));
    sources.push_back({of, index, slip, in_sample < 0 ? index : in_sample});
  };
  for (std::size_t i = 0; i < model.num_columns(); ++i)
    offer(model.outputs[i].name, Source::Of::output, static_cast<int>(i));
  for (std::size_t i = 0; i < model.summary.size(); ++i)
    offer(model.summary[i].name, Source::Of::summary, static_cast<int>(i));
  std::vector<char> is_state(static_cast<std::size_t>(system.n()), 0);
  for (const StateRow& z : system.states()) is_state[static_cast<std::size_t>(z.coordinate)] = 1;
  for (int i = 0; i < system.n(); ++i)
    if (!is_state[static_cast<std::size_t>(i)]) offer(system.coordinate(i) + "''", Source::Of::qdd, i);
  const bool has_control = system.num_control() > 0;
  for (const auto& [word, of] : {std::pair{"Qc", Source::Of::Qc},
                                 {"Qi", Source::Of::Qi},
                                 {"Qni", Source::Of::Qni},
                                 {"Qcontrol", Source::Of::Qcontrol}})
    for (int i = 0; i < system.n() && (has_control || of != Source::Of::Qcontrol); ++i)
      if (!is_state[static_cast<std::size_t>(i)]) offer(fmt::format("{}({})", word, system.coordinate(i)), of, i);
  for (int j = 0; j < system.m(); ++j)
    if (const RowTraits& row = system.row(j); row.kind == RowKind::constraint && !row.is_rate && !row.bare)
      offer(fmt::format("lambda({})", system.row_name(j)), Source::Of::lambda, j);
  if (has_control) {
    const auto& actuators = system.equations().control.actuators;
    for (std::size_t k = 0; k < actuators.size(); ++k)
      offer(fmt::format("tau({})", actuators[k].name), Source::Of::tau, static_cast<int>(k));
    for (int j = 0; j < system.num_control(); ++j)
      offer(fmt::format("e({})", system.row_name(system.m() + j)), Source::Of::error, j);
    offer("cost", Source::Of::cost, 0);
  }
  const auto& contacts = system.equations().contacts;
  int normals = 0, frictions = 0;
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    if (!contacts[c].has_friction) continue;
    const std::string name = system.row_name(contacts[c].row);
    if (!system.row(contacts[c].row).bare)
      offer(fmt::format("normal({})", name), Source::Of::normal, static_cast<int>(c), 0, normals++);
    const auto slips = static_cast<int>(contacts[c].slip.size());
    for (int k = 0; k < slips; ++k)
      offer(slips == 1 ? fmt::format("friction({})", name) : fmt::format("friction({},{})", name, k + 1),
            Source::Of::friction, static_cast<int>(c), k, frictions++);
  }
  if (system.is_staged()) {
    int modes = 0, changing = 0;
    for (const Parameter& p : model.parameters)
      if (p.is_mode) offer(p.name, Source::Of::mode, modes++);
    for (const std::string& name : names_that_change(model))
      offer(fmt::format("engaged({})", name), Source::Of::engaged, changing++);
  }

  std::vector<bool> wanted(known.size(), false);
  for (const std::string& pattern : patterns) {
    bool found = false;
    for (std::size_t i = 0; i < known.size(); ++i)
      if (known[i] == pattern || fits_pattern(pattern, known[i])) wanted[i] = found = true;
    if (found) continue;
    const std::string of_coordinate = pattern.ends_with('\'') ? pattern.substr(0, pattern.size() - 1) : pattern;
    if (pattern == "t" || model.find_coordinate(of_coordinate) >= 0)
      throw std::invalid_argument(fmt::format(
          "`{}` at the end of each motion is in every result: leave it out of what is to be kept", pattern));
    const std::string near = nearest(pattern, known);
    std::vector<std::string> outputs;
    for (std::size_t i = 0; i < model.num_columns(); ++i) outputs.push_back(model.outputs[i].name);
    for (const SummaryItem& item : model.summary) outputs.push_back(item.name);
    throw std::invalid_argument(fmt::format(
        "`{}` is nothing that can be kept{}", pattern,
        !near.empty() ? fmt::format("; did you mean `{}`?", near)
        : outputs.empty()
            ? "; the model has no [outputs], but accelerations as x'', forces as Qc(x), multipliers as lambda(NAME)"
            : fmt::format("; the outputs and what [summary] asks for are {}", quote_list(outputs))));
  }
  // What forces and modes are at the end of a motion its state does not tell: take() does.
  const bool from_samples = needs_single_runs(system);
  std::vector<Expr> outputs;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (!wanted[i]) continue;
    names_.push_back(known[i]);
    sources_.push_back(sources[i]);
    if (sources[i].of == Source::Of::summary) {
      keeps_summary_ = true;
      continue;
    }
    if (from_samples) continue;
    if (sources[i].of != Source::Of::output) {
      needs_solution_ = true;
      continue;
    }
    const Expr& value = model.outputs[static_cast<std::size_t>(sources[i].index)].value;
    needs_solution_ |= value.contains(SymbolKind::acceleration);
    sources_.back().index = static_cast<int>(outputs.size());
    outputs.push_back(value);
  }
  const Equations& eqs = system.equations();
  std::vector<Expr> inputs{eqs.t};
  for (const auto* part : {&eqs.q, &eqs.qd, &eqs.parameters, &eqs.qdd})
    inputs.insert(inputs.end(), part->begin(), part->end());
  outputs_ = Tape(outputs, inputs);
  inputs_.resize(inputs.size());
  registers_.resize(static_cast<std::size_t>(outputs_.num_registers()));
  output_values_.resize(outputs.size());
}

std::vector<char> KeptValues::summary_kept(std::size_t count) const {
  std::vector<char> kept(count, 0);
  for (const Source& source : sources_)
    if (source.of == Source::Of::summary) kept[static_cast<std::size_t>(source.index)] = 1;
  return kept;
}

void KeptValues::calc(const double* parameters, double t, const double* q, const double* qd, const double* summary,
                      double* values) {
  if (sources_.empty()) return;
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const auto n = static_cast<std::size_t>(system_.system().n()), num = system_.system().parameters().size();
  auto next = inputs_.begin();
  *next++ = t;
  next = std::copy_n(q, n, next);
  next = std::copy_n(qd, n, next);
  next = std::copy_n(parameters, num, next);
  std::fill(next, inputs_.end(), none);
  std::optional<Instant> instant;
  if (needs_solution_) {
    const auto size = static_cast<Eigen::Index>(n);
    instant = accelerate(system_.with({parameters, num}),
                         {t, Eigen::Map<const Eigen::VectorXd>(q, size), Eigen::Map<const Eigen::VectorXd>(qd, size)},
                         {.diagnose = false});
    if (instant->has_acceleration())
      std::copy(instant->solution.qdd.begin(), instant->solution.qdd.end(), next);
    else
      instant.reset();
  }
  outputs_.evaluate<double>(inputs_, registers_, output_values_);
  const auto entry = [&](const Eigen::VectorXd& x, int i) { return i < x.size() ? x(i) : 0.0; };
  for (std::size_t k = 0; k < sources_.size(); ++k) {
    const int i = sources_[k].index;
    values[k] = none;
    if (sources_[k].of == Source::Of::output) {
      values[k] = output_values_[static_cast<std::size_t>(i)];
      continue;
    }
    if (sources_[k].of == Source::Of::summary) values[k] = summary[i];
    if (!instant) continue;
    const Solution& s = instant->solution;
    switch (sources_[k].of) {
      case Source::Of::qdd:
        values[k] = entry(s.qdd, i);
        break;
      case Source::Of::Qc:
        values[k] = entry(s.Qc, i);
        break;
      case Source::Of::Qi:
        values[k] = entry(s.Qc_i, i);
        break;
      case Source::Of::Qni:
        values[k] = entry(s.Qc_ni, i);
        break;
      case Source::Of::Qcontrol:
        values[k] = entry(s.Q_control, i);
        break;
      case Source::Of::tau:
        values[k] = entry(instant->control->tau, i);
        break;
      case Source::Of::error:
        values[k] = entry(instant->control->error, i);
        break;
      case Source::Of::cost:
        values[k] = instant->control->cost;
        break;
      case Source::Of::lambda:
        values[k] = entry(s.multipliers, i);
        break;
      case Source::Of::normal:
        values[k] = instant->contacts[static_cast<std::size_t>(i)].normal;
        break;
      case Source::Of::friction:
        values[k] = entry(instant->contacts[static_cast<std::size_t>(i)].friction, sources_[k].slip);
        break;
      default:
        break;
    }
  }
}

void KeptValues::take(const Sample& end, const double* summary, double* values) const {
  for (const Source& source : sources_) {
    if (source.of == Source::Of::summary) {
      *values++ = summary[source.index];
      continue;
    }
    if (source.of == Source::Of::cost) {
      *values++ = end.cost;
      continue;
    }
    const Eigen::VectorXd* all = &end.outputs;
    switch (source.of) {
      case Source::Of::qdd:
        all = &end.qdd;
        break;
      case Source::Of::Qc:
        all = &end.Qc;
        break;
      case Source::Of::Qi:
        all = &end.Qc_i;
        break;
      case Source::Of::Qni:
        all = &end.Qc_ni;
        break;
      case Source::Of::Qcontrol:
        all = &end.Q_control;
        break;
      case Source::Of::tau:
        all = &end.tau;
        break;
      case Source::Of::error:
        all = &end.error;
        break;
      case Source::Of::lambda:
        all = &end.lambda;
        break;
      case Source::Of::normal:
        all = &end.normal;
        break;
      case Source::Of::friction:
        all = &end.friction;
        break;
      case Source::Of::mode:
        all = &end.modes;
        break;
      case Source::Of::engaged:
        all = &end.engaged;
        break;
      default:
        break;
    }
    *values++ = source.in_sample < all->size() ? (*all)(source.in_sample) : 0.0;
  }
}

}  // namespace mechanician
