#pragma once

/// The state of a motion as a row of a result holds it: where another motion goes on from.
///
/// It stands with the readers of results, which come after motions and their files: a model names its result, and whoever
/// starts a motion (the command line, a program) asks here for the state. Any result will do, also one of another model or
/// of another program, that has a column for the time, each coordinate and each velocity.

#include <optional>
#include <string>

#include "mechanician/instant/system.hpp"

namespace mechanician {

struct StoredState {
  State state;                    ///< with the time of its row
  std::vector<double> held = {};  ///< of sampled control: efforts of actuators, or else forces; empty: the row has none
  /// Modes and engaged rows as the row has them, where that is not how the model begins: by name, and in words.
  std::vector<std::pair<std::string, double>> modes = {}, engaged = {};
  std::string begins_otherwise = {};
  std::string remark;  ///< that the result is not whole or not to be trusted; empty otherwise
};

/// The last row, or the one at a time. Nothing is made of two rows: there is a row at that time or it is refused. Throws
/// FileError: what cannot be read, columns that are missing, by name, times without a row.
StoredState read_stored_state(const System& system, const std::string& file, std::optional<double> at = std::nullopt);

/// The system begins with the modes and engaged rows of the row.
void begin_as_stored(System& system, const StoredState& stored);

/// Where the model says that a motion begins: its start values, or the state of a result ([start] from). Throws as
/// System::start() and read_stored_state() do.
StoredState find_start(const System& system);

}  // namespace mechanician
