#pragma once

#include "mechanician/model/toml_source.hpp"

namespace mechanician {

/// What is said of control as a whole; a requirement may have such a name too.
bool is_control_setting(const TomlMember& field);

}  // namespace mechanician
