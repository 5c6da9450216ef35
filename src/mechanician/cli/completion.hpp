#pragma once

#include <string>

#include "mechanician/cli/options.hpp"

namespace mechanician {

/// Prints a completion script for bash, zsh or fish.
Exit print_completion(const std::string& shell);

}  // namespace mechanician
