#pragma once

/// The program: parses the command line, calls a command, turns exceptions into messages and exit statuses.

namespace mechanician {

/// The exit status. `python -m mechanician` is this too.
int run_command_line(int argc, char** argv);

}  // namespace mechanician
