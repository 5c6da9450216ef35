#pragma once

/// What can be wrong with a model whose families stay as they are written, in the words of validate.hpp: what may stand where, and
/// settings of the run. Members that are not there are found when they are counted (large/term_members.hpp).

#include <functional>
#include <vector>

#include "mechanician/model/family_model.hpp"

namespace mechanician {

std::vector<Problem> check_family_model(const FamilyModel& model);

/// Where values of [run] stand; for messages.
struct RunPlaces {
  Place to, every, tolerance, method;
};
std::vector<Problem> check_run_settings(const RunSettings& run, const RunPlaces& places);

/// f = Σ (factor × symbol) + rest, as it is written, for symbols that `chosen` names: none within a function, a power, a condition
/// or a denominator. Their derivatives do not tell: that of sign(s) is 0.
bool is_linear_in(const Expr& f, const std::function<bool(const Expr& symbol)>& chosen);

}  // namespace mechanician
