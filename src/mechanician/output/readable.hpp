#pragma once

#include "mechanician/expression/expression.hpp"

namespace mechanician {

/// The same function written shorter where that is possible without moving a singularity: 2·m/2 as m. For display.
Expr readable(const Expr& f);

/// A name as a key of TOML: dots would be those of tables.
inline std::string key_text(const std::string& name) {
  return name.find('.') == std::string::npos ? name : "\"" + name + "\"";
}

}  // namespace mechanician
