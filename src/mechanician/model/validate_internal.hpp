#pragma once

/// What the two halves of the checks share.

#include <string>
#include <vector>

#include "mechanician/model/validate.hpp"

namespace mechanician {

inline Place place_in(const Model& model, const std::string& path, Place fallback = {}) {
  const auto found = model.places.find(path);
  return found == model.places.end() ? fallback : found->second;
}

std::vector<Problem> validate_values(const Model& model, const ParameterValues& parameters,
                                     const Unreadable& unreadable);

}  // namespace mechanician
