#include "mechanician/ensemble/kept_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "mechanician/base/patterns.hpp"
#include "mechanician/base/text.hpp"
#include "mechanician/instant/accelerate.hpp"

namespace mechanician {

KeptValues::KeptValues(const System& system, const std::vector<std::string>& patterns) : system_(system) {
  const Model& model = system.model();
  std::vector<std::string> known;
  std::vector<Source> sources;
  const auto offer = [&](std::string name, Source::Of of, int index, int slip = 0) {
    known.push_back(std::move(name));
    sources.push_back({of, index, slip});
  };
  for (std::size_t i = 0; i < model.outputs.size(); ++i)
    offer(model.outputs[i].name, Source::Of::output, static_cast<int>(i));
  for (int i = 0; i < system.n(); ++i) offer(system.coordinate(i) + "''", Source::Of::qdd, i);
  const bool has_control = system.num_control() > 0;
  for (const auto& [word, of] : {std::pair{"Qc", Source::Of::Qc},
                                 {"Qi", Source::Of::Qi},
                                 {"Qni", Source::Of::Qni},
                                 {"Qcontrol", Source::Of::Qcontrol}})
    for (int i = 0; i < system.n() && (has_control || of != Source::Of::Qcontrol); ++i)
      offer(fmt::format("{}({})", word, system.coordinate(i)), of, i);
  int constraint = 0;
  for (int j = 0; j < system.m(); ++j)
    if (system.row(j).kind == RowKind::constraint)
      offer(fmt::format("lambda({})", system.row_name(j)), Source::Of::lambda, constraint++);
  const auto& contacts = system.equations().contacts;
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    if (!contacts[c].has_friction) continue;
    const std::string name = system.row_name(contacts[c].row);
    offer(fmt::format("normal({})", name), Source::Of::normal, static_cast<int>(c));
    const auto slips = static_cast<int>(contacts[c].slip.size());
    for (int k = 0; k < slips; ++k)
      offer(slips == 1 ? fmt::format("friction({})", name) : fmt::format("friction({},{})", name, k + 1),
            Source::Of::friction, static_cast<int>(c), k);
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
    for (const Named& o : model.outputs) outputs.push_back(o.name);
    throw std::invalid_argument(fmt::format(
        "`{}` is nothing that can be kept{}", pattern,
        !near.empty() ? fmt::format("; did you mean `{}`?", near)
        : outputs.empty()
            ? "; the model has no [outputs], but accelerations as x'', forces as Qc(x), multipliers as lambda(NAME)"
            : fmt::format("; the outputs are {}", quote_list(outputs))));
  }
  std::vector<Expr> outputs;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (!wanted[i]) continue;
    names_.push_back(known[i]);
    sources_.push_back(sources[i]);
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

void KeptValues::calc(const double* parameters, double t, const double* q, const double* qd, double* values) {
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
      case Source::Of::lambda:
        values[k] = entry(s.multipliers, i);
        break;
      case Source::Of::normal:
        values[k] = instant->contacts[static_cast<std::size_t>(i)].normal;
        break;
      case Source::Of::friction:
        values[k] = entry(instant->contacts[static_cast<std::size_t>(i)].friction, sources_[k].slip);
        break;
      case Source::Of::output:
        break;
    }
  }
}

}  // namespace mechanician
