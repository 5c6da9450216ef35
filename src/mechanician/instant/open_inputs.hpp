#pragma once

/// Inputs whose default is an expression or a table. They are numbers from the moment on that somebody sets them; for that the model is read
/// again, from its text and with everything that was set.

#include <optional>
#include <span>
#include <string>

#include "mechanician/instant/system.hpp"
#include "mechanician/model/parameters.hpp"

namespace mechanician {

/// Whether the model has an input of this name, and as an expression.
bool is_expression_input(const System& system, const std::string& name);
/// What such an input is at a state. Throws std::invalid_argument where that cannot be known from the state alone, or is not finite.
double value_of_input(const System& system, const std::string& name, const State& state);
/// The same system with such inputs as numbers, those given. Throws std::invalid_argument where there is no text to be read again, and for
/// models that are too large to be written out.
System with_number_inputs(const System& system, const ParameterOverrides& values);
/// The same with one of them as the expression that its text has; nothing where it is that already, or has none.
std::optional<System> with_expression_input(const System& system, const std::string& name);
/// The same with those among the names that are expressions as numbers, the ones they are at a state.
System with_inputs_held(const System& system, std::span<const std::string> names, const State& state);

/// The same model with all such inputs opened, as exports have them (plain_model.hpp): expressions until they are set. Nothing where it has none.
std::optional<System> with_open_inputs(const System& system);

/// "F" of the parameter F__input; empty of others. Of the parameter that says whether it is set: which one that is.
std::string open_input_name(const Model& model, std::size_t parameter);
bool is_given_flag(const Model& model, std::size_t parameter);
std::size_t given_flag_of(const Model& model, std::size_t parameter);

}  // namespace mechanician
