#pragma once

/// What the parts of the checks share.

#include <string>
#include <vector>

#include "mechanician/model/validate.hpp"

namespace mechanician {

inline Place place_in(const Model& model, const std::string& path, Place fallback = {}) {
  const auto found = model.places.find(path);
  return found == model.places.end() ? fallback : found->second;
}

/// One-sided constraints, restitution and friction.
std::vector<Problem> validate_contacts(const Model& model);
/// Where expression k of the slip of a constraint stands.
Place slip_place(const Model& model, const Constraint& c, std::size_t k);

std::vector<Problem> validate_values(const Model& model, const ParameterValues& parameters,
                                     const Unreadable& unreadable);

}  // namespace mechanician
