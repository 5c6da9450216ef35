#pragma once

/// From the words of a command line to a command and its options. Reads no file; whether a first word is one is looked at.

#include <string>
#include <vector>

#include "mechanician/cli/options.hpp"

namespace mechanician {

struct CommandLine {
  std::string command;     ///< what is to be done; empty: nothing, all is said
  CommandOptions options;  ///< of it
  std::string shell;       ///< of `completion`
  std::string out, note;   ///< for standard output (help, version) and standard error
  Exit exit = Exit::done;  ///< where there is no command
};

/// Without the name of the program. Throws UsageError.
CommandLine parse_command_line(const std::vector<std::string>& words);

}  // namespace mechanician
