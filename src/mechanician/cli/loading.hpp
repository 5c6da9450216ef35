#pragma once

/// From a command line to a system at its start state.

#include <optional>
#include <span>
#include <string>

#include "mechanician/cli/options.hpp"
#include "mechanician/cli/standard_error.hpp"
#include "mechanician/expression/table.hpp"
#include "mechanician/instant/joint_starts.hpp"
#include "mechanician/instant/system.hpp"
#include "mechanician/model/family_model.hpp"
#include "mechanician/model/parameters.hpp"
#include "mechanician/model/urdf.hpp"
#include "mechanician/motion/integrator.hpp"

namespace mechanician {

struct Loaded {
  System system;
  State start;
  std::string tables = {};   ///< what they hold, for RunSetup
  HeldControl sampled = {};  ///< where sampled control stands, of a start from a result
};

/// Throws UsageError for a velocity of a state, which nobody gives.
void refuse_rates(const Assignments& values, const System& system, const char* option);
/// The hash of tables as a text; empty of none.
std::string name_tables(std::span<const Table> tables);

/// Puts values in their places by coordinate. Throws UsageError, with `option`, for a name that is none.
void assign(std::span<double> x, const Assignments& values, const System& system, const char* option);

/// The robot of options.model, a .urdf or .xml file, with the base that --base says.
const ImportedRobot& read_robot(const CommandOptions& options);
/// The text of a robot where --base says what the file alone does not; nothing else. Throws UsageError where it is no URDF.
std::optional<std::string> text_with_base(const CommandOptions& options);
/// The model of options.model, with its --base.
FamilyModel read_stated_model(const CommandOptions& options, const ParameterOverrides& overrides);
/// What is worth saying of a model that can be read: bodies without gravity.
void say_notes(const System& system, const CommandOptions& options);

/// Reads the model and applies --set, --from, --position, --velocity and --time.
Loaded load(const CommandOptions& options);

/// Where the model asks for it ([start] assemble), or the command line (--project-start), a start that is off the constraints is
/// moved onto them, and says so. False: it cannot be, which is said as an error.
bool assemble_start(Loaded& loaded, const CommandOptions& options);

/// Throws UsageError where -o or --report names a file that the command reads, or both name the same one.
void refuse_overwriting(const CommandOptions& options);

/// To standard output; throws FileError if that fails.
void write_out(const std::string& text);
/// The same for people: names from files do not steer the terminal.
void show(const std::string& text);

}  // namespace mechanician
