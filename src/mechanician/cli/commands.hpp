#pragma once

/// The commands. Results go to standard output, everything else to standard error.

#include "mechanician/cli/options.hpp"

namespace mechanician {

Exit run_check(const CommandOptions& options);
Exit run_accelerate(const CommandOptions& options);
Exit run_project(const CommandOptions& options);
Exit run_equations(const CommandOptions& options);
Exit run_expand(const CommandOptions& options);
Exit run_import(const CommandOptions& options);
Exit run_run(const CommandOptions& options);
Exit run_bench(const CommandOptions& options);
Exit run_sweep_command(const CommandOptions& options);
Exit run_export(const CommandOptions& options);
Exit run_linearise(const CommandOptions& options);
Exit run_equilibrium(const CommandOptions& options);
Exit run_plot(const CommandOptions& options);

}  // namespace mechanician
