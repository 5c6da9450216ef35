#pragma once

/// From a command line to a system at its start state.

#include <span>
#include <string>

#include "mechanician/cli/options.hpp"
#include "mechanician/cli/standard_error.hpp"
#include "mechanician/expression/table.hpp"
#include "mechanician/instant/system.hpp"

namespace mechanician {

struct Loaded {
  System system;
  State start;
  std::string tables = {};  ///< what they hold, for RunSetup
};

/// The hash of tables as a text; empty of none.
std::string name_tables(std::span<const Table> tables);

/// Puts values in their places by coordinate. Throws UsageError, with `option`, for a name that is none.
void assign(std::span<double> x, const Assignments& values, const System& system, const char* option);

/// Reads the model and applies --set, --position, --velocity and --time.
Loaded load(const CommandOptions& options);

/// Throws UsageError where -o or --report names a file that the command reads, or both name the same one.
void refuse_overwriting(const CommandOptions& options);

/// To standard output; throws FileError if that fails.
void write_out(const std::string& text);
/// The same for people: names from files do not steer the terminal.
void show(const std::string& text);

}  // namespace mechanician
