#pragma once

/// Evaluation that collects problems instead of throwing; for the checks of a model.

#include <string>
#include <unordered_map>
#include <vector>

#include "mechanician/model/parameters.hpp"

namespace mechanician {

using ParameterIndex = std::unordered_map<std::string, std::size_t>;
ParameterIndex index_parameters(const Model& model);

/// The value of an expression of parameters, and why it is not finite; for many expressions of one model.
struct ConstantEvaluation {
  double value;
  std::string culprit;
  double rounding = 0.0;  // a bound of what rounding does to it
};
ConstantEvaluation evaluate_constant(const Expr& f, const ParameterIndex& index, const std::vector<double>& values);

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
