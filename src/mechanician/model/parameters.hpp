#pragma once

/// Numbers for the parameters and the start of a model.

#include <map>
#include <string>
#include <vector>

#include "mechanician/model/model.hpp"

namespace mechanician {

/// A number that somebody gives for a name ("m", "m[3]", "x'"), in the unit that the model has for it.
double in_si(const std::map<std::string, UnitOf>& units, std::string_view name, double value);

/// Numbers that take the place of what the model says, by name; in the units of the model.
using ParameterOverrides = std::map<std::string, double>;

/// The values of all parameters, in the order of model.parameters.
struct ParameterValues {
  std::vector<double> values;
};

/// Parameters are worked out in the order in which they need each other; an override also acts on what is made of it.
///
/// Throws std::invalid_argument for an override of a parameter that does not exist, and ModelError for values that are
/// not finite and for parameters that are made of each other.
ParameterValues evaluate_parameters(const Model& model, const ParameterOverrides& overrides = {});

/// The value of an expression of parameters alone. Symbols of other kinds count as not a number.
double evaluate_constant(const Expr& f, const Model& model, const ParameterValues& parameters);

struct StartState {
  double time = 0.0;
  std::vector<double> q, qd;  ///< n each, in the order of model.coordinates
  std::vector<double> scale =
      {};  ///< typical sizes of coordinates that are given ([run] scale), 0: not; empty: none is
};

/// What a typical size of a coordinate must be; empty: it is.
std::string wrong_scale(double scale);

/// Throws ModelError for a value that is not finite.
StartState start_state(const Model& model, const ParameterValues& parameters);

}  // namespace mechanician
