#pragma once

/// What `check` says of a model at its start: sizes, kinds, rank, dependence, uniqueness, consistency, residuals.

#include <string>

#include "mechanician/instant/accelerate.hpp"

namespace mechanician {

std::string check_text(const System& system, const Instant& instant);
std::string check_json(const System& system, const Instant& instant);

/// The state that `project` found.
std::string project_json(const System& system, const State& state, double moved);
std::string project_text(const System& system, const State& state, double moved);

}  // namespace mechanician
