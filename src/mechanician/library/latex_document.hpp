#pragma once

/// A model as an article in LaTeX: what it states, its equations, and what is to be said of its constraints at the start.

#include <string>

#include "mechanician/instant/system.hpp"

namespace mechanician {

/// For LuaLaTeX or XeLaTeX: models may use any letters. Throws std::invalid_argument where there are no equations member by member.
std::string latex_document(const System& system, const State& start);

}  // namespace mechanician
