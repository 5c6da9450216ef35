#pragma once

/// States of rest of a model as it is stated, and how they change with a parameter: what `equilibrium` reports. Which one-sided
/// constraints hold is found with them (rest_modes.hpp).

#include <optional>
#include <string>
#include <vector>

#include "mechanician/analysis/branch.hpp"

namespace mechanician {

struct EquilibriumReport {
  double t = 0.0;
  std::vector<RestState> equilibria = {};
  std::string varied = {};  ///< a parameter; empty: none
  std::optional<Branches> branches = {};
  std::vector<std::string> notes = {};
};

struct EquilibriumSearch {
  RestOptions rest = {};
  std::string varied = {};      ///< a parameter; empty: none
  double from = 0.0, to = 1.0;  ///< its range
  ParameterOverrides overrides = {};
};

struct FoundEquilibria {
  /// Why nothing was looked for, and where; empty where something was.
  std::string refusal = {};
  Place place = {};
  EquilibriumReport report = {};
  std::shared_ptr<const System> searched;  ///< what coordinates and constraints of the report are of
  std::string trouble = {};                ///< what kept starts from coming anywhere, the first of it
  bool nothing() const { return report.equilibria.empty() && (!report.branches || report.branches->branches.empty()); }
};

/// `start`: velocities do not count. Throws std::invalid_argument where there is no such parameter.
FoundEquilibria find_equilibria(const System& system, State start, const EquilibriumSearch& search);

}  // namespace mechanician
