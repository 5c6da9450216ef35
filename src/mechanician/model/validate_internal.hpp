#pragma once

/// What the parts of the checks share.

#include <string>
#include <string_view>
#include <vector>

#include "mechanician/model/unreadable.hpp"
#include "mechanician/model/validate.hpp"

namespace mechanician {

/// A column that every result has, whatever the model; an output cannot be called so.
bool is_result_column(std::string_view name);

inline Place place_in(const Model& model, const std::string& path, Place fallback = {}) {
  const Place place = model.place_of(path);
  return place.line > 0 ? place : fallback;
}

/// What does not depend on values. Parts that are `unreadable` have been reported and are skipped.
/// `whole`: all members of families are there.
std::vector<Problem> validate_structure(const Model& model, const Unreadable& unreadable, bool whole);

/// One-sided constraints, restitution and friction.
std::vector<Problem> validate_contacts(const Model& model);
/// Restitution lies between 0 and 1, a coefficient of friction is not negative.
void check_restitution_value(const Model& model, const Constraint& c, double e, std::vector<Problem>& problems);
void check_friction_value(const Constraint& c, double mu, std::vector<Problem>& problems);
/// Where expression k of the slip of a constraint stands.
Place slip_place(const Model& model, const Constraint& c, std::size_t k);

std::vector<Problem> validate_values(const Model& model, const ParameterValues& parameters,
                                     const Unreadable& unreadable);

}  // namespace mechanician
