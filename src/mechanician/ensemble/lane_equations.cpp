#include "mechanician/ensemble/lane_equations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "mechanician/instant/generic_rows.hpp"
#include "mechanician/instant/measure_model.hpp"
#include "mechanician/motion/dynamics.hpp"
#include "mechanician/motion/rank_limits.hpp"

namespace mechanician {

namespace {

/// How many of the kept rows, in pivot order, are clearly independent: states near by are on the constraints to
/// rounding of their own, and rows that depend on others there do so almost.
std::size_t count_clear(const RowSet& set) {
  constexpr double clear = 1e-5;
  std::size_t count = 0;
  while (count < set.kept.size() && count < set.pivot.size() && set.pivot[count] > clear * set.pivot[0]) ++count;
  return count;
}

/// Some row that is not clearly independent is more than rounding.
bool has_near_rows(const RowSet& set) {
  return std::any_of(set.pivot.begin() + static_cast<std::ptrdiff_t>(count_clear(set)), set.pivot.end(),
                     [&](double pivot) { return pivot > rank_limits::of_instant * set.pivot[0]; });
}

}  // namespace

RowsLeftOut find_dependent_rows(const System& system, const State& nominal) {
  RowsLeftOut result;
  std::vector<State> states = states_near(system, nominal, {.num_states = 3});
  states.push_back(nominal);
  std::size_t most = 0;
  bool first = true, always_near = true;
  const Dynamics unused(system);
  for (const State& state : states) {
    Dynamics dynamics = unused;
    std::vector<double> y(static_cast<std::size_t>(dynamics.size()));
    std::copy(state.q.begin(), state.q.end(), y.begin());
    std::copy(state.qd.begin(), state.qd.end(), y.begin() + system.n());
    if (!dynamics.choose_rows(state.t, y.data())) continue;
    result.singular_mass |= dynamics.singular_mass();
    always_near = always_near && has_near_rows(dynamics.all);
    // The nominal state itself may be singular: it says something only where no other does.
    const std::size_t rank = count_clear(dynamics.all);
    if (!first && rank <= most) continue;
    first = false;
    most = rank;
    const auto dependent = [](const RowSet& set) {
      std::vector<int> rows;
      const auto end = set.kept.begin() + static_cast<std::ptrdiff_t>(count_clear(set));
      for (const int j : set.candidates)
        if (std::find(set.kept.begin(), end, j) == end) rows.push_back(j);
      return rows;
    };
    result.all = dependent(dynamics.all), result.positions = dependent(dynamics.positions),
    result.velocities = dependent(dynamics.velocities);
  }
  if (!first && always_near) {
    const GenericRows generic = find_generic_rows(system, nominal);
    result.doubtful = generic.doubtful || generic.rows.size() > most;
  }
  return result;
}

std::vector<int> varied_or_all(const System& system, const Varied& varied) {
  if (varied) return *varied;
  std::vector<int> all(system.parameters().size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

ProgramOptions make_lane_options(const System& system, const State& nominal, const RowsLeftOut& dependent,
                                 const Varied& varied) {
  ProgramOptions options;
  options.parameters = system.parameters();
  options.varied = varied_or_all(system, varied);
  options.dropped = dependent.all;
  // Rows that depend on others on the constraints only do so almost where stages are.
  options.dropped_tolerance = 1e-6;
  options.singular_mass = dependent.singular_mass;
  options.reference.push_back(nominal.t);
  options.reference.insert(options.reference.end(), nominal.q.begin(), nominal.q.end());
  options.reference.insert(options.reference.end(), nominal.qd.begin(), nominal.qd.end());
  for (const int i : options.varied) options.reference.push_back(system.parameters()[static_cast<std::size_t>(i)]);
  return options;
}

VariedParameters::VariedParameters(const System& system, std::vector<int> varied)
    : varied_(std::move(varied)), values_(system.parameters()), built_in_(values_.size(), 1) {
  for (const Parameter& p : system.model().parameters) names_.push_back(p.name);
  for (const int i : varied_) built_in_[static_cast<std::size_t>(i)] = 0;
}

void VariedParameters::check(const MotionBatch& batch) const {
  if (static_cast<std::size_t>(batch.num_parameters) != values_.size())
    throw std::invalid_argument("the motions have another number of parameters than the model");
  for (std::size_t j = 0; j < values_.size(); ++j)
    for (std::size_t i = 0; built_in_[j] && i < static_cast<std::size_t>(batch.count); ++i)
      if (batch.parameters[i * values_.size() + j] != values_[j])
        throw std::invalid_argument(
            fmt::format("parameter `{}` differs between motions and was built in as {}", names_[j], values_[j]));
}

}  // namespace mechanician
