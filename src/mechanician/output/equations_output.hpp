#pragma once

/// The equations of motion for reading: text, LaTeX and JSON.

#include <optional>
#include <string>

#include "mechanician/equations/equations.hpp"

namespace mechanician {

std::string equations_text(const Model& model, const Equations& eqs);
std::string equations_latex(const Model& model, const Equations& eqs);
std::string equations_json(const Model& model, const Equations& eqs);

}  // namespace mechanician
