#pragma once

/// The equations of motion of families for reading, by term and with indices.

#include <string>

#include "mechanician/model/family_model.hpp"

namespace mechanician {

std::string term_equations_text(const FamilyModel& model);
std::string term_equations_json(const FamilyModel& model);

}  // namespace mechanician
