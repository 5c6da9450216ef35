#pragma once

/// A model file made ready for numbers.

#include <string>
#include <utility>

#include "mechanician/instant/system.hpp"
#include "mechanician/model/parameters.hpp"
#include "mechanician/model/read_model.hpp"

namespace mechanician {

struct Ready {
  System system;
  State start;
};

inline Ready read(const std::string& file) {
  Model model = read_model(file);
  const ParameterValues parameters = evaluate_parameters(model);
  State start = state_of(start_state(model, parameters));
  return {System(std::move(model), parameters.values), std::move(start)};
}

}  // namespace mechanician
