#pragma once

/// The commands. Results go to standard output, everything else to standard error.

#include <optional>

#include "mechanician/cli/options.hpp"

namespace mechanician {

Exit run_check(const CommandOptions& options);
Exit run_accelerate(const CommandOptions& options);
Exit run_project(const CommandOptions& options);
Exit run_equations(const CommandOptions& options);
Exit run_run(const CommandOptions& options);
Exit run_bench(const CommandOptions& options);
Exit run_sweep_command(const CommandOptions& options);
Exit run_plot(const CommandOptions& options);

/// Models with so many members that they are not written out (large/). Nothing: the model is not one of them.
std::optional<Exit> check_large(const CommandOptions& options);
std::optional<Exit> accelerate_large(const CommandOptions& options);
std::optional<Exit> run_large(const CommandOptions& options);

}  // namespace mechanician
