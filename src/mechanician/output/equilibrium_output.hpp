#pragma once

/// What `equilibrium` says: states of rest, their stability, and how they change with a parameter.

#include <string>

#include "mechanician/analysis/equilibria.hpp"

namespace mechanician {

std::string equilibrium_text(const System& system, const EquilibriumReport& report);
std::string equilibrium_json(const System& system, const EquilibriumReport& report);
/// A row for each point of a branch, with the parameter as a column; a row of numbers that are none between branches.
std::string branches_csv(const System& system, const EquilibriumReport& report);
/// The same for states of rest without a parameter.
std::string equilibria_csv(const System& system, const EquilibriumReport& report);

}  // namespace mechanician
