#pragma once

/// Inputs whose default is an expression or a table, as exports have them: numbers from the moment on that somebody sets them.

#include <optional>

#include "mechanician/instant/system.hpp"

namespace mechanician {

/// The same model with such inputs opened (plain_model.hpp); nothing where it has none.
std::optional<System> with_open_inputs(const System& system);

/// "F" of the parameter F__input; empty of others. Of the parameter that says whether it is set: which one that is.
std::string open_input_name(const Model& model, std::size_t parameter);
bool is_given_flag(const Model& model, std::size_t parameter);
std::size_t given_flag_of(const Model& model, std::size_t parameter);

}  // namespace mechanician
