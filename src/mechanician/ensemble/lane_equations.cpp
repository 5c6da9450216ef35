#include "mechanician/ensemble/lane_equations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "mechanician/instant/generic_rows.hpp"
#include "mechanician/motion/dynamics.hpp"

namespace mechanician {

ProgramOptions make_lane_options(const System& system, const State& nominal, const Varied& varied) {
  ProgramOptions options;
  options.parameters = system.parameters();
  if (varied) {
    options.varied = *varied;
  } else {
    options.varied.resize(system.parameters().size());
    std::iota(options.varied.begin(), options.varied.end(), 0);
  }
  const std::vector<int> kept = generic_rows(system, nominal);
  for (int j = 0; j < system.m(); ++j)
    if (std::find(kept.begin(), kept.end(), j) == kept.end()) options.dropped.push_back(j);
  // Rows that depend on others on the constraints only do so almost where stages are.
  options.dropped_tolerance = 1e-6;
  Dynamics dynamics(system);
  std::vector<double> y(static_cast<std::size_t>(dynamics.size()));
  std::copy(nominal.q.begin(), nominal.q.end(), y.begin());
  std::copy(nominal.qd.begin(), nominal.qd.end(), y.begin() + system.n());
  options.singular_mass = dynamics.choose_rows(nominal.t, y.data()) && dynamics.singular_mass;
  options.reference.push_back(nominal.t);
  options.reference.insert(options.reference.end(), y.begin(), y.begin() + 2 * system.n());
  for (const int i : options.varied) options.reference.push_back(system.parameters()[static_cast<std::size_t>(i)]);
  return options;
}

VariedParameters::VariedParameters(const System& system, const ProgramOptions& options)
    : varied_(options.varied), values_(system.parameters()), built_in_(values_.size(), 1) {
  for (const Parameter& p : system.model().parameters) names_.push_back(p.name);
  for (const int i : varied_) built_in_[static_cast<std::size_t>(i)] = 0;
}

void VariedParameters::check(const MotionBatch& batch) const {
  if (static_cast<std::size_t>(batch.num_parameters) != values_.size())
    throw std::invalid_argument("the motions have another number of parameters than the model");
  for (std::size_t j = 0; j < values_.size(); ++j)
    for (std::size_t i = 0; built_in_[j] && i < static_cast<std::size_t>(batch.count); ++i)
      if (batch.parameters[i * values_.size() + j] != values_[j])
        throw std::invalid_argument(fmt::format("parameter `{}` differs between motions and was built in as {}", names_[j], values_[j]));
}

}  // namespace mechanician
