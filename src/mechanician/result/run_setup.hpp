#pragma once

/// Everything that a run depends on: a result that holds it can be checked, repeated and taken up again.

#include <optional>
#include <string>
#include <vector>

#include "mechanician/instant/system.hpp"
#include "mechanician/motion/integrator.hpp"
#include "mechanician/result/columns.hpp"

namespace mechanician {

struct RunSetup {
  SourceText model;
  std::vector<std::string> parameter_names;  ///< of the first ones, where they are very many
  std::vector<double> parameters;            ///< with what was set on the command line; lists member by member
  State start;                               ///< as it was handed to the integrator
  MotionOptions motion;
  std::optional<double> every;  ///< time between rows; absent: a row per step
  bool verify = false;          ///< a second run at a tighter tolerance beside this one
  std::string columns;          ///< chosen ones, as patterns; empty: all
  std::string version;          ///< of the program
  std::string tables = {};      ///< what its tables held (table_hash.hpp), as a text; empty: it has none
};

RunSetup make_setup(const System& system, const State& start, const MotionOptions& motion, std::optional<double> every,
                    bool verify);

/// The numbers of a setup as a JSON object: for people; a program reads the typed values.
std::string options_json(const RunSetup& setup, const Columns& columns);

}  // namespace mechanician
