#pragma once

/// M, Q, A, b and C of a model as functions of plain Python, for SymPy, CasADi, NumPy or nothing at all.

#include <string>

#include "mechanician/model/parameters.hpp"

namespace mechanician {

/// mass_matrix(t, q, v, p, f=math) and its like. `set`: values of parameters in the place of the model's. Throws std::invalid_argument for what Python cannot say, which it names.
std::string equations_python(const Model& model, const ParameterOverrides& set = {});

}  // namespace mechanician
