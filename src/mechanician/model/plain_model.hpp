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

/// What is worth saying of a model file that can be read: bodies without gravity.
std::vector<std::string> notes_of_model(const std::filesystem::path& file);

/// A tree as TOML; sections in the order of a model file.
std::string print_toml(const TomlValue& root);

}  // namespace mechanician
