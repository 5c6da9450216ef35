#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "mechanician/model/parameters.hpp"
#include "mechanician/model/toml_source.hpp"

namespace mechanician {

/// The model that bodies, joints and the like mean, as the text of a model file: coordinates, energies, constraints. It reads back to
/// the same equations. Throws as read_model() does.
std::string plain_model_text(const std::filesystem::path& file, const ParameterOverrides& overrides = {});
std::string plain_model_of(std::string_view text, std::string file_name, const ParameterOverrides& overrides = {});

/// Among overrides, a name that no parameter has: an input F that is an expression is then the number F__input from where F__given is above
/// 0, and the expression before.
inline constexpr const char* inputs_opened = "#inputs";
inline constexpr const char *input_suffix = "__input", *given_suffix = "__given";

/// What is worth saying of a model that can be read: bodies without gravity, or with an inertia that no single body has.
std::vector<Problem> notes_of_model(const SourceText& source, const ParameterOverrides& overrides = {});

/// A tree as TOML; sections in the order of a model file.
std::string print_toml(const TomlValue& root);

}  // namespace mechanician
