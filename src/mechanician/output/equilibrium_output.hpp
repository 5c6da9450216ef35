#pragma once

/// What `equilibrium` says: states of rest, their stability, and how they change with a parameter.

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

std::string equilibrium_text(const System& system, const EquilibriumReport& report);
std::string equilibrium_json(const System& system, const EquilibriumReport& report);
/// A row for each point of a branch, with the parameter as a column; a row of numbers that are none between branches.
std::string branches_csv(const System& system, const EquilibriumReport& report);
/// The same for states of rest without a parameter.
std::string equilibria_csv(const System& system, const EquilibriumReport& report);

}  // namespace mechanician
