#pragma once

/// Evaluation that collects problems instead of throwing; for the checks of a model.

#include <vector>

#include "mechanician/model/parameters.hpp"

namespace mechanician {

struct ParameterEvaluation {
  ParameterValues values;
  std::vector<bool> known;  ///< worked out and finite
  std::vector<Problem> problems;
};
ParameterEvaluation try_evaluate_parameters(const Model& model, const ParameterOverrides& overrides);

struct StartEvaluation {
  StartState state;
  std::vector<Problem> problems;
};
StartEvaluation try_start_state(const Model& model, const ParameterValues& parameters);

}  // namespace mechanician
