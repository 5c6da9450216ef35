#pragma once

/// From a command line to a large system at its start state.

#include <optional>

#include "mechanician/cli/options.hpp"
#include "mechanician/large/large_system.hpp"

namespace mechanician {

struct Large {
  LargeSystem system;
  LargeSystem::Start start;
};

/// Reads the model and applies --set, --position, --velocity and --time. Nothing: the ordinary path takes it.
std::optional<Large> load_large(const CommandOptions& options);

}  // namespace mechanician
