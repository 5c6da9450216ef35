#pragma once

/// Starts of joints that bodies hang on.
///
/// A joint that is a constraint begins where its bodies are: what somebody says of it moves these, and what hangs on them, as [start]
/// does (model/bodies.hpp). The model is read again with the start as a parameter, "hinge.angle.start".

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mechanician/instant/system.hpp"
#include "mechanician/model/parameters.hpp"

namespace mechanician {

/// The parameter that says where a joint begins: of "hinge.angle", or of a velocity "hinge.angle'".
std::string start_parameter(const std::string& name);

/// Whether joints are constraints, so that bodies begin where other coordinates than their own say. By the names of constraints.
bool ties_bodies(const std::map<std::string, Place>& places);

/// The parameters of a system, as somebody would give them who reads its model again.
ParameterOverrides stated_parameters(const System& system);

struct StartValue {
  std::string name;  ///< with a prime: a velocity
  double value = 0.0;
};
/// Adds the parameter of each of `names` that is a joint, with its value; true: there are some, and the model is to be read again.
/// `is_own`: begins where it is said and moves nothing else. `unknown`: what a model read with these does not know of them.
bool open_starts(std::span<const StartValue> names, const std::function<bool(const std::string&)>& is_own,
                 const std::function<std::vector<std::string>(const ParameterOverrides&)>& unknown,
                 ParameterOverrides& overrides);

/// The start of a system with joints where `position` and `velocity` say; takes from these what it has dealt with. Nothing: no joint
/// is among them that moves bodies.
std::optional<State> start_with_joints(const System& system, std::map<std::string, double>& position,
                                       std::map<std::string, double>& velocity);

}  // namespace mechanician
